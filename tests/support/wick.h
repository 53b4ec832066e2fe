/* SPDX-License-Identifier: Apache-2.0 */
/* Common checks of tests of the public interface: the null device, expected errors, element comparisons. */
#ifndef TESTS_SUPPORT_WICK_H
#define TESTS_SUPPORT_WICK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <wick.h>

/* Returns the device that plans without computing; see src/backend/null/null.h. */
wk_device test_null(void);
/* Setup and teardown of tests of plans: use the default mode, whatever mode the tests run in. */
int test_default_mode(void **state);
int test_restore_mode(void **state);
/* Teardown: clears the null device's faults and pending errors, so that a failed test does not affect the next. */
int test_clean(void **state);
/* A row of a table of calls, with the function's name: {TEST_CALL(frees_twice)}. */
typedef struct test_call {
    const char *name;
    void (*make)(void);
} test_call;
#define TEST_CALL(call) .name = #call, .make = call

/* Fails with the pending error's message if there is one. */
void expect_ok(void);
/* Checks that there is a pending error and its message has all these words (terminated by NULL), and clears it. */
void expect_error(const char *word, ...) __attribute__((sentinel));
/* Checks that a call returned nothing, and the message like expect_error(). */
void expect_failure(bool result, const char *text);
/* Returns 0, 1, 2, ... as f32 (rows, columns). */
wk_tensor *test_matrix(int rows, int columns);
/* Checks all elements in row-major order. */
void expect_values(wk_tensor *x, int count, const double *values, double tolerance);
#define EXPECT_VALUES(x, tolerance, ...)                                                                               \
    expect_values(x, (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), (const double[]){__VA_ARGS__},     \
                  tolerance)
#define EXPECT_SHAPE(x, ...)                                                                                           \
    expect_shape(x, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})
void expect_shape(wk_tensor *x, int ndim, const int64_t *shape);

#endif
