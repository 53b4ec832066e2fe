/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends composite ops (compose.h). */
#include "compose.h"
#include "engine/anomaly.h"
#include <wick/ops.h>

bool wk__compose_begin(wk__compose *c, const wk__op *op, wk_site site, wk_tensor *const in[], int count)
{
    if (!wk__check_operands(op, site, in, count)) return false;
    c->op = op;
    c->inputs = count;
    for (int k = 0; k < count; k++) c->in[k] = in[k];
    return wk__call_begin(&c->scope, WK__FRAME_CALL, op->name, site, WK__GRAD_COMPOSITE);
}

static bool same_storage(const wk_tensor *a, const wk_tensor *b)
{
    return a && wk__body_of(a)->storage == wk__body_of(b)->storage;
}

/* Returns result k as a separate tensor: it shares no memory with an operand or another result, its elements share
 * none, and it is not a view of a tensor that is freed with the call, because gradients of in-place calls flow through
 * a view's base. */
static wk_tensor *unalias_result(const wk__compose *c, wk_tensor *out[], int k)
{
    const wk__body *body = wk__body_of(out[k]);
    bool shared = !body->known_dense && wk__body_overlaps(body);
    for (int i = 0; i < c->inputs;
         i++) /* an operand created in this call may be returned: the gradient of sort reads the result's indices */
        shared = shared || (same_storage(c->in[i], out[k]) && c->in[i]->handle.scope != c->scope.token);
    for (int i = 0; i < k; i++) shared = shared || same_storage(out[i], out[k]);
    if (shared) return wk_clone_at(c->scope.site, out[k]);
    wk__tensor_promote_to_base(out[k]);
    return out[k];
}

bool wk__compose_end_n(wk__compose *c, wk_tensor *out[], int count, const wk__attr *attr)
{
    bool whole = true;
    for (int k = 0; k < count && whole; k++) whole = out[k] && (out[k] = unalias_result(c, out, k));
    wk__call_end(&c->scope, out, whole ? count : 0); /* all results or none */
    const wk_site site = c->scope.site;
    if (whole && wk__anomaly_on())
        wk__anomaly_check_results(wk__context(), (wk__anomaly_call){c->op->name, site, NULL}, out, count, c->in,
                                  c->inputs);
    if (whole && c->op->grad_fn_name && wk__needs_grad_fn(wk__context(), c->in, c->inputs))
        whole = wk__node_attach(c->op, site, c->in, c->inputs, out, count, attr);
    return whole;
}

wk_tensor *wk__compose_end(wk__compose *c, wk_tensor *result, const wk__attr *attr)
{
    return wk__compose_end_n(c, &result, 1, attr) ? result : NULL;
}

bool wk__inlined_begin(wk__call_scope *c, const wk__op *op, wk_site site, wk_tensor *const in[], int count)
{
    return wk__check_operands(op, site, in, count) && wk__call_begin(c, WK__FRAME_CALL, op->name, site, WK__GRAD_KEPT);
}

wk_tensor *wk__inlined_end(wk__call_scope *c, wk_tensor *out)
{
    wk__call_end(c, &out, out ? 1 : 0);
    return out;
}
