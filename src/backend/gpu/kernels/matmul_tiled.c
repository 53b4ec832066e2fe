/* SPDX-License-Identifier: Apache-2.0 */
/* Tiled matrix products (tiles.h). Adjacent items load adjacent elements, for either layout of a matrix; in vectors of
 * four if all rows are aligned to four elements and their length is a multiple of four. */
#include "backend/gpu/lower.h"
#include "matmul.h"
#include "backend/gpu/codegen/codegen_epilogue.h"
#include "backend/gpu/codegen/device_source.h"
#include "tiles.h"

/* Assignment of a strip's elements to items; lines are rows of A, columns of B. */
enum { ALONG_LINES, ALONG_SUM, VECTOR4_LINES, VECTOR4_SUM };

/* Argument indices, after those of all matrix products. */
enum {
    PART = WK__GPU_MATMUL_ARGUMENTS,
    BATCHES,
    LOAD_PATTERNS, /* of A, of B */
    ARGUMENTS = LOAD_PATTERNS + WK__FACTORS
};
_Static_assert(PART == 38 && BATCHES == 39 && LOAD_PATTERNS == 40 && ALONG_SUM == 1 && VECTOR4_LINES == 2 &&
                   VECTOR4_SUM == 3,
               "the text has these numbers");

/* WAY_LINE, WAY_STEP: position of an item's first element in a strip; WAY_LINES, WAY_STEPS: increments to the next.
 * TAKE loads them. */
static const char names[] =
    "#define ALL_ROWS COUNT_M\n#define ALL_COLUMNS COUNT_N\n#define ALL_STEPS COUNT_K\n"
    "#define STEP i64\n#define PART_STEPS A(38)\n#define ALL_BATCHES A(39)\n#define WAY(f) ((int)A(40 + (f)))\n"
    "#define WAY_LINE(way) (way == 0 ? LOCAL % TILE : way == 1 ? LOCAL / DEPTH : way == 2 ? LOCAL % (TILE / 4) * 4 "
    ": LOCAL / (DEPTH / 4))\n"
    "#define WAY_STEP(way) (way == 0 ? LOCAL / TILE : way == 1 ? LOCAL % DEPTH : way == 2 ? LOCAL / (TILE / 4) "
    ": LOCAL % (DEPTH / 4) * 4)\n"
    "#define WAY_LINES(way) (way == 0 || way == 3 ? 0 : way == 1 ? 256 / DEPTH : 1)\n"
    "#define WAY_STEPS(way) (way == 0 ? 256 / TILE : way == 3 ? 1 : 0)\n"
    "#define TAKE(from, by, next, way, line, lines, l, ls, end) if (way >= 2) { "
    "UNROLL for (int n = 0; n < 4; n++) next[n] = 0; "
    "if (line < end && l < left) { VECTOR(STORAGE, 4) four_of; "
    "four_of.all = ((GM const VECTOR(STORAGE, 4) *)from)->all; "
    "UNROLL for (int n = 0; n < 4; n++) next[n] = four_of.at[n]; } "
    "} else { UNROLL for (int n = 0; n < 4; n++) "
    "next[n] = line + n * lines < end && l + n * ls < left ? from[n * by] : (STORAGE)0; }\n";

/* clang-format off */ /* of device code */
static const char start[] = DEVICE_CODE(
    const int way_a = WAY(0);
    const int way_b = WAY(1);
    const int l_a = WAY_STEP(way_a);
    const int l_b = WAY_STEP(way_b);
    const int ls_a = WAY_STEPS(way_a);
    const int ls_b = WAY_STEPS(way_b);
    const int lines_a = WAY_LINES(way_a);
    const int lines_b = WAY_LINES(way_b);
    const int line_a = WAY_LINE(way_a);
    const int line_b = WAY_LINE(way_b);
    const int at_a = l_a * (TILE + 4) + line_a;
    const int at_b = l_b * (TILE + 4) + line_b;
    const int by_a = ls_a * (TILE + 4) + lines_a;
    const int by_b = ls_b * (TILE + 4) + lines_b;
    const i64 apart_a = lines_a * A_ROW + ls_a * A_COLUMN;
    const i64 apart_b = lines_b * B_COLUMN + ls_b * B_ROW;
    GM const STORAGE *from_a = a + (i0 + line_a) * A_ROW + (first + l_a) * A_COLUMN;
    GM const STORAGE *from_b = b + (j0 + line_b) * B_COLUMN + (first + l_b) * B_ROW;
    if (LOCAL == 0) corner[4] = c + i0 * C_ROW + j0 * C_COLUMN - (GM STORAGE *)m0;);
static const char load[] = DEVICE_CODE(
    if (more) {
        TAKE(from_a, apart_a, next_a, way_a, line_a, lines_a, l_a, ls_a, tile_rows)
        TAKE(from_b, apart_b, next_b, way_b, line_b, lines_b, l_b, ls_b, tile_columns)
        from_a += DEPTH * A_COLUMN;
        from_b += DEPTH * B_ROW;
    });
static const char element[] = DEVICE_CODE(
    const i64 i = i0 + tr;
    const i64 j = j0 + tc;
    const int count = columns;
    const i64 apart = C_COLUMN;
    GM STORAGE *to = (GM STORAGE *)m0 + corner[4] + tr * C_ROW + tc * C_COLUMN;);
static const char part_of_element[] = DEVICE_CODE(
    const i64 place = ((part * ALL_BATCHES + batch) * COUNT_M + i0 + tr) * COUNT_N + j0 + tc;
    GM T *to = (GM T *)(SCRATCH + place * (i64)sizeof(T));
    STORE_FOUR(T, to, value, 1, columns));
/* clang-format on */

static const char end[] = "}\n}\n}\n";

#define SUMS(size)                                                                                                     \
    size, wk__gpu_matmul_names, names, wk__gpu_tile_begin, wk__gpu_tile_place, wk__gpu_matmul_matrices, start,         \
        wk__gpu_tile_each_strip, load, wk__gpu_tile_compute
#define RESULTS                                                                                                        \
    wk__gpu_tile_results, wk__gpu_mark_outer, wk__gpu_tile_each_run, element, wk__gpu_mark_result, end,                \
        wk__gpu_tile_end, NULL
static const char *const small_text[] = {SUMS(wk__gpu_tile_small), RESULTS};
static const char *const large_text[] = {SUMS(wk__gpu_tile_large), RESULTS};
static const char *const part_text[] = {SUMS(wk__gpu_tile_small),
                                        wk__gpu_tile_results,
                                        wk__gpu_tile_each_run,
                                        part_of_element,
                                        end,
                                        wk__gpu_tile_end,
                                        NULL};

static const wk__gpu_epilogue_slot carrier = {.arguments = ARGUMENTS,
                                              .inner_dims = 2,
                                              .vector4 = true,
                                              .outer = "batch",
                                              .position = "(batch * COUNT_M + i) * COUNT_N + j"};
/* By default NVIDIA's compiler uses more registers for large tiles than two work-groups have, and on sm_100 makes room
 * for a fourth work-group of the split-K kernel by spilling registers. */
static const wk__gpu_template small = {.name = "matmul_tiled", .text = small_text, .epilogue_slot = &carrier},
                              large = {.name = "matmul_large",
                                       .text = large_text,
                                       .epilogue_slot = &carrier,
                                       .min_groups_per_unit = 2},
                              in_parts = {.name = "matmul_part", .text = part_text, .min_groups_per_unit = 3};

/* Returns true if the factor's rows are aligned to four elements in all batches. */
static bool is_aligned4(const wk__matmul *product, const wk__operand *factor, int64_t from_line_to_line)
{
    bool good = wk__gpu_first_element(factor) % 4 == 0 && from_line_to_line % 4 == 0;
    for (int d = 0; d < product->nbatch; d++) good = good && factor->stride[d] % 4 == 0;
    return good;
}

/* `line`: stride between lines; `step`: stride along the sum. */
static int64_t choose_load_pattern(const wk__matmul *product, const wk__operand *factor, int64_t lines, int64_t line,
                                   int64_t step)
{
    if (step == 1 && product->k % 4 == 0 && is_aligned4(product, factor, line)) return VECTOR4_SUM;
    if (line == 1 && lines % 4 == 0 && is_aligned4(product, factor, step)) return VECTOR4_LINES;
    return step == 1 ? ALONG_SUM : ALONG_LINES;
}

wk_code wk__gpu_lower_matmul_tiles(const wk__gpu_target *target, const wk__matmul *product, const wk__work *work,
                                   int64_t batches, wk__gpu_launch *launch, wk__gpu_launch_fn *emit, void *user,
                                   wk__fail *fail)
{
    const wk__operand *a = &product->a, *b = &product->b;
    const int rows = product->nbatch, columns = rows + 1;
    const wk__gpu_tiling tiling =
        wk__gpu_choose_tiling(target, (wk_dtype)launch->spec.dtype, false, batches, product->m, product->n, product->k);
    launch->argument[PART] = tiling.k_per_split;
    launch->argument[BATCHES] = batches;
    launch->argument[LOAD_PATTERNS] = choose_load_pattern(product, a, product->m, a->stride[rows], a->stride[columns]);
    launch->argument[LOAD_PATTERNS + 1] =
        choose_load_pattern(product, b, product->n, b->stride[columns], b->stride[rows]);
    launch->spec.narguments = ARGUMENTS;
    launch->spec.per_group = true;
    launch->count = tiling.tiles * tiling.k_splits;
    if (tiling.k_splits > 1) {
        launch->spec.source_template = &in_parts;
        return wk__gpu_emit_split_k(work, launch, &tiling, emit, user, fail);
    }
    launch->spec.source_template = tiling.large ? &large : &small;
    wk__program tail;
    wk__gpu_add_epilogue(work, &tail, launch);
    return emit(user, launch, fail);
}
