/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `wick tour` share. */
#ifndef CLI_TOUR_H
#define CLI_TOUR_H

#include "cli.h"

/* One step of the chapter: shows it on the devices at hand. Errors that it means to show it prints with tour_error. */
typedef struct tour_step {
    int number; /* as in docs/reference/cli.md */
    const char *title;
    const char *explanation; /* what there is to see, for who reads along */
    void (*show)(void);
} tour_step;

extern const tour_step tour_devices[], tour_work[], tour_networks[]; /* each ends with a row 0 */

/* Accelerators of this machine, any kind, OpenCL's CPUs too, or the CPU where there are fewer. */
wk_device tour_accelerator(int index);
/* As a program writes it, wk_opencl(0); until the next call. */
const char *tour_device(wk_device device);

/* The tensors that the steps share, as the chapter's program does: X of step 6, Y of step 7, Z of step 9. Where this
 * step needs one that has not been shown yet (because it is shown alone), its line of the program is printed first.
 * They live as long as the tour. */
wk_tensor *tour_tensor(char name);

/* A line of the program, before what it gives. */
void tour_code(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the error that is pending, as a program would see it, and goes on. */
void tour_error(void);

#endif
