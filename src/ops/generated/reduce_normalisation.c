/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/reduce.h. Section: normalisation.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#include "ops/core/entries.h"

/* ---- batch_norm -------------------------------------------------------------------------------------------------- */

int wk__invoke_batch_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_batch_norm_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                wk__value_tensor(&args[2]), wk__value_tensor(&args[3]),
                                                wk__value_tensor(&args[4]), wk__value_int(&args[5], 0) != 0,
                                                wk__value_float(&args[6], 0.1), wk__value_float(&args[7], 1e-05)));
}

/* ---- instance_norm ----------------------------------------------------------------------------------------------- */

int wk__invoke_instance_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_instance_norm_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                   wk__value_tensor(&args[2]), wk__value_tensor(&args[3]),
                                                   wk__value_tensor(&args[4]), wk__value_int(&args[5], 1) != 0,
                                                   wk__value_float(&args[6], 0.1), wk__value_float(&args[7], 1e-05)));
}

/* ---- group_norm -------------------------------------------------------------------------------------------------- */

int wk__invoke_group_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_group_norm_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                wk__value_tensor(&args[2]), wk__value_tensor(&args[3]),
                                                wk__value_float(&args[4], 1e-05)));
}

/* ---- rms_norm ---------------------------------------------------------------------------------------------------- */

int wk__invoke_rms_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[1], &ndim);
    return wk__return_one(out, wk_rms_norm_at(site, wk__value_tensor(&args[0]), shape, ndim, wk__value_tensor(&args[2]),
                                              wk__value_float(&args[3], -1)));
}

/* ---- local_response_norm ----------------------------------------------------------------------------------------- */

int wk__invoke_local_response_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out,
                          wk_local_response_norm_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                    wk__value_float(&args[2], 0.0001), wk__value_float(&args[3], 0.75),
                                                    wk__value_float(&args[4], 1)));
}

/* ---- normalize --------------------------------------------------------------------------------------------------- */

int wk__invoke_normalize(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_normalize_at(site, wk__value_tensor(&args[0]), wk__value_float(&args[1], 2),
                                               wk__value_int(&args[2], 1), wk__value_float(&args[3], 1e-12)));
}

/* ---- layer_norm -------------------------------------------------------------------------------------------------- */

int wk__invoke_layer_norm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int ndim;
    const int64_t *shape = wk__value_dims(&args[1], &ndim);
    return wk__return_one(out,
                          wk_layer_norm_at(site, wk__value_tensor(&args[0]), shape, ndim, wk__value_tensor(&args[2]),
                                           wk__value_tensor(&args[3]), wk__value_float(&args[4], 1e-05)));
}
