/* SPDX-License-Identifier: Apache-2.0 */
/* Merges of a vocabulary whose tokens have scores instead, as SentencePiece's: each way to make a token of two others,
 * those of the tokens with the greatest scores first. The order of equal ones is that of transformers' conversion. */
#include "base/alloc.h"
#include "base/utf8.h"
#include "bpe_parts.h"
#include "io/heap_sort.h"
#include <string.h>

/* A way to make a token. */
typedef struct candidate {
    double score;                  /* of the token */
    int32_t left_size, right_size; /* characters */
    wk__merge merge;
} candidate;

typedef struct candidates {
    candidate *item; /* owned */
    int64_t count, capacity;
} candidates;

static bool before(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score;
    if (x->left_size != y->left_size) return x->left_size > y->left_size;
    if (x->right_size != y->right_size) return x->right_size > y->right_size;
    return x->merge.to < y->merge.to; /* sizes of both parts tell the ways of one token apart */
}

/* Adds the ways to make token `to`. Returns false if memory is exhausted. */
static bool add_ways(const wk__vocabulary *v, int32_t to, double score, candidates *list)
{
    const char *const token = wk__vocabulary_token(v, to), *const end = token + strlen(token);
    int32_t size = 0, left_size = 0;
    for (const char *at = token; at < end; at += wk__utf8_bytes(at, end)) size++;
    for (const char *at = token + wk__utf8_bytes(token, end); at < end; at += wk__utf8_bytes(at, end)) {
        const int64_t left = wk__vocabulary_find(v, token, at - token), right = wk__vocabulary_find(v, at, end - at);
        left_size++;
        if (left < 0 || right < 0) continue;
        if (!wk__grow(&list->item, &list->capacity, list->count + 1, sizeof *list->item)) return false;
        list->item[list->count++] =
            (candidate){score, left_size, size - left_size, {(int32_t)left, (int32_t)right, to}};
    }
    return true;
}

wk_code wk__bpe_add_scored_merges(wk__tokenizer *t, const double *score, int64_t count, wk__io_error *error)
{
    enum { LONGEST = 256 };
    const wk__vocabulary *v = &t->vocabulary;
    candidates list = {0};
    wk_code code = WK_OK;
    for (int64_t k = 0; k < count && code == WK_OK; k++) {
        const char *token = wk__vocabulary_token(v, k);
        if (strlen(token) > LONGEST)
            code = wk__io_fail(error, WK_ERR_UNSUPPORTED, "the token \"%s\" has more than %d bytes",
                               wk__printable_name(token).text, LONGEST);
        else if (!add_ways(v, (int32_t)k, score[k], &list))
            code = wk__text_no_memory(error);
    }
    if (code == WK_OK) wk__heap_sort(list.item, list.count, sizeof *list.item, before);
    for (int64_t k = 0; k < list.count && code == WK_OK; k++) {
        bool known;
        if (!wk__merges_add(&t->bpe->merges, list.item[k].merge, &known)) code = wk__text_no_memory(error);
    }
    wk__free(list.item);
    return code;
}
