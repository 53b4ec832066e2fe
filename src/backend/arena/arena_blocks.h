/* SPDX-License-Identifier: Apache-2.0 */
/* The arena's books: which blocks it holds, which pieces of them are idle, found by size. No locks and no backend here;
 * arena.c has both.
 *
 *     small, up to 2 MB    A block is cut from its start; a piece that comes back is kept in the list of its size class
 *                          (eight classes between two powers of two). A block whose last piece came back may be cut
 * anew.
 *
 *         block   | 256 | 1.0 MB        | 256 | 768 | 256 |  not cut yet         |
 *                   out   idle             out   out   idle
 *
 *     large                A block is one piece of a multiple of 2 MB; idle ones stand in an array by size.
 *
 * Giving a piece back never allocates, so it cannot fail: `spare` has at least as many nodes as small pieces are out.
 */
#ifndef WICK_BACKEND_ARENA_CACHE_H
#define WICK_BACKEND_ARENA_CACHE_H

#include "backend/backend.h"

enum {
    WK__SMALL_CLASSES = 88,
    WK__LARGE_BYTES = 2 << 20 /* greatest small piece, and what large ones are multiples of
                                                            */
};

typedef struct wk__block {
    wk__memory memory;  /* as the backend gave it */
    int64_t bytes;      /* that are ours to cut */
    int64_t bump;       /* small: where the part that is not cut yet begins */
    int64_t live;       /* pieces that are out */
    int64_t idle_since; /* milliseconds: when it was first seen without a live piece; 0: not seen so yet */
    bool large;
    bool evicting;                 /* marks the blocks whose idle pieces are to be forgotten */
    struct wk__block *bucket_next; /* the next one, as in these lists too: */
    struct wk__block *next;        /* of the roomy ones or of those that wk__block_cache_evict took out */
} wk__block;

/* An idle small piece. */
typedef struct wk__free_piece {
    struct wk__free_piece *next;
    wk__block *block;
    int64_t start; /* from the start of the block */
} wk__free_piece;

typedef struct wk__block_cache {
    int64_t held, live; /* bytes from the backend; of those, in pieces that are out */
    int64_t small_held;
    wk__block **bucket;      /* every block, by memory.block */
    int64_t buckets, blocks; /* a power of two; the number of blocks */
    wk__block *partial;      /* small ones with a part that is not cut yet, the newest first */
    wk__block **large;       /* idle ones, by size; of one size the one that came back last stands first */
    int64_t nlarge, large_capacity;
    wk__free_piece *idle[WK__SMALL_CLASSES];
    wk__free_piece *free_nodes;        /* nodes without a piece */
    int64_t nfree_nodes, small_pieces; /* the latter: that are out */
    struct wk__idle_chunk *chunks;
} wk__block_cache;

/* The size of the piece that serves `bytes`; -1 if that is beyond all bounds. */
int64_t wk__block_cache_round_size(int64_t bytes);
/* An idle piece of that size, or for large ones of at most an eighth more. */
bool wk__block_cache_alloc(wk__block_cache *cache, int64_t size, wk__memory *piece);
/* A piece from a part that is not cut yet. Wants wk__block_cache_reserve before. */
bool wk__block_cache_carve(wk__block_cache *cache, int64_t size, wk__memory *piece);
/* True when it was the last live piece of its block. */
bool wk__block_cache_free(wk__block_cache *cache, const wk__memory *piece);
/* Room in the books for a block and a piece more; false when host memory is short. */
bool wk__block_cache_reserve(wk__block_cache *cache);
/* Enters a new block: all of it is idle. */
void wk__block_cache_add(wk__block_cache *cache, wk__block *block);
/* Makes all small blocks without a live piece ready to be cut anew, whatever they were cut into. */
void wk__block_cache_reset_empty(wk__block_cache *cache);
/* Takes blocks without a live piece out of the books until no more than `keep` bytes are idle: those that were first
 * seen idle at `before` or earlier. Sees them so at `now` if they were not yet. Returns a list over `next`. */
wk__block *wk__block_cache_evict(wk__block_cache *cache, int64_t keep, int64_t now, int64_t before);
/* Takes all blocks out, whatever lives in them, and frees the books. */
wk__block *wk__block_cache_destroy(wk__block_cache *cache);

#endif
