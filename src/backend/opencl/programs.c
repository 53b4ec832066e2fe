/* SPDX-License-Identifier: Apache-2.0 */
/* From units to functions of the device. All units that wait are built in one program: a compiler takes long to begin,
 * and little for each function more. */
#include "programs.h"
#include "../../base/log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MERGED = 64 /* units in one kernel: a function's compile time grows faster than its length */ };

static int64_t compilations;

int64_t wk__cl_compilations(void)
{
    return __atomic_load_n(&compilations, __ATOMIC_RELAXED);
}

/* ---- what is to be built ----------------------------------------------------------------------------------------- */

/* One build: units with the text of their bodies and their digests. */
typedef struct job {
    wk__cl_unit **unit;
    wk__text *body;
    wk__cl_entry *entry;
    int count;
} job;

static void free_job(job *job)
{
    for (int k = 0; job->body != NULL && k < job->count; k++) wk__text_end(&job->body[k]);
    wk__free(job->unit);
    wk__free(job->body);
    wk__free(job->entry);
}

/* The digest is over all that decides what the compiler makes of the unit alone. False: memory is short. */
static bool take_digest(const wk__cl_card *card, const wk__cl_unit *unit, const char *body, wk__gpu_digest *to)
{
    wk__gpu_digest digest = wk__gpu_digest_start();
    static const int version[] = {WK_VERSION_MAJOR, WK_VERSION_MINOR, WK_VERSION_PATCH};
    const int call[] = {unit->unit.nmemory, unit->unit.narguments,
                        wk__gpu_arguments_by_value(&card->target, &unit->unit)};
    wk__text prelude = {0};
    wk__gpu_prelude(&prelude, &card->target, wk__gpu_needs(&unit->unit));
    wk__gpu_digest_add(&digest, version, sizeof version);
    wk__gpu_digest_add_text(&digest, card->info.name);
    wk__gpu_digest_add_text(&digest, card->info.vendor);
    wk__gpu_digest_add_text(&digest, card->info.driver);
    wk__gpu_digest_add_text(&digest, card->options);
    wk__gpu_digest_add(&digest, call, sizeof call);
    bool good = prelude.data != NULL && !prelude.failed;
    if (good) wk__gpu_digest_add_text(&digest, prelude.data);
    wk__gpu_digest_add_text(&digest, body);
    wk__text_end(&prelude);
    *to = digest;
    return good;
}

/* Takes all units that wait. False when memory is short: they wait on. */
static bool collect(wk__cl_device *device, job *job)
{
    pthread_mutex_lock(&device->units_lock);
    for (wk__cl_unit *u = device->waiting; u != NULL; u = u->waiting) job->count++;
    job->unit = wk__alloc_zero((size_t)job->count + 1, sizeof *job->unit);
    job->body = wk__alloc_zero((size_t)job->count + 1, sizeof *job->body);
    job->entry = wk__alloc_zero((size_t)job->count + 1, sizeof *job->entry);
    bool good = job->unit != NULL && job->body != NULL && job->entry != NULL;
    int at = 0;
    for (wk__cl_unit *u = device->waiting; good && u != NULL; u = u->waiting) job->unit[at++] = u;
    pthread_mutex_unlock(&device->units_lock);
    for (int k = 0; good && k < job->count; k++) {
        wk__gpu_print(&job->body[k], &job->unit[k]->unit);
        good = !job->body[k].failed && job->body[k].data != NULL;
        if (good) good = take_digest(device->card, job->unit[k], job->body[k].data, &job->entry[k].unit);
    }
    return good;
}

static bool bind_loaded(wk__cl_device *device, wk__cl_unit *unit, const wk__gpu_digest *digest)
{
    for (wk__cl_program *p = device->programs; p != NULL; p = p->next) {
        if (wk__cl_bind(p, unit, digest)) return true;
    }
    return false;
}

/* Takes from the job what earlier programs or files have. */
static void bind_known(wk__cl_device *device, int folder, job *job)
{
    int left = 0;
    for (int k = 0; k < job->count; k++) {
        wk__gpu_digest digest = job->entry[k].unit;
        bool found = bind_loaded(device, job->unit[k], &digest);
        if (!found && folder >= 0) {
            wk__cl_load_file(device, folder, digest);
            found = bind_loaded(device, job->unit[k], &digest);
        }
        if (found) {
            wk__text_end(&job->body[k]);
            continue;
        }
        wk__text body = job->body[k];
        job->body[k] = (wk__text){0};
        job->unit[left] = job->unit[k];
        job->entry[left] = job->entry[k];
        job->body[left++] = body;
    }
    job->count = left;
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

/* Units without barriers share kernels when the program is merged; each other unit gets a kernel of its own. */
static void print_program(wk__cl_device *device, job *job, bool merged, wk__text *text)
{
    const wk__gpu_target *target = &device->card->target;
    unsigned needs = 0;
    for (int k = 0; k < job->count; k++) needs |= wk__gpu_needs(&job->unit[k]->unit);
    wk__gpu_prelude(text, target, needs);

    const char *bodies[MERGED];
    int kernels = 0, in_bodies = 0, members[MERGED], slots = 0;
    char name[32];
    for (int k = 0; k <= job->count; k++) {
        bool joins = k < job->count && merged && !job->unit[k]->unit.by_group;
        if (joins) {
            const wk__gpu_unit *unit = &job->unit[k]->unit;
            members[in_bodies] = k;
            job->entry[k].which = in_bodies;
            bodies[in_bodies++] = job->body[k].data;
            if (unit->nmemory > slots) slots = unit->nmemory;
        } else if (k < job->count) {
            job->entry[k].which = -1;
            job->entry[k].kernel = kernels;
            job->entry[k].memory_slots = job->unit[k]->unit.nmemory;
            snprintf(name, sizeof name, "wk_%d", kernels++);
            wk__gpu_print_function(text, target, &job->unit[k]->unit, name, job->body[k].data);
        }
        if (in_bodies == MERGED || (k == job->count && in_bodies > 0)) {
            for (int m = 0; m < in_bodies; m++) {
                job->entry[members[m]].kernel = kernels;
                job->entry[members[m]].memory_slots = slots;
            }
            snprintf(name, sizeof name, "wk_%d", kernels++);
            wk__gpu_print_merged(text, name, slots, bodies, in_bodies);
            in_bodies = slots = 0;
        }
    }
}

static int64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static wk_code compile(wk__cl_device *device, const char *source, cl_program *program, wk__fail *fail)
{
    cl_device id = device->card->id;
    cl_int error;
    *program = wk__cl.CreateProgramWithSource(device->context, 1, &source, NULL, &error);
    if (error != CL_SUCCESS) return wk__cl_failed(fail, error, "creating a program");
    __atomic_add_fetch(&compilations, 1, __ATOMIC_RELAXED);
    const int64_t begin = milliseconds();
    error = wk__cl.BuildProgram(*program, 1, &id, device->card->options, NULL, NULL);
    wk__log(WK__LOG_KERNEL, (wk_site){0}, "%s: %zu bytes of source compiled in %lld ms", device->card->info.name,
            strlen(source), (long long)(milliseconds() - begin));
    if (error == CL_SUCCESS) return WK_OK;
    if (wk__cl_failed(fail, error, "compiling a kernel") != WK_ERR_INTERNAL) { /* the compiler found no memory */
        wk__cl.ReleaseProgram(*program);
        return fail->code;
    }
    char log[8192] = "";
    wk__cl.GetProgramBuildInfo(*program, id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    log[sizeof log - 1] = '\0';
    wk__cl.ReleaseProgram(*program);
    const char *first_error = strstr(log, "error:"), *said = first_error ? first_error : log;
    const size_t length = strcspn(said, "\n");
    wk__fail_set(fail, WK_ERR_INTERNAL, "the device's compiler refused a kernel: %.*s",
                 length < 160 ? (int)length : 160, said);
    return WK_ERR_INTERNAL;
}

/* The program's binary, NULL when the driver gives none; the caller frees it. */
static char *binary_of(cl_program program, size_t *bytes)
{
    *bytes = 0;
    if (wk__cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *bytes, bytes, NULL) != CL_SUCCESS) return NULL;
    char *binary = *bytes > 0 ? wk__alloc(*bytes) : NULL;
    if (binary == NULL) return NULL;
    if (wk__cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS) return binary;
    wk__free(binary);
    return NULL;
}

static wk_code build_rest(wk__cl_device *device, int folder, job *job, bool merged, wk__fail *fail)
{
    wk__text text = {0};
    cl_program program = NULL;
    print_program(device, job, merged, &text);
    wk_code code = text.failed ? wk__fail_set(fail, WK_ERR_MEMORY, "no host memory for the text of a kernel")
                               : compile(device, text.data, &program, fail);
    wk__text_end(&text);
    if (code != WK_OK) return code;
    if (folder >= 0) {
        size_t bytes;
        char *binary = binary_of(program, &bytes);
        if (binary != NULL) wk__cl_save_file(folder, job->entry, job->count, binary, bytes);
        wk__free(binary);
    }
    wk__cl_program *added = wk__cl_add_program(device, program, job->entry, job->count);
    bool good = added != NULL;
    for (int k = 0; good && k < job->count; k++) good = wk__cl_bind(added, job->unit[k], &job->entry[k].unit);
    return good ? WK_OK : wk__fail_set(fail, WK_ERR_MEMORY, "no memory for a kernel");
}

/* A unit that the compiler refuses must not take the others with it: after a failure each is built alone, and one that
 * fails again is not tried any more. */
static wk_code build_each(wk__cl_device *device, int folder, job *all, wk__fail *fail)
{
    wk_code first = WK_OK;
    for (int k = 0; k < all->count; k++) {
        job one = {.unit = all->unit + k, .body = all->body + k, .entry = all->entry + k, .count = 1};
        wk__fail why;
        wk_code code = build_rest(device, folder, &one, false, &why);
        all->unit[k]->refused = code == WK_ERR_INTERNAL;
        if (all->unit[k]->refused) snprintf(all->unit[k]->refusal, sizeof all->unit[k]->refusal, "%.199s", why.text);
        if (code == WK_OK || first != WK_OK) continue;
        first = code;
        *fail = why;
    }
    return first;
}

/* Units that have their function wait no longer, and those that never will. */
static void update_waiting(wk__cl_device *device)
{
    pthread_mutex_lock(&device->units_lock);
    wk__cl_unit **link = &device->waiting;
    while (*link != NULL) {
        if ((*link)->kernel != NULL || (*link)->refused) {
            *link = (*link)->waiting;
        } else {
            link = &(*link)->waiting;
        }
    }
    pthread_mutex_unlock(&device->units_lock);
}

wk_code wk__cl_build(wk__cl_device *device, bool merged, wk__fail *fail)
{
    job job = {0};
    wk_code code = WK_OK;
    if (!collect(device, &job)) {
        code = wk__fail_set(fail, WK_ERR_MEMORY, "no host memory for the text of a kernel");
    } else {
        int folder = wk__gpu_cache_open(device->card->driver_caches);
        bind_known(device, folder, &job);
        if (job.count > 0 && build_rest(device, folder, &job, merged, fail) != WK_OK) {
            code = build_each(device, folder, &job, fail);
        }
        if (folder >= 0) close(folder);
        update_waiting(device);
    }
    free_job(&job);
    return code;
}
