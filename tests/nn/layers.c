/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the library's layers and initial values. */
#include "support/wick.h"

#include <math.h>

#include <backend/null/null.h>
#include <engine/op_queue.h>

static void set(wk_module *m, const char *path, wk_tensor *value)
{
    WK_NO_GRAD;
    assert_non_null(wk_copy_(wk_module_parameter(m, path), value));
}

/* ---- initial values ---------------------------------------------------------------------------------------------- */

typedef struct spread {
    double mean, std, low, high;
} spread;

static spread spread_of(wk_tensor *x)
{
    wk_tensor *wide = wk_to_dtype(wk_detach(x), WK_F64), *mean = wk_mean(wide);
    wk_tensor *off = wk_sub(wide, mean);
    return (spread){wk_item(mean), sqrt(wk_item(wk_mean(wk_mul(off, off)))), wk_item(wk_amin(wide)),
                    wk_item(wk_amax(wide))};
}

static void expect_uniform(wk_tensor *x, double bound)
{
    spread s = spread_of(x);
    expect_ok();
    assert_true(s.low >= -bound && s.high <= bound);
    assert_true(s.low < -0.99 * bound && s.high > 0.99 * bound);
    assert_true(fabs(s.mean) < 0.02 * bound);
    assert_true(fabs(s.std / (bound / sqrt(3)) - 1) < 0.02);
}

static void expect_normal(wk_tensor *x, double std)
{
    spread s = spread_of(x);
    expect_ok();
    assert_true(fabs(s.mean) < 0.02 * std);
    assert_true(fabs(s.std / std - 1) < 0.02);
    assert_true(s.high > 3 * std);
}

static void initial_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(1);
    wk_tensor *w = wk_zeros((200, 100), .requires_grad = true), *c = wk_zeros((20, 10, 5, 20));
    wk_tensor *same = wk_init_uniform_(w, 1, 3);
    assert_true(same == w && wk_is_leaf(w) && wk_requires_grad(w));
    assert_float_equal(spread_of(w).mean, 2, 0.02);
    expect_normal(wk_init_normal_(w, 0, 0.5), 0.5);
    assert_float_equal(spread_of(wk_init_normal_(w, 7, 0.5)).mean, 7, 0.02);
    expect_uniform(wk_init_xavier_uniform_(w), sqrt(6.0 / 300));
    expect_uniform(wk_init_xavier_uniform_(w, .gain = 2), 2 * sqrt(6.0 / 300));
    expect_normal(wk_init_xavier_normal_(w), sqrt(2.0 / 300));
    expect_uniform(wk_init_kaiming_uniform_(w), sqrt(6.0 / 100));
    expect_uniform(wk_init_kaiming_uniform_(w, .a = sqrt(5)), 1.0 / 10);
    expect_uniform(wk_init_kaiming_uniform_(w, .fan_out = true, .gain = 1), sqrt(3.0 / 200));
    expect_normal(wk_init_kaiming_normal_(w), sqrt(2.0 / 100));
    expect_normal(wk_init_kaiming_normal_(c), sqrt(2.0 / (10 * 100)));
    expect_normal(wk_init_xavier_normal_(c), sqrt(2.0 / (30 * 100)));
    assert_true(spread_of(wk_init_constant_(w, 2.5)).low == 2.5);
    assert_true(spread_of(wk_init_ones_(w)).high == 1);
    assert_true(spread_of(wk_init_zeros_(w)).high == 0);
    assert_non_null(wk_init_kaiming_uniform_(wk_zeros((3, 0))));
    expect_ok();
    assert_null(wk_init_xavier_uniform_(wk_zeros((3))));
    expect_error("init_xavier_uniform_", "got 1", NULL);
    assert_null(wk_init_normal_(NULL, 0, 1));
    expect_error("init_normal_", "NULL", NULL);
}

/* ---- linear ------------------------------------------------------------------------------------------------------ */

static void linear(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(2);
    wk_module *large = wk_nn_linear(64, 2000), *m = wk_nn_linear(2, 3),
              *bare = wk_nn_linear(2, 1, .no_bias = true, .dtype = WK_F64);
    EXPECT_SHAPE(wk_module_parameter(large, "weight"), 2000, 64);
    expect_uniform(wk_module_parameter(large, "weight"), 1 / 8.0);
    expect_uniform(wk_module_parameter(large, "bias"), 1 / 8.0);
    set(m, "weight", wk_of(float, (3, 2), 1, 2, 3, 4, 5, 6));
    set(m, "bias", wk_of(float, (3), 10, 20, 30));
    wk_tensor *x = wk_of(float, (2, 2), 1, 0, 1, 1);
    EXPECT_VALUES(wk_forward(m, x), 0, 11, 23, 35, 13, 27, 41);
    EXPECT_SHAPE(wk_forward(m, wk_ones((4, 5, 2))), 4, 5, 3);
    EXPECT_SHAPE(wk_forward(m, wk_ones((2))), 3);
    wk_backward(wk_sum(wk_forward(m, x)));
    EXPECT_VALUES(wk_grad_of(wk_module_parameter(m, "weight")), 0, 2, 1, 2, 1, 2, 1);
    EXPECT_VALUES(wk_grad_of(wk_module_parameter(m, "bias")), 0, 2, 2, 2);
    assert_int_equal(wk_dtype_of(wk_module_parameter(bare, "weight")), WK_F64);
    assert_int_equal(wk_tensors_count(wk_parameters(bare)), 1);
    char call[64];
    snprintf(call, sizeof call, "%s:%d: forward: in layer 0 (linear): ", __FILE__, __LINE__ + 1);
    assert_null(wk_forward(wk_nn_sequential(m), wk_ones((4, 5))));
    expect_error(call, "f32[4,5]", "f32[3,2]", NULL);
    assert_null(wk_nn_linear(-1, 2));
    expect_error("-1", NULL);
}

static void lazy(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_lazy_linear(4), wk_nn_relu(), wk_nn_lazy_linear(1, .no_bias = true));
    assert_null(wk_parameters(net));
    expect_error("parameters", "lazy_linear \"0\"", "wk_forward", NULL);
    wk_tensor *first;
    {
        WK_SCOPE;
        WK_NO_GRAD;
        EXPECT_SHAPE(wk_forward(net, wk_ones((5, 3), .dtype = WK_F64)), 5, 1);
        first = wk_module_parameter(net, "0.weight");
    }
    EXPECT_SHAPE(first, 4, 3);
    assert_int_equal(wk_dtype_of(first), WK_F64);
    assert_true(wk_requires_grad(first));
    assert_int_equal(wk_tensors_count(wk_parameters(net)), 3);
    assert_true(wk_forward(net, wk_ones((1, 3), .dtype = WK_F64)) != NULL);
    assert_true(wk_module_parameter(net, "0.weight") == first);
    assert_null(wk_forward(net, wk_ones((1, 4), .dtype = WK_F64)));
    expect_error("linear", NULL);
    wk_module *moved = wk_nn_lazy_linear(2);
    wk_module_to(moved, test_null());
    wk_forward(moved, wk_ones((1, 4), .device = test_null()));
    assert_int_equal(wk_device_of(wk_module_parameter(moved, "weight")).kind, WK_NULL);
    assert_null(wk_forward(wk_nn_lazy_linear(2), wk_ones(())));
    expect_error("lazy_linear", "no dimensions", NULL);
}

/* ---- other layers ------------------------------------------------------------------------------------------------ */

static void activations(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (3), -1, 0, 2);
    EXPECT_VALUES(wk_forward(wk_nn_relu(), x), 0, 0, 0, 2);
    EXPECT_VALUES(wk_forward(wk_nn_sigmoid(), x), 1e-6, 0.2689414214, 0.5, 0.8807970780);
    EXPECT_VALUES(wk_forward(wk_nn_tanh(), x), 1e-6, -0.7615941560, 0, 0.9640275801);
    EXPECT_VALUES(wk_forward(wk_nn_gelu(), x), 1e-6, -0.1586552539, 0, 1.9544997361);
    EXPECT_SHAPE(wk_forward(wk_nn_flatten(), wk_ones((2, 3, 4, 5))), 2, 60);
    EXPECT_SHAPE(wk_forward(wk_nn_flatten(), wk_ones((0, 3, 4))), 0, 12);
    EXPECT_SHAPE(wk_forward(wk_nn_flatten(), wk_ones((7))), 7);
    EXPECT_SHAPE(wk_forward(wk_nn_flatten(0), wk_ones((2, 3, 4))), 24);
    EXPECT_SHAPE(wk_forward(wk_nn_flatten(1, 2), wk_ones((2, 3, 4, 5))), 2, 12, 5);
    EXPECT_SHAPE(wk_forward(wk_nn_unflatten(1, (3, -1)), wk_ones((2, 12, 5))), 2, 3, 4, 5);
    assert_null(wk_nn_unflatten(1, ()));
    expect_error("nn_unflatten: expected one to 8 sizes, got 0", NULL);
    assert_null(wk_forward(wk_nn_unflatten(1, (5, 2)), wk_ones((2, 12))));
    expect_error("unflatten", NULL);
    assert_string_equal(wk_module_kind_name(wk_nn_gelu()), "gelu");
}

static void dropout(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(3);
    wk_module *net = wk_nn_sequential(wk_nn_dropout(0.25));
    wk_tensor *x = wk_ones((10000)), *y = wk_forward(net, x);
    spread s = spread_of(y);
    assert_true(s.low == 0);
    assert_float_equal(s.high, 4.0 / 3, 1e-6);
    assert_float_equal(s.mean, 1, 0.02);
    wk_module_train(net, false);
    assert_true(wk_forward(net, x) == x);
    assert_null(wk_nn_dropout(1.5));
    expect_error("dropout", "[0, 1]", NULL);
}

static void layer_norm(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_layer_norm((4)), *plain = wk_nn_layer_norm((2, 2), .no_affine = true, .eps = 3.0);
    wk_tensor *x = wk_of(float, (1, 4), 1, 2, 3, 4);
    double unit = 1 / sqrt(1.25 + 1e-5);
    EXPECT_VALUES(wk_module_parameter(m, "weight"), 0, 1, 1, 1, 1);
    EXPECT_VALUES(wk_forward(m, x), 1e-6, -1.5 * unit, -0.5 * unit, 0.5 * unit, 1.5 * unit);
    set(m, "weight", wk_of(float, (4), 1, 2, 3, 4));
    set(m, "bias", wk_of(float, (4), 0, 0, 0, 10));
    EXPECT_VALUES(wk_forward(m, x), 1e-5, -1.5 * unit, -unit, 1.5 * unit, 6 * unit + 10);
    unit = 1 / sqrt(1.25 + 3);
    EXPECT_VALUES(wk_forward(plain, wk_reshape(x, (1, 2, 2))), 1e-6, -1.5 * unit, -0.5 * unit, 0.5 * unit, 1.5 * unit);
    assert_int_equal(wk_tensors_count(wk_parameters(plain)), 0);
    assert_int_equal(wk_tensors_count(wk_parameters(wk_nn_layer_norm((3), .no_bias = true))), 1);
    assert_null(wk_nn_layer_norm(()));
    expect_error("layer_norm", NULL);
    assert_null(wk_nn_layer_norm((3, -5), .no_affine = true));
    expect_error("nn_layer_norm: dimension 1 of the shape is -5; sizes must be at least 0", NULL);
}

static void embedding(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(4);
    expect_normal(wk_module_parameter(wk_nn_embedding(300, 70), "weight"), 1);
    wk_module *m = wk_nn_embedding(3, 2, .dtype = WK_F64);
    set(m, "weight", wk_of(double, (3, 2), 0, 1, 2, 3, 4, 5));
    wk_tensor *y = wk_forward(m, wk_of(int64_t, (2, 2), 2, 0, 2, 1));
    EXPECT_SHAPE(y, 2, 2, 2);
    EXPECT_VALUES(y, 0, 4, 5, 0, 1, 4, 5, 2, 3);
    wk_backward(wk_sum(y));
    EXPECT_VALUES(wk_grad_of(wk_module_parameter(m, "weight")), 0, 1, 1, 1, 1, 2, 2);
    assert_null(wk_forward(m, wk_of(int64_t, (1), 3)));
    expect_error("embedding", "3", NULL);
}

static void embedding_options(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_embedding(3, 2, .padding_idx = 0, .scale_grad_by_freq = true);
    wk_tensor *weight = wk_module_parameter(m, "weight");
    EXPECT_VALUES(wk_select(weight, 0, 0), 0, 0, 0);
    wk_backward(wk_sum(wk_forward(m, wk_of(int64_t, (4), 0, 1, 2, 2))));
    EXPECT_VALUES(wk_grad_of(weight), 0, 0, 0, 1, 1, 1, 1);
    m = wk_nn_embedding(2, 2, .max_norm = 1, .padding_idx = -1);
    set(m, "weight", wk_of(float, (2, 2), 3, 4, 6, 8));
    EXPECT_VALUES(wk_forward(m, wk_of(int64_t, (1), 0)), 1e-6, 0.6, 0.8);
    EXPECT_VALUES(wk_module_parameter(m, "weight"), 1e-6, 0.6, 0.8, 6, 8);
    assert_null(wk_nn_embedding(3, 2, .padding_idx = 3));
    expect_error("nn_embedding: .padding_idx 3 is out of range for 3 rows", NULL);
    assert_null(wk_nn_embedding(3, 2, .max_norm = -1));
    expect_error("nn_embedding: .max_norm must be at least 0", NULL);
}

static void embedding_bag(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_embedding_bag(3, 2, .mode = "sum", .padding_idx = 1);
    set(m, "weight", wk_of(float, (3, 2), 1, 2, 3, 4, 5, 6));
    wk_tensor *out[1], *index = wk_of(int64_t, (5), 0, 1, 2, 2, 0), *offsets = wk_of(int64_t, (3), 0, 2, 2);
    EXPECT_VALUES(wk_forward(m, wk_of(int64_t, (2, 2), 0, 1, 2, 2)), 0, 1, 2, 10, 12);
    assert_int_equal(wk_forward_n(m, (index, offsets), out, 1), 1);
    EXPECT_VALUES(out[0], 0, 1, 2, 0, 0, 11, 14);
    assert_int_equal(wk_forward_n(m, (index, offsets, wk_full((5), 2.0)), out, 1), 1);
    EXPECT_VALUES(out[0], 0, 2, 4, 0, 0, 22, 28);
    wk_backward(wk_sum(out[0]));
    EXPECT_VALUES(wk_grad_of(wk_module_parameter(m, "weight")), 0, 4, 4, 0, 0, 4, 4);
    assert_null(wk_forward(m, index));
    expect_error("embedding_bag: the vector i64[5] needs .offsets", NULL);
    assert_null(wk_nn_embedding_bag(3, 2, .mode = "min"));
    expect_error("nn_embedding_bag: unknown .mode \"min\"", NULL);
    m = wk_nn_embedding_bag(3, 2, .include_last_offset = true);
    set(m, "weight", wk_of(float, (3, 2), 1, 2, 3, 4, 5, 6));
    assert_int_equal(wk_forward_n(m, (index, wk_of(int64_t, (3), 0, 2, 5)), out, 1), 1);
    EXPECT_VALUES(out[0], 1e-6, 2, 3, 11. / 3, 14. / 3);
}

/* A training step of a complete network needs few kernels, and the same number each time. */
static void training_steps_have_the_same_kernels(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_device null = test_null();
    wk_module *net = wk_nn_sequential(wk_nn_flatten(), wk_nn_linear(784, 256), wk_nn_relu(), wk_nn_linear(256, 10));
    wk_module_to(net, null);
    wk_optim *adam = wk_optim_adam(wk_parameters(net));
    wk_tensor *x = wk_ones((64, 1, 28, 28), .device = null), *y = wk_zeros((64), .dtype = WK_I64, .device = null);
    int64_t before = 0;
    for (int step = 0; step < 4; step++) {
        wk_sync();
        wk__null_log_clear();
        {
            WK_SCOPE;
            wk_tensor *loss = wk_cross_entropy(wk_forward(net, x), y);
            wk_optim_zero_grad(adam);
            wk_backward(loss);
            wk_optim_step(adam);
        }
        int64_t work = wk__null_log_work_count();
        if (step > 1) assert_int_equal(work, before);
        before = work;
        assert_int_equal(wk__null_log_count(WK__NULL_DOWNLOAD) + wk__null_log_count(WK__NULL_UPLOAD), 0);
    }
    expect_ok();
    printf("a step is %lld kernels and products\n", (long long)before);
    assert_true(before <= 20);
}

static void layers_without_inputs_or_outputs(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *none = wk_forward(wk_nn_linear(0, 3), wk_ones((2, 0)));
    EXPECT_VALUES(none, 0, 0, 0, 0, 0, 0, 0);
    EXPECT_SHAPE(wk_forward(wk_nn_linear(3, 0), wk_ones((2, 3))), 2, 0);
    EXPECT_SHAPE(wk_forward(wk_nn_embedding(3, 0), wk_of(int64_t, (2), 0, 2)), 2, 0);
    assert_null(wk_nn_linear(-1, 3));
    expect_error("nn_linear", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initial_values),
        cmocka_unit_test(linear),
        cmocka_unit_test(lazy),
        cmocka_unit_test(activations),
        cmocka_unit_test(dropout),
        cmocka_unit_test(layer_norm),
        cmocka_unit_test(embedding),
        cmocka_unit_test(embedding_options),
        cmocka_unit_test(embedding_bag),
        cmocka_unit_test_setup_teardown(training_steps_have_the_same_kernels, test_default_mode, test_restore_mode),
        cmocka_unit_test(layers_without_inputs_or_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
