/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory of the library. All allocations except tensor data (backend/arena) pass through here, so that user code
 * can install an allocator and tests can make the n-th request fail.
 *
 * Threads: any thread may call every function; the allocator is fixed before the first request. */
#ifndef WICK_BASE_ALLOC_H
#define WICK_BASE_ALLOC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocation functions. Return NULL on allocation failure or size overflow; the caller reports the error. An empty
 * request returns a valid pointer. */
void *wk__alloc(size_t size);
void *wk__alloc_zero(size_t count, size_t size);
void *wk__realloc(void *block, size_t count, size_t size);
void wk__free(void *block);
char *wk__strdup(const char *text);

/* Grows the array whose pointer is stored at array_address to at least `need` items of `size` bytes, doubling
 * *capacity. Returns false on allocation failure and leaves the array unchanged. */
bool wk__grow(void *array_address, int64_t *capacity, int64_t need, size_t size);

/* Compute a x b and a + b. Return false on int64 overflow. */
static inline bool wk__mul_size(int64_t a, int64_t b, int64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

static inline bool wk__add_size(int64_t a, int64_t b, int64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

/* Test hook: lets the n-th request from now on fail once (1: the next); 0 disables it. Counts all threads. */
void wk__alloc_fail_at(int64_t n);
/* Returns the number of requests so far, for tests that fail each in turn. */
int64_t wk__alloc_count(void);
/* Excludes the requests of the current thread between begin and end from the count and from wk__alloc_fail_at(), for
 * work that user code did not ask for, such as the second computation of WICK_CHECK. Other threads are unaffected; code
 * that distributes the work, such as the pool, must exclude its threads too. The caller provides the storage of
 * *pause. */
typedef struct wk__alloc_untracked {
    struct wk__alloc_untracked *next;
    pthread_t thread;
} wk__alloc_untracked;
void wk__alloc_untracked_begin(wk__alloc_untracked *pause);
void wk__alloc_untracked_end(wk__alloc_untracked *pause);
/* Returns true if the requests of this thread are not counted. */
bool wk__alloc_is_untracked(void);
/* Called in a forked child: forgets the pauses of threads that do not exist there. */
void wk__alloc_after_fork(void);

#endif
