/* SPDX-License-Identifier: Apache-2.0 */
/* See contraction_axes.h. */
#include "contraction_axes.h"

#include "base/integers.h"
#include "backend/contraction.h"

/* Sums of two numbers below this limit fit in 32 bits. */
static const int64_t narrow_limit = (int64_t)1 << 30;

enum { BATCH, ROW, COLUMN, SUMMED, KINDS, EXTENT = 0, OF_C = 1, POSITION = 2, OF_FACTOR = 3, FACTOR_NUMBERS = 4 };
_Static_assert((int)OF_FACTOR + WK__FACTORS * (int)FACTOR_NUMBERS == (int)WK__GPU_SUM_AXIS_NUMBERS &&
                   (int)FACTOR_NUMBERS == 1 + WK__MAX_AFFINE &&
                   (int)WK__GPU_CONTRACTION_ARGUMENTS <= (int)WK__GPU_TEMPLATE_ARGUMENTS,
               "numbers of an axis");

/* ---- source ------------------------------------------------------------------------------------------------------ */

const char wk__gpu_sum_narrow[] =
    "#define PLACE i32\n#define UPLACE u32\n"
    "#define QUOTIENT(q, f, k) ((i32)((u64)(u32)(q) * (u64)COORDINATE(f, k, 4) >> COORDINATE(f, k, 5)))\n";
const char wk__gpu_sum_wide[] =
    "#define PLACE i64\n#define UPLACE u64\n#define QUOTIENT(q, f, k) ((q) / COORDINATE(f, k, 3))\n";
const char wk__gpu_sum_end[] = "#undef PLACE\n#undef UPLACE\n#undef QUOTIENT\n";

/* WALK adds to `to`, an offset and three numerators of factor f, the effect of `number` steps over some axes. LOOK_UP
 * clears `in` if coordinate k, with numerator q, is out of range; and if it is computed by a division, adds its offset
 * to `place`. The quotient of a negative numerator is meaningless, so nothing is loaded then. */
const char wk__gpu_sum_names[] =
    "#define ROW_COUNT ((PLACE)A(1))\n#define COLUMN_COUNT ((PLACE)A(2))\n#define SUM_LENGTH ((PLACE)A(3))\n"
    "#define BATCH_COUNT ((PLACE)A(4))\n#define PART_LENGTH ((PLACE)A(5))\n"
    "#define BATCH_AXES ((int)A(6))\n#define ROW_AXES ((int)A(7))\n"
    "#define COLUMN_AXES ((int)A(8))\n#define SUMMED_AXES ((int)A(9))\n"
    "#define START_OF(operand) A(10 + (operand))\n#define COORDINATES(f) ((int)A(13 + (f)))\n"
    "#define DIVIDED(f) ((int)A(15 + (f)))\n#define ALONG(f) ((int)A(17 + (f)))\n"
    "#define COORDINATE(f, k, n) A(19 + 18 * (f) + 6 * (k) + (n))\n"
    "#define AXIS(d, n) ((PLACE)A(55 + 11 * (d) + (n)))\n"
    "#define WALK(to, number, first, count, f) { PLACE rest = number; "
    "for (int d = (first) + (count) - 1; d >= (first); d--) { "
    "const PLACE index = rest % AXIS(d, 0); rest /= AXIS(d, 0); "
    "to.s0 += index * AXIS(d, 3 + 4 * (f)); to.s1 += index * AXIS(d, 4 + 4 * (f)); "
    "to.s2 += index * AXIS(d, 5 + 4 * (f)); to.s3 += index * AXIS(d, 6 + 4 * (f)); } }\n"
    "#define LOOK_UP(f, k, numerator) if (COORDINATES(f) > k) { const PLACE q = numerator; if (DIVIDED(f)) { "
    "const UPLACE whole = (UPLACE)QUOTIENT(q, f, k); "
    "in = in && q >= 0 && (PLACE)(whole * (UPLACE)COORDINATE(f, k, 3)) == q && "
    "whole < (UPLACE)COORDINATE(f, k, 1); place += (PLACE)(whole * (UPLACE)COORDINATE(f, k, 2)); "
    "} else { in = in && (UPLACE)q < (UPLACE)COORDINATE(f, k, 1); } }\n"
    "#define LOOK_ALL_UP(f, numerators) LOOK_UP(f, 0, numerators(s1)) LOOK_UP(f, 1, numerators(s2)) "
    "LOOK_UP(f, 2, numerators(s3))\n"
    "#define OFFSETS(to, f) to.s0 = 0; to.s1 = (PLACE)COORDINATE(f, 0, 0); to.s2 = (PLACE)COORDINATE(f, 1, 0); "
    "to.s3 = (PLACE)COORDINATE(f, 2, 0);\n";
_Static_assert(WK__GPU_SUM_AXES == 6 && WK__GPU_SUM_STARTS == 10 && WK__GPU_SUM_COORDINATES == 13 &&
                   WK__GPU_SUM_DIVIDED == 15 && WK__GPU_SUM_ALONG == 17 && WK__GPU_SUM_COORDINATE == 19 &&
                   WK__GPU_SUM_COORDINATE_NUMBERS == 6 && WK__GPU_SUM_AXIS == 55 && WK__GPU_SUM_AXIS_NUMBERS == 11,
               "the text has these numbers");

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static bool is_divided(const wk__contraction *sum, int f)
{
    bool divided = false;
    for (int k = 0; k < sum->naffine[f]; k++) divided = divided || sum->affine[f][k].divisor != 1;
    return divided;
}

/* Returns true if the factor varies along the index. */
static bool walks(const wk__work_args *kernel, int f, int i)
{
    bool walks = wk__index_stride(kernel, 1 + f, i) != 0;
    for (int k = 0; k < kernel->contraction->naffine[f]; k++)
        walks = walks || kernel->contraction->affine[f][k].coefficient[i] != 0;
    return walks;
}

static int kind_of(const wk__work_args *kernel, int i)
{
    if (i >= kernel->ndim) return SUMMED;
    const bool a = walks(kernel, 0, i), b = walks(kernel, 1, i);
    return a == b ? BATCH : a ? ROW : COLUMN;
}

/* n / divisor is n x factor >> shift for all n below 2^31: the factor is (2^shift + e) / divisor with e < divisor, and
 * 2^31 divisor <= 2^shift. */
static void fill_coordinate(const wk__affine_index *q, int64_t *to)
{
    int shift = 31;
    while ((int64_t)1 << (shift - 31) < q->divisor) shift++;
    to[0] = q->offset;
    to[1] = q->extent;
    to[2] = q->stride;
    to[3] = q->divisor;
    to[4] = wk__chunk_count((int64_t)1 << shift, q->divisor);
    to[5] = shift;
}

/* Computes what a step of index i adds to factor f: its stride, then its numerators. If nothing is divided, the
 * coordinates' offsets are included in the stride. */
static void fill_factor(const wk__work_args *kernel, int f, int i, int64_t to[FACTOR_NUMBERS])
{
    const wk__contraction *sum = kernel->contraction;
    const bool divided = is_divided(sum, f);
    to[0] = wk__index_stride(kernel, 1 + f, i);
    for (int k = 0; k < sum->naffine[f]; k++) {
        const wk__affine_index *q = &sum->affine[f][k];
        to[1 + k] = q->coefficient[i];
        if (!divided) to[0] += q->coefficient[i] * q->stride;
    }
}

static int64_t magnitude(int64_t number)
{
    return number < 0 ? -number : number;
}

/* Returns true if all offsets of factor f, and its numerators, fit in 32 bits. */
static bool fits(const wk__work_args *kernel, int f, const int64_t *axis, int axes)
{
    const wk__contraction *sum = kernel->contraction;
    int64_t reach[FACTOR_NUMBERS] = {0};
    for (int k = 0; k < sum->naffine[f]; k++) {
        int64_t way = 0;
        const wk__affine_index *q = &sum->affine[f][k];
        reach[1 + k] = magnitude(q->offset);
        if (q->extent >= narrow_limit) return false;
        if (is_divided(sum, f) && (!wk__mul_size(q->extent, magnitude(q->stride), &way) || way >= narrow_limit))
            return false;
        reach[0] += way;
    }
    for (int d = 0; d < axes; d++, axis += WK__GPU_SUM_AXIS_NUMBERS)
        for (int n = 0; n < FACTOR_NUMBERS; n++) {
            int64_t way;
            const int64_t step = magnitude(axis[OF_FACTOR + f * FACTOR_NUMBERS + n]);
            if (!wk__mul_size(step, axis[EXTENT] - 1, &way) || way >= narrow_limit) return false;
            reach[n] += way;
        }
    for (int n = 0; n < FACTOR_NUMBERS; n++)
        if (reach[n] >= narrow_limit) return false;
    return true;
}

/* Returns the cost of a warp's loads along the axis: 32-byte sectors per 32 adjacent elements. */
static int64_t loads_along(const int64_t *axis, int f, int64_t most, int64_t bytes)
{
    const int64_t run = wk__max_i64(1, wk__min_i64(axis[EXTENT], most));
    const int64_t wide = wk__min_i64(32, magnitude(axis[OF_FACTOR + f * FACTOR_NUMBERS]) * bytes);
    return 32 / run * wk__max_i64(1, run * wide / 32);
}

static bool is_along(const int64_t *argument, int f, int64_t bytes)
{
    const int64_t *count = argument + WK__GPU_SUM_AXES;
    const int64_t ends[] = {count[BATCH] + count[ROW], count[BATCH] + count[ROW] + count[COLUMN]};
    const int64_t own = ends[f] - 1, last = ends[1] + count[SUMMED] - 1;
    if (count[ROW + f] == 0 || count[SUMMED] == 0) return count[SUMMED] != 0;
    const int64_t *axis = argument + WK__GPU_SUM_AXIS;
    return loads_along(axis + last * WK__GPU_SUM_AXIS_NUMBERS, f, 16, bytes) <
           loads_along(axis + own * WK__GPU_SUM_AXIS_NUMBERS, f, 32, bytes);
}

/* Axes of extent 1 are omitted. */
static void fill_axes(const wk__work_args *kernel, int64_t *argument)
{
    int64_t position[WK__MAX_DIMS], next = 1, *axis = argument + WK__GPU_SUM_AXIS;
    for (int d = kernel->ndim - 1; d >= 0; d--) {
        position[d] = next;
        next *= kernel->shape[d];
    }
    for (int kind = BATCH; kind < KINDS; kind++) {
        int64_t count = 1;
        argument[WK__GPU_SUM_AXES + kind] = 0;
        for (int i = 0; i < kernel->ndim + kernel->contraction->nsummed; i++) {
            const int64_t extent = wk__index_extent(kernel, i);
            if (extent == 1 || kind_of(kernel, i) != kind) continue;
            count *= extent;
            axis[EXTENT] = extent;
            axis[OF_C] = wk__index_stride(kernel, 0, i);
            axis[POSITION] = i < kernel->ndim ? position[i] : 0;
            for (int f = 0; f < WK__FACTORS; f++) fill_factor(kernel, f, i, axis + OF_FACTOR + f * FACTOR_NUMBERS);
            axis += WK__GPU_SUM_AXIS_NUMBERS;
            argument[WK__GPU_SUM_AXES + kind]++;
        }
        static const int counts[KINDS] = {WK__GPU_SUM_BATCHES, WK__GPU_SUM_ROWS, WK__GPU_SUM_COLUMNS,
                                          WK__GPU_SUM_LENGTH};
        argument[counts[kind]] = count;
    }
}

bool wk__gpu_fill_contraction(const wk__work_args *kernel, wk__gpu_launch *launch)
{
    const wk__contraction *sum = kernel->contraction;
    int64_t *argument = launch->argument;
    fill_axes(kernel, argument);
    const int64_t *axis = argument + WK__GPU_SUM_AXIS, *count = argument + WK__GPU_SUM_AXES;
    const int axes = (int)(count[BATCH] + count[ROW] + count[COLUMN] + count[SUMMED]);
    const int64_t rows = argument[WK__GPU_SUM_ROWS], columns = argument[WK__GPU_SUM_COLUMNS];
    launch->count = argument[WK__GPU_SUM_BATCHES] * rows * columns;
    bool narrow = launch->count < narrow_limit && argument[WK__GPU_SUM_LENGTH] < narrow_limit;
    for (int o = 0; o < WK__SUM_OPERANDS; o++) {
        launch->block[o] = kernel->operand[o].memory->block;
        argument[WK__GPU_SUM_STARTS + o] = wk__gpu_first_element(&kernel->operand[o]);
    }
    for (int f = 0; f < WK__FACTORS; f++) {
        const bool divided = is_divided(sum, f);
        int64_t *q = argument + WK__GPU_SUM_COORDINATE + f * WK__MAX_AFFINE * WK__GPU_SUM_COORDINATE_NUMBERS;
        argument[WK__GPU_SUM_COORDINATES + f] = sum->naffine[f];
        argument[WK__GPU_SUM_DIVIDED + f] = divided;
        for (int k = 0; k < sum->naffine[f]; k++, q += WK__GPU_SUM_COORDINATE_NUMBERS) {
            fill_coordinate(&sum->affine[f][k], q);
            if (!divided) argument[WK__GPU_SUM_STARTS + 1 + f] += q[0] * q[2];
        }
        narrow = narrow && fits(kernel, f, axis, axes);
        argument[WK__GPU_SUM_ALONG + f] =
            is_along(argument, f, (int64_t)wk_dtype_size((wk_dtype)kernel->operand[1 + f].dtype));
    }
    return narrow;
}
