/* SPDX-License-Identifier: Apache-2.0 */
/* See tiles.h. */
#include "tiles.h"

#include "base/integers.h"
#include "backend/gpu/codegen/codegen_epilogue.h"
#include "backend/gpu/codegen/device_source.h"

/* ---- source ------------------------------------------------------------------------------------------------------ */

/* PUT stores loaded elements to a strip, as a vector if they are contiguous there. Conversion is delayed until here, so
 * that nothing waits for the loads before the items have computed. */
#define PUT                                                                                                            \
    "#define PUT(to, by, next) if (by == 1) { four all; all.s0 = LOAD(next[0]); all.s1 = LOAD(next[1]); all.s2 = "     \
    "LOAD(next[2]); "                                                                                                  \
    "all.s3 = LOAD(next[3]); *(LM four *)to = all; } else { UNROLL for (int n = 0; n < 4; n++) to[n * by] = "          \
    "LOAD(next[n]); }\n"
/* In both, an item loads four elements of a strip. Rows of strips are padded by four elements, so that items that store
 * a column use different banks. */
const char wk__gpu_tile_small[] = "#define TILE 64\n#define PER 4\n#define DEPTH 16\n" PUT;
const char wk__gpu_tile_large[] = "#define TILE 128\n#define PER 8\n#define DEPTH 8\n" PUT;
_Static_assert(WK__GPU_TILE == 64 && WK__GPU_LARGE_TILE == 128 && WK__GPU_TILE_ITEMS == 256,
               "the texts have these numbers");
const char wk__gpu_tile_end[] = "#undef TILE\n#undef PER\n#undef DEPTH\n#undef PUT\n#undef TAKE\n"
                                "#undef ALL_ROWS\n#undef ALL_COLUMNS\n#undef ALL_STEPS\n#undef PART_STEPS\n"
                                "#undef ALL_BATCHES\n#undef STEP\n";

/* clang-format off */ /* of device code */
const char wk__gpu_tile_begin[] = DEVICE_CODE(
    typedef struct __attribute__((aligned(16))) { T s0; T s1; T s2; T s3; } four;
    SHARED(four, strips_a, 2 * DEPTH * (TILE / 4 + 1));
    SHARED(four, strips_b, 2 * DEPTH * (TILE / 4 + 1));
    SHARED(i64, corner, 5);
    const int x = LOCAL % 16;
    const int y = LOCAL / 16;
    T sum[PER * PER];
    STORAGE next_a[4];
    STORAGE next_b[4];
    UNROLL for (int e = 0; e < PER * PER; e++) sum[e] = 0;
    UNROLL for (int n = 0; n < 4; n++) next_a[n] = next_b[n] = 0;);

/* Eight rows of tiles are one band, which is processed column by column, so that concurrent work-groups share
 * strips. */
const char wk__gpu_tile_place[] = DEVICE_CODE(
    const i64 group = A(0) + GROUP;
    const i64 tiles_i = ((i64)ALL_ROWS + TILE - 1) / TILE;
    const i64 tiles_j = ((i64)ALL_COLUMNS + TILE - 1) / TILE;
    const i64 tile = group % (tiles_i * tiles_j);
    const i64 batch = group / (tiles_i * tiles_j) % ALL_BATCHES;
    const i64 part = group / (tiles_i * tiles_j) / ALL_BATCHES;
    const i64 band = tile / (8 * tiles_j);
    const i64 in_band = tile % (8 * tiles_j);
    const i64 height = wk_min_i64(8, tiles_i - 8 * band);
    const i64 i0 = (8 * band + in_band % height) * TILE;
    const i64 j0 = in_band / height * TILE;
    const int tile_rows = (int)wk_min_i64(ALL_ROWS - i0, TILE);
    const int tile_columns = (int)wk_min_i64(ALL_COLUMNS - j0, TILE);
    if (LOCAL == 0) {
        corner[0] = i0;
        corner[1] = j0;
        corner[2] = batch;
        corner[3] = part;
    }
    const STEP first = (STEP)(part * PART_STEPS);
    const STEP last = (STEP)wk_min_i64(first + PART_STEPS, ALL_STEPS););

const char wk__gpu_tile_each_strip[] =
    "int turn = 1;\nfor (STEP l0 = first; l0 < last + DEPTH; l0 += DEPTH) {\n"
    "const int left = (int)wk_min_i64(last - l0, DEPTH);\nconst bool more = left > 0;\nturn ^= 1;\n";
/* The loaded strip is stored to the buffer that is not being read: items still computing use the other one. */
const char wk__gpu_tile_compute[] = DEVICE_CODE(
        if (l0 > first) {
            UNROLL for (int l = 0; l < DEPTH; l++) {
                T a[PER];
                T b[PER];
                UNROLL for (int v = 0; v < PER / 4; v++) {
                    const four fa = strips_a[((1 - turn) * DEPTH + l) * (TILE / 4 + 1) + 16 * v + y];
                    const four fb = strips_b[((1 - turn) * DEPTH + l) * (TILE / 4 + 1) + 16 * v + x];
                    a[4 * v] = fa.s0;
                    a[4 * v + 1] = fa.s1;
                    a[4 * v + 2] = fa.s2;
                    a[4 * v + 3] = fa.s3;
                    b[4 * v] = fb.s0;
                    b[4 * v + 1] = fb.s1;
                    b[4 * v + 2] = fb.s2;
                    b[4 * v + 3] = fb.s3;
                }
                UNROLL for (int e = 0; e < PER * PER; e++) {
                    sum[e] = NAME(wk_add_product)(sum[e], a[e / PER], b[e % PER]);
                }
            }
        }
        if (more) {
            LM T *to_a = (LM T *)strips_a + turn * DEPTH * (TILE + 4) + at_a;
            LM T *to_b = (LM T *)strips_b + turn * DEPTH * (TILE + 4) + at_b;
            PUT(to_a, by_a, next_a)
            PUT(to_b, by_b, next_b)
        }
        BARRIER;) "}\n";

/* Values that only the results need are kept out of registers during the loop. */
const char wk__gpu_tile_results[] = "{\n" DEVICE_CODE(
    const i64 i0 = corner[0];
    const i64 j0 = corner[1];
    const i64 batch = corner[2];
    const i64 part = corner[3];);

/* An item moves its sums through its own slots in the strips, four vectors at a time, because an array with computed
 * indices cannot be in registers. So the code for a result, which may be long, is generated for four vectors only. */
const char wk__gpu_tile_each_run[] =
    "UNROLL for (int lot = 0; lot < PER * PER / 16; lot++) {\n" DEVICE_CODE(
        UNROLL for (int q = 0; q < 4; q++) {
            LM four *own = (q < 2 ? strips_a : strips_b) + q % 2 * 256 + LOCAL;
            own->s0 = sum[16 * lot + 4 * q];
            own->s1 = sum[16 * lot + 4 * q + 1];
            own->s2 = sum[16 * lot + 4 * q + 2];
            own->s3 = sum[16 * lot + 4 * q + 3];
        }) "ROLLED for (int q = 0; q < 4; q++) {\n" DEVICE_CODE(
            const int run = 4 * lot + q;
            const int tr = run / (PER / 4) / 4 * 64 + 4 * y + run / (PER / 4) % 4;
            const int tc = run % (PER / 4) * 64 + 4 * x;
            const int columns = tile_columns - tc < 4 ? tile_columns - tc : 4;
            if (tr >= tile_rows || columns <= 0) continue;
            LM const four *own = (q < 2 ? strips_a : strips_b) + q % 2 * 256 + LOCAL;
            VECTOR(T, 4) value;
            value.at[0] = own->s0;
            value.at[1] = own->s1;
            value.at[2] = own->s2;
            value.at[3] = own->s3;);

static const char parts[] = DEVICE_CODE(
    const i64 item = A(0) + ITEM;
    if (item >= A(1)) return;
    GM STORAGE *to = (GM STORAGE *)m0 + A(19);
    GM const T *from = (GM const T *)SCRATCH + item;
    i64 rest = item;
    for (int d = 7; d >= 0; d--) {
        to += rest % A(3 + d) * A(11 + d);
        rest /= A(3 + d);
    }
    T value = 0;
    for (i64 part = 0; part < A(2); part++) value = NAME(wk_plus)(value, from[part * A(1)]););
/* clang-format on */
enum { PARTS = 2, SHAPE = 3, STRIDE = SHAPE + WK__MAX_DIMS, START = STRIDE + WK__MAX_DIMS, ARGUMENTS = START + 1 };
_Static_assert(PARTS == 2 && SHAPE == 3 && STRIDE == 11 && START == 19, "the text has these numbers");

static const char *const parts_text[] = {parts, wk__gpu_mark_outer, wk__gpu_mark_result, NULL};
static const wk__gpu_epilogue_slot carrier = {.arguments = ARGUMENTS, .outer = "item", .position = "item"};
static const wk__gpu_template add_parts = {.name = "contraction_parts", .text = parts_text, .epilogue_slot = &carrier};

/* ---- lowering ---------------------------------------------------------------------------------------------------- */

bool wk__gpu_can_tile(const wk__gpu_target *target, wk_dtype dtype, int64_t rows, int64_t columns, int64_t length)
{
    enum {
        STRIPS = 2 * 2 * 16 * (WK__GPU_TILE + 4) /* elements; bytes of a contraction's tables */,
        TABLES = 8448 /* bytes, of a contraction */
    };
    const int64_t bytes = STRIPS * (int64_t)wk_dtype_size(wk__compute_class(dtype)) + TABLES;
    return target->local_memory && target->group_size == WK__GPU_TILE_ITEMS && bytes <= target->local_memory_bytes &&
           length >= 16 && rows >= 8 && columns >= 8 && (rows >= 32 || columns >= 32);
}

wk__gpu_tiling wk__gpu_choose_tiling(const wk__gpu_target *target, wk_dtype dtype, bool wide, int64_t batches,
                                     int64_t rows, int64_t columns, int64_t length)
{
    enum { SHORTEST_PART = 256, MOST_PARTS = 64, DEPTH = 16 };
    const int64_t most_scratch = (int64_t)1 << 28; /* bytes */
    const int64_t units = wk__max_i64(1, target->compute_units);
    const int64_t size = (int64_t)wk_dtype_size(wk__compute_class(dtype));
    const int64_t large =
        batches * wk__chunk_count(rows, WK__GPU_LARGE_TILE) * wk__chunk_count(columns, WK__GPU_LARGE_TILE);
    wk__gpu_tiling t = {.k_splits = 1, .k_per_split = length};
    if (!wide && size == 4 && rows > WK__GPU_TILE && columns > WK__GPU_TILE && large >= units) {
        t.large = true;
        t.tiles = large;
        return t;
    }
    t.tiles = batches * wk__chunk_count(rows, WK__GPU_TILE) * wk__chunk_count(columns, WK__GPU_TILE);
    if (t.tiles == 0) return t;
    const int64_t room = most_scratch / size / (batches * rows * columns);
    int64_t parts =
        wk__min_i64(wk__min_i64(2 * units / t.tiles, length / SHORTEST_PART), wk__min_i64(MOST_PARTS, room));
    if (parts < 2) return t;
    t.k_per_split = wk__chunk_count(wk__chunk_count(length, parts), DEPTH) * DEPTH;
    t.k_splits = wk__chunk_count(length, t.k_per_split);
    return t;
}

wk_code wk__gpu_emit_split_k(const wk__work *work, wk__gpu_launch *tiles, const wk__gpu_tiling *tiling,
                             wk__gpu_launch_fn *emit, void *user, wk__fail *fail)
{
    const wk__work_args *kernel = work->args;
    const wk_dtype dtype = (wk_dtype)kernel->operand[0].dtype;
    wk__gpu_launch sums = {
        .spec = {.source_template = &add_parts, .dtype = (uint8_t)dtype, .nmemory = 3, .narguments = ARGUMENTS},
        .writes = true};
    sums.count = 1;
    for (int d = 0; d < WK__MAX_DIMS; d++) {
        sums.argument[SHAPE + d] = d < kernel->ndim ? kernel->shape[d] : 1;
        sums.argument[STRIDE + d] = d < kernel->ndim ? kernel->operand[0].stride[d] : 0;
        sums.count *= sums.argument[SHAPE + d];
    }
    sums.argument[1] = sums.count;
    sums.argument[PARTS] = tiling->k_splits;
    sums.argument[START] = wk__gpu_first_element(&kernel->operand[0]);
    tiles->scratch = sums.scratch = tiling->k_splits * sums.count * (int64_t)wk_dtype_size(wk__compute_class(dtype));
    tiles->writes = false;
    tiles->spec.nmemory++;
    for (int o = 0; o < WK__SUM_OPERANDS; o++) sums.block[o] = kernel->operand[o].memory->block;
    wk__program tail;
    wk__gpu_add_epilogue(work, &tail, &sums);
    sums.spec.nmemory++;
    const wk_code code = emit(user, tiles, fail);
    return code == WK_OK ? emit(user, &sums, fail) : code;
}
