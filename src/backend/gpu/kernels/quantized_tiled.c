/* SPDX-License-Identifier: Apache-2.0 */
/* Products with quantised blocks in tiles (tiles.h): rows of a tile are rows of x, columns are rows of blocks. An item
 * loads four elements of x and decodes four of a row of blocks for each strip, so a decoded element is multiplied with
 * all rows of x in the tile. */
#include "backend/gpu/codegen/codegen_blocks.h"
#include "backend/gpu/codegen/device_source.h"
#include "backend/gpu/lower.h"
#include "quantized.h"

static const char names[] = "#define ALL_ROWS X_ROWS\n#define ALL_COLUMNS BLOCK_ROWS\n#define ALL_STEPS ROW_ELEMENTS\n"
                            "#define STEP i64\n#define PART_STEPS A(10)\n#define ALL_BATCHES 1\n#define EACH 4\n";
_Static_assert(WK__GPU_QUANTIZED_SHARE == 10, "the text has this number");

/* clang-format off */ /* of device code */
/* The item's line and its first step in both strips. */
static const char start[] = DEVICE_CODE(
    const int line = LOCAL / (DEPTH / 4);
    const int step = LOCAL % (DEPTH / 4) * 4;
    const int at_a = step * (TILE + 4) + line;
    const int at_b = at_a;
    const int by_a = TILE + 4;
    const int by_b = by_a;
    GM const float *from = (GM const float *)m1 + X_START + (i0 + line) * X_ROW + step;
    GM const u8 *row = (GM const u8 *)m2 + BLOCKS_START + (j0 + line) * BLOCKS_ROW;);
/* Rows consist of complete strips. */
static const char load_x[] = DEVICE_CODE(
    if (more && line < tile_rows) {
        VECTOR(float, 4) some;
        LOAD_FOUR(float, some, from + l0, 1, 4)
        UNROLL for (int n = 0; n < 4; n++) next_a[n] = some.at[n];
    });
static const char load_blocks[] = "if (more && line < tile_columns) {\nconst u64 element = (u64)(l0 + step);\n";
static const char loaded[] = DEVICE_CODE(UNROLL for (int n = 0; n < 4; n++) next_b[n] = w[n];) "}\n";

static const char result[] = DEVICE_CODE(
    GM float *to = (GM float *)m0 + OUT_START + (i0 + tr) * OUT_ROW + j0 + tc;
    STORE_FOUR(float, to, value, 1, columns));
static const char part_of_result[] = DEVICE_CODE(
    GM float *to = (GM float *)SCRATCH + (part * X_ROWS + i0 + tr) * BLOCK_ROWS + j0 + tc;
    STORE_FOUR(float, to, value, 1, columns));
/* clang-format on */

static const char end[] = "}\n}\n}\n#undef EACH\n";

#define SUMS(size)                                                                                                     \
    size, wk__gpu_quantized_names, names, wk__gpu_tile_begin, wk__gpu_tile_place, start, wk__gpu_tile_each_strip,      \
        load_x, load_blocks, wk__gpu_mark_decoder, loaded, wk__gpu_tile_compute
#define RESULTS(to) wk__gpu_tile_results, wk__gpu_tile_each_run, to, end, wk__gpu_tile_end, NULL
static const char *const small_text[] = {SUMS(wk__gpu_tile_small), RESULTS(result)};
static const char *const large_text[] = {SUMS(wk__gpu_tile_large), RESULTS(result)};
static const char *const part_text[] = {SUMS(wk__gpu_tile_small), RESULTS(part_of_result)};
static const wk__gpu_template small = {.name = "quantized_tiled", .text = small_text},
                              large = {.name = "quantized_large", .text = large_text, .min_groups_per_unit = 2},
                              in_parts = {.name = "quantized_part", .text = part_text, .min_groups_per_unit = 3};

wk_code wk__gpu_lower_quantized_tiles(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch *launch,
                                      wk__gpu_launch_fn *emit, void *user, wk__fail *fail)
{
    const wk__work_args *args = work->args;
    const wk__gpu_tiling tiling =
        wk__gpu_choose_tiling(target, WK_F32, false, 1, args->shape[0], args->shape[1], args->shape[2]);
    launch->argument[WK__GPU_QUANTIZED_SHARE] = tiling.k_per_split;
    launch->spec.per_group = true;
    launch->count = tiling.tiles * tiling.k_splits;
    if (tiling.k_splits == 1) {
        launch->spec.source_template = tiling.large ? &large : &small;
        return emit(user, launch, fail);
    }
    wk__work_args sums = *args; /* over the dimensions of the result */
    sums.ndim = 2;
    launch->spec.source_template = &in_parts;
    return wk__gpu_emit_split_k(&(wk__work){.family = work->family, .args = &sums}, launch, &tiling, emit, user, fail);
}
