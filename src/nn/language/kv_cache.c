/* SPDX-License-Identifier: Apache-2.0 */
/* wk_kv_cache: keys and values of the layers of a model, in memory for a fixed number of positions. */
#include "language.h"
#include "base/alloc.h"
#include <wick/ops.h>

static void drop_tokens(wk__kv_cache *cache)
{
    if (cache->tokens) wk__handle_drop(&cache->tokens->handle);
    cache->tokens = NULL;
}

static void destroy(void *body)
{
    wk__kv_cache *cache = body;
    for (int64_t k = 0; cache->key && k < 2 * cache->layers; k++)
        if (cache->key[k]) wk__handle_drop(&cache->key[k]->handle);
    drop_tokens(cache);
    wk__free(cache->key);
    wk__free(cache);
}

const wk__handle_type wk__kv_cache_kind = {.name = "cache", .destroy = destroy, .owns_children = true};

wk__kv_cache *wk__kv_cache_of(wk_site site, const char *op, const wk_kv_cache *cache)
{
    return wk__handle_check(cache, &wk__kv_cache_kind, site, op, "the cache") ? wk__handle_body(cache) : NULL;
}

void wk__kv_cache_add_hint(wk__text *text, const wk__kv_cache *cache)
{
    wk__text_format(text, "; create the cache of this model with wk_kv_cache_new(net, %lld, %lld)",
                    (long long)cache->batch, (long long)cache->capacity);
}

void wk__kv_cache_clear(wk_kv_cache *cache)
{
    wk__kv_cache *body = wk__handle_body(cache);
    body->length = 0;
    drop_tokens(body);
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

/* Creates the tensors. Returns false on error. */
static bool add_tensors(wk__kv_cache *cache, const wk_tensor *like)
{
    const wk_tensor_options options = {
        .size = sizeof options, .dtype = wk_dtype_of(like), .device = wk_device_of(like)};
    const int64_t shape[] = {cache->batch, cache->kv_heads, cache->capacity, cache->head_dim};
    for (int64_t k = 0; k < 2 * cache->layers; k++) {
        wk_tensor *x = wk_empty_at((wk_site){0}, shape, 4, &options);
        if (!x) return false;
        cache->key[k] = wk__handle_adopt(x);
    }
    return true;
}

static bool check_sizes(wk_site site, const wk__language *l, int64_t batch, int64_t capacity)
{
    static const char op[] = "kv_cache_new";
    if (batch < 1)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: batch must be at least 1, got %lld", op, (long long)batch);
    else if (capacity < 1 || capacity > l->positions)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: capacity must be in [1, %lld], the positions of the model, got %lld",
                      op, (long long)l->positions, (long long)capacity);
    else
        return true;
    return false;
}

wk_kv_cache *wk_kv_cache_new_at(wk_site site, wk_module *net, int64_t batch, int64_t capacity)
{
    static const char op[] = "kv_cache_new";
    const wk__language *l = wk__language_of(site, op, net);
    if (!l || !check_sizes(site, l, batch, capacity)) return NULL;
    wk__kv_cache *cache = wk__alloc_zero(1, sizeof *cache);
    wk_tensor **tensors = wk__alloc_zero(2 * (size_t)l->layers, sizeof(wk_tensor *));
    bool fine = cache && tensors;
    if (fine) {
        wk__call_scope c;
        *cache = (wk__kv_cache){.kind = wk__language_kind(net),
                                .batch = batch,
                                .capacity = capacity,
                                .vocab = l->vocab,
                                .layers = l->layers,
                                .kv_heads = l->kv_heads,
                                .head_dim = l->head_dim,
                                .key = tensors,
                                .value = tensors + l->layers};
        if (!wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) {
            destroy(cache);
            return NULL;
        }
        const wk_tensor *weight = wk__language_embedding(op, l);
        fine = weight && add_tensors(cache, weight);
        wk__call_end(&c, NULL, 0);
    } else {
        wk__free(tensors);
    }
    return wk__handle_wrap(site, &wk__kv_cache_kind, cache, fine, op);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

int64_t wk_kv_cache_length_at(wk_site site, const wk_kv_cache *cache)
{
    const wk__kv_cache *c = cache ? wk__kv_cache_of(site, "kv_cache_length", cache) : NULL;
    return c ? c->length : 0;
}

int64_t wk_kv_cache_capacity_at(wk_site site, const wk_kv_cache *cache)
{
    const wk__kv_cache *c = cache ? wk__kv_cache_of(site, "kv_cache_capacity", cache) : NULL;
    return c ? c->capacity : 0;
}

/* ---- order of rows ----------------------------------------------------------------------------------------------- */

/* Replaces the rows of x, of which the first `length` positions along dimension `dim` are in use. */
static bool reorder(wk_tensor *x, int64_t dim, int64_t length, wk_tensor *rows)
{
    wk_tensor *used = wk_narrow(x, dim, 0, length);
    return used && wk_copy_(used, wk_index_select(used, 0, rows));
}

wk_code wk_kv_cache_reorder_at(wk_site site, wk_kv_cache *cache, wk_tensor *rows)
{
    static const char op[] = "kv_cache_reorder";
    wk__call_scope c;
    wk__kv_cache *of = wk__kv_cache_of(site, op, cache);
    if (!of || !wk__check_tensor(rows, site, op, "rows")) return wk_error_code();
    if (wk_ndim(rows) != 1 || wk_size(rows, 0) != of->batch) {
        wk__tensor_refuse(site, WK_ERR_SHAPE, rows, "",
                          "%s: expected rows of shape (%lld), one for each row of the cache", op, (long long)of->batch);
        return wk_error_code();
    }
    if (!wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return wk_error_code();
    bool fine = true;
    for (int64_t k = 0; k < 2 * of->layers && fine; k++) fine = reorder(of->key[k], 2, of->length, rows);
    if (of->tokens) fine = fine && reorder(of->tokens, 1, of->length, rows);
    wk__call_end(&c, NULL, 0);
    return fine ? WK_OK : wk_error_code();
}
