/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/matmul.h. Section: attention.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/matmul: edit those. */
#include "ops/core/entries.h"

/* ---- scaled_dot_product_attention -------------------------------------------------------------------------------- */

int wk__invoke_scaled_dot_product_attention(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const wk_attention_options options = {.size = sizeof options,
                                          .attn_mask = wk__value_tensor(&args[3]),
                                          .dropout_p = wk__value_option(&args[4]),
                                          .is_causal = wk__value_int(&args[5], 0) != 0,
                                          .scale = wk__value_option(&args[6]),
                                          .enable_gqa = wk__value_int(&args[7], 0) != 0};
    return wk__return_one(out, wk_scaled_dot_product_attention_at(site, wk__value_tensor(&args[0]),
                                                                  wk__value_tensor(&args[1]),
                                                                  wk__value_tensor(&args[2]), &options));
}
