/* SPDX-License-Identifier: Apache-2.0 */
/* Vector norms: shared by norm and the distance ops. */
#ifndef WICK_OPS_NORM_H
#define WICK_OPS_NORM_H

#include "reduction.h"

/* Returns (sum |x - other|^p / divided_by)^(1/p) over the masked dimensions, in the computation dtype. For use inside
 * composite ops. other: NULL for x alone. p: finite and not 0. The result is right if it is representable, even if the
 * powers are not. */
wk_tensor *wk__root_of_powers(wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask, bool keepdim, double p,
                              double divided_by);
/* The square of the difference of two operands, without a node. */
extern const wk__op wk__square_of_difference_op;
/* Like wk__root_of_powers(), but for any p and without the division. */
wk_tensor *wk__vector_norm(wk_site site, wk_tensor *x, wk_tensor *other, uint16_t mask, bool keepdim, double p);
/* For gradients: returns grad times the derivative of `length` with respect to x. length has the reduced dimensions
 * with size 1. */
wk_tensor *wk__vector_norm_grad(wk_tensor *x, wk_tensor *length, wk_tensor *grad, double p, int64_t mask);

#endif
