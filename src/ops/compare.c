/* SPDX-License-Identifier: Apache-2.0 */
/* eq, ne, lt, le, gt, ge: the result is bool. */
#include "forms.h"

static double eq_exact(const double *x)
{
    return x[0] == x[1];
}

static double ne_exact(const double *x)
{
    return x[0] != x[1];
}

static double lt_exact(const double *x)
{
    return x[0] < x[1];
}

static double le_exact(const double *x)
{
    return x[0] <= x[1];
}

static double gt_exact(const double *x)
{
    return x[0] > x[1];
}

static double ge_exact(const double *x)
{
    return x[0] >= x[1];
}

/* Among the integers many are equal. */
static const char *const samples[] = {
    "[], []",     "[50]:i64<4, [50]:i64<4", "[50]:i32<4, 2", "3, [50]:u8<4", "[9]:bool, [9]:bool",
    "[3,4], [4]", "[2,1,3], [4,1]",         "[0,3], [3]",    "[3,4], 0.5",   NULL};

#define COMPARISON                                                                                                     \
    .group = "comparison", .result = WK__RESULT_BOOL, .samples = samples, .low = -3, .high = 3, WK__ROW_BINARY

const wk__op wk__op_eq = {
    .name = "eq",
    .schema = "eq(Tensor self, Tensor other) -> Tensor",
    .doc = "a == b",
    .instruction = WK__EQ,
    .exact = eq_exact,
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
    .exact = ne_exact,
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
    .exact = lt_exact,
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
    .exact = le_exact,
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
    .exact = gt_exact,
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
    .exact = ge_exact,
    COMPARISON,
};

#define WK__FORM ge
#define WK__IN_PLACE
#include "binary.inc"
