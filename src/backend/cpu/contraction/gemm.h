/* SPDX-License-Identifier: Apache-2.0 */
/* What a matrix product needs of an instruction set: tiles of C that live in registers, and packing, which brings
 * operands of any dtype and any strides into the order in which the tiles read them.
 *
 * Each set computes products in four classes, f32, f64, i32 and i64; narrower dtypes are widened while they are packed
 * and narrowed when C is done. bool counts in i64, which no k can wrap back to 0. Some CPUs have instructions for
 * products of one dtype besides: a class for it alone, whose packed elements may hold several steps of the sum.
 *
 *     steps 1    l = 0     l = 1     l = 2              of line i, as tiles read it: A[i, l] or B[l, i]
 *     steps 2    l = 0, 1            l = 2, 3           a pair lies in one packed element; beyond k there are zeros */
#ifndef WICK_CPU_GEMM_H
#define WICK_CPU_GEMM_H

#include "ir/ir.h"

enum {
    /* Bytes between packed panels: without them panels of 2^n elements would all begin in one set of the caches. */
    WK__GEMM_GAP = 64,
    WK__GEMM_VECTOR = 64, /* of the largest vector */
};

/* One tile: C[i, j] = or += sum over l of A[i, l] B[l, j], with l rising and one rounding per step where the machine
 * has fma. Steps, rows and k are counted in packed elements. Elements in a row of B and of C are neighbours. */
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

typedef void wk__tile_fn(const wk__tile *tile);

enum { WK__GEMM_INDIRECT_VECTORS = 3 /* most vectors of a tile */ };

/* A tile whose columns are vectors that lie apart, in B as in C, and where a row of B begins anywhere:
 *
 *     B[l, v, j] = b[at[l] + b_vector[v] + j]       C[i, v, j] = c[i * c_row + c_vector[v] + j], j < count[v]
 *
 * Rows of B may overlap, so that all places of a convolution's kernel are rows of one copy of the input. Whole vectors
 * of B are read; of C nothing beyond `count` is. */
typedef struct wk__indirect_tile {
    int64_t k;
    const void *a; /* as in wk__tile */
    int64_t a_row, a_step;
    const void *b;
    const int64_t *at;
    void *c;
    int64_t c_row;
    int64_t b_vector[WK__GEMM_INDIRECT_VECTORS], c_vector[WK__GEMM_INDIRECT_VECTORS];
    int count[WK__GEMM_INDIRECT_VECTORS]; /* 1..lanes */
    bool add;
} wk__indirect_tile;

typedef void wk__indirect_tile_fn(const wk__indirect_tile *tile);

/* Sums along which both operands are read in place, runs of neighbours each: of C[i, j] every lane of a vector adds up
 * its own products, and sums[(i * sum_row + j) * lanes ..] hold that vector between two calls. Nothing of A or B beyond
 * `length` is read.
 *
 *     lane x % lanes of C[i, j] += sum over r, x of a[i * a_row + a_run[r] + x] b[b_column[j] + b_run[r] + x] */
typedef struct wk__k_lanes_tile {
    int64_t runs, length;
    const void *a, *b;
    int64_t a_row, sum_row;
    const int64_t *a_run, *b_run, *b_column;
    void *sums;
} wk__k_lanes_tile;

enum { WK__GEMM_K_LANES_COLUMNS = 8 /* most columns of a tile */ };

typedef void wk__k_lanes_fn(const wk__k_lanes_tile *dots);

typedef struct wk__gemm_microkernels {
    int rows, columns, lanes; /* of the largest tile; columns is a multiple of lanes */
    size_t packed_size;       /* bytes of an element of A and B as tiles read it, */
    size_t acc_size;          /* and of C as they write it */
    int k_per_packed;         /* of the sum in a packed element: 1, or 2 in a class whose elements are
                                              pairs */
    wk__tile_fn *const *tile; /* [(ceil(columns / lanes) - 1) * rows + rows - 1] of the tile that is wanted */
    /* Vectors, m = 1: c[j] = or += sum over l of a[l] B[l, j]. `down` reads rows of B whose elements are neighbours,
     * `along` columns of B whose elements are neighbours (then b_step is the distance of columns). NULL in the integer
     * classes. */
    void (*gemv_rows)(int64_t n, int64_t k, const void *a, const void *b, int64_t b_step, void *c, bool add);
    void (*gemv_columns)(int64_t n, int64_t k, const void *a, const void *b, int64_t b_step, void *c, bool add);
    /* The same tiles with vectors apart: [(vectors - 1) * rows + rows - 1]; NULL in all classes but f32. */
    wk__indirect_tile_fn *const *indirect;
    /* [(rows - 1) * dot_columns + columns - 1]; NULL in all classes but f32. `fold` adds up the lanes of `count`
     * sums, halves first. */
    int dot_rows, dot_columns;
    wk__k_lanes_fn *const *k_lanes;
    void (*fold)(int64_t count, const void *sums, void *out);
    /* C[i, j] += D[i, j]: elements in a row are neighbours. */
    void (*add)(int64_t rows, int64_t columns, const void *d, int64_t d_row, void *c, int64_t c_row);
    /* out[2 i] = even[i], out[2 i + 1] = odd[i] */
    void (*interleave)(int64_t count, const void *even, const void *odd, void *out);
} wk__gemm_microkernels;

/* Packed elements in so many steps of the sum. */
static inline int64_t wk__gemm_packed_k(const wk__gemm_microkernels *class, int64_t k)
{
    return (k + class->k_per_packed - 1) / class->k_per_packed;
}

/* Cuts `count` columns of `in` into panels of `width` and writes them one after the other, each row by row:
 *
 *     in[i * across + l * along]  ->  out[p * (width * k + gap) + l * w + i - p * width]      p = i / width
 *
 * as elements of the class; where those are pairs, l and k are counted in pairs on the right. across and along are in
 * elements of the dtype. w is the width of panel p: of the last one what is left of `count`, rounded up to a multiple
 * of `unit` with zeros. */
typedef void wk__gemm_pack(void *out, int width, int unit, int64_t count, int64_t k, const void *in, int64_t across,
                           int64_t along);
/* out[i * step] = in[i], narrowed to the dtype. */
typedef void wk__gemm_unpack(void *out, int64_t step, int64_t count, const void *in);

/* How products of one dtype are made. A file of kernels lists those that it has; dtype 0 ends the list. */
typedef struct wk__gemm {
    wk_dtype dtype;
    const wk__gemm_microkernels *class;
    wk__gemm_pack *pack;
    wk__gemm_unpack *unpack;
} wk__gemm;

#endif
