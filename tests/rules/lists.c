/* SPDX-License-Identifier: Apache-2.0 */
/* Tests parenthesised lists: calls with a list of a length known at run time (WK_ARRAY) give the same results as
 * written lists. Also tests options after elements and numbers (wk_of, wk_arange), and strides. check_options verifies
 * that each call that takes a list occurs here. */
#include "support/wick.h"

#include <math.h>

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* Returns true if two tensors have the same dtype, shape and elements. */
static void same(wk_tensor *a, wk_tensor *b)
{
    expect_ok();
    assert_true(a && b && wk_dtype_of(a) == wk_dtype_of(b) && wk_ndim(a) == wk_ndim(b));
    for (int d = 0; d < wk_ndim(a); d++) assert_int_equal(wk_size(a, d), wk_size(b, d));
    assert_true(wk_item(wk_all(wk_eq(a, b))) == 1);
}

static const int64_t two_three[] = {2, 3}, one[] = {1}, zero[] = {0}, swapped[] = {1, 0};

static void shapes_of_created_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    const float data[] = {1, 2, 3, 4, 5, 6};
    const int64_t strides[] = {1, 2};
    for (int n = 0; n <= 2; n++) {
        EXPECT_SHAPE(wk_empty(WK_ARRAY(two_three, 2)), 2, 3);
        assert_int_equal(wk_ndim(wk_zeros(WK_ARRAY(two_three, n))), n);
    }
    same(wk_zeros((2, 3)), wk_zeros(WK_ARRAY(two_three, 2)));
    same(wk_zeros((), .dtype = WK_I64), wk_zeros(WK_ARRAY(NULL, 0), .dtype = WK_I64));
    same(wk_ones((2, 3), .dtype = WK_F64, .requires_grad = true),
         wk_ones(WK_ARRAY(two_three, 2), .dtype = WK_F64, .requires_grad = true));
    same(wk_full((2, 3), 7), wk_full(WK_ARRAY(two_three, 2), 7));
    same(wk_full((2, 3), 0.5, .dtype = WK_F64), wk_full(WK_ARRAY(two_three, 2), 0.5, .dtype = WK_F64));
    wk_seed(1);
    wk_tensor *rand = wk_rand((2, 3)), *randn = wk_randn((2, 3)), *randint = wk_randint(0, 9, (2, 3));
    wk_seed(1);
    same(rand, wk_rand(WK_ARRAY(two_three, 2))), same(randn, wk_randn(WK_ARRAY(two_three, 2)));
    same(randint, wk_randint(0, 9, WK_ARRAY(two_three, 2), .device = wk_cpu()));
    same(wk_of(float, (2, 3), 1, 2, 3, 4, 5, 6), wk_of(float, WK_ARRAY(two_three, 2), 1, 2, 3, 4, 5, 6));
    same(wk_from(data, (2, 3)), wk_from(data, WK_ARRAY(two_three, 2)));
    same(wk_from_strided(data, (2, 3), (1, 2)), wk_from_strided(data, WK_ARRAY(two_three, 2), WK_ARRAY(strides, 2)));
    float mine[6] = {1, 2, 3, 4, 5, 6};
    same(wk_borrow(mine, (2, 3), NULL, NULL), wk_borrow(mine, WK_ARRAY(two_three, 2), NULL, NULL));
}

/* The sizes of the gradients of convolutions. */
static void sizes_of_convolutions(void **state)
{
    (void)state;
    WK_SCOPE;
    const int64_t image[] = {1, 1, 3, 3, 3}, kernel[] = {1, 1, 2, 2, 2};
    wk_tensor *x[4], *w[4], *g[4];
    for (int d = 1; d <= 3; d++) {
        x[d] = wk_rand(WK_ARRAY(image, 2 + d)), w[d] = wk_rand(WK_ARRAY(kernel, 2 + d));
        g[d] = wk_rand(WK_ARRAY(kernel, 2 + d));
    }
    same(wk_conv1d_input((1, 1, 3), w[1], g[1]), wk_conv1d_input(WK_ARRAY(image, 3), w[1], g[1]));
    same(wk_conv2d_input((1, 1, 3, 3), w[2], g[2]), wk_conv2d_input(WK_ARRAY(image, 4), w[2], g[2]));
    same(wk_conv3d_input((1, 1, 3, 3, 3), w[3], g[3]), wk_conv3d_input(WK_ARRAY(image, 5), w[3], g[3], .stride = 1));
    same(wk_conv1d_weight(x[1], (1, 1, 2), g[1]), wk_conv1d_weight(x[1], WK_ARRAY(kernel, 3), g[1]));
    same(wk_conv2d_weight(x[2], (1, 1, 2, 2), g[2]), wk_conv2d_weight(x[2], WK_ARRAY(kernel, 4), g[2]));
    same(wk_conv3d_weight(x[3], (1, 1, 2, 2, 2), g[3]), wk_conv3d_weight(x[3], WK_ARRAY(kernel, 5), g[3], .stride = 1));
}

/* Padding layers. */
static void paddings(void **state)
{
    (void)state;
    WK_SCOPE;
    const int64_t by[6] = {1, 1, 1, 1, 1, 1};
    wk_tensor *x = wk_rand((1, 2, 3, 4, 5));
    same(wk_forward(wk_nn_zero_pad1d((1, 1)), x), wk_forward(wk_nn_zero_pad1d(WK_ARRAY(by, 2)), x));
    same(wk_forward(wk_nn_reflection_pad1d((1, 1)), x), wk_forward(wk_nn_reflection_pad1d(WK_ARRAY(by, 2)), x));
    same(wk_forward(wk_nn_replication_pad1d((1, 1)), x), wk_forward(wk_nn_replication_pad1d(WK_ARRAY(by, 2)), x));
    same(wk_forward(wk_nn_circular_pad1d((1, 1)), x), wk_forward(wk_nn_circular_pad1d(WK_ARRAY(by, 2)), x));
    same(wk_forward(wk_nn_constant_pad1d((1, 1), 2), x), wk_forward(wk_nn_constant_pad1d(WK_ARRAY(by, 2), 2), x));
    same(wk_forward(wk_nn_zero_pad2d((1, 1, 1, 1)), x), wk_forward(wk_nn_zero_pad2d(WK_ARRAY(by, 4)), x));
    same(wk_forward(wk_nn_reflection_pad2d((1, 1, 1, 1)), x), wk_forward(wk_nn_reflection_pad2d(WK_ARRAY(by, 4)), x));
    same(wk_forward(wk_nn_replication_pad2d((1, 1, 1, 1)), x), wk_forward(wk_nn_replication_pad2d(WK_ARRAY(by, 4)), x));
    same(wk_forward(wk_nn_circular_pad2d((1, 1, 1, 1)), x), wk_forward(wk_nn_circular_pad2d(WK_ARRAY(by, 4)), x));
    same(wk_forward(wk_nn_constant_pad2d((1, 1, 1, 1), 2), x), wk_forward(wk_nn_constant_pad2d(WK_ARRAY(by, 4), 2), x));
    same(wk_forward(wk_nn_zero_pad3d((1, 1, 1, 1, 1, 1)), x), wk_forward(wk_nn_zero_pad3d(WK_ARRAY(by, 6)), x));
    same(wk_forward(wk_nn_reflection_pad3d((1, 1, 1, 1, 1, 1)), x),
         wk_forward(wk_nn_reflection_pad3d(WK_ARRAY(by, 6)), x));
    same(wk_forward(wk_nn_replication_pad3d((1, 1, 1, 1, 1, 1)), x),
         wk_forward(wk_nn_replication_pad3d(WK_ARRAY(by, 6)), x));
    same(wk_forward(wk_nn_circular_pad3d((1, 1, 1, 1, 1, 1)), x), wk_forward(wk_nn_circular_pad3d(WK_ARRAY(by, 6)), x));
    same(wk_forward(wk_nn_constant_pad3d((1, 1, 1, 1, 1, 1), 2), x),
         wk_forward(wk_nn_constant_pad3d(WK_ARRAY(by, 6), 2), x));
}

static void sizes_and_dimensions(void **state)
{
    (void)state;
    WK_SCOPE;
    const int64_t six[] = {-1}, parts[] = {1, 2}, both[] = {0, 1};
    wk_tensor *x = wk_reshape(wk_arange(6), (2, 3)), *f = wk_to_dtype(x, WK_F64), *out[2], *again[2];
    same(wk_reshape(x, (-1)), wk_reshape(x, WK_ARRAY(six, 1)));
    same(wk_unflatten(x, 1, (3, 1)), wk_unflatten(x, 1, WK_ARRAY(((const int64_t[]){3, 1}), 2)));
    wk_module *split[] = {wk_nn_unflatten(1, (3, 1)), wk_nn_unflatten(1, WK_ARRAY(((const int64_t[]){3, 1}), 2))};
    same(wk_forward(split[0], x), wk_forward(split[1], x));
    wk_tensor *theta = wk_ones((1, 2, 3));
    same(wk_affine_grid(theta, (1, 1, 2, 3)), wk_affine_grid(theta, WK_ARRAY(((const int64_t[]){1, 1, 2, 3}), 4)));
    same(wk_expand(wk_ones((1, 3)), (2, 3)), wk_expand(wk_ones((1, 3)), WK_ARRAY(two_three, 2)));
    same(wk_squeeze(wk_ones((1, 3)), (0)), wk_squeeze(wk_ones((1, 3)), WK_ARRAY(zero, 1)));
    same(wk_permute(x, (1, 0)), wk_permute(x, WK_ARRAY(swapped, 2)));
    same(wk_as_strided(x, (2, 3), (1, 2)), wk_as_strided(x, WK_ARRAY(two_three, 2), WK_ARRAY(parts, 2), 0));
    assert_true(wk_split_with_sizes(x, (1, 2), 1, out) == wk_split_with_sizes(x, WK_ARRAY(parts, 2), 1, again));
    same(out[0], again[0]), same(out[1], again[1]);
    same(wk_repeat(x, (2, 3)), wk_repeat(x, WK_ARRAY(two_three, 2)));
    same(wk_tile(x, (2, 3)), wk_tile(x, WK_ARRAY(two_three, 2)));
    same(wk_flip(x, (1)), wk_flip(x, WK_ARRAY(one, 1)));
    same(wk_rot90(x, 1, (0, 1)), wk_rot90(x, 1, WK_ARRAY(both, 2)));
    same(wk_nansum(x, (1)), wk_nansum(x, WK_ARRAY(one, 1)));
    same(wk_nanmean(f, (1), .keepdim = true), wk_nanmean(f, WK_ARRAY(one, 1), .keepdim = true));
    same(wk_tensordot(f, f, (0), (0)), wk_tensordot(f, f, WK_ARRAY(zero, 1), WK_ARRAY(zero, 1)));
    wk_tensor *place[] = {wk_of(int64_t, (1), 1), wk_of(int64_t, (1), 2)}, *value = wk_of(int64_t, (1), 9);
    same(wk_index_put(x, (place[0], place[1]), value), wk_index_put(x, WK_ARRAY(place, 2), value));
    same(wk_index_put_(wk_clone(x), (place[0]), value),
         wk_index_put_(wk_clone(x), WK_ARRAY(place, 1), value, .accumulate = false));
    wk_tensor *pair[] = {f, f}, *axes[] = {wk_arange(2), wk_arange(3)};
    same(wk_einsum("ij,kj", (f, f)), wk_einsum("ij,kj", WK_ARRAY(pair, 2)));
    assert_true(wk_meshgrid((axes[0], axes[1]), out) == wk_meshgrid(WK_ARRAY(axes, 2), again, .indexing = "ij"));
    same(out[0], again[0]), same(out[1], again[1]);
    same(wk_rms_norm(f, (3), NULL), wk_rms_norm(f, WK_ARRAY(two_three + 1, 1), NULL));
    wk_module *norms[] = {wk_nn_rms_norm((3)), wk_nn_rms_norm(WK_ARRAY(two_three + 1, 1), .eps = 1e-5)};
    same(wk_module_parameter(norms[0], "weight"), wk_module_parameter(norms[1], "weight"));
    same(wk_pad(x, (1, 2), .value = 3), wk_pad(x, WK_ARRAY(parts, 2), .value = 3));
    same(wk_roll(x, (1), (0)), wk_roll(x, WK_ARRAY(one, 1), WK_ARRAY(zero, 1)));
    same(wk_sum(x, (0)), wk_sum(x, WK_ARRAY(zero, 1)));
    same(wk_sum(x, (0), .keepdim = true, .dtype = WK_F64),
         wk_sum(x, WK_ARRAY(zero, 1), .keepdim = true, .dtype = WK_F64));
    same(wk_mean(f, (0, 1)), wk_mean(f, WK_ARRAY(both, 2)));
    same(wk_prod(x, (0)), wk_prod(x, WK_ARRAY(zero, 1))), same(wk_amax(x, (0)), wk_amax(x, WK_ARRAY(zero, 1)));
    same(wk_amin(x, (0)), wk_amin(x, WK_ARRAY(zero, 1))), same(wk_all(x, (0)), wk_all(x, WK_ARRAY(zero, 1)));
    same(wk_any(x, (0)), wk_any(x, WK_ARRAY(zero, 1))),
        same(wk_count_nonzero(x, (0)), wk_count_nonzero(x, WK_ARRAY(zero, 1)));
    same(wk_logsumexp(f, (0)), wk_logsumexp(f, WK_ARRAY(zero, 1))), same(wk_var(f, (0)), wk_var(f, WK_ARRAY(zero, 1)));
    same(wk_std(f, (0)), wk_std(f, WK_ARRAY(zero, 1))),
        same(wk_norm(f, (0), .p = 1), wk_norm(f, WK_ARRAY(zero, 1), .p = 1));
    same(wk_layer_norm(f, (2, 3), NULL, NULL), wk_layer_norm(f, WK_ARRAY(two_three, 2), NULL, NULL));
    wk_module *norm = wk_nn_layer_norm(WK_ARRAY(two_three, 2), .dtype = WK_F64);
    same(wk_forward(norm, f), wk_layer_norm(f, (2, 3), NULL, NULL));
    const wk_summary_row *const *rows = wk_summary_rows(norm, WK_ARRAY(two_three, 2));
    assert_int_equal(rows[0]->shape[1], 3);
    assert_ptr_equal(wk_summary(norm, WK_ARRAY(two_three, 2), .dtype = WK_F64), norm);
    same(wk_zeros((1, 1, 1, 1, 1, 1, 1, 2)), wk_zeros(WK_ARRAY(((const int64_t[]){1, 1, 1, 1, 1, 1, 1, 2}), 8)));
    assert_null(wk_zeros((1, 1, 1, 1, 1, 1, 1, 1, 1))); /* longer than any shape */
    expect_error("zeros", NULL);
}

static wk_tensor *square_of_first(wk_tensor *const in[], void *context)
{
    (void)context;
    return wk_square(in[0]);
}

static void forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_add(in[0], in[1]);
}

static int both_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    (void)self, (void)outputs;
    return inputs == 2 && (out[0] = wk_sub(in[0], in[1])) ? 1 : -1;
}

static void lists_of_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *leaf = wk_of(double, (2), 1, 2, .requires_grad = true), *pair[] = {leaf, wk_ones((2), .dtype = WK_F64)};
    wk_tensor *list[1], *array[1], *loss[] = {wk_sum(wk_square(leaf))};
    const wk_function_kind kind = {.size = sizeof kind, .name = "f", .inputs = 2, .outputs = 1, .forward = forward};
    same(wk_cat((pair[0], pair[1]), 0), wk_cat(WK_ARRAY(pair, 2), 0));
    same(wk_stack((pair[0], pair[1]), 0), wk_stack(WK_ARRAY(pair, 2), 0));
    assert_int_equal(wk_tensors_count(wk_list(WK_ARRAY(pair, 2))), 2);
    same(wk_apply(&kind, NULL, (pair[0], pair[1])), wk_apply(&kind, NULL, WK_ARRAY(pair, 2)));
    assert_int_equal(wk_apply_n(&kind, NULL, WK_ARRAY(pair, 2), array), WK_OK);
    assert_int_equal(wk_grad((loss[0]), (leaf), list, .retain_graph = true), WK_OK);
    assert_int_equal(wk_grad(WK_ARRAY(loss, 1), WK_ARRAY(pair, 1), array), WK_OK);
    same(list[0], array[0]);
    assert_true(wk_gradcheck(square_of_first, NULL, WK_ARRAY(pair, 1)));
    const wk_module_kind both = {.size = sizeof both, .name = "both", .forward = both_forward};
    wk_module *m = wk_module_new(&both);
    assert_int_equal(wk_forward_n(m, (pair[0], pair[1]), list, 1), 1);
    assert_int_equal(wk_forward_n(m, WK_ARRAY(pair, 2), array, 1), 1);
    same(list[0], array[0]);
    assert_int_equal(wk_dist_group_size(wk_dist_new_group(WK_ARRAY(zero, 1))), 1);
}

/* ---- options after elements and numbers -------------------------------------------------------------------------- */

static int calls;
static float counted(void)
{
    return (float)++calls;
}

static void elements_and_options(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 2), 1, 2, 3, 4, .requires_grad = true);
    assert_true(wk_requires_grad(x) && wk_is_leaf(x));
    EXPECT_VALUES(x, 0, 1, 2, 3, 4);
    x = wk_of(int64_t, (2), -1, 2, .dtype = WK_F16, .requires_grad = true, .device = wk_cpu());
    assert_true(wk_requires_grad(x) && wk_is_leaf(x) && wk_dtype_of(x) == WK_F16);
    EXPECT_VALUES(x, 0, -1, 2);
    assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 0, 1, 1);
    EXPECT_VALUES(wk_of(double, (3), .5, -.25, (double)sizeof("a, .b"[0]), .dtype = WK_F32), 0, 0.5, -0.25, 1);
    EXPECT_VALUES(wk_of(uint8_t, (2), ',', (uint8_t[]){7, 8}[1], .dtype = WK_I32), 0, ',', 8);
    EXPECT_VALUES(wk_of(bool, (3), true, false, true), 0, 1, 0, 1);
    wk_of(float, (3), counted(), counted(), counted(), .dtype = WK_F64);
    assert_int_equal(calls, 3); /* each element is evaluated once */
    assert_int_equal(wk_numel(wk_of(float, (0), .requires_grad = true)), 0);
    assert_null(wk_of(float, (2, 2), 1, 2, 3, .requires_grad = true));
    expect_error("of:", "4 elements", "the array has 3", NULL);
    assert_null(wk_of(float, (2), 1, 2, 3));
    expect_error("of:", "2 elements", "the array has 3", NULL);
    assert_null(wk_of(int, (1), 1, .requires_grad = true));
    expect_error("of", NULL);

    const int64_t numbers[] = {1, 2};
    x = wk_from(numbers, (2), .dtype = WK_F64, .requires_grad = true);
    assert_true(wk_requires_grad(x) && wk_dtype_of(x) == WK_F64);
    EXPECT_VALUES(x, 0, 1, 2);
    assert_null(wk_from(numbers, (2), .device = test_null(), .requires_grad = true)); /* integers cannot require grad */
    expect_error("from", NULL);
}

/* An array of arrays lists its elements row by row, also as the target of a read. */
static void arrays_of_arrays(void **state)
{
    (void)state;
    WK_SCOPE;
    int n = 3;
    float rows[2][3] = {{1, 2, 3}, {4, 5, 6}}, back[3][2], (*const first)[3] = rows;
    const int64_t whole[2][2] = {{1, 2}, {3, 4}};
    EXPECT_VALUES(wk_from(rows, (2, 3)), 0, 1, 2, 3, 4, 5, 6);
    EXPECT_VALUES(wk_from(first, (2, n), .dtype = WK_F64), 0, 1, 2, 3, 4, 5, 6);
    assert_int_equal(wk_dtype_of(wk_from(whole, (4))), WK_I64);
    EXPECT_VALUES(wk_from_strided(rows, (3, 2), (1, 3)), 0, 1, 4, 2, 5, 3, 6);
    wk_add_(wk_borrow(rows, (2, 3), NULL, NULL), 1);
    assert_true(rows[1][2] == 7);
    assert_int_equal(wk_read(wk_t(wk_from(rows, (2, 3))), back, sizeof back), WK_OK);
    assert_true(back[0][1] == 5 && back[2][0] == 4);
    assert_null(wk_from(rows, (3, 3)));
    expect_error("from: the shape needs 9 elements", NULL);
}

static void one_two_or_three_numbers(void **state)
{
    (void)state;
    WK_SCOPE;
    const struct {
        wk_tensor *made;
        wk_dtype dtype;
        int count;
        double first, last;
    } cases[] = {{wk_arange(5), WK_I64, 5, 0, 4},
                 {wk_arange(2.5), WK_F32, 3, 0, 2},
                 {wk_arange(2, 5), WK_I64, 3, 2, 4},
                 {wk_arange(0, 10, 2), WK_I64, 5, 0, 8},
                 {wk_arange(5, 0, -2), WK_I64, 3, 5, 1},
                 {wk_arange(0, 1, .25), WK_F32, 4, 0, 0.75},
                 {wk_arange(0, 2.5), WK_F32, 3, 0, 2},
                 {wk_arange(0.0, 4, 2), WK_F32, 2, 0, 2},
                 {wk_arange(1, 4, .dtype = WK_F64), WK_F64, 3, 1, 3},
                 {wk_arange(1, 7, 3, .dtype = WK_I32, .device = wk_cpu()), WK_I32, 2, 1, 4},
                 {wk_arange(0, 1, 0.5, .dtype = WK_F64, .requires_grad = true), WK_F64, 2, 0, 0.5},
                 {wk_arange(3, .dtype = WK_F32), WK_F32, 3, 0, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        wk_tensor *x = cases[k].made;
        if (wk_dtype_of(x) != cases[k].dtype || wk_numel(x) != cases[k].count)
            fail_msg("case %zu: %s", k, wk_describe(x));
        assert_true(wk_item(wk_select(x, 0, 0)) == cases[k].first && wk_item(wk_select(x, 0, -1)) == cases[k].last);
    }
    assert_null(wk_arange(0, 5, 0));
    expect_error("arange", "step", NULL);
    assert_null(wk_arange(0, 5, -1));
    expect_error("arange", "lead", NULL);
}

/* ---- schedules --------------------------------------------------------------------------------------------------- */

static void milestones_of_schedules(void **state)
{
    (void)state;
    WK_SCOPE;
    const int64_t milestones[] = {1, 3};
    for (int way = 0; way < 2; way++) {
        wk_optim *sgd = wk_optim_sgd(wk_list((wk_ones((1), .requires_grad = true))), .lr = 1);
        wk_schedule *a = wk_schedule_exponential_lr(sgd, 1), *b = wk_schedule_exponential_lr(sgd, 0.5);
        wk_schedule *rate = way ? wk_schedule_sequential(WK_ARRAY(milestones, 2), a, b, a)
                                : wk_schedule_multi_step_lr(sgd, WK_ARRAY(milestones, 2), .gamma = 0.5);
        for (int t = 1; t <= 3; t++) {
            assert_int_equal(wk_schedule_step(rate), WK_OK);
            assert_true(wk_optim_lr(sgd, 0) == (way ? (double[]){1, 1, 0.5, 1}[t] : (double[]){1, 0.5, 0.5, 0.25}[t]));
        }
    }
    wk_optim *none = wk_optim_sgd(wk_list((wk_ones((1), .requires_grad = true))), .lr = 1);
    assert_non_null(wk_schedule_multi_step_lr(none, WK_ARRAY(NULL, 0)));
    assert_null(wk_schedule_multi_step_lr(none, WK_ARRAY(NULL, 2)));
    expect_error("schedule_multi_step_lr: the list of milestones", NULL);
}

/* ---- strides ----------------------------------------------------------------------------------------------------- */

static void strides_of_reads_and_writes(void **state)
{
    (void)state;
    WK_SCOPE;
    const float data[] = {1, 2, 3, 4, 5, 6};
    wk_tensor *x = wk_from_strided(data, (3, 2), (1, 3), .dtype = WK_F64);
    EXPECT_VALUES(x, 0, 1, 4, 2, 5, 3, 6);
    double out[6];
    assert_int_equal(wk_read_strided(x, out, (1, 3)), WK_OK);
    for (int k = 0; k < 6; k++) assert_true(out[k] == k + 1);
    const int64_t strides[] = {1, 3};
    assert_int_equal(wk_read_strided(x, out, WK_ARRAY(strides, 2)), WK_OK);
    EXPECT_VALUES(wk_as_strided(x, (2, 2), (1, 2), 1), 0, 4, 5, 2, 3);
    assert_int_equal(wk_read_strided(x, out, (1)), WK_ERR_SHAPE);
    expect_error("read_strided", "2 dimensions", "1 strides", NULL);
    assert_null(wk_from_strided(data, (3, 2), (1)));
    expect_error("from_strided", NULL);
    assert_null(wk_as_strided(x, (3), (1, 2)));
    expect_error("as_strided", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_created_tensors), cmocka_unit_test(sizes_and_dimensions),
        cmocka_unit_test(sizes_of_convolutions),     cmocka_unit_test(lists_of_tensors),
        cmocka_unit_test(elements_and_options),      cmocka_unit_test(arrays_of_arrays),
        cmocka_unit_test(one_two_or_three_numbers),  cmocka_unit_test(strides_of_reads_and_writes),
        cmocka_unit_test(milestones_of_schedules),   cmocka_unit_test(paddings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
