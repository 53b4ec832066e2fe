/* SPDX-License-Identifier: Apache-2.0 */
/* Formats a tensor as text, character for character as PyTorch prints it, from values in host memory.
 *
 * For a tensor with more than 1000 elements only the first and last three indices of each long dimension are shown.
 * Only those elements are read; width and style depend on them alone. So a tensor on a device need not be copied
 * entirely: copy the elements that wk__print_shown selects into a dense block and leave `strides` NULL. */
#ifndef WICK_OPS_PRINT_FORMAT_H
#define WICK_OPS_PRINT_FORMAT_H

#include "base/text.h"
#include "ir/ir.h"

/* Indices shown of each dimension: 0..count-1, or with a gap the first and the last count / 2. */
typedef struct wk__shown_range {
    int64_t count[WK__MAX_DIMS];
    bool gap[WK__MAX_DIMS];
} wk__shown_range;

wk__shown_range wk__print_shown(int ndim, const int64_t shape[]);

/* Returns the index of the k-th shown element of a dimension of this size. */
static inline int64_t wk__shown_index(const wk__shown_range *shown, int dim, int64_t size, int64_t k)
{
    bool after_gap = shown->gap[dim] && k >= shown->count[dim] / 2;
    return after_gap ? size - shown->count[dim] + k : k;
}

/* Arguments of wk__print_format. The caller owns everything. */
typedef struct wk__print_job {
    wk_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int64_t *strides; /* in elements, of any sign; NULL: data has the shown elements only, dense, row-major */
    const void *data;       /* the element at index 0 in all dimensions */
    const char *device;     /* "opencl:0"; NULL for the CPU, which is not printed */
    const char *grad_fn;    /* "AddBackward0" or NULL */
    bool requires_grad;
} wk__print_job;

/* Appends "tensor([1., 2.], device='opencl:0')" or the like, without a newline at the end. */
void wk__print_format(wk__text *out, const wk__print_job *job);

/* Appends "f32[2,3]", or "f32[2,3] cpu requires_grad" if there is a device and a gradient to mention. Messages name
 * operands this way. */
void wk__describe_format(wk__text *out, wk_dtype dtype, int ndim, const int64_t shape[], const char *device,
                         bool requires_grad);

#endif
