/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the examples in wick/shape.h. */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#include "support/wick.h"
#include <math.h>

static void example_reshape(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    expect_values(wk_reshape(x, (2, -1)), 4, (const double[]){1, 2, 3, 4}, 1e-5);
}

static void example_view_as(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    wk_tensor *y = wk_of(double, (2, 2), 0, 0, 0, 0);
    expect_values(wk_view_as(x, y), 4, (const double[]){1, 2, 3, 4}, 1e-5);
}

static void example_flatten(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_flatten(x), 4, (const double[]){1, 2, 3, 4}, 1e-5);
}

static void example_unflatten(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    expect_values(wk_unflatten(x, 0, (2, 2)), 4, (const double[]){1, 2, 3, 4}, 1e-5);
}

static void example_expand(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 1), 1, 2);
    expect_values(wk_expand(x, (2, 2)), 4, (const double[]){1, 1, 2, 2}, 1e-5);
}

static void example_expand_as(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 1), 1, 2);
    wk_tensor *y = wk_of(double, (2, 2), 0, 0, 0, 0);
    expect_values(wk_expand_as(x, y), 4, (const double[]){1, 1, 2, 2}, 1e-5);
}

static void example_squeeze(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2), 1, 2);
    expect_values(wk_squeeze(x), 2, (const double[]){1, 2}, 1e-5);
}

static void example_unsqueeze(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_unsqueeze(x, 0), 2, (const double[]){1, 2}, 1e-5);
}

static void example_transpose(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_transpose(x, 0, 1), 4, (const double[]){1, 3, 2, 4}, 1e-5);
}

static void example_swapaxes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_swapaxes(x, 0, 1), 4, (const double[]){1, 3, 2, 4}, 1e-5);
}

static void example_t(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_t(x), 4, (const double[]){1, 3, 2, 4}, 1e-5);
}

static void example_permute(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_permute(x, (1, 0)), 4, (const double[]){1, 3, 2, 4}, 1e-5);
}

static void example_movedim(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_movedim(x, 0, 1), 4, (const double[]){1, 3, 2, 4}, 1e-5);
}

static void example_slice(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    expect_values(wk_slice(x, 0, 1, 4, 2), 2, (const double[]){2, 4}, 1e-5);
}

static void example_narrow(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    expect_values(wk_narrow(x, 0, 1, 2), 2, (const double[]){2, 3}, 1e-5);
}

static void example_select(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_select(x, 0, 1), 2, (const double[]){3, 4}, 1e-5);
}

static void example_diagonal(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_diagonal(x), 2, (const double[]){1, 4}, 1e-5);
}

static void example_unfold(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    expect_values(wk_unfold(x, 0, 2, 2), 4, (const double[]){1, 2, 3, 4}, 1e-5);
}

static void example_as_strided(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    expect_values(wk_as_strided(x, (2, 2), (2, 1)), 4, (const double[]){1, 2, 3, 4}, 1e-5);
}

static void example_chunk(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    wk_tensor *out[2] = {NULL};
    assert_int_equal(wk_chunk(x, 2, 0, out), 2);
    expect_values(out[0], 2, (const double[]){1, 2}, 1e-5);
    expect_values(out[1], 2, (const double[]){3, 4}, 1e-5);
}

static void example_split(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    wk_tensor *out[2] = {NULL};
    assert_int_equal(wk_split(x, 2, 0, out), 2);
    expect_values(out[0], 2, (const double[]){1, 2}, 1e-5);
    expect_values(out[1], 2, (const double[]){3, 4}, 1e-5);
}

static void example_split_with_sizes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    wk_tensor *out[2] = {NULL};
    assert_int_equal(wk_split_with_sizes(x, (1, 3), 0, out), 2);
    expect_values(out[0], 1, (const double[]){1}, 1e-5);
    expect_values(out[1], 3, (const double[]){2, 3, 4}, 1e-5);
}

static void example_unbind(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *out[2] = {NULL};
    assert_int_equal(wk_unbind(x, 0, out), 2);
    expect_values(out[0], 2, (const double[]){1, 2}, 1e-5);
    expect_values(out[1], 2, (const double[]){3, 4}, 1e-5);
}

static void example_cat(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (1), 3);
    expect_values(wk_cat((x, y), 0), 3, (const double[]){1, 2, 3}, 1e-5);
}

static void example_stack(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 3, 4);
    expect_values(wk_stack((x, y), 0), 4, (const double[]){1, 2, 3, 4}, 1e-5);
}

static void example_repeat(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_repeat(x, (2)), 4, (const double[]){1, 2, 1, 2}, 1e-5);
}

static void example_tile(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2), 1, 2);
    expect_values(wk_tile(x, (2)), 4, (const double[]){1, 2, 1, 2}, 1e-5);
}

static void example_repeat_interleave(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_repeat_interleave(x, 2), 4, (const double[]){1, 1, 2, 2}, 1e-5);
}

static void example_flip(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 2, 3);
    expect_values(wk_flip(x, (0)), 3, (const double[]){3, 2, 1}, 1e-5);
}

static void example_roll(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 2, 3);
    expect_values(wk_roll(x, (1), (0)), 3, (const double[]){3, 1, 2}, 1e-5);
}

static void example_rot90(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_rot90(x, 1, (0, 1)), 4, (const double[]){2, 4, 1, 3}, 1e-5);
}

static void example_meshgrid(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(double, (2), 3, 4);
    wk_tensor *out[2] = {NULL};
    assert_int_equal(wk_meshgrid((x, y), out), 2);
    expect_values(out[0], 4, (const double[]){1, 1, 2, 2}, 1e-5);
    expect_values(out[1], 4, (const double[]){3, 4, 3, 4}, 1e-5);
}

static void example_pad(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_pad(x, (1, 2)), 5, (const double[]){0, 1, 2, 0, 0}, 1e-5);
}

static void example_pixel_shuffle(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4, 1, 1), 1, 2, 3, 4);
    expect_values(wk_pixel_shuffle(x, 2), 4, (const double[]){1, 2, 3, 4}, 1e-5);
}

static void example_pixel_unshuffle(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2, 2), 1, 2, 3, 4);
    expect_values(wk_pixel_unshuffle(x, 2), 4, (const double[]){1, 2, 3, 4}, 1e-5);
}

static void example_channel_shuffle(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 4, 1), 1, 2, 3, 4);
    expect_values(wk_channel_shuffle(x, 2), 4, (const double[]){1, 3, 2, 4}, 1e-5);
}

static void example_index_select(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), 1, 2, 3, 4);
    wk_tensor *y = wk_of(int64_t, (2), 2, 0);
    expect_values(wk_index_select(x, 0, y), 2, (const double[]){3, 1}, 1e-5);
}

static void example_gather(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(int64_t, (2, 1), 1, 0);
    expect_values(wk_gather(x, 1, y), 2, (const double[]){2, 3}, 1e-5);
}

static void example_take_along_dim(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(int64_t, (1, 1), 1);
    expect_values(wk_take_along_dim(x, y, 1), 2, (const double[]){2, 4}, 1e-5);
}

static void example_take(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(int64_t, (2), 3, 0);
    expect_values(wk_take(x, y), 2, (const double[]){4, 1}, 1e-5);
}

static void example_embedding(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(int64_t, (2), 1, 0);
    expect_values(wk_embedding(y, x), 4, (const double[]){3, 4, 1, 2}, 1e-5);
}

static void example_scatter_add(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(int64_t, (2), 1, 1);
    wk_tensor *z = wk_of(double, (2), 10, 20);
    expect_values(wk_scatter_add(x, 0, y, z), 2, (const double[]){1, 32}, 1e-5);
}

static void example_scatter(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(int64_t, (1), 1);
    expect_values(wk_scatter(x, 0, y, 9), 2, (const double[]){1, 9}, 1e-5);
}

static void example_index_add(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(int64_t, (2), 1, 1);
    wk_tensor *z = wk_of(double, (2), 10, 20);
    expect_values(wk_index_add(x, 0, y, z), 2, (const double[]){1, 32}, 1e-5);
}

static void example_masked_select(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *mask = wk_of(bool, (2), false, true);
    expect_values(wk_masked_select(x, mask), 1, (const double[]){2}, 1e-5);
}

static void example_nonzero(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 0, 2, 3);
    expect_values(wk_nonzero(x), 2, (const double[]){1, 2}, 1e-5);
}

static void example_nonzero_numpy(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 0, 2, 3, 0);
    wk_tensor *out[2] = {NULL};
    assert_int_equal(wk_nonzero_numpy(x, out), 2);
    expect_values(out[0], 2, (const double[]){0, 1}, 1e-5);
    expect_values(out[1], 2, (const double[]){1, 0}, 1e-5);
}

static void example_one_hot(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *y = wk_of(int64_t, (2), 2, 0);
    expect_values(wk_one_hot(y, 3), 6, (const double[]){0, 0, 1, 1, 0, 0}, 1e-5);
}

static void example_tril(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_tril(x), 4, (const double[]){1, 0, 3, 4}, 1e-5);
}

static void example_triu(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_triu(x), 4, (const double[]){1, 2, 0, 4}, 1e-5);
}

static void example_trace(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    expect_values(wk_trace(x), 1, (const double[]){5}, 1e-5);
}

static void example_diag_embed(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    expect_values(wk_diag_embed(x), 4, (const double[]){1, 0, 0, 2}, 1e-5);
}

static void example_index_fill(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 2, 3);
    wk_tensor *y = wk_of(int64_t, (2), 2, 0);
    expect_values(wk_index_fill(x, 0, y, 9), 3, (const double[]){9, 2, 9}, 1e-5);
}

static void example_index_copy(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 2, 3);
    wk_tensor *y = wk_of(int64_t, (2), 2, 0);
    wk_tensor *z = wk_of(double, (2), 8, 9);
    expect_values(wk_index_copy(x, 0, y, z), 3, (const double[]){9, 2, 8}, 1e-5);
}

static void example_index_put(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 2, 3);
    wk_tensor *y = wk_of(int64_t, (2), 2, 0);
    wk_tensor *z = wk_of(double, (2), 8, 9);
    expect_values(wk_index_put(x, (y), z), 3, (const double[]){9, 2, 8}, 1e-5);
}

static void example_masked_scatter(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 2, 3);
    wk_tensor *mask = wk_of(bool, (3), true, false, true);
    wk_tensor *y = wk_of(double, (2), 8, 9);
    expect_values(wk_masked_scatter(x, mask, y), 3, (const double[]){8, 2, 9}, 1e-5);
}

static void example_scatter_reduce(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2), 1, 2);
    wk_tensor *y = wk_of(int64_t, (2), 1, 1);
    wk_tensor *z = wk_of(double, (2), 10, 20);
    expect_values(wk_scatter_reduce(x, 0, y, z, "amax"), 2, (const double[]){1, 20}, 1e-5);
}

static void example_embedding_bag(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4);
    wk_tensor *y = wk_of(int64_t, (1, 2), 1, 0);
    expect_values(wk_embedding_bag(y, x, .mode = "sum"), 2, (const double[]){4, 6}, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example_reshape),
                                       cmocka_unit_test(example_view_as),
                                       cmocka_unit_test(example_flatten),
                                       cmocka_unit_test(example_unflatten),
                                       cmocka_unit_test(example_expand),
                                       cmocka_unit_test(example_expand_as),
                                       cmocka_unit_test(example_squeeze),
                                       cmocka_unit_test(example_unsqueeze),
                                       cmocka_unit_test(example_transpose),
                                       cmocka_unit_test(example_swapaxes),
                                       cmocka_unit_test(example_t),
                                       cmocka_unit_test(example_permute),
                                       cmocka_unit_test(example_movedim),
                                       cmocka_unit_test(example_slice),
                                       cmocka_unit_test(example_narrow),
                                       cmocka_unit_test(example_select),
                                       cmocka_unit_test(example_diagonal),
                                       cmocka_unit_test(example_unfold),
                                       cmocka_unit_test(example_as_strided),
                                       cmocka_unit_test(example_chunk),
                                       cmocka_unit_test(example_split),
                                       cmocka_unit_test(example_split_with_sizes),
                                       cmocka_unit_test(example_unbind),
                                       cmocka_unit_test(example_cat),
                                       cmocka_unit_test(example_stack),
                                       cmocka_unit_test(example_repeat),
                                       cmocka_unit_test(example_tile),
                                       cmocka_unit_test(example_repeat_interleave),
                                       cmocka_unit_test(example_flip),
                                       cmocka_unit_test(example_roll),
                                       cmocka_unit_test(example_rot90),
                                       cmocka_unit_test(example_meshgrid),
                                       cmocka_unit_test(example_pad),
                                       cmocka_unit_test(example_pixel_shuffle),
                                       cmocka_unit_test(example_pixel_unshuffle),
                                       cmocka_unit_test(example_channel_shuffle),
                                       cmocka_unit_test(example_index_select),
                                       cmocka_unit_test(example_gather),
                                       cmocka_unit_test(example_take_along_dim),
                                       cmocka_unit_test(example_take),
                                       cmocka_unit_test(example_embedding),
                                       cmocka_unit_test(example_scatter_add),
                                       cmocka_unit_test(example_scatter),
                                       cmocka_unit_test(example_index_add),
                                       cmocka_unit_test(example_masked_select),
                                       cmocka_unit_test(example_nonzero),
                                       cmocka_unit_test(example_nonzero_numpy),
                                       cmocka_unit_test(example_one_hot),
                                       cmocka_unit_test(example_tril),
                                       cmocka_unit_test(example_triu),
                                       cmocka_unit_test(example_trace),
                                       cmocka_unit_test(example_diag_embed),
                                       cmocka_unit_test(example_index_fill),
                                       cmocka_unit_test(example_index_copy),
                                       cmocka_unit_test(example_index_put),
                                       cmocka_unit_test(example_masked_scatter),
                                       cmocka_unit_test(example_scatter_reduce),
                                       cmocka_unit_test(example_embedding_bag)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
