/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs in each mode and compares the traces; see oracles.h. */
#include "oracles.h"
#include "generate.h"
#include "trace.h"
#include "tensor/tensor.h"
#include <stddef.h>
#include <string.h>

const char *const oracle_name[ORACLES] = {"nothing",
                                          "crash",
                                          "wrong",
                                          "default = sync",
                                          "nofuse = sync",
                                          "order = sync",
                                          "2 threads = sync",
                                          "7 threads = sync",
                                          "central differences",
                                          "references",
                                          "bad indices",
                                          "default = sync in other sizes",
                                          "GPU: default = sync",
                                          "GPU: concurrent threads = sync",
                                          "GPU: bad indices",
                                          "GPU: default = sync in other sizes",
                                          "GPU: a failing driver call",
                                          "equal on all instruction sets"};
const mode mode_sync = {.name = "sync", .sync = true, .threads = 1};
static const mode mode_of[ORACLES] = {
    [ORACLE_DEFAULT] = {.name = "default", .threads = 1},
    [ORACLE_NOFUSE] = {.name = "nofuse", .nofuse = true, .threads = 1},
    [ORACLE_ORDER] = {.name = "order", .threads = 1, .prologues = true},
    [ORACLE_TWO_THREADS] = {.name = "2 threads", .threads = 2, .prologues = true},
    [ORACLE_MANY_THREADS] = {.name = "7 threads", .threads = 7, .prologues = true},
};

/* On the GPU of the kind given to oracles_try_gpu. */
static mode gpu_sync = {.name = "GPU, sync", .sync = true, .threads = 1};
static mode gpu_usual = {.name = "GPU", .threads = 1, .serialized = true};
static mode gpu_at_once = {.name = "GPU, concurrent threads", .threads = 1};
static executor base, other;
static oracle_counts own_counts;
oracle_counts *counts = &own_counts;

static bool report(verdict *v, oracle which)
{
    v->oracle = which;
    return true;
}

/* base has run op by op. */
static bool mode_differs(program *p, oracle which, verdict *v)
{
    mode mode = which == ORACLE_GPU ? gpu_usual : which == ORACLE_GPU_THREADS ? gpu_at_once : mode_of[which];
    if (which == ORACLE_ORDER) mode.order = p->seed | 1;
    executor_run(&other, p, &mode);
    return (trace_has_error(&other, v->text, sizeof v->text) ||
            trace_differs(&base, &other, v->text, sizeof v->text)) &&
           report(v, which);
}

/* Generation has also executed steps that were dropped, which can change the last digits of a gradient: a view with a
 * modified base receives its new history when it is first used, and so has an earlier position in sums. Therefore both
 * modes run the final program again. */
static bool differs_as_it_stands(program *p, oracle which, verdict *v)
{
    if (!mode_differs(p, which, v)) return false;
    executor_run(&base, p, &mode_sync);
    if (trace_has_error(&other, v->text, sizeof v->text) || trace_differs(&base, &other, v->text, sizeof v->text))
        return true;
    v->oracle = ORACLE_NOTHING;
    return false;
}

/* base has run op by op, on the GPU if the CPU's values differ. A program in other sizes than it was generated in may
 * have a bad index. */
static bool gpu_differs(program *p, oracle which, verdict *v)
{
    bool late;
    const bool reported = trace_has_bad_index(&base, &late);
    if (late) return false;
    if (!reported) return mode_differs(p, which, v);
    if (which != ORACLE_GPU) return false;
    executor_run(&other, p, &gpu_usual);
    return index_runs_differ(&base, &other, v) && report(v, which);
}

bool oracle_broken(program *p, oracle which, verdict *v)
{
    bool conclusive;
    v->oracle = ORACLE_NOTHING;
    if (which == ORACLE_SIZES)
        return other_sizes_disagree(p, &mode_sync, &mode_of[ORACLE_DEFAULT], &base, &other, v) && report(v, which);
    if (which == ORACLE_GPU_SIZES)
        return other_sizes_disagree(p, &gpu_sync, &gpu_usual, &base, &other, v) && report(v, which);
    if (which == ORACLE_INDEX) return index_disagrees(p, &base, &other, v) && report(v, which);
    if (which == ORACLE_DRIVER) return driver_disagrees(p, gpu_usual.gpu, &base, &other, v) && report(v, which);
    if (which == ORACLE_REFERENCE) return reference_disagrees(p, &other, v) && report(v, which);
    if (which == ORACLE_DIFFERENCES) return gradcheck_fails(p, &other, v, &conclusive) && report(v, which);
    if (which == ORACLE_GPU_INDEX)
        return index_disagrees_on_gpu(p, gpu_usual.gpu, &base, &other, v) && report(v, which);
    const bool on_gpu = which == ORACLE_GPU || which == ORACLE_GPU_THREADS;
    executor_run(&base, p, on_gpu && !p->exact ? &gpu_sync : &mode_sync);
    if (which == ORACLE_INVARIANT || which == ORACLE_CRASH) {
        if (trace_has_error(&base, v->text, sizeof v->text)) return report(v, ORACLE_INVARIANT);
        if (which == ORACLE_INVARIANT) return false;
        for (oracle any = ORACLE_DEFAULT; any <= ORACLE_MANY_THREADS; any++) mode_differs(p, any, v);
        v->oracle = ORACLE_NOTHING;
        if (p->gradcheck) gradcheck_fails(p, &other, v, &conclusive);
        return false; /* same process as before */
    }
    if (base.has_failed_value || trace_has_error(&base, v->text, sizeof v->text)) return false; /* another oracle */
    return on_gpu ? gpu_differs(p, which, v) : mode_differs(p, which, v);
}

/* Returns true if there are tensors that several threads compute. */
static bool is_large(const executor *m)
{
    for (size_t at = 0; at < m->used;) {
        const trace_entry *n = (const trace_entry *)(const void *)(m->notes + at);
        if (n->bytes > 8192) return true;
        at += sizeof *n + (size_t)n->bytes;
    }
    return false;
}

static void count(const program *p)
{
    const int calls = program_calls(p);
    bool backward = false;
    for (int k = 0; k < p->steps; k++)
        backward = backward || p->step[k].kind == STEP_BACKWARD || p->step[k].kind == STEP_DIFFERENTIATE;
    counts->programs++;
    counts->calls += calls;
    counts->by_calls[calls < 63 ? calls : 63]++;
    counts->backwards += backward;
}

/* Programs with large tensors are collected with their traces op by op, because changing the number of threads in the
 * pool takes longer than running a program. Other programs run on one thread in all modes, because none of their work
 * is divided. */
static bool large_differs(program *p, verdict *v)
{
    enum { BATCH = 16 };
    static program waiting[BATCH];
    static executor seen[BATCH];
    static int count;
    counts->large++;
    waiting[count] = *p;
    const executor swapped = seen[count];
    seen[count] = base;
    base = swapped;
    seen[count].program = &waiting[count];
    if (++count < BATCH) return false;
    count = 0;
    for (oracle which = ORACLE_TWO_THREADS; which <= ORACLE_MANY_THREADS; which++)
        for (int k = 0; k < BATCH; k++) {
            executor_run(&other, &waiting[k], &mode_of[which]);
            if (!trace_has_error(&other, v->text, sizeof v->text) &&
                !trace_differs(&seen[k], &other, v->text, sizeof v->text))
                continue;
            *p = waiting[k];
            if (oracle_broken(p, which, v)) return true;
        }
    return false;
}

/* The hashed data consists of complete words. */
static uint64_t hash(uint64_t h, const void *bytes, size_t size)
{
    for (const char *c = bytes; size >= sizeof h; c += sizeof h, size -= sizeof h) {
        uint64_t word;
        memcpy(&word, c, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

/* Last digits depend on the instruction set, and so may shapes that depend on values. */
static bool has_shapes_of_numbers(const program *p)
{
    for (int k = 0; k < p->steps; k++)
        if (!p->step[k].removed && p->step[k].kind == STEP_CALL && op_entries[p->step[k].op].op->data_dependent_shape)
            return true;
    return false;
}

static void make_digest(const program *p, const executor *m, digest *d)
{
    d->program = hash(0xcbf29ce484222325u, p, offsetof(program, step));
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        d->program = hash(d->program, s, offsetof(step, argument) + s->arguments * sizeof *s->argument);
    }
    d->structure = 0xcbf29ce484222325u;
    if (has_shapes_of_numbers(p)) return;
    for (size_t at = 0; at < m->used;) {
        const trace_entry *n = (const trace_entry *)(const void *)(m->notes + at);
        d->structure = hash(d->structure, n, sizeof *n);
        at += sizeof *n + (size_t)n->bytes;
    }
}

/* A drawn size may be thousands in each of three dimensions: such a call is refused and dropped. */
static void draw(program *p, uint64_t seed, bool large)
{
    executor_limit_memory(wk_cpu());
    (large ? generate_large : generate)(p, &base, &mode_sync, seed);
    executor_unlimit_memory(wk_cpu());
}

void oracles_generate(program *p, uint64_t seed, bool large)
{
    draw(p, seed, large);
    oracles_tidy(p);
}

void oracles_try(program *p, uint64_t seed, verdict *v, digest *d)
{
    v->oracle = ORACLE_NOTHING;
    draw(p, seed, false);
    count(p);
    make_digest(p, &base, d);
    if (trace_has_error(&base, v->text, sizeof v->text)) {
        report(v, ORACLE_INVARIANT);
        return;
    }
    for (oracle which = ORACLE_DEFAULT; which <= ORACLE_ORDER; which++)
        if (differs_as_it_stands(p, which, v)) return;
    if (is_large(&base) && large_differs(p, v)) return;
    if (p->seed % 6 == 0 && p->threads == 1) {
        counts->referred++;
        if (reference_disagrees(p, &other, v) && report(v, ORACLE_REFERENCE)) return;
    }
    if (p->seed % 2 == 0 && index_disagrees(p, &base, &other, v) && report(v, ORACLE_INDEX)) return;
    if (p->seed % 4 == 1) {
        counts->resized++;
        if (oracle_broken(p, ORACLE_SIZES, v)) return;
    }
    bool conclusive = false;
    if (p->gradcheck && gradcheck_fails(p, &other, v, &conclusive)) report(v, ORACLE_DIFFERENCES);
    if (p->gradcheck) *(conclusive ? &counts->differences : &counts->inconclusive) += 1;
}

/* Replaces the sizes of the program by others, equal ones by equal ones. */
static void vary(program *p, int variant)
{
    for (int k = 0; k < p->steps; k++)
        for (int a = 0; a < p->step[k].arguments; a++) {
            argument *x = &p->step[k].argument[a];
            if (x->kind != WK_VALUE_INTS) continue;
            for (int j = 0; j < x->count; j++)
                if (x->ints[j] > 1) x->ints[j] = 2 + (x->ints[j] * (1 + variant % 7) + variant) % 11;
        }
}

void oracles_try_gpu(program *p, uint64_t seed, int variant, int kind, verdict *v)
{
    const bool large = variant == VARIANT_LARGE;
    gpu_sync.gpu = gpu_usual.gpu = gpu_at_once.gpu = kind;
    v->oracle = ORACLE_NOTHING;
    draw(p, seed, large);
    p->gradcheck = false;
    if (variant > 0) vary(p, variant);
    count(p);
    counts->ranges += large;
    counts->at_once += p->concurrent;
    const bool resizes = !large && variant % 8 == 0;
    counts->resized += resizes;
    for (oracle which = ORACLE_GPU; which <= ORACLE_DRIVER; which++) {
        if (which == ORACLE_GPU_THREADS && !p->concurrent) continue;
        if (which == ORACLE_GPU_SIZES && !resizes) continue;
        if (oracle_broken(p, which, v)) return;
    }
}

void oracles_tidy(program *p)
{
    executor_begin(&base, p, &mode_sync);
    executor_run_steps(&base);
    for (int k = 0; k < p->steps; k++) p->step[k].removed = p->step[k].removed || base.passed[k];
    for (int k = 0; k < p->slots; k++)
        p->left[k] = base.slot[k].tensor ? base.slot[k].leaf ? LEFT_LEAF : LEFT_TENSOR : 0;
    executor_end(&base);
}
