/* Steps carried out; see machine.h. */
#include "machine.h"
#include "base/pool.h"
#include "crew.h"
#include "draw.h"
#include "engine/ring.h"
#include "ir/number.h"
#include "notes.h"
#include "parts.h"
#include "support_group_reference.h"
#include "tensor/tensor.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const wk_site here = {"program", 1};

/* What this thread may use: its own, and what was retained before it was handed over. */
static wk_tensor *tensor_of(const machine *m, int slot)
{
    const int thread = m->program->step[m->now].thread;
    const struct slot *x = &m->slot[slot];
    return x->thread == thread || x->retains ? x->tensor : NULL;
}

static wk_site site_of(const machine *m)
{
    return (wk_site){here.file, m->now + 1};
}

int machine_scope(const machine *m, int thread)
{
    int k = m->thread[thread].count - 1;
    while (k > 0 && !m->thread[thread].guard[k].scope) k--;
    return k;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void put(machine *m, const step *s, int k, wk_tensor *x, bool retained)
{
    m->faulty = m->faulty || (x && wk__value_state(wk__body_of(x)->storage->value) == WK__FAILED);
    const int scope = machine_scope(m, s->thread);
    if (k >= s->results) return;
    m->slot[s->out + k] = (slot){.tensor = x,
                                 .thread = s->thread,
                                 .scope = (int16_t)(retained ? -1 : scope),
                                 .retains = (uint8_t)(retained && x)};
}

/* Calls that give an argument back give no new tensor. */
static bool is_operand(const wk_value *args, const wk_tensor *x)
{
    for (int k = 0; k < MOST_ARGUMENTS; k++) {
        if (args[k].kind == WK_VALUE_TENSOR && args[k].tensor == x) return true;
        for (int j = 0; args[k].kind == WK_VALUE_TENSORS && j < args[k].count; j++)
            if (args[k].tensors[j] == x) return true;
    }
    return false;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

typedef struct call {
    wk_value value[16]; /* as many as an op's invoke looks at */
    wk_tensor *list[MOST_ARGUMENTS][MOST_LIST];
} call;

/* False when an operand is missing. */
static bool arguments_of(const machine *m, const step *s, call *c)
{
    memset(c->value, 0, sizeof c->value);
    for (int k = 0; k < s->arguments; k++) {
        const argument *a = &s->argument[k];
        wk_value *v = &c->value[k];
        v->kind = a->kind;
        v->count = a->count;
        if (a->kind == WK_VALUE_TENSOR) {
            v->count = 0;
            if (!(v->tensor = tensor_of(m, a->slot[0]))) return false;
        } else if (a->kind == WK_VALUE_TENSORS) {
            v->tensors = c->list[k];
            for (int j = 0; j < a->count; j++)
                if (!(c->list[k][j] = tensor_of(m, a->slot[j]))) return false;
        } else if (a->kind == WK_VALUE_INTS) {
            v->ints = a->ints;
        } else if (a->kind == WK_VALUE_TEXT) {
            v->text = a->text;
        } else if (a->kind == WK_VALUE_DEVICE) {
            v->device = wk_cpu();
        } else if (a->kind == WK_VALUE_FLOAT) {
            v->f = a->f;
        } else {
            v->i = a->i;
        }
    }
    return true;
}

static bool run_call(machine *m, const step *s)
{
    const row *r = &rows[s->op];
    call c;
    wk_tensor *out[64] = {0};
    if (!arguments_of(m, s, &c)) return false;
    if (r->draws) wk_seed_stream(s->seed, 0);
    m->given = row_call(r, site_of(m), c.value, out);
    for (int k = 0; k < m->given; k++) {
        if (is_operand(c.value, out[k])) out[k] = NULL;
        if (out[k] && !r->view && wk__body_overlaps(wk__body_of(out[k]))) notes_shared(m, s->out + k);
        put(m, s, k, out[k], false);
    }
    if (m->given < 0) m->code = wk_error_code() ? wk_error_code() : WK_ERR_INTERNAL;
    return true;
}

static bool run_in_place(machine *m, const step *s)
{
    call c;
    if (!arguments_of(m, s, &c)) return false;
    const wk_tensor *same = row_call_in_place(&rows[s->op], site_of(m), c.value);
    /* a result that is not the target is a failure that says nothing */
    if (same != c.value[0].tensor) m->code = wk_error_code() ? wk_error_code() : WK_ERR_INTERNAL;
    return true;
}

static bool run_function(machine *m, const step *s)
{
    call c;
    wk_tensor *in[2], *out[2] = {0};
    if (!arguments_of(m, s, &c)) return false;
    const wk_function_kind *kind = &part_functions[s->how];
    for (int k = 0; k < kind->inputs; k++) in[k] = c.value[k].tensor;
    m->code = wk_apply_n_at(site_of(m), kind, NULL, in, kind->inputs, out);
    for (int k = 0; k < kind->outputs; k++) put(m, s, k, out[k], false);
    m->given = kind->outputs;
    return true;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

double made_number(const step *s, int64_t k)
{
    const int64_t below = s->how & MAKE_INDEX ? s->argument[1].i : 0;
    return part_number(s->seed, k, s->dtype, below, s->how & MAKE_POSITIVE);
}

double nudge_direction(uint32_t seed, int slot, int64_t k)
{
    draw d = {seed ^ (uint64_t)slot << 32 ^ (uint64_t)k};
    return 2 * draw_fraction(&d) - 1;
}

/* Where the numbers of a leaf are moved to find out what its gradient must be. */
static double moved(const machine *m, const step *s, int64_t k)
{
    const double x = made_number(s, k);
    return m->nudge != 0 && m->nudged[s->out] ? x + m->nudge * nudge_direction(m->nudge_seed, s->out, k) : x;
}

static char *lend(machine *m, const step *s, size_t bytes)
{
    const size_t room = bytes + 2 * LENT_GUARD;
    if (m->lents == MOST_LENT) return NULL;
    if (m->lent[m->lents].room < room) {
        m->lent[m->lents].memory = realloc(m->lent[m->lents].memory, room);
        m->lent[m->lents].room = room;
    }
    m->lent[m->lents].bytes = bytes;
    m->lent[m->lents].slot = s->out;
    char *memory = m->lent[m->lents++].memory;
    memset(memory, 0xa5, room);
    return memory + LENT_GUARD;
}

static bool run_make(machine *m, const step *s)
{
    const argument *shape = &s->argument[0];
    const int64_t n = wk__numel(shape->count, shape->ints);
    const size_t bytes = (size_t)n * wk_dtype_size(s->dtype);
    const bool lent = s->how & MAKE_BORROWED && !m->mode->opencl;
    char few[1024], *memory = lent ? lend(m, s, bytes) : bytes > sizeof few ? malloc(bytes) : few;
    if (!memory) return false;
    for (int64_t k = 0; k < n; k++) group_reference_put(s->dtype, memory, k, moved(m, s, k));
    wk_tensor *x;
    if (lent)
        x = wk_borrow_at(site_of(m), s->dtype, memory, shape->ints, shape->count, NULL, NULL);
    else
        x = wk_from_at(site_of(m), s->dtype, memory, bytes, shape->ints, shape->count);
    if (s->how & MAKE_LEAF) wk_requires_grad__at(site_of(m), x, true);
    if (memory != few && !lent) free(memory);
    put(m, s, 0, x, false);
    m->slot[s->out].leaf = s->how & MAKE_LEAF;
    m->given = 1;
    return true;
}

/* ---- owners ------------------------------------------------------------------------------------------------------ */

static bool run_open(machine *m, const step *s)
{
    const int count = m->thread[s->thread].count;
    if (count == MOST_GUARDS) return false;
    m->thread[s->thread].guard[count].token =
        s->kind == STEP_SCOPE ? wk_scope_open(site_of(m)) : wk_no_grad_open(site_of(m));
    m->thread[s->thread].guard[count].number = s->guard;
    m->thread[s->thread].guard[count].scope = s->kind == STEP_SCOPE;
    m->thread[s->thread].count++;
    return true;
}

static void close_from(machine *m, int thread, int place)
{
    m->thread[thread].count = place;
    for (int k = 0; k < m->program->slots; k++) {
        slot *x = &m->slot[k];
        if (!x->tensor || x->thread != thread || x->scope < place) continue;
        x->scope = -1;
        if (!x->retains) x->tensor = NULL;
    }
    wk_guard_close(&m->thread[thread].guard[place].token);
}

static bool run_close(machine *m, const step *s)
{
    for (int k = m->thread[s->thread].count; k-- > 1;)
        if (m->thread[s->thread].guard[k].number == s->guard) {
            close_from(m, s->thread, k);
            return true;
        }
    return false;
}

static void keep(machine *m, const step *s, slot *x)
{
    int place = machine_scope(m, s->thread);
    if (x->scope != place || place == 0 || x->thread != s->thread) return;
    do place--;
    while (place > 0 && !m->thread[s->thread].guard[place].scope);
    x->scope = (int16_t)place;
}

static void let_go(slot *x)
{
    if (x->retains)
        x->retains--;
    else
        x->scope = -1;
    if (!x->retains && x->scope < 0) x->tensor = NULL;
}

static bool run_owner(machine *m, const step *s)
{
    slot *x = &m->slot[s->argument[0].slot[0]];
    if (!x->tensor) return false;
    wk_tensor *tensor = x->tensor;
    if (x->thread != s->thread && s->kind != STEP_RETAIN) return false;
    if (s->kind == STEP_KEEP) {
        wk_keep_at(site_of(m), tensor);
        keep(m, s, x);
    } else if (s->kind == STEP_CARRY) {
        slot *next = &m->slot[s->argument[1].slot[0]];
        if (!next->tensor || next == x || next->thread != s->thread) return false;
        wk_carry_at(site_of(m), &tensor, next->tensor);
        keep(m, s, next);
        let_go(x);
    } else if (s->kind == STEP_RETAIN) {
        if (wk_retain_at(site_of(m), tensor)) x->retains++;
    } else {
        wk_free_at(site_of(m), tensor);
        let_go(x);
    }
    return true;
}

/* ---- reading and writing by the host ----------------------------------------------------------------------------- */

static bool run_host(machine *m, const step *s)
{
    wk_tensor *x = s->arguments ? tensor_of(m, s->argument[0].slot[0]) : NULL;
    if (s->arguments && !x) return false;
    if (s->kind == STEP_READ) {
        notes_read(m, NOTE_READ, s->argument[0].slot[0], x);
    } else if (s->kind == STEP_SYNC) {
        m->code = wk_sync_at(site_of(m));
    } else if (s->kind == STEP_FLUSH) {
        m->code = wk_flush();
    } else {
        char *address = wk_data_at(site_of(m), x);
        if (!address && wk_numel_at(site_of(m), x)) m->code = wk_error_code();
        if (s->kind == STEP_POKE && address && wk_numel_at(site_of(m), x))
            group_reference_put(wk_dtype_of_at(site_of(m), x), address, 0, s->argument[1].f);
    }
    return true;
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

static wk_tensor *notes(wk_tensor *grad, void *machine)
{
    notes_read(machine, NOTE_HOOK, -1, grad);
    return NULL;
}

static wk_hook *const hooks[HOOKS] = {part_looks, part_scales, notes, notes};

static bool run_gradient(machine *m, const step *s)
{
    call c;
    if (!arguments_of(m, s, &c)) return false;
    wk_tensor *x = c.value[0].tensor, *grad = NULL;
    if (s->kind == STEP_BACKWARD) {
        if (m->forward_only) return false;
        wk_backward_options options = {.size = sizeof options,
                                       .gradient = s->arguments > 1 ? c.value[1].tensor : NULL,
                                       .retain_graph = s->how & GRAPH_RETAIN,
                                       .create_graph = (s->how & GRAPH_CREATE) != 0};
        m->code = wk_backward_at(site_of(m), x, &options);
    } else if (s->kind == STEP_DIFFERENTIATE) {
        wk_grad_options options = {.size = sizeof options,
                                   .retain_graph = s->how & GRAPH_RETAIN,
                                   .create_graph = (s->how & GRAPH_CREATE) != 0,
                                   .allow_unused = true};
        m->code = wk_grad_at(site_of(m), &x, 1, &c.value[1].tensor, 1, &grad, &options);
        put(m, s, 0, grad, false);
    } else if (s->kind == STEP_GRAD_OF) {
        grad = wk_grad_of_at(site_of(m), x);
        put(m, s, 0, grad ? wk_retain_at(site_of(m), grad) : NULL, true);
    } else if (s->kind == STEP_HOOK) {
        wk_hook_options options = {.size = sizeof options, .after = s->how == HOOK_AFTER};
        m->code = wk_register_hook_at(site_of(m), x, hooks[s->how], m, &options);
    } else if (s->kind == STEP_DETACH) {
        put(m, s, 0, wk_detach_at(site_of(m), x), false);
    } else {
        if (wk_requires_grad__at(site_of(m), x, s->argument[1].i))
            m->slot[s->argument[0].slot[0]].leaf = s->argument[1].i;
        else
            m->code = wk_error_code();
    }
    m->given = s->results;
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void run_step(void *user)
{
    machine *m = user;
    const step *s = &m->program->step[m->now];
    bool done = false;
    wk_clear_error();
    switch ((step_kind)s->kind) {
    case STEP_MAKE: done = run_make(m, s); break;
    case STEP_CALL: done = run_call(m, s); break;
    case STEP_IN_PLACE: done = run_in_place(m, s); break;
    case STEP_SCOPE:
    case STEP_NO_GRAD: done = run_open(m, s); break;
    case STEP_END: done = run_close(m, s); break;
    case STEP_KEEP:
    case STEP_CARRY:
    case STEP_RETAIN:
    case STEP_FREE: done = run_owner(m, s); break;
    case STEP_READ:
    case STEP_SYNC:
    case STEP_FLUSH:
    case STEP_PIN:
    case STEP_POKE: done = run_host(m, s); break;
    case STEP_FUNCTION: done = run_function(m, s); break;
    default: done = run_gradient(m, s); break;
    }
    if (m->code != WK_OK && m->code != WK_ERR_INTERNAL) m->code = wk_error_code() ? wk_error_code() : m->code;
    if (m->code != WK_OK) notes_failed(m);
    wk_clear_error();
    m->done = done;
}

bool machine_step(machine *m, int k)
{
    m->now = k;
    m->code = WK_OK;
    m->given = 0;
    m->done = false;
    if (!m->program->step[k].gone) crew_run(m->program->step[k].thread, run_step, m);
    return m->done;
}

static void open_all(void *user)
{
    machine *m = user;
    m->thread[m->here].count = 1;
    m->thread[m->here].guard[0].token = wk_scope_open(here);
    m->thread[m->here].guard[0].number = -1;
    m->thread[m->here].guard[0].scope = true;
    if (m->mode->opencl) wk_device_guard_open(here, wk_opencl_at(here, 0)); /* goes with the scope */
}

void machine_begin(machine *m, program *p, const mode *mode)
{
    m->program = p;
    m->mode = mode;
    m->used = 0;
    m->lents = 0;
    m->now = -1;
    m->faulty = false;
    memset(m->slot, 0, sizeof m->slot);
    wk__modes_set(mode->sync, mode->nofuse);
    if (wk__threads() != mode->threads) wk_set_threads_at(here, mode->threads);
    wk__shuffle_groups(mode->order);
    for (m->here = 0; m->here < p->threads; m->here++) crew_run(m->here, open_all, m);
}

/* Each thread looks at its own. */
static void look_at(void *user)
{
    machine *m = user;
    const slot *x = &m->slot[m->here];
    notes_read(m, NOTE_LEFT, m->here, x->tensor);
    wk_tensor *grad = x->leaf ? wk_grad_of_at(here, x->tensor) : NULL;
    if (grad) notes_read(m, NOTE_GRADIENT, m->here, grad);
}

void machine_look(machine *m)
{
    m->now = -1;
    int order[MOST_SLOTS];
    program_order(m->program, order);
    for (int k = 0; k < m->program->slots; k++) {
        m->here = order[k];
        if (m->slot[m->here].tensor) crew_run(m->slot[m->here].thread, look_at, m);
    }
}

static void close_all(void *user)
{
    machine *m = user;
    close_from(m, m->here, 0);
    wk_sync_at(here);
    wk_clear_error();
}

void machine_end(machine *m)
{
    for (m->here = 0; m->here < m->program->threads; m->here++) crew_run(m->here, close_all, m);
    for (int k = 0; k < m->program->slots; k++)
        for (slot *x = &m->slot[k]; x->tensor && x->retains; x->retains--) wk_free_at(here, x->tensor);
    wk_sync_at(here);
    wk_clear_error();
    notes_guards(m);
}

void machine_run(machine *m, program *p, const mode *mode)
{
    machine_begin(m, p, mode);
    for (int k = 0; k < p->steps; k++) machine_step(m, k);
    machine_look(m);
    machine_end(m);
}

void machine_free(machine *m)
{
    for (int k = 0; k < MOST_LENT; k++) free(m->lent[k].memory);
    free(m->notes);
    memset(m, 0, sizeof *m);
}
