/* SPDX-License-Identifier: Apache-2.0 */
/* One hook for all host memory of the library (not tensor data: that is the arena's), so that a program can supply its
 * own and the tests can make the n-th request fail. */
#ifndef WICK_BASE_ALLOC_H
#define WICK_BASE_ALLOC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each returns NULL when memory is short; the caller reports it. Sizes are count x size, overflow-checked. */
void *wk__alloc(size_t size);
void *wk__alloc_zero(size_t count, size_t size);
void *wk__realloc(void *block, size_t count, size_t size);
void wk__free(void *block);
char *wk__strdup(const char *text);

/* Grows an array with room for `capacity` items of `size` bytes so that it holds at least `need`; doubles. False when
 * memory is short, with the array as it was. */
bool wk__grow(void *array_address, int64_t *capacity, int64_t need, size_t size);

/* a x b and a + b for sizes of tensors; false on overflow of int64. */
static inline bool wk__mul_size(int64_t a, int64_t b, int64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

static inline bool wk__add_size(int64_t a, int64_t b, int64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

/* Test hook: the n-th request from now on (1 = the next) fails once; 0 = none. Counted over all threads. */
void wk__alloc_fail_at(int64_t n);
/* Requests made so far, for tests that fail each in turn. */
int64_t wk__alloc_count(void);
/* A thread does work that is no part of the program's (WICK_CHECK computes everything a second time): its requests
 * between begin and end are not counted, and none of them is the one that has to fail; those of other threads are as
 * ever. Whoever has another thread do a part of the work, as the pool does, has that one pause as well. Where a pause
 * lies is the caller's affair. */
typedef struct wk__alloc_untracked {
    struct wk__alloc_untracked *next;
    pthread_t thread;
} wk__alloc_untracked;
void wk__alloc_untracked_begin(wk__alloc_untracked *pause);
void wk__alloc_untracked_end(wk__alloc_untracked *pause);
/* Is this thread between the two? */
bool wk__alloc_is_untracked(void);
/* In a child of fork(): the threads that paused are not there. */
void wk__alloc_after_fork(void);

#endif
