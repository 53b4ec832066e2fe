/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads of a program wait for each other: before a step that uses what another one has made or written
 * since they met, or writes what another one has used. Between two such steps they work at the same time, and what they
 * see is the same each time. See generate.h. */
#include "generate.h"
#include "tensor/tensor.h"

static void add(touch *to, int *count, const void *what, int thread, bool wrote)
{
    if (*count < MOST_TOUCHES) to[(*count)++] = (touch){what, thread, wrote};
}

static bool is_owner(const step *s)
{
    return s->kind >= STEP_KEEP && s->kind <= STEP_FREE;
}

/* The slots that go with a scope, or with their thread. */
static void add_closed(const generator *g, const step *s, touch *to, int *count)
{
    const guards *open = &g->machine->thread[s->thread];
    int place = s->kind == STEP_ANEW ? 0 : open->count;
    while (--place > 0 && open->guard[place].number != s->guard)
        ;
    if (s->kind == STEP_ANEW) place = 0;
    for (int k = 0; k < g->program->slots; k++) {
        const slot *x = &g->machine->slot[k];
        if (x->tensor && x->thread == s->thread && x->scope >= place) add(to, count, x, s->thread, true);
    }
}

int generate_touches(const generator *g, const step *s, touch *to)
{
    int count = 0;
    if (s->kind == STEP_END || s->kind == STEP_ANEW) add_closed(g, s, to, &count);
    const bool writes = s->kind == STEP_IN_PLACE || (s->kind == STEP_CALL && rows[s->op].writes);
    for (int k = 0; k < s->arguments; k++) {
        const argument *a = &s->argument[k];
        const int slots = a->kind == WK_VALUE_TENSOR || a->kind == WK_VALUE_TENSORS ? a->count : 0;
        for (int j = 0; j < slots; j++) {
            const slot *x = &g->machine->slot[a->slot[j]];
            add(to, &count, x, s->thread, is_owner(s));
            if (x->tensor) add(to, &count, wk__body_of(x->tensor)->storage, s->thread, writes && k == 0);
        }
    }
    return count;
}

static bool collides(const generator *g, const touch *t)
{
    for (int k = 0; k < g->touches; k++) {
        const touch *other = &g->touch[k];
        if (other->what == t->what && other->thread != t->thread && (other->wrote || t->wrote)) return true;
    }
    return false;
}

void generate_meets(generator *g, step *s, const touch *touched, int count)
{
    s->meets = g->touches + count + s->results > MOST_TOUCHES;
    for (int k = 0; k < count && !s->meets; k++) s->meets = collides(g, &touched[k]);
    if (s->meets) g->touches = 0;
    for (int k = 0; k < count; k++) add(g->touch, &g->touches, touched[k].what, s->thread, touched[k].wrote);
    for (int k = 0; k < s->results; k++) add(g->touch, &g->touches, &g->machine->slot[s->out + k], s->thread, true);
}
