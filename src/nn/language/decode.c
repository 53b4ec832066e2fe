/* SPDX-License-Identifier: Apache-2.0 */
/* wk_decode: a call of a language model whose ids follow those in a cache.
 *
 * The ids of a call are T positions after the `past` ones in the cache. Attention needs a mask if rows have padding, or
 * if several ids follow others:
 *
 *     no padding, past 0    causal           no padding, T 1    none
 *     no padding, else      (T, keys)        padding            (B, 1, T, keys)      keys = past + T */
#include "language.h"
#include "nn/attention_call.h"
#include "ops/core/call.h"
#include <math.h>
#include <wick/ops.h>

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static bool check_model(wk_site site, const char *kind, const wk__language *l, const wk__kv_cache *cache)
{
    wk__text text = {0};
    if (kind != cache->kind)
        wk__text_format(&text, "decode: the cache belongs to a %s, the model is a %s", cache->kind, kind);
    else if (l->vocab != cache->vocab || l->layers != cache->layers || l->kv_heads != cache->kv_heads ||
             l->head_dim != cache->head_dim)
        wk__text_format(&text,
                        "decode: the cache belongs to a model of other sizes: %lld tokens, %lld layers, %lld heads of "
                        "%lld features; this model has %lld, %lld, %lld of %lld",
                        (long long)cache->vocab, (long long)cache->layers, (long long)cache->kv_heads,
                        (long long)cache->head_dim, (long long)l->vocab, (long long)l->layers, (long long)l->kv_heads,
                        (long long)l->head_dim);
    else
        return true;
    wk__kv_cache_add_hint(&text, cache);
    wk__error_set_text(site, WK_ERR_ARGUMENT, &text);
    return false;
}

/* Records that ids have another shape or dtype than the cache needs. Returns false. */
static bool refuse_ids(wk_site site, const wk__kv_cache *cache, const wk_tensor *ids)
{
    if (wk_ndim(ids) == 2 && wk_size(ids, 0) > 0 && wk_size(ids, 0) != cache->batch) {
        wk__text text = {0};
        wk__text_format(&text, "decode: the cache is for ids of shape (%lld, T), got ", (long long)cache->batch);
        wk__text_tensor(&text, ids);
        wk__text_format(&text, "; create a cache for these rows: wk_kv_cache_new(net, %lld, %lld)",
                        (long long)wk_size(ids, 0), (long long)cache->capacity);
        wk__error_set_text(site, WK_ERR_SHAPE, &text);
        return false;
    }
    return wk__ids_refuse(site, ids, WK__ID_DTYPES,
                          "decode: expected ids (%lld, T) of dtype i64 or i32, with T at least 1",
                          (long long)cache->batch);
}

static bool check_ids(wk_site site, const wk__language *l, const wk__kv_cache *cache, const wk_tensor *ids)
{
    if (wk_ndim(ids) != 2 || wk_size(ids, 0) != cache->batch || wk_size(ids, 1) < 1 ||
        !(1u << wk_dtype_of(ids) & WK__ID_DTYPES))
        return refuse_ids(site, cache, ids);
    const int64_t count = wk_size(ids, 1), left = cache->capacity - cache->length;
    if (count <= left) return wk__ids_check(site, "decode", ids, wk__language_bound(l));
    wk__text text = {0};
    wk__text_format(&text, "decode: %lld ids exceed the %lld positions that the cache has left; ", (long long)count,
                    (long long)left);
    if (count <= l->positions - cache->length)
        wk__text_format(&text, "create a larger one: wk_kv_cache_new(net, %lld, %lld)", (long long)cache->batch,
                        (long long)(cache->length + count));
    else
        wk__text_format(&text, "the model has %lld positions", (long long)l->positions);
    wk__error_set_text(site, WK_ERR_STATE, &text);
    return false;
}

static bool check_options(wk_site site, const wk__kv_cache *cache, const wk_tensor *ids, const wk_decode_options *o)
{
    const int64_t keys = cache->length + wk_size(ids, 1);
    if (o->logits_to_keep < 0 || o->logits_to_keep > wk_size(ids, 1)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "decode: .logits_to_keep must be in [0, %lld], got %lld",
                      (long long)wk_size(ids, 1), (long long)o->logits_to_keep);
        return false;
    }
    if (!o->mask) return !wk__omitted_may_have_failed();
    if (!wk__check_tensor(o->mask, site, "decode", ".mask")) return false;
    const bool shape = wk_ndim(o->mask) == 2 && wk_size(o->mask, 0) == cache->batch && wk_size(o->mask, 1) == keys;
    if (shape && wk_dtype_of(o->mask) == WK_BOOL) return true;
    return wk__tensor_refuse(
        site, shape ? WK_ERR_DTYPE : WK_ERR_SHAPE, o->mask, shape ? "; convert it: wk_to_dtype(mask, WK_BOOL)" : "",
        "decode: expected a .mask of dtype bool and shape (%lld, %lld): batch, positions in use + T",
        (long long)cache->batch, (long long)keys);
}

/* ---- masks and positions ----------------------------------------------------------------------------------------- */

/* Enters the mask of the call into the cache; NULL: its ids are tokens. Returns false on error. */
static bool store_mask(wk__kv_cache *cache, wk_tensor *mask, int64_t count)
{
    if (!mask) return !cache->tokens || wk_fill_(wk_narrow(cache->tokens, 1, cache->length, count), true);
    if (!cache->tokens) {
        wk_tensor *all = wk_ones((cache->batch, cache->capacity), .dtype = WK_BOOL, .device = wk_device_of(mask));
        if (!all) return false;
        cache->tokens = wk__handle_adopt(all);
    }
    return wk_copy_(wk_narrow(cache->tokens, 1, 0, wk_size(mask, 1)), mask) != NULL;
}

/* Returns the mask of attention as a summand: 0, or -infinity where a key is hidden. */
static wk_tensor *as_summand(wk_tensor *visible, wk_dtype dtype)
{
    wk_tensor *x = visible ? wk_where(visible, 0.0, -INFINITY) : NULL;
    return x ? wk_to_dtype(x, dtype) : NULL;
}

/* Sets positions and mask of count ids. Returns false on error. */
static bool set_positions(wk__sequence *s, wk_tensor *ids)
{
    const wk__kv_cache *cache = s->cache;
    const wk_device device = wk_device_of(ids);
    const int64_t past = cache->length, count = wk_size(ids, 1), keys = past + count;
    const wk_dtype dtype = wk_dtype_of(cache->key[0]);
    wk_tensor *visible = NULL;
    s->causal = past == 0 && count > 1 && !cache->tokens;
    if (count > 1 && !s->causal) {
        visible = wk_tril(wk_ones((count, keys), .dtype = WK_BOOL, .device = device), past);
        if (!visible) return false;
    }
    if (cache->tokens) {
        wk_tensor *used = wk_narrow(cache->tokens, 1, 0, keys);
        wk_tensor *order = wk_clamp(wk_sub(wk_cumsum(wk_to_dtype(used, WK_I64), 1), 1), 0, WK_NONE);
        s->positions = wk_narrow(order, 1, past, count);
        used = wk_reshape(used, (cache->batch, 1, 1, keys));
        visible = visible ? wk_logical_and(visible, used) : used;
    } else {
        s->positions = wk_arange_from((double)past, (double)keys, 1, .dtype = WK_I64, .device = device);
    }
    if (!s->positions) return false;
    if (visible) s->mask = as_summand(visible, dtype);
    return s->mask || !visible;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static wk_tensor *decode(wk_module *net, wk_tensor *ids, wk__kv_cache *cache, const wk_decode_options *o)
{
    wk__sequence s = {.cache = cache, .logits_to_keep = o->logits_to_keep};
    const char *const kind[] = {wk__module_of(net)->kind.name, NULL};
    wk_tensor *out = NULL;
    if (!store_mask(cache, o->mask, wk_size(ids, 1)) || !set_positions(&s, ids)) return NULL;
    if (!wk__forward_with((wk_site){0}, "decode", net, kind, &ids, 1, &out, 1, &s)) return NULL;
    cache->length += wk_size(ids, 1);
    return out;
}

wk_tensor *wk_decode_at(wk_site site, wk_module *net, wk_tensor *ids, wk_kv_cache *cache,
                        const wk_decode_options *options)
{
    static const char op[] = "decode";
    wk_decode_options o;
    wk__call_scope c;
    if (!wk__options(site, op, options, &o)) return NULL;
    const wk__language *l = wk__language_of(site, op, net);
    wk__kv_cache *of = l ? wk__kv_cache_of(site, op, cache) : NULL;
    if (!of || !check_model(site, wk__language_kind(net), l, of) || !wk__check_tensor(ids, site, op, "ids") ||
        !check_ids(site, l, of, ids) || !check_options(site, of, ids, &o) ||
        !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return NULL;
    wk_tensor *out = decode(net, ids, of, &o);
    wk__call_end(&c, &out, 1);
    return out;
}
