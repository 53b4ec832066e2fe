/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the generative adversarial networks of this folder: the training loop. */
#ifndef BOOK_ADVERSARIES_H
#define BOOK_ADVERSARIES_H

#include "run.h"

/* How the two networks are trained, both by Adam. */
typedef struct duel {
    const char *name;
    int64_t batch;
    int64_t latent[3]; /* shape of the noise of one sample */
    int dims;          /* of this shape */
    double lr_d, lr_g; /* learning rates of discriminator and generator */
    double beta1;
} duel;

/* Sets all weights of both networks to N(0, 0.02), and trains them: for each batch of real samples the
 * discriminator takes a step to tell them from as many generated ones, and then the generator takes one against it.
 * Prints both losses. Returns the exit status of the program. */
int train_adversaries(wk_module *generator, wk_module *discriminator, wk_dataset *real, const duel *d, const run *r);

#endif
