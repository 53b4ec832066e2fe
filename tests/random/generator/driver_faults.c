/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of a GPU driver's calls after the calls of the program have returned: values that depend on failed work must
 * fail when they are read, and all others must equal those of a run without failures.
 *
 * If a write in place is skipped, its target keeps its former values. So such steps are removed from the program, and
 * with them the gradients of leaves, which are accumulated in place. */
#include "rng.h"
#include "xalloc.h"
#include "trace.h"
#include "oracles.h"
#include "support/driver_faults.h"
#include <string.h>

static bool writes(const step *s)
{
    return s->kind == STEP_IN_PLACE || s->kind == STEP_BACKWARD || s->kind == STEP_HOST_WRITE || s->kind == STEP_HOOK ||
           s->kind == STEP_OPTIMISE || (s->kind == STEP_CALL && op_entries[s->op].writes);
}

void driver_leave_out_writes(program *p)
{
    for (int k = 0; k < p->steps; k++) p->step[k].removed = p->step[k].removed || writes(&p->step[k]);
}

/* The driver is loaded once a device has been looked up. */
static bool take_over(int kind)
{
    static bool taken;
    if (!taken && wk_device_count(kind) > 0) {
        driver_install_hooks(kind);
        taken = true;
    }
    return taken;
}

static const trace_entry *note_at(const executor *m, size_t at)
{
    return at < m->used ? (const trace_entry *)(const void *)(m->notes + at) : NULL;
}

/* Returns the entry of the run without failures for the same step and slot. Both runs have the entries of their steps
 * in the same order; the failing one may lack some. */
static const trace_entry *matching_entry(const executor *sound, const trace_entry *n)
{
    const trace_entry *x;
    for (size_t at = 0; (x = note_at(sound, at)); at += sizeof *x + (size_t)x->bytes)
        if (x->step == n->step && x->slot == n->slot && x->what == n->what) return x;
    return NULL;
}

/* The former tensor stays if its replacement could not be created, because the carry was skipped. */
static bool was_not_carried(const executor *m, int slot)
{
    const program *p = m->program;
    bool found = false;
    for (int k = 0; k < p->steps; k++)
        found = found || (m->passed[k] && p->step[k].kind == STEP_CARRY && p->step[k].argument[0].slot[0] == slot);
    return found;
}

static bool has_wrong_value(const executor *sound, const executor *other, verdict *v)
{
    const trace_entry *y;
    for (size_t at = 0; (y = note_at(other, at)); at += sizeof *y + (size_t)y->bytes) {
        if (y->code != WK_OK || (y->what != NOTE_READ && y->what != NOTE_LEFT)) continue;
        const trace_entry *x = matching_entry(sound, y);
        if (x ? x->bytes == y->bytes && memcmp(x + 1, y + 1, (size_t)y->bytes) == 0 : was_not_carried(other, y->slot))
            continue;
        snprintf(v->text, sizeof v->text, "at step %d t%d has a wrong value instead of an error", y->step, y->slot);
        return true;
    }
    return false;
}

bool driver_disagrees(const program *p, int kind, executor *base, executor *other, verdict *v)
{
    static const driver_call calls[] = {DRIVER_LAUNCH, DRIVER_KERNEL, DRIVER_ARGUMENT, DRIVER_BUFFER,
                                        DRIVER_COPY,   DRIVER_WRITE,  DRIVER_READ,     DRIVER_MARKER};
    const mode sync = {.name = "GPU, sync", .sync = true, .threads = 1, .gpu = kind};
    const mode usual = {.name = "GPU", .threads = 1, .gpu = kind, .serialized = true};
    static program *pure;
    if (!take_over(kind)) return false;
    if (!pure) pure = xcalloc(1, sizeof *pure);
    *pure = *p;
    driver_leave_out_writes(pure);
    executor_run(base, pure, &sync);
    rng d = {p->seed + 1};
    const driver_call which = calls[rng_below(&d, (int)(sizeof calls / sizeof *calls))];
    const int number = rng_range(&d, 1, which == DRIVER_ARGUMENT ? 60 : 12);
    driver_inject(which, number, DRIVER_NO_MEMORY);
    executor_run(other, pure, &usual);
    driver_clear();
    if (!has_wrong_value(base, other, v)) return false;
    const size_t n = strlen(v->text);
    snprintf(v->text + n, sizeof v->text - n, " (%s %d fails)", driver_names[which], number);
    return true;
}
