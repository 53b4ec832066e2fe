/* SPDX-License-Identifier: Apache-2.0 */
/* Reconstructs the decisions of output_memory.c from the values' memory: a value without memory gave it to an output;
 * an output that overwrites a part of a value that still has memory was initialized by a copy. */
#include "plan_check_memory.h"
#include "engine/plan/prologue.h"

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void list(wk__plan_check_state *c, wk__value *value, wk__record *maker)
{
    int v = value ? wk__plan_check_find(c, value) : 0;
    if (!value || (v < 0 && c->values == WK__PLAN_CHECK_VALUES)) return;
    if (v < 0) c->value[v = c->values++] = (wk__plan_check_value){.value = value, .prior = -1, .area = -1};
    if (maker) c->value[v].maker = maker;
}

/* Returns the memory that a value had when the group starts, or gets: its own, that of the operand through which it is
 * read, or that of the value which took it over. */
static const wk__memory *memory_of(const wk__plan_check_state *c, const wk__value *value)
{
    for (int hop = 0; value && hop <= c->b->records; hop++) {
        if (value->memory.block) return &value->memory;
        for (int o = 0; o < c->b->group.noperands; o++)
            if (c->b->value[o] == value && c->b->group.operand[o].memory && c->b->group.operand[o].memory->block)
                return c->b->group.operand[o].memory;
        const wk__value *next = NULL;
        for (int k = 0; k < c->b->records && !next; k++)
            if (c->b->record[k]->prior == value) next = c->b->record[k]->ref[0].value;
        value = next;
    }
    return NULL;
}

static int area_of(wk__plan_check_state *c, const wk__memory *memory)
{
    for (int a = 0; a < c->areas; a++)
        if (c->area[a].memory->block == memory->block && c->area[a].memory->offset == memory->offset) return a;
    c->area[c->areas] = (wk__plan_check_buffer){.memory = memory, .before = -1, .copied = -1, .single_store = true};
    return c->areas++;
}

/* Assigns buffers to values. Values that are neither computed here nor taken over stay in their buffer. Two values may
 * share one; then they have the same contents. */
static void settle(wk__plan_check_state *c)
{
    for (int v = 0; v < c->values; v++) {
        const wk__memory *memory = memory_of(c, c->value[v].value);
        if (!memory) continue;
        const int area = c->value[v].area = area_of(c, memory);
        if (c->value[v].maker) continue;
        c->area[area].before = v;
        c->area[area].single_store = false;
    }
    for (int k = 0; k < c->b->records; k++) {
        const int out = wk__plan_check_find(c, c->b->record[k]->ref[0].value), prior = c->value[out].prior;
        if (prior < 0 || c->value[prior].maker || c->value[out].area < 0) continue;
        if (c->value[out].area == c->value[prior].area) continue;
        c->area[c->value[out].area].copied = prior;
        c->area[c->value[out].area].single_store = false;
    }
}

bool wk__plan_check_list(wk__plan_check_state *c)
{
    wk__lowering *b = c->b;
    for (int k = 0; k < b->records; k++) list(c, b->record[k]->ref[0].value, b->record[k]);
    for (int k = 0; k < b->records; k++) {
        list(c, b->record[k]->prior, NULL);
        for (int i = 0; i < b->record[k]->nin; i++) list(c, wk__record_in(b->record[k], i)->value, NULL);
    }
    for (int k = 0; b->prologue && k < b->prologue->records; k++)
        for (int i = 0; i < b->prologue->record[k]->nin; i++) {
            wk__value *in = wk__record_in(b->prologue->record[k], i)->value;
            if (in && in->state == WK__STORED) list(c, in, NULL);
        }
    if (c->values == WK__PLAN_CHECK_VALUES) return false;
    for (int v = 0; v < c->values; v++) {
        const wk__record *maker = c->value[v].maker;
        if (maker && maker->partial && maker->prior) c->value[v].prior = wk__plan_check_find(c, maker->prior);
    }
    settle(c);
    int writers[WK__PLAN_CHECK_VALUES] = {0};
    for (int o = 0; o < b->group.noperands; o++) {
        c->operand[o] = wk__plan_check_find(c, b->value[o]);
        const int area = c->operand[o] < 0 ? -1 : c->value[c->operand[o]].area;
        if (area < 0) continue;
        if (!b->group.operand[o].stored || writers[area]++) c->area[area].single_store = false;
    }
    if (c->product) {
        const int area = c->value[wk__plan_check_find(c, b->record[0]->ref[0].value)].area;
        if (area >= 0) c->area[area].single_store = false;
    }
    return true;
}

/* ---- ownership --------------------------------------------------------------------------------------------------- */

bool wk__plan_check_survives(const wk__plan_check_state *c, int value)
{
    const wk__plan_check_value *v = &c->value[value];
    return v->value->memory.block && (!v->maker || wk__will_be_stored(v->value));
}

/* Counts the references that the group's records will drop. */
static int uses_of(const wk__plan_check_state *c, const wk__value *value, const wk__record **user)
{
    int uses = 0;
    for (int k = 0; k < c->b->records; k++) {
        wk__record *r = c->b->record[k];
        int here = r->prior == value;
        for (int i = 0; i < r->nout + r->nin; i++) here += r->ref[i].value == value;
        if (here) *user = r;
        uses += here;
    }
    return uses;
}

/* Returns a record that will read the value later: its own result stays in a register but is owned, so it will be
 * computed again from its operands. */
static const wk__record *reader_to_come(const wk__plan_check_state *c, const wk__value *value)
{
    for (int k = 0; k < c->b->records; k++) {
        wk__record *r = c->b->record[k];
        const wk__value *out = r->ref[0].value;
        const bool held = out->read_by_deferred || wk__refcount_get(&out->refs) > out->ring_refs;
        if (wk__will_be_stored(out) || !held) continue;
        for (int i = 0; i < r->nin; i++)
            if (wk__record_in(r, i)->value == value) return r;
    }
    return NULL;
}

static bool check_gone(wk__plan_check_state *c, int v)
{
    const wk__value *value = c->value[v].value;
    const wk__record *user = c->b->record[0];
    const int refs = wk__refcount_get(&value->refs);
    const int uses = uses_of(c, value, &user);
    if (refs > uses)
        return wk__plan_check_fail(
            c, "owners",
            "the memory of the result of %s is reused for an output of %s, but %d more references may read it later",
            wk__plan_check_maker(c, v).text, wk__plan_check_name(user).text, refs - uses);
    const wk__record *later = reader_to_come(c, value);
    return !later || wk__plan_check_fail(
                         c, "owners", "the memory of the result of %s is reused for an output, but %s reads it later",
                         wk__plan_check_maker(c, v).text, wk__plan_check_name(later).text);
}

/* Operand i of record k is in memory, or is computed earlier in the group. */
static bool check_there(wk__plan_check_state *c, int k, int i)
{
    const wk__value *value = wk__record_in(c->b->record[k], i)->value;
    const int v = value ? wk__plan_check_find(c, value) : -1;
    if (v < 0 || (c->b->prologue && value == wk__prologue_factor(c->b->prologue))) return true;
    const wk__plan_check_value *in = &c->value[v];
    if (!in->maker && value->state != WK__STORED)
        return wk__plan_check_fail(c, "operands", "operand %d of %s has not been computed", i,
                                   wk__plan_check_name(c->b->record[k]).text);
    if (!in->maker && in->area < 0)
        return wk__plan_check_fail(c, "operands", "the memory of operand %d of %s was already reused", i,
                                   wk__plan_check_name(c->b->record[k]).text);
    for (int later = k; in->maker && later < c->b->records; later++)
        if (c->b->record[later] == in->maker)
            return wk__plan_check_fail(c, "operands", "operand %d of %s is computed after it", i,
                                       wk__plan_check_name(c->b->record[k]).text);
    return true;
}

/* A stored output has memory. A partial write of a value that this group computes must be in that value's memory,
 * because no copy could have been made before. */
static bool check_target(wk__plan_check_state *c, wk__record *r)
{
    if (!wk__will_be_stored(r->ref[0].value)) return true;
    const int out = wk__plan_check_find(c, r->ref[0].value), prior = c->value[out].prior;
    if (c->value[out].area < 0)
        return wk__plan_check_fail(c, "owners", "the result of %s has no memory", wk__plan_check_name(r).text);
    return prior < 0 || !c->value[prior].maker || c->value[prior].area == c->value[out].area ||
           wk__plan_check_fail(c, "owners", "%s writes a part of the result of %s, but into other memory",
                               wk__plan_check_name(r).text, wk__plan_check_maker(c, prior).text);
}

bool wk__plan_check_owners(wk__plan_check_state *c)
{
    for (int k = 0; k < c->b->records; k++)
        if (!check_target(c, c->b->record[k])) return false;
    for (int k = 0; k < c->b->records; k++)
        for (int i = 0; i < c->b->record[k]->nin; i++)
            if (!check_there(c, k, i)) return false;
    for (int v = 0; v < c->values; v++) {
        const wk__value *value = c->value[v].value;
        const bool had = c->value[v].maker ? wk__will_be_stored(value) : value->state == WK__STORED;
        if (had && !value->memory.block && c->value[v].area >= 0 && !check_gone(c, v)) return false;
    }
    return true;
}
