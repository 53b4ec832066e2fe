/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks, pieces and size classes of the arena; see the drawing in arena_blocks.h. */
#include "arena_blocks.h"

#include <string.h>

#include "base/alloc.h"

enum { FEWEST_BUCKETS = 64, CHUNK_NODES = 256 };

struct wk__idle_chunk {
    struct wk__idle_chunk *next;
    wk__free_piece node[CHUNK_NODES];
};

/* ---- sizes --------------------------------------------------------------------------------------------------- */

/* Classes in units of 256 bytes: 1 2 .. 8, 9 10 .. 16, 18 20 .. 32, 36 40 .. 64, and so on: eight steps from 2^e to
 * 2^(e+1), so that at most an eighth of a piece is wasted. */
typedef struct size_class {
    int index;
    int64_t size;
} size_class;

static size_class class_of(int64_t bytes)
{
    uint64_t last = bytes > 0 ? (uint64_t)(bytes - 1) / WK__ALIGN : 0; /* last unit needed */
    if (last < 8) return (size_class){(int)last, (int64_t)(last + 1) * WK__ALIGN};
    int step = 60 - __builtin_clzll(last);   /* log2 of the units between two classes */
    int64_t steps = (int64_t)(last >> step); /* 8 to 15 */
    return (size_class){8 * step + (int)steps, ((steps + 1) << step) * WK__ALIGN};
}

int64_t wk__block_cache_round_size(int64_t bytes)
{
    if (bytes <= WK__LARGE_BYTES) return class_of(bytes).size;
    return bytes > INT64_MAX - WK__LARGE_BYTES ? -1 : (bytes + WK__LARGE_BYTES - 1) / WK__LARGE_BYTES * WK__LARGE_BYTES;
}

/* ---- blocks by handle -------------------------------------------------------------------------------------------- */

static wk__block **bucket_of(const wk__block_cache *cache, const void *handle)
{
    uint64_t hash =
        (uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u; /* handles are multiples of large powers of two */
    return &cache->bucket[(hash >> 32) & (uint64_t)(cache->buckets - 1)];
}

static wk__block *block_of(const wk__block_cache *cache, const wk__memory *piece)
{
    wk__block *block = *bucket_of(cache, piece->block);
    while (block->memory.block != piece->block) block = block->bucket_next;
    return block;
}

static void insert_block(wk__block_cache *cache, wk__block *block)
{
    wk__block **bucket = bucket_of(cache, block->memory.block);
    block->bucket_next = *bucket;
    *bucket = block;
}

static bool grow_buckets(wk__block_cache *cache)
{
    wk__block_cache old = *cache;
    int64_t count = old.buckets > 0 ? old.buckets * 2 : FEWEST_BUCKETS;
    wk__block **bucket = wk__alloc_zero((size_t)count, sizeof(wk__block *));
    if (!bucket) return false;
    cache->bucket = bucket;
    cache->buckets = count;
    for (int64_t k = 0; k < old.buckets; k++) {
        for (wk__block *block = old.bucket[k], *next; block; block = next) {
            next = block->bucket_next;
            insert_block(cache, block);
        }
    }
    wk__free(old.bucket);
    return true;
}

/* ---- bookkeeping memory ------------------------------------------------------------------------------------------ */

static void push_free_node(wk__block_cache *cache, wk__free_piece *node)
{
    node->next = cache->free_nodes;
    cache->free_nodes = node;
    cache->nfree_nodes++;
}

static bool grow_free_nodes(wk__block_cache *cache)
{
    struct wk__idle_chunk *chunk = wk__alloc(sizeof *chunk);
    if (!chunk) return false;
    chunk->next = cache->chunks;
    cache->chunks = chunk;
    for (int k = CHUNK_NODES - 1; k >= 0; k--) push_free_node(cache, &chunk->node[k]);
    return true;
}

bool wk__block_cache_reserve(wk__block_cache *cache)
{
    if (cache->blocks >= cache->buckets && !grow_buckets(cache)) return false;
    if (cache->nfree_nodes <= cache->small_pieces && !grow_free_nodes(cache)) return false;
    return wk__grow(&cache->large, &cache->large_capacity, cache->blocks + 1, sizeof(wk__block *));
}

/* ---- allocating -------------------------------------------------------------------------------------------------- */

static void hand_out(wk__block_cache *cache, wk__block *block, int64_t start, int64_t size, wk__memory *piece)
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

/* Returns the index of the first idle large block of at least `bytes`. */
static int64_t lower_bound_large(const wk__block_cache *cache, int64_t bytes)
{
    int64_t low = 0, high = cache->nlarge;
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

static void put_large(wk__block_cache *cache, wk__block *block)
{
    int64_t k = lower_bound_large(cache, block->bytes);
    memmove(&cache->large[k + 1], &cache->large[k], (size_t)(cache->nlarge - k) * sizeof(wk__block *));
    cache->large[k] = block;
    cache->nlarge++;
}

static bool alloc_large(wk__block_cache *cache, int64_t size, wk__memory *piece)
{
    int64_t k = lower_bound_large(cache, size);
    if (k == cache->nlarge || cache->large[k]->bytes - size > size / 8) return false;
    wk__block *block = cache->large[k];
    cache->nlarge--;
    memmove(&cache->large[k], &cache->large[k + 1], (size_t)(cache->nlarge - k) * sizeof(wk__block *));
    hand_out(cache, block, 0, block->bytes, piece);
    return true;
}

bool wk__block_cache_alloc(wk__block_cache *cache, int64_t size, wk__memory *piece)
{
    if (size > WK__LARGE_BYTES) return alloc_large(cache, size, piece);
    wk__free_piece **list = &cache->idle[class_of(size).index], *node = *list;
    if (!node) return false;
    *list = node->next;
    hand_out(cache, node->block, node->start, size, piece);
    cache->small_pieces++;
    push_free_node(cache, node);
    return true;
}

bool wk__block_cache_carve(wk__block_cache *cache, int64_t size, wk__memory *piece)
{
    if (size > WK__LARGE_BYTES) return false;
    wk__block **link = &cache->partial;
    while (*link) {
        wk__block *block = *link;
        int64_t left = block->bytes - block->bump;
        if (left >= size) {
            hand_out(cache, block, block->bump, size, piece);
            cache->small_pieces++;
            block->bump += size;
            return true;
        }
        if (left < block->bytes / 8) {
            *link = block->next; /* too little is left to search it again */
        } else {
            link = &block->next;
        }
    }
    return false;
}

/* Never fails: a node was reserved when the piece was cut. */
static void put_small(wk__block_cache *cache, wk__block *block, const wk__memory *piece)
{
    wk__free_piece **list = &cache->idle[class_of(piece->bytes).index], *node = cache->free_nodes;
    cache->free_nodes = node->next;
    cache->nfree_nodes--;
    cache->small_pieces--;
    *node = (wk__free_piece){*list, block, piece->offset - block->memory.offset};
    *list = node;
}

bool wk__block_cache_free(wk__block_cache *cache, const wk__memory *piece)
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

/* ---- adding and removing blocks ---------------------------------------------------------------------------------- */

static void add_partial(wk__block_cache *cache, wk__block *block)
{
    block->bump = 0;
    block->next = cache->partial;
    cache->partial = block;
}

void wk__block_cache_add(wk__block_cache *cache, wk__block *block)
{
    insert_block(cache, block);
    cache->blocks++;
    cache->held += block->bytes;
    if (block->large) {
        put_large(cache, block);
    } else {
        cache->small_held += block->bytes;
        add_partial(cache, block);
    }
}

/* Drops all idle pieces of blocks marked `evicting`. */
static void unlink_evicting(wk__block_cache *cache)
{
    for (int k = 0; k < WK__SMALL_CLASSES; k++) {
        wk__free_piece **link = &cache->idle[k];
        while (*link) {
            wk__free_piece *node = *link;
            if (node->block->evicting) {
                *link = node->next;
                push_free_node(cache, node);
            } else {
                link = &node->next;
            }
        }
    }
    wk__block **link = &cache->partial;
    while (*link) {
        if ((*link)->evicting) {
            *link = (*link)->next;
        } else {
            link = &(*link)->next;
        }
    }
    int64_t left = 0;
    for (int64_t k = 0; k < cache->nlarge; k++) {
        if (!cache->large[k]->evicting) cache->large[left++] = cache->large[k];
    }
    cache->nlarge = left;
}

void wk__block_cache_reset_empty(wk__block_cache *cache)
{
    for (int64_t k = 0; k < cache->buckets; k++) {
        for (wk__block *block = cache->bucket[k]; block; block = block->bucket_next) {
            block->evicting = !block->large && block->live == 0;
        }
    }
    unlink_evicting(cache);
    for (int64_t k = 0; k < cache->buckets; k++) {
        for (wk__block *block = cache->bucket[k]; block; block = block->bucket_next) {
            if (block->evicting) add_partial(cache, block);
            block->evicting = false;
        }
    }
}

wk__block *wk__block_cache_evict(wk__block_cache *cache, int64_t keep, int64_t now, int64_t before)
{
    int64_t idle = cache->held - cache->live;
    bool any = false;
    for (int64_t k = 0; k < cache->buckets; k++) {
        for (wk__block *block = cache->bucket[k]; block; block = block->bucket_next) {
            if (block->live > 0) continue;
            if (block->idle_since == 0) block->idle_since = now;
            if (idle <= keep || block->idle_since > before) continue;
            block->evicting = any = true;
            idle -= block->bytes;
        }
    }
    if (!any) return NULL;
    unlink_evicting(cache);

    wk__block *dropped = NULL;
    for (int64_t k = 0; k < cache->buckets; k++) {
        wk__block **link = &cache->bucket[k];
        while (*link) {
            wk__block *block = *link;
            if (!block->evicting) {
                link = &block->bucket_next;
                continue;
            }
            *link = block->bucket_next;
            block->next = dropped;
            dropped = block;
            cache->blocks--;
            cache->held -= block->bytes;
            if (!block->large) cache->small_held -= block->bytes;
        }
    }
    return dropped;
}

wk__block *wk__block_cache_destroy(wk__block_cache *cache)
{
    for (int64_t k = 0; k < cache->buckets; k++) {
        for (wk__block *block = cache->bucket[k]; block; block = block->bucket_next) block->live = 0;
    }
    cache->live = 0;
    wk__block *all = wk__block_cache_evict(cache, 0, 1, INT64_MAX);
    for (struct wk__idle_chunk *chunk = cache->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        wk__free(chunk);
    }
    wk__free(cache->bucket);
    wk__free(cache->large);
    *cache = (wk__block_cache){0};
    return all;
}
