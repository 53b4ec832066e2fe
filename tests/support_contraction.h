/* SPDX-License-Identifier: Apache-2.0 */
/* The convolutions that tests of contractions go through, and how many elements a result has. */
#ifndef TESTS_SUPPORT_CONTRACTION_H
#define TESTS_SUPPORT_CONTRACTION_H

#include "support_convolution.h"

static const convolution convolutions[] = {
    {1, 2, 1, 3, 4, {9}, {3}, {1}, {1}, {1}},
    {1, 2, 2, 3, 2, {11}, {4}, {3}, {2}, {1}},
    {1, 1, 1, 1, 1, {30}, {5}, {2}, {4}, {3}},
    {1, 3, 1, 5, 7, {40}, {1}, {1}, {0}, {1}},
    {1, 1, 1, 2, 2, {3}, {7}, {1}, {3}, {1}}, /* a kernel longer than its input */
    {1, 0, 1, 2, 2, {5}, {3}, {1}, {1}, {1}},
    {1, 2, 1, 0, 2, {5}, {3}, {1}, {1}, {1}},
    {2, 2, 1, 3, 5, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 2, 4, {9, 10}, {3, 2}, {2, 3}, {1, 0}, {1, 2}},
    {2, 2, 8, 1, 1, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},   /* depthwise */
    {2, 2, 1, 70, 60, {6, 6}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, /* 1 x 1: a product of matrices */
    {2, 1, 1, 64, 50, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 1, 60, 40, {15, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {3, 2, 1, 3, 4, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {3, 1, 2, 2, 3, {5, 6, 7}, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {2, 1, 1}},
    {2, 12, 1, 3, 5, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* pieces end within an image */
};
enum { CONVOLUTIONS = sizeof convolutions / sizeof *convolutions };

static inline int64_t elements_of(const wk__kernel *kernel)
{
    int64_t elements = 1;
    for (int d = 0; d < kernel->ndim; d++) elements *= kernel->shape[d];
    return elements;
}

/* For the end of a program: gives back the panels that the CPU's products keep. */
static inline int trim_products(void **state)
{
    (void)state;
    wk__cpu_matmul_trim();
    return 0;
}

#endif
