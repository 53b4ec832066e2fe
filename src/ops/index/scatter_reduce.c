/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_reduce. Sum and mean use the kernel of scatter_add. For the others the source is sorted by its index, and
 * each run of equal indices is combined in steps of 1, 2, 4, ...; the last element of a run has its result:
 *
 *     index   0 0 0 2       source  a b c d
 *     step 1  a ab bc d     step 2  a ab abc d */
#include "index_check.h"
#include "ops/core/view_geometry.h"
#include "rows.h"

enum { SUM, PROD, MEAN, AMAX, AMIN, MODES };
static const char *const modes[MODES] = {"sum", "prod", "mean", "amax", "amin"};

/* One call. No tensor is 0-d. */
typedef struct reduce_call {
    wk_site site;
    wk_tensor *x, *index, *source; /* index: i64, nonnegative; source: the part that the index covers */
    int d, mode;
    bool alone; /* elements of x are left out */
} reduce_call;

static wk_tensor *combined(int mode, wk_tensor *a, wk_tensor *b)
{
    return mode == PROD ? wk_mul(a, b) : mode == AMAX ? wk_maximum(a, b) : wk_minimum(a, b);
}

/* Returns how many elements of the source each element of x gets. */
static wk_tensor *counts(const reduce_call *r)
{
    const wk_tensor_options options = {.size = sizeof options, .dtype = WK_I64};
    return wk_scatter_add_at(r->site, wk_zeros_like_at(r->site, r->x, &options), r->d, r->index,
                             wk_ones_like_at(r->site, r->index, NULL));
}

static wk_tensor *summed(const reduce_call *r, wk_tensor *count)
{
    wk_tensor *x = r->alone ? wk_masked_fill(r->x, wk_gt(count, 0), 0) : r->x;
    return wk_scatter_add_at(r->site, x, r->d, r->index, r->source);
}

static wk_tensor *averaged(const reduce_call *r, wk_tensor *count)
{
    wk_tensor *sum = summed(r, count), *divisor = r->alone ? wk_maximum(count, 1) : wk_add(count, 1);
    if (!sum) return NULL;
    if (wk__is_float(wk__body_of(sum)->dtype)) return wk_div(sum, wk_to_dtype_at(r->site, divisor, wk_dtype_of(sum)));
    return wk_to_dtype_at(r->site, wk_floor_divide(sum, divisor), wk_dtype_of(r->x));
}

/* Returns the result of each run of equal indices at its last element, and which elements these are. */
static wk_tensor *combine_runs(const reduce_call *r, wk_tensor **index, wk_tensor **last)
{
    wk_tensor *order;
    if (wk_sort_at(r->site, r->index, r->d, false, index, &order) != WK_OK) return NULL;
    wk_tensor *run = wk_gather_at(r->site, r->source, r->d, order);
    const int64_t n = wk__body_of(r->index)->shape[r->d];
    for (int64_t s = 1; s < n; s *= 2) {
        wk_tensor *same =
            wk_eq(wk_narrow_at(r->site, *index, r->d, 0, n - s), wk_narrow_at(r->site, *index, r->d, s, n - s));
        wk_tensor *earlier = wk_narrow_at(r->site, run, r->d, 0, n - s),
                  *own = wk_narrow_at(r->site, run, r->d, s, n - s);
        wk_tensor *parts[2] = {wk_narrow_at(r->site, run, r->d, 0, s),
                               wk_where(same, combined(r->mode, earlier, own), own)};
        if (!(run = wk_cat_at(r->site, parts, 2, r->d))) return NULL;
    }
    wk_tensor *ends[2] = {
        wk_ne(wk_narrow_at(r->site, *index, r->d, 0, n - 1), wk_narrow_at(r->site, *index, r->d, 1, n - 1)),
        wk_ge(wk_narrow_at(r->site, *index, r->d, n - 1, 1), 0)};
    *last = wk_cat_at(r->site, ends, 2, r->d);
    return run;
}

static wk_tensor *selected(const reduce_call *r, wk_tensor *count)
{
    wk_tensor *index, *last, *run = combine_runs(r, &index, &last);
    wk_tensor *zeros = wk_zeros_like_at(r->site, r->x, NULL);
    wk_tensor *part =
        run ? wk_scatter_add_at(r->site, zeros, r->d, index, wk_masked_fill(run, wk_logical_not(last), 0)) : NULL;
    return wk_where(wk_gt(count, 0), r->alone ? part : combined(r->mode, r->x, part), r->x);
}

static wk_tensor *reduced(const reduce_call *r)
{
    if (wk__body_numel(wk__body_of(r->index)) == 0) return wk_clone_at(r->site, r->x);
    wk_tensor *count = counts(r);
    if (!count) return NULL;
    return r->mode == SUM ? summed(r, count) : r->mode == MEAN ? averaged(r, count) : selected(r, count);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static bool check(wk_site site, wk_tensor *const in[3], int d)
{
    const wk__op *op = &wk__op_scatter_reduce;
    const wk_dtype dtype = (wk_dtype)wk__body_of(in[0])->dtype;
    if (dtype != wk__body_of(in[2])->dtype || dtype == WK_BOOL) {
        wk__op_error(op, site, WK_ERR_DTYPE, in,
                     dtype == WK_BOOL ? "bool is not supported: $a"
                                      : "$a and the source $c must have one dtype; convert with wk_to_dtype");
        return false;
    }
    return wk__check_index_shape(op, site, in, 3, d);
}

/* Computes the result of checked operands in their computation dtype and rounds it once. */
static wk_tensor *compute(wk_site site, wk_tensor *const in[3], int d, int mode, bool alone)
{
    const wk__body *x = wk__body_of(in[0]);
    reduce_call r = {.site = site, .d = d, .mode = mode, .alone = alone};
    const int64_t bound = x->ndim ? x->shape[d] : 1;
    wk_tensor *index = wk__to_i64_index_or_empty(&wk__op_scatter_reduce, site, in[1], bound, in);
    r.index = index ? wk__normalize_index(wk__at_least_1d(index), bound) : NULL;
    r.x = wk__at_least_1d(wk__to_opmath(in[0]));
    r.source = wk__at_least_1d(wk__to_opmath(in[2]));
    if (!r.index || !r.x || !r.source) return NULL;
    if (wk__body_numel(wk__body_of(r.index))) r.source = wk__covered_region(site, r.source, wk__body_of(r.index), -1);
    wk_tensor *out = r.source ? reduced(&r) : NULL;
    return out ? wk_to_dtype_at(site, wk_reshape_at(site, out, x->shape, x->ndim), x->dtype) : NULL;
}

/* amax and amin have a node, because equal elements share the gradient; the others have the nodes of their calls. */
static wk_tensor *scatter_reduce(wk_site site, wk_tensor *const in[3], int64_t dim, int mode, bool alone)
{
    const wk__op *op = &wk__op_scatter_reduce;
    wk__compose c;
    int d;
    if (!wk__resolve_dim(op, site, in[0], dim, 0, &d) || !check(site, in, d)) return NULL;
    if (mode != AMAX && mode != AMIN) return compute(site, in, d, mode, alone);
    if (!wk__compose_begin(&c, op, site, in, 3)) return NULL;
    const wk__attr attr = wk__scatter_reduce_attr((wk__scatter_reduce_attributes){.dim = d, .alone = alone});
    return wk__compose_end(&c, compute(site, in, d, mode, alone), &attr);
}

static wk_tensor *scatter_reduce_call(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source,
                                      const char *reduce, const wk_scatter_reduce_options *options, bool in_place)
{
    const wk__op *op = &wk__op_scatter_reduce;
    wk_scatter_reduce_options o;
    wk__call_scope c;
    wk_tensor *in[3] = {x, index, source};
    if (!wk__options(site, op->name, options, &o)) return NULL;
    const int mode = wk__option_word(site, op->name, "reduce", modes, MODES, reduce ? reduce : "NULL");
    if (mode < 0 || !wk__inlined_begin(&c, op, site, in, 3)) return NULL;
    wk_tensor *out = scatter_reduce(site, in, dim, mode, o.exclude_self);
    if (!in_place) return wk__inlined_end(&c, out);
    x = wk__write_back(site, x, out);
    wk__call_end(&c, NULL, 0);
    return x;
}

wk_tensor *wk_scatter_reduce_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source,
                                const char *reduce, const wk_scatter_reduce_options *options)
{
    return scatter_reduce_call(site, x, dim, index, source, reduce, options, false);
}
wk_tensor *wk_scatter_reduce__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source,
                                 const char *reduce, const wk_scatter_reduce_options *options)
{
    return scatter_reduce_call(site, x, dim, index, source, reduce, options, true);
}

/* Each result shares its gradient among the elements equal to it: of x, unless it was left out, and of the source. */
static void gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const wk__scatter_reduce_attributes a = wk__scatter_reduce_attributes_of(g->attr);
    wk_tensor *x = wk__at_least_1d(wk__saved(g, 0)), *out = wk__at_least_1d(wk__saved(g, WK__SAVED_OUT));
    wk_tensor *index = wk__at_least_1d(wk__saved(g, 1)), *source = wk__at_least_1d(wk__saved(g, 2));
    wk_tensor *flow = wk__at_least_1d(g->out[0]);
    if (!x || !index || !source || !out || !flow) return;
    if (wk__body_numel(wk__body_of(index)) == 0) {
        if (wk__needs_input_grad(g, 0)) g->in[0] = g->out[0];
        return;
    }
    index = wk__normalize_index(wk_to_dtype_at(here, index, WK_I64), wk__body_of(x)->shape[a.dim]);
    if (!index) return;
    source = wk__covered_region(here, source, wk__body_of(index), -1);
    wk_tensor *of_x = wk_to_dtype_at(here, wk_eq(x, out), wk_dtype_of(flow));
    if (a.alone) of_x = wk_scatter_i64_at(here, of_x, a.dim, index, 0);
    wk_tensor *of_source =
        wk_to_dtype_at(here, wk_eq(source, wk_gather_at(here, out, a.dim, index)), wk_dtype_of(flow));
    wk_tensor *share = wk_div(flow, wk_scatter_add_at(here, of_x, a.dim, index, of_source));
    if (wk__needs_input_grad(g, 0))
        g->in[0] = wk_reshape_at(here, wk_mul(of_x, share), g->node->shape[0].size, g->node->shape[0].ndim);
    if (wk__needs_input_grad(g, 2))
        g->in[2] = wk__pad_source_grad(g, wk_mul(of_source, wk_gather_at(here, share, a.dim, index)));
}

enum { ALL = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2 | WK__SAVE_OUT };

const wk__op wk__op_scatter_reduce = {
    .gradient = gradient,
    .saves = {ALL, 0, ALL},
    WK__SIGNATURE_scatter_reduce,
};
