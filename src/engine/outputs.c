/* Where the outputs of a group lie: memory is taken as late as possible, what dies is taken over, and memory whose address the program
 * knows stays with its tensor. */
#include "execute.h"
#include <string.h>

static int uses_in(wk__record **record, int records, const wk__value *value)
{
    int uses = 0;
    for (int k = 0; k < records; k++) {
        for (int i = 0; i < record[k]->nin; i++) uses += wk__record_in(record[k], i)->value == value;
        uses += record[k]->prior == value;
    }
    return uses;
}

/* Will this record be parked, and so read its operands again? */
static bool stays_unstored(const wk__record *r)
{
    const wk__value *out = r->ref[0].value;
    return !wk__stores(out) && (out->promised || atomic_load_explicit(&((wk__value *)(uintptr_t)out)->refs,
                                                                      memory_order_relaxed) > out->ring_refs);
}

static bool read_later(wk__record **record, int records, const wk__value *value)
{
    for (int k = 0; k < records; k++)
        for (int i = 0; i < record[k]->nin; i++)
            if (wk__record_in(record[k], i)->value == value && stays_unstored(record[k])) return true;
    return false;
}

/* Nobody reads the value after this group. */
static bool last_use(wk__record **record, int records, const wk__value *value)
{
    return atomic_load_explicit(&((wk__value *)(uintptr_t)value)->refs, memory_order_relaxed) ==
               uses_in(record, records, value) &&
           !read_later(record, records, value);
}

bool wk__dies_here(wk__record **record, int records, const wk__value *value)
{
    return wk__value_state(value) == WK__STORED && !value->release && !value->shares && !value->exposed &&
           value->memory.block && last_use(record, records, value);
}

static void hand_over(wk__value *to, wk__value *from)
{
    wk__large_remove(from);
    to->memory = from->memory;
    to->release = from->release;
    to->release_user = from->release_user;
    from->memory.block = NULL;
    from->release = NULL;
    wk__large_add(to);
}

/* Memory whose address the program knows stays with the tensor: its new value must take it over from the old one. */
static bool keeps_place(const wk__record *r)
{
    return r->prior && r->prior->exposed && wk__value_state(r->prior) == WK__STORED && r->prior->memory.block &&
           !r->prior->shares;
}

/* `to` gets the memory of `from`, whose numbers are still read: they move. */
static wk_code displace(wk__value *from, wk__value *to, wk__fail *fail)
{
    wk__memory fresh;
    wk_code code = wk__arena_take(from->device->arena, from->bytes, &fresh, fail);
    if (code == WK_ERR_MEMORY) wk__large_describe(from->device, fail);
    if (code != WK_OK) return code;
    if (from->bytes)
        code = from->device->backend->copy(from->device->state, &fresh, 0, &from->memory, 0, from->bytes, fail);
    if (code != WK_OK) {
        wk__arena_give(from->device->arena, &fresh);
        return code;
    }
    hand_over(to, from);
    from->memory = fresh;
    from->exposed = false;
    wk__large_add(from);
    return WK_OK;
}

/* The output of a group takes over the memory of a value that the group may read, too, or has written another part of. */
static void take_over(wk__building *b, int operand, wk__value *from)
{
    wk__value *out = b->value[operand];
    hand_over(out, from);
    for (int o = 0; o < b->group.noperands; o++)
        if (b->group.operand[o].memory == &from->memory) b->group.operand[o].memory = &out->memory;
}

static bool same_places(const wk__operand *a, const wk__operand *b)
{
    return a->offset == b->offset && wk_dtype_size(a->dtype) == wk_dtype_size(b->dtype) &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

/* Is operand `in` stored as it was loaded, elsewhere than in `out`? Such a number is read when it is stored: by then `out`, if it
 * had the memory of `in`, might have been written over it. */
static bool stored_as_loaded(const wk__group *g, int in, int out)
{
    for (int k = 0; k < g->nins; k++) {
        const wk__ins *store = &g->ins[k];
        if (store->code != WK__STORE || store->arg[0] == out) continue;
        const wk__ins *from = &g->ins[store->arg[1]];
        if (from->code == WK__LOAD && from->arg[0] == in) return true;
    }
    return false;
}

/* An input that dies and that lies exactly as the output will: the output is written over it, element by element. */
static wk__value *donor_of(wk__building *b, int operand)
{
    const wk__group *g = &b->group;
    if (g->nreduce || b->indirect) return NULL;
    wk__value *out = b->value[operand];
    for (int o = 0; o < g->noperands; o++) {
        wk__value *in = b->value[o];
        if (g->operand[o].stored || in->device != out->device || in->bytes != out->bytes ||
            !same_places(&g->operand[o], &g->operand[operand]) || stored_as_loaded(g, o, operand) ||
            !wk__dies_here(b->record, b->records, in))
            continue;
        bool once = true; /* seen through one view only: another would read what was just written */
        for (int other = 0; other < g->noperands; other++) once = once && (other == o || b->value[other] != in);
        if (once) return in;
    }
    return NULL;
}

/* May the group write over `prior` while it runs? Not if it reads it through another view than it writes. */
static bool only_read_in_place(const wk__building *b, int operand, const wk__value *prior)
{
    bool alone = !b->indirect && b->group.nreduce == 0;
    for (int o = 0; o < b->group.noperands; o++)
        alone = alone && (b->value[o] != prior || (same_places(&b->group.operand[o], &b->group.operand[operand]) &&
                                                   !stored_as_loaded(&b->group, o, operand)));
    return alone;
}

/* The memory that the program knows by its address: what else is read of the old numbers is read from a copy of them. */
static wk_code same_place(wk__run *run, wk__building *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand], *prior = b->writer[operand]->prior;
    if (only_read_in_place(b, operand, prior) && last_use(b->record, b->records, prior)) {
        take_over(b, operand, prior);
        return WK_OK;
    }
    run->ring->copies++;
    return displace(prior, out, fail);
}

/* The base of a partial write: taken over if it is another part of the same group, or dies here and is not read through another
 * view meanwhile; else copied. */
static wk_code base_of(wk__run *run, wk__building *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand], *prior = b->writer[operand]->prior;
    if (wk__value_state(prior) == WK__PENDING) {
        take_over(b, operand, prior);
        return WK_OK;
    }
    b->group.operand[operand].base = true;
    if (only_read_in_place(b, operand, prior) && wk__dies_here(b->record, b->records, prior)) {
        take_over(b, operand, prior);
        b->group.operand[operand].over = b->writer[operand]->guarded;
        return WK_OK;
    }
    wk_code code = wk__value_take_memory(out, out->bytes, fail);
    if (code != WK_OK || out->bytes == 0) return code;
    run->ring->copies++;
    return out->device->backend->copy(out->device->state, &out->memory, 0, &prior->memory, 0, out->bytes, fail);
}

static wk_code take_output(wk__run *run, wk__building *b, int operand, wk__fail *fail)
{
    wk__value *out = b->value[operand];
    if (out->memory.block) return WK_OK; /* an epilogue writes where the product is */
    run->ring->stores++;
    if (keeps_place(b->writer[operand])) return same_place(run, b, operand, fail);
    if (b->writer[operand]->partial) return base_of(run, b, operand, fail);
    wk__value *donor = donor_of(b, operand);
    if (donor) {
        take_over(b, operand, donor);
        return WK_OK;
    }
    return wk__value_take_memory(out, out->bytes, fail);
}

/* States that are pending belong to this group. */
wk__value *wk__old_value(const wk__record *r)
{
    while (r->guarded && r->prior && wk__value_state(r->prior) == WK__PENDING) r = r->prior->record;
    return r->guarded && r->prior && wk__value_state(r->prior) == WK__STORED ? r->prior : NULL;
}

/* Where the numbers are that the record's target keeps if it cannot be run. A device that runs it later wants to know: by then nobody
 * remembers. */
static bool old_numbers(const wk__record *r, wk__memory *old)
{
    const wk__value *value = wk__old_value(r);
    if (!value || !value->memory.block) return false;
    *old = value->memory;
    return true;
}

wk_code wk__program_outputs(wk__run *run, wk__building *b, wk__fail *fail)
{
    wk__group *g = &b->group;
    for (int o = 0; o < g->noperands; o++) {
        g->operand[o].memory = &b->value[o]->memory;
        if (g->operand[o].stored && old_numbers(b->writer[o], &b->old[o])) g->operand[o].old = &b->old[o];
    }
    for (int o = 0; o < g->noperands; o++) {
        if (!g->operand[o].stored) continue;
        wk_code code = take_output(run, b, o, fail);
        if (code == WK_OK) continue;
        run->culprit = b->writer[o];
        return code;
    }
    return WK_OK;
}

wk_code wk__product_output(wk__building *b, wk__value *product, wk__fail *fail)
{
    for (int o = 1; o < b->group.noperands && !wk__stores(product); o++) {
        const wk__operand *operand = &b->group.operand[o];
        wk__value *out = b->value[o];
        if (!operand->stored || b->writer[o]->partial || keeps_place(b->writer[o]) || out->bytes != product->bytes ||
            !same_places(operand, &b->group.operand[0]) || stored_as_loaded(&b->group, 0, o))
            continue;
        wk_code code = wk__value_take_memory(out, out->bytes, fail);
        if (code != WK_OK) return code;
        product->memory = out->memory;
        product->shares = out; /* not its own to give back */
        wk__value_hold(out);
        return code;
    }
    return wk__value_take_memory(product, product->bytes, fail);
}

wk_code wk__kernel_outputs(wk__run *run, wk__record *r, wk__kernel *kernel, wk__fail *fail)
{
    wk_code code = WK_OK;
    if (old_numbers(r, &run->building.old[0])) kernel->operand[0].old = &run->building.old[0];
    for (int o = 0; o < r->nout && code == WK_OK; o++) {
        wk__value *out = r->ref[o].value;
        run->ring->stores++;
        bool alone = r->prior && uses_in(&r, 1, r->prior) == 1;
        if (r->partial && alone && (keeps_place(r) ? last_use(&r, 1, r->prior) : wk__dies_here(&r, 1, r->prior))) {
            hand_over(out, r->prior);
        } else if (keeps_place(r)) {
            code = displace(r->prior, out, fail);
        } else if ((code = wk__value_take_memory(out, out->bytes, fail)) == WK_OK && r->partial && out->bytes) {
            code = r->device->backend->copy(r->device->state, &out->memory, 0, &r->prior->memory, 0, out->bytes, fail);
        }
    }
    return code;
}
