/* SPDX-License-Identifier: Apache-2.0 */
/* Failing GPU drivers for tests: replaces functions of the OpenCL or CUDA driver by ones that fail on request and
 * otherwise call the real one. */
#ifndef TESTS_SUPPORT_DRIVER_FAULTS_H
#define TESTS_SUPPORT_DRIVER_FAULTS_H

#include <stdbool.h>

/* Driver calls that can fail. CUDA passes arguments with the launch, so DRIVER_ARGUMENT and DRIVER_LAUNCH are the same
 * there. A copy between two devices is a copy in CUDA, a read and a write in OpenCL. */
typedef enum driver_call {
    DRIVER_BUILD,
    DRIVER_KERNEL,
    DRIVER_ARGUMENT,
    DRIVER_LAUNCH,
    DRIVER_BUFFER,
    DRIVER_WRITE,
    DRIVER_READ, /* reads of tensors; reads of the fault word pass */
    DRIVER_COPY,
    DRIVER_MARKER,
    DRIVER_CALLS
} driver_call;
extern const char *const driver_names[DRIVER_CALLS];

typedef enum driver_error {
    DRIVER_NO_MEMORY,
    DRIVER_NO_DEVICE_MEMORY,
    DRIVER_INVALID_VALUE, /* invalid input: the source of a kernel, or a value */
    DRIVER_LOST,          /* the device fails permanently */
    DRIVER_ERRORS
} driver_error;

/* Installs the functions; call it once, after the library has found its devices of this kind (WK_OPENCL or WK_CUDA). */
void driver_install_hooks(int kind);
/* Fails the n-th such call from now on (-1: all of them) with error. Replaces an earlier request. */
void driver_inject(driver_call which, int n, driver_error error);
/* Ends failures and resets driver_fault_fired. */
void driver_clear(void);
/* Returns true if a call has failed since the last driver_inject. */
bool driver_fault_fired(void);
/* Returns the part of the library's messages that names the error, e.g. "OUT_OF_MEMORY". */
const char *driver_error_text(driver_error error);
/* Returns the number of kernels launched so far. */
int driver_launches(void);

#endif
