/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcast of a tensor to several devices as one graph node with an output on each. Backward reaches the node after
 * all work recorded on its outputs, so the sum of the gradients comes last and no device waits for another.
 *
 *     copies in device order         gradients of all devices --> copies --> sum
 *     concurrent copies              gradient of device k --> copy k, early ---/    while walk and devices go on
 *
 * Early copies occupy the tensor's device until the sum: for a network on n devices, n - 1 times its gradients. */
#include "device_broadcast.h"
#include "autograd/view_grad.h"
#include "autograd/backward.h"
#include "base/alloc.h"
#include "ops/core/entries.h"
#include "tensor/call_scope.h"
#include <wick/autograd.h>
#include <wick/creation.h>
#include <wick/pointwise.h>

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* Attributes of both nodes: the device of x, to which the gradient goes. */
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

static void notify_listener(const wk__grad_ctx *g, bool after)
{
    wk__gradient_listener *listener = g->node->payload;
    if (listener) listener->on_gradient(listener, after);
}

static void broadcast_gradient(wk__grad_ctx *g)
{
    const wk_site none = {0};
    const wk_device home = home_of(g->attr);
    wk_tensor *sum = NULL;
    notify_listener(g, false);
    for (int k = 0; k < g->node->outputs; k++) {
        if (!g->out[k]) continue;
        wk_tensor *here = wk_to_at(none, g->out[k], home);
        sum = sum && here ? wk_add_at(none, sum, here) : here;
        if (!sum) return;
    }
    g->in[0] = sum;
    notify_listener(g, true);
}

static const wk__op broadcast = {.name = "broadcast",
                                 .grad_fn_name = "BroadcastBackward",
                                 .gradient = broadcast_gradient}; /* only a graph node, never called */

/* Returns true if a gradient of the size of x can be copied to that device concurrently with the work of both. */
static bool copy_overlaps_compute(const wk_tensor *x, const wk__device *to)
{
    const wk__storage *storage = wk__body_of(x)->storage;
    const wk__backend *backend = storage->device->backend;
    return storage->device != to && backend == to->backend && backend->min_overlap_bytes > 0 &&
           storage->bytes >= backend->min_overlap_bytes;
}

/* Attaches the node of a copy between the broadcast and out, which copies the gradient of out to the device of x. */
static bool attach_copy(wk_site site, wk_tensor *sent, wk_tensor *out, const wk__attr *home)
{
    wk__node *node = wk__node_make(&wk__op_to, site, &sent, 1, &out, home);
    if (!node) return false;
    wk__node_set_outputs(node, &out, 1);
    wk__node_prioritize(node);
    return true;
}

bool wk__device_broadcast_attach(wk_site site, wk_tensor *x, wk_tensor *const out[], int count, bool early)
{
    if (!wk__needs_grad_fn(wk__context(), &x, 1)) return true;
    wk_tensor *copy_source[WK__MAX_OUTPUTS] = {
        0}; /* outputs of the broadcast node: out, or the tensor out is a copy of */
    const wk__attr attr = attr_of(x);
    const wk__device *home = wk__body_of(x)->storage->device;
    wk__node *node = wk__node_make(&broadcast, site, &x, 1, out, &attr);
    bool fine = node != NULL;
    for (int k = 0; k < count && fine; k++) {
        const bool copied = early && copy_overlaps_compute(out[k], home);
        fine = (copy_source[k] = copied ? wk_detach_at(site, out[k]) : out[k]) != NULL;
    }
    if (fine)
        wk__node_set_outputs(node, copy_source, count);
    else if (node)
        wk__node_drop(node);
    for (int k = 0; k < count && copy_source[k]; k++) {
        if (copy_source[k] == out[k]) continue;
        fine = fine && attach_copy(site, copy_source[k], out[k], &attr);
        wk__handle_release(&copy_source[k]->handle, site);
    }
    for (int k = 0; k < count && !fine; k++) wk__handle_release(&out[k]->handle, site);
    return fine;
}

wk_tensor *wk__device_broadcast_copy(wk_site site, wk_tensor *x, wk_device device)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, NULL, site, WK__GRAD_OFF)) return NULL;
    wk_tensor *copy = wk_to_at(site, x, device);
    wk__call_end(&c, &copy, copy != x);
    return copy == x ? wk_detach_at(site, x) : copy;
}

/* ---- listeners --------------------------------------------------------------------------------------------------- */

void wk__gradient_listener_drop(wk__gradient_listener *listener)
{
    if (atomic_fetch_sub(&listener->refs, 1) == 1) wk__free(listener);
}

static void drop(void *listener)
{
    wk__gradient_listener_drop(listener);
}

void wk__device_broadcast_on_grad(wk_tensor *out, wk__gradient_listener *listener)
{
    wk__node *node = wk__body_of(out)->node;
    atomic_fetch_add(&listener->refs, 1);
    node->payload = listener;
    node->own_destroy = drop;
}
