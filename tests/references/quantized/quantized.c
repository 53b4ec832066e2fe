/* SPDX-License-Identifier: Apache-2.0 */
/* References of dequantize and quantized_linear, which decode blocks as the readers of files do. tests/ops/quantized.c
 * compares that with ggml's results. */
#include "quantized.h"
#include "base/alloc.h"
#include <string.h>

const wk__block_format *reference_block_format(const wk_value *value)
{
    const char *name = wk__value_text(value, "q8_0");
    for (int k = 0; k < WK__BLOCK_OP_FORMATS; k++)
        if (strcmp(wk__block_formats[k].name, name) == 0) return &wk__block_formats[k];
    return NULL;
}

/* Decodes all blocks of an array to out[]. */
static void decode_all(const reference_array *blocks, const wk__block_format *format, double *out)
{
    for (int64_t b = 0; b < reference_numel(blocks) / format->bytes; b++) {
        uint8_t bytes[WK__BLOCK_ELEMENTS];
        float element[WK__BLOCK_ELEMENTS];
        for (int k = 0; k < format->bytes; k++) bytes[k] = (uint8_t)blocks->data[b * format->bytes + k];
        format->decode(bytes, element);
        for (int k = 0; k < format->elements; k++) out[b * format->elements + k] = (double)element[k];
    }
}

static void dequantize_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const wk__block_format *format = reference_block_format(&r->args[1]);
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->ndim - 1] = shape[x->ndim - 1] / format->bytes * format->elements;
    decode_all(x, format, reference_out(r, 0, x->ndim, shape));
}

static const char *const dequantize_samples[] = {"[3,68]:u8<60",
                                                 "[2,2,54]:u8<256, \"q4_0\"",
                                                 "[40]:u8<60, \"q4_1\"",
                                                 "[3,22]:u8<60, \"q5_0\"",
                                                 "[3,48]:u8<60, \"q5_1\"",
                                                 "[2,84]:u8<90, \"q2_k\"",
                                                 "[2,110]:u8<90, \"q3_k\"",
                                                 "[3,288]:u8<90, \"q4_k\"",
                                                 "[3,176]:u8<90, \"q5_k\"",
                                                 "[2,420]:u8<90, \"q6_k\"",
                                                 "[0,34]:u8<9",
                                                 "[2,0]:u8<9",
                                                 NULL};

const op_reference op_reference_dequantize = {.reference = dequantize_reference, .samples = dequantize_samples};

/* ---- quantized_linear -------------------------------------------------------------------------------------------- */

static void quantized_linear_reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *blocks = &r->in[1];
    const wk__block_format *format = reference_block_format(&r->args[3]);
    const int64_t in = x->shape[x->ndim - 1], rows = blocks->shape[0];
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->ndim - 1] = rows;
    double *out = reference_out(r, 0, x->ndim, shape);
    double *weight = wk__alloc_zero((size_t)(rows * in) + 1, sizeof *weight);
    decode_all(blocks, format, weight);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        out[k] = r->inputs > 2 ? r->in[2].data[k % rows] : 0;
        for (int64_t i = 0; i < in; i++) out[k] += x->data[k / rows * in + i] * weight[k % rows * in + i];
    }
    wk__free(weight);
}

static const char *const quantized_linear_samples[] = {"[3,64], [5,68]:u8<60, [5]",
                                                       "[2,3,32], [4,18]:u8<60, none, \"q4_0\"",
                                                       "[32], [3,24]:u8<60, [3], \"q5_1\"",
                                                       "[2,256], [3,144]:u8<50, [3], \"q4_k\"",
                                                       "[9,256], [3,210]:u8<50, none, \"q6_k\"",
                                                       "[0,32], [3,34]:u8<9",
                                                       "[2,32], [0,34]:u8<9",
                                                       "[2,0], [3,0]:u8<9",
                                                       "[9,0], [3,0]:u8<9, [3]",
                                                       NULL};

/* Blocks of random bytes have offsets that cancel their scales. */
const op_reference op_reference_quantized_linear = {.reference = quantized_linear_reference,
                                                    .samples = quantized_linear_samples,
                                                    .low = -2,
                                                    .high = 2,
                                                    .max_ulps = 1024};
