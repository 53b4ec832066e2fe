/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of NVIDIA's driver fails once: a child process trains a network on cuda:0, and its n-th call returns
 * CUDA_ERROR_UNKNOWN. Then either the results are those of an undisturbed run or an error is reported; the process does
 * not crash, and the CPU continues to compute. */
#include "support/gpu/gpu.h"
#include "support/wick.h"

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *program;

/* Exit statuses of the child. */
enum { FINE = 0, REPORTED = 3, WRONG = 4 };

/* ---- the child --------------------------------------------------------------------------------------------------- */

static double train(void)
{
    WK_SCOPE;
    wk_seed(1);
    wk_tensor *x = wk_to(wk_rand((32, 3)), wk_cuda(0)), *y = wk_mul(wk_sum(x, (1)), 2.0);
    wk_module *net = wk_nn_sequential(wk_nn_linear(3, 8), wk_nn_relu(), wk_nn_linear(8, 1));
    wk_module_to(net, wk_cuda(0));
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = 0.05);
    for (int step = 0; step < 3; step++) {
        WK_SCOPE;
        wk_tensor *loss = wk_mse_loss(wk_reshape(wk_forward(net, x), (-1)), y);
        wk_backward(loss);
        wk_optim_step(sgd);
        wk_optim_zero_grad(sgd);
    }
    wk_tensor *out = wk_forward(net, x), *elsewhere = wk_to(out, wk_cuda(1));
    wk_tensor *rows = wk_index_select(elsewhere, 0, wk_to(wk_of(int64_t, (2), 5, 7), wk_cuda(1)));
    const double number = wk_item(wk_sum(wk_cat((wk_to(rows, wk_cuda(0)), out), 0)));
    return number;
}

static int run_child(void)
{
    const double number = train();
    wk_sync();
    const bool reported = wk_error() != NULL;
    wk_clear_error();
    const bool cpu_works = wk_item(wk_sum(wk_ones((3)))) == 3;
    printf("%.17g\n", number);
    fflush(stdout);
    return !cpu_works ? WRONG : reported ? REPORTED : FINE;
}

/* ---- the parent -------------------------------------------------------------------------------------------------- */

/* Returns the exit status of a run, or -1 if it did not exit; *number is its output. */
static int run(int at, char number[64])
{
    char fail_at[32], line[64] = "";
    int out[2], status = 0;
    pid_t child;
    char *const arguments[] = {(char *)(uintptr_t)program, (char[]){"train"}, NULL};
    posix_spawn_file_actions_t actions;
    snprintf(fail_at, sizeof fail_at, "%d", at);
    setenv("STANDIN_FAIL_AT", fail_at, 1);
    assert_int_equal(pipe(out), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, out[0]);
    assert_int_equal(posix_spawn(&child, program, &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    FILE *from = fdopen(out[0], "r");
    if (fgets(line, sizeof line, from) == NULL) line[0] = '\0';
    fclose(from);
    assert_int_equal(waitpid(child, &status, 0), child);
    snprintf(number, 64, "%s", line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Fails all of the first calls, which open the devices, then a sample of the others, which depends on the seed; 0 fails
 * none. */
static void each_call_fails_once(void **state)
{
    (void)state;
    enum { ALL = 60, LAST = 700, STEP = 9 };
    char want[64], have[64];
    int reported = 0;
    /* compiled once, not in each run */
    setenv("WICK_CACHE_DIR", getenv("WICK_WORK") ? getenv("WICK_WORK") : "/tmp", 1);
    assert_int_equal(run(0, want), FINE);
    for (int at = 1; at <= LAST; at += at < ALL ? 1 : at == ALL ? 1 + (int)(test_seed() % STEP) : STEP) {
        const int end = run(at, have);
        const bool good = end == REPORTED || (end == FINE && strcmp(have, want) == 0);
        if (!good) fail_msg("call %d: the process ended with %d, %s instead of %s", at, end, have, want);
        reported += end == REPORTED;
    }
    print_message("%d of the calls reported an error\n", reported);
    assert_true(reported > ALL / 2);
}

int main(int count, char **arguments)
{
    if (count > 1) return run_child();
    program = arguments[0];
    if (wk_device_count(WK_CUDA) < 2) {
        printf("skip cuda_failing: there are no two CUDA devices\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_call_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
