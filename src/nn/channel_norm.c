/* SPDX-License-Identifier: Apache-2.0 */
/* batch_norm1d to batch_norm3d, instance_norm1d to instance_norm3d, and their lazy forms: layers that normalise
 * channels, with the statistics of the input in training mode and running statistics, which are buffers, in evaluation
 * mode. */
#include "module.h"
#include "ops/normalisation/channel_norm.h"
#include "tensor/call_scope.h"
#include <string.h>
#include <wick/shape.h>

/* State of the module. All tensors are owned by it; NULL if disabled. */
typedef struct norm {
    wk_tensor *weight, *bias, *mean, *var; /* (features) */
    wk_tensor *batches;                    /* 0-d i64: number of batches in mean and var */
    int64_t features;
    int dims; /* of positions: 1 to 3 */
    bool instance, affine, with_bias, running, cumulative;
    double eps, momentum;
    wk_dtype dtype;
    wk_device device;
} norm;

static const char *call_name(const norm *state, bool lazy)
{
    static const char *const names[2][2][3] = {
        {{"nn_batch_norm1d", "nn_batch_norm2d", "nn_batch_norm3d"},
         {"nn_lazy_batch_norm1d", "nn_lazy_batch_norm2d", "nn_lazy_batch_norm3d"}},
        {{"nn_instance_norm1d", "nn_instance_norm2d", "nn_instance_norm3d"},
         {"nn_lazy_instance_norm1d", "nn_lazy_instance_norm2d", "nn_lazy_instance_norm3d"}}};
    return names[state->instance][lazy][state->dims - 1];
}

/* ---- parameters and buffers -------------------------------------------------------------------------------------- */

/* Adds a parameter or buffer of shape (features) with this value. NULL on error. */
static wk_tensor *add(wk_site site, wk_module *m, bool parameter, const char *name, double value)
{
    const norm *state = wk__module_of(m)->state;
    wk_tensor_options like = {.size = sizeof like, .dtype = state->dtype, .device = state->device};
    wk_tensor *x = wk_full_f64_at(site, &state->features, 1, value, &like);
    if (!x) return NULL;
    return parameter ? wk_module_add_parameter_at(site, m, name, x) : wk_module_set_buffer_at(site, m, name, x);
}

static bool add_buffers(wk_site site, wk_module *m)
{
    norm *state = wk__module_of(m)->state;
    wk_tensor_options count = {.size = sizeof count, .dtype = WK_I64, .device = state->device};
    state->mean = add(site, m, false, "running_mean", 0);
    state->var = state->mean ? add(site, m, false, "running_var", 1) : NULL;
    wk_tensor *zero = state->var ? wk_zeros_at(site, NULL, 0, &count) : NULL;
    state->batches = zero ? wk_module_set_buffer_at(site, m, "num_batches_tracked", zero) : NULL;
    return state->batches;
}

static bool add_tensors(wk_site site, wk_module *m, const char *name)
{
    norm *state = wk__module_of(m)->state;
    const bool with_bias = state->affine && state->with_bias;
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, name, site, WK__GRAD_OFF)) return false;
    if (state->affine) state->weight = add(site, m, true, "weight", 1);
    if (with_bias && state->weight) state->bias = add(site, m, true, "bias", 0);
    bool fine = !state->affine || (state->weight && (state->bias || !with_bias));
    fine = fine && (!state->running || add_buffers(site, m));
    wk__call_end(&c, NULL, 0);
    return fine;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* Returns true if x has the right number of dimensions: batch_norm1d takes (N, C), instance norm inputs without a
 * batch. */
static bool check_dims(const norm *state, const char *name, wk_tensor *x)
{
    static const char *const shapes[2][3] = {
        {"(N, C, L) or (N, C)", "(N, C, H, W)", "(N, C, D, H, W)"},
        {"(N, C, L) or (C, L)", "(N, C, H, W) or (C, H, W)", "(N, C, D, H, W) or (C, D, H, W)"}};
    const int ndim = wk__body_of(x)->ndim, most = state->dims + 2;
    if (ndim == most || (ndim == most - 1 && (state->instance || state->dims == 1))) return true;
    wk__call_error(name, (wk_site){0}, WK_ERR_SHAPE, &x, "expected an input %s, got $a",
                   shapes[state->instance][state->dims - 1]);
    return false;
}

static bool check_channels(const norm *state, const char *name, wk_tensor *x, int dim)
{
    if (wk__body_of(x)->shape[dim] == state->features || (!state->weight && !state->mean)) return true;
    wk__call_error(
        name, (wk_site){0}, WK_ERR_SHAPE, &x,
        "expected an input with %lld channels in dimension %d, got $a; create the layer with as many features",
        (long long)state->features, dim);
    return false;
}

/* The first input of a lazy layer determines the number of features, and device and dtype of the tensors. */
static bool initialize(wk_module *self, wk_tensor *x, int dim)
{
    norm *state = wk__module_of(self)->state;
    const wk__body *body = wk__body_of(x);
    state->features = body->shape[dim];
    if (!state->dtype && wk__is_float(body->dtype)) state->dtype = body->dtype;
    if (!state->device.kind) state->device = body->storage->device->id;
    if (!add_tensors((wk_site){0}, self, call_name(state, true))) return false;
    wk__module_of(self)->uninitialized = false;
    return true;
}

/* Normalises a batch. In training the batch is counted, if it could be normalised. */
static wk_tensor *batch_norm(const norm *state, wk_tensor *x, bool training)
{
    wk__channel_norm call = {.x = x,
                             .running_mean = state->mean,
                             .running_var = state->var,
                             .weight = state->weight,
                             .bias = state->bias,
                             .training = training,
                             .momentum = state->momentum,
                             .eps = state->eps};
    if (training && state->cumulative && state->mean) {
        const wk_dtype class = wk__compute_class(wk__body_of(state->mean)->dtype);
        call.factor = wk_div(1.0, wk_add(wk_to_dtype(state->batches, class), 1));
        if (!call.factor) return NULL;
    }
    wk_tensor *out = wk__batch_norm(call);
    return !out || !training || !state->batches || wk_add_(state->batches, 1) ? out : NULL;
}

static wk_tensor *instance_norm(const norm *state, wk_tensor *x, bool training)
{
    const bool batched = wk__body_of(x)->ndim == state->dims + 2;
    if (!batched) x = wk_unsqueeze(x, 0);
    wk_tensor *out = x ? wk_instance_norm_at((wk_site){0}, x, state->mean, state->var, state->weight, state->bias,
                                             training, state->momentum, state->eps)
                       : NULL;
    return batched || !out ? out : wk_squeeze(out, 0);
}

static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const wk__module *module = wk__module_of(self);
    const norm *state = module->state;
    if (!check_dims(state, module->kind.name, x)) return NULL;
    const int dim = state->instance && wk__body_of(x)->ndim == state->dims + 1 ? 0 : 1;
    if (module->uninitialized && !initialize(self, x, dim)) return NULL;
    if (!check_channels(state, module->kind.name, x, dim)) return NULL;
    const bool training = !module->eval || !state->running;
    return state->instance ? instance_norm(state, x, training) : batch_norm(state, x, training);
}

static int describe(wk_module *self, char *out, size_t size)
{
    const norm *state = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_format(&text, "%lld, eps=", (long long)state->features);
    wk__text_float(&text, state->eps);
    wk__text_add(&text, ", momentum=");
    if (state->cumulative)
        wk__text_add(&text, "None");
    else
        wk__text_float(&text, state->momentum);
    wk__text_add(&text, ", affine=");
    wk__text_bool(&text, state->affine);
    wk__text_add(&text, ", bias=");
    wk__text_bool(&text, state->affine && state->with_bias);
    wk__text_add(&text, ", track_running_stats=");
    wk__text_bool(&text, state->running);
    return wk__describe_end(&text, out, size);
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static wk_module *create(wk_site site, norm made, bool lazy)
{
    const char *call = call_name(&made, lazy);
    const wk_module_kind kind = {.size = sizeof kind,
                                 .name = call + strlen("nn_"),
                                 .state = sizeof made,
                                 .forward1 = forward,
                                 .describe = describe};
    if (made.features < 0 || !(made.eps >= 0)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: features and .eps must be at least 0, got %lld and %g", call,
                      (long long)made.features, made.eps);
        return NULL;
    }
    made.eps = wk__option_or(made.eps, 1e-5);
    made.momentum = wk__option_or(made.momentum, 0.1);
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    *(norm *)wk__module_of(m)->state = made;
    wk__module_of(m)->uninitialized = lazy;
    return lazy || add_tensors(site, m, call) ? m : wk__module_discard(m);
}

static wk_module *new_batch_norm(wk_site site, int dims, int64_t features, bool lazy,
                                 const wk_nn_batch_norm_options *options)
{
    norm made = {.dims = dims, .features = features};
    wk_nn_batch_norm_options o;
    if (!wk__options(site, call_name(&made, lazy), options, &o)) return NULL;
    made.affine = !o.no_affine;
    made.with_bias = !o.no_bias;
    made.running = !o.no_running_stats;
    made.cumulative = o.cumulative;
    made.eps = o.eps, made.momentum = o.momentum;
    made.dtype = o.dtype, made.device = o.device;
    return create(site, made, lazy);
}

static wk_module *new_instance_norm(wk_site site, int dims, int64_t features, bool lazy,
                                    const wk_nn_instance_norm_options *options)
{
    norm made = {.dims = dims, .features = features, .instance = true};
    wk_nn_instance_norm_options o;
    if (!wk__options(site, call_name(&made, lazy), options, &o)) return NULL;
    made.affine = o.affine;
    made.with_bias = !o.no_bias;
    made.running = o.running_stats;
    made.eps = o.eps, made.momentum = o.momentum;
    made.dtype = o.dtype, made.device = o.device;
    return create(site, made, lazy);
}

wk_module *wk_nn_batch_norm1d_at(wk_site site, int64_t features, const wk_nn_batch_norm_options *options)
{
    return new_batch_norm(site, 1, features, false, options);
}

wk_module *wk_nn_batch_norm2d_at(wk_site site, int64_t features, const wk_nn_batch_norm_options *options)
{
    return new_batch_norm(site, 2, features, false, options);
}

wk_module *wk_nn_batch_norm3d_at(wk_site site, int64_t features, const wk_nn_batch_norm_options *options)
{
    return new_batch_norm(site, 3, features, false, options);
}

wk_module *wk_nn_instance_norm1d_at(wk_site site, int64_t features, const wk_nn_instance_norm_options *options)
{
    return new_instance_norm(site, 1, features, false, options);
}

wk_module *wk_nn_instance_norm2d_at(wk_site site, int64_t features, const wk_nn_instance_norm_options *options)
{
    return new_instance_norm(site, 2, features, false, options);
}

wk_module *wk_nn_instance_norm3d_at(wk_site site, int64_t features, const wk_nn_instance_norm_options *options)
{
    return new_instance_norm(site, 3, features, false, options);
}

static bool check_dims_option(wk_site site, const char *call, int dims)
{
    if (dims >= 1 && dims <= 3) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: dims must be 1, 2 or 3, got %d", call, dims);
    return false;
}

wk_module *wk_nn_lazy_batch_norm_at(wk_site site, int dims, const wk_nn_batch_norm_options *options)
{
    return check_dims_option(site, "nn_lazy_batch_norm", dims) ? new_batch_norm(site, dims, 0, true, options) : NULL;
}

wk_module *wk_nn_lazy_instance_norm_at(wk_site site, int dims, const wk_nn_instance_norm_options *options)
{
    return check_dims_option(site, "nn_lazy_instance_norm", dims) ? new_instance_norm(site, dims, 0, true, options)
                                                                  : NULL;
}
