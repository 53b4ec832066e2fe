/* SPDX-License-Identifier: Apache-2.0 */
/* eq, ne, lt, le, gt, ge; the result is bool. */
#include "ops/core/entries.h"

const wk__op wk__op_eq = {
    .expression = wk__single_instruction,
    .instruction = WK__EQ,
    WK__SIGNATURE_eq,
};

const wk__op wk__op_ne = {
    .expression = wk__single_instruction,
    .instruction = WK__NE,
    WK__SIGNATURE_ne,
};

const wk__op wk__op_lt = {
    .expression = wk__single_instruction,
    .instruction = WK__LT,
    WK__SIGNATURE_lt,
};

const wk__op wk__op_le = {
    .expression = wk__single_instruction,
    .instruction = WK__LE,
    WK__SIGNATURE_le,
};

const wk__op wk__op_gt = {
    .expression = wk__single_instruction,
    .instruction = WK__GT,
    WK__SIGNATURE_gt,
};

const wk__op wk__op_ge = {
    .expression = wk__single_instruction,
    .instruction = WK__GE,
    WK__SIGNATURE_ge,
};
