/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/shape/meshgrid.c. */
#include "references/reference.h"
#include <string.h>

static void meshgrid_reference(reference_call *r)
{
    const bool swapped = strcmp(wk__value_text(&r->args[1], "ij"), "xy") == 0 && r->inputs > 1;
    int64_t shape[WK__MAX_DIMS];
    for (int k = 0; k < r->inputs; k++) shape[swapped && k < 2 ? 1 - k : k] = reference_numel(&r->in[k]);
    for (int k = 0; k < r->inputs; k++) {
        const int along = swapped && k < 2 ? 1 - k : k;
        int64_t step = 1;
        for (int d = along + 1; d < r->inputs; d++) step *= shape[d];
        double *out = reference_out(r, k, r->inputs, shape);
        for (int64_t n = 0; n < reference_numel(&r->out[k]); n++) out[n] = r->in[k].data[n / step % shape[along]];
    }
}

static const char *const meshgrid_samples[] = {
    "{[2] [3]}", "{[2] [3] [2]}, \"xy\"", "{[4]}", "{[] [3]}, \"ij\"", "{[0] [2]}", NULL};

const op_reference op_reference_meshgrid = {
    .reference = meshgrid_reference, .samples = meshgrid_samples, .low = -3, .high = 3};

/* A turn from the first dimension towards the second: out[.. i .. j ..] = x[.. j .. n - 1 - i ..]. */
static void rot90_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const bool usual = r->args[2].kind == WK_VALUE_NONE;
    int from = 0, to = 0;
    wk__wrap_dim(x->ndim, usual ? 0 : r->args[2].ints[0], &from);
    wk__wrap_dim(x->ndim, usual ? 1 : r->args[2].ints[1], &to);
    const int64_t turns = (wk__value_int(&r->args[1], 1) % 4 + 4) % 4;
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, x->shape, sizeof shape);
    if (turns % 2) shape[from] = x->shape[to], shape[to] = x->shape[from];
    double *out = reference_out(r, 0, x->ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        int64_t index[WK__MAX_DIMS], rest = k, at = 0;
        for (int d = x->ndim; d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
        const int64_t i = index[from], j = index[to];
        const int64_t source[4][2] = {{i, j},
                                      {j, x->shape[to] - 1 - i},
                                      {x->shape[from] - 1 - i, x->shape[to] - 1 - j},
                                      {x->shape[from] - 1 - j, i}};
        index[from] = source[turns][0];
        index[to] = source[turns][1];
        for (int d = 0; d < x->ndim; d++) at = at * x->shape[d] + index[d];
        out[k] = x->data[at];
    }
}

static const char *const rot90_samples[] = {
    "[2,3]", "[2,3], 1, (0,1)", "[2,3,4], -1, (0,2)", "[3,2], 2, (1,0)", "[2,3], 4, (0,1)", "[0,2], 1, (0,1)", NULL};

const op_reference op_reference_rot90 = {.reference = rot90_reference, .samples = rot90_samples, .low = -3, .high = 3};
