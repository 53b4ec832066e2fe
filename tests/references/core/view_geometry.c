/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the references of views: the first operand read through strides; see reference.h. */
#include "references/reference.h"
#include <string.h>

void reference_strided(reference_call *r, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset)
{
    double *out = reference_out(r, 0, ndim, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        int64_t rest = k, at = offset;
        for (int d = ndim; d-- > 0; rest /= shape[d]) at += rest % shape[d] * stride[d];
        out[k] = r->in[0].data[at];
    }
}

void reference_same(reference_call *r, int ndim, const int64_t *shape)
{
    memcpy(reference_out(r, 0, ndim, shape), r->in[0].data, sizeof(double) * (size_t)reference_numel(&r->in[0]));
}
