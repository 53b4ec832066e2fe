/* SPDX-License-Identifier: Apache-2.0 */
/* See nvrtc_exit.h. */
#include "nvrtc_exit.h"

#include "base/context.h"
#include "backend/gpu/fork_guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Compiling threads hold it for reading, exit() for writing, with preference for writers. */
static pthread_rwlock_t in_compiler = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

/* First compilation of the process. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool under_way, over;
} first = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

/* exit() is running in exiting_thread, which has waited for all compilations. */
static atomic_bool exiting;
static pthread_t exiting_thread;

/* State of a thread: the address of one of these variables is the key's value. */
static pthread_key_t thread_key;
static bool has_key; /* otherwise there are no waits */
static char is_watched, compiles;

/* glibc: registers a destructor of a thread, which exit() runs before all handlers. `library` stays loaded until
 * then. */
int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* A signal handler may call exit() in a compiling thread, which must not wait for itself. */
static bool is_own_compile(void)
{
    return pthread_getspecific(thread_key) == &compiles || wk__gpu_is_forked_child(WK__GPU_CUDA);
}

static void wait_for_compilers(void)
{
    static bool waits;
    if (waits || is_own_compile()) return;
    waits = true;
    pthread_rwlock_wrlock(&in_compiler);
    exiting_thread = pthread_self();
    atomic_store(&exiting, true);
}

/* Handlers registered before NVRTC was loaded run after NVRTC's, in the thread that ends the process. */
static bool is_torn_down(void)
{
    return atomic_load(&exiting) && pthread_equal(exiting_thread, pthread_self());
}

/* Possibly only the thread ends, while others compile after the first one. */
static void wait_for_the_first(void *nothing)
{
    (void)nothing;
    if (is_own_compile()) return;
    pthread_mutex_lock(&first.lock);
    while (first.under_way) pthread_cond_wait(&first.ended, &first.lock);
    pthread_mutex_unlock(&first.lock);
}

void wk__nvrtc_install_exit_guard(void)
{
    has_key = pthread_key_create(&thread_key, NULL) == 0;
    if (has_key) atexit(wait_for_compilers);
}

void wk__nvrtc_guard_thread(void)
{
    if (!has_key || __cxa_thread_atexit_impl == NULL || pthread_getspecific(thread_key) != NULL) return;
    if (wk__context_now && wk__context_now->exiting)
        return; /* the thread's destructors have run, and thread-specific values are gone */
    if (pthread_setspecific(thread_key, &is_watched) == 0)
        __cxa_thread_atexit_impl(wait_for_the_first, NULL, &__dso_handle);
}

bool wk__nvrtc_enter(void)
{
    if (is_torn_down()) return false;
    pthread_rwlock_rdlock(&in_compiler);
    if (has_key) pthread_setspecific(thread_key, &compiles);
    pthread_mutex_lock(&first.lock);
    first.under_way = !first.over;
    pthread_mutex_unlock(&first.lock);
    return true;
}

/* All handlers that NVRTC registers during a compilation exist after the first one, so ours is registered again after
 * them. The thread holds the device's lock, so it is guarded. */
void wk__nvrtc_leave(void)
{
    pthread_mutex_lock(&first.lock);
    if (!first.over && has_key) atexit(wait_for_compilers);
    first.over = true;
    first.under_way = false;
    pthread_cond_broadcast(&first.ended);
    pthread_mutex_unlock(&first.lock);
    if (has_key) pthread_setspecific(thread_key, &is_watched);
    pthread_rwlock_unlock(&in_compiler);
}
