/* SPDX-License-Identifier: Apache-2.0 */
/* randperm: the indices 0..n-1, sorted by random bits. */
#include "dtype_range.h"
#include "philox_draw.h"
#include "ops/reduce/reduction.h"

static int all_bits(wk__emit *e, const int in[])
{
    return wk__emit_bits(e, in[0], in[1], 64);
}

static const wk__op bits_of = WK__RANDOM_OP("randperm", all_bits);

/* Checks that the dtype represents each of 0..n-1. */
static bool check_count(wk_site site, int64_t n, wk_dtype dtype)
{
    const int64_t greatest = wk__largest_exact_integer(dtype);
    if (n <= greatest || n - 1 == greatest) return true;
    wk__error_set(site, WK_ERR_ARGUMENT,
                  "randperm: %s holds every integer up to %lld only, n is %lld; use a wider dtype", wk_dtype_str(dtype),
                  (long long)greatest, (long long)n);
    return false;
}

/* Sorts random bits and returns the order. */
wk_tensor *wk_randperm_at(wk_site site, int64_t n, const wk_tensor_options *options)
{
    wk__create c;
    wk__compose composed;
    wk_tensor_options o;
    if (!wk__options(site, "randperm", options, &o)) return NULL;
    wk_dtype dtype = o.dtype ? o.dtype : WK_I64;
    if (!wk__check_dtype(&wk__op_randperm, site, dtype) || !check_count(site, n, dtype)) return NULL;
    o.dtype = WK_I64;
    o.requires_grad = false;
    if (!wk__create_begin(&c, &wk__op_randperm, site, &n, 1, &o, WK_I64)) return NULL;
    if (!wk__compose_begin(&composed, &wk__op_randperm, site, NULL, 0)) return NULL;
    wk_tensor *bits = wk__record_random(&c, &bits_of, WK_I64, NULL, 0);
    wk_tensor *sorted[2];
    wk_tensor *order = wk__record_sort(&wk__op_randperm, site, bits, 0, false, sorted) ? sorted[1] : NULL;
    return wk__compose_end(&composed, order ? wk_to_dtype_at(site, order, dtype) : NULL, NULL);
}

const wk__op wk__op_randperm = {
    WK__SIGNATURE_randperm,
};
