/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the layers of one function: activations, which must compute what their ops do, and functions of the program. */
#include "support/wick.h"

#include <math.h>

/* ---- activations ------------------------------------------------------------------------------------------------- */

/* Checks that a layer is of the kind `name` and has the result of the op, to the last bit. */
static void expect_layer(wk_module *m, const char *name, wk_tensor *x, wk_tensor *result)
{
    expect_ok();
    assert_string_equal(wk_module_kind_name(m), name);
    if (wk_item(wk_all(wk_eq(wk_forward(m, x), result))) != 1) fail_msg("%s differs from its op", name);
    assert_int_equal(wk_tensors_count(wk_parameters(m)), 0);
}

static void layers_without_options(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_linspace(-7, 7, 57);
    expect_layer(wk_nn_hardsigmoid(), "hardsigmoid", x, wk_hardsigmoid(x));
    expect_layer(wk_nn_hardswish(), "hardswish", x, wk_hardswish(x));
    expect_layer(wk_nn_log_sigmoid(), "log_sigmoid", x, wk_logsigmoid(x));
    expect_layer(wk_nn_mish(), "mish", x, wk_mish(x));
    expect_layer(wk_nn_relu(), "relu", x, wk_relu(x));
    expect_layer(wk_nn_relu6(), "relu6", x, wk_relu6(x));
    expect_layer(wk_nn_selu(), "selu", x, wk_selu(x));
    expect_layer(wk_nn_sigmoid(), "sigmoid", x, wk_sigmoid(x));
    expect_layer(wk_nn_silu(), "silu", x, wk_silu(x));
    expect_layer(wk_nn_softsign(), "softsign", x, wk_softsign(x));
    expect_layer(wk_nn_tanh(), "tanh", x, wk_tanh(x));
    expect_layer(wk_nn_tanhshrink(), "tanhshrink", x, wk_tanhshrink(x));
    expect_layer(wk_nn_activation("silu"), "silu", x, wk_silu(x));
}

static void layers_with_options(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_linspace(-7, 7, 57);
    expect_layer(wk_nn_celu(), "celu", x, wk_celu(x));
    expect_layer(wk_nn_celu(.alpha = 2), "celu", x, wk_celu(x, .alpha = 2));
    expect_layer(wk_nn_elu(), "elu", x, wk_elu(x));
    expect_layer(wk_nn_elu(.alpha = 0), "elu", x, wk_elu(x, .alpha = 0));
    expect_layer(wk_nn_gelu(), "gelu", x, wk_gelu(x));
    expect_layer(wk_nn_gelu(.approximate = WK_GELU_TANH), "gelu", x, wk_gelu(x, .approximate = WK_GELU_TANH));
    expect_layer(wk_nn_hardshrink(.lambd = 2), "hardshrink", x, wk_hardshrink(x, .lambd = 2));
    expect_layer(wk_nn_hardtanh(), "hardtanh", x, wk_hardtanh(x));
    expect_layer(wk_nn_hardtanh(.max_val = 0), "hardtanh", x, wk_hardtanh(x, .max_val = 0));
    expect_layer(wk_nn_hardtanh(.min_val = -3, .max_val = 2), "hardtanh", x,
                 wk_hardtanh(x, .min_val = -3, .max_val = 2));
    expect_layer(wk_nn_leaky_relu(), "leaky_relu", x, wk_leaky_relu(x));
    expect_layer(wk_nn_leaky_relu(.negative_slope = 0.2), "leaky_relu", x, wk_leaky_relu(x, .negative_slope = 0.2));
    expect_layer(wk_nn_softplus(.beta = 2), "softplus", x, wk_softplus(x, .beta = 2));
    expect_layer(wk_nn_softplus(.threshold = 1), "softplus", x, wk_softplus(x, .threshold = 1));
    expect_layer(wk_nn_softshrink(.lambd = 1), "softshrink", x, wk_softshrink(x, .lambd = 1));
}

static void layers_with_arguments(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_reshape(wk_linspace(-3, 3, 24), (2, 6, 2));
    expect_layer(wk_nn_softmax(1), "softmax", x, wk_softmax(x, 1));
    expect_layer(wk_nn_softmin(-1), "softmin", x, wk_softmin(x, -1));
    expect_layer(wk_nn_log_softmax(0), "log_softmax", x, wk_log_softmax(x, 0));
    expect_layer(wk_nn_threshold(0.5, -2), "threshold", x, wk_threshold(x, 0.5, -2));
    expect_layer(wk_nn_glu(), "glu", x, wk_glu(x));
    expect_layer(wk_nn_glu(1), "glu", x, wk_glu(x, 1));
}

static void random_in_training_mode(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_full((1000), -1.0);
    wk_module *m = wk_nn_rrelu(.lower = 0, .upper = 0.5), *net = wk_nn_sequential(m);
    wk_seed(1);
    wk_tensor *y = wk_forward(net, x), *z = wk_forward(net, x);
    assert_true(wk_item(wk_sum(wk_eq(y, z))) < 10);
    assert_true(wk_item(wk_amax(y)) <= 0 && wk_item(wk_amin(y)) >= -0.5);
    wk_module_train(net, false);
    expect_layer(m, "rrelu", x, wk_full((1000), -0.25));
    assert_true(fabs(wk_item(wk_amax(wk_forward(wk_module_train(wk_nn_rrelu(), false), x))) + 11.0 / 48) < 1e-7);
}

static void prelu_has_a_weight(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (1, 2, 2), -1, 2, -3, -4);
    wk_module *each = wk_nn_prelu(.num_parameters = 2, .init = 0.5, .dtype = WK_F64), *all = wk_nn_prelu();
    wk_tensor *weight = wk_module_parameter(each, "weight");
    EXPECT_SHAPE(weight, 2);
    EXPECT_VALUES(wk_forward(each, x), 0, -0.5, 2, -1.5, -2);
    assert_int_equal(wk_backward(wk_sum(wk_forward(each, x))), WK_OK);
    EXPECT_VALUES(wk_grad_of(weight), 0, -1, -7);
    EXPECT_VALUES(wk_module_parameter(all, "weight"), 0, 0.25);
    EXPECT_VALUES(wk_forward(all, wk_of(float, (2), -1, 2)), 0, -0.25, 2);
    EXPECT_VALUES(wk_module_parameter(wk_nn_prelu(.init = 0), "weight"), 0, 0);
    assert_null(wk_nn_prelu(.num_parameters = -1));
    expect_error("nn_prelu: .num_parameters must be at least 1, got -1", NULL);
}

static void refusals(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_nn_activation("rlu"));
    expect_error("nn_activation: unknown activation \"rlu\"; expected celu, elu, gelu, hardshrink, ", "tanhshrink",
                 NULL);
    assert_null(wk_nn_activation(NULL));
    expect_error("nn_activation: the name is NULL", NULL);
    assert_null(wk_nn_gelu(.approximate = 7));
    expect_error("nn_gelu: unknown .approximate 7; expected WK_GELU_NONE or WK_GELU_TANH", NULL);
    assert_null(wk_nn_function(NULL, NULL));
    expect_error("nn_function: the function is NULL", NULL);
    assert_null(wk_forward(wk_nn_hardtanh(.min_val = 2), wk_ones((2))));
    expect_error("hardtanh: min_val 2 must not exceed max_val 1", NULL);
    assert_null(wk_forward(wk_nn_softmax(1), wk_ones((2))));
    expect_error("softmax", NULL);
}

/* ---- functions of the program ------------------------------------------------------------------------------------ */

static wk_tensor *times(wk_tensor *x, void *user)
{
    const double *factor = user;
    return wk_mul(x, *factor);
}

static wk_tensor *fails(wk_tensor *x, void *user)
{
    (void)user;
    return wk_reshape(x, (5));
}

static void functions(void **state)
{
    (void)state;
    WK_SCOPE;
    double factor = 3;
    wk_module *net = wk_nn_sequential(wk_nn_relu(), wk_nn_function(times, &factor));
    wk_tensor *x = wk_of(double, (2), -1, 2, .requires_grad = true), *y = wk_forward(net, x);
    EXPECT_VALUES(y, 0, 0, 6);
    assert_int_equal(wk_backward(wk_sum(y)), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 0, 0, 3);
    factor = 5;
    EXPECT_VALUES(wk_forward(net, x), 0, 0, 10);
    assert_null(wk_forward(wk_nn_function(fails, NULL), wk_ones((2))));
    expect_error("reshape", "forward of \"function\"", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_without_options),
        cmocka_unit_test(layers_with_options),
        cmocka_unit_test(layers_with_arguments),
        cmocka_unit_test(random_in_training_mode),
        cmocka_unit_test(prelu_has_a_weight),
        cmocka_unit_test(refusals),
        cmocka_unit_test(functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
