/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program in several sizes, one after the other in one process. Kernels and plans compiled for one size are
 * reused for later ones if the cache keys are equal: a dependence that is missing in a key yields wrong values in a
 * later size. The sizes are 0 and those at which kernels and programs change their form. */
#include "oracles.h"
#include "trace.h"
#include <stdio.h>
#include <string.h>

static const int64_t other_sizes[] = {1, 2, 3, 255, 256, 257, 0};
enum { SIZES = sizeof other_sizes / sizeof *other_sizes, FEW = 3, MOST_BYTES = 256 << 20 };

static bool is_made(const step *s)
{
    return s->kind == STEP_MAKE && !s->removed;
}

static int uses_of(const program *p, int64_t size)
{
    int uses = 0;
    for (int k = 0; k < p->steps; k++)
        for (int j = 0; is_made(&p->step[k]) && j < p->step[k].argument[0].count; j++)
            uses += p->step[k].argument[0].ints[j] == size;
    return uses;
}

/* Returns the most common size above 1 of created tensors; 0 if there is none. */
static int64_t common_size(const program *p)
{
    int64_t common = 0;
    int most = 0;
    for (int k = 0; k < p->steps; k++)
        for (int j = 0; is_made(&p->step[k]) && j < p->step[k].argument[0].count; j++) {
            const int64_t size = p->step[k].argument[0].ints[j];
            const int uses = size > 1 ? uses_of(p, size) : 0;
            if (uses > most) common = size;
            if (uses > most) most = uses;
        }
    return common;
}

/* Returns true if the argument contains sizes; dimension numbers are not sizes. */
static bool has_sizes(const step *s, int k)
{
    if (s->argument[k].kind != WK_VALUE_INTS) return false;
    const bool calls = s->kind == STEP_CALL || s->kind == STEP_IN_PLACE;
    return !calls || strncmp(op_entries[s->op].op->parameters[k].name, "dim", 3) != 0;
}

/* Replaces a size. Returns false if tensors would become too large; products of tensors with one such dimension each
 * are not. */
static bool resize(program *p, int64_t from, int64_t to)
{
    for (int k = 0; k < p->steps; k++) {
        step *s = &p->step[k];
        for (int a = 0; a < s->arguments && !s->removed; a++) {
            int resized = 0;
            for (int j = 0; has_sizes(s, a) && j < s->argument[a].count; j++) {
                int64_t *size = &s->argument[a].ints[j];
                resized += *size == from;
                if (*size == from) *size = to;
            }
            if (resized > 1 && to > FEW) return false;
        }
        if (is_made(s) && s->how & MAKE_INDEX && s->argument[1].i == from) s->argument[1].i = to > 0 ? to : 1;
    }
    return true;
}

static bool has_no_memory(const executor *m)
{
    for (size_t at = 0; at < m->used;) {
        const trace_entry *n = (const trace_entry *)(const void *)(m->notes + at);
        if (n->code == WK_ERR_MEMORY) return true;
        at += sizeof *n + (size_t)n->bytes;
    }
    return false;
}

/* If an index is out of range in this size, the modes report it at different calls. If tensors of several such sizes
 * take more than MOST_BYTES, a call fails. */
static bool is_inconclusive(const executor *sync)
{
    char text[200];
    bool late;
    return sync->has_failed_value || trace_has_error(sync, text, sizeof text) || trace_has_bad_index(sync, &late) ||
           has_no_memory(sync);
}

/* 0: the default */
static void limit_memory(const mode *mode, int64_t bytes)
{
    const wk_device device = {.kind = (int16_t)mode->gpu};
    wk_memory_set_limit(device, bytes);
}

static bool any_size_disagrees(const program *p, const mode *sync, const mode *usual, executor *base, executor *other,
                               verdict *v)
{
    static program resized;
    const int64_t from = common_size(p);
    for (int k = 0; k < SIZES && from > 0; k++) {
        char text[sizeof v->text - 80];
        resized = *p;
        if (!resize(&resized, from, other_sizes[k])) continue;
        executor_run(base, &resized, sync);
        if (is_inconclusive(base)) continue;
        executor_run(other, &resized, usual);
        if (!trace_has_error(other, text, sizeof text) && !trace_differs(base, other, text, sizeof text)) continue;
        snprintf(v->text, sizeof v->text, "with %lld in place of %lld: %s", (long long)other_sizes[k], (long long)from,
                 text);
        return true;
    }
    return false;
}

bool other_sizes_disagree(const program *p, const mode *sync, const mode *usual, executor *base, executor *other,
                          verdict *v)
{
    limit_memory(sync, MOST_BYTES);
    const bool disagrees = any_size_disagrees(p, sync, usual, base, other, v);
    limit_memory(sync, 0);
    return disagrees;
}
