/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory exhaustion: each allocation of each scenario fails in turn. The scenario must return its usual result, or
 * NaN with an error that has a message; afterwards it must run as usual. */
#include "support/turns.h"
#include "support/devices.h"
#include "support/alloc_faults.h"

#include <errno.h>
#include <math.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- in this process, which has run before ----------------------------------------------------------------------- */

/* Failing once and failing permanently, for each scenario; a run tests a quarter of the pairs. */
static void warm(wk_device device, long long one_by_one)
{
    alloc_faults_env.device = device;
    if (test_is_quick()) one_by_one /= 8;
    for (int k = 0; k < scenario_count; k++) {
        if (test_has_turn(k, 4)) alloc_faults_sweep(&scenarios[k], false, one_by_one);
        if (test_has_turn(k + 2, 4)) alloc_faults_sweep(&scenarios[k], true, one_by_one);
    }
}

static void warm_cpu(void **state)
{
    (void)state;
    warm(wk_cpu(), 400);
}

static void warm_null(void **state)
{
    (void)state;
    warm(test_null(), 400);
}

static void warm_opencl(void **state)
{
    (void)state;
    if (test_cpu_alone() || wk_device_count(test_gpu_kind()) == 0) skip();
    warm(test_gpu(0), 200);
}

/* ---- in a new process -------------------------------------------------------------------------------------------- */

/* Returns 0 if the run is correct and no allocation failed, 1 if it is correct, 2 if not. */
static int first_run(const scenario *s, long long n, bool all_after)
{
    alloc_faults_arm(n, all_after);
    double figure = s->run(&alloc_faults_env);
    bool met = alloc_fault_fired();
    alloc_faults_arm(0, false);
    bool reported = wk_error() && strlen(wk_error()) >= 10;
    if (isnan(figure) && !reported) {
        print_error("%s, request %lld: neither a result nor an error\n", s->name, n);
        return 2;
    }
    alloc_faults_disarm();
    double expected = s->run(&alloc_faults_env), again = s->run(&alloc_faults_env);
    bool right = !isnan(expected) && expected == again && (isnan(figure) || figure == expected) && !wk_error();
    if (right) return met;
    print_error("%s, request %lld: %.17g, then %.17g and %.17g; %s\n", s->name, n, figure, expected, again,
                wk_error() ? wk_error() : "no error");
    return 2;
}

static int in_child(const scenario *s, long long n, bool all_after)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(first_run(s, n, all_after)); /* without leak detection, which takes most of the time */
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) print_error("%s, request %lld: signal %d\n", s->name, n, WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

static void cold(wk_device device, long long one_by_one)
{
    alloc_faults_env.device = device;
    if (test_is_quick()) one_by_one /= 8;
    for (int k = 0; k < scenario_count; k++) {
        long long n = 1, runs = 0;
        int outcome = 1;
        for (; outcome == 1; n = alloc_faults_next(n, one_by_one), runs++)
            outcome = in_child(&scenarios[k], n, n % 2 == 0);
        print_message("%-9s %5lld runs to request %lld\n", scenarios[k].name, runs, n);
        assert_int_equal(outcome, 0);
    }
}

static void cold_cpu(void **state)
{
    (void)state;
    cold(wk_cpu(), 100);
}

static void cold_null(void **state)
{
    (void)state;
    cold(test_null(), 30);
}

/* ---- an optimiser step whose gradients fail ---------------------------------------------------------------------- */

enum { PARAMETERS = 6 };

static wk_module *three_layers(void)
{
    wk_seed(3);
    return wk_nn_sequential(wk_nn_linear(60, 70), wk_nn_tanh(), wk_nn_linear(70, 64), wk_nn_relu(),
                            wk_nn_linear(64, 10));
}

static void sums(wk_module *net, double to[PARAMETERS])
{
    WK_SCOPE;
    wk_tensors *list = wk_parameters(net);
    for (int k = 0; k < PARAMETERS; k++) to[k] = wk_item(wk_sum(wk_detach(wk_tensors_get(list, k))));
}

/* Returns as first_run. Forward, backward and step run at the end of the scope. */
static int one_step(long long n, bool all_after)
{
    WK_SCOPE;
    wk_module *net = three_layers();
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = 0.1);
    double before[PARAMETERS], after[PARAMETERS];
    sums(net, before);
    {
        WK_SCOPE;
        wk_tensor *x = wk_randn((64, 60)), *y = wk_randn((64, 10));
        alloc_faults_arm(n, all_after);
        wk_backward(wk_mse_loss(wk_forward(net, x), y));
        wk_optim_step(sgd);
    }
    bool met = alloc_fault_fired();
    alloc_faults_arm(0, false);
    wk_sync();
    bool reported = wk_error() != NULL;
    alloc_faults_disarm();
    sums(net, after);
    int changed = 0;
    for (int k = 0; k < PARAMETERS; k++) changed += after[k] != before[k];
    bool whole = changed == 0 || changed == PARAMETERS;
    if (whole && !wk_error() && (changed > 0 || reported)) return met;
    print_error("request %lld: %d of %d parameters have changed; %s\n", n, changed, PARAMETERS,
                wk_error() ? wk_error() : "no error");
    return 2;
}

/* Two parameters; the kernel that writes the second one reads the new value of the first. */
static int one_step_and_read(long long n, bool all_after)
{
    WK_SCOPE;
    wk_tensor *a = wk_requires_grad_(wk_ones((64)), true), *b = wk_requires_grad_(wk_ones((8, 8)), true);
    wk_optim *sgd = wk_optim_sgd(wk_list((a, b)), .lr = 1);
    wk_set_grad(a, wk_ones((64)));
    wk_set_grad(b, wk_ones((8, 8)));
    wk_sync();
    wk_clear_error();
    {
        WK_NO_GRAD;
        alloc_faults_arm(n, all_after);
        wk_optim_step(sgd);
        wk_add(wk_reshape(a, (8, 8)), b);
        wk_flush();
    }
    bool met = alloc_fault_fired();
    alloc_faults_arm(0, false);
    wk_sync();
    bool reported = wk_error() != NULL;
    alloc_faults_disarm();
    WK_NO_GRAD;
    const double left = wk_item(wk_sum(a)), right = wk_item(wk_sum(b));
    if (left == right && !wk_error() && (left == 0 || reported)) return met;
    print_error("request %lld: the sums are %g and %g; %s\n", n, left, right, wk_error() ? wk_error() : "no error");
    return 2;
}

static void all_or_nothing(int (*step)(long long n, bool all_after))
{
    for (int all_after = 0; all_after < 2; all_after++) {
        int outcome = 1;
        for (long long n = 1; outcome == 1; n += test_is_quick() ? 7 : 1) {
            fflush(NULL);
            pid_t child = fork();
            if (child == 0) _exit(step(n, all_after));
            int status = 0;
            while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
            }
            outcome = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
        }
        assert_int_equal(outcome, 0);
    }
}

static void step_is_atomic(void **state)
{
    (void)state;
    all_or_nothing(one_step);
}

static void step_and_its_readers_are_atomic(void **state)
{
    (void)state;
    all_or_nothing(one_step_and_read);
}

/* In-place writes to memory whose address the program knows: a refused write must not have changed it. Graph nodes come
 * from slabs, so that a call fails at this allocation only when a slab is full, and then after the write was
 * recorded. */
static void failed_writes_to_known_addresses(void **state)
{
    (void)state;
    enum { CALLS = 2000 };
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_ones((2)), true);
    int refused = 0;
    for (int k = 0; k < CALLS; k++) {
        wk_tensor *y = wk_mul(x, 2), *z = wk_mul(x, 3);
        const float *numbers = wk_data(y);
        assert_non_null(numbers);
        alloc_faults_arm(1, false);
        const bool fine = wk_add_(y, z);
        alloc_faults_disarm();
        const float expected = fine ? 5 : 2;
        refused += !fine;
        wk_sync();
        if (wk_error() || numbers[0] != expected || numbers[1] != expected)
            fail_msg("call %d: %g and %g instead of %g: %s", k, (double)numbers[0], (double)numbers[1],
                     (double)expected, wk_error() ? wk_error() : "no error");
    }
    assert_in_range(refused, 1, CALLS / 2);
}

/* Returns 1 if the distance of equal tensors is neither 0 nor NaN when request n fails; `others` tensors take slots of
 * the slabs, so that each object is once the first of a new slab. */
static int distance_is_wrong(int others, long long n)
{
    WK_SCOPE;
    wk_tensor *x = wk_full((3), 2, .dtype = WK_F16), *y = wk_full((3), 2, .dtype = WK_F16);
    wk_item(wk_dist(x, y));
    wk_tensor *slots = NULL;
    for (int k = 0; k < others; k++) slots = wk_full((3), 1);
    (void)slots;
    alloc_faults_arm(n, false);
    wk_tensor *distance = wk_dist(x, y);
    alloc_faults_disarm();
    const double value = wk_item(distance);
    return value == 0 || isnan(value) ? 0 : 1;
}

/* A distance whose second operand could not be converted was the norm of the first. */
static void a_distance_is_never_a_norm(void **state)
{
    (void)state;
    for (int others = 0; others < 64; others++)
        for (long long n = 1; n <= 2; n++) {
            const pid_t pid = fork();
            if (pid == 0) _exit(distance_is_wrong(others, n));
            int status = 0;
            assert_int_equal(waitpid(pid, &status, 0), pid);
            assert_int_equal(status, 0);
        }
}

int main(void)
{
    alloc_faults_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_distance_is_never_a_norm), /* before this process computes */
        cmocka_unit_test(step_is_atomic),
        cmocka_unit_test(step_and_its_readers_are_atomic),
        cmocka_unit_test(failed_writes_to_known_addresses),
        cmocka_unit_test(cold_cpu),
        cmocka_unit_test(cold_null), /* before this process computes */
        cmocka_unit_test(warm_cpu),
        cmocka_unit_test(warm_null),
        cmocka_unit_test(warm_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
