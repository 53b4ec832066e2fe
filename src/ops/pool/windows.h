/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of a pooling. The last one to three dimensions of x are pooled one after the other: for each of them, the
 * elements of the result are combinations of `kernel` slices of x, its taps. Tap j of the window of element i is
 *
 *     element i stride + j dilation - padding of x; it is valid if x has that element
 *
 * Elements of the result whose windows have the same valid taps are adjacent and form a run, so padding needs no copy
 * of x: a run has its own, shorter list of taps.
 *
 * Windows of an adaptive pooling whose sizes differ are read through index vectors instead: element i has the elements
 * from i size / out up to (i + 1) size / out rounded up, and a tap after the last one reads the last one again. */
#ifndef WICK_OPS_POOL_WINDOWS_H
#define WICK_OPS_POOL_WINDOWS_H

#include "base/sizes.h"
#include "ops/core/compose.h"
#include "ops/core/entries.h"

/* The windows of one call. */
typedef struct wk__windows {
    const wk__op *op; /* for messages */
    wk_site site;
    int dims, first; /* number of pooled dimensions, and the first of them */
    /* Per pooled dimension: sizes of x and of the result, and the windows. */
    int64_t size[WK__MAX_SIZES], out[WK__MAX_SIZES];
    int64_t kernel[WK__MAX_SIZES], stride[WK__MAX_SIZES], padding[WK__MAX_SIZES], dilation[WK__MAX_SIZES];
    bool uneven[WK__MAX_SIZES]; /* windows of different sizes, at most `kernel`; no stride */
} wk__windows;

/* Elements first..first+count-1 of the result, whose valid taps are tap..tap+taps-1. */
typedef struct wk__window_run {
    int64_t first, count, tap, taps;
} wk__window_run;

/* Arguments of a pooling. */
typedef struct wk__window_sizes {
    wk_sizes kernel, stride, padding, dilation;
    bool ceil_mode;
} wk__window_sizes;

/* Checks the dtype and the dimensions of x, of which only the samples may be empty, and takes the sizes of the pooled
 * dimensions from it. */
bool wk__windows_take_shape(wk__windows *w, const wk__op *op, wk_site site, wk_tensor *x, int dims);
/* Checks x and the arguments and computes the windows. Returns false on error. */
bool wk__windows_read(wk__windows *w, const wk__op *op, wk_site site, wk_tensor *x, int dims,
                      const wk__window_sizes *sizes);
/* The same for an adaptive pooling to size `out`, where -1 keeps the size of x. */
bool wk__windows_read_adaptive(wk__windows *w, const wk__op *op, wk_site site, wk_tensor *x, int dims, wk_sizes out);
/* Store the windows in the attributes of a node, except `op` and `site`, and read them. list: size, kernel; list2:
 * stride, padding; list3: dilation, out; WK__MAX_SIZES numbers each. */
void wk__windows_to_attr(const wk__windows *w, wk__attr *attr);
void wk__windows_of_attr(wk__windows *w, const wk__grad_ctx *g);

/* Returns true if the result has no elements: no samples, or an adaptive pooling to size 0. */
bool wk__windows_empty(const wk__windows *w, wk_tensor *x);
/* Returns such a result. */
wk_tensor *wk__windows_empty_result(const wk__windows *w, wk_tensor *x, wk_dtype dtype);

/* Finds the run of pooled dimension k that begins at element `first` of the result. Returns false at the end. */
bool wk__window_run_at(const wk__windows *w, int k, int64_t first, wk__window_run *run);
/* Returns tap j of a run's windows along pooled dimension k: a view of x, or elements gathered by an index. */
wk_tensor *wk__window_tap(const wk__windows *w, wk_tensor *x, int k, const wk__window_run *run, int64_t j);
/* Returns the slice of x that tap j reads, if windows are even. */
wk_tensor *wk__window_slice(const wk__windows *w, wk_tensor *x, int k, const wk__window_run *run, int64_t j);

/* For uneven windows, vectors of i64 with one number per window: its first element, the number of its elements, and
 * the element that tap j reads. */
wk_tensor *wk__window_starts(const wk__windows *w, int k, wk_device device);
wk_tensor *wk__window_lengths(const wk__windows *w, int k, wk_device device);
wk_tensor *wk__window_index(const wk__windows *w, int k, int64_t j, wk_device device);
/* Returns a vector of one number per window as a tensor that broadcasts along pooled dimension k. */
wk_tensor *wk__window_vector(const wk__windows *w, wk_tensor *vector, int k);

/* Collects the parts of a result along a dimension, of any number, in order. */
typedef struct wk__parts {
    wk_tensor *part[16];
    int count;
} wk__parts;
/* Adds a part; joins the previous ones if there are too many. False if part is NULL or on error. */
bool wk__parts_add(wk__parts *parts, wk_site site, wk_tensor *part, int64_t dim);
/* Returns the result; NULL if there are no parts. */
wk_tensor *wk__parts_join(wk__parts *parts, wk_site site, int64_t dim);

#endif
