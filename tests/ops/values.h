/* SPDX-License-Identifier: Apache-2.0 */
/* Compares tensors with literal values, for the tests of ops. */
#ifndef TESTS_OPS_VALUES_H
#define TESTS_OPS_VALUES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ops/core/entries.h"
#include <wick/autograd.h>
#include <wick/ops.h>

/* Expands a parenthesised list to an array and a count, for functions of the tests. */
#define DIMS_OF(...) __VA_ARGS__
#define DIMS(list)                                                                                                     \
    (const int64_t[]){0, DIMS_OF list} + 1, (int)(sizeof((const int64_t[]){0, DIMS_OF list}) / sizeof(int64_t)) - 1

static inline void expect_shape(wk_tensor *x, const int64_t *shape, int ndim)
{
    if (!x) fail_msg("NULL: %s", wk_error() ? wk_error() : "no error");
    assert_int_equal(wk_ndim(x), ndim);
    for (int d = 0; d < ndim; d++) assert_int_equal(wk_size(x, d), shape[d]);
}

static inline void expect_values(wk_tensor *x, const double *want, size_t count, double tolerance)
{
    assert_int_equal(wk_numel(x), count);
    wk_tensor *wide = wk_to_dtype(x, WK_F64);
    double *have = calloc(count + 1, sizeof *have);
    if (wk_read(wide, have, count * sizeof *have) != WK_OK) fail_msg("%s", wk_error());
    for (size_t k = 0; k < count; k++) {
        const bool other_zero = have[k] == 0 && want[k] == 0 && signbit(have[k]) != signbit(want[k]);
        if (!(fabs(have[k] - want[k]) <= tolerance) || other_zero)
            fail_msg("element %zu is %.17g, not %.17g", k, have[k], want[k]);
    }
    free(have);
}

/* EXPECT(x, (2, 2), 1, 2, 3, 4) */
#define EXPECT(x, shape, ...)                                                                                          \
    do {                                                                                                               \
        wk_tensor *expected_ = (x);                                                                                    \
        expect_shape(expected_, DIMS(shape));                                                                          \
        expect_values(expected_, (const double[]){__VA_ARGS__},                                                        \
                      sizeof((const double[]){__VA_ARGS__}) / sizeof(double), 1e-6);                                   \
    } while (0)
#define EXPECT_EMPTY(x, shape)                                                                                         \
    do {                                                                                                               \
        wk_tensor *expected_ = (x);                                                                                    \
        expect_shape(expected_, DIMS(shape));                                                                          \
        expect_values(expected_, NULL, 0, 0);                                                                          \
    } while (0)

/* Expects that the call failed with this code, and that its message contains the word. */
static inline void expect_error(wk_tensor *x, wk_code code, const char *word)
{
    assert_null(x);
    assert_int_equal(wk_error_code(), code);
    if (!strstr(wk_error(), word)) fail_msg("\"%s\" does not contain \"%s\"", wk_error(), word);
    wk_clear_error();
}

/* An f64 leaf whose elements are distinct and unordered. */
static inline wk_tensor *leaf_of(const int64_t *shape, int ndim)
{
    wk_tensor_options options = {.size = sizeof options, .dtype = WK_F64, .requires_grad = true};
    wk_tensor *x = wk_zeros_at(WK_HERE, shape, ndim, &options);
    int64_t n = wk_numel(x);
    double *data = calloc((size_t)n + 1, sizeof *data);
    for (int64_t k = 0; k < n; k++) data[k] = sin(1.7 * (double)k + 0.3) * 2;
    wk_tensor *filled =
        wk_requires_grad_(wk_from_at(WK_HERE, WK_F64, data, (size_t)n * sizeof *data, shape, ndim), true);
    free(data);
    return filled;
}
#define LEAF(shape) leaf_of(DIMS(shape))

/* The gradient of a function as a function to check again: the sum of squares of the gradient of a weighted sum. */
typedef wk_tensor *function(wk_tensor *const *in, void *context);
typedef struct twice {
    function *f;
    int count;
} twice;

static inline wk_tensor *gradient_norm(wk_tensor *const *in, void *context)
{
    WK_ENABLE_GRAD;
    const twice *t = context;
    for (int k = 0; k < t->count; k++)
        wk_requires_grad_(in[k], true); /* the tensor that gradcheck substitutes for a leaf is not a leaf */
    wk_tensor *y = t->f(in, NULL), *loss = wk_sum(wk_mul(wk_mul(y, y), y)), *grads[4], *total = NULL;
    wk_grad_options options = {.size = sizeof options, .create_graph = true, .allow_unused = true};
    if (wk_grad_at(WK_HERE, &loss, 1, in, t->count, grads, &options) != WK_OK) return NULL;
    for (int k = 0; k < t->count; k++) {
        if (!grads[k]) continue;
        wk_tensor *part = wk_sum(wk_mul(grads[k], grads[k]));
        total = total ? wk_add(total, part) : part;
    }
    return total;
}

static inline void check_gradients(function *f, wk_tensor *const *in, int count)
{
    twice t = {f, count};
    if (!wk_gradcheck_at(WK_HERE, f, NULL, in, count))
        fail_msg("first: %s", wk_error() ? wk_error() : "gradients differ");
    if (!wk_gradcheck_at(WK_HERE, gradient_norm, &t, in, count))
        fail_msg("second: %s", wk_error() ? wk_error() : "gradients differ");
}
#define CHECK_GRADIENTS(f, ...)                                                                                        \
    check_gradients(f, (wk_tensor *const[]){__VA_ARGS__},                                                              \
                    (int)(sizeof((wk_tensor *const[]){__VA_ARGS__}) / sizeof(wk_tensor *)))

#endif
