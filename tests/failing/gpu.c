/* SPDX-License-Identifier: Apache-2.0 */
/* Random failures on GPUs: a host allocation, or it and all later ones, or a driver call fails while a scenario runs.
 * It must return its usual result, or NaN with an error that has a message; afterwards it must run as usual.
 *
 *     FAILING_RUNS=n    number of runs (default 40)
 *     FAILING_SEED=n    seed of the series (default 1) */
#include "support/devices.h"
#include "support/driver_faults.h"
#include "support/alloc_faults.h"
#include "support/group/group_case.h"

#include <math.h>

static long long number_of(const char *name, long long usual)
{
    const char *text = getenv(name);
    return text ? atoll(text) : usual;
}

static uint64_t below(uint64_t n)
{
    return group_case_random() % n;
}

/* Host allocations of a scenario, and its result, by device. */
typedef struct usual {
    double figure;
    long long requests;
} usual;

static usual usual_of(const scenario *s)
{
    s->run(&alloc_faults_env);
    long long before = alloc_request_count();
    usual u = {.figure = s->run(&alloc_faults_env)};
    u.requests = alloc_request_count() - before;
    expect_ok();
    return u;
}

/* Returns a random number up to most, of uniformly distributed magnitude. */
static long long some_number(long long most)
{
    long long limit = 1 + (long long)below((uint64_t)(most > 0 ? most : 1));
    return 1 + (long long)below((uint64_t)limit);
}

static void one_run(const scenario *s, usual u, long long run)
{
    const driver_error errors[] = {DRIVER_NO_MEMORY, DRIVER_NO_DEVICE_MEMORY, DRIVER_INVALID_VALUE};
    char what[100];
    if (below(4) == 0) wk_memory_trim(alloc_faults_env.device);
    if (below(2) == 0) {
        long long n = some_number(u.requests + u.requests / 8);
        bool for_good = below(2) == 0;
        snprintf(what, sizeof what, "host request %lld %s", n, for_good ? "and all after it" : "alone");
        alloc_faults_arm(n, for_good);
    } else {
        driver_call which = (driver_call)(DRIVER_KERNEL + below(DRIVER_CALLS - DRIVER_KERNEL));
        int n = (int)some_number(which == DRIVER_ARGUMENT ? 400 : 60);
        snprintf(what, sizeof what, "%s %d", driver_names[which], n);
        driver_inject(which, n, errors[below(3)]);
    }
    double figure = s->run(&alloc_faults_env);
    bool met = alloc_fault_fired() || driver_fault_fired();
    alloc_faults_arm(0, false);
    driver_clear();
    if (wk_error() && strlen(wk_error()) < 10) fail_msg("run %lld: %s, %s: \"%s\"", run, s->name, what, wk_error());
    if (isnan(figure) ? !wk_error() : figure != u.figure)
        fail_msg("run %lld: %s, %s: %g, not %g", run, s->name, what, figure, u.figure);
    if (!met && isnan(figure))
        fail_msg("run %lld: %s, %s: %s, although nothing failed", run, s->name, what, wk_error());
    alloc_faults_disarm();
    figure = s->run(&alloc_faults_env);
    if (figure != u.figure)
        fail_msg("run %lld: %s, after %s: %g; %s", run, s->name, what, figure, wk_error() ? wk_error() : "no error");
    expect_ok();
}

static void scenarios_fail_or_return_the_usual_result(void **state)
{
    (void)state;
    enum { DEVICES = 2, SCENARIOS = 16 };
    static usual known[DEVICES][SCENARIOS];
    int devices = wk_device_count(test_gpu_kind()) < DEVICES ? wk_device_count(test_gpu_kind()) : DEVICES;
    assert_true(devices > 0 && scenario_count <= SCENARIOS);
    driver_install_hooks(test_gpu_kind());
    long long runs = number_of("FAILING_RUNS", 40), seed = number_of("FAILING_SEED", 1);
    group_case_seed((uint64_t)seed);
    for (long long run = 0; run < runs; run++) {
        int d = (int)below((uint64_t)devices), k = (int)below((uint64_t)scenario_count);
        alloc_faults_env.device = test_gpu(d);
        if (known[d][k].requests == 0) known[d][k] = usual_of(&scenarios[k]);
        one_run(&scenarios[k], known[d][k], run);
        if (run % 500 == 499) print_message("%lld runs of series %lld\n", run + 1, seed);
    }
}

int main(void)
{
    alloc_faults_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenarios_fail_or_return_the_usual_result)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
