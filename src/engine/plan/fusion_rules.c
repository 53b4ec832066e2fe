/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions for adding a record to a group, in the order of wk__can_fuse(). They guarantee that the kernel computes
 * what the records would in program order; plan_check.c verifies that independently. */
#include "fusion_rules.h"
#include "overlap.h"
#include <string.h>

/* ---- capacity ---------------------------------------------------------------------------------------------------- */

/* Returns true if the group computes this value, so that it is in a register. */
static bool is_result(int32_t number, const wk__value *value)
{
    return value->state == WK__PENDING && value->group == number;
}

/* Returns true if the group loads the elements of this operand already. Operands that differ in their strides alone are
 * taken for one: such programs are split if they turn out too large. */
static bool is_loaded(const wk__fusion_group *g, const wk__ref *in)
{
    for (int k = 0; k < g->loads; k++)
        if (g->load[k].value == in->value && g->load[k].offset == in->offset) return true;
    return false;
}

/* Returns the number of operands that r adds to those that group `number` loads. */
static int new_loads(const wk__fusion_group *g, int32_t number, wk__record *r)
{
    int count = 0;
    for (int k = 0; k < r->nin; k++) {
        const wk__ref *in = wk__record_in(r, k);
        count += in->value && !is_result(number, in->value) && !is_loaded(g, in);
    }
    return count;
}

/* Returns true if the value must be stored, unless further records of its group are the only ones to read it. */
static bool needs_store(const wk__value *value)
{
    return wk__will_be_stored(value) || value->reads < value->ring_refs - 1; /* its own record refers to it, too */
}

/* Returns true if r reads a result of the group. */
static bool reads_group(int32_t number, wk__record *r)
{
    for (int i = 0; i < r->nin; i++) {
        const wk__value *value = wk__record_in(r, i)->value;
        if (value && is_result(number, value)) return true;
    }
    return false;
}

/* Programs have limits. This is an estimate; a group that turns out too large is split when it is lowered. A record
 * that neither reads a result of the group nor shares its loads begins other work, which would be divided if a third of
 * the program were not left for it. */
static bool has_room(const wk__fusion_group *g, int32_t number, wk__record *r)
{
    const int loads = new_loads(g, number, r);
    const bool begins = loads > 0 && g->nins > 0 && !reads_group(number, r);
    const int thirds = begins ? 2 : 3;
    return g->nins + r->nin + 3 <= WK__MAX_INS * thirds / 3 &&
           g->loads + g->stores + loads + 1 <= WK__MAX_OPERANDS * thirds / 3 &&
           g->imms + r->nin + 2 <= WK__MAX_IMMS * thirds / 3;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Returns true for a part of a new tensor that is written in several parts, if only the next part refers to this
 * state. */
static bool is_intermediate_part(const wk__record *r)
{
    return !r->rolls_back && r->prior->ring_refs == 2 && !wk__held_outside(r->prior);
}

/* Returns true if r writes no element that another record of the group writes: the order of stores in a kernel depends
 * on its form (rows before columns, passes, threads). */
static bool writes_beside_the_others(int32_t number, wk__record *r)
{
    for (wk__value *prior = r->prior; prior && prior->state == WK__PENDING && prior->group == number;
         prior = prior->record->prior)
        if (wk__refs_overlap(prior->record, 0, r, 0)) return false;
    return true;
}

/* A partial write keeps elements of the old value, which must be in memory before the group starts, or be another part
 * that the group writes. */
static bool base_is_ready(int32_t number, wk__record *r)
{
    if (!r->partial || !r->prior || r->prior->state != WK__PENDING || r->prior->group < number) return true;
    return is_intermediate_part(r) && writes_beside_the_others(number, r);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* A fault is reported for a group: if two of its records can fault, they must have the same message. */
static bool same_fault_message(const wk__fusion_group *g, const wk__record *r)
{
    return !g->indirect || (!g->has_fault_message && !r->op->fault_message) || !r->has_indirect_read;
}

static bool is_known_outside(const wk__record *r)
{
    for (int o = 0; o < r->nout; o++)
        if (r->ref[o].value->exposed) return true;
    return false;
}

/* After a fault, the records of a group run again separately; by then the group would have written memory whose address
 * the user has. */
static bool can_run_again(const wk__fusion_group *g, const wk__record *r)
{
    return !(g->indirect && is_known_outside(r)) && !(g->exposed && r->has_indirect_read);
}

/* A failed record restores its target's old value. So that value must have been computed before, if a bad index or
 * another part of a transaction may fail. */
static bool rollback_value_is_ready(int32_t number, const wk__record *r)
{
    const wk__value *prior = r->rolls_back ? r->prior : NULL;
    const bool may_come_back = r->transaction || r->ref[0].value->may_fault;
    return !prior || !may_come_back || prior->state != WK__PENDING || prior->group < number;
}

/* ---- space ------------------------------------------------------------------------------------------------------- */

/* Returns true if r has the shape of the group's rows: size 1 in the reduced dimensions, or without them. */
static bool has_row_shape(const wk__fusion_group *g, wk__record *r)
{
    const int64_t *shape = wk__record_shape(r);
    if (r->ndim == g->ndim) {
        for (int d = 0; d < g->ndim; d++)
            if (shape[d] != (g->reduce_mask >> d & 1 ? 1 : g->shape[d])) return false;
        return true;
    }
    int kept = 0;
    for (int d = 0; d < g->ndim; d++) {
        if (g->reduce_mask >> d & 1) continue;
        if (kept == r->ndim || shape[kept] != g->shape[d]) return false;
        kept++;
    }
    return kept == r->ndim;
}

bool wk__map_strides(wk__record *r, int k, int ndim, const int64_t *shape, uint16_t reduce_mask, int64_t *stride)
{
    const int64_t *from = wk__record_stride(r, k);
    if (wk__same_shape(r->ndim, wk__record_shape(r), ndim, shape)) {
        const bool is_row = wk__record_reduces(r) && k < r->nout;
        for (int d = 0; d < ndim; d++) stride[d] = shape[d] == 0 && !is_row ? 1 : from[d];
        return true;
    }
    int kept = 0;
    for (int d = 0; d < ndim; d++) {
        bool reduced = reduce_mask >> d & 1;
        stride[d] = reduced ? 0 : from[r->ndim == ndim ? d : kept];
        kept += !reduced;
    }
    return r->ndim == ndim || kept == r->ndim;
}

static bool has_short_rows(const wk__fusion_group *g)
{
    int64_t count = 1;
    for (int d = 0; d < g->ndim; d++)
        if (g->reduce_mask >> d & 1) count *= g->shape[d];
    return count <= WK__SHORT_ROW;
}

bool wk__is_outer_reduction(wk__record *r)
{
    const int64_t *shape = wk__record_shape(r), *stride = wk__record_stride(r, r->nout);
    int64_t row = 0, column = 0; /* strides of the last kept and of the last reduced dimension longer than 1 */
    for (int d = 0; d < r->ndim; d++)
        if (shape[d] > 1) *(r->reduce_mask >> d & 1 ? &column : &row) = stride[d];
    return row == 1 && column != 0 && column != 1;
}

/* Returns true if r reads no result of a reduction of the group, nor a value per row that follows from one: such a
 * reduction runs in the first pass over a row. A value of the group's full shape was computed in that pass, if rows are
 * long. */
static bool reduces_in_first_pass(const wk__fusion_group *g, int32_t number, wk__record *r)
{
    for (int i = 0; i < r->nin; i++) {
        const wk__value *value = wk__record_in(r, i)->value;
        if (!value || value->group != number || value->state != WK__PENDING) continue;
        wk__record *maker = value->record;
        if (wk__record_reduces(maker) || !wk__same_shape(maker->ndim, wk__record_shape(maker), g->ndim, g->shape))
            return false;
    }
    return true;
}

/* A group has one space: the record must have that space or, once the group reduces, that of the reduced rows. A second
 * reduction must be over the same dimensions, of an operand with the same kind of layout, because that determines the
 * order of its additions. Rows that are not read again may be long. A kernel that reduces across adjacent rows reads
 * and writes everything in patches, so records of the full space only join it to read a result in a register. */
static bool shares_the_space(const wk__fusion_group *g, int32_t number, wk__record *r)
{
    const bool full = wk__same_shape(r->ndim, wk__record_shape(r), g->ndim, g->shape);
    if (wk__record_reduces(r)) {
        if (!full || g->has_epilogue) return false;
        return !g->reduce_mask ||
               (g->reduce_mask == r->reduce_mask && g->outer_reduction == wk__is_outer_reduction(r) &&
                (has_short_rows(g) || reduces_in_first_pass(g, number, r)));
    }
    if (!g->reduce_mask) return full;
    if (!full) return has_row_shape(g, r);
    return has_short_rows(g) && (!g->outer_reduction || reads_group(number, r));
}

/* Reduced dimensions are moved last, which changes the positions that IOTA returns unless they are already last. */
static bool keeps_positions(uint16_t reduce_mask, int ndim)
{
    bool reduced = false;
    for (int d = 0; d < ndim; d++) {
        if (reduced && !(reduce_mask >> d & 1)) return false;
        reduced = reduced || reduce_mask >> d & 1;
    }
    return true;
}

/* Returns true if ops that depend on positions get the space with the records' order of dimensions. */
static bool keeps_positions_of_iota(const wk__fusion_group *g, wk__record *r)
{
    if (wk__record_reduces(r))
        return (!g->uses_position && !r->op->uses_position) || keeps_positions(r->reduce_mask, r->ndim);
    if (!r->op->uses_position || !g->reduce_mask) return true;
    return wk__same_shape(r->ndim, wk__record_shape(r), g->ndim, g->shape) && keeps_positions(g->reduce_mask, g->ndim);
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

/* Results of the group are in registers while it runs: the record must read the element that its producer has just
 * computed. */
static bool reads_registers(const wk__fusion_group *g, int32_t number, wk__record *r)
{
    const uint16_t reduce_mask = wk__record_reduces(r) ? r->reduce_mask : g->reduce_mask;
    for (int i = 0; i < r->nin; i++) {
        const wk__ref *in = wk__record_in(r, i);
        if (!in->value || in->value->group != number || in->value->state != WK__PENDING) continue;
        if (in->flags & WK__REF_INDIRECT) return false;
        wk__record *maker = in->value->record;
        if (maker->ref[0].offset != in->offset || maker->ref[0].dtype != in->dtype) return false;
        int64_t want[WK__MAX_DIMS], have[WK__MAX_DIMS];
        if (!wk__map_strides(r, r->nout + i, g->ndim, g->shape, reduce_mask, want) ||
            !wk__map_strides(maker, 0, g->ndim, g->shape, reduce_mask, have))
            return false;
        for (int d = 0; d < g->ndim; d++)
            if (want[d] != have[d] && g->shape[d] != 1) return false;
    }
    return true;
}

bool wk__can_fuse(const wk__fusion_group *g, int32_t number, wk__record *r)
{
    if (!wk__record_family(r)->is_program) return false;
    return g->open && g->device == r->device && has_room(g, number, r) && base_is_ready(number, r) &&
           same_fault_message(g, r) && can_run_again(g, r) && rollback_value_is_ready(number, r) &&
           shares_the_space(g, number, r) && keeps_positions_of_iota(g, r) && reads_registers(g, number, r);
}

/* Counts an operand of a record that joins group `number`, and marks its value if it must be stored. */
static void add_operand(wk__fusion_group *g, int32_t number, const wk__ref *in)
{
    wk__value *value = in->value;
    if (is_result(number, value)) {
        const bool before = needs_store(value);
        value->reads++;
        g->stores -= before && !needs_store(value);
        return;
    }
    if (value->state == WK__PENDING) value->escapes = true;
    if (g->loads < WK__MAX_OPERANDS && !is_loaded(g, in)) {
        g->load[g->loads].value = value;
        g->load[g->loads++].offset = in->offset;
    }
}

void wk__fuse_record(wk__fusion_group *g, int32_t number, wk__record *r)
{
    r->group = number;
    g->nins += r->nin + 2;
    for (int k = 0; k < r->nin; k++) {
        const wk__ref *in = wk__record_in(r, k);
        if (in->value)
            add_operand(g, number, in);
        else
            g->imms++;
    }
    if (r->prior && r->prior->state == WK__PENDING) r->prior->escapes = r->prior->escapes || r->partial;
    if (wk__record_reduces(r)) {
        g->reduce_mask = r->reduce_mask;
        g->outer_reduction = wk__is_outer_reduction(r);
    }
    g->uses_position = g->uses_position || r->op->uses_position;
    g->indirect = g->indirect || r->has_indirect_read;
    g->exposed = g->exposed || is_known_outside(r);
    g->has_fault_message = g->has_fault_message || r->op->fault_message;
    for (int o = 0; o < r->nout; o++) {
        r->ref[o].value->group = number;
        g->stores += needs_store(r->ref[o].value);
    }
}
