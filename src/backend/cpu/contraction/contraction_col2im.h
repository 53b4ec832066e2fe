/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions computed as a matrix product followed by a scatter (col2im). One factor, B, has coordinates, each of one
 * result index p and of summed indices:
 *
 *     C[c, p] = sum over o, u of w[o, c, u] g[o, (p + 1 - u) / 2]        the gradient of a convolution by x, stride 2
 *
 *     D[(c, u), q] = sum over o of w[o, c, u] g[o, q]                    a matrix product
 *     C[c, 2 q + u - 1] += D[(c, u), q]                                  if in range
 *
 * Nothing is gathered or divided: each element of D is added once, where gathering (kernel_contraction.c) packs each
 * element of B once per u. This pays if the result has few rows c, or if each remainder of a division would write only
 * every second element.
 *
 * A task computes a piece of C, rows and positions, in a buffer: it multiplies a box of q, adds it to the piece, and
 * proceeds to the next box; D and the piece stay in cache. Values of D near the border of a piece are computed for both
 * sides.
 *
 *     C of an image         q that contribute to the piece p0 .. p1
 *     +----------+ p0       +----------+
 *     |  piece   |   <---   | box      |  D: rows (c, u) of one box
 *     |          |          +----------+
 *     |          |          | box      |
 *     +----------+ p1       +----------+
 *
 * Pieces and boxes depend on shape, dtype and strides only: an element is the sum over u in order, box by box, for any
 * number of threads. */
#ifndef WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_COL2IM_H
#define WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_COL2IM_H

#include "backend/backend.h"
#include "gemm.h"

enum { WK__COL2IM_AXES = WK__MAX_AFFINE };

/* A coordinate q of B and the result positions p it relates: p = divisor q - offset - sum of coefficient x tap. */
typedef struct wk__col2im_axis {
    wk__affine_index q;
    int64_t places, step;  /* extent of p, and its stride in C */
    int64_t before, after; /* minimum and maximum of p - divisor q */
} wk__col2im_axis;

typedef struct wk__col2im_plan {
    const wk__work_args *kernel;
    const wk__gemm_microkernels *class;
    wk__gemm_unpack *unpack;
    int64_t size; /* bytes per element of C; accumulators have class->acc_size */
    int a, b;     /* operand numbers */
    int first;    /* axis along which pieces are divided; earlier axes are unused, with one position and one q */
    wk__col2im_axis axis[WK__COL2IM_AXES];
    int row;         /* result index on which only A depends; -1: none */
    bool taps_first; /* rows of D: all rows of C for one tap after the other, else all taps of one row of C */
    int taps, steps, batches;
    /* summed indices with coordinates; summed indices of the product; result indices */
    int8_t tap[WK__MAX_SUMMED], step[WK__MAX_SUMMED], batch[WK__MAX_DIMS];
    int64_t rows, tap_count, step_count, batch_count;
    int64_t piece_rows, piece_places; /* size of pieces */
    int64_t row_parts, place_parts;
    int64_t box[WK__COL2IM_AXES]; /* extent of q per product */
} wk__col2im_plan;

/* Returns false if the contraction does not have this form. Both factors have one dtype, whose class the sum has. */
bool wk__col2im_plan_init(wk__col2im_plan *p, const wk__work_args *kernel);
/* Return the estimated time in multiplications of one vector lane, and whether it is less than that of gathering. */
double wk__col2im_cost(const wk__col2im_plan *p);
bool wk__col2im_is_profitable(const wk__col2im_plan *p);
/* Runs without an epilogue. */
wk_code wk__col2im_run(const wk__col2im_plan *p, wk__fail *fail);

/* ---- shared by the files contraction_col2im*.c ------------------------------------------------------------------- */

int64_t wk__col2im_ntasks(const wk__col2im_plan *p);
/* Returns the number of multiplications, including those computed for two pieces. */
double wk__col2im_fmas(const wk__col2im_plan *p);
/* Append dimensions of D to a product with A as operand 1 and B as operand 2: any dimension; `rows` rows of C by all
 * taps. Dimensions contiguous in both factors are merged. */
void wk__col2im_add_dim(wk__work_args *product, int64_t extent, int64_t of_a, int64_t of_b);
void wk__col2im_add_rows(const wk__col2im_plan *p, wk__work_args *product, int64_t rows);

#endif
