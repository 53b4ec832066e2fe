/* wick/reduce.h: reductions, scans, sorting, softmax and its relatives, normalisation, losses. */
#ifndef WICK_REDUCE_H
#define WICK_REDUCE_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reductions: over all dimensions, or those in parentheses: wk_sum(x), wk_sum(x, (0, 1)), wk_sum(x, (1), .keepdim = true) */
typedef struct wk_reduce_options {
    size_t size;
    bool keepdim;   /* reduced dimensions stay, with size 1 */
    wk_dtype dtype; /* of the result; default as PyTorch: sums of integers and bool are i64 */
} wk_reduce_options;
#define WK_REDUCE_DECL_(name)                                                                                            \
    WK_API wk_tensor *name##_at(wk_site site, wk_tensor *x, const int64_t *dims, int count, const wk_reduce_options *options)

WK_REDUCE_DECL_(wk_sum); /* sum of the elements */

#ifndef __cplusplus
#define wk_sum(...)   WK_REDUCE_(wk_sum_at, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
