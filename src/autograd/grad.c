/* SPDX-License-Identifier: Apache-2.0 */
/* wk_backward and wk_grad: checks of their arguments, and the request for a pass. */
#include "base/alloc.h"
#include "base/options.h"
#include "view_grad.h"
#include "backward.h"
#include <string.h>
#include <wick/autograd.h>

/* Checks what is specific to a root of backward; ops check forks, late failures and dead handles. */
static bool root_fits(wk_site site, const char *op, wk_tensor *x, const wk_tensor *seed)
{
    if (!wk__check_tensor(x, site, op, "input")) return false;
    const wk__body *body = wk__body_of(x);
    const bool depends = wk_requires_grad(x);
    wk__text text = {0};
    wk__text_format(&text, "%s: ", op);
    wk__text_tensor(&text, x);
    if (!depends) {
        wk__text_add(&text, " does not require grad, so there is no graph to differentiate; create its leaves with "
                            ".requires_grad = true and compute it outside WK_NO_GRAD");
    } else if (!seed && wk__body_numel(body) != 1) {
        wk__text_add(&text, " is not a scalar; reduce it (wk_sum, wk_mean) or pass .gradient");
    } else if (seed && !wk__same_sizes(wk__body_of(seed), body)) {
        wk__text_add(&text, " needs a .gradient of the same shape, got ");
        wk__text_tensor(&text, seed);
    } else {
        wk__text_free(&text);
        return true;
    }
    wk__error_set_text(site, WK_ERR_STATE, &text);
    return false;
}

wk_code wk_backward_at(wk_site site, wk_tensor *x, const wk_backward_options *options)
{
    wk_backward_options o;
    if (!wk__options(site, "backward", options, &o)) return wk_error_code();
    wk_tensor *seed = o.gradient;
    if (seed && !wk__check_tensor(seed, site, "backward", "gradient")) return wk_error_code();
    if (!root_fits(site, "backward", x, seed)) return wk_error_code();
    wk__backward_request request = {.site = site, .outputs = &x, .seeds = seed ? &seed : NULL, .output_count = 1};
    request.create_graph = o.create_graph;
    request.retain_graph = o.retain_graph || o.create_graph;
    return wk__run_backward(&request) ? WK_OK : wk_error_code();
}

static wk_code unused(wk_site site, int k)
{
    wk__error_set(site, WK_ERR_STATE,
                  "grad: input %d was not used to compute the outputs; pass .allow_unused = true if this is intended",
                  k);
    return WK_ERR_STATE;
}

wk_code wk_grad_at(wk_site site, wk_tensor *const *outputs, int output_count, wk_tensor *const *inputs, int input_count,
                   wk_tensor **grads, const wk_grad_options *options)
{
    if (!outputs || !inputs || !grads) {
        wk__error_set(site, WK_ERR_ARGUMENT, "grad: %s is NULL",
                      !outputs  ? "the array of outputs"
                      : !inputs ? "the array of inputs"
                                : "the array for the gradients");
        return WK_ERR_ARGUMENT;
    }
    for (int k = 0; k < input_count; k++) grads[k] = NULL;
    wk_grad_options o;
    if (!wk__options(site, "grad", options, &o)) return wk_error_code();
    for (int k = 0; k < output_count; k++) {
        wk_tensor *seed = o.grad_outputs ? o.grad_outputs[k] : NULL;
        if (seed && !wk__check_tensor(seed, site, "grad", "a gradient of an output")) return wk_error_code();
        if (!root_fits(site, "grad", outputs[k], seed)) return wk_error_code();
    }
    for (int k = 0; k < input_count; k++) {
        if (!wk__check_tensor(inputs[k], site, "grad", "an input")) return wk_error_code();
        if (!wk_requires_grad(inputs[k])) {
            wk__error_set(site, WK_ERR_STATE, "grad: input %d does not require grad", k);
            return WK_ERR_STATE;
        }
    }
    wk__grad_target *targets = wk__alloc_zero((size_t)input_count + 1, sizeof *targets);
    if (!targets) {
        wk__error_set(site, WK_ERR_MEMORY, "grad: out of host memory");
        return WK_ERR_MEMORY;
    }
    bool clean = !wk__error_pending();
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    for (int k = 0; k < input_count; k++) targets[k].edge = wk__edge_of(inputs[k]);
    wk__backward_request request = {.site = site,
                                    .outputs = outputs,
                                    .seeds = o.grad_outputs,
                                    .output_count = output_count,
                                    .targets = targets,
                                    .found = grads,
                                    .target_count = input_count};
    request.create_graph = o.create_graph;
    request.retain_graph = o.retain_graph || o.create_graph;
    const bool ready = !(clean && wk__error_pending());
    if (!ready) wk__targets_free(targets, input_count);
    wk__frame_end(context, before);
    if (!ready || !wk__run_backward(&request)) return wk_error_code();
    int missing = -1;
    for (int k = input_count; k-- > 0;)
        if (!grads[k]) missing = k;
    if (missing >= 0 && o.allow_unused)
        wk__note_null_result(site, &wk__tensor_kind, "grad",
                             "the input was not used to compute the outputs (.allow_unused is set)");
    if (missing < 0 || o.allow_unused) return WK_OK;
    for (int k = 0; k < input_count; k++) {
        if (grads[k]) wk__handle_release(&grads[k]->handle, site);
        grads[k] = NULL;
    }
    return unused(site, missing);
}
