/* SPDX-License-Identifier: Apache-2.0 */
/* Language models: a body that computes features, and a head that computes scores from them. */
#include "language.h"
#include "nn/attention_call.h"
#include "nn/models/build.h"
#include <string.h>
#include <wick/ops.h>

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

/* The kinds of models, and of their bodies. */
static const struct {
    const char *model, *body;
} kinds[] = {{"gpt2_lm_head_model", "gpt2_model"}, {"llama_for_causal_lm", "llama_model"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Returns the number of the kind of a model; KINDS for other modules. */
static int kind_of(const wk_module *m)
{
    const wk__module *body = wk__module_of(m);
    int k = 0;
    while (k < KINDS && !(body->builtin && strcmp(body->kind.name, kinds[k].model) == 0)) k++;
    return k;
}

const wk__language *wk__language_find(const wk_module *m)
{
    return kind_of(m) < KINDS ? wk__module_of(m)->state : NULL;
}

const char *wk__language_kind(const wk_module *model)
{
    return kinds[kind_of(model)].model;
}

const wk__language *wk__language_of(wk_site site, const char *op, wk_module *m)
{
    if (!wk__module_check(m, site, op)) return NULL;
    if (kind_of(m) < KINDS) return wk__module_of(m)->state;
    const char *kind = wk__module_of(m)->kind.name;
    wk__error_set(site, WK_ERR_ARGUMENT,
                  "%s: expected a model of wk_nn_gpt, wk_nn_llama or wk_nn_pretrained, got %s %s", op,
                  wk__article(kind), kind);
    return NULL;
}

bool wk__language_lacks_head(const wk_module *m)
{
    const wk__module *body = wk__module_of(m);
    bool found = strcmp(body->kind.name, "bert_model") == 0;
    for (int k = 0; k < KINDS; k++) found |= strcmp(body->kind.name, kinds[k].body) == 0;
    return body->builtin && found;
}

void wk__language_set_ends(wk_module *m, const int64_t *ends, int count)
{
    wk__language *l = wk__module_of(m)->state;
    l->end_count = 0;
    for (int k = 0; k < count; k++)
        if (ends[k] >= 0 && ends[k] < l->vocab) l->ends[l->end_count++] = ends[k];
}

/* Returns the embedding of a model; NULL if its body has been replaced. */
static wk_module *embedding_of(const wk__language *language)
{
    const wk__module *body = wk__module_of(language->body);
    for (int k = 0; k < KINDS; k++)
        if (body->builtin && strcmp(body->kind.name, kinds[k].body) == 0)
            return ((const wk__language_body *)body->state)->embedding;
    return NULL;
}

wk_tensor *wk__language_embedding(const char *op, const wk__language *language)
{
    wk_module *embedding = embedding_of(language);
    if (embedding) return wk_module_parameter(embedding, "weight");
    const char *kind = wk__module_of(language->body)->kind.name;
    wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "%s: the body of the model has been replaced by %s %s", op,
                  wk__article(kind), kind);
    return NULL;
}

int64_t wk__language_bound(const wk__language *language)
{
    wk_module *embedding = embedding_of(language);
    return embedding ? wk__ids_bound(embedding) : INT64_MAX;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* Returns the last `keep` positions of x; all for 0. */
static wk_tensor *last_positions(wk_tensor *x, int64_t keep)
{
    const int64_t count = wk_size(x, 1);
    return keep > 0 && keep < count ? wk_narrow(x, 1, count - keep, keep) : x;
}

static wk_tensor *forward(wk_module *self, wk_tensor *ids)
{
    const wk__language *l = wk__module_of(self)->state;
    wk__sequence own;
    const wk__sequence *s = wk__sequence_of_call(&own, ids);
    wk_tensor *x = s ? wk__sequence_call(s, kinds[kind_of(self)].body, l->body, ids) : NULL;
    if (!x) return NULL;
    x = last_positions(x, s->logits_to_keep);
    return l->head ? wk_forward(l->head, x) : wk_linear(x, wk__language_embedding("forward", l), NULL);
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

/* Gives the weight of a new module its initial values, and a bias 0. Returns m; NULL on error. */
static wk_module *initialize(wk_module *m, bool bias)
{
    if (!m || !wk_init_normal_(wk_module_parameter(m, "weight"), 0, WK__LANGUAGE_STD)) return NULL;
    return !bias || wk_init_zeros_(wk_module_parameter(m, "bias")) ? m : NULL;
}

wk_module *wk__language_table(int64_t rows, int64_t features, wk_dtype dtype)
{
    return initialize(wk_nn_embedding(rows, features, .dtype = dtype), false);
}

wk_module *wk__language_linear(int64_t in, int64_t out, bool bias, wk_dtype dtype)
{
    return initialize(wk_nn_linear(in, out, .no_bias = !bias, .dtype = dtype), bias);
}

wk_module *wk__language_part(const char *kind, size_t state, wk_tensor *(*forward1)(wk_module *, wk_tensor *))
{
    const wk_module_kind all = {.size = sizeof all, .name = kind, .state = state, .forward1 = forward1};
    return wk__module_make((wk_site){0}, &all);
}

wk_module *wk__language_model(const char *kind, const char *body_name, wk_module *body, const wk__language *sizes,
                              int64_t features, bool tied, wk_dtype dtype)
{
    wk_module *m = body ? wk__language_part(kind, sizeof(wk__language), forward) : NULL;
    if (!wk__with(m, body_name, body)) return NULL;
    wk__language *l = wk__module_of(m)->state;
    *l = *sizes;
    l->body = body;
    if (tied) return m;
    return wk__with(m, "lm_head", l->head = wk__language_linear(features, sizes->vocab, false, dtype));
}
