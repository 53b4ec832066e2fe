/* SPDX-License-Identifier: Apache-2.0 */
/* Have all ranks the same network? */
#ifndef WICK_DIST_NETWORK_H
#define WICK_DIST_NETWORK_H

#include "nn/tensor_list.h"
#include "group.h"

/* All ranks of the group call it with their parameters and buffers. False where names, shapes, dtypes or what requires
 * grad differ: then all ranks have recorded the same error, which names the first difference of the lowest rank whose
 * list is not that of the group's rank 0. */
bool wk__check_same_model(wk_site site, wk__dist_group *group, const wk__tensor_list *list);

#endif
