/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of a GPU backend, OpenCL's or CUDA's, made to fail for tests: it stands between the library and the real
 * one. */
#ifndef TESTS_SUPPORT_DRIVER_H
#define TESTS_SUPPORT_DRIVER_H

#include <stdbool.h>

/* CUDA is given arguments with the launch: both are launches there. Of copies between two devices, those of CUDA are
 * copies; OpenCL reads and writes. */
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

typedef enum driver_error {
    DRIVER_NO_MEMORY,
    DRIVER_NO_DEVICE_MEMORY,
    DRIVER_INVALID_VALUE, /* what it was given is wrong: the text of a kernel, or a value */
    DRIVER_LOST,          /* the device gives up for good */
    DRIVER_ERRORS
} driver_error;

/* Once, when the library has found its devices of that kind (WK_OPENCL, WK_CUDA). */
void driver_install_hooks(int kind);
/* The n-th such call from now on fails with that; -1: all of them. Whatever was ordered before is called off. */
void driver_inject(driver_call which, int n, driver_error error);
/* No call fails any more, and none has. */
void driver_clear(void);
/* Has one failed since the last order? */
bool driver_fault_fired(void);
/* What the messages of the library have of that error: "OUT_OF_MEMORY". */
const char *driver_error_text(driver_error error);
/* Kernels launched so far. */
int driver_launches(void);

#endif
