/* SPDX-License-Identifier: Apache-2.0 */
/* Metric histories: scalars that stay on their device until they are read.
 *
 *     add    --> next element of the last chunk[], a tensor of size FULL; the kernel that computes the scalar writes it
 *     read   --> all chunks are joined, downloaded once, and stored in value[]
 */
#include "metric_history.h"
#include "base/alloc.h"
#include "ops/core/tensor_swap.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <string.h>
#include <wick/shape.h>

enum { CHUNK_SIZE = 256 };

typedef struct history {
    wk_tensor **chunk; /* owned; all but the last are full */
    int64_t chunks, chunk_capacity;
    int used;               /* used elements of the last chunk; FULL if there is none, or it was cut for reading */
    double *value, *weight; /* [known] values read so far; [count] weights */
    int64_t known, count, value_capacity, weight_capacity;
} history;

struct wk_history {
    wk__handle handle;
};

static void forget(history *h)
{
    for (int64_t k = 0; k < h->chunks; k++) wk__handle_drop(&h->chunk[k]->handle);
    h->chunks = 0;
    h->used = CHUNK_SIZE;
}

static void destroy(void *body)
{
    history *h = body;
    forget(h);
    wk__free(h->chunk);
    wk__free(h->value);
    wk__free(h->weight);
    wk__free(h);
}

static const wk__handle_type history_kind = {.name = "history", .destroy = destroy};

wk_history *wk_history_new_at(wk_site site)
{
    history *h = wk__alloc_zero(1, sizeof *h);
    if (h) h->used = CHUNK_SIZE;
    return wk__handle_wrap(site, &history_kind, h, true, "history_new");
}

static history *body_of(const wk_history *handle, wk_site site, const char *op)
{
    return wk__handle_check(handle, &history_kind, site, op, "the history") ? wk__handle_body(handle) : NULL;
}

int64_t wk_history_count_at(wk_site site, const wk_history *handle)
{
    const history *h = handle ? body_of(handle, site, "history_count") : NULL;
    return h ? h->count : 0;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static bool out_of_memory(wk_site site)
{
    wk__error_set(site, WK_ERR_MEMORY, "history: out of host memory");
    return false;
}

/* Appends a scalar. All scalars of a history have the device of the first, and its dtype if that is f64, else f32. A
 * scalar whose computation fails stays NaN. */
static bool new_chunk(wk_site site, history *h, const wk_tensor *x)
{
    const wk_tensor *like = h->chunks ? h->chunk[0] : x;
    wk_tensor_options options = {
        .size = sizeof options, .dtype = wk_dtype_of(like) == WK_F64 ? WK_F64 : WK_F32, .device = wk_device_of(like)};
    if (!wk__grow(&h->chunk, &h->chunk_capacity, h->chunks + 1, sizeof *h->chunk)) return out_of_memory(site);
    wk_tensor *chunk = wk__handle_adopt(wk_full_f64_at(site, (const int64_t[]){CHUNK_SIZE}, 1, (double)NAN, &options));
    if (!chunk) return false;
    h->chunk[h->chunks++] = chunk;
    h->used = 0;
    return true;
}

static bool add(wk_site site, history *h, wk_tensor *x, double weight)
{
    if (!wk__grow(&h->weight, &h->weight_capacity, h->count + 1, sizeof *h->weight)) return out_of_memory(site);
    if (h->used == CHUNK_SIZE && !new_chunk(site, h, x)) return false;
    wk_tensor *slot = wk_select_at(site, h->chunk[h->chunks - 1], 0, h->used);
    if (!slot || !wk_copy__at(site, slot, wk_reshape_at(site, x, NULL, 0))) return false;
    h->used++;
    h->weight[h->count++] = weight;
    return true;
}

wk_code wk_history_add_at(wk_site site, wk_history *handle, wk_tensor *x, const wk_history_options *options)
{
    history *h = body_of(handle, site, "history_add");
    wk_history_options o;
    wk__call_scope c;
    if (!h || !wk__options(site, "history_add", options, &o) || !wk__check_tensor(x, site, "history_add", "the value"))
        return wk_error_code();
    if (wk_numel(x) != 1) {
        wk__tensor_refuse(site, WK_ERR_SHAPE, x, "; reduce it first: wk_mean, wk_sum",
                          "history_add: expected a tensor of one element");
        return WK_ERR_SHAPE;
    }
    if (!wk__call_begin(&c, WK__FRAME_CALL, "history_add", site, WK__GRAD_OFF)) return wk_error_code();
    bool fine = add(site, h, x, wk__option_or(o.weight, 1));
    wk__call_end(&c, NULL, 0);
    return fine ? WK_OK : wk_error_code();
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Cuts the last chunk to its used elements and joins the chunks, FULL at a time, until one is left. */
static bool join_chunks(wk_site site, history *h)
{
    if (h->used < CHUNK_SIZE) {
        wk_tensor **last = &h->chunk[h->chunks - 1];
        wk_tensor *cut = wk__handle_adopt(wk_narrow_at(site, *last, 0, 0, h->used));
        if (!cut) return false;
        wk__handle_drop(&(*last)->handle);
        *last = cut;
        h->used = CHUNK_SIZE;
    }
    while (h->chunks > 1) {
        int64_t joined = 0;
        for (int64_t k = 0; k < h->chunks; k += CHUNK_SIZE) {
            int n = h->chunks - k < CHUNK_SIZE ? (int)(h->chunks - k) : CHUNK_SIZE;
            wk_tensor *one = wk__handle_adopt(wk_cat_at(site, &h->chunk[k], n, 0));
            if (!one) { /* keep the chunks that are not joined yet */
                memmove(&h->chunk[joined], &h->chunk[k], (size_t)(h->chunks - k) * sizeof *h->chunk);
                h->chunks -= k - joined;
                return false;
            }
            for (int i = 0; i < n; i++) wk__handle_drop(&h->chunk[k + i]->handle);
            h->chunk[joined++] = one;
        }
        h->chunks = joined;
    }
    return true;
}

static bool read_chunk(wk_site site, history *h)
{
    wk_tensor *all = h->chunk[0];
    int64_t n = wk_numel(all);
    if (!wk__grow(&h->value, &h->value_capacity, h->known + n, sizeof *h->value)) return out_of_memory(site);
    double *to = h->value + h->known;
    size_t size = wk_dtype_size(wk_dtype_of(all));
    if (wk_read_at(site, all, to, (size_t)n * size) != WK_OK) return false;
    if (size == sizeof(float)) /* widen in place from the end, so that no unread element is overwritten */
        for (int64_t k = n; k-- > 0;) {
            float narrow;
            memcpy(&narrow, (const char *)to + (size_t)k * sizeof narrow, sizeof narrow);
            to[k] = narrow;
        }
    h->known += n;
    forget(h);
    return true;
}

static bool read_all(wk_site site, const char *op, history *h)
{
    wk__call_scope c;
    if (h->known == h->count) return true;
    if (!wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return false;
    bool fine = join_chunks(site, h) && read_chunk(site, h);
    wk__call_end(&c, NULL, 0);
    return fine;
}

bool wk__metric_history_read(wk_site site, const char *op, wk_history *handle, const double **values, int64_t *count)
{
    history *h = body_of(handle, site, op);
    if (!h || !read_all(site, op, h)) return false;
    *values = h->value;
    *count = h->count;
    return true;
}

const double *wk_history_values_at(wk_site site, wk_history *handle)
{
    const double *values = NULL;
    int64_t count;
    wk__metric_history_read(site, "history_values", handle, &values, &count);
    return values;
}

bool wk__metric_history_sums(wk_site site, const char *op, wk_history *handle, double sums[2])
{
    history *h = body_of(handle, site, op);
    if (!h || !read_all(site, op, h)) return false;
    sums[0] = sums[1] = 0;
    for (int64_t k = 0; k < h->count; k++) {
        sums[0] += h->weight[k] * h->value[k];
        sums[1] += h->weight[k];
    }
    return true;
}

double wk_history_mean_at(wk_site site, wk_history *handle)
{
    double sums[2];
    if (!wk__metric_history_sums(site, "history_mean", handle, sums)) return (double)NAN;
    return sums[1] != 0 ? sums[0] / sums[1] : (double)NAN;
}
