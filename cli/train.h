/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the trainings of `wick train`. */
#ifndef CLI_TRAIN_H
#define CLI_TRAIN_H

#include "model.h"

/* Checks, before training, that --save and, unless NULL, --svg can be written at its end. Returns false after printing
 * the reason. */
bool train_outputs_writable(const char *svg, const char *save);
/* Runs `wick train gpt` with the words after it. */
int train_gpt(int count, char **words);

#endif
