/* SPDX-License-Identifier: Apache-2.0 */
/* wk_text_bpe_train: repeatedly merges the most frequent pair of tokens.
 *
 * The pieces of the text are counted once. Each pair of neighbours in a piece has its frequency and the pieces where it
 * occurs, so that a merge visits only these. A heap has the pairs by falling frequency; an entry that is out of date is
 * corrected when it comes first. */
#include "base/alloc.h"
#include "base/options.h"
#include "bpe.h"
#include "io/save_load.h"
#include "split.h"
#include "unicode.h"
#include <string.h>

/* A distinct piece of the text: its tokens, and how often it occurs. */
typedef struct piece {
    int64_t start; /* of its tokens in trainer.token */
    int64_t length, count;
} piece;

/* A pair of neighbours. */
typedef struct pair {
    int32_t left, right;
    int64_t count;  /* occurrences in the text */
    int64_t queued; /* count in its greatest entry of the heap */
    int64_t first;  /* of its occurrences; -1: none */
    bool touched;   /* in the list of pairs that the current merge changes */
} pair;

/* A piece where a pair occurs, or occurred. */
typedef struct occurrence {
    int64_t piece, next;
} occurrence;

typedef struct trainer {
    wk__tokenizer *t;
    wk__vocabulary pieces; /* of the text */
    piece *piece;          /* [pieces.count] */
    int64_t *token;        /* of all pieces */
    pair *pair;
    int64_t pairs, pair_capacity;
    wk__pair_table index; /* of each pair in `pair` */
    occurrence *occurrence;
    int64_t occurrences, occurrence_capacity;
    wk__heap heap;   /* rank: minus the count; tie: the tokens of the pair */
    wk__ids touched; /* pairs that the current merge changes */
    bool failed;     /* memory is exhausted */
} trainer;

static void free_trainer(trainer *r)
{
    wk__vocabulary_free(&r->pieces);
    wk__free(r->piece);
    wk__free(r->token);
    wk__free(r->pair);
    wk__pair_table_free(&r->index);
    wk__free(r->occurrence);
    wk__heap_free(&r->heap);
    wk__ids_free(&r->touched);
}

/* ---- the heap ---------------------------------------------------------------------------------------------------- */

static void push(trainer *r, int64_t which)
{
    pair *q = &r->pair[which];
    if (!wk__heap_reserve(&r->heap, r->heap.count + 1)) {
        r->failed = true;
        return;
    }
    wk__heap_push(&r->heap, (wk__heap_entry){-q->count, (int64_t)q->left << 32 | q->right});
    q->queued = q->count;
}

/* Returns the most frequent pair, of equally frequent ones that with the smaller ids; -1 if none is left. */
static int64_t most_frequent(trainer *r)
{
    while (r->heap.count > 0 && !r->failed) {
        const wk__heap_entry e = wk__heap_pop(&r->heap);
        const int32_t which = wk__pair_table_find(&r->index, (int32_t)(e.tie >> 32), (int32_t)e.tie);
        const int64_t count = r->pair[which].count;
        if (-e.rank == count) return which;
        if (-e.rank == r->pair[which].queued && count > 0) push(r, which);
    }
    return -1;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* Returns a pair, which is added if it is new; -1 if memory is exhausted. */
static int64_t pair_of(trainer *r, int32_t left, int32_t right)
{
    const int32_t found = wk__pair_table_find(&r->index, left, right);
    if (found >= 0) return found;
    if (r->pairs >= INT32_MAX || !wk__grow(&r->pair, &r->pair_capacity, r->pairs + 1, sizeof *r->pair) ||
        !wk__pair_table_put(&r->index, left, right, (int32_t)r->pairs))
        return -1;
    r->pair[r->pairs] = (pair){.left = left, .right = right, .first = -1};
    return r->pairs++;
}

/* Adds the count of a piece, times sign, to each of its pairs. If sign is positive, adds the piece to the occurrences
 * of the pairs that have the token `new`; -1: of all pairs. */
static void count_pairs(trainer *r, int64_t at, int sign, int64_t new)
{
    const piece *p = &r->piece[at];
    for (int64_t k = 0; k + 1 < p->length && !r->failed; k++) {
        const int64_t left = r->token[p->start + k], right = r->token[p->start + k + 1];
        const int64_t which = pair_of(r, (int32_t)left, (int32_t)right);
        r->failed = which < 0;
        if (r->failed) return;
        pair *q = &r->pair[which];
        q->count += sign * p->count;
        if (!q->touched) wk__ids_add(&r->touched, which);
        q->touched = true;
        r->failed |= r->touched.failed;
        if (sign < 0 || (new >= 0 && left != new &&right != new)) continue;
        if (!wk__grow(&r->occurrence, &r->occurrence_capacity, r->occurrences + 1, sizeof *r->occurrence)) {
            r->failed = true;
            return;
        }
        r->occurrence[r->occurrences] = (occurrence){at, q->first};
        q->first = r->occurrences++;
    }
}

/* Adds the pairs to the heap that have become more frequent than their entries. */
static void queue_touched(trainer *r)
{
    for (int64_t k = 0; k < r->touched.count && !r->failed; k++) {
        pair *q = &r->pair[r->touched.at[k]];
        q->touched = false;
        if (q->count > q->queued) push(r, r->touched.at[k]);
    }
    r->touched.count = 0;
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* Replaces a pair by a token within a piece. */
static void merge_in(trainer *r, int64_t at, const pair *which, int64_t token)
{
    piece *p = &r->piece[at];
    int64_t *tokens = &r->token[p->start], kept = 0;
    bool found = false;
    for (int64_t k = 0; k + 1 < p->length && !found; k++)
        found = tokens[k] == which->left && tokens[k + 1] == which->right;
    if (!found) return;
    count_pairs(r, at, -1, token);
    for (int64_t k = 0; k < p->length; kept++) {
        const bool here = k + 1 < p->length && tokens[k] == which->left && tokens[k + 1] == which->right;
        tokens[kept] = here ? token : tokens[k];
        k += here ? 2 : 1;
    }
    p->length = kept;
    count_pairs(r, at, 1, token);
}

/* Adds the token of a pair and merges the pair in all pieces. */
static void merge(trainer *r, int64_t which)
{
    wk__vocabulary *v = &r->t->vocabulary;
    const pair found = r->pair[which]; /* a copy: the list of pairs may move */
    wk__text joined = {0};
    bool known = false;
    wk__text_add(&joined, wk__vocabulary_token(v, found.left));
    wk__text_add(&joined, wk__vocabulary_token(v, found.right));
    const int64_t token = joined.failed ? -1 : wk__vocabulary_add(v, joined.data, joined.length);
    wk__text_free(&joined);
    r->failed |=
        token < 0 || !wk__merges_add(&r->t->bpe->merges, (wk__merge){found.left, found.right, (int32_t)token}, &known);
    for (int64_t k = found.first; k >= 0 && !r->failed; k = r->occurrence[k].next)
        merge_in(r, r->occurrence[k].piece, &found, token);
    queue_touched(r);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static wk_code count_pieces(trainer *r, wk__span text, wk_text_split rule, wk__io_error *error)
{
    const char *const end = text.at + text.bytes;
    for (const char *at = text.at; at < end;) {
        const int64_t bytes = wk__split_piece(rule, at, end);
        const int64_t id = wk__vocabulary_add(&r->pieces, at, bytes);
        if (id < 0) return wk__vocabulary_full(&r->pieces, bytes, "piece", error);
        r->pieces.entry[id].frequency++;
        at += bytes;
    }
    return WK_OK;
}

/* Adds the special tokens, and one token for each byte in the order of their characters. */
static wk_code add_alphabet(wk__tokenizer *t, const char *special, int64_t id_of_byte[256], wk__io_error *error)
{
    wk__span token;
    while (wk__next_listed(&special, &token)) {
        const int64_t before = t->vocabulary.count;
        const int64_t id = wk__vocabulary_add(&t->vocabulary, token.at, token.bytes);
        if (id >= 0 && id < before) continue;
        if (id < 0 || !wk__bpe_add_token(t, id, wk__vocabulary_token(&t->vocabulary, id), true))
            return wk__text_no_memory(error);
    }
    for (uint32_t code = 0; code < 0x200; code++) {
        const int byte = wk__byte_of_char(code);
        wk__text character = {0};
        if (byte < 0) continue;
        wk__text_add_code(&character, code);
        if (!character.failed) id_of_byte[byte] = wk__vocabulary_add(&t->vocabulary, character.data, character.length);
        const bool fine = !character.failed && id_of_byte[byte] >= 0;
        wk__text_free(&character);
        if (!fine) return wk__text_no_memory(error);
    }
    return WK_OK;
}

/* Makes the tokens of all pieces and counts their pairs. */
static void begin_pieces(trainer *r, const int64_t id_of_byte[256])
{
    int64_t tokens = 0;
    for (int64_t k = 0; k < r->pieces.count; k++) tokens += r->pieces.entry[k].length;
    r->piece = wk__realloc(NULL, (size_t)r->pieces.count + 1, sizeof *r->piece);
    r->token = wk__realloc(NULL, (size_t)tokens + 1, sizeof *r->token);
    r->failed = !r->piece || !r->token;
    for (int64_t k = 0, next = 0; k < r->pieces.count && !r->failed; k++) {
        const wk__vocabulary_entry *entry = &r->pieces.entry[k];
        const char *bytes = wk__vocabulary_token(&r->pieces, k);
        r->piece[k] = (piece){next, entry->length, entry->frequency};
        for (int64_t n = 0; n < entry->length; n++) r->token[next++] = id_of_byte[(unsigned char)bytes[n]];
        count_pairs(r, k, 1, -1);
    }
    queue_touched(r);
}

static wk_code train(wk__tokenizer *t, wk__span text, int64_t vocabulary, const wk_text_bpe_options *o,
                     wk__io_error *error)
{
    int64_t id_of_byte[256];
    trainer r = {.t = t};
    wk__bpe_set_byte_level(t->bpe, o->split);
    wk_code code = wk__text_check(text, error);
    if (code == WK_OK) code = add_alphabet(t, o->special_tokens, id_of_byte, error);
    if (code != WK_OK) return code;
    if (vocabulary < t->vocabulary.count)
        return wk__io_fail(error, WK_ERR_ARGUMENT,
                           "a vocabulary of %lld is too small for 256 bytes and %lld special tokens",
                           (long long)vocabulary, (long long)t->vocabulary.count - 256);
    code = count_pieces(&r, text, o->split, error);
    r.failed = code != WK_OK;
    if (!r.failed) begin_pieces(&r, id_of_byte);
    const int64_t least = o->min_frequency > 0 ? o->min_frequency : 1;
    while (!r.failed && t->vocabulary.count < vocabulary) {
        const int64_t which = most_frequent(&r);
        if (which < 0 || r.pair[which].count < least) break;
        merge(&r, which);
    }
    r.failed = r.failed || !wk__bpe_finish(t->bpe);
    if (code == WK_OK && r.failed) code = wk__text_no_memory(error);
    free_trainer(&r);
    return code;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static bool check(wk_site site, const char *op, int64_t vocabulary, const wk_text_bpe_options *o)
{
    if (vocabulary < 256 || vocabulary > WK__VOCABULARY_MOST)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: vocabulary must be in [256, %d], got %lld", op, WK__VOCABULARY_MOST,
                      (long long)vocabulary);
    else if (o->min_frequency < 0)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .min_frequency must be at least 0, got %lld", op,
                      (long long)o->min_frequency);
    else if ((unsigned)o->split >= WK_TEXT_SPLIT_COUNT)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .split must be one of wk_text_split, got %d", op, (int)o->split);
    else
        return wk__check_option_text(site, op, ".special_tokens", o->special_tokens);
    return false;
}

/* Trains on a file, or if path is NULL on a string. */
static wk_text *make(wk_site site, const char *op, const char *path, const char *string, int64_t vocabulary,
                     const wk_text_bpe_options *options)
{
    wk_text_bpe_options o;
    if (!wk__options(site, op, options, &o) || !check(site, op, vocabulary, &o)) return NULL;
    wk__text content = {0};
    wk__io_error error;
    wk__tokenizer *t = wk__bpe_new();
    wk_code code = t ? WK_OK : wk__text_no_memory(&error);
    if (code == WK_OK && path) code = wk__text_file_read(path, &content, &error);
    if (code == WK_OK) {
        const wk__span text = {path ? content.data : string, path ? content.length : (int64_t)strlen(string)};
        code = train(t, text, vocabulary, &o, &error);
        if ((code == WK_ERR_FORMAT || code == WK_ERR_UNSUPPORTED) && path)
            wk__io_prefix(&error, "%s", wk__printable_name(path).text);
    }
    wk__text_free(&content);
    return wk__tokenizer_wrap(site, op, t, code, &error);
}

wk_text *wk_text_bpe_train_at(wk_site site, const char *path, int64_t vocabulary, const wk_text_bpe_options *options)
{
    static const char op[] = "text_bpe_train";
    return wk__check_path(site, op, path) ? make(site, op, path, NULL, vocabulary, options) : NULL;
}

wk_text *wk_text_bpe_train_of_at(wk_site site, const char *string, int64_t vocabulary,
                                 const wk_text_bpe_options *options)
{
    static const char op[] = "text_bpe_train_of";
    if (string) return make(site, op, NULL, string, vocabulary, options);
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: the string is NULL", op);
    return NULL;
}
