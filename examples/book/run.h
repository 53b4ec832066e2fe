/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs of this folder: a command line without digits and text file, a clock, accuracy, a curve. */
#ifndef BOOK_RUN_H
#define BOOK_RUN_H

#include <wick.h>

/* The command line. */
typedef struct run {
    wk_device device; /* default: the first GPU, else the CPU */
    int epochs;
    const char *svg; /* file for the curves; NULL: none */
    uint64_t seed;   /* of the thread's random stream, and of the order of samples; default 1 */
} run;

/* Reads the command line: PROGRAM [DEVICE [EPOCHS [SVG [SEED]]]]; 0 epochs keep the usual number, and - is no file.
 * Restarts the random stream. Ends the program after a message if a word is invalid. */
run read_run(int epochs, int argc, char **argv);

/* Returns the time in seconds since a fixed moment. */
double seconds(void);

/* Returns true if a training of `epochs` epochs prints the one with this number, counted from 1: the first, the last,
 * and some between. */
bool is_reported(int epoch, int epochs);

/* Returns the fraction of samples for which the largest score is that of the label. It stays on the device. */
wk_tensor *accuracy(wk_tensor *scores, wk_tensor *labels);

/* Writes a history as a curve over epochs. Does nothing if the command line names no file. */
void save_curve(const run *r, const char *title, const char *label, wk_history *history);

#endif
