/* exp: e^x. */
#include "forms.h"
#include <math.h>

static int expression(wk__emit *e, const int in[])
{
    return wk__emit_1(e, WK__EXP, in[0]);
}

static void gradient(wk__gradient *g)
{
    g->in[0] = wk_mul(g->out[0], wk__saved(g, WK__SAVED_OUT));
}

static double exact(const double *x)
{
    return exp(x[0]);
}

const wk__op wk__op_exp = {
    .name = "exp", .schema = "exp(Tensor self) -> Tensor", .group = "pointwise", .node = "ExpBackward0", .doc = "e^x",
    .expression = expression, .arity = 1, .result = WK__RESULT_FLOAT, .gradient = gradient, .needs = {WK__SAVE_OUT},
    .invoke = wk__invoke_pointwise, .exact = exact, .samples = wk__samples_unary, .low = -3, .high = 3,
};

#define WK__FORM exp
#include "unary.inc"
