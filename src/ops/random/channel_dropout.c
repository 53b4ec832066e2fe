/* SPDX-License-Identifier: Apache-2.0 */
/* dropout1d, dropout2d, dropout3d, alpha_dropout, feature_alpha_dropout.
 *
 * Dropout of channels multiplies by a tensor with one random factor per sample and channel, 0 or the scale.
 *
 * Alpha dropout sets elements to -ALPHA, the limit of selu, and then applies a x + b. With D a dropout of scale a, this
 * is D(x + ALPHA) + ALPHA a (p - 1). */
#include "dropout.h"
#include "ops/core/compose.h"
#include <math.h>
#include <string.h>

static const double ALPHA = 1.7580993408473766;

/* ---- channels ---------------------------------------------------------------------------------------------------- */

/* Returns the factors: size 1 in the dimensions after the channels, or after the first one without a batch. */
static wk_tensor *factors(wk_site site, const wk__tensor_meta *x, wk_device device, const wk__attr *attr)
{
    const wk__dropout_attributes a = wk__dropout_attributes_of(attr);
    wk_tensor_options like = {.size = sizeof like, .dtype = wk__compute_class(x->dtype), .device = device};
    int64_t shape[WK__MAX_DIMS];
    for (int d = 0; d < x->ndim; d++) shape[d] = d < a.dims ? x->size[d] : 1;
    wk_tensor *ones = wk_ones_at(site, shape, x->ndim, &like);
    return ones ? wk__record_dropout(site, ones, attr) : NULL;
}

static wk__tensor_meta meta_of(const wk__body *body)
{
    wk__tensor_meta meta = {.ndim = body->ndim, .dtype = body->dtype};
    memcpy(meta.size, body->shape, sizeof meta.size);
    return meta;
}

/* Draws factors for the first `dims` dimensions of x. */
static wk__attr draw(const wk__body *body, int dims, double p, double scale)
{
    int64_t count = 1;
    for (int d = 0; d < dims; d++) count *= body->shape[d];
    wk__dropout_attributes a = wk__dropout_draw(count, p, scale);
    a.dims = dims;
    return wk__dropout_attr(a);
}

static wk_tensor *drop_channels(const wk__op *op, wk_site site, wk_tensor *x, int dims, double p)
{
    wk__compose c;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    const wk__body *body = wk__body_of(x);
    const wk__tensor_meta meta = meta_of(body);
    const wk__attr attr = draw(body, dims, p, p < 1 ? 1 / (1 - p) : 0);
    wk_tensor *factor = factors(site, &meta, body->storage->device->id, &attr);
    wk_tensor *out = factor ? wk_mul(wk__to_opmath(x), factor) : NULL;
    return wk__compose_end(&c, out ? wk_to_dtype_at(site, out, meta.dtype) : NULL, &attr);
}

static void channel_gradient(wk__grad_ctx *g)
{
    if (!g->out[0]) return;
    const wk_device device = wk__body_of(g->out[0])->storage->device->id;
    g->in[0] = wk_mul(g->out[0], factors((wk_site){0}, &g->node->shape[0], device, g->attr));
}

/* Calls the op for inputs with `batched` dimensions, or one less for inputs without a batch, if those are allowed. */
static wk_tensor *dropout_of(const wk__op *op, wk_site site, wk_tensor *x, int batched, bool may_lack_batch,
                             const char *shapes, double p, bool training)
{
    if (!wk__dropout_check(op, site, x, p)) return NULL;
    const int ndim = wk__body_of(x)->ndim;
    if (ndim != batched && !(may_lack_batch && ndim == batched - 1)) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "expected an input %s, got $a", shapes);
        return NULL;
    }
    if (!training) return wk__return_operand(x);
    return drop_channels(op, site, x, ndim == batched ? 2 : 1, p);
}

wk_tensor *wk_dropout1d_at(wk_site site, wk_tensor *x, double p, bool training)
{
    return dropout_of(&wk__op_dropout1d, site, x, 3, true, "(N, C, L) or (C, L)", p, training);
}

wk_tensor *wk_dropout2d_at(wk_site site, wk_tensor *x, double p, bool training)
{
    return dropout_of(&wk__op_dropout2d, site, x, 4, false, "(N, C, H, W)", p, training);
}

wk_tensor *wk_dropout3d_at(wk_site site, wk_tensor *x, double p, bool training)
{
    return dropout_of(&wk__op_dropout3d, site, x, 5, true, "(N, C, D, H, W) or (C, D, H, W)", p, training);
}

/* ---- alpha dropout ----------------------------------------------------------------------------------------------- */

/* Returns a; 0 if everything is dropped, and the result is 0. */
static double alpha_scale(double p)
{
    return p < 1 ? 1 / sqrt((ALPHA * ALPHA * p + 1) * (1 - p)) : 0;
}

/* Computes D(x + ALPHA) + ALPHA a (p - 1), with D by channels if dims is 2. */
static wk_tensor *alpha_dropout(const wk__op *op, wk_site site, wk_tensor *x, int dims, double p)
{
    wk__compose c;
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    const wk__body *body = wk__body_of(x);
    const wk__tensor_meta meta = meta_of(body);
    const double a = alpha_scale(p);
    const wk__attr attr = draw(body, dims, p, a);
    wk_tensor *moved = wk_add(wk__to_opmath(x), ALPHA);
    wk_tensor *dropped = dims < body->ndim ? wk_mul(moved, factors(site, &meta, body->storage->device->id, &attr))
                                           : wk__record_dropout(site, moved, &attr);
    wk_tensor *out = wk_add(dropped, ALPHA * a * (p - 1));
    return wk__compose_end(&c, out ? wk_to_dtype_at(site, out, meta.dtype) : NULL, &attr);
}

wk_tensor *wk_alpha_dropout_at(wk_site site, wk_tensor *x, double p, bool training)
{
    const wk__op *op = &wk__op_alpha_dropout;
    if (!wk__dropout_check(op, site, x, p)) return NULL;
    return training ? alpha_dropout(op, site, x, wk__body_of(x)->ndim, p) : wk__return_operand(x);
}

wk_tensor *wk_feature_alpha_dropout_at(wk_site site, wk_tensor *x, double p, bool training)
{
    const wk__op *op = &wk__op_feature_alpha_dropout;
    if (!wk__dropout_check(op, site, x, p)) return NULL;
    if (wk__body_of(x)->ndim < 2) {
        wk__op_error(op, site, WK_ERR_SHAPE, &x, "expected an input (N, C) or (N, C, ...), got $a");
        return NULL;
    }
    return training ? alpha_dropout(op, site, x, 2, p) : wk__return_operand(x);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

const wk__op wk__op_dropout1d = {
    .gradient = channel_gradient,
    WK__SIGNATURE_dropout1d,
};
const wk__op wk__op_dropout2d = {
    .gradient = channel_gradient,
    WK__SIGNATURE_dropout2d,
};
const wk__op wk__op_dropout3d = {
    .gradient = channel_gradient,
    WK__SIGNATURE_dropout3d,
};
const wk__op wk__op_alpha_dropout = {
    .gradient = wk__dropout_gradient,
    WK__SIGNATURE_alpha_dropout,
};
const wk__op wk__op_feature_alpha_dropout = {
    .gradient = channel_gradient,
    WK__SIGNATURE_feature_alpha_dropout,
};
