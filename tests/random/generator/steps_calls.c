/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that create tensors: calls, custom functions, new tensors; see steps.h. */
#include "steps.h"
#include "rng.h"
#include "xalloc.h"
#include "trace.h"
#include "program_lib.h"
#include "support/group/group_reference.h"
#include "tensor/tensor.h"
#include <stdlib.h>
#include <string.h>

/* A thread may use its own tensors, and those that were retained before they were handed over. */
wk_tensor *steps_tensor(const executor *m, int slot)
{
    const int thread = m->program->step[m->now].thread;
    const struct slot *x = &m->slot[slot];
    return x->thread == thread || x->retains ? x->tensor : NULL;
}

wk_site steps_site(const executor *m)
{
    return (wk_site){"program", m->now + 1};
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static bool is_on_second(const executor *m, const step *s)
{
    if (s->card != CARD_OF_OPERANDS) return s->card == CARD_SECOND;
    return s->arguments && s->argument[0].kind == WK_VALUE_TENSOR && m->slot[s->argument[0].slot[0]].second;
}

void steps_put(executor *m, const step *s, int k, wk_tensor *x, bool retained)
{
    m->has_failed_value = m->has_failed_value || (x && wk__body_of(x)->storage->value->state == WK__FAILED);
    const int scope = machine_scope(m, s->thread);
    if (k >= s->results) return;
    slot *to = &m->slot[s->out + k];
    if (to->thread != s->thread) to->thread = s->thread;
    to->scope = (int16_t)(retained ? -1 : scope);
    to->retains = (uint8_t)(retained && x);
    to->leaf = false;
    to->second = is_on_second(m, s);
    to->tensor = x;
    m->empty[s->out + k] = x && wk__body_numel(wk__body_of(x)) == 0;
}

/* Calls that return an argument create no tensor. */
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

bool steps_arguments(const executor *m, const step *s, call *c)
{
    memset(c->value, 0, sizeof c->value);
    for (int k = 0; k < s->arguments; k++) {
        const argument *a = &s->argument[k];
        wk_value *v = &c->value[k];
        v->kind = a->kind;
        v->count = a->count;
        if (a->kind == WK_VALUE_TENSOR) {
            v->count = 0;
            if (!(v->tensor = steps_tensor(m, a->slot[0]))) return false;
        } else if (a->kind == WK_VALUE_TENSORS) {
            v->tensors = c->list[k];
            for (int j = 0; j < a->count; j++)
                if (!(c->list[k][j] = steps_tensor(m, a->slot[j]))) return false;
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

/* A clone on another card than its source. */
static bool goes_elsewhere(const executor *m, const step *s, const call *c)
{
    if (s->card == CARD_OF_OPERANDS || !m->mode->gpu) return false;
    return wk_device_of_at(steps_site(m), c->value[0].tensor).index != executor_device(m, s).index;
}

bool steps_call(executor *m, const step *s)
{
    const op_entry *r = &op_entries[s->op];
    call c;
    enum { ROOM = 64 };
    wk_tensor *out[ROOM] = {0};
    if (!steps_arguments(m, s, &c)) return false;
    if (r->draws) wk_seed_stream(s->seed, 0);
    if (goes_elsewhere(m, s, &c))
        m->given = (out[0] = wk_to_at(steps_site(m), c.value[0].tensor, executor_device(m, s))) != NULL ? 1 : -1;
    else
        m->given = op_entry_call(r, steps_site(m), c.value, out, ROOM);
    for (int k = 0; k < m->given; k++) {
        if (is_operand(c.value, out[k])) out[k] = NULL;
        if (out[k] && !r->op->view && wk__body_overlaps(wk__body_of(out[k]))) notes_shared(m, s->out + k);
        steps_put(m, s, k, out[k], false);
    }
    if (m->given < 0) m->code = wk_error_code() ? wk_error_code() : WK_ERR_INTERNAL;
    return true;
}

bool steps_in_place(executor *m, const step *s)
{
    call c;
    if (!steps_arguments(m, s, &c)) return false;
    const wk_tensor *same = op_entry_call_in_place(&op_entries[s->op], steps_site(m), c.value);
    /* an in-place result other than the target is a failure without a reason */
    if (same != c.value[0].tensor) m->code = wk_error_code() ? wk_error_code() : WK_ERR_INTERNAL;
    return true;
}

bool steps_function(executor *m, const step *s)
{
    call c;
    wk_tensor *in[2], *out[2] = {0};
    if (!steps_arguments(m, s, &c)) return false;
    const wk_function_kind *kind = &part_functions[s->how];
    for (int k = 0; k < kind->inputs; k++) in[k] = c.value[k].tensor;
    m->code = wk_apply_n_at(steps_site(m), kind, part_context(s->how), in, kind->inputs, out);
    for (int k = 0; k < kind->outputs; k++) steps_put(m, s, k, is_operand(c.value, out[k]) ? NULL : out[k], false);
    m->given = kind->outputs;
    return true;
}

int steps_contexts(void)
{
    return part_contexts;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

double made_number(const step *s, int64_t k)
{
    const int64_t below = s->how & MAKE_INDEX ? s->argument[1].i : 0;
    return part_number(s->seed, k, s->dtype, below, s->how & MAKE_POSITIVE);
}

double perturb_direction(uint32_t seed, int slot, int64_t k)
{
    rng d = {seed ^ (uint64_t)slot << 32 ^ (uint64_t)k};
    return 2 * rng_unit(&d) - 1;
}

/* Returns the element of a leaf, moved for central differences. */
static double moved(const executor *m, const step *s, int64_t k)
{
    const double x = made_number(s, k);
    return m->epsilon != 0 && m->nudged[s->out] ? x + m->epsilon * perturb_direction(m->nudge_seed, s->out, k) : x;
}

static char *lend(executor *m, const step *s, size_t bytes)
{
    const size_t room = bytes + 2 * LENT_GUARD;
    if (m->lents == MOST_LENT) return NULL;
    if (m->borrowed[m->lents].room < room) {
        m->borrowed[m->lents].memory = xrealloc(m->borrowed[m->lents].memory, room);
        m->borrowed[m->lents].room = room;
    }
    m->borrowed[m->lents].bytes = bytes;
    m->borrowed[m->lents].slot = s->out;
    char *memory = m->borrowed[m->lents++].memory;
    memset(memory, 0xa5, room);
    return memory + LENT_GUARD;
}

static wk_tensor *made_on_card(const executor *m, const step *s, const char *memory, size_t bytes)
{
    const argument *shape = &s->argument[0];
    wk_guard guard = {0};
    if (m->mode->gpu && s->card == CARD_SECOND) guard = wk_device_guard_open(steps_site(m), executor_device(m, s));
    wk_tensor *x = wk_from_at(steps_site(m), s->dtype, memory, bytes, shape->ints, shape->count);
    wk_guard_close(&guard);
    return x;
}

bool steps_make(executor *m, const step *s)
{
    const argument *shape = &s->argument[0];
    const int64_t n = wk__numel(shape->count, shape->ints);
    const size_t bytes = (size_t)n * wk_dtype_size(s->dtype);
    const bool lent = s->how & MAKE_BORROWED && !m->mode->gpu;
    _Alignas(8) char few[1024];
    char *memory = lent ? lend(m, s, bytes) : bytes > sizeof few ? xcalloc(bytes, 1) : few;
    if (!memory) return false;
    for (int64_t k = 0; k < n; k++) group_reference_put(s->dtype, memory, k, moved(m, s, k));
    wk_tensor *x;
    if (lent)
        x = wk_borrow_at(steps_site(m), s->dtype, memory, shape->ints, shape->count, NULL, NULL);
    else
        x = made_on_card(m, s, memory, bytes);
    if (s->how & MAKE_LEAF) wk_requires_grad__at(steps_site(m), x, true);
    if (memory != few && !lent) free(memory);
    steps_put(m, s, 0, x, false);
    m->slot[s->out].leaf = s->how & MAKE_LEAF;
    m->given = 1;
    return true;
}
