/* SPDX-License-Identifier: Apache-2.0 */
/* See shuffle.h. A group must run after the groups that compute its operands. There are no other constraints: records
 * refer to immutable values, and memory is reused by whichever group reads it last. */
#include "shuffle.h"

static _Atomic uint64_t order;
static _Atomic(wk__fusion_observer *) look;

void wk__set_fusion_observer(wk__fusion_observer *looker)
{
    atomic_store_explicit(&look, looker, memory_order_relaxed);
}

void wk__shuffle_groups(uint64_t seed)
{
    atomic_store_explicit(&order, seed, memory_order_relaxed);
}

enum { MAX_GROUPS = 512 };

typedef struct shuffle {
    uint64_t state;
    int32_t waits[MAX_GROUPS]; /* groups that it depends on and that are not placed yet, counted once per record */
    int32_t place[MAX_GROUPS];
} shuffle;

static uint32_t random_index(shuffle *s, uint32_t below)
{
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(s->state >> 33) % below;
}

/* Returns the group that must run before r because of operand k (-1: `prior`); -1 if none. */
static int32_t before(const wk__record *r, int k)
{
    const wk__value *value = k < 0 ? r->prior : r->ref[r->nout + k].value;
    if (!value || value->state != WK__PENDING) return -1;
    return value->group == r->group ? -1 : value->group;
}

static void count(shuffle *s, wk__op_queue *queue, int32_t done, int32_t by)
{
    for (int64_t n = 0; n < queue->count; n++) {
        const wk__record *r = queue->record[n];
        for (int k = -1; r->live && k < r->nin; k++) {
            const int32_t group = before(r, k);
            if (group >= 0 && (done < 0 || group == done)) s->waits[r->group] += by;
        }
    }
}

static void renumber(shuffle *s, wk__op_queue *queue)
{
    for (int64_t n = 0; n < queue->count; n++) {
        wk__record *r = queue->record[n];
        if (!r->live) continue;
        r->group = s->place[r->group];
        for (int o = 0; o < r->nout; o++) r->ref[o].value->group = r->group;
    }
}

/* Transactions reserve memory in the order of their records, so they are not shuffled. */
static bool has_transaction(const wk__op_queue *queue)
{
    for (int64_t n = 0; n < queue->count; n++)
        if (queue->record[n]->transaction) return true;
    return false;
}

void wk__plan_shuffle(wk__op_queue *queue, int32_t groups)
{
    wk__fusion_observer *at = atomic_load_explicit(&look, memory_order_relaxed);
    if (__builtin_expect(at != NULL, 0)) at(queue, groups);
    const uint64_t seed = atomic_load_explicit(&order, memory_order_relaxed);
    if (__builtin_expect(seed == 0, 1) || groups < 2 || groups > MAX_GROUPS || has_transaction(queue)) return;
    shuffle s = {.state = seed};
    count(&s, queue, -1, 1);
    for (int32_t k = 0; k < groups; k++) s.place[k] = -1;
    for (int32_t next = 0; next < groups; next++) {
        int32_t chosen = -1;
        uint32_t ready = 0;
        for (int32_t k = 0; k < groups; k++)
            if (s.place[k] < 0 && s.waits[k] == 0 && random_index(&s, ++ready) == 0) chosen = k;
        s.place[chosen] = next;
        count(&s, queue, chosen, -1);
    }
    renumber(&s, queue);
}
