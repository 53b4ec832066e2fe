/* SPDX-License-Identifier: Apache-2.0 */
/* The node of a tensor that is on several devices. */
#ifndef WICK_DIST_BROADCAST_H
#define WICK_DIST_BROADCAST_H

#include "autograd/node.h"

/* out[count] have the numbers of x, each on a device of its own: x's gradient is the sum of theirs, brought to where x
 * is and added in the order of out. `early`: where copies of its size go beside what devices compute (backend.h), a
 * gradient is on its way as soon as it is there. Nothing happens where x wants no gradient, or no graph is being made.
 * False when memory is short (recorded); then out[] have been let go of. */
bool wk__device_broadcast_attach(wk_site site, wk_tensor *x, wk_tensor *const out[], int count, bool early);
/* x's numbers in a tensor without a history, of the current scope: on that device, or, where x is there, in the same
 * memory. NULL with the error recorded. */
wk_tensor *wk__device_broadcast_copy(wk_site site, wk_tensor *x, wk_device device);

/* Somebody wants to know when the gradient of such a node has been recorded. He is held by the node until it goes. */
typedef struct wk__gradient_listener {
    atomic_int refs;
    void (*on_gradient)(struct wk__gradient_listener *listener, bool after); /* before the gradients are added, and
                                                                                after that */
} wk__gradient_listener;
void wk__device_broadcast_on_grad(wk_tensor *out, wk__gradient_listener *listener);
void wk__gradient_listener_drop(wk__gradient_listener *listener); /* frees it with the last reference */

#endif
