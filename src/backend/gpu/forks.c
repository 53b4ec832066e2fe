/* SPDX-License-Identifier: Apache-2.0 */
/* See forks.h. */
#include "forks.h"

#include <pthread.h>
#include <stdatomic.h>

enum { DRIVERS = WK__GPU_CUDA + 1 };
static atomic_bool watched[DRIVERS], forked[DRIVERS];

static void note_fork(void)
{
    for (int k = 0; k < DRIVERS; k++)
        if (atomic_load(&watched[k])) atomic_store(&forked[k], true);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

void wk__gpu_watch_forks(wk__gpu_dialect driver)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
    atomic_store(&watched[driver], true);
}

bool wk__gpu_forked(wk__gpu_dialect driver)
{
    return atomic_load(&forked[driver]);
}
