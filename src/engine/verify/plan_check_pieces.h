/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a product: does its epilogue run once on each element of C, and then when that element has been summed? */
#ifndef WICK_ENGINE_PLAN_CHECK_PIECES_H
#define WICK_ENGINE_PLAN_CHECK_PIECES_H

#include "plan_check_values.h"

bool wk__plan_check_pieces(wk__plan_check_state *c);

#endif
