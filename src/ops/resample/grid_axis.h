/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of a grid along one spatial dimension of x: the elements that a position takes, and their weights. */
#ifndef WICK_OPS_GRID_AXIS_H
#define WICK_OPS_GRID_AXIS_H

#include "ops/core/call.h"

enum { WK__GRID_TAPS = 4, WK__GRID_DIMS = 3 };

/* A call of grid_sample. */
typedef struct wk__grid_call {
    wk_site site;
    int mode, padding_mode, dims;
    bool align_corners;
    int64_t samples, channels, points;         /* points: positions per sample */
    int64_t size[WK__GRID_DIMS];               /* of the spatial dimensions of x */
    int64_t stride[WK__GRID_DIMS], plane_size; /* distance of their elements in a dense plane, and its elements */
} wk__grid_call;

/* The elements that each position takes. All tensors have the shape (samples, 1, points). */
typedef struct wk__grid_axis {
    int taps;
    wk_tensor *index[WK__GRID_TAPS];  /* i64, times the stride; NULL: index[0] + shift */
    int64_t shift[WK__GRID_TAPS];     /* times the stride */
    wk_tensor *weight[WK__GRID_TAPS]; /* NULL: 1 */
    wk_tensor *slope[WK__GRID_TAPS];  /* derivative of the weight by the position; NULL if weight is */
    wk_tensor *valid[WK__GRID_TAPS];  /* bool: false for elements outside of x, which are 0; NULL: all are inside */
    wk_tensor *factor; /* derivative of the position by the grid's coordinate; NULL: `scale` for all positions */
    double scale;
} wk__grid_axis;

/* Computes the elements along dimension k from the coordinates (samples, 1, points), f32 or f64. `slopes`: also slope
 * and factor. Returns false on error. */
bool wk__grid_axis_make(const wk__grid_call *call, wk_tensor *coordinate, int k, bool slopes, wk__grid_axis *axis);

#endif
