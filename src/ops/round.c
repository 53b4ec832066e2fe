/* floor, ceil, round, trunc: to whole numbers. Integers are whole already. */
#include "forms.h"
#include <math.h>

static int expression(wk__emit *e, const int in[])
{
    return wk__is_float(e->dtype) ? wk__instruction(e, in) : in[0];
}

static double floor_exact(const double *x)
{
    return floor(x[0]);
}

static double ceil_exact(const double *x)
{
    return ceil(x[0]);
}

static double round_exact(const double *x)
{
    return nearbyint(x[0]);
}

static double trunc_exact(const double *x)
{
    return trunc(x[0]);
}

const wk__op wk__op_floor = {
    .name = "floor",
    .schema = "floor(Tensor self) -> Tensor",
    .group = "pointwise",
    .node = "FloorBackward0",
    .doc = "rounded down",
    .expression = expression,
    .instruction = WK__FLOOR,
    .arity = 1,
    .domain = WK__NUMBERS,
    .gradient = wk__gradient_zero,
    .invoke = wk__invoke_pointwise,
    .exact = floor_exact,
    .samples = wk__samples_unary,
    .low = -3,
    .high = 3,
};

#define WK__FORM floor
#include "unary.inc"

const wk__op wk__op_ceil = {
    .name = "ceil",
    .schema = "ceil(Tensor self) -> Tensor",
    .group = "pointwise",
    .node = "CeilBackward0",
    .doc = "rounded up",
    .expression = expression,
    .instruction = WK__CEIL,
    .arity = 1,
    .domain = WK__NUMBERS,
    .gradient = wk__gradient_zero,
    .invoke = wk__invoke_pointwise,
    .exact = ceil_exact,
    .samples = wk__samples_unary,
    .low = -3,
    .high = 3,
};

#define WK__FORM ceil
#include "unary.inc"

const wk__op wk__op_round = {
    .name = "round",
    .schema = "round(Tensor self) -> Tensor",
    .group = "pointwise",
    .node = "RoundBackward0",
    .doc = "to the nearest, half to even",
    .expression = expression,
    .instruction = WK__ROUND,
    .arity = 1,
    .domain = WK__NUMBERS,
    .gradient = wk__gradient_zero,
    .invoke = wk__invoke_pointwise,
    .exact = round_exact,
    .samples = wk__samples_unary,
    .low = -3,
    .high = 3,
};

#define WK__FORM round
#include "unary.inc"

const wk__op wk__op_trunc = {
    .name = "trunc",
    .schema = "trunc(Tensor self) -> Tensor",
    .group = "pointwise",
    .node = "TruncBackward0",
    .doc = "rounded towards 0",
    .expression = expression,
    .instruction = WK__TRUNC,
    .arity = 1,
    .domain = WK__NUMBERS,
    .gradient = wk__gradient_zero,
    .invoke = wk__invoke_pointwise,
    .exact = trunc_exact,
    .samples = wk__samples_unary,
    .low = -3,
    .high = 3,
};

#define WK__FORM trunc
#include "unary.inc"
