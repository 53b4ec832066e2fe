/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts lines that fit in local memory, in one launch: a work-group sorts as many lines as fit, each padded to a power
 * of two, by a bitonic network. No two pairs of key and position are equal, so the sort is stable. */
#include "sort.h"
#include "backend/gpu/codegen/device_source.h"

/* clang-format off */ /* of device code */
/* WIDTH: elements of a padded line; all elements of an item belong to one line. Items beyond the last line sort another
 * line again, because their offsets wrap around, and store nothing. */
static const char line_of_item[] = DEVICE_CODE(
    SHARED(KEY, keys, TILE);
    SHARED(u32, positions, TILE);
    const int width = (int)WIDTH;
    const int items = width / EACH;
    const i64 line = (A(0) + GROUP) * (LOCALS / items) + LOCAL / items;
    const int begin = LOCAL / items * width;
    const int own = LOCAL % items;);
static const char body[] = DEVICE_CODE(
    for (int e = 0; e < EACH; e++) {
        const int j = own + e * items;
        keys[begin + j] = j < LENGTH ? KEY_AT(j) : ~(KEY)0;
        positions[begin + j] = j < LENGTH ? (u32)j : ~0u;
    }
    BARRIER;
    for (int run = 2; run <= width; run *= 2) {
        for (int step = run / 2; step > 0; step /= 2) {
            for (int e = 0; e < EACH / 2; e++) {
                const int pair = e * LOCALS + LOCAL;
                const int low = 2 * pair - (pair & (step - 1));
                const int high = low + step;
                const bool falls = (low & (width - 1) & run) != 0;
                const KEY x = keys[low];
                const KEY y = keys[high];
                const u32 at_x = positions[low];
                const u32 at_y = positions[high];
                if ((x > y || (x == y && at_x > at_y)) != falls) {
                    keys[low] = y;
                    keys[high] = x;
                    positions[low] = at_y;
                    positions[high] = at_x;
                }
            }
            BARRIER;
        }
    }
    for (int e = 0; e < EACH; e++) {
        const int j = own + e * items;
        if (line >= LINES || j >= LENGTH) continue;
        const i64 position = (i64)positions[begin + j];
        ((GM STORAGE *)m0)[o0 + j * STRIDE(0)] = ((GM const STORAGE *)m2)[o2 + position * STRIDE(2)];
        ((GM i64 *)m1)[o1 + j * STRIDE(1)] = position;
    });
/* clang-format on */

static const char *const text[] = {
    wk__gpu_line_names, wk__gpu_sort_keys, line_of_item, wk__gpu_line_starts, body, wk__gpu_end_of_sort_keys, NULL};
static const wk__gpu_template sort = {.name = "sort_short", .text = text};

wk_code wk__gpu_lower_sort_bitonic(const wk__gpu_target *target, wk__gpu_launch *launch, wk__gpu_launch_fn *emit,
                                   void *user, wk__fail *fail)
{
    const int64_t tile = wk__gpu_sort_tile(target, launch->spec.dtype), lines = launch->argument[WK__GPU_LINES];
    int64_t width = tile / target->group_size; /* at least the elements of one item */
    while (width < launch->argument[WK__GPU_LENGTH]) width *= 2;
    launch->argument[WK__GPU_WIDTH] = width;
    launch->spec.per_group = true;
    return wk__gpu_emit_along_dim(launch, &sort, wk__chunk_count(lines, tile / width), emit, user, fail);
}
