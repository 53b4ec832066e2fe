/* SPDX-License-Identifier: Apache-2.0 */
/* Implements threads.h. */
#include "threads.h"

static void *run(void *address)
{
    test_thread *t = address;
    t->body(t);
    if (wk_error()) test_thread_check(t, false, "an error was left over", 0);
    return NULL;
}

void test_threads_start(test_thread threads[], int count, void (*body)(test_thread *t), void *with)
{
    for (int k = 0; k < count; k++) {
        threads[k] = (test_thread){.number = k, .user = with, .body = body};
        assert_int_equal(pthread_create(&threads[k].thread, NULL, run, &threads[k]), 0);
    }
}

void test_threads_end(test_thread threads[], int count)
{
    for (int k = 0; k < count; k++) pthread_join(threads[k].thread, NULL);
    for (int k = 0; k < count; k++)
        if (threads[k].failure[0]) fail_msg("thread %d: %s", k, threads[k].failure);
}

void test_threads(int count, void (*body)(test_thread *t), void *with)
{
    test_thread threads[TEST_THREADS];
    assert_true(count <= TEST_THREADS);
    test_threads_start(threads, count, body, with);
    test_threads_end(threads, count);
}

void test_in_thread(void (*body)(test_thread *t), void *with)
{
    test_threads(1, body, with);
}

bool test_thread_check(test_thread *t, bool good, const char *what, int line)
{
    if (good || t->failure[0]) return good;
    snprintf(t->failure, sizeof t->failure, "line %d: %s (%.250s)", line, what, wk_error() ? wk_error() : "no error");
    return false;
}

bool test_thread_check_error(test_thread *t, int line, const char *word, ...)
{
    va_list args;
    bool good = wk_error() != NULL;
    va_start(args, word);
    for (const char *next = word; next && good; next = va_arg(args, const char *)) {
        good = strstr(wk_error(), next) != NULL;
        if (!good) test_thread_check(t, false, next, line);
    }
    va_end(args);
    if (!good) test_thread_check(t, false, word, line);
    wk_clear_error();
    return good;
}

void test_raise(atomic_int *flag, int value)
{
    atomic_store(flag, value);
}

void test_await(atomic_int *flag, int value)
{
    while (atomic_load(flag) < value) sched_yield();
}
