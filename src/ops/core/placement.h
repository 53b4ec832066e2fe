/* SPDX-License-Identifier: Apache-2.0 */
/* Soft placement: operands on different devices are brought together, if the program asked for it. Strict is
 * the default. */
#ifndef WICK_OPS_PLACEMENT_H
#define WICK_OPS_PLACEMENT_H

#include "call.h"

/* Does the program want it? */
bool wk__soft_placement_enabled(void);

/* Operands on different devices are brought to one, where that is allowed: to the first accelerator among them, or in
 * place to the target, in[0]. Soft placement copies whatever is elsewhere, and says so once per place in the program;
 * `meeting` says what else may come. False when something may not, or a copy failed: then the error is recorded. */
bool wk__colocate_operands(const wk__op *op, wk_site site, wk_tensor *in[], int count, wk__colocation meeting);

#endif
