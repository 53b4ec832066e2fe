/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs of this folder: a clock, accuracy, curves, and the command line of programs that take neither
 * a number of digits nor a text file (train.h and characters.h have those). */
#ifndef BOOK_RUN_H
#define BOOK_RUN_H

#include <wick.h>

/* The command line. */
typedef struct run {
    wk_device device; /* default: the first GPU, else the CPU */
    int epochs;
    const char *svg; /* file for the curves; NULL: none */
    uint64_t seed;   /* of random numbers and of the order of samples; default 1 */
} run;

/* Reads the command line: PROGRAM [DEVICE [EPOCHS [SVG [SEED]]]]. EPOCHS 0 selects the default, `epochs`; SVG - means
 * no file. Seeds the random numbers. Prints a message and exits if an argument is invalid. */
run read_run(int epochs, int argc, char **argv);

/* Returns the time of a monotonic clock in seconds. */
double seconds(void);

/* Returns true if the results of this epoch, counted from 1, are printed: those of the first, the last and at most ten
 * others. */
bool is_reported(int epoch, int epochs);

/* Returns the fraction of samples whose largest score is that of the label, as a tensor on their device. */
wk_tensor *accuracy(wk_tensor *scores, wk_tensor *labels);

/* Writes a history as a curve over epochs. Does nothing if the command line names no file. */
void save_curve(const run *r, const char *title, const char *label, wk_history *history);

#endif
