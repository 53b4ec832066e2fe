/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of layers of attention and transformers with arguments besides their inputs. */
#ifndef WICK_NN_ATTENTION_CALL_H
#define WICK_NN_ATTENTION_CALL_H

#include "module.h"
#include <wick/nn_transformer.h>

/* Calls a module of the library, of a kind in the NULL-terminated list, like wk_forward_n_at(), with options for its
 * forward. Returns false on error. */
bool wk__forward_with(wk_site site, const char *name, wk_module *m, const char *const kinds[], wk_tensor *const *in,
                      int inputs, wk_tensor **out, int outputs, const void *options);
/* Returns the options of the running forward; NULL if it has none. */
const void *wk__forward_options(void);
/* Checks the numbers of inputs and outputs of a forward with one output. */
bool wk__forward_takes(const char *name, int expected, int inputs, int outputs);

/* Returns x (N, T, heads D) as (N, heads, T, D). NULL on error, also if x is NULL. */
wk_tensor *wk__split_heads(wk_tensor *x, int64_t heads);

/* Returns a layer of the same kind, with the options of m, its values, requires_grad and training modes. NULL on
 * error. */
wk_module *wk__transformer_layer_copy(wk_site site, wk_module *m);

#endif
