/* SPDX-License-Identifier: Apache-2.0 */
/* Vocabularies: tokens in one block of memory, found by a hash table with linear probing. See vocabulary.h. */
#include "vocabulary.h"
#include "base/alloc.h"
#include <string.h>

static uint64_t hash_of(const char *token, int64_t length)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (int64_t k = 0; k < length; k++) hash = (hash ^ (unsigned char)token[k]) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* Returns the slot of a token, or the free one where it belongs; there is a free one. */
static int64_t slot_of(const wk__vocabulary *v, const char *token, int64_t length)
{
    int64_t at = (int64_t)(hash_of(token, length) & (uint64_t)(v->slots - 1));
    for (; v->slot[at] >= 0; at = (at + 1) & (v->slots - 1)) {
        const wk__vocabulary_entry *entry = &v->entry[v->slot[at]];
        if (entry->length == length && memcmp(v->bytes.data + entry->start, token, (size_t)length) == 0) break;
    }
    return at;
}

int64_t wk__vocabulary_find(const wk__vocabulary *v, const char *token, int64_t length)
{
    return v->slots == 0 ? -1 : v->slot[slot_of(v, token, length)];
}

/* Makes the table so large that half of it stays free with one more token. */
static bool reserve_slots(wk__vocabulary *v)
{
    if (2 * (v->tokens + 1) <= v->slots) return true;
    const int64_t slots = v->slots > 0 ? 2 * v->slots : 64;
    int32_t *slot = wk__realloc(NULL, (size_t)slots, sizeof *slot);
    if (!slot) return false;
    memset(slot, 0xff, (size_t)slots * sizeof *slot);
    wk__free(v->slot);
    v->slot = slot;
    v->slots = slots;
    for (int64_t id = 0; id < v->count; id++)
        if (v->entry[id].start >= 0)
            slot[slot_of(v, v->bytes.data + v->entry[id].start, v->entry[id].length)] = (int32_t)id;
    return true;
}

bool wk__vocabulary_put(wk__vocabulary *v, int64_t id, const char *token, int64_t length)
{
    if (id >= WK__VOCABULARY_MOST || length > INT32_MAX || !reserve_slots(v) ||
        !wk__grow(&v->entry, &v->capacity, id + 1, sizeof *v->entry))
        return false;
    const int64_t start = v->bytes.length;
    wk__text_add_n(&v->bytes, token, length);
    wk__text_add_n(&v->bytes, "", 1);
    if (v->bytes.failed) return false;
    for (; v->count <= id; v->count++) v->entry[v->count] = (wk__vocabulary_entry){.start = -1};
    const int64_t slot = slot_of(v, v->bytes.data + start, length);
    v->entry[id] = (wk__vocabulary_entry){.start = start, .length = (int32_t)length};
    v->slot[slot] = (int32_t)id;
    v->tokens++;
    return true;
}

int64_t wk__vocabulary_add(wk__vocabulary *v, const char *token, int64_t length)
{
    const int64_t found = wk__vocabulary_find(v, token, length);
    if (found >= 0) return found;
    return wk__vocabulary_put(v, v->count, token, length) ? v->count - 1 : -1;
}

void wk__vocabulary_free(wk__vocabulary *v)
{
    wk__text_free(&v->bytes);
    wk__free(v->entry);
    wk__free(v->slot);
    *v = (wk__vocabulary){0};
}
