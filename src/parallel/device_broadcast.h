/* SPDX-License-Identifier: Apache-2.0 */
/* Graph node of a broadcast to several devices. */
#ifndef WICK_PARALLEL_DEVICE_BROADCAST_H
#define WICK_PARALLEL_DEVICE_BROADCAST_H

#include "autograd/node.h"

/* Attaches the node to out[count], copies of x on different devices: the gradient of x is the sum of theirs, copied to
 * the device of x and added in the order of out. early: if copies of this size can run concurrently with computation
 * (backend.h), each gradient is copied as soon as it is ready. No-op if x does not require grad or grad mode is off.
 * Returns false after recording an error; the references to out[] have then been dropped. */
bool wk__device_broadcast_attach(wk_site site, wk_tensor *x, wk_tensor *const out[], int count, bool early);
/* Returns a detached copy of x on the device, or a view of the same memory if x is there. Owned by the current scope;
 * NULL after recording an error. */
wk_tensor *wk__device_broadcast_copy(wk_site site, wk_tensor *x, wk_device device);

/* Observer of the gradient of such a node. The node holds a reference until it is destroyed. */
typedef struct wk__gradient_listener {
    atomic_int refs;
    void (*on_gradient)(struct wk__gradient_listener *listener,
                        bool after); /* called before the gradients are added, and
                                                                                after that */
} wk__gradient_listener;
void wk__device_broadcast_on_grad(wk_tensor *out, wk__gradient_listener *listener);
void wk__gradient_listener_drop(wk__gradient_listener *listener); /* frees it when the last reference is dropped */

#endif
