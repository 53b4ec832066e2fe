/* SPDX-License-Identifier: Apache-2.0 */
/* wk_generate: the call, and generation with one sequence for each row. Options are read in generate_options.c, beam
 * search is in generate_beams.c.
 *
 *     tokens  [prompt | new tokens | unused]      i64 (rows, prompt + most), written one column in each step
 *
 * Each step reads the column before the new one (with a cache) or all columns, records the ops that choose a token, and
 * waits for the device only if the program reads tokens: for .eos_token_id or .on_token. */
#include "generate.h"
#include "language.h"
#include "base/options.h"
#include "nn/evaluation.h"
#include "ops/core/call.h"
#include "tensor/call_scope.h"
#include <wick/creation.h>
#include <wick/pointwise.h>
#include <wick/random.h>
#include <wick/reduce.h>
#include <wick/shape.h>

static const char op[] = "generate";

/* ---- scores of the next token ------------------------------------------------------------------------------------ */

/* Returns the mask of the tokens from `first` up to `length`; NULL without a mask, or on error. */
static wk_tensor *mask_of(const wk__generation *g, int64_t first, int64_t length)
{
    if (!g->mask || first >= g->prompt) return NULL;
    wk_tensor *mask = wk_narrow(g->mask, 1, first, g->prompt - first);
    if (length == g->prompt) return mask;
    wk_tensor *made =
        wk_ones((wk_size(g->mask, 0), length - g->prompt), .dtype = WK_BOOL, .device = wk_device_of(g->mask));
    return wk_cat((mask, made), 1);
}

/* Returns scores (rows, 1, V) of the last of the tokens from `first` up to `length`, computed by a language model. If
 * first is above 0, positions differ from those of the step before, so nothing in the cache is used. NULL on error. */
static wk_tensor *decode(const wk__generation *g, wk_tensor *tokens, int64_t first, int64_t length)
{
    if (first > 0) wk__kv_cache_clear(g->cache);
    const int64_t past = wk_kv_cache_length(g->cache);
    wk_tensor *mask = past == 0 ? mask_of(g, first, length) : NULL;
    wk_tensor *ids = wk_narrow(tokens, 1, first + past, length - first - past);
    return ids ? wk_decode(g->net, ids, g->cache, .mask = mask, .logits_to_keep = 1) : NULL;
}

/* Checks that the network has the tokens of .eos_token_id, .eos_token_ids and .pad_token_id. Returns false on error. */
static bool check_tokens(const wk__generation *g, int64_t vocabulary)
{
    for (int64_t k = 0; k <= g->eos_count; k++) {
        const int64_t token = k < g->eos_count ? g->eos[k] : g->pad;
        const bool listed = k >= g->eos_count - g->options.eos_count;
        if (token < vocabulary) continue;
        wk__error_set(g->site, WK_ERR_ARGUMENT,
                      "%s: .%s %lld is not in the network, which has %lld tokens "
                      "(valid: [0, %lld))",
                      op,
                      k == g->eos_count ? "pad_token_id"
                      : listed          ? "eos_token_ids"
                                        : "eos_token_id",
                      (long long)token, (long long)vocabulary, (long long)vocabulary);
        return false;
    }
    return true;
}

wk_tensor *wk__generation_scores(const wk__generation *g, wk_tensor *tokens, int64_t length)
{
    const int64_t context = g->options.context;
    const int64_t first = context > 0 && length > context ? length - context : 0;
    wk_tensor *scores = wk__language_find(g->net) ? decode(g, tokens, first, length)
                                                  : wk_forward(g->net, wk_narrow(tokens, 1, first, length - first));
    if (!scores) return NULL;
    const wk__body *body = wk__body_of(scores);
    if (body->ndim != 3 || body->shape[0] != wk_size(tokens, 0) || body->shape[1] < 1 || body->shape[2] < 1) {
        wk__tensor_refuse(g->site, WK_ERR_SHAPE, scores, "", "%s: the network must return scores (%lld, T, vocabulary)",
                          op, (long long)wk_size(tokens, 0));
        return NULL;
    }
    if (!wk__is_float(body->dtype)) {
        wk__error_set(g->site, WK_ERR_DTYPE, "%s: the network must return floating-point scores, got %s", op,
                      wk_dtype_str(body->dtype));
        return NULL;
    }
    return check_tokens(g, body->shape[2]) ? wk_to_dtype(wk_select(scores, 1, -1), WK_F32) : NULL;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

bool wk__generation_ends(const wk__generation *g, int64_t token)
{
    for (int64_t k = 0; k < g->eos_count; k++)
        if (g->eos[k] == token) return true;
    return false;
}

wk_tensor *wk__generation_seen(const wk__generation *g, wk_tensor *ids)
{
    return g->mask ? wk_where(g->mask, ids, wk_narrow(ids, 1, g->prompt - 1, 1)) : ids;
}

/* The rows of a generation without beam search. */
typedef struct rows {
    wk_tensor *tokens, *seen; /* i64 (rows, prompt + most); seen: for the penalty, without padding; may be the same */
    int64_t count, made;      /* number of rows; new tokens of each */
    int64_t *token;           /* [count] of the last step */
    bool *ended;              /* [count] */
    bool stopped;             /* by .on_token, or because all rows have ended */
} rows;

/* Calls .on_token. Returns false on error. */
static bool call_on_token(const wk__generation *g, rows *r)
{
    wk__call_scope c;
    if (!wk__callback_begin(&c, ".on_token of generate", g->site)) return false;
    if (!g->options.on_token(r->token, r->count, g->options.user)) r->stopped = true;
    wk__call_end(&c, NULL, 0);
    return !wk__error_pending();
}

/* Reads the tokens of a step, replaces those behind the end of a row in *next, and calls .on_token. Returns false on
 * error. */
static bool read_tokens(const wk__generation *g, rows *r, wk_tensor **next)
{
    bool replaced = false, all = g->eos_count > 0;
    if (wk_read_at(g->site, *next, r->token, (size_t)r->count * sizeof *r->token) != WK_OK) return false;
    for (int64_t k = 0; k < r->count; k++) {
        replaced |= r->ended[k];
        if (r->ended[k]) r->token[k] = g->pad;
        r->ended[k] |= wk__generation_ends(g, r->token[k]);
        all &= r->ended[k];
    }
    if (replaced) {
        wk_tensor *host = wk_from(r->token, (r->count, 1));
        *next = host ? wk_to(host, wk_device_of(r->tokens)) : NULL;
    }
    r->stopped = all;
    return *next && (!g->options.on_token || call_on_token(g, r));
}

/* Chooses the next token of each row, i64 (rows, 1). NULL on error. */
static wk_tensor *choose(const wk__generation *g, const rows *r, int64_t length)
{
    wk_tensor *scores = wk__generation_scores(g, r->tokens, length);
    if (scores) scores = wk__logits_rules_apply(&g->rules, scores, wk_narrow(r->seen, 1, 0, length));
    if (!scores) return NULL;
    if (!g->options.do_sample) return wk_argmax(scores, 1, .keepdim = true);
    return wk_multinomial(wk_softmax(scores, 1), 1);
}

/* Adds a column. Returns false on error. */
static bool step(const wk__generation *g, rows *r)
{
    const int64_t length = g->prompt + r->made;
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, NULL, g->site, WK__GRAD_KEPT)) return false;
    wk_tensor *next = choose(g, r, length);
    bool fine = next && (!(g->eos_count > 0 || g->options.on_token) || read_tokens(g, r, &next));
    fine = fine && wk_copy_(wk_narrow(r->tokens, 1, length, 1), next);
    if (fine && r->seen != r->tokens) fine = wk_copy_(wk_narrow(r->seen, 1, length, 1), next) != NULL;
    wk__call_end(&c, NULL, 0);
    r->made += fine;
    return fine;
}

/* Returns ids with `most` more columns. NULL on error. */
static wk_tensor *with_room(const wk__generation *g, wk_tensor *ids)
{
    wk_tensor *room = wk_full((wk_size(ids, 0), g->most), (double)g->pad, .dtype = WK_I64, .device = wk_device_of(ids));
    return room ? wk_cat((ids, room), 1) : NULL;
}

static wk_tensor *generate_rows(const wk__generation *g, wk_tensor *ids)
{
    const int64_t count = wk_size(ids, 0);
    rows r = {.tokens = with_room(g, ids),
              .count = count,
              .token = wk__generation_memory(g->site, count, sizeof *r.token),
              .ended = wk__generation_memory(g->site, count, sizeof *r.ended)};
    const bool separate = g->mask && g->rules.repetition_penalty != 1;
    r.seen = separate ? with_room(g, wk__generation_seen(g, ids)) : r.tokens;
    if (!r.tokens || !r.seen || !r.token || !r.ended) return NULL;
    while (r.made < g->most && !r.stopped)
        if (!step(g, &r)) return NULL;
    return r.made == g->most ? r.tokens : wk_contiguous(wk_narrow(r.tokens, 1, 0, g->prompt + r.made));
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Creates the cache of a language model. Returns false on error. */
static bool make_cache(wk__generation *g, int64_t count)
{
    const wk__language *model = wk__language_find(g->net);
    const int64_t context = g->options.context;
    int64_t length, all;
    if (!model && g->mask) {
        const char *kind = wk__module_of(g->net)->kind.name;
        wk__error_set(g->site, WK_ERR_UNSUPPORTED,
                      "%s: .mask needs a model of wk_nn_gpt, wk_nn_llama or wk_nn_pretrained, got %s %s", op,
                      wk__article(kind), kind);
        return false;
    }
    if (__builtin_add_overflow(g->prompt, g->most, &all))
        return wk__bad_option(g->site, op, "max_new_tokens", "smaller", (double)g->most);
    if (__builtin_mul_overflow(count, g->options.num_beams, &count))
        return wk__bad_option(g->site, op, "num_beams", "smaller", (double)g->options.num_beams);
    if (!model) return true;
    length = context > 0 && context < all - 1 ? context : all - 1; /* the last token is not an input */
    if (length > model->positions && context > model->positions) {
        wk__error_set(g->site, WK_ERR_ARGUMENT,
                      "%s: .context must be at most %lld, the positions of the model, got %lld", op,
                      (long long)model->positions, (long long)context);
        return false;
    }
    if (length > model->positions) {
        wk__error_set(g->site, WK_ERR_ARGUMENT,
                      "%s: a prompt of %lld and .max_new_tokens of %lld exceed the %lld positions of the model; add "
                      ".context = %lld to continue with the last tokens",
                      op, (long long)g->prompt, (long long)g->most, (long long)model->positions,
                      (long long)model->positions);
        return false;
    }
    g->cache = wk_kv_cache_new(g->net, count, length);
    return g->cache != NULL;
}

/* Returns true unless the network is known to compute something other than scores of the next token. */
static bool check_network(const wk__generation *g)
{
    if (!wk__language_lacks_head(g->net)) return true;
    wk__error_set(g->site, WK_ERR_ARGUMENT,
                  "%s: a %s computes features, not scores of the next token; use a model of wk_nn_gpt, wk_nn_llama or "
                  "wk_nn_pretrained, or a module that returns scores (B, T, V)",
                  op, wk__module_of(g->net)->kind.name);
    return false;
}

static wk_tensor *generate(wk__generation *g, wk_tensor *ids)
{
    ids = check_network(g) ? wk__generation_read(g, ids) : NULL;
    if (!ids || !make_cache(g, wk_size(ids, 0)) || !wk__evaluation_open(g->site, op, g->net)) return NULL;
    return g->options.num_beams > 1 ? wk__generate_beams(g, ids) : generate_rows(g, ids);
}

wk_tensor *wk_generate_at(wk_site site, wk_module *net, wk_tensor *ids, const wk_generate_options *options)
{
    wk__generation g = {.site = site, .net = net};
    wk__call_scope c;
    if (!wk__options(site, op, options, &g.options)) return NULL;
    if (!g.options.mask && wk__omitted_may_have_failed()) return NULL;
    if (!wk__module_check(net, site, op) || !wk__check_tensor(ids, site, op, "ids") ||
        !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return NULL;
    wk_tensor *out = generate(&g, ids);
    wk__call_end(&c, &out, 1);
    return out;
}
