/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that classify texts: random choices for their generators, and the training loop. */
#ifndef BOOK_CLASSIFY_H
#define BOOK_CLASSIFY_H

#include "run.h"

enum { PAD = 1 }; /* id of "<pad>"; 0 is "<unk>" */

/* Texts as ids with labels: the first `trained` samples are trained on, the others are for tests. */
typedef struct texts {
    wk_text *words;
    int64_t count; /* size of the vocabulary */
    wk_tensor *x;  /* ids i64 (samples, ...), padded with PAD */
    wk_tensor *y;  /* labels i64 (samples) */
    int64_t trained;
} texts;

/* Returns a pseudo-random number in [0, n), the same numbers on all machines. *state is the state of the generator. */
int choose(uint32_t *state, int n);

/* How a classifier is trained. */
typedef struct lesson {
    const char *name;
    int64_t batch;
    double lr; /* of Adam */
} lesson;

/* Trains a network, which takes x (N, ...) and returns scores (N, classes), and prints its loss and accuracies
 * after each epoch and its speed. Returns the accuracy of the test. */
double classify(wk_module *net, const texts *t, const lesson *l, const run *r);

#endif
