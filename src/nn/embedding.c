/* SPDX-License-Identifier: Apache-2.0 */
/* embedding, embedding_bag: rows of a table, selected by integers, alone or combined by bags. */
#include "module.h"
#include "base/options.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <string.h>
#include <wick/shape.h>

/* State of both layers. */
typedef struct table {
    wk_tensor *weight;
    double padding_idx, max_norm, norm_type; /* as in the options of the ops */
    bool scale_grad_by_freq, include_last_offset;
    char mode[8];
} table;

static wk_tensor *forward(wk_module *self, wk_tensor *index)
{
    const table *t = wk__module_of(self)->state;
    const wk_embedding_options options = {.size = sizeof options,
                                          .padding_idx = t->padding_idx,
                                          .max_norm = t->max_norm,
                                          .norm_type = t->norm_type,
                                          .scale_grad_by_freq = t->scale_grad_by_freq};
    return wk_embedding_at((wk_site){0}, index, t->weight, &options);
}

/* in: index; offsets or NULL; factors of the rows or NULL */
static int forward_bag(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const table *t = wk__module_of(self)->state;
    const wk_embedding_bag_options options = {.size = sizeof options,
                                              .offsets = inputs > 1 ? in[1] : NULL,
                                              .per_sample_weights = inputs > 2 ? in[2] : NULL,
                                              .mode = t->mode,
                                              .padding_idx = t->padding_idx,
                                              .max_norm = t->max_norm,
                                              .norm_type = t->norm_type,
                                              .scale_grad_by_freq = t->scale_grad_by_freq,
                                              .include_last_offset = t->include_last_offset};
    if (inputs < 1 || inputs > 3 || outputs < 1) {
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT,
                      "forward: embedding_bag takes an index, offsets and factors, and returns one output; got %d "
                      "inputs, %d outputs requested",
                      inputs, outputs);
        return -1;
    }
    out[0] = wk_embedding_bag_at((wk_site){0}, in[0], t->weight, &options);
    return out[0] ? 1 : -1;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void describe_table(wk__text *text, const table *t)
{
    const int64_t *shape = wk__body_of(t->weight)->shape;
    const double padding = wk__option_or(t->padding_idx, NAN), p = wk__option_or(t->norm_type, 2);
    wk__text_format(text, "%lld, %lld", (long long)shape[0], (long long)shape[1]);
    if (!isnan(padding))
        wk__text_format(text, ", padding_idx=%lld", (long long)(padding < 0 ? padding + (double)shape[0] : padding));
    if (wk__option_or(t->max_norm, 0) > 0) {
        wk__text_add(text, ", max_norm=");
        wk__text_float(text, t->max_norm);
    }
    if (p < 2 || p > 2) {
        wk__text_add(text, ", norm_type=");
        wk__text_float(text, p);
    }
    if (t->scale_grad_by_freq) wk__text_add(text, ", scale_grad_by_freq=True");
}

static int describe(wk_module *self, char *out, size_t size)
{
    wk__text text = {0};
    describe_table(&text, wk__module_of(self)->state);
    return wk__describe_end(&text, out, size);
}

static int describe_bag(wk_module *self, char *out, size_t size)
{
    const table *t = wk__module_of(self)->state;
    wk__text text = {0};
    describe_table(&text, t);
    wk__text_format(&text, ", mode='%s'", t->mode);
    return wk__describe_end(&text, out, size);
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

/* Checks the options of a table of n rows. */
static bool check_table(const char *name, wk_site site, const table *t, int64_t n)
{
    const double padding = wk__option_or(t->padding_idx, NAN), limit = wk__option_or(t->max_norm, 0);
    if (!isnan(padding) && (padding != floor(padding) || padding < -(double)n || padding >= (double)n)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .padding_idx %g is out of range for %lld rows", name, padding,
                      (long long)n);
        return false;
    }
    if (limit >= 0) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: .max_norm must be at least 0, got %g", name, limit);
    return false;
}

/* Initialises the weight from the standard normal distribution, the row of the padding with 0. */
static bool fill_table(wk_site site, const table *t, int64_t n)
{
    const double padding = wk__option_or(t->padding_idx, NAN);
    if (!wk_init_normal__at(site, t->weight, 0, 1)) return false;
    if (isnan(padding)) return true;
    wk_tensor *row = wk_select_at(site, t->weight, 0, (int64_t)padding + (padding < 0 ? n : 0));
    return row && wk_init_zeros__at(site, row);
}

static wk_module *make(const char *name, wk_site site, const wk_module_kind *kind, int64_t n, int64_t dim,
                       const table *options, const wk_tensor_options *like)
{
    wk__call_scope c;
    if (!check_table(name, site, options, n)) return NULL;
    wk_module *m = wk__module_make(site, kind);
    if (!m || !wk__call_begin(&c, WK__FRAME_CALL, name, site, WK__GRAD_OFF)) return wk__module_discard(m);
    table *t = wk__module_of(m)->state;
    *t = *options;
    wk_tensor *value = wk_empty_at(site, (int64_t[]){n, dim}, 2, like);
    t->weight = value ? wk_module_add_parameter_at(site, m, "weight", value) : NULL;
    bool fine = t->weight && fill_table(site, t, n);
    wk__call_end(&c, NULL, 0);
    return fine ? m : wk__module_discard(m);
}

wk_module *wk_nn_embedding_at(wk_site site, int64_t n, int64_t dim, const wk_nn_embedding_options *options)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "embedding", .state = sizeof(table), .forward1 = forward, .describe = describe};
    wk_nn_embedding_options o;
    if (!wk__options(site, "nn_embedding", options, &o)) return NULL;
    const wk_tensor_options like = {.size = sizeof like, .dtype = o.dtype, .device = o.device};
    const table t = {.padding_idx = o.padding_idx,
                     .max_norm = o.max_norm,
                     .norm_type = o.norm_type,
                     .scale_grad_by_freq = o.scale_grad_by_freq};
    return make("nn_embedding", site, &kind, n, dim, &t, &like);
}

wk_module *wk_nn_embedding_bag_at(wk_site site, int64_t n, int64_t dim, const wk_nn_embedding_bag_options *options)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "embedding_bag",
                                        .state = sizeof(table),
                                        .forward = forward_bag,
                                        .describe = describe_bag};
    static const char *const modes[] = {"mean", "sum", "max"};
    wk_nn_embedding_bag_options o;
    if (!wk__options(site, "nn_embedding_bag", options, &o)) return NULL;
    const wk_tensor_options like = {.size = sizeof like, .dtype = o.dtype, .device = o.device};
    table t = {.padding_idx = o.padding_idx,
               .max_norm = o.max_norm,
               .norm_type = o.norm_type,
               .scale_grad_by_freq = o.scale_grad_by_freq,
               .include_last_offset = o.include_last_offset};
    const int mode = wk__option_word(site, "nn_embedding_bag", ".mode", modes, 3, o.mode);
    if (mode < 0) return NULL;
    strcpy(t.mode, modes[mode]);
    return make("nn_embedding_bag", site, &kind, n, dim, &t, &like);
}
