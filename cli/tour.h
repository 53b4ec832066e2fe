/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of `wick tour`. */
#ifndef CLI_TOUR_H
#define CLI_TOUR_H

#include "cli.h"

/* One step of the tutorial: demonstrates it on the present devices. Expected errors are printed with tour_error. */
typedef struct tour_step {
    int number; /* as in docs/lesson.md */
    const char *title;
    const char *explanation; /* printed text about the step */
    void (*show)(void);
} tour_step;

extern const tour_step tour_devices[], tour_work[], tour_networks[]; /* each ends with number 0 */

/* Returns an accelerator of this machine, of any kind, including OpenCL CPUs; the CPU if there are fewer. */
wk_device tour_accelerator(int index);
/* Returns the device as C source, wk_opencl(0); valid until the next call. */
const char *tour_device(wk_device device);

/* Returns a tensor that several steps use: X of step 6, Y of step 7, Z of step 9. If its step was not shown yet, its
 * line of code is printed first. The tensors live until the end of the tour. */
wk_tensor *tour_tensor(char name);

/* Prints a line of code, before its output. */
void tour_code(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the pending error as a program would see it, and clears it. */
void tour_error(void);

#endif
