/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_mirrored: a network on several devices gives the results of one device, for any devices and shares. Each
 * test runs on several sets of devices. */
#include "support/mirrored.h"

#include "parallel/batch_split.h"
#include <math.h>
#include <unistd.h>

/* ---- shares ------------------------------------------------------------------------------------------------------ */

#define EXPECT_SHARES(total, n, weight, ...)                                                                           \
    do {                                                                                                               \
        int64_t share_[16] = {0};                                                                                      \
        const int64_t want_[] = {__VA_ARGS__};                                                                         \
        wk__split_batch(total, n, weight, share_);                                                                     \
        assert_memory_equal(share_, want_, sizeof want_);                                                              \
    } while (0)

static void batches_are_divided(void **state)
{
    (void)state;
    EXPECT_SHARES(96, 5, NULL, 20, 19, 19, 19, 19);
    EXPECT_SHARES(2, 3, NULL, 1, 1, 0);
    EXPECT_SHARES(12, 1, NULL, 12);
    EXPECT_SHARES(10, 2, ((double[]){3, 1}), 8, 2); /* 7.5 and 2.5: the first of those that lost most */
    EXPECT_SHARES(100, 3, ((double[]){1, 0, 3}), 25, 0, 75);
    EXPECT_SHARES(3, 4, ((double[]){1, 1, 1, 1}), 1, 1, 1, 0);
    for (int64_t total = 1; total < 60; total++) { /* rounding neither loses nor adds samples */
        int64_t share[7], sum = 0;
        const double weight[] = {0.1, 0.3, 1e-9, 7, 0.7, 0.31, 2};
        wk__split_batch(total, 7, weight, share);
        for (int k = 0; k < 7; k++) {
            assert_true(share[k] >= 0);
            sum += share[k];
        }
        assert_int_equal(sum, total);
    }
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static void weights_are_those_of_one_device(void **state)
{
    (void)state;
    static const int64_t sizes[] = {12, 7, 2};
    EACH_DEVICE_SET(set)
    {
        for (int s = 0; s < 3; s++) {
            WK_SCOPE;
            wk_module *one = wk_module_to(test_network(), set->device[0]), *model = test_network();
            wk_module *many = wk_mirrored(model, set->device, set->n);
            test_train(one, set->device[0], sizes[s], 5);
            test_train(many, set->device[0], sizes[s], 5);
            const double gap = test_gap_of_all(one, many);
            assert_true(set->n == 1 ? gap == 0 : gap <= 1e-6); /* all on one device: the same bits */
            test_train(model, set->device[0], sizes[s], 1);    /* the network remains usable alone */
            test_train(one, set->device[0], sizes[s], 1);
            assert_true(test_gap_of_all(one, model) <= 1e-6);
        }
    }
}

static void repeated_runs_have_the_same_bits(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *a = wk_mirrored(test_network(), set->device, set->n);
        wk_module *b = wk_mirrored(test_network(), set->device, set->n);
        test_train(a, set->device[0], 11, 4);
        test_train(b, set->device[0], 11, 4);
        assert_true(test_gap_of_all(a, b) == 0);
    }
}

/* The devices of the batch, the results and the parameters are independent. */
static void batches_may_be_on_any_device(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        for (int from = 0; from < set->n; from++) {
            WK_SCOPE;
            const wk_device last = set->device[set->n - 1];
            wk_module *one = wk_module_to(test_network(), set->device[from]), *model = test_network();
            wk_module *many = wk_mirrored(model, set->device, set->n, .output = last);
            wk_tensor *x = test_batch(9, 0, set->device[from]), *y = wk_forward(many, x);
            assert_true(wk_device_eq(wk_device_of(y), last));
            assert_true(test_gap(y, wk_forward(one, x)) <= 1e-6);
            wk_backward(wk_sum(y));
            wk_backward(wk_sum(wk_forward(one, x)));
            wk_tensor *w = wk_module_parameter(model, "0.weight");
            assert_true(wk_device_eq(wk_device_of(w), set->device[0]));
            assert_true(test_gap(wk_grad_of(w), wk_grad_of(wk_module_parameter(one, "0.weight"))) <= 1e-5);
            expect_ok();
        }
    }
}

static void gradients_reach_the_input(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *one = wk_module_to(test_network(), set->device[0]);
        wk_module *many = wk_mirrored(test_network(), set->device, set->n);
        wk_tensor *x = test_batch(5, 0, set->device[0]), *a[1], *b[1];
        wk_requires_grad_(x, true);
        wk_grad((wk_sum(wk_forward(one, x))), (x), a);
        wk_grad((wk_sum(wk_forward(many, x))), (x), b);
        assert_true(test_gap(a[0], b[0]) <= 1e-6);
        expect_ok();
    }
}

/* The gradient of a gradient passes through the copies and back. */
static double penalty(wk_module *net, wk_device first)
{
    wk_tensor *x = test_batch(6, 0, first), *w = wk_module_parameter(net, "0.weight"), *g[1];
    wk_grad((test_loss(net, x)), (w), g, .create_graph = true);
    wk_backward(wk_sum(wk_mul(g[0], g[0])));
    expect_ok();
    return wk_item(wk_sum(wk_abs(wk_grad_of(w))));
}

static void second_derivatives(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        const double one = penalty(wk_module_to(test_network(), set->device[0]), set->device[0]);
        const double many = penalty(wk_mirrored(test_network(), set->device, set->n), set->device[0]);
        assert_true(one > 1e-3 && fabs(one - many) <= 1e-5 * one);
    }
}

static void gradients_accumulate(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        const wk_device first = set->device[0];
        wk_module *nets[2] = {wk_module_to(test_network(), first), wk_mirrored(test_network(), set->device, set->n)};
        wk_tensor *grad[2];
        for (int k = 0; k < 2; k++) {
            wk_tensor *a = test_loss(nets[k], test_batch(4, 0, first)); /* two forwards before the first backward */
            wk_tensor *b = test_loss(nets[k], test_batch(6, 1, first));
            wk_backward(a, .retain_graph = true);
            wk_backward(b);
            wk_backward(a);
            grad[k] = wk_grad_of(wk_module_parameter(nets[k], "2.weight"));
            expect_ok();
        }
        assert_true(test_gap(grad[0], grad[1]) <= 1e-6);
    }
}

/* ---- small shares ------------------------------------------------------------------------------------------------ */

static void fewer_samples_than_devices(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        for (int64_t samples = 0; samples < 3; samples++) {
            WK_SCOPE;
            wk_module *one = wk_module_to(test_network(), set->device[0]);
            wk_module *many = wk_mirrored(test_network(), set->device, set->n);
            wk_tensor *x = test_batch(samples, 0, set->device[0]), *y = wk_forward(many, x);
            EXPECT_SHAPE(y, samples, TEST_OUT);
            wk_tensor *p = wk_forward(one, x);
            if (samples > 0) assert_true(test_gap(y, p) <= (samples == 1 ? 0 : 1e-6));
            wk_backward(wk_sum(y));
            wk_backward(wk_sum(p));
            wk_tensor *w = wk_module_parameter(many, "0.weight");
            assert_true(test_gap(wk_grad_of(w), wk_grad_of(wk_module_parameter(one, "0.weight"))) <= 1e-6);
            expect_ok();
        }
    }
}

static void shares_by_speed(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *one = wk_module_to(test_network(), set->device[0]);
        wk_module *many = wk_mirrored(test_network(), set->device, set->n, .balance = true);
        test_train(one, set->device[0], 24, 20);
        test_train(many, set->device[0], 24, 20);
        assert_true(test_gap_of_all(one, many) <= 1e-5);
        wk_mirrored_stats stats = {.size = sizeof stats};
        assert_int_equal(wk_mirrored_stats_of(many, &stats), WK_OK);
        double sum = 0;
        for (int k = 0; k < set->n; k++) {
            assert_true(stats.share[k] > 0 && (set->n == 1 || stats.forward[k] > 0));
            sum += stats.share[k];
        }
        assert_true(fabs(sum - 1) < 1e-9);
        assert_true(set->n == 1 || stats.share[0] != 1.0 / set->n); /* no two devices have exactly the same speed */
    }
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static int64_t copied(wk_module *many)
{
    wk_mirrored_stats stats = {.size = sizeof stats};
    assert_int_equal(wk_mirrored_stats_of(many, &stats), WK_OK);
    return stats.copied_bytes;
}

/* Expects the bytes that a forward copies besides its input and result, whose bytes are given. */
static int64_t refreshed(wk_module *many, wk_tensor *x, int64_t bytes)
{
    const int64_t before = copied(many);
    wk_forward(many, x);
    return copied(many) - before - bytes;
}

static void copies_are_made_when_a_parameter_changed(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        if (set->n != 2) continue;
        WK_SCOPE;
        wk_module *model = test_network(), *many = wk_mirrored(model, set->device, 2);
        wk_tensor *x = test_batch(4, 0, set->device[0]), *w = wk_module_parameter(model, "0.weight");
        const int64_t away = 2 * 4 * (TEST_IN + TEST_OUT), weight = 4 * 8 * TEST_IN,
                      all = 4 * (8 * TEST_IN + 8 + TEST_OUT * 8 + TEST_OUT);
        assert_int_equal(refreshed(many, x, away), all);
        assert_int_equal(refreshed(many, x, away), 0);
        wk_init_ones_(w);
        assert_int_equal(refreshed(many, x, away), weight);
        wk_optim *sgd = wk_optim_sgd(wk_parameters(many), .lr = 0.1);
        wk_backward(wk_sum(wk_forward(many, x)));
        wk_optim_step(sgd);
        assert_int_equal(refreshed(many, x, away), all);
        wk_module_train(many, false);
        {
            WK_NO_GRAD;
            assert_int_equal(refreshed(many, x, away), 0);
        }
        if (set->device[0].kind == WK_CPU) { /* values with a known address change without a call */
            *(float *)wk_data(w) = 5;
            wk_tensor *y = wk_forward(many, x);
            wk_module *one = test_network();
            wk_tensors *p = wk_parameters(one), *q = wk_parameters(model);
            WK_NO_GRAD;
            for (int k = 0; k < wk_tensors_count(p); k++) wk_copy_(wk_tensors_get(p, k), wk_tensors_get(q, k));
            assert_true(test_gap(wk_forward(one, x), y) <= 1e-6);
            assert_int_equal(refreshed(many, x, away), weight);
        }
        expect_ok();
    }
}

/* lbfgs restores parameters after trial steps; a change counter that decreased would match an outdated copy. */
static wk_tensor *closure(void *user)
{
    wk_module *net = user;
    wk_tensors *p = wk_parameters(net);
    for (int k = 0; k < wk_tensors_count(p); k++) wk_set_grad(wk_tensors_get(p, k), NULL);
    wk_tensor *loss = test_loss(net, test_batch(8, 0, wk_device_of(wk_tensors_get(p, 0))));
    wk_backward(loss);
    return loss;
}

static void an_optimiser_with_a_line_search(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *nets[2] = {wk_module_to(test_network(), set->device[0]),
                              wk_mirrored(test_network(), set->device, set->n)};
        for (int k = 0; k < 2; k++) {
            wk_optim *lbfgs = wk_optim_lbfgs(wk_parameters(nets[k]), .line_search_fn = "strong_wolfe", .max_iter = 4);
            for (int step = 0; step < 2; step++) wk_optim_step_closure(lbfgs, closure, nets[k]);
            expect_ok();
        }
        assert_true(test_gap_of_all(nets[0], nets[1]) <= 1e-4);
    }
}

/* ---- mirrored networks as modules -------------------------------------------------------------------------------- */

static void parameters_are_those_of_the_model(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *model = test_network(), *many = wk_mirrored(model, set->device, set->n);
        wk_tensors *p = wk_parameters(model), *q = wk_parameters(many);
        assert_int_equal(wk_tensors_count(q), 4);
        for (int k = 0; k < 4; k++) {
            assert_ptr_equal(wk_tensors_get(p, k), wk_tensors_get(q, k));
            assert_string_equal(wk_tensors_name(p, k), wk_tensors_name(q, k));
            assert_ptr_equal(wk_module_parameter(many, wk_tensors_name(q, k)), wk_tensors_get(p, k));
        }
        assert_string_equal(wk_module_kind_name(many), "mirrored");
        assert_int_equal(wk_module_child_count(many), 1);
        assert_ptr_equal(wk_module_child_by_index(many, 0), model);
        assert_ptr_equal(wk_module_child(many, "2"), wk_module_child_by_index(model, 2));

        char path[300];
        snprintf(path, sizeof path, "%s/mirrored-%d.safetensors", getenv("WICK_WORK") ? getenv("WICK_WORK") : "/tmp",
                 (int)getpid());
        wk_module *one = test_network();
        wk_init_zeros_(wk_module_parameter(one, "0.weight"));
        assert_int_equal(wk_save(many, path), WK_OK); /* either loads the other's file */
        assert_int_equal(wk_load(one, path), WK_OK);
        assert_true(test_gap_of_all(one, model) == 0);
        wk_init_ones_(wk_module_parameter(one, "0.weight"));
        assert_int_equal(wk_save(one, path), WK_OK);
        wk_tensor *x = test_batch(6, 0, set->device[0]);
        wk_forward(many, x);
        assert_int_equal(wk_load(many, path), WK_OK);
        assert_true(test_gap(wk_forward(many, x), wk_forward(one, wk_to(x, wk_cpu()))) <= 1e-6); /* new copies */
        unlink(path);
        expect_ok();
    }
}

static void mirrored_layers_of_another_network(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *model = test_network();
        wk_module *net = wk_nn_sequential(wk_mirrored(model, set->device, set->n), wk_nn_linear(TEST_OUT, 1));
        wk_module_to(net, set->device[0]);
        assert_string_equal(wk_tensors_name(wk_parameters(net), 0), "0.0.weight");
        assert_string_equal(wk_tensors_name(wk_parameters(net), 4), "1.weight");
        assert_ptr_equal(wk_module_parameter(net, "0.2.bias"), wk_module_parameter(model, "2.bias"));
        wk_backward(wk_sum(wk_forward(net, test_batch(5, 0, set->device[0]))));
        assert_non_null(wk_grad_of(wk_module_parameter(model, "0.weight")));
        expect_ok();
        assert_null(wk_forward(net, wk_ones((4, 2), .device = set->device[0])));
        expect_error("forward: in layer 0.0 (linear)", "parallel/mirrored.c", NULL);
        assert_null(wk_module_parameter(net, "0.5.weight"));
        expect_error("\"0.5.weight\"", "children \"0\", \"1\", \"2\"", NULL);
    }
}

static void moves_apply_to_the_parameters(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *one = test_network(), *many = wk_mirrored(test_network(), set->device, set->n);
        test_train(one, wk_cpu(), 6, 2);
        test_train(many, set->device[0], 6, 2);
        assert_ptr_equal(wk_module_to(many, wk_cpu()), many); /* the computing devices are unchanged */
        assert_true(wk_device_eq(wk_device_of(wk_module_parameter(many, "0.weight")), wk_cpu()));
        test_train(one, wk_cpu(), 6, 2);
        test_train(many, set->device[0], 6, 2);
        assert_true(test_gap_of_all(one, many) <= 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_divided),
        cmocka_unit_test(weights_are_those_of_one_device),
        cmocka_unit_test(repeated_runs_have_the_same_bits),
        cmocka_unit_test(batches_may_be_on_any_device),
        cmocka_unit_test(gradients_reach_the_input),
        cmocka_unit_test(second_derivatives),
        cmocka_unit_test(gradients_accumulate),
        cmocka_unit_test(fewer_samples_than_devices),
        cmocka_unit_test(shares_by_speed),
        cmocka_unit_test(copies_are_made_when_a_parameter_changed),
        cmocka_unit_test(an_optimiser_with_a_line_search),
        cmocka_unit_test(parameters_are_those_of_the_model),
        cmocka_unit_test(mirrored_layers_of_another_network),
        cmocka_unit_test(moves_apply_to_the_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
