/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/reduce.h. Section: sets.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#include "ops/core/entries.h"

/* ---- unique ------------------------------------------------------------------------------------------------------ */

int wk__invoke_unique(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    enum { RETURN_INVERSE, RETURN_COUNTS, MORE };
    wk_tensor *more[MORE] = {NULL};
    const wk_unique_options options = {.size = sizeof options,
                                       .return_inverse = wk__value_int(&args[2], 0) != 0 ? &more[RETURN_INVERSE] : NULL,
                                       .return_counts = wk__value_int(&args[3], 0) != 0 ? &more[RETURN_COUNTS] : NULL};
    return wk__return_one_and_optional(out, wk_unique_at(site, wk__value_tensor(&args[0]), &options), more, MORE);
}

/* ---- isin -------------------------------------------------------------------------------------------------------- */

int wk__invoke_isin(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_isin_options options = {.size = sizeof options, .invert = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_isin_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}
