/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates that are divided, without the division. An index that steps with remainders becomes one contraction for
 * each remainder, in which the division is exact or never is:
 *
 *     the gradient of a convolution of stride 2 by x:  g[.., (p + 1 - u) / 2]
 *         p = 2 p'        u = 2 u' + 1       g[.., p' - u']           the odd places of the kernel
 *         p = 2 p' + 1    u = 2 u'           g[.., p' - u' + 1]       the even ones
 *
 * so that no product with 0 is computed: of a stride of s in two dimensions one in s x s would have been another. */
#ifndef WICK_BACKEND_CONTRACTION_SPLIT_H
#define WICK_BACKEND_CONTRACTION_SPLIT_H

#include "backend.h"

/* Can all divided coordinates be split so? Those cannot in which two summed indices step with remainders. */
bool wk__contraction_can_split(const wk__work_args *kernel);
/* Is there any divided coordinate? */
bool wk__contraction_has_divisor(const wk__work_args *kernel);

/* Calls `visit` for each part; the parts write each element of the result once. Stops at the first that fails. */
typedef wk_code wk__contraction_part_visit(void *user, const wk__work_args *part, wk__fail *fail);
wk_code wk__contraction_split_strides(const wk__work_args *whole, wk__contraction_part_visit *visit, void *user,
                                      wk__fail *fail);

#endif
