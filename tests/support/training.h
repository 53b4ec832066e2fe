/* SPDX-License-Identifier: Apache-2.0 */
/* A small training with all that a checkpoint has to bring back: dropout, shuffled batches, of which the last is
 * smaller, a buffer that forward changes, an optimiser. */
#ifndef TESTS_SUPPORT_TRAINING_H
#define TESTS_SUPPORT_TRAINING_H

#include "wick.h"

typedef wk_optim *test_optimiser(wk_tensors *parameters);
wk_optim *test_momentum(wk_tensors *parameters);
wk_optim *test_adam(wk_tensors *parameters);
wk_optim *test_adagrad(wk_tensors *parameters);
wk_optim *test_lbfgs(wk_tensors *parameters);

/* What it is made of. */
typedef struct test_config {
    test_optimiser *optimiser;
    wk_device device;
    int64_t samples, batch; /* 22 and 4 make 6 batches */
    int rank, world;
    bool in_order, drop_last;
    const char *path; /* of the checkpoint; NULL: there is none */
    int keep;
    bool blocking;
} test_config;

typedef struct test_training {
    test_config plan;
    wk_module *net;
    wk_optim *optim;
    wk_loader *loader;
    wk_tensors *more; /* "average" of the first weight */
    wk_checkpoint *checkpoint;
    wk_batch *batch; /* the one at hand */
    bool reduce;     /* gradients are means over the ranks of the world */
} test_training;

/* Everything is made anew, with other numbers for each seed. */
test_training test_begin(const test_config *plan, uint64_t seed);
/* Trains up to a number of epochs, and no further than `steps` in this call (-1: all), with a checkpoint after every
 * `every` steps (0: none). Returns how many it took. */
int test_train(test_training *t, int64_t epochs, int steps, int64_t every);
/* A number that all bits of network, list, state of the optimiser and random stream go into. */
uint64_t test_state(const test_training *t);

#endif
