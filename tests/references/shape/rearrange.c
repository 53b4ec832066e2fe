/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/rearrange.c. */
#include "references/reference.h"
#include <string.h>

/* ---- flip -------------------------------------------------------------------------------------------------------- */

static void flip_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t stride[WK__MAX_DIMS], offset = 0;
    wk__strides_dense(x->ndim, x->shape, stride);
    for (int k = 0; k < r->args[1].count; k++) {
        int d = 0;
        wk__wrap_dim(x->ndim, r->args[1].ints[k], &d);
        offset += (x->shape[d] - 1) * stride[d];
        stride[d] = -stride[d];
    }
    reference_strided(r, x->ndim, x->shape, stride, offset);
}

static const char *const flip_samples[] = {"[5], (0)", "[2,3], (0,1)", "[2,3,4], (-1)", "[2,0], (1)",
                                           "[3], ()",  "[1,1], (0,1)", "[], ()",        NULL};

const op_reference op_reference_flip = {.reference = flip_reference, .samples = flip_samples, .low = -3, .high = 3};

/* ---- roll -------------------------------------------------------------------------------------------------------- */

static int64_t shift_within(int64_t shift, int64_t size)
{
    int64_t rest = size ? shift % size : 0;
    return rest < 0 ? rest + size : rest;
}

static void roll_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    double *out = reference_out(r, 0, x->ndim, x->shape);
    int64_t n = reference_numel(x), shift[WK__MAX_DIMS] = {0};
    bool flat = r->args[2].kind != WK_VALUE_INTS || r->args[2].count == 0;
    for (int k = 0; k < r->args[1].count && !flat; k++) {
        int d = 0;
        wk__wrap_dim(x->ndim, r->args[2].ints[k], &d);
        shift[d] += r->args[1].ints[k];
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t rest = k, to = 0, step = 1;
        for (int d = x->ndim; d-- > 0 && !flat; rest /= x->shape[d], step *= x->shape[d])
            to += shift_within(rest % x->shape[d] + shift[d], x->shape[d]) * step;
        out[flat ? shift_within(k + r->args[1].ints[0], n) : to] = x->data[k];
    }
}

static const char *const roll_samples[] = {"[5], (2), (0)",  "[2,3], (1,-1), (0,1)", "[2,3], (2)", "[4], (9), (0)",
                                           "[4], (-4), (0)", "[2,0], (1), (1)",      "[], (2)",    NULL};

const op_reference op_reference_roll = {.reference = roll_reference, .samples = roll_samples, .low = -3, .high = 3};

/* ---- repeat, tile ------------------------------------------------------------------------------------------------ */

static void repeat_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int count = r->args[1].count > x->ndim ? r->args[1].count : x->ndim, lead = count - x->ndim,
        few = count - r->args[1].count;
    int64_t shape[WK__MAX_DIMS], size[WK__MAX_DIMS];
    for (int d = 0; d < count; d++) {
        size[d] = d < lead ? 1 : x->shape[d - lead];
        shape[d] = size[d] * (d < few ? 1 : r->args[1].ints[d - few]);
    }
    double *out = reference_out(r, 0, count, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        int64_t rest = k, at = 0, step = 1;
        for (int d = count; d-- > 0; rest /= shape[d], step *= size[d]) at += rest % shape[d] % size[d] * step;
        out[k] = x->data[at];
    }
}

static const char *const repeat_samples[] = {"[3], (2)", "[2,3], (2,3)", "[2,3], (2,1,2)", "[], (3)",
                                             "[2], (0)", "[1,2], (1,1)", "[0,2], (2,1)",   NULL};

static const char *const tile_samples[] = {"[2,3], (2)", "[3], (2,2)", "[2,3], (1,2)", "[], (2)", "[0], (3)", NULL};

const op_reference op_reference_repeat = {
    .reference = repeat_reference, .samples = repeat_samples, .low = -3, .high = 3};

const op_reference op_reference_tile = {.reference = repeat_reference, .samples = tile_samples, .low = -3, .high = 3};

/* ---- repeat_interleave ------------------------------------------------------------------------------------------- */

static void interleave_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS], n = r->args[1].i, inner = 1;
    int d = 0;
    const bool flat = r->args[2].kind == WK_VALUE_NONE;
    memcpy(shape, x->shape, sizeof shape);
    if (flat)
        shape[0] = reference_numel(x);
    else
        wk__wrap_dim(x->ndim, r->args[2].i, &d);
    shape[d] *= n;
    for (int k = d + 1; k < x->ndim && !flat; k++) inner *= x->shape[k];
    double *out = reference_out(r, 0, flat ? 1 : x->ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) out[k] = x->data[k / (inner * n) * inner + k % inner];
}

static const char *const interleave_samples[] = {"[3], 2, 0", "[2,3], 3, 1", "[2,3,2], 2, -2", "[2], 0, 0",
                                                 "[2,3], 2",  "[], 3",       "[0,3], 2",       NULL};

const op_reference op_reference_repeat_interleave = {
    .reference = interleave_reference, .samples = interleave_samples, .low = -3, .high = 3};
