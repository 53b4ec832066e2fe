/* SPDX-License-Identifier: Apache-2.0 */
/* bincount, histc: counts of integers, and of numbers in intervals. */
#include "reduction.h"
#include <math.h>

/* ---- bincount ---------------------------------------------------------------------------------------------------- */

static bool check_bincount(wk_site site, wk_tensor *const in[2], const wk_bincount_options *o)
{
    const wk__op *op = &wk__op_bincount;
    const wk__body *x = wk__body_of(in[0]);
    if (x->ndim != 1 || (o->weights && !wk__same_sizes(x, wk__body_of(in[1])))) {
        wk__op_error(op, site, WK_ERR_SHAPE, in,
                     x->ndim != 1 ? "expected a vector, got $a" : "weights must have the size of $a, got $b");
        return false;
    }
    if (wk__is_float(x->dtype) || x->dtype == WK_BOOL) {
        wk__op_error(op, site, WK_ERR_DTYPE, in, "expected integers, got $a; convert with wk_to_dtype(x, WK_I64)");
        return false;
    }
    if (o->minlength >= 0) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: .minlength must be at least 0, got %lld", op->name,
                  (long long)o->minlength);
    return false;
}

static wk_tensor *count_integers(wk_site site, wk_tensor *x, const wk_bincount_options *o)
{
    const wk_dtype given = o->weights ? (wk_dtype)wk__body_of(o->weights)->dtype : WK_I64;
    const wk_dtype dtype = !o->weights ? WK_I64 : given == WK_F32 ? WK_F32 : WK_F64;
    int64_t n = o->minlength;
    if (wk__body_numel(wk__body_of(x))) {
        x = wk_to_dtype_at(site, x, WK_I64);
        int64_t least, most;
        if (wk_read_at(site, wk_amin_at(site, x, NULL, -1, NULL), &least, sizeof least) != WK_OK ||
            wk_read_at(site, wk_amax_at(site, x, NULL, -1, NULL), &most, sizeof most) != WK_OK)
            return NULL;
        if (least < 0 || most == INT64_MAX) {
            wk__error_set(site, WK_ERR_ARGUMENT,
                          least < 0 ? "bincount: elements must be at least 0, got %lld"
                                    : "bincount: element %lld is too large for a vector of counts",
                          (long long)(least < 0 ? least : most));
            return NULL;
        }
        if (most >= n) n = most + 1;
    }
    const wk_tensor_options options = {.size = sizeof options, .dtype = dtype, .device = wk_device_of(x)};
    wk_tensor *out = wk_zeros_at(site, &n, 1, &options);
    if (wk__body_numel(wk__body_of(x)) == 0) return out;
    wk_tensor *each = o->weights ? wk_to_dtype_at(site, o->weights, dtype) : wk_ones_like_at(site, x, NULL);
    return wk_scatter_add_at(site, out, 0, x, each);
}

wk_tensor *wk_bincount_at(wk_site site, wk_tensor *x, const wk_bincount_options *options)
{
    const wk__op *op = &wk__op_bincount;
    wk_bincount_options o;
    wk__compose c;
    if (!wk__options(site, op->name, options, &o) || (!o.weights && wk__omitted_may_have_failed())) return NULL;
    wk_tensor *in[2] = {x, o.weights}, *out = NULL;
    if (!wk__compose_begin(&c, op, site, in, o.weights ? 2 : 1)) return NULL;
    if (check_bincount(site, in, &o)) out = count_integers(site, x, &o);
    return wk__compose_end(&c, out, NULL);
}

const wk__op wk__op_bincount = {WK__SIGNATURE_bincount};

/* ---- histc ------------------------------------------------------------------------------------------------------- */

static const int64_t MOST_BINS = INT64_C(1) << 48; /* so that their number and a size in bytes do not overflow */

/* Replaces equal limits by the least and the largest element. */
static bool find_limits(wk_site site, wk_tensor *x, double *min, double *max)
{
    if (*min >= *max && wk__body_numel(wk__body_of(x))) {
        wk_tensor *wide = wk_to_dtype_at(site, x, WK_F64);
        if (wk_read_at(site, wk_amin_at(site, wide, NULL, -1, NULL), min, sizeof *min) != WK_OK ||
            wk_read_at(site, wk_amax_at(site, wide, NULL, -1, NULL), max, sizeof *max) != WK_OK)
            return false;
    }
    if (*min >= *max && *max >= *min) *min -= 1, *max += 1;
    if (*min < *max && isfinite(*min) && isfinite(*max)) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "histc: the limits must be finite and ascending, got %g and %g", *min, *max);
    return false;
}

static wk_tensor *count_in_bins(wk_site site, wk_tensor *x, int64_t bins, double min, double max)
{
    const wk_dtype dtype = (wk_dtype)wk__body_of(x)->dtype;
    const wk_tensor_options edge = {.size = sizeof edge, .dtype = dtype, .device = wk_device_of(x)};
    const wk_tensor_options counts = {.size = sizeof counts, .dtype = WK_I64, .device = wk_device_of(x)};
    wk_tensor *edges = wk_linspace_at(site, min, max, bins + 1, &edge);
    x = wk_reshape_at(site, x, (const int64_t[]){wk__body_numel(wk__body_of(x))}, 1);
    const wk_bucketize_options right = {.size = sizeof right, .right = true};
    wk_tensor *bin = wk_clamp(wk_sub(wk_bucketize_at(site, x, edges, &right), 1), 0, bins - 1);
    wk_tensor *inside = wk_to_dtype_at(site, wk_logical_and(wk_ge(x, min), wk_le(x, max)), WK_I64);
    wk_tensor *out = wk_zeros_at(site, &bins, 1, &counts);
    if (x && wk__body_numel(wk__body_of(x))) out = wk_scatter_add_at(site, out, 0, bin, inside);
    return wk_to_dtype_at(site, out, dtype);
}

wk_tensor *wk_histc_at(wk_site site, wk_tensor *x, const wk_histc_options *options)
{
    const wk__op *op = &wk__op_histc;
    wk_histc_options o;
    wk__compose c;
    wk_tensor *out = NULL;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    double min = wk__option_or(o.min, 0), max = wk__option_or(o.max, 0);
    if (o.bins < 0 || o.bins > MOST_BINS || !(min <= max)) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: .bins must be at least 1 and at most %lld, got %lld, and .min at most .max, got %g and %g",
                      op->name, (long long)MOST_BINS, (long long)o.bins, min, max);
        return NULL;
    }
    if (!wk__compose_begin(&c, op, site, &x, 1)) return NULL;
    if (wk__check_float(op, site, x) && find_limits(site, x, &min, &max))
        out = count_in_bins(site, x, o.bins ? o.bins : 100, min, max);
    return wk__compose_end(&c, out, NULL);
}

const wk__op wk__op_histc = {WK__SIGNATURE_histc};
