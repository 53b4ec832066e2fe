/* SPDX-License-Identifier: Apache-2.0 */
/* Threads for tests. cmocka checks may fail only in the main thread, so threads record their first failure, and the
 * test fails with it after all threads have ended. */
#ifndef TESTS_SUPPORT_THREADS_H
#define TESTS_SUPPORT_THREADS_H

#include "wick.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { TEST_THREADS = 8 };

typedef struct test_thread test_thread;
struct test_thread {
    int number;        /* in [0, count) */
    void *user;        /* passed by the test, shared by all threads */
    char failure[400]; /* the first failure; empty: none */
    void (*body)(test_thread *t);
    pthread_t thread;
};

/* Runs body in count threads concurrently and waits for them. */
void test_threads(int count, void (*body)(test_thread *t), void *with);
/* The same in two steps: start, and join. */
void test_threads_start(test_thread threads[], int count, void (*body)(test_thread *t), void *with);
void test_threads_end(test_thread threads[], int count);
/* Runs body in one other thread and waits for it. */
void test_in_thread(void (*body)(test_thread *t), void *with);

/* In a thread: unless good, records the failure with the pending error, if any. Returns good. */
bool test_thread_check(test_thread *t, bool good, const char *what, int line);
#define THREAD_CHECK(t, condition) test_thread_check(t, condition, #condition, __LINE__)
/* Checks that the pending error has all these words (terminated by NULL), and clears it. */
bool test_thread_check_error(test_thread *t, int line, const char *word, ...) __attribute__((sentinel));
#define THREAD_CHECK_ERROR(t, ...) test_thread_check_error(t, __LINE__, __VA_ARGS__)

/* Set a flag in one thread; wait for it in others. */
void test_raise(atomic_int *flag, int value);
void test_await(atomic_int *flag, int value);

#endif
