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

const wk__op wk__op_eq = {
    .name = "eq",
    .schema = "eq(Tensor self, Tensor other) -> Tensor",
    .group = "comparison",
    .doc = "a == b",
    .expression = wk__instruction,
    .instruction = WK__EQ,
    .arity = 2,
    .result = WK__RESULT_BOOL,
    .invoke = wk__invoke_pointwise,
    .exact = eq_exact,
    .samples = samples,
    .low = -3,
    .high = 3,
};

#define WK__FORM eq
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_ne = {
    .name = "ne",
    .schema = "ne(Tensor self, Tensor other) -> Tensor",
    .group = "comparison",
    .doc = "a != b",
    .expression = wk__instruction,
    .instruction = WK__NE,
    .arity = 2,
    .result = WK__RESULT_BOOL,
    .invoke = wk__invoke_pointwise,
    .exact = ne_exact,
    .samples = samples,
    .low = -3,
    .high = 3,
};

#define WK__FORM ne
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_lt = {
    .name = "lt",
    .schema = "lt(Tensor self, Tensor other) -> Tensor",
    .group = "comparison",
    .doc = "a < b",
    .expression = wk__instruction,
    .instruction = WK__LT,
    .arity = 2,
    .result = WK__RESULT_BOOL,
    .invoke = wk__invoke_pointwise,
    .exact = lt_exact,
    .samples = samples,
    .low = -3,
    .high = 3,
};

#define WK__FORM lt
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_le = {
    .name = "le",
    .schema = "le(Tensor self, Tensor other) -> Tensor",
    .group = "comparison",
    .doc = "a <= b",
    .expression = wk__instruction,
    .instruction = WK__LE,
    .arity = 2,
    .result = WK__RESULT_BOOL,
    .invoke = wk__invoke_pointwise,
    .exact = le_exact,
    .samples = samples,
    .low = -3,
    .high = 3,
};

#define WK__FORM le
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_gt = {
    .name = "gt",
    .schema = "gt(Tensor self, Tensor other) -> Tensor",
    .group = "comparison",
    .doc = "a > b",
    .expression = wk__instruction,
    .instruction = WK__GT,
    .arity = 2,
    .result = WK__RESULT_BOOL,
    .invoke = wk__invoke_pointwise,
    .exact = gt_exact,
    .samples = samples,
    .low = -3,
    .high = 3,
};

#define WK__FORM gt
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_ge = {
    .name = "ge",
    .schema = "ge(Tensor self, Tensor other) -> Tensor",
    .group = "comparison",
    .doc = "a >= b",
    .expression = wk__instruction,
    .instruction = WK__GE,
    .arity = 2,
    .result = WK__RESULT_BOOL,
    .invoke = wk__invoke_pointwise,
    .exact = ge_exact,
    .samples = samples,
    .low = -3,
    .high = 3,
};

#define WK__FORM ge
#define WK__IN_PLACE
#include "binary.inc"
