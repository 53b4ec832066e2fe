/* SPDX-License-Identifier: Apache-2.0 */
/* Interface between matrix products and the instruction sets: microkernels, which compute tiles of C in registers, and
 * packing, which copies operands of any dtype and strides into the order in which tiles read them.
 *
 * Each set has four classes, f32, f64, i32 and i64; narrower dtypes are widened when packed and narrowed when C is
 * complete. bool counts in i64, which no k can wrap to 0. Some CPUs have instructions for one more dtype: a separate
 * class, whose packed elements may contain several steps of the sum. Kernels have no state; any thread may call them.
 *
 *     k_per_packed 1    l = 0     l = 1     l = 2           of line i, as tiles read it: A[i, l] or B[l, i]
 *     k_per_packed 2    l = 0, 1            l = 2, 3        a pair is one packed element, padded with zeros beyond k */
#ifndef WICK_CPU_GEMM_H
#define WICK_CPU_GEMM_H

#include "ir/ir.h"

enum {
    /* Bytes between packed panels: otherwise panels of 2^n elements would all start in the same cache set. */
    WK__GEMM_GAP = 64,
    WK__GEMM_VECTOR = 64, /* bytes of the largest vector */
};

/* One tile: C[i, j] = or += sum over l of A[i, l] B[l, j], in increasing l, with one rounding per step if the CPU has
 * fma. Strides and k count packed elements. Rows of B and C are contiguous. */
typedef struct wk__tile {
    int64_t k;
    const void *a; /* A[i, l] = a[i * a_row + l * a_step] */
    int64_t a_row, a_step;
    const void *b; /* B[l, j] = b[l * b_step + j] */
    int64_t b_step;
    void *c; /* C[i, j] = c[i * c_row + j] */
    int64_t c_row;
    int columns; /* 1..columns of the class; columns beyond are not accessed */
    bool add;
} wk__tile;

typedef void wk__tile_fn(const wk__tile *tile);

enum { WK__GEMM_INDIRECT_VECTORS = 3 /* maximum vectors per tile */ };

/* A tile whose columns are separate vectors, in B and in C, and whose rows of B start anywhere:
 *
 *     B[l, v, j] = b[at[l] + b_vector[v] + j]       C[i, v, j] = c[i * c_row + c_vector[v] + j], j < count[v]
 *
 * Rows of B may overlap, so that all taps of a convolution are rows of one copy of the input. Complete vectors of B are
 * read; C is not accessed beyond `count`. */
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

/* A tile whose lanes are rows of C, and whose columns are runs of adjacent positions, for a part of the sum:
 *
 *     S[j, i] = or += sum over l of A[j, l] B[l, i]         j < rows, i = r * length + s, s < length
 *     A[j, l] = a[l * vectors * lanes + j]      B[l, i] = b[at[l] + r * b_run + s]      C[j, i] = c[j * c_row + i]
 *
 * Each element of B is broadcast. A block of k_block steps is summed in increasing l, and then added to S, which is in
 * `sums`, vectors * lanes vectors that are kept between the parts; the last part copies it to C. Complete vectors of A
 * are read; C is not accessed beyond `rows`. */
typedef struct wk__row_lanes_tile {
    int64_t k, k_block;
    const void *a, *b;
    const int64_t *at;
    int64_t b_run;
    void *sums, *c;
    int64_t c_row;
    int rows; /* 1..vectors * lanes */
    bool first, last;
} wk__row_lanes_tile;

typedef void wk__row_lanes_fn(const wk__row_lanes_tile *tile);

enum {
    WK__ROW_LANES_VECTORS = 2, /* maximum vectors per tile, */
    WK__ROW_LANES_RUNS = 4,    /* runs, */
    WK__ROW_LANES_LENGTH = 14, /* and columns per run */
};

/* A plane of a depthwise convolution: the sum has no channels.
 *
 *     C[y, x] = sum over l of a[l] b[at[l] + y * b_row + x], in the order of l      C[y, x] = c[y * c_row + x]
 *
 * Complete vectors of B are read; C is not accessed beyond `columns`. */
typedef struct wk__plane {
    int64_t taps, rows, columns;
    const void *a, *b;
    const int64_t *at;
    int64_t b_row;
    void *c;
    int64_t c_row;
} wk__plane;

typedef void wk__plane_fn(const wk__plane *plane);

/* Functions for planes: [0] for any taps, [k] for a grid of n x n taps, n = 2 k + 1:
 *
 *     at[u * n + v] = at[0] + u * b_row + v */
enum { WK__PLANE_GRIDS = 4 };

/* Dot products along which both operands are read in place, in contiguous runs: every lane of a vector accumulates
 * separate products of C[i, j], and sums[(i * sum_row + j) * lanes ..] stores the vector between calls. A and B are not
 * accessed beyond `length`.
 *
 *     lane x % lanes of C[i, j] += sum over r, x of a[i * a_row + a_run[r] + x] b[b_column[j] + b_run[r] + x] */
typedef struct wk__k_lanes_tile {
    int64_t runs, length;
    const void *a, *b;
    int64_t a_row, sum_row;
    const int64_t *a_run, *b_run, *b_column;
    void *sums;
} wk__k_lanes_tile;

enum { WK__GEMM_K_LANES_COLUMNS = 8 /* maximum columns per tile */ };

typedef void wk__k_lanes_fn(const wk__k_lanes_tile *dots);

typedef struct wk__gemm_microkernels {
    int rows, columns, lanes; /* of the largest tile; columns is a multiple of lanes */
    size_t packed_size;       /* bytes of a packed element of A and B, */
    size_t acc_size;          /* and of an accumulator, an element of C as written by tiles */
    int k_per_packed;         /* steps of the sum per packed element: 1 or 2 */
    wk__tile_fn *const *tile; /* [(ceil(columns / lanes) - 1) * rows + rows - 1], indexed by the size of the tile */
    /* Vector times matrix, m = 1: c[j] = or += sum over l of a[l] B[l, j]. gemv_rows reads contiguous rows of B,
     * gemv_columns contiguous columns (b_step is then the distance of columns). NULL in the integer classes. */
    void (*gemv_rows)(int64_t n, int64_t k, const void *a, const void *b, int64_t b_step, void *c, bool add);
    void (*gemv_columns)(int64_t n, int64_t k, const void *a, const void *b, int64_t b_step, void *c, bool add);
    /* Tiles of separate vectors: [(vectors - 1) * rows + rows - 1]; NULL in all classes but f32. */
    wk__indirect_tile_fn *const *indirect;
    wk__plane_fn *const *plane; /* [WK__PLANE_GRIDS]; NULL likewise */
    /* Tiles whose lanes are rows, of at most row_lanes_columns columns: [vectors - 1][runs - 1][length - 1], NULL for
     * other shapes. NULL likewise, and if vectors are too short. */
    int row_lanes_columns;
    wk__row_lanes_fn *const (*row_lanes)[WK__ROW_LANES_RUNS][WK__ROW_LANES_LENGTH];
    /* [(rows - 1) * dot_columns + columns - 1]; NULL in all classes but f32. `fold` adds up the lanes of `count` sums,
     * upper half onto lower. */
    int dot_rows, dot_columns;
    wk__k_lanes_fn *const *k_lanes;
    void (*fold)(int64_t count, const void *sums, void *out);
    /* C[i, j] += D[i, j] for contiguous rows. */
    void (*add)(int64_t rows, int64_t columns, const void *d, int64_t d_row, void *c, int64_t c_row);
    /* out[2 i] = even[i], out[2 i + 1] = odd[i] */
    void (*interleave)(int64_t count, const void *even, const void *odd, void *out);
} wk__gemm_microkernels;

/* Returns the number of packed elements for k steps of the sum. */
static inline int64_t wk__gemm_packed_k(const wk__gemm_microkernels *class, int64_t k)
{
    return (k + class->k_per_packed - 1) / class->k_per_packed;
}

/* Packs `count` columns of `in` into consecutive panels of `width`, row by row:
 *
 *     in[i * across + l * along]  ->  out[p * (width * k + gap) + l * w + i - p * width]      p = i / width
 *
 * as packed elements; if those are pairs, l and k count pairs on the right. across and along count elements of the
 * dtype. w is the width of panel p; for the last one, the rest of `count` rounded up to a multiple of `unit`, padded
 * with zeros. */
typedef void wk__gemm_pack(void *out, int width, int unit, int64_t count, int64_t k, const void *in, int64_t across,
                           int64_t along);
/* out[i * step] = in[i], narrowed to the dtype. */
typedef void wk__gemm_unpack(void *out, int64_t step, int64_t count, const void *in);

/* Kernels for one dtype. Each instruction set has a list of those it supports, terminated by dtype 0. */
typedef struct wk__gemm {
    wk_dtype dtype;
    const wk__gemm_microkernels *class;
    wk__gemm_pack *pack;
    wk__gemm_unpack *unpack;
} wk__gemm;

/* C (rows, columns) = or += A (rows, k) B (k, columns) on this thread, for matrices in cache; `all` addresses them as a
 * tile does. */
void wk__gemm_multiply(const wk__gemm *gemm, int64_t rows, int64_t columns, wk__tile all);

#endif
