/* SPDX-License-Identifier: Apache-2.0 */
/* Determines where the threads of a program synchronise: before a step that uses a tensor which another thread has
 * created or written since the last synchronisation, or writes one that another thread has used. Between two such steps
 * the threads run concurrently, and their results do not depend on the timing. See generate.h.
 *
 * Gradients are summed in the order of the calls. So a backward pass is not added if it would visit nodes that two
 * threads have created since the last synchronisation, because their order depends on the timing. */
#include "autograd/view_grad.h"
#include "generate.h"
#include <string.h>

static void add(storage_access *to, int *count, const void *what, int thread, bool wrote)
{
    if (*count < MOST_TOUCHES) to[(*count)++] = (storage_access){what, thread, wrote};
}

static bool is_owner(const step *s)
{
    return s->kind >= STEP_KEEP && s->kind <= STEP_FREE;
}

/* Adds the slots that are freed with a scope, or with their thread. */
static void add_closed(const generator *g, const step *s, storage_access *to, int *count)
{
    const guards *open = &g->machine->thread[s->thread];
    int place = s->kind == STEP_THREAD_RESTART ? 0 : open->count;
    while (--place > 0 && open->guard[place].number != s->guard)
        ;
    if (s->kind == STEP_THREAD_RESTART) place = 0;
    for (int k = 0; k < g->program->slots; k++) {
        const slot *x = &g->machine->slot[k];
        if (x->tensor && x->thread == s->thread && x->scope >= place) add(to, count, x, s->thread, true);
    }
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

/* Returns a key for a leaf's gradient, which may be written while its values are read. */
static const void *gradient_key(const wk__storage *leaf)
{
    return (const char *)leaf + 1;
}

static bool walks(const step *s)
{
    return s->kind == STEP_BACKWARD || s->kind == STEP_DIFFERENTIATE;
}

static void add_leaf(const step *s, const wk__leaf *leaf, storage_access *to, int *count)
{
    const bool wrote = s->kind == STEP_BACKWARD;
    add(to, count, gradient_key(leaf->storage), s->thread, wrote);
    if (leaf->grad) add(to, count, wk__body_of(leaf->grad)->storage, s->thread, wrote);
}

enum { MOST_NODES = 400 };

/* Lists the nodes that are reachable from x; returns their number, or -1 if there are too many. */
static int nodes_of(const wk__body *x, wk__node *nodes[])
{
    int count = 0;
    if (x->node) nodes[count++] = x->node;
    for (int k = 0; k < count; k++)
        for (int e = 0; e < nodes[k]->inputs; e++) {
            wk__node *next = nodes[k]->edge[e].node;
            int seen = 0;
            while (seen < count && nodes[seen] != next) seen++;
            if (!next || seen < count) continue;
            if (count == MOST_NODES) return -1;
            nodes[count++] = next;
        }
    return count;
}

/* Returns the node that saves tensors. A write through a view has its node inside of one that stores the view's
 * gradient into the base's (view_grad.c). */
static const wk__node *saver_of(const wk__node *node)
{
    return strcmp(node->op->name, "copy_slices") == 0 ? node->payload : node;
}

/* A backward pass reads the graph and saved tensors, and writes gradients; it consumes nodes that are not retained. */
static void add_walk(const generator *g, const step *s, storage_access *to, int *count)
{
    wk__node *nodes[MOST_NODES];
    const wk_tensor *x = g->machine->slot[s->argument[0].slot[0]].tensor;
    const int reached = x ? nodes_of(wk__body_of(x), nodes) : 0;
    const wk__body *leaf = x && reached == 0 ? wk__body_of(x) : NULL; /* a leaf, which has no other edges */
    if (leaf && leaf->leaf)
        add_leaf(s, leaf->leaf, to, count);
    else if (leaf)
        add(to, count, gradient_key(leaf->storage), s->thread, s->kind == STEP_BACKWARD);
    for (int k = 0; k < reached; k++) {
        add(to, count, nodes[k], s->thread, s->how == 0);
        for (int e = 0; e < nodes[k]->inputs; e++)
            if (nodes[k]->edge[e].leaf) add_leaf(s, nodes[k]->edge[e].leaf, to, count);
        const wk__node *saver = saver_of(nodes[k]);
        for (int k2 = 0; k2 < WK__NODE_SAVED; k2++)
            if (saver->saved[k2]) add(to, count, saver->saved[k2]->storage, s->thread, false);
    }
}

/* Returns the step that created a node: the first one with a latest node at least as late. */
static int maker_of(const generator *g, const wk__node *node)
{
    int k = 0;
    while (k < g->program->steps - 1 && g->latest[k] < node->sequence) k++;
    return k;
}

bool generate_is_deterministic(const generator *g, const step *s)
{
    wk__node *nodes[MOST_NODES];
    int thread_of[MOST_STEPS]; /* by the number of the synchronisation before it */
    const wk_tensor *x = walks(s) ? g->machine->slot[s->argument[0].slot[0]].tensor : NULL;
    if (!x) return true;
    if (wk__view_grad_fn_is_stale(wk__body_of(x))) return false;
    const int count = nodes_of(wk__body_of(x), nodes);
    for (int k = 0; k < MOST_STEPS; k++) thread_of[k] = -1;
    for (int k = 0; k < count; k++) {
        const int maker = maker_of(g, nodes[k]);
        int *thread = &thread_of[g->met[maker]];
        if (*thread >= 0 && *thread != g->program->step[maker].thread) return false;
        *thread = g->program->step[maker].thread;
    }
    return count >= 0;
}

/* Records the latest node that is reachable from the program's tensors. */
static void note_latest(generator *g, int k)
{
    uint64_t latest = k ? g->latest[k - 1] : 0;
    for (int j = 0; j < g->program->slots; j++) {
        const wk_tensor *x = g->machine->slot[j].tensor;
        const wk__node *node = x ? wk__body_of(x)->node : NULL;
        if (node && node->sequence > latest) latest = node->sequence;
    }
    g->latest[k] = latest;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

int generate_accesses(const generator *g, const step *s, storage_access *to)
{
    int count = 0;
    if (s->kind == STEP_END || s->kind == STEP_THREAD_RESTART) add_closed(g, s, to, &count);
    /* after the address was taken, the program may write there */
    const bool writes = s->kind == STEP_IN_PLACE || s->kind == STEP_TAKE_ADDRESS || s->kind == STEP_HOST_WRITE ||
                        (s->kind == STEP_CALL && op_entries[s->op].writes);
    for (int k = 0; k < s->arguments; k++) {
        const argument *a = &s->argument[k];
        const int slots = a->kind == WK_VALUE_TENSOR || a->kind == WK_VALUE_TENSORS ? a->count : 0;
        for (int j = 0; j < slots; j++) {
            const slot *x = &g->machine->slot[a->slot[j]];
            const wk__body *body = x->tensor ? wk__body_of(x->tensor) : NULL;
            /* the first use of a view with a modified base recomputes its graph node */
            add(to, &count, x, s->thread, is_owner(s) || (body && wk__view_grad_fn_is_stale(body)));
            if (!body) continue;
            add(to, &count, body->storage, s->thread, writes && k == 0);
            if (s->kind == STEP_GRAD_OF || s->kind == STEP_HOOK)
                add(to, &count, body->node ? (const void *)body->node : gradient_key(body->storage), s->thread,
                    s->kind == STEP_HOOK);
        }
    }
    if (walks(s)) add_walk(g, s, to, &count);
    return count;
}

static bool collides(const generator *g, const storage_access *t)
{
    for (int k = 0; k < g->touches; k++) {
        const storage_access *other = &g->touch[k];
        if (other->what == t->what && other->thread != t->thread && (other->wrote || t->wrote)) return true;
    }
    return false;
}

void generate_sync(generator *g, step *s, const storage_access *touched, int count)
{
    s->sync_before = g->touches + count + s->results > MOST_TOUCHES;
    for (int k = 0; k < count && !s->sync_before; k++) s->sync_before = collides(g, &touched[k]);
    if (s->sync_before) g->touches = 0;
    for (int k = 0; k < count; k++) add(g->touch, &g->touches, touched[k].what, s->thread, touched[k].wrote);
    for (int k = 0; k < s->results; k++) add(g->touch, &g->touches, &g->machine->slot[s->out + k], s->thread, true);
    const int number = (int)(s - g->program->step);
    g->met[number] = (int16_t)((number ? g->met[number - 1] : 0) + s->sync_before);
    note_latest(g, number);
}
