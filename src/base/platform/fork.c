/* SPDX-License-Identifier: Apache-2.0 */
/* Fork handlers; see fork.h. */
#include "fork.h"
#include "base/alloc.h"
#include "base/pool.h"
#include <stdio.h>

atomic_bool wk__forked;

static atomic_int threads; /* user and internal threads that use the library */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* First use of a device that does not survive a fork. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    atomic_bool known;
    char device[48], call[48], file[256];
    int line;
} first;

static int other_threads; /* in a child: threads of the parent that may have been inside a call */

/* Mutexes that calls lock before they can be rejected. They are locked during fork(), so that none is held by a missing
 * thread in the child. */
static pthread_mutex_t *const fork_locks[] = {&wk__context_lock, &wk__handler_lock, &wk__slab_lock};
enum { FORK_LOCKS = sizeof fork_locks / sizeof *fork_locks };

static void before_fork(void)
{
    for (int k = 0; k < FORK_LOCKS; k++) pthread_mutex_lock(fork_locks[k]);
}

static void in_parent(void)
{
    for (int k = FORK_LOCKS; k-- > 0;) pthread_mutex_unlock(fork_locks[k]);
}

static void in_child(void)
{
    in_parent();
    other_threads = atomic_load(&threads) - (wk__context_now != NULL);
    if (other_threads > 0 || atomic_load(&first.known)) atomic_store(&wk__forked, true);
    wk__alloc_after_fork();
    wk__pool_after_fork();
}

static void install_fork_handlers(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

void wk__fork_count_thread(bool begins)
{
    pthread_once(&once, install_fork_handlers);
    atomic_fetch_add(&threads, begins ? 1 : -1);
}

bool wk__fork_device_unknown(void)
{
    return !atomic_load_explicit(&first.known, memory_order_relaxed);
}

void wk__fork_record_device(const char *device, const char *call, wk_site site)
{
    site = wk__site(site);
    pthread_mutex_lock(&lock);
    if (!atomic_load(&first.known)) {
        snprintf(first.device, sizeof first.device, "%s", device);
        snprintf(first.call, sizeof first.call, "%s", call);
        snprintf(first.file, sizeof first.file, "%s", site.file ? site.file : "?");
        first.line = site.line;
        atomic_store_explicit(&first.known, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

bool wk__report_forked(wk_site site, const char *op)
{
    if (atomic_load(&first.known))
        wk__error_set(
            site, WK_ERR_STATE,
            "%s: this process was forked after its parent used %s (first in %s at %s:%d), and drivers do not survive "
            "fork; fork before the first use, or start a new program with exec. After CPU-only use a child may compute",
            op, first.device, first.call, first.file, first.line);
    else
        wk__error_set(site, WK_ERR_STATE,
                      "%s: this process was forked while %d other thread%s of its parent used the library, possibly "
                      "inside a call; fork before they start or after they exit, or start a new program with exec",
                      op, other_threads, other_threads == 1 ? "" : "s");
    return false;
}
