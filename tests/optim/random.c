/* SPDX-License-Identifier: Apache-2.0 */
/* Tests random steps of optimisers, some of which fail: then no parameter changes, and later calls read values that
 * parameters have had. Parameters have several sizes and may be pending; gradients depend on one another or come from
 * separate kernels, with and without clipping; averages follow the step; the bad index is known at the call or only
 * during execution. On a device that detects it late, each parameter is as before, or as after the same step without
 * the bad index. */
#include "support/turns.h"
#include "support/devices.h"

#include <math.h>

enum { SEEDS = 300, SEEDS_GPU = 36, PARTS = 3, STEPS = 3, MOST = 5 };

static uint32_t state;

static int drawn(int below)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 10) % (uint32_t)below);
}

typedef struct trained {
    wk_tensor *parameter[MOST], *average[MOST];
    double before[MOST]; /* the first element of each */
    int count;
    bool failed; /* of the previous step: a failed gradient remains failed until it is cleared */
    wk_tensors *list;
} trained;

static double first_of(wk_tensor *x)
{
    WK_NO_GRAD;
    return wk_item(wk_select(x, 0, 0));
}

static wk_optim *make(trained *t)
{
    wk_tensors *list = t->list = wk_tensors_new();
    t->failed = false;
    t->count = 2 + drawn(MOST - 1);
    for (int k = 0; k < t->count; k++) {
        const int64_t size = 1 + drawn(3) * drawn(40);
        const char name[] = {'p', (char)('0' + k), 0};
        t->before[k] = 1 + k;
        t->parameter[k] = wk_requires_grad_(wk_full((size), t->before[k]), true);
        t->average[k] = wk_zeros((size));
        if (drawn(2)) {
            first_of(t->parameter[k]);
            first_of(t->average[k]);
        }
        wk_tensors_add(list, name, t->parameter[k]);
    }
    switch (drawn(8)) {
    case 0: return wk_optim_sgd(list, .lr = 0.5);
    case 1: return wk_optim_sgd(list, .lr = 0.5, .momentum = 0.5);
    case 2: return wk_optim_adam(list, .lr = 0.5);
    case 3: return wk_optim_adam(list, .lr = 0.5, .amsgrad = true);
    case 4: return wk_optim_nadam(list, .lr = 0.5);
    case 5: return wk_optim_lamb(list, .lr = 0.5);
    case 6: return wk_optim_rmsprop(list, .lr = 0.5, .momentum = 0.5, .centered = true);
    default: return wk_optim_adagrad(list, .lr = 0.5, .lr_decay = 0.1, .initial_accumulator_value = 0.5);
    }
}

/* Reads two elements of four, or adds to them in a separate kernel; a bad second index is out of range. */
static wk_tensor *loss_of_two_elements(bool bad)
{
    const int64_t second = bad ? 33 : 3;
    wk_tensor *places = drawn(2) ? wk_mul(wk_arange(2), second) : wk_of(int64_t, (2), 0, second);
    if (drawn(3) == 0) return wk_sum(wk_index_add(wk_zeros((4)), 0, places, wk_ones((2))));
    return wk_sum(wk_take(drawn(2) ? wk_full((4), 2.0) : wk_exp(wk_ones((4))), places));
}

static void gradients(const trained *t, bool bad)
{
    wk_tensor *loss = wk_sum(t->parameter[0]);
    for (int k = 1; k < t->count; k++) {
        wk_tensor *factor = drawn(2) ? wk_sum(t->parameter[k - 1]) : wk_ones(());
        loss = wk_add(loss, wk_sum(wk_mul(t->parameter[k], factor)));
    }
    const int one = drawn(t->count);
    const bool in_loss = drawn(2);
    if (in_loss) loss = wk_add(loss, wk_mul(wk_sum(t->parameter[one]), loss_of_two_elements(bad)));
    wk_backward(loss);
    for (int k = 0; k < t->count; k++) {
        wk_tensor *gradient = wk_grad_of(t->parameter[k]);
        if (k == one && !in_loss)
            wk_set_grad(t->parameter[k], wk_mul(gradient, loss_of_two_elements(bad)));
        else if (drawn(4) == 0)
            wk_set_grad(t->parameter[k], wk_cumsum(gradient, 0)); /* a separate kernel */
    }
}

static void record_averages(const trained *t)
{
    WK_NO_GRAD;
    for (int k = 0; k < t->count; k++) wk_copy_(t->average[k], wk_mul(t->parameter[k], 1));
}

static void expect_parameters(trained *t, bool failed, bool followed, uint32_t seed)
{
    for (int k = 0; k < t->count; k++) {
        const double now = first_of(t->parameter[k]);
        if (failed && now != t->before[k])
            fail_msg("seed %u: parameter %d was %g and is %g after a step that failed", seed, k, t->before[k], now);
        if (followed && first_of(t->average[k]) != now)
            fail_msg("seed %u: the average is %g of parameter %d, which is %g", seed, first_of(t->average[k]), k, now);
        t->before[k] = now;
    }
    expect_ok();
}

/* Draws and records one step. */
static void record_step(trained *t, wk_optim *optim, bool bad, bool clipped, bool followed)
{
    /* otherwise gradients add to those of the previous step */
    if (drawn(3) > 0 || t->failed) wk_optim_zero_grad(optim);
    gradients(t, bad);
    if (clipped) wk_clip_grad_norm_(t->list, 0.3);
    wk_optim_step(optim);
    if (followed) record_averages(t);
    wk_sync();
}

static void failed_steps_change_nothing(void **state_of_test)
{
    (void)state_of_test;
    int failures = 0;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        WK_SCOPE;
        trained t;
        state = seed * 7919 + 1;
        wk_optim *optim = make(&t);
        for (int step = 0; step < STEPS; step++) {
            WK_SCOPE;
            const bool bad = drawn(2), clipped = drawn(3) == 0, followed = drawn(2);
            record_step(&t, optim, bad, clipped, followed);
            const bool failed = wk_error_code() == WK_ERR_INDEX;
            assert_int_equal(failed, bad);
            failures += failed;
            t.failed = failed;
            wk_clear_error();
            expect_parameters(&t, failed, followed, seed);
        }
    }
    assert_in_range(failures, SEEDS, 2 * SEEDS);
}

/* Runs steps up to the first that is bad, or would be; stores the parameters before and after it. Returns the number of
 * parameters. */
static int run_up_to_a_bad_step(wk_device device, uint32_t seed, bool bad, double before[MOST], double after[MOST])
{
    WK_SCOPE;
    WK_DEVICE(device);
    trained t;
    state = seed * 7919 + 1;
    wk_optim *optim = make(&t);
    for (bool last = false; !last;) {
        WK_SCOPE;
        last = drawn(2);
        const bool clipped = drawn(3) == 0, followed = drawn(2);
        for (int k = 0; k < t.count; k++) before[k] = first_of(t.parameter[k]);
        record_step(&t, optim, last && bad, clipped, followed);
        assert_int_equal(wk_error_code() == WK_ERR_INDEX, last && bad);
        wk_clear_error();
    }
    for (int k = 0; k < t.count; k++) after[k] = first_of(t.parameter[k]);
    expect_ok();
    return t.count;
}

static bool is_close(double x, double y)
{
    return fabs(x - y) <= 1e-4 * fmax(1, fabs(y));
}

static void bad_indices_that_are_detected_late(void **state_of_test)
{
    (void)state_of_test;
    if (test_cpu_alone()) skip();
    int tried = 0, old = 0, updated = 0;
    for (uint32_t seed = 0; seed < SEEDS_GPU; seed++) {
        if (!test_has_turn((int)seed, PARTS)) continue;
        tried++;
        double before[MOST], after[MOST], have[MOST];
        run_up_to_a_bad_step(wk_cpu(), seed, false, before, after);
        const int count = run_up_to_a_bad_step(test_gpu(0), seed, true, before, have);
        for (int k = 0; k < count; k++) {
            if (have[k] != before[k] && !is_close(have[k], after[k]))
                fail_msg("seed %u: parameter %d was %g and is %g, neither that nor %g", seed, k, before[k], have[k],
                         after[k]);
            *(have[k] == before[k] ? &old : &updated) += 1;
        }
    }
    assert_true(old > tried && updated > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failed_steps_change_nothing),
                                       cmocka_unit_test(bad_indices_that_are_detected_late)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
