/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of quantised blocks, and the table of formats; see blocks.h. The operations and their order are those of
 * ggml's reference, so that all bits of the results agree. Scales are f16; codes of 2 to 6 bits are spread over parts
 * of a block. */
#include "blocks.h"
#include "scalar.h"
#include <stddef.h>

static float half_at(const uint8_t *at)
{
    return (float)wk__scalar_to_double(at, WK_F16);
}

static uint32_t bits_32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* ---- blocks of 32 ------------------------------------------------------------------------------------------------ */

/* Unpacks the codes of a block: the low 4 bits of code k from codes, bit 4 from bit k of high. */
static void unpack_32(const uint8_t codes[16], uint32_t high, int8_t code[32])
{
    for (int half = 0; half < 2; half++)
        for (int k = 0; k < 16; k++) code[16 * half + k] = codes[k] >> 4 * half & 15;
    for (int k = 0; k < 32 && high; k++) code[k] = (int8_t)(code[k] | (int)(high >> k & 1) << 4);
}

/* scale, codes */
static void decode_q4_0(const uint8_t *block, float *element)
{
    int8_t code[32];
    const float scale = half_at(block);
    unpack_32(block + 2, 0, code);
    for (int k = 0; k < 32; k++) element[k] = (float)(code[k] - 8) * scale;
}

/* scale, minimum, codes */
static void decode_q4_1(const uint8_t *block, float *element)
{
    int8_t code[32];
    const float scale = half_at(block), minimum = half_at(block + 2);
    unpack_32(block + 4, 0, code);
    for (int k = 0; k < 32; k++) element[k] = (float)code[k] * scale + minimum;
}

/* scale, bits 4 of the codes, codes */
static void decode_q5_0(const uint8_t *block, float *element)
{
    int8_t code[32];
    const float scale = half_at(block);
    unpack_32(block + 6, bits_32(block + 2), code);
    for (int k = 0; k < 32; k++) element[k] = (float)(code[k] - 16) * scale;
}

/* scale, minimum, bits 4 of the codes, codes */
static void decode_q5_1(const uint8_t *block, float *element)
{
    int8_t code[32];
    const float scale = half_at(block), minimum = half_at(block + 2);
    unpack_32(block + 8, bits_32(block + 4), code);
    for (int k = 0; k < 32; k++) element[k] = (float)code[k] * scale + minimum;
}

/* scale, elements as i8 */
static void decode_q8_0(const uint8_t *block, float *element)
{
    const float scale = half_at(block);
    for (int k = 0; k < 32; k++) element[k] = (float)(int8_t)block[2 + k] * scale;
}

/* ---- blocks of codes for a table --------------------------------------------------------------------------------- */

static const int8_t nonlinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/* scale, codes */
static void decode_iq4_nl(const uint8_t *block, float *element)
{
    int8_t code[32];
    const float scale = half_at(block);
    unpack_32(block + 2, 0, code);
    for (int k = 0; k < 32; k++) element[k] = scale * (float)nonlinear[code[k]];
}

/* scale, high 2 bits and low 4 bits of 8 scales, codes; 256 elements */
static void decode_iq4_xs(const uint8_t *block, float *element)
{
    const float scale = half_at(block);
    for (int part = 0; part < 8; part++) {
        int8_t code[32];
        const int low = block[4 + part / 2] >> part % 2 * 4 & 15, high = block[2 + part / 4] >> part % 4 * 2 & 3;
        const float of_part = scale * (float)((low | high << 4) - 32);
        unpack_32(block + 8 + 16 * part, 0, code);
        for (int k = 0; k < 32; k++) element[32 * part + k] = of_part * (float)nonlinear[code[k]];
    }
}

/* ---- blocks of 256, with a scale for each 16 or 32 elements ------------------------------------------------------ */

/* Unpacks 2 bits for each element from 64 bytes: each 32 bytes hold 128 elements. */
static void unpack_pairs(const uint8_t codes[64], int8_t code[256])
{
    for (int part = 0; part < 8; part++)
        for (int k = 0; k < 32; k++) code[32 * part + k] = codes[part / 4 * 32 + k] >> part % 4 * 2 & 3;
}

/* scales of 4 bits, each with the 4 bits of an offset; codes; scale, scale of the offsets */
static void decode_q2_k(const uint8_t *block, float *element)
{
    int8_t code[256];
    const float scale = half_at(block + 80), offset = half_at(block + 82);
    unpack_pairs(block + 16, code);
    for (int part = 0; part < 16; part++) {
        const float of_part = scale * (float)(block[part] & 15), minus = offset * (float)(block[part] >> 4);
        for (int k = 16 * part; k < 16 * part + 16; k++) element[k] = of_part * (float)code[k] - minus;
    }
}

/* inverted bits 2 of the codes, codes, scales of 6 bits, scale */
static void decode_q3_k(const uint8_t *block, float *element)
{
    int8_t code[256];
    const uint8_t *scales = block + 96;
    const float scale = half_at(block + 108);
    unpack_pairs(block + 32, code);
    for (int bit = 0; bit < 8; bit++)
        for (int k = 0; k < 32; k++) code[32 * bit + k] = (int8_t)(code[32 * bit + k] - (~block[k] >> bit & 1) * 4);
    for (int part = 0; part < 16; part++) {
        const int low = scales[part % 8] >> part / 8 * 4 & 15, high = scales[8 + part % 4] >> part / 4 * 2 & 3;
        const float of_part = scale * (float)((low | high << 4) - 32);
        for (int k = 16 * part; k < 16 * part + 16; k++) element[k] = of_part * (float)code[k];
    }
}

/* Computes elements with codes of 4 bits, or of 5 with `high`: scale, scale of the offsets, 8 scales and 8 offsets of 6
 * bits, codes. */
static void decode_4_or_5(const uint8_t *block, const uint8_t *high, const uint8_t *codes, float *element)
{
    const float scale = half_at(block), offset = half_at(block + 2);
    const uint8_t *first = block + 4, *second = block + 8, *rest = block + 12;
    for (int part = 0; part < 8; part++) {
        const int p = part % 4, upper = part / 4;
        const int s = upper ? (rest[p] & 15) | first[p] >> 6 << 4 : first[p] & 63;
        const int o = upper ? rest[p] >> 4 | second[p] >> 6 << 4 : second[p] & 63;
        const float of_part = scale * (float)s, minus = offset * (float)o;
        for (int k = 0; k < 32; k++) {
            const int code = codes[part / 2 * 32 + k] >> part % 2 * 4 & 15;
            const int bit = high ? high[k] >> part & 1 : 0;
            element[part * 32 + k] = of_part * (float)(code | bit << 4) - minus;
        }
    }
}

static void decode_q4_k(const uint8_t *block, float *element)
{
    decode_4_or_5(block, NULL, block + 16, element);
}

static void decode_q5_k(const uint8_t *block, float *element)
{
    decode_4_or_5(block, block + 16, block + 48, element);
}

/* low 4 bits of the codes, high 2 bits, scales as i8, scale */
static void decode_q6_k(const uint8_t *block, float *element)
{
    int8_t code[256];
    const float scale = half_at(block + 208);
    unpack_pairs(block + 128, code);
    for (int part = 0; part < 4; part++)
        for (int k = 0; k < 64; k++) {
            const int low = block[part / 2 * 64 + k] >> part % 2 * 4 & 15;
            code[64 * part + k] = (int8_t)((low | code[64 * part + k] << 4) - 32);
        }
    for (int part = 0; part < 16; part++) {
        const float of_part = scale * (float)(int8_t)block[192 + part];
        for (int k = 16 * part; k < 16 * part + 16; k++) element[k] = of_part * (float)code[k];
    }
}

/* ---- formats ----------------------------------------------------------------------------------------------------- */

const wk__block_format wk__block_formats[WK__BLOCK_FORMATS] = {
    [WK_BLOCKS_Q8_0] = {"q8_0", 32, 34, decode_q8_0},        [WK_BLOCKS_Q4_0] = {"q4_0", 32, 18, decode_q4_0},
    [WK_BLOCKS_Q4_1] = {"q4_1", 32, 20, decode_q4_1},        [WK_BLOCKS_Q5_0] = {"q5_0", 32, 22, decode_q5_0},
    [WK_BLOCKS_Q5_1] = {"q5_1", 32, 24, decode_q5_1},        [WK_BLOCKS_Q2_K] = {"q2_k", 256, 84, decode_q2_k},
    [WK_BLOCKS_Q3_K] = {"q3_k", 256, 110, decode_q3_k},      [WK_BLOCKS_Q4_K] = {"q4_k", 256, 144, decode_q4_k},
    [WK_BLOCKS_Q5_K] = {"q5_k", 256, 176, decode_q5_k},      [WK_BLOCKS_Q6_K] = {"q6_k", 256, 210, decode_q6_k},
    [WK__BLOCKS_IQ4_NL] = {"iq4_nl", 32, 18, decode_iq4_nl}, [WK__BLOCKS_IQ4_XS] = {"iq4_xs", 256, 136, decode_iq4_xs},
};
