/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions: matrix products have separate kernels (matmul.c); for others:
 *
 *   tiles     work-groups compute tiles of the result (contraction_tiled.c): if the device has local memory
 *   dots      a work-group computes one element: for few elements that are long sums
 *   element   an item computes one element: on CPUs, and for few rows, columns or products
 *
 * A tiled contraction with divided coordinates is split into several without (contraction_stride_split.h), a launch
 * each. */
#include "backend/contraction_stride_split.h"
#include "contraction_axes.h"
#include "backend/gpu/lower.h"
#include "backend/gpu/codegen/codegen_epilogue.h"
#include "backend/gpu/codegen/device_source.h"
#include "tiles.h"

/* SUMMED(s): the s-th summed axis, from the innermost. */
static const char names[] =
    "#define SUMMED(s) (BATCH_AXES + ROW_AXES + COLUMN_AXES + SUMMED_AXES - 1 - (s))\n"
    "#define TIMES(s) (SUMMED_AXES > s ? AXIS(SUMMED(s), 0) : (PLACE)1)\n"
    "#define STEP_OF(s, n) (SUMMED_AXES > s ? AXIS(SUMMED(s), 3 + (n)) : 0)\n"
    "#define FAR(from, n) (from) + k1 * STEP_OF(1, n) + k2 * STEP_OF(2, n) + k3 * STEP_OF(3, n)\n"
    "#define OF_A(s) near_a.s\n#define OF_B(s) near_b.s\n"
    "#define ADD_PRODUCT { bool in = true; PLACE place = near_a.s0; LOOK_ALL_UP(0, OF_A) "
    "const PLACE place_a = place; place = near_b.s0; LOOK_ALL_UP(1, OF_B) "
    "if (in) sum = NAME(wk_add_product)(sum, LOAD(a[place_a]), LOAD(b[place])); }\n";

/* clang-format off */ /* of device code */
static const char item_head[] = DEVICE_CODE(
    const i64 position = A(0) + ITEM;
    if (position >= (i64)BATCH_COUNT * ROW_COUNT * COLUMN_COUNT) return;);
static const char group_head[] = DEVICE_CODE(
    SHARED(T, sums, LOCALS);
    const i64 position = A(0) + GROUP;);
/* Positions are in the space: each axis has its stride there. */
static const char start[] = DEVICE_CODE(
    typedef struct { PLACE s0; PLACE s1; PLACE s2; PLACE s3; } places;
    GM STORAGE *to = (GM STORAGE *)m0 + START_OF(0);
    GM const STORAGE *a = (GM const STORAGE *)m1 + START_OF(1);
    GM const STORAGE *b = (GM const STORAGE *)m2 + START_OF(2);
    places at_a;
    places at_b;
    T sum = 0;
    OFFSETS(at_a, 0)
    OFFSETS(at_b, 1)
    for (int d = 0; d < BATCH_AXES + ROW_AXES + COLUMN_AXES; d++) {
        const PLACE index = (PLACE)position / AXIS(d, 2) % AXIS(d, 0);
        to += index * A(55 + 11 * d + 1);
        at_a.s0 += index * AXIS(d, 3);
        at_a.s1 += index * AXIS(d, 4);
        at_a.s2 += index * AXIS(d, 5);
        at_a.s3 += index * AXIS(d, 6);
        at_b.s0 += index * AXIS(d, 7);
        at_b.s1 += index * AXIS(d, 8);
        at_b.s2 += index * AXIS(d, 9);
        at_b.s3 += index * AXIS(d, 10);
    });
static const char item_sum[] = DEVICE_CODE(
    for (PLACE k3 = 0; k3 < TIMES(3); k3++)
    for (PLACE k2 = 0; k2 < TIMES(2); k2++)
    for (PLACE k1 = 0; k1 < TIMES(1); k1++) {
        places near_a;
        places near_b;
        near_a.s0 = FAR(at_a.s0, 0);
        near_a.s1 = FAR(at_a.s1, 1);
        near_a.s2 = FAR(at_a.s2, 2);
        near_a.s3 = FAR(at_a.s3, 3);
        near_b.s0 = FAR(at_b.s0, 4);
        near_b.s1 = FAR(at_b.s1, 5);
        near_b.s2 = FAR(at_b.s2, 6);
        near_b.s3 = FAR(at_b.s3, 7);
        for (PLACE k0 = 0; k0 < TIMES(0); k0++) {
            ADD_PRODUCT
            near_a.s0 += STEP_OF(0, 0);
            near_a.s1 += STEP_OF(0, 1);
            near_a.s2 += STEP_OF(0, 2);
            near_a.s3 += STEP_OF(0, 3);
            near_b.s0 += STEP_OF(0, 4);
            near_b.s1 += STEP_OF(0, 5);
            near_b.s2 += STEP_OF(0, 6);
            near_b.s3 += STEP_OF(0, 7);
        }
    }
    const T value = sum;);
static const char group_sum[] = DEVICE_CODE(
    for (PLACE l = LOCAL; l < SUM_LENGTH; l += LOCALS) {
        places near_a = at_a;
        places near_b = at_b;
        WALK(near_a, l, BATCH_AXES + ROW_AXES + COLUMN_AXES, SUMMED_AXES, 0)
        WALK(near_b, l, BATCH_AXES + ROW_AXES + COLUMN_AXES, SUMMED_AXES, 1)
        ADD_PRODUCT
    }
    COMBINE_GROUP(T, NAME(wk_plus), 0, sums, sum, value)) "if (LOCAL == 0) {\n";
/* clang-format on */
_Static_assert(WK__MAX_SUMMED == 4 && WK__GPU_SUM_AXIS == 55 && WK__GPU_SUM_AXIS_NUMBERS == 11,
               "the text has these numbers");

static const char group_end[] = "}\n";
static const char *const narrow_text[] = {
    wk__gpu_sum_narrow, wk__gpu_sum_names,   names,           item_head, start, item_sum,
    wk__gpu_mark_outer, wk__gpu_mark_result, wk__gpu_sum_end, NULL};
static const char *const wide_text[] = {
    wk__gpu_sum_wide,   wk__gpu_sum_names,   names,           item_head, start, item_sum,
    wk__gpu_mark_outer, wk__gpu_mark_result, wk__gpu_sum_end, NULL};
static const char *const narrow_dots_text[] = {
    wk__gpu_sum_narrow, wk__gpu_sum_names,   names,     group_head,      start, group_sum,
    wk__gpu_mark_outer, wk__gpu_mark_result, group_end, wk__gpu_sum_end, NULL};
static const char *const wide_dots_text[] = {
    wk__gpu_sum_wide,   wk__gpu_sum_names,   names,     group_head,      start, group_sum,
    wk__gpu_mark_outer, wk__gpu_mark_result, group_end, wk__gpu_sum_end, NULL};
static const wk__gpu_epilogue_slot carrier = {
    .arguments = WK__GPU_CONTRACTION_ARGUMENTS, .outer = "position", .position = "position"};
static const wk__gpu_template element[] = {{.name = "contraction_wide", .text = wide_text, .epilogue_slot = &carrier},
                                           {.name = "contraction", .text = narrow_text, .epilogue_slot = &carrier}},
                              dots[] = {
                                  {.name = "contraction_wide_dots", .text = wide_dots_text, .epilogue_slot = &carrier},
                                  {.name = "contraction_dots", .text = narrow_dots_text, .epilogue_slot = &carrier}};

/* The kernels accumulate in the class of the dtype. */
static bool has_own_sums(const wk__work_args *kernel)
{
    const int dtype = kernel->operand[0].dtype;
    return dtype != WK_BOOL && kernel->operand[1].dtype == dtype && kernel->operand[2].dtype == dtype &&
           kernel->contraction->dtype == wk__accumulator_dtype(dtype);
}

static wk__gpu_launch launch_of(const wk__work_args *kernel, bool *narrow)
{
    wk__gpu_launch launch = {
        .spec = {.dtype = kernel->operand[0].dtype, .nmemory = 3, .narguments = WK__GPU_CONTRACTION_ARGUMENTS},
        .writes = true};
    *narrow = wk__gpu_fill_contraction(kernel, &launch);
    return launch;
}

static bool takes_tiles(const wk__gpu_target *target, const wk__gpu_launch *launch)
{
    const int64_t *argument = launch->argument;
    return wk__gpu_can_tile(target, (wk_dtype)launch->spec.dtype, argument[WK__GPU_SUM_ROWS],
                            argument[WK__GPU_SUM_COLUMNS], argument[WK__GPU_SUM_LENGTH]);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* A part must have enough tiles to occupy the device. Then its sums are not split, so results are identical. */
static wk_code check_part(void *user, const wk__work_args *part, wk__fail *fail)
{
    const wk__gpu_target *target = user;
    bool narrow;
    const wk__gpu_launch launch = launch_of(part, &narrow);
    const wk__gpu_tiling tiling = wk__gpu_contraction_tiling(target, &launch, narrow);
    if (tiling.k_splits == 1 && tiling.tiles >= target->compute_units) return WK_OK;
    return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "too few tiles");
}

bool wk__gpu_splits_strides(const wk__gpu_target *target, const wk__work_args *kernel)
{
    bool narrow;
    wk__fail fail;
    if (!wk__contraction_has_divisor(kernel) || !wk__contraction_can_split(kernel) || !has_own_sums(kernel))
        return false;
    const wk__gpu_launch whole = launch_of(kernel, &narrow);
    return takes_tiles(target, &whole) &&
           wk__contraction_split_strides(kernel, check_part, (void *)(uintptr_t)target, &fail) == WK_OK;
}

typedef struct planner {
    const wk__gpu_target *target;
    wk__gpu_launch_fn *emit;
    void *user;
} planner;

static wk_code plan_part(void *user, const wk__work_args *part, wk__fail *fail)
{
    const planner *p = user;
    bool narrow;
    wk__gpu_launch launch = launch_of(part, &narrow);
    const wk__work work = {.family = WK__CONTRACTION, .args = part};
    return wk__gpu_lower_contraction_tiles(p->target, &work, narrow, &launch, p->emit, p->user, fail);
}

wk_code wk__gpu_lower_contraction(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch_fn *emit,
                                  void *user, wk__fail *fail)
{
    wk__matmul product;
    bool narrow;
    const wk__work_args *kernel = work->args;
    if (wk__matmul_from_work(work, &product)) return wk__gpu_lower_matmul(target, &product, work, emit, user, fail);
    if (!has_own_sums(kernel))
        return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "this device does not support contractions with mixed dtypes");
    if (work->program == NULL && wk__gpu_splits_strides(target, kernel))
        return wk__contraction_split_strides(kernel, plan_part, &(planner){target, emit, user}, fail);
    wk__gpu_launch launch = launch_of(kernel, &narrow);
    if (launch.count == 0) return WK_OK;
    if (takes_tiles(target, &launch))
        return wk__gpu_lower_contraction_tiles(target, work, narrow, &launch, emit, user, fail);
    launch.spec.per_group =
        target->local_memory && launch.count <= 16384 && launch.argument[WK__GPU_SUM_LENGTH] >= 1024;
    launch.spec.source_template = &(launch.spec.per_group ? dots : element)[narrow];
    wk__program tail;
    wk__gpu_add_epilogue(work, &tail, &launch);
    return emit(user, &launch, fail);
}
