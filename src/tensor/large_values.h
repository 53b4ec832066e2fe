/* SPDX-License-Identifier: Apache-2.0 */
/* The largest tensors in memory with the calls that made them: what an out-of-memory message and the statistics name.
 * Only values of 64 KB and more are kept track of, so that small ones pay nothing. */
#ifndef WICK_TENSOR_LARGE_H
#define WICK_TENSOR_LARGE_H

#include "storage.h"

void wk__large_values_add(wk__value *value);
void wk__large_values_remove(wk__value *value);
/* Completes the arena's figures: "out of memory on cpu: ...", what to do, "Largest: 64 MiB made at f.c:10,
 * ..." (up to three). */
void wk__describe_oom(const wk__device *device, wk__fail *fail);
/* Fills up to `places` sites and sizes, largest first; returns how many. */
int wk__large_values_list(const wk__device *device, wk_site *sites, int64_t *bytes, int places);

#endif
