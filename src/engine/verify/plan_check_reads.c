/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies reads of memory that the group also writes: each store must certainly happen before or certainly after. */
#include "plan_check_reads.h"
#include "plan_check_order.h"
#include <string.h>

/* Returns the first record, in program order, that reads operand o. */
static const wk__record *reader_of(const wk__plan_check_state *c, int operand)
{
    for (int k = 0; k < c->b->records; k++)
        for (int i = 0; i < c->b->record[k]->nin; i++)
            if (wk__record_in(c->b->record[k], i)->value == c->b->value[operand]) return c->b->record[k];
    return c->b->record[0];
}

static bool refuse_read(wk__plan_check_state *c, const wk__record *reader, int value, int64_t place,
                        const wk__plan_check_store *s)
{
    return wk__plan_check_fail(c, "order", "%s reads element %lld of the result of %s, but %s may overwrite it first",
                               wk__plan_check_name(reader).text, (long long)place, wk__plan_check_maker(c, value).text,
                               wk__plan_check_name(wk__plan_check_writer_of(c, s)).text);
}

/* Checks one read in this interval: each store to the element happens certainly before or certainly after it; and the
 * last store before it, or the initial contents, is the expected value. */
static bool check_read(wk__plan_check_state *c, const wk__record *reader, int value, int64_t place,
                       const wk__plan_check_interval *when)
{
    const int area = c->value[value].area;
    const wk__plan_check_value_number wanted = wk__plan_check_content(c, value, place);
    const uint64_t *last = wk__plan_check_table_find(&c->stores, area, place, false);
    if (wanted == WK__PLAN_CHECK_UNKNOWN) return true;
    const wk__plan_check_store *before = NULL;
    for (int32_t at = last ? (int32_t)*last : 0; at > 0; at = c->space->store[at - 1].next) {
        const wk__plan_check_store *s = &c->space->store[at - 1];
        const wk__plan_check_interval m = wk__plan_check_interval_of(c, s);
        if (wk__plan_check_happens_before(c, &m, when)) {
            const wk__plan_check_interval earlier = before ? wk__plan_check_interval_of(c, before) : m;
            if (!before || wk__plan_check_happens_before(c, &earlier, &m)) before = s;
        } else if (!wk__plan_check_happens_before(c, when, &m) && s->token != wanted) {
            return refuse_read(c, reader, value, place, s);
        }
    }
    if (before) return before->token == wanted || refuse_read(c, reader, value, place, before);
    return wk__plan_check_initial(c, area, place) == wanted ||
           wk__plan_check_fail(c, "memory", "%s reads element %lld of the result of %s from the wrong address",
                               wk__plan_check_name(reader).text, (long long)place, wk__plan_check_maker(c, value).text);
}

/* Computes the first and last pass in which an element's register may be computed, under schedule `way`. */
static void passes_of(const wk__plan_check_state *c, int k, int way, int *first, int *last)
{
    *first = *last = c->pass[k];
    for (int pass = 0; pass < c->passes; pass++) {
        bool needed[WK__MAX_INS] = {false};
        for (int i = c->group.nins; i-- > k;) {
            const wk__ins *ins = &c->group.ins[i];
            const bool store = ins->code == WK__STORE;
            if (store && c->level[i]) needed[i] = (way == WK__PLAN_CHECK_LATE ? c->passes - 1 : c->pass[i]) == pass;
            if (!store && ins->code >= WK__RSUM) needed[i] = c->pass[i] == pass + 1;
            if (!needed[i]) continue;
            for (int a = 0; a < wk__opcode_arity[ins->code]; a++) {
                const int in = ins->arg[a + store];
                needed[in] = needed[in] || c->level[in];
            }
        }
        if (needed[k] && pass > *last) *last = pass;
    }
}

static wk__plan_check_interval moment_of_load(const wk__plan_check_state *c, int k)
{
    wk__plan_check_interval m = {.row = 0, .from = k, .until = k};
    for (int i = k + 1; i < c->group.nins; i++) {
        const wk__ins *ins = &c->group.ins[i];
        const int16_t *registers = ins->code == WK__STORE ? ins->arg + 1 : ins->arg;
        for (int a = 0; a < wk__opcode_arity[ins->code]; a++)
            if (registers[a] == k) m.until = i;
    }
    for (int way = 0; way < WK__PLAN_CHECK_SCHEDULES && c->nreduce; way++) {
        int first = c->pass[k], last = first;
        if (c->level[k]) passes_of(c, k, way, &first, &last);
        m.first[way] = 2 * first + c->level[k];
        m.last[way] = 2 * last + c->level[k];
        if (!c->level[k] && way == WK__PLAN_CHECK_LATE) m.last[way] = 2 * c->passes - 1;
    }
    return m;
}

/* Returns the record that uses the value of LOAD k: the one that stores it unchanged, or the first that reads it. */
static const wk__record *loader_of(const wk__plan_check_state *c, int k, const wk__plan_check_interval *when)
{
    const wk__ins *user = &c->group.ins[when->until];
    return user->code == WK__STORE ? c->b->writer[user->arg[0]] : reader_of(c, c->group.ins[k].arg[0]);
}

static bool check_loads(wk__plan_check_state *c, const wk__plan_check_eval *walk, int k)
{
    const int operand = c->group.ins[k].arg[0], value = c->operand[operand];
    if (c->value[value].area < 0 || c->area[c->value[value].area].single_store) return true;
    wk__plan_check_interval when = moment_of_load(c, k);
    const bool once = c->nreduce && !c->level[k];
    for (int64_t row = 0; row < walk->rows; row++)
        for (int64_t column = once ? -1 : 0; column < (once ? 0 : walk->columns); column++) {
            when.row = (int32_t)row;
            when.column = (int32_t)column;
            if (!check_read(c, loader_of(c, k, &when), value, wk__plan_check_place(c, walk, operand, row, column),
                            &when))
                return false;
        }
    return true;
}

/* The addresses that a LOADX reads are unknown: nothing that it might read may change. */
static bool check_indexed(wk__plan_check_state *c, int k)
{
    const wk__ins *ins = &c->group.ins[k];
    const int value = c->operand[ins->arg[1]], area = c->value[value].area;
    for (int64_t n = 0; n < c->stored; n++) {
        const wk__plan_check_store *s = &c->space->store[n];
        if (s->area == area && s->token != wk__plan_check_content(c, value, s->place))
            return refuse_read(c, reader_of(c, ins->arg[1]), value, s->place, s);
    }
    return true;
}

/* Index ranges along which one element of C reads a factor: the summed indices, and affine coordinates, which may have
 * any value. */
typedef struct steps {
    int count;
    int64_t size[WK__MAX_SUMMED + WK__MAX_AFFINE], stride[WK__MAX_SUMMED + WK__MAX_AFFINE];
} steps;

static steps steps_of(const wk__contraction *sum, int factor)
{
    steps s = {.count = 0};
    for (int i = 0; i < sum->nsummed; i++, s.count++) {
        s.size[s.count] = sum->extent[i];
        s.stride[s.count] = sum->stride[factor][i];
    }
    for (int k = 0; k < sum->naffine[factor]; k++, s.count++) {
        s.size[s.count] = sum->affine[factor][k].extent;
        s.stride[s.count] = sum->affine[factor][k].stride;
    }
    return s;
}

/* Returns the offset of the n-th visited index combination relative to the element; false if there are no more. */
static bool place_of(const wk__plan_check_state *c, const steps *s, int64_t n, int64_t *place)
{
    *place = 0;
    for (int k = s->count - 1; k >= 0; k--) {
        const int64_t visited = wk__plan_check_visited(s->size[k], c->most);
        if (visited == 0) return false;
        *place += wk__plan_check_visited_place(s->size[k], c->most, n % visited) * s->stride[k];
        n /= visited;
    }
    return n == 0;
}

/* An element of a factor is read for several elements of C, of which only the stored one may have been computed by
 * then. So it may be overwritten only if it is read for that element only. `alone`: each element is read for one
 * element of C. */
static bool check_factor(wk__plan_check_state *c, int k, int64_t lines, bool alone, const int64_t *line)
{
    wk__record *r = c->b->record[0];
    const int value = wk__plan_check_find(c, r->ref[k].value), area = c->value[value].area;
    const steps inner = steps_of(wk__record_sum(r), k - 1);
    for (int64_t n = 0; n < lines && area >= 0 && !c->area[area].single_store; n++)
        for (int64_t l = 0, way; place_of(c, &inner, l, &way); l++) {
            const int64_t place = r->ref[k].offset + line[n] + way;
            const uint64_t *last = wk__plan_check_table_find(&c->stores, area, place, false);
            for (int32_t at = last ? (int32_t)*last : 0; at > 0; at = c->space->store[at - 1].next) {
                const wk__plan_check_store *s = &c->space->store[at - 1];
                const bool its_own = alone && s->column == n && s->k >= 0;
                if (!its_own && (c->nreduce == 0 || s->k < 0) && s->token != wk__plan_check_content(c, value, place))
                    return refuse_read(c, r, value, place, s);
            }
        }
    return true;
}

static bool check_product(wk__plan_check_state *c)
{
    wk__record *r = c->b->record[0];
    for (int k = 1; k <= WK__FACTORS; k++) {
        int64_t sizes[WK__MAX_DIMS];
        bool alone = wk__record_sum(r)->naffine[k - 1] == 0;
        for (int d = 0; d < r->ndim; d++) {
            const bool seen = wk__record_stride(r, k)[d] != 0;
            alone = alone && (seen || wk__record_shape(r)[d] == 1);
            sizes[d] = seen || wk__record_shape(r)[d] == 0 ? wk__record_shape(r)[d] : 1;
        }
        const int64_t lines =
            wk__plan_check_offsets(c->space->output_offset[0], 0, r->ndim, sizes, c->most, wk__record_stride(r, k));
        if (!check_factor(c, k, lines, alone, c->space->output_offset[0])) return false;
    }
    return true;
}

/* A prologue runs in parts during the contraction: nothing that it reads may be written. */
static bool check_prologue(wk__plan_check_state *c)
{
    for (int k = 0; c->b->prologue && k < c->b->prologue->records; k++) {
        const wk__record *r = c->b->prologue->record[k];
        for (int i = 0; i < r->nin; i++) {
            const wk__value *in = r->ref[r->nout + i].value;
            const int value = in ? wk__plan_check_find(c, in) : -1;
            for (int64_t n = 0; value >= 0 && n < c->stored; n++) {
                const wk__plan_check_store *s = &c->space->store[n];
                if (s->area == c->value[value].area && s->token != wk__plan_check_content(c, value, s->place))
                    return refuse_read(c, r, value, s->place, s);
            }
        }
    }
    return true;
}

bool wk__plan_check_reads(wk__plan_check_state *c)
{
    wk__plan_check_eval walk = {.group = &c->group, .level = c->level, .operand = c->operand};
    if (c->stored == 0) return true;
    wk__plan_check_eval_start(c, &walk);
    for (int k = 0; k < c->group.nins; k++) {
        if (c->group.ins[k].code == WK__LOAD && !check_loads(c, &walk, k)) return false;
        if (c->group.ins[k].code == WK__LOADX && !check_indexed(c, k)) return false;
    }
    return !c->product || (check_product(c) && check_prologue(c));
}
