/* SPDX-License-Identifier: Apache-2.0 */
/* Clipping of gradients by their common norm. The norm stays on the device; nothing waits for it. */
#include "ops/core/call.h"
#include "tensor/call_scope.h"
#include "optim.h"
#include <wick/autograd.h>
#include <wick/pointwise.h>
#include <wick/reduce.h>

/* Returns the sum of squares of all gradients, on the device of the first; 0-d. NULL on error. */
static wk_tensor *square_sum(const wk__tensor_list *list)
{
    wk_tensor *total = NULL;
    for (int64_t k = 0; k < list->count; k++) {
        wk_tensor *grad = wk_grad_of(list->item[k].tensor);
        if (!grad) continue;
        wk_tensor *wide = wk__to_opmath(grad), *part = wide ? wk_sum(wk_mul(wide, wide)) : NULL;
        if (total && part) part = wk_add(total, wk_to_at((wk_site){0}, part, wk_device_of(total)));
        if (!part) return NULL;
        total = part;
    }
    return total ? total : wk_zeros(());
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

wk_tensor *wk_clip_grad_norm__at(wk_site site, wk_tensors *parameters, double max)
{
    wk__call_scope c;
    if (!wk__tensor_list_check(parameters, site, "clip_grad_norm_")) return NULL;
    if (!(max >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "clip_grad_norm_: max_norm must be at least 0");
        return NULL;
    }
    if (!wk__call_begin(&c, WK__FRAME_CALL, "clip_grad_norm_", site, WK__GRAD_OFF)) return NULL;
    wk_tensor *sum = square_sum(wk__tensor_list_of(parameters)), *norm = sum ? wk_sqrt(sum) : NULL;
    if (norm && !scale_all(wk__tensor_list_of(parameters), norm, max)) norm = NULL;
    wk__call_end(&c, &norm, 1);
    return norm;
}
