/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a flush, each with a twin: what it is when the flush's records run one by one, each into
 * memory of its own.
 *
 *     ring     r0: v1 = v0 + 1     r1: v2 = v1 * v1     r2: v3 = v2 over a part of v0
 *     twins    t0  a copy of v0, made before the planned run, which may give v0's memory away
 *              t1, t2, t3  memory of their own; t1 and t2 let go of it when their last reader has run
 *
 * Twins live in arenas beside those of the devices, so that limits and statistics do not know of them. What the
 * program, a parked record or another ring can still reach (`seen`) is compared when the planned run is over; its value
 * is held meanwhile. Holding it does not change the plan: a value with an owner is never given away as it is. */
#ifndef WICK_ENGINE_TWINS_H
#define WICK_ENGINE_TWINS_H

#include "engine/op_queue.h"

typedef struct wk__shadow {
    wk__value *of;      /* may be gone when the planned run is over, unless `held`: then its address is a name only */
    wk__value value;    /* what records read and write in its place; `memory.block` is NULL when it has none */
    wk__record *writer; /* in this flush; NULL: it was there before */
    int64_t first,
        last;     /* places in the ring: of the writer (-1), of the last record that is computed and reads it (-1) */
    int32_t uses; /* references that this ring's records hold */
    bool observable, held;
    bool needed;               /* it is seen, or computing what is seen reads it */
    bool valid;                /* the twin is right: it holds numbers, or has failed */
    bool failed;               /* no numbers: a bad index, or an operand that has failed */
    bool rolled_back;          /* could not be computed in place, so it holds the numbers that its target had
                                     before */
    bool partly_written;       /* parts of it were never written: only what its writer wrote means something */
    bool may_fail, may_differ; /* for reasons that are no fault of the plan: see shadow_compare.c */
    bool tolerated;            /* the planned run had no memory for it, or no device */
    /* What a file of this flush says of the value, as it was before the planned run. */
    bool stored, exposed, borrowed, wanted, revived, keep, replaced;
} wk__shadow;

typedef struct wk__shadow_map {
    wk_context *owner;
    wk__op_queue *ring;
    bool park;        /* the planned run may park */
    wk__shadow *twin; /* by address of the value */
    int64_t count;
    const char *skip_reason; /* the second computation was given up, because of this; NULL: it is complete */
    wk__fail fail;
    wk__lowering building;
} wk__shadow_map;

/* Twins for all values that the ring's records name, without memory. NULL when host memory is short. Before
 * the plan is made. */
wk__shadow_map *wk__shadow_map_new(wk_context *owner, bool park);
void wk__shadow_map_free(wk__shadow_map *twins);
/* That of a value of this flush, else NULL. */
wk__shadow *wk__shadow_of(const wk__shadow_map *twins, const wk__value *value);

/* Memory for a twin, from the arena beside the device's; and back. */
wk_code wk__shadow_alloc(wk__shadow *twin, wk__fail *fail);
void wk__shadow_free(wk__shadow *twin);
void wk__shadow_free_memory(wk__device *device, wk__memory *memory);

#endif
