/* SPDX-License-Identifier: Apache-2.0 */
/* A small training with all state that a checkpoint must restore: dropout, shuffled batches with a smaller last one, a
 * buffer that forward modifies, an optimiser. */
#ifndef TESTS_SUPPORT_TRAINING_H
#define TESTS_SUPPORT_TRAINING_H

#include "wick.h"

typedef wk_optim *test_optimiser(wk_tensors *parameters);
wk_optim *test_momentum(wk_tensors *parameters);
wk_optim *test_adam(wk_tensors *parameters);
wk_optim *test_adagrad(wk_tensors *parameters);
wk_optim *test_lbfgs(wk_tensors *parameters);
wk_schedule *test_cycles(wk_optim *optim); /* changes learning rate and momentum at each step */

/* Configuration of a training. */
typedef struct test_config {
    test_optimiser *optimiser;
    wk_schedule *(*schedule)(wk_optim *optim); /* NULL: none */
    wk_device device;
    int64_t samples, batch; /* 22 and 4: 6 batches per epoch */
    int rank, world;
    bool in_order, drop_last;
    const char *path; /* of the checkpoint; NULL: none */
    int keep;
    bool blocking;
} test_config;

typedef struct test_training {
    test_config plan;
    wk_module *net;
    wk_optim *optim;
    wk_schedule *schedule; /* NULL: none */
    wk_loader *loader;
    wk_tensors *more; /* "average" of the first weight */
    wk_checkpoint *checkpoint;
    wk_batch *batch; /* the current one */
    bool reduce;     /* average gradients over the ranks of the world */
} test_training;

/* Creates everything anew; initial values depend on the seed. */
test_training test_begin(const test_config *plan, uint64_t seed);
/* Trains up to a number of epochs, at most `steps` steps in this call (-1: no limit), with a checkpoint after every
 * `every` steps (0: none). Returns the number of steps. */
int test_train(test_training *t, int64_t epochs, int steps, int64_t every);
/* Returns a hash of all bits of the network, the list, the optimiser's state and the random stream. */
uint64_t test_state(const test_training *t);

#endif
