/* SPDX-License-Identifier: Apache-2.0 */
/* Bookkeeping of the arena's blocks: which blocks it holds and which of their pieces are idle, by size. No locks and no
 * backend calls: the callers, arena.c and arena_grow.c, hold the arena's spinlock and call the backend.
 *
 *     small, up to 2 MiB   Pieces are cut from the start of a block; a freed piece joins the list of its size class
 *                          (eight per power of two). Once all pieces of a block are free, it may be cut again.
 *
 *         block   | 256 | 1.0 MB        | 256 | 768 | 256 |  not cut yet         |
 *                   live  idle             live  live  idle
 *
 *     large                A block is a single piece, a multiple of 2 MiB; idle blocks are in an array sorted by size.
 *
 * Freeing never allocates, so it cannot fail: there are at least as many free nodes as live small pieces. */
#ifndef WICK_BACKEND_ARENA_ARENA_BLOCKS_H
#define WICK_BACKEND_ARENA_ARENA_BLOCKS_H

#include "backend/backend.h"

enum {
    WK__SMALL_CLASSES = 88,
    WK__LARGE_BYTES = 2 << 20 /* greatest small piece, and granularity of large ones */
};

typedef struct wk__block {
    wk__memory memory;  /* as returned by the backend */
    int64_t bytes;      /* usable bytes */
    int64_t bump;       /* small: start of the part that is not cut yet */
    int64_t live;       /* live pieces */
    int64_t idle_since; /* ms: when it was first seen without a live piece; 0: not seen yet */
    bool large;
    bool evicting;                 /* its idle pieces are about to be dropped */
    struct wk__block *bucket_next; /* next block in the hash bucket */
    struct wk__block *next;        /* next block in `partial`, or in the list returned by wk__block_cache_evict() */
} wk__block;

/* An idle small piece. */
typedef struct wk__free_piece {
    struct wk__free_piece *next;
    wk__block *block;
    int64_t start; /* offset in the block */
} wk__free_piece;

typedef struct wk__block_cache {
    int64_t held, live; /* bytes from the backend; of those, in live pieces */
    int64_t small_held;
    wk__block **bucket;      /* hash table of all blocks, by memory.block */
    int64_t buckets, blocks; /* size of the table, a power of two; number of blocks */
    wk__block *partial;      /* small blocks with an uncut part, newest first */
    wk__block **large;       /* idle large blocks by size; of equal size, the last freed first */
    int64_t nlarge, large_capacity;
    wk__free_piece *idle[WK__SMALL_CLASSES];
    wk__free_piece *free_nodes;        /* unused nodes */
    int64_t nfree_nodes, small_pieces; /* the latter: live small pieces */
    struct wk__idle_chunk *chunks;
} wk__block_cache;

/* Returns the piece size for an allocation of `bytes`; -1 on overflow. */
int64_t wk__block_cache_round_size(int64_t bytes);
/* Allocates an idle piece of that size, or for large ones of at most an eighth more; returns false if there is none. */
bool wk__block_cache_alloc(wk__block_cache *cache, int64_t size, wk__memory *piece);
/* Cuts a new small piece from a block. Requires wk__block_cache_reserve(). */
bool wk__block_cache_carve(wk__block_cache *cache, int64_t size, wk__memory *piece);
/* Returns true if it was the last live piece of its block. */
bool wk__block_cache_free(wk__block_cache *cache, const wk__memory *piece);
/* Reserves bookkeeping memory for one more block and piece; returns false on allocation failure. */
bool wk__block_cache_reserve(wk__block_cache *cache);
/* Adds a new block, entirely idle. */
void wk__block_cache_add(wk__block_cache *cache, wk__block *block);
/* Makes all small blocks without a live piece available for cutting again, with any sizes. */
void wk__block_cache_reset_empty(wk__block_cache *cache);
/* Removes blocks that have been without a live piece since `before` or earlier, until at most `keep` bytes are idle.
 * Blocks first seen idle now are stamped with `now`. Returns a list linked by `next`. */
wk__block *wk__block_cache_evict(wk__block_cache *cache, int64_t keep, int64_t now, int64_t before);
/* Removes and returns all blocks, even with live pieces, and frees the bookkeeping. */
wk__block *wk__block_cache_destroy(wk__block_cache *cache);

#endif
