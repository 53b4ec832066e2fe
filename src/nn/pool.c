/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling layers: max_pool, avg_pool, lp_pool, adaptive_avg_pool, adaptive_max_pool and max_unpool of one to three
 * dimensions. They have no parameters: a layer stores the arguments of its op. Sizes are checked at construction. */
#include "base/sizes.h"
#include "module.h"
#include <string.h>
#include <wick/nn_vision.h>
#include <wick/vision.h>

/* State of a module. */
typedef struct pool {
    int dims;
    wk_sizes kernel; /* of an adaptive pooling, the size of the result */
    double p;
    bool return_indices;
    union {
        wk_max_pool_options max;
        wk_avg_pool_options avg;
        wk_lp_pool_options lp;
        wk_max_unpool_options unpool;
    };
} pool;

/* ---- forward ----------------------------------------------------------------------------------------------------- */

typedef wk_tensor *max_fn(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_max_pool_options *options);
typedef wk_tensor *avg_fn(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_avg_pool_options *options);
typedef wk_tensor *lp_fn(wk_site site, wk_tensor *x, double p, wk_sizes kernel, const wk_lp_pool_options *options);
typedef wk_tensor *adaptive_avg_fn(wk_site site, wk_tensor *x, wk_sizes size);
typedef wk_tensor *adaptive_max_fn(wk_site site, wk_tensor *x, wk_sizes size,
                                   const wk_adaptive_max_pool_options *options);
typedef wk_tensor *unpool_fn(wk_site site, wk_tensor *x, wk_tensor *indices, wk_sizes kernel,
                             const wk_max_unpool_options *options);

static const pool *state_of(wk_module *m)
{
    return wk__module_of(m)->state;
}

static bool check_counts(wk_module *m, int inputs, int expected, int outputs)
{
    if (inputs == expected && outputs >= 1) return true;
    wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "%s: expected %d inputs and at least 1 output, got %d and %d",
                  wk__module_of(m)->kind.name, expected, inputs, outputs);
    return false;
}

/* Returns the number of outputs, 2 with indices; -1 if the call failed. */
static int output_count(wk_tensor *const *out, int outputs)
{
    return !out[0] ? -1 : outputs > 1 ? 2 : 1;
}

static int max_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    static max_fn *const calls[WK__MAX_SIZES] = {wk_max_pool1d_at, wk_max_pool2d_at, wk_max_pool3d_at};
    const pool *s = state_of(self);
    wk_max_pool_options o = s->max;
    if (!check_counts(self, inputs, 1, outputs)) return -1;
    outputs = s->return_indices ? outputs : 1;
    if (outputs > 1) o.return_indices = &out[1];
    out[0] = calls[s->dims - 1]((wk_site){0}, in[0], s->kernel, &o);
    return output_count(out, outputs);
}

static int adaptive_max_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    static adaptive_max_fn *const calls[WK__MAX_SIZES] = {wk_adaptive_max_pool1d_at, wk_adaptive_max_pool2d_at,
                                                          wk_adaptive_max_pool3d_at};
    const pool *s = state_of(self);
    if (!check_counts(self, inputs, 1, outputs)) return -1;
    outputs = s->return_indices ? outputs : 1;
    const wk_adaptive_max_pool_options o = {.size = sizeof o, .return_indices = outputs > 1 ? &out[1] : NULL};
    out[0] = calls[s->dims - 1]((wk_site){0}, in[0], s->kernel, &o);
    return output_count(out, outputs);
}

static int unpool_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    static unpool_fn *const calls[WK__MAX_SIZES] = {wk_max_unpool1d_at, wk_max_unpool2d_at, wk_max_unpool3d_at};
    const pool *s = state_of(self);
    if (!check_counts(self, inputs, 2, outputs)) return -1;
    out[0] = calls[s->dims - 1]((wk_site){0}, in[0], in[1], s->kernel, &s->unpool);
    return out[0] ? 1 : -1;
}

static wk_tensor *avg_forward(wk_module *self, wk_tensor *x)
{
    static avg_fn *const calls[WK__MAX_SIZES] = {wk_avg_pool1d_at, wk_avg_pool2d_at, wk_avg_pool3d_at};
    const pool *s = state_of(self);
    return calls[s->dims - 1]((wk_site){0}, x, s->kernel, &s->avg);
}

static wk_tensor *lp_forward(wk_module *self, wk_tensor *x)
{
    static lp_fn *const calls[WK__MAX_SIZES] = {wk_lp_pool1d_at, wk_lp_pool2d_at, wk_lp_pool3d_at};
    const pool *s = state_of(self);
    return calls[s->dims - 1]((wk_site){0}, x, s->p, s->kernel, &s->lp);
}

static wk_tensor *adaptive_avg_forward(wk_module *self, wk_tensor *x)
{
    static adaptive_avg_fn *const calls[WK__MAX_SIZES] = {wk_adaptive_avg_pool1d_at, wk_adaptive_avg_pool2d_at,
                                                          wk_adaptive_avg_pool3d_at};
    const pool *s = state_of(self);
    return calls[s->dims - 1]((wk_site){0}, x, s->kernel);
}

/* ---- description ------------------------------------------------------------------------------------------------- */

/* Appends "name=" and the sizes in the given form, a number or a tuple. */
static void add_given(wk__text *text, const char *name, wk_sizes given, wk_sizes otherwise)
{
    wk__text_format(text, "%s=", name);
    wk__text_sizes(text, given, otherwise);
}

static void add_ceil_mode(wk__text *text, bool ceil_mode)
{
    wk__text_add(text, ", ceil_mode=");
    wk__text_bool(text, ceil_mode);
}

static int max_describe(wk_module *self, char *out, size_t size)
{
    const pool *s = state_of(self);
    wk__text text = {0};
    add_given(&text, "kernel_size", s->kernel, 0);
    add_given(&text, ", stride", s->max.stride, s->kernel);
    add_given(&text, ", padding", s->max.padding, 0);
    add_given(&text, ", dilation", s->max.dilation, 1);
    add_ceil_mode(&text, s->max.ceil_mode);
    return wk__describe_end(&text, out, size);
}

/* Appends a kernel, stride and padding; in_full: with a number for each dimension. */
static void add_windows(wk__text *text, const pool *s, wk_sizes stride, wk_sizes padding, bool in_full)
{
    static const wk__sizes_rule any = {.name = "sizes"};
    const wk_sizes given[] = {s->kernel, stride ? stride : s->kernel, padding};
    static const char *const names[] = {"kernel_size=", ", stride=", ", padding="};
    int64_t sizes[WK__MAX_SIZES];
    for (int k = 0; k < 3; k++) {
        wk__text_add(text, names[k]);
        if (!in_full)
            wk__text_sizes(text, given[k], 0);
        else if (wk__sizes_read((wk_site){0}, "module_str", &any, given[k], s->dims, sizes))
            wk__text_tuple(text, sizes, s->dims);
    }
}

static int avg_describe(wk_module *self, char *out, size_t size)
{
    const pool *s = state_of(self);
    wk__text text = {0};
    add_windows(&text, s, s->avg.stride, s->avg.padding, s->dims == 1);
    return wk__describe_end(&text, out, size);
}

static int unpool_describe(wk_module *self, char *out, size_t size)
{
    const pool *s = state_of(self);
    wk__text text = {0};
    add_windows(&text, s, s->unpool.stride, s->unpool.padding, true);
    return wk__describe_end(&text, out, size);
}

static int lp_describe(wk_module *self, char *out, size_t size)
{
    const pool *s = state_of(self);
    wk__text text = {0};
    wk__text_add(&text, "norm_type=");
    wk__text_float(&text, s->p);
    add_given(&text, ", kernel_size", s->kernel, 0);
    add_given(&text, ", stride", s->lp.stride, -1);
    add_ceil_mode(&text, s->lp.ceil_mode);
    return wk__describe_end(&text, out, size);
}

static int adaptive_describe(wk_module *self, char *out, size_t size)
{
    wk__text text = {0};
    add_given(&text, "output_size", state_of(self)->kernel, 0);
    return wk__describe_end(&text, out, size);
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

/* Creates a layer; `layer` is its kind without size. */
static wk_module *create(wk_site site, const wk_module_kind *layer, const pool *state)
{
    wk_module_kind kind = *layer;
    kind.size = sizeof kind;
    kind.state = sizeof *state;
    wk_module *m = wk__module_make(site, &kind);
    if (m) *(pool *)wk__module_of(m)->state = *state;
    return m;
}

/* Checks the sizes of windows, so that a mistake is reported where the layer is created. */
static bool check_windows(wk_site site, const char *name, int dims, wk_sizes kernel, wk_sizes stride, wk_sizes padding,
                          wk_sizes dilation)
{
    int64_t window[WK__MAX_SIZES], before[WK__MAX_SIZES], size[WK__MAX_SIZES];
    if (!wk__sizes_read(site, name, &wk__kernel_rule, kernel, dims, window) ||
        !wk__sizes_read(site, name, &wk__stride_rule, stride, dims, size) ||
        !wk__sizes_read(site, name, &wk__padding_rule, padding, dims, before) ||
        !wk__sizes_read(site, name, &wk__dilation_rule, dilation, dims, size))
        return false;
    for (int k = 0; k < dims; k++) {
        if (before[k] <= window[k] / 2) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: padding must be at most half of the kernel, got %lld for %lld", name,
                      (long long)before[k], (long long)window[k]);
        return false;
    }
    return true;
}

static wk_module *max_pool(wk_site site, const char *name, int dims, wk_sizes kernel,
                           const wk_nn_max_pool_options *options)
{
    wk_nn_max_pool_options o;
    if (!wk__options(site, name, options, &o) ||
        !check_windows(site, name, dims, kernel, o.stride, o.padding, o.dilation))
        return NULL;
    const pool state = {.dims = dims,
                        .kernel = kernel,
                        .return_indices = o.return_indices,
                        .max = {.size = sizeof state.max,
                                .stride = o.stride,
                                .padding = o.padding,
                                .dilation = o.dilation,
                                .ceil_mode = o.ceil_mode}};
    return create(site,
                  &(wk_module_kind){.name = name + strlen("nn_"), .forward = max_forward, .describe = max_describe},
                  &state);
}

static wk_module *avg_pool(wk_site site, const char *name, int dims, wk_sizes kernel,
                           const wk_avg_pool_options *options)
{
    pool state = {.dims = dims, .kernel = kernel};
    if (!wk__options(site, name, options, &state.avg) ||
        !check_windows(site, name, dims, kernel, state.avg.stride, state.avg.padding, 0))
        return NULL;
    return create(site,
                  &(wk_module_kind){.name = name + strlen("nn_"), .forward1 = avg_forward, .describe = avg_describe},
                  &state);
}

static wk_module *lp_pool(wk_site site, const char *name, int dims, double p, wk_sizes kernel,
                          const wk_lp_pool_options *options)
{
    pool state = {.dims = dims, .kernel = kernel, .p = p};
    if (!wk__options(site, name, options, &state.lp) || !check_windows(site, name, dims, kernel, state.lp.stride, 0, 0))
        return NULL;
    if (p == 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: p must not be 0", name);
        return NULL;
    }
    return create(
        site, &(wk_module_kind){.name = name + strlen("nn_"), .forward1 = lp_forward, .describe = lp_describe}, &state);
}

static bool check_adaptive(wk_site site, const char *name, int dims, wk_sizes size)
{
    const wk__sizes_rule rule = {.name = "output size", .least = -1, .is_kernel = true};
    int64_t sizes[WK__MAX_SIZES];
    return wk__sizes_read(site, name, &rule, size, dims, sizes);
}

static wk_module *adaptive_avg_pool(wk_site site, const char *name, int dims, wk_sizes size)
{
    const pool state = {.dims = dims, .kernel = size};
    if (!check_adaptive(site, name, dims, size)) return NULL;
    return create(site,
                  &(wk_module_kind){
                      .name = name + strlen("nn_"), .forward1 = adaptive_avg_forward, .describe = adaptive_describe},
                  &state);
}

static wk_module *adaptive_max_pool(wk_site site, const char *name, int dims, wk_sizes size,
                                    const wk_nn_adaptive_max_pool_options *options)
{
    wk_nn_adaptive_max_pool_options o;
    if (!wk__options(site, name, options, &o) || !check_adaptive(site, name, dims, size)) return NULL;
    const pool state = {.dims = dims, .kernel = size, .return_indices = o.return_indices};
    return create(
        site,
        &(wk_module_kind){.name = name + strlen("nn_"), .forward = adaptive_max_forward, .describe = adaptive_describe},
        &state);
}

static wk_module *max_unpool(wk_site site, const char *name, int dims, wk_sizes kernel,
                             const wk_max_unpool_options *options)
{
    pool state = {.dims = dims, .kernel = kernel};
    if (!wk__options(site, name, options, &state.unpool) ||
        !check_windows(site, name, dims, kernel, state.unpool.stride, state.unpool.padding, 0))
        return NULL;
    return create(
        site, &(wk_module_kind){.name = name + strlen("nn_"), .forward = unpool_forward, .describe = unpool_describe},
        &state);
}

/* ---- the layers -------------------------------------------------------------------------------------------------- */

wk_module *wk_nn_max_pool1d_at(wk_site site, wk_sizes kernel, const wk_nn_max_pool_options *options)
{
    return max_pool(site, "nn_max_pool1d", 1, kernel, options);
}
wk_module *wk_nn_avg_pool1d_at(wk_site site, wk_sizes kernel, const wk_avg_pool_options *options)
{
    return avg_pool(site, "nn_avg_pool1d", 1, kernel, options);
}
wk_module *wk_nn_lp_pool1d_at(wk_site site, double p, wk_sizes kernel, const wk_lp_pool_options *options)
{
    return lp_pool(site, "nn_lp_pool1d", 1, p, kernel, options);
}
wk_module *wk_nn_adaptive_avg_pool1d_at(wk_site site, wk_sizes size)
{
    return adaptive_avg_pool(site, "nn_adaptive_avg_pool1d", 1, size);
}
wk_module *wk_nn_adaptive_max_pool1d_at(wk_site site, wk_sizes size, const wk_nn_adaptive_max_pool_options *options)
{
    return adaptive_max_pool(site, "nn_adaptive_max_pool1d", 1, size, options);
}
wk_module *wk_nn_max_unpool1d_at(wk_site site, wk_sizes kernel, const wk_max_unpool_options *options)
{
    return max_unpool(site, "nn_max_unpool1d", 1, kernel, options);
}

wk_module *wk_nn_max_pool2d_at(wk_site site, wk_sizes kernel, const wk_nn_max_pool_options *options)
{
    return max_pool(site, "nn_max_pool2d", 2, kernel, options);
}
wk_module *wk_nn_avg_pool2d_at(wk_site site, wk_sizes kernel, const wk_avg_pool_options *options)
{
    return avg_pool(site, "nn_avg_pool2d", 2, kernel, options);
}
wk_module *wk_nn_lp_pool2d_at(wk_site site, double p, wk_sizes kernel, const wk_lp_pool_options *options)
{
    return lp_pool(site, "nn_lp_pool2d", 2, p, kernel, options);
}
wk_module *wk_nn_adaptive_avg_pool2d_at(wk_site site, wk_sizes size)
{
    return adaptive_avg_pool(site, "nn_adaptive_avg_pool2d", 2, size);
}
wk_module *wk_nn_adaptive_max_pool2d_at(wk_site site, wk_sizes size, const wk_nn_adaptive_max_pool_options *options)
{
    return adaptive_max_pool(site, "nn_adaptive_max_pool2d", 2, size, options);
}
wk_module *wk_nn_max_unpool2d_at(wk_site site, wk_sizes kernel, const wk_max_unpool_options *options)
{
    return max_unpool(site, "nn_max_unpool2d", 2, kernel, options);
}

wk_module *wk_nn_max_pool3d_at(wk_site site, wk_sizes kernel, const wk_nn_max_pool_options *options)
{
    return max_pool(site, "nn_max_pool3d", 3, kernel, options);
}
wk_module *wk_nn_avg_pool3d_at(wk_site site, wk_sizes kernel, const wk_avg_pool_options *options)
{
    return avg_pool(site, "nn_avg_pool3d", 3, kernel, options);
}
wk_module *wk_nn_lp_pool3d_at(wk_site site, double p, wk_sizes kernel, const wk_lp_pool_options *options)
{
    return lp_pool(site, "nn_lp_pool3d", 3, p, kernel, options);
}
wk_module *wk_nn_adaptive_avg_pool3d_at(wk_site site, wk_sizes size)
{
    return adaptive_avg_pool(site, "nn_adaptive_avg_pool3d", 3, size);
}
wk_module *wk_nn_adaptive_max_pool3d_at(wk_site site, wk_sizes size, const wk_nn_adaptive_max_pool_options *options)
{
    return adaptive_max_pool(site, "nn_adaptive_max_pool3d", 3, size, options);
}
wk_module *wk_nn_max_unpool3d_at(wk_site site, wk_sizes kernel, const wk_max_unpool_options *options)
{
    return max_unpool(site, "nn_max_unpool3d", 3, kernel, options);
}
