/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of wk_generate: checks, defaults, and the forms in which a generation uses them. */
#include "generate.h"
#include "language.h"
#include "base/alloc.h"
#include "base/options.h"
#include "ir/op.h"
#include <math.h>
#include <string.h>
#include <wick/creation.h>

static const char op[] = "generate";

void *wk__generation_memory(wk_site site, int64_t count, size_t size)
{
    void *memory = wk__alloc_zero((size_t)count + 1, size);
    if (memory && wk__guard_push_cleanup(memory, wk__free)) return memory;
    wk__free(memory);
    wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    return NULL;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* Checks the option of a token; *token becomes -1 if it is not set or -1. */
static bool read_token_option(wk_site site, const char *option, double value, int64_t *token)
{
    value = wk__option_or(value, -1);
    if (!(value >= -1 && value < 0x1p53 && floor(value) == value))
        return wk__bad_option(site, op, option, "a token", value);
    *token = (int64_t)value;
    return true;
}

/* Collects the tokens that end a row, and that behind its end. Returns false on error. */
static bool read_end_tokens(wk__generation *g)
{
    const wk_generate_options *o = &g->options;
    int64_t first, pad;
    if (!read_token_option(g->site, "eos_token_id", o->eos_token_id, &first) ||
        !read_token_option(g->site, "pad_token_id", o->pad_token_id, &pad))
        return false;
    if (o->eos_count < 0 || (o->eos_count > 0) != (o->eos_token_ids != NULL))
        return wk__bad_option(g->site, op, "eos_count", "the number of .eos_token_ids", (double)o->eos_count);
    g->eos = wk__generation_memory(g->site, o->eos_count + WK__LANGUAGE_ENDS, sizeof *g->eos);
    if (!g->eos) return false;
    const wk__language *model = wk__language_find(g->net);
    for (int k = 0; model && o->eos_token_id == 0 && o->eos_count == 0 && k < model->end_count; k++)
        g->eos[g->eos_count++] = model->ends[k];
    if (first >= 0) g->eos[g->eos_count++] = first;
    for (int64_t k = 0; k < o->eos_count; k++) {
        if (o->eos_token_ids[k] < 0)
            return wk__bad_option(g->site, op, "eos_token_ids", "tokens", (double)o->eos_token_ids[k]);
        g->eos[g->eos_count++] = o->eos_token_ids[k];
    }
    g->pad = pad >= 0 ? pad : g->eos_count > 0 ? g->eos[0] : 0;
    return true;
}

/* Returns true unless an option of sampling is set without .do_sample; else records the error. */
static bool check_sampling(wk_site site, const wk_generate_options *o)
{
    /* wk__logits_rules_set reports a temperature of 0 */
    const double temperature = wk__option_or(o->temperature, 1) == 0 ? 0 : o->temperature;
    const struct {
        const char *name;
        double value; /* 0: not set */
    } options[] = {{"top_k", (double)o->top_k}, {"temperature", temperature}, {"top_p", o->top_p}, {"min_p", o->min_p}};
    for (size_t k = 0; k < sizeof options / sizeof *options && !o->do_sample; k++) {
        if (options[k].value == 0) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .%s = %g needs .do_sample = true", op, options[k].name,
                      wk__option_or(options[k].value, 0));
        return false;
    }
    return true;
}

/* Returns a message about an option without effect beside the others; NULL if all have an effect. */
static const char *find_useless_option(const wk_generate_options *o)
{
    if (o->on_text || o->stop || o->stop_count) return ".on_text and .stop are options of wk_generate_text";
    if (o->num_beams > 1 && o->on_token) return ".on_token cannot be used with .num_beams, which chooses tokens late";
    if (o->num_beams <= 1 && o->length_penalty != 0) return ".length_penalty needs .num_beams above 1";
    if (o->num_beams <= 1 && o->early_stopping) return ".early_stopping needs .num_beams above 1";
    return NULL;
}

/* Fills in the defaults and checks the options. Returns false on error. */
static bool read_options(wk__generation *g)
{
    wk_generate_options *o = &g->options;
    if (!check_sampling(g->site, o)) return false;
    const char *problem = find_useless_option(o);
    int early = (int)o->early_stopping;
    if (problem) {
        wk__error_set(g->site, WK_ERR_ARGUMENT, "%s: %s", op, problem);
        return false;
    }
    if (!o->max_new_tokens) o->max_new_tokens = 20;
    if (!o->num_beams) o->num_beams = 1;
    o->length_penalty = wk__option_or(o->length_penalty, 1);
    if (o->max_new_tokens < 0)
        return wk__bad_option(g->site, op, "max_new_tokens", "at least 1", (double)o->max_new_tokens);
    if (o->num_beams < 0) return wk__bad_option(g->site, op, "num_beams", "at least 1", (double)o->num_beams);
    if (o->context < 0) return wk__bad_option(g->site, op, "context", "at least 1", (double)o->context);
    if (!isfinite(o->length_penalty)) return wk__bad_option(g->site, op, "length_penalty", "finite", o->length_penalty);
    if (early < 0 || early > WK_EARLY_STOPPING_NEVER)
        return wk__bad_option(g->site, op, "early_stopping", "a WK_EARLY_STOPPING_ constant", early);
    g->most = o->max_new_tokens;
    g->rules = (wk__logits_rules){.repetition_penalty = o->repetition_penalty,
                                  .temperature = o->temperature,
                                  .top_p = o->top_p,
                                  .min_p = o->min_p,
                                  .top_k = o->top_k,
                                  .keep = 1};
    return wk__logits_rules_set(g->site, op, &g->rules) && read_end_tokens(g);
}

/* ---- ids and mask ------------------------------------------------------------------------------------------------ */

/* Returns ids as i64 (rows, prompt); NULL on error. */
static wk_tensor *read_ids(wk__generation *g, wk_tensor *ids)
{
    const wk__body *body = wk__body_of(ids);
    if (body->ndim == 2 && body->shape[0] > 0 && body->shape[1] > 0 && (1u << body->dtype & WK__INTS)) {
        g->prompt = body->shape[1];
        return wk__ids_check_of(g->site, op, g->net, ids) ? wk_to_dtype(ids, WK_I64) : NULL;
    }
    wk__ids_refuse(g->site, ids, WK__INTS, "%s: expected ids (B, T) of integers with at least one row and one token",
                   op);
    return NULL;
}

/* Checks a mask, of which `at` are the elements: padding, then at least one token in each row. */
static bool check_padding(const wk__generation *g, const bool *at, int64_t count)
{
    for (int64_t row = 0; row < count; row++, at += g->prompt) {
        const bool *end = memchr(at, 1, (size_t)g->prompt);
        const int64_t first = end ? end - at : g->prompt;
        if (end && !memchr(end, 0, (size_t)(g->prompt - first))) continue;
        wk__error_set(g->site, WK_ERR_ARGUMENT,
                      end ? "%s: row %lld of .mask has padding behind a token; put it at the left"
                          : "%s: row %lld of .mask has no token",
                      op, (long long)row);
        return false;
    }
    return true;
}

/* Sets g->mask. Returns false on error. */
static bool read_mask(wk__generation *g, const wk_tensor *ids)
{
    wk_tensor *mask = g->options.mask;
    if (!mask) return true;
    if (!wk__check_tensor(mask, g->site, op, ".mask")) return false;
    const wk__body *body = wk__body_of(mask), *of = wk__body_of(ids);
    const bool shape = body->ndim == 2 && body->shape[0] == of->shape[0] && body->shape[1] == of->shape[1];
    if (!shape)
        return wk__tensor_refuse(g->site, WK_ERR_SHAPE, mask, "", "%s: .mask must have the shape of ids, (%lld, %lld)",
                                 op, (long long)of->shape[0], (long long)of->shape[1]);
    if (wk__is_float(body->dtype))
        return wk__tensor_refuse(g->site, WK_ERR_DTYPE, mask, "; convert it: wk_to_dtype(mask, WK_BOOL)",
                                 "%s: .mask must be bool or integers", op);
    g->mask = wk_to_dtype(mask, WK_BOOL);
    const int64_t count = wk_numel(ids);
    bool *at = g->mask ? wk__generation_memory(g->site, count, sizeof *at) : NULL;
    return at && wk_read_at(g->site, g->mask, at, (size_t)count * sizeof *at) == WK_OK &&
           check_padding(g, at, of->shape[0]);
}

wk_tensor *wk__generation_read(wk__generation *g, wk_tensor *ids)
{
    ids = read_options(g) ? read_ids(g, ids) : NULL;
    return ids && read_mask(g, ids) ? ids : NULL;
}
