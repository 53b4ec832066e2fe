/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs. The space of programs without reductions is divided into chunks, run in any order; others are in
 * reduce.c. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/pool.h"
#include "program_cache.h"
#include "reduce.h"
#include "iter.h"

enum {
    NONTEMPORAL = 32768,   /* elements below which all stores are ordinary ones */
    CHUNKS_PER_THREAD = 8, /* for large spaces, to balance delayed threads */
};

/* ---- failures in threads ----------------------------------------------------------------------------------------- */

void wk__cpu_failure_init(wk__cpu_failure *trouble)
{
    atomic_init(&trouble->no_memory, false);
    trouble->fault = false;
}

void wk__cpu_failure_record(wk__cpu_failure *trouble, const wk__worker *worker, int64_t part)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* global, because failures are rare */
    if (!worker->state.fault) return;
    pthread_mutex_lock(&lock);
    if (!trouble->fault || part < trouble->part) {
        trouble->fault = true;
        trouble->part = part;
        trouble->index = worker->state.fault_index;
        trouble->bound = worker->state.fault_bound;
    }
    pthread_mutex_unlock(&lock);
}

wk_code wk__cpu_failure_report(wk__cpu_failure *trouble, const wk__program *group, wk__fail *fail)
{
    if (atomic_load(&trouble->no_memory)) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory in a kernel");
    if (!trouble->fault) return WK_OK;
    wk__fail_set(fail, WK_ERR_INDEX, "index %lld is out of range for size %lld", (long long)trouble->index,
                 (long long)trouble->bound);
    return wk__fail_set_index(fail, group->tag, trouble->index, trouble->bound);
}

/* ---- non-temporal stores ----------------------------------------------------------------------------------------- */

/* Returns the size of the last-level cache of this CPU; sysconf adds up those of all sockets. */
static int64_t read_l3_bytes(void)
{
    int64_t kilobytes = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
    if (file) {
        char text[32];
        if (fgets(text, sizeof text, file)) kilobytes = strtoll(text, NULL, 10);
        fclose(file);
    }
    return (kilobytes > 0 && kilobytes <= 1 << 20 ? kilobytes : 16384) << 10;
}

static int64_t l3_bytes(void)
{
    static _Atomic int64_t known; /* every thread computes the same value */
    int64_t bytes = atomic_load_explicit(&known, memory_order_relaxed);
    if (bytes == 0) {
        bytes = read_l3_bytes();
        atomic_store_explicit(&known, bytes, memory_order_relaxed);
    }
    return bytes;
}

static bool is_loaded(const wk__program *group, int operand)
{
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        int source = ins->code == WK__LOADX ? ins->arg[1] : ins->arg[0];
        if (ins->code != WK__LOAD && ins->code != WK__LOADX) continue;
        if (source == operand) return true;
    }
    return false;
}

static int64_t operand_bytes(const wk__program *group, const wk__operand *operand)
{
    int64_t bytes = wk__vm_size_of(operand->dtype);
    for (int d = 0; d < group->ndim; d++) {
        if (operand->stride[d] != 0) bytes *= group->shape[d];
    }
    return bytes;
}

/* Returns the operands for non-temporal stores. A program that moves more than half of the last-level cache leaves none
 * of its outputs there anyway; such stores avoid fetching the lines they overwrite. */
uint32_t wk__nontemporal_operands(const wk__program *group)
{
    int64_t bytes = 0;
    uint32_t stream = 0;
    for (int k = 0; k < group->noperands; k++) bytes += operand_bytes(group, &group->operand[k]);
    if (bytes < l3_bytes() / 2) return 0;
    for (int k = 0; k < group->noperands; k++) {
        if (group->operand[k].stored && !is_loaded(group, k)) stream |= 1u << k;
    }
    return stream;
}

/* ---- programs without reductions --------------------------------------------------------------------------------- */

/* A space, or a box of one, over which the only element stage runs. */
typedef struct elementwise_job {
    const wk__cpu_program *program;
    const wk__program *group;
    wk__cpu_failure trouble;
    bool flat;            /* all operands are contiguous: `walk` is unused */
    bool transposed;      /* iterates by strips of patches */
    char *room;           /* scratch of the only worker, WK__CPU_WORKER_BYTES bytes; NULL: each allocates its own */
    int64_t count, chunk; /* elements, or strips */
    wk__addresses origin;
    wk__cpu_iter walk;
} elementwise_job;

static void run_part(elementwise_job *job, int64_t from, int64_t to)
{
    wk__worker worker;
    const wk__cpu_program *program = job->program;
    int64_t extra = job->transposed ? wk__patch_bytes(&job->walk, program->vm->lanes) : 0;
    if (!wk__worker_init(&worker, program, job->group, extra, job->room)) {
        atomic_store(&job->trouble.no_memory, true);
        return;
    }
    wk__worker_run_row(&worker, &program->row[0], &job->origin);
    if (job->flat) {
        wk__worker_run_flat(&worker, &program->element[0], job->group, &job->origin, from, to);
    } else if (job->transposed) {
        wk__worker_alloc_patches(&worker, &job->walk);
        wk__worker_run_strips(&worker, &program->element[0], job->group, &job->walk, &job->origin, from, to);
    } else {
        wk__worker_run_elements(&worker, &program->element[0], &job->walk, &job->origin, from, to, false);
    }
    if (program->nontemporal) program->vm->fence();
    wk__cpu_failure_record(&job->trouble, &worker, from);
    wk__worker_destroy(&worker);
}

static void run_chunk(void *user, int64_t k)
{
    elementwise_job *job = user;
    int64_t from = k * job->chunk, to = from + job->chunk;
    run_part(job, from, to < job->count ? to : job->count);
}

/* Prepares a job for the entire space (start NULL) or a box; `contiguous`: operands without strides. */
static void start_job(elementwise_job *job, const wk__cpu_program *program, const wk__program *group,
                      const int64_t start[], const int64_t size[], uint32_t contiguous)
{
    const wk__cpu_stage *stage = &program->element[0];
    const uint32_t operands = wk__stage_operands(stage);
    job->program = program;
    job->group = group;
    job->flat = (operands & ~contiguous) == 0 && stage->indexed == 0;
    job->transposed = false;
    job->room = NULL;
    wk__cpu_failure_init(&job->trouble);
    wk__cpu_iter_origin(&job->origin, group, start, operands | wk__stage_operands(&program->row[0]));
    if (job->flat) return;
    wk__cpu_iter_init(&job->walk, group, size, 0, group->ndim, operands, true);
    job->transposed = wk__cpu_iter_transpose(&job->walk);
    job->count = job->transposed ? wk__cpu_iter_strips(&job->walk) : job->walk.count;
}

static void run_job(elementwise_job *job)
{
    const int64_t unit = job->transposed ? WK__PATCH_COLUMNS * job->walk.size[0] : 1;
    const int64_t grain = (wk__cpu_program_grain(job->program) + unit - 1) / unit;
    int64_t threads = job->count > grain ? wk__thread_count() : 1;
    if (threads == 1) {
        if (job->count > 0) run_part(job, 0, job->count);
        return;
    }
    int64_t share = job->count / (threads * CHUNKS_PER_THREAD);
    job->chunk = share > grain ? (share + grain - 1) / grain * grain : grain;
    wk__parallel_for((job->count + job->chunk - 1) / job->chunk, run_chunk, job);
}

static wk_code run_elements(const wk__program *group, wk__fail *fail)
{
    wk__cpu_program own;
    elementwise_job job;
    wk__cpu_layout layout;
    wk__cpu_layout_init(&layout, group);
    wk__cpu_style style = {.nontemporal = layout.count < NONTEMPORAL ? 0 : wk__nontemporal_operands(group)};
    const wk__cpu_program *program = wk__cpu_program_acquire(&own, group, &layout, &style, fail);
    if (!program) return fail->code;
    job.count = layout.count;
    start_job(&job, program, group, NULL, group->shape, layout.contiguous);
    run_job(&job);
    const wk_code code = wk__cpu_failure_report(&job.trouble, group, fail);
    if (program == &own) wk__cpu_program_destroy(&own);
    return code;
}

wk_code wk__cpu_run(const wk__program *group, wk__fail *fail)
{
    return group->nreduce > 0 ? wk__cpu_run_rows(group, fail) : run_elements(group, fail);
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

wk_code wk__cpu_program_prepare(wk__cpu_program *program, const wk__program *group, wk__fail *fail)
{
    const wk__cpu_style style = {0};
    program->group = group;
    return wk__cpu_compile(program, group, &style, fail);
}

static wk_code run_box(elementwise_job *job, wk__fail *fail)
{
    if (job->count > 0) run_part(job, 0, job->count);
    return wk__cpu_failure_report(&job->trouble, job->group, fail);
}

wk_code wk__cpu_program_box(const wk__cpu_program *program, const int64_t start[], const int64_t size[], wk__fail *fail)
{
    elementwise_job job;
    start_job(&job, program, program->group, start, size, 0);
    return run_box(&job, fail);
}

wk_code wk__cpu_program_box_to(const wk__cpu_program *program, const int64_t start[], const int64_t size[],
                               const wk__cpu_output *place, wk__fail *fail)
{
    elementwise_job job;
    start_job(&job, program, program->group, start, size, 0);
    job.origin.at[place->operand] = (intptr_t)place->to;
    job.room = place->scratch;
    return run_box(&job, fail);
}
