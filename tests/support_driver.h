/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL driver, made to fail for tests: it stands between the library and the real one. */
#ifndef TESTS_SUPPORT_DRIVER_H
#define TESTS_SUPPORT_DRIVER_H

#include <stdbool.h>

typedef enum driver_call {
    DRIVER_BUILD,
    DRIVER_KERNEL,
    DRIVER_ARGUMENT,
    DRIVER_LAUNCH,
    DRIVER_BUFFER,
    DRIVER_WRITE,
    DRIVER_READ, /* of numbers: the fault word is read whenever the device is waited for */
    DRIVER_COPY,
    DRIVER_MARKER,
    DRIVER_CALLS
} driver_call;
extern const char *const driver_names[DRIVER_CALLS];

/* Once, when the library has found its OpenCL devices. */
void driver_take_over(void);
/* The n-th such call from now on fails with that code of OpenCL's; -1: all of them, 0: none of any kind. */
void driver_order(driver_call which, int n, int error);
/* Has one failed since? */
bool driver_met(void);

#endif
