/* SPDX-License-Identifier: Apache-2.0 */
/* Calling modules, and switching between training and evaluation. */
#include "attention_call.h"
#include "module.h"
#include "tensor/call_scope.h"
#include <string.h>

/* ---- calling the kind -------------------------------------------------------------------------------------------- */

static int call(wk_module *m, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const wk_module_kind *kind = &wk__module_of(m)->kind;
    if (kind->forward) return kind->forward(m, in, inputs, out, outputs);
    out[0] = kind->forward1(m, in[0]);
    return out[0] ? 1 : -1;
}

/* Calls a module of a user's kind: in its own scope, with the call sites of the calls inside. */
static int call_user_module(wk_site site, wk_module *m, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    char name[160];
    wk__call_scope c;
    site = wk__site(site);
    snprintf(name, sizeof name, "forward of \"%.80s\", called at %.50s:%d", wk__module_of(m)->kind.name,
             site.file ? site.file : "?", (int)site.line);
    if (!wk__call_begin(&c, WK__FRAME_CALLBACK, name, site, WK__GRAD_KEPT)) return -1;
    int count = call(m, in, inputs, out, outputs), given = count > 0 && count <= outputs ? count : 0;
    wk__call_end(&c, out, given);
    return count;
}

/* Calls a module of the library's kinds: calls inside have the call site of the user's call. */
static int call_builtin_module(wk_site site, wk_module *m, wk_tensor *const *in, int inputs, wk_tensor **out,
                               int outputs)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, NULL, site, WK__GRAD_KEPT)) return -1;
    int count = call(m, in, inputs, out, outputs), given = count > 0 && count <= outputs ? count : 0;
    wk__call_end(&c, out, given);
    return count;
}

static bool report_input(wk_site site, const char *kind, const wk_tensor *x)
{
    char role[120];
    snprintf(role, sizeof role, "the input of %.80s", kind);
    return wk__check_tensor(x, site, "forward", role);
}

static bool check_inputs(wk_site site, wk_module *m, wk_tensor *const *in, int inputs, int outputs)
{
    const wk_module_kind *kind = &wk__module_of(m)->kind;
    if (!wk__array_check(in, inputs, site, "forward", "the array of inputs")) return false;
    for (int k = 0; k < inputs; k++)
        if (!wk__is_tensor(in[k])) return report_input(site, kind->name, in[k]);
    if (!kind->forward && !kind->forward1)
        wk__error_set(site, WK_ERR_STATE, "forward: a %s has no forward function; call those of its children",
                      kind->name);
    else if (!kind->forward && (inputs != 1 || outputs < 1))
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "forward: %s takes one input and returns one output; got %d inputs, %d outputs requested",
                      kind->name, inputs, outputs);
    else
        return true;
    return false;
}

/* A forward that calls its own module would end the process without a limit. 500 levels take less than a megabyte of
 * stack, without those of the program. */
enum { MAX_DEPTH = 500 };

static bool check_depth(wk_site site, const wk__module_frame *layer)
{
    if (layer->depth <= MAX_DEPTH) return true;
    wk__error_set(site, WK_ERR_STATE,
                  "forward: more than %d modules are nested; a forward of \"%.80s\" may call its own module", MAX_DEPTH,
                  wk__module_of(layer->module)->kind.name);
    return false;
}

/* Runs forward; the caller has pinned m. */
static int run_pinned(wk_site site, wk_module *m, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs,
                      const void *options)
{
    wk_context *context = wk__context();
    const wk__module_frame *parent = context->frame.module_frame;
    const wk__module_frame layer = {.parent = parent,
                                    .module = m,
                                    .options = options,
                                    .depth = parent ? parent->depth + 1 : 1,
                                    .library = wk__module_of(m)->builtin,
                                    .describe = wk__module_describe_layer};
    if (layer.library) context->frame.module_frame = &layer; /* a mismatch of a user module is reported by its caller */
    wk__forward_watch *const watch = context->frame.forward_watch;
    const wk__forward_watch before = watch ? *watch : (wk__forward_watch){0};
    int count = -1;
    if (check_depth(site, &layer) && check_inputs(site, m, in, inputs, outputs)) {
        context->frame.module_frame = &layer;
        count = (layer.library ? call_builtin_module : call_user_module)(site, m, in, inputs, out, outputs);
    }
    context->frame.module_frame = parent;
    const char *name = wk__module_of(m)->kind.name;
    if (count > outputs) {
        wk__error_set(site, WK_ERR_ARGUMENT, "forward: %s returned %d tensors; at most %d were requested", name, count,
                      outputs);
        count = -1;
    }
    for (int k = 0; k < count; k++)
        if (!wk__check_tensor(out[k], site, name, "an output of forward")) count = -1;
    if (watch && count > 0) watch->called(watch, &before, m, out, count);
    if (count > 0 || (count == 0 && outputs == 0)) return count;
    wk__error_set(site, WK_ERR_STATE, "forward: %s returned no tensor", name);
    for (int k = 0; k < outputs; k++) out[k] = NULL;
    return -1;
}

static int run(wk_site site, wk_module *m, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs,
               const void *options)
{
    if (!wk__array_check(out, outputs, site, "forward", "the array for the results")) return -1;
    for (int k = 0; k < outputs; k++) out[k] = NULL;
    if (!wk__module_check(m, site, "forward")) return -1;
    const uint64_t pin = wk__handle_pin(&m->handle); /* its forward may free it */
    const int count = pin ? run_pinned(site, m, in, inputs, out, outputs, options) : -1;
    if (pin) wk__guard_close(pin);
    return count;
}

wk_tensor *wk_forward_at(wk_site site, wk_module *m, wk_tensor *x)
{
    wk_tensor *out = NULL;
    return run(site, m, &x, 1, &out, 1, NULL) == 1 ? out : NULL;
}

int wk_forward_n_at(wk_site site, wk_module *m, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    return run(site, m, in, inputs, out, outputs, NULL);
}

/* ---- calls with options ------------------------------------------------------------------------------------------ */

bool wk__forward_with(wk_site site, const char *name, wk_module *m, const char *const kinds[], wk_tensor *const *in,
                      int inputs, wk_tensor **out, int outputs, const void *options)
{
    for (int k = 0; k < outputs; k++) out[k] = NULL;
    if (!wk__module_check(m, site, name)) return false;
    const wk__module *body = wk__module_of(m);
    int k = 0;
    while (kinds[k] && strcmp(kinds[k], body->kind.name) != 0) k++;
    if (body->builtin && kinds[k]) return run(site, m, in, inputs, out, outputs, options) == outputs;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: expected %s %s%s%s, got %s %s", name, wk__article(kinds[0]), kinds[0],
                  kinds[1] ? " or " : "", kinds[1] ? kinds[1] : "", wk__article(body->kind.name), body->kind.name);
    return false;
}

const void *wk__forward_options(void)
{
    const wk__module_frame *layer = wk__context()->frame.module_frame;
    return layer ? layer->options : NULL;
}

bool wk__forward_takes(const char *name, int expected, int inputs, int outputs)
{
    if (inputs == expected && outputs == 1) return true;
    wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "%s: expected %d input%s and 1 output, got %d and %d", name, expected,
                  expected == 1 ? "" : "s", inputs, outputs);
    return false;
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

void wk__module_notify_training(wk_module *m)
{
    const wk__module *body = wk__module_of(m);
    wk_context *context = wk__context();
    if (!body->kind.on_train) return;
    const wk__frame before = wk__frame_begin(context, WK__FRAME_NOUNWIND, NULL, (wk_site){0});
    body->kind.on_train(m, !body->eval);
    wk__frame_end(context, before);
}

wk_module *wk_module_train_at(wk_site site, wk_module *m, bool training)
{
    wk__module_tree tree;
    if (!wk__module_check(m, site, "module_train") || !wk__module_tree_build(&tree, m, site)) return NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    for (int64_t k = 0; k < tree.count; k++) wk__module_of(tree.entry[k].module)->eval = !training;
    for (int64_t k = 0; k < tree.count; k++) wk__module_notify_training(tree.entry[k].module);
    wk__module_tree_free(&tree);
    wk__frame_end(context, before);
    return m;
}

bool wk_module_training_at(wk_site site, const wk_module *m)
{
    return m && wk__module_check(m, site, "module_training") && !wk__module_of(m)->eval;
}
