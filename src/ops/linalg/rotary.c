/* SPDX-License-Identifier: Apache-2.0 */
/* rotary: rotates pairs of elements by their position, as calls of other ops. */
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"
#include "ops/reduce/reduction.h"
#include <math.h>
#include <string.h>

/* Returns the angles, (..., T, D / 2): position times base^(-2 i / D). */
static wk_tensor *angles(wk_site site, wk_tensor *positions, int64_t pairs, double base, wk_dtype dtype)
{
    const wk_tensor_options options = {.size = sizeof options, .dtype = dtype, .device = wk_device_of(positions)};
    wk_tensor *order = wk_arange_from_at(site, 0, (double)pairs, 1, &options);
    wk_tensor *frequency = wk_exp(wk_mul(order, -log(base) / (double)pairs));
    return wk_mul(wk_unsqueeze_at(site, wk_to_dtype_at(site, positions, dtype), -1), frequency);
}

/* Sets part[] to the elements of each pair, (..., T, D / 2). */
static bool split_pairs(wk_site site, wk_tensor *x, bool interleaved, wk_tensor *part[2])
{
    const wk__body *body = wk__body_of(x);
    const int64_t half = body->shape[body->ndim - 1] / 2;
    for (int k = 0; k < 2; k++)
        part[k] = interleaved ? wk_slice_at(site, x, -1, k, INT64_MAX, 2) : wk_narrow_at(site, x, -1, k * half, half);
    return part[0] && part[1];
}

static wk_tensor *join_pairs(wk_site site, wk_tensor *const part[2], const wk__body *like, bool interleaved)
{
    if (!interleaved) return wk_cat_at(site, part, 2, -1);
    if (!part[0] || !part[1]) return NULL;
    if (like->ndim < WK__MAX_DIMS) return wk_reshape_at(site, wk_stack_at(site, part, 2, -1), like->shape, like->ndim);
    wk_tensor *const flat[2] = {wk_reshape_at(site, part[0], (const int64_t[]){-1}, 1),
                                wk_reshape_at(site, part[1], (const int64_t[]){-1}, 1)};
    return wk_reshape_at(site, wk_stack_at(site, flat, 2, -1), like->shape, like->ndim);
}

static bool check_operands(wk_site site, wk_tensor *const in[2])
{
    const wk__op *op = &wk__op_rotary;
    const wk__body *x = wk__body_of(in[0]), *at = wk__body_of(in[1]);
    int64_t shape[WK__MAX_DIMS];
    int ndim;
    if (!wk__check_float(op, site, in[0])) return false;
    if (x->ndim >= 2 && x->shape[x->ndim - 1] % 2 == 0 &&
        wk__broadcast(x->ndim - 1, x->shape, at->ndim, at->shape, &ndim, shape) &&
        wk__same_shape(ndim, shape, x->ndim - 1, x->shape))
        return true;
    wk__op_error(op, site, WK_ERR_SHAPE, in,
                 "expected x (..., T, D) with an even D and positions that broadcast to (..., T), got $a and $b");
    return false;
}

static wk_tensor *rotated(wk_site site, wk_tensor *const in[2], const wk_rotary_options *o)
{
    wk_tensor *x = wk__to_opmath(in[0]), *part[2];
    const wk__body *body = wk__body_of(in[0]);
    if (!x || !split_pairs(site, x, o->interleaved, part)) return NULL;
    wk_tensor *angle = angles(site, in[1], body->shape[body->ndim - 1] / 2, o->base, wk_dtype_of(x));
    wk_tensor *c = wk_cos(angle), *s = wk_sin(angle);
    wk_tensor *const out[2] = {wk_sub(wk_mul(part[0], c), wk_mul(part[1], s)),
                               wk_add(wk_mul(part[1], c), wk_mul(part[0], s))};
    return wk__cast_result(join_pairs(site, out, body, o->interleaved), body->dtype);
}

wk_tensor *wk_rotary_at(wk_site site, wk_tensor *x, wk_tensor *positions, const wk_rotary_options *options)
{
    const wk__op *op = &wk__op_rotary;
    wk_rotary_options o;
    wk__call_scope c;
    wk_tensor *in[2] = {x, positions};
    if (!wk__read_rotary_options(site, op->name, options, &o)) return NULL;
    if (!(o.base > 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .base must be greater than 0, got %g", op->name, o.base);
        return NULL;
    }
    if (!wk__inlined_begin(&c, op, site, in, 2)) return NULL;
    return wk__inlined_end(&c, check_operands(site, in) ? rotated(site, in, &o) : NULL);
}

const wk__op wk__op_rotary = {WK__SIGNATURE_rotary};
