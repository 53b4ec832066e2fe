/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates memory for the outputs of groups, as late as possible. Reuses the memory of values that die in the group if
 * reuse.c permits it. Memory whose address the user has stays with its tensor. */
#include "engine/execute.h"
#include "reuse.h"
#include <string.h>

static void move_memory(wk__value *to, wk__value *from)
{
    wk__large_values_remove(from);
    to->memory = from->memory;
    to->release = from->release;
    to->release_user = from->release_user;
    to->mapped = from->mapped;
    from->memory.block = NULL;
    from->release = NULL;
    wk__large_values_add(to);
}

/* Returns true if the user has the address of the target's memory: the new value must take it over from the old one. */
static bool must_keep_address(const wk__record *r)
{
    return r->prior && r->prior->exposed && r->prior->state == WK__STORED && r->prior->memory.block &&
           !r->prior->memory_owner;
}

/* Gives the memory of `from` to `to`; the contents of `from`, which are still needed, are copied to new memory. */
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

/* Gives an output the memory of a value that the group may also read, or has written another part of. */
static void take_over(wk__lowering *b, int operand, wk__value *from)
{
    wk__value *out = b->value[operand];
    move_memory(out, from);
    for (int o = 0; o < b->group.noperands; o++)
        if (b->group.operand[o].memory == &from->memory) b->group.operand[o].memory = &out->memory;
}

/* Returns true if another in-place record of the group replaces the value. If the group fails, that record's target
 * must keep the old contents, so no other output may take their memory. */
static bool is_rollback_of_other(const wk__lowering *b, int operand, const wk__value *value)
{
    if (wk__rollback_value(b->writer[operand]) == value) return false;
    for (int k = 0; k < b->records; k++)
        if (wk__will_be_stored(b->record[k]->ref[0].value) && wk__rollback_value(b->record[k]) == value) return true;
    return false;
}

/* Returns an input that dies in this group and has the same layout as the output, which overwrites it element by
 * element; or NULL. */
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

/* Reuses memory whose address the user has; if its old contents are still needed, they are copied first. */
static wk_code reuse_exposed_memory(wk__execution *run, wk__lowering *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand], *prior = b->writer[operand]->prior;
    if (wk__may_overwrite(b, operand, prior) && wk__last_use(b->record, b->records, prior)) {
        take_over(b, operand, prior);
        return WK_OK;
    }
    run->queue->copies++;
    return displace(prior, out, fail);
}

/* Provides the old contents for a partial write: takes over their memory if they are another part of the same group, or
 * die here and are not read through another view; else copies them. */
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
    run->queue->copies++;
    return out->device->backend->copy(out->device->state, &out->memory, 0, &prior->memory, 0, out->bytes, fail);
}

static wk_code alloc_output(wk__execution *run, wk__lowering *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand];
    if (out->memory.block) return WK_OK; /* an epilogue may write to the contraction's memory */
    run->queue->stores++;
    if (must_keep_address(b->writer[operand])) return reuse_exposed_memory(run, b, operand, fail);
    if (b->writer[operand]->partial) return base_of(run, b, operand, fail);
    wk__value *donor = donor_of(b, operand);
    if (donor) {
        take_over(b, operand, donor);
        return WK_OK;
    }
    return wk__value_alloc_memory(out, out->bytes, fail);
}

/* Pending states of the target belong to this group. */
wk__value *wk__rollback_value(const wk__record *r)
{
    while (r->rolls_back && r->prior && r->prior->state == WK__PENDING) {
        r = r->prior->record;
        if (!r->live) /* that state is not needed: its record has been released, with its references */
            return NULL;
    }
    return r->rolls_back && r->prior && r->prior->state == WK__STORED ? r->prior : NULL;
}

/* Finds the contents that the record's target keeps if it fails. Asynchronous devices need them, because the record is
 * released before it runs; the CPU runs it immediately. */
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
        product->memory_owner = out; /* not owned by the contraction's result */
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
        run->queue->stores++;
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
