/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions that are multiplied first and added up at their places afterwards. One factor, B, has coordinates, and
 * each is of one index of the result, p, and of summed ones:
 *
 *     C[c, p] = sum over o, u of w[o, c, u] g[o, (p + 1 - u) / 2]        the gradient of a convolution by x, stride 2
 *
 *     D[(c, u), q] = sum over o of w[o, c, u] g[o, q]                    a product of matrices
 *     C[c, 2 q + u - 1] += D[(c, u), q]                                  where that is inside
 *
 * Nothing is gathered and nothing divided: each element of D is added once, where gathering (kernel_contraction.c)
 * packs each element of B once for each u. That pays where the result has few rows c, or where each remainder of a
 * division would write every second element.
 *
 * A task makes a piece of C, in a buffer: it multiplies a box of q's, adds it, and goes on to the next; D and the piece
 * stay in cache. Places near the edge of a piece are computed for both sides of it.
 *
 *     C of an image         q's that meet the piece p0 .. p1
 *     +----------+ p0       +----------+
 *     |  piece   |   <---   | box      |  D: rows (c, u) of one box
 *     |          |          +----------+
 *     |          |          | box      |
 *     +----------+ p1       +----------+
 *
 * Pieces and boxes depend on shape, dtype and strides: an element is the sum of its u's in order, box by box, however
 * many threads there are. */
#ifndef WICK_CPU_CONTRACTION_COLUMNS_H
#define WICK_CPU_CONTRACTION_COLUMNS_H

#include "backend/backend.h"
#include "gemm.h"

enum { WK__COL2IM_AXES = WK__MAX_AFFINE };

/* A coordinate of B, and the places of the result it is about: p = divisor q - offset - sum of coefficient x tap. */
typedef struct wk__col2im_axis {
    wk__affine_index q;
    int64_t places, step;  /* p, and its stride in C */
    int64_t before, after; /* the least and the greatest p - divisor q */
} wk__col2im_axis;

typedef struct wk__col2im_plan {
    const wk__work_args *kernel;
    const wk__gemm_microkernels *class;
    wk__gemm_unpack *unpack;
    int64_t size; /* bytes of an element of C; its sums have class->sum */
    int a, b;     /* numbers of the operands */
    int first;    /* axis along which pieces are cut; those before it are none: one place, one q */
    wk__col2im_axis axis[WK__COL2IM_AXES];
    int row; /* index of the result on which only A depends; -1: there is none */
    int taps, steps, batches;
    int8_t tap[WK__MAX_SUMMED], step[WK__MAX_SUMMED], batch[WK__MAX_DIMS]; /* indices: summed ones, of the result */
    int64_t rows, tap_count, step_count, batch_count;
    int64_t piece_rows, piece_places; /* the size of pieces */
    int64_t row_parts, place_parts;
    int64_t box[WK__COL2IM_AXES]; /* q's that are multiplied together */
} wk__col2im_plan;

/* False: the contraction cannot be written so. Both factors have one dtype, whose class the sum has. */
bool wk__col2im_plan_init(wk__col2im_plan *p, const wk__work_args *kernel);
/* The time of that, in multiplications of a vector's lane. Is it less than that of gathering? */
double wk__col2im_cost(const wk__col2im_plan *p);
bool wk__col2im_is_profitable(const wk__col2im_plan *p);
/* Without the tail. */
wk_code wk__col2im_run(const wk__col2im_plan *p, wk__fail *fail);

/* ---- shared by the files contraction_columns*.c ------------------------------------------------------------------ */

int64_t wk__col2im_ntasks(const wk__col2im_plan *p);
/* Multiplications, with those that are done for two pieces. */
double wk__col2im_fmas(const wk__col2im_plan *p);
/* Dimensions of D as those of a product, of which operand 1 is A and 2 is B: any, and `rows` rows of C by all taps.
 * What both factors walk as one is one. */
void wk__col2im_add_dim(wk__work_args *product, int64_t extent, int64_t of_a, int64_t of_b);
void wk__col2im_add_rows(const wk__col2im_plan *p, wk__work_args *product, int64_t rows);

#endif
