/* SPDX-License-Identifier: Apache-2.0 */
/* The training loop of the generative adversarial networks of this folder. */
#ifndef BOOK_ADVERSARIES_H
#define BOOK_ADVERSARIES_H

#include "run.h"

/* Settings of the training. The optimiser of both networks is Adam. */
typedef struct gan_training {
    const char *name;
    int64_t batch;
    int64_t latent[3]; /* shape of the noise of one sample */
    int dims;          /* of this shape */
    double lr_d, lr_g; /* learning rates of the discriminator and the generator */
    double beta1;
} gan_training;

/* Draws the weights of both networks from a normal distribution with standard deviation 0.02 and trains the networks.
 * For each batch of real samples, the discriminator takes a step to distinguish them from as many generated ones; then
 * the generator takes a step that makes the discriminator classify its samples as real. Prints both losses. Returns the
 * exit status of the program. */
int train_adversaries(wk_module *generator, wk_module *discriminator, wk_dataset *real, const gan_training *t,
                      const run *r);

#endif
