/* SPDX-License-Identifier: Apache-2.0 */
/* Folds a vector onto its lane 0: the upper half of the lanes onto the lower, until one is left. */
#ifndef WICK_BACKEND_CPU_ISA_FOLD_H
#define WICK_BACKEND_CPU_ISA_FOLD_H

#include "vector.h"

/* Rotate the lanes left by n. */
#if WIDTH == 64
#define LANES4_FROM_8(x) __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
#define LANES4_FROM_4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3)
#define LANES4_FROM_2(x) __builtin_shufflevector(x, x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1)
#define LANES4_FROM_1(x) __builtin_shufflevector(x, x, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0)
#define LANES8_FROM_4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3)
#define LANES8_FROM_2(x) __builtin_shufflevector(x, x, 2, 3, 4, 5, 6, 7, 0, 1)
#define LANES8_FROM_1(x) __builtin_shufflevector(x, x, 1, 2, 3, 4, 5, 6, 7, 0)
#elif WIDTH == 32
#define LANES4_FROM_4(x) __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3)
#define LANES4_FROM_2(x) __builtin_shufflevector(x, x, 2, 3, 4, 5, 6, 7, 0, 1)
#define LANES4_FROM_1(x) __builtin_shufflevector(x, x, 1, 2, 3, 4, 5, 6, 7, 0)
#define LANES8_FROM_2(x) __builtin_shufflevector(x, x, 2, 3, 0, 1)
#define LANES8_FROM_1(x) __builtin_shufflevector(x, x, 1, 2, 3, 0)
#else
#define LANES4_FROM_2(x) __builtin_shufflevector(x, x, 2, 3, 0, 1)
#define LANES4_FROM_1(x) __builtin_shufflevector(x, x, 1, 2, 3, 0)
#define LANES8_FROM_1(x) __builtin_shufflevector(x, x, 1, 0)
#endif

/* Fold all lanes of a vector onto lane 0 with function f. */
#if WIDTH == 64
#define FOLD4(f, x)                                                                                                    \
    (x = f(x, LANES4_FROM_8(x)), x = f(x, LANES4_FROM_4(x)), x = f(x, LANES4_FROM_2(x)), f(x, LANES4_FROM_1(x)))
#define FOLD8(f, x) (x = f(x, LANES8_FROM_4(x)), x = f(x, LANES8_FROM_2(x)), f(x, LANES8_FROM_1(x)))
#elif WIDTH == 32
#define FOLD4(f, x) (x = f(x, LANES4_FROM_4(x)), x = f(x, LANES4_FROM_2(x)), f(x, LANES4_FROM_1(x)))
#define FOLD8(f, x) (x = f(x, LANES8_FROM_2(x)), f(x, LANES8_FROM_1(x)))
#else
#define FOLD4(f, x) (x = f(x, LANES4_FROM_2(x)), f(x, LANES4_FROM_1(x)))
#define FOLD8(f, x) f(x, LANES8_FROM_1(x))
#endif

#endif
