/* SPDX-License-Identifier: Apache-2.0 */
/* Classes and tile shapes for the GEMM files of this folder. */
#ifndef WICK_CPU_GEMM_ISA_H
#define WICK_CPU_GEMM_ISA_H

#include "backend/cpu/contraction/gemm.h"
#include "gemm_vector.h"

extern const wk__gemm WK__ISA_NAME(wk__gemm)[];
extern const wk__gemm_microkernels WK__ISA_NAME(wk__gemm_f32);
extern const wk__gemm_microkernels WK__ISA_NAME(wk__gemm_f64);
extern const wk__gemm_microkernels WK__ISA_NAME(wk__gemm_i32);
extern const wk__gemm_microkernels WK__ISA_NAME(wk__gemm_i64);

/* All heights of tiles for each width in vectors. Accumulators, one row of B and a factor must fit in registers: 8 x 3
 * + 3 of 32 (the factor is a memory operand of the multiplication, or one more register), 6 x 2 + 2 + 1 of 16. Integer
 * products use the smaller shape everywhere: their multiplications are slow enough to hide the rest. */
#define GEMM_TILES_6(T, v) T(1, v) T(2, v) T(3, v) T(4, v) T(5, v) T(6, v)
#define GEMM_TILES_8(T, v) GEMM_TILES_6(T, v) T(7, v) T(8, v)
#define GEMM_TILES_8_3(T)  GEMM_TILES_8(T, 1) GEMM_TILES_8(T, 2) GEMM_TILES_8(T, 3)
#define GEMM_TILES_6_2(T)  GEMM_TILES_6(T, 1) GEMM_TILES_6(T, 2)

#define GEMM_DOTS_6(T, r) T(r, 1) T(r, 2) T(r, 3) T(r, 4) T(r, 5) T(r, 6)
#define GEMM_DOTS_4(T, r) T(r, 1) T(r, 2) T(r, 3) T(r, 4)
#define GEMM_DOTS_4_6(T)  GEMM_DOTS_6(T, 1) GEMM_DOTS_6(T, 2) GEMM_DOTS_6(T, 3) GEMM_DOTS_6(T, 4)
#define GEMM_DOTS_3_4(T)  GEMM_DOTS_4(T, 1) GEMM_DOTS_4(T, 2) GEMM_DOTS_4(T, 3)

/* Tiles whose lanes are rows: runs and their lengths. Accumulators, two vectors of A and an element of B must fit in
 * registers: 14 x 2 + 3 of 32, 6 x 2 + 3 of 16. Several runs are for rows of C that are shorter than a tile. */
#define GEMM_RUNS_6(T)   T(1, 1) T(1, 2) T(1, 3) T(1, 4) T(1, 5) T(1, 6) T(2, 2) T(2, 3) T(3, 2)
#define GEMM_RUN_14(T)   T(1, 7) T(1, 8) T(1, 9) T(1, 10) T(1, 11) T(1, 12) T(1, 13) T(1, 14)
#define GEMM_SHORT_14(T) T(2, 4) T(2, 5) T(2, 6) T(2, 7) T(3, 3) T(3, 4) T(4, 2) T(4, 3)
#define GEMM_RUNS_14(T)  GEMM_RUNS_6(T) GEMM_RUN_14(T) GEMM_SHORT_14(T)

#if WIDTH == 64
enum { ROW_LANES_COLUMNS = 14 };
#define GEMM_RUN_TILES GEMM_RUNS_14
#else
enum { ROW_LANES_COLUMNS = 6 };
#define GEMM_RUN_TILES GEMM_RUNS_6
#endif

#if WIDTH == 64 || defined(__aarch64__)
enum { GEMM_FLOAT_ROWS = 8, GEMM_FLOAT_VECS = 3, DOT_ROWS = 4, DOT_COLUMNS = 6 };
#define GEMM_FLOAT_TILES GEMM_TILES_8_3
#define GEMM_DOT_TILES   GEMM_DOTS_4_6
#else
enum { GEMM_FLOAT_ROWS = 6, GEMM_FLOAT_VECS = 2, DOT_ROWS = 3, DOT_COLUMNS = 4 };
#define GEMM_FLOAT_TILES GEMM_TILES_6_2
#define GEMM_DOT_TILES   GEMM_DOTS_3_4
#endif

#endif
