/* SPDX-License-Identifier: Apache-2.0 */
/* Cache of compiled programs. A training step runs the same few dozen small programs repeatedly; a lookup takes a fifth
 * of the time to compile.
 *
 * Global and lock-free: a slot is filled once, by compare-and-swap, and never changes. If all probed slots are
 * occupied, a new program is compiled each time it runs. */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "program_cache.h"

enum { SLOTS = 512, PROBES = 4 };

/* Key of a compiled program, and the program. */
typedef struct entry {
    uint64_t hash;
    uint32_t uniform;
    uint32_t overwritten;
    uint32_t kind; /* see variant_bits() */
    int nins;
    wk__cpu_program program;
    uint8_t dtype[WK__MAX_OPERANDS];
    wk__ins ins[]; /* nins */
} entry;

static _Atomic(entry *) slots[SLOTS];
/* Part of the hash of each slot's entry, to avoid loading other entries; 0 if not set yet. */
static _Atomic(uint32_t) tags[SLOTS];

void wk__cpu_layout_init(wk__cpu_layout *layout, const wk__program *group)
{
    int dims[WK__MAX_DIMS], ndim = 0;
    int64_t row_major[WK__MAX_DIMS], count = 1;
    uint32_t uniform = 0, contiguous = 0;
    int first = group->nreduce > 0 ? group->ndim - group->nreduce : 0;
    for (int d = group->ndim - 1; d >= first; d--) {
        if (group->shape[d] == 1) continue; /* strides of size-1 dimensions are irrelevant */
        dims[ndim] = d;
        row_major[ndim++] = count;
        count *= group->shape[d];
    }
    for (int k = 0; k < group->noperands; k++) {
        const int64_t *stride = group->operand[k].stride;
        int d = 0;
        while (d < ndim && stride[dims[d]] == row_major[d]) d++;
        contiguous |= (uint32_t)(d == ndim) << k;
        if (d == ndim && ndim > 0) continue;
        for (d = 0; d < ndim && stride[dims[d]] == 0;) d++;
        uniform |= (uint32_t)(d == ndim) << k;
    }
    *layout = (wk__cpu_layout){count, uniform, contiguous};
}

/* Returns the compilation options as part of the key. */
static uint32_t variant_bits(const wk__program *group, const wk__cpu_style *style)
{
    return (uint32_t)(group->nreduce > 0) | (uint32_t)style->lanes_are_rows << 1 |
           (uint32_t)(style->keep_values > 0) << 2;
}

/* Returns the operands whose stores are moved to a later pass, a bit each; 0 if there is only one pass. */
static uint32_t overwritten_by(const wk__program *group)
{
    return group->nreduce > 0 ? wk__program_overwritten(group) : 0;
}

/* Multiplicative hash with a separate factor per word, so that the multiplications are independent. */
static uint64_t hash_of(const wk__program *group, const wk__cpu_layout *layout, uint32_t overwritten, uint32_t kind,
                        const wk__vm *vm)
{
    const uint64_t step = 0x9e3779b97f4a7c16; /* even: the factors stay odd */
    uint64_t factor = 0xbf58476d1ce4e5b9, hash = (layout->uniform | (uint64_t)kind << 32) * factor, dtypes = 0;
    for (int k = 0; k < group->nins; k++) {
        uint64_t word;
        memcpy(&word, &group->ins[k], sizeof word);
        factor += step;
        hash += word * factor;
    }
    for (int k = 0; k < group->noperands; k++) dtypes = dtypes << 5 ^ dtypes >> 59 ^ group->operand[k].dtype;
    hash += (dtypes ^ (uint64_t)(uintptr_t)vm) * (factor + step) + overwritten * (factor + 2 * step);
    hash = (hash ^ hash >> 32) * factor;
    return hash ^ hash >> 29;
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32) | 1;
}

static bool matches(const entry *e, const wk__program *group, const wk__cpu_layout *layout, uint32_t overwritten,
                    uint32_t kind, const wk__vm *vm, uint64_t hash)
{
    if (e->hash != hash || e->kind != kind || e->nins != group->nins || e->uniform != layout->uniform ||
        e->overwritten != overwritten || e->program.vm != vm)
        return false;
    for (int k = 0; k < group->noperands; k++) {
        if (e->dtype[k] != group->operand[k].dtype) return false;
    }
    return memcmp(e->ins, group->ins, (size_t)group->nins * sizeof *e->ins) == 0;
}

static entry *new_entry(const wk__program *group, const wk__cpu_layout *layout, const wk__cpu_style *style,
                        uint64_t hash)
{
    wk__fail fail;
    size_t bytes = (size_t)group->nins * sizeof(wk__ins);
    entry *e = wk__alloc(sizeof *e + bytes);
    if (!e) return NULL;
    if (wk__cpu_compile(&e->program, group, style, &fail) != WK_OK) {
        wk__cpu_program_destroy(&e->program);
        wk__free(e);
        return NULL;
    }
    e->hash = hash;
    e->nins = group->nins;
    e->uniform = layout->uniform;
    e->overwritten = overwritten_by(group);
    e->kind = variant_bits(group, style);
    for (int k = 0; k < group->noperands; k++) e->dtype[k] = group->operand[k].dtype;
    memcpy(e->ins, group->ins, bytes);
    return e;
}

/* NULL when there is no memory, or no slot left. */
static const wk__cpu_program *lookup(const wk__program *group, const wk__cpu_layout *layout, const wk__cpu_style *style)
{
    const wk__vm *vm = wk__cpu_isa_current()->vm;
    const uint32_t kind = variant_bits(group, style), overwritten = overwritten_by(group);
    uint64_t hash = hash_of(group, layout, overwritten, kind, vm);
    for (int probe = 0; probe < PROBES; probe++) {
        const uint64_t place = (hash + (uint64_t)probe) % SLOTS;
        const uint32_t tag = atomic_load_explicit(&tags[place], memory_order_relaxed);
        if (tag && tag != tag_of(hash)) continue;
        _Atomic(entry *) *slot = &slots[place];
        entry *e = atomic_load_explicit(slot, memory_order_acquire);
        if (!e) {
            entry *fresh = new_entry(group, layout, style, hash);
            if (!fresh) return NULL;
            if (atomic_compare_exchange_strong(slot, &e, fresh)) {
                atomic_store_explicit(&tags[place], tag_of(hash), memory_order_relaxed);
                return &fresh->program;
            }
            wk__cpu_program_destroy(&fresh->program); /* another thread filled the slot */
            wk__free(fresh);
        }
        if (matches(e, group, layout, overwritten, kind, vm, hash)) return &e->program;
    }
    return NULL;
}

/* ---- checks of cached programs ----------------------------------------------------------------------------------- */

#ifdef WICK_CHECK_PLANS
static bool same_stage(const wk__cpu_stage *a, const wk__cpu_stage *b)
{
    return a->start == b->start && a->reg_accumulator == b->reg_accumulator && a->loads == b->loads &&
           a->stores == b->stores && a->indexed == b->indexed;
}

static bool same_code(const wk__vm_ins *a, const wk__vm_ins *b)
{
    return a->op == b->op && a->a == b->a && a->b == b->b && a->c == b->c && a->bits == b->bits;
}

static bool same_program(const wk__cpu_program *a, const wk__cpu_program *b, int nins)
{
    bool same = a->vm == b->vm && a->nontemporal == b->nontemporal && a->lanes_are_rows == b->lanes_are_rows &&
                a->passes == b->passes && a->ntiles == b->ntiles && a->ncode == b->ncode;
    for (int p = 0; same && p <= a->passes; p++)
        same = same_stage(&a->row[p], &b->row[p]) && (p == a->passes || same_stage(&a->element[p], &b->element[p]));
    for (int k = 0; same && k < nins; k++)
        same = a->level[k] == b->level[k] && a->pass[k] == b->pass[k] && a->fate[k].cost == b->fate[k].cost &&
               a->fate[k].kept == b->fate[k].kept && a->fate[k].shared == b->fate[k].shared;
    for (int k = 0; same && k < a->ncode; k++) same = same_code(&a->code[k], &b->code[k]);
    return same;
}

/* Without memory to compile in, nothing is checked. */
static bool is_current(const wk__cpu_program *cached, const wk__program *group, const wk__cpu_style *style,
                       wk__fail *fail)
{
    wk__cpu_program now;
    wk__fail ignored;
    wk__alloc_untracked pause;
    wk__alloc_untracked_begin(&pause);
    const bool same = wk__cpu_compile(&now, group, style, &ignored) != WK_OK || same_program(cached, &now, group->nins);
    wk__cpu_program_destroy(&now);
    wk__alloc_untracked_end(&pause);
    if (!same)
        wk__fail_set(fail, WK_ERR_INTERNAL, "a wrong plan (cache): the cached program was compiled for another group");
    return same;
}
#else
static bool is_current(const wk__cpu_program *cached, const wk__program *group, const wk__cpu_style *style,
                       wk__fail *fail)
{
    (void)cached, (void)group, (void)style, (void)fail;
    return true;
}
#endif

const wk__cpu_program *wk__cpu_program_acquire(wk__cpu_program *own, const wk__program *group,
                                               const wk__cpu_layout *layout, const wk__cpu_style *style, wk__fail *fail)
{
    const wk__cpu_program *cached = style->nontemporal ? NULL : lookup(group, layout, style);
    if (cached) return is_current(cached, group, style, fail) ? cached : NULL;
    if (wk__cpu_compile(own, group, style, fail) == WK_OK) return own;
    wk__cpu_program_destroy(own);
    return NULL;
}
