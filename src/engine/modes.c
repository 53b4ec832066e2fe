/* SPDX-License-Identifier: Apache-2.0 */
/* How this process runs what it records, as its environment says. */
#include "../base/environment.h"
#include "ring.h"
#include <pthread.h>

static wk__modes modes;
static pthread_once_t modes_once = PTHREAD_ONCE_INIT;
static atomic_bool modes_ready;

static void read_modes(void)
{
    modes.sync = wk__setting_on(WK__SET_SYNC);
    modes.nofuse = wk__setting_on(WK__SET_NOFUSE);
    modes.check = wk__setting_on(WK__SET_CHECK);
    modes.budget = (int64_t)256 << 20;
    atomic_store_explicit(&modes_ready, true, memory_order_release);
}

const wk__modes *wk__modes_now(void)
{
    if (!atomic_load_explicit(&modes_ready, memory_order_acquire)) pthread_once(&modes_once, read_modes);
    return &modes;
}

void wk__modes_set(bool sync, bool nofuse)
{
    wk__modes_now();
    modes.sync = sync;
    modes.nofuse = nofuse;
}

void wk__modes_set_check(bool on)
{
    wk__modes_now();
    modes.check = on;
}
