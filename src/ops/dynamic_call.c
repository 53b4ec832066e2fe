/* SPDX-License-Identifier: Apache-2.0 */
/* The public op table (wk_op_*) and calls by name (wk_call). The table is constant. wk_call runs in the caller's
 * context, which one thread at a time may use, or with NULL in a shared one under a lock; it returns errors to its
 * caller and leaves no error pending. */
#include "base/alloc.h"
#include "base/context.h"
#include "base/options.h"
#include "base/edit_distance.h"
#include "ops/core/entries.h"
#include <pthread.h>
#include <string.h>
#include <wick/call.h>

int wk_op_count(void)
{
    return wk__op_total;
}

static const wk__op *op_at(wk_site site, const char *call, int index)
{
    if (index >= 0 && index < wk__op_total) return wk__ops[index];
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: op index %d is out of range (wk_op_count() is %d)", call, index,
                  wk__op_total);
    return NULL;
}

wk_code wk_op_info_at(wk_site site, int index, wk_op *info)
{
    const wk__op *op = op_at(site, "op_info", index);
    if (!op) return WK_ERR_ARGUMENT;
    const wk_op known = {.size = sizeof known,
                         .name = op->name,
                         .schema = op->schema,
                         .category = op->category,
                         .doc = op->doc,
                         .differentiable = op->grad_fn_name != NULL,
                         .data_dependent_shape = op->data_dependent_shape,
                         .dtypes = op->dtypes,
                         .parameters = op->parameter_count,
                         .results = op->results,
                         .result_names = op->result_names,
                         .in_place = op->invoke_in_place != NULL,
                         .view = op->view};
    return wk__sized_store(site, "op_info", wk_op, info, &known);
}

wk_code wk_op_parameter_at(wk_site site, int index, int k, wk_parameter *info)
{
    const wk__op *op = op_at(site, "op_parameter", index);
    if (!op) return WK_ERR_ARGUMENT;
    if (k >= 0 && k < op->parameter_count)
        return wk__sized_store(site, "op_parameter", wk_parameter, info, &op->parameters[k]);
    wk__error_set(site, WK_ERR_ARGUMENT, "op_parameter: index %d is out of range for the %d parameters of %s", k,
                  op->parameter_count, op->name);
    return WK_ERR_ARGUMENT;
}

/* Returns the index of the op whose name is the first `length` bytes of name; -1 if there is none. */
static int find(const char *name, size_t length)
{
    int low = 0, high = wk__op_total - 1;
    while (low <= high) {
        const int middle = (low + high) / 2;
        const char *other = wk__ops[middle]->name;
        const int order = strncmp(name, other, length);
        if (order == 0 && !other[length]) return middle;
        if (order > 0)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

int wk_op_find(const char *name)
{
    const size_t length = name ? strlen(name) : 0;
    if (length == 0) return -1;
    const int index = find(name, length);
    if (index >= 0 || name[length - 1] != '_') return index;
    const int plain = find(name, length - 1);
    return plain >= 0 && wk__ops[plain]->invoke_in_place ? plain : -1;
}

/* ---- binding arguments to parameters ----------------------------------------------------------------------------- */

enum { MAX_ARGUMENTS = 16, INLINE_RESULTS = 8 };

static const char *const kind_names[] = {
    [WK_VALUE_TENSOR] = "Tensor",      [WK_VALUE_INT] = "int",
    [WK_VALUE_FLOAT] = "float",        [WK_VALUE_BOOL] = "bool",
    [WK_VALUE_INTS] = "a list of int", [WK_VALUE_TENSORS] = "a list of Tensor",
    [WK_VALUE_DTYPE] = "dtype",        [WK_VALUE_DEVICE] = "Device",
    [WK_VALUE_TEXT] = "str",
};

static bool is_number(const wk_value *v)
{
    return v->kind == WK_VALUE_INT || v->kind == WK_VALUE_FLOAT || v->kind == WK_VALUE_BOOL;
}

static bool is_choice(const wk_parameter *p, const char *text)
{
    bool found = false;
    for (int k = 0; text && p->choices && p->choices[k]; k++) found = found || strcmp(p->choices[k], text) == 0;
    return found;
}

/* Converts an argument to the parameter's kind; returns false if it is not convertible. A bool is a number, and an
 * integer a list of one; a list may have texts as choices. A target cannot be a scalar. */
static bool coerce_argument(const wk_parameter *p, bool target, const wk_value *given, wk_value *v)
{
    *v = *given;
    if (v->kind == WK_VALUE_NONE) return p->optional;
    const bool whole = v->kind == WK_VALUE_INT || v->kind == WK_VALUE_BOOL;
    switch (p->kind) {
    case WK_VALUE_TENSOR: return v->kind == WK_VALUE_TENSOR || (p->accepts_scalar && !target && is_number(v));
    case WK_VALUE_INT:
    case WK_VALUE_BOOL:
    case WK_VALUE_DTYPE: return whole || v->kind == p->kind;
    case WK_VALUE_FLOAT: return is_number(v);
    case WK_VALUE_INTS:
        if (v->kind == WK_VALUE_INT) *v = (wk_value){.kind = WK_VALUE_INTS, .count = 1, .ints = &given->i};
        return v->kind == WK_VALUE_INTS || (v->kind == WK_VALUE_TEXT && is_choice(p, v->text));
    case WK_VALUE_TEXT: return v->kind == WK_VALUE_TEXT && v->text;
    default: return v->kind == p->kind;
    }
}

static bool check_list(const wk__op *op, wk_site site, int k, const wk_value *v)
{
    char role[24];
    if (v->kind != WK_VALUE_INTS && v->kind != WK_VALUE_TENSORS) return true;
    snprintf(role, sizeof role, "argument %d", k);
    return wk__array_check(v->ints, v->count, site, op->name, role);
}

/* Copies the arguments into full[], with missing ones as none. False on error. */
static bool bind_arguments(const wk__op *op, wk_site site, bool in_place, const wk_value *given, int count,
                           wk_value *full)
{
    int k = 0;
    memset(full, 0, sizeof *full * MAX_ARGUMENTS);
    for (; k < op->parameter_count; k++) {
        const wk_parameter *p = &op->parameters[k];
        const bool target = in_place && k == 0;
        if (coerce_argument(p, target, k < count ? &given[k] : &full[k], &full[k])) {
            if (check_list(op, site, k, &full[k])) continue;
            return false;
        }
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: argument %d (%s) %s %s%s; schema: %s", op->name, k, p->name,
                      k < count ? "must be" : "is missing; expected", kind_names[p->kind],
                      p->optional ? " or none" : "", op->schema);
        return false;
    }
    if (count <= k) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: expected %d arguments, got %d; schema: %s", op->name, k, count,
                  op->schema);
    return false;
}

/* ---- wk_call ----------------------------------------------------------------------------------------------------- */

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static wk_context *shared;                  /* for NULL contexts, whose callers may change threads */
static _Atomic(const void *) shared_thread; /* wk__thread_id of the thread that has the lock, or NULL */
static const char nested_call[] = "call: the context is in use by another call; create one with wk_context_new()";

wk_context *wk_context_new(void)
{
    return wk__context_make();
}

void wk_context_free(wk_context *context)
{
    if (context) wk__context_destroy(context);
}

/* One call and its results. */
typedef struct call {
    const wk__op *op;
    wk_site site;
    bool in_place;
    bool writes; /* the result is the first argument, which the caller owns already */
    wk_value argument[MAX_ARGUMENTS];
    wk_value *results; /* [capacity], the caller's */
    int capacity, count;
    int needed;           /* capacity needed, if it is too small */
    wk_call_error *error; /* the caller's, or NULL */
} call;

static void store_results(call *c, wk_tensor *const out[], int count)
{
    for (int k = 0; k < count; k++) {
        wk_tensor *x = c->writes ? wk__return_operand(out[k]) : out[k];
        c->results[k] = x ? wk_value_of_tensor(x) : (wk_value){.kind = WK_VALUE_NONE};
    }
    c->count = count;
}

static bool check_result_capacity(call *c, int *wanted)
{
    *wanted = c->op->result_count ? c->op->result_count(c->op, c->site, c->argument) : c->op->results;
    if (*wanted <= c->capacity) return *wanted >= 0;
    wk__error_set(c->site, WK_ERR_ARGUMENT, "%s: returns %d result%s, but the array holds %d; pass a larger array",
                  c->op->name, *wanted, *wanted == 1 ? "" : "s", c->capacity);
    c->needed = *wanted;
    return false;
}

static void invoke(call *c)
{
    int wanted;
    wk_tensor *few[INLINE_RESULTS] = {0}, **out = few;
    if (!check_result_capacity(c, &wanted)) return;
    if (wanted > INLINE_RESULTS && !(out = wk__alloc_zero((size_t)wanted, sizeof(wk_tensor *)))) {
        wk__error_set(c->site, WK_ERR_MEMORY, "%s: out of host memory", c->op->name);
        return;
    }
    const int given = (c->in_place ? c->op->invoke_in_place : c->op->invoke)(c->op, c->site, c->argument, out);
    if (given >= 0 && !wk__error_pending()) {
        store_results(c, out, given);
    } else {
        for (int k = 0; k < given && !c->writes; k++) wk_free_at(c->site, out[k]);
        wk__error_set(c->site, WK_ERR_INTERNAL, "%s: failed without an error message", c->op->name);
    }
    if (out != few) wk__free(out);
}

/* Returns the op with the most similar name, or NULL if none is similar. */
static const char *nearest_op(const char *name)
{
    const char *nearest = NULL;
    if (strncmp(name, "wk_", 3) == 0) name += 3;
    const size_t length = strlen(name);
    int least = length < 6 ? 2 : 3;
    for (int k = 0; k < wk__op_total; k++) {
        const int far = wk__edit_distance(name, length, wk__ops[k]->name);
        if (far < least) nearest = wk__ops[k]->name;
        if (far < least) least = far;
    }
    return nearest;
}

static void unknown_op(wk_site site, const char *name)
{
    const char *nearest = name ? nearest_op(name) : NULL;
    if (!name)
        wk__error_set(site, WK_ERR_ARGUMENT, "call: the name of the op is NULL");
    else
        wk__error_set(site, WK_ERR_ARGUMENT, "call: unknown op \"%.60s\"%s%s%s", name, nearest ? "; did you mean " : "",
                      nearest ? nearest : "", nearest ? "?" : "");
}

static void call_op(call *c, const char *name, const wk_value *arguments, int argument_count)
{
    const int index = wk_op_find(name);
    if (index < 0) {
        unknown_op(c->site, name);
        return;
    }
    c->op = wk__ops[index];
    c->in_place = strcmp(name, c->op->name) != 0;
    c->writes = c->in_place || (c->op->parameter_count && c->op->parameters[0].mutated);
    wk_context *context = wk__context();
    if (context->posted_failure) wk__report_posted_failure(context);
    if (!wk__error_pending() && bind_arguments(c->op, c->site, c->in_place, arguments, argument_count, c->argument))
        invoke(c);
}

/* Returns the caller's error struct, or NULL. Invalid options are ignored here and reported later. */
static wk_call_error *error_of(const wk_call_options *options)
{
    wk_call_options own;
    if (!options || wk__sized_read(options, offsetof(wk_call_options, device), &own, sizeof own) != WK_OK) return NULL;
    return own.error && wk__sized_is_valid(own.error) ? own.error : NULL;
}

/* Copies an error to the caller; text[said] is its first character after the call site. Returns the code. */
static wk_code fill_error(const call *c, wk_call_error error, const char *text, int64_t said, char *message,
                          size_t message_size)
{
    if (message_size) snprintf(message, message_size, "%s", text ? text : "");
    error.size = sizeof error;
    if (text) snprintf(error.message, sizeof error.message, "%s", text + said);
    if (c->error) (void)wk__sized_store((wk_site){0}, "call", wk_call_error, c->error, &error);
    return (wk_code)error.code;
}

static wk_code call_in_context(wk_context *context, const char *name, const wk_value *arguments, int argument_count,
                               call *c, const wk_call_options *options, char *message, size_t message_size)
{
    wk_context *before = wk__context_enter(context);
    const bool grad_off = context->frame.grad_off;
    const wk_device device = context->device;
    wk_call_options o;
    const bool fine = wk__options((wk_site){0}, "call", options, &o);
    c->site = o.site;
    context->frame.grad_off = o.no_grad;
    if (o.device.kind) context->device = o.device;
    context->in_wk_call = context->handler_muted;
    if (fine && o.error && !c->error)
        wk__error_set(o.site, WK_ERR_ARGUMENT, "call: set .size = sizeof(wk_call_error) first");
    else if (fine)
        call_op(c, name, arguments, argument_count);
    context->in_wk_call = false;
    wk_call_error error = {.code = (int32_t)wk_error_code(), .results = c->needed};
    if (error.code != WK_OK) {
        error.line = context->error_site.line;
        if (context->error_site.file) snprintf(error.file, sizeof error.file, "%s", context->error_site.file);
    }
    const int64_t said = context->error.data ? context->prefix_length : 0;
    const wk_code code = fill_error(c, error, wk_error(), said, message, message_size);
    wk_clear_error();
    context->frame.grad_off = grad_off;
    context->device = device;
    wk__context_enter(before);
    return code;
}

wk_code wk_call(wk_context *context, const char *name, const wk_value *arguments, int argument_count, wk_value *results,
                int *count, const wk_call_options *options, char *message, size_t message_size)
{
    call c = {.results = results, .capacity = count ? *count : 0, .error = error_of(options)};
    const char *missing = !count                             ? "call: the count of results is NULL"
                          : c.capacity < 0                   ? "call: the count of results is negative"
                          : c.capacity > 0 && !results       ? "call: the array for the results is NULL"
                          : argument_count < 0               ? "call: the count of arguments is negative"
                          : argument_count > 0 && !arguments ? "call: the array of arguments is NULL"
                                                             : NULL;
    if (!message) message_size = 0;
    if (count) *count = 0;
    if (missing) return fill_error(&c, (wk_call_error){.code = WK_ERR_ARGUMENT}, missing, 0, message, message_size);
    const bool locked = !context;
    if (locked ? atomic_load(&shared_thread) == wk__thread_id() : context->in_wk_call)
        return fill_error(&c, (wk_call_error){.code = WK_ERR_STATE}, nested_call, 0, message, message_size);
    if (locked) {
        pthread_mutex_lock(&shared_lock);
        atomic_store(&shared_thread, wk__thread_id());
        if (!shared) shared = wk__context_make();
        context = shared;
        if (shared) wk__discard_posted_failure(shared); /* of another caller; reading the failed tensor reports it */
    }
    const wk_code code =
        context ? call_in_context(context, name, arguments, argument_count, &c, options, message, message_size)
                : fill_error(&c, (wk_call_error){.code = WK_ERR_MEMORY}, "call: out of host memory", 0, message,
                             message_size);
    if (locked) {
        atomic_store(&shared_thread, NULL);
        pthread_mutex_unlock(&shared_lock);
    }
    *count = c.count;
    return code;
}
