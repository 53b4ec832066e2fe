/* SPDX-License-Identifier: Apache-2.0 */
/* Reference counts. A locked addition costs as much as a whole small op has to spare, so while the process
 * has a single thread (glibc knows) counts are changed without the lock; the thread that starts a second one
 * ends that before it exists. */
#ifndef WICK_BASE_COUNT_H
#define WICK_BASE_COUNT_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#if defined(__has_include) && !defined(__SANITIZE_THREAD__)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define WK__SINGLE_THREADED __libc_single_threaded
#endif
#endif
#ifndef WK__SINGLE_THREADED
#define WK__SINGLE_THREADED 0
#endif

static inline int wk__refcount_get(const atomic_int *count)
{
    return atomic_load_explicit((atomic_int *)(unsigned long)count, memory_order_relaxed);
}

static inline void wk__refcount_inc(atomic_int *count)
{
    if (__builtin_expect(WK__SINGLE_THREADED, 1))
        atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

/* True when the last reference has gone: what the others did with the object has happened before. */
static inline bool wk__refcount_dec(atomic_int *count)
{
    if (__builtin_expect(WK__SINGLE_THREADED, 1)) {
        int left = atomic_load_explicit(count, memory_order_relaxed) - 1;
        atomic_store_explicit(count, left, memory_order_relaxed);
        return left == 0;
    }
    return atomic_fetch_sub_explicit(count, 1, memory_order_acq_rel) == 1;
}

/* A lock that is held for moments. */
static inline void wk__spin_lock(atomic_int *lock)
{
    if (__builtin_expect(WK__SINGLE_THREADED, 1) && !atomic_load_explicit(lock, memory_order_relaxed)) {
        atomic_store_explicit(lock, 1, memory_order_relaxed);
        return;
    }
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire)) sched_yield();
}
static inline void wk__spin_unlock(atomic_int *lock)
{
    atomic_store_explicit(lock, 0, memory_order_release);
}

#endif
