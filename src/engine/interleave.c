/* SPDX-License-Identifier: Apache-2.0 */
/* See interleave.h. A flush runs its groups in the order of the program as a rule. Where several devices have work in
 * it, that order may keep one of them idle while the host computes (the cpu works in the thread that flushes) or waits
 * for a copy:
 *
 *     program    forward on cpu | forward on opencl:0 | copy of the result to cpu | forward on opencl:1 | ...
 *     here       forward on opencl:0 | forward on opencl:1 | forward on cpu | copy of the result to cpu | ...
 *
 * Each device keeps the order of its own groups, and copies out of a device keep theirs: these are the lanes. What is
 * chosen is only which lane goes on, among those whose next group has all that it reads: one that keeps the host for
 * nothing before one that does, and the earlier in the program before the later. So what a device does, with which
 * faults, is what it would be otherwise. */
#include "interleave.h"
#include "../base/alloc.h"
#include <string.h>

enum { MOST_DEVICES = 16, MOST_LANES = 2 * MOST_DEVICES, NONE = -1 };

/* How long a group keeps the host. */
typedef enum keeping {
    SENDS_OFF,   /* it is enqueued, or bytes of the host's are */
    MAY_PROVE,   /* a copy between two devices waits if the first may have faulted */
    COMPUTES,    /* the cpu does it now; meanwhile the others work */
    WAITS_FOR_IT /* a copy to the host waits for what the device was given before */
} keeping;

typedef struct lane_group {
    int32_t next;  /* of its lane, NONE: it is the last */
    int32_t place; /* where it goes */
    int32_t records, whole;
    uint8_t lane, keeping;
} lane_group;

typedef struct lanes {
    const wk__device *device[MOST_DEVICES];
    int devices;
    int32_t groups;
    int32_t head[MOST_LANES], tail[MOST_LANES]; /* the next group of each; the last, while lanes are made */
    lane_group *group;                          /* [groups] */
    int32_t (*after)[MOST_LANES];               /* [groups] of each lane the last one that has to be done before */
} lanes;

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

static bool several_devices(const wk__ring *ring)
{
    const wk__device *first = NULL;
    for (int64_t k = 0; k < ring->count; k++) {
        const wk__record *r = ring->record[k];
        if (!r->live) continue;
        if (!first) first = r->device;
        if (r->device != first || wk__record_family(r)->moves) return true;
    }
    return false;
}

/* The number of a device; NONE: there are too many. */
static int number_of(lanes *l, const wk__device *device)
{
    int k = 0;
    while (k < l->devices && l->device[k] != device) k++;
    if (k == MOST_DEVICES) return NONE;
    if (k == l->devices) l->device[l->devices++] = device;
    return k;
}

static bool is_host(const wk__device *device)
{
    return device->id.kind == WK_CPU;
}

static keeping keeping_of(const wk__record *r, const wk__device *from)
{
    if (!from) return is_host(r->device) ? COMPUTES : SENDS_OFF;
    if (is_host(from)) return SENDS_OFF;
    return r->device->backend == from->backend ? MAY_PROVE : WAITS_FOR_IT;
}

static bool put_in_lane(lanes *l, const wk__record *r)
{
    lane_group *g = &l->group[r->group];
    g->records++;
    g->whole += r->whole != 0;
    if (g->records > 1) return true;
    const wk__device *from = wk__record_family(r)->moves ? r->ref[r->nout].value->device : NULL;
    const int number = number_of(l, from ? from : r->device), lane = from ? MOST_DEVICES + number : number;
    if (number == NONE) return false;
    g->lane = (uint8_t)lane;
    g->keeping = (uint8_t)keeping_of(r, from);
    g->next = NONE;
    if (l->tail[lane] == NONE)
        l->head[lane] = r->group;
    else
        l->group[l->tail[lane]].next = r->group;
    l->tail[lane] = r->group;
    return true;
}

/* Lanes are made of groups in their order; records come in that of the program. */
static bool make_lanes(lanes *l, wk__record *const *by_group, int64_t live)
{
    for (int k = 0; k < MOST_LANES; k++) l->head[k] = l->tail[k] = NONE;
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

/* A group with a part of a call that happens whole comes after those before it that have one, too (whole.c). */
static void find_waits(lanes *l, wk__record *const *by_group, int64_t live)
{
    int32_t whole = NONE;
    memset(l->after, 0xff, (size_t)l->groups * sizeof *l->after);
    for (int64_t k = 0; k < live; k++) {
        const wk__record *r = by_group[k];
        for (int i = 0; i < r->nin; i++) wait_for(l, r->group, r->ref[r->nout + i].value);
        wait_for(l, r->group, r->prior);
        if (!l->group[r->group].whole || whole == r->group) continue;
        if (whole != NONE && l->after[r->group][l->group[whole].lane] < whole)
            l->after[r->group][l->group[whole].lane] = whole;
        whole = r->group;
    }
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

static bool is_ready(const lanes *l, int32_t group)
{
    for (int k = 0; k < MOST_LANES; k++)
        if (l->after[group][k] != NONE && l->head[k] != NONE && l->head[k] <= l->after[group][k]) return false;
    return true;
}

/* Of the groups below `end`. There is one: the first in the order of the program is always ready. */
static int32_t choose(const lanes *l, int32_t end)
{
    int32_t chosen = NONE;
    for (int k = 0; k < MOST_LANES; k++) {
        const int32_t group = l->head[k];
        if (group == NONE || group >= end) continue;
        if (chosen != NONE) {
            const uint8_t held = l->group[chosen].keeping, now = l->group[group].keeping;
            if (now > held || (now == held && group > chosen)) continue;
        }
        if (is_ready(l, group)) chosen = group;
    }
    return chosen;
}

/* Where the next group stands that is all of a call that happens whole: by then all that came before is done, so that
 * nothing that may fail is left when the first of these writes in place. */
static int32_t end_of_stretch(const lanes *l, int32_t from)
{
    int32_t k = from;
    while (k < l->groups && l->group[k].whole < l->group[k].records) k++;
    return k;
}

static void place_all(lanes *l)
{
    int32_t place = 0;
    while (place < l->groups) {
        int32_t end = end_of_stretch(l, place);
        if (end == place) end++;
        for (; place < end; place++) {
            const int32_t group = choose(l, end);
            l->group[group].place = place;
            l->head[l->group[group].lane] = l->group[group].next;
        }
    }
}

static void renumber(const lanes *l, wk__record *const *by_group, int64_t live)
{
    for (int64_t k = 0; k < live; k++) {
        wk__record *r = by_group[k];
        r->group = l->group[r->group].place;
        for (int o = 0; o < r->nout; o++) r->ref[o].value->group = r->group;
    }
}

void wk__interleave_plan(wk__ring *ring, int32_t groups)
{
    if (groups < 2 || !several_devices(ring)) return;
    lanes l = {.groups = groups};
    l.group = wk__alloc_zero((size_t)groups, sizeof *l.group);
    l.after = wk__alloc((size_t)groups * sizeof *l.after);
    int64_t live;
    if (l.group && l.after) { /* else in the order of the program */
        wk__record **by_group = wk__by_group(ring, groups, &live);
        if (make_lanes(&l, by_group, live)) {
            find_waits(&l, by_group, live);
            place_all(&l);
            renumber(&l, by_group, live);
        }
    }
    wk__free(l.group);
    wk__free(l.after);
}
