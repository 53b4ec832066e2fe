/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/clamp.c. */
#include "references/reference.h"
#include <math.h>

/* The gradient goes to x between the limits, and to a limit if x is beyond it. If x equals a limit that is a tensor,
 * each of the two gets half; at a limit that is a number neither does. If the limits cross, the upper one wins; if they
 * meet at x, x gets all. */

static double exact(const double *x)
{
    return fmin(fmax(x[0], x[1]), x[2]); /* an omitted limit is NaN, which fmin and fmax ignore */
}

static const char *const samples[] = {"[], -1, 1",
                                      "[7], -1",
                                      "[3,5], none, 0.5",
                                      "[2,0], 0, 1",
                                      "[2,3,4], -0.5, 2",
                                      "[3,4], [4]",
                                      "[3,4], none, [3,1]",
                                      "[9]:i64<9, 2, 5",
                                      "[9]:i32<9, 2",
                                      "[9]:u8<9, none, 5",
                                      NULL};

const op_reference op_reference_clamp = {
    .scalar = exact, .samples = samples, .low = -3, .high = 3, .any_zero_sign = true};
