/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of a contraction's epilogue: verifies that it runs once per element of C, after that element has been
 * summed. */
#ifndef WICK_ENGINE_PLAN_CHECK_PIECES_H
#define WICK_ENGINE_PLAN_CHECK_PIECES_H

#include "plan_check_values.h"

bool wk__plan_check_pieces(wk__plan_check_state *c);

#endif
