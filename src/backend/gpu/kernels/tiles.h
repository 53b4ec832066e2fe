/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels share that make tiles of a result out of strips of two factors: a work-group of 256 items makes TILE x
 * TILE of it, an item PER x PER. Strips are DEPTH deep and lie in local memory twice, so that the next is loaded while
 * items compute with the present one, and all meet once a strip.
 *
 * An item has, for v below PER / 4, rows 64 v + 4 y .. 4 y + 3 and columns 64 v + 4 x .. 4 x + 3 of a tile, with
 * x = item % 16, y = item / 16: it reads local memory by fours.
 *
 * Where a result has fewer tiles than a device has work for, and its sums are long, work-groups share a tile: each
 * adds up a part of the sum into scratch memory, and a second launch adds up the parts, in order. */
#ifndef WICK_BACKEND_GPU_TILES_H
#define WICK_BACKEND_GPU_TILES_H

#include "backend/gpu/kernel.h"

enum { WK__GPU_TILE_ITEMS = 256, WK__GPU_TILE = 64, WK__GPU_LARGE_TILE = 128 };

/* Pieces of text, in the order in which they stand.
 *
 *   large, small   the numbers of a tile
 *   begin          declares what the other pieces use
 *   place          out of `group`, and of how many rows, columns and steps there are (i64 ALL_ROWS, ALL_COLUMNS,
 *                  ALL_STEPS, PART_STEPS, ALL_BATCHES): i0, j0, batch, part, how many rows and columns the tile has
 *                  (tile_rows, tile_columns), and first and last, where it begins and ends in the sum, as numbers of
 *                  type STEP
 *   each_strip     opens a loop over the strips; behind it stands what loads those at step l0 into next_a[4] and
 *                  next_b[4], where there are `left` > 0 steps, `more`; before it what says where in the strips those
 *                  belong: at_a, by_a, at_b, by_b: element n at at_a + n by_a
 *   compute        closes it
 *   results        opens a block, in which i0, j0, batch and part come out of local memory: corner[4] is free for one
 *                  more number that is the same for all items
 *   each_run       opens two loops over the item's elements, four columns of a row at a time: tr, tc, the row and the
 *                  first column in the tile; value, a VECTOR of the four; `columns`, how many of them there are
 *   end            undefines the macros of the others, what `place` reads, and TAKE */
extern const char wk__gpu_tile_large[], wk__gpu_tile_small[], wk__gpu_tile_begin[], wk__gpu_tile_place[],
    wk__gpu_tile_each_strip[], wk__gpu_tile_compute[], wk__gpu_tile_results[], wk__gpu_tile_each_run[],
    wk__gpu_tile_end[];

/* How a result is cut. */
typedef struct wk__gpu_tiling {
    bool large;          /* tiles of 128, else of 64 */
    int64_t tiles;       /* of all batches */
    int64_t k_splits;    /* of the sum, 1: it is not cut */
    int64_t k_per_split; /* of a part: a multiple of the depth of a strip, but for the last */
} wk__gpu_tiling;

/* Tiles waste what they have beyond the last row and column, and need items and memory that not every device has. */
bool wk__gpu_can_tile(const wk__gpu_target *target, wk_dtype dtype, int64_t rows, int64_t columns, int64_t length);

/* `wide`: no large tiles. An empty result has 0 tiles, and its sums are not cut. */
wk__gpu_tiling wk__gpu_choose_tiling(const wk__gpu_target *target, wk_dtype dtype, bool wide, int64_t batches,
                                     int64_t rows, int64_t columns, int64_t length);

/* Hands on the launch of `tiles`, which leaves parts of sums in scratch memory, and the one that adds them up, with the
 * tail of the work. */
wk_code wk__gpu_emit_split_k(const wk__work *work, wk__gpu_launch *tiles, const wk__gpu_tiling *tiling,
                             wk__gpu_launch_fn *emit, void *user, wk__fail *fail);

#endif
