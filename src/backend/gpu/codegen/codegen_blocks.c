/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of quantised blocks; see codegen_blocks.h. The layouts are those of ir/blocks.c, and so are the operations
 * and their order. Rows of blocks start at even addresses and blocks have an even number of bytes, so bytes are loaded
 * in pairs. */
#include "codegen_blocks.h"
#include "device_source.h"
#include "ir/blocks.h"

const char wk__gpu_mark_decoder[] = "decoder";

/*   BLOCK_OF     declares `block`, the first byte of the block of `element`, and `at`, the element's index in it
 *   PAIR, BYTES  two and four bytes as a number, the first one lowest
 *   HALF         a f16 as a float
 *   TAKE         declares to[], EACH bytes, four per word
 *   TAKEN        byte k of them
 *   SIX          number `part` of 8 numbers of 6 bits. The 4 bytes at `from` have the first 4 numbers in their low
 *                bits, and above them the high 2 bits of the others, whose low 4 bits are `low` */
static const char begin[] =
    "#define BLOCK_OF(elements, bytes) GM const u8 *block = row + element / elements * bytes; "
    "const int at = (int)(element % elements);\n"
    "#define PAIR(from) ((u32)*(GM const u16 *)(from))\n"
    "#define BYTES(from) (PAIR(from) | PAIR((from) + 2) << 16)\n"
    "#define HALF(from) wk_from_f16(*(GM const u16 *)(from))\n"
    "#define TAKE(to, from) u32 to[EACH / 4]; UNROLL for (int n = 0; n < EACH / 4; n++) to[n] = BYTES((from) + 4 * "
    "n);\n"
    "#define TAKEN(of, k) (of[(k) / 4] >> (k) % 4 * 8 & 255u)\n"
    "#define SIX(from, low) ((float)(part < 4 ? block[from + part] & 63 : (low) | block[from + part - 4] >> 6 << "
    "4))\n";
static const char end[] = "#undef BLOCK_OF\n#undef PAIR\n#undef BYTES\n#undef HALF\n#undef TAKE\n"
                          "#undef TAKEN\n#undef SIX\n";

/* clang-format off */ /* of device code */

/* ---- blocks of 32 ------------------------------------------------------------------------------------------------ */

/* scale, elements as i8 */
static const char q8_0[] = DEVICE_CODE(
    float w[EACH];
    BLOCK_OF(32, 34)
    const float scale = HALF(block);
    TAKE(code, block + 2 + at)
    UNROLL for (int k = 0; k < EACH; k++) w[k] = (float)(i8)TAKEN(code, k) * scale;);

/* scale, codes */
static const char q4_0[] = DEVICE_CODE(
    float w[EACH];
    BLOCK_OF(32, 18)
    const float scale = HALF(block);
    TAKE(code, block + 2 + at % 16)
    UNROLL for (int k = 0; k < EACH; k++) w[k] = (float)((int)(TAKEN(code, k) >> at / 16 * 4 & 15u) - 8) * scale;);

/* scale, minimum, codes */
static const char q4_1[] = DEVICE_CODE(
    float w[EACH];
    BLOCK_OF(32, 20)
    const float scale = HALF(block);
    const float minimum = HALF(block + 2);
    TAKE(code, block + 4 + at % 16)
    UNROLL for (int k = 0; k < EACH; k++) w[k] = (float)(TAKEN(code, k) >> at / 16 * 4 & 15u) * scale + minimum;);

/* scale, bits 4 of the codes, codes */
static const char q5_0[] = DEVICE_CODE(
    float w[EACH];
    BLOCK_OF(32, 22)
    const float scale = HALF(block);
    const u32 high = BYTES(block + 2) >> at;
    TAKE(code, block + 6 + at % 16)
    UNROLL for (int k = 0; k < EACH; k++) {
        const u32 low = TAKEN(code, k) >> at / 16 * 4 & 15u;
        w[k] = (float)((int)(low | (high >> k & 1u) << 4) - 16) * scale;
    });

/* scale, minimum, bits 4 of the codes, codes */
static const char q5_1[] = DEVICE_CODE(
    float w[EACH];
    BLOCK_OF(32, 24)
    const float scale = HALF(block);
    const float minimum = HALF(block + 2);
    const u32 high = BYTES(block + 4) >> at;
    TAKE(code, block + 8 + at % 16)
    UNROLL for (int k = 0; k < EACH; k++) {
        const u32 low = TAKEN(code, k) >> at / 16 * 4 & 15u;
        w[k] = (float)(low | (high >> k & 1u) << 4) * scale + minimum;
    });

/* ---- blocks of 256, with a scale for each 16 or 32 elements ------------------------------------------------------ */

/* scales of 4 bits, each with the 4 bits of an offset; codes of 2 bits; scale, scale of the offsets */
static const char q2_k[] = DEVICE_CODE(
    float w[EACH];
    BLOCK_OF(256, 84)
    const u32 scales = block[at / 16];
    const float scale = HALF(block + 80) * (float)(scales & 15u);
    const float minus = HALF(block + 82) * (float)(scales >> 4);
    TAKE(code, block + 16 + at / 128 * 32 + at % 32)
    UNROLL for (int k = 0; k < EACH; k++) {
        w[k] = scale * (float)(TAKEN(code, k) >> at / 32 % 4 * 2 & 3u) - minus;
    });

/* inverted bits 2 of the codes, bits 0 and 1, scales of 6 bits, scale */
static const char q3_k[] = DEVICE_CODE(
    float w[EACH];
    BLOCK_OF(256, 110)
    const int part = at / 16;
    const int low = block[96 + part % 8] >> part / 8 * 4 & 15;
    const int high = block[104 + part % 4] >> part / 4 * 2 & 3;
    const float scale = HALF(block + 108) * (float)((low | high << 4) - 32);
    TAKE(code, block + 32 + at / 128 * 32 + at % 32)
    TAKE(bits, block + at % 32)
    UNROLL for (int k = 0; k < EACH; k++) {
        const int pair = (int)(TAKEN(code, k) >> at / 32 % 4 * 2 & 3u);
        w[k] = scale * (float)(pair - (int)(~TAKEN(bits, k) >> at / 32 & 1u) * 4);
    });

/* scale, scale of the offsets, 8 scales and 8 offsets of 6 bits, codes */
static const char q4_k[] = DEVICE_CODE(
    float w[EACH];
    BLOCK_OF(256, 144)
    const int part = at / 32;
    const int rest = block[8 + part];
    const float scale = HALF(block) * SIX(4, rest & 15);
    const float minus = HALF(block + 2) * SIX(8, rest >> 4);
    TAKE(code, block + 16 + part / 2 * 32 + at % 32)
    UNROLL for (int k = 0; k < EACH; k++) w[k] = scale * (float)(TAKEN(code, k) >> part % 2 * 4 & 15u) - minus;);

/* scale, scale of the offsets, 8 scales and 8 offsets of 6 bits, bits 4 of the codes, codes */
static const char q5_k[] = DEVICE_CODE(
    float w[EACH];
    BLOCK_OF(256, 176)
    const int part = at / 32;
    const int rest = block[8 + part];
    const float scale = HALF(block) * SIX(4, rest & 15);
    const float minus = HALF(block + 2) * SIX(8, rest >> 4);
    TAKE(bits, block + 16 + at % 32)
    TAKE(code, block + 48 + part / 2 * 32 + at % 32)
    UNROLL for (int k = 0; k < EACH; k++) {
        const u32 low = TAKEN(code, k) >> part % 2 * 4 & 15u;
        w[k] = scale * (float)(low | (TAKEN(bits, k) >> part & 1u) << 4) - minus;
    });

/* low 4 bits of the codes, high 2 bits, scales as i8, scale */
static const char q6_k[] = DEVICE_CODE(
    float w[EACH];
    BLOCK_OF(256, 210)
    const float scale = HALF(block + 208) * (float)(i8)block[192 + at / 16];
    TAKE(low, block + at / 128 * 64 + at % 64)
    TAKE(high, block + 128 + at / 128 * 32 + at % 32)
    UNROLL for (int k = 0; k < EACH; k++) {
        const u32 four = TAKEN(low, k) >> at / 64 % 2 * 4 & 15u;
        const u32 two = TAKEN(high, k) >> at / 32 % 4 * 2 & 3u;
        w[k] = scale * (float)((int)(four | two << 4) - 32);
    });
/* clang-format on */

static const char *const decoders[WK__BLOCK_OP_FORMATS] = {
    [WK_BLOCKS_Q8_0] = q8_0, [WK_BLOCKS_Q4_0] = q4_0, [WK_BLOCKS_Q4_1] = q4_1, [WK_BLOCKS_Q5_0] = q5_0,
    [WK_BLOCKS_Q5_1] = q5_1, [WK_BLOCKS_Q2_K] = q2_k, [WK_BLOCKS_Q3_K] = q3_k, [WK_BLOCKS_Q4_K] = q4_k,
    [WK_BLOCKS_Q5_K] = q5_k, [WK_BLOCKS_Q6_K] = q6_k,
};

void wk__gpu_codegen_decoder(wk__text *text, const wk__gpu_kernel_spec *spec)
{
    wk__text_add(text, begin);
    wk__text_add(text, decoders[spec->config.block_format]);
    wk__text_add(text, end);
}
