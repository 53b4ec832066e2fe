/* SPDX-License-Identifier: Apache-2.0 */
/* Clipping of gradients, by their common norm or each element by itself. The norm stays on the device; nothing waits
 * for it unless the program asks for a check. */
#include "base/options.h"
#include "ops/core/call.h"
#include "tensor/call_scope.h"
#include "optim.h"
#include <wick/autograd.h>
#include <wick/pointwise.h>
#include <wick/reduce.h>

/* Returns the share of one gradient in the norm: the sum of its magnitudes to the power p, or the greatest of them. */
static wk_tensor *share_of(wk_tensor *grad, double p)
{
    wk_tensor *wide = wk__to_opmath(grad);
    if (!wide) return NULL;
    if (p == 2) return wk_sum(wk_mul(wide, wide));
    wk_tensor *size = wk_abs(wide);
    return p == INFINITY ? wk_amax(size) : wk_sum(p == 1 ? size : wk_pow(size, p));
}

/* Returns the norm of all gradients, on the device of the first; without dimensions. NULL on error. */
static wk_tensor *norm_of(const wk__tensor_list *list, double p)
{
    wk_tensor *total = NULL;
    for (int64_t k = 0; k < list->count; k++) {
        wk_tensor *grad = wk_grad_of(list->item[k].tensor);
        if (!grad || wk_numel(grad) == 0) continue;
        wk_tensor *part = share_of(grad, p);
        if (total && part) {
            part = wk_to_at((wk_site){0}, part, wk_device_of(total));
            part = p == INFINITY ? wk_maximum(total, part) : wk_add(total, part);
        }
        if (!part) return NULL;
        total = part;
    }
    if (!total) return wk_zeros(());
    return p == INFINITY || p == 1 ? total : p == 2 ? wk_sqrt(total) : wk_pow(total, 1 / p);
}

/* Scales all gradients by min(1, max / (norm + 1e-6)). 1e-6 avoids a division by 0, as in PyTorch. */
static bool scale_all(const wk__tensor_list *list, wk_tensor *norm, double max)
{
    wk_tensor *factor = wk_minimum(wk_div(max, wk_add(norm, 1e-6)), 1.0);
    for (int64_t k = 0; k < list->count && factor; k++) {
        wk_tensor *grad = wk_grad_of(list->item[k].tensor);
        if (grad && !wk_mul_(grad, wk_to_at((wk_site){0}, factor, wk_device_of(grad)))) return false;
    }
    return factor != NULL;
}

static bool check_finite(wk_site site, wk_tensor *norm)
{
    const double value = wk_item_at(site, norm);
    if (wk__error_pending()) return false;
    if (isfinite(value)) return true;
    wk__error_set(site, WK_ERR_STATE,
                  "clip_grad_norm_: the norm of the gradients is %s; omit .error_if_nonfinite to scale them anyway",
                  isnan(value) ? "NaN" : "infinite");
    return false;
}

wk_tensor *wk_clip_grad_norm__at(wk_site site, wk_tensors *parameters, double max,
                                 const wk_clip_grad_norm_options *options)
{
    static const char op[] = "clip_grad_norm_";
    wk_clip_grad_norm_options o;
    wk__call_scope c;
    if (!wk__tensor_list_check(parameters, site, op) || !wk__options(site, op, options, &o)) return NULL;
    const double p = wk__option_or(o.norm_type, 2);
    if (!(max >= 0) || !(p > 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s", op,
                      !(max >= 0) ? "max_norm must be at least 0" : ".norm_type must be greater than 0");
        return NULL;
    }
    if (!wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return NULL;
    const wk__tensor_list *list = wk__tensor_list_of(parameters);
    wk_tensor *norm = norm_of(list, p);
    if (norm && o.error_if_nonfinite && !check_finite(site, norm)) norm = NULL;
    if (norm && !scale_all(list, norm, max)) norm = NULL;
    wk__call_end(&c, &norm, 1);
    return norm;
}

wk_code wk_clip_grad_value__at(wk_site site, wk_tensors *parameters, double max)
{
    static const char op[] = "clip_grad_value_";
    wk__call_scope c;
    if (!wk__tensor_list_check(parameters, site, op)) return wk_error_code();
    if (!(max >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: max must be at least 0", op);
        return wk_error_code();
    }
    if (!wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return wk_error_code();
    const wk__tensor_list *list = wk__tensor_list_of(parameters);
    bool fine = true;
    for (int64_t k = 0; k < list->count && fine; k++) {
        wk_tensor *grad = wk_grad_of(list->item[k].tensor);
        fine = !grad || wk_clamp_(grad, -max, max) != NULL;
    }
    wk__call_end(&c, NULL, 0);
    return fine ? WK_OK : wk_error_code();
}
