/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/split.c. */
#include "reference.h"
#include "ops/views.h"
#include <string.h>

/* attr: dimension, size of all pieces but the last; unequal sizes are in the list instead */
enum { DIM, SIZE };

/* How long piece k is, with `left` places to come. */
static int64_t length_of(const wk__attr *attr, int64_t k, int64_t left)
{
    if (attr->count) return attr->list[k];
    return attr->i[SIZE] < left ? attr->i[SIZE] : left;
}

/* An empty dimension is one empty piece, as PyTorch's. */
static int64_t count_of(int64_t places, int64_t size)
{
    return places == 0 || size == 0 ? 1 : places / size + (places % size > 0);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void reference(reference_call *r, const wk__attr *attr, int count, bool unbound)
{
    const reference_array *x = &r->in[0];
    int64_t inner = 1, outer = 1, at = 0, d = attr->i[DIM];
    for (int64_t k = 0; k < d; k++) outer *= x->shape[k];
    for (int64_t k = d + 1; k < x->ndim; k++) inner *= x->shape[k];
    for (int k = 0; k < count; k++) {
        wk__geometry piece = {.ndim = x->ndim};
        memcpy(piece.shape, x->shape, sizeof piece.shape);
        int64_t length = piece.shape[d] = length_of(attr, k, x->shape[d] - at);
        if (unbound) wk__geometry_drop(&piece, (int)d);
        double *out = reference_out(r, k, piece.ndim, piece.shape);
        for (int64_t j = 0; j < outer * length * inner; j++)
            out[j] = x->data[(j / (length * inner) * x->shape[d] + at) * inner + j % (length * inner)];
        at += length;
    }
}

static void equal_reference(reference_call *r, int64_t size, int count, int64_t dim, bool unbound)
{
    int d = 0;
    wk__dim(r->in[0].ndim, dim, &d);
    reference(r, &(wk__attr){.i = {d, size}}, count, unbound);
}

static void split_reference(reference_call *r)
{
    int d = 0;
    wk__dim(r->in[0].ndim, wk__value_int(&r->args[2], 0), &d);
    equal_reference(r, r->args[1].i, (int)count_of(r->in[0].shape[d], r->args[1].i), d, false);
}

static void chunk_reference(reference_call *r)
{
    int d = 0;
    wk__dim(r->in[0].ndim, wk__value_int(&r->args[2], 0), &d);
    int64_t places = r->in[0].shape[d], n = r->args[1].i, size = (places + n - 1) / n;
    equal_reference(r, size, (int)(places ? count_of(places, size) : n), d, false);
}

static void unbind_reference(reference_call *r)
{
    int d = 0;
    wk__dim(r->in[0].ndim, wk__value_int(&r->args[1], 0), &d);
    equal_reference(r, 1, (int)r->in[0].shape[d], d, true);
}

static void split_with_sizes_reference(reference_call *r)
{
    int d = 0;
    wk__dim(r->in[0].ndim, wk__value_int(&r->args[2], 0), &d);
    wk__attr attr = {.i = {d}, .count = r->args[1].count};
    memcpy(attr.list, r->args[1].ints, sizeof *attr.list * (size_t)attr.count);
    reference(r, &attr, attr.count, false);
}

static const char *const split_samples[] = {"[7], 3", "[5,3], 2", "[2,6], 3, 1", "[0,3], 2", NULL};

static const char *const chunk_samples[] = {"[7], 3", "[5,3], 4", "[2,6], 3, -1", "[0,3], 2", NULL};

static const char *const sizes_samples[] = {"[7], (1,4,2)", "[2,3], (0,3), 1", "[0,3], (1,2), 1", NULL};

static const char *const unbind_samples[] = {"[3]", "[2,3], 1", "[1,2,2], -1", "[2,0]", NULL};

const op_reference op_reference_split = {.reference = split_reference, .samples = split_samples, .low = -3, .high = 3};

const op_reference op_reference_chunk = {.reference = chunk_reference, .samples = chunk_samples, .low = -3, .high = 3};

const op_reference op_reference_split_with_sizes = {
    .reference = split_with_sizes_reference, .samples = sizes_samples, .low = -3, .high = 3};

const op_reference op_reference_unbind = {
    .reference = unbind_reference, .samples = unbind_samples, .low = -3, .high = 3};
