/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of device lists; see device_list.h. */
#include "device_list.h"

static bool is_named_before(wk__device *const *device, int k)
{
    for (int i = 0; i < k; i++)
        if (device[i] == device[k]) return true;
    return false;
}

bool wk__open_devices(wk_site site, const char *call, const wk_device *devices, int n, bool once, wk__device **out)
{
    if (!wk__array_check(devices, n, site, call, "the array of devices")) return false;
    if (n == 0 || n > WK_MIRRORED_DEVICES) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: got %d devices, expected 1 to %d", call, n, WK_MIRRORED_DEVICES);
        return false;
    }
    for (int k = 0; k < n; k++) {
        if (!(out[k] = wk__device_open(site, call, devices[k]))) return false;
        if (!once || !is_named_before(out, k)) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: duplicate device %s", call, wk_device_str(out[k]->id));
        return false;
    }
    return true;
}
