/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/autograd_ops.c. Calls on a graph have no samples, because samples have no graph;
 * tests/autograd/calls.c tests them. */
#include "reference.h"

static void same_reference(reference_call *r)
{
    reference_same(r, r->in[0].ndim, r->in[0].shape);
}

static const char *const none[] = {NULL}, *const samples[] = {"[]", "[5]", "[2,3]", "[0,2]", NULL};

const op_reference op_reference_backward = {.samples = none};

const op_reference op_reference_detach = {.reference = same_reference, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_grad = {.samples = none};

const op_reference op_reference_grad_of = {.samples = none};

const op_reference op_reference_requires_grad_ = {.samples = none};
