/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/shape.h. Section: indexing by tensors.
 *
 *     (wk_NAME)              takes no call site; in parentheses because wk_NAME is also a macro
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#include "ops/core/entries.h"

/* ---- index_select ------------------------------------------------------------------------------------------------ */

int wk__invoke_index_select(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_index_select_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                  wk__value_tensor(&args[2])));
}

/* ---- gather ------------------------------------------------------------------------------------------------------ */

int wk__invoke_gather(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(
        out, wk_gather_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0), wk__value_tensor(&args[2])));
}

/* ---- take_along_dim ---------------------------------------------------------------------------------------------- */

int wk__invoke_take_along_dim(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    if (args[2].kind == WK_VALUE_NONE)
        return wk__return_one(out,
                              wk_take_along_dim_flat_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
    return wk__return_one(out, wk_take_along_dim_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                    wk__value_int(&args[2], 0)));
}

/* ---- take -------------------------------------------------------------------------------------------------------- */

int wk__invoke_take(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_take_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- embedding --------------------------------------------------------------------------------------------------- */

int wk__invoke_embedding(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_embedding_options options = {.size = sizeof options,
                                          .padding_idx = wk__value_option(&args[2]),
                                          .max_norm = wk__value_option(&args[3]),
                                          .norm_type = wk__value_option(&args[4]),
                                          .scale_grad_by_freq = wk__value_int(&args[5], 0) != 0};
    return wk__return_one(out, wk_embedding_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- scatter_add ------------------------------------------------------------------------------------------------- */

int wk__invoke_scatter_add(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_scatter_add_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                 wk__value_tensor(&args[2]), wk__value_tensor(&args[3])));
}

int wk__invoke_scatter_add_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_scatter_add__at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                  wk__value_tensor(&args[2]), wk__value_tensor(&args[3])));
}

/* ---- scatter ----------------------------------------------------------------------------------------------------- */

int wk__invoke_scatter(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    if (args[3].kind == WK_VALUE_FLOAT)
        return wk__return_one(out, wk_scatter_f64_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                     wk__value_tensor(&args[2]), wk__value_float(&args[3], 0)));
    if (args[3].kind != WK_VALUE_TENSOR)
        return wk__return_one(out, wk_scatter_i64_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                     wk__value_tensor(&args[2]), wk__value_int(&args[3], 0)));
    return wk__return_one(out, wk_scatter_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                             wk__value_tensor(&args[2]), wk__value_tensor(&args[3])));
}

/* ---- index_add --------------------------------------------------------------------------------------------------- */

int wk__invoke_index_add(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_index_add_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                               wk__value_tensor(&args[2]), wk__value_tensor(&args[3])));
}

int wk__invoke_index_add_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_index_add__at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                wk__value_tensor(&args[2]), wk__value_tensor(&args[3])));
}

/* ---- masked_select ----------------------------------------------------------------------------------------------- */

int wk__invoke_masked_select(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_masked_select_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1])));
}

/* ---- nonzero ----------------------------------------------------------------------------------------------------- */

wk_tensor *(wk_nonzero)(wk_tensor *x)
{
    return wk_nonzero_at((wk_site){0}, x);
}

int wk__invoke_nonzero(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_nonzero_at(site, wk__value_tensor(&args[0])));
}

/* ---- nonzero_numpy ----------------------------------------------------------------------------------------------- */

int wk__invoke_nonzero_numpy(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk_nonzero_numpy_at(site, wk__value_tensor(&args[0]), out);
}

/* ---- one_hot ----------------------------------------------------------------------------------------------------- */

int wk__invoke_one_hot(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_one_hot_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], -1)));
}

/* ---- tril -------------------------------------------------------------------------------------------------------- */

int wk__invoke_tril(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_tril_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

/* ---- triu -------------------------------------------------------------------------------------------------------- */

int wk__invoke_triu(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_triu_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

/* ---- trace ------------------------------------------------------------------------------------------------------- */

wk_tensor *(wk_trace)(wk_tensor *x)
{
    return wk_trace_at((wk_site){0}, x);
}

int wk__invoke_trace(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_trace_at(site, wk__value_tensor(&args[0])));
}

/* ---- diag_embed -------------------------------------------------------------------------------------------------- */

int wk__invoke_diag_embed(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_diag_embed_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                wk__value_int(&args[2], -2), wk__value_int(&args[3], -1)));
}

/* ---- index_fill -------------------------------------------------------------------------------------------------- */

int wk__invoke_index_fill(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_index_fill_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                wk__value_tensor(&args[2]), args[3]));
}

int wk__invoke_index_fill_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_index_fill__at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                 wk__value_tensor(&args[2]), args[3]));
}

/* ---- index_copy -------------------------------------------------------------------------------------------------- */

int wk__invoke_index_copy(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_index_copy_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                wk__value_tensor(&args[2]), wk__value_tensor(&args[3])));
}

int wk__invoke_index_copy_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_index_copy__at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                 wk__value_tensor(&args[2]), wk__value_tensor(&args[3])));
}

/* ---- index_put --------------------------------------------------------------------------------------------------- */

int wk__invoke_index_put(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_index_put_options options = {.size = sizeof options, .accumulate = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_index_put_at(site, wk__value_tensor(&args[0]), args[1].tensors,
                                               args[1].kind == WK_VALUE_TENSORS ? args[1].count : 0,
                                               wk__value_tensor(&args[2]), &options));
}

int wk__invoke_index_put_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_index_put_options options = {.size = sizeof options, .accumulate = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_index_put__at(site, wk__value_tensor(&args[0]), args[1].tensors,
                                                args[1].kind == WK_VALUE_TENSORS ? args[1].count : 0,
                                                wk__value_tensor(&args[2]), &options));
}

/* ---- masked_scatter ---------------------------------------------------------------------------------------------- */

int wk__invoke_masked_scatter(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_masked_scatter_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                    wk__value_tensor(&args[2])));
}

int wk__invoke_masked_scatter_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_masked_scatter__at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                     wk__value_tensor(&args[2])));
}

/* ---- scatter_reduce ---------------------------------------------------------------------------------------------- */

int wk__invoke_scatter_reduce(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_scatter_reduce_options options = {.size = sizeof options, .exclude_self = wk__value_int(&args[5], 1) == 0};
    return wk__return_one(out, wk_scatter_reduce_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                    wk__value_tensor(&args[2]), wk__value_tensor(&args[3]),
                                                    wk__value_text(&args[4], NULL), &options));
}

int wk__invoke_scatter_reduce_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_scatter_reduce_options options = {.size = sizeof options, .exclude_self = wk__value_int(&args[5], 1) == 0};
    return wk__return_one(out, wk_scatter_reduce__at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0),
                                                     wk__value_tensor(&args[2]), wk__value_tensor(&args[3]),
                                                     wk__value_text(&args[4], NULL), &options));
}

/* ---- embedding_bag ----------------------------------------------------------------------------------------------- */

int wk__invoke_embedding_bag(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_embedding_bag_options options = {.size = sizeof options,
                                              .offsets = wk__value_tensor(&args[2]),
                                              .max_norm = wk__value_option(&args[3]),
                                              .norm_type = wk__value_option(&args[4]),
                                              .scale_grad_by_freq = wk__value_int(&args[5], 0) != 0,
                                              .mode = wk__value_text(&args[6], NULL),
                                              .per_sample_weights = wk__value_tensor(&args[7]),
                                              .include_last_offset = wk__value_int(&args[8], 0) != 0,
                                              .padding_idx = wk__value_option(&args[9])};
    return wk__return_one(out,
                          wk_embedding_bag_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}
