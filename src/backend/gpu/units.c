/* SPDX-License-Identifier: Apache-2.0 */
/* The table of units, and the programs that hold their functions. */
#include "units.h"
#include "families.h"
#include "tail.h"

#include <stdio.h>
#include <string.h>

/* ---- the table --------------------------------------------------------------------------------------------------- */

static wk__gpu_function *find(const wk__gpu_units *units, const wk__gpu_unit *unit, uint64_t key)
{
    for (wk__gpu_function *f = units->bucket[key % WK__GPU_BUCKETS]; f != NULL; f = f->next) {
        if (f->key == key && wk__gpu_unit_same(&f->unit, unit)) return f;
    }
    return NULL;
}

/* The function and, behind it, a copy of the unit's group. */
static wk__gpu_function *new_function(const wk__gpu_unit *unit)
{
    wk__gpu_function *made = wk__alloc_zero(1, sizeof *made + (unit->group ? sizeof *unit->group : 0));
    if (made == NULL) return NULL;
    made->unit = *unit;
    if (unit->group != NULL) {
        wk__group *group = (wk__group *)(made + 1);
        *group = *unit->group;
        for (int k = 0; k < group->noperands; k++) group->operand[k].memory = NULL;
        made->unit.group = group;
    }
    made->which = -1;
    return made;
}

wk__gpu_function *wk__gpu_function_of(wk__gpu_units *units, const wk__gpu_unit *unit, wk__fail *fail)
{
    uint64_t key = wk__gpu_unit_key(unit);
    pthread_mutex_lock(&units->lock);
    wk__gpu_function *found = find(units, unit, key);
    if (found == NULL && (found = new_function(unit)) != NULL) {
        wk__gpu_function **bucket = &units->bucket[key % WK__GPU_BUCKETS];
        found->key = key;
        found->next = *bucket;
        *bucket = found;
        found->waiting = units->waiting;
        units->waiting = found;
    }
    pthread_mutex_unlock(&units->lock);
    if (found == NULL) wk__fail_set(fail, WK_ERR_MEMORY, "no host memory for a kernel");
    return found;
}

/* Two tails of one hash are counted together: then one is carried earlier, which is no matter. */
bool wk__gpu_carries(wk__gpu_units *units, const wk__work *work, bool counts)
{
    if (!wk__gpu_can_carry(work) || wk__gpu_splits(&units->card->target, work->kernel)) return false;
    const uint64_t key = (wk__group_key(work->group) ^ work->kernel->operand[0].dtype) * 0x9e3779b97f4a7c15u;
    _Atomic uint8_t *met = &units->met[key >> 32 & (WK__GPU_PAIRS - 1)];
    const uint8_t before = atomic_load_explicit(met, memory_order_relaxed);
    if (before >= units->card->target.carry_after) return true;
    if (counts) atomic_store_explicit(met, (uint8_t)(before + 1), memory_order_relaxed);
    return false;
}

/* ---- programs and their functions -------------------------------------------------------------------------------- */

static void free_program(const wk__gpu_units *units, wk__gpu_program *program)
{
    const wk__gpu_compiler *compiler = units->compiler;
    for (int64_t k = 0; k < program->kernels && program->kernel != NULL; k++) {
        if (program->kernel[k] != NULL && compiler->release_function != NULL)
            compiler->release_function(program->kernel[k]);
    }
    if (!units->programs_are_gone) compiler->release_program(program->program);
    wk__free(program->entry);
    wk__free(program->kernel);
    wk__free(program);
}

static wk_code provide_kernel(const wk__gpu_units *units, wk__gpu_program *program, int number, wk__fail *fail)
{
    char name[32];
    if (program->kernel[number] != NULL) return WK_OK;
    snprintf(name, sizeof name, "wk_%d", number);
    return units->compiler->function(units->device, program->program, name, &program->kernel[number], fail);
}

wk_code wk__gpu_bind(const wk__gpu_units *units, wk__gpu_program *program, wk__gpu_function *function,
                     const wk__gpu_digest *digest, wk__fail *fail)
{
    for (int64_t k = 0; k < program->entries; k++) {
        const wk__gpu_entry *entry = &program->entry[k];
        if (memcmp(&entry->unit, digest, sizeof *digest) != 0) continue;
        const wk_code code = provide_kernel(units, program, entry->kernel, fail);
        if (code != WK_OK) return code;
        function->which = entry->which;
        function->memory_slots = entry->memory_slots;
        function->handle = program->kernel[entry->kernel];
        return WK_OK;
    }
    return WK_OK;
}

wk__gpu_program *wk__gpu_add_program(wk__gpu_units *units, void *built, const wk__gpu_entry *entry, int64_t entries)
{
    wk__gpu_program *program = wk__alloc_zero(1, sizeof *program);
    if (program == NULL) {
        units->compiler->release_program(built);
        return NULL;
    }
    program->program = built;
    program->entries = entries;
    for (int64_t k = 0; k < entries; k++) {
        if (entry[k].kernel >= program->kernels) program->kernels = entry[k].kernel + 1;
    }
    program->entry = wk__alloc_zero((size_t)entries + 1, sizeof *entry);
    program->kernel = wk__alloc_zero((size_t)program->kernels + 1, sizeof *program->kernel);
    if (program->entry == NULL || program->kernel == NULL) {
        free_program(units, program);
        return NULL;
    }
    memcpy(program->entry, entry, (size_t)entries * sizeof *entry);
    program->next = units->programs;
    units->programs = program;
    return program;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

void wk__gpu_units_begin(wk__gpu_units *units, const wk__gpu_compiler *compiler, void *device, const wk__gpu_card *card)
{
    units->compiler = compiler;
    units->device = device;
    units->card = card;
    pthread_mutex_init(&units->lock, NULL);
}

void wk__gpu_units_end(wk__gpu_units *units)
{
    while (units->programs != NULL) {
        wk__gpu_program *program = units->programs;
        units->programs = program->next;
        free_program(units, program);
    }
    for (int b = 0; b < WK__GPU_BUCKETS; b++) {
        while (units->bucket[b] != NULL) {
            wk__gpu_function *function = units->bucket[b];
            units->bucket[b] = function->next;
            wk__free(function);
        }
    }
    pthread_mutex_destroy(&units->lock);
}
