/* SPDX-License-Identifier: Apache-2.0 */
/* Where the outputs of a group lie: memory is taken as late as possible, what dies is taken over where reuse.c says
 * that it may be, and memory whose address the program knows stays with its tensor. */
#include "engine/execute.h"
#include "reuse.h"
#include <string.h>

static void move_memory(wk__value *to, wk__value *from)
{
    wk__large_values_remove(from);
    to->memory = from->memory;
    to->release = from->release;
    to->release_user = from->release_user;
    from->memory.block = NULL;
    from->release = NULL;
    wk__large_values_add(to);
}

/* Memory whose address the program knows stays with the tensor: its new value must take it over from the old one. */
static bool must_keep_address(const wk__record *r)
{
    return r->prior && r->prior->exposed && r->prior->state == WK__STORED && r->prior->memory.block &&
           !r->prior->memory_owner;
}

/* `to` gets the memory of `from`, whose numbers are still read: they move. */
static wk_code displace(wk__value *from, wk__value *to, wk__fail *fail)
{
    wk__memory fresh;
    wk_code code = wk__arena_alloc(from->device->arena, from->bytes, &fresh, fail);
    if (code == WK_ERR_MEMORY) wk__describe_oom(from->device, fail);
    if (code != WK_OK) return code;
    if (from->bytes)
        code = from->device->backend->copy(from->device->state, &fresh, 0, &from->memory, 0, from->bytes, fail);
    if (code != WK_OK) {
        wk__arena_free(from->device->arena, &fresh);
        return code;
    }
    move_memory(to, from);
    from->memory = fresh;
    from->exposed = false;
    wk__large_values_add(from);
    return WK_OK;
}

/* The output of a group takes over the memory of a value that the group may read, too, or has written another
 * part of. */
static void take_over(wk__lowering *b, int operand, wk__value *from)
{
    wk__value *out = b->value[operand];
    move_memory(out, from);
    for (int o = 0; o < b->group.noperands; o++)
        if (b->group.operand[o].memory == &from->memory) b->group.operand[o].memory = &out->memory;
}

/* Is the value what another call in place of the group replaces? If the group cannot be run, that call's target keeps
 * the old numbers, so nobody else gets their memory. */
static bool is_rollback_of_other(const wk__lowering *b, int operand, const wk__value *value)
{
    if (wk__rollback_value(b->writer[operand]) == value) return false;
    for (int k = 0; k < b->records; k++)
        if (wk__will_be_stored(b->record[k]->ref[0].value) && wk__rollback_value(b->record[k]) == value) return true;
    return false;
}

/* An input that dies and that lies exactly as the output will: the output is written over it, element by element. */
static wk__value *donor_of(const wk__lowering *b, int operand)
{
    const wk__value *out = b->value[operand];
    for (int o = 0; o < b->group.noperands; o++) {
        wk__value *in = b->value[o];
        if (!b->group.operand[o].stored && in->device == out->device && in->bytes == out->bytes &&
            wk__dies_here(b->record, b->records, in) && wk__may_overwrite(b, operand, in) &&
            !is_rollback_of_other(b, operand, in))
            return in;
    }
    return NULL;
}

/* The memory that the program knows by its address: what else is read of the old numbers is read from a copy
 * of them. */
static wk_code reuse_exposed_memory(wk__execution *run, wk__lowering *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand], *prior = b->writer[operand]->prior;
    if (wk__may_overwrite(b, operand, prior) && wk__last_use(b->record, b->records, prior)) {
        take_over(b, operand, prior);
        return WK_OK;
    }
    run->ring->copies++;
    return displace(prior, out, fail);
}

/* The base of a partial write: taken over if it is another part of the same group, or dies here and is not read through
 * another view meanwhile; else copied. */
static wk_code base_of(wk__execution *run, wk__lowering *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand], *prior = b->writer[operand]->prior;
    if (prior->state == WK__PENDING) {
        take_over(b, operand, prior);
        return WK_OK;
    }
    b->group.operand[operand].partial = true;
    if (wk__may_overwrite(b, operand, prior) && wk__dies_here(b->record, b->records, prior)) {
        take_over(b, operand, prior);
        b->group.operand[operand].skip_on_fault = b->writer[operand]->rolls_back;
        return WK_OK;
    }
    wk_code code = wk__value_alloc_memory(out, out->bytes, fail);
    if (code != WK_OK || out->bytes == 0) return code;
    run->ring->copies++;
    return out->device->backend->copy(out->device->state, &out->memory, 0, &prior->memory, 0, out->bytes, fail);
}

static wk_code alloc_output(wk__execution *run, wk__lowering *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand];
    if (out->memory.block) return WK_OK; /* an epilogue writes where the product is */
    run->ring->stores++;
    if (must_keep_address(b->writer[operand])) return reuse_exposed_memory(run, b, operand, fail);
    if (b->writer[operand]->partial) return base_of(run, b, operand, fail);
    wk__value *donor = donor_of(b, operand);
    if (donor) {
        take_over(b, operand, donor);
        return WK_OK;
    }
    return wk__value_alloc_memory(out, out->bytes, fail);
}

/* States that are pending belong to this group. */
wk__value *wk__rollback_value(const wk__record *r)
{
    while (r->rolls_back && r->prior && r->prior->state == WK__PENDING) {
        r = r->prior->record;
        if (!r->live)
            return NULL; /* nobody needs that state: its record is done with, and has let go of what it held */
    }
    return r->rolls_back && r->prior && r->prior->state == WK__STORED ? r->prior : NULL;
}

/* Where the numbers are that the record's target keeps if it cannot be run. A device that runs it later wants to know:
 * by then nobody remembers. The CPU runs it at once. */
static bool old_numbers(const wk__record *r, wk__memory *old)
{
    const wk__value *value = r->device->id.kind == WK_CPU ? NULL : wk__rollback_value(r);
    if (!value || !value->memory.block) return false;
    *old = value->memory;
    return true;
}

wk_code wk__alloc_program_outputs(wk__execution *run, wk__lowering *b, wk__fail *fail)
{
    wk__program *g = &b->group;
    for (int o = 0; o < g->noperands; o++) {
        g->operand[o].memory = &b->value[o]->memory;
        if (g->operand[o].stored && old_numbers(b->writer[o], &b->old[o])) g->operand[o].rollback = &b->old[o];
    }
    for (int o = 0; o < g->noperands; o++) {
        if (!g->operand[o].stored) continue;
        wk_code code = alloc_output(run, b, o, fail);
        if (code == WK_OK) continue;
        run->failed_record = b->writer[o];
        return code;
    }
    return WK_OK;
}

wk_code wk__alloc_contraction_output(wk__lowering *b, wk__value *product, wk__fail *fail)
{
    for (int o = 1; o < b->group.noperands && !wk__will_be_stored(product); o++) {
        const wk__operand *operand = &b->group.operand[o];
        wk__value *out = b->value[o];
        if (!operand->stored || b->writer[o]->partial || must_keep_address(b->writer[o]) ||
            out->bytes != product->bytes || !wk__same_access(operand, &b->group.operand[0]) ||
            wk__stored_as_loaded(&b->group, 0, o))
            continue;
        wk_code code = wk__value_alloc_memory(out, out->bytes, fail);
        if (code != WK_OK) return code;
        product->memory = out->memory;
        product->memory_owner = out; /* not its own to give back */
        wk__value_hold(out);
        return code;
    }
    return wk__value_alloc_memory(product, product->bytes, fail);
}

wk_code wk__alloc_kernel_outputs(wk__execution *run, wk__record *r, wk__work_args *kernel, wk__fail *fail)
{
    wk_code code = WK_OK;
    if (old_numbers(r, &run->building.old[0])) kernel->operand[0].rollback = &run->building.old[0];
    for (int o = 0; o < r->nout && code == WK_OK; o++) {
        wk__value *out = r->ref[o].value;
        run->ring->stores++;
        const bool alone = wk__uses_in(&r, 1, r->prior) == 1;
        if (r->partial && alone &&
            (must_keep_address(r) ? wk__last_use(&r, 1, r->prior) : wk__dies_here(&r, 1, r->prior))) {
            move_memory(out, r->prior);
        } else if (must_keep_address(r)) {
            code = displace(r->prior, out, fail);
        } else if ((code = wk__value_alloc_memory(out, out->bytes, fail)) == WK_OK && r->partial && out->bytes) {
            code = r->device->backend->copy(r->device->state, &out->memory, 0, &r->prior->memory, 0, out->bytes, fail);
        }
    }
    return code;
}
