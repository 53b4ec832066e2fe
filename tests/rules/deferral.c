/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 6, 8 and 9 of docs/contributing/invariants.md: when work runs, which ops wait, which values belong to a
 * kernel's structure. The tests inspect the plans of the null device. engine_plan tests the rest of these rules. */
#include "support/plan.h"

/* ---- rule 6: when work runs -------------------------------------------------------------------------------------- */

/* Recording runs nothing. Reading a value runs everything recorded before it, so reading the rest runs nothing more. */
static void work_runs_when_a_value_is_read(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square();
    start();
    wk_tensor *c = wk_retain(wk_exp(x)), *sum = wk_sum(c);
    assert_int_equal(runs(), 0);
    /* queries of properties do not run work */
    assert_true(wk_numel(c) == SIDE * SIDE && wk_describe(c) && !wk_error());
    assert_int_equal(runs(), 0);
    wk_item(sum);
    assert_int_equal(runs(), 1);
    assert_int_equal(state_of(c), WK__STORED);
    wk_exp_(c);
    wk_flush();
    assert_int_equal(runs(), 2);
    wk_exp_(c);
    assert_non_null(wk_tensor_str(wk_slice(c, 0, 0, 2)));
    assert_int_equal(runs(), 3);
    wk_free(c), wk_free(x);
}

/* If an optimiser stepped in a scope, closing the scope frees its handles and then runs the ring. Each step is
 * therefore cut at the same calls, and unused results are never computed. A scope without a step runs nothing. */
static void a_training_step_runs_at_the_end_of_its_scope(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *p = wk_ones((SIDE, SIDE), .device = test_null(), .requires_grad = true);
    wk_optim *optim = wk_optim_sgd(wk_list((p)), .lr = 0.5);
    start();
    {
        WK_SCOPE;
        wk_exp(p);
    }
    assert_int_equal(runs(), 0);
    int expected = 0;
    for (int step = 0; step < 3; step++) {
        wk__null_log_clear();
        {
            WK_SCOPE;
            wk_optim_zero_grad(optim);
            wk_backward(wk_sum(wk_mul(p, 3.0)));
            wk_optim_step(optim);
            wk_exp(wk_add(p, 1)); /* unused */
            assert_int_equal(runs(), 0);
        }
        assert_true(runs() > 0 && (step == 0 || runs() == expected));
        expected = runs();
        for (int k = 0; k < runs(); k++) assert_false(holds(wk__null_log_program_at(k), WK__EXP));
    }
}

static void a_full_ring_runs(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_zeros((2, 3), .device = test_null()));
    start();
    for (int k = 0; k < WK__OP_QUEUE_FLUSH_AT - 1; k++) wk_add_(x, 1);
    assert_int_equal(runs(), 0);
    wk_add_(x, 1);
    assert_true(runs() > 0);
    wk_free(x);
}

/* ---- rule 8: shapes that depend on data -------------------------------------------------------------------------- */

static int64_t waits(void)
{
    wk_transfer_counters counters = {.size = sizeof counters};
    assert_int_equal(wk_transfer_stats(&counters), WK_OK);
    return counters.waits;
}

static void data_dependent_shapes_wait_and_are_counted(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square();
    start();
    int64_t before = waits();
    assert_non_null(wk_nonzero(wk_exp(x)));
    assert_int_equal(waits(), before + 1);
    assert_non_null(wk_masked_select(x, wk_gt(x, 0)));
    assert_int_equal(waits(), before + 2);
    wk_set_sync_debug_mode(WK_SYNC_ERROR);
    wk_nonzero(wk_mul(x, 2)); /* the mode reports this line */
    wk_set_sync_debug_mode(WK_SYNC_QUIET);
    expect_error("rules/deferral.c", "nonzero: host waits for null:0", NULL);
    wk_free(x);
}

/* ---- rule 9: structure ------------------------------------------------------------------------------------------- */

enum { MOST_KEYS = 64 };

static int keys_of_plan(uint64_t *key)
{
    int count = 0;
    const wk__program *g;
    while (count < MOST_KEYS && (g = wk__null_log_program_at(count))) key[count++] = wk__program_hash(g);
    assert_true(count > 0 && count < MOST_KEYS);
    return count;
}

/* A training step whose learning rate, step count, random offsets and data change gives the same list of kernels from
 * the second step on (the first one creates the optimiser's state). */
static void a_training_step_compiles_once(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_DEVICE(test_null());
    wk_module *net = wk_nn_sequential(wk_nn_linear(16, 32), wk_nn_gelu(), wk_nn_dropout(0.5), wk_nn_layer_norm((32)),
                                      wk_nn_linear(32, 10));
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 0.1, .weight_decay = 0.01);
    wk_tensor *labels = wk_retain(wk_zeros((8), .dtype = WK_I64)), *x = wk_retain(wk_randn((8, 16)));
    uint64_t first[MOST_KEYS], next[MOST_KEYS];
    int count = 0;
    for (int step = 0; step < 4; step++) {
        start();
        wk_optim_set_lr(adam, -1, 0.1 / (step + 1));
        {
            WK_SCOPE;
            wk_tensor *noisy = wk_add(wk_mul(x, 1.0 + step), wk_mul(wk_rand((8, 16)), 0.25 * step));
            wk_tensor *loss = wk_cross_entropy(wk_forward(net, noisy), labels);
            wk_optim_zero_grad(adam);
            assert_int_equal(wk_backward(loss), WK_OK);
            assert_int_equal(wk_optim_step(adam), WK_OK);
        }
        wk_sync();
        expect_ok();
        if (step == 1) count = keys_of_plan(first);
        if (step < 2) continue;
        assert_int_equal(keys_of_plan(next), count);
        assert_memory_equal(first, next, sizeof *first * (size_t)count);
    }
    wk_free(labels), wk_free(x);
}

static void shapes_do_not_change_the_structure(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_DEVICE(test_null());
    uint64_t key[2];
    for (int k = 0; k < 2; k++) {
        start();
        need(wk_sum(wk_mul(wk_exp(wk_rand((5 + 40 * k, 70 + k))), 0.5 + k), (1)));
        key[k] = wk__program_hash(wk__null_log_program_at(0));
    }
    assert_true(key[0] == key[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_runs_when_a_value_is_read),
        cmocka_unit_test(a_training_step_runs_at_the_end_of_its_scope),
        cmocka_unit_test(a_full_ring_runs),
        cmocka_unit_test(data_dependent_shapes_wait_and_are_counted),
        cmocka_unit_test(a_training_step_compiles_once),
        cmocka_unit_test(shapes_do_not_change_the_structure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
