/* SPDX-License-Identifier: Apache-2.0 */
/* Plan checker: sequence of checks, and messages; see plan_check.h. */
#include "plan_check.h"
#include "plan_check_memory.h"
#include "plan_check_order.h"
#include "plan_check_pieces.h"
#include "plan_check_program.h"
#include "engine/plan/prologue.h"
#include "plan_check_reads.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Atomic int64_t every = 1, turn;

void wk__plan_check_every(int64_t groups)
{
    atomic_store(&every, groups);
}

bool wk__plan_check_is_due(void)
{
    const int64_t groups = atomic_load_explicit(&every, memory_order_relaxed);
    return groups == 1 || atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % groups == 0;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

wk__plan_check_label wk__plan_check_name(const wk__record *r)
{
    wk__plan_check_label words;
    const char *file = r->site.file ? r->site.file : "?", *slash = strrchr(file, '/');
    snprintf(words.text, sizeof words.text, "%s%s at %.50s:%d", r->name, wk__in_place_suffix(r->name, r->in_place),
             slash ? slash + 1 : file, (int)r->site.line);
    return words;
}

wk__plan_check_label wk__plan_check_maker(const wk__plan_check_state *c, int value)
{
    if (c->value[value].maker) return wk__plan_check_name(c->value[value].maker);
    return (wk__plan_check_label){"an earlier call"};
}

bool wk__plan_check_fail(wk__plan_check_state *c, const char *rule, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    wk__fail_set(c->fail, WK_ERR_INTERNAL, "invalid plan (%s): %s%s", rule, text,
                 c->sampled ? " (found in a sample of its elements)" : "");
    return false;
}

/* ---- the group --------------------------------------------------------------------------------------------------- */

static int64_t visited_places(const wk__plan_check_state *c, int64_t most)
{
    int64_t places = 1;
    for (int d = 0; d < c->ndim; d++) {
        const int64_t size = wk__plan_check_visited(c->shape[d] > 0 ? c->shape[d] : 1, most);
        if (__builtin_mul_overflow(places, size, &places)) return INT64_MAX;
    }
    return places;
}

/* Chooses the indices to visit: all, if the tables can hold the results; otherwise as many per dimension as fit. */
static void choose_places(wk__plan_check_state *c)
{
    const int64_t results = c->b->records > c->b->group.noperands ? c->b->records : c->b->group.noperands;
    c->most = INT64_MAX;
    const int64_t all = visited_places(c, c->most);
    if (all <= WK__PLAN_CHECK_PLACES && all * (results + 1) <= WK__PLAN_CHECK_RESULTS) return;
    c->sampled = true;
    int64_t limit = WK__PLAN_CHECK_RESULTS / (results + 1);
    if (limit > WK__PLAN_CHECK_SAMPLE) limit = WK__PLAN_CHECK_SAMPLE;
    for (c->most = limit; c->most > 2 && visited_places(c, c->most) > limit;) c->most -= c->most / 4 ? c->most / 4 : 1;
}

/* The first record's space is the group's. */
static void start_space(wk__plan_check_state *c)
{
    wk__record *first = c->b->record[0];
    c->ndim = first->ndim;
    memcpy(c->shape, wk__record_shape(first), sizeof *c->shape * (size_t)c->ndim);
    for (int k = 0; k < c->b->records; k++) c->reduce_mask |= c->b->record[k]->reduce_mask;
    c->nreduce = __builtin_popcount(c->reduce_mask);
    int place = 0;
    for (int reduced = 0; reduced < 2; reduced++)
        for (int d = 0; d < c->ndim; d++)
            if ((c->reduce_mask >> d & 1) == reduced) c->order[place++] = (uint8_t)d;
}

static bool check_space(wk__plan_check_state *c)
{
    const wk__program *g = &c->b->group;
    int64_t stride[WK__MAX_DIMS];
    for (int k = 0; k < c->b->records; k++)
        if (wk__plan_check_strides(c, c->b->record[k], 0, stride) < 0)
            return wk__plan_check_fail(c, "space", "%s covers neither the elements of the group of %s nor its rows",
                                       wk__plan_check_name(c->b->record[k]).text,
                                       wk__plan_check_name(c->b->record[0]).text);
    bool same = g->ndim == c->ndim && g->nreduce == c->nreduce;
    for (int d = 0; d < c->ndim && same; d++) same = g->shape[d] == c->shape[c->order[d]];
    return same || wk__plan_check_fail(c, "space", "the iteration space of the program differs from that of %s",
                                       wk__plan_check_name(c->b->record[0]).text);
}

/* Prepares the evaluation of the program. Complete checks use the program as the device receives it; sampled indices
 * need the records' dimensions, which must not be merged. */
static void start_program(wk__plan_check_state *c)
{
    c->group = c->b->group;
    if (!c->sampled) wk__program_coalesce(&c->group);
    wk__program_levels(&c->group, c->level, c->pass);
    c->passes = 1;
    for (int k = 0; k < c->group.nins; k++) {
        const int code = c->group.ins[k].code;
        const int walks = code >= WK__RSUM ? c->pass[k] : code == WK__STORE && c->level[k] ? c->pass[k] + 1 : 0;
        if (walks > c->passes) c->passes = walks;
    }
}

static bool check_all(wk__plan_check_state *c)
{
    if (!wk__plan_check_owners(c)) return false;
    if (c->b->records == 1 && c->product) return true;
    if (!check_space(c)) return false;
    start_program(c);
    if (!wk__plan_check_records(c)) return false;
    if (c->product) wk__plan_check_note_product(c);
    return wk__plan_check_program(c) && wk__plan_check_reads(c) && wk__plan_check_final_contents(c) &&
           (!c->product || wk__plan_check_pieces(c));
}

/* ---- other families ---------------------------------------------------------------------------------------------- */

static bool one_memory(const wk__value *a, const wk__value *b)
{
    return a->memory.block && a->memory.block == b->memory.block && a->memory.offset == b->memory.offset;
}

/* Such work reads operands while it writes: outputs must not be in the memory of operands other than the one that it
 * accumulates to. */
static wk_code check_alone(wk__record *r, wk__fail *fail)
{
    for (int i = 0; i < r->nin; i++) {
        const wk__value *in = wk__record_in(r, i)->value;
        if (!in) continue;
        if (in->state != WK__STORED || !in->memory.block)
            return wk__fail_set(fail, WK_ERR_INTERNAL, "invalid plan (operands): operand %d of %s is not in memory", i,
                                wk__plan_check_name(r).text);
        for (int o = 0; o < r->nout; o++)
            if (one_memory(r->ref[o].value, in))
                return wk__fail_set(fail, WK_ERR_INTERNAL, "invalid plan (order): %s overwrites its operand %d",
                                    wk__plan_check_name(r).text, i);
    }
    return WK_OK;
}

/* ---- prologues --------------------------------------------------------------------------------------------------- */

static int stored_operand(const wk__program *g)
{
    int o = 0;
    while (o < g->noperands && !g->operand[o].stored) o++;
    return o < g->noperands ? o : -1;
}

/* Returns true if the contraction receives the prologue for exactly one factor. */
static bool has_prologue_operand(const wk__lowering *b, const wk__work *work)
{
    int told = 0;
    for (int k = 0; k < WK__FACTORS && work->args; k++) {
        const bool factor = b->record[0]->ref[1 + k].value == wk__prologue_factor(b->prologue);
        if (work->args->prologue[k] != (factor ? &b->prologue->group : NULL)) return false;
        told += factor;
    }
    return told == 1 && stored_operand(&b->prologue->group) >= 0;
}

/* Checks the prologue like other programs. Its result has no memory, so it is given a fictitious buffer. */
static wk_code check_ahead(wk__lowering *b, const wk__work *work, wk__fail *fail)
{
    if (!has_prologue_operand(b, work))
        return wk__fail_set(fail, WK_ERR_INTERNAL, "invalid plan (operands): %s does not compute its factor",
                            wk__plan_check_name(b->record[0]).text);
    wk__lowering *ahead = b->prologue;
    wk__memory nowhere = {.block = &nowhere};
    wk__operand *stored = &ahead->group.operand[stored_operand(&ahead->group)];
    wk__memory *const before = stored->memory;
    stored->memory = &nowhere;
    const wk__work program = {.family = ahead->record[0]->family, .program = &ahead->group};
    const wk_code code = wk__plan_check(ahead, &program, fail);
    stored->memory = before;
    return code;
}

/* ---- entry point ------------------------------------------------------------------------------------------------- */

wk_code wk__plan_check(wk__lowering *b, const wk__work *work, wk__fail *fail)
{
    if (!wk__work_family_of(work)->is_program && !wk__work_family_of(work)->can_have_epilogue)
        return check_alone(b->record[0], fail);
    const wk_code code = b->prologue ? check_ahead(b, work, fail) : WK_OK;
    if (code != WK_OK) return code;
    wk__plan_check_state c;
    memset(&c, 0, offsetof(wk__plan_check_state, value));
    c.b = b;
    c.product = work->args ? work : NULL;
    c.fail = fail;
    c.space = wk__plan_check_workspace_acquire();
    if (!c.space) return WK_OK;
    c.results.slot = c.space->result_slot;
    c.stores.slot = c.space->store_slot;
    for (int k = 0; k < b->records; k++) c.reg[k] = b->record[k]->ref[0].value->reg;
    start_space(&c);
    choose_places(&c);
    const int64_t places = visited_places(&c, c.most);
    wk__plan_check_table_start(&c.results, places * b->records);
    wk__plan_check_table_start(&c.stores, places * b->group.noperands);
    const bool fine = !wk__plan_check_list(&c) || check_all(&c);
    wk__plan_check_workspace_release(c.space);
    return fine ? WK_OK : fail->code;
}
