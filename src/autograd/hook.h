/* SPDX-License-Identifier: Apache-2.0 */
/* Internal hooks, with which layers above autograd (src/distributed, src/parallel) observe a backward pass. They run on
 * the thread of the pass. */
#ifndef WICK_AUTOGRAD_HOOK_H
#define WICK_AUTOGRAD_HOOK_H

#include "tensor/tensor.h"

/* Registers a hook: on a leaf it is a post-accumulate hook, on a computed tensor it runs for each arriving gradient. It
 * gets the library's own gradient, without a user call frame; false, with an error recorded, fails the backward.
 * end(user) is called when the tensor's graph position is freed, or earlier once *over is true; *over must live until
 * then. Returns false on error; then there is no hook and no call of end. */
bool wk__hook_add(wk_site site, wk_tensor *x, bool (*own)(wk_tensor *grad, void *user), void *user,
                  void (*end)(void *user), const atomic_bool *over);

/* Called within such a hook: runs `call` once at the end of the outermost backward of this thread, with the site of the
 * user's call; also, with `failed`, after a longjmp out of it. Returns false on error. */
bool wk__queue_final_callback(bool (*call)(void *user, wk_site site, bool failed), void *user);

#endif
