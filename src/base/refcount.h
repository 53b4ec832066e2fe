/* SPDX-License-Identifier: Apache-2.0 */
/* Reference counts and spin locks. An atomic read-modify-write would be a large part of a small op's cost, so while the
 * process is single-threaded (glibc maintains that flag) plain loads and stores are used. The flag is cleared before a
 * second thread starts. */
#ifndef WICK_BASE_REFCOUNT_H
#define WICK_BASE_REFCOUNT_H

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

/* Drops a reference. Returns true if it was the last; all earlier accesses by other owners happen before that. */
static inline bool wk__refcount_dec(atomic_int *count)
{
    if (__builtin_expect(WK__SINGLE_THREADED, 1)) {
        int left = atomic_load_explicit(count, memory_order_relaxed) - 1;
        atomic_store_explicit(count, left, memory_order_relaxed);
        return left == 0;
    }
    return atomic_fetch_sub_explicit(count, 1, memory_order_acq_rel) == 1;
}

/* First member of an object that is shared by code that does not know the object's type. */
typedef struct wk__counted {
    atomic_int refs;
    void (*end)(void *object); /* called when the last reference is dropped; usually frees the object */
} wk__counted;

static inline void wk__counted_hold(void *object)
{
    wk__refcount_inc(&((wk__counted *)object)->refs);
}
static inline void wk__counted_drop(void *object)
{
    wk__counted *counted = object;
    if (wk__refcount_dec(&counted->refs)) counted->end(object);
}

/* Spin lock. Waiting threads yield: a section may last for a flush (queue_lock). */
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
