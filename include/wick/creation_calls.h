/* SPDX-License-Identifier: Apache-2.0 */
/* wick/creation_calls.h: the functions behind wick/creation.h.
 *
 * The exported functions behind the macros, for bindings and C++: wk_NAME_at takes the call site first; wk_NAME,
 * where there is one, takes none and serves as a pointer to a function. The macros' comments describe them. A suffix
 * tells the type of a scalar operand: _scalar_f64 and _scalar_i64 take a tensor and a double or int64_t,
 * _rscalar_f64 and _rscalar_i64 the scalar first; _f64 and _i64 take the scalar in its usual position. Options may
 * be NULL. A list of dimensions is followed by its length; NULL with length -1 stands for all dimensions. */
/* Written by scripts/generate_ops.py from src/ops/specs/creation: edit those. */
#ifndef WICK_CREATION_CALLS_H
#define WICK_CREATION_CALLS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "core.h"
#include "device.h"
#include "macros.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* zeros: all 0 */
typedef struct wk_tensor_options {
    size_t size;
    wk_by_name by_name;
    wk_dtype dtype;     /* default f32, or what the call says */
    wk_device device;   /* default: that of WK_DEVICE, else the CPU */
    bool requires_grad; /* a leaf that gathers gradients: of floats only, else WK_ERR_DTYPE */
    char reserved[3];
} wk_tensor_options;
#ifndef __cplusplus
#define wk_tensor_options_numbers_(wk_do_, wk_o_)
#define wk_tensor_options_members_(wk_do_, wk_d_)                                                                      \
    wk_do_(wk_d_, wk_dtype, dtype) wk_do_(wk_d_, wk_device, device) wk_do_(wk_d_, bool, requires_grad)
#endif
WK_RESULT_API wk_tensor *wk_zeros_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options);

/* ones: all 1 */
WK_RESULT_API wk_tensor *wk_ones_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options);

/* empty: memory of this shape; its numbers mean nothing (they are 0) */
WK_RESULT_API wk_tensor *wk_empty_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options);

/* full: all the same number: i64 for a whole one, else f32 */
WK_RESULT_API wk_tensor *wk_full_f64_at(wk_site site, const int64_t *shape, int ndim, double value,
                                        const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_full_i64_at(wk_site site, const int64_t *shape, int ndim, int64_t value,
                                        const wk_tensor_options *options);

/* zeros_like: all 0, of the shape, dtype and device of self */
WK_RESULT_API wk_tensor *wk_zeros_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options);

/* ones_like: all 1, of the shape, dtype and device of self */
WK_RESULT_API wk_tensor *wk_ones_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options);

/* empty_like: memory whose numbers mean nothing (they are 0), of the shape, dtype and device of self */
WK_RESULT_API wk_tensor *wk_empty_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options);

/* full_like: all the same number, of the shape, dtype and device of self */
WK_RESULT_API wk_tensor *wk_full_like_f64_at(wk_site site, wk_tensor *x, double value,
                                             const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_full_like_i64_at(wk_site site, wk_tensor *x, int64_t value,
                                             const wk_tensor_options *options);

/* arange: start, start + step, ... short of end; of one number 0, 1, ... short of that */
WK_RESULT_API wk_tensor *wk_arange_i64_at(wk_site site, int64_t end, const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_arange_f64_at(wk_site site, double end, const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_arange_range_at(wk_site site, long double start, long double end, long double step,
                                            bool whole, const wk_tensor_options *options);
WK_RESULT_API wk_tensor *wk_arange_from_at(wk_site site, double start, double end, double step,
                                           const wk_tensor_options *options);

/* linspace: evenly spaced, both ends included */
WK_RESULT_API wk_tensor *wk_linspace_at(wk_site site, double start, double end, int64_t count,
                                        const wk_tensor_options *options);

/* eye: the identity matrix */
WK_RESULT_API wk_tensor *wk_eye_at(wk_site site, int64_t n, const wk_tensor_options *options);

/* ---- drawing random numbers -------------------------------------------------------------------------------------- */

/* rand: uniform in [0, 1) */
WK_RESULT_API wk_tensor *wk_rand_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options);

/* rand_like: uniform in [0, 1), shaped like self */
WK_RESULT_API wk_tensor *wk_rand_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options);

/* randn: standard normal */
WK_RESULT_API wk_tensor *wk_randn_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options);

/* randn_like: standard normal, shaped like self */
WK_RESULT_API wk_tensor *wk_randn_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options);

/* randint: whole numbers in [low, high), i64 */
WK_RESULT_API wk_tensor *wk_randint_at(wk_site site, int64_t low, int64_t high, const int64_t *shape, int ndim,
                                       const wk_tensor_options *options);

/* randperm: 0..n-1 in random order, i64 */
WK_RESULT_API wk_tensor *wk_randperm_at(wk_site site, int64_t n, const wk_tensor_options *options);

/* ---- moving, converting, copying --------------------------------------------------------------------------------- */

/* to: on another device; the same tensor if it is there already */
WK_RESULT_API wk_tensor *wk_to_at(wk_site site, wk_tensor *x, wk_device device);

/* to_dtype: converted: floats round to nearest even, floats to integers truncate, anything to bool is x != 0 */
WK_RESULT_API wk_tensor *wk_to_dtype_at(wk_site site, wk_tensor *x, wk_dtype dtype);

/* clone: a dense copy with its own storage */
WK_RESULT_API wk_tensor *wk_clone_at(wk_site site, wk_tensor *x);

/* copy_: src written over self: broadcast, converted, moved */
WK_API wk_tensor *wk_copy__at(wk_site site, wk_tensor *x, wk_tensor *y);

/* fill_: every element becomes the number */
WK_API wk_tensor *wk_fill__f64_at(wk_site site, wk_tensor *x, double value);
WK_API wk_tensor *wk_fill__i64_at(wk_site site, wk_tensor *x, int64_t value);
WK_API wk_tensor *wk_zero__at(wk_site site, wk_tensor *x);

#ifdef __cplusplus
}
#endif
#endif
