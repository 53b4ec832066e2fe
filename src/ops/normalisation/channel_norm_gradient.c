/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient of ops that normalise channels (channel_norm.h). With g the gradient of the result, r = rstd and
 * a = r weight,
 *
 *     bias     sum g
 *     weight   r sum g (x - mean)
 *     x        a g, and in training, where statistics depend on x, + b (x - mean) + c with
 *              b = -a r^2 / n sum g (x - mean),  c = -a / n sum g
 *
 * The gradient of mean adds itself / n to c, that of rstd adds -r^3 / n times itself to b. */
#include "channel_norm.h"
#include <wick/shape.h>

typedef struct gradient {
    wk__grad_ctx *g;
    int64_t mask;
    double n;           /* elements of a row; 1 if there are none */
    wk_tensor *centred; /* x - mean, if a kernel that reads rows twice may use it twice; NULL: computed anew */
} gradient;

static gradient begin(wk__grad_ctx *g, int64_t mask)
{
    const wk__tensor_meta *from = &g->node->shape[0];
    gradient own = {.g = g, .mask = mask, .n = 1};
    for (int d = 0; d < from->ndim; d++)
        if (mask >> d & 1 && from->size[d]) own.n *= (double)from->size[d];
    return own;
}

static wk_tensor *rstd(const gradient *own)
{
    return wk__saved(own->g, WK__SAVED_OUT + 2);
}

/* Returns x - mean. For long rows each kernel computes it, because a tensor that several kernels read is stored. */
static wk_tensor *centred(gradient *own)
{
    if (own->centred) return own->centred;
    wk_tensor *x = wk_sub(wk__saved(own->g, 0), wk__saved(own->g, WK__SAVED_OUT + 1));
    if (own->n <= WK__SHORT_ROW) own->centred = x;
    return x;
}

/* Returns r sum g (x - mean) of each row. */
static wk_tensor *product_sum(gradient *own)
{
    return wk_mul(wk__sum_keepdim(wk_mul(own->g->out[0], centred(own)), own->mask), rstd(own));
}

/* Returns a sum per row as a vector of one sum per channel. */
static wk_tensor *by_channel(wk_tensor *sum)
{
    if (!sum) return NULL;
    const int64_t channels = wk__body_of(sum)->shape[1];
    int64_t others[WK__MAX_DIMS];
    int count = 0;
    for (int d = 0; d < wk__body_of(sum)->ndim; d++)
        if (d != 1 && wk__body_of(sum)->shape[d] != 1) others[count++] = d;
    if (count) sum = wk_sum_at((wk_site){0}, sum, others, count, NULL);
    return wk_reshape_at((wk_site){0}, sum, &channels, 1);
}

static wk_tensor *added(wk_tensor *a, wk_tensor *b)
{
    return a && b ? wk_add(a, b) : a ? a : b;
}

/* Returns the gradient of x in training from the two sums, which are NULL if no gradient of the result arrived. */
static wk_tensor *through_statistics(gradient *own, wk_tensor *sum, wk_tensor *product, wk_tensor *scale)
{
    wk_tensor *const *out = own->g->out, *slope = NULL, *constant = NULL;
    if (out[0]) {
        wk_tensor *part = wk_mul(scale, -1 / own->n);
        slope = wk_mul(wk_mul(product, rstd(own)), part);
        constant = wk_mul(sum, part);
    }
    if (out[1]) constant = added(constant, wk_mul(out[1], 1 / own->n));
    if (out[2]) {
        wk_tensor *r = rstd(own), *cube = wk_mul(wk_mul(r, r), r);
        slope = added(slope, wk_mul(wk_mul(cube, out[2]), -1 / own->n));
    }
    if (out[0]) constant = wk_addcmul(constant, out[0], scale);
    if (!slope) return constant;
    return constant ? wk_addcmul(constant, centred(own), slope) : wk_mul(centred(own), slope);
}

void wk__channel_norm_gradient(wk__grad_ctx *g)
{
    const wk__channel_norm_attributes a = wk__channel_norm_attributes_of(g->attr);
    const wk__tensor_meta *from = &g->node->shape[0];
    const bool for_x = wk__needs_input_grad(g, 0), for_weight = wk__needs_input_grad(g, 1);
    const bool through = for_x && a.training;
    gradient own = begin(g, a.mask);
    wk_tensor *product = g->out[0] && (for_weight || through) ? product_sum(&own) : NULL;
    wk_tensor *sum = g->out[0] ? wk__sum_keepdim(g->out[0], a.mask) : NULL;
    if (for_weight && product) g->in[1] = by_channel(product);
    if (wk__needs_input_grad(g, 2) && sum) g->in[2] = by_channel(sum);
    if (!for_x) return;
    const int64_t shape[WK__MAX_DIMS] = {1, from->size[1], 1, 1, 1, 1, 1, 1};
    wk_tensor *scale = rstd(&own);
    if (g->node->saved[1]) scale = wk_mul(scale, wk_reshape_at((wk_site){0}, wk__saved(g, 1), shape, from->ndim));
    if (through)
        g->in[0] = through_statistics(&own, sum, product, scale);
    else if (g->out[0])
        g->in[0] = wk_mul(g->out[0], scale);
}
