/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks for tests of quantised weights, and checks of products with them, on any device. */
#ifndef TESTS_OPS_QUANTIZED_H
#define TESTS_OPS_QUANTIZED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "backend/cpu/isa.h"
#include "ir/blocks.h"
#include <wick.h>

/* Returns x on the CPU. */
static inline wk_tensor *here(wk_tensor *x)
{
    return wk_to(x, wk_cpu());
}

/* Returns the name of x's device; the instruction set for the CPU. */
static inline const char *place_of(wk_tensor *x)
{
    const wk_device device = wk_device_of(x);
    return device.kind == WK_CPU ? wk__cpu_isa_current()->name : wk_device_str(device);
}

static inline void expect_bytes(wk_tensor *a, wk_tensor *b, const char *name)
{
    if (wk_numel(a) != wk_numel(b) || wk_dtype_of(a) != wk_dtype_of(b)) fail_msg("%s: other shape or dtype", name);
    const size_t bytes = (size_t)wk_numel(a) * wk_dtype_size(wk_dtype_of(a));
    if (memcmp(wk_data(here(a)), wk_data(here(b)), bytes) != 0) fail_msg("%s, %s: other bits", place_of(a), name);
}

/* Returns blocks of random bytes, with all bytes of scales among them. */
static inline wk_tensor *random_blocks(int64_t rows, int64_t row_blocks, wk_block_format format)
{
    return wk_randint(0, 256, (rows, row_blocks * wk__block_formats[format].bytes), .dtype = WK_U8);
}

static inline wk_tensor *weight(int64_t rows, int64_t columns, wk_block_format format)
{
    return wk_quantize(wk_randn((rows, columns)), .format = format);
}

static inline double greatest_difference(wk_tensor *a, wk_tensor *b)
{
    return wk_item(wk_amax(wk_abs(wk_sub(wk_to_dtype(a, WK_F64), wk_to_dtype(b, WK_F64)))));
}

/* Computes x blocks^T in double precision, and the sum of sizes of elements times the largest of 4 |x|. Kernels may
 * round x relative to that. */
static inline void exact_product(const float *x, const uint8_t *blocks, const wk__block_format *f, int64_t count,
                                 double *sum, double *size)
{
    *sum = *size = 0;
    for (int64_t b = 0; b < count; b++, blocks += f->bytes, x += f->elements) {
        float element[WK__BLOCK_ELEMENTS];
        f->decode(blocks, element);
        for (int k = 0; k < f->elements; k++) {
            const float *of_4 = x + k / 4 * 4;
            const float most = fmaxf(fmaxf(fabsf(of_4[0]), fabsf(of_4[1])), fmaxf(fabsf(of_4[2]), fabsf(of_4[3])));
            *sum += (double)x[k] * (double)element[k];
            *size += fabs((double)most * (double)element[k]);
        }
    }
}

enum { WEIGHT_ROWS = 5 };

/* Compares a product with the exact one: NaN with NaN, infinite values by sign, others within `most` times the sum of
 * sizes, and within the roundings of 512 products to denormals. If the sum overflows, so may the product. */
static inline void expect_product(float got, double exact, double size, double most, const char *place,
                                  const char *what)
{
    const bool same = isnan(exact) ? isnan(got) : isinf(exact) ? (double)got == exact : true;
    if (same && (!isfinite(exact) || size > (double)FLT_MAX || fabs((double)got - exact) <= most * size + 0x1p-141))
        return;
    fail_msg("%s, %s: %.9g, not %.9g; sum of sizes %g", place, what, (double)got, exact, size);
}

static inline void expect_products(wk_tensor *x, wk_tensor *blocks, wk_block_format format, double most)
{
    WK_SCOPE;
    const wk__block_format *f = &wk__block_formats[format];
    const int64_t columns = wk_size(x, 1), count = columns / f->elements;
    const float *of_x = wk_data(here(x)), *got = wk_data(here(wk_quantized_linear(x, blocks, NULL, .format = format)));
    const uint8_t *bytes = wk_data(here(blocks));
    for (int64_t k = 0; k < wk_size(x, 0) * WEIGHT_ROWS; k++) {
        double exact, size;
        exact_product(of_x + k / WEIGHT_ROWS * columns, bytes + k % WEIGHT_ROWS * count * f->bytes, f, count, &exact,
                      &size);
        expect_product(got[k], exact, size, most, place_of(x), f->name);
    }
}

/* Returns blocks whose scales are finite, for `columns` elements. */
static inline wk_tensor *finite_blocks(int64_t columns, wk_block_format format)
{
    const wk__block_format *f = &wk__block_formats[format];
    return wk_randint(0, 120, (WEIGHT_ROWS, columns / f->elements * f->bytes), .dtype = WK_U8);
}

/* Returns a matrix in rows that are longer, or whose elements are not contiguous. */
static inline wk_tensor *strided(wk_tensor *x, bool longer)
{
    return longer ? wk_narrow(wk_repeat(x, (1, 2)), 1, 0, wk_size(x, 1)) : wk_t(wk_clone(wk_t(x)));
}

/* Products with the rows of the identity are the elements, one by one. `rows` rows at a time select the kernel. */
static inline void expect_elements(wk_tensor *blocks, wk_block_format format, int64_t rows)
{
    const bool longer = rows > 8;
    wk_tensor *elements = wk_dequantize(blocks, .format = format), *weight = strided(blocks, longer);
    wk_tensor *one = wk_eye(wk_size(elements, 1), .device = wk_device_of(blocks));
    for (int64_t first = 0; first < wk_size(one, 0); first += rows) {
        WK_SCOPE;
        const int64_t count = wk_size(one, 0) - first < rows ? wk_size(one, 0) - first : rows;
        wk_tensor *x = strided(wk_narrow(one, 0, first, count), longer);
        wk_tensor *out = wk_quantized_linear(x, weight, NULL, .format = format);
        if (wk_item(wk_all(wk_eq(wk_t(out), wk_narrow(elements, 1, first, count)))) != 1)
            fail_msg("%s, %s: other elements from %d on", place_of(blocks), wk__block_formats[format].name, (int)first);
    }
}

/* A row of x has the same products alone and with others. */
static inline void compare_rows(wk_block_format format, int64_t columns)
{
    WK_SCOPE;
    wk_tensor *x = wk_randn((8, columns)), *blocks = finite_blocks(columns, format);
    wk_tensor *together = wk_quantized_linear(x, blocks, NULL, .format = format);
    for (int64_t rows = 1; rows < 8; rows++)
        for (int64_t first = 0; first + rows <= 8; first += rows) {
            wk_tensor *alone = wk_quantized_linear(wk_narrow(x, 0, first, rows), blocks, NULL, .format = format);
            expect_bytes(alone, wk_contiguous(wk_narrow(together, 0, first, rows)), wk__block_formats[format].name);
        }
}

#endif
