/* clamp: between two limits, numbers or tensors, either of which may be missing. */
#include "forms.h"
#include <math.h>

static int expression(wk__emit *e, const int in[])
{
    return wk__emit_2(e, WK__MIN, wk__emit_2(e, WK__MAX, in[0], in[1]), in[2]);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* A missing limit is one that nothing is past, of a class that widens nothing. */
static wk__arg unlimited(wk_tensor *x, wk__arg other, bool above)
{
    wk_dtype dtype = x && wk__is_tensor(x) ? wk__body_of(x)->dtype : WK_F32;
    if (other.tensor && wk__is_tensor(other.tensor)) dtype = wk__promote_types(dtype, wk__body_of(other.tensor)->dtype);
    if (wk__is_float(dtype) || !(other.tensor || other.whole)) return wk__f(above ? INFINITY : -INFINITY);
    if (dtype == WK_I64) return wk__i(above ? INT64_MAX : INT64_MIN);
    return wk__i(above ? INT32_MAX : INT32_MIN);
}

/* Number limits go to the gradient: bit k of attr->count says that operand k is one, f[k - 1] is its value. */
static void keep_limit(wk__attr *attr, int k, wk__arg limit)
{
    if (limit.tensor) return;
    attr->count |= 1 << k;
    attr->f[k - 1] = limit.whole ? (double)limit.number.i : limit.number.f;
}

static bool prepare(wk_site site, wk_tensor *x, wk_value low, wk_value high, wk__arg args[3], wk__attr *attr)
{
    bool lower = low.kind != WK_VALUE_NONE, upper = high.kind != WK_VALUE_NONE;
    if (!lower && !upper) {
        wk__error_set(site, WK_ERR_ARGUMENT, "clamp: neither limit is given");
        return false;
    }
    args[0] = wk__t(x);
    args[1] = lower ? wk__value_arg(&low) : unlimited(x, wk__value_arg(&high), false);
    args[2] = upper ? wk__value_arg(&high) : unlimited(x, args[1], true);
    keep_limit(attr, 1, args[1]);
    keep_limit(attr, 2, args[2]);
    return true;
}

wk_tensor *wk_clamp_at(wk_site site, wk_tensor *x, wk_value low, wk_value high)
{
    wk__arg args[3];
    wk__attr attr = {.count = 0};
    return prepare(site, x, low, high, args, &attr) ? wk__elementwise_attr(&wk__op_clamp, site, args, 3, &attr) : NULL;
}

wk_tensor *wk_clamp__at(wk_site site, wk_tensor *x, wk_value low, wk_value high)
{
    wk__arg args[3];
    wk__attr attr = {.count = 0};
    return prepare(site, x, low, high, args, &attr) ? wk__elementwise_attr_(&wk__op_clamp, site, args, 3, &attr) : NULL;
}

/* ---- gradient: x between the limits (which it may touch), a limit where x is past it ------------------------------------ */

static wk__arg limit(const wk__gradient *g, int k)
{
    return g->attr->count >> k & 1 ? wk__f(g->attr->f[k - 1]) : wk__t(wk__saved(g, k));
}

static void gradient(wk__gradient *g)
{
    wk_site here = {0};
    wk__arg x = wk__t(wk__saved(g, 0)), low = limit(g, 1), high = limit(g, 2);
    if (wk__wants(g, 0)) {
        wk_tensor *inside = wk_logical_and(wk__binary(&wk__op_ge, here, x, low), wk__binary(&wk__op_le, here, x, high));
        g->in[0] = wk_where(inside, g->out[0], 0);
    }
    if (wk__wants(g, 1)) { /* where the limits cross, the upper one wins */
        wk_tensor *below =
            wk_logical_and(wk__binary(&wk__op_lt, here, x, low), wk__binary(&wk__op_lt, here, low, high));
        g->in[1] = wk_where(below, g->out[0], 0);
    }
    if (wk__wants(g, 2)) {
        wk_tensor *above =
            wk_logical_or(wk__binary(&wk__op_gt, here, x, high), wk__binary(&wk__op_lt, here, high, low));
        g->in[2] = wk_where(above, g->out[0], 0);
    }
}

static int invoke(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__one(out, wk_clamp_at(site, wk__value_tensor(&args[0]), args[1], args[2]));
}

static double exact(const double *x)
{
    return fmin(fmax(x[0], x[1]), x[2]); /* a limit that is not given is NaN, which loses */
}

static const char *const samples[] = {"[], -1, 1",
                                      "[7], -1",
                                      "[3,5], none, 0.5",
                                      "[2,0], 0, 1",
                                      "[2,3,4], -0.5, 2",
                                      "[3,4], [4]",
                                      "[3,4], none, [3,1]",
                                      "[9]:i64<9, 2, 5",
                                      "[9]:i32<9, 2",
                                      "[9]:u8<9, none, 5",
                                      NULL};

enum { ALL = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2 };

const wk__op wk__op_clamp = {
    .name = "clamp",
    .schema = "clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    .group = "pointwise",
    .node = "ClampBackward0",
    .number_node = {[1] = "ClampBackward1", [2] = "ClampBackward1"},
    .doc = "min(max(x, low), high); the gradient passes at the limits",
    .expression = expression,
    .arity = 3,
    .limits = true,
    .domain = WK__NUMBERS,
    .gradient = gradient,
    .needs = {ALL, ALL, ALL},
    .numbers = 1 << 1 | 1 << 2,
    .invoke = invoke,
    .exact = exact,
    .samples = samples,
    .low = -3,
    .high = 3,
};
