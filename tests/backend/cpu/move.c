/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between memory and panels: each element size, both directions, complete and partial patches, short and long
 * column strides, lanes in runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "backend/cpu/vm/panel_copy.h"

enum { LANES = 70, PITCH = LANES * 8 + 24, MEMORY = 1 << 17, PANEL = WK__PATCH_COLUMNS * PITCH, GUARD = 64 };

static uint8_t noise(size_t k)
{
    uint32_t x = (uint32_t)k * 2654435761u;
    return (uint8_t)(x >> 24 ^ x >> 13);
}

/* Byte-by-byte reference of wk__copy_patch. */
static void move_plainly(char *panel, char *memory, int64_t step, const int64_t offset[], int64_t lanes,
                         int64_t columns, int size, bool fill)
{
    for (int64_t c = 0; c < columns; c++)
        for (int64_t l = 0; l < lanes; l++)
            for (int b = 0; b < size; b++) {
                char *in_panel = panel + c * PITCH + l * size + b, *in_memory = memory + offset[l] + c * step + b;
                if (fill) {
                    *in_panel = *in_memory;
                } else {
                    *in_memory = *in_panel;
                }
            }
}

static void compare(int64_t step, int64_t stride, int64_t lanes, int64_t columns, int size, bool fill)
{
    static char memory[2][MEMORY + 2 * GUARD], panel[2][PANEL + 2 * GUARD];
    static int64_t offset[LANES];
    for (size_t k = 0; k < sizeof memory[0]; k++) memory[0][k] = memory[1][k] = (char)noise(k);
    for (size_t k = 0; k < sizeof panel[0]; k++) panel[0][k] = panel[1][k] = (char)noise(k + sizeof memory[0]);
    for (int64_t l = 0; l < lanes; l++) offset[l] = (l * 37 % lanes) * stride; /* lanes in random order */
    const int64_t start = GUARD + (step < 0 ? -step * columns : 0) + 3 * size; /* not aligned to a cache line */
    move_plainly(panel[0] + GUARD, memory[0] + start, step, offset, lanes, columns, size, fill);
    wk__copy_patch(panel[1] + GUARD, PITCH, (intptr_t)(memory[1] + start), step, offset, lanes, columns, size, fill);
    assert_memory_equal(memory[0], memory[1], sizeof memory[0]);
    assert_memory_equal(panel[0], panel[1], sizeof panel[0]);
}

static void every_size(void **state)
{
    (void)state;
    static const int64_t lanes[] = {1, 2, 7, 16, 17, 32, 63, 64, LANES};
    for (int size = 1; size <= 8; size *= 2)
        for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++)
            for (int64_t columns = 1; columns <= WK__PATCH_COLUMNS; columns++)
                for (int fill = 0; fill < 2; fill++) {
                    compare(size, 17 * size, lanes[k], columns, size, fill);
                    compare(-size, 16 * size, lanes[k], columns, size, fill);
                    compare(2 * size, 33 * size, lanes[k], columns, size, fill);
                    compare(LANES * size, size, lanes[k], columns, size, fill);
                }
}

/* Compares lanes in runs of `length`, of which the first has begun. The memory ends with the last lane: a copy that
 * reads beyond it is an error of AddressSanitizer. */
static void compare_runs(const wk__lane_runs *runs, int64_t lanes, int size, bool fill)
{
    int64_t offset[LANES], lowest = 0, highest = 0;
    for (int64_t l = 0; l < lanes; l++) {
        const int64_t index = runs->first + l;
        offset[l] = index / runs->length * runs->next + (index % runs->length - runs->first) * runs->step;
        if (offset[l] < lowest) lowest = offset[l];
        if (offset[l] > highest) highest = offset[l];
    }
    const size_t bytes = (size_t)(highest - lowest + size);
    char *memory[2], panel[2][LANES * 8 + GUARD];
    for (int k = 0; k < 2; k++) {
        memory[k] = malloc(bytes);
        assert_non_null(memory[k]);
        for (size_t i = 0; i < bytes; i++) memory[k][i] = (char)noise(i);
        for (size_t i = 0; i < sizeof panel[k]; i++) panel[k][i] = (char)noise(i + bytes);
    }
    move_plainly(panel[0], memory[0] - lowest, 0, offset, lanes, 1, size, fill);
    wk__copy_runs(panel[1], (intptr_t)(memory[1] - lowest), runs, lanes, size, fill);
    assert_memory_equal(memory[0], memory[1], bytes);
    assert_memory_equal(panel[0], panel[1], sizeof panel[0]);
    free(memory[0]), free(memory[1]);
}

static void lanes_in_runs(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 14, 16, 17, 28, LANES, 1000};
    for (int size = 1; size <= 8; size *= 2)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (int64_t step = -2; step <= 3; step++)
                for (int64_t first = 0; first < lengths[k]; first += 1 + lengths[k] / 3)
                    for (int64_t lanes = 1; lanes <= LANES; lanes += 1 + lanes / 4) {
                        const int64_t length = lengths[k], width = step < 0 ? -step : step;
                        const wk__lane_runs apart = {length, first, step * size, (width * length + 5) * size};
                        const wk__lane_runs backwards = {length, first, step * size, -(width * length + 2) * size};
                        if (step != 0) compare_runs(&apart, lanes, size, false);
                        compare_runs(&apart, lanes, size, true);
                        compare_runs(&backwards, lanes, size, true);
                    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_size), cmocka_unit_test(lanes_in_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
