/* SPDX-License-Identifier: Apache-2.0 */
/* unique, isin: sorting makes equal elements adjacent.
 *
 *     sorted values   1 1 2 5 5 5        start of each run  0   2 3
 *     first of a run  1 0 1 1 0 0        index of run       0 0 1 2 2 2      (running sum of the firsts, minus 1) */
#include "ops/core/compose.h"
#include "base/alloc.h"
#include "ops/index/nonzero.h"
#include <string.h>

/* Runs of equal elements of a vector. */
typedef struct runs {
    wk_tensor *values, *order; /* sorted, and the original index of each */
    wk_tensor *first, *run;
} runs;

/* Finds the runs of a vector of n >= 1 elements. Each NaN is a separate run, as it equals nothing. */
static bool find_runs(runs *r, wk_site site, wk_tensor *x, int64_t n)
{
    const wk_tensor_options options = {.size = sizeof options, .dtype = WK_BOOL, .device = wk_device_of(x)};
    if (wk_sort_at(site, x, 0, false, &r->values, &r->order) != WK_OK) return false;
    wk_tensor *begin = wk_ones_at(site, (const int64_t[]){1}, 1, &options);
    wk_tensor *changes = wk_ne(wk_narrow_at(site, r->values, 0, 1, n - 1), wk_narrow_at(site, r->values, 0, 0, n - 1));
    r->first = wk_cat_at(site, (wk_tensor *const[]){begin, changes}, 2, 0);
    r->run = wk_sub(wk_cumsum_at(site, r->first, 0), 1);
    return r->run != NULL;
}

/* Returns the values in original order; values[k] belongs to sorted element k. */
static wk_tensor *scatter_to_original(const runs *r, wk_site site, wk_tensor *numbers)
{
    wk_tensor_options options = {.size = sizeof options, .dtype = WK_I64, .device = wk_device_of(numbers)};
    wk_tensor *zeros = wk_zeros_like_at(site, r->order, &options);
    return wk_scatter_add_at(site, zeros, 0, r->order, wk_to_dtype_at(site, numbers, WK_I64));
}

/* ---- unique ------------------------------------------------------------------------------------------------------ */

enum { VALUES, INVERSE, COUNTS, RESULTS };

/* Replaces the starts of runs by their lengths; the last run ends at n. */
static void lengths(int64_t *places, int64_t count, int64_t n)
{
    for (int64_t k = 0; k < count; k++) places[k] = (k + 1 < count ? places[k + 1] : n) - places[k];
}

/* Computes the requested results; out[k] is NULL for the others. x has at least one element. */
static bool distinct(wk_site site, wk_tensor *x, const bool wanted[RESULTS], wk_tensor *out[RESULTS])
{
    const wk__body *body = wk__body_of(x);
    int64_t n = wk__body_numel(body), *places, count;
    runs r;
    wk_tensor *flat = wk_reshape_at(site, x, &n, 1);
    if (!flat || !find_runs(&r, site, flat, n) || !wk__find_nonzero(site, &wk__op_unique, r.first, &places, &count))
        return false;
    wk_tensor *starts = wk__i64_on_device_of(site, x, places, &count, 1);
    out[VALUES] = starts ? wk_take_at(site, r.values, starts) : NULL;
    if (wanted[INVERSE])
        out[INVERSE] = wk_reshape_at(site, scatter_to_original(&r, site, r.run), body->shape, body->ndim);
    if (wanted[COUNTS]) {
        lengths(places, count, n);
        out[COUNTS] = wk__i64_on_device_of(site, x, places, &count, 1);
    }
    wk__free(places);
    return true;
}

/* Results for x without elements. */
static bool empty_results(wk_site site, wk_tensor *x, const bool wanted[RESULTS], wk_tensor *out[RESULTS])
{
    wk_tensor_options options = {.size = sizeof options, .dtype = WK_I64, .device = wk_device_of(x)};
    out[VALUES] = wk_reshape_at(site, wk_clone_at(site, x), (const int64_t[]){0}, 1);
    if (wanted[INVERSE]) out[INVERSE] = wk_zeros_like_at(site, x, &options);
    if (wanted[COUNTS]) out[COUNTS] = wk_zeros_at(site, (const int64_t[]){0}, 1, &options);
    return true;
}

static bool unique(wk_site site, wk_tensor *x, const bool wanted[RESULTS], wk_tensor *out[RESULTS])
{
    wk__compose c;
    if (!wk__compose_begin(&c, &wk__op_unique, site, &x, 1)) return false;
    bool whole = (wk__body_numel(wk__body_of(x)) ? distinct : empty_results)(site, x, wanted, out);
    wk_tensor *kept[RESULTS];
    int count = 0;
    for (int k = 0; k < RESULTS; k++)
        if (wanted[k]) kept[count++] = out[k];
    whole = wk__compose_end_n(&c, kept, count, NULL) && whole;
    return whole;
}

wk_tensor *wk_unique_at(wk_site site, wk_tensor *x, const wk_unique_options *options)
{
    wk_unique_options o;
    if (!wk__options(site, "unique", options, &o)) return NULL;
    wk_tensor **inverse = o.return_inverse, **counts = o.return_counts;
    const bool wanted[RESULTS] = {true, inverse != NULL, counts != NULL};
    wk_tensor *out[RESULTS] = {NULL};
    bool whole = unique(site, x, wanted, out);
    if (inverse) *inverse = whole ? out[INVERSE] : NULL;
    if (counts) *counts = whole ? out[COUNTS] : NULL;
    return whole ? out[VALUES] : NULL;
}

static int unique_results(const wk__op *op, wk_site site, const wk_value *args)
{
    (void)op;
    (void)site;
    const bool inverse = wk__value_int(&args[2], 0), counts = wk__value_int(&args[3], 0);
    return 1 + inverse + counts;
}

const wk__op wk__op_unique = {
    .result_count = unique_results,
    WK__SIGNATURE_unique,
};

/* ---- isin -------------------------------------------------------------------------------------------------------- */

enum {
    MAX_COMPARED = 64
}; /* up to this many tests are compared with every element; more are sorted together with
                             * them */

static wk_tensor *isin_by_compare(wk_site site, wk_tensor *x, wk_tensor *tests, int64_t n, int64_t m)
{
    wk_tensor *column = wk_reshape_at(site, x, (const int64_t[]){n, 1}, 2), *row = wk_reshape_at(site, tests, &m, 1);
    return wk_any_at(site, wk_eq(column, row), (const int64_t[]){1}, 1, NULL);
}

/* All elements of a run that contains a test are hits. */
static wk_tensor *isin_by_sort(wk_site site, wk_tensor *x, wk_tensor *tests, int64_t n, int64_t m)
{
    runs r;
    wk_tensor *all[2] = {wk_reshape_at(site, tests, &m, 1), wk_reshape_at(site, x, &n, 1)};
    wk_tensor *both = wk_cat_at(site, all, 2, 0);
    if (!both || !find_runs(&r, site, both, n + m)) return NULL;
    wk_tensor *is_test = wk_to_dtype_at(site, wk_lt(r.order, m), WK_I64);
    wk_tensor *tests_of_run = wk_scatter_add_at(site, wk_zeros_like_at(site, r.run, NULL), 0, r.run, is_test);
    wk_tensor *hits = tests_of_run ? wk_gather_at(site, tests_of_run, 0, r.run) : NULL;
    return hits ? wk_gt(wk_narrow_at(site, scatter_to_original(&r, site, hits), 0, m, n), 0) : NULL;
}

wk_tensor *wk_isin_at(wk_site site, wk_tensor *elements, wk_tensor *test_elements, const wk_isin_options *options)
{
    wk_tensor *in[2] = {elements, test_elements};
    wk_isin_options o;
    wk__compose c;
    if (!wk__options(site, "isin", options, &o)) return NULL;
    if (!wk__prepare_operands(wk__context(), &wk__op_isin, site, in, 2, WK__COLOCATE_IF_SOFT) ||
        !wk__compose_begin(&c, &wk__op_isin, site, in, 2))
        return NULL;
    const wk__body *body = wk__body_of(in[0]);
    const int64_t n = wk__body_numel(body), m = wk__body_numel(wk__body_of(in[1]));
    wk_tensor *out = (m <= MAX_COMPARED || n == 0 ? isin_by_compare : isin_by_sort)(site, in[0], in[1], n, m);
    if (out && o.invert) out = (wk_logical_not)(out);
    return wk__compose_end(&c, out ? wk_reshape_at(site, out, body->shape, body->ndim) : NULL, NULL);
}

const wk__op wk__op_isin = {
    WK__SIGNATURE_isin,
};
