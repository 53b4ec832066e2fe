/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of vectors, for norm and for what measures distances. */
#ifndef WICK_OPS_NORM_H
#define WICK_OPS_NORM_H

#include "reduction.h"

/* (sum |x|^p)^(1/p) over the masked dimensions, in the class of x; inside composed ops. */
wk_tensor *wk__vector_norm(wk_site site, wk_tensor *x, uint16_t mask, bool keepdim, double p);
/* In gradients: that of `length` (with the reduced dimensions there, of size 1) with respect to x, times grad. */
wk_tensor *wk__vector_norm_grad(wk_tensor *x, wk_tensor *length, wk_tensor *grad, double p, int64_t mask);

#endif
