/* SPDX-License-Identifier: Apache-2.0 */
/* Geometry of convolutions of one to three dimensions, and the three products between their tensors:
 *
 *     y[n, g, o, t] = sum over c, k of w[g, o, c, k] x[n, g, c, stride t + dilation k - padding]
 *
 * x is (n, groups in, size..), w (groups out, in, kernel..), y (n, groups out, result..). Each tensor follows from the
 * other two: y is the convolution, x its gradient by the input, w its gradient by the weight. */
#ifndef WICK_OPS_CONVOLUTION_H
#define WICK_OPS_CONVOLUTION_H

#include "ops/core/call.h"

enum { WK__CONV_DIMS = 3 };

typedef enum wk__conv_role { WK__CONV_X, WK__CONV_W, WK__CONV_Y, WK__CONV_ROLES } wk__conv_role;

typedef struct wk__convolution {
    int dims;                   /* spatial dimensions, 1 to 3 */
    bool unbatched;             /* x and y have no first dimension, and n is 1 */
    int64_t n, groups, in, out; /* in, out: channels of a group */
    int64_t size[WK__CONV_DIMS], kernel[WK__CONV_DIMS], result[WK__CONV_DIMS];
    int64_t stride[WK__CONV_DIMS], padding[WK__CONV_DIMS], dilation[WK__CONV_DIMS]; /* padding: before the first */
} wk__convolution;

/* Computes the shape of a tensor of a convolution; returns its number of dimensions. */
int wk__convolution_shape(const wk__convolution *c, wk__conv_role role, int64_t shape[]);
/* Records the contraction that computes the tensor of this role from the other two, which have one dtype and the
 * shapes of c. Returns a tensor without a node; NULL on error. */
wk_tensor *wk__convolution_record(const wk__op *op, wk_site site, const wk__convolution *c, wk__conv_role result,
                                  wk_tensor *const of[WK__CONV_ROLES]);

#endif
