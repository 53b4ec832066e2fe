/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions whose lanes are rows: the form of contraction_indirect.h,
 *
 *     C[o, t] = sum over c, u of w[o, c, u] x[c, t + u - 1]
 *
 * with the factors exchanged in the tiles. A vector holds w for adjacent o, and elements of the padded copy of x are
 * broadcast (wk__row_lanes_tile). So rows of C of any length fill tiles without partial vectors, and vectors are loaded
 * from aligned addresses. A short row shares a tile with the next ones:
 *
 *     rows of 28 positions     14 | 14               rows of 7 positions    7 + 7 | 7 + 7 | 7 + 7 | 7
 *
 * A is packed once into panels of two vectors of rows, for all tasks:
 *
 *     panel p, step l       w[32 p .. 32 p + 31, l]     narrower for the last rows
 *
 * A task computes a range of panels for a range of positions, or all positions of some images (batches that share A),
 * because a panel then stays in cache for more tiles. The sum is divided into blocks like a matrix product's: results
 * have the same bits, independent of how C is divided. All tiles of a task are computed for a part of the sum, some
 * blocks, before the next part, so that copies of the part's channels and its part of a panel stay in L2; sums are kept
 * in a buffer.
 *
 * In a gradient by w, the rows are those of g, the positions are the taps of w, and each channel of x is an image:
 *
 *     C[o, c, u] = sum over n, t of g[n, o, t] x[n, c, t + u - 1] */
#ifndef WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_ROW_LANES_H
#define WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_ROW_LANES_H

#include "backend/backend.h"
#include "matmul.h"
#include "padded_roles.h"

typedef struct wk__row_lanes_plan {
    wk__padded b;
    const wk__gemm_microkernels *class;
    wk__gemm_pack *pack;
    wk__padded_roles roles; /* with a row; the batch consists of groups, then images: */
    int64_t groups;         /* combinations of the indices on which A depends, */
    int64_t images;         /* and of the others */
    int64_t panel, panels;  /* rows per panel, and panels per group */
    int64_t panel_bytes;    /* from one packed panel to the next */
    int64_t k_block;        /* steps per block of the sum, */
    int64_t k_part;         /* and per call of a tile: several blocks */
    int64_t slots;          /* channels whose copies are kept: those of a part */
    int64_t length, runs;   /* positions of a row per tile; if those are all of a row, rows per tile */
    /* per task, and number of such ranges: positions of the first axis, images, panels */
    int64_t piece_places, piece_images, piece_panels;
    int64_t place_parts, image_parts, panel_parts;
    double cost; /* estimated time, in multiplications of one vector lane */
} wk__row_lanes_plan;

/* Returns false if the contraction does not have this form. */
bool wk__row_lanes_plan_init(wk__row_lanes_plan *p, const wk__work_args *kernel);
/* Returns the estimated time of gathering, in multiplications of one vector lane. */
double wk__row_lanes_im2col_cost(const wk__row_lanes_plan *p);
/* Runs with an epilogue, or NULL. */
wk_code wk__row_lanes_run(const wk__row_lanes_plan *p, const wk__program *epilogue, wk__fail *fail);
/* Enumerates the boxes on which wk__row_lanes_run() runs the epilogue; none: it runs on all of C afterwards. */
void wk__row_lanes_epilogue_boxes(const wk__row_lanes_plan *p, const wk__program *epilogue,
                                  wk__epilogue_box_visit *visit, void *user);

/* ---- shared by the files contraction_row_lanes*.c ---------------------------------------------------------------- */

int64_t wk__row_lanes_ntasks(const wk__row_lanes_plan *p);
/* Returns how many rows of C the next tile has, of `rest`: at most the plan's, for which there is a tile. */
int64_t wk__row_lanes_rows_of_tile(const wk__row_lanes_plan *p, int64_t rest);
/* Returns the number of tiles of a panel for an image's positions in the box, and the bytes of a tile's sums. */
int64_t wk__row_lanes_tiles(const wk__row_lanes_plan *p, const wk__padded_box *box);
int64_t wk__row_lanes_sums(const wk__row_lanes_plan *p);
/* Returns the number of multiplications. */
double wk__row_lanes_fmas(const wk__row_lanes_plan *p);

#endif
