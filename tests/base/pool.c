/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the thread pool: every task once, nested and concurrent calls, changing thread counts, wake-ups, fork,
 * quotas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/platform/cgroup.h"
#include "base/pool.h"
#include "hostile/scratch.h"

static void sleep_microseconds(long count)
{
    nanosleep(&(struct timespec){.tv_nsec = count * 1000}, NULL);
}

/* ---- every task once ----------------------------------------------------------------------------------------- */

enum { MOST_TASKS = 1000 };

static void mark(void *user, int64_t k)
{
    ((int *)user)[k]++; /* not atomic: TSan reports a task run by two threads */
}

static void each_task_once(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8, 2, 5, 1, 4};
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        wk__set_thread_count(threads[t]);
        assert_int_equal(wk__thread_count(), threads[t]);
        for (int tasks = 0; tasks <= MOST_TASKS; tasks += 1 + tasks / 4) {
            int marks[MOST_TASKS + 1] = {0};
            wk__parallel_for(tasks, mark, marks);
            for (int k = 0; k < tasks; k++) assert_int_equal(marks[k], 1);
            assert_int_equal(marks[tasks], 0);
        }
    }
}

static void the_count_is_limited(void **state)
{
    (void)state;
    wk__set_thread_count(0);
    assert_int_equal(wk__thread_count(), 1);
    wk__set_thread_count(5000);
    assert_int_equal(wk__thread_count(), 1024);
}

/* ---- threads of tasks ---------------------------------------------------------------------------------------- */

typedef struct meeting {
    _Atomic int present;
    int expected;
    _Atomic bool signals_blocked;
    pthread_t host;
    int patience; /* waits after which a thread leaves though others are missing; 0: never */
    _Atomic bool left_early;
} meeting;

/* Ends only when the expected number of threads are in it: without a limit it never ends if the pool runs tasks one
 * after another. */
static void meet(void *user, int64_t k)
{
    meeting *m = user;
    (void)k;
    if (!pthread_equal(pthread_self(), m->host)) {
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, NULL, &blocked);
        if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGUSR1)) m->signals_blocked = false;
    }
    m->present++;
    for (int naps = 1; m->present < m->expected; naps++) {
        sleep_microseconds(10);
        if (naps != m->patience) continue;
        m->left_early = true;
        break;
    }
}

static void tasks_run_concurrently(void **state)
{
    (void)state;
    for (int threads = 2; threads <= 6; threads++) {
        wk__set_thread_count(threads);
        for (int round = 0; round < 20; round++) {
            meeting m = {.expected = threads, .signals_blocked = true, .host = pthread_self()};
            wk__parallel_for(threads, meet, &m);
            assert_int_equal(m.present, threads);
            assert_true(m.signals_blocked);
        }
    }
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT)); /* the caller's own mask is unchanged */
}

typedef struct nest {
    _Atomic int64_t sum;
    pthread_t thread;
    _Atomic bool strange; /* an inner task ran in another thread than its outer one */
} nest;

static void inner(void *user, int64_t k)
{
    nest *n = user;
    if (!pthread_equal(pthread_self(), n->thread)) n->strange = true;
    n->sum += k;
}

static void outer(void *user, int64_t k)
{
    nest within = {.thread = pthread_self()};
    (void)k;
    wk__parallel_for(100, inner, &within);
    if (within.strange) ((nest *)user)->strange = true;
    ((nest *)user)->sum += within.sum;
}

static void nested_calls_stay_in_the_caller(void **state)
{
    (void)state;
    wk__set_thread_count(4);
    for (int round = 0; round < 100; round++) {
        nest n = {0};
        wk__parallel_for(50, outer, &n);
        assert_int_equal(n.sum, 50 * 4950);
        assert_false(n.strange);
    }
}

static void *many_calls(void *failures)
{
    for (int round = 0; round < 2000; round++) {
        int marks[40] = {0};
        wk__parallel_for(40, mark, marks);
        for (int k = 0; k < 40; k++) *(_Atomic int *)failures += marks[k] != 1;
    }
    return NULL;
}

static void concurrent_callers(void **state)
{
    (void)state;
    enum { CALLERS = 4 };
    pthread_t caller[CALLERS];
    _Atomic int failures = 0;
    wk__set_thread_count(3);
    for (int k = 0; k < CALLERS; k++) assert_int_equal(pthread_create(&caller[k], NULL, many_calls, &failures), 0);
    for (int k = 0; k < CALLERS; k++) pthread_join(caller[k], NULL);
    assert_int_equal(failures, 0);
}

/* wk__set_thread_count is not intended for a busy pool; no task is lost nevertheless. */
static void the_count_changes_during_work(void **state)
{
    (void)state;
    pthread_t caller[2];
    _Atomic int failures = 0;
    for (int k = 0; k < 2; k++) assert_int_equal(pthread_create(&caller[k], NULL, many_calls, &failures), 0);
    for (int round = 0; round < 100; round++) {
        wk__set_thread_count(1 + round % 5);
        sleep_microseconds(50);
    }
    for (int k = 0; k < 2; k++) pthread_join(caller[k], NULL);
    assert_int_equal(failures, 0);
}

/* ---- sleep and wake-up --------------------------------------------------------------------------------------- */

typedef struct dozing {
    long microseconds;
    _Atomic int done;
} dozing;

static void doze(void *user, int64_t k)
{
    dozing *all = user;
    (void)k;
    sleep_microseconds(all->microseconds);
    all->done++;
}

/* Pauses and tasks take about as long as the spinning, so that threads fall asleep just when they are needed. If a
 * worker is not woken, the meeting waits for it in vain and reports that; if a caller is not woken, it never returns,
 * and the alarm ends the test. If a caller is woken too early, it finds tasks undone. */
static void no_wake_up_is_lost(void **state)
{
    (void)state;
    unsigned random = 1;
    wk__set_thread_count(3);
    for (int round = 0; round < 1500; round++) {
        random = random * 1103515245 + 12345;
        long pause = (long)(random >> 16 & 127);
        meeting m = {.expected = 3, .signals_blocked = true, .host = pthread_self(), .patience = 100000};
        dozing all = {.microseconds = (long)(random >> 8 & 127)};
        sleep_microseconds(pause);
        wk__parallel_for(3, meet, &m);
        assert_false(m.left_early);
        wk__parallel_for(3, doze, &all);
        assert_int_equal(all.done, 3);
    }
}

static double processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

static void idle_threads_use_no_processor(void **state)
{
    (void)state;
    int marks[16] = {0};
    wk__set_thread_count(4);
    wk__parallel_for(16, mark, marks);
    sleep_microseconds(5000);
    double before = processor_seconds();
    sleep_microseconds(200000);
    assert_true(processor_seconds() - before < 0.02);
}

/* ---- fork ---------------------------------------------------------------------------------------------------- */

static void a_forked_child_has_a_new_pool(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* TSan does not allow threads in a child of a process with threads */
#endif
    const char *runner = getenv("WICK_RUNNER");
    if (runner && strstr(runner, "qemu")) skip(); /* nor does qemu-user 7.2, which hangs there */
    int marks[64] = {0};
    wk__set_thread_count(3);
    wk__parallel_for(64, mark, marks);
    pid_t child = fork();
    if (child == 0) {
        wk__pool_after_fork();
        meeting m = {.expected = 3, .signals_blocked = true, .host = pthread_self()};
        wk__parallel_for(3, meet, &m);
        _exit(m.present == 3 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    wk__parallel_for(64, mark, marks);
    for (int k = 0; k < 64; k++) assert_int_equal(marks[k], 2);
}

/* ---- number of threads --------------------------------------------------------------------------------------- */

/* wk__thread_count in a child process that has not looked up anything yet. */
static int threads_with(const char *value)
{
    pid_t child = fork();
    if (child == 0) {
        if (value) {
            setenv("WICK_THREADS", value, 1);
        } else {
            unsetenv("WICK_THREADS");
        }
        _exit(wk__thread_count() > 255 ? 255 : wk__thread_count());
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void thread_count_from_the_environment(void **state)
{
    (void)state;
    int usual = threads_with(NULL);
    assert_in_range(usual, 1, 255);
    assert_int_equal(threads_with("7"), 7);
    assert_int_equal(threads_with("99999"), 255);
    assert_int_equal(threads_with(""), usual);
    assert_int_equal(threads_with("0"), usual);
    assert_int_equal(threads_with("-3"), usual);
    assert_int_equal(threads_with("two"), usual);
    assert_int_equal(threads_with("4x"), usual);
}

static char root[] = "/tmp/wick-quota-XXXXXX";

static void put_file(const char *path, const char *text)
{
    put_below(root, path, text);
}

static void expect_no_group(void *user, const char *folder, bool unified)
{
    (void)unified, (void)user;
    fail_msg("unexpected folder %.60s...", folder);
}

static void quotas(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(root));
    assert_int_equal(wk__cgroup_cpu_limit(root), 0);

    put_file("/proc/self/cgroup", "0::/a/b\n");
    assert_int_equal(wk__cgroup_cpu_limit(root), 0);
    put_file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_int_equal(wk__cgroup_cpu_limit(root), 0);
    put_file("/sys/fs/cgroup/a/b/cpu.max", "250000 100000\n");
    assert_int_equal(wk__cgroup_cpu_limit(root), 3);
    put_file("/sys/fs/cgroup/a/cpu.max", "200000 100000\n"); /* the enclosing group has a lower limit */
    assert_int_equal(wk__cgroup_cpu_limit(root), 2);
    put_file("/sys/fs/cgroup/cpu.max", "10000 100000\n");
    assert_int_equal(wk__cgroup_cpu_limit(root), 1);

    /* a container that mounts its own group, under the path of its host */
    put_file("/proc/self/cgroup", "0::/elsewhere/on/the/host\n");
    put_file("/sys/fs/cgroup/cpu.max", "400000 100000\n");
    assert_int_equal(wk__cgroup_cpu_limit(root), 4);
    put_file("/proc/self/cgroup", "0::/\n");
    assert_int_equal(wk__cgroup_cpu_limit(root), 4);

    put_file("/proc/self/cgroup", "3:cpuset:/\n2:cpu,cpuacct:/job\n1:name=systemd:/\n");
    assert_int_equal(wk__cgroup_cpu_limit(root), 0);
    put_file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    put_file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "50000\n");
    assert_int_equal(wk__cgroup_cpu_limit(root), 0);
    put_file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
    assert_int_equal(wk__cgroup_cpu_limit(root), 6);
    put_file("/proc/self/cgroup", "3:cpuset:/job\n2:cpuacct:/job\nnonsense\n");
    assert_int_equal(wk__cgroup_cpu_limit(root), 0);

    put_file("/proc/self/cgroup", "2:memory:/job\n"); /* a root that leaves no room after "/sys/fs/cgroup/memory" */
    char far[PATH_MAX - sizeof "/proc/self/cgroup" + 1];
    strcpy(far, root);
    for (size_t length = strlen(root); length < sizeof far - 1; length++) far[length] = '/', far[length + 1] = 0;
    wk__cgroup_each(far, "memory", expect_no_group, NULL);

    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    alarm(100); /* a hang is a failure */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_count_from_the_environment), /* first: its children must not have looked up anything */
        cmocka_unit_test(quotas),
        cmocka_unit_test(the_count_is_limited),
        cmocka_unit_test(each_task_once),
        cmocka_unit_test(tasks_run_concurrently),
        cmocka_unit_test(nested_calls_stay_in_the_caller),
        cmocka_unit_test(concurrent_callers),
        cmocka_unit_test(the_count_changes_during_work),
        cmocka_unit_test(no_wake_up_is_lost),
        cmocka_unit_test(idle_threads_use_no_processor),
        cmocka_unit_test(a_forked_child_has_a_new_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
