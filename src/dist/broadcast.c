/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor on several devices: one node with an output on each. All their gradients have arrived when it is its turn in
 * the walk, as what was recorded with the outputs comes before it: so their sum follows the work of all devices, and
 * none keeps another waiting.
 *
 *     copies take a device's turn    gradients of all devices --> copies --> sum
 *     copies go beside its work      gradient of device k --> copy k, early ---/    while walk and devices go on
 *
 * Early copies lie on the tensor's device until the sum: of a network on n devices, n - 1 times its gradients. */
#include "broadcast.h"
#include "../autograd/history.h"
#include "../autograd/walk.h"
#include "../base/alloc.h"
#include "../ops/forms.h"
#include <wick/autograd.h>
#include <wick/creation.h>
#include <wick/pointwise.h>

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* Where x is, and its gradient goes: of the broadcast's node, and of the copies before it. */
static wk__attr attr_of(const wk_tensor *x)
{
    const wk_device home = wk__body_of(x)->storage->device->id;
    return wk__to_attr((wk__to_attributes){.device_kind = home.kind, .device_index = home.index});
}

static wk_device home_of(const wk__attr *attr)
{
    const wk__to_attributes home = wk__to_attributes_of(attr);
    return (wk_device){(int16_t)home.device_kind, (int16_t)home.device_index, 0};
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

/* Does a gradient of x's go to that device beside the work of both? */
static bool goes_beside(const wk_tensor *x, const wk__device *to)
{
    const wk__storage *storage = wk__body_of(x)->storage;
    const wk__backend *backend = storage->device->backend;
    return storage->device != to && backend == to->backend && backend->beside > 0 && storage->bytes >= backend->beside;
}

/* The node of a copy between the broadcast and out: the gradient of out goes home by it. */
static bool attach_copy(wk_site site, wk_tensor *sent, wk_tensor *out, const wk__attr *home)
{
    wk__node *node = wk__node_make(&wk__op_to, site, &sent, 1, out, home);
    if (!node) return false;
    wk__node_hang(node, &out, 1);
    wk__node_hasten(node);
    return true;
}

bool wk__broadcast_attach(wk_site site, wk_tensor *x, wk_tensor *const out[], int count, bool early)
{
    if (!wk__wants_node(wk__context(), &x, 1)) return true;
    wk_tensor *sent[WK__WALK_OUTPUTS] = {0}; /* what the broadcast gives: out, or what out is a copy of */
    const wk__attr attr = attr_of(x);
    const wk__device *home = wk__body_of(x)->storage->device;
    wk__node *node = wk__node_make(&broadcast, site, &x, 1, out[0], &attr);
    bool fine = node != NULL;
    for (int k = 0; k < count && fine; k++) {
        const bool copied = early && goes_beside(out[k], home);
        fine = (sent[k] = copied ? wk_detach_at(site, out[k]) : out[k]) != NULL;
    }
    if (fine)
        wk__node_hang(node, sent, count);
    else if (node)
        wk__node_drop(node);
    for (int k = 0; k < count && sent[k]; k++) {
        if (sent[k] == out[k]) continue;
        fine = fine && attach_copy(site, sent[k], out[k], &attr);
        wk__handle_release(&sent[k]->handle, site);
    }
    for (int k = 0; k < count && !fine; k++) wk__handle_release(&out[k]->handle, site);
    return fine;
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
