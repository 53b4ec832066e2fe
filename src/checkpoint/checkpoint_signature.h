/* SPDX-License-Identifier: Apache-2.0 */
/* Signature of the parts of a checkpoint, compared among ranks: with different parts some ranks would restore state
 * that others lack, and the ranks would diverge silently. */
#ifndef WICK_CHECKPOINT_CHECKPOINT_SIGNATURE_H
#define WICK_CHECKPOINT_CHECKPOINT_SIGNATURE_H

#include "checkpoint.h"

/* Returns the signature: which parts the checkpoint has, and the kind of optimiser. */
int64_t wk__checkpoint_signature(const wk__checkpoint *c);
/* Returns true if all[k * stride] is equal for all ranks k; records an error otherwise. */
bool wk__checkpoint_check_same(const int64_t *all, int stride, wk_site site, const char *op);

#endif
