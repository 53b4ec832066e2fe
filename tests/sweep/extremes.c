/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep over extreme values: NaN, infinities, zeros of both signs, denormals and the limits of each dtype through every
 * element-wise op, alone and in all pairs, against `scalar` of the reference: NaN exactly where it gives NaN, the same
 * infinities, the same signs of zero. */
#include "support/sweep/sweep.h"
#include "support/group/group_reference.h"
#include <float.h>
#include <math.h>

static const double halves[] = {0.0,  -0.0,    INFINITY, -INFINITY, NAN,   1,      -1, 0.5,
                                -2.5, 0x1p-24, -0x1p-24, 0x1p-14,   65504, -65504, 3,  100};
static const double narrow[] = {
    0.0,       -0.0,     INFINITY,       -INFINITY,       NAN,  1,     -1,   0.5, -2.5, 0x1p-149,
    -0x1p-149, 0x1p-126, 0x1.fffffep127, -0x1.fffffep127, 1e10, -1e10, 88.5, -104};
static const double wide[] = {0.0,       -0.0,       INFINITY,  -INFINITY, NAN,      1,    -1,    0.5,   -2.5,
                              0x1p-1074, -0x1p-1074, 0x1p-1022, DBL_MAX,   -DBL_MAX, 1e10, -1e10, 709.5, -746};
static const double whole[] = {0, 1, -1, 2, 3, 7, 100, -128, 127, 255, -32768, 32767};

typedef struct list {
    const double *value;
    int count;
} list;
#define LIST(a) ((list){a, (int)(sizeof(a) / sizeof *(a))})

static list values_of(wk_dtype dtype)
{
    if (dtype == WK_F16) return LIST(halves);
    if (dtype == WK_F32 || dtype == WK_BF16) return LIST(narrow);
    return dtype == WK_F64 ? LIST(wide) : LIST(whole);
}

/* Operand k of combination n of the list's values, for 1 to 3 operands. */
static double chosen(list values, int n, int k)
{
    while (k-- > 0) n /= values.count;
    return values.value[n % values.count];
}

static void extremes_of(const wk__op *op, wk_dtype dtype, wk_device device)
{
    WK_SCOPE;
    list values = values_of(dtype);
    int arity = op->arity, count = 1;
    for (int k = 0; k < arity; k++) count *= values.count;
    sweep_sample sample = {.arguments = arity, .operands = arity};
    size_t size = wk_dtype_size(dtype);
    char *bytes = malloc((size_t)count * size);
    wk_tensor *tensor[SWEEP_TENSORS], *out[SWEEP_RESULTS];
    int64_t shape = count;
    wk_tensor_options options = {.size = sizeof options, .dtype = dtype, .device = device};
    for (int k = 0; k < arity; k++) {
        for (int n = 0; n < count; n++) group_reference_put(dtype, bytes, n, chosen(values, n, k));
        sample.argument[k].kind = WK_VALUE_TENSOR;
        sample.first[k] = k;
        tensor[k] = wk_from_on_at(WK_HERE, dtype, bytes, (size_t)count * size, &shape, 1, &options);
        if (op->own_dtype_operands >> k & 1) tensor[k] = wk_to_dtype(tensor[k], WK_BOOL);
    }
    free(bytes);
    sweep_bind(&sample, tensor);
    assert_int_equal(sweep_call(op, &sample, device, out), 1);
    double *have = sweep_numbers(out[0]);
    for (int n = 0; n < count; n++) {
        double x[SWEEP_ARGUMENTS];
        for (int k = 0; k < SWEEP_ARGUMENTS; k++) x[k] = NAN;
        for (int k = 0; k < arity; k++) {
            x[k] = sweep_rounded(chosen(values, n, k), dtype);
            if (op->own_dtype_operands >> k & 1) x[k] = x[k] != 0;
        }
        double expected = op_reference_of(op)->scalar(x);
        if (!wk__is_float(dtype) && !(fabs(expected) <= 0x1p53))
            continue; /* overflow, or division by 0: the double reference does not apply */
        if (!sweep_agrees(op, wk_dtype_of(out[0]), have[n], expected, 1))
            fail_msg("%s(%g, %g, %g) %s %s is %.17g, not %.17g", op->name, x[0], x[1], x[2], wk_dtype_str(dtype),
                     wk_device_str(device), have[n], expected);
    }
    free(have);
}

static void extremes(void **state)
{
    const wk__op *op = *state;
    unsigned domain = op->dtypes ? op->dtypes : WK__ANY;
    for (wk_dtype dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
        /* products of large integers are not exact in double */
        bool skip = dtype == WK_BOOL || dtype == WK_I32 || dtype == WK_I64;
        if (domain >> dtype & 1 && !skip) extremes_of(op, dtype, wk_cpu());
    }
}

/* Element-wise ops with at most three arguments, all tensors. */
static bool fits(const wk__op *op)
{
    const op_reference *known = op_reference_of(op);
    sweep_sample sample;
    const char *why;
    if (!known->scalar || op->arity < 1 || op->arity > 3 || !known->samples || !known->samples[0] ||
        !sweep_parse(known->samples[0], &sample, &why))
        return false;
    return sample.operands == op->arity && sample.arguments == op->arity;
}

int main(void)
{
    return sweep_run("sweep_extremes", &(sweep_kind){"%s", extremes}, 1, fits);
}
