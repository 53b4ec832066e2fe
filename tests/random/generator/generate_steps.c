/* SPDX-License-Identifier: Apache-2.0 */
/* Executes steps and decides whether they stay; see generate.h. */
#include "generate.h"
#include "ir/scalar.h"
#include "tensor/tensor.h"
#include <math.h>
#include <string.h>

step *generate_begin(generator *g, step_kind kind, int results)
{
    step *s = program_add(g->program, kind, results);
    if (s) s->thread = (uint8_t)g->thread;
    return s;
}

/* Returns true unless values are huge, infinite or NaN everywhere, which would hide differences. */
static bool is_tame(wk_tensor *x)
{
    enum { MOST_BYTES = 32768 };
    static _Thread_local _Alignas(8) char bytes[MOST_BYTES];
    const wk__body *body = wk__body_of(x);
    const int64_t n = wk__body_numel(body);
    const size_t width = wk_dtype_size(body->dtype);
    if (tensor_bytes(x) > MOST_BYTES) return n <= 40000;
    executor_read(x, bytes);
    if (!wk__is_float(body->dtype)) return true;
    const double most = body->dtype == WK_F16 ? 1e3 : 1e4;
    for (int64_t k = 0; k < n; k++)
        if (!(fabs(wk__scalar_to_double(bytes + (size_t)k * width, body->dtype)) <= most)) return false;
    return true;
}

/* Returns true for fractions that depend on tensors with a history but have none (unique, ...): differences would see a
 * dependence that gradients do not. A view has none only in write_no_grad_view, which frees it. */
static bool is_cut_off(const generator *g, const step *s, const wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    if (s->kind == STEP_CALL && op_entries[s->op].op->view) return false;
    bool history = false;
    for (int k = 0; k < s->arguments; k++) {
        const argument *a = &s->argument[k];
        const int count = a->kind == WK_VALUE_TENSOR || a->kind == WK_VALUE_TENSORS ? a->count : 0;
        for (int j = 0; j < count; j++) history = history || generate_body(g, a->slot[j])->requires_grad;
    }
    return history && !body->requires_grad && wk__is_float(body->dtype);
}

/* Norms near 0 have unbounded slopes. */
static bool is_pointed(const step *s, wk_tensor *x)
{
    static const char *const lengths[] = {"std", "norm", "dist", "sqrt", "cosine_similarity", NULL};
    for (int k = 0; lengths[k]; k++)
        if (s->kind == STEP_CALL && strcmp(op_entries[s->op].op->name, lengths[k]) == 0)
            for (int64_t e = 0; e < wk__body_numel(wk__body_of(x)); e++)
                if (fabs(executor_read_element(x, e)) < 1e-5) return true;
    return false;
}

static bool is_sane(generator *g, const step *s)
{
    if (s->kind != STEP_CALL && s->kind != STEP_FUNCTION) return true;
    if (g->machine->has_failed_value) return false;
    if (g->large) return true; /* its ops are known, and its tensors large */
    for (int k = 0; k < s->results && k < g->machine->given; k++) {
        wk_tensor *x = g->machine->slot[s->out + k].tensor;
        if (x && !is_tame(x)) return rng_percent(&g->draw, 3);
        if (x && g->program->gradcheck && (is_cut_off(g, s, x) || is_pointed(s, x))) return false;
    }
    return true;
}

static void drop(generator *g, step *s)
{
    for (int k = 0; k < s->results; k++) {
        slot *x = &g->machine->slot[s->out + k];
        if (x->tensor) wk_free_at((wk_site){0}, x->tensor);
        memset(x, 0, sizeof *x);
    }
    wk_clear_error();
    g->program->slots = s->out;
    g->program->steps--;
}

/* Some programs keep a rejected call, which must fail in each mode. A failure without a reason is an error and always
 * stays. Index errors occur at the call or later, when the values are known; memory is limited only here. */
static bool may_fail(generator *g, wk_code code)
{
    if (code == WK_ERR_INDEX || code == WK_ERR_MEMORY) return false;
    return code == WK_ERR_INTERNAL || rng_percent(&g->draw, 3);
}

/* A failed backward pass has accumulated some gradients and released parts of the graph; an optimiser may have made a
 * step before. */
static bool leaves_traces(const step *s)
{
    return s->kind == STEP_BACKWARD || s->kind == STEP_DIFFERENTIATE || s->kind == STEP_OPTIMISE;
}

bool generate_end(generator *g)
{
    program *p = g->program;
    step *s = &p->step[p->steps - 1];
    const size_t notes = g->machine->used;
    storage_access touched[2 * MOST_TOUCHES];
    if (p->concurrent && !generate_is_deterministic(g, s)) {
        drop(g, s);
        return false;
    }
    int touches = p->concurrent ? generate_accesses(g, s, touched) : 0;
    const bool done = executor_step(g->machine, p->steps - 1);
    const wk_code code = g->machine->code;
    if (!done || (code != WK_OK ? !leaves_traces(s) && !may_fail(g, code) : !is_sane(g, s))) {
        drop(g, s);
        g->machine->used = notes;
        g->machine->has_failed_value = false;
        return false;
    }
    if (s->results > g->machine->given) {
        s->results = (uint8_t)(g->machine->given > 0 ? g->machine->given : 0);
        p->slots = s->out + s->results;
    }
    if (p->concurrent && leaves_traces(s)) /* it may have accumulated gradients */
        touches += generate_accesses(g, s, touched + touches);
    if (p->concurrent) generate_sync(g, s, touched, touches);
    return code == WK_OK;
}
