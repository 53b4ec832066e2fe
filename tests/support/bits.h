/* SPDX-License-Identifier: Apache-2.0 */
/* Bitwise comparison of tensors. */
#ifndef TESTS_SUPPORT_BITS_H
#define TESTS_SUPPORT_BITS_H

#include "wick.h"

/* Returns the elements of x in row-major order, *bytes bytes; the caller frees them. */
static inline char *bits_of(wk_tensor *x, size_t *bytes)
{
    *bytes = (size_t)wk_numel(x) * wk_dtype_size(wk_dtype_of(x));
    char *bits = malloc(*bytes + 1);
    if (wk_read(x, bits, *bytes) != WK_OK) fail_msg("%s", wk_error());
    return bits;
}

static inline void expect_same_bits(wk_tensor *a, wk_tensor *b, const char *what)
{
    size_t n, m;
    assert_int_equal(wk_dtype_of(a), wk_dtype_of(b));
    char *x = bits_of(a, &n), *y = bits_of(b, &m);
    if (n != m || memcmp(x, y, n) != 0) fail_msg("%s: the bits differ", what);
    free(x);
    free(y);
}

#endif
