/* SPDX-License-Identifier: Apache-2.0 */
/* Of what a checkpoint is made, as one number that ranks compare: where they differ one would go on with what another
 * has not, and the ranks would part without a word. */
#ifndef WICK_DIST_CHECKPOINT_PARTS_H
#define WICK_DIST_CHECKPOINT_PARTS_H

#include "checkpoint.h"

/* Which of network, optimiser, loader and tensors it has, and which optimiser that is. */
int64_t wk__checkpoint_signature(const wk__checkpoint *c);
/* Does number k * stride of all[], for each rank, say the same? Else the error is recorded. */
bool wk__checkpoint_check_same(const int64_t *all, int stride, wk_site site, const char *op);

#endif
