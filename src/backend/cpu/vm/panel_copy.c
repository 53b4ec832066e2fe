/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between memory and panels; see panel_copy.h. Each loop is written once and inlined for each element size. */
#include "panel_copy.h"
#include "backend/cpu/copy_chunks.h"

#include <stdlib.h>

typedef uint8_t bytes1 __attribute__((may_alias));
typedef uint16_t bytes2 __attribute__((may_alias));
typedef uint32_t bytes4 __attribute__((may_alias));
typedef uint64_t bytes8 __attribute__((may_alias));

static inline void copy_element(char *to, const char *from, int size)
{
    switch (size) {
    case 1: *(bytes1 *)to = *(const bytes1 *)from; break;
    case 2: *(bytes2 *)to = *(const bytes2 *)from; break;
    case 4: *(bytes4 *)to = *(const bytes4 *)from; break;
    default: *(bytes8 *)to = *(const bytes8 *)from;
    }
}

static inline void move_element(char *in_panel, intptr_t in_memory, int size, bool fill)
{
    if (fill) {
        copy_element(in_panel, (const char *)in_memory, size);
    } else {
        copy_element((char *)in_memory, in_panel, size);
    }
}

static inline void move_lanes(char *panel, intptr_t address, const int64_t offset[], int64_t lanes, int size, bool fill)
{
    for (int64_t l = 0; l < lanes; l++) move_element(panel + l * size, address + (intptr_t)offset[l], size, fill);
}

void wk__copy_lanes(char *panel, intptr_t address, const int64_t offset[], int64_t lanes, int size, bool fill)
{
    switch (size) {
    case 1: move_lanes(panel, address, offset, lanes, 1, fill); break;
    case 2: move_lanes(panel, address, offset, lanes, 2, fill); break;
    case 4: move_lanes(panel, address, offset, lanes, 4, fill); break;
    default: move_lanes(panel, address, offset, lanes, 8, fill);
    }
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

typedef uint32_t vector __attribute__((vector_size(16)));
typedef vector unaligned_vector __attribute__((aligned(4), may_alias));

/* Fills a panel with every second of some 4-byte elements. Returns the number of lanes filled, less than `lanes`, so
 * that no vector extends past the last element. */
static inline int64_t fill_pairs(char *restrict panel, const char *restrict from, int64_t lanes)
{
    int64_t l = 0;
    for (; l + 4 < lanes; l += 4) {
        const vector low = *(const unaligned_vector *)(from + 8 * l);
        const vector high = *(const unaligned_vector *)(from + 8 * l + 16);
        *(unaligned_vector *)(panel + 4 * l) = __builtin_shufflevector(low, high, 0, 2, 4, 6);
    }
    return l;
}

static inline void move_run(char *panel, intptr_t address, int64_t step, int64_t lanes, int size, bool fill)
{
    enum { CHUNK = 16 };
    if (step == size && lanes * size >= CHUNK) {
        char *memory = (char *)address;
        wk__copy_chunks(fill ? panel : memory, fill ? memory : panel, lanes * size, CHUNK);
        return;
    }
    int64_t l = size == 4 && step == 8 && fill ? fill_pairs(panel, (const char *)address, lanes) : 0;
    address += (intptr_t)(l * step);
    for (; l < lanes; l++, address += (intptr_t)step) move_element(panel + l * size, address, size, fill);
}

static inline void move_runs(char *panel, intptr_t address, const wk__lane_runs *runs, int64_t lanes, int size,
                             bool fill)
{
    const int64_t step = runs->step;
    for (int64_t l = 0, index = runs->first, count; l < lanes; l += count, index = 0) {
        count = runs->length - index < lanes - l ? runs->length - index : lanes - l;
        move_run(panel + l * size, address, step, count, size, fill);
        address += (intptr_t)(runs->next - index * step);
    }
}

void wk__copy_runs(char *panel, intptr_t address, const wk__lane_runs *runs, int64_t lanes, int size, bool fill)
{
    switch (size) {
    case 1: move_runs(panel, address, runs, lanes, 1, fill); break;
    case 2: move_runs(panel, address, runs, lanes, 2, fill); break;
    case 4: move_runs(panel, address, runs, lanes, 4, fill); break;
    default: move_runs(panel, address, runs, lanes, 8, fill);
    }
}

void wk__broadcast_lanes(char *panel, intptr_t address, int64_t lanes, int size)
{
    const char *from = (const char *)address;
    switch (size) {
    case 1:
        for (int64_t l = 0; l < lanes; l++) copy_element(panel + l, from, 1);
        break;
    case 2:
        for (int64_t l = 0; l < lanes; l++) copy_element(panel + 2 * l, from, 2);
        break;
    case 4:
        for (int64_t l = 0; l < lanes; l++) copy_element(panel + 4 * l, from, 4);
        break;
    default:
        for (int64_t l = 0; l < lanes; l++) copy_element(panel + 8 * l, from, 8);
    }
}

/* ---- contiguous columns ------------------------------------------------------------------------------------------ */

/* Squares of n lanes and n columns, where n elements fill a vector of 16 bytes. There are as many vectors as columns,
 * for any element size. */
enum { SIDE = 16, SIDES = WK__PATCH_COLUMNS };
typedef uint8_t vec16 __attribute__((vector_size(SIDE)));
typedef uint16_t side2 __attribute__((vector_size(SIDE)));
typedef uint32_t side4 __attribute__((vector_size(SIDE)));
typedef uint64_t side8 __attribute__((vector_size(SIDE)));
typedef vec16 side_anywhere __attribute__((aligned(1), may_alias));

/* Interleave the elements of the lower, or upper, halves of a and b. */
static inline vec16 interleave_low(vec16 a, vec16 b, int size)
{
    switch (size) {
    case 1: return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    case 2: return (vec16)__builtin_shufflevector((side2)a, (side2)b, 0, 8, 1, 9, 2, 10, 3, 11);
    case 4: return (vec16)__builtin_shufflevector((side4)a, (side4)b, 0, 4, 1, 5);
    default: return (vec16)__builtin_shufflevector((side8)a, (side8)b, 0, 2);
    }
}

static inline vec16 interleave_high(vec16 a, vec16 b, int size)
{
    switch (size) {
    case 1: return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    case 2: return (vec16)__builtin_shufflevector((side2)a, (side2)b, 4, 12, 5, 13, 6, 14, 7, 15);
    case 4: return (vec16)__builtin_shufflevector((side4)a, (side4)b, 2, 6, 3, 7);
    default: return (vec16)__builtin_shufflevector((side8)a, (side8)b, 1, 3);
    }
}

/* Transposes a square. Writing the row and column index of an element in binary, one after the other, each round
 * rotates the digits left by one; after as many rounds as an index has digits, row and column are exchanged. */
static inline void transpose_square(vec16 square[], int size)
{
    const int n = SIDE / size;
    vec16 next[SIDE];
    for (int round = 1; round < n; round *= 2) {
        for (int k = 0; k < n / 2; k++) {
            next[2 * k] = interleave_low(square[k], square[k + n / 2], size);
            next[2 * k + 1] = interleave_high(square[k], square[k + n / 2], size);
        }
        for (int k = 0; k < n; k++) square[k] = next[k];
    }
}

/* Transposes n lanes of `squares` squares. All loads precede all stores, because the processor delays a load whose
 * address partially matches an earlier store's, as panel addresses often do. (Transposed copy of [3000, 3000] f32, AMD
 * EPYC Zen 4, one thread: 13.1 ms square by square, 7.1 ms this way, 14.7 ms element by element.) */
static inline void transpose_squares(char *panel, int64_t pitch, intptr_t address, const int64_t offset[], int squares,
                                     int size, bool fill)
{
    const int n = SIDE / size;
    vec16 all[SIDES];
    for (int j = 0; j < squares; j++)
        for (int k = 0; k < n; k++)
            all[j * n + k] = *(const side_anywhere *)(fill ? (const char *)(address + (intptr_t)offset[k]) + j * SIDE
                                                           : panel + (j * n + k) * pitch);
    for (int j = 0; j < squares; j++) transpose_square(all + j * n, size);
    for (int j = 0; j < squares; j++)
        for (int k = 0; k < n; k++)
            *(side_anywhere *)(fill ? panel + (j * n + k) * pitch
                                    : (char *)(address + (intptr_t)offset[k]) + j * SIDE) = all[j * n + k];
}

/* Copies lane by lane, for lanes whose columns are close together. */
static inline void copy_rows(char *panel, int64_t pitch, intptr_t address, int64_t step, const int64_t offset[],
                             int64_t lanes, int64_t columns, int size, bool fill)
{
    const int n = SIDE / size, squares = step == size ? (int)columns / n : 0;
    const int64_t whole = squares > 0 ? lanes / n * n : 0;
    for (int64_t l = 0; l < whole; l += n) {
        if (squares == size) {
            transpose_squares(panel + l * size, pitch, address, offset + l, size, size, fill);
        } else {
            transpose_squares(panel + l * size, pitch, address, offset + l, squares, size, fill);
        }
    }
    if (whole == lanes && squares * n == columns) return;
    for (int64_t l = 0; l < lanes; l++) {
        intptr_t memory = address + (intptr_t)offset[l];
        for (int64_t c = l < whole ? squares * n : 0; c < columns; c++)
            move_element(panel + c * pitch + l * size, memory + (intptr_t)(c * step), size, fill);
    }
}

void wk__copy_patch(char *panel, int64_t pitch, intptr_t address, int64_t step, const int64_t offset[], int64_t lanes,
                    int64_t columns, int size, bool fill)
{
    if (columns < 4 || llabs(step) > 2 * size) {
        for (int64_t c = 0; c < columns; c++) {
            wk__copy_lanes(panel + c * pitch, address + (intptr_t)(c * step), offset, lanes, size, fill);
        }
        return;
    }
    switch (size) {
    case 1: copy_rows(panel, pitch, address, step, offset, lanes, columns, 1, fill); break;
    case 2: copy_rows(panel, pitch, address, step, offset, lanes, columns, 2, fill); break;
    case 4: copy_rows(panel, pitch, address, step, offset, lanes, columns, 4, fill); break;
    default: copy_rows(panel, pitch, address, step, offset, lanes, columns, 8, fill);
    }
}
