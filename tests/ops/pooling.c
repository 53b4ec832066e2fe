/* SPDX-License-Identifier: Apache-2.0 */
/* Tests pooling where samples with random numbers do not: equal elements, NaN and infinities, their indices, names of
 * nodes, and messages; and the messages of padding and shuffling. Expected values are PyTorch's. */
#include "support/wick.h"
#include "autograd/node.h"
#include <math.h>
#include <stdlib.h>

static void equal_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (1, 1, 3, 4), 1, 2, 2, 0, 2, 1, 2, 2, 0, 2, 2, 2), *index, *values;
    values = wk_max_pool2d(x, 2, .stride = 1, .return_indices = &index);
    EXPECT_VALUES(values, 0, 2, 2, 2, 2, 2, 2);
    EXPECT_VALUES(index, 0, 1, 1, 2, 4, 6, 6);
    values = wk_adaptive_max_pool2d(x, (1, 1), .return_indices = &index);
    EXPECT_VALUES(index, 0, 1);
    x = wk_of(float, (1, 1, 1, 4), -0.0f, 0.0f, 0.0f, -0.0f);
    values = wk_max_pool2d(x, (1, 2), .return_indices = &index);
    assert_true(signbit(wk_item(wk_select(wk_flatten(values), 0, 0))));
    EXPECT_VALUES(index, 0, 0, 2);
    WK_SCOPE;
    wk_tensor *leaf = wk_zeros((1, 2, 4), .requires_grad = true);
    wk_backward(wk_sum(wk_max_pool1d(leaf, 3, .stride = 1)));
    EXPECT_VALUES(wk_grad_of(leaf), 0, 1, 1, 0, 0, 1, 1, 0, 0);
}

static void nan_and_infinities(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (1, 2, 4), 1, NAN, NAN, 0, NAN, 5, 1, 2), *index;
    wk_tensor *values = wk_max_pool2d(x, 2, .stride = 1, .return_indices = &index);
    assert_true(wk_item(wk_all(wk_isnan(values))) == 1);
    EXPECT_VALUES(index, 0, 4, 2, 2);
    x = wk_full((1, 1, 4, 4), -INFINITY);
    values = wk_max_pool2d(x, 3, .stride = 2, .padding = 1, .return_indices = &index);
    assert_true(wk_item(wk_amax(values)) == -INFINITY);
    EXPECT_VALUES(index, 0, 0, 1, 4, 5);
    values = wk_max_pool3d(wk_full((1, 1, 4, 4, 4), -INFINITY), 3, .stride = 2, .padding = 1, .return_indices = &index);
    EXPECT_VALUES(index, 0, 0, 1, 4, 5, 16, 17, 20, 21);
    x = wk_of(float, (1, 3), INFINITY, 1, 2);
    EXPECT_VALUES(wk_adaptive_avg_pool1d(x, 2), 0, INFINITY, 1.5);
}

static void counting_of_padding(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((1, 1, 3, 3));
    EXPECT_VALUES(wk_avg_pool2d(x, 2, .stride = 2, .padding = 1, .ceil_mode = true), 0, 0.25, 0.5, 0.5, 1);
    EXPECT_VALUES(wk_avg_pool2d(x, 2, .stride = 2, .padding = 1, .ceil_mode = true, .no_count_include_pad = true), 0, 1,
                  1, 1, 1);
    EXPECT_VALUES(wk_avg_pool2d(x, 2, .stride = 2, .padding = 1, .divisor_override = 2), 0, 0.5, 1, 1, 2);
}

static void sizes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3, 5, 4)), *index;
    EXPECT_SHAPE(wk_max_pool2d(x, 2, .ceil_mode = true), 2, 3, 3, 2);
    EXPECT_SHAPE(wk_adaptive_avg_pool2d(x, (-1, 2)), 2, 3, 5, 2);
    EXPECT_SHAPE(wk_adaptive_avg_pool2d(x, (0, 2)), 2, 3, 0, 2);
    EXPECT_SHAPE(wk_adaptive_max_pool2d(x, (0, 2), .return_indices = &index), 2, 3, 0, 2);
    EXPECT_SHAPE(index, 2, 3, 0, 2);
    EXPECT_SHAPE(wk_max_pool2d(wk_ones((0, 3, 5, 4)), 2), 0, 3, 2, 2);
    wk_tensor *y = wk_max_pool2d(x, 2, .return_indices = &index);
    EXPECT_SHAPE(wk_max_unpool2d(y, index, 2), 2, 3, 4, 4);
    EXPECT_SHAPE(wk_max_unpool2d(y, index, 2, .output_size = WK_PAIR(5, 4)), 2, 3, 5, 4);
    expect_ok();
}

static void named(wk_tensor *x, const char *node)
{
    const char *have = wk__grad_fn_name(x);
    if (!have || strcmp(have, node) != 0) fail_msg("%s, not %s", have ? have : "(none)", node);
}

static void names_of_nodes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *l = wk_ones((1, 2, 8), .requires_grad = true), *x = wk_ones((1, 2, 8, 8), .requires_grad = true),
              *v = wk_ones((1, 2, 8, 8, 8), .requires_grad = true);
    named(wk_max_pool1d(l, 2), "SqueezeBackward1"), named(wk_max_pool2d(x, 2), "MaxPool2DWithIndicesBackward0");
    named(wk_max_pool3d(v, 2), "MaxPool3DWithIndicesBackward0"), named(wk_avg_pool1d(l, 2), "SqueezeBackward1");
    named(wk_avg_pool2d(x, 2), "AvgPool2DBackward0"), named(wk_avg_pool3d(v, 2), "AvgPool3DBackward0");
    named(wk_adaptive_avg_pool1d(l, 1), "SqueezeBackward1"), named(wk_adaptive_avg_pool2d(x, 1), "MeanBackward1");
    named(wk_adaptive_avg_pool2d(x, 3), "AdaptiveAvgPool2DBackward0");
    named(wk_adaptive_max_pool2d(x, 1), "AdaptiveMaxPool2DBackward0"), named(wk_lp_pool2d(x, 2, 2), "PowBackward0");
    named(wk_pad(x, (1, 1)), "ConstantPadNdBackward0");
    named(wk_pad(x, (1, 1), .mode = WK_PAD_REFLECT), "ReflectionPad1DBackward0");
    named(wk_pad(x, (1, 1, 1, 1), .mode = WK_PAD_REPLICATE), "ReplicationPad2DBackward0");
    named(wk_pad(x, (1, 1), .mode = WK_PAD_CIRCULAR), "CopySlices");
}

static void messages(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((1, 2, 4, 4)), *index = wk_zeros((1, 2, 4, 4), .dtype = WK_I64);
    assert_null(wk_max_pool2d(x, 5));
    expect_error(
        "max_pool2d: the kernel (5, dilation 1) exceeds the padded size (4 + 2 * 0) in dimension 2 of f32[1,2,4,4]",
        NULL);
    assert_null(wk_max_pool2d(x, 3, .padding = WK_PAIR(1, 2)));
    expect_error("max_pool2d: padding must be at most half of the kernel, got 2 for 3 in dimension 3", NULL);
    assert_null(wk_max_pool2d(wk_ones((1, 0, 4, 4)), 2));
    expect_error("dimension 1 of f32[1,0,4,4] is empty; only the number of samples may be 0", NULL);
    assert_null(wk_avg_pool2d(index, 2));
    expect_error("avg_pool2d: dtype i64 is not supported", NULL);
    assert_null(wk_max_unpool2d(x, wk_zeros((1, 2, 4), .dtype = WK_I64), 2));
    expect_error("max_unpool2d: f32[1,2,4,4] and the indices i64[1,2,4] must have the same shape", NULL);
    assert_null(wk_max_unpool2d(x, index, 2, .output_size = 12));
    expect_error("size 12 of the result in dimension 2 is not in [7, 9]", NULL);
    assert_null(wk_pad(x, (1)));
    expect_error("pad: expected two numbers for each padded dimension of f32[1,2,4,4] (at most 8), got 1", NULL);
    assert_null(wk_pad(x, (-3, -2)));
    expect_error("pad: cannot crop dimension 3 of f32[1,2,4,4] by -3 and -2 elements", NULL);
    assert_null(wk_pad(x, (4, 0), .mode = WK_PAD_REFLECT));
    expect_error("dimension 3 of f32[1,2,4,4] is too small for padding (4, 0)", "at most its size - 1", NULL);
    assert_null(wk_pad(x, (5, 0), .mode = WK_PAD_CIRCULAR));
    expect_error("circular adds at most its size", NULL);
    assert_null(wk_pad(wk_ones((2, 0)), (1, 0), .mode = WK_PAD_REPLICATE));
    expect_error("replicate needs at least 1 element", NULL);
    assert_null(wk_pad(x, (1, 1), .mode = WK_PAD_REFLECT, .value = 1));
    expect_error("pad: .value is for WK_PAD_CONSTANT; omit it for other modes", NULL);
    assert_null(wk_pad(x, (1, 1), .mode = 7));
    expect_error("pad: unknown .mode 7", NULL);
    assert_null(wk_pixel_shuffle(x, 2));
    expect_error("pixel_shuffle: the number of channels of f32[1,2,4,4] (2) is not a multiple of", NULL);
    assert_null(wk_pixel_unshuffle(x, 3));
    expect_error("pixel_unshuffle: height and width of f32[1,2,4,4] (4 and 4) must be multiples of factor 3", NULL);
    assert_null(wk_channel_shuffle(x, 3));
    expect_error("channel_shuffle: the number of channels of f32[1,2,4,4] (2) is not a multiple of 3 groups", NULL);
}

/* Planes of more than 16,384 elements are padded in another way than those of the samples: by parts. */
static void pads_large_planes(void **state)
{
    (void)state;
    enum { N = 150, BEFORE = 3, AFTER = 5, SUM = N + BEFORE + AFTER };
    for (int mode = WK_PAD_REFLECT; mode <= WK_PAD_CIRCULAR; mode++) {
        WK_SCOPE;
        int64_t from[SUM];
        for (int k = 0; k < SUM; k++) {
            const int at = k - BEFORE;
            from[k] = mode == WK_PAD_REFLECT     ? N - 1 - abs(N - 1 - abs(at))
                      : mode == WK_PAD_REPLICATE ? (at < 0   ? 0
                                                    : at < N ? at
                                                             : N - 1)
                                                 : (at + N) % N;
        }
        wk_tensor *x = wk_rand((2, N, N)), *index = wk_from(from, (SUM));
        wk_tensor *expected = wk_index_select(wk_index_select(x, 1, index), 2, index);
        wk_tensor *padded = wk_pad(x, (BEFORE, AFTER, BEFORE, AFTER), .mode = mode);
        assert_true(wk_item(wk_all(wk_eq(padded, expected))) == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_elements),      cmocka_unit_test(nan_and_infinities),
        cmocka_unit_test(counting_of_padding), cmocka_unit_test(sizes),
        cmocka_unit_test(names_of_nodes),      cmocka_unit_test(messages),
        cmocka_unit_test(pads_large_planes),
    };
    return cmocka_run_group_tests_name("ops pooling", tests, NULL, NULL);
}
