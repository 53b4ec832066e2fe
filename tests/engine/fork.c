/* SPDX-License-Identifier: Apache-2.0 */
/* Tests fork(): a child computes on the CPU whatever its parent computed there. After a device with a driver was used,
 * or while the parent has other threads, each call of the child reports the reason for refusal. */
#include "support/wick.h"

#include "base/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3 };

static pid_t start(int (*body)(void))
{
    const pid_t pid = fork();
    if (pid == 0) _exit(body());
    assert_true(pid > 0);
    return pid;
}

static int result_of(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int in_child(int (*body)(void))
{
    return result_of(start(body));
}

static int computes(void)
{
    WK_SCOPE;
    return wk_item(wk_sum(wk_ones((3)))) == 3 && !wk_error() ? 0 : 1;
}

static void a_child_of_a_parent_that_did_nothing(void **state)
{
    (void)state;
    wk_device_count(WK_CPU);
    assert_int_equal(in_child(computes), 0);
}

/* ---- the server -------------------------------------------------------------------------------------------------- */

static wk_module *net;
static wk_tensor *kept, *pending;
static double wanted;

/* Large enough for the threads of the pool. */
static double answer(void)
{
    WK_SCOPE;
    WK_NO_GRAD;
    return wk_item(wk_sum(wk_forward(net, wk_ones((256, 300)))));
}

static int serves(void)
{
    if (answer() != wanted || wk_error()) return 1;
    WK_SCOPE;
    if (wk_item(wk_sum(kept)) != 1e6 || wk_item(wk_sum(pending)) != 3e6) return 2; /* in memory, and only recorded */
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = 0.1);
    wk_backward(wk_mean(wk_forward(net, wk_ones((64, 300)))));
    wk_optim_step(sgd);
    return answer() != wanted && !wk_error() ? 0 : 3;
}

static void workers_of_a_server_compute(void **state)
{
    (void)state;
    const int threads = wk_thread_count();
    wk_set_threads(4);
    net = wk_nn_sequential(wk_nn_linear(300, 200), wk_nn_relu(), wk_nn_linear(200, 100));
    kept = wk_ones((1000, 1000));
    wanted = answer();
    {
        WK_SCOPE;
        pending = wk_retain(wk_mul(kept, 3));
    }
    assert_true(wk_item(wk_sum(kept)) == 1e6); /* the pool has been used */
    pid_t worker[WORKERS];
    for (int k = 0; k < WORKERS; k++) worker[k] = start(serves);
    for (int k = 0; k < WORKERS; k++) assert_int_equal(result_of(worker[k]), 0);
    assert_true(answer() == wanted); /* changes of the children are theirs */
    assert_int_equal(in_child(serves), 0);
    wk_free(net);
    wk_free(kept);
    wk_free(pending);
    wk_set_threads(threads);
    expect_ok();
}

static wk_loader *loader;
static wk_batch *batch;

static int continue_loading(void)
{
    int batches = 0;
    while (wk_batch_next(&batch)) {
        batches++;
        if (wk_item(wk_sum(batch->x)) != 2.0 * (double)wk_size(batch->x, 0)) return 1;
    }
    return batches == 9 && !wk_error() ? 0 : 2;
}

/* The thread that prepares the next batch remains in the parent. */
static void a_loader_loop_continues_in_a_child(void **state)
{
    (void)state;
    WK_SCOPE;
    loader = wk_data_loader(wk_data_tensors(wk_ones((1000, 2)), NULL), .batch_size = 100);
    batch = wk_batch_begin_at(WK_HERE, loader);
    assert_true(wk_batch_next(&batch));
    assert_int_equal(in_child(continue_loading), 0);
    assert_int_equal(continue_loading(), 0);
    expect_ok();
}

/* ---- refused children -------------------------------------------------------------------------------------------- */

typedef struct visitor {
    pthread_barrier_t begun, end;
} visitor;

static void *use(void *user)
{
    visitor *v = user;
    computes();
    pthread_barrier_wait(&v->begun);
    pthread_barrier_wait(&v->end);
    return NULL;
}

static int expect_error_of_threads(void)
{
    for (int k = 0; k < 2; k++) {
        if (wk_ones((3)) || !wk_error() || !strstr(wk_error(), "while 1 other thread of its parent")) return 1;
        wk_clear_error();
    }
    return 0;
}

static void fork_beside_another_thread(void **state)
{
    (void)state;
    visitor v;
    pthread_t thread;
    pthread_barrier_init(&v.begun, NULL, 2);
    pthread_barrier_init(&v.end, NULL, 2);
    assert_int_equal(computes(), 0);
    assert_int_equal(pthread_create(&thread, NULL, use, &v), 0);
    pthread_barrier_wait(&v.begun);
    assert_int_equal(in_child(expect_error_of_threads), 0);
    pthread_barrier_wait(&v.end);
    pthread_join(thread, NULL);
    assert_int_equal(in_child(computes), 0);
}

/* A thread that the library does not know yet forks while another one uses the list of threads. */
static atomic_bool over;

static void *visits(void *context)
{
    while (!atomic_load(&over))
        if (wk__context_acquire(context)) wk__context_release(context);
    return NULL;
}

static int is_refused(void)
{
    alarm(60); /* a child that waits for a lock would wait forever */
    WK_SCOPE;
    wk_ones((3));
    return wk_error() && strstr(wk_error(), "of its parent used the library") ? 0 : 1;
}

static void *forks(void *result)
{
    enum { CHILDREN = 100 };
    int *wrong = result;
    for (int k = 0; k < CHILDREN; k++) {
        const pid_t pid = fork();
        int status = 0;
        if (pid == 0) _exit(is_refused());
        *wrong += waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    return NULL;
}

static void fork_while_another_thread_locks(void **state)
{
    (void)state;
    pthread_t visitor, forker;
    int wrong = 0;
    assert_int_equal(computes(), 0);
    assert_int_equal(pthread_create(&visitor, NULL, visits, wk__context()), 0);
    assert_int_equal(pthread_create(&forker, NULL, forks, &wrong), 0);
    pthread_join(forker, NULL);
    atomic_store(&over, true);
    pthread_join(visitor, NULL);
    assert_int_equal(wrong, 0);
}

static int first_line;

/* Neither values recorded before the fork nor values in memory are accessible, and no file is written. */
static int expect_error_of_device(void)
{
    char place[64];
    snprintf(place, sizeof place, "used null:0 (first in ones at ");
    if (!wk_sync() || !wk_error() || !strstr(wk_error(), place)) return 1;
    snprintf(place, sizeof place, "engine/fork.c:%d", first_line);
    if (!strstr(wk_error(), place)) return 2;
    wk_clear_error();
    wk_item(kept);
    if (!wk_error() || !strstr(wk_error(), "forked")) return 3;
    wk_clear_error();
    return 0;
}

static void fork_after_a_device_was_used(void **state)
{
    (void)state;
    WK_SCOPE;
    first_line = __LINE__ + 1;
    wk_ones((3), .device = test_null());
    kept = wk_ones((1));
    assert_int_equal(in_child(expect_error_of_device), 0);
    assert_true(wk_item(kept) == 1);
    assert_int_equal(in_child(expect_error_of_device), 0);
    assert_int_equal(computes(), 0); /* the parent continues */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_of_a_parent_that_did_nothing), cmocka_unit_test(workers_of_a_server_compute),
        cmocka_unit_test(a_loader_loop_continues_in_a_child),   cmocka_unit_test(fork_beside_another_thread),
        cmocka_unit_test(fork_while_another_thread_locks),      cmocka_unit_test(fork_after_a_device_was_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
