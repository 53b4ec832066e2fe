/* SPDX-License-Identifier: Apache-2.0 */
/* Order of reads and writes of each element. A backend runs a group according to one of two schedules, and a plan must
 * be correct for both (docs/contributing/plan-checker.md):
 *
 *     stage        0    1        2    3        ...   2 passes - 1   2 passes
 *     eager        row  columns  row  columns  ...   columns        row           each instruction in its own pass
 *     late         row  columns  row  columns  ...   columns        row           element STOREs in the last pass over
 *                                                                                 the columns, row STOREs after it; a
 *                                                                                 row's LOAD maybe again in each pass
 *
 * Rows, and the columns within a stage, run in any order or in parallel. A LOAD may run at its position in the program
 * or wherever its register is used. Without reduced dimensions the entire space is one stage, and elements run in any
 * order. */
#include "plan_check_order.h"
#include "plan_check_memory.h"
#include <string.h>

bool wk__plan_check_happens_before(const wk__plan_check_state *c, const wk__plan_check_interval *a,
                                   const wk__plan_check_interval *b)
{
    if (c->nreduce == 0 || a->row != b->row) {
        const bool product = a->from < 0 && c->nreduce > 0; /* C is complete before the epilogue begins */
        return product || (a->row == b->row && a->column == b->column && a->until <= b->from);
    }
    for (int way = 0; way < WK__PLAN_CHECK_SCHEDULES; way++) {
        if (a->last[way] > b->first[way]) return false;
        if (a->last[way] < b->first[way]) continue;
        const bool columns = a->last[way] % 2 != 0;
        if ((columns && (a->column != b->column || a->column < 0)) || a->until > b->from) return false;
    }
    return true;
}

/* ---- stores ------------------------------------------------------------------------------------------------------ */

wk__plan_check_interval wk__plan_check_interval_of(const wk__plan_check_state *c, const wk__plan_check_store *s)
{
    wk__plan_check_interval m = {.row = s->row, .column = s->column, .from = s->k, .until = s->k};
    if (s->k < 0) {
        for (int way = 0; way < WK__PLAN_CHECK_SCHEDULES; way++) m.first[way] = m.last[way] = -1;
        return m;
    }
    const int element = c->level[s->k];
    m.first[WK__PLAN_CHECK_EAGER] = m.last[WK__PLAN_CHECK_EAGER] = 2 * c->pass[s->k] + element;
    m.first[WK__PLAN_CHECK_LATE] = m.last[WK__PLAN_CHECK_LATE] = element ? 2 * c->passes - 1 : 2 * c->passes;
    return m;
}

static void note(wk__plan_check_state *c, int area, const wk__plan_check_store *store)
{
    uint64_t *last = wk__plan_check_table_find(&c->stores, area, store->place, true);
    /* can't happen: the number of visited elements is limited by the capacity */
    if (!last || c->stored == WK__PLAN_CHECK_STORES) return;
    wk__plan_check_store *s = &c->space->store[c->stored++];
    *s = *store;
    s->area = (int16_t)area;
    s->next = (int32_t)*last;
    *last = (uint64_t)c->stored;
}

void wk__plan_check_note_stores(wk__plan_check_state *c, const wk__plan_check_eval *walk, int k, int64_t row)
{
    const wk__ins *ins = &c->group.ins[k];
    const int area = c->value[c->operand[ins->arg[0]]].area;
    const bool once = !c->level[k];
    if (c->area[area].single_store) return;
    for (int64_t column = once ? -1 : 0; column < (once ? 0 : walk->columns); column++) {
        const wk__plan_check_store store = {.place = wk__plan_check_place(c, walk, ins->arg[0], row, column),
                                            .token = wk__plan_check_register(c, walk, ins->arg[1], once ? 0 : column),
                                            .row = (int32_t)row,
                                            .column = (int32_t)column,
                                            .k = (int16_t)k};
        note(c, area, &store);
    }
}

/* In an epilogue without reductions, an element is the element of C with the same index; otherwise all of C is complete
 * before it. */
void wk__plan_check_note_product(wk__plan_check_state *c)
{
    wk__record *r = c->b->record[0];
    const int value = wk__plan_check_find(c, r->ref[0].value), area = c->value[value].area;
    const int64_t *shape = wk__record_shape(r);
    const int64_t count =
        wk__plan_check_offsets(c->space->output_offset[1], 0, r->ndim, shape, c->most, wk__record_stride(r, 0));
    for (int64_t k = 0; k < count; k++) {
        const int64_t place = r->ref[0].offset + c->space->output_offset[1][k];
        const wk__plan_check_store store = {
            .place = place, .token = wk__plan_check_content(c, value, place), .column = (int32_t)k, .k = -1};
        note(c, area, &store);
    }
}

const wk__record *wk__plan_check_writer_of(const wk__plan_check_state *c, const wk__plan_check_store *s)
{
    return s->k < 0 ? c->b->record[0] : c->b->writer[c->group.ins[s->k].arg[0]];
}

/* ---- final contents ---------------------------------------------------------------------------------------------- */

/* Returns the store that certainly comes last; NULL if two unordered stores write different values. */
static const wk__plan_check_store *last_store(const wk__plan_check_state *c, int32_t head)
{
    const wk__plan_check_store *last = &c->space->store[head - 1];
    for (int32_t at = last->next; at > 0; at = c->space->store[at - 1].next) {
        const wk__plan_check_store *s = &c->space->store[at - 1];
        const wk__plan_check_interval a = wk__plan_check_interval_of(c, last), b = wk__plan_check_interval_of(c, s);
        if (wk__plan_check_happens_before(c, &b, &a)) continue;
        if (!wk__plan_check_happens_before(c, &a, &b) && s->token != last->token) return NULL;
        last = s;
    }
    return last;
}

/* Returns the record of a store to the element other than the record that computes the value. */
static const wk__record *rival_of(const wk__plan_check_state *c, int32_t head, int value)
{
    const wk__record *rival = wk__plan_check_writer_of(c, &c->space->store[head - 1]);
    for (int32_t at = head; at > 0 && rival == c->value[value].maker; at = c->space->store[at - 1].next)
        rival = wk__plan_check_writer_of(c, &c->space->store[at - 1]);
    return rival;
}

static bool check_element(wk__plan_check_state *c, int area, int64_t place)
{
    const int32_t head = (int32_t)*wk__plan_check_table_find(&c->stores, area, place, false);
    const wk__plan_check_store *last = last_store(c, head);
    for (int v = 0; v < c->values; v++) {
        if (c->value[v].area != area || !wk__plan_check_survives(c, v)) continue;
        const wk__plan_check_value_number wanted = wk__plan_check_content(c, v, place);
        if (wanted == WK__PLAN_CHECK_UNKNOWN) continue;
        if (!last)
            return wk__plan_check_fail(
                c, "last", "element %lld of the result of %s is also written by %s, in undefined order",
                (long long)place, wk__plan_check_maker(c, v).text, wk__plan_check_name(rival_of(c, head, v)).text);
        if (last->token != wanted && last->token != WK__PLAN_CHECK_UNKNOWN)
            return wk__plan_check_fail(c, "last",
                                       "%s overwrites element %lld of the result of %s, which is still needed",
                                       wk__plan_check_name(wk__plan_check_writer_of(c, last)).text, (long long)place,
                                       wk__plan_check_maker(c, v).text);
    }
    return true;
}

bool wk__plan_check_final_contents(wk__plan_check_state *c)
{
    for (int64_t n = 0; n < c->stored; n++)
        if (!check_element(c, c->space->store[n].area, c->space->store[n].place)) return false;
    return true;
}
