/* SPDX-License-Identifier: Apache-2.0 */
/* Composite ops: ops that are executed through calls of other ops. */
#ifndef WICK_OPS_COMPOSE_H
#define WICK_OPS_COMPOSE_H

#include "call.h"
#include "tensor/call_scope.h"

/* A composite op: calls other ops in a call scope and adds one node for the result, or none. The operands that begin
 * was given are the node's. */
typedef struct wk__compose {
    wk__call_scope scope;
    const wk__op *op;
    wk_tensor *in[WK__MAX_INPUTS];
    int inputs;
} wk__compose;
bool wk__compose_begin(wk__compose *c, const wk__op *op, wk_site site, wk_tensor *const in[], int count);
wk_tensor *wk__compose_end(wk__compose *c, wk_tensor *result, const wk__attr *attr);
/* Like wk__compose_end(), but for several results (chunk, topk, ...), which share one node. */
bool wk__compose_end_n(wk__compose *c, wk_tensor *out[], int count, const wk__attr *attr);

/* A call of other ops that create the nodes: for ops whose gradient is that of these calls. The op has a node in its
 * spec and no gradient. Begin checks the operands. */
bool wk__inlined_begin(wk__call_scope *c, const wk__op *op, wk_site site, wk_tensor *const in[], int count);
/* Returns the result, moved out of the scope; NULL if it is NULL. */
wk_tensor *wk__inlined_end(wk__call_scope *c, wk_tensor *out);

#endif
