/* SPDX-License-Identifier: Apache-2.0 */
/* Shrinks a failing program: removes and simplifies steps until no change succeeds. */
#include "shrink.h"
#include "xalloc.h"
#include "op_entries.h"
#include <stdlib.h>
#include <string.h>

typedef struct shrinking {
    program *best, *candidate;
    still_fails *fails;
    void *user;
} shrinking;

static bool try(shrinking *s)
{
    if (!s->fails(s->candidate, s->user)) return false;
    *s->best = *s->candidate;
    return true;
}

static program *begin(shrinking *s)
{
    *s->candidate = *s->best;
    return s->candidate;
}

/* Removes the steps that are marked; slots keep their numbers, and synchronisations stay. */
static void compact_steps(program *p)
{
    int kept = 0;
    bool meets = false;
    for (int k = 0; k < p->steps; k++) {
        meets = meets || p->step[k].sync_before;
        if (p->step[k].removed) continue;
        p->step[kept] = p->step[k];
        p->step[kept++].sync_before = meets;
        meets = false;
    }
    p->steps = kept;
}

/* Removes runs of steps, long ones first, from the end, because steps depend on earlier ones. */
static bool fewer_steps(shrinking *s)
{
    bool changed = false;
    for (int run = s->best->steps / 2 > 0 ? s->best->steps / 2 : 1; run > 0; run /= 2)
        for (int end = s->best->steps; end > 0; end -= run) {
            program *p = begin(s);
            for (int k = end - run < 0 ? 0 : end - run; k < end; k++) p->step[k].removed = true;
            if (try(s)) changed = true;
            compact_steps(s->best);
            if (end > s->best->steps) end = s->best->steps + run > end ? end : s->best->steps + run;
        }
    return changed;
}

static bool any_operand(const step *s, int k)
{
    return s->argument[k].kind == WK_VALUE_TENSOR;
}

/* Replaces a result by an operand of its step. */
static bool bypass_steps(shrinking *s)
{
    bool changed = false;
    for (int k = s->best->steps; k-- > 0;)
        for (int a = 0; a < s->best->step[k].arguments; a++) {
            if (!any_operand(&s->best->step[k], a)) continue;
            const int16_t slot = s->best->step[k].argument[a].slot[0];
            for (int maker = 0; maker < k; maker++) {
                const step *from = &s->best->step[maker];
                if (slot < from->out || slot >= from->out + from->results) continue;
                for (int b = 0; b < from->arguments; b++) {
                    if (!any_operand(from, b)) continue;
                    program *p = begin(s);
                    p->step[k].argument[a].slot[0] = p->step[maker].argument[b].slot[0];
                    if (try(s)) {
                        changed = true;
                        break;
                    }
                }
                break;
            }
        }
    return changed;
}

/* Makes created tensors smaller, and clears their flags. */
static bool simpler_tensors(shrinking *s)
{
    bool changed = false;
    for (int k = 0; k < s->best->steps; k++) {
        if (s->best->step[k].kind != STEP_MAKE) continue;
        for (int flag = 1; flag <= MAKE_BORROWED; flag *= 2) {
            program *p = begin(s);
            if (!(p->step[k].how & flag)) continue;
            p->step[k].how = (uint8_t)(p->step[k].how & ~flag);
            changed |= try(s);
        }
        for (int d = 0; d < s->best->step[k].argument[0].count; d++) {
            const int64_t size = s->best->step[k].argument[0].ints[d];
            const int64_t sizes[] = {1, 2, size / 2, size - 1};
            for (int n = 0; n < 4; n++) {
                program *p = begin(s);
                if (sizes[n] >= size || sizes[n] < 1) continue;
                p->step[k].argument[0].ints[d] = sizes[n];
                if (!try(s)) continue;
                changed = true;
                break;
            }
        }
    }
    return changed;
}

/* Reduces a size in all steps at once. */
static bool smaller_sizes(shrinking *s)
{
    bool changed = false;
    for (int64_t size = 2; size < 5000; size += size < 8 ? 1 : size)
        for (int64_t to = 1; to < size && to < 4; to++) {
            program *p = begin(s);
            bool any = false;
            for (int k = 0; k < p->steps; k++)
                for (int a = 0; a < p->step[k].arguments; a++) {
                    argument *x = &p->step[k].argument[a];
                    if (x->kind != WK_VALUE_INTS) continue;
                    for (int j = 0; j < x->count; j++)
                        if (size < 8 ? x->ints[j] == size : x->ints[j] >= size) {
                            x->ints[j] = to;
                            any = true;
                        }
                }
            if (any && try(s)) {
                changed = true;
                break;
            }
        }
    return changed;
}

static bool may_lack(const step *s, int a)
{
    return (s->kind == STEP_CALL || s->kind == STEP_IN_PLACE) && op_entries[s->op].parameter[a].optional;
}

/* Simplifies arguments: omits optional ones, clears flags. */
static bool plainer_arguments(shrinking *s)
{
    bool changed = false;
    for (int k = 0; k < s->best->steps; k++) {
        if (s->best->step[k].how && s->best->step[k].kind != STEP_MAKE && s->best->step[k].kind != STEP_FUNCTION) {
            begin(s)->step[k].how = 0;
            changed |= try(s);
        }
        for (int a = 1; a < s->best->step[k].arguments; a++) {
            argument *x = &begin(s)->step[k].argument[a];
            if (x->kind == WK_VALUE_NONE || s->best->step[k].kind == STEP_MAKE) continue;
            if (x->kind == WK_VALUE_TENSORS && x->count > 1) {
                x->count--;
            } else if (may_lack(&s->best->step[k], a)) {
                memset(x, 0, sizeof *x);
            } else {
                continue;
            }
            changed |= try(s);
        }
    }
    if (s->best->threads > 1) {
        program *p = begin(s);
        for (int k = 0; k < p->steps; k++) p->step[k].thread = 0;
        p->threads = 1;
        changed |= try(s);
    }
    if (s->best->concurrent) {
        begin(s)->concurrent = false;
        changed |= try(s);
    }
    if (s->best->order) {
        begin(s)->order = 0;
        changed |= try(s);
    }
    return changed;
}

void shrink(program *p, still_fails *fails, void *user)
{
    shrinking s = {.best = p, .candidate = xcalloc(1, sizeof *p), .fails = fails, .user = user};
    bool changed = true;
    for (int round = 0; changed && round < 6; round++) {
        changed = fewer_steps(&s);
        changed |= smaller_sizes(&s);
        changed |= simpler_tensors(&s);
        changed |= bypass_steps(&s);
        changed |= plainer_arguments(&s);
    }
    free(s.candidate);
}
