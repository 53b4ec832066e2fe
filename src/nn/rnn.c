/* SPDX-License-Identifier: Apache-2.0 */
/* Constructors of the recurrent layers rnn, gru and lstm and of their cells. */
#include "base/alloc.h"
#include "rnn.h"
#include "tensor/call_scope.h"
#include <math.h>

wk__rnn_weights wk__rnn_weights_of(wk_module *m, int64_t layer, int64_t direction)
{
    const wk__rnn *rnn = wk__module_of(m)->state;
    const bool projects = rnn->state != rnn->hidden;
    const int64_t each = 2 + 2 * !rnn->no_bias + projects;
    const wk__item *item = wk__module_of(m)->item + (layer * rnn->directions + direction) * each;
    wk__rnn_weights w = {.ih = item[0].tensor, .hh = item[1].tensor};
    if (!rnn->no_bias) {
        w.bias_ih = item[2].tensor;
        w.bias_hh = item[3].tensor;
    }
    if (projects) w.hr = item[each - 1].tensor;
    return w;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static int describe(wk_module *self, char *out, size_t size)
{
    const wk__rnn *rnn = wk__module_of(self)->state;
    wk__text text = {0};
    wk__text_format(&text, "%lld, %lld", (long long)rnn->input, (long long)rnn->hidden);
    if (rnn->state != rnn->hidden) wk__text_format(&text, ", proj_size=%lld", (long long)rnn->state);
    if (rnn->layers != 1) wk__text_format(&text, ", num_layers=%lld", (long long)rnn->layers);
    if (rnn->no_bias) wk__text_add(&text, ", bias=False");
    if (rnn->batch_first) wk__text_add(&text, ", batch_first=True");
    if (rnn->dropout != 0) {
        wk__text_add(&text, ", dropout=");
        wk__text_float(&text, rnn->dropout);
    }
    if (rnn->directions == 2) wk__text_add(&text, ", bidirectional=True");
    if (rnn->kind->is_cell && rnn->cell == &wk__cell_rnn_relu) wk__text_add(&text, ", nonlinearity=relu");
    return wk__describe_end(&text, out, size);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* Adds a parameter of this shape, uniform in +-1/sqrt(hidden). */
static bool add(wk_site site, wk_module *m, const char *name, const int64_t *shape, int ndim,
                const wk_tensor_options *like)
{
    const wk__rnn *rnn = wk__module_of(m)->state;
    const double bound = 1 / sqrt((double)rnn->hidden);
    wk_tensor *value = wk_empty_at(site, shape, ndim, like);
    wk_tensor *parameter = value ? wk_module_add_parameter_at(site, m, name, value) : NULL;
    return parameter && wk_init_uniform__at(site, parameter, -bound, bound);
}

/* Adds the parameters of one layer and direction. */
static bool add_weights(wk_site site, wk_module *m, int64_t layer, int64_t direction, const wk_tensor_options *like)
{
    const wk__rnn *rnn = wk__module_of(m)->state;
    const int64_t input = layer == 0 ? rnn->input : rnn->state * rnn->directions;
    const int64_t rows = rnn->cell->gates * rnn->hidden;
    char suffix[48] = "", name[64];
    if (!rnn->kind->is_cell) snprintf(suffix, sizeof suffix, "_l%lld%s", (long long)layer, direction ? "_reverse" : "");
    const struct {
        const char *name;
        int64_t shape[2];
        int ndim;
        bool exists;
    } parameters[] = {{"weight_ih", {rows, input}, 2, true},
                      {"weight_hh", {rows, rnn->state}, 2, true},
                      {"bias_ih", {rows}, 1, !rnn->no_bias},
                      {"bias_hh", {rows}, 1, !rnn->no_bias},
                      {"weight_hr", {rnn->state, rnn->hidden}, 2, rnn->state != rnn->hidden}};
    bool fine = true;
    for (size_t k = 0; k < sizeof parameters / sizeof *parameters && fine; k++) {
        snprintf(name, sizeof name, "%s%s", parameters[k].name, suffix);
        if (parameters[k].exists) fine = add(site, m, name, parameters[k].shape, parameters[k].ndim, like);
    }
    return fine;
}

static wk_module *create(wk_site site, const wk_module_kind *kind, const wk__rnn *rnn, wk_dtype dtype, wk_device device)
{
    const wk_tensor_options like = {.size = sizeof like, .dtype = dtype, .device = device};
    wk__call_scope c;
    wk_module *m = wk__module_make(site, kind);
    if (!m) return NULL;
    *(wk__rnn *)wk__module_of(m)->state = *rnn;
    if (!wk__call_begin(&c, WK__FRAME_CALL, rnn->kind->constructor, site, WK__GRAD_OFF)) return wk__module_discard(m);
    bool fine = true;
    for (int64_t k = 0; k < rnn->layers * rnn->directions && fine; k++)
        fine = add_weights(site, m, k / rnn->directions, k % rnn->directions, &like);
    wk__call_end(&c, NULL, 0);
    return fine ? m : wk__module_discard(m);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static bool refuse(wk_site site, const wk__rnn_kind *kind, const char *name, const char *must, int64_t value)
{
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s must be %s, got %lld", kind->constructor, name, must,
                  (long long)value);
    return false;
}

/* Sets the cell of an RNN. */
static bool read_nonlinearity(wk_site site, wk_rnn_nonlinearity nonlinearity, wk__rnn *rnn)
{
    static const char *const names[] = {"WK_RNN_TANH", "WK_RNN_RELU"};
    int choice = (int)nonlinearity;
    rnn->cell = rnn->kind->cell;
    if (!wk__option_choice(site, rnn->kind->constructor, ".nonlinearity", names, 2, WK_RNN_TANH, &choice)) return false;
    if (choice == WK_RNN_TANH) return true;
    if (!rnn->kind->is_rnn) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .nonlinearity is an option of wk_nn_rnn and wk_nn_rnn_cell only",
                      rnn->kind->constructor);
        return false;
    }
    rnn->cell = &wk__cell_rnn_relu;
    return true;
}

static bool check_sizes(wk_site site, const wk__rnn *rnn)
{
    if (rnn->input < 1) return refuse(site, rnn->kind, "input_size", "at least 1", rnn->input);
    if (rnn->hidden < 1) return refuse(site, rnn->kind, "hidden_size", "at least 1", rnn->hidden);
    int64_t rows;
    if (wk__mul_size(rnn->hidden, WK__RNN_GATES * (int64_t)sizeof(double), &rows)) return true;
    return refuse(site, rnn->kind, "hidden_size", "less than 2^58", rnn->hidden);
}

static bool read_options(wk_site site, const wk_nn_rnn_options *o, wk__rnn *rnn)
{
    const wk__rnn_kind *kind = rnn->kind;
    rnn->layers = o->num_layers ? o->num_layers : 1;
    rnn->directions = 1 + o->bidirectional;
    rnn->state = o->proj_size ? o->proj_size : rnn->hidden;
    rnn->no_bias = o->no_bias;
    rnn->batch_first = o->batch_first;
    rnn->dropout = wk__option_or(o->dropout, 0);
    if (!check_sizes(site, rnn) || !read_nonlinearity(site, o->nonlinearity, rnn)) return false;
    if (rnn->layers < 1 || rnn->layers > INT32_MAX / 16)
        return refuse(site, kind, ".num_layers", "at least 1 and less than 2^27", rnn->layers);
    if (!(rnn->dropout >= 0 && rnn->dropout <= 1)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .dropout must be in [0, 1], got %g", kind->constructor, rnn->dropout);
        return false;
    }
    if (o->proj_size && !rnn->cell->has_c) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .proj_size is an option of wk_nn_lstm only", kind->constructor);
        return false;
    }
    if (o->proj_size < 0 || rnn->state > rnn->hidden || o->proj_size == rnn->hidden)
        return refuse(site, kind, ".proj_size", "in [1, hidden_size - 1]", o->proj_size);
    return true;
}

static wk_module *construct(wk_site site, const wk__rnn_kind *kind, int64_t input, int64_t hidden,
                            const wk_nn_rnn_options *o)
{
    const wk_module_kind module = {.size = sizeof module,
                                   .name = kind->name,
                                   .state = sizeof(wk__rnn),
                                   .forward = kind->is_cell ? wk__rnn_cell_forward : wk__rnn_forward,
                                   .describe = describe};
    wk__rnn rnn = {.kind = kind, .input = input, .hidden = hidden};
    return read_options(site, o, &rnn) ? create(site, &module, &rnn, o->dtype, o->device) : NULL;
}

static wk_module *layer(wk_site site, const wk__rnn_kind *kind, int64_t input, int64_t hidden,
                        const wk_nn_rnn_options *options)
{
    wk_nn_rnn_options o;
    return wk__options(site, kind->constructor, options, &o) ? construct(site, kind, input, hidden, &o) : NULL;
}

static wk_module *cell(wk_site site, const wk__rnn_kind *kind, int64_t input, int64_t hidden,
                       const wk_nn_rnn_cell_options *options)
{
    wk_nn_rnn_cell_options o;
    if (!wk__options(site, kind->constructor, options, &o)) return NULL;
    const wk_nn_rnn_options same = {
        .nonlinearity = o.nonlinearity, .no_bias = o.no_bias, .dtype = o.dtype, .device = o.device};
    return construct(site, kind, input, hidden, &same);
}

/* ---- the layers -------------------------------------------------------------------------------------------------- */

/* name, constructor, cell, is_rnn, is_cell */
static const wk__rnn_kind rnn_kind = {"rnn", "nn_rnn", &wk__cell_rnn_tanh, true, false};
static const wk__rnn_kind gru_kind = {"gru", "nn_gru", &wk__cell_gru, false, false};
static const wk__rnn_kind lstm_kind = {"lstm", "nn_lstm", &wk__cell_lstm, false, false};
static const wk__rnn_kind rnn_cell_kind = {"rnn_cell", "nn_rnn_cell", &wk__cell_rnn_tanh, true, true};
static const wk__rnn_kind gru_cell_kind = {"gru_cell", "nn_gru_cell", &wk__cell_gru, false, true};
static const wk__rnn_kind lstm_cell_kind = {"lstm_cell", "nn_lstm_cell", &wk__cell_lstm, false, true};

wk_module *wk_nn_rnn_at(wk_site site, int64_t input_size, int64_t hidden_size, const wk_nn_rnn_options *options)
{
    return layer(site, &rnn_kind, input_size, hidden_size, options);
}
wk_module *wk_nn_gru_at(wk_site site, int64_t input_size, int64_t hidden_size, const wk_nn_rnn_options *options)
{
    return layer(site, &gru_kind, input_size, hidden_size, options);
}
wk_module *wk_nn_lstm_at(wk_site site, int64_t input_size, int64_t hidden_size, const wk_nn_rnn_options *options)
{
    return layer(site, &lstm_kind, input_size, hidden_size, options);
}

wk_module *wk_nn_rnn_cell_at(wk_site site, int64_t input_size, int64_t hidden_size,
                             const wk_nn_rnn_cell_options *options)
{
    return cell(site, &rnn_cell_kind, input_size, hidden_size, options);
}
wk_module *wk_nn_gru_cell_at(wk_site site, int64_t input_size, int64_t hidden_size,
                             const wk_nn_rnn_cell_options *options)
{
    return cell(site, &gru_cell_kind, input_size, hidden_size, options);
}
wk_module *wk_nn_lstm_cell_at(wk_site site, int64_t input_size, int64_t hidden_size,
                              const wk_nn_rnn_cell_options *options)
{
    return cell(site, &lstm_cell_kind, input_size, hidden_size, options);
}
