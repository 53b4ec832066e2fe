/* SPDX-License-Identifier: Apache-2.0 */
/* Steps on existing tensors: owners, host reads and writes, gradients; see steps.h. */
#include "steps.h"
#include "trace.h"
#include "program_lib.h"
#include "support/group/group_reference.h"

/* ---- owners ------------------------------------------------------------------------------------------------------ */

bool steps_open(executor *m, const step *s)
{
    const int count = m->thread[s->thread].count;
    if (count == MOST_GUARDS) return false;
    m->thread[s->thread].guard[count].token =
        s->kind == STEP_SCOPE ? wk_scope_open(steps_site(m)) : wk_no_grad_open(steps_site(m));
    m->thread[s->thread].guard[count].number = s->guard;
    m->thread[s->thread].guard[count].scope = s->kind == STEP_SCOPE;
    m->thread[s->thread].count++;
    return true;
}

static void forget_from(executor *m, int thread, int place)
{
    m->thread[thread].count = place;
    for (int k = 0; k < m->program->slots; k++) {
        slot *x = &m->slot[k];
        if (x->thread != thread || !x->tensor || x->scope < place) continue;
        x->scope = -1;
        if (!x->retains) x->tensor = NULL;
    }
}

void steps_close_from(executor *m, int thread, int place)
{
    forget_from(m, thread, place);
    wk_guard_close(&m->thread[thread].guard[place].token);
}

bool steps_end_thread(executor *m, const step *s)
{
    if (s->thread == 0) return false;
    forget_from(m, s->thread, 0);
    return true;
}

bool steps_close(executor *m, const step *s)
{
    for (int k = m->thread[s->thread].count; k-- > 1;)
        if (m->thread[s->thread].guard[k].number == s->guard) {
            steps_close_from(m, s->thread, k);
            return true;
        }
    return false;
}

static void keep(executor *m, const step *s, slot *x)
{
    int place = machine_scope(m, s->thread);
    if (x->scope != place || place == 0 || x->thread != s->thread) return;
    do place--;
    while (place > 0 && !m->thread[s->thread].guard[place].scope);
    x->scope = (int16_t)place;
}

static void release(slot *x)
{
    if (x->retains)
        x->retains--;
    else
        x->scope = -1;
    if (!x->retains && x->scope < 0) x->tensor = NULL;
}

bool steps_owner(executor *m, const step *s)
{
    slot *x = &m->slot[s->argument[0].slot[0]];
    if (!x->tensor) return false;
    wk_tensor *tensor = x->tensor;
    if (x->thread != s->thread && s->kind != STEP_RETAIN) return false;
    if (s->kind == STEP_KEEP) {
        wk_keep_at(steps_site(m), tensor);
        keep(m, s, x);
    } else if (s->kind == STEP_CARRY) {
        slot *next = &m->slot[s->argument[1].slot[0]];
        if (!next->tensor || next == x || next->thread != s->thread) return false;
        wk_carry_at(steps_site(m), &tensor, next->tensor);
        keep(m, s, next);
        release(x);
    } else if (s->kind == STEP_RETAIN) {
        if (wk_retain_at(steps_site(m), tensor)) x->retains++;
    } else {
        wk_free_at(steps_site(m), tensor);
        release(x);
    }
    return true;
}

/* ---- host reads and writes --------------------------------------------------------------------------------------- */

bool steps_host(executor *m, const step *s)
{
    wk_tensor *x = s->arguments ? steps_tensor(m, s->argument[0].slot[0]) : NULL;
    if (s->arguments && !x) return false;
    if (s->kind == STEP_READ) {
        trace_read(m, NOTE_READ, s->argument[0].slot[0], x);
    } else if (s->kind == STEP_SYNC) {
        m->code = wk_sync_at(steps_site(m));
    } else if (s->kind == STEP_FLUSH) {
        m->code = wk_flush();
    } else if (s->kind == STEP_TRIM) {
        m->code = wk_memory_trim_at(steps_site(m), executor_device(m, s));
    } else if (s->kind == STEP_HOST_WRITE && s->how == POKE_DLPACK) {
        m->code = part_poke(x, (int64_t)s->argument[1].f);
    } else {
        char *address = wk_data_at(steps_site(m), x);
        if (!address && wk_numel_at(steps_site(m), x)) m->code = wk_error_code();
        if (s->kind == STEP_HOST_WRITE && address && wk_numel_at(steps_site(m), x))
            group_reference_put(wk_dtype_of_at(steps_site(m), x), address, 0, s->argument[1].f);
    }
    return true;
}

/* ---- optimisers -------------------------------------------------------------------------------------------------- */

bool steps_optimise(executor *m, const step *s)
{
    call c;
    if (!steps_arguments(m, s, &c)) return false;
    m->code = part_optimise(s->how, c.value[0].tensors, c.value[0].count, (int)s->argument[1].i);
    return true;
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

static wk_tensor *notes(wk_tensor *grad, void *machine)
{
    trace_read(machine, NOTE_HOOK, -1, grad);
    return NULL;
}

static wk_hook *const hooks[HOOKS] = {part_looks, part_scales, notes, notes};

bool steps_gradient(executor *m, const step *s)
{
    call c;
    if (!steps_arguments(m, s, &c)) return false;
    wk_tensor *x = c.value[0].tensor, *grad = NULL;
    if (s->kind == STEP_BACKWARD) {
        if (m->forward_only) return false;
        wk_backward_options options = {.size = sizeof options,
                                       .gradient = s->arguments > 1 ? c.value[1].tensor : NULL,
                                       .retain_graph = s->how & GRAPH_RETAIN,
                                       .create_graph = (s->how & GRAPH_CREATE) != 0};
        m->code = wk_backward_at(steps_site(m), x, &options);
    } else if (s->kind == STEP_DIFFERENTIATE) {
        wk_grad_options options = {.size = sizeof options,
                                   .retain_graph = s->how & GRAPH_RETAIN,
                                   .create_graph = (s->how & GRAPH_CREATE) != 0,
                                   .allow_unused = true};
        m->code = wk_grad_at(steps_site(m), &x, 1, &c.value[1].tensor, 1, &grad, &options);
        steps_put(m, s, 0, grad, false);
    } else if (s->kind == STEP_GRAD_OF) {
        grad = wk_grad_of_at(steps_site(m), x);
        steps_put(m, s, 0, grad ? wk_retain_at(steps_site(m), grad) : NULL, true);
    } else if (s->kind == STEP_HOOK) {
        wk_hook_options options = {.size = sizeof options, .post_accumulate = s->how == HOOK_AFTER};
        m->code = wk_register_hook_at(steps_site(m), x, hooks[s->how], m, &options);
    } else if (s->kind == STEP_DETACH) {
        steps_put(m, s, 0, wk_detach_at(steps_site(m), x), false);
    } else {
        if (wk_requires_grad__at(steps_site(m), x, s->argument[1].i))
            m->slot[s->argument[0].slot[0]].leaf = s->argument[1].i;
        else
            m->code = wk_error_code();
    }
    m->given = s->results;
    return true;
}
