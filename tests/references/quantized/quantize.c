/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of quantize. The bytes depend on the rounding of each float, so it computes in f32, block by block. Blocks
 * of 32 elements are compared with ggml's in tests/ops/quantize.c. */
#include "quantized.h"
#include <math.h>
#include <string.h>

/* Rounds x to f16 and stores its two bytes. Returns the rounded value. */
static float store_half(float x, double *out)
{
    int exponent;
    const double size = fabs((double)x);
    (void)frexp(size, &exponent);
    exponent = exponent < -13 || size == 0 ? -13 : exponent;
    int bits = (exponent + 13) * 1024 + (int)rint(ldexp(size, 11 - exponent));
    bits = size >= 65520 ? 0x7c00 : bits;
    out[0] = bits & 255;
    out[1] = bits >> 8 | (signbit(x) ? 128 : 0);
    const double rounded = size >= 65520 ? (double)INFINITY : ldexp(rint(ldexp(size, 11 - exponent)), exponent - 11);
    return copysignf((float)rounded, x);
}

static float inverse(float scale)
{
    return fabsf(scale) <= 0x1p-128F ? 0 : 1 / scale;
}

static int limited(float x, int least, int most)
{
    return x < (float)least ? least : x > (float)most ? most : (int)x;
}

/* Returns the first element of the largest size. */
static float largest(const float *x, int count)
{
    float most = x[0];
    for (int k = 1; k < count; k++)
        if (fabsf(x[k]) > fabsf(most)) most = x[k];
    return most;
}

static float least_of(const float *x, int count)
{
    float least = x[0];
    for (int k = 1; k < count; k++) least = x[k] < least ? x[k] : least;
    return least;
}

static float most_of(const float *x, int count)
{
    float most = x[0];
    for (int k = 1; k < count; k++) most = x[k] > most ? x[k] : most;
    return most;
}

/* Adds bits `first` to `first` + `count` - 1 of a code to a byte, `shift` bits up. */
static void put_bits(double *byte, int code, int first, int count, int shift)
{
    *byte += (code >> first & ((1 << count) - 1)) << shift;
}

/* ---- blocks of 32 ------------------------------------------------------------------------------------------------ */

static void encode_q8_0(const float *x, double *out)
{
    const float scale = fabsf(largest(x, 32)) / 127;
    store_half(scale, out);
    for (int k = 0; k < 32; k++) out[2 + k] = (uint8_t)(int8_t)roundf(x[k] * inverse(scale));
}

/* Stores codes of 4 bits, or of 5 with their bits 4 in front. */
static void store_codes(const int *code, int bits, double *out)
{
    double *low = bits == 5 ? out + 4 : out;
    for (int k = 0; k < 32; k++) {
        put_bits(&low[k % 16], code[k], 0, 4, k / 16 * 4);
        if (bits == 5) put_bits(&out[k / 8], code[k], 4, 1, k % 8);
    }
}

static void encode_with_scale(const float *x, int bits, double *out)
{
    const int half = 1 << (bits - 1);
    const float scale = largest(x, 32) / (float)-half;
    int code[32];
    for (int k = 0; k < 32; k++) code[k] = limited(x[k] * inverse(scale) + ((float)half + 0.5F), 0, 2 * half - 1);
    store_half(scale, out);
    store_codes(code, bits, out + 2);
}

static void encode_with_minimum(const float *x, int bits, double *out)
{
    const int top = (1 << bits) - 1;
    const float minimum = least_of(x, 32), scale = (most_of(x, 32) - minimum) / (float)top;
    int code[32];
    for (int k = 0; k < 32; k++) code[k] = limited((x[k] - minimum) * inverse(scale) + 0.5F, 0, top);
    store_half(scale, out);
    store_half(minimum, out + 2);
    store_codes(code, bits, out + 4);
}

/* ---- blocks of 256 ----------------------------------------------------------------------------------------------- */

/* A block of 256 as integers: numbers of parts, of scales and offsets, and codes. */
typedef struct block {
    int parts, least_code, top, least_number, most;
    float first, step; /* of the choices */
    const float *x;
    float scale, offset; /* as f16 has them */
    float of_part[16], low[16];
    int number[16], offset_number[16], code[256];
} block;

static int number_of(const block *b, float of_part, float scale, int choice)
{
    const float factor = (float)choice * b->step + b->first;
    return limited(rintf(of_part * inverse(scale) * factor), b->least_number, b->most);
}

/* Returns the sum of squared errors of part p with the numbers and codes that it gets. */
static int64_t error_of(block *b, int p, int number, int offset_number)
{
    const int n = 256 / b->parts;
    const float scale = (float)number * b->scale, minus = (float)offset_number * b->offset;
    const float unit = b->least_code < 0 ? inverse(b->scale) : inverse(fmaxf(b->scale, b->offset));
    int64_t sum = 0;
    for (int k = p * n; k < p * n + n; k++) {
        b->code[k] = limited(rintf((b->x[k] + minus) * inverse(scale)), b->least_code, b->top);
        const float error = ((float)b->code[k] * scale - minus - b->x[k]) * unit;
        sum += (int64_t)(fminf(error * error, 0x1p26F) * 0x1p30F);
    }
    return sum;
}

static void choose_numbers(block *b, int p)
{
    int64_t least = INT64_MAX;
    for (int k = 0; k < 9; k++) {
        const bool alone = b->least_code < 0;
        const int number = number_of(b, b->of_part[p], b->scale, alone ? k : k / 3);
        const int offset_number = alone ? 0 : number_of(b, b->low[p], b->offset, k % 3);
        const int64_t error = error_of(b, p, number, offset_number);
        if (error >= least) continue;
        least = error;
        b->number[p] = number;
        b->offset_number[p] = offset_number;
    }
    error_of(b, p, b->number[p], b->offset_number[p]);
}

/* Stores the scale and, of codes from 0 on, the offset. */
static void encode_parts(block *b, double *scale, double *offset)
{
    const int n = 256 / b->parts;
    for (int p = 0; p < b->parts; p++) {
        b->low[p] = fmaxf(-least_of(b->x + p * n, n), 0);
        b->of_part[p] = b->least_code < 0 ? largest(b->x + p * n, n) / (float)b->least_code
                                          : (most_of(b->x + p * n, n) + b->low[p]) / (float)b->top;
    }
    b->scale = store_half(b->least_code < 0 ? largest(b->of_part, b->parts) / (float)b->least_number
                                            : most_of(b->of_part, b->parts) / (float)b->most,
                          scale);
    b->offset = offset ? store_half(most_of(b->low, b->parts) / (float)b->most, offset) : 0;
    for (int p = 0; p < b->parts; p++) choose_numbers(b, p);
}

/* Stores bits `first` to `first` + `count` - 1 of codes: each n bytes have those of `fields` times n codes. */
static void store_fields(const block *b, int first, int count, int fields, int n, double *out)
{
    for (int k = 0; k < 256; k++)
        put_bits(&out[k / (fields * n) * n + k % n], b->code[k] - b->least_code, first, count, k / n % fields * count);
}

static void encode_q2_k(const float *x, double *out)
{
    block b = {.parts = 16, .top = 3, .most = 15, .first = 1, .step = -0.09375F, .x = x};
    encode_parts(&b, out + 80, out + 82);
    for (int p = 0; p < 16; p++) out[p] = b.number[p] | b.offset_number[p] << 4;
    store_fields(&b, 0, 2, 4, 32, out + 16);
}

static void encode_q3_k(const float *x, double *out)
{
    block b = {.parts = 16, .least_code = -4, .top = 3, .least_number = -32, .most = 31, .x = x};
    b.first = 0.859375F;
    b.step = 0.046875F;
    encode_parts(&b, out + 108, NULL);
    store_fields(&b, 2, 1, 8, 32, out);
    store_fields(&b, 0, 2, 4, 32, out + 32);
    for (int p = 0; p < 16; p++) {
        put_bits(&out[96 + p % 8], b.number[p] + 32, 0, 4, p / 8 * 4);
        put_bits(&out[104 + p % 4], b.number[p] + 32, 4, 2, p / 4 * 2);
    }
}

static void encode_q4_or_5_k(const float *x, int bits, double *out)
{
    block b = {.parts = 8, .top = (1 << bits) - 1, .most = 63, .x = x};
    b.first = bits == 4 ? 1 : 1.015625F;
    b.step = bits == 4 ? -0.03125F : -0.015625F;
    encode_parts(&b, out, out + 2);
    for (int p = 0; p < 4; p++) {
        out[4 + p] = b.number[p] | b.number[p + 4] >> 4 << 6;
        out[8 + p] = b.offset_number[p] | b.offset_number[p + 4] >> 4 << 6;
        out[12 + p] = (b.number[p + 4] & 15) | (b.offset_number[p + 4] & 15) << 4;
    }
    if (bits == 5) store_fields(&b, 4, 1, 8, 32, out + 16);
    store_fields(&b, 0, 4, 2, 32, bits == 5 ? out + 48 : out + 16);
}

static void encode_q6_k(const float *x, double *out)
{
    block b = {.parts = 16, .least_code = -32, .top = 31, .least_number = -128, .most = 127, .x = x};
    b.first = 0.953125F;
    b.step = 0.015625F;
    encode_parts(&b, out + 208, NULL);
    store_fields(&b, 0, 4, 2, 64, out);
    store_fields(&b, 4, 2, 4, 32, out + 128);
    for (int p = 0; p < 16; p++) out[192 + p] = (uint8_t)(int8_t)b.number[p];
}

/* ---- the op ------------------------------------------------------------------------------------------------------ */

/* out[] is 0. */
static void encode(const float *x, wk_block_format format, double *out)
{
    switch (format) {
    case WK_BLOCKS_Q8_0: encode_q8_0(x, out); break;
    case WK_BLOCKS_Q4_0: encode_with_scale(x, 4, out); break;
    case WK_BLOCKS_Q4_1: encode_with_minimum(x, 4, out); break;
    case WK_BLOCKS_Q5_0: encode_with_scale(x, 5, out); break;
    case WK_BLOCKS_Q5_1: encode_with_minimum(x, 5, out); break;
    case WK_BLOCKS_Q2_K: encode_q2_k(x, out); break;
    case WK_BLOCKS_Q3_K: encode_q3_k(x, out); break;
    case WK_BLOCKS_Q4_K: encode_q4_or_5_k(x, 4, out); break;
    case WK_BLOCKS_Q5_K: encode_q4_or_5_k(x, 5, out); break;
    case WK_BLOCKS_Q6_K: encode_q6_k(x, out); break;
    }
}

static void quantize_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const wk__block_format *format = reference_block_format(&r->args[1]);
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->ndim - 1] = shape[x->ndim - 1] / format->elements * format->bytes;
    double *out = reference_out(r, 0, x->ndim, shape);
    for (int64_t b = 0; b < reference_numel(x) / format->elements; b++) {
        float element[WK__BLOCK_ELEMENTS];
        for (int k = 0; k < format->elements; k++) element[k] = (float)x->data[b * format->elements + k];
        encode(element, (wk_block_format)(format - wk__block_formats), out + b * format->bytes);
    }
}

static const char *const samples[] = {"[3,64]",
                                      "[2,2,32], \"q4_0\"",
                                      "[3,32], \"q4_1\"",
                                      "[2,64], \"q5_0\"",
                                      "[64], \"q5_1\"",
                                      "[2,256], \"q2_k\"",
                                      "[256], \"q3_k\"",
                                      "[2,512], \"q4_k\"",
                                      "[1,256], \"q5_k\"",
                                      "[2,256], \"q6_k\"",
                                      "[32]:f16<3",
                                      "[0,32]",
                                      "[2,0]",
                                      "[0,256], \"q4_k\"",
                                      NULL};

const op_reference op_reference_quantize = {
    .reference = quantize_reference, .samples = samples, .low = -3, .high = 3, .discontinuous = true};
