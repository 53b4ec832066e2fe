/* SPDX-License-Identifier: Apache-2.0 */
/* Thread pool: the caller publishes a job, workers join it, and all threads take tasks from one counter.
 *
 *     gate    generation 32 | workers inside 31 | open 1
 *
 * A worker may read the job only while it is inside, and can enter only while the gate is open; both are one
 * compare-and-swap. The caller opens the gate, works, closes it when no task is left, and waits until the last worker
 * has left; only then may the job change. So a worker that wakes up late finds the gate closed and touches nothing, and
 * a job that finished before any worker entered costs the caller no waiting.
 *
 * Waiting threads first spin on the gate and then sleep. Falling asleep and publishing are each "write mine, then read
 * yours" with sequentially consistent atomics, so that at least one side sees the other: no wake-up is lost. */
#include "pool.h"
#include "alloc.h"
#include "base/platform/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { MAX_WORKERS = 1023, SPIN_NANOSECONDS = 50000, CACHE_LINE = 64 };

#define OPEN           UINT64_C(1)
#define ONE_INSIDE     UINT64_C(2)
#define INSIDE         UINT64_C(0xfffffffe)
#define GENERATION     UINT64_C(0xffffffff00000000)
#define ONE_GENERATION (UINT64_C(1) << 32)

static struct {
    _Alignas(CACHE_LINE) _Atomic uint64_t gate; /* polled by waiting threads */
    wk__task *body;                             /* current job; written while no worker is inside */
    void *user;
    int64_t tasks;
    bool untracked; /* memory requests of the job are not counted (alloc.h) */

    _Alignas(CACHE_LINE) _Atomic int64_t next; /* next task; written by all threads */

    _Alignas(CACHE_LINE) _Atomic bool busy; /* a caller is using the pool */
    _Atomic int sleepers;                   /* workers that sleep or are about to */
    _Atomic bool caller_sleeps;
    _Atomic int limit; /* workers with an index of at least this exit */
    int workers;       /* running workers; from here on only the caller that owns the pool writes */
    int wanted;        /* last target, so that a failed thread start is not retried at every call */
    pthread_t thread[MAX_WORKERS];

    pthread_mutex_t mutex; /* only for sleeping */
    pthread_cond_t work, done;
} pool = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
};

/* ---- waiting ------------------------------------------------------------------------------------------------- */

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Spins until the gate differs from `old` and returns true; false on timeout. */
static bool spin(uint64_t old)
{
    int64_t end = wk__monotonic_ns() + SPIN_NANOSECONDS;
    do {
        for (int k = 0; k < 32; k++) {
            if (atomic_load_explicit(&pool.gate, memory_order_relaxed) != old) return true;
            relax();
        }
    } while (wk__monotonic_ns() < end);
    return false;
}

/* ---- workers ------------------------------------------------------------------------------------------------- */

static void take_tasks(void)
{
    int64_t k;
    while ((k = atomic_fetch_add_explicit(&pool.next, 1, memory_order_relaxed)) < pool.tasks) pool.body(pool.user, k);
}

static bool is_new_job(uint64_t gate, uint64_t seen)
{
    return (gate & OPEN) && (gate & GENERATION) != seen;
}

static bool should_exit(int number)
{
    return number >= atomic_load(&pool.limit);
}

/* Enters a job of a generation other than *seen; returns false if the worker must exit. */
static bool join_job(int number, uint64_t *seen)
{
    while (!should_exit(number)) {
        uint64_t gate = atomic_load(&pool.gate);
        if (is_new_job(gate, *seen)) {
            if (!atomic_compare_exchange_weak(&pool.gate, &gate, gate + ONE_INSIDE)) continue;
            *seen = gate & GENERATION;
            return true;
        }
        if (spin(gate)) continue;
        pthread_mutex_lock(&pool.mutex);
        atomic_fetch_add(&pool.sleepers, 1);
        while (!is_new_job(atomic_load(&pool.gate), *seen) && !should_exit(number)) {
            pthread_cond_wait(&pool.work, &pool.mutex);
        }
        atomic_fetch_sub(&pool.sleepers, 1);
        pthread_mutex_unlock(&pool.mutex);
    }
    return false;
}

static void leave_job(void)
{
    uint64_t left = atomic_fetch_sub(&pool.gate, ONE_INSIDE) - ONE_INSIDE;
    bool last = !(left & (INSIDE | OPEN));
    if (last && atomic_load(&pool.caller_sleeps)) {
        pthread_mutex_lock(&pool.mutex);
        pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.mutex);
    }
}

static void *worker(void *number)
{
    uint64_t seen = 0;
    while (join_job((int)(intptr_t)number, &seen)) {
        wk__alloc_untracked pause;
        const bool paused = pool.untracked;
        if (paused) wk__alloc_untracked_begin(&pause);
        take_tasks();
        if (paused) wk__alloc_untracked_end(&pause);
        leave_job();
    }
    return NULL;
}

/* Starts or stops workers to match wk__thread_count(). */
static void resize_pool(void)
{
    int wanted = wk__thread_count() - 1;
    atomic_store(&pool.limit, wanted);
    if (pool.workers > wanted) {
        pthread_mutex_lock(&pool.mutex); /* afterwards each worker has either read the new limit or sleeps */
        pthread_mutex_unlock(&pool.mutex);
        pthread_cond_broadcast(&pool.work);
        while (pool.workers > wanted) pthread_join(pool.thread[--pool.workers], NULL);
    }
    while (pool.workers < wanted) {
        void *number = (void *)(intptr_t)pool.workers;
        if (!wk__thread_start(&pool.thread[pool.workers], worker, number)) break;
        pool.workers++;
    }
    pool.wanted = wanted;
}

/* ---- the caller ---------------------------------------------------------------------------------------------- */

static void wake(int64_t useful)
{
    int sleepers = atomic_load(&pool.sleepers);
    if (sleepers == 0) return;
    pthread_mutex_lock(&pool.mutex);
    pthread_mutex_unlock(&pool.mutex);
    if (useful >= sleepers) {
        pthread_cond_broadcast(&pool.work);
    } else {
        for (int64_t k = 0; k < useful; k++) pthread_cond_signal(&pool.work);
    }
}

static void wait_for_workers(void)
{
    uint64_t gate;
    while ((gate = atomic_load(&pool.gate)) & INSIDE) {
        if (spin(gate)) continue;
        pthread_mutex_lock(&pool.mutex);
        atomic_store(&pool.caller_sleeps, true);
        while (atomic_load(&pool.gate) & INSIDE) pthread_cond_wait(&pool.done, &pool.mutex);
        atomic_store(&pool.caller_sleeps, false);
        pthread_mutex_unlock(&pool.mutex);
    }
}

void wk__parallel_for(int64_t tasks, wk__task *body, void *user)
{
    bool alone = tasks <= 1 || wk__thread_count() == 1;
    if (alone || atomic_exchange_explicit(&pool.busy, true, memory_order_acquire)) {
        for (int64_t k = 0; k < tasks; k++) body(user, k);
        return;
    }
    if (pool.wanted != wk__thread_count() - 1) resize_pool();
    pool.body = body;
    pool.user = user;
    pool.tasks = tasks;
    pool.untracked = wk__alloc_is_untracked();
    atomic_store_explicit(&pool.next, 0, memory_order_relaxed);
    uint64_t gate = atomic_load_explicit(&pool.gate, memory_order_relaxed);
    atomic_store(&pool.gate, (gate & GENERATION) + ONE_GENERATION + OPEN);
    wake(tasks - 1);
    take_tasks();
    atomic_fetch_and(&pool.gate, ~OPEN);
    wait_for_workers();
    atomic_store_explicit(&pool.busy, false, memory_order_release);
}

void wk__pool_after_fork(void)
{
    pthread_mutex_init(&pool.mutex, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    atomic_store(&pool.gate, 0);
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.caller_sleeps, false);
    atomic_store(&pool.busy, false);
    pool.workers = pool.wanted = 0;
}
