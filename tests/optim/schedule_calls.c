/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the calls of schedules: ownership, failing steps, groups, files that do not fit, and mistakes. */
#include "support/wick.h"

#include <math.h>

#include "hostile/scratch.h"

static wk_optim *an_sgd(double momentum)
{
    return wk_optim_sgd(wk_list((wk_ones((1), .requires_grad = true))), .lr = 1, .momentum = momentum);
}

/* ---- ownership --------------------------------------------------------------------------------------------------- */

static void a_schedule_keeps_its_optimiser(void **state)
{
    (void)state;
    wk_schedule *rate;
    {
        WK_SCOPE;
        rate = wk_retain(wk_schedule_exponential_lr(an_sgd(0), 0.5));
    }
    assert_int_equal(wk_schedule_step(rate), WK_OK);
    assert_int_equal(wk_schedule_count(rate), 1);
    wk_free(rate);
    assert_int_equal(wk_schedule_count(rate), 0);
    expect_error("schedule_count: the schedule", "was freed", NULL);
}

static void a_schedule_ends_with_its_scope(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *sgd = an_sgd(0);
    wk_schedule *inner, *outer = wk_schedule_exponential_lr(sgd, 0.5);
    {
        WK_SCOPE;
        inner = wk_schedule_exponential_lr(sgd, 0.5);
        wk_schedule_step(inner);
    }
    assert_int_not_equal(wk_schedule_step(inner), WK_OK);
    expect_error("schedule_step: the schedule", "scope has closed", NULL);
    assert_int_equal(wk_schedule_step(outer), WK_OK);
    assert_true(wk_optim_lr(sgd, 0) == 0.25);
    assert_int_equal(wk_optim_save(sgd, scratch("one")), WK_OK); /* the file has one schedule */
    assert_int_equal(wk_optim_load(sgd, scratch("one")), WK_OK);
}

static void a_combination_keeps_its_parts(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *sgd = an_sgd(0);
    wk_schedule *both;
    {
        WK_SCOPE;
        both = wk_keep(wk_schedule_chained(wk_schedule_exponential_lr(sgd, 0.5), wk_schedule_exponential_lr(sgd, 0.5)));
    }
    assert_int_equal(wk_schedule_step(both), WK_OK);
    assert_true(wk_optim_lr(sgd, 0) == 0.25);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* A schedule that multiplies continues from the present rate; the base rate is that of the first schedule. */
static void rates_that_the_program_sets(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *sgd = an_sgd(0);
    wk_schedule *rate = wk_schedule_exponential_lr(sgd, 0.5);
    wk_optim_set_lr(sgd, -1, 8);
    wk_schedule_step(rate);
    assert_true(wk_optim_lr(sgd, 0) == 4);
    (void)wk_schedule_cosine(sgd, .steps = 10);
    assert_true(wk_optim_lr(sgd, 0) == 1);
}

static void one_cycle_ends(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *sgd = an_sgd(0.9);
    wk_schedule *rate = wk_schedule_one_cycle(sgd, 0.1, 3, .anneal_strategy = "linear");
    for (int t = 0; t < 3; t++) assert_int_equal(wk_schedule_step(rate), WK_OK);
    const double last = wk_optim_lr(sgd, 0);
    assert_true(fabs(last - 0.1 / 25 / 1e4) < 1e-15);
    assert_int_equal(wk_schedule_step(rate), WK_ERR_STATE);
    expect_error("schedule_step: all 3 steps of one_cycle are done", NULL);
    assert_true(wk_optim_lr(sgd, 0) == last && wk_schedule_count(rate) == 3);
    for (int steps = 1; steps <= 4; steps++) { /* phases without a length */
        rate = wk_schedule_one_cycle(sgd, 0.1, steps, .pct_start = 0.5, .three_phase = true);
        for (int t = 0; t < steps; t++) assert_int_equal(wk_schedule_step(rate), WK_OK);
        rate = wk_schedule_one_cycle(sgd, 0.1, steps, .pct_start = steps % 2);
        for (int t = 0; t < steps; t++) assert_int_equal(wk_schedule_step(rate), WK_OK);
    }
    expect_ok();
}

static double falls_below_0(int64_t t, void *user)
{
    (void)user;
    return t < 3 ? 1.5 : -1;
}

/* A step that fails in one of several schedules changes none of them. */
static void a_failing_step_changes_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *sgd = an_sgd(0.5);
    wk_optim_add_group(sgd, wk_list((wk_ones((1), .requires_grad = true))), .lr = 0.5);
    wk_schedule *first = wk_schedule_cyclic_lr(sgd, 1, 2, .step_size_up = 4);
    wk_schedule *second = wk_schedule_lambda_lr(sgd, falls_below_0, NULL);
    wk_schedule *all = wk_schedule_chained(first, second);
    for (int t = 0; t < 2; t++) assert_int_equal(wk_schedule_step(all), WK_OK);
    const double rates[] = {wk_optim_lr(sgd, 0), wk_optim_lr(sgd, 1)};
    assert_true(rates[0] == 1.5 && rates[1] == 0.75);
    assert_int_equal(wk_schedule_step(all), WK_ERR_ARGUMENT);
    expect_error("schedule_step: lambda_lr gives the learning rate -1 at step 3; it must be finite and at least 0",
                 NULL);
    assert_true(wk_optim_lr(sgd, 0) == rates[0] && wk_optim_lr(sgd, 1) == rates[1]);
    assert_int_equal(wk_schedule_count(all), 2);
    assert_int_equal(wk_schedule_count(first), 2);
    assert_int_equal(wk_schedule_count(second), 2);
}

static void a_pending_error_stops_steps(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *sgd = an_sgd(0);
    wk_schedule *rate = wk_schedule_exponential_lr(sgd, 0.5), *plateau = wk_schedule_reduce_lr_on_plateau(sgd);
    wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
    assert_int_equal(wk_schedule_step(rate), WK_ERR_SHAPE);
    assert_int_equal(wk_schedule_step_metric(plateau, 1), WK_ERR_SHAPE);
    wk_clear_error();
    assert_int_equal(wk_schedule_count(rate) + wk_schedule_count(plateau), 0);
    assert_true(wk_optim_lr(sgd, 0) == 1);
}

static void groups_come_before_schedules(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *sgd = an_sgd(0);
    wk_schedule *rate = wk_schedule_exponential_lr(sgd, 0.5);
    wk_optim_add_group(sgd, wk_list((wk_ones((1), .requires_grad = true))), .lr = 3);
    assert_int_equal(wk_schedule_step(rate), WK_ERR_STATE);
    expect_error("schedule_step: the optimiser has 2 groups, 1 when the schedule was created", NULL);
    assert_true(wk_optim_lr(sgd, 0) == 1 && wk_optim_lr(sgd, 1) == 3);
    assert_int_equal(wk_schedule_step(wk_schedule_chained(rate)), WK_ERR_STATE); /* nor in a combination */
    expect_error("schedule_step: the optimiser has 2 groups, 1 when the schedule was created", NULL);
}

static double negative(int64_t t, void *user)
{
    (void)user;
    return -1 - (double)t;
}

/* A creation that fails leaves no base rate behind. */
static void a_failed_schedule_records_no_rates(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *sgd = an_sgd(0);
    assert_null(wk_schedule_lambda_lr(sgd, negative, NULL));
    wk_clear_error();
    assert_int_equal(wk_optim_set_lr(sgd, 0, 4), WK_OK);
    assert_int_equal(wk_schedule_step(wk_schedule_step_lr(sgd, 1, .gamma = 0.5)), WK_OK);
    assert_true(wk_optim_lr(sgd, 0) == 2);
}

/* The callback may free its schedule, which lives to the end of the step. */
static double frees(int64_t t, void *user)
{
    if (t == 1) wk_free(*(wk_schedule **)user);
    return 1.0 / (double)(t + 1);
}

static void a_callback_frees_its_schedule(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *sgd = an_sgd(0);
    wk_schedule *rate = NULL;
    rate = wk_schedule_lambda_lr(sgd, frees, &rate);
    assert_int_equal(wk_schedule_step(rate), WK_OK);
    assert_true(wk_optim_lr(sgd, 0) == 0.5);
    assert_int_not_equal(wk_schedule_step(rate), WK_OK);
    wk_clear_error();
}

static double fails(int64_t t, void *user)
{
    (void)user;
    if (t > 0) wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
    return 1;
}

static void a_callback_that_fails(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_schedule *rate = wk_schedule_lambda_lr(an_sgd(0), fails, NULL);
    assert_int_equal(wk_schedule_step(rate), WK_ERR_SHAPE);
    expect_error("matmul", "(in the factor of schedule_lambda_lr", NULL);
    assert_int_equal(wk_schedule_count(rate), 0);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void files_that_do_not_fit(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *none = an_sgd(0), *one = an_sgd(0), *other = an_sgd(0);
    (void)wk_schedule_exponential_lr(one, 0.5);
    (void)wk_schedule_linear_lr(other);
    assert_int_equal(wk_optim_save(none, scratch("none")), WK_OK);
    assert_int_equal(wk_optim_save(one, scratch("one")), WK_OK);
    assert_int_equal(wk_optim_load(one, scratch("none")), WK_ERR_ARGUMENT);
    expect_error("the optimiser has 1 schedules, but had 0 when it was saved; create further schedules after", NULL);
    assert_int_equal(wk_optim_load(none, scratch("one")), WK_ERR_ARGUMENT);
    expect_error("the optimiser has 0 schedules, but had 1 when it was saved; create the same schedules before", NULL);
    const double rate = wk_optim_lr(other, 0);
    assert_int_equal(wk_optim_load(other, scratch("one")), WK_ERR_ARGUMENT);
    expect_error("schedule 0 is linear_lr in the optimiser but exponential_lr in the file", NULL);
    assert_true(wk_optim_lr(other, 0) == rate);
    assert_int_equal(wk_optim_load(none, scratch("none")), WK_OK);
    (void)wk_schedule_exponential_lr(none, 0.5);
    assert_int_equal(wk_optim_load(none, scratch("one")), WK_OK);
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

static void arguments_out_of_range(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_optim *sgd = an_sgd(0), *other = an_sgd(0.5);
    wk_optim *adagrad = wk_optim_adagrad(wk_list((wk_ones((1), .requires_grad = true))));
    assert_null(wk_schedule_step_lr(sgd, 0));
    expect_error("schedule_step_lr: step_size must be at least 1, got 0", NULL);
    assert_null(wk_schedule_linear_lr(sgd, .start_factor = 0));
    expect_error("schedule_linear_lr: .start_factor must be in (0, 1], got 0", NULL);
    assert_null(wk_schedule_cosine(sgd, .warmup = 3));
    expect_error("schedule_cosine: .steps must be at least 1, got 0", NULL);
    assert_null(wk_schedule_cosine(sgd, .steps = 10, .warmup = 10));
    expect_error("schedule_cosine: .warmup must be at least 0 and less than .steps, got 10", NULL);
    assert_null(wk_schedule_one_cycle(sgd, 0.1, 10));
    expect_error("schedule_one_cycle: sgd has no momentum to cycle; create it with .momentum > 0, or pass "
                 ".no_cycle_momentum = true",
                 NULL);
    assert_null(wk_schedule_cyclic_lr(adagrad, 0.1, 1));
    expect_error("schedule_cyclic_lr: adagrad has no momentum to cycle; pass .no_cycle_momentum = true", NULL);
    assert_null(wk_schedule_one_cycle(other, 0, 10, .max_lrs = (const double[]){1, 2}, .max_lr_count = 2));
    expect_error("schedule_one_cycle: .max_lr_count is 2; .max_lrs needs one rate per group (1)", NULL);
    assert_null(wk_schedule_one_cycle(other, 0, 10, .max_lrs = (const double[]){-1}, .max_lr_count = 1));
    expect_error("schedule_one_cycle: .max_lrs must be at least 0, got -1", NULL);
    assert_null(wk_schedule_one_cycle(other, 0.1, 10, .anneal_strategy = "cosine"));
    expect_error("schedule_one_cycle: unknown .anneal_strategy \"cosine\"; expected \"cos\", \"linear\"", NULL);
    assert_null(wk_schedule_reduce_lr_on_plateau(sgd, .factor = 1));
    expect_error("schedule_reduce_lr_on_plateau: .factor must be in [0, 1), got 1", NULL);
    wk_schedule *plateau = wk_schedule_reduce_lr_on_plateau(sgd), *rate = wk_schedule_exponential_lr(sgd, 1);
    assert_int_equal(wk_schedule_step(plateau), WK_ERR_STATE);
    expect_error("schedule_step: reduce_lr_on_plateau needs a metric; use wk_schedule_step_metric", NULL);
    assert_int_equal(wk_schedule_step_metric(rate, 1), WK_ERR_STATE);
    expect_error("schedule_step_metric: exponential_lr has no metric; use wk_schedule_step", NULL);
    assert_null(wk_schedule_chained(rate, plateau));
    expect_error("schedule_chained: schedule 1 (reduce_lr_on_plateau) needs a metric", NULL);
    assert_null(wk_schedule_chained(rate, wk_schedule_exponential_lr(other, 1)));
    expect_error("schedule_chained: schedule 1 (exponential_lr) belongs to another optimiser", NULL);
    assert_null(wk_schedule_sequential((2, 2), rate, rate, rate));
    expect_error("schedule_sequential: a milestone must be greater than 0 and than the one before, got 2", NULL);
    assert_null(wk_schedule_sequential((2), rate));
    expect_error("schedule_sequential: 1 schedules need 0 milestones, got 1", NULL);
    assert_null(wk_schedule_lambda_lr(sgd, falls_below_0, NULL) ? NULL : sgd);
    assert_true(wk_optim_lr(sgd, 0) == 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schedule_keeps_its_optimiser),
        cmocka_unit_test(a_schedule_ends_with_its_scope),
        cmocka_unit_test(a_combination_keeps_its_parts),
        cmocka_unit_test(rates_that_the_program_sets),
        cmocka_unit_test(one_cycle_ends),
        cmocka_unit_test(a_failing_step_changes_nothing),
        cmocka_unit_test(a_pending_error_stops_steps),
        cmocka_unit_test(groups_come_before_schedules),
        cmocka_unit_test(a_failed_schedule_records_no_rates),
        cmocka_unit_test(a_callback_frees_its_schedule),
        cmocka_unit_test(a_callback_that_fails),
        cmocka_unit_test(files_that_do_not_fit),
        cmocka_unit_test(arguments_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
