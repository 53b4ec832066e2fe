/* SPDX-License-Identifier: Apache-2.0 */
/* See nvrtc_exit.h. */
#include "nvrtc_exit.h"

#include "base/context.h"
#include "backend/gpu/fork_guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Who is in NVRTC reads, who ends the process writes, and who writes goes first. */
static pthread_rwlock_t in_compiler = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

/* The first compilation of the process. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool under_way, over;
} first = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

/* The process ends in this thread, which has waited for all that compiled. */
static atomic_bool exiting;
static pthread_t exiting_thread;

/* What a thread has to do with NVRTC: the addresses are values of the key. */
static pthread_key_t thread_key;
static bool has_key; /* else nobody waits */
static char is_watched, compiles;

/* glibc's: destructors of a thread, which exit() runs before all handlers. `library` is to stay loaded until then. */
int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* A signal's handler may have ended the process in the midst of it: nobody waits for himself. */
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

/* Handlers of exit() that were registered before NVRTC was loaded run behind its own, in the thread that ends. */
static bool is_torn_down(void)
{
    return atomic_load(&exiting) && pthread_equal(exiting_thread, pthread_self());
}

/* It may be the thread alone that ends: others compile on behind the first. */
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
        return; /* the thread's destructors have run, and values are
                                                                gone */
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

/* What NVRTC registers in the midst of a compilation it has registered by the end of the first that is over, so the
 * second wait is behind all of it. The thread has the device's lock, so it is watched. */
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
