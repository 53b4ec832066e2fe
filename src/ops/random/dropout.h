/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the dropout ops. A call takes one number of the thread's stream per element, or per channel of a sample. An
 * element is kept if its 32-bit word is at least p 2^32: exact for every dtype. */
#ifndef WICK_OPS_RANDOM_DROPOUT_H
#define WICK_OPS_RANDOM_DROPOUT_H

#include "philox_draw.h"

/* Checks that x is a floating tensor and p a probability. */
bool wk__dropout_check(const wk__op *op, wk_site site, wk_tensor *x, double p);
/* Takes `count` numbers and returns the attributes of a dropout that multiplies the remaining elements by scale. */
wk__dropout_attributes wk__dropout_draw(int64_t count, double p, double scale);
/* Records the dropout of x with a draw, so that a gradient draws the same numbers again. Attaches the node of
 * wk_dropout. */
wk_tensor *wk__record_dropout(wk_site site, wk_tensor *x, const wk__attr *attr);
/* Gradient of ops whose result is, up to a constant, the dropout of x. */
void wk__dropout_gradient(wk__grad_ctx *g);

#endif
