/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of kernels that compute tiles of a result from strips of two factors: a work-group of 256 items computes
 * TILE x TILE elements, an item PER x PER. Strips are DEPTH deep and double-buffered in local memory: the next one is
 * loaded while items compute with the current one, with one barrier per strip.
 *
 * For v < PER / 4, an item has rows 64 v + 4 y .. 4 y + 3 and columns 64 v + 4 x .. 4 x + 3 of a tile, with x = item %
 * 16, y = item / 16: it reads local memory in vectors of four.
 *
 * If a result has too few tiles to occupy the device and its sums are long, the sum is split (split-K): each work-group
 * adds up a part of the sum into scratch memory, and a second launch adds up the parts, in order. */
#ifndef WICK_BACKEND_GPU_TILES_H
#define WICK_BACKEND_GPU_TILES_H

#include "backend/gpu/kernel.h"

enum { WK__GPU_TILE_ITEMS = 256, WK__GPU_TILE = 64, WK__GPU_LARGE_TILE = 128 };

/* Parts of the source, in this order:
 *
 *   large, small   constants of a tile
 *   begin          declares the variables of the other parts
 *   place          computes from `group`, and the numbers of rows, columns and steps (i64 ALL_ROWS, ALL_COLUMNS,
 *                  ALL_STEPS, PART_STEPS, ALL_BATCHES): i0, j0, batch, part, rows and columns of the tile (tile_rows,
 *                  tile_columns), and first and last, its range in the sum, of type STEP
 *   each_strip     opens a loop over the strips; must be followed by code that loads the elements at step l0 into
 *                  next_a[4] and next_b[4] if `more`, that is if `left` > 0 steps remain; and preceded by code that
 *                  defines their positions in the strips: element n is at at_a + n by_a and at_b + n by_b
 *   compute        closes that loop
 *   results        opens a block in which i0, j0, batch and part are reloaded from local memory: corner[4] is free for
 *                  another value that is the same for all items
 *   each_run       opens two loops over the item's elements, four columns of a row at a time: tr, tc are the row and
 *                  the first column in the tile; value, a VECTOR of the four; `columns`, their number
 *   end            undefines the macros of the others, those that `place` reads, and TAKE */
extern const char wk__gpu_tile_large[], wk__gpu_tile_small[], wk__gpu_tile_begin[], wk__gpu_tile_place[],
    wk__gpu_tile_each_strip[], wk__gpu_tile_compute[], wk__gpu_tile_results[], wk__gpu_tile_each_run[],
    wk__gpu_tile_end[];

/* Division of a result into tiles. */
typedef struct wk__gpu_tiling {
    bool large;          /* tiles of 128, otherwise of 64 */
    int64_t tiles;       /* number of tiles in all batches */
    int64_t k_splits;    /* number of parts of the sum; 1: not split */
    int64_t k_per_split; /* length of a part: a multiple of DEPTH, except for the last */
} wk__gpu_tiling;

/* Returns true if tiles are worthwhile and possible: tiles waste the elements beyond the last row and column, and need
 * items and local memory that not every device has. */
bool wk__gpu_can_tile(const wk__gpu_target *target, wk_dtype dtype, int64_t rows, int64_t columns, int64_t length);

/* `wide`: no large tiles. An empty result has 0 tiles, and its sums are not split. */
wk__gpu_tiling wk__gpu_choose_tiling(const wk__gpu_target *target, wk_dtype dtype, bool wide, int64_t batches,
                                     int64_t rows, int64_t columns, int64_t length);

/* Emits the launch `tiles`, which leaves partial sums in scratch memory, and the launch that adds them up, with the
 * work's epilogue. */
wk_code wk__gpu_emit_split_k(const wk__work *work, wk__gpu_launch *tiles, const wk__gpu_tiling *tiling,
                             wk__gpu_launch_fn *emit, void *user, wk__fail *fail);

#endif
