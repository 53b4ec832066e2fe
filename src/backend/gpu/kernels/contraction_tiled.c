/* SPDX-License-Identifier: Apache-2.0 */
/* Tiled contractions (tiles.h): rows of C have the indices of A, columns those of B. Tables in local memory contain
 * what each row, column and step of the sum adds to a factor's offset and to the numerators of its coordinates, so an
 * item addresses an element by adding two entries. If a coordinate is out of range, the factor is loaded as 0. */
#include "contraction_axes.h"
#include "backend/gpu/lower.h"
#include "backend/gpu/codegen/codegen_epilogue.h"
#include "backend/gpu/codegen/device_source.h"
#include "tiles.h"

/* TAKE loads four elements of factor f into next[]: element n is in row row + n rows and step l + n ls. */
static const char names[] =
    "#define ALL_ROWS ROW_COUNT\n#define ALL_COLUMNS COLUMN_COUNT\n#define ALL_STEPS SUM_LENGTH\n"
    "#define STEP PLACE\n#define PART_STEPS PART_LENGTH\n#define ALL_BATCHES BATCH_COUNT\n"
    "#define FILL_STEPS(turn, from) if (LOCAL < 2 * DEPTH) { places at; at.s0 = at.s1 = at.s2 = at.s3 = 0; "
    "WALK(at, (PLACE)((from) + LOCAL % DEPTH), BATCH_AXES + ROW_AXES + COLUMN_AXES, SUMMED_AXES, LOCAL / DEPTH) "
    " steps[2 * DEPTH * (turn) + LOCAL] = at; }\n"
    "#define SUM_OF(s) entry.s + step.s\n"
    "#define TAKE(f, from, next, row, rows, l, ls) UNROLL for (int n = 0; n < 4; n++) { "
    "const places entry = table[TILE * f + row + n * rows]; "
    "const places step = steps[2 * DEPTH * turn + DEPTH * f + l + n * ls]; "
    "PLACE place = entry.s0 + step.s0; bool in = l + n * ls < left; "
    "LOOK_ALL_UP(f, SUM_OF) next[n] = in ? from[place] : (STORAGE)0; }\n"
    "#define WALK_C(number, first, count) { PLACE rest = number; "
    "for (int d = (first) + (count) - 1; d >= (first); d--) { "
    "const PLACE index = rest % AXIS(d, 0); rest /= AXIS(d, 0); "
    "c += index * A(55 + 11 * d + 1); position += index * A(55 + 11 * d + 2); } }\n";

/* clang-format off */ /* of device code */
/* Indices beyond the last row, column or step wrap around to valid elements, which are unused. */
static const char tables[] = DEVICE_CODE(
    typedef struct __attribute__((aligned(16))) { PLACE s0; PLACE s1; PLACE s2; PLACE s3; } places;
    SHARED(places, table, 2 * TILE);
    SHARED(places, steps, 4 * DEPTH);
    SHARED(i64, end_c, 2 * TILE);
    SHARED(i64, end_position, 2 * TILE);
    SHARED(i64, run_apart, TILE / 4);
    if (LOCAL < 2 * TILE) {
        const int f = LOCAL / TILE;
        const int own = BATCH_AXES + f * ROW_AXES;
        const int count = f == 0 ? ROW_AXES : COLUMN_AXES;
        const PLACE number = (PLACE)((f == 0 ? i0 : j0) + LOCAL % TILE);
        places at;
        OFFSETS(at, f)
        WALK(at, (PLACE)batch, 0, BATCH_AXES, f)
        WALK(at, number, own, count, f)
        table[LOCAL] = at;
        i64 c = 0;
        i64 position = 0;
        if (f == 0) WALK_C((PLACE)batch, 0, BATCH_AXES)
        WALK_C(number, own, count)
        end_c[LOCAL] = c;
        end_position[LOCAL] = position;
    }
    FILL_STEPS(0, first)
    GM const STORAGE *a = (GM const STORAGE *)m1 + START_OF(1);
    GM const STORAGE *b = (GM const STORAGE *)m2 + START_OF(2);
    const int l_a = ALONG(0) ? LOCAL % DEPTH : LOCAL / TILE;
    const int l_b = ALONG(1) ? LOCAL % DEPTH : LOCAL / TILE;
    const int ls_a = ALONG(0) ? 0 : 256 / TILE;
    const int ls_b = ALONG(1) ? 0 : 256 / TILE;
    const int row_a = ALONG(0) ? LOCAL / DEPTH : LOCAL % TILE;
    const int row_b = ALONG(1) ? LOCAL / DEPTH : LOCAL % TILE;
    const int rows_a = ALONG(0) ? 256 / DEPTH : 0;
    const int rows_b = ALONG(1) ? 256 / DEPTH : 0;
    const int at_a = l_a * (TILE + 4) + row_a;
    const int at_b = l_b * (TILE + 4) + row_b;
    const int by_a = ls_a * (TILE + 4) + rows_a;
    const int by_b = ls_b * (TILE + 4) + rows_b;
    BARRIER;
    if (LOCAL < TILE / 4) {
        LM const i64 *c = end_c + TILE + 4 * LOCAL;
        LM const i64 *position = end_position + TILE + 4 * LOCAL;
        const i64 apart = c[1] - c[0];
        bool even = c[2] - c[1] == apart && c[3] - c[2] == apart;
        for (int n = 1; n < 4; n++) even = even && position[n] - position[0] == n;
        run_apart[LOCAL] = even ? apart : 0;
    });
static const char load[] = DEVICE_CODE(
    if (more) {
        TAKE(0, a, next_a, row_a, rows_a, l_a, ls_a)
        TAKE(1, b, next_b, row_b, rows_b, l_b, ls_b)
        FILL_STEPS(1 - turn, l0 + DEPTH)
    });
/* Not needed before. */
static const char ends[] = DEVICE_CODE(
    const int tile_rows = (int)wk_min_i64(ALL_ROWS - i0, TILE);
    const int tile_columns = (int)wk_min_i64(ALL_COLUMNS - j0, TILE););
/* Processes four columns at a time if they are contiguous in C and in the space, else one at a time. */
static const char element[] =
    "const i64 apart = run_apart[tc / 4];\nfor (int n = 0, count = 1; n < columns; n += count) {\n" DEVICE_CODE(
        const i64 position = end_position[tr] + end_position[TILE + tc + n];
        GM STORAGE *to = (GM STORAGE *)m0 + START_OF(0) + end_c[tr] + end_c[TILE + tc + n];);
static const char part_of_element[] = DEVICE_CODE(
        const i64 place = part * ((i64)ROW_COUNT * COLUMN_COUNT * BATCH_COUNT) + position;
        GM T *sums = (GM T *)(SCRATCH + place * (i64)sizeof(T));
        if (apart != 0 && columns == 4) count = 4;
        STORE_FOUR(T, sums, value, 1, count));
static const char run[] = "if (apart != 0 && columns == 4 && inside) count = 4;\n";
static const char next[] = DEVICE_CODE(
        value.at[0] = value.at[1];
        value.at[1] = value.at[2];
        value.at[2] = value.at[3];
    ) "}\n";
/* clang-format on */
_Static_assert(WK__GPU_SUM_AXIS == 55 && WK__GPU_SUM_AXIS_NUMBERS == 11, "the text has these numbers");

static const char end[] = "}\n}\n}\n";

#define SUMS(size, width)                                                                                              \
    size, width, wk__gpu_sum_names, names, wk__gpu_tile_begin, wk__gpu_tile_place, tables, wk__gpu_tile_each_strip,    \
        load, wk__gpu_tile_compute, wk__gpu_tile_results, ends, wk__gpu_tile_each_run, element
#define END     next, end, wk__gpu_sum_end, wk__gpu_tile_end, NULL
#define RESULTS wk__gpu_mark_outer, run, wk__gpu_mark_result, END
#define PARTS   part_of_element, END
static const char *const small_text[] = {SUMS(wk__gpu_tile_small, wk__gpu_sum_narrow), RESULTS};
static const char *const large_text[] = {SUMS(wk__gpu_tile_large, wk__gpu_sum_narrow), RESULTS};
static const char *const wide_text[] = {SUMS(wk__gpu_tile_small, wk__gpu_sum_wide), RESULTS};
static const char *const small_part_text[] = {SUMS(wk__gpu_tile_small, wk__gpu_sum_narrow), PARTS};
static const char *const wide_part_text[] = {SUMS(wk__gpu_tile_small, wk__gpu_sum_wide), PARTS};

static const wk__gpu_epilogue_slot carrier = {
    .arguments = WK__GPU_CONTRACTION_ARGUMENTS, .vector4 = true, .outer = "position", .position = "position"};
/* As for matrix products (matmul_tiled.c). */
static const wk__gpu_template small = {.name = "contraction_tiled", .text = small_text, .epilogue_slot = &carrier},
                              large = {.name = "contraction_tiled_large",
                                       .text = large_text,
                                       .epilogue_slot = &carrier,
                                       .min_groups_per_unit = 2},
                              wide = {.name = "contraction_tiled_wide", .text = wide_text, .epilogue_slot = &carrier},
                              small_part = {.name = "contraction_tiled_part", .text = small_part_text},
                              wide_part = {.name = "contraction_tiled_wide_part", .text = wide_part_text};

wk__gpu_tiling wk__gpu_contraction_tiling(const wk__gpu_target *target, const wk__gpu_launch *launch, bool narrow)
{
    const int64_t *argument = launch->argument;
    return wk__gpu_choose_tiling(target, (wk_dtype)launch->spec.dtype, !narrow, argument[WK__GPU_SUM_BATCHES],
                                 argument[WK__GPU_SUM_ROWS], argument[WK__GPU_SUM_COLUMNS],
                                 argument[WK__GPU_SUM_LENGTH]);
}

/* A sum of length 0 has no steps, and so no summed axes: an axis of extent 0 must not be iterated. */
wk_code wk__gpu_lower_contraction_tiles(const wk__gpu_target *target, const wk__work *work, bool narrow,
                                        wk__gpu_launch *launch, wk__gpu_launch_fn *emit, void *user, wk__fail *fail)
{
    int64_t *argument = launch->argument;
    const wk__gpu_tiling tiling = wk__gpu_contraction_tiling(target, launch, narrow);
    argument[WK__GPU_SUM_PART] = tiling.k_per_split;
    if (argument[WK__GPU_SUM_LENGTH] == 0) argument[WK__GPU_SUMMED_AXES] = 0;
    launch->count = tiling.tiles * tiling.k_splits;
    launch->spec.per_group = true;
    if (tiling.k_splits > 1) {
        launch->spec.source_template = narrow ? &small_part : &wide_part;
        return wk__gpu_emit_split_k(work, launch, &tiling, emit, user, fail);
    }
    launch->spec.source_template = tiling.large ? &large : narrow ? &small : &wide;
    wk__program tail;
    wk__gpu_add_epilogue(work, &tail, launch);
    return emit(user, launch, fail);
}
