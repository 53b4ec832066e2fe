/* From units to functions of the device: the table of units, the compiler, and what the disk remembers of it.
 *
 * All units that wait are built in one program: a compiler takes long to begin and little for each function more. The
 * program that was built is read back as a binary, and that is what runs, the first time too: PoCL would otherwise
 * compile each function once for the file and once more at its first launch. A file is
 *
 *     header | an entry per unit: digest, number of the kernel, of the unit in it, parameters | binary
 *
 * and has a name (a link) for each of its units, so that a process that needs other units together finds them too. */
#include "../gpu/cache.h"
#include "device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char magic[16] = "wick opencl 1\n";

enum { MERGED = 64 /* units in one kernel: a function's compile time grows faster than its length */ };
static const int64_t largest_file = (int64_t)256 << 20;

typedef struct file_header {
    char magic[16];
    wk__gpu_digest check; /* of all that follows */
    int64_t entries;
    int64_t binary;       /* bytes */
} file_header;

typedef struct file_entry {
    wk__gpu_digest unit;
    int32_t kernel; /* wk_<kernel> is the function's name */
    int32_t which, memory_slots;
    int32_t unused;
} file_entry;

struct wk__cl_program {
    wk__cl_program *next;
    cl_program program;
    int64_t entries, kernels;
    file_entry *entry;
    cl_kernel *kernel; /* made when first wanted */
};

static int64_t compilations;

int64_t wk__cl_compilations(void)
{
    return __atomic_load_n(&compilations, __ATOMIC_RELAXED);
}

/* ---- the table ----------------------------------------------------------------------------------------------------- */

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
    for (int64_t k = 0; k < program->kernels; k++) {
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

/* ---- what is to be built ------------------------------------------------------------------------------------------- */

/* One build: units with the text of their bodies and their digests. */
typedef struct job {
    wk__cl_unit **unit;
    wk__text *body;
    file_entry *entry;
    int count;
    } job;

static void free_job(job *job)
{
    for (int k = 0; job->body != NULL && k < job->count; k++) wk__text_end(&job->body[k]);
    wk__free(job->unit);
    wk__free(job->body);
    wk__free(job->entry);
}

/* The digest is over all that decides what the compiler makes of the unit alone. */
static wk__gpu_digest digest_of(const wk__cl_card *card, const wk__cl_unit *unit, const char *body)
{
    wk__gpu_digest digest = wk__gpu_digest_start();
    static const int version[] = {WK_VERSION_MAJOR, WK_VERSION_MINOR, WK_VERSION_PATCH};
    wk__text prelude = {0};
    wk__gpu_prelude(&prelude, &card->target, wk__gpu_needs(&unit->unit));
    wk__gpu_digest_add(&digest, version, sizeof version);
    wk__gpu_digest_add_text(&digest, card->info.name);
    wk__gpu_digest_add_text(&digest, card->info.vendor);
    wk__gpu_digest_add_text(&digest, card->info.driver);
    wk__gpu_digest_add_text(&digest, card->options);
    wk__gpu_digest_add(&digest, &card->target, sizeof card->target);
    if (prelude.data != NULL) wk__gpu_digest_add_text(&digest, prelude.data);
    wk__gpu_digest_add(&digest, &unit->unit.narguments, sizeof unit->unit.narguments);
    wk__gpu_digest_add_text(&digest, body);
    wk__text_end(&prelude);
    return digest;
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
        if (good) job->entry[k].unit = digest_of(device->card, job->unit[k], job->body[k].data);
    }
    return good;
}

/* ---- programs and their units -------------------------------------------------------------------------------------- */

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

/* Gives the unit its function if the program has it. */
static bool bind_unit(wk__cl_program *program, wk__cl_unit *unit, const wk__gpu_digest *digest)
{
    for (int64_t k = 0; k < program->entries; k++) {
        const file_entry *entry = &program->entry[k];
        if (memcmp(&entry->unit, digest, sizeof *digest) != 0) continue;
        unit->which = entry->which;
        unit->memory_slots = entry->memory_slots;
        unit->kernel = kernel_of(program, entry->kernel);
        return unit->kernel != NULL;
    }
    return false;
}

static bool bind_loaded(wk__cl_device *device, wk__cl_unit *unit, const wk__gpu_digest *digest)
{
    for (wk__cl_program *p = device->programs; p != NULL; p = p->next) {
        if (bind_unit(p, unit, digest)) return true;
    }
    return false;
}

/* A program around `built`, with a copy of the entries; takes `built` over. */
static wk__cl_program *add_program(wk__cl_device *device, cl_program built, const file_entry *entry, int64_t entries)
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

static cl_program program_of_binary(wk__cl_device *device, const char *binary, int64_t bytes)
{
    cl_device id = device->card->id;
    size_t size = (size_t)bytes;
    const unsigned char *data = (const unsigned char *)binary;
    cl_int state, error;
    cl_program program = wk__cl.CreateProgramWithBinary(device->context, 1, &id, &size, &data, &state, &error);
    if (error != CL_SUCCESS) return NULL;
    if (state == CL_SUCCESS && wk__cl.BuildProgram(program, 1, &id, device->card->options, NULL, NULL) == CL_SUCCESS) {
        return program;
    }
    wk__cl.ReleaseProgram(program);
    return NULL;
}

/* ---- files --------------------------------------------------------------------------------------------------------- */

/* Looks whether a file's content is whole and what it says it is. */
static bool file_is_good(const wk__text *content, file_header *header)
{
    if (content->length < (int64_t)sizeof *header) return false;
    memcpy(header, content->data, sizeof *header);
    int64_t rest = content->length - (int64_t)sizeof *header, table;
    if (memcmp(header->magic, magic, sizeof magic) != 0 || header->entries < 1 || header->binary < 1) return false;
    if (!wk__mul_size(header->entries, sizeof(file_entry), &table) || table > rest || header->binary != rest - table) {
        return false;
    }
    wk__gpu_digest check = wk__gpu_digest_start();
    wk__gpu_digest_add(&check, content->data + sizeof *header, (size_t)rest);
    return memcmp(&check, &header->check, sizeof check) == 0;
}

static bool entries_are_good(const file_entry *entry, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        if (entry[k].kernel < 0 || entry[k].kernel >= count || entry[k].memory_slots < 0 ||
            entry[k].memory_slots > WK__MAX_OPERANDS + 1) {
            return false;
        }
    }
    return true;
}

static void load_file(wk__cl_device *device, int folder, wk__gpu_digest digest)
{
    wk__text content = {0};
    file_header header;
    if (wk__gpu_cache_read(folder, digest, largest_file, &content) && file_is_good(&content, &header)) {
        const char *table = content.data + sizeof header, *binary = content.data + content.length - header.binary;
        file_entry *entry = wk__alloc_zero((size_t)header.entries, sizeof *entry);
        if (entry != NULL) memcpy(entry, table, (size_t)header.entries * sizeof *entry);
        if (entry != NULL && entries_are_good(entry, header.entries)) {
            cl_program program = program_of_binary(device, binary, header.binary);
            if (program != NULL) add_program(device, program, entry, header.entries);
        }
        wk__free(entry);
    }
    wk__text_end(&content);
}

/* Takes from the job what earlier programs or files have. */
static void bind_known(wk__cl_device *device, int folder, job *job)
{
    int left = 0;
    for (int k = 0; k < job->count; k++) {
        wk__gpu_digest digest = job->entry[k].unit;
        bool found = bind_loaded(device, job->unit[k], &digest);
        if (!found && folder >= 0) {
            load_file(device, folder, digest);
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

static void save_file(int folder, const job *job, const char *binary, size_t bytes)
{
    wk__text content = {0};
    file_header header = {.check = wk__gpu_digest_start(), .entries = job->count, .binary = (int64_t)bytes};
    size_t table = (size_t)job->count * sizeof *job->entry;
    memcpy(header.magic, magic, sizeof magic);
    wk__gpu_digest_add(&header.check, job->entry, table);
    wk__gpu_digest_add(&header.check, binary, bytes);
    wk__text_add_n(&content, (const char *)&header, sizeof header);
    wk__text_add_n(&content, (const char *)job->entry, (int64_t)table);
    wk__text_add_n(&content, binary, (int64_t)bytes);
    wk__gpu_digest *names = wk__alloc_zero((size_t)job->count, sizeof *names);
    if (!content.failed && names != NULL) {
        for (int k = 0; k < job->count; k++) names[k] = job->entry[k].unit;
        wk__gpu_cache_write(folder, names, job->count, content.data, content.length);
    }
    wk__free(names);
    wk__text_end(&content);
}

/* ---- building ------------------------------------------------------------------------------------------------------ */

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

static wk_code compile(wk__cl_device *device, const char *source, cl_program *program, wk__fail *fail)
{
    cl_device id = device->card->id;
    cl_int error;
    *program = wk__cl.CreateProgramWithSource(device->context, 1, &source, NULL, &error);
    if (error != CL_SUCCESS) return wk__cl_failed(fail, error, "creating a program");
    __atomic_add_fetch(&compilations, 1, __ATOMIC_RELAXED);
    error = wk__cl.BuildProgram(*program, 1, &id, device->card->options, NULL, NULL);
    if (error == CL_SUCCESS) return WK_OK;
    char log[8192] = "";
    wk__cl.GetProgramBuildInfo(*program, id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    log[sizeof log - 1] = '\0';
    wk__cl.ReleaseProgram(*program);
    char *first_error = strstr(log, "error:");
    wk__fail_set(fail, WK_ERR_INTERNAL, "the device's compiler refused a kernel: %.160s", first_error ? first_error : log);
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
        if (binary != NULL) {
            save_file(folder, job, binary, bytes);
            cl_program reread = program_of_binary(device, binary, (int64_t)bytes);
            if (reread != NULL) {
                wk__cl.ReleaseProgram(program);
                program = reread;
            }
        }
        wk__free(binary);
    }
    wk__cl_program *added = add_program(device, program, job->entry, job->count);
    bool good = added != NULL;
    for (int k = 0; good && k < job->count; k++) good = bind_unit(added, job->unit[k], &job->entry[k].unit);
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
        int folder = wk__gpu_cache_open();
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
