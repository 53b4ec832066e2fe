/* SPDX-License-Identifier: Apache-2.0 */
/* Products of rows of x with rows of quantised blocks. Decoded elements are only in registers and, in tiles, in local
 * memory:
 *
 *   groups   with few rows of x: the items of a work-group share rows of blocks. An item decodes 16 elements at a time
 *            and multiplies them with each row of x; local memory combines the sums of the items of a row
 *   items    the same on devices without fast local memory: an item has a row of blocks for itself
 *   tiles    with more rows of x (quantized_tiled.c)
 *
 * Without tiles, more rows of x are processed eight at a time. The order of a sum depends on the shape of the blocks
 * and the kind of device, and for tiles on the shape of the product; a row of x has the same products alone and with up
 * to 7 others. */
#include "quantized.h"
#include "backend/gpu/codegen/codegen_blocks.h"
#include "backend/gpu/codegen/device_source.h"
#include "backend/gpu/lower.h"
#include "base/integers.h"

enum { R, O, I, B }; /* the space */
enum {
    MOST_ROWS = 8,       /* of x, per item */
    EACH = 16,           /* elements that an item decodes at once */
    MOST_PARTIAL = 8,    /* items that add up the sums of a row */
    WARP = 32,           /* lanes of a row, unless few rows of blocks leave items free */
    ITEMS = 1 << 18,     /* that keep large devices busy */
    WORD = sizeof(float) /* bytes */
};
_Static_assert(MOST_ROWS == 8 && EACH == 16 && MOST_PARTIAL == 8, "the texts have these numbers");

/* ---- source ------------------------------------------------------------------------------------------------------ */

const char wk__gpu_quantized_names[] =
    "#define X_ROWS A(1)\n#define BLOCK_ROWS A(2)\n#define ROW_ELEMENTS A(3)\n"
    "#define OUT_START A(4)\n#define OUT_ROW A(5)\n#define X_START A(6)\n#define X_ROW A(7)\n"
    "#define BLOCKS_START A(8)\n#define BLOCKS_ROW A(9)\n";
_Static_assert(WK__GPU_QUANTIZED_X_ROWS == 1 && WK__GPU_QUANTIZED_BLOCK_ROWS == 2 && WK__GPU_QUANTIZED_ELEMENTS == 3 &&
                   WK__GPU_QUANTIZED_OUT == 4 && WK__GPU_QUANTIZED_SHARE == 10,
               "the texts have these numbers");

/* The kernels for one row of x and for up to 8 rows differ in these numbers. */
static const char one[] = "#define ROWS 1\n#define EACH 16\n", several[] = "#define ROWS 8\n#define EACH 16\n",
                  end[] = "#undef ROWS\n#undef EACH\n";

/* clang-format off */ /* of device code */
static const char group_head[] = DEVICE_CODE(
    SHARED(float, sums, LOCALS * ROWS);
    SHARED(float, partial, LOCALS * ROWS);
    const i64 group = A(0) + GROUP;
    const int lanes = (int)A(10);
    const int lane = LOCAL % lanes;
    const int own_row = LOCAL / lanes;
    const int group_rows = LOCALS / lanes;
    const i64 batches = (X_ROWS + ROWS - 1) / ROWS;
    const i64 r0 = group % batches * ROWS;
    const i64 o0 = group / batches * group_rows;
    const i64 o = o0 + own_row;
    const i64 end = o < BLOCK_ROWS ? ROW_ELEMENTS : 0;);

static const char item_head[] = DEVICE_CODE(
    const i64 item = A(0) + ITEM;
    if (item >= A(10)) return;
    const int lanes = 1;
    const int lane = 0;
    const i64 batches = (X_ROWS + ROWS - 1) / ROWS;
    const i64 r0 = item % batches * ROWS;
    const i64 o = item / batches;
    const i64 end = ROW_ELEMENTS;);

/* An item adds up 16 products before it adds them to its sum, which bounds rounding errors. */
static const char each_part[] = DEVICE_CODE(
    const int rows = (int)wk_min_i64(X_ROWS - r0, ROWS);
    GM const float *x = (GM const float *)m1 + X_START + r0 * X_ROW;
    GM const u8 *row = (GM const u8 *)m2 + BLOCKS_START + o * BLOCKS_ROW;
    float sum[ROWS];
    UNROLL for (int r = 0; r < ROWS; r++) sum[r] = 0;)
    "for (i64 first = (i64)lane * EACH; first < end; first += (i64)lanes * EACH) {\nconst u64 element = (u64)first;\n";
static const char multiply[] = DEVICE_CODE(
        UNROLL for (int r = 0; r < ROWS; r++) {
            if (r >= rows) continue;
            GM const float *from = x + r * X_ROW + first;
            float part = 0;
            UNROLL for (int v = 0; v < EACH / 4; v++) {
                VECTOR(float, 4) some;
                LOAD_FOUR(float, some, from + 4 * v, 1, 4)
                UNROLL for (int n = 0; n < 4; n++) part = fma(some.at[n], w[4 * v + n], part);
            }
            sum[r] += part;
        }) "}\n";

/* Each sum is the sum of at most 8 sums of every eighth lane. Results of adjacent rows of blocks are adjacent. */
static const char group_tail[] = DEVICE_CODE(
    UNROLL for (int r = 0; r < ROWS; r++) sums[(r * group_rows + own_row) * lanes + lane] = sum[r];
    BARRIER;
    const int parts = lanes < 8 ? lanes : 8;
    const int results = ROWS * group_rows;
    for (int k = LOCAL; k < results * parts; k += LOCALS) {
        float value = 0;
        for (int l = k % parts; l < lanes; l += parts) value += sums[k / parts * lanes + l];
        partial[k] = value;
    }
    BARRIER;
    for (int k = LOCAL; k < results; k += LOCALS) {
        const int r = k / group_rows;
        const i64 to = o0 + k % group_rows;
        if (r >= rows || to >= BLOCK_ROWS) continue;
        float value = 0;
        for (int l = 0; l < parts; l++) value += partial[k * parts + l];
        ((GM float *)m0)[OUT_START + (r0 + r) * OUT_ROW + to] = value;
    });
static const char item_tail[] = DEVICE_CODE(
    UNROLL for (int r = 0; r < ROWS; r++) {
        if (r < rows) ((GM float *)m0)[OUT_START + (r0 + r) * OUT_ROW + o] = sum[r];
    });
/* clang-format on */

static const char *const group_one_text[] = {
    one, wk__gpu_quantized_names, group_head, each_part, wk__gpu_mark_decoder, multiply, group_tail, end, NULL};
static const char *const group_several_text[] = {
    several, wk__gpu_quantized_names, group_head, each_part, wk__gpu_mark_decoder, multiply, group_tail, end, NULL};
static const char *const item_one_text[] = {
    one, wk__gpu_quantized_names, item_head, each_part, wk__gpu_mark_decoder, multiply, item_tail, end, NULL};
static const char *const item_several_text[] = {
    several, wk__gpu_quantized_names, item_head, each_part, wk__gpu_mark_decoder, multiply, item_tail, end, NULL};
static const wk__gpu_template group_one = {.name = "quantized_one", .text = group_one_text},
                              group_several = {.name = "quantized_several", .text = group_several_text},
                              item_one = {.name = "quantized_item_one", .text = item_one_text},
                              item_several = {.name = "quantized_item_several", .text = item_several_text};

/* ---- lowering ---------------------------------------------------------------------------------------------------- */

/* Returns the number of items that share a row of blocks, a power of two: a warp; more if few rows would leave items
 * free; but no more than the row has parts to decode. */
static int64_t lanes_of(const wk__gpu_target *target, const wk__work_args *args)
{
    int64_t lanes = 1;
    while (2 * lanes <= target->group_size && 2 * lanes * EACH <= args->shape[I] &&
           (2 * lanes <= WARP || args->shape[O] <= ITEMS / (2 * lanes)))
        lanes *= 2;
    return lanes;
}

/* Returns true if local memory has room for the sums of MOST_ROWS rows of x. Not for fewer rows alone, as the order of
 * their sums would differ. */
static bool can_share_rows(const wk__gpu_target *target)
{
    return target->local_memory && 2 * target->group_size * MOST_ROWS * WORD <= target->local_memory_bytes;
}

static wk_code lower_rows(const wk__gpu_target *target, const wk__work_args *args, wk__gpu_launch *launch,
                          wk__gpu_launch_fn *emit, void *user, wk__fail *fail)
{
    const int64_t rows = args->shape[R] == 1 ? 1 : MOST_ROWS, batches = wk__chunk_count(args->shape[R], rows);
    int64_t *share = &launch->argument[WK__GPU_QUANTIZED_SHARE];
    if (can_share_rows(target)) {
        *share = lanes_of(target, args);
        launch->count = wk__chunk_count(args->shape[O], target->group_size / *share) * batches;
        launch->spec.source_template = rows == 1 ? &group_one : &group_several;
        launch->spec.per_group = true;
    } else {
        launch->count = *share = args->shape[O] * batches;
        launch->spec.source_template = rows == 1 ? &item_one : &item_several;
    }
    return emit(user, launch, fail);
}

wk_code wk__gpu_lower_quantized(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch_fn *emit, void *user,
                                wk__fail *fail)
{
    static const int row[] = {R, R, O};
    const wk__work_args *args = work->args;
    wk__gpu_launch launch = {.spec = {.config.block_format = (uint8_t)args->mode,
                                      .dtype = WK_F32,
                                      .nmemory = 3,
                                      .narguments = WK__GPU_QUANTIZED_ARGUMENTS},
                             .writes = true};
    if (args->shape[R] == 0 || args->shape[O] == 0) return WK_OK;
    launch.argument[WK__GPU_QUANTIZED_X_ROWS] = args->shape[R];
    launch.argument[WK__GPU_QUANTIZED_BLOCK_ROWS] = args->shape[O];
    launch.argument[WK__GPU_QUANTIZED_ELEMENTS] = args->shape[I];
    for (int o = 0; o < 3; o++) {
        launch.block[o] = args->operand[o].memory->block;
        launch.argument[WK__GPU_QUANTIZED_OUT + 2 * o] = wk__gpu_first_element(&args->operand[o]);
        launch.argument[WK__GPU_QUANTIZED_OUT + 2 * o + 1] = args->operand[o].stride[row[o]];
    }
    if (args->shape[R] > MOST_ROWS && wk__gpu_can_tile(target, WK_F32, args->shape[R], args->shape[O], args->shape[I]))
        return wk__gpu_lower_quantized_tiles(target, work, &launch, emit, user, fail);
    return lower_rows(target, args, &launch, emit, user, fail);
}
