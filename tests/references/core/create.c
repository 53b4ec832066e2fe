/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/core/create.c. */
#include "references/reference.h"
#include <math.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void filled_reference(reference_call *r, double value)
{
    double *out = reference_out(r, 0, r->args[0].count, r->args[0].ints);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) out[k] = value;
}

static void zeros_reference(reference_call *r)
{
    filled_reference(r, 0);
}

static void ones_reference(reference_call *r)
{
    filled_reference(r, 1);
}

static void full_reference(reference_call *r)
{
    filled_reference(r, wk__value_float(&r->args[1], 0));
}

static void filled_like_reference(reference_call *r, double value)
{
    double *out = reference_out(r, 0, r->in[0].ndim, r->in[0].shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) out[k] = value;
}

static void zeros_like_reference(reference_call *r)
{
    filled_like_reference(r, 0);
}

static void ones_like_reference(reference_call *r)
{
    filled_like_reference(r, 1);
}

static void full_like_reference(reference_call *r)
{
    filled_like_reference(r, wk__value_float(&r->args[1], 0));
}

static bool whole_dtype(const wk_value *dtype)
{
    return dtype->kind == WK_VALUE_DTYPE && !wk__is_float((wk_dtype)dtype->i);
}

static void arange_reference(reference_call *r)
{
    const double first = wk__value_float(&r->args[0], 0), end = wk__value_float(&r->args[1], first);
    double start = r->args[1].kind == WK_VALUE_NONE ? 0 : first, step = wk__value_float(&r->args[2], 1);
    int64_t n = (int64_t)ceil((end - start) / step);
    double *out = reference_out(r, 0, 1, &n);
    if (whole_dtype(&r->args[3])) {
        start = trunc(start);
        step = trunc(step);
    }
    for (int64_t k = 0; k < n; k++) out[k] = start + (double)k * step;
}

static void linspace_reference(reference_call *r)
{
    double start = wk__value_float(&r->args[0], 0), end = wk__value_float(&r->args[1], 0);
    int64_t n = wk__value_int(&r->args[2], 0);
    double *out = reference_out(r, 0, 1, &n);
    if (whole_dtype(&r->args[3])) {
        start = trunc(start);
        end = trunc(end);
    }
    for (int64_t k = 0; k < n; k++) out[k] = n == 1 ? start : start + (end - start) * (double)k / (double)(n - 1);
}

static void eye_reference(reference_call *r)
{
    int64_t n = wk__value_int(&r->args[0], 0), shape[2] = {n, n};
    double *out = reference_out(r, 0, 2, shape);
    for (int64_t k = 0; k < n; k++) out[k * n + k] = 1;
}

static const char *const shape_samples[] = {"()",    "(5)",       "(2,3), f64", "(3), i64",
                                            "(0,2)", "(4), bool", "(3), bf16",  NULL};

static const char *const full_samples[] = {"(2,3), 7", "(2,3), 0.5", "(), 2", "(3), 1.5, f64", "(2), 300, u8", NULL};

static const char *const like_samples[] = {"[]", "[5]", "[2,3], f64", "[3], i64", "[0,2]", NULL};

static const char *const full_like_samples[] = {"[2,3], 7", "[], 2.5", "[3], 1.5, f64", NULL};

static const char *const arange_samples[] = {"5",        "2.5",        "0, 5", "0, 5.5",       "2, 12, 3",
                                             "5, 0, -1", "0, 1, 0.25", "0, 0", "0, 7, 2, f64", NULL};

static const char *const linspace_samples[] = {"-3, 3, 200", "0, 1, 1", "0, 1, 0", "1, 0, 5, f64", NULL};

static const char *const eye_samples[] = {"3", "0", "1", "4, i64", NULL};

const op_reference op_reference_empty = {.reference = zeros_reference, .samples = shape_samples, .discontinuous = true};

const op_reference op_reference_zeros = {.reference = zeros_reference, .samples = shape_samples};

const op_reference op_reference_ones = {.reference = ones_reference, .samples = shape_samples};

const op_reference op_reference_full = {.reference = full_reference, .samples = full_samples};

const op_reference op_reference_arange = {.reference = arange_reference, .samples = arange_samples};

const op_reference op_reference_linspace = {.reference = linspace_reference, .samples = linspace_samples};

const op_reference op_reference_eye = {.reference = eye_reference, .samples = eye_samples};

const op_reference op_reference_empty_like = {.reference = zeros_like_reference, .samples = like_samples};

const op_reference op_reference_zeros_like = {.reference = zeros_like_reference, .samples = like_samples};

const op_reference op_reference_ones_like = {.reference = ones_like_reference, .samples = like_samples};

const op_reference op_reference_full_like = {.reference = full_like_reference, .samples = full_like_samples};
