/* SPDX-License-Identifier: Apache-2.0 */
/* Tests grid_sample and affine_grid where samples with random numbers do not: positions on elements, at the ends, far
 * outside and NaN, infinite elements, names of nodes, and messages. Expected values are PyTorch's. */
#include "support/bits.h"
#include "support/wick.h"
#include "autograd/node.h"
#include <math.h>

/* An image of 3 x 3, and positions on its first, central and last elements and beyond a corner. */
static wk_tensor *image(void)
{
    return wk_of(float, (1, 1, 3, 3), 1, 2, 4, 3, 6, 5, 7, 0, 2);
}

static wk_tensor *positions(void)
{
    return wk_of(float, (1, 1, 4, 2), -1, -1, 0, 0, 1, 1, 1.5f, -1.5f);
}

/* At the position of an element the gradient is that of the interval that begins there. */
static void gradients_on_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    const float zeros[] = {1, 2, -1, -6, -2, -2, -2, 2}, border[] = {0, 0, -1, -6, 0, 0, 0, 0},
                reflected[] = {0, 0, -1, -6, 0, 0, -0.5f, -2.5f};
    const float *expected[] = {zeros, border, reflected};
    for (int mode = WK_GRID_SAMPLE_ZEROS; mode <= WK_GRID_SAMPLE_REFLECTION; mode++) {
        WK_SCOPE;
        wk_tensor *grid = wk_requires_grad_(positions(), true);
        wk_backward(wk_sum(wk_grid_sample(image(), grid, .padding_mode = mode, .align_corners = true)));
        for (int k = 0; k < 8; k++)
            if (!(wk_item(wk_select(wk_flatten(wk_grad_of(grid)), 0, k)) == expected[mode - WK_GRID_SAMPLE_ZEROS][k]))
                fail_msg("padding mode %d, element %d", mode, k);
    }
}

/* The derivative of the gradient by y along x is the mixed difference of the elements of a cell, also in its corner. */
static void second_gradient_on_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *grid = wk_requires_grad_(wk_of(float, (1, 1, 1, 2), 0, 0), true), *first = NULL, *second = NULL;
    wk_tensor *y = wk_grid_sample(image(), grid, .align_corners = true);
    assert_int_equal(wk_grad((y), (grid), &first, .create_graph = true), WK_OK);
    EXPECT_VALUES(first, 0, -1, -6);
    wk_tensor *by_y = wk_select(wk_flatten(first), 0, 1);
    assert_int_equal(wk_grad((by_y), (grid), &second), WK_OK);
    EXPECT_VALUES(second, 0, 6 - 5 - 0 + 2, 0);
}

static void positions_that_are_not_finite(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *grid = wk_of(float, (1, 1, 4, 2), NAN, 0, INFINITY, 0, -INFINITY, 0, 1e30f, 0);
    for (int mode = WK_GRID_SAMPLE_BILINEAR; mode <= WK_GRID_SAMPLE_BICUBIC; mode++) {
        EXPECT_VALUES(wk_abs(wk_grid_sample(image(), grid, .mode = mode)), 0, 0, 0, 0, 0);
        wk_tensor *y =
            wk_grid_sample(image(), grid, .mode = mode, .padding_mode = WK_GRID_SAMPLE_BORDER, .align_corners = true);
        EXPECT_VALUES(y, 0, 3, 5, 3, 5);
        y = wk_grid_sample(image(), grid, .mode = mode, .padding_mode = WK_GRID_SAMPLE_REFLECTION,
                           .align_corners = true);
        EXPECT_VALUES(wk_narrow(wk_flatten(y), 0, 0, 3), 0, 3, 3, 3);
    }
}

/* Elements that a position does not have do not count, even if they are infinite or NaN. */
static void infinite_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_full((1, 1, 2, 2), INFINITY), *outside = wk_of(float, (1, 1, 2, 2), 3, 0, -3, -3);
    for (int mode = WK_GRID_SAMPLE_BILINEAR; mode <= WK_GRID_SAMPLE_BICUBIC; mode++)
        EXPECT_VALUES(wk_abs(wk_grid_sample(x, wk_mul(outside, 2), .mode = mode)), 0, 0, 0);
    wk_tensor *ends = wk_of(float, (1, 1, 2, 2), 1, 1, 3, 3), *last = wk_of(float, (1, 1, 2, 2), 1, 2, 3, INFINITY);
    for (int mode = WK_GRID_SAMPLE_ZEROS; mode <= WK_GRID_SAMPLE_BORDER; mode++)
        EXPECT_VALUES(wk_grid_sample(last, ends, .padding_mode = mode, .align_corners = true), 0, INFINITY,
                      mode == WK_GRID_SAMPLE_BORDER ? INFINITY : 0);
}

/* The identity returns x, in strided memory and in each number of dimensions. */
static void identity(void **state)
{
    (void)state;
    for (int align = 0; align < 2; align++) {
        WK_SCOPE;
        wk_tensor *plane = wk_of(float, (1, 2, 3), 1, 0, 0, 0, 1, 0);
        wk_tensor *volume = wk_of(float, (1, 3, 4), 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0);
        wk_tensor *x = wk_permute(wk_rand((1, 4, 5, 3)), (0, 3, 1, 2)), *v = wk_rand((1, 2, 3, 4, 5));
        wk_tensor *grid = wk_affine_grid(plane, (1, 3, 4, 5), .align_corners = align);
        assert_true(wk_item(wk_dist(wk_grid_sample(x, grid, .align_corners = align), x)) < 1e-5);
        grid = wk_affine_grid(volume, (1, 2, 3, 4, 5), .align_corners = align);
        assert_true(wk_item(wk_dist(wk_grid_sample(v, grid, .align_corners = align), v)) < 1e-5);
    }
}

static void names(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((1, 1, 2, 2), .requires_grad = true), *theta = wk_ones((1, 2, 3), .requires_grad = true);
    wk_tensor *volume = wk_ones((1, 1, 2, 2, 2), .requires_grad = true);
    wk_tensor *grid = wk_affine_grid(theta, (1, 1, 2, 2));
    assert_string_equal(wk__grad_fn_name(grid), "AffineGridGeneratorBackward0");
    assert_string_equal(wk__grad_fn_name(wk_grid_sample(x, grid)), "GridSampler2DBackward0");
    assert_string_equal(wk__grad_fn_name(wk_grid_sample(volume, wk_zeros((1, 1, 1, 1, 3)))), "GridSampler3DBackward0");
}

static void messages(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((1, 1, 2, 2)), *grid = wk_ones((1, 2, 2, 2)), *theta = wk_ones((1, 2, 3));
    assert_null(wk_grid_sample(x, wk_ones((2, 2, 2, 2))));
    expect_error("grid_sample: expected as many samples in both", "[2,2,2,2]", NULL);
    assert_null(wk_grid_sample(wk_ones((1, 2, 2)), grid));
    expect_error("expected 4 or 5 dimensions for both: input f32[1,2,2], grid f32[1,2,2,2]; add the missing first "
                 "dimension with wk_unsqueeze(x, 0)",
                 NULL);
    assert_null(wk_grid_sample(wk_ones((1, 1, 0, 2)), grid));
    expect_error("a spatial dimension is empty", NULL);
    assert_null(wk_grid_sample(wk_ones((1, 1, 2, 2, 2)), wk_ones((1, 1, 1, 1, 3)), .mode = WK_GRID_SAMPLE_BICUBIC));
    expect_error("bicubic needs two spatial dimensions", NULL);
    assert_null(wk_grid_sample(x, grid, .mode = 3));
    expect_error("grid_sample: unknown .mode 3; expected WK_GRID_SAMPLE_BILINEAR, WK_GRID_SAMPLE_NEAREST or "
                 "WK_GRID_SAMPLE_BICUBIC",
                 NULL);
    assert_null(wk_grid_sample(x, grid, .padding_mode = -1));
    expect_error("grid_sample: unknown .padding_mode -1; expected WK_GRID_SAMPLE_ZEROS, WK_GRID_SAMPLE_BORDER or "
                 "WK_GRID_SAMPLE_REFLECTION",
                 NULL);
    assert_null(wk_affine_grid(theta, (1, 1, 2)));
    expect_error("affine_grid: expected a size of four or five numbers, got 3", NULL);
    assert_null(wk_affine_grid(theta, (1, 1, 2, 2, 2)));
    expect_error("expected theta of shape [1,3,4] for this size", NULL);
    assert_null(wk_affine_grid(theta, (1, 1, 2, 0)));
    expect_error("spatial sizes must be at least 1, got 0", NULL);
}

/* Each call refuses the constants of another option, also those of defaults. */
static void constants_of_other_options(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((1, 1, 2, 2)), *grid = wk_ones((1, 2, 2, 2));
    assert_null(wk_grid_sample(x, grid, .padding_mode = WK_PAD_REFLECT));
    expect_error("grid_sample: unknown .padding_mode 202; expected WK_GRID_SAMPLE_ZEROS", NULL);
    assert_null(wk_grid_sample(x, grid, .padding_mode = WK_GRID_SAMPLE_BILINEAR));
    expect_error("grid_sample: unknown .padding_mode 401", NULL);
    assert_null(wk_grid_sample(x, grid, .mode = WK_INTERPOLATE_NEAREST));
    expect_error("grid_sample: unknown .mode 301", NULL);
    assert_null(wk_interpolate(x, .output_size = 4, .mode = WK_GRID_SAMPLE_BICUBIC));
    expect_error("interpolate: unknown .mode 403; expected WK_INTERPOLATE_NEAREST, WK_INTERPOLATE_LINEAR, ",
                 "WK_INTERPOLATE_AREA or WK_INTERPOLATE_NEAREST_EXACT", NULL);
    assert_null(wk_nn_upsample(4, .mode = WK_GRID_SAMPLE_NEAREST));
    expect_error("nn_upsample: unknown .mode 402", NULL);
    assert_null(wk_pad(x, (1, 1), .mode = WK_GRID_SAMPLE_ZEROS));
    expect_error("pad: unknown .mode 501; expected WK_PAD_CONSTANT, WK_PAD_REFLECT, WK_PAD_REPLICATE or "
                 "WK_PAD_CIRCULAR",
                 NULL);
    assert_null(wk_nn_conv2d(1, 1, 3, .padding_mode = WK_GRID_SAMPLE_BORDER));
    expect_error("nn_conv2d: unknown .padding_mode 502; expected WK_PAD_CONSTANT", NULL);
    assert_null(wk_gelu(x, .approximate = WK_INTERPOLATE_LINEAR));
    expect_error("gelu: unknown .approximate 302; expected WK_GELU_NONE or WK_GELU_TANH", NULL);
    assert_null(wk_mse_loss(x, x, .reduction = (wk_reduction)WK_PAD_REFLECT));
    expect_error("mse_loss: unknown reduction 202", NULL);
}

static void expect_equal(wk_tensor *a, wk_tensor *b)
{
    expect_same_bits(a, b, "options");
}

/* An omitted constant and that of the default give the same. */
static void constants_of_defaults(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = image(), *grid = positions();
    expect_equal(wk_grid_sample(x, grid, .mode = WK_GRID_SAMPLE_BILINEAR, .padding_mode = WK_GRID_SAMPLE_ZEROS),
                 wk_grid_sample(x, grid));
    expect_equal(wk_interpolate(x, .output_size = 4, .mode = WK_INTERPOLATE_NEAREST),
                 wk_interpolate(x, .output_size = 4));
    expect_equal(wk_pad(x, (1, 1), .mode = WK_PAD_CONSTANT, .value = 2), wk_pad(x, (1, 1), .value = 2));
    expect_equal(wk_gelu(x, .approximate = WK_GELU_NONE), wk_gelu(x));
    wk_module *conv = wk_nn_conv2d(1, 1, 3, .padding = 1, .padding_mode = WK_PAD_CONSTANT);
    expect_equal(wk_forward(conv, wk_ones((1, 1, 2, 2))),
                 wk_conv2d(wk_ones((1, 1, 2, 2)), wk_module_parameter(conv, "weight"),
                           wk_module_parameter(conv, "bias"), .padding = 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_on_elements),
        cmocka_unit_test(second_gradient_on_elements),
        cmocka_unit_test(positions_that_are_not_finite),
        cmocka_unit_test(infinite_elements),
        cmocka_unit_test(identity),
        cmocka_unit_test(names),
        cmocka_unit_test(messages),
        cmocka_unit_test(constants_of_other_options),
        cmocka_unit_test(constants_of_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
