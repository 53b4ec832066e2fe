/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums and products of adjacent lines, compiled for each instruction set (isa/scan.c). */
#ifndef WICK_BACKEND_CPU_SCAN_H
#define WICK_BACKEND_CPU_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/* Lines whose elements at one index are adjacent, in both operands. */
typedef struct wk__scan_lines {
    char *out; /* first element of the first line */
    const char *in;
    int64_t out_step, in_step; /* bytes along a line */
    int64_t length, lines;
    bool product;
} wk__scan_lines;

/* Scans the first lines, accumulating in f64, and returns their number: as many as fill vectors, or all. */
typedef int64_t wk__scan_adjacent(const wk__scan_lines *lines);

#endif
