/* SPDX-License-Identifier: Apache-2.0 */
/* Hash table of kernels, and modules. */
#include "kernel_cache.h"
#include "backend/gpu/lower.h"
#include "backend/gpu/codegen/codegen_epilogue.h"

#include <stdio.h>
#include <string.h>

/* ---- hash table -------------------------------------------------------------------------------------------------- */

static wk__gpu_kernel *find(const wk__gpu_kernel_cache *units, const wk__gpu_kernel_spec *unit, uint64_t key)
{
    for (wk__gpu_kernel *f = units->bucket[key % WK__GPU_BUCKETS]; f != NULL; f = f->next) {
        if (f->key == key && wk__gpu_kernel_spec_equal(&f->spec, unit)) return f;
    }
    return NULL;
}

/* Allocates the kernel and, after it, a copy of the spec's program. */
static wk__gpu_kernel *new_function(const wk__gpu_kernel_spec *unit)
{
    wk__gpu_kernel *made = wk__alloc_zero(1, sizeof *made + (unit->group ? sizeof *unit->group : 0));
    if (made == NULL) return NULL;
    made->spec = *unit;
    if (unit->group != NULL) {
        wk__program *group = (wk__program *)(made + 1);
        *group = *unit->group;
        for (int k = 0; k < group->noperands; k++) group->operand[k].memory = NULL;
        made->spec.group = group;
    }
    made->case_index = -1;
    return made;
}

/* ---- checks of cached kernels (debug builds) --------------------------------------------------------------------- */

#ifdef WICK_CHECK_PLANS
static bool same_call(const wk__gpu_kernel_spec *a, const wk__gpu_kernel_spec *b)
{
    return a->nmemory == b->nmemory && a->narguments == b->narguments && a->per_group == b->per_group &&
           wk__gpu_prelude_flags(a) == wk__gpu_prelude_flags(b);
}

/* Sources are not compared if they cannot be allocated. */
static bool same_text(const wk__gpu_kernel_spec *a, const wk__gpu_kernel_spec *b)
{
    wk__text text[2] = {{0}};
    wk__alloc_untracked pause;
    wk__alloc_untracked_begin(&pause);
    wk__gpu_codegen_body(&text[0], a);
    wk__gpu_codegen_body(&text[1], b);
    const bool printed = text[0].data && text[1].data && !text[0].failed && !text[1].failed;
    const bool same = !printed || strcmp(text[0].data, text[1].data) == 0;
    wk__text_free(&text[0]);
    wk__text_free(&text[1]);
    wk__alloc_untracked_end(&pause);
    return same;
}

static bool is_current(const wk__gpu_kernel *found, const wk__gpu_kernel_spec *unit, wk__fail *fail)
{
    if (same_call(&found->spec, unit) && same_text(&found->spec, unit)) return true;
    wk__fail_set(fail, WK_ERR_INTERNAL, "a wrong plan (cache): the cached kernel was compiled for another group");
    return false;
}
#else
static bool is_current(const wk__gpu_kernel *found, const wk__gpu_kernel_spec *unit, wk__fail *fail)
{
    (void)found, (void)unit, (void)fail;
    return true;
}
#endif

wk__gpu_kernel *wk__gpu_kernel_lookup(wk__gpu_kernel_cache *units, const wk__gpu_kernel_spec *unit, wk__fail *fail)
{
    uint64_t key = wk__gpu_kernel_spec_hash(unit);
    pthread_mutex_lock(&units->lock);
    wk__gpu_kernel *found = find(units, unit, key);
    const bool known = found != NULL;
    if (found == NULL && (found = new_function(unit)) != NULL) {
        wk__gpu_kernel **bucket = &units->bucket[key % WK__GPU_BUCKETS];
        found->key = key;
        found->next = *bucket;
        *bucket = found;
        found->pending_next = units->pending;
        units->pending = found;
    }
    pthread_mutex_unlock(&units->lock);
    if (found == NULL) wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a kernel");
    return known && !is_current(found, unit, fail) ? NULL : found;
}

/* Epilogues with the same hash are counted together, which only means that one is fused earlier. */
bool wk__gpu_should_fuse_epilogue(wk__gpu_kernel_cache *units, const wk__work *work, bool counts)
{
    if (!wk__gpu_can_fuse_epilogue(work) || wk__gpu_splits_strides(&units->desc->target, work->args)) return false;
    const uint64_t key = (wk__program_hash(work->program) ^ work->args->operand[0].dtype) * 0x9e3779b97f4a7c15u;
    _Atomic uint8_t *met = &units->fuse_count[key >> 32 & (WK__GPU_FUSE_COUNTERS - 1)];
    const uint8_t before = atomic_load_explicit(met, memory_order_relaxed);
    if (before >= units->desc->target.fuse_epilogue_after) return true;
    if (counts) atomic_store_explicit(met, (uint8_t)(before + 1), memory_order_relaxed);
    return false;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static void free_program(const wk__gpu_kernel_cache *units, wk__gpu_module *program)
{
    const wk__gpu_compiler *compiler = units->compiler;
    for (int64_t k = 0; k < program->kernels && program->kernel != NULL; k++) {
        if (program->kernel[k] != NULL && compiler->release_kernel != NULL)
            compiler->release_kernel(program->kernel[k]);
    }
    if (!units->context_lost) compiler->release_module(program->module);
    wk__free(program->entry);
    wk__free(program->kernel);
    wk__free(program);
}

static wk_code ensure_kernel(const wk__gpu_kernel_cache *units, wk__gpu_module *program, int number, wk__fail *fail)
{
    char name[32];
    if (program->kernel[number] != NULL) return WK_OK;
    snprintf(name, sizeof name, "wk_%d", number);
    return units->compiler->get_kernel(units->device, program->module, name, &program->kernel[number], fail);
}

wk_code wk__gpu_bind(const wk__gpu_kernel_cache *units, wk__gpu_module *program, wk__gpu_kernel *function,
                     const wk__gpu_digest *digest, wk__fail *fail)
{
    for (int64_t k = 0; k < program->entries; k++) {
        const wk__gpu_module_entry *entry = &program->entry[k];
        if (memcmp(&entry->unit, digest, sizeof *digest) != 0) continue;
        const wk_code code = ensure_kernel(units, program, entry->kernel, fail);
        if (code != WK_OK) return code;
        function->case_index = entry->which;
        function->memory_slots = entry->memory_slots;
        function->handle = program->kernel[entry->kernel];
        return WK_OK;
    }
    return WK_OK;
}

wk__gpu_module *wk__gpu_add_module(wk__gpu_kernel_cache *units, void *built, const wk__gpu_module_entry *entry,
                                   int64_t entries)
{
    wk__gpu_module *program = wk__alloc_zero(1, sizeof *program);
    if (program == NULL) {
        units->compiler->release_module(built);
        return NULL;
    }
    program->module = built;
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
    program->next = units->modules;
    units->modules = program;
    return program;
}

/* ---- creation and destruction ------------------------------------------------------------------------------------ */

void wk__gpu_kernel_cache_init(wk__gpu_kernel_cache *units, const wk__gpu_compiler *compiler, void *device,
                               const wk__gpu_device_desc *card)
{
    units->compiler = compiler;
    units->device = device;
    units->desc = card;
    pthread_mutex_init(&units->lock, NULL);
}

void wk__gpu_kernel_cache_destroy(wk__gpu_kernel_cache *units)
{
    while (units->modules != NULL) {
        wk__gpu_module *program = units->modules;
        units->modules = program->next;
        free_program(units, program);
    }
    for (int b = 0; b < WK__GPU_BUCKETS; b++) {
        while (units->bucket[b] != NULL) {
            wk__gpu_kernel *function = units->bucket[b];
            units->bucket[b] = function->next;
            wk__free(function);
        }
    }
    pthread_mutex_destroy(&units->lock);
}
