/* SPDX-License-Identifier: Apache-2.0 */
/* What the host notices of devices that run on their own. */
#ifndef WICK_ENGINE_WATCH_H
#define WICK_ENGINE_WATCH_H

#include "backend/device.h"

/* The host waits for a device (rule 21). */
void wk__warn_or_error_on_sync(wk__device *device, wk_site site, int64_t bytes);

#endif
