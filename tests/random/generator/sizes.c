/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program in several sizes, one after the other in one process. Kernels and plans compiled for one size are
 * reused for later ones if the cache keys are equal: a dependence that is missing in a key yields wrong values in a
 * later size. The sizes are 0 and those at which kernels and programs change their form. */
#include "oracles.h"
#include "trace.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const int64_t other_sizes[] = {1, 2, 3, 255, 256, 257, 0};
enum { SIZES = sizeof other_sizes / sizeof *other_sizes, FEW = 3 };

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

static atomic_bool out_of_memory; /* since the start of a run */

static void note_error(void *user, wk_code code, const char *text)
{
    (void)user, (void)text;
    if (code == WK_ERR_MEMORY) out_of_memory = true;
}

/* Returns false if memory was exhausted during the run, which happens in different calls in different modes. The trace
 * does not record it if an in-place call has kept the old value of its target. */
static bool runs_in_memory(executor *m, program *p, const mode *mode)
{
    out_of_memory = false;
    wk_set_error_handler(note_error, NULL);
    executor_run(m, p, mode);
    wk_set_error_handler(NULL, NULL);
    return !out_of_memory;
}

/* If an index is out of range in this size, the modes report it at different calls. */
static bool is_inconclusive(const executor *sync)
{
    char text[200];
    bool late;
    return sync->has_failed_value || trace_has_error(sync, text, sizeof text) || trace_has_bad_index(sync, &late);
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
        if (!runs_in_memory(base, &resized, sync) || is_inconclusive(base)) continue;
        if (!runs_in_memory(other, &resized, usual)) continue;
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
    const wk_device device = {.kind = (int16_t)sync->gpu};
    executor_limit_memory(device);
    const bool disagrees = any_size_disagrees(p, sync, usual, base, other, v);
    executor_unlimit_memory(device);
    return disagrees;
}
