/* SPDX-License-Identifier: Apache-2.0 */
/* Order and indices of packed sequences; see packing.h. */
#include "base/alloc.h"
#include "packing.h"
#include <string.h>

/* ---- lengths and indices ----------------------------------------------------------------------------------------- */

/* Allocates `count` zeroed numbers for the call `op`; NULL on error. */
static int64_t *numbers(wk_site site, const char *op, int64_t count)
{
    int64_t bytes;
    int64_t *data = wk__mul_size(count + 1, sizeof *data, &bytes) ? wk__alloc_zero(1, (size_t)bytes) : NULL;
    if (!data) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for %lld indices", op, (long long)count);
    return data;
}

/* Allocates the arrays for batch and steps of p, zeroed. */
static bool allocate(wk_site site, const char *op, wk__packing *p)
{
    if (!(p->length = numbers(site, op, 3 * p->batch + p->steps))) return false;
    p->order = p->length + p->batch;
    p->place = p->order + p->batch;
    p->size = p->place + p->batch;
    return true;
}

wk_tensor *wk__packing_vector(wk_site site, const int64_t *data, int64_t count, wk_device device)
{
    wk_tensor *x = wk_from_at(site, WK_I64, data, (size_t)count * sizeof *data, &count, 1);
    return x ? wk_to_at(site, x, device) : NULL;
}

/* Sorts the order by length, descending and stable: a count of the sequences of each length gives their positions. */
static bool sort_by_length(wk_site site, const char *op, wk__packing *p)
{
    int64_t *first = numbers(site, op, p->steps + 1); /* the position of the next sequence of each length */
    if (!first) return false;
    for (int64_t k = 0; k < p->batch; k++) first[p->length[k] - 1]++;
    int64_t longer = 0;
    for (int64_t length = p->steps; length-- > 0;) {
        const int64_t count = first[length];
        first[length] = longer;
        longer += count;
        p->size[length] = longer;
    }
    for (int64_t k = 0; k < p->batch; k++) {
        p->place[k] = first[p->length[k] - 1]++;
        p->order[p->place[k]] = k;
    }
    wk__free(first);
    return true;
}

bool wk__packing_read_lengths(wk_site site, const char *op, wk_tensor *lengths, int64_t most, bool unsorted,
                              wk__packing *p)
{
    const wk__body *body = wk__body_of(lengths);
    if (body->ndim != 1 || body->dtype != WK_I64 || body->shape[0] != p->batch) {
        wk__call_error(op, site, body->dtype == WK_I64 ? WK_ERR_SHAPE : WK_ERR_DTYPE, &lengths,
                       "the lengths must be an i64 vector with one element for each of %lld sequences, got $a",
                       (long long)p->batch);
        return false;
    }
    p->steps = most; /* room for their batch sizes */
    if (!allocate(site, op, p)) return false;
    p->steps = 0;
    bool fine = wk_read_at(site, lengths, p->length, (size_t)p->batch * sizeof *p->length) == WK_OK;
    for (int64_t k = 0; k < p->batch && fine; k++) {
        const int64_t length = p->length[k];
        fine = length >= 1 && length <= most && (unsorted || !k || length <= p->length[k - 1]);
        if (length < 1 || length > most)
            wk__error_set(site, WK_ERR_ARGUMENT, "%s: length %lld of sequence %lld is out of range (valid: [1, %lld])",
                          op, (long long)length, (long long)k, (long long)most);
        else if (!fine)
            wk__error_set(site, WK_ERR_ARGUMENT, "%s: the lengths are not in descending order; use .unsorted = true",
                          op);
        if (length > p->steps) p->steps = length;
        p->rows += length;
    }
    if (fine && sort_by_length(site, op, p)) return true;
    wk__free(p->length);
    return false;
}

/* Returns x (steps, batch, ...) with the first two dimensions merged. */
static wk_tensor *merged(wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS] = {body->shape[0] * body->shape[1]};
    memcpy(shape + 1, body->shape + 2, sizeof *shape * (size_t)(body->ndim - 2));
    return wk_reshape_at((wk_site){0}, x, shape, body->ndim - 1);
}

wk_tensor *wk__packing_pack(wk_site site, const char *op, wk_tensor *x, const wk__packing *p)
{
    int64_t *index = numbers(site, op, p->rows);
    if (!index) return NULL;
    int64_t row = 0;
    for (int64_t t = 0; t < p->steps; t++)
        for (int64_t k = 0; k < p->size[t]; k++) index[row++] = t * p->batch + p->order[k];
    wk_tensor *at = wk__packing_vector(site, index, p->rows, wk_device_of(x));
    wk__free(index);
    return at ? wk_index_select_at(site, merged(x), 0, at) : NULL;
}

wk_tensor *wk__packing_pad(wk_site site, const char *op, wk_tensor *rows, const wk__packing *p, int64_t steps,
                           double value)
{
    const wk__body *body = wk__body_of(rows);
    int64_t shape[WK__MAX_DIMS] = {1}, count;
    if (!wk__mul_size(steps, p->batch, &count)) count = INT64_MAX - 1;
    int64_t *index = numbers(site, op, count);
    if (!index) return NULL;
    for (int64_t t = 0, row = 0; t < steps; t++) {
        const int64_t size = t < p->steps ? p->size[t] : 0;
        for (int64_t k = 0; k < p->batch; k++)
            index[t * p->batch + k] = p->place[k] < size ? row + p->place[k] : body->shape[0];
        row += size;
    }
    wk_tensor *at = wk__packing_vector(site, index, count, wk_device_of(rows));
    wk__free(index);
    memcpy(shape + 1, body->shape + 1, sizeof *shape * (size_t)(body->ndim - 1));
    const wk_tensor_options like = {.size = sizeof like, .dtype = body->dtype, .device = wk_device_of(rows)};
    wk_tensor *beyond = wk_full_f64_at(site, shape, body->ndim, value, &like);
    wk_tensor *out = at && beyond ? wk_index_select_at(site, wk_cat((rows, beyond), 0), 0, at) : NULL;
    shape[0] = p->batch;
    memmove(shape + 1, shape, sizeof *shape * (size_t)body->ndim);
    shape[0] = steps;
    return out ? wk_reshape_at(site, out, shape, body->ndim + 1) : NULL;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

bool wk__packing_fill_list(wk_site site, wk_tensors *list, wk_tensor *data, const wk__packing *p, bool unsorted)
{
    const wk_device cpu = {.kind = WK_CPU};
    wk_tensor *sizes = data ? wk__packing_vector(site, p->size, p->steps, cpu) : NULL;
    if (!sizes || !wk_tensors_add_at(site, list, "data", data) || !wk_tensors_add_at(site, list, "batch_sizes", sizes))
        return false;
    if (!unsorted) return true;
    wk_tensor *order = wk__packing_vector(site, p->order, p->batch, cpu),
              *place = wk__packing_vector(site, p->place, p->batch, cpu);
    return order && place && wk_tensors_add_at(site, list, "sorted_indices", order) &&
           wk_tensors_add_at(site, list, "unsorted_indices", place);
}

/* Returns true if the batch sizes do not grow and add up to the rows. */
static bool are_batch_sizes(const int64_t *size, int64_t steps, int64_t rows)
{
    int64_t sum = 0;
    for (int64_t t = 0; t < steps; t++) {
        if (size[t] < 1 || size[t] > (t ? size[t - 1] : rows) || size[t] > rows - sum) return false;
        sum += size[t];
    }
    return sum == rows;
}

int64_t *wk__packing_read_sizes(wk_site site, const char *op, wk_tensor *sizes, wk_tensor *data)
{
    const wk__body *body = wk__body_of(sizes);
    wk_tensor *const named[] = {sizes, data};
    if (body->ndim != 1 || body->dtype != WK_I64 || body->shape[0] < 1) {
        wk__call_error(op, site, body->dtype == WK_I64 ? WK_ERR_SHAPE : WK_ERR_DTYPE, named,
                       "the batch sizes must be an i64 vector with an element for each step, got $a");
        return NULL;
    }
    const int64_t steps = body->shape[0];
    int64_t *size = numbers(site, op, steps);
    if (!size) return NULL;
    const bool is_read = wk_read_at(site, sizes, size, (size_t)steps * sizeof *size) == WK_OK;
    if (is_read && are_batch_sizes(size, steps, wk__body_of(data)->shape[0])) return size;
    wk__call_error(op, site, WK_ERR_ARGUMENT, named,
                   "the batch sizes must be at least 1, not grow, and add up to the rows of the data $b");
    wk__free(size);
    return NULL;
}

/* Fills in the arrays of p from the batch sizes and the optional unsorted_indices. */
static bool fill_packing(wk_site site, const char *op, const int64_t *size, wk_tensor *place, wk__packing *p)
{
    p->batch = size[0];
    if (place && (wk_dtype_of(place) != WK_I64 || wk_numel(place) != p->batch)) {
        wk__call_error(op, site, WK_ERR_ARGUMENT, &place, "unsorted_indices must be i64 with %lld elements, got $a",
                       (long long)p->batch);
        return false;
    }
    if (!allocate(site, op, p)) return false;
    memcpy(p->size, size, sizeof *size * (size_t)p->steps);
    for (int64_t k = 0; k < p->batch; k++) {
        p->place[k] = k;
        p->order[k] = -1;
    }
    if (place && wk_read_at(site, place, p->place, (size_t)p->batch * sizeof *p->place) != WK_OK) return false;
    for (int64_t k = 0; k < p->batch; k++) {
        const int64_t at = p->place[k];
        if (at < 0 || at >= p->batch) {
            wk__error_set(site, WK_ERR_INDEX, "%s: index %lld of unsorted_indices is out of range (valid: [0, %lld])",
                          op, (long long)at, (long long)p->batch - 1);
            return false;
        }
        if (p->order[at] >= 0) {
            wk__error_set(site, WK_ERR_ARGUMENT, "%s: unsorted_indices has index %lld twice; it must be a permutation",
                          op, (long long)at);
            return false;
        }
        p->order[at] = k;
        while (p->length[k] < p->steps && size[p->length[k]] > at) p->length[k]++;
    }
    return true;
}

wk_tensor *wk__packing_read_list(wk_site site, const char *op, wk_tensors *packed, wk__packing *p)
{
    wk_tensor *data = wk_tensors_find_at(site, packed, "data"),
              *sizes = wk_tensors_find_at(site, packed, "batch_sizes");
    if (wk__error_pending()) return NULL;
    if (!data || !sizes) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: the list must have data and batch_sizes, as that of wk_pack_padded_sequence", op);
        return NULL;
    }
    if (wk_ndim(data) < 1 || wk_ndim(data) >= WK__MAX_DIMS) {
        wk__call_error(op, site, WK_ERR_SHAPE, &data, "the data must have 1 to %d dimensions, got $a",
                       WK__MAX_DIMS - 1);
        return NULL;
    }
    int64_t *size = wk__packing_read_sizes(site, op, sizes, data);
    if (!size) return NULL;
    p->steps = wk_size(sizes, 0);
    p->rows = wk_size(data, 0);
    const bool fine = fill_packing(site, op, size, wk_tensors_find_at(site, packed, "unsorted_indices"), p);
    wk__free(size);
    if (fine) return data;
    wk__free(p->length);
    p->length = NULL;
    return NULL;
}
