/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of the op table for calls of wick/autograd.h, so that bindings can call them by name: backward, detach, grad,
 * grad_of, requires_grad_. src/autograd implements them. */
#include "ops/core/entries.h"

const wk__op wk__op_backward = {
    WK__SIGNATURE_backward,
};

const wk__op wk__op_detach = {
    WK__SIGNATURE_detach,
};

static int grad_results(const wk__op *op, wk_site site, const wk_value *args)
{
    (void)op;
    (void)site;
    return args[1].count;
}

static int grad_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    const bool seeded = args[2].kind == WK_VALUE_TENSORS;
    const wk_grad_options options = {.size = sizeof options,
                                     .grad_outputs = seeded ? args[2].tensors : NULL,
                                     .retain_graph = wk__value_int(&args[3], 0) != 0,
                                     .create_graph = wk__value_int(&args[4], 0) != 0,
                                     .allow_unused = wk__value_int(&args[5], 0) != 0};
    if (seeded && args[2].count != args[0].count) {
        wk__op_error(op, site, WK_ERR_ARGUMENT, NULL, "expected one grad_output per output, got %d for %d outputs",
                     args[2].count, args[0].count);
        return -1;
    }
    const wk_code code =
        wk_grad_at(site, args[0].tensors, args[0].count, args[1].tensors, args[1].count, out, &options);
    return code == WK_OK ? args[1].count : -1;
}

const wk__op wk__op_grad = {
    .invoke = grad_invoke,
    .result_count = grad_results,
    WK__SIGNATURE_grad,
};

/* The leaf owns the gradient; the caller gets its own reference. */
static int grad_of_invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    out[0] = wk_grad_of_at(site, wk__value_tensor(&args[0]));
    if (out[0]) wk__return_operand(out[0]);
    return wk__error_pending() ? -1 : 1;
}

const wk__op wk__op_grad_of = {
    .invoke = grad_of_invoke,
    WK__SIGNATURE_grad_of,
};

const wk__op wk__op_requires_grad_ = {
    WK__SIGNATURE_requires_grad_,
};
