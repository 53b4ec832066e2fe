/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums and products.
 *
 *   walked   an item processes a line, or a part of one, sequentially: for short lines, for enough adjacent lines, and
 *            on CPUs, where reading twice costs more than sharing a line gains
 *   tiled    a work-group processes a line, or a part of one, in tiles of eight elements per item
 *
 * A line in one part takes one launch; a line in several takes three: the sum of each part, to scratch memory; the
 * exclusive prefix of these sums; then each part, starting from its prefix. The order of additions depends only on the
 * shape and the kind of device. Products of floats are never split: a 0 before an overflow would be lost, and 0 times
 * infinity is NaN.
 *
 * A running sum of floats carries its rounding error (Neumaier's sum), so that the error does not grow with the line.
 * The correction is dropped if it is NaN, as after an infinity. */
#include "backend/gpu/lower.h"
#include "along_dim.h"
#include "backend/gpu/codegen/device_source.h"

#include "base/integers.h"

#include <stdlib.h>

/* clang-format off */ /* of device code */
static const char joins[] = "#define JOINED T\n#define NOTHING ((T)MODE)\n"
                            "#define JOIN(x, y) (MODE == 0 ? NAME(wk_plus)(x, y) : NAME(wk_times)(x, y))\n"
                            "#define SUMS_FLOATS (MODE == 0 && IS_FLOAT)\n"
                            "#define JOIN_TO(sum, lost, x) { const T next = x; const T to = JOIN(sum, next); "
                            "if (SUMS_FLOATS) { const T taken = to - sum; "
                            "const T rest = (sum - (to - taken)) + (next - taken); "
                            "lost = rest == rest ? lost + rest : lost; } sum = to; }\n"
                            "#define WITH_LOST(sum, lost) (SUMS_FLOATS ? NAME(wk_plus)(sum, lost) : sum)\n";
static const char end_of_joins[] = "#undef JOINED\n#undef NOTHING\n#undef JOIN\n#undef SUMS_FLOATS\n"
                                   "#undef JOIN_TO\n#undef WITH_LOST\n";

/* ---- walked: sums of parts are stored as [part][line] ------------------------------------------------------------ */

static const char item_of_part[] = DEVICE_CODE(
    const i64 at = A(0) + ITEM;
    if (at >= A(1)) return;
    const i64 line = at % LINES;
    const i64 first = at / LINES * PART;
    const i64 end = wk_min_i64(first + PART, LENGTH););
static const char walked_sums[] = DEVICE_CODE(
    GM const STORAGE *in = (GM const STORAGE *)m1 + o1;
    T sum = NOTHING;
    T lost = 0;
    for (i64 j = first; j < end; j++) JOIN_TO(sum, lost, LOAD(in[j * STRIDE(1)]));
    ((GM T *)m2)[at] = WITH_LOST(sum, lost););
static const char walked_offsets[] = DEVICE_CODE(
    const i64 line = A(0) + ITEM;
    if (line >= A(1)) return;
    GM T *sums = (GM T *)m2 + line;
    T sum = NOTHING;
    T lost = 0;
    for (i64 part = 0; part < PARTS; part++) {
        const T own = sums[part * LINES];
        sums[part * LINES] = WITH_LOST(sum, lost);
        JOIN_TO(sum, lost, own);
    });
static const char from_nothing[] = "T running = NOTHING;\n";
static const char from_offset[] = "T running = ((GM const T *)m2)[at];\n";
static const char walk[] = DEVICE_CODE(
    GM STORAGE *out = (GM STORAGE *)m0 + o0;
    GM const STORAGE *in = (GM const STORAGE *)m1 + o1;
    T lost = 0;
    for (i64 j = first; j < end; j++) {
        JOIN_TO(running, lost, LOAD(in[j * STRIDE(1)]));
        out[j * STRIDE(0)] = STORE(WITH_LOST(running, lost));
    });

/* ---- tiled: sums of parts are stored as [line][part] ------------------------------------------------------------- */

static const char group_of_part[] = DEVICE_CODE(
    const i64 at = A(0) + GROUP;
    const i64 line = at / PARTS;
    const i64 first = at % PARTS * PART;
    const i64 end = wk_min_i64(first + PART, LENGTH););
static const char tiled_sums[] = DEVICE_CODE(
    SHARED(T, sums, LOCALS);
    GM const STORAGE *in = (GM const STORAGE *)m1 + o1;
    T sum = NOTHING;
    T lost = 0;
    for (i64 j = first + LOCAL; j < end; j += LOCALS) JOIN_TO(sum, lost, LOAD(in[j * STRIDE(1)]));
    sums[LOCAL] = WITH_LOST(sum, lost);
    BARRIER;
    for (int step = LOCALS / 2; step > 0; step /= 2) {
        if (LOCAL < step) sums[LOCAL] = JOIN(sums[LOCAL], sums[LOCAL + step]);
        BARRIER;
    }
    if (LOCAL == 0) ((GM T *)m2)[at] = sums[0];);
static const char tiled_offsets_head[] = DEVICE_CODE(
    GM T *sums = (GM T *)m2 + (A(0) + GROUP) * PARTS;
    T sum = NOTHING;
    T lost = 0;
    for (i64 first = 0; first < PARTS; first += LOCALS) {
        const i64 part = first + LOCAL;
        const T own = part < PARTS ? sums[part] : NOTHING;);
static const char tiled_offsets_tail[] = DEVICE_CODE(
        if (part < PARTS) sums[part] = JOIN(sum, WITH_LOST(before, lost));
        JOIN_TO(sum, lost, all);
    });

/* Adjacent items load and store adjacent elements; an item's elements are a row of 9 slots in the tile, so that items
 * of a warp use different banks. */
static const char tiles_memory[] = "SHARED(T, tile, LOCALS * 9);\n";
static const char tiles_head[] = DEVICE_CODE(
    GM STORAGE *out = (GM STORAGE *)m0 + o0;
    GM const STORAGE *in = (GM const STORAGE *)m1 + o1;
    T lost = 0;
    for (i64 begin = first; begin < end; begin += LOCALS * 8) {
        for (int e = 0; e < 8; e++) {
            const int i = e * LOCALS + LOCAL;
            tile[i + i / 8] = begin + i < end ? LOAD(in[(begin + i) * STRIDE(1)]) : NOTHING;
        }
        BARRIER;
        T own = NOTHING;
        for (int e = 0; e < 8; e++) own = JOIN(own, tile[LOCAL * 9 + e]););
static const char tiles_tail[] = DEVICE_CODE(
        T sum = JOIN(running, WITH_LOST(before, lost));
        T own_lost = 0;
        for (int e = 0; e < 8; e++) {
            JOIN_TO(sum, own_lost, tile[LOCAL * 9 + e]);
            tile[LOCAL * 9 + e] = WITH_LOST(sum, own_lost);
        }
        JOIN_TO(running, lost, all);
        BARRIER;
        for (int e = 0; e < 8; e++) {
            const int i = e * LOCALS + LOCAL;
            if (begin + i < end) out[(begin + i) * STRIDE(0)] = STORE(tile[i + i / 8]);
        }
    });
/* clang-format on */

static const char *const walked_text[] = {wk__gpu_line_names, joins, item_of_part, wk__gpu_line_starts,
                                          from_nothing,       walk,  end_of_joins, NULL};
static const char *const walked_sums_text[] = {wk__gpu_line_names, joins,        item_of_part, wk__gpu_line_starts,
                                               walked_sums,        end_of_joins, NULL};
static const char *const walked_offsets_text[] = {wk__gpu_line_names, joins, walked_offsets, end_of_joins, NULL};
static const char *const walked_parts_text[] = {wk__gpu_line_names, joins, item_of_part, wk__gpu_line_starts,
                                                from_offset,        walk,  end_of_joins, NULL};
/* `start`: initial value of a part. */
#define TILED(start)                                                                                                   \
    wk__gpu_line_names, joins, wk__gpu_prefix_memory, tiles_memory, group_of_part, wk__gpu_line_starts, start,         \
        tiles_head, wk__gpu_prefix_before, wk__gpu_prefix_all, tiles_tail, end_of_joins, NULL
static const char *const tiled_text[] = {TILED(from_nothing)}, *const tiled_parts_text[] = {TILED(from_offset)};
static const char *const tiled_sums_text[] = {wk__gpu_line_names, joins,        group_of_part, wk__gpu_line_starts,
                                              tiled_sums,         end_of_joins, NULL};
static const char *const tiled_offsets_text[] = {wk__gpu_line_names,
                                                 joins,
                                                 wk__gpu_prefix_memory,
                                                 tiled_offsets_head,
                                                 wk__gpu_prefix_before,
                                                 wk__gpu_prefix_all,
                                                 tiled_offsets_tail,
                                                 end_of_joins,
                                                 NULL};
/* Templates of an algorithm: for a line in one part; and the three for a line in several. */
typedef struct scan_templates {
    wk__gpu_template whole, sums, offsets, parts;
} scan_templates;

static const scan_templates walked = {{.name = "scan", .text = walked_text},
                                      {.name = "scan_sums", .text = walked_sums_text},
                                      {.name = "scan_offsets", .text = walked_offsets_text},
                                      {.name = "scan_parts", .text = walked_parts_text}};
static const scan_templates tiled = {{.name = "scan_tiled", .text = tiled_text},
                                     {.name = "scan_tiled_sums", .text = tiled_sums_text},
                                     {.name = "scan_tiled_offsets", .text = tiled_offsets_text},
                                     {.name = "scan_tiled_parts", .text = tiled_parts_text}};

/* ---- choice of algorithm ----------------------------------------------------------------------------------------- */

enum {
    FEW_LINES = 64,          /* up to this many lines, one per work-group or item, don't occupy a device */
    MIN_ADJACENT_LINES = 32, /* minimum adjacent lines for coalesced access */
    ENOUGH_LINES = 4096,     /* items that occupy a device */
    ITEMS = 16384,           /* desired number, if lines are split among items */
    LEAST_PART = 64          /* minimum elements per item of such a line */
};

/* Returns true if adjacent lines are contiguous in memory and the elements of a line are not. */
static bool are_adjacent(const wk__work_args *kernel)
{
    int last = kernel->ndim - 1;
    while (last >= 0 && (last == kernel->dim || kernel->shape[last] == 1)) last--;
    for (int k = 0; k < 2 && last >= 0; k++) {
        const int64_t *stride = kernel->operand[k].stride;
        if (llabs(stride[last]) > 1 || llabs(stride[kernel->dim]) <= 1) return false;
    }
    return last >= 0;
}

static bool can_split(const wk__work_args *kernel)
{
    return kernel->mode == 0 || kernel->operand[0].dtype > WK_BF16;
}

static const scan_templates *choose_algorithm(const wk__gpu_target *target, const wk__work_args *kernel, int64_t lines,
                                              int64_t length, int64_t *parts)
{
    *parts = 1;
    if (!target->local_memory || target->group_size < WK__GPU_PREFIX_ROW || length <= target->item_line_max ||
        !can_split(kernel))
        return &walked;
    if (lines >= MIN_ADJACENT_LINES && are_adjacent(kernel)) {
        if (lines < ENOUGH_LINES) *parts = wk__max_i64(1, wk__min_i64(ITEMS / lines, length / LEAST_PART));
        return &walked;
    }
    if (lines <= FEW_LINES && length >= 2 * target->chunk_columns)
        *parts = wk__chunk_count(length, target->chunk_columns);
    return &tiled;
}

wk_code wk__gpu_lower_scan(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch_fn *emit, void *user,
                           wk__fail *fail)
{
    const wk__work_args *kernel = work->args;
    wk__gpu_launch launch;
    int64_t lines = wk__gpu_fill_along_dim(kernel, 2, &launch), length = launch.argument[WK__GPU_LENGTH], parts;
    const scan_templates *way = choose_algorithm(target, kernel, lines, length, &parts);
    launch.spec.per_group = way == &tiled;
    if (parts == 1) return wk__gpu_emit_along_dim(&launch, &way->whole, lines, emit, user, fail);
    launch.argument[WK__GPU_PART] = wk__chunk_count(length, parts);
    launch.argument[WK__GPU_PARTS] = parts = wk__chunk_count(length, launch.argument[WK__GPU_PART]);
    launch.spec.nmemory = 3;
    launch.scratch = 8 * lines * parts;
    launch.writes = false;
    wk_code code = wk__gpu_emit_along_dim(&launch, &way->sums, lines * parts, emit, user, fail);
    if (code == WK_OK) code = wk__gpu_emit_along_dim(&launch, &way->offsets, lines, emit, user, fail);
    launch.writes = true;
    return code == WK_OK ? wk__gpu_emit_along_dim(&launch, &way->parts, lines * parts, emit, user, fail) : code;
}
