/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of sequences of different lengths: padding, as a function and for loaders, and an order by length. */
#include "base/alloc.h"
#include "base/integers.h"
#include "base/options.h"
#include "data/sample.h"
#include "tensor/call_scope.h"
#include "tokenizer.h"
#include <stdlib.h>
#include <wick/shape.h>

/* ---- padding ----------------------------------------------------------------------------------------------------- */

static bool check_sequences(wk_site site, const char *op, wk_tensor *const *sequences, int64_t count)
{
    if (!wk__array_check(sequences, count, site, op, "the list of sequences")) return false;
    if (count == 0) wk__error_set(site, WK_ERR_ARGUMENT, "%s: expected at least one sequence", op);
    for (int64_t k = 0; k < count; k++) {
        if (!wk__check_tensor(sequences[k], site, op, "a sequence")) return false;
        if (wk_ndim(sequences[k]) == 1) continue;
        wk__text text = {0};
        wk__text_format(&text, "%s: expected sequences with one dimension, got at index %lld ", op, (long long)k);
        wk__text_tensor(&text, sequences[k]);
        wk__error_set_text(site, WK_ERR_SHAPE, &text);
        return false;
    }
    return count > 0;
}

void wk__id_lists_free(wk__id_lists *lists)
{
    wk__ids_free(&lists->ids);
    wk__ids_free(&lists->lengths);
}

bool wk__padding_side(wk_site site, const char *op, const char *side, bool *left)
{
    static const char *const sides[] = {"right", "left"};
    const int k = wk__option_word(site, op, "padding_side", sides, 2, side);
    *left = k == 1;
    return k >= 0;
}

/* Rows on the host; owned. */
typedef struct rows {
    int64_t *id;   /* [count][width] */
    bool *mask;    /* [count][width] */
    int64_t *kept; /* [count]: ids of each row */
} rows;

static void free_rows(rows *r)
{
    wk__free(r->id);
    wk__free(r->mask);
    wk__free(r->kept);
}

static void fill_rows(const wk__id_lists *lists, const wk__padding *p, const rows *r)
{
    for (int64_t k = 0, at = 0; k < lists->lengths.count; at += lists->lengths.at[k++]) {
        const int64_t kept = wk__min_i64(lists->lengths.at[k], p->width), begin = p->left ? p->width - kept : 0;
        int64_t *id = r->id + k * p->width;
        bool *mask = r->mask + k * p->width;
        for (int64_t n = 0; n < p->width; n++) {
            mask[n] = n >= begin && n < begin + kept;
            id[n] = mask[n] ? lists->ids.at[at + n - begin] : p->value;
        }
        r->kept[k] = kept;
    }
}

bool wk__id_lists_pad(wk_site site, const char *op, const wk__id_lists *lists, const wk__padding *p,
                      const wk_tensor_options *where, wk_tensor *out[3])
{
    const int64_t count = lists->lengths.count, shape[] = {count, p->width};
    int64_t cells;
    const bool fits = wk__mul_size(count, p->width, &cells) && wk__mul_size(cells, 8, &(int64_t){0});
    rows r = {.kept = wk__realloc(NULL, (size_t)count, sizeof *r.kept)};
    if (fits) r.id = wk__realloc(NULL, (size_t)cells + 1, sizeof *r.id);
    if (fits) r.mask = wk__realloc(NULL, (size_t)cells + 1, sizeof *r.mask);
    const bool fine = r.id && r.mask && r.kept;
    if (fine) {
        fill_rows(lists, p, &r);
        out[0] = wk_from_on_at(site, WK_I64, r.id, (size_t)cells * sizeof *r.id, shape, 2, where);
        if (out[0] && p->lengths)
            out[1] = wk_from_on_at(site, WK_I64, r.kept, (size_t)count * sizeof *r.kept, &count, 1, where);
        if (out[0] && p->mask)
            out[2] = wk_from_on_at(site, WK_BOOL, r.mask, (size_t)cells * sizeof *r.mask, shape, 2, where);
    } else {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for %lld x %lld ids", op, (long long)count,
                      (long long)p->width);
    }
    free_rows(&r);
    return out[0] && (out[1] || !p->lengths) && (out[2] || !p->mask);
}

/* Reads the elements of the sequences. Returns false after recording an error. */
static bool read_sequences(wk_site site, const char *op, wk_tensor *const *sequences, int64_t count,
                           wk__id_lists *lists)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t length, *ids = wk__ids_read(site, op, sequences[k], &length);
        if (!ids) return false;
        for (int64_t n = 0; n < length; n++) wk__ids_add(&lists->ids, ids[n]);
        wk__ids_add(&lists->lengths, length);
        wk__free(ids);
    }
    if (lists->ids.failed || lists->lengths.failed) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    return !lists->ids.failed && !lists->lengths.failed;
}

static bool pad(wk_site site, const char *op, wk_tensor *const *sequences, int64_t count, const wk_text_pad_options *o,
                wk_tensor *out[3])
{
    wk__id_lists lists = {0};
    wk__padding p = {.width = o->length, .value = o->value, .lengths = o->lengths, .mask = o->mask};
    for (int64_t k = 0; k < count && o->length == 0; k++) p.width = wk__max_i64(p.width, wk_numel(sequences[k]));
    const wk_tensor_options where = {.size = sizeof where, .device = wk_device_of(sequences[0])};
    const bool fine = wk__padding_side(site, op, o->padding_side, &p.left) &&
                      read_sequences(site, op, sequences, count, &lists) &&
                      wk__id_lists_pad(site, op, &lists, &p, &where, out);
    wk__id_lists_free(&lists);
    return fine;
}

wk_tensor *wk_text_pad_at(wk_site site, wk_tensor *const *sequences, int64_t count, const wk_text_pad_options *options)
{
    static const char op[] = "text_pad";
    wk_text_pad_options o;
    wk__call_scope c;
    if (!wk__options(site, op, options, &o)) return NULL;
    if (o.lengths) *o.lengths = NULL;
    if (o.mask) *o.mask = NULL;
    if (!check_sequences(site, op, sequences, count)) return NULL;
    if (o.length < 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .length must be at least 0, got %lld", op, (long long)o.length);
        return NULL;
    }
    if (!wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return NULL;
    wk_tensor *out[3] = {NULL, NULL, NULL};
    const bool fine = pad(site, op, sequences, count, &o, out);
    wk__call_end(&c, out, fine ? 3 : 0);
    if (fine && o.lengths) *o.lengths = out[1];
    if (fine && o.mask) *o.mask = out[2];
    return fine ? out[0] : NULL;
}

/* Checks that the samples of a batch have as many tensors as the first one, and room for the lengths. */
static bool check_samples(wk_site site, const char *op, const wk_sample *samples, int64_t count)
{
    for (int64_t k = 1; k < count; k++) {
        if (samples[k].count == samples[0].count) continue;
        wk__error_set(site, WK_ERR_SHAPE, "%s: sample %lld has %d tensors, but sample 0 of the same batch has %d", op,
                      (long long)k, samples[k].count, samples[0].count);
        return false;
    }
    if (count == 0 || samples[0].count < WK_SAMPLE_TENSORS || wk_ndim(samples[0].tensors[0]) != 1) return true;
    wk__error_set(site, WK_ERR_ARGUMENT,
                  "%s: samples of sequences must have at most %d tensors, because the lengths follow them; got %d", op,
                  WK_SAMPLE_TENSORS - 1, samples[0].count);
    return false;
}

bool wk_text_collate(wk_sample *batch, const wk_sample *samples, int64_t count, void *user)
{
    static const char op[] = "text_collate";
    const wk_site site = {0};
    wk_text_pad_options o = {.size = sizeof o, .value = user ? *(const int64_t *)user : 0};
    if (!check_samples(site, op, samples, count)) return false;
    wk_tensor *lengths = NULL, **list = wk__realloc(NULL, (size_t)count + 1, sizeof(wk_tensor *));
    if (!list) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    const int tensors = list && count > 0 ? samples[0].count : 0;
    bool fine = list != NULL;
    for (int n = 0; n < tensors && fine; n++) {
        for (int64_t k = 0; k < count; k++) list[k] = samples[k].tensors[n];
        const bool sequence = wk_ndim(list[0]) == 1;
        o.lengths = sequence && n == 0 ? &lengths : NULL;
        batch->tensors[n] = sequence ? wk_text_pad_at(site, list, count, &o) : wk_stack_at(site, list, (int)count, 0);
        fine = batch->tensors[n] != NULL;
    }
    batch->count = tensors;
    if (fine && lengths) batch->tensors[batch->count++] = lengths;
    wk__free(list);
    return fine;
}

/* ---- order by length --------------------------------------------------------------------------------------------- */

typedef struct measured {
    int64_t length, index;
} measured;

static int by_length(const void *a, const void *b)
{
    const measured *one = a, *other = b;
    if (one->length != other->length) return one->length < other->length ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

/* Replaces lengths by the order. Batches of full size are shuffled; a smaller one stays last. */
static bool order_by_length(int64_t *lengths, int64_t count, int64_t batch, const wk_text_order_options *o)
{
    const int64_t batches = count / batch;
    measured *list = wk__realloc(NULL, (size_t)count + 1, sizeof *list);
    int64_t *position = wk__realloc(NULL, (size_t)batches + 1, sizeof *position);
    const bool fine = list && position;
    if (fine) {
        for (int64_t k = 0; k < count; k++) list[k] = (measured){lengths[k], k};
        qsort(list, (size_t)count, sizeof *list, by_length);
        for (int64_t k = 0; k < batches; k++) position[k] = k;
        if (o->shuffle) wk__shuffle(position, batches, o->seed, WK__NO_EPOCH);
        for (int64_t k = 0; k < count; k++) {
            const int64_t to = k < batches * batch ? position[k / batch] * batch + k % batch : k;
            lengths[to] = list[k].index;
        }
    }
    wk__free(list);
    wk__free(position);
    return fine;
}

static wk_tensor *make_order(wk_site site, const char *op, wk_tensor *lengths, int64_t batch,
                             const wk_text_order_options *o)
{
    int64_t count, *order = wk__ids_read(site, op, lengths, &count);
    wk_tensor *result = NULL;
    if (order && order_by_length(order, count, batch, o))
        result = wk__ids_tensor(site, order, count);
    else if (order)
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    wk__free(order);
    return result;
}

wk_tensor *wk_text_order_at(wk_site site, wk_tensor *lengths, int64_t batch_size, const wk_text_order_options *options)
{
    static const char op[] = "text_order";
    wk_text_order_options o;
    wk__call_scope c;
    if (!wk__check_tensor(lengths, site, op, "the lengths") || !wk__options(site, op, options, &o)) return NULL;
    if (wk_ndim(lengths) != 1) {
        wk__text text = {0};
        wk__text_format(&text, "%s: expected lengths with one dimension, got ", op);
        wk__text_tensor(&text, lengths);
        wk__error_set_text(site, WK_ERR_SHAPE, &text);
        return NULL;
    }
    if (batch_size < 1) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: batch_size must be at least 1, got %lld", op, (long long)batch_size);
        return NULL;
    }
    if (!wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return NULL;
    wk_tensor *order = make_order(site, op, lengths, batch_size, &o);
    wk__call_end(&c, &order, order ? 1 : 0);
    return order;
}
