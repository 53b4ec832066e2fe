/* SPDX-License-Identifier: Apache-2.0 */
/* See forks.h. */
#include "forks.h"

#include <pthread.h>

/* Written by a child of fork(), where no other thread is left. */
static volatile bool forked;

static void note_fork(void)
{
    forked = true;
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

void wk__gpu_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}

bool wk__gpu_forked(void)
{
    return forked;
}
