/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the references of random ops: the stream's values, from the functions of ir/random.h; see reference.h. */
#include "references/reference.h"
#include "ir/random.h"
#include <math.h>

uint64_t reference_bits(int64_t n, int64_t k)
{
    const wk_context *context = wk__context();
    uint32_t out[4];
    wk__philox(context->counter - (uint64_t)n + (uint64_t)k, 0, context->key, out);
    return out[0] | (uint64_t)out[1] << 32;
}

double reference_uniform(wk_dtype dtype, int64_t n, int64_t k)
{
    uint64_t bits = reference_bits(n, k);
    if (dtype == WK_F64) return (double)(bits >> 11) * 0x1p-53;
    int kept = dtype == WK_F16 ? 11 : dtype == WK_BF16 ? 8 : 24;
    return ldexp((double)((uint32_t)bits >> (32 - kept)), -kept);
}

double reference_normal(wk_dtype dtype, int64_t n, int64_t k)
{
    uint64_t bits = reference_bits(n, k);
    return dtype == WK_F64 ? wk__ndtri64(bits) : (double)wk__ndtri32((uint32_t)bits);
}

void reference_filled(reference_call *r, int ndim, const int64_t *shape, wk_dtype dtype,
                      double (*number)(wk_dtype, int64_t, int64_t), double offset, double scale)
{
    double *out = reference_out(r, 0, ndim, shape);
    int64_t n = reference_numel(&r->out[0]);
    for (int64_t k = 0; k < n; k++) out[k] = offset + scale * number(dtype, n, k);
}
