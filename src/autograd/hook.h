/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of the library's own, by which what stands above the graph (src/dist) hears how a backward gets on. */
#ifndef WICK_AUTOGRAD_HOOK_H
#define WICK_AUTOGRAD_HOOK_H

#include "tensor/tensor.h"

/* Registers one: on a leaf it runs as those that come after do (wk_hook_options), on a tensor that was computed with
 * each gradient that arrives. It gets the gradient that the library has at hand, and is no call of the program's; false
 * fails the backward, with the error recorded. `end(user)` when the tensor's place in the graph goes, or earlier where
 * *over, which lives until then, has become true. False with the error recorded: then there is no hook, and no end. */
bool wk__hook_add(wk_site site, wk_tensor *x, bool (*own)(wk_tensor *grad, void *user), void *user,
                  void (*end)(void *user), const atomic_bool *over);

/* From within such a hook: `call` runs once when the outermost backward of this thread ends, within it, with the site
 * of the program's call; `failed` too when a handler's longjmp has left it. False with the error recorded. */
bool wk__queue_final_callback(bool (*call)(void *user, wk_site site, bool failed), void *user);

#endif
