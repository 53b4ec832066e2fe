/* SPDX-License-Identifier: Apache-2.0 */
/* wick/creation_calls.h: the functions behind wick/creation.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * names the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 means all dimensions. */
/* Written by scripts/generate_ops.py from src/ops/specs/creation: edit those. */
#ifndef WICK_CREATION_CALLS_H
#define WICK_CREATION_CALLS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "core.h"
#include "device.h"
#include "macros_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- factories --------------------------------------------------------------------------------------------------- */

/* zeros: Creates a tensor of zeros. */
typedef struct wk_tensor_options {
    size_t size;
    wk_by_name by_name;
    wk_dtype dtype;     /* element type; default as stated at the call */
    wk_device device;   /* default: that of WK_DEVICE, else the CPU */
    bool requires_grad; /* a leaf that accumulates gradients, floating dtypes only (else WK_ERR_DTYPE); default false */
    char reserved[3];
} wk_tensor_options;
#ifndef __cplusplus
#define wk_tensor_options_numbers_(wk_do_, wk_o_)
#define wk_tensor_options_members_(wk_do_, wk_d_)                                                                      \
    wk_do_(wk_d_, wk_dtype, dtype) wk_do_(wk_d_, wk_device, device) wk_do_(wk_d_, bool, requires_grad)
#endif
WK_RESULT_API wk_tensor *wk_zeros_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options);

/* ones: Creates a tensor of ones. */
WK_RESULT_API wk_tensor *wk_ones_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options);

/* empty: Creates a tensor for a later write. Its contents are unspecified (currently zero). */
WK_RESULT_API wk_tensor *wk_empty_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options);

/* full: Creates a tensor in which every element is value. */
WK_RESULT_API wk_tensor *wk_full_f64_at(wk_site site, const int64_t *shape, int ndim, double value,
                                        const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_full_i64_at(wk_site site, const int64_t *shape, int ndim, int64_t value,
                                        const wk_tensor_options *options);

/* zeros_like: Creates a tensor of zeros like x. */
WK_RESULT_API wk_tensor *wk_zeros_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options);

/* ones_like: Creates a tensor of ones like x. */
WK_RESULT_API wk_tensor *wk_ones_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options);

/* empty_like: Creates a tensor like x for a later write. Its contents are unspecified (currently zero). */
WK_RESULT_API wk_tensor *wk_empty_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options);

/* full_like: Creates a tensor like x in which every element is value. */
WK_RESULT_API wk_tensor *wk_full_like_f64_at(wk_site site, wk_tensor *x, double value,
                                             const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_full_like_i64_at(wk_site site, wk_tensor *x, int64_t value,
                                             const wk_tensor_options *options);

/* arange: Creates the vector start, start + step, ... that ends before end. */
WK_RESULT_API wk_tensor *wk_arange_i64_at(wk_site site, int64_t end, const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_arange_f64_at(wk_site site, double end, const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_arange_range_at(wk_site site, long double start, long double end, long double step,
                                            bool whole, const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_arange_from_at(wk_site site, double start, double end, double step,
                                           const wk_tensor_options *options);

/* linspace: Creates a vector of count evenly spaced numbers from start to end, both included. */
WK_RESULT_API wk_tensor *wk_linspace_at(wk_site site, double start, double end, int64_t count,
                                        const wk_tensor_options *options);

/* eye: Creates the identity matrix of n rows and n columns. */
WK_RESULT_API wk_tensor *wk_eye_at(wk_site site, int64_t n, const wk_tensor_options *options);

/* ---- random factories -------------------------------------------------------------------------------------------- */

/* rand: Draws from the uniform distribution over [0, 1). */
WK_RESULT_API wk_tensor *wk_rand_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options);

/* rand_like: Draws from the uniform distribution over [0, 1) into a tensor like x. */
WK_RESULT_API wk_tensor *wk_rand_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options);

/* randn: Draws from the standard normal distribution. */
WK_RESULT_API wk_tensor *wk_randn_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options);

/* randn_like: Draws from the standard normal distribution into a tensor like x. */
WK_RESULT_API wk_tensor *wk_randn_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options);

/* randint: Draws integers from the uniform distribution over [low, high). */
WK_RESULT_API wk_tensor *wk_randint_at(wk_site site, int64_t low, int64_t high, const int64_t *shape, int ndim,
                                       const wk_tensor_options *options);

/* randperm: Draws a random permutation of 0, ..., n - 1. */
WK_RESULT_API wk_tensor *wk_randperm_at(wk_site site, int64_t n, const wk_tensor_options *options);

/* ---- moving, converting, copying --------------------------------------------------------------------------------- */

/* to: Copies x to device. */
WK_RESULT_API wk_tensor *wk_to_at(wk_site site, wk_tensor *x, wk_device device);

/* to_dtype: Converts x to dtype. */
WK_RESULT_API wk_tensor *wk_to_dtype_at(wk_site site, wk_tensor *x, wk_dtype dtype);

/* clone: Copies x into a contiguous tensor with storage of its own. */
WK_RESULT_API wk_tensor *wk_clone_at(wk_site site, wk_tensor *x);

/* copy_: Writes y into x, broadcast, converted and moved to x's device. */
WK_API wk_tensor *wk_copy__at(wk_site site, wk_tensor *x, wk_tensor *y);

/* fill_: Writes value into every element of x. */
WK_API wk_tensor *wk_fill__f64_at(wk_site site, wk_tensor *x, double value);
WK_API wk_tensor *wk_fill__i64_at(wk_site site, wk_tensor *x, int64_t value);
WK_API wk_tensor *wk_zero__at(wk_site site, wk_tensor *x);

#ifdef __cplusplus
}
#endif
#endif
