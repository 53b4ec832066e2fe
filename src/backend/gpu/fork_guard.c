/* SPDX-License-Identifier: Apache-2.0 */
/* See fork_guard.h. */
#include "fork_guard.h"

#include <pthread.h>
#include <stdatomic.h>

enum { DRIVERS = WK__GPU_CUDA + 1 };
static atomic_bool watched[DRIVERS], forked[DRIVERS];

static void note_fork(void)
{
    for (int k = 0; k < DRIVERS; k++)
        if (atomic_load(&watched[k])) atomic_store(&forked[k], true);
}

static void install_atfork(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

void wk__gpu_install_fork_guard(wk__gpu_dialect driver)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_atfork);
    atomic_store(&watched[driver], true);
}

bool wk__gpu_is_forked_child(wk__gpu_dialect driver)
{
    return atomic_load(&forked[driver]);
}
