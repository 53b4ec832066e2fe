/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions: products of matrices by kernels of their own (matmul.c); of all others an item makes one element, which
 * takes the definition by its word (../contraction.h). */
#include "families.h"
#include "tail.h"
#include "text.h"

/* Places of the arguments: result indices have 8 places, summed ones the 4 behind. */
enum {
    COUNT = 1,
    SHAPE = 2,                                /* of the result */
    STRIDES = SHAPE + WK__MAX_DIMS,           /* of C, A, B along it */
    STARTS = STRIDES + 3 * WK__MAX_DIMS,      /* of C, A, B */
    EXTENTS = STARTS + 3,                     /* summed */
    STEPS = EXTENTS + WK__MAX_SUMMED,         /* strides of A, B along them */
    COORDINATES = STEPS + 2 * WK__MAX_SUMMED, /* how many A has, and B */
    COORDINATE = COORDINATES + WK__FACTORS,   /* offset, divisor, extent, stride, coefficients */
    NUMBERS = 4 + WK__MAX_INDICES,            /* of each */
    ARGUMENTS = COORDINATE + WK__FACTORS * WK__MAX_COORDINATES * NUMBERS
};
_Static_assert(STRIDES == 10 && STARTS == 34 && EXTENTS == 37 && STEPS == 41 && COORDINATES == 49 && COORDINATE == 51 &&
                   NUMBERS == 16 && WK__MAX_COORDINATES == 3 && (int)ARGUMENTS <= (int)WK__GPU_FIXED_ARGUMENTS,
               "the text has these numbers");

/* clang-format off */ /* of device code */
static const char element[] = TEXT(
    const i64 item = A(0) + ITEM;
    if (item >= A(1)) return;
    i64 rest = item;
    i64 c = A(34);
    i64 at[2];
    i64 numerator[6];
    at[0] = A(35);
    at[1] = A(36);
    for (int k = 0; k < 6; k++) numerator[k] = A(51 + 16 * k);
    for (int d = 7; d >= 0; d--) {
        const i64 index = rest % A(2 + d);
        rest /= A(2 + d);
        c += index * A(10 + d);
        at[0] += index * A(18 + d);
        at[1] += index * A(26 + d);
        for (int k = 0; k < 6; k++) numerator[k] += index * A(55 + 16 * k + d);
    }
    i64 length = A(37) * A(38) * A(39) * A(40);
    T sum = 0;
    for (i64 l = 0; l < length; l++) {
        i64 step[4];
        i64 place[2];
        int inside = 1;
        rest = l;
        for (int s = 3; s >= 0; s--) {
            step[s] = rest % A(37 + s);
            rest /= A(37 + s);
        }
        for (int f = 0; f < 2; f++) {
            place[f] = at[f];
            for (int s = 0; s < 4; s++) place[f] += step[s] * A(41 + 4 * f + s);
            for (int k = 3 * f; k < 3 * f + A(49 + f); k++) {
                i64 q = numerator[k];
                for (int s = 0; s < 4; s++) q += step[s] * A(63 + 16 * k + s);
                if (q < 0 || q % A(52 + 16 * k) != 0 || q / A(52 + 16 * k) >= A(53 + 16 * k)) inside = 0;
                place[f] += q / A(52 + 16 * k) * A(54 + 16 * k);
            }
        }
        if (inside) {
            const GM STORAGE *a = (const GM STORAGE *)m1;
            const GM STORAGE *b = (const GM STORAGE *)m2;
            sum = NAME(wk_add_product)(sum, LOAD(a[place[0]]), LOAD(b[place[1]]));
        }
    }
    const T value = sum;
    GM STORAGE *to = (GM STORAGE *)m0 + c;);
/* clang-format on */

static const char *const text[] = {element, wk__gpu_outer, wk__gpu_result, NULL};
static const wk__gpu_carrier carrier = {.arguments = ARGUMENTS, .outer = "item", .position = "item"};
static const wk__gpu_fixed contraction = {.name = "contraction", .text = text, .carrier = &carrier};

static void fill_coordinate(const wk__coordinate *q, int ndim, int summed, int64_t *to)
{
    to[0] = q->offset;
    to[1] = q->divisor;
    to[2] = q->extent;
    to[3] = q->stride;
    for (int d = 0; d < ndim; d++) to[4 + d] = q->coefficient[d];
    for (int s = 0; s < summed; s++) to[4 + WK__MAX_DIMS + s] = q->coefficient[ndim + s];
}

static void fill(const wk__kernel *kernel, wk__gpu_launch *launch)
{
    const wk__sum *sum = kernel->sum;
    int64_t *argument = launch->argument;
    launch->count = 1;
    for (int d = 0; d < WK__MAX_DIMS; d++) {
        argument[SHAPE + d] = d < kernel->ndim ? kernel->shape[d] : 1;
        launch->count *= argument[SHAPE + d];
        for (int o = 0; o < 3 && d < kernel->ndim; o++)
            argument[STRIDES + o * WK__MAX_DIMS + d] = kernel->operand[o].stride[d];
    }
    argument[COUNT] = launch->count;
    for (int o = 0; o < 3; o++) {
        launch->block[o] = kernel->operand[o].memory->block;
        argument[STARTS + o] = wk__gpu_start(&kernel->operand[o]);
    }
    for (int s = 0; s < WK__MAX_SUMMED; s++) argument[EXTENTS + s] = s < sum->indices ? sum->extent[s] : 1;
    for (int f = 0; f < WK__FACTORS; f++) {
        for (int s = 0; s < sum->indices; s++) argument[STEPS + f * WK__MAX_SUMMED + s] = sum->stride[f][s];
        argument[COORDINATES + f] = sum->coordinates[f];
        for (int k = 0; k < sum->coordinates[f]; k++)
            fill_coordinate(&sum->coordinate[f][k], kernel->ndim, sum->indices,
                            argument + COORDINATE + (f * WK__MAX_COORDINATES + k) * NUMBERS);
    }
}

/* The kernels add up in a dtype's own class. */
static bool has_own_sums(const wk__kernel *kernel)
{
    const int dtype = kernel->operand[0].dtype;
    return dtype != WK_BOOL && kernel->operand[1].dtype == dtype && kernel->operand[2].dtype == dtype &&
           kernel->sum->dtype == wk__sum_dtype(dtype);
}

wk_code wk__gpu_plan_contraction(const wk__gpu_target *target, const wk__work *work, wk__gpu_emit *emit, void *user,
                                 wk__fail *fail)
{
    wk__matmul product;
    const wk__kernel *kernel = work->kernel;
    if (wk__matmul_of(work, &product)) return wk__gpu_plan_matmul(target, &product, work, emit, user, fail);
    if (!has_own_sums(kernel))
        return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "this device adds up products in their own dtype alone");
    wk__gpu_launch launch = {
        .unit = {.fixed = &contraction, .dtype = kernel->operand[0].dtype, .nmemory = 3, .narguments = ARGUMENTS},
        .writes = true};
    wk__group tail;
    fill(kernel, &launch);
    wk__gpu_add_tail(work, &tail, &launch);
    return launch.count > 0 ? emit(user, &launch, fail) : WK_OK;
}
