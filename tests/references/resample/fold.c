/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/resample/fold.c: loops over windows and their elements. */
#include "references/reference.h"
#include <string.h>

enum { DIMS = 2 };

/* Copies, or adds, between an image (n, size..) and its columns (n, kernel.., windows..). kernel: of args. */
static void visit(const wk_value *kernel, int64_t planes, const int64_t size[], double *image, double *columns,
                  bool add)
{
    int64_t k[DIMS], dilation[DIMS], padding[DIMS], stride[DIMS], count[DIMS], column = 0;
    reference_sizes(kernel, DIMS, 1, k);
    reference_sizes(kernel + 1, DIMS, 1, dilation);
    reference_sizes(kernel + 2, DIMS, 0, padding);
    reference_sizes(kernel + 3, DIMS, 1, stride);
    for (int d = 0; d < DIMS; d++) count[d] = (size[d] + 2 * padding[d] - dilation[d] * (k[d] - 1) - 1) / stride[d] + 1;
    for (int64_t n = 0; n < planes; n++)
        for (int64_t tap = 0; tap < k[0] * k[1]; tap++)
            for (int64_t window = 0; window < count[0] * count[1]; window++, column++) {
                const int64_t y = window / count[1] * stride[0] + tap / k[1] * dilation[0] - padding[0];
                const int64_t x = window % count[1] * stride[1] + tap % k[1] * dilation[1] - padding[1];
                if (y < 0 || y >= size[0] || x < 0 || x >= size[1]) continue;
                double *place = &image[(n * size[0] + y) * size[1] + x];
                if (add)
                    *place += columns[column];
                else
                    columns[column] = *place;
            }
}

static void im2col_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const int batched = x->ndim == 4;
    const int64_t *size = x->shape + x->ndim - DIMS;
    int64_t shape[3] = {x->shape[0], 0, 1}, k[DIMS], dilation[DIMS], padding[DIMS], stride[DIMS];
    reference_sizes(&r->args[1], DIMS, 1, k);
    reference_sizes(&r->args[2], DIMS, 1, dilation);
    reference_sizes(&r->args[3], DIMS, 0, padding);
    reference_sizes(&r->args[4], DIMS, 1, stride);
    shape[batched] = x->shape[batched] * k[0] * k[1];
    shape[batched + 1] = 1;
    for (int d = 0; d < DIMS; d++)
        shape[batched + 1] *= (size[d] + 2 * padding[d] - dilation[d] * (k[d] - 1) - 1) / stride[d] + 1;
    double *out = reference_out(r, 0, batched + 2, shape);
    visit(&r->args[1], (batched ? x->shape[0] : 1) * x->shape[batched], size, x->data, out, false);
}

static void col2im_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const int batched = x->ndim == 3;
    int64_t shape[4] = {x->shape[0]}, size[DIMS], k[DIMS];
    reference_sizes(&r->args[1], DIMS, 1, size);
    reference_sizes(&r->args[2], DIMS, 1, k);
    shape[batched] = x->shape[batched] / (k[0] * k[1]);
    memcpy(shape + batched + 1, size, sizeof size);
    double *out = reference_out(r, 0, batched + 3, shape);
    visit(&r->args[2], (batched ? x->shape[0] : 1) * shape[batched], size, out, x->data, true);
}

static const char *const im2col_samples[] = {"[1,2,4,5], 2",
                                             "[2,3,4], (2,3), 1, 1",
                                             "[1,1,6,6], (3,2), (2,1), (1,0), 2",
                                             "[2,1,3,3], 3",
                                             "[0,2,3,3], 2",
                                             "[1,1,3,4], 1, 144115188075855872, 0, 2",
                                             NULL};
static const char *const col2im_samples[] = {"[1,8,12], (4,5), 2", "[6,16], (3,4), (2,3), 1, (1,1)",
                                             "[1,6,4], (6,6), (3,2), (2,1), (1,0), (2,3)", "[2,9,1], 3, 3", NULL};

const op_reference op_reference_im2col = {
    .reference = im2col_reference, .samples = im2col_samples, .low = -3, .high = 3};

const op_reference op_reference_col2im = {
    .reference = col2im_reference, .samples = col2im_samples, .low = -3, .high = 3};
