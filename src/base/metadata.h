/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of texts: what a file says beside its numbers. */
#ifndef WICK_BASE_PAIRS_H
#define WICK_BASE_PAIRS_H

#include "text.h"

typedef struct wk__metadata_entry {
    const char *key, *value;
} wk__metadata_entry;

typedef struct wk__metadata {
    wk__metadata_entry *item; /* in the order in which they were added; each key is the begin of a block that holds both
                                 texts */
    int64_t count, capacity;
    bool failed; /* memory ran out: the rest was dropped */
} wk__metadata;

/* Adds a pair; the key is formatted. It must be new. */
__attribute__((format(printf, 3, 4))) void wk__metadata_add(wk__metadata *pairs, const char *value, const char *key,
                                                            ...);
/* The same for a number, in decimal. */
void wk__metadata_add_int(wk__metadata *pairs, const char *key, int64_t number);
void wk__metadata_free(wk__metadata *pairs);

/* The value of a key, or NULL. */
__attribute__((format(printf, 3, 4))) const char *wk__metadata_find(const wk__metadata_entry *item, int64_t count,
                                                                    const char *key, ...);
/* The same as a number of 0 or more in plain decimal; -1 where there is none. */
int64_t wk__metadata_find_int(const wk__metadata_entry *item, int64_t count, const char *key);

#endif
