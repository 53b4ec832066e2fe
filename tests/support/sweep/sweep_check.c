/* SPDX-License-Identifier: Apache-2.0 */
/* Expected results of calls and their tolerances; see sweep.h. */
#include "support/sweep/sweep.h"
#include "base/alloc.h"
#include "base/context.h"
#include "ir/scalar.h"
#include "tensor/tensor.h"
#include <float.h>
#include <math.h>

/* ---- tolerance --------------------------------------------------------------------------------------------------- */

/* Tolerances in units in the last place of the compute type. An elementwise op rounds a few times, a sum or product of
 * a sample at most once per element. */
enum { UNITS_POINTWISE = 4, UNITS_OTHER = 16 };

static int units_of(const op_reference *known)
{
    return known->max_ulps ? known->max_ulps : known->scalar ? UNITS_POINTWISE : UNITS_OTHER;
}

double sweep_tolerance(const wk__op *op, wk_dtype dtype, double x, double scale)
{
    const op_reference *known = op_reference_of(op);
    if (!wk__is_float(dtype)) return 0;
    double unit = dtype == WK_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    double smallest = dtype == WK_F64 ? 0x1p-1074 : dtype == WK_F16 ? 0x1p-24 : dtype == WK_BF16 ? 0x1p-133 : 0x1p-149;
    double size = known->scalar ? fabs(x) : fmax(fabs(x), scale), error = units_of(known) * unit * size;
    /* an intermediate result of an expression may be a denormal that is flushed to zero */
    if (known->scalar && !op->instruction && dtype != WK_F16) smallest = dtype == WK_F64 ? DBL_MIN : (double)FLT_MIN;
    /* rounded once more, by half a unit of 11 or 8 bits; in-place compositions of products or sums, twice */
    if (dtype == WK_F16) error += (known->scalar ? 0x1p-11 : 0x1p-10) * size;
    if (dtype == WK_BF16) error += (known->scalar ? 0x1p-8 : 0x1p-7) * size;
    return error + smallest;
}

bool sweep_agrees(const wk__op *op, wk_dtype dtype, double have, double expected, double scale)
{
    double nearest = sweep_rounded(expected, dtype);
    if (isnan(expected) || isnan(have)) return isnan(nearest) && isnan(have);
    if (!wk__is_float(dtype)) return have == nearest;
    if (have == 0 && nearest == 0)
        return !op_reference_of(op)->scalar || op_reference_of(op)->any_zero_sign || signbit(have) == signbit(nearest);
    if (have == nearest) return true;
    double tolerance = sweep_tolerance(op, dtype, expected, scale);
    if (isinf(have) != isinf(nearest)) { /* only one of them has overflowed */
        double edge = dtype == WK_F64 ? DBL_MAX : dtype == WK_F16 ? 65504 : (double)FLT_MAX;
        double finite = isinf(have) ? expected : have;
        return signbit(have) == signbit(expected) && edge - fabs(finite) <= sweep_tolerance(op, dtype, edge, edge);
    }
    return fabs(have - expected) <= tolerance;
}

/* ---- expected results -------------------------------------------------------------------------------------------- */

/* Rounds a scalar to the type in which it is combined with tensors. */
static double as_operand(double x, wk_dtype dtype)
{
    return dtype == WK_F64 || !isfinite(x) ? x : (double)(float)x;
}

/* Evaluates exact over the broadcast operands. */
static void expect_pointwise(double (*exact)(const double *x), const sweep_sample *sample, const sweep_input input[],
                             reference_array *out, const wk_tensor *result)
{
    reference_call holder = {.inputs = 0};
    int64_t shape[WK__MAX_DIMS];
    int ndim = 0;
    for (int k = 0; k < sample->operands; k++) {
        const reference_array *in = &input[k].array;
        int64_t joined[WK__MAX_DIMS];
        int wide = in->ndim > ndim ? in->ndim : ndim;
        for (int d = 0; d < wide; d++) { /* counted from the right */
            int64_t a = d < ndim ? shape[ndim - 1 - d] : 1, b = d < in->ndim ? in->shape[in->ndim - 1 - d] : 1;
            joined[wide - 1 - d] = a == 1 ? b : a;
        }
        memcpy(shape, joined, sizeof joined);
        ndim = wide;
    }
    double *data = reference_out(&holder, 0, ndim, shape);
    int64_t n = reference_numel(&holder.out[0]);
    for (int64_t k = 0; k < n; k++) {
        double x[SWEEP_ARGUMENTS];
        for (int a = 0, t = 0; a < SWEEP_ARGUMENTS; a++) {
            const wk_value *value = &sample->argument[a];
            x[a] = NAN; /* omitted */
            if (value->kind == WK_VALUE_INT || value->kind == WK_VALUE_BOOL) x[a] = (double)value->i;
            if (value->kind == WK_VALUE_FLOAT) x[a] = as_operand(value->f, wk_dtype_of(result));
            if (value->kind == WK_VALUE_TEXT) x[a] = value->text[0];
            if (value->kind != WK_VALUE_TENSOR) continue;
            x[a] = reference_at(&input[t++].array, ndim, shape, k);
        }
        data[k] = exact(x);
    }
    *out = holder.out[0];
}

int sweep_expected(const wk__op *op, const sweep_sample *sample, const sweep_input input[], reference_array out[],
                   const wk_tensor *result)
{
    const op_reference *known = op_reference_of(op);
    if (!known->reference && !known->scalar) fail_msg("%s has neither reference nor exact", op->name);
    if (!known->reference) {
        expect_pointwise(known->scalar, sample, input, &out[0], result);
        return 1;
    }
    wk_value full[SWEEP_ARGUMENTS] = {{0}};
    memcpy(full, sample->argument, sizeof *full * (size_t)sample->arguments);
    reference_call r = {.args = full, .inputs = sample->operands};
    for (int k = 0; k < sample->operands; k++) r.in[k] = input[k].array;
    known->reference(&r);
    memcpy(out, r.out, sizeof *out * (size_t)r.outputs);
    return r.outputs;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

int sweep_try_call(const wk__op *op, const sweep_sample *sample, wk_device device, wk_tensor *out[], char message[400])
{
    wk_value results[SWEEP_RESULTS];
    int count = SWEEP_RESULTS;
    wk_seed(7); /* so that random ops return the same values each time */
    wk_call_options options = {
        .size = sizeof options, .device = device, .no_grad = !wk_is_grad_enabled(), .site = WK_HERE};
    if (wk_call(wk__context(), op->name, sample->argument, sample->arguments, results, &count, &options, message,
                400) != WK_OK)
        return -1;
    for (int k = 0; k < count; k++) out[k] = results[k].tensor;
    return count;
}

int sweep_call(const wk__op *op, const sweep_sample *sample, wk_device device, wk_tensor *out[])
{
    char message[400];
    const int count = sweep_try_call(op, sample, device, out, message);
    if (count < 0) fail_msg("%s", message);
    return count;
}

const char *sweep_label(const wk__op *op, const char *text, wk_dtype dtype, sweep_layout layout, wk_device device)
{
    static char where[256];
    snprintf(where, sizeof where, "%s(%s) %s %s %s", op->name, text, wk_dtype_str(dtype), sweep_layout_name[layout],
             wk_device_str(device));
    return where;
}

int sweep_reset(void **state)
{
    (void)state;
    wk_context *context = wk__context();
    if (context->guards > 0) wk__guard_close(context->guard[0].token);
    context->frame.grad_off = false;
    wk_clear_error();
    return 0;
}

bool sweep_has_samples(const wk__op *op)
{
    return op_reference_of(op)->samples[0] != NULL;
}

int sweep_run(const char *group, const sweep_kind kinds[], size_t count, bool (*fits)(const wk__op *op))
{
    struct CMUnitTest *tests = calloc(count * (size_t)wk_op_count(), sizeof *tests);
    char(*names)[80] = calloc(count * (size_t)wk_op_count(), sizeof *names);
    size_t total = 0;
    for (int k = 0; k < wk_op_count(); k++)
        for (size_t kind = 0; kind < count && sweep_has_samples(wk__ops[k]) && (!fits || fits(wk__ops[k])); kind++) {
            snprintf(names[total], sizeof *names, kinds[kind].format, wk__ops[k]->name);
            tests[total] = (struct CMUnitTest){.name = names[total],
                                               .test_func = kinds[kind].test,
                                               .setup_func = sweep_reset,
                                               .initial_state = (void *)(uintptr_t)wk__ops[k]};
            total++;
        }
    int failed = _cmocka_run_group_tests(group, tests, total, NULL, NULL);
    free(tests);
    free(names);
    return failed;
}

double *sweep_numbers(wk_tensor *x)
{
    wk_dtype dtype = wk_dtype_of(x);
    size_t n = (size_t)wk_numel(x), size = wk_dtype_size(dtype);
    char *bytes = malloc(n * size + 1);
    double *numbers = malloc((n + 1) * sizeof *numbers);
    if (wk_read(x, bytes, n * size) != WK_OK) fail_msg("%s", wk_error());
    for (size_t k = 0; k < n; k++) numbers[k] = wk__scalar_to_double(bytes + k * size, dtype);
    free(bytes);
    return numbers;
}
