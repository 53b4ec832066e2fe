/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient of ops that normalise channels (channel_norm.h). With g the gradient of the result, r = rstd and
 * a = r weight,
 *
 *     bias     sum g
 *     weight   r sum g (x - mean)
 *     x        a g, and in training, where statistics depend on x, + b (x - mean) + c with
 *              b = -r^2 / n sum a g (x - mean),  c = -1 / n sum a g
 *
 * The gradient of mean adds itself / n to c, that of rstd adds -r^3 / n times itself to b. A row is the elements of one
 * statistic. For groups of channels the sums over positions, per channel, are added up over the channels of a group.
 */
#include "channel_norm.h"
#include <wick/shape.h>

typedef struct gradient {
    wk__grad_ctx *g;
    int64_t mask, groups; /* wk__channel_norm_attributes */
    double n;             /* elements of a row; 1 if there are none */
    wk_tensor *centred;   /* x - mean, if a kernel that reads rows twice may use it twice; NULL: not computed yet */
} gradient;

static gradient begin(wk__grad_ctx *g, const wk__channel_norm_attributes *a)
{
    const wk__tensor_meta *from = &g->node->shape[0];
    gradient own = {.g = g, .mask = a->mask, .groups = a->groups, .n = 1};
    for (int d = 0; d < from->ndim; d++)
        if (a->mask >> d & 1 && from->size[d]) own.n *= (double)from->size[d];
    if (a->groups && from->size[1]) own.n *= (double)(from->size[1] / a->groups);
    return own;
}

static wk_tensor *rstd(const gradient *own)
{
    return wk__saved(own->g, WK__SAVED_OUT + 2);
}

/* Returns true if sums are added up over the channels of a group. */
static bool pools(const gradient *own)
{
    return own->groups && own->groups != own->g->node->shape[0].size[1];
}

static bool in_two_steps(const gradient *own)
{
    const wk__tensor_meta *from = &own->g->node->shape[0];
    return wk__sums_in_two_steps(from->ndim, from->size, own->mask);
}

/* Returns true if a kernel may read rows for the sums and again for the result. */
static bool is_one_kernel(const gradient *own)
{
    return own->n <= WK__SHORT_ROW && !pools(own) && !in_two_steps(own);
}

/* Returns x - mean. */
static wk_tensor *centred(gradient *own)
{
    if (!own->centred) own->centred = wk_sub(wk__saved(own->g, 0), wk__saved(own->g, WK__SAVED_OUT + 1));
    return own->centred;
}

/* Returns sums over the reduced dimensions. x (N, C) has none where each group has its own statistics. */
static wk_tensor *row_sum(const gradient *own, wk_tensor *x)
{
    if (in_two_steps(own)) return wk__sum_keepdim(wk__sum_keepdim(x, own->mask & ~3), 1);
    return own->mask ? wk__sum_keepdim(x, own->mask) : x;
}

/* Returns sums per channel, added up over the channels of a group and repeated for each of them. */
static wk_tensor *pooled(const gradient *own, wk_tensor *sum)
{
    const wk__tensor_meta *from = &own->g->node->shape[0];
    if (!sum || !pools(own)) return sum;
    const wk_site site = {0};
    const int64_t wide[] = {from->size[0], own->groups, from->size[1] / own->groups};
    const int64_t shape[WK__MAX_DIMS] = {from->size[0], from->size[1], 1, 1, 1, 1, 1, 1};
    sum = wk__sum_keepdim(wk_reshape_at(site, sum, wide, 3), 4);
    return wk_reshape_at(site, wk_expand_at(site, sum, wide, 3), shape, from->ndim);
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

/* Returns the gradient of x in training from the two sums, which are NULL if no gradient of the result arrived. */
static wk_tensor *through_statistics(gradient *own, wk_tensor *sum, wk_tensor *product, wk_tensor *scale)
{
    wk_tensor *const *out = own->g->out, *slope = NULL, *constant = NULL;
    if (out[0]) {
        wk_tensor *part = wk_mul(scale, -1 / own->n);
        slope = wk_mul(product, part);
        constant = wk_mul(sum, part);
    }
    if (out[1]) constant = wk__add_terms(constant, wk_mul(out[1], 1 / own->n));
    if (out[2]) slope = wk__add_terms(slope, wk_mul(wk_mul(wk_mul(rstd(own), rstd(own)), out[2]), -1 / own->n));
    constant = pooled(own, constant);
    if (slope) slope = wk_mul(pooled(own, slope), rstd(own));
    wk_tensor *x = NULL;
    if (slope && is_one_kernel(own)) {
        x = centred(own);
    } else if (slope) { /* x - mean would be stored for the second kernel, so c gets the share of the mean */
        x = wk__saved(own->g, 0);
        constant = wk__add_terms(constant, wk_mul(wk_mul(wk__saved(own->g, WK__SAVED_OUT + 1), slope), -1.0));
    }
    if (out[0]) constant = wk_addcmul(constant, out[0], scale);
    if (!slope) return constant;
    return constant ? wk_addcmul(constant, x, slope) : wk_mul(x, slope);
}

void wk__channel_norm_gradient(wk__grad_ctx *g)
{
    const wk__channel_norm_attributes a = wk__channel_norm_attributes_of(g->attr);
    const wk__tensor_meta *from = &g->node->shape[0];
    const bool for_x = wk__needs_input_grad(g, 0), for_weight = wk__needs_input_grad(g, 1);
    const bool through = for_x && a.training;
    gradient own = begin(g, &a);
    wk_tensor *product = NULL; /* r sum g (x - mean) */
    if (g->out[0] && (for_weight || through))
        product = wk_mul(row_sum(&own, wk_mul(g->out[0], centred(&own))), rstd(&own));
    const bool for_bias = wk__needs_input_grad(g, 2);
    wk_tensor *sum = g->out[0] && (for_bias || through) ? row_sum(&own, g->out[0]) : NULL;
    if (for_weight && product) g->in[1] = by_channel(product);
    if (for_bias && sum) g->in[2] = by_channel(sum);
    if (!for_x) return;
    const int64_t shape[WK__MAX_DIMS] = {1, from->size[1], 1, 1, 1, 1, 1, 1};
    wk_tensor *scale = rstd(&own);
    if (g->node->saved[1]) scale = wk_mul(scale, wk_reshape_at((wk_site){0}, wk__saved(g, 1), shape, from->ndim));
    if (through)
        g->in[0] = through_statistics(&own, sum, product, scale);
    else if (g->out[0])
        g->in[0] = wk_mul(g->out[0], scale);
}
