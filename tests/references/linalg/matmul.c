/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/linalg/matmul.c. */
#include "references/reference.h"

/* ---- reference --------------------------------------------------------------------------------------------------- */

/* Offset of the operand's matrix for batch `batch` of the result, whose batch dimensions are shape[0..nbatch-1]. */
static int64_t matrix_of(const reference_array *x, int nbatch, const int64_t *shape, int64_t batch, int64_t size)
{
    int64_t at = 0, step = size;
    for (int d = nbatch; d-- > 0; batch /= shape[d]) {
        int e = d - (nbatch + 2 - (x->ndim < 2 ? 2 : x->ndim));
        if (e < 0) continue;
        at += (x->shape[e] == 1 ? 0 : batch % shape[d]) * step;
        step *= x->shape[e];
    }
    return at;
}

double *reference_product(reference_call *r, int first, bool turned)
{
    const reference_array *a = &r->in[first], *b = &r->in[first + 1];
    int64_t m = a->ndim > 1 ? a->shape[a->ndim - 2] : 1, k = a->shape[a->ndim - 1], shape[WK__MAX_DIMS];
    int64_t n = b->ndim == 1 ? 1 : b->shape[turned ? b->ndim - 2 : b->ndim - 1];
    int nbatch = 0, ndim;
    wk__broadcast(a->ndim > 2 ? a->ndim - 2 : 0, a->shape, b->ndim > 2 ? b->ndim - 2 : 0, b->shape, &nbatch, shape);
    ndim = nbatch;
    if (a->ndim > 1) shape[ndim++] = m;
    if (b->ndim > 1) shape[ndim++] = n;
    double *out = reference_out(r, 0, ndim, shape);
    for (int64_t batch = 0; batch < wk__numel(nbatch, shape); batch++) {
        const double *x = a->data + matrix_of(a, nbatch, shape, batch, m * k);
        const double *y = b->data + matrix_of(b, nbatch, shape, batch, k * n);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                for (int64_t l = 0; l < k; l++)
                    out[(batch * m + i) * n + j] += x[i * k + l] * y[turned ? j * k + l : l * n + j];
    }
    return out;
}

static void reference(reference_call *r)
{
    reference_product(r, 0, false);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const char *const matmul_samples[] = {
    "[3,4], [4,5]",     "[4], [4]",           "[3,4], [4]",       "[4], [4,5]",   "[2,3,4], [4,5]",
    "[2,3,4], [2,4,5]", "[2,1,3,4], [5,4,2]", "[3,4], [2,4,5]",   "[2,3,4], [4]", "[4], [2,4,3]",
    "[0,4], [4,3]",     "[3,0], [0,2]",       "[65,33], [33,70]", "[1,1], [1,1]", NULL};

static const char *const mm_samples[] = {"[3,4], [4,5]", "[1,7], [7,1]", "[0,4], [4,3]", "[3,0], [0,2]", NULL};

static const char *const bmm_samples[] = {"[2,3,4], [2,4,5]", "[1,3,4], [1,4,1]", "[0,3,4], [0,4,2]",
                                          "[2,3,0], [2,0,2]", NULL};

static const char *const mv_samples[] = {"[3,4], [4]", "[1,1], [1]", "[3,0], [0]", "[0,3], [3]", NULL};

static const char *const dot_samples[] = {"[4], [4]", "[0], [0]", "[130], [130]", NULL};

const op_reference op_reference_matmul = {.samples = matmul_samples, .reference = reference, .low = -2, .high = 2};

const op_reference op_reference_mm = {.samples = mm_samples, .reference = reference, .low = -2, .high = 2};

const op_reference op_reference_bmm = {.samples = bmm_samples, .reference = reference, .low = -2, .high = 2};

const op_reference op_reference_mv = {.samples = mv_samples, .reference = reference, .low = -2, .high = 2};

const op_reference op_reference_dot = {.samples = dot_samples, .reference = reference, .low = -2, .high = 2};
