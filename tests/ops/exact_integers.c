/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that integer arguments remain exact beyond 2^53, the limit for doubles. */
#include "support/wick.h"

static const int64_t big = ((int64_t)1 << 53) + 1, most = INT64_MAX - 1;

static void expect_integers(wk_tensor *x, int count, const int64_t *want)
{
    int64_t have[8];
    expect_ok();
    assert_int_equal(wk_dtype_of(x), WK_I64);
    assert_int_equal(wk_numel(x), count);
    assert_int_equal(wk_read(x, have, (size_t)count * sizeof *have), WK_OK);
    for (int k = 0; k < count; k++)
        if (have[k] != want[k]) fail_msg("element %d is %lld, not %lld", k, (long long)have[k], (long long)want[k]);
}
#define EXPECT_WHOLE(x, ...)                                                                                           \
    expect_integers(x, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})

static void fill_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((2), .dtype = WK_I64);
    EXPECT_WHOLE(wk_full_like(x, big), big, big);
    EXPECT_WHOLE(wk_full_like(wk_ones((1)), most, .dtype = WK_I64), most);
    EXPECT_WHOLE(wk_full_like(x, 2.5), 2, 2);
    EXPECT_VALUES(wk_full_like(wk_full_like(wk_ones((1)), 7), 2.5, .dtype = WK_F64), 0, 2.5);
    EXPECT_VALUES(wk_full_like(wk_zeros((1), .dtype = WK_BOOL), 2), 0, 1);
}

static void scattered_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((2), .dtype = WK_I64), *place = wk_of(int64_t, (1), 1);
    EXPECT_WHOLE(wk_scatter(x, 0, place, big), 0, big);
    EXPECT_WHOLE(wk_scatter(x, 0, place, most), 0, most);
    EXPECT_WHOLE(wk_scatter(x, 0, place, 3.7), 0, 3);
    EXPECT_VALUES(wk_scatter(wk_zeros((2)), 0, place, 3.5), 0, 0, 3.5);
    EXPECT_VALUES(wk_scatter(wk_zeros((2)), 0, place, 3), 0, 0, 3);
    EXPECT_VALUES(wk_scatter(wk_zeros((2), .dtype = WK_BOOL), 0, place, 2), 0, 0, 1);
    wk_value args[] = {wk_value_of_tensor(x), wk_value_of_int(0), wk_value_of_tensor(place), wk_value_of_int(big)}, out;
    int count = 1;
    assert_int_equal(wk_call(NULL, "scatter", args, 4, &out, &count, NULL, NULL, 0), WK_OK);
    EXPECT_WHOLE(out.tensor, 0, big);
    wk_free(out.tensor);
}

static void ranges(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT_WHOLE(wk_arange(big, big + 3), big, big + 1, big + 2);
    EXPECT_WHOLE(wk_arange(big, big + 5, 2), big, big + 2, big + 4);
    EXPECT_WHOLE(wk_arange(INT64_MAX, INT64_MAX - 2, -1), INT64_MAX, INT64_MAX - 1);
    EXPECT_WHOLE(wk_arange(INT64_MIN, INT64_MAX, INT64_MAX), INT64_MIN, -1, INT64_MAX - 1);
    EXPECT_WHOLE(wk_arange(-big, big, big, .dtype = WK_I64), -big, 0);
    EXPECT_WHOLE(wk_arange(1, 8.0, 3), 1, 4, 7);
    assert_null(wk_arange(big, big - 1));
    expect_error("arange: step 1 does not lead from 9007199254740993 to 9007199254740992", NULL);
    assert_null(wk_arange(INT64_MIN, INT64_MAX));
    expect_error("arange", "2^63 bytes", NULL);
    assert_int_equal(wk_dtype_of(wk_arange(0, 1e20, 1e19)), WK_F32);
    wk_value args[] = {wk_value_of_int(big), wk_value_of_int(big + 2)}, out;
    int count = 1;
    assert_int_equal(wk_call(NULL, "arange", args, 2, &out, &count, NULL, NULL, 0), WK_OK);
    EXPECT_WHOLE(out.tensor, big, big + 1);
    wk_free(out.tensor);
}

/* Options are doubles: exact up to their precision, and computed as integers. */
static void factors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *one = wk_ones((1, 1), .dtype = WK_I64), *three = wk_full((1, 1), 3);
    EXPECT_WHOLE(wk_addcmul(one, one, three, .value = 0x1p60), ((int64_t)3 << 60) + 1);
    EXPECT_WHOLE(wk_addmm(one, one, three, .alpha = 0x1p60), ((int64_t)3 << 60) + 1);
    EXPECT_WHOLE(wk_addmm(three, one, one, .beta = -0x1p60), 1 - ((int64_t)3 << 60));
    EXPECT_VALUES(wk_addcmul(wk_ones((1), .dtype = WK_U8), wk_ones((1), .dtype = WK_U8), wk_ones((1), .dtype = WK_U8),
                             .value = 0x1p60 + 256),
                  0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fill_values), cmocka_unit_test(scattered_values),
                                       cmocka_unit_test(ranges), cmocka_unit_test(factors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
