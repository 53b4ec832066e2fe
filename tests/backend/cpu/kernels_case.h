/* SPDX-License-Identifier: Apache-2.0 */
/* Operands for kernel tests: random contents with any strides, in memory that ends at the last element, so that
 * sanitizers detect reads beyond it. */
#ifndef CPU_KERNELS_CASE_H
#define CPU_KERNELS_CASE_H

#include "matmul_case.h"

#include "backend/cpu/along_dim.h"

/* An array, and its layout in memory: row-major, column-major, with every second element unused, or reversed. */
typedef struct array {
    char *data;
    int64_t bytes;
    wk__memory memory;
    wk__operand operand;
} array;

static inline void array_new(array *array, wk_dtype dtype, int ndim, const int64_t shape[], layout layout)
{
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    int64_t step = layout == GAPS ? 2 : 1, last = 0, start = 0;
    *array = (struct array){.operand = {.dtype = (uint8_t)dtype}};
    for (int k = 0; k < ndim; k++) {
        const int d = layout == COLUMNS ? k : ndim - 1 - k;
        array->operand.stride[d] = layout == BACKWARDS ? -step : step;
        last += shape[d] > 0 ? step * (shape[d] - 1) : 0;
        if (layout == BACKWARDS && shape[d] > 0) start += step * (shape[d] - 1);
        step *= shape[d] > 0 ? shape[d] : 1;
    }
    array->operand.offset = 3 + start;
    array->bytes = (3 + last + 1) * size;
    array->data = malloc((size_t)array->bytes);
    assert_non_null(array->data);
    for (int64_t k = 0; k < array->bytes / size; k++) put_random(dtype, array->data + k * size);
    array->memory = (wk__memory){.block = array->data, .host = array->data, .bytes = array->bytes};
    array->operand.memory = &array->memory;
}

static inline char *array_at(const array *array, int ndim, const int64_t index[])
{
    int64_t at = array->operand.offset;
    for (int d = 0; d < ndim; d++) at += index[d] * array->operand.stride[d];
    return array->data + at * (int64_t)wk_dtype_size((wk_dtype)array->operand.dtype);
}

/* Returns a copy of the bytes, for a later comparison; the caller frees it. */
static inline char *array_copy(const array *array)
{
    char *copy = malloc((size_t)array->bytes);
    assert_non_null(copy);
    memcpy(copy, array->data, (size_t)array->bytes);
    return copy;
}

/* Advances index in row-major order; returns false after the last. */
static inline bool advance(int ndim, const int64_t shape[], int64_t index[])
{
    for (int d = ndim - 1; d >= 0; d--) {
        if (++index[d] < shape[d]) return true;
        index[d] = 0;
    }
    return false;
}

static inline bool is_empty(int ndim, const int64_t shape[])
{
    for (int d = 0; d < ndim; d++)
        if (shape[d] == 0) return true;
    return false;
}

/* Rounds a sum, or wraps it, to the dtype. */
static inline void put_rounded(wk_dtype dtype, char *at, double real, int64_t whole)
{
    const float single = (float)real;
    uint32_t bits;
    uint8_t truth = whole != 0;
    memcpy(&bits, &single, 4);
    uint16_t half;
    switch (dtype) {
    case WK_F32: memcpy(at, &single, 4); return;
    case WK_F64: memcpy(at, &real, 8); return;
    case WK_BF16:
        half = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
        memcpy(at, &half, 2);
        return;
    case WK_F16: {
        int exponent;
        const double magnitude = fabs(real);
        frexp(magnitude, &exponent);
        if (exponent < -13) exponent = -13;
        const double unit = ldexp(1, exponent - 11); /* of the last place */
        const double rounded = nearbyint(magnitude / unit) * unit;
        uint16_t code = 0;
        if (rounded >= 65520) {
            code = 0x7c00;
        } else if (rounded < 0x1p-14) {
            code = (uint16_t)ldexp(rounded, 24);
        } else {
            const double fraction = frexp(rounded, &exponent);
            code = (uint16_t)((exponent + 14) << 10 | ((int)ldexp(fraction, 11) & 1023));
        }
        code |= (uint16_t)(signbit(real) ? 0x8000 : 0);
        memcpy(at, &code, 2);
        return;
    }
    case WK_BOOL: memcpy(at, &truth, 1); return;
    default: memcpy(at, &whole, wk_dtype_size(dtype)); return;
    }
}

#endif
