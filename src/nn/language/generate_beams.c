/* SPDX-License-Identifier: Apache-2.0 */
/* Beam search of wk_generate, as transformers computes it, with its scores in f32.
 *
 * Each row has `beams` running sequences. A step computes the scores of all their continuations on the device, finds
 * the best candidates there, and reads them:
 *
 *     candidates [(ends + 1) beams], best first  -->  running [beams]: the best that do not end
 *                                                -->  finished [beams]: the best of those before and of those that end
 *                                                     among the first `beams` candidates, by score / length^penalty
 *
 * Sequences are on the host; each step copies the running ones to the device. All memory is freed by guards of the
 * call. */
#include "generate.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <string.h>
#include <wick/creation.h>
#include <wick/pointwise.h>
#include <wick/random.h>
#include <wick/reduce.h>
#include <wick/shape.h>

static const float LOWEST = -1e9F; /* score of a sequence that must not be chosen */

/* A list of sequences, best first within each row. */
typedef struct sequences {
    int64_t *token;  /* [rows][beams][total] */
    float *score;    /* [rows][beams] */
    int64_t *length; /* [rows][beams], 0 for a finished sequence that does not exist yet */
} sequences;

/* A continuation of a running sequence. */
typedef struct candidate {
    int64_t beam, token;
    float score;
    bool ends;
} candidate;

/* A beam search in progress. */
typedef struct search {
    const wk__generation *g;
    int64_t rows, beams, total;        /* total: greatest length of a sequence */
    int64_t length;                    /* of the running sequences */
    int64_t vocabulary, width;         /* width: candidates of a row */
    sequences running, finished, next; /* next: the result of a step */
    bool *improvable;                  /* [rows]: running sequences may become better than finished ones */
    candidate *candidate;              /* [width] */
    float *value;                      /* [rows * width] */
    int64_t *index;                    /* [rows * width] */
    int64_t *origin; /* [rows * beams]: the running sequence that each continues, counted over all rows */
} search;

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool make_sequences(const search *s, sequences *out)
{
    const int64_t count = s->rows * s->beams;
    out->token = wk__generation_memory(s->g->site, count * s->total, sizeof *out->token);
    out->score = wk__generation_memory(s->g->site, count, sizeof *out->score);
    out->length = wk__generation_memory(s->g->site, count, sizeof *out->length);
    return out->token && out->score && out->length;
}

/* Makes the memory for a search. Returns false on error. */
static bool make_search(search *s)
{
    const int64_t ends = s->g->eos_count > 1 ? s->g->eos_count : 1;
    int64_t count, most;
    if (__builtin_mul_overflow(s->rows, s->beams, &count) || __builtin_mul_overflow(count, s->total, &most) ||
        most > INT64_MAX / 64 || __builtin_mul_overflow(count, ends + 1, &most) || most > INT64_MAX / 64) {
        wk__error_set(s->g->site, WK_ERR_MEMORY, "generate: out of host memory for %lld beams", (long long)s->beams);
        return false;
    }
    s->width = (ends + 1) * s->beams;
    s->improvable = wk__generation_memory(s->g->site, s->rows, sizeof *s->improvable);
    s->origin = wk__generation_memory(s->g->site, count, sizeof *s->origin);
    s->candidate = wk__generation_memory(s->g->site, s->width, sizeof *s->candidate);
    s->value = wk__generation_memory(s->g->site, most, sizeof *s->value);
    s->index = wk__generation_memory(s->g->site, most, sizeof *s->index);
    return make_sequences(s, &s->running) && make_sequences(s, &s->finished) && make_sequences(s, &s->next) &&
           s->improvable && s->origin && s->candidate && s->value && s->index;
}

static int64_t *tokens_of(const search *s, const sequences *list, int64_t k)
{
    return list->token + k * s->total;
}

static void copy_sequence(const search *s, const sequences *from, int64_t k, const sequences *to, int64_t at)
{
    memcpy(tokens_of(s, to, at), tokens_of(s, from, k), (size_t)s->total * sizeof(int64_t));
    to->score[at] = from->score[k];
    to->length[at] = from->length[k];
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

/* Returns the running sequences as a tensor of all rows on the device of ids. NULL on error. */
static wk_tensor *running_tokens(const search *s, wk_device device)
{
    const int64_t count = s->rows * s->beams;
    wk_tensor *all = wk_from(s->running.token, (count, s->total));
    wk_tensor *part = all ? wk_narrow(all, 1, 0, s->length) : NULL;
    return part ? wk_to(part, device) : NULL;
}

/* Returns the tokens that the penalty concerns. NULL on error. */
static wk_tensor *penalised_tokens(const search *s, wk_tensor *tokens)
{
    const int64_t prompt = s->g->prompt;
    if (!s->g->mask || s->g->rules.repetition_penalty == 1) return tokens;
    wk_tensor *seen = wk__generation_seen(s->g, wk_narrow(tokens, 1, 0, prompt));
    return s->length == prompt ? seen : wk_cat((seen, wk_narrow(tokens, 1, prompt, s->length - prompt)), 1);
}

/* Returns the sums of log-probabilities of all continuations, f32 (rows, beams * V). NULL on error. */
static wk_tensor *continuations(search *s, wk_device device)
{
    wk_tensor *tokens = running_tokens(s, device);
    wk_tensor *scores = tokens ? wk__generation_scores(s->g, tokens, s->length) : NULL;
    if (!scores) return NULL;
    s->vocabulary = wk_size(scores, 1);
    if (s->width > s->beams * s->vocabulary) s->width = s->beams * s->vocabulary;
    scores = wk__logits_rules_apply(&s->g->rules, wk_log_softmax(scores, 1), penalised_tokens(s, tokens));
    wk_tensor *before = wk_from(s->running.score, (s->rows * s->beams, 1));
    if (!scores || !before) return NULL;
    return wk_reshape(wk_add(scores, wk_to(before, wk_device_of(scores))), (s->rows, s->beams * s->vocabulary));
}

/* Draws candidates instead of taking the best ones. */
static wk_code draw(const search *s, wk_tensor *scores, wk_tensor **values, wk_tensor **indices)
{
    wk_tensor *order, *drawn = wk_multinomial(wk_softmax(scores, 1), s->width);
    const wk_code code = wk_sort(wk_gather(scores, 1, drawn), 1, true, values, &order);
    *indices = wk_gather(drawn, 1, order);
    return *indices ? code : wk_error_code();
}

/* Reads the candidates of all rows. Returns false on error. */
static bool find_candidates(search *s, wk_device device)
{
    wk__call_scope c;
    wk_tensor *values, *indices;
    if (!wk__call_begin(&c, WK__FRAME_CALL, NULL, s->g->site, WK__GRAD_KEPT)) return false;
    wk_tensor *scores = continuations(s, device);
    bool fine = scores && (s->g->options.do_sample ? draw(s, scores, &values, &indices)
                                                   : wk_topk(scores, s->width, 1, true, &values, &indices)) == WK_OK;
    const size_t count = (size_t)(s->rows * s->width);
    fine = fine && wk_read_at(s->g->site, values, s->value, count * sizeof *s->value) == WK_OK &&
           wk_read_at(s->g->site, indices, s->index, count * sizeof *s->index) == WK_OK;
    wk__call_end(&c, NULL, 0);
    return fine;
}

/* ---- choosing sequences ------------------------------------------------------------------------------------------ */

/* Writes the sequence of a candidate to `to` at index `at`. */
static void continue_sequence(const search *s, int64_t row, const candidate *c, float score, const sequences *to,
                              int64_t at)
{
    copy_sequence(s, &s->running, row * s->beams + c->beam, to, at);
    tokens_of(s, to, at)[s->length] = c->token;
    to->score[at] = score;
    to->length[at] = s->length + 1;
}

/* Collects the best candidates that do not end as the next running sequences. There are enough of them, as the width
 * allows for all that end, except in the last step, in which all candidates end. */
static void choose_running(search *s, int64_t row)
{
    int64_t at = row * s->beams;
    const int64_t end = at + s->beams;
    for (int64_t k = 0; k < s->width && at < end; k++) {
        const candidate *c = &s->candidate[k];
        if (c->ends) continue;
        continue_sequence(s, row, c, c->score, &s->next, at);
        s->origin[at++] = row * s->beams + c->beam;
    }
}

static bool all_finished(const search *s, int64_t row)
{
    for (int64_t k = 0; k < s->beams; k++)
        if (s->finished.length[row * s->beams + k] == 0) return false;
    return true;
}

/* Inserts a candidate that ends among the finished sequences, which are sorted, if it is better than the last. */
static void insert_finished(search *s, int64_t row, const candidate *c, float score)
{
    const int64_t first = row * s->beams;
    int64_t at = first + s->beams;
    while (at > first && score > s->finished.score[at - 1]) at--;
    if (at == first + s->beams) return;
    for (int64_t k = first + s->beams - 1; k > at; k--) copy_sequence(s, &s->finished, k - 1, &s->finished, k);
    continue_sequence(s, row, c, score, &s->finished, at);
}

static void choose_finished(search *s, int64_t row)
{
    const wk_generate_options *o = &s->g->options;
    if (!s->improvable[row] || (o->early_stopping == WK_EARLY_STOPPING_ON && all_finished(s, row))) return;
    const float divisor = (float)pow((double)(s->length + 1 - s->g->prompt), o->length_penalty);
    for (int64_t k = 0; k < s->beams && k < s->width; k++)
        if (s->candidate[k].ends) insert_finished(s, row, &s->candidate[k], s->candidate[k].score / divisor);
}

/* Returns true if a running sequence may still become better than a finished one. The scores of those that do not exist
 * yet are LOWEST. */
static bool can_improve(const search *s, int64_t row)
{
    const wk_generate_options *o = &s->g->options;
    const bool longest = o->early_stopping == WK_EARLY_STOPPING_NEVER && o->length_penalty > 0;
    const double length = (double)((longest ? s->total : s->length) - s->g->prompt);
    const float best = s->running.score[row * s->beams] / (float)pow(length, o->length_penalty);
    return best > s->finished.score[row * s->beams + s->beams - 1];
}

/* Takes the candidates of a row. Returns true if one of them does not end. */
static bool take_candidates(search *s, int64_t row)
{
    bool running = false;
    for (int64_t k = 0; k < s->width; k++) {
        const int64_t index = s->index[row * s->width + k], token = index % s->vocabulary;
        const bool ends = s->length + 1 == s->total || wk__generation_ends(s->g, token);
        s->candidate[k] = (candidate){index / s->vocabulary, token, s->value[row * s->width + k], ends};
        running |= !ends;
    }
    choose_running(s, row);
    choose_finished(s, row);
    return running;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Puts the rows of the cache into the order of the running sequences. Returns false on error. */
static bool reorder_cache(const search *s, wk_device device)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, NULL, s->g->site, WK__GRAD_KEPT)) return false;
    wk_tensor *host = wk_from(s->origin, (s->rows * s->beams)), *rows = host ? wk_to(host, device) : NULL;
    const bool fine = rows && wk_kv_cache_reorder(s->g->cache, rows) == WK_OK;
    wk__call_end(&c, NULL, 0);
    return fine;
}

/* Adds a token to all running sequences. *more: another step is needed. Returns false on error. */
static bool step(search *s, wk_device device, bool *more)
{
    bool running = false, improvable = false, complete = true;
    if (!find_candidates(s, device)) return false;
    for (int64_t row = 0; row < s->rows; row++) running |= take_candidates(s, row);
    const sequences before = s->running;
    s->running = s->next;
    s->next = before;
    s->length++;
    if (s->g->cache && !reorder_cache(s, device)) return false;
    for (int64_t row = 0; row < s->rows; row++) {
        s->improvable[row] &= can_improve(s, row);
        improvable |= s->improvable[row];
        complete &= all_finished(s, row);
    }
    *more = running && improvable && !(complete && s->g->options.early_stopping == WK_EARLY_STOPPING_ON);
    return true;
}

/* Fills the lists before the first step from the prompts. Returns false on error. */
static bool begin(search *s, wk_tensor *ids)
{
    const int64_t prompt = s->g->prompt, count = s->rows * prompt;
    int64_t *given = wk__generation_memory(s->g->site, count, sizeof *given);
    if (!given || wk_read_at(s->g->site, ids, given, (size_t)count * sizeof *given) != WK_OK) return false;
    for (int64_t k = 0; k < s->rows * s->beams; k++) {
        const int64_t row = k / s->beams;
        memcpy(tokens_of(s, &s->running, k), given + row * prompt, (size_t)prompt * sizeof *given);
        s->running.score[k] = k % s->beams == 0 ? 0 : LOWEST; /* equal sequences: only the first one counts */
        s->finished.score[k] = LOWEST;
        s->improvable[row] = true;
    }
    s->length = prompt;
    return true;
}

/* Returns the best sequence of each row. NULL on error. */
static wk_tensor *best_sequences(const search *s, wk_device device)
{
    int64_t width = 0;
    for (int64_t row = 0; row < s->rows; row++)
        if (s->finished.length[row * s->beams] > width) width = s->finished.length[row * s->beams];
    int64_t *out = wk__generation_memory(s->g->site, s->rows * width, sizeof *out);
    if (!out) return NULL;
    for (int64_t row = 0; row < s->rows; row++) {
        const int64_t k = row * s->beams, length = s->finished.length[k];
        memcpy(out + row * width, tokens_of(s, &s->finished, k), (size_t)length * sizeof *out);
        for (int64_t at = length; at < width; at++) out[row * width + at] = s->g->pad;
    }
    wk_tensor *host = wk_from(out, (s->rows, width));
    return host ? wk_to(host, device) : NULL;
}

wk_tensor *wk__generate_beams(wk__generation *g, wk_tensor *ids)
{
    search s = {.g = g, .rows = wk_size(ids, 0), .beams = g->options.num_beams, .total = g->prompt + g->most};
    const wk_device device = wk_device_of(ids);
    g->rules.keep = g->eos_count > 0 ? g->eos_count + 1 : 2;
    if (g->mask) g->mask = wk_repeat_interleave(g->mask, s.beams, 0);
    if ((g->options.mask && !g->mask) || !make_search(&s) || !begin(&s, ids)) return NULL;
    for (bool more = true; more;)
        if (!step(&s, device, &more)) return NULL;
    return best_sequences(&s, device);
}
