/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of language models: positions, attention with and without a cache, and calls of parts. */
#include "language.h"
#include "nn/attention_call.h"
#include <string.h>
#include <wick/ops.h>

/* ---- the sequence of a call -------------------------------------------------------------------------------------- */

const wk__sequence *wk__sequence_of_call(wk__sequence *own, wk_tensor *x)
{
    const wk__sequence *s = wk__forward_options();
    if (s) return s;
    if (wk_ndim(x) < 2) {
        wk__ids_refuse((wk_site){0}, x, WK__ID_DTYPES, "forward: expected ids (B, T) or features (B, T, n)");
        return NULL;
    }
    *own = (wk__sequence){.causal = true};
    own->positions = wk_arange(wk_size(x, 1), .dtype = WK_I64, .device = wk_device_of(x));
    return own->positions ? own : NULL;
}

bool wk__sequence_check(const char *name, const wk__sequence *s, wk_tensor *ids, wk_module *embedding,
                        int64_t positions)
{
    if (wk_ndim(ids) != 2 || !(1u << wk_dtype_of(ids) & WK__ID_DTYPES))
        return wk__ids_refuse((wk_site){0}, ids, WK__ID_DTYPES, "%s: expected ids (B, T) of dtype i64 or i32", name);
    const int64_t last = (s->cache ? s->cache->length : 0) + wk_size(ids, 1);
    if (last <= positions) return wk__ids_check((wk_site){0}, name, ids, wk__ids_bound(embedding));
    wk__error_set((wk_site){0}, WK_ERR_SHAPE, "%s: a sequence of %lld ids exceeds the %lld positions of the model",
                  name, (long long)last, (long long)positions);
    return false;
}

/* ---- calls of parts ---------------------------------------------------------------------------------------------- */

wk_tensor *wk__sequence_call(const wk__sequence *s, const char *kind, wk_module *m, wk_tensor *x)
{
    const char *const kinds[] = {kind, NULL};
    wk_tensor *out = NULL;
    return x && wk__forward_with((wk_site){0}, "forward", m, kinds, &x, 1, &out, 1, s) ? out : NULL;
}

wk_tensor *wk__sequence_call_mlp(const wk__sequence *s, const char *kind, wk_module *m, wk_tensor *x)
{
    const wk__module *body = wk__module_of(m);
    if (body->builtin && strcmp(body->kind.name, kind) == 0) return wk__sequence_call(s, kind, m, x);
    return x ? wk_forward(m, x) : NULL;
}

wk_tensor *wk__sequence_dropout(const wk__sequence *s, wk_module *dropout, wk_tensor *x)
{
    return s->cache || !x ? x : wk_forward(dropout, x);
}

wk_tensor *wk__sequence_blocks(const wk__sequence *s, const wk__language_body *body, const char *kind, wk_tensor *x)
{
    wk__sequence part = *s;
    const int count = wk_module_child_count(body->blocks);
    if (s->cache && count != s->cache->layers) {
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "decode: the model has %d blocks, its cache %lld layers", count,
                      (long long)s->cache->layers);
        return NULL;
    }
    for (int k = 0; k < count && x; k++) {
        part.layer = k;
        x = wk__sequence_call(&part, kind, wk_module_child_by_index(body->blocks, k), x);
    }
    return x ? wk_forward(body->norm, x) : NULL;
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

/* Writes x behind the positions in use. Returns the positions up to its end, a view of the cache; NULL on error. */
static wk_tensor *append(const wk__kv_cache *cache, wk_tensor *all, wk_tensor *x)
{
    const int64_t count = wk_size(x, 2);
    const wk_dtype dtype = wk_dtype_of(all);
    if (wk_dtype_of(x) != dtype || !wk_device_eq(wk_device_of(x), wk_device_of(all))) {
        wk__text text = {0};
        wk__text_format(&text, "decode: the cache has dtype %s on ", wk_dtype_str(dtype));
        wk__text_format(&text, "%s, keys and values of the model are ", wk_device_str(wk_device_of(all)));
        wk__text_format(&text, "%s on %s", wk_dtype_str(wk_dtype_of(x)), wk_device_str(wk_device_of(x)));
        wk__kv_cache_add_hint(&text, cache);
        wk__error_set_text((wk_site){0}, WK_ERR_ARGUMENT, &text);
        return NULL;
    }
    wk_tensor *part = wk_narrow(all, 2, cache->length, count);
    return part && wk_copy_(part, x) ? wk_narrow(all, 2, 0, cache->length + count) : NULL;
}

wk_tensor *wk__sequence_attend(const wk__sequence *s, wk_tensor *query, wk_tensor *key, wk_tensor *value,
                               double dropout)
{
    if (!query || !key || !value) return NULL;
    if (s->cache) {
        key = append(s->cache, s->cache->key[s->layer], key);
        value = append(s->cache, s->cache->value[s->layer], value);
        if (!key || !value) return NULL;
    }
    wk_tensor *x =
        wk_scaled_dot_product_attention(query, key, value, .attn_mask = s->mask, .dropout_p = dropout,
                                        .is_causal = s->causal, .enable_gqa = wk_size(query, 1) != wk_size(key, 1));
    return x ? wk_flatten(wk_transpose(x, 1, 2), 2) : NULL;
}
