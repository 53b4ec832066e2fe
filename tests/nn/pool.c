/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the layers of pooling, padding, shuffling and resampling: each is its call, and mistakes are reported where it
 * is created. */
#include "support/wick.h"
#include <string.h>

static void expect_same(wk_tensor *a, wk_tensor *b)
{
    expect_ok();
    assert_true(a && b && wk_item(wk_all(wk_eq(a, b))) == 1);
}

static void expect_no_proposal(const char *word)
{
    if (strstr(wk_error(), "wk_unsqueeze")) fail_msg("a proposal: %s", wk_error());
    expect_error(word, NULL);
}

static void pooling(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(1);
    wk_tensor *l = wk_rand((2, 3, 9)), *x = wk_rand((2, 3, 8, 9)), *v = wk_rand((3, 5, 6, 7));
    EXPECT_SHAPE(wk_forward(wk_nn_max_pool2d(2), x), 2, 3, 4, 4);
    EXPECT_SHAPE(wk_forward(wk_nn_max_pool2d((2, 2), .stride = 2, .ceil_mode = true), x), 2, 3, 4, 5);
    expect_same(wk_forward(wk_nn_max_pool1d(3, .padding = 1), l), wk_max_pool1d(l, 3, .padding = 1));
    expect_same(wk_forward(wk_nn_max_pool2d((3, 2), .stride = WK_PAIR(2, 1), .padding = WK_PAIR(1, 0)), x),
                wk_max_pool2d(x, (3, 2), .stride = WK_PAIR(2, 1), .padding = WK_PAIR(1, 0)));
    expect_same(wk_forward(wk_nn_max_pool3d(2, .dilation = 2), v), wk_max_pool3d(v, 2, .dilation = 2));
    expect_same(wk_forward(wk_nn_avg_pool1d(2), l), wk_avg_pool1d(l, 2));
    expect_same(wk_forward(wk_nn_avg_pool2d(3, .stride = 2, .padding = 1, .no_count_include_pad = true), x),
                wk_avg_pool2d(x, 3, .stride = 2, .padding = 1, .no_count_include_pad = true));
    expect_same(wk_forward(wk_nn_avg_pool3d((1, 2, 3)), v), wk_avg_pool3d(v, (1, 2, 3)));
    expect_same(wk_forward(wk_nn_lp_pool1d(2, 3), l), wk_lp_pool1d(l, 2, 3));
    expect_same(wk_forward(wk_nn_lp_pool2d(1.5, (3, 2), .stride = 2), x), wk_lp_pool2d(x, 1.5, (3, 2), .stride = 2));
    expect_same(wk_forward(wk_nn_lp_pool3d(2, 2), v), wk_lp_pool3d(v, 2, 2));
    expect_same(wk_forward(wk_nn_adaptive_avg_pool1d(4), l), wk_adaptive_avg_pool1d(l, 4));
    EXPECT_SHAPE(wk_forward(wk_nn_adaptive_avg_pool2d((1, 1)), x), 2, 3, 1, 1);
    expect_same(wk_forward(wk_nn_adaptive_avg_pool2d((1, 1)), x), wk_mean(x, (2, 3), .keepdim = true));
    expect_same(wk_forward(wk_nn_adaptive_avg_pool3d((2, -1, 3)), v), wk_adaptive_avg_pool3d(v, (2, -1, 3)));
    expect_same(wk_forward(wk_nn_adaptive_max_pool1d(4), l), wk_adaptive_max_pool1d(l, 4));
    expect_same(wk_forward(wk_nn_adaptive_max_pool2d((3, 5)), x), wk_adaptive_max_pool2d(x, (3, 5)));
    expect_same(wk_forward(wk_nn_adaptive_max_pool3d(2), v), wk_adaptive_max_pool3d(v, 2));
}

static void indices(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (1, 1, 2, 4), 1, 5, 2, 6, 8, 3, 7, 4), *out[2] = {NULL}, *back;
    wk_module *pool = wk_nn_max_pool2d(2, .return_indices = true), *unpool = wk_nn_max_unpool2d(2);
    assert_int_equal(wk_forward_n(pool, (x), out, 2), 2);
    EXPECT_VALUES(out[0], 0, 8, 7);
    EXPECT_VALUES(out[1], 0, 4, 6);
    assert_int_equal(wk_forward_n(unpool, (out[0], out[1]), &back, 1), 1);
    EXPECT_VALUES(back, 0, 0, 0, 0, 0, 8, 0, 7, 0);
    assert_int_equal(wk_forward_n(wk_nn_max_pool2d(2), (x), out, 2), 1);
    assert_int_equal(wk_forward_n(wk_nn_adaptive_max_pool2d((1, 2), .return_indices = true), (x), out, 2), 2);
    EXPECT_VALUES(out[1], 0, 4, 6);
    assert_null(wk_forward(unpool, x));
    expect_error("max_unpool2d: expected 2 inputs", NULL);
}

static void padding(void **state)
{
    (void)state;
    WK_SCOPE;
    const int64_t sides[] = {1, 0, 2, 1};
    wk_tensor *l = wk_rand((2, 3, 9)), *x = wk_rand((2, 3, 8, 9)), *v = wk_rand((3, 5, 6, 7));
    expect_same(wk_forward(wk_nn_zero_pad1d(2), l), wk_pad(l, (2, 2)));
    expect_same(wk_forward(wk_nn_zero_pad2d((1, 0, 2, 1)), x), wk_pad(x, (1, 0, 2, 1)));
    expect_same(wk_forward(wk_nn_zero_pad2d(WK_ARRAY(sides, 4)), x), wk_pad(x, (1, 0, 2, 1)));
    expect_same(wk_forward(wk_nn_zero_pad3d(1), v), wk_pad(v, (1, 1, 1, 1, 1, 1)));
    expect_same(wk_forward(wk_nn_constant_pad1d((1, 2), -1.5), l), wk_pad(l, (1, 2), .value = -1.5));
    expect_same(wk_forward(wk_nn_constant_pad2d(1, 3), x), wk_pad(x, (1, 1, 1, 1), .value = 3));
    expect_same(wk_forward(wk_nn_constant_pad3d(1, 3), v), wk_pad(v, (1, 1, 1, 1, 1, 1), .value = 3));
    expect_same(wk_forward(wk_nn_reflection_pad1d(2), l), wk_pad(l, (2, 2), .mode = WK_PAD_REFLECT));
    expect_same(wk_forward(wk_nn_reflection_pad2d((1, 0, 2, 1)), x), wk_pad(x, (1, 0, 2, 1), .mode = WK_PAD_REFLECT));
    expect_same(wk_forward(wk_nn_reflection_pad3d(1), v), wk_pad(v, (1, 1, 1, 1, 1, 1), .mode = WK_PAD_REFLECT));
    expect_same(wk_forward(wk_nn_replication_pad1d(2), l), wk_pad(l, (2, 2), .mode = WK_PAD_REPLICATE));
    expect_same(wk_forward(wk_nn_replication_pad2d(2), x), wk_pad(x, (2, 2, 2, 2), .mode = WK_PAD_REPLICATE));
    expect_same(wk_forward(wk_nn_replication_pad3d(1), v), wk_pad(v, (1, 1, 1, 1, 1, 1), .mode = WK_PAD_REPLICATE));
    expect_same(wk_forward(wk_nn_circular_pad1d(2), l), wk_pad(l, (2, 2), .mode = WK_PAD_CIRCULAR));
    expect_same(wk_forward(wk_nn_circular_pad2d(2), x), wk_pad(x, (2, 2, 2, 2), .mode = WK_PAD_CIRCULAR));
    expect_same(wk_forward(wk_nn_circular_pad3d(1), v), wk_pad(v, (1, 1, 1, 1, 1, 1), .mode = WK_PAD_CIRCULAR));
}

static void shuffling(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_rand((2, 8, 4, 6));
    expect_same(wk_forward(wk_nn_pixel_shuffle(2), x), wk_pixel_shuffle(x, 2));
    expect_same(wk_forward(wk_nn_pixel_unshuffle(2), x), wk_pixel_unshuffle(x, 2));
    expect_same(wk_forward(wk_nn_channel_shuffle(4), x), wk_channel_shuffle(x, 4));
}

static void resampling(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_rand((2, 3, 4, 5));
    expect_same(wk_forward(wk_nn_upsample((7, 3)), x), wk_interpolate(x, .output_size = WK_PAIR(7, 3)));
    expect_same(wk_forward(wk_nn_upsample(0, .scale_factor = 2, .mode = WK_INTERPOLATE_BILINEAR), x),
                wk_interpolate(x, .scale_factor = 2, .mode = WK_INTERPOLATE_BILINEAR));
    expect_same(wk_forward(wk_nn_upsample(0, .scales_h = 2, .scales_w = 1.5), x),
                wk_interpolate(x, .scales_h = 2, .scales_w = 1.5));
    EXPECT_SHAPE(wk_interpolate(x, .scales_h = 2, .scales_w = 1.5), 2, 3, 8, 7);
    EXPECT_SHAPE(wk_interpolate(x, .scales_w = 1.5), 2, 3, 4, 7);
    expect_same(wk_forward(wk_nn_upsampling_nearest2d((7, 3)), x), wk_interpolate(x, .output_size = WK_PAIR(7, 3)));
    expect_same(wk_forward(wk_nn_upsampling_bilinear2d(0, .scale_factor = 2), x),
                wk_interpolate(x, .scale_factor = 2, .mode = WK_INTERPOLATE_BILINEAR, .align_corners = true));
    wk_tensor *columns = wk_im2col(x, (2, 3), .padding = 1);
    expect_same(wk_forward(wk_nn_unfold((2, 3), .padding = 1), x), columns);
    expect_same(wk_forward(wk_nn_fold((4, 5), (2, 3), .padding = 1), columns),
                wk_col2im(columns, (4, 5), (2, 3), .padding = 1));
    assert_null(wk_nn_fold(0, 2));
    expect_error("nn_fold: output size must be at least 1", NULL);
    assert_null(wk_nn_unfold(2, .stride = -1));
    expect_error("nn_unfold: stride must be at least 1", NULL);
    assert_null(wk_nn_upsample(2, .scale_factor = 2));
    expect_error("nn_upsample: expected either a size or .scale_factor", NULL);
    assert_null(wk_interpolate(x, .scale_factor = 2, .mode = WK_INTERPOLATE_LINEAR));
    expect_error("interpolate: expected samples, channels, and one spatial dimension for linear", NULL);
    assert_null(wk_interpolate(x, .scale_factor = 2, .align_corners = true));
    expect_error("interpolate: .align_corners is for linear and cubic modes", NULL);
    assert_null(wk_interpolate(x, .scale_factor = 0.1));
    expect_error("interpolate: the scale of a dimension gives an invalid size", NULL);
    assert_null(wk_interpolate(x, .scales_d = 2));
    expect_error("interpolate: .scales_d needs three spatial dimensions", NULL);
    assert_null(wk_interpolate(x, .output_size = 2, .scales_w = 2));
    expect_error("interpolate: expected either .output_size or .scale_factor", NULL);
    assert_null(wk_nn_upsampling_nearest2d(2, .mode = WK_INTERPOLATE_LINEAR));
    expect_error("nn_upsampling_nearest2d: expected only .scale_factor", NULL);
    assert_null(wk_nn_upsampling_bilinear2d(0));
    expect_error("nn_upsampling_bilinear2d: expected either a size or .scale_factor", NULL);
    assert_null(wk_interpolate(x));
    expect_error("interpolate: expected either .output_size or .scale_factor", NULL);
}

static void messages(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_nn_max_pool2d(0));
    expect_error("nn_max_pool2d: kernel must be at least 1", NULL);
    assert_null(wk_nn_max_pool2d((2, 3, 4)));
    expect_error("nn_max_pool2d: kernel has 3 numbers for 2 dimensions", NULL);
    assert_null(wk_nn_avg_pool2d(3, .padding = 2));
    expect_error("nn_avg_pool2d: padding must be at most half of the kernel, got 2 for 3", NULL);
    assert_null(wk_nn_lp_pool1d(0, 2));
    expect_error("nn_lp_pool1d: p must not be 0", NULL);
    assert_null(wk_nn_adaptive_avg_pool2d((1, -2)));
    expect_error("nn_adaptive_avg_pool2d: output size must be at least -1", NULL);
    assert_null(wk_nn_reflection_pad2d((1, 2)));
    expect_error("nn_reflection_pad2d: expected 1 or 4 numbers of padding, got 2", NULL);
    assert_null(wk_nn_pixel_shuffle(0));
    expect_error("nn_pixel_shuffle: factor must be at least 1, got 0", NULL);
    assert_null(wk_forward(wk_nn_sequential(wk_nn_max_pool2d(5)), wk_ones((1, 1, 4, 4))));
    expect_error("in layer 0 (max_pool2d)", "the kernel (5, dilation 1) exceeds the padded size", NULL);
    assert_null(wk_forward(wk_nn_max_pool2d(2), wk_ones((4, 4))));
    expect_error("expected 4 dimensions (samples, channels, 2 spatial), or 3 for one sample, got f32[4,4]; add the "
                 "missing first dimension with wk_unsqueeze(x, 0)",
                 NULL);
    assert_null(wk_max_pool2d(wk_ones((4)), 2));
    expect_no_proposal("max_pool2d: expected 4 dimensions");
    assert_null(wk_forward(wk_nn_unfold(2), wk_ones((4, 4))));
    expect_error("im2col: expected 4 dimensions", "got f32[4,4]", "wk_unsqueeze(x, 0)", NULL);
    assert_null(wk_forward(wk_nn_upsample(8, .mode = WK_INTERPOLATE_BILINEAR), wk_ones((3, 4, 4))));
    expect_error("interpolate: expected samples, channels, and", "f32[3,4,4]; add", "wk_unsqueeze(x, 0)", NULL);
    assert_null(wk_interpolate(wk_ones((3, 4, 4)), .output_size = WK_PAIR(8, 8)));
    expect_error("interpolate: .output_size has 2 numbers, but f32[3,4,4] has 1 spatial dimension; add",
                 "wk_unsqueeze(x, 0)", NULL);
    assert_null(wk_interpolate(wk_ones((2, 3, 4, 4)), .scale_factor = 2, .mode = WK_INTERPOLATE_LINEAR));
    expect_no_proposal("interpolate: expected samples, channels, and");
}

/* Sizes of images beyond those that a wk_sizes holds, which is 2^29 in a pair. The device computes nothing. */
static void gradients_of_wide_images(void **state)
{
    (void)state;
    WK_SCOPE;
    const int64_t wide = ((int64_t)1 << 29) + 8;
    wk_tensor *x = wk_zeros((1, 1, 1, wide), .dtype = WK_F16, .device = test_null(), .requires_grad = true);
    wk_tensor *columns = wk_im2col(x, (1, 2), .stride = WK_PAIR(1, 1 << 28)), *grad = NULL, *second = NULL;
    EXPECT_SHAPE(columns, 1, 2, 3);
    assert_int_equal(wk_grad((wk_sum(wk_square(columns))), (x), &grad, .create_graph = true), WK_OK);
    EXPECT_SHAPE(grad, 1, 1, 1, wide);
    assert_int_equal(wk_grad((wk_sum(wk_square(grad))), (x), &second), WK_OK);
    EXPECT_SHAPE(second, 1, 1, 1, wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pooling),
        cmocka_unit_test(indices),
        cmocka_unit_test(padding),
        cmocka_unit_test(shuffling),
        cmocka_unit_test(resampling),
        cmocka_unit_test(messages),
        cmocka_unit_test(gradients_of_wide_images),
    };
    return cmocka_run_group_tests_name("nn pool", tests, NULL, NULL);
}
