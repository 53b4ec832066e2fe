/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/autograd.h. Section: gradients.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/autograd: edit those. */
#include "ops/core/entries.h"

/* ---- backward ---------------------------------------------------------------------------------------------------- */

int wk__invoke_backward(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    (void)out;
    const wk_backward_options options = {.size = sizeof options,
                                         .gradient = wk__value_tensor(&args[1]),
                                         .retain_graph = wk__value_int(&args[2], 0) != 0,
                                         .create_graph = wk__value_int(&args[3], 0) != 0};
    return wk_backward_at(site, wk__value_tensor(&args[0]), &options) == WK_OK ? 0 : -1;
}

/* ---- detach ------------------------------------------------------------------------------------------------------ */

int wk__invoke_detach(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_detach_at(site, wk__value_tensor(&args[0])));
}

/* ---- requires_grad_ ---------------------------------------------------------------------------------------------- */

int wk__invoke_requires_grad_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_requires_grad__at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 1) != 0));
}
