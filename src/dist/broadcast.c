/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor on several devices: one node with an output on each. All their gradients have arrived when it is its turn in
 * the walk, as what was recorded with the outputs comes before it: so the copies of gradients follow the work of all
 * devices, and none keeps another waiting. */
#include "broadcast.h"
#include "../base/alloc.h"
#include <wick/autograd.h>
#include <wick/creation.h>
#include <wick/pointwise.h>

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static wk__attr attr_of(const wk_tensor *x)
{
    const wk_device home = wk__body_of(x)->storage->device->id;
    return (wk__attr){.i = {home.kind, home.index}};
}

static wk_device home_of(const wk__attr *attr)
{
    return (wk_device){(int16_t)attr->i[0], (int16_t)attr->i[1], 0};
}

/* ---- the gradient ------------------------------------------------------------------------------------------------ */

static void hear(const wk__gradient *g, bool after)
{
    wk__listener *listener = g->node->own;
    if (listener) listener->hear(listener, after);
}

static void broadcast_gradient(wk__gradient *g)
{
    const wk_site none = {0};
    const wk_device home = home_of(g->attr);
    wk_tensor *sum = NULL;
    hear(g, false);
    for (int k = 0; k < g->node->outputs; k++) {
        if (!g->out[k]) continue;
        wk_tensor *here = wk_to_at(none, g->out[k], home);
        sum = sum && here ? wk_add_at(none, sum, here) : here;
        if (!sum) return;
    }
    g->in[0] = sum;
    hear(g, true);
}

static const wk__op broadcast = {
    .name = "broadcast", .node = "BroadcastBackward", .gradient = broadcast_gradient}; /* a node only */

bool wk__broadcast_attach(wk_site site, wk_tensor *x, wk_tensor *const out[], int count)
{
    if (!wk__wants_node(wk__context(), &x, 1)) return true;
    const wk__attr attr = attr_of(x);
    return wk__node_attach(&broadcast, site, &x, 1, out, count, &attr);
}

wk_tensor *wk__broadcast_copy(wk_site site, wk_tensor *x, wk_device device)
{
    wk_context *context = wk__context();
    const bool grad_off = context->frame.grad_off;
    context->frame.grad_off = true;
    wk_tensor *copy = wk_to_at(site, x, device);
    context->frame.grad_off = grad_off;
    return copy == x ? wk_detach_at(site, x) : copy;
}

/* ---- who listens ------------------------------------------------------------------------------------------------- */

void wk__listener_drop(wk__listener *listener)
{
    if (atomic_fetch_sub(&listener->refs, 1) == 1) wk__free(listener);
}

static void drop(void *listener)
{
    wk__listener_drop(listener);
}

void wk__broadcast_listen(wk_tensor *out, wk__listener *listener)
{
    wk__node *node = wk__body_of(out)->node;
    atomic_fetch_add(&listener->refs, 1);
    node->own = listener;
    node->own_destroy = drop;
}
