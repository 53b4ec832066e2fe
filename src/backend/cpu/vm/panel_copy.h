/* SPDX-License-Identifier: Apache-2.0 */
/* Copies elements of any dtype, by size, between memory and the panels that programs access. A panel stores lanes
 * contiguously:
 *
 *     memory     lane 0: c0 c1 c2 ...        panel     c0: lane 0, lane 1, ...
 *                lane 1: c0 c1 c2 ...  <->             c1: lane 0, lane 1, ...
 *
 * Lane l of column c is at `address` + offset[l] + c x step. `fill`: into the panel, else out of it. */
#ifndef WICK_BACKEND_CPU_VM_PANEL_COPY_H
#define WICK_BACKEND_CPU_VM_PANEL_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of columns per copy. */
enum { WK__PATCH_COLUMNS = 16 };

/* Lanes that form runs of equally spaced elements. */
typedef struct wk__lane_runs {
    int64_t length, first; /* lanes per run; index of lane 0 in its run */
    int64_t step, next;    /* bytes between the lanes of a run, and between the starts of two runs */
} wk__lane_runs;

/* Copies one column whose lanes form runs; `address` is that of lane 0. */
void wk__copy_runs(char *panel, intptr_t address, const wk__lane_runs *runs, int64_t lanes, int size, bool fill);
/* Copies one column of any lanes. */
void wk__copy_lanes(char *panel, intptr_t address, const int64_t offset[], int64_t lanes, int size, bool fill);
/* Copies several columns, `pitch` bytes apart in the panel, in the order with better memory access. */
void wk__copy_patch(char *panel, int64_t pitch, intptr_t address, int64_t step, const int64_t offset[], int64_t lanes,
                    int64_t columns, int size, bool fill);
/* Copies one element to all lanes. */
void wk__broadcast_lanes(char *panel, intptr_t address, int64_t lanes, int size);

#endif
