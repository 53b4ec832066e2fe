/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that apply one function to their input: activations, and a function of the program.
 *
 * An activation is a row of a table: its name, its op, and how many numbers its options have. The module stores the
 * op's arguments after the input, so that forward is one call of the op. */
#include "module.h"
#include "tensor/call_scope.h"
#include "base/text.h"
#include "ops/core/entries.h"
#include "ops/generated/activation.h"
#include <string.h>
#include <wick/activation.h>

enum { MOST_NUMBERS = 2, MOST_ARGUMENTS = 4 };

/* Structs of options of activations begin so; the numbers are the op's parameters after the input. */
typedef struct number_options {
    size_t size;
    wk_by_name by_name;
    double number[MOST_NUMBERS];
} number_options;

_Static_assert(sizeof(wk_softplus_options) == sizeof(number_options), "softplus: two numbers");
_Static_assert(sizeof(wk_hardtanh_options) == sizeof(number_options), "hardtanh: two numbers");
_Static_assert(sizeof(wk_nn_rrelu_options) == sizeof(number_options), "rrelu: two numbers");

/* State of the module. */
typedef struct activation {
    const wk__op *op;
    wk_value argument[MOST_ARGUMENTS]; /* of the op; forward sets the input, [0], and the mode, [mode] */
    int count;                         /* of arguments after the input, without the mode */
    int mode;                          /* the argument that is true in training mode; 0: none */
} activation;

static wk_tensor *forward(wk_module *self, wk_tensor *x)
{
    const activation *state = wk__module_of(self)->state;
    wk_value argument[MOST_ARGUMENTS];
    wk_tensor *out = NULL;
    memcpy(argument, state->argument, sizeof argument);
    argument[0] = wk_value_of_tensor(x);
    if (state->mode) argument[state->mode] = (wk_value){.kind = WK_VALUE_BOOL, .i = !wk__module_of(self)->eval};
    return state->op->invoke(state->op, (wk_site){0}, argument, &out) == 1 ? out : NULL;
}

/* Writes the arguments under the names of the op's parameters; PyTorch writes lambd without its name. */
static int describe(wk_module *self, char *out, size_t size)
{
    const activation *state = wk__module_of(self)->state;
    wk__text text = {0};
    for (int k = 1; k <= state->count; k++) {
        const wk_parameter *parameter = &state->op->parameters[k];
        const wk_value *value = state->argument[k].kind ? &state->argument[k] : &parameter->default_value;
        if (k > 1) wk__text_add(&text, ", ");
        if (strcmp(parameter->name, "lambd") != 0) wk__text_format(&text, "%s=", parameter->name);
        if (value->kind == WK_VALUE_FLOAT)
            wk__text_float(&text, value->f);
        else if (value->kind == WK_VALUE_TEXT)
            wk__text_format(&text, "'%s'", value->text);
        else
            wk__text_format(&text, "%lld", (long long)value->i);
    }
    return wk__describe_end(&text, out, size);
}

/* Creates the module of an op with arguments[count] after the input. */
static wk_module *make(wk_site site, const char *name, const wk__op *op, const wk_value *arguments, int count, int mode)
{
    const wk_module_kind kind = {
        .size = sizeof kind, .name = name, .state = sizeof(activation), .forward1 = forward, .describe = describe};
    wk_module *m = wk__module_make(site, &kind);
    if (!m) return NULL;
    activation *state = wk__module_of(m)->state;
    state->op = op;
    state->count = count;
    state->mode = mode;
    for (int k = 0; k < count; k++) state->argument[1 + k] = arguments[k];
    return m;
}

/* ---- activations with other options ------------------------------------------------------------------------------ */

static wk_module *make_gelu(wk_site site, const void *options)
{
    wk_gelu_options o;
    if (!wk__read_gelu_options(site, "nn_gelu", options, &o)) return NULL;
    const wk_value approximate = {.kind = WK_VALUE_TEXT, .text = o.approximate == WK_GELU_TANH ? "tanh" : "none"};
    return make(site, "gelu", &wk__op_gelu, &approximate, 1, 0);
}

static wk_tensor *prelu_forward(wk_module *self, wk_tensor *x)
{
    wk_tensor *const *weight = wk__module_of(self)->state;
    return wk_prelu_at((wk_site){0}, x, *weight);
}

static int prelu_describe(wk_module *self, char *out, size_t size)
{
    wk_tensor *const *weight = wk__module_of(self)->state;
    return snprintf(out, size, "num_parameters=%lld", (long long)wk__body_of(*weight)->shape[0]);
}

static wk_module *make_prelu(wk_site site, const void *options)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "prelu",
                                        .state = sizeof(wk_tensor *),
                                        .forward1 = prelu_forward,
                                        .describe = prelu_describe};
    wk_nn_prelu_options o;
    if (!wk__options(site, "nn_prelu", (const wk_nn_prelu_options *)options, &o)) return NULL;
    if (o.num_parameters < 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "nn_prelu: .num_parameters must be at least 1, got %lld",
                      (long long)o.num_parameters);
        return NULL;
    }
    const int64_t count = o.num_parameters ? o.num_parameters : 1;
    wk_tensor_options like = {.size = sizeof like, .dtype = o.dtype, .device = o.device};
    wk__call_scope c;
    wk_module *m = wk__module_make(site, &kind);
    if (!m || !wk__call_begin(&c, WK__FRAME_CALL, "nn_prelu", site, WK__GRAD_OFF)) return wk__module_discard(m);
    wk_tensor **weight = wk__module_of(m)->state;
    wk_tensor *value = wk_full_f64_at(site, &count, 1, wk__option_or(o.init, 0.25), &like);
    *weight = value ? wk_module_add_parameter_at(site, m, "weight", value) : NULL;
    const bool fine = *weight;
    wk__call_end(&c, NULL, 0);
    return fine ? m : wk__module_discard(m);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* An activation: the name of its module (torch.nn's class in snake case) and its op. make: NULL if all options are
 * numbers. */
typedef struct activation_kind {
    const char *name;
    const wk__op *op;
    int numbers; /* of its options */
    int mode;    /* as activation.mode */
    wk_module *(*make)(wk_site site, const void *options);
} activation_kind;

static const activation_kind kinds[] = {
    {.name = "celu", .op = &wk__op_celu, .numbers = 1},
    {.name = "elu", .op = &wk__op_elu, .numbers = 1},
    {.name = "gelu", .make = make_gelu},
    {.name = "hardshrink", .op = &wk__op_hardshrink, .numbers = 1},
    {.name = "hardsigmoid", .op = &wk__op_hardsigmoid},
    {.name = "hardswish", .op = &wk__op_hardswish},
    {.name = "hardtanh", .op = &wk__op_hardtanh, .numbers = 2},
    {.name = "leaky_relu", .op = &wk__op_leaky_relu, .numbers = 1},
    {.name = "log_sigmoid", .op = &wk__op_logsigmoid},
    {.name = "mish", .op = &wk__op_mish},
    {.name = "prelu", .make = make_prelu},
    {.name = "relu", .op = &wk__op_relu},
    {.name = "relu6", .op = &wk__op_relu6},
    {.name = "rrelu", .op = &wk__op_rrelu, .numbers = 2, .mode = 3},
    {.name = "selu", .op = &wk__op_selu},
    {.name = "sigmoid", .op = &wk__op_sigmoid},
    {.name = "silu", .op = &wk__op_silu},
    {.name = "softplus", .op = &wk__op_softplus, .numbers = 2},
    {.name = "softshrink", .op = &wk__op_softshrink, .numbers = 1},
    {.name = "softsign", .op = &wk__op_softsign},
    {.name = "tanh", .op = &wk__op_tanh},
    {.name = "tanhshrink", .op = &wk__op_tanhshrink},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static wk_module *make_of_numbers(wk_site site, const activation_kind *kind, const void *options)
{
    number_options o = {0};
    char call[40];
    wk_value value[MOST_NUMBERS] = {{.kind = WK_VALUE_NONE}};
    snprintf(call, sizeof call, "nn_%s", kind->name);
    const size_t size = offsetof(number_options, number) + sizeof *o.number * (size_t)kind->numbers;
    if (!wk__options_read(site, call, options, &o, size)) return NULL;
    for (int k = 0; k < kind->numbers; k++)
        if (o.number[k] != 0) value[k] = wk_value_of_float(wk__option_or(o.number[k], 0));
    return make(site, kind->name, kind->op, value, kind->numbers, kind->mode);
}

wk_module *wk_nn_activation_at(wk_site site, const char *name, const void *options)
{
    if (!name) {
        wk__error_set(site, WK_ERR_ARGUMENT, "nn_activation: the name is NULL");
        return NULL;
    }
    for (int k = 0; k < KINDS; k++)
        if (strcmp(name, kinds[k].name) == 0)
            return kinds[k].make ? kinds[k].make(site, options) : make_of_numbers(site, &kinds[k], options);
    wk__text text = {0};
    wk__text_format(&text, "nn_activation: unknown activation \"%.40s\"; expected ", name);
    for (int k = 0; k < KINDS; k++) wk__text_format(&text, k ? ", %s" : "%s", kinds[k].name);
    wk__error_set_text(site, WK_ERR_ARGUMENT, &text);
    return NULL;
}

/* ---- activations with arguments ---------------------------------------------------------------------------------- */

static wk_module *along(wk_site site, const wk__op *op, int64_t dim)
{
    const wk_value argument = wk_value_of_int(dim);
    return make(site, op->name, op, &argument, 1, 0);
}

wk_module *wk_nn_glu_at(wk_site site, int64_t dim)
{
    return along(site, &wk__op_glu, dim);
}

wk_module *wk_nn_softmax_at(wk_site site, int64_t dim)
{
    return along(site, &wk__op_softmax, dim);
}

wk_module *wk_nn_softmin_at(wk_site site, int64_t dim)
{
    return along(site, &wk__op_softmin, dim);
}

wk_module *wk_nn_log_softmax_at(wk_site site, int64_t dim)
{
    return along(site, &wk__op_log_softmax, dim);
}

wk_module *wk_nn_threshold_at(wk_site site, double threshold, double value)
{
    const wk_value arguments[] = {wk_value_of_float(threshold), wk_value_of_float(value)};
    return make(site, "threshold", &wk__op_threshold, arguments, 2, 0);
}

/* ---- a function of the program ----------------------------------------------------------------------------------- */

/* State of the module. */
typedef struct program_function {
    wk_tensor *(*call)(wk_tensor *x, void *user);
    void *user; /* borrowed */
} program_function;

static wk_tensor *function_forward(wk_module *self, wk_tensor *x)
{
    const program_function *state = wk__module_of(self)->state;
    return state->call(x, state->user);
}

/* A module of a user's kind, so that calls of the function report their own call sites. */
wk_module *wk_nn_function_at(wk_site site, wk_tensor *(*function)(wk_tensor *x, void *user), void *user)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "function", .state = sizeof(program_function), .forward1 = function_forward};
    if (!function) {
        wk__error_set(site, WK_ERR_ARGUMENT, "nn_function: the function is NULL");
        return NULL;
    }
    wk_module *m = wk_module_new_at(site, &kind);
    if (m) *(program_function *)wk__module_of(m)->state = (program_function){function, user};
    return m;
}
