/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_mirrored with custom models: lists of inputs and results, buffers, dropout, shared, frozen and lazy
 * parameters, hooks, the default device. */
#include "support/mirrored.h"

#include <math.h>

static const test_set *now; /* devices of the running model */

static bool is_one_of(wk_device device)
{
    bool found = false;
    for (int k = 0; k < now->n; k++) found = found || wk_device_eq(now->device[k], device);
    return found;
}

/* ---- inputs and results ------------------------------------------------------------------------------------------ */

/* (x, table, factor) -> (x w + table[0] factor, the maximum of x). x is the batch; the others are not split. */
static int mix_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    assert_int_equal(inputs, 3);
    assert_int_equal(outputs, 4);
    const wk_device here = wk_device_of(in[0]);
    wk_tensor *w = wk_module_parameter(self, "w");
    assert_true(wk_device_eq(wk_device_of(w), here) && wk_device_eq(wk_device_of(in[1]), here) && is_one_of(here));
    assert_int_equal(wk_size(in[1], 0), 2);
    assert_false(wk_is_leaf(w) && wk_requires_grad(w) && now->n > 1 && wk_is_grad_enabled());
    out[0] = wk_add(wk_mul(in[0], w), wk_mul(wk_select(in[1], 0, 0), in[2]));
    out[1] = wk_amax(in[0]);
    return 2;
}

static wk_module *mix(void)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "mix", .forward = mix_forward};
    wk_module *m = wk_module_new(&kind);
    wk_module_add_parameter(m, "w", wk_full((3), 2.0));
    return m;
}

static void lists_of_inputs_and_results(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        now = set;
        const wk_device first = set->device[0];
        wk_module *model = mix(), *many = wk_mirrored(model, set->device, set->n);
        wk_tensor *x = wk_reshape(wk_arange(12.0, .dtype = WK_F32, .device = first), (4, 3)), *out[4];
        wk_tensor *table = wk_ones((2, 3), .device = first), *factor = wk_full((), 10.0, .device = first);
        assert_int_equal(wk_forward_n(many, (x, table, factor), out, 4), 2);
        EXPECT_VALUES(out[0], 0, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32);
        assert_null(out[2]);
        if (set->n == 1) EXPECT_VALUES(out[1], 0, 11);
        if (set->n == 2) EXPECT_VALUES(out[1], 0, 5, 11); /* one per device, as in PyTorch */
        if (set->n == 3) EXPECT_VALUES(out[1], 0, 5, 8, 11);
        assert_int_equal(wk_ndim(out[1]), set->n > 1);
        wk_backward(wk_sum(out[0]));
        EXPECT_VALUES(wk_grad_of(wk_module_parameter(model, "w")), 0, 18, 22, 26);
        expect_ok();
    }
}

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

static void dropout_draws_in_the_order_of_replicas(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *model = wk_nn_sequential(wk_nn_dropout(0.5)), *many = wk_mirrored(model, set->device, set->n);
        wk_tensor *x = wk_ones((12, 5), .device = set->device[0]), *want[4];
        wk_seed(3);
        wk_tensor *y = wk_forward(many, x);
        wk_seed(3);
        const int64_t share = 12 / set->n;
        for (int host = 0; host < 2; host++) /* accelerators first, then the CPU */
            for (int k = 0; k < set->n; k++)
                if ((set->device[k].kind == WK_CPU) == host)
                    want[k] = wk_dropout(wk_narrow(x, 0, k * share, share), 0.5, true);
        assert_true(test_gap(y, wk_cat(WK_ARRAY(want, set->n), 0)) == 0);
        wk_module_train(many, false); /* applies to the model */
        assert_false(wk_module_training(wk_module_child_by_index(model, 0)));
        assert_true(test_gap(wk_forward(many, x), x) == 0);
        expect_ok();
    }
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* Buffers: the mean of its input, and the number of runs. */
static wk_tensor *mean_forward(wk_module *self, wk_tensor *x)
{
    wk_tensor *mean = wk_module_buffer(self, "mean"), *runs = wk_module_buffer(self, "runs");
    assert_true(wk_device_eq(wk_device_of(mean), wk_device_of(x)));
    wk_tensor *y = wk_sub(x, mean);
    wk_module_set_buffer(self, "mean", wk_mean(x, (0)));
    wk_add_(runs, 1); /* in place */
    return y;
}

static wk_module *mean_module(void)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "mean", .forward1 = mean_forward};
    wk_module *m = wk_module_new(&kind);
    wk_module_set_buffer(m, "mean", wk_ones((2)));
    wk_module_set_buffer(m, "runs", wk_zeros((1), .dtype = WK_I64));
    return m;
}

static void buffers_follow_the_first_or_the_mean(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        for (int way = 0; way < 2; way++) {
            WK_SCOPE;
            wk_module *model = mean_module();
            wk_tensor *mean = wk_module_buffer(model, "mean"), *runs = wk_module_buffer(model, "runs");
            wk_module *many = wk_mirrored(model, set->device, set->n, .buffers = (wk_mirrored_buffers)way);
            const int64_t rows = 2 * set->n;
            wk_tensor *x = wk_reshape(wk_arange((double)(2 * rows), .dtype = WK_F32), (rows, 2));
            wk_tensor *y = wk_forward(many, wk_to(x, set->device[0])); /* every replica reads the old buffer */
            assert_true(test_gap(y, wk_sub(x, 1)) == 0);
            const double last = way ? (double)rows - 1 : 1; /* of all rows, or of the first two */
            EXPECT_VALUES(mean, 1e-6, last, last + 1);
            EXPECT_VALUES(runs, 0, 1); /* of integers the first replica's in either mode */
            assert_true(wk_device_eq(wk_device_of(mean), set->device[0]));
            y = wk_forward(many, wk_to(x, set->device[0]));
            EXPECT_VALUES(wk_to(wk_select(y, 0, -1), wk_cpu()), 1e-6, 2 * (double)rows - 2 - last,
                          2 * (double)rows - 2 - last);
            EXPECT_VALUES(runs, 0, 2);
            wk_module_to(many, wk_cpu()); /* a device that may not have a replica */
            wk_forward(many, wk_to(x, set->device[0]));
            EXPECT_VALUES(runs, 0, 3);
            EXPECT_VALUES(mean, 1e-6, last, last + 1);
            assert_true(wk_device_eq(wk_device_of(mean), wk_cpu()));
            expect_ok();
        }
    }
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* One layer used twice, and a frozen parameter. */
static wk_module *tied(void)
{
    wk_seed(2);
    wk_module *layer = wk_nn_linear(TEST_IN, TEST_IN);
    wk_module *net = wk_nn_sequential(layer, wk_nn_tanh(), layer, wk_nn_linear(TEST_IN, TEST_OUT));
    wk_requires_grad_(wk_module_parameter(net, "3.weight"), false);
    return net;
}

static void shared_and_frozen_parameters(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *one = wk_module_to(tied(), set->device[0]), *model = tied();
        wk_module *many = wk_mirrored(model, set->device, set->n);
        test_train(one, set->device[0], 9, 4);
        test_train(many, set->device[0], 9, 4);
        assert_true(test_gap_of_all(one, many) <= 1e-6);
        assert_null(wk_grad_of(wk_module_parameter(model, "3.weight")));
        assert_true(test_gap(wk_module_parameter(model, "3.weight"), wk_module_parameter(tied(), "3.weight")) == 0);
        wk_clear_error();
    }
}

static void lazy_layers(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *model = wk_nn_sequential(wk_nn_lazy_linear(4), wk_nn_tanh(), wk_nn_lazy_linear(TEST_OUT));
        wk_module *many = wk_mirrored(model, set->device, set->n);
        assert_null(wk_parameters(many));
        expect_error("lazy", "\"0\"", "wk_forward", NULL);
        const wk_device last = set->device[set->n - 1];
        wk_tensor *y = wk_forward(many, test_batch(5, 0, last)); /* returned on the input's device */
        assert_true(wk_device_eq(wk_device_of(y), last));
        wk_tensor *w = wk_module_parameter(many, "0.weight");
        assert_true(wk_device_eq(wk_device_of(w), set->device[0])); /* and its parameters are on the first device */
        test_train(many, last, 7, 3);
        assert_non_null(wk_grad_of(w));
        wk_module_add(model, "more", wk_nn_linear(TEST_OUT, 2)); /* a model that is extended */
        EXPECT_SHAPE(wk_forward(wk_module_to(many, set->device[0]), test_batch(5, 0, last)), 5, 2);
        expect_ok();
    }
}

static int gradients_seen;
static wk_tensor *count_gradient(wk_tensor *grad, void *user)
{
    gradients_seen++;
    *(double *)user = wk_item(wk_sum(wk_abs(grad)));
    return NULL;
}

static void hooks_get_the_sum_of_all_devices(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *model = test_network(), *many = wk_mirrored(model, set->device, set->n);
        wk_tensor *w = wk_module_parameter(model, "0.weight");
        double during = 0, after = 0;
        wk_register_hook(w, count_gradient, &during);
        wk_register_hook(w, count_gradient, &after, .post_accumulate = true);
        gradients_seen = 0;
        wk_backward(test_loss(many, test_batch(8, 0, set->device[0])));
        assert_int_equal(gradients_seen, 2);
        assert_true(during > 0 && during == after);
        assert_true(fabs(wk_item(wk_sum(wk_abs(wk_grad_of(w)))) - after) <= 1e-6 * after);
        expect_ok();
    }
}

/* Values that forward writes into a parameter remain on the parameter's own device, as in PyTorch, and do not affect
 * copies. */
static wk_tensor *writing_forward(wk_module *self, wk_tensor *x)
{
    wk_tensor *w = wk_module_parameter(self, "w");
    {
        WK_NO_GRAD;
        wk_add_(w, 1);
    }
    return wk_mul(x, w);
}

static void writes_to_parameters_in_forward(void **state)
{
    (void)state;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "writing", .forward1 = writing_forward};
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *model = wk_module_new(&kind);
        wk_tensor *w = wk_module_add_parameter(model, "w", wk_ones((1)));
        wk_module *many = wk_mirrored(model, set->device, set->n);
        for (int step = 0; step < 3; step++) {
            wk_tensor *y = wk_forward(many, wk_ones((set->n, 1), .device = set->device[0]));
            for (int k = 0; k < set->n; k++) assert_true(wk_item(wk_select(y, 0, k)) == step + 2);
            EXPECT_VALUES(w, 0, step + 2);
        }
        expect_ok();
    }
}

/* ---- the default device ------------------------------------------------------------------------------------------ */

static wk_tensor *making_forward(wk_module *self, wk_tensor *x)
{
    (void)self;
    return wk_add(x, wk_ones((1))); /* no device is named */
}

static void forward_creates_on_the_device_of_the_replica(void **state)
{
    (void)state;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "making", .forward1 = making_forward};
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *many = wk_mirrored(wk_module_new(&kind), set->device, set->n);
        {
            WK_DEVICE(set->device[0]);
            wk_tensor *y = wk_forward(many, wk_zeros((6, 2)));
            assert_true(test_gap(y, wk_ones((6, 2))) == 0);
            assert_true(wk_device_eq(wk_device_of(wk_ones((1))), set->device[0])); /* and is restored */
        }
        bool has_cpu = false;
        for (int k = 0; k < set->n; k++) has_cpu = has_cpu || set->device[k].kind == WK_CPU;
        wk_tensor *y = wk_forward(many, wk_zeros((6, 2), .device = set->device[0]));
        if (has_cpu) { /* the default device is one of the network's */
            assert_true(test_gap(y, wk_ones((6, 2))) == 0);
        } else {
            assert_null(y); /* the program asked for the CPU explicitly */
            expect_error("different devices", "on cpu", NULL);
        }
        expect_ok();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_inputs_and_results),
        cmocka_unit_test(dropout_draws_in_the_order_of_replicas),
        cmocka_unit_test(buffers_follow_the_first_or_the_mean),
        cmocka_unit_test(shared_and_frozen_parameters),
        cmocka_unit_test(lazy_layers),
        cmocka_unit_test(hooks_get_the_sum_of_all_devices),
        cmocka_unit_test(writes_to_parameters_in_forward),
        cmocka_unit_test(forward_creates_on_the_device_of_the_replica),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
