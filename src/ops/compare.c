/* SPDX-License-Identifier: Apache-2.0 */
/* eq, ne, lt, le, gt, ge: the result is bool. */
#include "forms.h"

#define COMPARISON .group = "comparison", .result = WK__RESULT_BOOL, WK__ROW_BINARY

const wk__op wk__op_eq = {
    .name = "eq",
    .schema = "eq(Tensor self, Tensor other) -> Tensor",
    .doc = "a == b",
    .instruction = WK__EQ,
    COMPARISON,
};

#define WK__FORM eq
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_ne = {
    .name = "ne",
    .schema = "ne(Tensor self, Tensor other) -> Tensor",
    .doc = "a != b",
    .instruction = WK__NE,
    COMPARISON,
};

#define WK__FORM ne
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_lt = {
    .name = "lt",
    .schema = "lt(Tensor self, Tensor other) -> Tensor",
    .doc = "a < b",
    .instruction = WK__LT,
    COMPARISON,
};

#define WK__FORM lt
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_le = {
    .name = "le",
    .schema = "le(Tensor self, Tensor other) -> Tensor",
    .doc = "a <= b",
    .instruction = WK__LE,
    COMPARISON,
};

#define WK__FORM le
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_gt = {
    .name = "gt",
    .schema = "gt(Tensor self, Tensor other) -> Tensor",
    .doc = "a > b",
    .instruction = WK__GT,
    COMPARISON,
};

#define WK__FORM gt
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_ge = {
    .name = "ge",
    .schema = "ge(Tensor self, Tensor other) -> Tensor",
    .doc = "a >= b",
    .instruction = WK__GE,
    COMPARISON,
};

#define WK__FORM ge
#define WK__IN_PLACE
#include "binary.inc"
