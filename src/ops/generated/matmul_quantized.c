/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/matmul.h. Section: quantised weights: elements in blocks that share scales, as in GGUF
 * files.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/matmul: edit those. */
#include "ops/core/entries.h"

/* ---- dequantize -------------------------------------------------------------------------------------------------- */

int wk__invoke_dequantize(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int format = wk__value_choice(
        site, "dequantize", "format", &args[1],
        (const char *const[]){"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", NULL});
    if (format < 0) return -1;
    const wk_block_options options = {.size = sizeof options, .format = (wk_block_format)format};
    return wk__return_one(out, wk_dequantize_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- quantize ---------------------------------------------------------------------------------------------------- */

int wk__invoke_quantize(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int format = wk__value_choice(
        site, "quantize", "format", &args[1],
        (const char *const[]){"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", NULL});
    if (format < 0) return -1;
    const wk_block_options options = {.size = sizeof options, .format = (wk_block_format)format};
    return wk__return_one(out, wk_quantize_at(site, wk__value_tensor(&args[0]), &options));
}

/* ---- quantized_linear -------------------------------------------------------------------------------------------- */

int wk__invoke_quantized_linear(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    const int format = wk__value_choice(
        site, "quantized_linear", "format", &args[3],
        (const char *const[]){"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", NULL});
    if (format < 0) return -1;
    const wk_block_options options = {.size = sizeof options, .format = (wk_block_format)format};
    return wk__return_one(out, wk_quantized_linear_at(site, wk__value_tensor(&args[0]), wk__value_tensor(&args[1]),
                                                      wk__value_tensor(&args[2]), &options));
}
