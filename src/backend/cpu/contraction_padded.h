/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions that are read from a padded copy. One factor, B, has coordinates, and each steps with one index of the
 * result at most, its place:
 *
 *     C[o, t] = sum over c, u of w[o, c, u] x[c, t + u - 1]
 *
 * Then the rows of B that belong to the taps u are one row of x, read from different elements on. So nothing is
 * gathered: x is copied once, between zeros (padded.h), and tiles read each of their rows where it begins
 * (wk__tile_apart). Gathering would copy each element of x for every tap.
 *
 * Tiles have the height of a matrix product's; their columns are vectors of neighbouring places, none of which reaches
 * beyond the last place of a row, and lie in C as they are:
 *
 *     rows of 10 places, vectors of 4      0 1 2 3 | 4 5 6 7 | 8 9 - -
 *
 * A task makes all rows of C of a range of places. Blocks of the sum are those of a product of matrices, so bits are,
 * too, and none depend on how places are cut. */
#ifndef WICK_CPU_CONTRACTION_PADDED_H
#define WICK_CPU_CONTRACTION_PADDED_H

#include "../backend.h"
#include "gather.h"
#include "matmul.h"
#include "padded.h"

typedef struct wk__padded_product {
    wk__padded b;
    const wk__gemm_class *class;
    int row; /* index of the result on which only A depends; -1: there is none */
    int64_t rows, steps, k_block;
    wk__padded_list batch;
    bool packs_a; /* A has no one step along the sum */
    wk__gather a; /* it, without coordinates: how it is packed; */
    wk__gemm_pack *pack;
    int64_t a_row, a_step;             /* or how it is read in place */
    int64_t piece_places, place_parts; /* of the first axis, in one piece */
} wk__padded_product;

/* False: the contraction cannot be computed so. */
bool wk__padded_product_of(wk__padded_product *p, const wk__kernel *kernel);
/* Times of that and of gathering, in multiplications of a vector's lane. Is it faster? */
double wk__padded_product_time(const wk__padded_product *p);
double wk__padded_product_gathering(const wk__padded_product *p);
bool wk__padded_product_pays(const wk__padded_product *p);
/* With its tail, or NULL. */
wk_code wk__padded_product_run(const wk__padded_product *p, const wk__group *tail, wk__fail *fail);
/* The boxes on which that runs the tail, piece by piece; none: on all of C afterwards. */
void wk__padded_product_pieces(const wk__padded_product *p, const wk__group *tail, wk__piece_visit *visit, void *user);

/* ---- shared by the files contraction_padded*.c ------------------------------------------------------------------- */

enum {
    WK__PADDED_VECTORS = 512,                              /* of a piece, at most: the table of them is on the stack */
    WK__PADDED_STEPS = WK__GEMM_K_BYTES / WK__PADDED_SIZE, /* of a block of the sum, at most: as of any product */
};

int64_t wk__padded_product_count(const wk__padded_product *p);
/* Elements of the result. */
double wk__padded_product_places(const wk__padded_product *p);

#endif
