/* SPDX-License-Identifier: Apache-2.0 */
/* What a matrix product needs of an instruction set: tiles of C that live in registers, and packing, which brings
 * operands of any dtype and any strides into the order in which the tiles read them.
 *
 * A product computes in one of four classes, f32, f64, i32 and i64; narrower dtypes are widened while they are packed
 * and narrowed when C is done. bool counts in i64, which no k can wrap back to 0. */
#ifndef WICK_CPU_GEMM_H
#define WICK_CPU_GEMM_H

#include "../../ir/ir.h"

enum {
    /* Bytes between packed panels: without them panels of 2^n elements would all begin in one set of the caches. */
    WK__GEMM_GAP = 64
};

/* One tile: C[i, j] = or += sum over l of A[i, l] B[l, j], with l rising and one rounding per step where the machine
 * has fma. Steps and rows are counted in elements of the class. Elements in a row of B and of C are neighbours. */
typedef struct wk__tile {
    int64_t k;
    const void *a; /* A[i, l] = a[i * a_row + l * a_step] */
    int64_t a_row, a_step;
    const void *b; /* B[l, j] = b[l * b_step + j] */
    int64_t b_step;
    void *c; /* C[i, j] = c[i * c_row + j] */
    int64_t c_row;
    int columns; /* 1..columns of the class; nothing beyond them is read or written */
    bool add;
} wk__tile;

typedef void wk__tile_function(const wk__tile *tile);

typedef struct wk__gemm_class {
    int rows, columns, lanes;       /* of the largest tile; columns is a multiple of lanes */
    size_t packed;                  /* bytes of an element of A and B as tiles read it, */
    size_t sum;                     /* and of C as they write it */
    wk__tile_function *const *tile; /* [(ceil(columns / lanes) - 1) * rows + rows - 1] of the tile that is wanted */
    /* Vectors, m = 1: c[j] = or += sum over l of a[l] B[l, j]. `down` reads rows of B whose elements are neighbours,
     * `along` columns of B whose elements are neighbours (then b_step is the distance of columns). NULL in the integer
     * classes. */
    void (*down)(int64_t n, int64_t k, const void *a, const void *b, int64_t b_step, void *c, bool add);
    void (*along)(int64_t n, int64_t k, const void *a, const void *b, int64_t b_step, void *c, bool add);
} wk__gemm_class;

/* Cuts `count` columns of `in` into panels of `width` and writes them one after the other, each row by row:
 *
 *     in[i * across + l * along]  ->  out[p * (width * k + gap) + l * w + i - p * width]      p = i / width
 *
 * widened to the class; steps are in elements of the dtype. w is the width of panel p: of the last one what is left of
 * `count`, rounded up to a multiple of `unit` with zeros. */
typedef void wk__gemm_pack(void *out, int width, int unit, int64_t count, int64_t k, const void *in, int64_t across,
                           int64_t along);
/* out[i * step] = in[i], narrowed to the dtype. */
typedef void wk__gemm_unpack(void *out, int64_t step, int64_t count, const void *in);

typedef struct wk__gemm {
    const wk__gemm_class *of[WK_DTYPE_COUNT]; /* by dtype */
    wk__gemm_pack *pack[WK_DTYPE_COUNT];
    wk__gemm_unpack *unpack[WK_DTYPE_COUNT];
} wk__gemm;

#endif
