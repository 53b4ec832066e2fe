/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/activation/swiglu.c. */
#include "references/reference.h"
#include <math.h>
#include <string.h>

static double silu(double x)
{
    return x / (1 + exp(-x));
}
static double gelu(double x)
{
    return x * erfc(-x / sqrt(2)) / 2;
}

static void gated(reference_call *r, double (*activation)(double x))
{
    const reference_array *x = &r->in[0];
    int64_t shape[WK__MAX_DIMS], inner = 1;
    int d = 0;
    wk__wrap_dim(x->ndim, wk__value_int(&r->args[1], -1), &d);
    memcpy(shape, x->shape, sizeof shape);
    shape[d] /= 2;
    for (int k = d + 1; k < x->ndim; k++) inner *= shape[k];
    double *out = reference_out(r, 0, x->ndim, shape);
    const int64_t half = shape[d] * inner;
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        const double *pair = x->data + k / half * 2 * half + k % half;
        out[k] = activation(pair[0]) * pair[half];
    }
}

static void swiglu_reference(reference_call *r)
{
    gated(r, silu);
}
static void geglu_reference(reference_call *r)
{
    gated(r, gelu);
}

static const char *const samples[] = {"[6]", "[3,4]", "[4,3], 0", "[2,4,3], -2", "[0,4]", NULL};

const op_reference op_reference_swiglu = {.reference = swiglu_reference, .samples = samples, .low = -3, .high = 3};

const op_reference op_reference_geglu = {.reference = geglu_reference, .samples = samples, .low = -3, .high = 3};
