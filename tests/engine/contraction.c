/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the engine treats a convolution (a contraction with computed coordinates) like a matrix product:
 * epilogues, views, parking and failures. */
#include "support/conv2d.h"
#include "support/devices.h"

#include "backend/null/null.h"
#include "base/alloc.h"
#include <math.h>

static float element(const wk_tensor *x, const float *data, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t *shape = wk__body_of(x)->shape;
    const bool inside = c >= 0 && c < shape[2] && d >= 0 && d < shape[3];
    return inside ? data[((a * shape[1] + b) * shape[2] + c) * shape[3] + d] : 0;
}

/* Computes relu(conv2d(x, w) + bias) by loops in double precision on dense copies. */
static void expect_conv2d(wk_tensor *y, wk_tensor *x, wk_tensor *w, wk_tensor *bias, int64_t stride, int64_t padding)
{
    const int64_t *shape = wk__body_of(y)->shape, *of_w = wk__body_of(w)->shape;
    float *in = malloc(4 * (size_t)wk_numel(x)), *weight = malloc(4 * (size_t)wk_numel(w)),
          *add = malloc(4 * (size_t)shape[1]), *out = malloc(4 * (size_t)wk_numel(y));
    assert_int_equal(wk_read(x, in, 4 * (size_t)wk_numel(x)), WK_OK);
    assert_int_equal(wk_read(w, weight, 4 * (size_t)wk_numel(w)), WK_OK);
    assert_int_equal(wk_read(bias, add, 4 * (size_t)wk_numel(bias)), WK_OK);
    assert_int_equal(wk_read(y, out, 4 * (size_t)wk_numel(y)), WK_OK);
    for (int64_t k = 0; k < wk_numel(y); k++) {
        const int64_t j = k % shape[3], i = k / shape[3] % shape[2], o = k / shape[3] / shape[2] % shape[1],
                      n = k / shape[3] / shape[2] / shape[1];
        double want = add[o];
        for (int64_t c = 0; c < of_w[1]; c++)
            for (int64_t u = 0; u < of_w[2]; u++)
                for (int64_t v = 0; v < of_w[3]; v++)
                    want += (double)element(w, weight, o, c, u, v) *
                            (double)element(x, in, n, c, stride * i + u - padding, stride * j + v - padding);
        if (want < 0) want = 0;
        if (!(fabs(out[k] - want) <= 1e-4)) fail_msg("element %lld is %g, not %g", (long long)k, (double)out[k], want);
    }
    free(in), free(weight), free(add), free(out);
}

static void check_epilogues(wk_device device)
{
    WK_SCOPE;
    WK_DEVICE(device);
    wk_seed(3);
    wk_tensor *x = wk_randn((2, 3, 9, 8)), *w = wk_randn((4, 3, 3, 3)), *bias = wk_randn((4));
    for (int64_t stride = 1; stride <= 2; stride++)
        for (int64_t padding = 0; padding <= 1; padding++) {
            wk_tensor *y = wk_relu(wk_add(record_conv2d(x, w, stride, padding), wk_reshape(bias, (4, 1, 1))));
            expect_conv2d(y, x, w, bias, stride, padding);
        }
    wk_tensor *turned = wk_permute(wk_contiguous(wk_permute(x, (0, 2, 3, 1))), (0, 3, 1, 2)); /* channels last */
    wk_tensor *y = wk_relu(wk_add(record_conv2d(turned, w, 1, 1), wk_reshape(bias, (4, 1, 1))));
    expect_conv2d(y, x, w, bias, 1, 1);
    wk_tensor *pending = wk_mul(x, 1.0); /* computed in the same flush */
    y = wk_relu(wk_add(record_conv2d(pending, wk_add(w, 0.0), 1, 1), wk_reshape(bias, (4, 1, 1))));
    expect_conv2d(y, x, w, bias, 1, 1);
    expect_ok();
}

static void with_an_epilogue(void **state)
{
    (void)state;
    EACH_DEVICE(device) check_epilogues(device);
}

/* Results that are reduced, unused, or read twice. */
static void check_readers(wk_device device)
{
    WK_SCOPE;
    WK_DEVICE(device);
    wk_tensor *x = wk_ones((1, 2, 5, 5)), *w = wk_ones((3, 2, 3, 3));
    wk_tensor *y = record_conv2d(x, w, 1, 0);
    record_conv2d(x, w, 2, 1);
    EXPECT_VALUES(wk_sum(y, (2, 3)), 0, 162, 162, 162);
    EXPECT_VALUES(wk_amax(wk_mul(y, y)), 0, 324);
    wk_tensor *none = record_conv2d(x, wk_ones((0, 2, 3, 3)), 1, 0);
    assert_int_equal(wk_numel(none), 0);
    EXPECT_VALUES(wk_sum(none), 0, 0);
    wk_tensor *empty = record_conv2d(wk_ones((1, 0, 4, 4)), wk_ones((2, 0, 3, 3)), 1, 0); /* sums over no elements */
    EXPECT_VALUES(empty, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    expect_ok();
}

static void with_other_readers(void **state)
{
    (void)state;
    EACH_DEVICE(device) check_readers(device);
}

static void one_pass_on_the_null_device(void **state)
{
    (void)state;
    if (wk__engine_config_get()->nofuse || wk__engine_config_get()->sync) skip();
    WK_SCOPE;
    WK_DEVICE(test_null());
    wk_tensor *x = wk_zeros((2, 3, 9, 8)), *w = wk_zeros((4, 3, 3, 3)), *bias = wk_zeros((4, 1, 1));
    assert_true(wk__materialize(x, WK_HERE) && wk__materialize(w, WK_HERE) && wk__materialize(bias, WK_HERE));
    wk_sync();
    wk__null_log_clear();
    wk_tensor *y = wk_relu(wk_add(record_conv2d(x, w, 1, 1), bias));
    assert_true(wk__materialize(y, WK_HERE));
    assert_int_equal(wk__null_log_work_count(), 1);
    char *text = wk__null_log_text();
    assert_non_null(strstr(text, "contraction f32 sums f32, space 2 x 4 x 9 x 8, sum 3 x 3 x 3, "
                                 "b (-1 +1 i2 +1 i5) / 1 in 9, b (-1 +1 i3 +1 i6) / 1 in 8, then\n"));
    wk__free(text);
    expect_ok();
}

/* A failed operand fails the contraction. */
static void with_a_bad_operand(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_index_select(wk_ones((2, 2, 5, 5)), 0, wk_add(wk_of(int64_t, (1), 7), 0));
    if (x) wk_item(wk_sum(record_conv2d(x, wk_ones((3, 2, 3, 3)), 1, 0)));
    assert_int_equal(wk_error_code(), WK_ERR_INDEX);
    wk_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_an_epilogue),
        cmocka_unit_test(with_other_readers),
        cmocka_unit_test(one_pass_on_the_null_device),
        cmocka_unit_test(with_a_bad_operand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
