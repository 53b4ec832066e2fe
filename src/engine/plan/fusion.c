/* SPDX-License-Identifier: Apache-2.0 */
/* Grouping: which records share a kernel. One forward pass; each record looks back over a few open groups and joins the
 * first that it may join (fusion_rules.c says when), or opens one of its own.
 *
 * Joining an earlier group changes the order in which records run, never what they compute: records name values.
 *
 *   programs      elementwise, join any group of their space, a contraction's too: they are its tail; those that reduce
 *                 join a group of programs of their space that does not reduce yet or reduces over the same dimensions
 *   other work    opens a group of its own, which stays open where the family may have a tail
 */
#include "fusion_rules.h"
#include <string.h>

enum { LOOK_BACK = 4 };

typedef struct planner {
    bool nofuse;
    wk__fusion_group last[LOOK_BACK]; /* group g is last[g % LOOK_BACK] */
    int32_t count;
    int32_t whole, closed; /* of the last record, 0 none; groups before this one are joined by nobody any more */
} planner;

/* The first group in which all that r reads has been computed: r may join it or a later one. */
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
    memset(g, 0, sizeof *g);
    g->device = r->device;
    g->ndim = r->ndim;
    memcpy(g->shape, wk__record_shape(r), sizeof *g->shape * r->ndim);
    const wk__work_family *family = wk__record_family(r);
    g->has_epilogue = family->can_have_epilogue;
    g->open = (family->is_program || family->can_have_epilogue) && !p->nofuse;
    return p->count++;
}

/* What follows a call that happens whole joins none of the groups that are there: they stay together until it is done,
 * and nothing of another such call shares a kernel with it, as one may fail without the other. */
static void close_on_transaction(planner *p, const wk__record *r)
{
    if (p->whole && r->transaction != p->whole) p->closed = p->count;
    p->whole = r->transaction;
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

int32_t wk__plan_fusion(wk__op_queue *ring)
{
    planner p = {.nofuse = ring->config->nofuse};
    for (int64_t k = 0; k < ring->count; k++) {
        wk__record *r = ring->record[k];
        if (!r->live) continue;
        const int32_t number = choose(&p, r);
        wk__fuse_record(&p.last[number % LOOK_BACK], number, r);
    }
    return p.count;
}
