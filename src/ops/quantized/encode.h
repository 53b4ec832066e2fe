/* SPDX-License-Identifier: Apache-2.0 */
/* Encoders of quantised blocks, as calls of public ops on tensors whose first dimension counts blocks. Each operation
 * on floats rounds by itself, and sums are of integers, so all devices compute the same bytes. Functions return NULL
 * after an error, also if an operand is NULL because of one. Results belong to the caller's scope. */
#ifndef WICK_OPS_QUANTIZED_ENCODE_H
#define WICK_OPS_QUANTIZED_ENCODE_H

#include "quantized.h"

/* Return the bytes of blocks of a format of 32 or 256 elements, (blocks, bytes), for x (blocks, elements) of f32. */
wk_tensor *wk__encode_32(wk_tensor *x, wk_block_format format);
wk_tensor *wk__encode_256(wk_tensor *x, wk_block_format format);

/* ---- helpers of both --------------------------------------------------------------------------------------------- */

wk_tensor *wk__encode_to(wk_tensor *x, wk_dtype dtype);
/* Returns x (blocks, 1) as f16, (blocks, 2): the two bytes, low first. */
wk_tensor *wk__encode_half(wk_tensor *x);
/* Returns 1 / x, or 0 if that overflows. */
wk_tensor *wk__encode_inverse(wk_tensor *x);
/* Returns along `dim` the first element of the largest absolute value, with its sign. The dimension has size 1. */
wk_tensor *wk__encode_largest(wk_tensor *x, int64_t dim);
/* Returns bits `first` to `first` + `count` - 1 of codes of u8. */
wk_tensor *wk__encode_bits(wk_tensor *code, int first, int count);
/* Joins fields of `width` bits, u8, to bytes: byte k of a group is the sum of field[group][f][k] 2^(f width). The codes
 * of a block are groups x fields x n; the result is (blocks, groups n). */
wk_tensor *wk__encode_fields(wk_tensor *code, int64_t groups, int64_t fields, int64_t n, int width);

#endif
