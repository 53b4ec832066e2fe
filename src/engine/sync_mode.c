/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and reports synchronizations and transfers between host and devices (wk_set_sync_debug_mode). */
#include "base/context.h"
#include "base/log.h"
#include "base/options.h"
#include "sync_mode.h"
#include <wick/device.h>
#include <wick/log.h>

static atomic_int sync_mode = WK_SYNC_LOG;

wk_code wk_set_sync_debug_mode_at(wk_site site, wk_sync_mode mode)
{
    const int wanted = (int)mode;
    if (wanted < WK_SYNC_QUIET || wanted > WK_SYNC_ERROR) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "set_sync_debug_mode: unknown mode %d; expected WK_SYNC_QUIET, WK_SYNC_LOG or WK_SYNC_ERROR",
                      wanted);
        return WK_ERR_ARGUMENT;
    }
    atomic_store(&sync_mode, wanted);
    return WK_OK;
}

static void add_device(wk__device *device, void *user)
{
    wk_transfer_counters *sum = user;
    sum->waits += atomic_load(&device->syncs);
    sum->uploads += atomic_load(&device->uploads);
    sum->downloads += atomic_load(&device->downloads);
}

wk_code wk_transfer_stats_at(wk_site site, wk_transfer_counters *counters)
{
    wk_transfer_counters sum = {.size = sizeof sum};
    wk__device_for_each(add_device, &sum);
    return wk__sized_store(site, "transfer_stats", wk_transfer_counters, counters, &sum);
}

void wk__warn_or_error_on_sync(wk__device *device, wk_site site, int64_t bytes)
{
    if (device->id.kind == WK_CPU) return;
    atomic_fetch_add(&device->syncs, 1);
    int mode = atomic_load_explicit(&sync_mode, memory_order_relaxed);
    if (mode == WK_SYNC_ERROR)
        wk__error_set(site, WK_ERR_STATE,
                      "host waits for %s (%lld bytes); collect values with wk_history and read them once",
                      wk_device_str(device->id), (long long)bytes);
    else if (mode == WK_SYNC_LOG && wk__log_first_at_site(WK__LOG_SYNC, wk__site(site)))
        wk__log(WK__LOG_SYNC, site, "host waits for %s (%lld bytes)", wk_device_str(device->id), (long long)bytes);
}
