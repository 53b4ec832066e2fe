/* SPDX-License-Identifier: Apache-2.0 */
/* The table of units, and the programs that hold their functions. */
#include "programs.h"

#include <stdio.h>
#include <string.h>

/* ---- the table --------------------------------------------------------------------------------------------------- */

static wk__cl_unit *find_unit(wk__cl_device *device, const wk__gpu_unit *unit, uint64_t key)
{
    for (wk__cl_unit *u = device->bucket[key % WK__CL_BUCKETS]; u != NULL; u = u->next) {
        if (u->key == key && wk__gpu_unit_same(&u->unit, unit)) return u;
    }
    return NULL;
}

/* The unit and, behind it, a copy of its group. */
static wk__cl_unit *new_unit(const wk__gpu_unit *unit)
{
    wk__cl_unit *made = wk__alloc_zero(1, sizeof *made + (unit->group ? sizeof *unit->group : 0));
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

wk__cl_unit *wk__cl_unit_of(wk__cl_device *device, const wk__gpu_unit *unit, wk__fail *fail)
{
    uint64_t key = wk__gpu_unit_key(unit);
    pthread_mutex_lock(&device->units_lock);
    wk__cl_unit *found = find_unit(device, unit, key);
    if (found == NULL && (found = new_unit(unit)) != NULL) {
        wk__cl_unit **bucket = &device->bucket[key % WK__CL_BUCKETS];
        found->key = key;
        found->next = *bucket;
        *bucket = found;
        found->waiting = device->waiting;
        device->waiting = found;
    }
    pthread_mutex_unlock(&device->units_lock);
    if (found == NULL) wk__fail_set(fail, WK_ERR_MEMORY, "no host memory for a kernel");
    return found;
}

static void free_program(wk__cl_program *program)
{
    for (int64_t k = 0; k < program->kernels && program->kernel != NULL; k++) {
        if (program->kernel[k] != NULL) wk__cl.ReleaseKernel(program->kernel[k]);
    }
    if (program->program != NULL) wk__cl.ReleaseProgram(program->program);
    wk__free(program->entry);
    wk__free(program->kernel);
    wk__free(program);
}

void wk__cl_free_programs(wk__cl_device *device)
{
    while (device->programs != NULL) {
        wk__cl_program *program = device->programs;
        device->programs = program->next;
        free_program(program);
    }
    for (int b = 0; b < WK__CL_BUCKETS; b++) {
        while (device->bucket[b] != NULL) {
            wk__cl_unit *unit = device->bucket[b];
            device->bucket[b] = unit->next;
            wk__free(unit);
        }
    }
}

/* ---- programs and their units ------------------------------------------------------------------------------------ */

static cl_kernel kernel_of(wk__cl_program *program, int number)
{
    if (program->kernel[number] == NULL) {
        char name[32];
        cl_int error;
        snprintf(name, sizeof name, "wk_%d", number);
        cl_kernel made = wk__cl.CreateKernel(program->program, name, &error);
        program->kernel[number] = error == CL_SUCCESS ? made : NULL;
    }
    return program->kernel[number];
}

bool wk__cl_bind(wk__cl_program *program, wk__cl_unit *unit, const wk__gpu_digest *digest)
{
    for (int64_t k = 0; k < program->entries; k++) {
        const wk__cl_entry *entry = &program->entry[k];
        if (memcmp(&entry->unit, digest, sizeof *digest) != 0) continue;
        unit->which = entry->which;
        unit->memory_slots = entry->memory_slots;
        unit->kernel = kernel_of(program, entry->kernel);
        return unit->kernel != NULL;
    }
    return false;
}

wk__cl_program *wk__cl_add_program(wk__cl_device *device, cl_program built, const wk__cl_entry *entry, int64_t entries)
{
    wk__cl_program *program = wk__alloc_zero(1, sizeof *program);
    if (program == NULL) {
        wk__cl.ReleaseProgram(built);
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
        free_program(program);
        return NULL;
    }
    memcpy(program->entry, entry, (size_t)entries * sizeof *entry);
    program->next = device->programs;
    device->programs = program;
    return program;
}
