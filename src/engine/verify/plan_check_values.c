/* SPDX-License-Identifier: Apache-2.0 */
/* Symbolic values: evaluation of programs and of single records in tokens.
 *
 * A token identifies how a value is computed:
 *
 *     instruction    hash of opcode, dtype, immediate or position, and the operands' tokens
 *     LOAD           token of the loaded element: that of the register last stored there; a unique token if it was
 *                    stored before the group, is an element of a contraction, or was never written
 *     LOADX          token of the index, and of an element that depends on the index
 *     reduction      the instruction, and the tokens of all columns in order
 *     WHERE          if both alternatives are the same value, its token: lower.c broadcasts a row's value that way
 *
 * Equal tokens mean equal values, because an instruction with the same operands has the same result anywhere (a CAST
 * reads its operand in the class of its register, so a narrower dtype of the register does not matter). A collision of
 * 64-bit hashes could hide a wrong plan.
 *
 * Equal values need not have equal tokens, but no plan is rejected for that: the comparison is between a record alone
 * and the same record in its group, for which lower.c emits the same instructions. They depend only on the record, not
 * on the location of an operand or the dtype of its register (dtype_of_result() there). So tokens are equal if the
 * operands' are, which are results of other records or existed before. Algebraic equivalences are not needed. */
#include "plan_check_values.h"
#include <stdlib.h>
#include <string.h>

/* ---- values ------------------------------------------------------------------------------------------------------ */

enum { NOTHING = 1, STORED_BEFORE, PRODUCT, INSTRUCTION };

int wk__plan_check_find(const wk__plan_check_state *c, const wk__value *value)
{
    for (int v = 0; v < c->values; v++)
        if (c->value[v].value == value) return v;
    return -1;
}

static wk__plan_check_value_number number_in(int area, int64_t place)
{
    return wk__plan_check_mix(wk__plan_check_mix(STORED_BEFORE, (uint64_t)area), (uint64_t)place);
}

/* Elements that a record does not write are those of `prior`. */
wk__plan_check_value_number wk__plan_check_content(const wk__plan_check_state *c, int value, int64_t place)
{
    for (int v = value; v >= 0;) {
        const wk__plan_check_value *at = &c->value[v];
        if (!at->maker) return number_in(at->area, place);
        const uint64_t *found = wk__plan_check_table_find(&c->results, v, place, false);
        if (found) return *found;
        if (c->sampled) return WK__PLAN_CHECK_UNKNOWN;
        v = at->prior;
    }
    return wk__plan_check_mix(NOTHING, (uint64_t)place);
}

wk__plan_check_value_number wk__plan_check_initial(const wk__plan_check_state *c, int area, int64_t place)
{
    const wk__plan_check_buffer *at = &c->area[area];
    if (at->copied >= 0) return wk__plan_check_content(c, at->copied, place);
    if (at->before >= 0) return number_in(area, place);
    return wk__plan_check_mix(NOTHING, (uint64_t)place);
}

/* ---- spaces ------------------------------------------------------------------------------------------------------ */

int wk__plan_check_strides(const wk__plan_check_state *c, wk__record *r, int k, int64_t *stride)
{
    const int64_t *shape = wk__record_shape(r), *from = wk__record_stride(r, k);
    bool full = r->ndim == c->ndim, rows = full;
    for (int d = 0; d < r->ndim && rows; d++) {
        full = full && shape[d] == c->shape[d];
        rows = rows && shape[d] == (c->reduce_mask >> d & 1 ? 1 : c->shape[d]);
    }
    for (int d = 0; d < r->ndim && full; d++) full = shape[d] == c->shape[d];
    int at[WK__MAX_DIMS], kept = 0; /* the record's dimension for each of the group's; -1: none */
    for (int d = 0; d < c->ndim; d++) {
        bool reduced = c->reduce_mask >> d & 1;
        at[d] = full || (rows && !reduced) ? d : reduced ? -1 : kept;
        kept += !reduced;
    }
    bool dropped = !full && !rows && kept == r->ndim;
    for (int d = 0; d < c->ndim && dropped; d++) dropped = at[d] < 0 || shape[at[d]] == c->shape[d];
    if (!full && !rows && !dropped) return -1;
    for (int d = 0; d < c->ndim; d++) stride[d] = at[c->order[d]] < 0 ? 0 : from[at[c->order[d]]];
    return full ? 0 : 1;
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

void wk__plan_check_eval_start(wk__plan_check_state *c, wk__plan_check_eval *walk)
{
    const wk__program *g = walk->group;
    const int kept = g->nreduce ? g->ndim - g->nreduce : 0;
    int64_t position[WK__MAX_DIMS], step = 1;
    for (int d = g->ndim - 1; d >= 0; d--) {
        position[d] = step;
        step *= g->shape[d];
    }
    for (int o = 0; o <= g->noperands; o++) {
        const bool counts = o == g->noperands;
        const int64_t *stride = counts ? position : g->operand[o].stride;
        const int list = counts ? WK__MAX_OPERANDS : o;
        walk->rows = wk__plan_check_offsets(c->space->row[list], 0, kept, g->shape, c->most, stride);
        walk->columns = wk__plan_check_offsets(c->space->column[list], kept, g->ndim, g->shape, c->most, stride);
    }
}

static wk__plan_check_value_number token_of_index(const wk__plan_check_state *c, const wk__plan_check_eval *walk,
                                                  const wk__ins *ins, wk__plan_check_value_number index, int64_t place)
{
    if (index == WK__PLAN_CHECK_UNKNOWN) return WK__PLAN_CHECK_UNKNOWN;
    const wk__imm *imm = &walk->group->imm[ins->arg[2]];
    const uint64_t bound = (uint64_t)llabs(imm[0].i);
    if (bound == 0) return wk__plan_check_mix(index, NOTHING);
    place += (int64_t)(index % bound) * imm[1].i; /* any element will do, if it is the same for the same index */
    return wk__plan_check_mix(index, wk__plan_check_content(c, walk->operand[ins->arg[1]], place));
}

static wk__plan_check_value_number token_of(const wk__plan_check_state *c, const wk__plan_check_eval *walk, int k,
                                            int64_t row, int64_t column)
{
    const wk__program *g = walk->group;
    const wk__ins *ins = &g->ins[k];
    wk__plan_check_value_number token = wk__plan_check_mix(INSTRUCTION, (uint64_t)ins->code << 8 | ins->dtype), in[3];
    for (int a = 0; a < wk__opcode_arity[ins->code]; a++) {
        in[a] = wk__plan_check_register(c, walk, ins->arg[a], column);
        if (in[a] == WK__PLAN_CHECK_UNKNOWN) return WK__PLAN_CHECK_UNKNOWN;
        token = wk__plan_check_mix(token, in[a]);
    }
    switch (ins->code) {
    case WK__IMM: return wk__plan_check_mix(token, (uint64_t)g->imm[ins->arg[0]].i);
    case WK__IOTA:
        return wk__plan_check_mix(token, (uint64_t)(c->space->row[WK__MAX_OPERANDS][row] +
                                                    (column < 0 ? 0 : c->space->column[WK__MAX_OPERANDS][column])));
    case WK__LOAD:
        return wk__plan_check_content(c, walk->operand[ins->arg[0]],
                                      wk__plan_check_place(c, walk, ins->arg[0], row, column));
    case WK__LOADX: return token_of_index(c, walk, ins, in[0], wk__plan_check_place(c, walk, ins->arg[1], row, column));
    case WK__PHILOX:
        return wk__plan_check_mix(wk__plan_check_mix(token, (uint64_t)g->imm[ins->arg[1]].i), (uint64_t)ins->arg[2]);
    case WK__WHERE: return in[1] == in[2] ? in[1] : token; /* broadcast of a row's value to columns */
    default: return token;
    }
}

static wk__plan_check_value_number token_of_sum(const wk__plan_check_state *c, const wk__plan_check_eval *walk, int k)
{
    const wk__ins *ins = &walk->group->ins[k];
    wk__plan_check_value_number token = wk__plan_check_mix(INSTRUCTION, (uint64_t)ins->code << 8 | ins->dtype);
    for (int64_t column = 0; column < walk->columns; column++) {
        const wk__plan_check_value_number in = wk__plan_check_register(c, walk, ins->arg[0], column);
        if (in == WK__PLAN_CHECK_UNKNOWN) return WK__PLAN_CHECK_UNKNOWN;
        token = wk__plan_check_mix(token, in);
    }
    return token;
}

void wk__plan_check_eval_row(wk__plan_check_state *c, const wk__plan_check_eval *walk, int64_t row)
{
    const wk__program *g = walk->group;
    for (int k = 0; k < g->nins; k++) {
        wk__plan_check_value_number *token = c->space->token[k];
        const int code = g->ins[k].code;
        if (code == WK__STORE) continue;
        if (code >= WK__RSUM && g->nreduce) {
            token[0] = token_of_sum(c, walk, k);
        } else if (!walk->level[k]) {
            token[0] = token_of(c, walk, k, row, -1);
        } else {
            for (int64_t column = 0; column < walk->columns; column++)
                token[column] = token_of(c, walk, k, row, column);
        }
    }
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Lowers a record as a separate group, as WICK_NOFUSE does. */
static bool build_single(wk__plan_check_state *c, wk__record *r)
{
    wk__lowering *single = &c->space->single;
    single->record = &r;
    single->records = 1;
    r->ref[0].value->reg = -1;
    bool built = wk__lower_group(single) == 1;
    return built ||
           wk__plan_check_fail(c, "space", "%s exceeds the maximum program length", wk__plan_check_name(r).text);
}

static void put(wk__plan_check_state *c, int value, int64_t place, wk__plan_check_value_number token)
{
    uint64_t *held = wk__plan_check_table_find(&c->results, value, place, true);
    if (held) *held = token;
}

/* Computes the offsets of the output over the record's own space: reduced dimensions last, as in its program. */
static void visit_output(wk__plan_check_state *c, wk__record *r)
{
    const uint16_t mask = r->reduce_mask;
    int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
    int place = 0, kept = mask ? r->ndim - __builtin_popcount(mask) : 0;
    for (int reduced = 0; reduced < 2; reduced++)
        for (int d = 0; d < r->ndim; d++) {
            if ((mask >> d & 1) != reduced) continue;
            shape[place] = wk__record_shape(r)[d];
            stride[place++] = wk__record_stride(r, 0)[d];
        }
    wk__plan_check_offsets(c->space->output_offset[0], 0, kept, shape, c->most, stride);
    wk__plan_check_offsets(c->space->output_offset[1], kept, r->ndim, shape, c->most, stride);
}

static bool check_record(wk__plan_check_state *c, wk__record *r)
{
    uint8_t level[WK__MAX_INS], pass[WK__MAX_INS];
    int operand[WK__MAX_OPERANDS];
    wk__lowering *single = &c->space->single;
    wk__plan_check_eval walk = {.group = &single->group, .level = level, .operand = operand};
    if (!build_single(c, r)) return false;
    for (int o = 0; o < single->group.noperands; o++) operand[o] = wk__plan_check_find(c, single->value[o]);
    for (int o = 0; o < single->group.noperands; o++) single->group.operand[o].memory = NULL;
    wk__program_levels(&single->group, level, pass);
    wk__plan_check_eval_start(c, &walk);
    visit_output(c, r);
    const int value = wk__plan_check_find(c, r->ref[0].value), result = r->ref[0].value->reg;
    const bool per_row = single->group.nreduce > 0;
    for (int64_t row = 0; row < walk.rows; row++) {
        const int64_t place = r->ref[0].offset + c->space->output_offset[0][row];
        wk__plan_check_eval_row(c, &walk, row);
        for (int64_t column = 0; column < (per_row ? 1 : walk.columns); column++)
            put(c, value, place + (per_row ? 0 : c->space->output_offset[1][column]),
                wk__plan_check_register(c, &walk, result, column));
    }
    return true;
}

/* Each element of a contraction's result has a unique token. */
static void put_product(wk__plan_check_state *c, wk__record *r)
{
    const int value = wk__plan_check_find(c, r->ref[0].value);
    int64_t count = wk__plan_check_offsets(c->space->output_offset[1], 0, r->ndim, wk__record_shape(r), c->most,
                                           wk__record_stride(r, 0));
    for (int64_t k = 0; k < count; k++) {
        const int64_t place = r->ref[0].offset + c->space->output_offset[1][k];
        put(c, value, place, wk__plan_check_mix(PRODUCT, (uint64_t)place));
    }
}

bool wk__plan_check_records(wk__plan_check_state *c)
{
    wk__lowering *b = c->b;
    for (int k = 0; k < b->records; k++) b->record[k]->ref[0].value->reg = -1;
    bool fine = true;
    for (int k = 0; k < b->records && fine; k++) {
        if (wk__record_family(b->record[k])->can_have_epilogue)
            put_product(c, b->record[k]);
        else
            fine = check_record(c, b->record[k]);
        b->record[k]->ref[0].value->reg = -1; /* the next record is also lowered alone */
    }
    for (int k = 0; k < b->records; k++) b->record[k]->ref[0].value->reg = c->reg[k];
    return fine;
}
