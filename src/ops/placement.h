/* Soft placement: operands on different devices are brought together, if the program asked for it. Strict is the default. */
#ifndef WICK_OPS_PLACEMENT_H
#define WICK_OPS_PLACEMENT_H

#include "call.h"

/* Copies the operands that are elsewhere to the device of the first accelerator among them, and says so once per place in
 * the program. False when placement is strict (or a copy failed: the error is recorded). */
bool wk__placement_move(const wk__op *op, wk_site site, wk_tensor *in[], int count, wk__device **device);
/* For an in-place call: the others come to the target, in[0]. Does nothing where placement is strict. False when a copy failed. */
bool wk__placement_follow(const wk__op *op, wk_site site, wk_tensor *in[], int count);

#endif
