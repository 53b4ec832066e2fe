/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of arguments, and the scale and shift, of the layers of normalisation. */
#ifndef WICK_NN_AFFINE_H
#define WICK_NN_AFFINE_H

#include "module.h"

/* Checks the normalised shape and .eps; returns false and records the error. */
bool wk__norm_check(wk_site site, const char *name, const int64_t *shape, int ndim, double eps);
/* Adds the parameter "weight", of ones, and unless bias is NULL "bias", of zeros; the module owns them. Returns false
 * and records the error on failure. */
bool wk__affine_add(wk_site site, const char *name, wk_module *m, const int64_t *shape, int ndim,
                    const wk_tensor_options *like, wk_tensor **weight, wk_tensor **bias);

#endif
