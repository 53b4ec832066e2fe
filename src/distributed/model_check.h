/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that all ranks have built the same network. */
#ifndef WICK_DISTRIBUTED_MODEL_CHECK_H
#define WICK_DISTRIBUTED_MODEL_CHECK_H

#include "nn/tensor_list.h"
#include "group.h"

/* Compares names, shapes, dtypes and requires_grad of the parameters and buffers. Every rank of the group must call it.
 * Returns false if a rank's list differs from that of the group's rank 0; all ranks then record the same error, which
 * names the first difference of the lowest such rank. */
bool wk__check_same_model(wk_site site, wk__dist_group *group, const wk__tensor_list *list);

#endif
