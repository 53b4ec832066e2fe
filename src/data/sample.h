/* SPDX-License-Identifier: Apache-2.0 */
/* Samples in the form that functions of the user get, and their random streams. */
#ifndef WICK_DATA_SAMPLE_H
#define WICK_DATA_SAMPLE_H

#include "dataset.h"
#include "tensor/call_scope.h"

/* Returns the part as a tensor on the CPU, which the innermost scope owns if it is made now; NULL on error. */
wk_tensor *wk__sample_tensor(wk__sample_part *part, wk_site site);
/* Makes the tensors of *in for a function of the user. Returns false on error. */
bool wk__sample_to_user(wk__sample *in, int64_t index, wk_site site, wk_sample *out);
/* Checks the tensors that a function of the user (op in messages) has set, and stores them in *out. */
bool wk__sample_from_user(const wk_sample *in, const char *op, wk_site site, wk__sample *out);
/* Records that a function of the user failed without an error, unless there is one. Returns false. */
bool wk__sample_failed(const char *op, wk_site site);

/* Begins the random stream of a sample in an epoch. Its key is the number of the seed's Philox stream at a counter that
 * shuffles never use. Datasets that are independent of the epoch use WK__NO_EPOCH. */
#define WK__NO_EPOCH UINT64_MAX
void wk__sample_begin_stream(wk_context *context, uint64_t seed, uint64_t epoch, int64_t sample);
/* Shuffles n numbers (Fisher and Yates): number k is swapped with a position drawn from PHILOX(k, epoch) under the key
 * `seed`, so that their order depends on nothing else. */
void wk__shuffle(int64_t *numbers, int64_t n, uint64_t seed, uint64_t epoch);

#endif
