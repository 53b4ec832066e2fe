/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the state of an optimiser from a file. */
#ifndef WICK_DIST_OPTIM_FILE_H
#define WICK_DIST_OPTIM_FILE_H

#include "io/tensor_file.h"
#include "optim/optim_state.h"

/* Reads the state of the optimiser, its tensors under a prefix. Returns false after recording an error. */
bool wk__optim_read(const wk__tensor_file *from, const char *prefix, const wk__optim *optim, wk__optim_loaded *out);

#endif
