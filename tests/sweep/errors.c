/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep of calls with good operands while there is an error: each op makes its results. An error of earlier work, which
 * the call itself reports, never keeps it from doing so. One that was pending before does if an optional tensor is
 * omitted, because the call that makes it may have failed. Gradients are computed while an error is pending; backward
 * stops at errors that it reports, those of earlier work as well. */
#include "support/sweep/sweep.h"
#include "base/failure.h"

typedef enum error_kind { NO_ERROR, PENDING, LATE, ERROR_KINDS } error_kind;
static const char *const error_name[ERROR_KINDS] = {"no error", "a pending error", "an error of earlier work"};

static void begin_error(error_kind kind)
{
    if (kind == PENDING) wk__error_set(WK_HERE, WK_ERR_SHAPE, "first: an error before the call");
    if (kind != LATE) return;
    wk__failure *failure = wk__failure_new(WK_ERR_SHAPE, WK_HERE, "first: an error of a flush");
    wk__post_failure(wk__context(), failure);
    wk__failure_drop(failure);
}

static void end_error(error_kind kind, const char *where)
{
    const bool kept = wk_error_code() == WK_ERR_SHAPE && strstr(wk_error(), "first: ");
    if (kept != (kind != NO_ERROR))
        fail_msg("%s with %s: the error is %s", where, error_name[kind], wk_error() ? wk_error() : "none");
    wk_clear_error();
}

static bool omits_tensor(const wk__op *op, const sweep_sample *sample)
{
    bool omits = false;
    for (int k = 0; k < op->parameter_count; k++) {
        const wk_parameter *p = &op->parameters[k];
        const bool tensor = p->kind == WK_VALUE_TENSOR && !p->accepts_scalar; /* a bound of clamp has another form */
        omits = omits || (tensor && sample->argument[k].kind == WK_VALUE_NONE);
    }
    return omits;
}

/* Makes operands, in f32 if the op accepts it. Those that can be differentiated become leaves; returns their number. */
static int make_operands(const wk__op *op, sweep_sample *sample, sweep_input input[], wk_tensor *tensor[],
                         wk_tensor *leaf[])
{
    const wk_dtype dtype = !op->dtypes || op->dtypes >> WK_F32 & 1 ? WK_F32 : WK_I64;
    int leaves = 0;
    sweep_make_inputs(op, sample, dtype, SWEEP_DENSE, wk_cpu(), 5, input);
    for (int k = 0; k < sample->operands; k++) {
        tensor[k] = input[k].tensor;
        if (!op->gradient || sweep_writes(op) || sample->operand[k].fixed || sample->operand[k].below) continue;
        if (wk__is_float(wk_dtype_of(tensor[k]))) leaf[leaves++] = wk_requires_grad_(tensor[k], true);
    }
    sweep_bind(sample, tensor);
    expect_ok();
    return leaves;
}

static void try_result(const wk__op *op, sweep_sample *sample, const char *text, error_kind kind)
{
    WK_SCOPE;
    wk_tensor *tensor[SWEEP_TENSORS], *leaf[SWEEP_TENSORS], *out[SWEEP_RESULTS] = {NULL};
    sweep_input input[SWEEP_TENSORS] = {{0}};
    make_operands(op, sample, input, tensor, leaf);
    begin_error(kind);
    const int given = op->invoke(op, WK_HERE, sample->argument, out);
    const bool made = given == 0 || (given > 0 && out[0]), refused = kind == PENDING && omits_tensor(op, sample);
    if (made == refused)
        fail_msg("%s(%s) with %s %s", op->name, text, error_name[kind], made ? "has a result" : "has no result");
    end_error(kind, op->name);
    sweep_free_inputs(sample, input);
}

static void try_gradients(const wk__op *op, sweep_sample *sample, const char *text, error_kind kind)
{
    WK_SCOPE;
    wk_tensor *tensor[SWEEP_TENSORS], *leaf[SWEEP_TENSORS], *out[SWEEP_RESULTS] = {NULL}, *grads[SWEEP_TENSORS] = {0};
    sweep_input input[SWEEP_TENSORS] = {{0}};
    const int leaves = make_operands(op, sample, input, tensor, leaf);
    const int given = leaves > 0 ? op->invoke(op, WK_HERE, sample->argument, out) : 0;
    wk_tensor *loss = given > 0 && out[0] && wk_requires_grad(out[0]) ? wk_sum(out[0]) : NULL;
    wk_clear_error();
    if (loss) {
        const wk_grad_options options = {.size = sizeof options, .allow_unused = true};
        begin_error(kind);
        const wk_code code = wk_grad_at(WK_HERE, &loss, 1, leaf, leaves, grads, &options);
        bool any = false;
        for (int k = 0; k < leaves; k++) any = any || grads[k];
        if (code != WK_OK || !any)
            fail_msg("%s(%s) with %s has no gradients, code %d", op->name, text, error_name[kind], (int)code);
        end_error(kind, op->name);
    }
    sweep_free_inputs(sample, input);
}

static void errors(void **state)
{
    const wk__op *op = *state;
    for (const char *const *text = op_reference_of(op)->samples; *text; text++) {
        sweep_sample sample;
        const char *why;
        if (!sweep_parse(*text, &sample, &why)) fail_msg("%s: sample \"%s\": %s", op->name, *text, why);
        for (error_kind kind = NO_ERROR; kind < ERROR_KINDS; kind++) {
            try_result(op, &sample, *text, kind);
            if (kind != LATE) try_gradients(op, &sample, *text, kind);
        }
    }
}

int main(void)
{
    return sweep_run("sweep_errors", &(sweep_kind){"%s", errors}, 1, NULL);
}
