/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an optimiser in a file. */
#ifndef WICK_DIST_OPTIM_FILE_H
#define WICK_DIST_OPTIM_FILE_H

#include "io/tensor_file.h"
#include "optim/optim_state.h"

/* What the file has for the optimiser, its tensors below a prefix. False with the error recorded. */
bool wk__optim_read(const wk__tensor_file *from, const char *prefix, const wk__optim *optim, wk__optim_loaded *out);

#endif
