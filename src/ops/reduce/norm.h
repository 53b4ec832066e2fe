/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of vectors, for norm and for what measures distances. */
#ifndef WICK_OPS_NORM_H
#define WICK_OPS_NORM_H

#include "reduction.h"

/* (sum |x - other|^p / divided_by)^(1/p) over the masked dimensions, f16 and bf16 in f32; inside composed ops. other
 * may be NULL, for x alone; p is finite and not 0. Right wherever the result is representable, also if the powers are
 * not. */
wk_tensor *wk__root_of_powers(wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask, bool keepdim, double p,
                              double divided_by);
/* The same for any p, divided by nothing. */
wk_tensor *wk__vector_norm(wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask, bool keepdim, double p);
/* In gradients: that of `length` (with the reduced dimensions there, of size 1) with respect to x, times grad. */
wk_tensor *wk__vector_norm_grad(wk_tensor *x, wk_tensor *length, wk_tensor *grad, double p, int64_t mask);

#endif
