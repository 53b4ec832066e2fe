/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a test: what they find wrong they say, and the test fails with it once all have ended (cmocka's own checks
 * may only fail in the main thread). */
#ifndef TESTS_SUPPORT_THREADS_H
#define TESTS_SUPPORT_THREADS_H

#include "wick.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { TEST_THREADS = 8 };

typedef struct test_thread test_thread;
struct test_thread {
    int number;        /* 0 .. count - 1 */
    void *user;        /* what the test gave to all of them */
    char failure[400]; /* the first thing that was wrong; empty: nothing */
    void (*body)(test_thread *t);
    pthread_t thread;
};

/* Runs body in `count` threads, all under way at once, and waits for them. */
void test_threads(int count, void (*body)(test_thread *t), void *with);
/* The same in two halves. */
void test_threads_start(test_thread threads[], int count, void (*body)(test_thread *t), void *with);
void test_threads_end(test_thread threads[], int count);
/* Does what the main thread would do in one other thread, and waits for it. */
void test_in_thread(void (*body)(test_thread *t), void *with);

/* In a thread: unless `good`, says so (with the error that is pending, if any). Returns good. */
bool test_thread_check(test_thread *t, bool good, const char *what, int line);
#define THREAD_CHECK(t, condition) test_thread_check(t, condition, #condition, __LINE__)
/* The pending error has all these words (NULL at the end); it is cleared. */
bool test_thread_check_error(test_thread *t, int line, const char *word, ...) __attribute__((sentinel));
#define THREAD_CHECK_ERROR(t, ...) test_thread_check_error(t, __LINE__, __VA_ARGS__)

/* A flag that one thread raises and others wait for. */
void test_raise(atomic_int *flag, int value);
void test_await(atomic_int *flag, int value);

#endif
