/* SPDX-License-Identifier: Apache-2.0 */
/* A vocabulary: tokens by id and ids by token, with the frequency of each. Ids may have gaps.
 *
 * Threads: any number of threads may read one that no thread changes. */
#ifndef WICK_TEXT_VOCABULARY_H
#define WICK_TEXT_VOCABULARY_H

#include "base/text.h"

enum { WK__VOCABULARY_MOST = 1 << 24 }; /* ids */

/* One id. */
typedef struct wk__vocabulary_entry {
    int64_t start;     /* of the token in bytes; -1: a gap */
    int32_t length;    /* of the token in bytes */
    int32_t added;     /* byte pairs: one more than its index among the added tokens; else 0 */
    int64_t frequency; /* 0: unknown */
} wk__vocabulary_entry;

typedef struct wk__vocabulary {
    wk__text bytes; /* the tokens, each terminated */
    wk__vocabulary_entry *entry;
    int64_t count, capacity; /* one more than the greatest id; size of entry */
    int32_t *slot;           /* [slots] hash table of ids; -1: free */
    int64_t slots, tokens;   /* slots: 0 or a power of 2, at least twice the number of tokens */
} wk__vocabulary;

/* Returns the id of a token of `length` bytes, or -1. */
int64_t wk__vocabulary_find(const wk__vocabulary *v, const char *token, int64_t length);
/* Adds a token with an id that is free, creating gaps before it. Neither the token nor the id must exist yet. Returns
 * false if memory is exhausted or id is not below WK__VOCABULARY_MOST. */
bool wk__vocabulary_put(wk__vocabulary *v, int64_t id, const char *token, int64_t length);
/* Returns the id of a token, which gets the next id if it is new; -1 as wk__vocabulary_put. */
int64_t wk__vocabulary_add(wk__vocabulary *v, const char *token, int64_t length);
/* Returns true if the vocabulary has the id. */
static inline bool wk__vocabulary_has(const wk__vocabulary *v, int64_t id)
{
    return id >= 0 && id < v->count && v->entry[id].start >= 0;
}
/* Returns the token of an id that exists. */
static inline const char *wk__vocabulary_token(const wk__vocabulary *v, int64_t id)
{
    return v->bytes.data + v->entry[id].start;
}
void wk__vocabulary_free(wk__vocabulary *v);

#endif
