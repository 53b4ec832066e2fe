/* SPDX-License-Identifier: Apache-2.0 */
/* Registry of the largest tensors in memory and the calls that created them, for out-of-memory messages and statistics.
 * Only values of at least 64 KiB are registered, so that small ones cost nothing. Thread-safe. */
#ifndef WICK_TENSOR_LARGE_VALUES_H
#define WICK_TENSOR_LARGE_VALUES_H

#include "storage.h"

void wk__large_values_add(wk__value *value);
void wk__large_values_remove(wk__value *value);
/* Completes the arena's error text: "out of memory on cpu: ...", advice, "Largest: 64 MiB made at f.c:10, ..." (up to
 * three). */
void wk__describe_oom(const wk__device *device, wk__fail *fail);
/* Stores up to `places` sites and sizes, largest first; returns how many. */
int wk__large_values_list(const wk__device *device, wk_site *sites, int64_t *bytes, int places);

#endif
