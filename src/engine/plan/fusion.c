/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion: assigns records to groups, each of which becomes one kernel. One forward pass; each record joins the first of
 * the last few open groups that it may join (fusion_rules.c), or opens a new group.
 *
 * Joining an earlier group changes the order in which records run, but not their results, because records refer to
 * immutable values.
 *
 *     programs      elementwise: join any group with their space, also as the epilogue of a contraction. Reducing:
 *                   join a group of programs with their space that does not reduce yet or reduces the same dimensions
 *     other work    opens a group of its own, which stays open if the family can have an epilogue */
#include "fusion_rules.h"
#include <string.h>

enum { LOOK_BACK = 4 };

typedef struct planner {
    bool nofuse;
    wk__fusion_group last[LOOK_BACK]; /* group g is last[g % LOOK_BACK] */
    int32_t count;
    /* transaction of the last record, 0: none; groups below `closed` accept no more records */
    int32_t transaction, closed;
} planner;

/* Returns the first group by which all operands of r have been computed: r may join that group or a later one. */
static int32_t earliest(const wk__record *r)
{
    int32_t latest = 0;
    for (int k = r->nout; k < r->nout + r->nin; k++) {
        const wk__value *value = r->ref[k].value;
        if (value && value->state == WK__PENDING && value->group > latest) latest = value->group;
    }
    if (r->prior && r->prior->state == WK__PENDING && r->prior->group > latest) latest = r->prior->group;
    return latest;
}

static int32_t open_new(planner *p, wk__record *r)
{
    wk__fusion_group *g = &p->last[p->count % LOOK_BACK];
    memset(g, 0, offsetof(wk__fusion_group, load));
    g->device = r->device;
    g->ndim = r->ndim;
    memcpy(g->shape, wk__record_shape(r), sizeof *g->shape * r->ndim);
    const wk__work_family *family = wk__record_family(r);
    g->has_epilogue = family->can_have_epilogue;
    g->open = (family->is_program || family->can_have_epilogue) && !p->nofuse;
    return p->count++;
}

/* After a transaction, records join none of the existing groups: the transaction's groups stay together until it is
 * done. Two transactions never share a kernel, because one may fail without the other. */
static void close_on_transaction(planner *p, const wk__record *r)
{
    if (p->transaction && r->transaction != p->transaction) p->closed = p->count;
    p->transaction = r->transaction;
}

static int32_t choose(planner *p, wk__record *r)
{
    int32_t from = earliest(r);
    close_on_transaction(p, r);
    if (from < p->closed) from = p->closed;
    if (from < p->count - LOOK_BACK) from = p->count - LOOK_BACK;
    for (int32_t number = from < 0 ? 0 : from; number < p->count; number++)
        if (wk__can_fuse(&p->last[number % LOOK_BACK], number, r)) return number;
    return open_new(p, r);
}

int32_t wk__plan_fusion(wk__op_queue *queue)
{
    planner p = {.nofuse = queue->config->nofuse};
    for (int64_t k = 0; k < queue->count; k++) {
        wk__record *r = queue->record[k];
        if (!r->live) continue;
        const int32_t number = choose(&p, r);
        wk__fuse_record(&p.last[number % LOOK_BACK], number, r);
    }
    return p.count;
}

/* Counting sort into an array that has grown with the queue. */
wk__record **wk__sort_by_group(wk__op_queue *queue, int32_t groups, int64_t *live)
{
    bool sorted = true;
    int32_t last = 0;
    *live = 0;
    for (int64_t k = 0; k < queue->count; k++) {
        const wk__record *r = queue->record[k];
        *live += r->live;
        sorted = sorted && r->live && r->group >= last;
        last = r->group;
    }
    if (sorted) return queue->record;
    int32_t *start = queue->start;
    memset(start, 0, sizeof *start * (size_t)(groups + 1));
    for (int64_t k = 0; k < queue->count; k++)
        if (queue->record[k]->live) start[queue->record[k]->group + 1]++;
    for (int32_t g = 0; g < groups; g++) start[g + 1] += start[g];
    for (int64_t k = 0; k < queue->count; k++)
        if (queue->record[k]->live) queue->sorted[start[queue->record[k]->group]++] = queue->record[k];
    return queue->sorted;
}
