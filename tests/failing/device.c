/* SPDX-License-Identifier: Apache-2.0 */
/* Device failures in the scenarios: rejected allocations and launches, bad indices that are detected late, a lost
 * device (requested of the null device), and a memory limit that an optimiser step would exceed (CPU). */
#include "support/alloc_faults.h"

#include <math.h>

#include "backend/null/null.h"

static int64_t launches(void)
{
    return wk__null_log_work_count();
}

static void bad_index(int64_t n)
{
    wk__null_fault_submit(n, 7, 4);
}

/* Injects event n, for n from 1 to count: the scenario must return its usual result, or NaN with an error that has a
 * message; afterwards it must run as usual. */
static void each_event(const scenario *s, void (*order)(int64_t n), int64_t count)
{
    double expected = s->run(&alloc_faults_env);
    for (int64_t n = 1; n <= count; n++) {
        wk_memory_trim(alloc_faults_env.device);
        order(n);
        double figure = s->run(&alloc_faults_env);
        wk__null_clear_faults();
        if (wk_error() && strlen(wk_error()) < 10) fail_msg("%s, event %d: \"%s\"", s->name, (int)n, wk_error());
        if (isnan(figure) ? !wk_error() : figure != expected)
            fail_msg("%s, event %d: %g, not %g", s->name, (int)n, figure, expected);
        alloc_faults_disarm();
        figure = s->run(&alloc_faults_env);
        if (figure != expected) fail_msg("%s, after event %d: %g; %s", s->name, (int)n, figure, wk_error());
        expect_ok();
        wk_memory_stats stats = {.size = sizeof stats};
        wk_memory_stats_of(alloc_faults_env.device, &stats);
        if (stats.live != 0) fail_msg("%s, after event %d: %lld bytes live", s->name, (int)n, (long long)stats.live);
    }
}

static void rejected_allocations(void **state)
{
    (void)state;
    for (int k = 0; k < scenario_count; k++)
        each_event(&scenarios[k], wk__null_fail_alloc, 4); /* few allocations, because blocks hold many tensors */
}

static void rejected_launches(void **state)
{
    (void)state;
    for (int k = 0; k < scenario_count; k++) {
        wk__null_log_clear();
        scenarios[k].run(&alloc_faults_env);
        each_event(&scenarios[k], wk__null_fail_submit, launches());
    }
}

static void bad_indices(void **state)
{
    (void)state;
    for (int k = 0; k < scenario_count; k++) {
        wk__null_log_clear();
        scenarios[k].run(&alloc_faults_env);
        each_event(&scenarios[k], bad_index, launches());
    }
}

/* ---- an optimiser step beyond the memory limit ------------------------------------------------------------------- */

enum { PARAMETERS = 4, SIDE = 512 /* 1 MB each, of different shapes, for several kernels */ };

/* The former values are still referenced, so that a step needs memory for new ones, and there is not enough for all
 * parameters. */
static void step_beyond_the_memory_limit_changes_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensors *list = wk_tensors_new();
    wk_tensor *p[PARAMETERS];
    for (int k = 0; k < PARAMETERS; k++) {
        p[k] = wk_retain(wk_requires_grad_(wk_full((SIDE, SIDE + k), 1.0 + k), true));
        char name[16];
        snprintf(name, sizeof name, "%d", k);
        wk_tensors_add(list, name, p[k]);
    }
    wk_optim *sgd = wk_optim_sgd(list, .lr = 0.5);
    wk_sync();
    for (int step = 0; step < 2; step++) {
        wk_tensor *old[PARAMETERS];
        for (int k = 0; k < PARAMETERS; k++) { /* separate tensors that share the storages */
            wk_module *holder = wk_nn_relu();
            old[k] = wk_module_set_buffer(holder, "old", p[k]);
            wk_set_grad(p[k], wk_ones((SIDE, SIDE + k)));
        }
        wk_sync();
        wk_memory_trim(wk_cpu());
        wk_memory_stats stats = {.size = sizeof stats};
        wk_memory_stats_of(wk_cpu(), &stats);
        if (step == 0) wk_memory_set_limit(wk_cpu(), stats.live + stats.cached + (2 << 20));
        wk_code code = wk_optim_step(sgd);
        wk_sync();
        wk_memory_set_limit(wk_cpu(), 0);
        if (step == 0) expect_error("optim_step", "limit", NULL);
        (void)code;
        expect_ok();
        for (int k = 0; k < PARAMETERS; k++) {
            double sum = (double)SIDE * (SIDE + k);
            assert_true(wk_item(wk_sum(old[k])) == sum * (1 + k));
            assert_true(wk_item(wk_sum(p[k])) == sum * (step == 0 ? 1 + k : 0.5 + k));
        }
    }
    for (int k = 0; k < PARAMETERS; k++) wk_free(p[k]);
}

/* ---- a lost device ----------------------------------------------------------------------------------------------- */

static void lost_device_fails_only_its_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor_options there = {.size = sizeof there, .device = test_null()};
    wk_tensor *here = wk_ones((3)), *x = wk_retain(wk_ones_at(WK_HERE, (const int64_t[]){3}, 1, &there));
    wk_sync();
    expect_ok();
    wk__null_lose_device(0);
    assert_true(isnan(wk_item(wk_sum(x))));
    expect_error("null", NULL);
    assert_true(wk_item(wk_sum(here)) == 3);
    expect_ok();
    for (int k = 0; k < scenario_count; k++) {
        scenario_env other = {wk_cpu(), alloc_faults_env.folder};
        double figure = scenarios[k].run(&other);
        expect_ok();
        assert_true(!isnan(figure));
    }
    wk__null_clear_faults();
    wk_free(x);
    wk_clear_error();
}

int main(void)
{
    alloc_faults_init();
    alloc_faults_env.device = test_null();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rejected_allocations),
        cmocka_unit_test(rejected_launches),
        cmocka_unit_test(bad_indices),
        cmocka_unit_test(step_beyond_the_memory_limit_changes_nothing),
        cmocka_unit_test(lost_device_fails_only_its_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
