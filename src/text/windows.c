/* SPDX-License-Identifier: Apache-2.0 */
/* wk_text_windows: a dataset whose samples are windows of one list of ids, which they share. */
#include "base/alloc.h"
#include "base/options.h"
#include "data/dataset.h"
#include "tensor/call_scope.h"
#include "tokenizer.h"

/* x of a sample is row `begin` of array 0, y of array 1, whose rows begin at successive ids. */
typedef struct windows {
    wk__dataset base;
    int64_t *ids;              /* owned */
    wk__sample_array array[2]; /* x and y; their data belongs to ids */
    int64_t offset, stride;
    int64_t batch, part; /* sequential partition: batch size, ids from one part to the next; else 1 and 0 */
} windows;

static bool get(const wk__dataset *data, int64_t index, wk__sample *out)
{
    const windows *w = (const windows *)data;
    const int64_t begin = w->offset + index % w->batch * w->part + index / w->batch * w->stride;
    out->count = 2;
    for (int k = 0; k < 2; k++) out->part[k] = (wk__sample_part){.array = &w->array[k], .row = begin};
    return true;
}

static void destroy(wk__dataset *data)
{
    wk__free(((windows *)data)->ids);
}

static const wk__dataset_kind windows_kind = {.get = get, .destroy = destroy};

static bool at_least(wk_site site, const char *op, const char *name, int64_t least, int64_t value)
{
    if (value >= least) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s must be at least %lld, got %lld", op, name, (long long)least,
                  (long long)value);
    return false;
}

static bool check(wk_site site, const char *op, int64_t steps, const wk_text_windows_options *o)
{
    return at_least(site, op, "steps", 1, steps) && at_least(site, op, ".stride", 0, o->stride) &&
           at_least(site, op, ".offset", 0, o->offset) && at_least(site, op, ".batch_size", 0, o->batch_size);
}

/* Returns how many windows fit in `count` ids, of which the last is a label only. */
static int64_t windows_in(int64_t count, int64_t steps, int64_t stride)
{
    return count > steps ? (count - 1 - steps) / stride + 1 : 0;
}

static wk_dataset *make(wk_site site, const char *op, int64_t *ids, int64_t count, int64_t steps,
                        const wk_text_windows_options *o)
{
    const int64_t stride = o->stride > 0 ? o->stride : steps, left = count - o->offset;
    const int64_t batch = o->batch_size > 0 ? o->batch_size : 1, part = left > 0 ? (left - 1) / batch : 0;
    const int64_t samples = windows_in(part + 1, steps, stride) * batch;
    if (samples == 0) {
        wk__error_set(
            site, WK_ERR_ARGUMENT,
            "%s: no window fits: %lld ids after .offset %lld, in %lld part%s, are fewer than %lld and a label", op,
            (long long)(left > 0 ? left : 0), (long long)o->offset, (long long)batch, batch == 1 ? "" : "s",
            (long long)steps);
        wk__free(ids);
        return NULL;
    }
    windows *w = wk__dataset_new(site, op, sizeof *w, &windows_kind, NULL);
    if (!w) {
        wk__free(ids);
        return NULL;
    }
    w->base.count = samples;
    w->base.batch_size = o->batch_size;
    w->ids = ids;
    w->offset = o->offset, w->stride = stride;
    w->batch = batch, w->part = o->batch_size > 0 ? part : 0;
    for (int k = 0; k < 2; k++)
        w->array[k] = (wk__sample_array){.data = ids + k,
                                         .stored_bytes = sizeof *ids,
                                         .batch_bytes = steps * (int64_t)sizeof *ids,
                                         .elements = steps,
                                         .dtype = WK_I64,
                                         .ndim = 1,
                                         .shape = {steps}};
    return wk__dataset_wrap(site, op, &w->base);
}

wk_dataset *wk_text_windows_at(wk_site site, wk_tensor *ids, int64_t steps, const wk_text_windows_options *options)
{
    static const char op[] = "text_windows";
    wk_text_windows_options o;
    wk__call_scope c;
    if (!wk__check_tensor(ids, site, op, "the ids") || !wk__options(site, op, options, &o) ||
        !check(site, op, steps, &o))
        return NULL;
    if (wk_ndim(ids) != 1) {
        wk__tensor_refuse(site, WK_ERR_SHAPE, ids, "; wk_flatten them first", "%s: expected ids with one dimension",
                          op);
        return NULL;
    }
    if (!wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return NULL;
    int64_t count, *copy = wk__ids_read(site, op, ids, &count);
    wk__call_end(&c, NULL, 0);
    return copy ? make(site, op, copy, count, steps, &o) : NULL;
}
