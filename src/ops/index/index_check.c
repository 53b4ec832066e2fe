/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of index operands at the time of the call (index_check.h). */
#include "engine/host_transfer.h"
#include "index_check.h"
#include "ir/scalar.h"
#include "ops/core/entries.h"

/* Returns true if all n indices are in [low, high). Has no early exit, so that the compiler can use vectors. */
static bool all_in_range(const int64_t *index, int64_t n, int64_t low, int64_t high)
{
    bool out = false;
    for (int64_t k = 0; k < n; k++) out |= (index[k] < low) | (index[k] >= high);
    return !out;
}

bool wk__find_index_out_of_range(const wk_tensor *index, int64_t low, int64_t high, const int64_t *skipped,
                                 int64_t *found)
{
    const wk__body *body = wk__body_of(index);
    const wk__value *value = body->storage->value;
    if (value->state != WK__STORED || !value->memory.host) return false;
    int64_t at[WK__MAX_DIMS] = {0}, n = wk__body_numel(body), size = (int64_t)wk_dtype_size(body->dtype);
    const char *first = value->memory.host + body->offset * size;
    if (body->dtype == WK_I64 && wk__body_contiguous(body) &&
        all_in_range((const int64_t *)(const void *)first, n, low, high))
        return false;
    for (int64_t k = 0, place = 0; k < n; k++) {
        *found = wk__scalar_to_i64(first + place * size, body->dtype);
        if ((*found < low || *found >= high) && !(skipped && *found == *skipped)) return true;
        for (int d = body->ndim; d-- > 0;) {
            place += body->stride[d];
            if (++at[d] < body->shape[d]) break;
            place -= at[d] * body->stride[d];
            at[d] = 0;
        }
    }
    return false;
}

bool wk__read_index_values(wk_site site, wk_tensor *index, int64_t low, int64_t high, wk__index_values *out)
{
    *out = (wk__index_values){.in_range = true};
    wk_tensor *wide = wk_to_dtype_at(site, index, WK_I64);
    wk_tensor *flat = wide ? wk_reshape_at(site, wide, (const int64_t[]){-1}, 1) : NULL;
    wk__host_mapping mapping;
    if (!flat || !wk__host_map(flat, &mapping, site)) return false;
    const int64_t stride = wk__body_of(flat)->stride[0], count = wk__body_numel(wk__body_of(flat));
    const int64_t *value = (const int64_t *)(const void *)mapping.first;
    for (int64_t k = 0; k < count; k++) {
        const int64_t at = value[k * stride];
        if (k == 0) out->first = at;
        out->falls = out->falls || (k > 0 && at < value[(k - 1) * stride]);
        if (!out->in_range || (at >= low && at < high)) continue;
        out->in_range = false;
        out->found = at;
    }
    wk__host_unmap(&mapping);
    return true;
}

static bool check_index_range(const wk__op *op, wk_site site, wk_tensor *index, int64_t bound, wk_tensor *const in[])
{
    int64_t bad;
    const int64_t low = bound < 0 ? 0 : -bound;
    bound = bound < 0 ? -bound : bound;
    if (!wk__find_index_out_of_range(index, low, bound, NULL, &bad)) return true;
    wk__op_error(op, site, WK_ERR_INDEX, in, "index %lld is out of range for size %lld (valid: [%lld, %lld))",
                 (long long)bad, (long long)bound, (long long)low, (long long)bound);
    return false;
}

static bool check_index_dtype(const wk__op *op, wk_site site, wk_tensor *index, wk_tensor *const in[])
{
    const wk_dtype dtype = (wk_dtype)wk__body_of(index)->dtype;
    if (dtype == WK_I64 || dtype == WK_I32) return true;
    wk__op_error(op, site, WK_ERR_DTYPE, in, "index must be i64 or i32, got %s; %s", wk_dtype_str(dtype),
                 dtype == WK_BOOL ? "use wk_masked_select for a mask, or wk_nonzero for its indices"
                                  : "convert it with wk_to_dtype(index, WK_I64)");
    return false;
}

bool wk__check_index_values(const wk__op *op, wk_site site, wk_tensor *index, int64_t size, wk_tensor *x, int d)
{
    int64_t bad;
    if (!check_index_dtype(op, site, index, &x)) return false;
    if (!wk__find_index_out_of_range(index, -size, size, NULL, &bad)) return true;
    wk__op_error(op, site, WK_ERR_INDEX, &x, "index %lld is out of range for dimension %d of $a (size %lld)",
                 (long long)bad, d, (long long)size);
    return false;
}

wk_tensor *wk__to_i64_index(const wk__op *op, wk_site site, wk_tensor *index, int64_t bound, wk_tensor *const in[])
{
    if (!check_index_dtype(op, site, index, in)) return NULL;
    if (!check_index_range(op, site, index, bound, in)) return NULL;
    return wk_to_dtype_at(site, index, WK_I64);
}

wk_tensor *wk__to_i64_index_or_empty(const wk__op *op, wk_site site, wk_tensor *index, int64_t bound,
                                     wk_tensor *const in[])
{
    if (wk__body_numel(wk__body_of(index)) == 0) return wk_to_dtype_at(site, index, WK_I64);
    return wk__to_i64_index(op, site, index, bound, in);
}

bool wk__broadcast_mask(const wk__op *op, wk_site site, wk_tensor *const in[], int *ndim, int64_t *shape)
{
    const wk__body *a = wk__body_of(in[0]), *b = wk__body_of(in[1]);
    if (b->dtype == WK_BOOL && wk__broadcast(a->ndim, a->shape, b->ndim, b->shape, ndim, shape)) return true;
    wk__op_error(op, site, b->dtype != WK_BOOL ? WK_ERR_DTYPE : WK_ERR_SHAPE, in,
                 b->dtype != WK_BOOL ? "mask must be bool, got $b; use wk_ne(mask, 0)"
                                     : "$a and the mask $b do not broadcast");
    return false;
}

/* A 0-d tensor counts as a vector of one. */
static int dims_of(const wk__body *body)
{
    return body->ndim ? body->ndim : 1;
}

static int64_t size_at_least_1d(const wk__body *body, int d)
{
    return body->ndim ? body->shape[d] : 1;
}

bool wk__check_index_shape(const wk__op *op, wk_site site, wk_tensor *const in[], int count, int d)
{
    const wk__body *x = wk__body_of(in[0]), *index = wk__body_of(in[1]), *source = wk__body_of(in[count - 1]);
    if (wk__body_numel(index) == 0) return true;
    if (dims_of(index) != dims_of(x) || (count == 3 && dims_of(source) != dims_of(x))) {
        wk__op_error(op, site, WK_ERR_SHAPE, in,
                     "$a%s must have the same number of dimensions; add one with wk_unsqueeze",
                     count == 3 ? ", the index $b and the source $c" : " and the index $b");
        return false;
    }
    for (int k = 0; k < dims_of(index); k++) {
        const int64_t places = size_at_least_1d(index, k);
        const bool of_x = k != d && places > size_at_least_1d(x, k);
        if (!of_x && (count < 3 || places <= size_at_least_1d(source, k))) continue;
        wk__op_error(op, site, WK_ERR_SHAPE, in, "index $b has size %lld in dimension %d, but %s has only %lld%s",
                     (long long)places, k, of_x ? "$a" : "the source $c",
                     (long long)size_at_least_1d(of_x ? x : source, k),
                     of_x ? " (sizes may exceed it only along the indexed dimension)" : "");
        return false;
    }
    return true;
}
