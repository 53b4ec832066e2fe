/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ops as programs and bindings see it: wk_op_*, wk_call. */
#include "../base/alloc.h"
#include "forms.h"
#include <pthread.h>
#include <string.h>
#include <wick/call.h>

int wk_op_count(void)
{
    return wk__op_total;
}

wk_code wk_op_info_at(wk_site site, int index, wk_op *info)
{
    if (index < 0 || index >= wk__op_total) {
        wk__error_set(site, WK_ERR_ARGUMENT, "op_info: the index is out of range");
        return WK_ERR_ARGUMENT;
    }
    const wk__op *op = wk__ops[index];
    const wk_op known = {.size = sizeof known,
                         .name = op->name,
                         .schema = op->schema,
                         .group = op->group,
                         .doc = op->doc,
                         .differentiable = op->gradient != NULL,
                         .waits = op->waits,
                         .dtypes = op->domain};
    return wk__fill(site, "op_info", wk_op, info, &known);
}

int wk_op_find(const char *name)
{
    int low = 0, high = wk__op_total - 1;
    while (name && low <= high) {
        int middle = (low + high) / 2, order = strcmp(wk__ops[middle]->name, name);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

/* ---- arguments against the schema -------------------------------------------------------------------------------- */

enum { MOST_ARGUMENTS = 16, MOST_RESULTS = 64 };

static bool kind_fits(const wk__parameter *p, const wk_value *v)
{
    if (v->kind == WK_VALUE_NONE) return p->optional;
    if (p->list) return v->kind == (int32_t)(strcmp(p->type, "Tensor") == 0 ? WK_VALUE_TENSORS : WK_VALUE_INTS);
    if (strcmp(p->type, "Tensor") == 0)
        return v->kind == WK_VALUE_TENSOR || ((v->kind == WK_VALUE_INT || v->kind == WK_VALUE_FLOAT) && p->number);
    if (strcmp(p->type, "int") == 0) return v->kind == WK_VALUE_INT;
    if (strcmp(p->type, "float") == 0) return v->kind == WK_VALUE_FLOAT || v->kind == WK_VALUE_INT;
    if (strcmp(p->type, "Scalar") == 0)
        return v->kind == WK_VALUE_FLOAT || v->kind == WK_VALUE_INT || v->kind == WK_VALUE_BOOL;
    if (strcmp(p->type, "bool") == 0) return v->kind == WK_VALUE_BOOL || v->kind == WK_VALUE_INT;
    if (strcmp(p->type, "dtype") == 0) return v->kind == WK_VALUE_DTYPE || v->kind == WK_VALUE_INT;
    if (strcmp(p->type, "Device") == 0) return v->kind == WK_VALUE_DEVICE;
    if (strcmp(p->type, "str") == 0) return v->kind == WK_VALUE_TEXT && v->text;
    return false;
}

static bool list_is_there(const wk__op *op, wk_site site, int k, const wk_value *v)
{
    char role[24];
    if (v->kind != WK_VALUE_INTS && v->kind != WK_VALUE_TENSORS) return true;
    snprintf(role, sizeof role, "argument %d", k);
    return wk__array_check(v->ints, v->count, site, op->name, role);
}

/* Copies the arguments into full[], missing ones as none; false with the error recorded. */
static bool match(const wk__op *op, wk_site site, const wk_value *given, int count, wk_value *full)
{
    int k = 0;
    memset(full, 0, sizeof *full * MOST_ARGUMENTS);
    for (; k < op->parameter_count; k++) {
        const wk__parameter *p = &op->parameters[k];
        if (k < count) full[k] = given[k];
        if (kind_fits(p, &full[k])) {
            if (list_is_there(op, site, k, &full[k])) continue;
            return false;
        }
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: argument %d (%s) must be %s%s%s; the schema is %s", op->name, k,
                      p->name, p->list ? "a list of " : "", p->type, p->optional ? " or none" : "", op->schema);
        return false;
    }
    if (count <= k) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: takes %d arguments, %d were given; the schema is %s", op->name, k, count,
                  op->schema);
    return false;
}

/* ---- wk_call ----------------------------------------------------------------------------------------------------- */

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static wk_context *shared; /* for callers whose threads change under them */

wk_context *wk_context_new(void)
{
    return wk__context_make();
}

void wk_context_free(wk_context *context)
{
    if (context) wk__context_destroy(context);
}

static wk_code call(const char *name, wk_site site, const wk_value *arguments, int argument_count, wk_value *results,
                    int *count)
{
    const int index = wk_op_find(name);
    const wk__op *op = wk__ops[index < 0 ? 0 : index];
    if (index < 0) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      name ? "call: there is no op \"%.60s\"" : "call: the name of the op is NULL", name);
        return WK_ERR_ARGUMENT;
    }
    wk_value full[MOST_ARGUMENTS];
    wk_tensor *out[MOST_RESULTS] = {0};
    wk_context *context = wk__context();
    if (context->late) wk__tell_late(context);
    if (wk__error_pending() || !match(op, site, arguments, argument_count, full)) return wk_error_code();
    int given = op->invoke(op, site, full, out);
    if (given < 0 || wk__error_pending()) {
        for (int k = 0; k < given; k++) wk_free_at(site, out[k]);
        wk__error_set(site, WK_ERR_INTERNAL, "%s: failed without saying why", op->name);
        return wk_error_code();
    }
    if (given > *count) {
        for (int k = 0; k < given; k++) wk_free_at(site, out[k]);
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: gives %d results, there is room for %d", op->name, given, *count);
        return WK_ERR_ARGUMENT;
    }
    for (int k = 0; k < given; k++) results[k] = (wk_value){.kind = WK_VALUE_TENSOR, .tensor = out[k]};
    *count = given;
    return WK_OK;
}

wk_code wk_call(wk_context *context, const char *name, const wk_value *arguments, int argument_count, wk_value *results,
                int *count, const wk_call_options *options, char *message, size_t message_size)
{
    bool locked = !context;
    if (!message) message_size = 0;
    if (!count || !results || (argument_count > 0 && !arguments)) {
        if (message_size)
            snprintf(message, message_size, "call: %s is NULL",
                     !count     ? "the count of results"
                     : !results ? "the array for the results"
                                : "the array of arguments");
        if (count) *count = 0;
        return WK_ERR_ARGUMENT;
    }
    if (locked) {
        pthread_mutex_lock(&shared_lock);
        if (!shared) shared = wk__context_make();
        context = shared;
        if (shared) wk__late_forget(shared); /* of whoever called: who reads what failed is told */
    }
    wk_code code = WK_ERR_MEMORY;
    const char *text = "call: out of host memory";
    if (message_size) message[0] = 0;
    if (context) {
        wk_context *before = wk__context_enter(context);
        bool grad_off = context->frame.grad_off;
        wk_device device = context->device;
        wk_call_options o;
        bool fine = wk__options((wk_site){0}, "call", options, &o);
        context->frame.grad_off = o.no_grad;
        if (o.device.kind) context->device = o.device;
        code = fine ? call(name, o.site, arguments, argument_count, results, count) : wk_error_code();
        text = wk_error();
        if (message_size) snprintf(message, message_size, "%s", text ? text : "");
        wk_clear_error();
        context->frame.grad_off = grad_off;
        context->device = device;
        wk__context_enter(before);
    } else if (message_size) {
        snprintf(message, message_size, "%s", text);
    }
    if (code != WK_OK) *count = 0;
    if (locked) pthread_mutex_unlock(&shared_lock);
    return code;
}
