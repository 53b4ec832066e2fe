/* SPDX-License-Identifier: Apache-2.0 */
/* See interleave.h. A flush normally runs its groups in program order. With several devices this may leave a device
 * idle while the host computes (CPU work runs in the flushing thread) or waits for a copy:
 *
 *     program    forward on cpu | forward on opencl:0 | copy of the result to cpu | forward on opencl:1 | ...
 *     here       forward on opencl:0 | forward on opencl:1 | forward on cpu | copy of the result to cpu | ...
 *
 * Each device is a lane whose order is kept: its groups and the copies out of it, because a device executes in
 * submission order, and a copy that followed later work would be delayed. Uploads from the host are another lane. Only
 * the choice of the next lane is free, among those whose next group has all of its operands: the one that stalls the
 * host and other devices least, and of these the first in program order. So the work and the faults of each device
 * remain the same. */
#include "interleave.h"
#include "base/alloc.h"
#include "engine/device_fault.h"
#include "overlap.h"
#include <string.h>

enum { MAX_DEVICES = 17 /* devices of a mirrored network, and the cpu */, UPLOADS = MAX_DEVICES, LANES, NONE = -1 };

/* Cost of submitting a group in terms of who waits; a lower value is better. */
typedef enum stall {
    /* nothing: the group is enqueued, host bytes are enqueued, or an idle device is read */
    STALLS_NONE,
    /* a copy between devices: the target is idle until it arrives, unless the copy overlaps with its work */
    STALLS_DEVICE,
    HOST_COMPUTES, /* the host computes (CPU work), while other devices work */
    /* the host waits for earlier work of a device: for a copy to the host, or because of a possible bad index */
    STALLS_HOST
} stall;

typedef struct lane_group {
    int32_t next;                    /* next group in its lane; NONE: last */
    int32_t place;                   /* its new index */
    int32_t records, in_transaction; /* number of its records; of those in transactions */
    uint8_t lane;
    uint8_t keeping;
} lane_group;

typedef struct lanes {
    const wk__device *device[MAX_DEVICES];
    int devices;
    int32_t groups;
    int32_t head[LANES], tail[LANES]; /* first unplaced group per lane; last group, while lanes are built */
    bool busy[LANES];                 /* work was submitted to the device that has not been waited for */
    bool doubtful[LANES];             /* while lanes are built: some of that may have a bad index */
    lane_group *group;                /* [groups] */
    int32_t (*after)[LANES];          /* [groups] for each lane the last group that must run before; NONE: none */
} lanes;

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

static bool several_devices(const wk__op_queue *queue)
{
    const wk__device *first = NULL;
    for (int64_t k = 0; k < queue->count; k++) {
        const wk__record *r = queue->record[k];
        if (!r->live) continue;
        if (!first) first = r->device;
        if (r->device != first || wk__record_family(r)->is_transfer) return true;
    }
    return false;
}

/* Returns the lane of a device; NONE if there are too many. */
static int number_of(lanes *l, wk__device *device)
{
    int k = 0;
    while (k < l->devices && l->device[k] != device) k++;
    if (k == MAX_DEVICES) return NONE;
    if (k == l->devices) {
        l->device[l->devices++] = device;
        l->doubtful[k] = wk__has_inflight(device);
    }
    return k;
}

static bool is_host(const wk__device *device)
{
    return device->id.kind == WK_CPU;
}

/* `doubtful`: earlier work of the device may have a bad index, so the host waits for it before a copy
 * (run_transfer_record()). */
static stall keeping_of(const wk__record *r, const wk__device *from, bool doubtful)
{
    if (!from) return is_host(r->device) ? HOST_COMPUTES : STALLS_NONE;
    if (is_host(from)) return STALLS_NONE;
    if (r->device->backend != from->backend || doubtful) return STALLS_HOST;
    const int64_t beside = from->backend->min_overlap_bytes;
    return beside > 0 && r->ref[0].value->bytes >= beside ? STALLS_NONE : STALLS_DEVICE;
}

/* Appends the group of this record, its first, to a lane. */
static bool begin_group(lanes *l, lane_group *g, const wk__record *r)
{
    wk__device *from = wk__record_family(r)->is_transfer ? r->ref[r->nout].value->device : NULL;
    const int lane = from && is_host(from) ? UPLOADS : number_of(l, from ? from : r->device);
    if (lane == NONE) return false;
    g->lane = (uint8_t)lane;
    g->keeping = (uint8_t)keeping_of(r, from, l->doubtful[lane]);
    if (g->keeping == STALLS_HOST) l->doubtful[lane] = false; /* it has been waited for */
    g->next = NONE;
    if (l->tail[lane] == NONE)
        l->head[lane] = r->group;
    else
        l->group[l->tail[lane]].next = r->group;
    l->tail[lane] = r->group;
    return true;
}

static bool put_in_lane(lanes *l, const wk__record *r)
{
    lane_group *g = &l->group[r->group];
    if (g->records++ == 0 && !begin_group(l, g, r)) return false;
    g->in_transaction += r->transaction != 0;
    if (wk__record_may_fault(r)) l->doubtful[g->lane] = true;
    return true;
}

/* Builds the lanes in the order of groups; within a group records are in program order. */
static bool make_lanes(lanes *l, wk__record *const *by_group, int64_t live)
{
    for (int k = 0; k < LANES; k++) l->head[k] = l->tail[k] = NONE;
    for (int64_t k = 0; k < live; k++)
        if (!put_in_lane(l, by_group[k])) return false;
    return true;
}

static void wait_for(lanes *l, int32_t group, const wk__value *value)
{
    if (!value || value->state != WK__PENDING || value->group == group || value->group < 0) return;
    int32_t *after = &l->after[group][l->group[value->group].lane];
    if (*after < value->group) *after = value->group;
}

/* Finds the groups that each group depends on. A group with records of a transaction also depends on all earlier groups
 * that have any (transaction.c). */
static void find_waits(lanes *l, wk__record *const *by_group, int64_t live)
{
    int32_t previous = NONE; /* last group with records of a transaction */
    memset(l->after, 0xff, (size_t)l->groups * sizeof *l->after);
    for (int64_t k = 0; k < live; k++) {
        const wk__record *r = by_group[k];
        for (int i = 0; i < r->nin; i++) wait_for(l, r->group, r->ref[r->nout + i].value);
        wait_for(l, r->group, r->prior);
        if (!l->group[r->group].in_transaction || previous == r->group) continue;
        if (previous != NONE && l->after[r->group][l->group[previous].lane] < previous)
            l->after[r->group][l->group[previous].lane] = previous;
        previous = r->group;
    }
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static bool is_ready(const lanes *l, int32_t group)
{
    for (int k = 0; k < LANES; k++)
        if (l->after[group][k] != NONE && l->head[k] != NONE && l->head[k] <= l->after[group][k]) return false;
    return true;
}

/* A copy to the host doesn't stall if the device is idle. */
static stall current_stall(const lanes *l, int32_t group)
{
    const lane_group *g = &l->group[group];
    return g->keeping == STALLS_HOST && !l->busy[g->lane] ? STALLS_NONE : g->keeping;
}

/* Returns the best of the groups below `end`, or NONE if no lane can go on. At least the first in program order is
 * always ready. */
static int32_t choose(const lanes *l, int32_t end)
{
    int32_t chosen = NONE;
    for (int k = 0; k < LANES; k++) {
        const int32_t group = l->head[k];
        if (group == NONE || group >= end) continue;
        if (chosen != NONE) {
            const stall least = current_stall(l, chosen), now = current_stall(l, group);
            if (now > least || (now == least && group > chosen)) continue;
        }
        if (is_ready(l, group)) chosen = group;
    }
    return chosen;
}

static void place(lanes *l, int32_t group, int32_t at)
{
    lane_group *g = &l->group[group];
    g->place = at;
    l->head[g->lane] = g->next;
    l->busy[g->lane] = g->keeping != STALLS_HOST;
}

/* Returns the index of the next group that consists of a transaction only. All earlier groups must run before it, so
 * that nothing that may fail is left when the first of these writes in place. */
static int32_t next_barrier(const lanes *l, int32_t from)
{
    int32_t k = from;
    while (k < l->groups && l->group[k].in_transaction < l->group[k].records) k++;
    return k;
}

static bool place_all(lanes *l)
{
    int32_t at = 0;
    while (at < l->groups) {
        int32_t end = next_barrier(l, at);
        if (end == at) end++;
        for (; at < end; at++) {
            const int32_t chosen = choose(l, end);
            if (chosen == NONE) return false;
            place(l, chosen, at);
        }
    }
    return true;
}

static void renumber(const lanes *l, wk__record *const *by_group, int64_t live)
{
    for (int64_t k = 0; k < live; k++) {
        wk__record *r = by_group[k];
        r->group = l->group[r->group].place;
        for (int o = 0; o < r->nout; o++) r->ref[o].value->group = r->group;
    }
}

void wk__plan_interleave(wk__op_queue *queue, int32_t groups)
{
    if (groups < 2 || !several_devices(queue)) return;
    lanes l = {.groups = groups};
    l.group = wk__alloc_zero((size_t)groups, sizeof *l.group);
    l.after = wk__alloc((size_t)groups * sizeof *l.after);
    int64_t live;
    if (l.group && l.after) { /* otherwise in program order */
        wk__record **by_group = wk__sort_by_group(queue, groups, &live);
        if (make_lanes(&l, by_group, live)) {
            find_waits(&l, by_group, live);
            if (place_all(&l)) renumber(&l, by_group, live);
        }
    }
    wk__free(l.group);
    wk__free(l.after);
}
