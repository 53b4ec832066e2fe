/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/reduce.h. Section: losses.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#include "ops/core/entries.h"

/* ---- mse_loss ---------------------------------------------------------------------------------------------------- */

int wk__invoke_mse_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction =
        wk__value_choice(site, "mse_loss", "reduction", &args[2], (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_loss_options options = {.size = sizeof options, .reduction = (wk_reduction)reduction};
    return wk__return_one(out, wk_mse_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- l1_loss ----------------------------------------------------------------------------------------------------- */

int wk__invoke_l1_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction =
        wk__value_choice(site, "l1_loss", "reduction", &args[2], (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_loss_options options = {.size = sizeof options, .reduction = (wk_reduction)reduction};
    return wk__return_one(out, wk_l1_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- smooth_l1_loss ---------------------------------------------------------------------------------------------- */

int wk__invoke_smooth_l1_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "smooth_l1_loss", "reduction", &args[2],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_smooth_l1_loss_options options = {
        .size = sizeof options, .reduction = (wk_reduction)reduction, .beta = wk__value_option(&args[3])};
    return wk__return_one(out,
                          wk_smooth_l1_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- huber_loss -------------------------------------------------------------------------------------------------- */

int wk__invoke_huber_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction =
        wk__value_choice(site, "huber_loss", "reduction", &args[2], (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_huber_loss_options options = {
        .size = sizeof options, .reduction = (wk_reduction)reduction, .delta = wk__value_option(&args[3])};
    return wk__return_one(out,
                          wk_huber_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- binary_cross_entropy ---------------------------------------------------------------------------------------- */

int wk__invoke_binary_cross_entropy(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "binary_cross_entropy", "reduction", &args[3],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_bce_options options = {
        .size = sizeof options, .weight = wk__value_tensor(&args[2]), .reduction = (wk_reduction)reduction};
    return wk__return_one(
        out, wk_binary_cross_entropy_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- binary_cross_entropy_with_logits ---------------------------------------------------------------------------- */

int wk__invoke_binary_cross_entropy_with_logits(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "binary_cross_entropy_with_logits", "reduction", &args[4],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_bce_with_logits_options options = {.size = sizeof options,
                                                .weight = wk__value_tensor(&args[2]),
                                                .pos_weight = wk__value_tensor(&args[3]),
                                                .reduction = (wk_reduction)reduction};
    return wk__return_one(out, wk_binary_cross_entropy_with_logits_at(site, wk__value_tensor(&args[0]),
                                                                      wk__value_tensor(&args[1]), &options));
}

/* ---- kl_div ------------------------------------------------------------------------------------------------------ */

int wk__invoke_kl_div(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "kl_div", "reduction", &args[2],
                                           (const char *const[]){"mean", "sum", "none", "batchmean", NULL});
    if (reduction < 0) return -1;
    const wk_kl_div_options options = {
        .size = sizeof options, .reduction = (wk_reduction)reduction, .log_target = wk__value_int(&args[3], 0) != 0};
    return wk__return_one(out, wk_kl_div_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- soft_margin_loss -------------------------------------------------------------------------------------------- */

int wk__invoke_soft_margin_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "soft_margin_loss", "reduction", &args[2],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_loss_options options = {.size = sizeof options, .reduction = (wk_reduction)reduction};
    return wk__return_one(
        out, wk_soft_margin_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- margin_ranking_loss ----------------------------------------------------------------------------------------- */

int wk__invoke_margin_ranking_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "margin_ranking_loss", "reduction", &args[4],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_margin_ranking_loss_options options = {
        .size = sizeof options, .margin = wk__value_option(&args[3]), .reduction = (wk_reduction)reduction};
    return wk__return_one(out, wk_margin_ranking_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                         wk__value_tensor(&args[2]), &options));
}

/* ---- poisson_nll_loss -------------------------------------------------------------------------------------------- */

int wk__invoke_poisson_nll_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "poisson_nll_loss", "reduction", &args[5],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_poisson_nll_loss_options options = {.size = sizeof options,
                                                 .no_log_input = wk__value_int(&args[2], 1) == 0,
                                                 .full = wk__value_int(&args[3], 0) != 0,
                                                 .eps = wk__value_option(&args[4]),
                                                 .reduction = (wk_reduction)reduction};
    return wk__return_one(
        out, wk_poisson_nll_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- gaussian_nll_loss ------------------------------------------------------------------------------------------- */

int wk__invoke_gaussian_nll_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "gaussian_nll_loss", "reduction", &args[5],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_gaussian_nll_loss_options options = {.size = sizeof options,
                                                  .full = wk__value_int(&args[3], 0) != 0,
                                                  .eps = wk__value_option(&args[4]),
                                                  .reduction = (wk_reduction)reduction};
    return wk__return_one(out, wk_gaussian_nll_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                       wk__value_tensor(&args[2]), &options));
}

/* ---- multi_margin_loss ------------------------------------------------------------------------------------------- */

int wk__invoke_multi_margin_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "multi_margin_loss", "reduction", &args[5],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_multi_margin_loss_options options = {.size = sizeof options,
                                                  .p = wk__value_option(&args[2]),
                                                  .margin = wk__value_option(&args[3]),
                                                  .weight = wk__value_tensor(&args[4]),
                                                  .reduction = (wk_reduction)reduction};
    return wk__return_one(
        out, wk_multi_margin_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- cosine_embedding_loss --------------------------------------------------------------------------------------- */

int wk__invoke_cosine_embedding_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "cosine_embedding_loss", "reduction", &args[4],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_cosine_embedding_loss_options options = {
        .size = sizeof options, .margin = wk__value_option(&args[3]), .reduction = (wk_reduction)reduction};
    return wk__return_one(out, wk_cosine_embedding_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                           wk__value_tensor(&args[2]), &options));
}

/* ---- triplet_margin_loss ----------------------------------------------------------------------------------------- */

int wk__invoke_triplet_margin_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "triplet_margin_loss", "reduction", &args[7],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_triplet_margin_loss_options options = {.size = sizeof options,
                                                    .margin = wk__value_option(&args[3]),
                                                    .p = wk__value_option(&args[4]),
                                                    .eps = wk__value_option(&args[5]),
                                                    .swap = wk__value_int(&args[6], 0) != 0,
                                                    .reduction = (wk_reduction)reduction};
    return wk__return_one(out, wk_triplet_margin_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                         wk__value_tensor(&args[2]), &options));
}

/* ---- cross_entropy ----------------------------------------------------------------------------------------------- */

int wk__invoke_cross_entropy(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction = wk__value_choice(site, "cross_entropy", "reduction", &args[3],
                                           (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_cross_entropy_options options = {.size = sizeof options,
                                              .weight = wk__value_tensor(&args[2]),
                                              .reduction = (wk_reduction)reduction,
                                              .ignore_index = wk__value_option(&args[4]),
                                              .label_smoothing = wk__value_option(&args[5])};
    return wk__return_one(out,
                          wk_cross_entropy_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- nll_loss ---------------------------------------------------------------------------------------------------- */

int wk__invoke_nll_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction =
        wk__value_choice(site, "nll_loss", "reduction", &args[3], (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_cross_entropy_options options = {.size = sizeof options,
                                              .weight = wk__value_tensor(&args[2]),
                                              .reduction = (wk_reduction)reduction,
                                              .ignore_index = wk__value_option(&args[4])};
    return wk__return_one(out, wk_nll_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]), &options));
}

/* ---- ctc_loss ---------------------------------------------------------------------------------------------------- */

int wk__invoke_ctc_loss(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int reduction =
        wk__value_choice(site, "ctc_loss", "reduction", &args[5], (const char *const[]){"mean", "sum", "none", NULL});
    if (reduction < 0) return -1;
    const wk_ctc_loss_options options = {.size = sizeof options,
                                         .blank = wk__value_int(&args[4], 0),
                                         .reduction = (wk_reduction)reduction,
                                         .zero_infinity = wk__value_int(&args[6], 0) != 0};
    return wk__return_one(out, wk_ctc_loss_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                              wk__value_tensor(&args[2]), wk__value_tensor(&args[3]), &options));
}
