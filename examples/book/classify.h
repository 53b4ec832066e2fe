/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that classify texts: random numbers for the generated texts, and the training loop. */
#ifndef BOOK_CLASSIFY_H
#define BOOK_CLASSIFY_H

#include "run.h"

enum { PAD = 1 }; /* id of "<pad>"; 0 is "<unk>" */

/* Texts as ids, and their labels. The first `trained` samples are for training, the others for tests. */
typedef struct texts {
    wk_text *words; /* the vocabulary */
    int64_t count;  /* size of the vocabulary */
    wk_tensor *x;   /* ids i64 (samples, ...), padded with PAD */
    wk_tensor *y;   /* labels i64 (samples) */
    int64_t trained;
} texts;

/* Returns a pseudo-random number in [0, n) and advances *state, the state of the generator. The sequence of numbers is
 * the same on all machines. */
int choose(uint32_t *state, int n);

/* Settings of the training. */
typedef struct classifier_training {
    const char *name;
    int64_t batch;
    double lr; /* of Adam */
} classifier_training;

/* Trains a network that computes scores (N, classes) from x (N, ...). Prints the loss and the accuracies after each
 * epoch, and at the end the speed. Returns the test accuracy. */
double classify(wk_module *net, const texts *t, const classifier_training *how, const run *r);

#endif
