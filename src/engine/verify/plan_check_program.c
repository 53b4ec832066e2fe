/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the group's program with its records: stored values must be those that the records compute alone, and have
 * the records' addresses. */
#include "plan_check_program.h"
#include "plan_check_order.h"

/* Returns the first record, in program order, whose register has a wrong value in this row: the cause of later
 * errors. */
static wk__record *first_wrong(wk__plan_check_state *c, const wk__plan_check_eval *walk, int64_t row, wk__record *last)
{
    const int kept = c->nreduce ? c->ndim - c->nreduce : 0;
    int64_t stride[WK__MAX_DIMS], shape[WK__MAX_DIMS];
    for (int d = 0; d < c->ndim; d++) shape[d] = c->shape[c->order[d]];
    for (int k = 0; k < c->b->records; k++) {
        wk__record *r = c->b->record[k];
        if (r == last || wk__plan_check_strides(c, r, 0, stride) < 0) continue;
        wk__plan_check_offsets(c->space->output_offset[0], 0, kept, shape, c->most, stride);
        wk__plan_check_offsets(c->space->output_offset[1], kept, c->ndim, shape, c->most, stride);
        const int value = wk__plan_check_find(c, r->ref[0].value);
        for (int64_t column = 0; column < walk->columns; column++) {
            const int64_t place =
                r->ref[0].offset + c->space->output_offset[0][row] + c->space->output_offset[1][column];
            const wk__plan_check_value_number wanted = wk__plan_check_content(c, value, place),
                                              there = wk__plan_check_register(c, walk, c->reg[k], column);
            if (wanted != WK__PLAN_CHECK_UNKNOWN && there != WK__PLAN_CHECK_UNKNOWN && wanted != there) return r;
        }
    }
    return last;
}

static bool refuse_value(wk__plan_check_state *c, const wk__plan_check_eval *walk, int64_t row, wk__record *r,
                         int64_t place)
{
    const wk__record *wrong = first_wrong(c, walk, row, r);
    const char *why = "an operand is read from a register that holds another element";
    if (wrong->op->uses_position) why = "its IOTA counts positions of the group instead of the call";
    return wk__plan_check_fail(c, "values", "element %lld of the result of %s is wrong because of %s: %s",
                               (long long)place, wk__plan_check_name(r).text, wk__plan_check_name(wrong).text, why);
}

/* Checks one STORE in the current row. The value of a row is stored once, for any number of columns. */
static bool check_store(wk__plan_check_state *c, const wk__plan_check_eval *walk, int k, int64_t row)
{
    const wk__ins *store = &c->group.ins[k];
    const int operand = store->arg[0];
    const bool once = !c->level[k];
    for (int64_t column = once ? -1 : 0; column < (once ? 0 : walk->columns); column++) {
        const int64_t place = wk__plan_check_place(c, walk, operand, row, column);
        const wk__plan_check_value_number wanted = wk__plan_check_content(c, c->operand[operand], place);
        const wk__plan_check_value_number there = wk__plan_check_register(c, walk, store->arg[1], once ? 0 : column);
        if (wanted == WK__PLAN_CHECK_UNKNOWN || there == WK__PLAN_CHECK_UNKNOWN || wanted == there) continue;
        wk__record *r = c->b->writer[operand];
        if (!wk__plan_check_table_find(&c->results, c->operand[operand], place, false))
            return wk__plan_check_fail(
                c, "places", "the kernel writes element %lld of the target of %s, which the call does not modify",
                (long long)place, wk__plan_check_name(r).text);
        return refuse_value(c, walk, row, r, place);
    }
    return true;
}

/* Checks that a result is stored if it should be, with the record's offset and strides. */
static bool check_way(wk__plan_check_state *c, wk__record *r)
{
    const wk__program *g = &c->b->group;
    int64_t stride[WK__MAX_DIMS];
    wk__plan_check_strides(c, r, 0, stride);
    if (!wk__will_be_stored(r->ref[0].value) || !wk__record_family(r)->is_program) return true;
    int o = 0;
    while (o < g->noperands && c->b->writer[o] != r) o++;
    bool same = o < g->noperands && g->operand[o].offset == r->ref[0].offset && g->operand[o].dtype == r->ref[0].dtype;
    for (int d = 0; d < c->ndim && same; d++) same = g->operand[o].stride[d] == stride[d] || c->shape[c->order[d]] <= 1;
    return same || wk__plan_check_fail(c, "places", "the result of %s is stored at the wrong address",
                                       wk__plan_check_name(r).text);
}

bool wk__plan_check_program(wk__plan_check_state *c)
{
    wk__plan_check_eval walk = {.group = &c->group, .level = c->level, .operand = c->operand};
    for (int k = 0; k < c->b->records; k++)
        if (!check_way(c, c->b->record[k])) return false;
    wk__plan_check_eval_start(c, &walk);
    for (int64_t row = 0; row < walk.rows; row++) {
        wk__plan_check_eval_row(c, &walk, row);
        for (int k = 0; k < c->group.nins; k++) {
            if (c->group.ins[k].code != WK__STORE) continue;
            if (!check_store(c, &walk, k, row)) return false;
            wk__plan_check_note_stores(c, &walk, k, row);
        }
    }
    return true;
}
