/* SPDX-License-Identifier: Apache-2.0 */
/* Tests steps that fail: parameters do not change, and the step does not count. */
#include "support/devices.h"

/* Runs the recorded calls and expects the error of a bad index. */
static void expect_bad_index(void)
{
    wk_sync();
    assert_int_equal(wk_error_code(), WK_ERR_INDEX);
    wk_clear_error();
}

/* Neither do those that the failing kernel itself updates. */
static void a_kernel_that_fails_changes_no_parameter(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_requires_grad_(wk_ones((4)), true), *b = wk_requires_grad_(wk_ones((4)), true);
    wk_optim *optim = wk_optim_sgd(wk_list((a, b)), .lr = 1);
    wk_tensor *first = wk_of(int64_t, (4), 0, 1, 2, 9), *x = wk_of(float, (4), 3, 3, 3, 3),
              *y = wk_of(float, (4), 1, 1, 1, 1);
    wk_sync();
    wk_set_grad(a, wk_mul(x, 2));
    wk_set_grad(b, wk_index_select(y, 0, wk_add(first, 0)));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    expect_bad_index();
    WK_NO_GRAD;
    EXPECT_VALUES(a, 0, 1, 1, 1, 1);
    EXPECT_VALUES(b, 0, 1, 1, 1, 1);
}

/* Nor those that precede, in such a kernel, the one whose gradient failed. */
static void a_gradient_that_fails_in_a_kernel_stops_all_of_it(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_requires_grad_(wk_ones((4)), true), *b = wk_requires_grad_(wk_ones((4)), true);
    wk_optim *optim = wk_optim_sgd(wk_list((a, b)), .lr = 1);
    wk_tensor *first = wk_of(int64_t, (2), 1, 9), *x = wk_of(float, (4), 3, 3, 3, 3), *y = wk_of(float, (2), 1, 1);
    wk_sync();
    wk_tensor *bad = wk_index_add(x, 0, wk_add(first, 0), y), *fine = wk_cumsum(x, 0); /* separate kernels */
    wk_set_grad(a, wk_mul(fine, 2));
    wk_set_grad(b, wk_mul(bad, 2));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    expect_bad_index();
    WK_NO_GRAD;
    EXPECT_VALUES(a, 0, 1, 1, 1, 1);
    EXPECT_VALUES(b, 0, 1, 1, 1, 1);
}

/* Nor a parameter that is updated in place before the kernel which computes another's gradient: that kernel is not part
 * of the step, and runs before the kernels that only update. */
static void a_kernel_between_updates_fails(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_requires_grad_(wk_ones((64)), true), *b = wk_requires_grad_(wk_ones((4)), true);
    wk_optim *optim = wk_optim_sgd(wk_list((a, b)), .lr = 1);
    wk_tensor *first = wk_of(int64_t, (2), 1, 9), *x = wk_full((64), 3.0), *y = wk_ones((4)), *z = wk_ones((2));
    wk_sync();
    wk_set_grad(a, wk_mul(x, 2));
    wk_set_grad(b, wk_index_add(y, 0, wk_add(first, 0), z));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    expect_bad_index();
    WK_NO_GRAD;
    EXPECT_VALUES(wk_sum(a), 0, 64);
    EXPECT_VALUES(b, 0, 1, 1, 1, 1);
}

/* The old values of a parameter remain readable, even if the kernel that updates it would also have computed them. */
static void parameters_that_are_still_pending(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_requires_grad_(wk_full((2), 1.0), true), *b = wk_requires_grad_(wk_full((2), 1.0), true);
    wk_optim *optim = wk_optim_sgd(wk_list((a, b)), .lr = 1);
    wk_set_grad(a, wk_mul(wk_take(wk_full((4), 1.0), wk_mul(wk_arange(2), 33)), 1));
    wk_set_grad(b, wk_ones((2)));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    expect_bad_index();
    WK_NO_GRAD;
    EXPECT_VALUES(a, 0, 1, 1);
    EXPECT_VALUES(b, 0, 1, 1);
}

/* Nor are values lost that were computed after the first kernel of the step. */
static void a_parameter_computed_during_the_step(void **state)
{
    (void)state;
    WK_SCOPE;
    float ones[64];
    for (int k = 0; k < 64; k++) ones[k] = 1;
    wk_tensor *a = wk_requires_grad_(wk_from(ones, (64)), true), *c = wk_requires_grad_(wk_from(ones, (2)), true);
    wk_tensor *x = wk_from(ones, (64)), *y = wk_from(ones, (8)), *first = wk_of(int64_t, (2), 1, 9);
    wk_tensor *gradient = wk_exp(x);
    wk_tensor *b = wk_requires_grad_(wk_cumsum(y, 0), true); /* a separate kernel */
    wk_optim *optim = wk_optim_sgd(wk_list((a, b, c)), .lr = 1);
    wk_set_grad(a, gradient);
    wk_set_grad(b, wk_exp(y));
    wk_set_grad(c, wk_index_select(y, 0, wk_add(first, 0)));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    expect_bad_index();
    WK_NO_GRAD;
    EXPECT_VALUES(b, 0, 1, 2, 3, 4, 5, 6, 7, 8);
    EXPECT_VALUES(c, 0, 1, 1);
    EXPECT_VALUES(wk_sum(a), 0, 64);
}

/* An average reads values that a parameter has had. */
static void later_calls_read_old_values_after_a_failed_step(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_requires_grad_(wk_full((2), 2.0), true), *b = wk_requires_grad_(wk_full((2), 2.0), true);
    wk_tensor *average = wk_zeros((2)), *first = wk_of(int64_t, (2), 1, 9), *y = wk_ones((4));
    wk_optim *optim = wk_optim_sgd(wk_list((b, a)), .lr = 0.5);
    wk_sync();
    wk_set_grad(b, wk_mul(wk_ones((2)), 3));
    wk_set_grad(a, wk_index_select(y, 0, wk_add(first, 0)));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    WK_NO_GRAD;
    wk_add_(average, b);
    expect_bad_index();
    EXPECT_VALUES(b, 0, 2, 2);
    EXPECT_VALUES(average, 0, 2, 2);
}

/* Two steps run in one flush; the failure of one does not fail the other. */
static void a_step_fails_without_the_other(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_requires_grad_(wk_ones((64)), true), *b = wk_requires_grad_(wk_ones((64)), true);
    wk_tensor *small = wk_requires_grad_(wk_ones((2)), true);
    wk_optim *one = wk_optim_sgd(wk_list((a)), .lr = 1), *other = wk_optim_sgd(wk_list((b, small)), .lr = 1);
    wk_tensor *first = wk_of(int64_t, (2), 1, 9), *x = wk_full((64), 3.0), *y = wk_ones((4));
    wk_sync();
    wk_set_grad(a, x);
    wk_set_grad(b, x);
    assert_int_equal(wk_optim_step(one), WK_OK);
    wk_set_grad(small, wk_index_select(y, 0, wk_add(first, 0)));
    assert_int_equal(wk_optim_step(other), WK_OK);
    expect_bad_index();
    WK_NO_GRAD;
    EXPECT_VALUES(wk_sum(a), 0, -128);
    EXPECT_VALUES(wk_sum(b), 0, 64);
    EXPECT_VALUES(small, 0, 1, 1);
}

/* Nor the parameter that is written in place first: indices are checked before it. */
static void a_gradient_that_failed_changes_no_parameter(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *large = wk_requires_grad_(wk_ones((64)), true), *small = wk_requires_grad_(wk_ones((2)), true);
    wk_optim *optim = wk_optim_sgd(wk_list((large, small)), .lr = 1);
    wk_tensor *first = wk_of(int64_t, (2), 1, 9), *x = wk_full((64), 3.0);
    wk_sync();
    wk_tensor *rows = wk_add(first, 0); /* not known when the step is recorded */
    assert_int_equal(wk_backward(wk_sum(wk_mul(large, x))), WK_OK);
    assert_int_equal(wk_backward(wk_sum(wk_index_select(small, 0, rows))), WK_OK);
    assert_int_equal(wk_optim_step(optim), WK_OK);
    expect_bad_index();
    WK_NO_GRAD;
    EXPECT_VALUES(wk_sum(large), 0, 64);
    EXPECT_VALUES(small, 0, 1, 1);
}

/* A gradient from separate kernels, or one accumulated by the kernel that updates. */
static wk_tensor *loss_of(wk_tensor *weight, bool scattered, int64_t place)
{
    wk_tensor *places = wk_full((1), place);
    if (scattered) return wk_sum(wk_index_select(weight, 0, places));
    return wk_sum(wk_mul(weight, wk_index_add(wk_zeros((4)), 0, places, wk_ones((1)))));
}

/* A failed backward leaves the previous gradients, but no step uses them: with immediate execution it would have been
 * refused. Other calls of the program may use them. */
static void a_gradient_that_failed_to_accumulate(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        const bool scattered = way & 1, clipped = way & 2;
        WK_SCOPE;
        wk_tensor *weight = wk_requires_grad_(wk_zeros((4)), true), *other = wk_requires_grad_(wk_ones((64)), true);
        wk_optim *sgd = wk_optim_sgd(wk_list((other, weight)), .lr = 1);
        wk_backward(wk_add(loss_of(weight, scattered, 1), wk_sum(other)));
        wk_sync();
        wk_tensor *fine = wk_sum(wk_mul(other, other));
        wk_backward(wk_add(loss_of(weight, scattered, 9), fine));
        if (clipped) wk_clip_grad_norm_(wk_list((other, weight)), 1e6); /* leaves them unchanged */
        assert_int_equal(wk_optim_step(sgd), WK_OK);
        wk_tensor *twice = wk_retain(wk_mul(wk_detach(wk_grad_of(weight)), 2)); /* so that it is computed there */
        expect_bad_index();
        EXPECT_VALUES(wk_detach(weight), 0, 0, 0, 0, 0);
        assert_true(wk_item(wk_sum(wk_detach(other))) == 64);
        EXPECT_VALUES(twice, 0, 0, 2, 0, 0);
        wk_free(twice);
        assert_int_equal(wk_optim_step(sgd), WK_OK); /* the error has been reported */
        EXPECT_VALUES(wk_detach(weight), 0, 0, -1, 0, 0);
    }
}

/* Nor any part of the step if one gradient failed to change in place. */
static void a_gradient_that_failed_to_change_in_place(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *p = wk_requires_grad_(wk_zeros((4)), true), *other = wk_requires_grad_(wk_ones((64)), true);
    wk_optim *sgd = wk_optim_sgd(wk_list((other, p)), .lr = 1);
    wk_set_grad(p, wk_ones((4)));
    wk_set_grad(other, wk_ones((64)));
    wk_sync();
    wk_index_add_(wk_grad_of(p), 0, wk_full((1), 9), wk_ones((1)));
    assert_int_equal(wk_optim_step(sgd), WK_OK);
    expect_bad_index();
    EXPECT_VALUES(wk_detach(p), 0, 0, 0, 0, 0);
    assert_true(wk_item(wk_sum(wk_detach(other))) == 64);
}

/* Nor if the target of the step itself failed to change. */
static void a_parameter_that_failed_to_scale(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *p = wk_requires_grad_(wk_ones((4)), true), *places = wk_of(int64_t, (2), 1, 9);
    wk_optim *sgd = wk_optim_sgd(wk_list((p)), .lr = 1);
    wk_set_grad(p, wk_ones((4)));
    wk_sync();
    {
        WK_SCOPE;
        {
            WK_NO_GRAD;
            wk_mul_(p, wk_sum(wk_take(wk_ones((4)), wk_add(places, 0))));
        }
        assert_int_equal(wk_optim_step(sgd), WK_OK);
    }
    expect_bad_index();
    EXPECT_VALUES(wk_detach(p), 0, 1, 1, 1, 1);
}

/* Nor a parameter whose kernel also scales another, failed gradient. */
static void a_gradient_scaled_in_another_kernel(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_requires_grad_(wk_ones((5)), true), *b = wk_requires_grad_(wk_ones((1)), true), *x = wk_ones((4));
    wk_tensors *list = wk_list((a, b));
    wk_optim *optim = wk_optim_adam(list, .lr = 0.5);
    wk_set_grad(a, wk_ones((5)));
    wk_set_grad(b, wk_ones((1)));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    wk_optim_zero_grad(optim);
    wk_sync();
    wk_tensor *bad = wk_sum(wk_take(x, wk_mul(wk_arange(2), 33)));
    wk_backward(wk_add(wk_sum(a), wk_mul(wk_sum(b), bad)));
    wk_set_grad(a, wk_cumsum(wk_grad_of(a), 0)); /* a separate kernel */
    assert_non_null(wk_clip_grad_norm_(list, 0.3));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    expect_bad_index();
    WK_NO_GRAD;
    EXPECT_VALUES(a, 1e-6, 0.5, 0.5, 0.5, 0.5, 0.5);
    EXPECT_VALUES(b, 1e-6, 0.5);
}

/* The last gradient depends on a bad index, detected during execution: the kernels that compute and apply the others,
 * of which the largest runs last, have begun. The first step runs immediately to create the optimiser's state. */
static void a_failing_step(wk_optim *optim, wk_tensor *const p[3], int first)
{
    wk_tensor *places = wk_mul(wk_arange(2), 9), *x = wk_ones((4)), *y = wk_ones((2)), *z = wk_ones((64));
    wk_sync();
    if (first == 0) {
        wk_set_grad(p[0], wk_mul(y, 3));
        wk_set_grad(p[1], wk_mul(z, 3));
    }
    wk_set_grad(p[2], wk_index_select(x, 0, wk_add(places, 0)));
    wk_optim_step(optim);
    expect_bad_index();
}

/* Parameters after steps with gradient 1; steps whose digit is 0 fail. */
static wk_tensor *after_steps(wk_optim *(*make)(wk_tensors *), int first, const char *steps)
{
    wk_tensor *p[3];
    wk_tensors *list = wk_tensors_new();
    for (int k = first; k < 3; k++) {
        const char name[] = {(char)('a' + k), 0};
        p[k] = wk_requires_grad_(k == 1 ? wk_ones((64)) : wk_ones((2)), true);
        wk_tensors_add(list, name, p[k]);
    }
    wk_optim *optim = make(list);
    for (; *steps; steps++) {
        if (*steps == '0') {
            a_failing_step(optim, p, first);
            continue;
        }
        for (int k = first; k < 3; k++) wk_set_grad(p[k], wk_ones_like(p[k]));
        assert_int_equal(wk_optim_step(optim), WK_OK);
    }
    wk_sync();
    expect_ok();
    return first ? p[2] : wk_cat((p[0], p[1], p[2]), 0);
}

static wk_optim *adam(wk_tensors *list)
{
    return wk_optim_adam(list, .lr = 1);
}

static wk_optim *sgd(wk_tensors *list)
{
    return wk_optim_sgd(list, .lr = 1, .momentum = 0.5, .dampening = 0.25);
}

static wk_optim *nadam(wk_tensors *list)
{
    return wk_optim_nadam(list, .lr = 1);
}

static wk_optim *asgd(wk_tensors *list)
{
    return wk_optim_asgd(list, .lr = 0.5, .lambd = 0.5, .t0 = -1);
}

static wk_optim *adagrad(wk_tensors *list)
{
    return wk_optim_adagrad(list, .lr = 1, .lr_decay = 1, .initial_accumulator_value = 3);
}

/* A failed step counts neither in the steps of adam and nadam, nor in the rates of asgd and adagrad, nor as the first
 * step, whose gradient counts in full. A device that detects the bad index late updates independent parameters; there
 * only the parameter with the bad gradient is checked. */
static void failed_steps_do_not_count(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_NO_GRAD;
        WK_DEVICE(device);
        const int first = device.kind == WK_CPU ? 0 : 2;
        EXPECT_VALUES(wk_all(wk_eq(after_steps(adam, first, "101"), after_steps(adam, first, "11"))), 0, 1);
        EXPECT_VALUES(wk_all(wk_eq(after_steps(adam, first, "0011"), after_steps(adam, first, "11"))), 0, 1);
        EXPECT_VALUES(wk_all(wk_eq(after_steps(sgd, first, "01011"), after_steps(sgd, first, "111"))), 0, 1);
        EXPECT_VALUES(wk_all(wk_eq(after_steps(nadam, first, "0101"), after_steps(nadam, first, "11"))), 0, 1);
        EXPECT_VALUES(wk_all(wk_eq(after_steps(asgd, first, "01001"), after_steps(asgd, first, "11"))), 0, 1);
        EXPECT_VALUES(wk_all(wk_eq(after_steps(adagrad, first, "01001"), after_steps(adagrad, first, "11"))), 0, 1);
        EXPECT_VALUES(wk_amax(after_steps(adam, first, "101")), 1e-6, -1);
        EXPECT_VALUES(wk_amax(after_steps(adagrad, first, "01")), 0, 0.5); /* 1 - 1 / sqrt(3 + 1) */
        EXPECT_VALUES(wk_amax(after_steps(sgd, first, "011")), 0, -1.25);  /* 1 - 1 - (0.5 + 0.75) */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kernel_that_fails_changes_no_parameter, test_default_mode, test_restore_mode),
        cmocka_unit_test_setup_teardown(a_gradient_that_fails_in_a_kernel_stops_all_of_it, test_default_mode,
                                        test_restore_mode),
        cmocka_unit_test_setup_teardown(a_kernel_between_updates_fails, test_default_mode, test_restore_mode),
        cmocka_unit_test_setup_teardown(parameters_that_are_still_pending, test_default_mode, test_restore_mode),
        cmocka_unit_test_setup_teardown(a_parameter_computed_during_the_step, test_default_mode, test_restore_mode),
        cmocka_unit_test_setup_teardown(later_calls_read_old_values_after_a_failed_step, test_default_mode,
                                        test_restore_mode),
        cmocka_unit_test_setup_teardown(a_step_fails_without_the_other, test_default_mode, test_restore_mode),
        cmocka_unit_test_setup_teardown(a_gradient_that_failed_changes_no_parameter, test_default_mode,
                                        test_restore_mode),
        cmocka_unit_test_setup_teardown(a_gradient_that_failed_to_accumulate, test_default_mode, test_restore_mode),
        cmocka_unit_test_setup_teardown(a_gradient_that_failed_to_change_in_place, test_default_mode,
                                        test_restore_mode),
        cmocka_unit_test_setup_teardown(a_parameter_that_failed_to_scale, test_default_mode, test_restore_mode),
        cmocka_unit_test_setup_teardown(a_gradient_scaled_in_another_kernel, test_default_mode, test_restore_mode),
        cmocka_unit_test_setup_teardown(failed_steps_do_not_count, test_default_mode, test_restore_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
