/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/split.c. */
#include "references/reference.h"

static int dim_of(const reference_call *r, int argument)
{
    int d = 0;
    wk__wrap_dim(r->in[0].ndim, wk__value_int(&r->args[argument], 0), &d);
    return d;
}

/* Result k: `length` indices of dimension d from `at` on; removes the dimension if `unbound`. */
static void piece(reference_call *r, int k, int d, int64_t at, int64_t length, bool unbound)
{
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS] = {0}, inner = 1, outer = 1;
    int ndim = 0;
    for (int e = 0; e < x->ndim; e++) {
        if (e < d) outer *= x->shape[e];
        if (e > d) inner *= x->shape[e];
        if (e != d || !unbound) shape[ndim++] = e == d ? length : x->shape[e];
    }
    double *out = reference_out(r, k, ndim, shape);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t p = 0; p < length; p++)
            for (int64_t i = 0; i < inner; i++) *out++ = x->data[(o * x->shape[d] + at + p) * inner + i];
}

/* Splits into pieces of that size until the end; an empty dimension gives `empty` pieces. */
static void pieces_of(reference_call *r, int d, int64_t size, int empty, bool unbound)
{
    const int64_t places = r->in[0].shape[d];
    int count = 0;
    for (int64_t at = 0; at < places; at += size)
        piece(r, count++, d, at, at + size <= places ? size : places - at, unbound);
    while (places == 0 && count < empty) piece(r, count++, d, 0, 0, unbound);
}

static void split_reference(reference_call *r)
{
    pieces_of(r, dim_of(r, 2), r->args[1].i, 1, false);
}

static void chunk_reference(reference_call *r)
{
    const int d = dim_of(r, 2);
    const int64_t n = r->args[1].i;
    pieces_of(r, d, (r->in[0].shape[d] + n - 1) / n, (int)n, false);
}

static void unbind_reference(reference_call *r)
{
    pieces_of(r, dim_of(r, 1), 1, 0, true);
}

static void split_with_sizes_reference(reference_call *r)
{
    const int d = dim_of(r, 2);
    int64_t at = 0;
    for (int k = 0; k < r->args[1].count; at += r->args[1].ints[k++]) piece(r, k, d, at, r->args[1].ints[k], false);
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
