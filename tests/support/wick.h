/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the public interface share: the null device, expecting errors, comparing numbers. */
#ifndef TESTS_SUPPORT_WICK_H
#define TESTS_SUPPORT_WICK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <wick.h>

/* The device that plans without computing; see src/backend/null/null.h. */
wk_device test_null(void);
/* Setup and teardown of tests that look at what is planned: in the usual mode, whatever mode the tests run in. */
int test_default_mode(void **state);
int test_restore_mode(void **state);
/* A teardown: the null device is healed and nothing is left to be told, so that one test's failure does not
 * fail the next. */
int test_clean(void **state);
/* A row of a table of calls: {TEST_CALL(frees_twice)}. */
typedef struct test_call {
    const char *name;
    void (*make)(void);
} test_call;
#define TEST_CALL(call) .name = #call, .make = call

/* No error may be pending; fails with its text. */
void expect_ok(void);
/* The pending error's text must hold all these words (NULL at the end); it is cleared. */
void expect_error(const char *word, ...) __attribute__((sentinel));
/* All elements, row-major. */
void expect_values(wk_tensor *x, int count, const double *values, double tolerance);
#define EXPECT_VALUES(x, tolerance, ...)                                                                               \
    expect_values(x, (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), (const double[]){__VA_ARGS__},     \
                  tolerance)
#define EXPECT_SHAPE(x, ...)                                                                                           \
    expect_shape(x, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})
void expect_shape(wk_tensor *x, int ndim, const int64_t *shape);

#endif
