/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the costs of gradients and optimiser steps: plans of the null device are counted and compared with a table. */
#include "support/costs.h"

static void gradient_of_a_chain(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_sum(wk_mul(wk_exp(x), in->y))), WK_OK);
    test_force(wk_grad_of(x));
}

static void gradient_of_a_softmax(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_sum(wk_mul(wk_softmax(x, 1), in->y))), WK_OK);
    test_force(wk_grad_of(x));
}

static void gradient_of_parts(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true), *all = wk_mul(x, 2);
    wk_mul_(wk_narrow(all, 0, 3, 5), 3);
    assert_int_equal(wk_backward(wk_sum(wk_mul(all, in->y))), WK_OK);
    test_force(wk_grad_of(x));
}

static void gradient_of_pieces(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true), *piece[4];
    wk_chunk(x, 4, 0, piece);
    assert_int_equal(wk_backward(wk_sum(wk_add(wk_mul(piece[0], piece[1]), wk_exp(piece[3])))), WK_OK);
    test_force(wk_grad_of(x));
}

static void gradient_of_a_part(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_sum(wk_exp(wk_narrow(x, 0, 3, 5)))), WK_OK);
    test_force(wk_grad_of(x));
}

static void gradient_of_joined_parts(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_sum(wk_mul(wk_cat((wk_exp(x), wk_mul(x, 2)), 0), 3))), WK_OK);
    test_force(wk_grad_of(x));
}

static void gradient_of_rows_by_index(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_sum(wk_exp(wk_index_select(x, 0, in->index)))), WK_OK);
    test_force(wk_grad_of(x));
}

static void gradient_of_a_product(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true), *w = wk_requires_grad_(wk_detach(in->w), true);
    assert_int_equal(wk_backward(wk_sum(wk_relu(wk_matmul(x, w)))), WK_OK);
    test_force(wk_grad_of(x));
    test_force(wk_grad_of(w));
}

static void gradients_that_accumulate(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    for (int k = 0; k < 3; k++) {
        WK_SCOPE;
        assert_int_equal(wk_backward(wk_sum(wk_mul(wk_exp(x), in->y))), WK_OK);
        wk_sync();
    }
}

static void second_derivative(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true), *g[1];
    assert_int_equal(wk_grad((wk_sum(wk_mul(wk_exp(x), x))), (x), g, .create_graph = true), WK_OK);
    assert_int_equal(wk_backward(wk_sum(g[0])), WK_OK);
    test_force(wk_grad_of(x));
}

static void gradients_of_a_view_that_is_used_twice(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_add(wk_sum(wk_mul(x, x)), wk_sum(wk_mul(wk_narrow(x, 0, 0, 4), 3)))), WK_OK);
    test_force(wk_grad_of(x));
}

static void steps(const inputs *in, wk_optim *(*make)(wk_tensors *))
{
    wk_module *net = wk_nn_sequential(wk_nn_linear(64, 24), wk_nn_relu(), wk_nn_linear(24, 8));
    wk_module_to(net, test_null());
    wk_optim *optim = make(wk_parameters(net));
    assert_non_null(optim);
    for (int k = 0; k < 3; k++) {
        WK_SCOPE;
        wk_optim_zero_grad(optim);
        assert_int_equal(wk_backward(wk_cross_entropy(wk_forward(net, in->x), in->index)), WK_OK);
        assert_int_equal(wk_optim_step(optim), WK_OK);
    }
    wk_sync();
}

static wk_optim *sgd(wk_tensors *parameters)
{
    return wk_optim_sgd(parameters, .lr = 0.1);
}

static wk_optim *adam(wk_tensors *parameters)
{
    return wk_optim_adam(parameters, .lr = 0.1);
}

static void three_steps(const inputs *in)
{
    steps(in, sgd);
}

static void three_steps_of_adam(const inputs *in)
{
    steps(in, adam);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* A step without an optimiser: 4 steps of 8 rows. */
static void read_sequence(wk_module *layer, const inputs *in)
{
    wk_tensor *x = wk_reshape(in->x, (4, 8, 64)), *weight = wk_module_parameter(layer, "weight_hh_l0");
    assert_int_equal(wk_backward(wk_sum(wk_forward(layer, x))), WK_OK);
    test_force(wk_grad_of(weight));
}

static void an_rnn(const inputs *in)
{
    read_sequence(wk_nn_rnn(64, 16, .device = test_null()), in);
}

static void a_gru(const inputs *in)
{
    read_sequence(wk_nn_gru(64, 16, .device = test_null()), in);
}

static void an_lstm(const inputs *in)
{
    read_sequence(wk_nn_lstm(64, 16, .device = test_null()), in);
}

/*   passes, products, kernels, copies, loads, stores, instructions, bytes, left */
static const cost_case typicals[] = {
    {NAMED(gradient_of_a_chain), {1, 0, 0, 0, 2, 3, 11, 16640, 16640}},
    {NAMED(gradient_of_a_softmax), {3, 0, 0, 0, 7, 5, 26, 33024, 24832}},
    {NAMED(gradient_of_parts), {5, 0, 0, 0, 6, 6, 24, 16640, 16640}},
    {NAMED(gradient_of_pieces), {1, 0, 0, 0, 3, 6, 22, 10496, 10496}},
    {NAMED(gradient_of_a_part), {3, 0, 0, 0, 2, 5, 12, 11008, 9728}},
    {NAMED(gradient_of_joined_parts), {3, 0, 0, 0, 5, 6, 28, 49408, 33024}},
    {NAMED(gradient_of_rows_by_index), {1, 0, 1, 1, 2, 4, 15, 33024, 33024}},
    {NAMED(gradient_of_a_product), {1, 3, 0, 0, 3, 4, 15, 18688, 16640}},
    {NAMED(gradients_that_accumulate), {3, 0, 0, 0, 8, 9, 37, 24832, 8192}},
    {NAMED(second_derivative), {1, 0, 0, 0, 1, 5, 23, 25088, 25088}},
    {NAMED(gradients_of_a_view_that_is_used_twice), {3, 0, 0, 1, 6, 8, 35, 33536, 8704}},
    {NAMED(three_steps), {19, 15, 0, 0, 60, 46, 329, 84992, 14848}},
    {NAMED(an_rnn), {8, 10, 0, 0, 27, 30, 142, 15616, 13568}},
    {NAMED(a_gru), {18, 10, 0, 0, 75, 79, 346, 43520, 34048}},
    {NAMED(an_lstm), {13, 10, 0, 0, 75, 78, 377, 52480, 44288}},
    {NAMED(three_steps_of_adam), {30, 15, 0, 0, 93, 84, 657, 141824, 29696}},
};

static void training(void **state)
{
    (void)state;
    expect_costs(typicals, sizeof typicals / sizeof *typicals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(training, test_default_mode, test_restore_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
