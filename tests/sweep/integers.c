/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep over extreme integers: each integer argument of a sample, passed or omitted, is replaced by the limits of its
 * type, and operands without elements have huge other sizes. The call gives a result or an error, and so does its
 * gradient; the sanitizers detect overflows. */
#include "support/sweep/sweep.h"
#include <math.h>
#include <wick/autograd.h>

static const int64_t ends[] = {
    INT64_MIN,        INT64_MIN + 1, -((int64_t)1 << 62), -((int64_t)1 << 32), -1, 0, 1, 3, (int64_t)1 << 31,
    (int64_t)1 << 62, INT64_MAX};
static const double fractions[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 0x1p63, -0.5};
enum { ENDS = sizeof ends / sizeof *ends, FRACTIONS = sizeof fractions / sizeof *fractions, ROOM = 1 << 20 };

/* Runs the call and its gradient; an error is an accepted outcome. */
static void call(const wk__op *op, const sweep_sample *sample)
{
    wk_value results[64];
    char message[400];
    int count = 64;
    wk_call_options options = {.size = sizeof options, .device = wk_cpu(), .site = WK_HERE};
    wk_code code = wk_call(wk__context(), op->name, sample->argument, sample->arguments, results, &count, &options,
                           message, sizeof message);
    if (code == WK_ERR_INTERNAL) fail_msg("%s: %s", op->name, message);
    for (int k = 0; code == WK_OK && k < count; k++) {
        if (results[k].kind != WK_VALUE_TENSOR || !results[k].tensor) continue;
        wk_tensor *out = results[k].tensor;
        if (wk_requires_grad(out)) {
            if (wk_backward(wk_sum(out), .retain_graph = true) != WK_OK) wk_clear_error();
        } else if (wk_sync() != WK_OK) {
            wk_clear_error();
        }
        wk_free(out);
    }
}

static void with_number(const wk__op *op, sweep_sample *sample, wk_value *value)
{
    const wk_value was = *value;
    for (int e = 0; e < ENDS; e++) {
        *value = (wk_value){.kind = WK_VALUE_INT, .i = ends[e]};
        call(op, sample);
    }
    for (int e = 0; e < FRACTIONS; e++) {
        *value = (wk_value){.kind = WK_VALUE_FLOAT, .f = fractions[e]};
        call(op, sample);
    }
    *value = was;
}

/* One element of the list at a limit, all of them, and all but the first, which is 0; lists of other lengths. */
static void with_list(const wk__op *op, sweep_sample *sample, wk_value *value)
{
    const wk_value was = *value;
    int64_t list[SWEEP_INTS] = {0};
    for (int e = 0; e < ENDS; e++) {
        *value = (wk_value){.kind = WK_VALUE_INTS, .count = was.count, .ints = list};
        for (int place = 0; place <= was.count; place++) {
            for (int n = 0; n < was.count; n++) list[n] = place == was.count || n == place ? ends[e] : was.ints[n];
            call(op, sample);
        }
        list[0] = 0;
        for (int n = 1; n < 4; n++) list[n] = ends[e];
        for (value->count = 0; value->count < 4; value->count++) call(op, sample);
    }
    *value = (wk_value){.kind = WK_VALUE_INTS};
    call(op, sample);
    *value = was;
}

static void each_end(const wk__op *op, sweep_sample *sample)
{
    for (int k = 0; k < sample->arguments; k++) {
        wk_value *value = &sample->argument[k];
        if (value->kind == WK_VALUE_INTS)
            with_list(op, sample, value);
        else if (value->kind == WK_VALUE_NONE || value->kind == WK_VALUE_INT || value->kind == WK_VALUE_FLOAT)
            with_number(op, sample, value);
    }
}

static void bind(sweep_sample *sample, const int64_t *shape, int ndim)
{
    wk_tensor *tensor[SWEEP_TENSORS];
    for (int k = 0; k < sample->operands; k++) {
        const sweep_operand *o = &sample->operand[k];
        wk_tensor_options options = {.size = sizeof options, .dtype = o->fixed ? o->fixed : WK_F32};
        options.requires_grad = wk__is_float(options.dtype);
        tensor[k] = wk_zeros_at(WK_HERE, shape && ndim ? shape : o->shape, shape ? ndim : o->ndim, &options);
    }
    sweep_bind(sample, tensor);
    for (int k = 0; k < sample->arguments; k++)
        if (sample->argument[k].kind == WK_VALUE_INTS && sample->argument[k].count == 0)
            sample->argument[k].ints = NULL;
}

static void integers(void **state)
{
    const wk__op *op = *state;
    static const int64_t empty[][4] = {
        {0, (int64_t)1 << 60}, {(int64_t)1 << 60, 0}, {1, 0, (int64_t)1 << 60}, {0, 0, ((int64_t)1 << 61) - 1}};
    static const int dims[] = {2, 2, 3, 3};
    wk_memory_set_limit(wk_cpu(), ROOM);
    for (const char *const *text = op_reference_of(op)->samples; *text; text++) {
        WK_SCOPE;
        sweep_sample sample;
        const char *why;
        if (!sweep_parse(*text, &sample, &why)) fail_msg("%s: %s", *text, why);
        sample.arguments = op->parameter_count; /* omitted ones are none */
        bind(&sample, NULL, 0);
        each_end(op, &sample);
        for (int k = 0; k < 4; k++) {
            bind(&sample, empty[k], dims[k]);
            call(op, &sample);
            each_end(op, &sample);
        }
    }
    wk_memory_set_limit(wk_cpu(), 0);
}

int main(void)
{
    return sweep_run("sweep_integers", &(sweep_kind){"%s", integers}, 1, NULL);
}
