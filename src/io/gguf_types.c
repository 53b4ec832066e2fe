/* SPDX-License-Identifier: Apache-2.0 */
/* The types of tensors in GGUF files; see gguf.h. */
#include "base/integers.h"
#include "base/pool.h"
#include "gguf.h"

/* By their numbers. Those without a dtype have a known size, so that the other tensors of a file can be read. */
static const wk__gguf_type types[] = {
    [0] = {"F32", 1, 4, WK_F32, NULL},
    [1] = {"F16", 1, 2, WK_F16, NULL},
    [2] = {"Q4_0", 32, 18, WK_F32, &wk__block_formats[WK_BLOCKS_Q4_0]},
    [3] = {"Q4_1", 32, 20, WK_F32, &wk__block_formats[WK_BLOCKS_Q4_1]},
    [6] = {"Q5_0", 32, 22, WK_F32, &wk__block_formats[WK_BLOCKS_Q5_0]},
    [7] = {"Q5_1", 32, 24, WK_F32, &wk__block_formats[WK_BLOCKS_Q5_1]},
    [8] = {"Q8_0", 32, 34, WK_F32, &wk__block_formats[WK_BLOCKS_Q8_0]},
    [9] = {"Q8_1", 32, 40, 0, NULL},
    [10] = {"Q2_K", 256, 84, WK_F32, &wk__block_formats[WK_BLOCKS_Q2_K]},
    [11] = {"Q3_K", 256, 110, WK_F32, &wk__block_formats[WK_BLOCKS_Q3_K]},
    [12] = {"Q4_K", 256, 144, WK_F32, &wk__block_formats[WK_BLOCKS_Q4_K]},
    [13] = {"Q5_K", 256, 176, WK_F32, &wk__block_formats[WK_BLOCKS_Q5_K]},
    [14] = {"Q6_K", 256, 210, WK_F32, &wk__block_formats[WK_BLOCKS_Q6_K]},
    [15] = {"Q8_K", 256, 292, 0, NULL},
    [16] = {"IQ2_XXS", 256, 66, 0, NULL},
    [17] = {"IQ2_XS", 256, 74, 0, NULL},
    [18] = {"IQ3_XXS", 256, 98, 0, NULL},
    [19] = {"IQ1_S", 256, 50, 0, NULL},
    [20] = {"IQ4_NL", 32, 18, WK_F32, &wk__block_formats[WK__BLOCKS_IQ4_NL]},
    [21] = {"IQ3_S", 256, 110, 0, NULL},
    [22] = {"IQ2_S", 256, 82, 0, NULL},
    [23] = {"IQ4_XS", 256, 136, WK_F32, &wk__block_formats[WK__BLOCKS_IQ4_XS]},
    [24] = {"I8", 1, 1, WK_I8, NULL},
    [25] = {"I16", 1, 2, WK_I16, NULL},
    [26] = {"I32", 1, 4, WK_I32, NULL},
    [27] = {"I64", 1, 8, WK_I64, NULL},
    [28] = {"F64", 1, 8, WK_F64, NULL},
    [29] = {"IQ1_M", 256, 56, 0, NULL},
    [30] = {"BF16", 1, 2, WK_BF16, NULL},
    [34] = {"TQ1_0", 256, 54, 0, NULL},
    [35] = {"TQ2_0", 256, 66, 0, NULL},
    [39] = {"MXFP4", 32, 17, 0, NULL},
    [40] = {"NVFP4", 64, 36, 0, NULL},
    [41] = {"Q1_0", 128, 18, 0, NULL},
};

const wk__gguf_type *wk__gguf_type_of(uint64_t number)
{
    const wk__gguf_type *type = number < sizeof types / sizeof *types ? &types[number] : NULL;
    return type && type->name ? type : NULL;
}

wk_code wk__gguf_check_type(const wk__safetensors_tensor *tensor, wk__io_error *error)
{
    if (tensor->dtype) return WK_OK;
    return wk__io_fail(
        error, WK_ERR_UNSUPPORTED,
        "tensor \"%s\" has unsupported type %s; expected F32, F16, BF16, F64, I8 to I64, Q4_0, Q4_1, Q5_0, "
        "Q5_1, Q8_0, Q2_K to Q6_K, IQ4_NL or IQ4_XS",
        wk__printable_name(tensor->name).text, tensor->dtype_name);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Blocks that are to be decoded, in parts. */
typedef struct decoding {
    const wk__gguf_type *type;
    const uint8_t *blocks;
    float *elements;
    int64_t count, part;
} decoding;

static void decode_part(void *user, int64_t k)
{
    const decoding *d = user;
    const int64_t end = wk__min_i64((k + 1) * d->part, d->count);
    for (int64_t b = k * d->part; b < end; b++)
        d->type->blocks->decode(d->blocks + b * d->type->bytes, d->elements + b * d->type->block);
}

void wk__gguf_decode(const wk__gguf_type *type, const uint8_t *blocks, int64_t count, float *elements)
{
    enum { ELEMENTS = 1 << 16 }; /* of a part */
    decoding d = {type, blocks, elements, count, ELEMENTS / type->block};
    wk__parallel_for(wk__chunk_count(count, d.part), decode_part, &d);
}
