/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the backward pass apart from values: pending errors, failures during the pass, the lines that messages name,
 * released memory. */
#include "support/wick.h"

static wk_tensor *leaf(double a, double b)
{
    return wk_requires_grad_(wk_of(double, (2), a, b), true);
}

/* An unread pending error is not an error of this call. */
static void a_pending_error_does_not_stop_gradients(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1, 2), *y = wk_sum(wk_mul(x, x)), *z = wk_sum(wk_mul(x, 3)), *g[1];
    wk_reshape(x, (7));
    assert_int_equal(wk_grad((y), (x), g), WK_OK);
    assert_int_equal(wk_backward(z), WK_OK);
    expect_error("reshape", NULL);
    EXPECT_VALUES(g[0], 1e-12, 2, 4);
    EXPECT_VALUES(wk_grad_of(x), 1e-12, 3, 3);
}

static void moved_parameters_are_reported_with_their_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_linear(2, 1);
    char used[200], moved[200];
    snprintf(used, sizeof used, "%s:%d", __FILE__, __LINE__ + 1);
    wk_tensor *y = wk_mul(wk_module_parameter(net, "weight"), 2);
    snprintf(moved, sizeof moved, "moved to another device afterwards (at %s:%d)", __FILE__, __LINE__ + 1);
    wk_module_to(net, test_null());
    assert_int_equal(wk_backward(wk_sum(y)), WK_ERR_STATE);
    expect_error(used, moved, NULL);
}

static void unused_inputs_have_no_gradient(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1, 2), *z = leaf(3, 4), *g[2];
    assert_int_not_equal(wk_grad((wk_sum(wk_mul(x, 3))), (x, z), g), WK_OK);
    expect_error("grad", "allow_unused", NULL);
    assert_null(g[0]), assert_null(g[1]);
    assert_int_equal(wk_grad((wk_sum(wk_mul(x, 3))), (x, z), g, .allow_unused = true), WK_OK);
    EXPECT_VALUES(g[0], 1e-12, 3, 3);
    assert_null(g[1]);
}

static void changes_are_counted_from_the_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1, 2), *w = wk_of(double, (2), 1, 2);
    wk_add_(w, 1), wk_add_(w, 1), wk_add_(w, 1);
    wk_tensor *y = wk_mul(x, w);
    wk_add_(w, 1), wk_add_(w, 1);
    assert_int_equal(wk_backward(wk_sum(y)), WK_ERR_STATE);
    expect_error("modified in place by add_ at ", "the last of 2", NULL);
}

/* A gradient set by the program must have its leaf's shape, dtype and device. */
static void set_grad_checks_the_gradient(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1, 2);
    wk_tensor *const wrong[] = {wk_ones((3), .dtype = WK_F64), wk_ones((2)),
                                wk_ones((2), .dtype = WK_F64, .device = test_null())};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(wk_set_grad(x, wrong[k]), WK_ERR_SHAPE);
        expect_error("set_grad", "shape, dtype and device must be the same", NULL);
        assert_null(wk_grad_of(x));
    }
    assert_int_equal(wk_set_grad(x, wk_of(double, (2), 3, 4)), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 0, 3, 4);
}

static wk_tensor *refuse(wk_tensor *grad, void *user)
{
    (void)user;
    return wk_reshape(grad, (7));
}

/* Objects computed before a failure are released with the pass, not at the end of the program's scope. */
static void a_failed_pass_leaves_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1, 2), *w = leaf(3, 4), *t = wk_mul(w, 2), *g[2];
    wk_register_hook(t, refuse, NULL);
    wk_tensor *y = wk_sum(wk_mul(wk_expand(wk_exp(x), (64, 2)), t)); /* whose gradient is a sum, which is stored */
    wk_sync();
    wk_memory_stats before = {.size = sizeof before}, after = before;
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &before), WK_OK);
    assert_int_not_equal(wk_grad((y), (x, w), g), WK_OK);
    expect_error("reshape", NULL);
    assert_null(g[0]), assert_null(g[1]);
    wk_sync();
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &after), WK_OK);
    assert_int_equal(after.live, before.live);
}

/* If the gradient of a part fails, the complete gradient has failed: it is not 0 there. */
static void a_failed_part_fails_the_gradient(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_ones((4)), true), *place = wk_add(wk_of(int64_t, (1), 3), 6);
    wk_tensor *w = wk_index_select(wk_ones((4)), 0, place);
    float numbers[4];
    assert_int_equal(wk_backward(wk_sum(wk_mul(wk_narrow(x, 0, 1, 1), w))), WK_OK);
    assert_int_equal(wk_read(wk_grad_of(x), numbers, sizeof numbers), WK_ERR_INDEX);
    wk_clear_error();
    wk_sync(); /* reported again to the recording thread */
    wk_clear_error();
}

/* ---- custom functions -------------------------------------------------------------------------------------------- */

enum { MOST = 16 };

static void many_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    for (int k = 0; k < MOST; k++) out[k] = wk_mul(in[k], k);
}

static void many_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    for (int k = 0; k < MOST; k++) {
        assert_int_equal(wk_function_needs_grad(f, k), k != 5);
        grad_in[k] = grad_out[k] ? wk_mul(grad_out[k], k) : NULL;
    }
    assert_false(wk_function_needs_grad(f, MOST) || wk_function_needs_grad(f, -1));
}

static void a_function_with_the_most_inputs_and_outputs(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_function_kind kind = {.size = sizeof kind,
                             .name = "many",
                             .inputs = MOST,
                             .outputs = MOST,
                             .forward = many_forward,
                             .backward = many_backward};
    wk_tensor *in[MOST + 1], *out[MOST], *sum = NULL;
    for (int k = 0; k <= MOST; k++) in[k] = k == 5 ? wk_of(double, (2), 1, 2) : leaf(k, 1);
    assert_int_equal(wk_apply_n_at(WK_HERE, &kind, NULL, in, MOST, out), WK_OK);
    for (int k = 0; k < MOST; k++) sum = sum ? wk_add(sum, out[k]) : out[k];
    assert_int_equal(wk_backward(wk_sum(sum)), WK_OK);
    for (int k = 0; k < MOST; k++)
        if (k != 5) EXPECT_VALUES(wk_grad_of(in[k]), 1e-12, k, k);
    kind.inputs = MOST + 1;
    assert_int_equal(wk_apply_n_at(WK_HERE, &kind, NULL, in, MOST + 1, out), WK_ERR_ARGUMENT);
    expect_error("apply", "1 to 16", NULL);
    kind.inputs = MOST, kind.outputs = 0;
    assert_int_equal(wk_apply_n_at(WK_HERE, &kind, NULL, in, MOST, out), WK_ERR_ARGUMENT);
    expect_error("apply", "1 to 16", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pending_error_does_not_stop_gradients),
        cmocka_unit_test(moved_parameters_are_reported_with_their_call),
        cmocka_unit_test(unused_inputs_have_no_gradient),
        cmocka_unit_test(changes_are_counted_from_the_call),
        cmocka_unit_test(set_grad_checks_the_gradient),
        cmocka_unit_test(a_failed_pass_leaves_nothing),
        cmocka_unit_test_setup_teardown(a_failed_part_fails_the_gradient, test_default_mode, test_restore_mode),
        cmocka_unit_test(a_function_with_the_most_inputs_and_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
