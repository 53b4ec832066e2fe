/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/tril.c. */
#include "references/reference.h"
#include <string.h>

/* ---- tril, triu -------------------------------------------------------------------------------------------------- */

static void triangle_reference(reference_call *r, bool lower_part)
{
    const reference_array *x = &r->in[0];
    int64_t rows = x->shape[x->ndim - 2], columns = x->shape[x->ndim - 1];
    double *out = reference_out(r, 0, x->ndim, x->shape);
    for (int64_t k = 0; k < reference_numel(x); k++) {
        int64_t over = k % columns - k / columns % rows - wk__value_int(&r->args[1], 0);
        out[k] = (lower_part ? over <= 0 : over >= 0) ? x->data[k] : 0;
    }
}

static void tril_reference(reference_call *r)
{
    triangle_reference(r, true);
}

static void triu_reference(reference_call *r)
{
    triangle_reference(r, false);
}

static const char *const triangle_samples[] = {"[3,3]",     "[3,4], 1", "[2,4,3], -1", "[3,3], 7",
                                               "[3,3], -7", "[0,3]",    NULL};

const op_reference op_reference_tril = {.reference = tril_reference, .samples = triangle_samples, .low = -3, .high = 3};

const op_reference op_reference_triu = {.reference = triu_reference, .samples = triangle_samples, .low = -3, .high = 3};

/* ---- one_hot ----------------------------------------------------------------------------------------------------- */

static void one_hot_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS], n = wk__value_int(&r->args[1], -1);
    for (int64_t k = 0; k < reference_numel(x) && wk__value_int(&r->args[1], -1) == -1; k++)
        if (x->data[k] >= (double)n) n = (int64_t)x->data[k] + 1;
    memcpy(shape, x->shape, sizeof shape);
    shape[x->ndim] = n;
    double *out = reference_out(r, 0, x->ndim + 1, shape);
    for (int64_t k = 0; k < reference_numel(x); k++) out[k * n + (int64_t)x->data[k]] = 1;
}

static const char *const one_hot_samples[] = {"[5]:i64<4, 4",  "[2,3]:i64<7, 7", "[]:i64<3, 5", "[0]:i64<3, 3",
                                              "[5]:i64<4, -1", "[2,3]:i32<5",    NULL};

const op_reference op_reference_one_hot = {.reference = one_hot_reference, .samples = one_hot_samples};
