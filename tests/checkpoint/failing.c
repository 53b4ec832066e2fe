/* SPDX-License-Identifier: Apache-2.0 */
/* Tests checkpoints under failures: errors of system calls, allocation failures, killed, forking and ending processes.
 * At every moment a complete file exists, and a restarted training ends with the same values. */
#include "support/training.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hostile/scratch.h"
#include <base/alloc.h>

/* ---- system calls ------------------------------------------------------------------------------------------------ */

/* The program's own definitions take precedence over those of the C library: each counts, and the n-th fails. */
static atomic_int calls, first_to_fail, last; /* 0: none; the process is killed in the last one */
static atomic_bool for_good, met;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* held: writes wait */

static bool refused(int reason)
{
    const int number = atomic_fetch_add(&calls, 1) + 1, first = atomic_load(&first_to_fail);
    if (number == atomic_load(&last)) raise(SIGKILL);
    if (!first || (number != first && !(number > first && atomic_load(&for_good)))) return false;
    atomic_store(&met, true);
    errno = reason;
    return true;
}

static void fail_at(int n, bool all_after)
{
    atomic_store(&for_good, all_after);
    atomic_store(&met, false);
    atomic_store(&first_to_fail, n ? atomic_load(&calls) + n : 0);
}

#define NEXT(name) (__extension__(__typeof__(name) *) dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return refused(EMFILE) ? -1 : NEXT(open)(path, flags, mode);
}
ssize_t write(int fd, const void *bytes, size_t count)
{
    if (refused(ENOSPC)) return -1;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return NEXT(write)(fd, bytes, count > 1000 ? 1000 : count);
}
ssize_t pread(int fd, void *bytes, size_t count, off_t at)
{
    return refused(EIO) ? -1 : NEXT(pread)(fd, bytes, count, at);
}
int fsync(int fd)
{
    (void)fd;
    return refused(EIO) ? -1 : 0; /* slow, and no test cuts the power */
}
int fchmod(int fd, mode_t mode)
{
    return refused(EPERM) ? -1 : NEXT(fchmod)(fd, mode);
}
int fstat(int fd, struct stat *status)
{
    return refused(EIO) ? -1 : NEXT(fstat)(fd, status);
}
int rename(const char *from, const char *to)
{
    return refused(EACCES) ? -1 : NEXT(rename)(from, to);
}
int link(const char *from, const char *to)
{
    return refused(EPERM) ? -1 : NEXT(link)(from, to);
}
int unlink(const char *path)
{
    return refused(EACCES) ? -1 : NEXT(unlink)(path);
}
int flock(int fd, int operation)
{
    return refused(ENOLCK) ? -1 : NEXT(flock)(fd, operation);
}
char *realpath(const char *path, char *resolved)
{
    return refused(EACCES) ? NULL : NEXT(realpath)(path, resolved);
}
DIR *opendir(const char *path)
{
    return refused(EMFILE) ? NULL : NEXT(opendir)(path);
}

/* ---- trainings --------------------------------------------------------------------------------------------------- */

enum { EPOCHS = 2, STEPS = 12 };

static const char *path_of(const char *name)
{
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s", scratch(name));
    return path;
}

static void remove_all(const char *path)
{
    unlink(path);
    for (int step = 0; step <= STEPS; step++) {
        char name[320];
        snprintf(name, sizeof name, "%s.%d", path, step);
        unlink(name);
    }
}

static test_config plan_of(const char *path, int keep, bool blocking)
{
    return (test_config){.optimiser = test_adam,
                         .device = wk_cpu(),
                         .samples = 22,
                         .batch = 4,
                         .path = path,
                         .keep = keep,
                         .blocking = blocking};
}

static uint64_t loaded_state(const test_config *plan, int64_t *step)
{
    WK_SCOPE;
    test_training t = test_begin(plan, 50);
    if (!wk_checkpoint_load(t.checkpoint))
        fail_msg("%s: incomplete: %s", plan->path, wk_error() ? wk_error() : "missing");
    *step = wk_checkpoint_step(t.checkpoint);
    return test_state(&t);
}

/* ---- each call fails in turn ------------------------------------------------------------------------------------- */

/* With a file of step 2, a call fails during the save of step 3: either the error is reported, or the save succeeds;
 * the file is of step 2 or 3, and of 3 if no error was reported. */
static void each_call_of_a_save(int keep, bool blocking, bool all_after)
{
    test_config plan = plan_of(path_of("calls.wick"), keep, blocking);
    bool failed = true;
    int n = 1, errors = 0;
    for (; failed; n++) {
        WK_SCOPE;
        int64_t step;
        remove_all(plan.path);
        test_training t = test_begin(&plan, 1);
        test_train(&t, EPOCHS, 2, 2);
        assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
        test_train(&t, EPOCHS, 1, 0);
        fail_at(n, all_after);
        wk_checkpoint_every(t.checkpoint, 3);
        wk_checkpoint_wait(t.checkpoint);
        failed = atomic_load(&met);
        fail_at(0, false);
        const bool reported = wk_error() != NULL;
        if (reported && (!strstr(wk_error(), "checkpoint_every: ") || !strstr(wk_error(), "calls.wick")))
            fail_msg("call %d: %s", n, wk_error());
        errors += reported;
        wk_clear_error();
        plan.keep = 1; /* `path` itself */
        loaded_state(&plan, &step);
        plan.keep = keep;
        if (step != 3 && !(reported && step == 2))
            fail_msg("call %d: step %d, %s", n, (int)step, reported ? "reported" : "not reported");
        assert_int_equal(wk_checkpoint_save(t.checkpoint), WK_OK); /* the failed save has no effect */
        assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
        loaded_state(&plan, &step);
        assert_int_equal(step, 3);
        assert_true(n < 500);
    }
    print_message("keep %d, %s, %s: %d calls, %d errors\n", keep, blocking ? "blocking" : "background",
                  all_after ? "for good" : "once", n - 1, errors);
    assert_true(n > 8 && errors > 5);
}

static void each_call_of_a_save_fails(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) each_call_of_a_save(k & 1 ? 2 : 1, k & 2, k & 4);
}

/* A call fails during a load: an error without any change, or success, possibly with an older file. */
static void each_call_of_a_load_fails(void **state)
{
    (void)state;
    const test_config plan = plan_of(path_of("loads.wick"), 2, true);
    WK_SCOPE;
    remove_all(plan.path);
    test_training t = test_begin(&plan, 1);
    test_train(&t, EPOCHS, 3, 1);
    int64_t step;
    loaded_state(&plan, &step);
    assert_int_equal(step, 3);
    for (int all_after = 0; all_after < 2; all_after++) {
        bool failed = true;
        for (int n = 1; failed; n++) {
            wk_seed(4);
            const uint64_t before = test_state(&t);
            wk_seed(4);
            fail_at(n, all_after);
            const bool loaded = wk_checkpoint_load(t.checkpoint);
            failed = atomic_load(&met);
            fail_at(0, false);
            assert_true(loaded == !wk_error());
            if (!loaded) {
                expect_error("checkpoint_load: ", "loads.wick", NULL);
                assert_true(test_state(&t) == before);
            } else {
                step = wk_checkpoint_step(t.checkpoint);
                assert_true(step == 3 || (failed && step == 2));
            }
            assert_true(n < 500);
        }
    }
}

/* On a file system without hard links a file is written twice. */
static void without_hard_links(void **state)
{
    (void)state;
    WK_SCOPE;
    const test_config plan = plan_of(path_of("nolinks.wick"), 2, true);
    remove_all(plan.path);
    test_training t = test_begin(&plan, 1);
    int link_number = 0;
    for (int n = 1; !link_number; n++) { /* finds the call of link: the only one after which there are two files */
        struct stat one, other;
        char name[320];
        snprintf(name, sizeof name, "%s.1", plan.path);
        remove_all(plan.path);
        test_training again = test_begin(&plan, 1);
        test_train(&again, EPOCHS, 1, 0);
        fail_at(n, false);
        wk_checkpoint_every(again.checkpoint, 1);
        const bool failed = atomic_load(&met);
        fail_at(0, false);
        if (!wk_error() && stat(plan.path, &one) == 0 && stat(name, &other) == 0 && one.st_ino != other.st_ino)
            link_number = n;
        wk_clear_error();
        assert_true(failed);
    }
    char name[320];
    int64_t step;
    snprintf(name, sizeof name, "%s.1", plan.path);
    const test_config second = plan_of(name, 1, true);
    loaded_state(&second, &step);
    assert_int_equal(step, 1);
    (void)t;
}

/* ---- allocation failures ----------------------------------------------------------------------------------------- */

static void each_allocation_fails(void **state)
{
    (void)state;
    const test_config plan = plan_of(path_of("memory.wick"), 2, false);
    WK_SCOPE;
    remove_all(plan.path);
    test_training t = test_begin(&plan, 1);
    test_train(&t, EPOCHS, 2, 1);
    assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
    bool failed = true;
    for (int64_t n = 1; failed; n = n < 100 ? n + 1 : n + n / 16) { /* a save and a load, one of which fails */
        WK_SCOPE;
        wk_seed(4);
        const uint64_t before = test_state(&t);
        wk_seed(4);
        wk__alloc_fail_at(n);
        wk_checkpoint_save(t.checkpoint);
        wk_checkpoint_wait(t.checkpoint);
        failed = wk_error() != NULL;
        wk_clear_error();
        const bool loaded = wk_checkpoint_load(t.checkpoint);
        failed = failed || wk_error();
        assert_true(loaded == !wk_error());
        wk__alloc_fail_at(0);
        wk_clear_error();
        if (!loaded) assert_true(test_state(&t) == before);
        assert_int_equal(wk_checkpoint_step(t.checkpoint), 2);
        assert_true(wk_checkpoint_load(t.checkpoint)); /* the file is complete */
        assert_true(n < 100000);
    }
    for (int64_t n = 1; n < 8; n++) {
        wk__alloc_fail_at(n);
        wk_checkpoint *c = wk_checkpoint_new(plan.path, t.net, t.optim, t.loader);
        wk__alloc_fail_at(0);
        assert_true((c != NULL) == !wk_error());
        wk_clear_error();
        wk_free(c);
    }
}

/* ---- in the background ------------------------------------------------------------------------------------------- */

/* Steps do not wait for the disk; an error is reported later, once, by the next call. */
static void steps_continue_during_a_save(void **state)
{
    (void)state;
    WK_SCOPE;
    const test_config plan = plan_of(path_of("meanwhile.wick"), 1, false);
    int64_t step;
    remove_all(plan.path);
    test_training t = test_begin(&plan, 1);
    pthread_mutex_lock(&gate);
    test_train(&t, EPOCHS, 4, 3); /* the write of step 3 waits */
    assert_int_equal(wk_checkpoint_step(t.checkpoint), 4);
    assert_int_equal(access(plan.path, F_OK), -1);
    pthread_mutex_unlock(&gate);
    assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
    loaded_state(&plan, &step);
    assert_int_equal(step, 3);
}

static void reported_by_a_step(test_training *t)
{
    while (wk_checkpoint_every(t->checkpoint, 1000) == WK_OK) usleep(100); /* does not wait */
}
static void reported_by_a_wait(test_training *t)
{
    assert_int_equal(wk_checkpoint_wait(t->checkpoint), WK_ERR_IO);
}
static void reported_by_a_save(test_training *t)
{
    assert_int_equal(wk_checkpoint_save(t->checkpoint), WK_ERR_IO);
}
static void reported_by_a_load(test_training *t)
{
    assert_false(wk_checkpoint_load(t->checkpoint));
}
static void reported_at_its_end(test_training *t)
{
    wk_free(t->checkpoint);
    t->checkpoint = NULL;
}
static void reported_at_the_end_of_the_world(test_training *t)
{
    (void)t;
    assert_int_equal(wk_dist_finish(), WK_ERR_IO);
}

static void errors_of_a_save_are_reported_later(void **state)
{
    (void)state;
    static void (*const ways[])(test_training * t) = {reported_by_a_step,  reported_by_a_wait,
                                                      reported_by_a_save,  reported_by_a_load,
                                                      reported_at_its_end, reported_at_the_end_of_the_world};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        WK_SCOPE;
        const test_config plan = plan_of(path_of("no/such/folder/later.wick"), 1, false);
        test_training t = test_begin(&plan, 1);
        test_train(&t, EPOCHS, 1, 0);
        assert_int_equal(wk_checkpoint_save(t.checkpoint), WK_OK);
        const int line = __LINE__ - 1;
        char place[80];
        snprintf(place, sizeof place, "checkpoint/failing.c:%d: checkpoint_save: ", line);
        ways[k](&t);
        expect_error(place, "later.wick: cannot save: No such file or directory", NULL);
        if (t.checkpoint) assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
        expect_ok();
    }
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* Trains to the end from the step of the file, and reports the state. */
static void train_in_child(const char *path, int to)
{
    WK_SCOPE;
    const test_config plan = plan_of(path, 2, false);
    test_training t = test_begin(&plan, 1);
    wk_checkpoint_load(t.checkpoint);
    test_train(&t, EPOCHS, -1, 1);
    wk_checkpoint_wait(t.checkpoint);
    const uint64_t state = test_state(&t);
    if (wk_error() || write(to, &state, sizeof state) != sizeof state) _exit(1);
    _exit(0);
}

/* Runs it, killed after `delay` microseconds or in system call `call` (0: not). Returns true with the final state if it
 * reached the end. */
static bool run_child(const char *path, useconds_t delay, int call, uint64_t *state)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        atomic_store(&last, call ? atomic_load(&calls) + call : 0);
        train_in_child(path, ends[1]);
    }
    close(ends[1]);
    if (delay) usleep(delay);
    if (delay) kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    const bool done = read(ends[0], state, sizeof *state) == sizeof *state;
    close(ends[0]);
    if (WIFEXITED(status)) assert_int_equal(WEXITSTATUS(status), 0);
    return done;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* Repeats until the end is reached: killed by the clock, and in each system call that writes a file. */
static void killed_at_random_moments(void **state)
{
    (void)state;
    uint64_t expected, ended = 0;
    const char *path = path_of("killed.wick");
    int64_t whole = INT64_MAX; /* duration of a complete run */
    remove_all(path);
    unsigned random = 12345;
    for (int round = 0, kills = 0; round < 12; round++) {
        bool done = false;
        remove_all(path);
        for (int turn = 0; !done; turn++) {
            const int64_t begin = now();
            random = random * 1103515245 + 12345;
            const bool first = round == 0, by_clock = round % 2 == 0, enough = turn > 20;
            const useconds_t delay = first || !by_clock || enough ? 0 : (useconds_t)(1 + (random >> 8) % whole);
            const int call = first || by_clock || enough ? 0 : 1 + (int)((random >> 8) % 150);
            done = run_child(path, delay, call, first ? &expected : &ended);
            if (turn == 0 && done && now() - begin < whole) whole = now() - begin;
            if (!first && done && ended != expected) fail_msg("a different state after %d kills", turn);
            kills += !done;
        }
        if (round == 11) print_message("killed %d times\n", kills);
    }
}

/* A process ends while a file is being written: the old file or the new one exists. */
static void the_process_ends_during_a_save(void **state)
{
    (void)state;
    test_config plan = plan_of(path_of("ends.wick"), 1, false);
    for (int round = 0; round < 10; round++) {
        int status;
        remove_all(plan.path);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            test_training t = test_begin(&plan, 1); /* no scope: nothing waits for the write */
            test_train(&t, EPOCHS, 2, 1);
            round % 2 ? _exit(3) : exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        int64_t step;
        if (access(plan.path, F_OK) != 0) continue;
        loaded_state(&plan, &step);
        assert_in_range(step, 1, 2);
    }
}

/* A forked child does not own the parent's write: it neither waits for it nor ends it. */
static void a_child_does_not_end_the_write(void **state)
{
    (void)state;
    WK_SCOPE;
    test_config plan = plan_of(path_of("forked.wick"), 1, false);
    int status;
    int64_t step;
    remove_all(plan.path);
    test_training t = test_begin(&plan, 1);
    test_train(&t, EPOCHS, 1, 0);
    pthread_mutex_lock(&gate);
    assert_int_equal(wk_checkpoint_every(t.checkpoint, 1), WK_OK);
    const char *saving = path_of("forked.wick.wick-saving");
    while (access(saving, F_OK) != 0) usleep(100); /* the thread has begun */
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        pthread_mutex_init(&gate, NULL);
        const bool waited = wk_checkpoint_wait(t.checkpoint) == WK_OK;
        const bool refused_then = wk_checkpoint_save(t.checkpoint) == WK_OK &&
                                  wk_checkpoint_wait(t.checkpoint) == WK_ERR_IO &&
                                  strstr(wk_error(), "another save of this file is in progress");
        wk_clear_error();
        wk_free(t.checkpoint);
        _exit(waited && refused_then && !wk_error() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    pthread_mutex_unlock(&gate);
    assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    loaded_state(&plan, &step);
    assert_int_equal(step, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_random_moments),
        cmocka_unit_test(the_process_ends_during_a_save),
        cmocka_unit_test(a_child_does_not_end_the_write),
        cmocka_unit_test(each_call_of_a_save_fails),
        cmocka_unit_test(each_call_of_a_load_fails),
        cmocka_unit_test(without_hard_links),
        cmocka_unit_test(each_allocation_fails),
        cmocka_unit_test(steps_continue_during_a_save),
        cmocka_unit_test(errors_of_a_save_are_reported_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
