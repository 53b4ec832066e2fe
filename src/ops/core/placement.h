/* SPDX-License-Identifier: Apache-2.0 */
/* Soft placement (WICK_PLACEMENT=soft, wk_set_soft_placement): copies operands on different devices to one device. The
 * default is strict placement, under which different devices are an error. */
#ifndef WICK_OPS_PLACEMENT_H
#define WICK_OPS_PLACEMENT_H

#include "call.h"

/* Returns true if soft placement is on. */
bool wk__soft_placement_enabled(void);

/* Copies operands to one device where that is allowed: to the first accelerator among them, or to in[0] for
 * WK__COLOCATE_TO_TARGET. Soft placement allows every copy and logs it once per call site; `meeting` allows others.
 * Returns false if a copy is not allowed, without an error, or if it failed, with one. */
bool wk__colocate_operands(const wk__op *op, wk_site site, wk_tensor *in[], int count, wk__colocation meeting);

#endif
