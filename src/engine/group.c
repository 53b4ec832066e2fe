/* Grouping: which records share a kernel. One forward pass; each record looks back over a few open groups.
 *
 * A group has one space. A record may join it when
 *   - its space is the group's, or, once the group reduces, that of the reduced rows;
 *   - what it reads of the group's own results it reads in place (same offset and strides): that value is in a register;
 *   - nothing it reads comes from a later group;
 *   - the program stays within its limits.
 * Joining an earlier group changes the order in which records run, never what they compute: records name values.
 *
 *   expressions             join any group of their space, a matmul's too (its epilogue)
 *   reductions              join a group of their space that does not reduce yet or reduces over the same dimensions
 *   matmul, kernel, copy    open a group of their own; only a matmul's stays open
 */
#include "ring.h"
#include <string.h>

enum {
    LOOK_BACK = 4,
    SHORT_ROW = 32768 /* columns up to which a row is walked again after its reduction: it must stay in cache */
};

typedef struct open_group {
    wk__device *device;
    int64_t shape[WK__MAX_DIMS];
    uint16_t reduce_mask;
    uint8_t ndim;
    bool open, matmul, indexed;
    bool indirect, fault; /* reads at places that are computed; of an op that has another name for a bad one */
    int nins, operands, imms, records;
} open_group;

typedef struct planner {
    open_group last[LOOK_BACK]; /* group g is last[g % LOOK_BACK] */
    int32_t count;
} planner;

/* A row-level record has size 1 in the reduced dimensions, or lacks them. */
static bool row_shape(const open_group *g, const wk__record *r, const int64_t *shape)
{
    if (r->ndim == g->ndim) {
        for (int d = 0; d < g->ndim; d++)
            if (shape[d] != (g->reduce_mask >> d & 1 ? 1 : g->shape[d])) return false;
        return true;
    }
    int kept = 0;
    for (int d = 0; d < g->ndim; d++) {
        if (g->reduce_mask >> d & 1) continue;
        if (kept == r->ndim || shape[kept] != g->shape[d]) return false;
        kept++;
    }
    return kept == r->ndim;
}

bool wk__map_strides(wk__record *r, int k, int ndim, const int64_t *shape, uint16_t reduce_mask, int64_t *stride)
{
    const int64_t *from = wk__record_stride(r, k);
    if (wk__same_shape(r->ndim, wk__record_shape(r), ndim, shape)) {
        memcpy(stride, from, sizeof *stride * (size_t)ndim);
        return true;
    }
    int kept = 0;
    for (int d = 0; d < ndim; d++) {
        bool reduced = reduce_mask >> d & 1;
        stride[d] = reduced ? 0 : from[r->ndim == ndim ? d : kept];
        kept += !reduced;
    }
    return r->ndim == ndim || kept == r->ndim;
}

static int64_t columns(const open_group *g)
{
    int64_t count = 1;
    for (int d = 0; d < g->ndim; d++)
        if (g->reduce_mask >> d & 1) count *= g->shape[d];
    return count;
}

/* The reduced dimensions are moved last; an op that counts positions needs the walk in its own order. */
static bool keeps_order(uint16_t reduce_mask, int ndim)
{
    bool reduced = false;
    for (int d = 0; d < ndim; d++) {
        if (reduced && !(reduce_mask >> d & 1)) return false;
        reduced = reduced || reduce_mask >> d & 1;
    }
    return true;
}

/* What r reads of the group's own results must be the very elements that are in the registers. */
static bool reads_in_place(const open_group *g, int32_t number, wk__record *r)
{
    for (int i = 0; i < r->nin; i++) {
        const wk__ref *in = wk__record_in(r, i);
        if (!in->value || in->value->group != number || wk__value_state(in->value) != WK__PENDING) continue;
        if (in->flags & WK__REF_INDIRECT) return false;
        wk__record *maker = in->value->record;
        if (maker->ref[0].offset != in->offset || maker->ref[0].dtype != in->dtype) return false;
        int64_t want[WK__MAX_DIMS], have[WK__MAX_DIMS];
        if (!wk__map_strides(r, r->nout + i, g->ndim, g->shape, g->reduce_mask, want) ||
            !wk__map_strides(maker, 0, g->ndim, g->shape, g->reduce_mask, have))
            return false;
        for (int d = 0; d < g->ndim; d++)
            if (want[d] != have[d] && g->shape[d] > 1) return false;
    }
    return true;
}

/* A new tensor is written in several parts, and nobody but the next part knows this state of it. */
static bool is_earlier_part(const wk__record *r)
{
    wk__value *prior = r->prior;
    return !r->guarded && prior->ring_refs == 2 &&
           atomic_load_explicit(&prior->refs, memory_order_relaxed) == prior->ring_refs;
}

/* The base of a partial write must be in memory before its group starts, or be another part that the group writes. */
static bool base_ready(int32_t number, const wk__record *r)
{
    return !r->partial || !r->prior || wk__value_state(r->prior) != WK__PENDING || r->prior->group < number ||
           is_earlier_part(r);
}

static bool within_limits(const open_group *g, const wk__record *r)
{
    return g->nins + r->nin + 3 <= WK__MAX_INS && g->operands + r->nin + 1 <= WK__MAX_OPERANDS &&
           g->imms + r->nin + 2 <= WK__MAX_IMMS;
}

static bool reads_at_places(const wk__record *r)
{
    for (int k = r->nout; k < r->nout + r->nin; k++)
        if (r->ref[k].flags & WK__REF_INDIRECT) return true;
    return false;
}

/* A bad place is told of a group: where two records may have one, they must mean the same by it. */
static bool blames_alike(const open_group *g, const wk__record *r)
{
    return !g->indirect || (!g->fault && !r->op->fault) || !reads_at_places(r);
}

static bool fits(const open_group *g, int32_t number, wk__record *r)
{
    if (!g->open || g->device != r->device || !within_limits(g, r) || !base_ready(number, r)) return false;
    if (!blames_alike(g, r)) return false;
    const int64_t *shape = wk__record_shape(r);
    bool full = wk__same_shape(r->ndim, shape, g->ndim, g->shape);
    if (r->kind == WK__RECORD_REDUCTION) {
        if (!full || g->matmul || (g->reduce_mask && (g->reduce_mask != r->reduce_mask || columns(g) > SHORT_ROW)))
            return false;
        if ((g->indexed || r->op->indexed) && !keeps_order(r->reduce_mask, r->ndim)) return false;
        open_group reduced = *g;
        reduced.reduce_mask = r->reduce_mask;
        return reads_in_place(&reduced, number, r);
    }
    if (r->kind != WK__RECORD_EXPRESSION) return false;
    if (g->reduce_mask) {
        if (!full && !row_shape(g, r, shape)) return false;
        if (full && columns(g) > SHORT_ROW) return false;
        if (r->op->indexed && (!full || !keeps_order(g->reduce_mask, g->ndim))) return false;
    } else if (!full) {
        return false;
    }
    return reads_in_place(g, number, r);
}

/* The first group in which all that r reads has been computed: r may join it or a later one. */
static int32_t earliest(const wk__record *r)
{
    int32_t latest = 0;
    for (int k = r->nout; k < r->nout + r->nin; k++) {
        const wk__value *value = r->ref[k].value;
        if (value && wk__value_state(value) == WK__PENDING && value->group > latest) latest = value->group;
    }
    if (r->prior && wk__value_state(r->prior) == WK__PENDING && r->prior->group > latest) latest = r->prior->group;
    return latest;
}

static int32_t open_new(planner *p, wk__record *r)
{
    open_group *g = &p->last[p->count % LOOK_BACK];
    memset(g, 0, sizeof *g);
    g->device = r->device;
    g->ndim = r->ndim;
    memcpy(g->shape, wk__record_shape(r), sizeof *g->shape * r->ndim);
    g->matmul = r->kind == WK__RECORD_MATMUL;
    g->open =
        (r->kind == WK__RECORD_EXPRESSION || r->kind == WK__RECORD_REDUCTION || g->matmul) && !wk__modes_now()->nofuse;
    return p->count++;
}

static int32_t choose(planner *p, wk__record *r)
{
    int32_t from = earliest(r);
    if (from < p->count - LOOK_BACK) from = p->count - LOOK_BACK;
    for (int32_t number = from < 0 ? 0 : from; number < p->count; number++)
        if (fits(&p->last[number % LOOK_BACK], number, r)) return number;
    return open_new(p, r);
}

static void join(planner *p, int32_t number, wk__record *r)
{
    open_group *g = &p->last[number % LOOK_BACK];
    r->group = number;
    g->records++;
    g->nins += r->nin + 2;
    g->operands += 1;
    for (int k = 0; k < r->nin; k++) {
        const wk__ref *in = wk__record_in(r, k);
        if (!in->value) {
            g->imms++;
        } else if (wk__value_state(in->value) != WK__PENDING || in->value->group != number) {
            g->operands++;
            if (wk__value_state(in->value) == WK__PENDING) in->value->escapes = true;
        }
    }
    if (r->prior && wk__value_state(r->prior) == WK__PENDING) r->prior->escapes = r->prior->escapes || r->partial;
    if (r->kind == WK__RECORD_REDUCTION) g->reduce_mask = r->reduce_mask;
    g->indexed = g->indexed || r->op->indexed;
    g->indirect = g->indirect || reads_at_places(r);
    g->fault = g->fault || r->op->fault;
    for (int o = 0; o < r->nout; o++) r->ref[o].value->group = number;
}

int32_t wk__plan_groups(wk__ring *ring)
{
    planner p = {.count = 0};
    for (int64_t k = 0; k < ring->count; k++) {
        wk__record *r = ring->record[k];
        if (r->live) join(&p, choose(&p, r), r);
    }
    return p.count;
}
