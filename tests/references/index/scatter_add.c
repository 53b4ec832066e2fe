/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/index/scatter_add.c. */
#include "references/reference.h"
#include <string.h>

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* Offset in a dense array of element k of the space `shape`, with index `at` in dimension d. */
static int64_t offset_in(const reference_array *x, const int64_t *shape, int64_t k, int d, int64_t at)
{
    int64_t offset = 0, step = 1;
    for (int e = x->ndim; e-- > 0; k /= shape[e], step *= x->shape[e]) offset += (e == d ? at : k % shape[e]) * step;
    return offset;
}

static void add_reference(reference_call *r, bool by_vector)
{
    const reference_array *x = &r->in[0], *index = &r->in[1], *source = &r->in[2];
    const int64_t *shape = by_vector ? source->shape : index->shape;
    int d = 0;
    wk__wrap_dim(x->ndim, r->args[1].i, &d);
    double *out = reference_out(r, 0, x->ndim, x->shape);
    memcpy(out, x->data, sizeof *out * (size_t)reference_numel(x));
    if (x->ndim == 0 || index->ndim == 0 || reference_numel(index) == 0) {
        for (int64_t k = 0; k < reference_numel(index); k++) {
            const int64_t at = (int64_t)index->data[k];
            out[at < 0 ? at + reference_numel(x) : at] += source->data[k];
        }
        return;
    }
    for (int64_t k = 0, inner = 1; k < wk__numel(x->ndim, shape); k++, inner = 1) {
        for (int e = d + 1; e < x->ndim; e++) inner *= shape[e];
        int64_t own = k / inner % shape[d], at = (int64_t)index->data[by_vector ? own : k];
        out[offset_in(x, shape, k, d, at < 0 ? at + x->shape[d] : at)] +=
            source->data[offset_in(source, shape, k, d, own)];
    }
}

static void scatter_add_reference(reference_call *r)
{
    add_reference(r, false);
}

static void index_add_reference(reference_call *r)
{
    add_reference(r, true);
}

static const char *const scatter_add_samples[] = {
    "[4], 0, [6]:i64<4, [6]", "[3,4], 1, [3,2]:i64<4, [3,2]", "[3,4], 0, [5,3]:i64<3, [6,4]",
    "[3], 0, [0]:i64<1, [2]", "[], 0, []:i64<1, []",          "[], 0, [2]:i64<1, [3]",
    "[4], 0, []:i64<4, [3]",  "[3,2], 0, [0]:u8<3, [2,2]",    NULL};

static const char *const index_add_samples[] = {"[4], 0, [6]:i64<4, [6]",      "[3,4], 0, [5]:i64<3, [5,4]",
                                                "[3,4], -1, [2]:i64<4, [3,2]", "[], 0, [1]:i64<1, []",
                                                "[3,0], 0, [2]:i64<3, [2,0]",  NULL};

const op_reference op_reference_scatter_add = {
    .reference = scatter_add_reference, .samples = scatter_add_samples, .low = -3, .high = 3};

const op_reference op_reference_index_add = {
    .reference = index_add_reference, .samples = index_add_samples, .low = -3, .high = 3};
