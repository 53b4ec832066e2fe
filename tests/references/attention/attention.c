/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the op in src/ops/attention/attention.c. */
#include "base/alloc.h"
#include "references/reference.h"
#include <math.h>

/* Returns the first element of matrix `lead` of a stack, whose leading dimensions broadcast to this shape. Each head of
 * the stack belongs to `group` adjacent heads of the shape. */
static const double *matrix_at(const reference_array *a, int leads, const int64_t *shape, int64_t lead, bool grouped)
{
    int64_t at = 0, step = a->shape[a->ndim - 2] * a->shape[a->ndim - 1];
    for (int d = leads - 1, own = a->ndim - 3; own >= 0; d--, own--) {
        int64_t index = lead % shape[d];
        lead /= shape[d];
        if (grouped && d == leads - 1) index /= shape[d] / a->shape[own];
        if (a->shape[own] > 1) at += index * step;
        step *= a->shape[own];
    }
    return a->data + at;
}

/* Computes one row of the result from the products of a row of query with all keys. */
static void attend(const double *query, const double *key, const double *value, double *score, double scale,
                   const int64_t size[3], double *out)
{
    double most = -INFINITY, sum = 0;
    for (int64_t s = 0; s < size[0]; s++) {
        double product = 0;
        for (int64_t e = 0; e < size[1]; e++) product += query[e] * key[s * size[1] + e];
        score[s] += size[1] ? scale * product : 0; /* without columns the default scale is infinite */
        most = score[s] > most || isnan(score[s]) ? score[s] : most;
    }
    for (int64_t s = 0; s < size[0]; s++) sum += score[s] = most == -INFINITY ? 0 : exp(score[s] - most);
    for (int64_t v = 0; v < size[2]; v++) {
        out[v] = 0;
        for (int64_t s = 0; s < size[0] && sum != 0; s++) out[v] += score[s] / sum * value[s * size[2] + v];
    }
}

static void reference(reference_call *r)
{
    const reference_array *query = &r->in[0], *key = &r->in[1], *value = &r->in[2];
    const reference_array *mask = r->args[3].kind == WK_VALUE_TENSOR ? &r->in[3] : NULL;
    const bool causal = r->args[5].kind == WK_VALUE_BOOL && r->args[5].i;
    const bool grouped = r->args[7].kind == WK_VALUE_BOOL && r->args[7].i;
    const int64_t rows = query->shape[query->ndim - 2];
    const int64_t size[3] = {key->shape[key->ndim - 2], key->shape[key->ndim - 1], value->shape[value->ndim - 1]};
    const double scale = wk__value_float(&r->args[6], 1 / sqrt((double)size[1]));
    int64_t shape[WK__MAX_DIMS], leads = 0, count = 1;
    const reference_array *const lead[3] = {query, key, value};
    for (int k = 0; k < 3; k++)
        if (lead[k]->ndim - 2 > leads) leads = lead[k]->ndim - 2;
    for (int64_t d = 0; d < leads; d++) shape[d] = 1;
    for (int k = 0; k < (grouped ? 1 : 3); k++)
        for (int d = 0; d < lead[k]->ndim - 2; d++)
            if (lead[k]->shape[d] != 1) shape[leads - lead[k]->ndim + 2 + d] = lead[k]->shape[d];
    for (int64_t d = 0; d < leads; d++) count *= shape[d];
    shape[leads] = rows;
    shape[leads + 1] = size[2];
    double *out = reference_out(r, 0, (int)leads + 2, shape);
    shape[leads + 1] = size[0];
    double *score = wk__alloc_zero((size_t)size[0] + 1, sizeof *score);
    for (int64_t k = 0; k < count * rows; k++) {
        const int64_t row = k % rows;
        for (int64_t s = 0; s < size[0]; s++) {
            const double extra = mask ? reference_at(mask, (int)leads + 2, shape, k * size[0] + s) : 0;
            const bool hidden = (causal && s > row) || (mask && mask->dtype == WK_BOOL && extra == 0);
            score[s] = hidden ? -INFINITY : mask && mask->dtype != WK_BOOL ? extra : 0;
        }
        attend(matrix_at(query, (int)leads, shape, k / rows, false) + row * size[1],
               matrix_at(key, (int)leads, shape, k / rows, grouped),
               matrix_at(value, (int)leads, shape, k / rows, grouped), score, scale, size, out + k * size[2]);
    }
    wk__free(score);
}

static const char *const samples[] = {"[2,3,4], [2,5,4], [2,5,6]",
                                      "[3,4], [5,4], [5,2], none, 0, true",
                                      "[5,3], [2,3], [2,3], none, 0, true, 0.5",
                                      "[2,3,4], [2,5,4], [2,5,4], [3,5]:bool",
                                      "[2,2,3,4], [2,2,5,4], [2,2,5,4], [2,1,1,5]:bool",
                                      "[2,3,4], [2,5,4], [2,5,4], [2,3,5]",
                                      "[2,3,4], [2,5,4], [2,5,4], [5], 0, false, -1.5",
                                      "[2,3,4], [1,5,4], [5,4], [3,1]",
                                      "[2,4,3,5], [2,2,4,5], [2,2,4,3], none, 0, false, none, true",
                                      "[4,3,2], [2,4,2], [2,4,2], [4,3,4], 0, false, none, true",
                                      "[4,3,2], [2,4,2], [2,4,2], [1,3,4]:bool, 0, false, none, true",
                                      "[4,3,2], [1,4,2], [1,4,2], none, 0, true, none, true",
                                      "[0,3,4], [0,5,4], [0,5,4]",
                                      "[2,0,4], [2,5,4], [2,5,4]",
                                      "[2,3,4], [2,0,4], [2,0,4]",
                                      "[2,3,0], [2,5,0], [2,5,4]",
                                      "[1,70,9], [1,150,9], [1,150,17], none, 0, true",
                                      NULL};

const op_reference op_reference_scaled_dot_product_attention = {
    .reference = reference, .samples = samples, .low = -2, .high = 2};
