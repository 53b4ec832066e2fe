/* SPDX-License-Identifier: Apache-2.0 */
/* Builds kernels: binds them to functions of modules that are loaded, or in the disk cache, or compiled now. All
 * pending kernels are compiled as one module: starting a compiler is slow, and each additional function is cheap. */
#include "kernel_build.h"
#include "base/platform/clock.h"
#include "base/log.h"
#include "disk_cache_module.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int64_t compilations;

int64_t wk__gpu_compilations(void)
{
    return __atomic_load_n(&compilations, __ATOMIC_RELAXED);
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* One build: kernels, the source of their bodies, and their entries in the module. Owns the arrays and the sources. */
typedef struct job {
    wk__gpu_kernel **kernel;
    wk__text *body;
    wk__gpu_module_entry *entry;
    int count;
} job;

static void free_job(job *job)
{
    for (int k = 0; job->body != NULL && k < job->count; k++) wk__text_free(&job->body[k]);
    wk__free(job->kernel);
    wk__free(job->body);
    wk__free(job->entry);
}

/* Computes the digest of everything that determines the compiled code of this kernel. Returns false on allocation
 * failure. */
static bool compute_digest(const wk__gpu_kernel_cache *cache, const wk__gpu_kernel_spec *spec, const char *body,
                           wk__gpu_digest *to)
{
    wk__gpu_digest digest = wk__gpu_digest_start();
    static const int version[] = {WK_VERSION_MAJOR, WK_VERSION_MINOR, WK_VERSION_PATCH};
    const int call[] = {spec->nmemory, spec->narguments, wk__gpu_arguments_by_value(&cache->desc->target, spec),
                        spec->source_template != NULL ? spec->source_template->min_groups_per_unit : 0};
    wk__text prelude = {0};
    wk__gpu_prelude(&prelude, &cache->desc->target, wk__gpu_prelude_flags(spec));
    wk__gpu_digest_add(&digest, version, sizeof version);
    wk__gpu_digest_add_text(&digest, cache->desc->compiler_id);
    for (int k = 0; k < WK__GPU_OPTIONS; k++) wk__gpu_digest_add_text(&digest, cache->desc->option[k]);
    wk__gpu_digest_add(&digest, call, sizeof call);
    bool good = prelude.data != NULL && !prelude.failed;
    if (good) wk__gpu_digest_add_text(&digest, prelude.data);
    wk__gpu_digest_add_text(&digest, body);
    wk__text_free(&prelude);
    *to = digest;
    return good;
}

/* Adds all pending kernels to the job. Returns false on allocation failure; they stay pending. */
static bool take_pending(wk__gpu_kernel_cache *cache, job *job)
{
    pthread_mutex_lock(&cache->lock);
    for (wk__gpu_kernel *kernel = cache->pending; kernel != NULL; kernel = kernel->pending_next) job->count++;
    job->kernel = wk__alloc_zero((size_t)job->count, sizeof *job->kernel);
    job->body = wk__alloc_zero((size_t)job->count, sizeof *job->body);
    job->entry = wk__alloc_zero((size_t)job->count, sizeof *job->entry);
    bool good = job->kernel != NULL && job->body != NULL && job->entry != NULL;
    int at = 0;
    for (wk__gpu_kernel *kernel = cache->pending; good && kernel != NULL; kernel = kernel->pending_next)
        job->kernel[at++] = kernel;
    pthread_mutex_unlock(&cache->lock);
    for (int k = 0; good && k < job->count; k++) {
        wk__gpu_codegen_body(&job->body[k], &job->kernel[k]->spec);
        good = !job->body[k].failed && job->body[k].data != NULL;
        if (good) good = compute_digest(cache, &job->kernel[k]->spec, job->body[k].data, &job->entry[k].digest);
    }
    return good;
}

/* ---- existing modules -------------------------------------------------------------------------------------------- */

/* Returns true if the build cannot continue. */
static bool is_fatal(wk_code code)
{
    return code == WK_ERR_MEMORY || code == WK_ERR_DEVICE_LOST;
}

/* Keeps the first of several failures. */
static wk_code keep_first(wk_code first, wk_code code, const wk__fail *why, wk__fail *fail)
{
    if (first != WK_OK || code == WK_OK) return first;
    *fail = *why;
    return code;
}

static wk_code bind_from_modules(wk__gpu_kernel_cache *cache, wk__gpu_kernel *kernel, const wk__gpu_digest *digest,
                                 wk__fail *fail)
{
    wk_code code = WK_OK;
    for (wk__gpu_module *p = cache->modules; p != NULL && code == WK_OK && kernel->handle == NULL; p = p->next)
        code = wk__gpu_bind(cache, p, kernel, digest, fail);
    return code;
}

/* Removes kernels from the job that loaded modules or files contain, even if the driver cannot return them now: a new
 * module would have the same problem. */
static wk_code bind_known(wk__gpu_kernel_cache *cache, int folder, job *job, wk__fail *fail)
{
    wk_code first = WK_OK;
    int left = 0;
    for (int k = 0; k < job->count && !is_fatal(first); k++) {
        wk__fail why;
        wk__gpu_digest digest = job->entry[k].digest;
        wk_code code = bind_from_modules(cache, job->kernel[k], &digest, &why);
        if (code == WK_OK && job->kernel[k]->handle == NULL && folder >= 0) {
            wk__gpu_module_load(cache, folder, digest);
            code = bind_from_modules(cache, job->kernel[k], &digest, &why);
        }
        first = keep_first(first, code, &why, fail);
        if (code != WK_OK || job->kernel[k]->handle != NULL) {
            wk__text_free(&job->body[k]);
            continue;
        }
        wk__text body = job->body[k];
        job->body[k] = (wk__text){0};
        job->kernel[left] = job->kernel[k];
        job->entry[left] = job->entry[k];
        job->body[left++] = body;
    }
    if (!is_fatal(first)) job->count = left;
    return first;
}

/* The same for a module that was built for the job. */
static wk_code bind_built(const wk__gpu_kernel_cache *cache, wk__gpu_module *module, const job *job, wk__fail *fail)
{
    wk_code first = WK_OK;
    for (int k = 0; k < job->count && !is_fatal(first); k++) {
        wk__fail why;
        wk_code code = wk__gpu_bind(cache, module, job->kernel[k], &job->entry[k].digest, &why);
        if (code == WK_OK && job->kernel[k]->handle == NULL)
            code = wk__fail_set(&why, WK_ERR_DEVICE, "driver error: a compiled kernel is missing from its module");
        first = keep_first(first, code, &why, fail);
    }
    return first;
}

/* ---- compiling --------------------------------------------------------------------------------------------------- */

/* A merged function that is being collected. */
typedef struct merged_function {
    const char *body[WK__GPU_SWITCH_CASES];
    int kernel[WK__GPU_SWITCH_CASES]; /* their indices in the job */
    int count;
    int memory_slots; /* the most buffers of a kernel */
} merged_function;

static void add_case(merged_function *merged, job *job, int k)
{
    const int nmemory = job->kernel[k]->spec.nmemory;
    job->entry[k].case_index = merged->count;
    merged->kernel[merged->count] = k;
    merged->body[merged->count++] = job->body[k].data;
    if (nmemory > merged->memory_slots) merged->memory_slots = nmemory;
}

/* Prints function number `function` and begins to collect the next. */
static void print_merged(merged_function *merged, job *job, int function, wk__text *text)
{
    char name[32];
    for (int k = 0; k < merged->count; k++) {
        job->entry[merged->kernel[k]].function = function;
        job->entry[merged->kernel[k]].memory_slots = merged->memory_slots;
    }
    snprintf(name, sizeof name, "wk_%d", function);
    wk__gpu_codegen_switch(text, name, merged->memory_slots, merged->body, merged->count);
    *merged = (merged_function){0};
}

/* Prints function number `function`, for kernel k alone. */
static void print_single(const wk__gpu_target *target, job *job, int k, int function, wk__text *text)
{
    char name[32];
    const wk__gpu_kernel_spec *spec = &job->kernel[k]->spec;
    job->entry[k].case_index = -1;
    job->entry[k].function = function;
    job->entry[k].memory_slots = spec->nmemory;
    snprintf(name, sizeof name, "wk_%d", function);
    wk__gpu_codegen_function(text, target, spec, name, job->body[k].data);
}

/* Prints the source of the job's module and fills its entries. Kernels without barriers share functions if `merge`; the
 * others have a function each. */
static void print_source(const wk__gpu_kernel_cache *cache, job *job, bool merge, wk__text *text)
{
    const wk__gpu_target *target = &cache->desc->target;
    unsigned needs = 0;
    for (int k = 0; k < job->count; k++) needs |= wk__gpu_prelude_flags(&job->kernel[k]->spec);
    wk__gpu_prelude(text, target, needs);

    int functions = 0;
    merged_function merged = {0};
    for (int k = 0; k < job->count; k++) {
        if (merge && !job->kernel[k]->spec.per_group)
            add_case(&merged, job, k);
        else
            print_single(target, job, k, functions++, text);
        if (merged.count == WK__GPU_SWITCH_CASES) print_merged(&merged, job, functions++, text);
    }
    if (merged.count > 0) print_merged(&merged, job, functions, text);
}

static int64_t milliseconds(void)
{
    return wk__monotonic_ns() / 1000000;
}

static wk_code compile(const wk__gpu_kernel_cache *cache, const char *source, void **module, wk__text *binary,
                       wk__fail *fail)
{
    const int64_t begin = milliseconds();
    __atomic_add_fetch(&compilations, 1, __ATOMIC_RELAXED);
    wk_code code = cache->compiler->compile(cache->device, source, module, binary, fail);
    wk__log(WK__LOG_KERNEL, (wk_site){0}, "%s: %zu bytes of source compiled in %lld ms", cache->desc->info.name,
            strlen(source), (long long)(milliseconds() - begin));
    return code;
}

wk_code wk__gpu_fail_compile(wk__fail *fail, const char *log)
{
    const char *first_error = strstr(log, "error:"), *said = first_error ? first_error : log;
    const size_t length = strcspn(said, "\n");
    return wk__fail_set(fail, WK_ERR_INTERNAL, "the device's compiler rejected a kernel: %.*s",
                        length < 160 ? (int)length : 160, said);
}

static wk_code build_module(wk__gpu_kernel_cache *cache, int folder, job *job, bool merge, wk__gpu_module **out,
                            wk__fail *fail)
{
    wk__text text = {0}, binary = {0};
    void *module = NULL;
    print_source(cache, job, merge, &text);
    wk_code code = text.failed ? wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for the source of a kernel")
                               : compile(cache, text.data, &module, folder >= 0 ? &binary : NULL, fail);
    wk__text_free(&text);
    if (code == WK_OK) {
        if (binary.length > 0 && !binary.failed) wk__gpu_module_save(cache, folder, job->entry, job->count, &binary);
        *out = wk__gpu_add_module(cache, module, job->entry, job->count);
        if (*out == NULL) code = wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a kernel");
    }
    wk__text_free(&binary);
    return code;
}

/* After a failure, builds each kernel separately, so that one that the compiler rejects doesn't affect the others. A
 * rejected kernel is not tried again. */
static wk_code build_each(wk__gpu_kernel_cache *cache, int folder, job *all, wk__fail *fail)
{
    wk_code first = WK_OK;
    for (int k = 0; k < all->count; k++) {
        job one = {.kernel = all->kernel + k, .body = all->body + k, .entry = all->entry + k, .count = 1};
        wk__fail why;
        wk__gpu_module *module;
        wk_code code = build_module(cache, folder, &one, false, &module, &why);
        wk__gpu_kernel *kernel = all->kernel[k];
        kernel->rejected = code == WK_ERR_INTERNAL;
        if (kernel->rejected) snprintf(kernel->reject_text, sizeof kernel->reject_text, "%.199s", why.text);
        if (code == WK_OK) code = bind_built(cache, module, &one, &why);
        first = keep_first(first, code, &why, fail);
        if (is_fatal(code)) break;
    }
    return first;
}

/* Does not compile again if the module exists but the driver cannot return a kernel. */
static wk_code build_rest(wk__gpu_kernel_cache *cache, int folder, job *job, bool merge, wk__fail *fail)
{
    wk__gpu_module *module;
    const wk_code code = build_module(cache, folder, job, merge, &module, fail);
    if (code == WK_OK) return bind_built(cache, module, job, fail);
    return code == WK_ERR_DEVICE_LOST ? code : build_each(cache, folder, job, fail);
}

/* Removes kernels from the pending list that are built or rejected. */
static void remove_built(wk__gpu_kernel_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    wk__gpu_kernel **link = &cache->pending;
    while (*link != NULL) {
        if ((*link)->handle != NULL || (*link)->rejected) {
            *link = (*link)->pending_next;
        } else {
            link = &(*link)->pending_next;
        }
    }
    pthread_mutex_unlock(&cache->lock);
}

wk_code wk__gpu_build(wk__gpu_kernel_cache *cache, bool merge, wk__fail *fail)
{
    job job = {0};
    wk_code code = WK_OK;
    if (!take_pending(cache, &job)) {
        code = wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for the source of a kernel");
    } else {
        int folder = wk__gpu_cache_open(cache->desc->has_driver_cache);
        code = bind_known(cache, folder, &job, fail);
        if (job.count > 0 && !is_fatal(code)) {
            wk__fail why;
            code = keep_first(code, build_rest(cache, folder, &job, merge, &why), &why, fail);
        }
        if (folder >= 0) close(folder);
        remove_built(cache);
    }
    free_job(&job);
    return code;
}

/* Ignores failures of other kernels of the same build. */
wk_code wk__gpu_ensure_built(wk__gpu_kernel_cache *cache, wk__gpu_kernel *kernel, wk__fail *fail)
{
    if (kernel->handle != NULL) return WK_OK;
    if (kernel->rejected) return wk__fail_set(fail, WK_ERR_INTERNAL, "%s", kernel->reject_text);
    wk_code code = wk__gpu_build(cache, false, fail);
    if (kernel->handle != NULL) return WK_OK;
    return code != WK_OK ? code : wk__fail_set(fail, WK_ERR_INTERNAL, "a kernel was not built");
}
