/* SPDX-License-Identifier: Apache-2.0 */
/* batch_norm1d, batch_norm2d, batch_norm3d: normalise channels, with the statistics of the batch in training mode and
 * running statistics, which are buffers, in evaluation mode. */
#include "module.h"
#include "ops/normalisation/channel_norm.h"
#include "tensor/call_scope.h"

/* State of the module. All tensors are owned by it; NULL if disabled. */
typedef struct norm {
    wk_tensor *weight, *bias, *mean, *var; /* (features) */
    wk_tensor *batches;                    /* 0-d i64: number of batches in mean and var */
    int64_t features;
    int least, most;                  /* number of dimensions of an input */
    wk_nn_batch_norm_options options; /* eps and momentum are the values in use */
} norm;

static bool check_input(const norm *state, const char *name, wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    const char *const shapes[] = {[2] = "(N, C)", [3] = "(N, C, L)", [4] = "(N, C, H, W)", [5] = "(N, C, D, H, W)"};
    const char *other = state->least == state->most ? "" : " or (N, C)";
    if (body->ndim < state->least || body->ndim > state->most) {
        wk__call_error(name, (wk_site){0}, WK_ERR_SHAPE, &x, "expected an input %s%s, got $a", shapes[state->most],
                       other);
        return false;
    }
    if (body->shape[1] == state->features) return true;
    wk__call_error(
        name, (wk_site){0}, WK_ERR_SHAPE, &x,
        "expected an input with %lld channels in dimension 1, got $a; create the layer with as many features",
        (long long)state->features);
    return false;
}

/* Counts the batch. Returns its weight in a mean over all batches, a 0-d tensor, if that is needed. */
static bool count_batch(const norm *state, wk_tensor **factor)
{
    *factor = NULL;
    if (!wk_add_(state->batches, 1)) return false;
    if (state->options.cumulative)
        *factor = wk_div(1.0, wk_to_dtype(state->batches, wk__compute_class(wk__body_of(state->mean)->dtype)));
    return !state->options.cumulative || *factor;
}

static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const wk__module *module = wk__module_of(self);
    const norm *state = module->state;
    const bool running = state->mean && module->eval;
    wk__channel_norm call = {.x = x,
                             .weight = state->weight,
                             .bias = state->bias,
                             .training = !running,
                             .momentum = state->options.momentum,
                             .eps = state->options.eps};
    if (!check_input(state, module->kind.name, x)) return NULL;
    if (!state->mean) return wk__batch_norm(call);
    call.running_mean = state->mean;
    call.running_var = state->var;
    if (!running && !count_batch(state, &call.factor)) return NULL;
    return wk__batch_norm(call);
}

/* Adds a parameter or buffer of shape (features) with this value. NULL on error. */
static wk_tensor *add(wk_site site, wk_module *m, bool parameter, const char *name, double value)
{
    const norm *state = wk__module_of(m)->state;
    wk_tensor_options like = {.size = sizeof like, .dtype = state->options.dtype, .device = state->options.device};
    wk_tensor *x = wk_full_f64_at(site, &state->features, 1, value, &like);
    if (!x) return NULL;
    return parameter ? wk_module_add_parameter_at(site, m, name, x) : wk_module_set_buffer_at(site, m, name, x);
}

static bool add_buffers(wk_site site, wk_module *m)
{
    norm *state = wk__module_of(m)->state;
    wk_tensor_options count = {.size = sizeof count, .dtype = WK_I64, .device = state->options.device};
    state->mean = add(site, m, false, "running_mean", 0);
    state->var = state->mean ? add(site, m, false, "running_var", 1) : NULL;
    wk_tensor *zero = state->var ? wk_zeros_at(site, NULL, 0, &count) : NULL;
    state->batches = zero ? wk_module_set_buffer_at(site, m, "num_batches_tracked", zero) : NULL;
    return state->batches;
}

static bool add_tensors(wk_site site, wk_module *m, const char *name)
{
    norm *state = wk__module_of(m)->state;
    const bool affine = !state->options.no_affine, bias = affine && !state->options.no_bias;
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, name, site, WK__GRAD_OFF)) return false;
    if (affine) state->weight = add(site, m, true, "weight", 1);
    if (bias && state->weight) state->bias = add(site, m, true, "bias", 0);
    bool fine = !affine || (state->weight && (state->bias || !bias));
    fine = fine && (state->options.no_running_stats || add_buffers(site, m));
    wk__call_end(&c, NULL, 0);
    return fine;
}

static wk_module *create(wk_site site, int dims, int64_t features, const wk_nn_batch_norm_options *options)
{
    static const char *const names[] = {NULL, "batch_norm1d", "batch_norm2d", "batch_norm3d"};
    static const char *const calls[] = {NULL, "nn_batch_norm1d", "nn_batch_norm2d", "nn_batch_norm3d"};
    const wk_module_kind kind = {.size = sizeof kind, .name = names[dims], .state = sizeof(norm), .forward1 = forward};
    wk_nn_batch_norm_options o;
    if (!wk__options(site, calls[dims], options, &o)) return NULL;
    if (features < 0 || !(o.eps >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: features and .eps must be at least 0, got %lld and %g", calls[dims],
                      (long long)features, o.eps);
        return NULL;
    }
    o.eps = wk__option_or(o.eps, 1e-5);
    o.momentum = wk__option_or(o.momentum, 0.1);
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    *(norm *)wk__module_of(m)->state =
        (norm){.features = features, .least = dims == 1 ? 2 : dims + 2, .most = dims + 2, .options = o};
    return add_tensors(site, m, calls[dims]) ? m : wk__module_discard(m);
}

wk_module *wk_nn_batch_norm1d_at(wk_site site, int64_t features, const wk_nn_batch_norm_options *options)
{
    return create(site, 1, features, options);
}

wk_module *wk_nn_batch_norm2d_at(wk_site site, int64_t features, const wk_nn_batch_norm_options *options)
{
    return create(site, 2, features, options);
}

wk_module *wk_nn_batch_norm3d_at(wk_site site, int64_t features, const wk_nn_batch_norm_options *options)
{
    return create(site, 3, features, options);
}
