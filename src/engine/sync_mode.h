/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of synchronizations between the host and devices. */
#ifndef WICK_ENGINE_SYNC_MODE_H
#define WICK_ENGINE_SYNC_MODE_H

#include "backend/device.h"

/* Reports that the host waits for a device: counts it, and logs or fails it according to wk_set_sync_debug_mode. */
void wk__warn_or_error_on_sync(wk__device *device, wk_site site, int64_t bytes);

#endif
