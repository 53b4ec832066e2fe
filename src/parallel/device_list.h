/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of devices that a call gets. */
#ifndef WICK_DIST_DEVICES_H
#define WICK_DIST_DEVICES_H

#include "tensor/tensor.h"
#include <wick/parallel.h>

/* Opened, into out[n]. False with the error recorded: there is none, there are more than WK_MIRRORED_DEVICES, one is
 * not there; `once`: one is named twice. */
bool wk__open_devices(wk_site site, const char *call, const wk_device *devices, int n, bool once, wk__device **out);

#endif
