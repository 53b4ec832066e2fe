/* SPDX-License-Identifier: Apache-2.0 */
/* isclose, allclose, equal: comparisons within a tolerance, and of all elements. */
#include "ops/core/compose.h"
#include "ops/core/entries.h"

/* Integers are compared in f32, as in PyTorch. */
static wk_tensor *as_float(wk_site site, wk_tensor *x)
{
    return wk__is_float(wk__body_of(x)->dtype) ? wk__to_opmath(x) : wk_to_dtype_at(site, x, WK_F32);
}

static wk_tensor *close_elements(wk_site site, wk_tensor *const in[2], const wk_isclose_options *o)
{
    wk_tensor *close = wk_eq(in[0], in[1]);
    if (o->equal_nan) close = wk_logical_or(close, wk_logical_and(wk_isnan(in[0]), wk_isnan(in[1])));
    if (o->rtol <= 0 && o->atol <= 0) return close;
    wk_tensor *a = as_float(site, in[0]), *b = as_float(site, in[1]);
    wk_tensor *apart = wk_abs(wk_sub(a, b)), *allowed = wk_add(wk_mul(wk_abs(b), o->rtol), o->atol);
    return wk_logical_or(close, wk_logical_and(wk_isfinite(apart), wk_le(apart, allowed)));
}

/* name: of the API call. */
static wk_tensor *isclose(const char *name, wk_site site, wk_tensor *a, wk_tensor *b, const wk_isclose_options *options)
{
    wk_tensor *in[2] = {a, b};
    wk_isclose_options o;
    wk__compose c;
    if (!wk__read_isclose_options(site, name, options, &o)) return NULL;
    if (!(o.rtol >= 0) || !(o.atol >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .rtol and .atol must be at least 0, got %g and %g", name, o.rtol,
                      o.atol);
        return NULL;
    }
    if (!wk__compose_begin(&c, &wk__op_isclose, site, in, 2)) return NULL;
    return wk__compose_end(&c, close_elements(site, in, &o), NULL);
}

wk_tensor *wk_isclose_at(wk_site site, wk_tensor *a, wk_tensor *b, const wk_isclose_options *options)
{
    return isclose("isclose", site, a, b, options);
}

const wk__op wk__op_isclose = {WK__SIGNATURE_isclose};

/* ---- answers of the host ----------------------------------------------------------------------------------------- */

/* Returns true if all elements are set; waits for the device. */
static bool read_all(wk_site site, wk_tensor *x)
{
    wk_tensor *all = wk_all_at(site, x, NULL, -1, NULL);
    return all && wk_item_i64_at(site, all) == 1;
}

bool wk_allclose_at(wk_site site, wk_tensor *a, wk_tensor *b, const wk_isclose_options *options)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, "allclose", site, WK__GRAD_OFF)) return false;
    const bool close = read_all(site, isclose("allclose", site, a, b, options));
    wk__call_end(&c, NULL, 0);
    return close;
}

bool wk_equal_at(wk_site site, wk_tensor *a, wk_tensor *b)
{
    static const wk__op op = {.name = "equal"};
    wk_tensor *in[2] = {a, b};
    wk__call_scope c;
    if (!wk__check_operands(&op, site, in, 2)) return false;
    if (!wk__same_sizes(wk__body_of(a), wk__body_of(b))) return false;
    if (!wk__call_begin(&c, WK__FRAME_CALL, op.name, site, WK__GRAD_OFF)) return false;
    const bool same = read_all(site, wk_eq(a, b));
    wk__call_end(&c, NULL, 0);
    return same;
}
