/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table of kernels and the list of modules; see kernel_cache.h. */
#include "kernel_cache.h"
#include "backend/gpu/lower.h"
#include "backend/gpu/codegen/codegen_epilogue.h"

#include <stdio.h>
#include <string.h>

/* ---- hash table -------------------------------------------------------------------------------------------------- */

static wk__gpu_kernel *find(const wk__gpu_kernel_cache *cache, const wk__gpu_kernel_spec *spec, uint64_t key)
{
    for (wk__gpu_kernel *kernel = cache->bucket[key % WK__GPU_BUCKETS]; kernel != NULL; kernel = kernel->next) {
        if (kernel->key == key && wk__gpu_kernel_spec_equal(&kernel->spec, spec)) return kernel;
    }
    return NULL;
}

/* Allocates the kernel and, after it, a copy of the spec's program: the kernel outlives the caller's program and its
 * memory. */
static wk__gpu_kernel *new_kernel(const wk__gpu_kernel_spec *spec)
{
    wk__gpu_kernel *kernel = wk__alloc_zero(1, sizeof *kernel + (spec->group ? sizeof *spec->group : 0));
    if (kernel == NULL) return NULL;
    kernel->spec = *spec;
    if (spec->group != NULL) {
        wk__program *group = (wk__program *)(kernel + 1);
        *group = *spec->group;
        for (int k = 0; k < group->noperands; k++) group->operand[k].memory = NULL;
        kernel->spec.group = group;
    }
    kernel->case_index = -1;
    return kernel;
}

/* ---- checks of cached kernels (debug builds) --------------------------------------------------------------------- */

#ifdef WICK_CHECK_PLANS
/* Returns true if kernels with these specs are called alike and need the same prelude. */
static bool same_call(const wk__gpu_kernel_spec *a, const wk__gpu_kernel_spec *b)
{
    return a->nmemory == b->nmemory && a->narguments == b->narguments && a->per_group == b->per_group &&
           wk__gpu_prelude_flags(a) == wk__gpu_prelude_flags(b);
}

/* Returns true if the bodies have the same source, or if memory to compare them cannot be allocated. */
static bool same_source(const wk__gpu_kernel_spec *a, const wk__gpu_kernel_spec *b)
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

/* Returns true if the kernel found for a spec is the kernel that would be built for it. Fails if not: the spec
 * then lacks something that the source depends on. */
static bool is_kernel_of(const wk__gpu_kernel *found, const wk__gpu_kernel_spec *spec, wk__fail *fail)
{
    if (same_call(&found->spec, spec) && same_source(&found->spec, spec)) return true;
    wk__fail_set(fail, WK_ERR_INTERNAL, "a wrong plan (cache): the cached kernel was compiled for another group");
    return false;
}
#else
static bool is_kernel_of(const wk__gpu_kernel *found, const wk__gpu_kernel_spec *spec, wk__fail *fail)
{
    (void)found, (void)spec, (void)fail;
    return true;
}
#endif

wk__gpu_kernel *wk__gpu_kernel_lookup(wk__gpu_kernel_cache *cache, const wk__gpu_kernel_spec *spec, wk__fail *fail)
{
    uint64_t key = wk__gpu_kernel_spec_hash(spec);
    pthread_mutex_lock(&cache->lock);
    wk__gpu_kernel *found = find(cache, spec, key);
    const bool known = found != NULL;
    if (found == NULL && (found = new_kernel(spec)) != NULL) {
        wk__gpu_kernel **bucket = &cache->bucket[key % WK__GPU_BUCKETS];
        found->key = key;
        found->next = *bucket;
        *bucket = found;
        found->pending_next = cache->pending;
        cache->pending = found;
    }
    pthread_mutex_unlock(&cache->lock);
    if (found == NULL) wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a kernel");
    return known && !is_kernel_of(found, spec, fail) ? NULL : found;
}

/* Counters may be shared and may miss concurrent uses: both only change when an epilogue is fused. */
bool wk__gpu_should_fuse_epilogue(wk__gpu_kernel_cache *cache, const wk__work *work, bool counts)
{
    if (!wk__gpu_can_fuse_epilogue(work) || wk__gpu_splits_strides(&cache->desc->target, work->args)) return false;
    const uint64_t key = (wk__program_hash(work->program) ^ work->args->operand[0].dtype) * 0x9e3779b97f4a7c15u;
    _Atomic uint8_t *counter = &cache->fuse_count[key >> 32 & (WK__GPU_FUSE_COUNTERS - 1)];
    const uint8_t uses = atomic_load_explicit(counter, memory_order_relaxed);
    if (uses >= cache->desc->target.fuse_epilogue_after) return true;
    if (counts) atomic_store_explicit(counter, (uint8_t)(uses + 1), memory_order_relaxed);
    return false;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static void free_module(const wk__gpu_kernel_cache *cache, wk__gpu_module *module)
{
    const wk__gpu_compiler *compiler = cache->compiler;
    for (int64_t k = 0; k < module->functions && module->function != NULL; k++) {
        if (module->function[k] != NULL && compiler->release_function != NULL)
            compiler->release_function(module->function[k]);
    }
    if (!cache->context_lost) compiler->release_module(module->handle);
    wk__free(module->entry);
    wk__free(module->function);
    wk__free(module);
}

/* Gets the function from the driver if it has not been used before. It stays NULL if the driver's module lacks it. */
static wk_code ensure_function(const wk__gpu_kernel_cache *cache, wk__gpu_module *module, int index, wk__fail *fail)
{
    char name[32];
    if (module->function[index] != NULL) return WK_OK;
    snprintf(name, sizeof name, "wk_%d", index);
    return cache->compiler->get_function(cache->device, module->handle, name, &module->function[index], fail);
}

wk_code wk__gpu_bind(const wk__gpu_kernel_cache *cache, wk__gpu_module *module, wk__gpu_kernel *kernel,
                     const wk__gpu_digest *digest, wk__fail *fail)
{
    for (int64_t k = 0; k < module->entries; k++) {
        const wk__gpu_module_entry *entry = &module->entry[k];
        if (memcmp(&entry->digest, digest, sizeof *digest) != 0) continue;
        const wk_code code = ensure_function(cache, module, entry->function, fail);
        if (code != WK_OK) return code;
        kernel->case_index = entry->case_index;
        kernel->memory_slots = entry->memory_slots;
        kernel->handle = module->function[entry->function];
        return WK_OK;
    }
    return WK_OK;
}

wk__gpu_module *wk__gpu_add_module(wk__gpu_kernel_cache *cache, void *handle, const wk__gpu_module_entry *entry,
                                   int64_t entries)
{
    wk__gpu_module *module = wk__alloc_zero(1, sizeof *module);
    if (module == NULL) {
        cache->compiler->release_module(handle);
        return NULL;
    }
    module->handle = handle;
    module->entries = entries;
    for (int64_t k = 0; k < entries; k++) {
        if (entry[k].function >= module->functions) module->functions = entry[k].function + 1;
    }
    module->entry = wk__alloc_zero((size_t)entries, sizeof *entry);
    module->function = wk__alloc_zero((size_t)module->functions, sizeof *module->function);
    if (module->entry == NULL || module->function == NULL) {
        free_module(cache, module);
        return NULL;
    }
    memcpy(module->entry, entry, (size_t)entries * sizeof *entry);
    module->next = cache->modules;
    cache->modules = module;
    return module;
}

/* ---- creation and destruction ------------------------------------------------------------------------------------ */

void wk__gpu_kernel_cache_init(wk__gpu_kernel_cache *cache, const wk__gpu_compiler *compiler, void *device,
                               const wk__gpu_device_desc *desc)
{
    cache->compiler = compiler;
    cache->device = device;
    cache->desc = desc;
    pthread_mutex_init(&cache->lock, NULL);
}

void wk__gpu_kernel_cache_destroy(wk__gpu_kernel_cache *cache)
{
    while (cache->modules != NULL) {
        wk__gpu_module *module = cache->modules;
        cache->modules = module->next;
        free_module(cache, module);
    }
    for (int b = 0; b < WK__GPU_BUCKETS; b++) {
        while (cache->bucket[b] != NULL) {
            wk__gpu_kernel *kernel = cache->bucket[b];
            cache->bucket[b] = kernel->next;
            wk__free(kernel);
        }
    }
    pthread_mutex_destroy(&cache->lock);
}
