/* SPDX-License-Identifier: Apache-2.0 */
/* Elimination of divided coordinates. An index whose steps leave remainders becomes one contraction per remainder, in
 * which the division is always exact or never:
 *
 *     the gradient of a convolution of stride 2 by x:  g[.., (p + 1 - u) / 2]
 *         p = 2 p'        u = 2 u' + 1       g[.., p' - u']           the odd elements of the kernel
 *         p = 2 p' + 1    u = 2 u'           g[.., p' - u' + 1]       the even ones
 *
 * Products with 0 are not computed; for stride s in two dimensions, only one in s x s products is non-zero. */
#ifndef WICK_BACKEND_CONTRACTION_STRIDE_SPLIT_H
#define WICK_BACKEND_CONTRACTION_STRIDE_SPLIT_H

#include "backend.h"

/* Returns true if all divided coordinates can be split: none depends on two summed indices whose steps leave
 * remainders. */
bool wk__contraction_can_split(const wk__work_args *kernel);
/* Returns true if any coordinate is divided. */
bool wk__contraction_has_divisor(const wk__work_args *kernel);

/* Calls `visit` for each part; together they write each element of the result once. Stops at the first failure. */
typedef wk_code wk__contraction_part_visit(void *user, const wk__work_args *part, wk__fail *fail);
wk_code wk__contraction_split_strides(const wk__work_args *whole, wk__contraction_part_visit *visit, void *user,
                                      wk__fail *fail);

#endif
