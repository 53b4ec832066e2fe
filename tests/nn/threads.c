/* SPDX-License-Identifier: Apache-2.0 */
/* Tests networks in several threads: one network evaluated by many threads, and a network trained in each. */
#include "support/threads.h"

enum { ROUNDS = 100, STEPS = 20, INPUTS = 6, HIDDEN = 16, CLASSES = 3, BATCH = 12 };

/* Weights that depend only on their position. */
static wk_module *network(void)
{
    wk_module *net = wk_nn_sequential(wk_nn_linear(INPUTS, HIDDEN), wk_nn_relu(), wk_nn_linear(HIDDEN, CLASSES));
    wk_tensors *parameters = wk_parameters(net);
    WK_NO_GRAD;
    for (int k = 0; k < wk_tensors_count(parameters); k++) {
        wk_tensor *p = wk_tensors_get(parameters, k);
        if (wk_ndim(p) == 1)
            wk_zero_(p);
        else
            wk_copy_(p, wk_reshape(wk_mul(wk_sin(wk_arange((double)wk_numel(p))), 0.3), (wk_size(p, 0), -1)));
    }
    return net;
}

static wk_tensor *inputs(int shift)
{
    return wk_reshape(wk_sin(wk_add(wk_arange((double)(BATCH * INPUTS)), shift)), (BATCH, INPUTS));
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static void evaluates(test_thread *t)
{
    WK_NO_GRAD;
    for (int k = 0; k < ROUNDS; k++) {
        WK_SCOPE;
        wk_module *net = t->user;
        wk_tensor *x = inputs(t->number), *w = wk_module_parameter(net, "0.weight");
        wk_tensor *hidden = wk_relu(wk_matmul(x, wk_transpose(w, 0, 1)));
        wk_tensor *wanted = wk_matmul(hidden, wk_transpose(wk_module_parameter(net, "2.weight"), 0, 1));
        wk_tensor *off = wk_sum(wk_abs(wk_sub(wk_forward(net, x), wanted)));
        THREAD_CHECK(t, wk_item(off) < 1e-4);
    }
}

static void threads_share_a_network(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = network();
    expect_ok();
    test_threads(4, evaluates, net);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

typedef struct lessons {
    float weight[TEST_THREADS][HIDDEN * INPUTS];
    double loss[TEST_THREADS];
} lessons;

static void trains(test_thread *t)
{
    WK_SCOPE;
    lessons *l = t->user;
    wk_module *net = network();
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 0.02);
    wk_tensor *x = inputs(0), *labels = wk_remainder(wk_arange(BATCH), CLASSES);
    wk_history *history = wk_history_new();
    for (int k = 0; k < STEPS; k++) {
        WK_SCOPE;
        wk_tensor *loss = wk_cross_entropy(wk_forward(net, x), labels);
        wk_optim_zero_grad(adam);
        THREAD_CHECK(t, wk_backward(loss) == WK_OK);
        THREAD_CHECK(t, wk_optim_step(adam) == WK_OK);
        wk_history_add(history, loss);
    }
    l->loss[t->number] = wk_history_mean(history);
    THREAD_CHECK(t, wk_read(wk_module_parameter(net, "0.weight"), l->weight[t->number], sizeof l->weight[0]) == WK_OK);
}

static void two_threads_train_two_networks(void **state)
{
    (void)state;
    static lessons alone, together;
    test_threads(1, trains, &alone);
    test_threads(3, trains, &together);
    for (int k = 0; k < 3; k++) { /* the same bits as in one thread */
        assert_memory_equal(together.weight[k], alone.weight[0], sizeof alone.weight[0]);
        assert_true(together.loss[k] == alone.loss[0]);
    }
    assert_true(alone.loss[0] > 0.1 && alone.loss[0] < 1.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_network),
        cmocka_unit_test(two_threads_train_two_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
