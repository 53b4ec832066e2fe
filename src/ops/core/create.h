/* SPDX-License-Identifier: Apache-2.0 */
/* What calls that make tensors share; see create.c. */
#ifndef WICK_OPS_CREATE_H
#define WICK_OPS_CREATE_H

#include "entries.h"

typedef struct wk__create {
    const wk__op *op;
    wk_site site;
    wk_context *context;
    wk__device *device;
    wk_dtype dtype;
    bool requires_grad;
    int ndim;
    int64_t shape[WK__MAX_DIMS];
} wk__create;

/* Checks options and shape; `usual` is the dtype when none is given. */
bool wk__create_begin(wk__create *c, const wk__op *op, wk_site site, const int64_t *shape, int ndim,
                      const wk_tensor_options *options, wk_dtype default_dtype);
/* Records op->expression with these immediates (flags NULL: all given as registers of class `compute`). */
wk_tensor *wk__create_end(wk__create *c, wk_dtype compute, const wk__imm *imm, const uint8_t *flags, int count);
/* Begins a call of the _like forms: the options, with dtype and device of x where they say nothing. */
bool wk__create_like(const wk__op *op, wk_site site, wk_tensor *x, const wk_tensor_options *options,
                     wk_tensor_options *like);

#endif
