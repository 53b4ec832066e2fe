/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/core/copy.c. */
#include "references/reference.h"
#include <string.h>

static double same(const double *x)
{
    return x[0];
}

/* ---- clone and contiguous ---------------------------------------------------------------------------------------- */

const op_reference op_reference_clone = {.scalar = same, .samples = samples_unary, .low = -3, .high = 3};

/* ---- to_dtype ---------------------------------------------------------------------------------------------------- */

static void to_dtype_reference(reference_call *r)
{
    double *out = reference_out(r, 0, r->in[0].ndim, r->in[0].shape);
    for (int64_t k = 0; k < reference_numel(&r->in[0]); k++) {
        double x = r->in[0].data[k];
        wk_dtype dtype = (wk_dtype)r->args[1].i;
        out[k] = dtype == WK_BOOL ? x != 0 : wk__is_float(dtype) ? x : (double)(int64_t)x;
    }
}

static const char *const to_dtype_samples[] = {"[3,5], f32", "[3,5], f64", "[7], i64", "[7], bool",
                                               "[], bf16",   "[2,0], f16", "[4], i32", NULL};

const op_reference op_reference_to_dtype = {
    .reference = to_dtype_reference, .samples = to_dtype_samples, .low = 0, .high = 3};

/* ---- to another device ------------------------------------------------------------------------------------------- */

static void to_reference(reference_call *r)
{
    memcpy(reference_out(r, 0, r->in[0].ndim, r->in[0].shape), r->in[0].data,
           sizeof(double) * (size_t)reference_numel(&r->in[0]));
}

static const char *const to_samples[] = {"[3,5], cpu", "[], cpu", "[0], cpu", NULL};

const op_reference op_reference_to = {
    .reference = to_reference, .samples = to_samples, .low = -3, .high = 3, .discontinuous = true};

/* ---- copy_ and fill_ --------------------------------------------------------------------------------------------- */

static void copy_reference(reference_call *r)
{
    const reference_array *from = &r->in[1], *to = &r->in[0];
    double *out = reference_out(r, 0, to->ndim, to->shape);
    for (int64_t k = 0; k < reference_numel(to); k++) out[k] = reference_at(from, to->ndim, to->shape, k);
}

static const char *const copy_samples[] = {"[3,4], [3,4]", "[3,4], [4]", "[2], []", "[0,2], [2]", NULL};

const op_reference op_reference_copy_ = {.reference = copy_reference, .samples = copy_samples, .low = 0, .high = 3};

static void fill_reference(reference_call *r)
{
    double *out = reference_out(r, 0, r->in[0].ndim, r->in[0].shape);
    for (int64_t k = 0; k < reference_numel(&r->in[0]); k++)
        out[k] = r->args[1].kind == WK_VALUE_FLOAT ? r->args[1].f : (double)r->args[1].i;
}

static const char *const fill_samples[] = {"[3,4], 2", "[3,4], 0.5", "[], 1", "[0], 1", NULL};

const op_reference op_reference_fill_ = {.reference = fill_reference, .samples = fill_samples, .low = -3, .high = 3};
