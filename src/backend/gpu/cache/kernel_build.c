/* SPDX-License-Identifier: Apache-2.0 */
/* Builds kernels. All pending kernels are compiled as one module: starting a compiler is slow, and each additional
 * function is cheap. */
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

/* One build: kernels with the source of their bodies, and digests in the entries. */
typedef struct job {
    wk__gpu_kernel **function;
    wk__text *body;
    wk__gpu_module_entry *entry;
    int count;
} job;

static void free_job(job *job)
{
    for (int k = 0; job->body != NULL && k < job->count; k++) wk__text_free(&job->body[k]);
    wk__free(job->function);
    wk__free(job->body);
    wk__free(job->entry);
}

/* Computes the digest of everything that determines the compiled code of this kernel. Returns false on allocation
 * failure. */
static bool compute_digest(const wk__gpu_kernel_cache *units, const wk__gpu_kernel_spec *unit, const char *body,
                           wk__gpu_digest *to)
{
    wk__gpu_digest digest = wk__gpu_digest_start();
    static const int version[] = {WK_VERSION_MAJOR, WK_VERSION_MINOR, WK_VERSION_PATCH};
    const int call[] = {unit->nmemory, unit->narguments, wk__gpu_arguments_by_value(&units->desc->target, unit),
                        unit->source_template != NULL ? unit->source_template->min_groups_per_unit : 0};
    wk__text prelude = {0};
    wk__gpu_prelude(&prelude, &units->desc->target, wk__gpu_prelude_flags(unit));
    wk__gpu_digest_add(&digest, version, sizeof version);
    wk__gpu_digest_add_text(&digest, units->desc->compiler_id);
    for (int k = 0; k < WK__GPU_OPTIONS; k++) wk__gpu_digest_add_text(&digest, units->desc->option[k]);
    wk__gpu_digest_add(&digest, call, sizeof call);
    bool good = prelude.data != NULL && !prelude.failed;
    if (good) wk__gpu_digest_add_text(&digest, prelude.data);
    wk__gpu_digest_add_text(&digest, body);
    wk__text_free(&prelude);
    *to = digest;
    return good;
}

/* Adds all pending kernels to the job. Returns false on allocation failure; they stay pending. */
static bool take_pending(wk__gpu_kernel_cache *units, job *job)
{
    pthread_mutex_lock(&units->lock);
    for (wk__gpu_kernel *f = units->pending; f != NULL; f = f->pending_next) job->count++;
    job->function = wk__alloc_zero((size_t)job->count + 1, sizeof *job->function);
    job->body = wk__alloc_zero((size_t)job->count + 1, sizeof *job->body);
    job->entry = wk__alloc_zero((size_t)job->count + 1, sizeof *job->entry);
    bool good = job->function != NULL && job->body != NULL && job->entry != NULL;
    int at = 0;
    for (wk__gpu_kernel *f = units->pending; good && f != NULL; f = f->pending_next) job->function[at++] = f;
    pthread_mutex_unlock(&units->lock);
    for (int k = 0; good && k < job->count; k++) {
        wk__gpu_codegen_body(&job->body[k], &job->function[k]->spec);
        good = !job->body[k].failed && job->body[k].data != NULL;
        if (good) good = compute_digest(units, &job->function[k]->spec, job->body[k].data, &job->entry[k].unit);
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

static wk_code bind_from_modules(wk__gpu_kernel_cache *units, wk__gpu_kernel *function, const wk__gpu_digest *digest,
                                 wk__fail *fail)
{
    wk_code code = WK_OK;
    for (wk__gpu_module *p = units->modules; p != NULL && code == WK_OK && function->handle == NULL; p = p->next)
        code = wk__gpu_bind(units, p, function, digest, fail);
    return code;
}

/* Removes kernels from the job that loaded modules or files contain, even if the driver cannot return them now: a new
 * module would have the same problem. */
static wk_code bind_known(wk__gpu_kernel_cache *units, int folder, job *job, wk__fail *fail)
{
    wk_code first = WK_OK;
    int left = 0;
    for (int k = 0; k < job->count && !is_fatal(first); k++) {
        wk__fail why;
        wk__gpu_digest digest = job->entry[k].unit;
        wk_code code = bind_from_modules(units, job->function[k], &digest, &why);
        if (code == WK_OK && job->function[k]->handle == NULL && folder >= 0) {
            wk__gpu_module_load(units, folder, digest);
            code = bind_from_modules(units, job->function[k], &digest, &why);
        }
        first = keep_first(first, code, &why, fail);
        if (code != WK_OK || job->function[k]->handle != NULL) {
            wk__text_free(&job->body[k]);
            continue;
        }
        wk__text body = job->body[k];
        job->body[k] = (wk__text){0};
        job->function[left] = job->function[k];
        job->entry[left] = job->entry[k];
        job->body[left++] = body;
    }
    if (!is_fatal(first)) job->count = left;
    return first;
}

/* The same for a module that was built for the job. */
static wk_code bind_built(const wk__gpu_kernel_cache *units, wk__gpu_module *program, const job *job, wk__fail *fail)
{
    wk_code first = WK_OK;
    for (int k = 0; k < job->count && !is_fatal(first); k++) {
        wk__fail why;
        wk_code code = wk__gpu_bind(units, program, job->function[k], &job->entry[k].unit, &why);
        if (code == WK_OK && job->function[k]->handle == NULL)
            code = wk__fail_set(&why, WK_ERR_DEVICE, "driver error: a compiled kernel is missing from its module");
        first = keep_first(first, code, &why, fail);
    }
    return first;
}

/* ---- compiling --------------------------------------------------------------------------------------------------- */

/* Kernels without barriers share functions if `merged`; the others have a function each. */
static void print_program(const wk__gpu_kernel_cache *units, job *job, bool merged, wk__text *text)
{
    const wk__gpu_target *target = &units->desc->target;
    unsigned needs = 0;
    for (int k = 0; k < job->count; k++) needs |= wk__gpu_prelude_flags(&job->function[k]->spec);
    wk__gpu_prelude(text, target, needs);

    const char *bodies[WK__GPU_SWITCH_CASES];
    int kernels = 0, in_bodies = 0, members[WK__GPU_SWITCH_CASES], slots = 0;
    char name[32];
    for (int k = 0; k <= job->count; k++) {
        bool joins = k < job->count && merged && !job->function[k]->spec.per_group;
        if (joins) {
            const wk__gpu_kernel_spec *unit = &job->function[k]->spec;
            members[in_bodies] = k;
            job->entry[k].which = in_bodies;
            bodies[in_bodies++] = job->body[k].data;
            if (unit->nmemory > slots) slots = unit->nmemory;
        } else if (k < job->count) {
            job->entry[k].which = -1;
            job->entry[k].kernel = kernels;
            job->entry[k].memory_slots = job->function[k]->spec.nmemory;
            snprintf(name, sizeof name, "wk_%d", kernels++);
            wk__gpu_codegen_function(text, target, &job->function[k]->spec, name, job->body[k].data);
        }
        if (in_bodies == WK__GPU_SWITCH_CASES || (k == job->count && in_bodies > 0)) {
            for (int m = 0; m < in_bodies; m++) {
                job->entry[members[m]].kernel = kernels;
                job->entry[members[m]].memory_slots = slots;
            }
            snprintf(name, sizeof name, "wk_%d", kernels++);
            wk__gpu_codegen_switch(text, name, slots, bodies, in_bodies);
            in_bodies = slots = 0;
        }
    }
}

static int64_t milliseconds(void)
{
    return wk__monotonic_ns() / 1000000;
}

static wk_code compile(const wk__gpu_kernel_cache *units, const char *source, void **program, wk__text *binary,
                       wk__fail *fail)
{
    const int64_t begin = milliseconds();
    __atomic_add_fetch(&compilations, 1, __ATOMIC_RELAXED);
    wk_code code = units->compiler->compile(units->device, source, program, binary, fail);
    wk__log(WK__LOG_KERNEL, (wk_site){0}, "%s: %zu bytes of source compiled in %lld ms", units->desc->info.name,
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

static wk_code build_program(wk__gpu_kernel_cache *units, int folder, job *job, bool merged, wk__gpu_module **out,
                             wk__fail *fail)
{
    wk__text text = {0}, binary = {0};
    void *program = NULL;
    print_program(units, job, merged, &text);
    wk_code code = text.failed ? wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for the source of a kernel")
                               : compile(units, text.data, &program, folder >= 0 ? &binary : NULL, fail);
    wk__text_free(&text);
    if (code == WK_OK) {
        if (binary.length > 0 && !binary.failed) wk__gpu_module_save(units, folder, job->entry, job->count, &binary);
        *out = wk__gpu_add_module(units, program, job->entry, job->count);
        if (*out == NULL) code = wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a kernel");
    }
    wk__text_free(&binary);
    return code;
}

/* After a failure, builds each kernel separately, so that one that the compiler rejects doesn't affect the others. A
 * rejected kernel is not tried again. */
static wk_code build_each(wk__gpu_kernel_cache *units, int folder, job *all, wk__fail *fail)
{
    wk_code first = WK_OK;
    for (int k = 0; k < all->count; k++) {
        job one = {.function = all->function + k, .body = all->body + k, .entry = all->entry + k, .count = 1};
        wk__fail why;
        wk__gpu_module *program;
        wk_code code = build_program(units, folder, &one, false, &program, &why);
        wk__gpu_kernel *function = all->function[k];
        function->rejected = code == WK_ERR_INTERNAL;
        if (function->rejected) snprintf(function->reject_text, sizeof function->reject_text, "%.199s", why.text);
        if (code == WK_OK) code = bind_built(units, program, &one, &why);
        first = keep_first(first, code, &why, fail);
        if (is_fatal(code)) break;
    }
    return first;
}

/* Does not compile again if the module exists but the driver cannot return a kernel. */
static wk_code build_rest(wk__gpu_kernel_cache *units, int folder, job *job, bool merged, wk__fail *fail)
{
    wk__gpu_module *program;
    const wk_code code = build_program(units, folder, job, merged, &program, fail);
    if (code == WK_OK) return bind_built(units, program, job, fail);
    return code == WK_ERR_DEVICE_LOST ? code : build_each(units, folder, job, fail);
}

/* Removes kernels from the pending list that are built or rejected. */
static void remove_built(wk__gpu_kernel_cache *units)
{
    pthread_mutex_lock(&units->lock);
    wk__gpu_kernel **link = &units->pending;
    while (*link != NULL) {
        if ((*link)->handle != NULL || (*link)->rejected) {
            *link = (*link)->pending_next;
        } else {
            link = &(*link)->pending_next;
        }
    }
    pthread_mutex_unlock(&units->lock);
}

wk_code wk__gpu_build(wk__gpu_kernel_cache *units, bool merged, wk__fail *fail)
{
    job job = {0};
    wk_code code = WK_OK;
    if (!take_pending(units, &job)) {
        code = wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for the source of a kernel");
    } else {
        int folder = wk__gpu_cache_open(units->desc->has_driver_cache);
        code = bind_known(units, folder, &job, fail);
        if (job.count > 0 && !is_fatal(code)) {
            wk__fail why;
            code = keep_first(code, build_rest(units, folder, &job, merged, &why), &why, fail);
        }
        if (folder >= 0) close(folder);
        remove_built(units);
    }
    free_job(&job);
    return code;
}

/* Ignores failures of other kernels of the same build. */
wk_code wk__gpu_ensure_built(wk__gpu_kernel_cache *units, wk__gpu_kernel *function, wk__fail *fail)
{
    if (function->handle != NULL) return WK_OK;
    if (function->rejected) return wk__fail_set(fail, WK_ERR_INTERNAL, "%s", function->reject_text);
    wk_code code = wk__gpu_build(units, false, fail);
    if (function->handle != NULL) return WK_OK;
    return code != WK_OK ? code : wk__fail_set(fail, WK_ERR_INTERNAL, "a kernel was not built");
}
