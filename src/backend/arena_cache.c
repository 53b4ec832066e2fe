/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks, pieces and size classes of the arena; arena_cache.h has the drawing. */
#include "arena_cache.h"

#include <string.h>

#include "../base/alloc.h"

enum { FEWEST_BUCKETS = 64, CHUNK_NODES = 256 };

struct wk__idle_chunk {
    struct wk__idle_chunk *next;
    wk__idle node[CHUNK_NODES];
};

/* ---- sizes --------------------------------------------------------------------------------------------------- */

/* Classes in units of 256 bytes: 1 2 .. 8, 9 10 .. 16, 18 20 .. 32, 36 40 .. 64, and so on: from 2^e to 2^(e+1) in
 * eight steps, so that at most an eighth of a piece is wasted. */
typedef struct size_class {
    int index;
    int64_t size;
} size_class;

static size_class class_of(int64_t bytes)
{
    uint64_t last = bytes > 0 ? (uint64_t)(bytes - 1) / WK__ALIGN : 0; /* the last unit that is needed */
    if (last < 8) return (size_class){(int)last, (int64_t)(last + 1) * WK__ALIGN};
    int step = 60 - __builtin_clzll(last);   /* log2 of the units between two classes */
    int64_t steps = (int64_t)(last >> step); /* 8 to 15 */
    return (size_class){8 * step + (int)steps, ((steps + 1) << step) * WK__ALIGN};
}

int64_t wk__cache_round(int64_t bytes)
{
    if (bytes <= WK__LARGE) return class_of(bytes).size;
    return bytes > INT64_MAX - WK__LARGE ? -1 : (bytes + WK__LARGE - 1) / WK__LARGE * WK__LARGE;
}

/* ---- blocks by their handle ---------------------------------------------------------------------------------- */

static wk__block **bucket_of(const wk__cache *cache, const void *handle)
{
    uint64_t hash =
        (uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u; /* handles are multiples of large powers of two */
    return &cache->bucket[(hash >> 32) & (uint64_t)(cache->buckets - 1)];
}

static wk__block *block_of(const wk__cache *cache, const wk__memory *piece)
{
    wk__block *block = *bucket_of(cache, piece->block);
    while (block->memory.block != piece->block) block = block->in_bucket;
    return block;
}

static void enter(wk__cache *cache, wk__block *block)
{
    wk__block **bucket = bucket_of(cache, block->memory.block);
    block->in_bucket = *bucket;
    *bucket = block;
}

static bool more_buckets(wk__cache *cache)
{
    wk__cache old = *cache;
    int64_t count = old.buckets > 0 ? old.buckets * 2 : FEWEST_BUCKETS;
    wk__block **bucket = wk__alloc_zero((size_t)count, sizeof(wk__block *));
    if (!bucket) return false;
    cache->bucket = bucket;
    cache->buckets = count;
    for (int64_t k = 0; k < old.buckets; k++) {
        for (wk__block *block = old.bucket[k], *next; block; block = next) {
            next = block->in_bucket;
            enter(cache, block);
        }
    }
    wk__free(old.bucket);
    return true;
}

/* ---- room in the books --------------------------------------------------------------------------------------- */

static void put_spare(wk__cache *cache, wk__idle *node)
{
    node->next = cache->spare;
    cache->spare = node;
    cache->spares++;
}

static bool more_nodes(wk__cache *cache)
{
    struct wk__idle_chunk *chunk = wk__alloc(sizeof *chunk);
    if (!chunk) return false;
    chunk->next = cache->chunks;
    cache->chunks = chunk;
    for (int k = CHUNK_NODES - 1; k >= 0; k--) put_spare(cache, &chunk->node[k]);
    return true;
}

bool wk__cache_reserve(wk__cache *cache)
{
    if (cache->blocks >= cache->buckets && !more_buckets(cache)) return false;
    if (cache->spares <= cache->small_pieces && !more_nodes(cache)) return false;
    return wk__grow(&cache->large, &cache->large_room, cache->blocks + 1, sizeof(wk__block *));
}

/* ---- handing out --------------------------------------------------------------------------------------------- */

static void hand_out(wk__cache *cache, wk__block *block, int64_t start, int64_t size, wk__memory *piece)
{
    block->live++;
    cache->live += size;
    *piece = (wk__memory){
        .block = block->memory.block,
        .host = block->memory.host ? block->memory.host + start : NULL,
        .offset = block->memory.offset + start,
        .bytes = size,
    };
}

/* The first idle large block of at least `bytes`. */
static int64_t first_large(const wk__cache *cache, int64_t bytes)
{
    int64_t low = 0, high = cache->larges;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (cache->large[middle]->bytes < bytes) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void put_large(wk__cache *cache, wk__block *block)
{
    int64_t k = first_large(cache, block->bytes);
    memmove(&cache->large[k + 1], &cache->large[k], (size_t)(cache->larges - k) * sizeof(wk__block *));
    cache->large[k] = block;
    cache->larges++;
}

static bool take_large(wk__cache *cache, int64_t size, wk__memory *piece)
{
    int64_t k = first_large(cache, size);
    if (k == cache->larges || cache->large[k]->bytes - size > size / 8) return false;
    wk__block *block = cache->large[k];
    cache->larges--;
    memmove(&cache->large[k], &cache->large[k + 1], (size_t)(cache->larges - k) * sizeof(wk__block *));
    hand_out(cache, block, 0, block->bytes, piece);
    return true;
}

bool wk__cache_take(wk__cache *cache, int64_t size, wk__memory *piece)
{
    if (size > WK__LARGE) return take_large(cache, size, piece);
    wk__idle **list = &cache->idle[class_of(size).index], *node = *list;
    if (!node) return false;
    *list = node->next;
    hand_out(cache, node->block, node->start, size, piece);
    cache->small_pieces++;
    put_spare(cache, node);
    return true;
}

bool wk__cache_cut(wk__cache *cache, int64_t size, wk__memory *piece)
{
    if (size > WK__LARGE) return false;
    wk__block **link = &cache->roomy;
    while (*link) {
        wk__block *block = *link;
        int64_t left = block->bytes - block->cut;
        if (left >= size) {
            hand_out(cache, block, block->cut, size, piece);
            cache->small_pieces++;
            block->cut += size;
            return true;
        }
        if (left < block->bytes / 8) {
            *link = block->next; /* not worth another look */
        } else {
            link = &block->next;
        }
    }
    return false;
}

/* A small piece finds a node without looking: one was reserved for it when it was cut. */
static void put_small(wk__cache *cache, wk__block *block, const wk__memory *piece)
{
    wk__idle **list = &cache->idle[class_of(piece->bytes).index], *node = cache->spare;
    cache->spare = node->next;
    cache->spares--;
    cache->small_pieces--;
    *node = (wk__idle){*list, block, piece->offset - block->memory.offset};
    *list = node;
}

bool wk__cache_give(wk__cache *cache, const wk__memory *piece)
{
    wk__block *block = block_of(cache, piece);
    cache->live -= piece->bytes;
    block->live--;
    if (block->live == 0) block->idle_since = 0;
    if (block->large) {
        put_large(cache, block);
    } else {
        put_small(cache, block, piece);
    }
    return block->live == 0;
}

/* ---- blocks that come and go --------------------------------------------------------------------------------- */

static void make_roomy(wk__cache *cache, wk__block *block)
{
    block->cut = 0;
    block->next = cache->roomy;
    cache->roomy = block;
}

void wk__cache_add(wk__cache *cache, wk__block *block)
{
    enter(cache, block);
    cache->blocks++;
    cache->held += block->bytes;
    if (block->large) {
        put_large(cache, block);
    } else {
        cache->small_held += block->bytes;
        make_roomy(cache, block);
    }
}

/* Forgets whatever is idle in blocks that are marked as leaving. */
static void forget_leaving(wk__cache *cache)
{
    for (int k = 0; k < WK__SMALL_CLASSES; k++) {
        wk__idle **link = &cache->idle[k];
        while (*link) {
            wk__idle *node = *link;
            if (node->block->leaves) {
                *link = node->next;
                put_spare(cache, node);
            } else {
                link = &node->next;
            }
        }
    }
    wk__block **link = &cache->roomy;
    while (*link) {
        if ((*link)->leaves) {
            *link = (*link)->next;
        } else {
            link = &(*link)->next;
        }
    }
    int64_t left = 0;
    for (int64_t k = 0; k < cache->larges; k++) {
        if (!cache->large[k]->leaves) cache->large[left++] = cache->large[k];
    }
    cache->larges = left;
}

void wk__cache_recycle(wk__cache *cache)
{
    for (int64_t k = 0; k < cache->buckets; k++) {
        for (wk__block *block = cache->bucket[k]; block; block = block->in_bucket) {
            block->leaves = !block->large && block->live == 0;
        }
    }
    forget_leaving(cache);
    for (int64_t k = 0; k < cache->buckets; k++) {
        for (wk__block *block = cache->bucket[k]; block; block = block->in_bucket) {
            if (block->leaves) make_roomy(cache, block);
            block->leaves = false;
        }
    }
}

wk__block *wk__cache_drop(wk__cache *cache, int64_t keep, int64_t now, int64_t before)
{
    int64_t idle = cache->held - cache->live;
    bool any = false;
    for (int64_t k = 0; k < cache->buckets; k++) {
        for (wk__block *block = cache->bucket[k]; block; block = block->in_bucket) {
            if (block->live > 0) continue;
            if (block->idle_since == 0) block->idle_since = now;
            if (idle <= keep || block->idle_since > before) continue;
            block->leaves = any = true;
            idle -= block->bytes;
        }
    }
    if (!any) return NULL;
    forget_leaving(cache);

    wk__block *dropped = NULL;
    for (int64_t k = 0; k < cache->buckets; k++) {
        wk__block **link = &cache->bucket[k];
        while (*link) {
            wk__block *block = *link;
            if (!block->leaves) {
                link = &block->in_bucket;
                continue;
            }
            *link = block->in_bucket;
            block->next = dropped;
            dropped = block;
            cache->blocks--;
            cache->held -= block->bytes;
            if (!block->large) cache->small_held -= block->bytes;
        }
    }
    return dropped;
}

wk__block *wk__cache_end(wk__cache *cache)
{
    for (int64_t k = 0; k < cache->buckets; k++) {
        for (wk__block *block = cache->bucket[k]; block; block = block->in_bucket) block->live = 0;
    }
    cache->live = 0;
    wk__block *all = wk__cache_drop(cache, 0, 1, INT64_MAX);
    for (struct wk__idle_chunk *chunk = cache->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        wk__free(chunk);
    }
    wk__free(cache->bucket);
    wk__free(cache->large);
    *cache = (wk__cache){0};
    return all;
}
