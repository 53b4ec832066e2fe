/* SPDX-License-Identifier: Apache-2.0 */
/* Key-value strings: the metadata of a file, beside its tensors. */
#ifndef WICK_BASE_METADATA_H
#define WICK_BASE_METADATA_H

#include "text.h"

typedef struct wk__metadata_entry {
    const char *key, *value;
} wk__metadata_entry;

typedef struct wk__metadata {
    wk__metadata_entry *item; /* in order of insertion; each key points to a block that contains both strings */
    int64_t count, capacity;
    bool failed; /* an allocation failed: later entries were dropped */
} wk__metadata;

/* Adds a pair. The key is formatted and must be new. Sets `failed` on allocation failure. */
__attribute__((format(printf, 3, 4))) void wk__metadata_add(wk__metadata *pairs, const char *value, const char *key,
                                                            ...);
/* Like wk__metadata_add(), with a decimal integer as the value. */
void wk__metadata_add_int(wk__metadata *pairs, const char *key, int64_t number);
void wk__metadata_free(wk__metadata *pairs);

/* Returns the value of a key, or NULL. */
__attribute__((format(printf, 3, 4))) const char *wk__metadata_find(const wk__metadata_entry *item, int64_t count,
                                                                    const char *key, ...);
/* Returns the value as a non-negative decimal integer; -1 if it is missing or is not one. */
int64_t wk__metadata_find_int(const wk__metadata_entry *item, int64_t count, const char *key);

#endif
