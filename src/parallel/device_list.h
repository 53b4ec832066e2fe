/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of devices passed to a call. */
#ifndef WICK_PARALLEL_DEVICE_LIST_H
#define WICK_PARALLEL_DEVICE_LIST_H

#include "tensor/tensor.h"
#include <wick/parallel.h>

/* Opens the devices into out[n]. Returns false after recording an error: the list is empty, has more than
 * WK_MIRRORED_DEVICES entries, names a device that does not exist or, if once is set, names one twice. */
bool wk__open_devices(wk_site site, const char *call, const wk_device *devices, int n, bool once, wk__device **out);

#endif
