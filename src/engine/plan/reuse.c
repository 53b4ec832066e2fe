/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions for reusing the memory of a value for a group's output: the value is not read later, and the group itself
 * has read it by the time it writes the output. */
#include "reuse.h"
#include <string.h>

/* ---- after the group --------------------------------------------------------------------------------------------- */

int wk__uses_in(wk__record **record, int records, const wk__value *value)
{
    int uses = 0;
    for (int k = 0; k < records; k++) {
        for (int i = 0; i < record[k]->nin; i++) uses += wk__record_in(record[k], i)->value == value;
        uses += record[k]->prior == value;
    }
    return uses;
}

/* Returns true if this record will be deferred and so reads its operands again. */
static bool stays_unstored(const wk__record *r)
{
    const wk__value *out = r->ref[0].value;
    return !wk__will_be_stored(out) && (out->read_by_deferred || wk__held_outside(out));
}

static bool is_read_when_revived(wk__record **record, int records, const wk__value *value)
{
    for (int k = 0; k < records; k++)
        for (int i = 0; i < record[k]->nin; i++)
            if (wk__record_in(record[k], i)->value == value && stays_unstored(record[k])) return true;
    return false;
}

bool wk__last_use(wk__record **record, int records, const wk__value *value)
{
    return wk__refcount_get(&value->refs) == wk__uses_in(record, records, value) &&
           !is_read_when_revived(record, records, value);
}

bool wk__dies_here(wk__record **record, int records, const wk__value *value)
{
    return value->state == WK__STORED && !value->release && !value->memory_owner && !value->exposed &&
           value->memory.block && wk__last_use(record, records, value);
}

/* ---- within the group -------------------------------------------------------------------------------------------- */

bool wk__same_access(const wk__operand *a, const wk__operand *b)
{
    return a->offset == b->offset && wk_dtype_size(a->dtype) == wk_dtype_size(b->dtype) &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

bool wk__stored_as_loaded(const wk__program *g, int in, int out)
{
    for (int k = 0; k < g->nins; k++) {
        const wk__ins *store = &g->ins[k];
        if (store->code != WK__STORE || store->arg[0] == out) continue;
        const wk__ins *from = &g->ins[store->arg[1]];
        if (from->code == WK__LOAD && from->arg[0] == in) return true;
    }
    return false;
}

/* A contraction reads its factors until its last macrotile is done; by then its epilogue has written most of its
 * output. */
static bool is_factor(const wk__lowering *b, const wk__value *value)
{
    wk__record *first = b->record[0];
    return wk__record_family(first)->can_have_epilogue &&
           (wk__record_in(first, 0)->value == value || wk__record_in(first, 1)->value == value);
}

/* An element is read and written in the same step only if the group reads it through the same view as it writes;
 * through another view it is read in another step. */
static bool is_read_as_written(const wk__lowering *b, int operand, const wk__value *value)
{
    const wk__program *g = &b->group;
    for (int o = 0; o < g->noperands; o++)
        if (b->value[o] == value &&
            (!wk__same_access(&g->operand[o], &g->operand[operand]) || wk__stored_as_loaded(g, o, operand)))
            return false;
    return true;
}

/* Returns true if the group reads each element once. A group that reduces reads a row several times; one that reads at
 * computed indices may read any element at any time. */
static bool walks_once(const wk__lowering *b)
{
    return b->group.nreduce == 0 && !b->indirect;
}

bool wk__may_overwrite(const wk__lowering *b, int operand, const wk__value *value)
{
    return walks_once(b) && !is_factor(b, value) && is_read_as_written(b, operand, value);
}
