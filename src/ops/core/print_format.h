/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor as text, character for character what PyTorch prints, from values in host memory.
 *
 * Of a tensor with more than 1000 elements only the first and last three indices of each long dimension are shown, and
 * only those elements are read: they decide on width and style too. So a tensor on a device need not come over as a
 * whole: copy what wk__print_shown says into a dense block and leave `strides` NULL. */
#ifndef WICK_OPS_PRINT_FORMAT_H
#define WICK_OPS_PRINT_FORMAT_H

#include "base/text.h"
#include "ir/ir.h"

/* Which indices of each dimension appear: 0..count-1, or with a gap the first and the last count / 2. */
typedef struct wk__shown_range {
    int64_t count[WK__MAX_DIMS];
    bool gap[WK__MAX_DIMS];
} wk__shown_range;

wk__shown_range wk__print_shown(int ndim, const int64_t shape[]);

/* The index in a dimension of `size` of its k-th shown one. */
static inline int64_t wk__shown_index(const wk__shown_range *shown, int dim, int64_t size, int64_t k)
{
    bool after_gap = shown->gap[dim] && k >= shown->count[dim] / 2;
    return after_gap ? size - shown->count[dim] + k : k;
}

typedef struct wk__print_job {
    wk_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int64_t *strides; /* in elements, of any sign; NULL: data holds the shown elements alone, dense, row-major */
    const void *data;       /* the element with all indices 0 */
    const char *device;     /* "opencl:0"; NULL on the cpu, which goes without saying */
    const char *grad_fn;    /* "AddBackward0" or NULL */
    bool requires_grad;
} wk__print_job;

/* Adds "tensor([1., 2.], device='opencl:0')" or the like, with no newline at the end. */
void wk__print_format(wk__text *out, const wk__print_job *job);

/* Adds "f32[2,3]", and "f32[2,3] cpu requires_grad" when there is a device and a gradient to mention: how messages name
 * an operand. */
void wk__describe_format(wk__text *out, wk_dtype dtype, int ndim, const int64_t shape[], const char *device,
                         bool requires_grad);

#endif
