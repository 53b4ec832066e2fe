/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for ops that create tensors: argument checks, and one record without operands (create.c). */
#ifndef WICK_OPS_CREATE_H
#define WICK_OPS_CREATE_H

#include "entries.h"

/* One call of such an op: checked arguments and the properties of the tensor to create. */
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

/* Checks options and shape, and fills in c. default_dtype applies if the options have none. False on error. */
bool wk__create_begin(wk__create *c, const wk__op *op, wk_site site, const int64_t *shape, int ndim,
                      const wk_tensor_options *options, wk_dtype default_dtype);
/* Records op->expression over the shape of c, computed in class `compute` from `count` immediates, and returns the new
 * tensor; NULL on error. flags: WK__REF_IMM or WK__REF_IMM_INDEX for each; NULL: all are registers (WK__REF_IMM). */
wk_tensor *wk__create_end(wk__create *c, wk_dtype compute, const wk__imm *imm, const uint8_t *flags, int count);
/* Begins a call of a _like op: copies the options to *like, with unset dtype and device taken from x. */
bool wk__create_like(const wk__op *op, wk_site site, wk_tensor *x, const wk_tensor_options *options,
                     wk_tensor_options *like);

#endif
