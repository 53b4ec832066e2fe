/* SPDX-License-Identifier: Apache-2.0 */
/* Executes programs; see executor.h. */
#include "executor.h"
#include "base/pool.h"
#include "workers.h"
#include "engine/plan/prologue.h"
#include "engine/verify/shuffle.h"
#include "trace.h"
#include "steps.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const wk_site here = {"program", 1};

enum { MOST_BYTES = 256 << 20 }; /* of a program */

void executor_limit_memory(wk_device device)
{
    wk_memory_stats now = {.size = sizeof now};
    wk_memory_stats_of(device, &now);
    wk_memory_set_limit(device, now.live + MOST_BYTES);
}

void executor_unlimit_memory(wk_device device)
{
    wk_memory_set_limit(device, 0);
}

int machine_scope(const executor *m, int thread)
{
    int k = m->thread[thread].count - 1;
    while (k > 0 && !m->thread[thread].guard[k].scope) k--;
    return k;
}

static void run_step(void *user)
{
    executor *m = user;
    const step *s = &m->program->step[m->now];
    bool done = false;
    if (m->mode->sync) wk_sync(); /* reports deferred errors of a dropped step */
    wk_clear_error();
    switch ((step_kind)s->kind) {
    case STEP_MAKE: done = steps_make(m, s); break;
    case STEP_CALL: done = steps_call(m, s); break;
    case STEP_IN_PLACE: done = steps_in_place(m, s); break;
    case STEP_SCOPE:
    case STEP_NO_GRAD: done = steps_open(m, s); break;
    case STEP_END: done = steps_close(m, s); break;
    case STEP_KEEP:
    case STEP_CARRY:
    case STEP_RETAIN:
    case STEP_FREE: done = steps_owner(m, s); break;
    case STEP_READ:
    case STEP_SYNC:
    case STEP_FLUSH:
    case STEP_TRIM:
    case STEP_TAKE_ADDRESS:
    case STEP_HOST_WRITE: done = steps_host(m, s); break;
    case STEP_OPTIMISE: done = steps_optimise(m, s); break;
    case STEP_FUNCTION: done = steps_function(m, s); break;
    case STEP_THREAD_RESTART: done = steps_end_thread(m, s); break;
    default: done = steps_gradient(m, s); break;
    }
    if (m->code != WK_OK && m->code != WK_ERR_INTERNAL) m->code = wk_error_code() ? wk_error_code() : m->code;
    if (m->code != WK_OK) trace_failure(m);
    wk_clear_error();
    m->done = done;
    m->passed[m->now] = !done;
}

bool executor_step(executor *m, int k)
{
    m->now = k;
    m->code = WK_OK;
    m->given = 0;
    m->done = false;
    if (!m->program->step[k].removed) workers_run(m->program->step[k].thread, run_step, m);
    return m->done;
}

wk_device executor_device(const executor *m, const step *s)
{
    const int kind = m->mode->gpu, card = s->card == CARD_SECOND && wk_device_count(kind) > 1;
    return (wk_device){.kind = (int16_t)kind, .index = (int16_t)card};
}

static void open_guards(void *user)
{
    executor *m = user;
    m->thread[m->here].count = 1;
    m->thread[m->here].outer = wk_scope_open(here);
    m->thread[m->here].guard[0].token = wk_scope_open(here);
    m->thread[m->here].guard[0].number = -1;
    m->thread[m->here].guard[0].scope = true;
    const wk_device device = {.kind = (int16_t)m->mode->gpu};
    if (m->mode->gpu) wk_device_guard_open(here, device); /* closed with the scope */
}

static void reopen_guards(void *user)
{
    executor *m = user;
    open_guards(m);
    m->rest(m->rest_user);
}

void executor_restart_thread(executor *m, int thread, worker_job *rest, void *user)
{
    m->here = thread;
    m->rest = rest;
    m->rest_user = user;
    workers_replace_thread(reopen_guards, m);
}

/* Steps of one thread. */
typedef struct turn {
    executor *machine;
    int from, to;
} turn;

static void run_steps_of_turn(void *user)
{
    turn *t = user;
    executor *m = t->machine;
    while (t->from < t->to) {
        const step *s = &m->program->step[t->from];
        const bool done = executor_step(m, t->from++);
        if (done && s->kind == STEP_THREAD_RESTART) {
            executor_restart_thread(m, s->thread, run_steps_of_turn, t);
            return;
        }
    }
}

void executor_run_steps(executor *m)
{
    const program *p = m->program;
    for (turn t = {.machine = m}; t.from < p->steps; t.from = t.to) {
        const int thread = p->step[t.from].thread;
        for (t.to = t.from + 1; t.to < p->steps && p->step[t.to].thread == thread;) t.to++;
        workers_run(thread, run_steps_of_turn, &t);
    }
}

void executor_begin(executor *m, program *p, const mode *mode)
{
    m->program = p;
    m->mode = mode;
    m->used = 0;
    m->lents = 0;
    m->now = -1;
    m->has_failed_value = false;
    m->contexts = steps_contexts();
    m->slot = m->own_slot;
    m->thread = m->own_thread;
    memset(m->own_slot, 0, sizeof m->own_slot);
    memset(m->passed, 0, sizeof m->passed);
    memset(m->empty, 0, sizeof m->empty);
    wk__engine_config_set(mode->sync, mode->nofuse);
    if (wk__thread_count() != mode->threads) wk_set_threads_at(here, mode->threads);
    wk__shuffle_groups(mode->order);
    wk__set_prologue_min_bytes(mode->prologues ? 0 : -1);
    for (m->here = 0; m->here < p->threads; m->here++) workers_run(m->here, open_guards, m);
}

static void observe_slot(executor *m, int k)
{
    const slot *x = &m->slot[k];
    trace_read(m, NOTE_LEFT, k, x->tensor);
    wk_tensor *grad = x->leaf ? wk_grad_of_at(here, x->tensor) : NULL;
    if (grad) trace_read(m, NOTE_GRADIENT, k, grad);
}

/* Observes the thread's slots in the drawn order. */
static void observe_own_slots(void *user)
{
    executor *m = user;
    int order[MOST_SLOTS];
    program_order(m->program, order);
    for (int k = 0; k < m->program->slots; k++)
        if (m->slot[order[k]].tensor && m->slot[order[k]].thread == m->here) observe_slot(m, order[k]);
}

/* The threads take turns. */
void executor_observe_end(executor *m)
{
    m->now = -1;
    for (int k = 0; k < m->program->threads; k++) {
        m->here = program_looker(m->program, k);
        workers_run(m->here, observe_own_slots, m);
    }
}

static void close_all(void *user)
{
    executor *m = user;
    steps_close_from(m, m->here, 0);
    wk_guard_close(&m->thread[m->here].outer);
    wk_sync_at(here);
    wk_clear_error();
}

/* Returns true if a leaf's gradient has a history that contains the leaf: neither is ever freed, as in PyTorch. A
 * gradient that the program holds may also receive such a history from an in-place write. */
static bool makes_cycles(const program *p)
{
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        if (s->removed) continue;
        if (s->kind == STEP_GRAD_OF || (s->kind == STEP_BACKWARD && s->how & GRAPH_CREATE)) return true;
    }
    return false;
}

void executor_end(executor *m)
{
    for (m->here = 0; m->here < m->program->threads; m->here++) workers_run(m->here, close_all, m);
    for (int k = 0; k < m->program->slots; k++)
        for (slot *x = &m->slot[k]; x->tensor && x->retains; x->retains--) wk_free_at(here, x->tensor);
    wk_sync_at(here);
    wk_clear_error();
    trace_guard_bytes(m);
    if (steps_contexts() != m->contexts && !makes_cycles(m->program)) notes_contexts(m);
}

/* ---- concurrent threads ------------------------------------------------------------------------------------------ */

/* An executor for each thread's steps in [from, to). They share slots and guards, but no two access the same ones; each
 * has a separate trace. */
typedef struct part {
    executor machine;
    int from, to, thread;
} part;

static void run_part(void *user)
{
    part *own = user;
    executor *m = &own->machine;
    while (own->from < own->to) {
        const step *s = &m->program->step[own->from];
        m->now = own->from++;
        if (s->removed || s->thread != own->thread) continue;
        m->code = WK_OK;
        run_step(m);
        if (m->done && s->kind == STEP_THREAD_RESTART) {
            executor_restart_thread(m, s->thread, run_part, own);
            return;
        }
    }
}

/* Appends all entries in the order of the steps, whatever the timing. */
static void gather(executor *m, part parts[], int from, int to)
{
    size_t at[MOST_THREADS] = {0};
    for (int k = from; k < to; k++) {
        const step *s = &m->program->step[k];
        const executor *own = &parts[s->thread].machine;
        at[s->thread] += trace_append(m, own, at[s->thread], k);
        m->passed[k] = !s->removed && own->passed[k];
        for (int j = 0; j < s->results; j++) m->empty[s->out + j] = !s->removed && own->empty[s->out + j];
    }
    for (int t = 0; t < m->program->threads; t++)
        m->has_failed_value = m->has_failed_value || parts[t].machine.has_failed_value;
}

static void run_concurrently(executor *m, int from, int to)
{
    static part parts[MOST_THREADS];
    void *user[MOST_THREADS] = {NULL};
    for (int k = from; k < to; k++) {
        const step *s = &m->program->step[k];
        user[s->thread] = &parts[s->thread];
        for (int j = 0; j < s->results; j++) m->slot[s->out + j].thread = s->thread; /* the other threads skip them */
    }
    for (int t = 0; t < m->program->threads; t++) {
        char *const notes = parts[t].machine.notes;
        const size_t room = parts[t].machine.room;
        memcpy(&parts[t].machine, m, offsetof(executor, own_slot));
        parts[t].machine.notes = notes;
        parts[t].machine.room = room;
        parts[t].machine.used = 0;
        parts[t].machine.has_failed_value = false;
        memset(parts[t].machine.empty, 0, sizeof parts[t].machine.empty);
        parts[t].from = from;
        parts[t].to = to;
        parts[t].thread = t;
    }
    workers_run_all(m->program->threads, run_part, user);
    gather(m, parts, from, to);
}

static void run_all(executor *m)
{
    const program *p = m->program;
    if (!p->concurrent || m->mode->sync || m->mode->serialized) {
        executor_run_steps(m);
        return;
    }
    for (int from = 0, to; from < p->steps; from = to) {
        for (to = from + 1; to < p->steps && !p->step[to].sync_before;) to++;
        run_concurrently(m, from, to);
    }
}

void executor_run(executor *m, program *p, const mode *mode)
{
    executor_begin(m, p, mode);
    run_all(m);
    executor_observe_end(m);
    executor_end(m);
}

void executor_free(executor *m)
{
    for (int k = 0; k < MOST_LENT; k++) free(m->borrowed[k].memory);
    free(m->notes);
    memset(m, 0, sizeof *m);
}
