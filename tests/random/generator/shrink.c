/* SPDX-License-Identifier: Apache-2.0 */
/* Minimises a failing program: removes steps, reduces sizes and simplifies arguments, one change at a time, and keeps a
 * change if the program still fails. Repeats until a round changes nothing. */
#include "shrink.h"
#include "xalloc.h"
#include "op_entries.h"
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6 /* maximum, to bound the time */ };
enum { LARGE = 8, LARGEST = 5000 /* sizes from LARGE to LARGEST are reduced together */ };

typedef struct shrinking {
    program *best;      /* smallest program so far that fails */
    program *candidate; /* copy of it with one change, which is tried */
    still_fails *fails;
    void *user;
} shrinking;

/* Returns a copy of the best program, to be changed and tried. */
static program *new_candidate(shrinking *s)
{
    *s->candidate = *s->best;
    return s->candidate;
}

/* Runs the candidate and makes it the best program if it still fails; returns false otherwise. */
static bool try_candidate(shrinking *s)
{
    if (!s->fails(s->candidate, s->user)) return false;
    *s->best = *s->candidate;
    return true;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Deletes the removed steps. The first step after them synchronises the threads if one of them did. Slots keep their
 * numbers. */
static void compact_steps(program *p)
{
    int kept = 0;
    bool sync = false;
    for (int k = 0; k < p->steps; k++) {
        sync = sync || p->step[k].sync_before;
        if (p->step[k].removed) continue;
        p->step[kept] = p->step[k];
        p->step[kept++].sync_before = sync;
        sync = false;
    }
    p->steps = kept;
}

/* Removes runs of steps, from half of the program down to single steps, starting at the end, because steps depend on
 * earlier ones. */
static bool fewer_steps(shrinking *s)
{
    bool changed = false;
    for (int run = s->best->steps / 2 > 0 ? s->best->steps / 2 : 1; run > 0; run /= 2)
        for (int end = s->best->steps; end > 0;) {
            program *p = new_candidate(s);
            for (int k = end - run < 0 ? 0 : end - run; k < end; k++) p->step[k].removed = true;
            if (try_candidate(s)) changed = true;
            compact_steps(s->best);
            end = end - run < s->best->steps ? end - run : s->best->steps;
        }
    return changed;
}

static bool is_tensor(const step *s, int a)
{
    return s->argument[a].kind == WK_VALUE_TENSOR;
}

/* Returns the step before step k that has the slot as a result; -1 if there is none. */
static int step_of_slot(const program *p, int k, int slot)
{
    for (int from = 0; from < k; from++)
        if (slot >= p->step[from].out && slot < p->step[from].out + p->step[from].results) return from;
    return -1;
}

/* Replaces argument a of step k, a tensor, by a tensor argument of the step that computed it. */
static bool bypass_step(shrinking *s, int k, int a)
{
    const int from = step_of_slot(s->best, k, s->best->step[k].argument[a].slot[0]);
    if (from < 0) return false;
    for (int b = 0; b < s->best->step[from].arguments; b++) {
        if (!is_tensor(&s->best->step[from], b)) continue;
        program *p = new_candidate(s);
        p->step[k].argument[a].slot[0] = p->step[from].argument[b].slot[0];
        if (try_candidate(s)) return true;
    }
    return false;
}

static bool bypass_steps(shrinking *s)
{
    bool changed = false;
    for (int k = s->best->steps; k-- > 0;)
        for (int a = 0; a < s->best->step[k].arguments; a++)
            if (is_tensor(&s->best->step[k], a)) changed |= bypass_step(s, k, a);
    return changed;
}

/* ---- tensors and sizes ------------------------------------------------------------------------------------------- */

/* Clears the flags of a STEP_MAKE one by one. */
static bool fewer_flags(shrinking *s, int k)
{
    bool changed = false;
    for (int flag = 1; flag <= MAKE_BORROWED; flag *= 2) {
        program *p = new_candidate(s);
        if (!(p->step[k].how & flag)) continue;
        p->step[k].how = (uint8_t)(p->step[k].how & ~flag);
        changed |= try_candidate(s);
    }
    return changed;
}

/* Reduces dimension d of the tensor that a STEP_MAKE creates. */
static bool smaller_dimension(shrinking *s, int k, int d)
{
    const int64_t size = s->best->step[k].argument[0].ints[d];
    const int64_t sizes[] = {1, 2, size / 2, size - 1};
    for (int n = 0; n < 4; n++) {
        if (sizes[n] >= size || sizes[n] < 1) continue;
        new_candidate(s)->step[k].argument[0].ints[d] = sizes[n];
        if (try_candidate(s)) return true;
    }
    return false;
}

static bool simpler_tensors(shrinking *s)
{
    bool changed = false;
    for (int k = 0; k < s->best->steps; k++) {
        if (s->best->step[k].kind != STEP_MAKE) continue;
        changed |= fewer_flags(s, k);
        for (int d = 0; d < s->best->step[k].argument[0].count; d++) changed |= smaller_dimension(s, k, d);
    }
    return changed;
}

/* Sets all integers equal to `size` to `to`; if size is at least LARGE, also all greater ones. Returns false if there
 * are none. */
static bool replace_sizes(program *p, int64_t size, int64_t to)
{
    bool any = false;
    for (int k = 0; k < p->steps; k++)
        for (int a = 0; a < p->step[k].arguments; a++) {
            argument *x = &p->step[k].argument[a];
            if (x->kind != WK_VALUE_INTS) continue;
            for (int j = 0; j < x->count; j++)
                if (size < LARGE ? x->ints[j] == size : x->ints[j] >= size) {
                    x->ints[j] = to;
                    any = true;
                }
        }
    return any;
}

/* Reduces a size in all places at once, since shapes must match. */
static bool smaller_sizes(shrinking *s)
{
    bool changed = false;
    for (int64_t size = 2; size < LARGEST; size += size < LARGE ? 1 : size)
        for (int64_t to = 1; to < size && to < 4; to++)
            if (replace_sizes(new_candidate(s), size, to) && try_candidate(s)) {
                changed = true;
                break;
            }
    return changed;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static bool is_optional(const step *s, int a)
{
    return (s->kind == STEP_CALL || s->kind == STEP_IN_PLACE) && op_entries[s->op].parameter[a].optional;
}

/* Shortens a list of tensors by one, or omits an optional argument. Returns false if neither applies. */
static bool simplify_argument(step *s, int a)
{
    argument *x = &s->argument[a];
    if (x->kind == WK_VALUE_NONE || s->kind == STEP_MAKE) return false;
    if (x->kind == WK_VALUE_TENSORS && x->count > 1)
        x->count--;
    else if (is_optional(s, a))
        memset(x, 0, sizeof *x);
    else
        return false;
    return true;
}

static bool simpler_arguments(shrinking *s)
{
    bool changed = false;
    for (int k = 0; k < s->best->steps; k++) {
        if (s->best->step[k].how && s->best->step[k].kind != STEP_MAKE && s->best->step[k].kind != STEP_FUNCTION) {
            new_candidate(s)->step[k].how = 0;
            changed |= try_candidate(s);
        }
        for (int a = 1; a < s->best->step[k].arguments; a++)
            if (simplify_argument(&new_candidate(s)->step[k], a)) changed |= try_candidate(s);
    }
    return changed;
}

/* Runs all steps in one thread, threads one after the other, or reads results in the order of their slots. */
static bool simpler_schedule(shrinking *s)
{
    bool changed = false;
    if (s->best->threads > 1) {
        program *p = new_candidate(s);
        for (int k = 0; k < p->steps; k++) p->step[k].thread = 0;
        p->threads = 1;
        changed |= try_candidate(s);
    }
    if (s->best->concurrent) {
        new_candidate(s)->concurrent = false;
        changed |= try_candidate(s);
    }
    if (s->best->order) {
        new_candidate(s)->order = 0;
        changed |= try_candidate(s);
    }
    return changed;
}

void shrink(program *p, still_fails *fails, void *user)
{
    shrinking s = {.best = p, .candidate = xcalloc(1, sizeof *p), .fails = fails, .user = user};
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = fewer_steps(&s);
        changed |= smaller_sizes(&s);
        changed |= simpler_tensors(&s);
        changed |= bypass_steps(&s);
        changed |= simpler_arguments(&s);
        changed |= simpler_schedule(&s);
    }
    free(s.candidate);
}
