/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/index/nonzero.c. */
#include "references/reference.h"

/* ---- masked_select ----------------------------------------------------------------------------------------------- */

static void masked_select_reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *mask = &r->in[1];
    int64_t n = reference_numel(x), period = reference_numel(mask), count = 0;
    for (int64_t k = 0; k < n; k++) count += mask->data[k % period] != 0;
    double *out = reference_out(r, 0, 1, &count);
    for (int64_t k = 0; k < n; k++)
        if (mask->data[k % period] != 0) *out++ = x->data[k];
}

static const char *const masked_select_samples[] = {"[7], [7]:bool", "[3,4], [3,4]:bool", "[3,4], [4]:bool",
                                                    "[0], [0]:bool", "[], []:bool",       NULL};

const op_reference op_reference_masked_select = {
    .reference = masked_select_reference, .samples = masked_select_samples, .low = -3, .high = 3};

/* ---- nonzero, nonzero_numpy: the same indices as rows of one tensor, or as one tensor per dimension -------------- */

/* The index of element k along dimension d. */
static double along(const reference_array *x, int64_t k, int d)
{
    for (int e = x->ndim - 1; e > d; e--) k /= x->shape[e];
    return (double)(k % x->shape[d]);
}

static int64_t count_of(const reference_array *x)
{
    int64_t count = 0;
    for (int64_t k = 0; k < reference_numel(x); k++) count += x->data[k] != 0;
    return count;
}

static void nonzero_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    double *out = reference_out(r, 0, 2, (const int64_t[]){count_of(x), x->ndim});
    for (int64_t k = 0; k < reference_numel(x); k++)
        for (int d = 0; d < x->ndim && x->data[k] != 0; d++) *out++ = along(x, k, d);
}

static void nonzero_numpy_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const int64_t count = count_of(x);
    for (int d = 0; d < x->ndim; d++) {
        double *out = reference_out(r, d, 1, &count);
        for (int64_t k = 0; k < reference_numel(x); k++)
            if (x->data[k] != 0) *out++ = along(x, k, d);
    }
}

static const char *const nonzero_samples[] = {"[7]:bool", "[3,4]:bool", "[2,3]:i64<2", "[0]:bool", NULL};

const op_reference op_reference_nonzero = {.reference = nonzero_reference, .samples = nonzero_samples};

const op_reference op_reference_nonzero_numpy = {.reference = nonzero_numpy_reference, .samples = nonzero_samples};
