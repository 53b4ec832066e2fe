/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments, scale and shift of the layers of normalisation; see affine.h. */
#include "affine.h"
#include "tensor/call_scope.h"

bool wk__norm_check(wk_site site, const char *name, const int64_t *shape, int ndim, double eps)
{
    if (ndim < 1 || ndim > WK__MAX_DIMS) {
        wk__error_set(site, WK_ERR_SHAPE, "%s: the shape must have 1 to %d dimensions, got %d", name, WK__MAX_DIMS,
                      ndim);
        return false;
    }
    if (!wk__array_check(shape, ndim, site, name, "the shape")) return false;
    for (int d = 0; d < ndim; d++)
        if (shape[d] < 0) {
            wk__error_set(site, WK_ERR_SHAPE, "%s: dimension %d of the shape is %lld; sizes must be at least 0", name,
                          d, (long long)shape[d]);
            return false;
        }
    if (!(eps >= 0)) wk__error_set(site, WK_ERR_ARGUMENT, "%s: .eps must be at least 0, got %g", name, eps);
    return eps >= 0;
}

bool wk__affine_add(wk_site site, const char *name, wk_module *m, const int64_t *shape, int ndim,
                    const wk_tensor_options *like, wk_tensor **weight, wk_tensor **bias)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, name, site, WK__GRAD_OFF)) return false;
    wk_tensor *one = wk_ones_at(site, shape, ndim, like);
    *weight = one ? wk_module_add_parameter_at(site, m, "weight", one) : NULL;
    bool fine = *weight;
    if (fine && bias) {
        wk_tensor *zero = wk_zeros_at(site, shape, ndim, like);
        *bias = zero ? wk_module_add_parameter_at(site, m, "bias", zero) : NULL;
        fine = *bias;
    }
    wk__call_end(&c, NULL, 0);
    return fine;
}
