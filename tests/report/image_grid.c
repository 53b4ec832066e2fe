/* SPDX-License-Identifier: Apache-2.0 */
/* Tests grids of images: values of torchvision's make_grid, dtypes, refused calls. */
#include "hostile/scratch.h"
#include "support/wick.h"

#include <math.h>

/* Images whose element k is (37 k mod 101) / 7. */
static wk_tensor *images(const int64_t shape[4])
{
    wk_tensor *k = wk_arange(shape[0] * shape[1] * shape[2] * shape[3]);
    wk_tensor *x = wk_div(wk_to_dtype(wk_remainder(wk_mul(k, 37), 101), WK_F32), 7);
    return wk_reshape(x, WK_ARRAY(shape, 4));
}

static uint64_t hash_of(wk_tensor *x)
{
    const size_t bytes = (size_t)wk_numel(x) * sizeof(float);
    unsigned char *data = malloc(bytes);
    assert_int_equal(wk_read(x, (void *)data, bytes), WK_OK);
    uint64_t value = 0xcbf29ce484222325u;
    for (size_t k = 0; k < bytes; k++) value = (value ^ data[k]) * 0x100000001b3u;
    free(data);
    return value;
}

static void values_are_those_of_torchvision(void **state)
{
    (void)state;
    FILE *list = fopen(source_file("tests/goldens/image_grids.txt"), "r");
    assert_non_null(list);
    long long n, c, h, w, columns, out[3];
    int normalise, each, lines = 0;
    double padding, value, low, high;
    unsigned long long hash;
    while (fscanf(list, "%lldx%lldx%lldx%lld %lld %lf %d %d %lf %lf %lf %lldx%lldx%lld %llx", &n, &c, &h, &w, &columns,
                  &padding, &normalise, &each, &value, &low, &high, &out[0], &out[1], &out[2], &hash) == 15) {
        WK_SCOPE;
        wk_image_grid_options o = {.size = sizeof o,
                                   .columns = columns,
                                   .padding = padding > 0 ? padding : WK_EXPLICIT_ZERO,
                                   .pad_value = value,
                                   .normalise = normalise,
                                   .scale_each = each};
        const bool ranged = low < 0 || low > 0 || high > 0;
        if (ranged) o.low = low > 0 ? low : WK_EXPLICIT_ZERO, o.high = high;
        wk_tensor *grid = wk_image_grid_at(WK_HERE, images((const int64_t[]){n, c, h, w}), &o);
        if (!grid) fail_msg("line %d: %s", lines + 1, wk_error());
        expect_shape(grid, 3, (const int64_t[]){out[0], out[1], out[2]});
        if (hash_of(grid) != hash) fail_msg("line %d: the values differ", lines + 1);
        lines++;
    }
    assert_int_equal(lines, 10);
    fclose(list);
}

static void options_have_defaults(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 1, 1, 2), 1, 2, 3, 4);
    wk_tensor *grid = wk_image_grid(x);
    EXPECT_SHAPE(grid, 3, 5, 10);
    EXPECT_VALUES(wk_select(wk_select(grid, 0, 2), 0, 2), 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0);
    EXPECT_SHAPE(wk_image_grid(x, .padding = 0, .columns = 1), 3, 2, 2);
    EXPECT_VALUES(wk_select(wk_image_grid(x, .padding = 0, .pad_value = 9), 0, 0), 0, 1, 2, 3, 4);
    EXPECT_VALUES(wk_select(wk_image_grid(x, .padding = 0, .normalise = true, .low = 0, .high = 2), 0, 0), 0, 0.5, 1, 1,
                  1);
}

/* (N, H, W) are N grey images, such as the channels of feature maps. */
static void three_dimensions_are_grey_images(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *maps = images((const int64_t[]){1, 6, 4, 3});
    wk_tensor *a = wk_image_grid(wk_select(maps, 0, 0), .columns = 3, .normalise = true);
    wk_tensor *b = wk_image_grid(wk_unsqueeze(wk_select(maps, 0, 0), 1), .columns = 3, .normalise = true);
    EXPECT_SHAPE(a, 3, 14, 17);
    assert_true(hash_of(a) == hash_of(b));
    EXPECT_SHAPE(wk_image_grid(wk_ones((1, 5, 7))), 3, 5, 7);
}

static void dtypes_stay(void **state)
{
    (void)state;
    const wk_dtype dtypes[] = {WK_U8, WK_I64, WK_F16, WK_BF16, WK_F64, WK_BOOL};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        WK_SCOPE;
        wk_tensor *grid = wk_image_grid(wk_ones((3, 2, 2, 2), .dtype = dtypes[k]), .padding = 1);
        if (!grid) fail_msg("%s", wk_error());
        assert_int_equal(wk_dtype_of(grid), dtypes[k]);
        EXPECT_VALUES(wk_select(wk_select(wk_to_dtype(grid, WK_F32), 0, 1), 0, 1), 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0);
    }
}

static void the_result_is_detached_and_new(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *one = wk_ones((1, 3, 2, 2), .requires_grad = true);
    wk_tensor *grid = wk_image_grid(one);
    assert_false(wk_requires_grad(grid));
    wk_zero_(grid);
    assert_true(wk_item(wk_sum(one)) == 12);
}

static void refused_calls(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_image_grid(wk_ones((3, 4))));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("image_grid: expected images (N, C, H, W) or (N, H, W), got f32[3,4]", NULL);
    assert_null(wk_image_grid(wk_ones((0, 3, 4, 4))));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    wk_clear_error();
    assert_null(wk_image_grid(wk_ones((2, 3, 4, 4), .dtype = WK_U8), .normalise = true));
    assert_int_equal(wk_error_code(), WK_ERR_DTYPE);
    expect_error("image_grid: expected floats for .normalise, got u8[2,3,4,4]", "wk_to_dtype", NULL);
    wk_tensor *x = wk_ones((2, 1, 2, 2));
    wk_image_grid(x, .columns = -1);
    expect_error("image_grid: .columns must be at least 1, got -1", NULL);
    wk_image_grid(x, .padding = -1);
    expect_error("image_grid: .padding must be an integer in [0, 1048576], got -1", NULL);
    wk_image_grid(x, .padding = 1.5);
    expect_error("got 1.5", NULL);
    wk_image_grid(x, .padding = NAN);
    expect_error(".padding must be an integer", NULL);
    wk_image_grid(x, .normalise = true, .low = 1, .high = 0);
    expect_error("image_grid: .low must be less than .high, got 1 and 0", NULL);
    wk_image_grid(x, .high = 2);
    assert_int_equal(wk_error_code(), WK_ERR_ARGUMENT);
    expect_error("image_grid: .low, .high and .scale_each need .normalise = true", NULL);
    wk_image_grid(NULL);
    expect_error("image_grid: the images", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_torchvision),  cmocka_unit_test(options_have_defaults),
        cmocka_unit_test(three_dimensions_are_grey_images), cmocka_unit_test(dtypes_stay),
        cmocka_unit_test(the_result_is_detached_and_new),   cmocka_unit_test(refused_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
