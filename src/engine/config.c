/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration of the engine, read from the environment once per process. */
#include "anomaly.h"
#include "base/environment.h"
#include <pthread.h>

static wk__engine_config modes;
static pthread_once_t modes_once = PTHREAD_ONCE_INIT;
static atomic_bool modes_ready;

static void read_modes(void)
{
    modes.sync = wk__setting_on(WK__SETTING_EAGER);
    modes.nofuse = wk__setting_on(WK__SETTING_NOFUSE);
    modes.check = wk__setting_on(WK__SETTING_CHECK);
    modes.budget = (int64_t)256 << 20;
    if (wk__setting_on(WK__SETTING_ANOMALY)) atomic_store(&wk__anomaly_enabled, true);
    atomic_store_explicit(&modes_ready, true, memory_order_release);
}

const wk__engine_config *wk__engine_config_get(void)
{
    if (!atomic_load_explicit(&modes_ready, memory_order_acquire)) pthread_once(&modes_once, read_modes);
    return &modes;
}

void wk__engine_config_set(bool sync, bool nofuse)
{
    wk__engine_config_get();
    modes.sync = sync;
    modes.nofuse = nofuse;
}

void wk__engine_config_set_check(bool on)
{
    wk__engine_config_get();
    modes.check = on;
}
