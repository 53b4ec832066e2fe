/* SPDX-License-Identifier: Apache-2.0 */
/* Shadows: the reference results of a checked flush. Each value has a shadow, computed by running the records one by
 * one, each into separate memory.
 *
 *     queue    r0: v1 = v0 + 1     r1: v2 = v1 * v1     r2: v3 = v2 over a part of v0
 *     shadows  s0  a copy of v0, made before the planned run, which may reuse v0's memory
 *              s1, s2, s3  separate memory; s1 and s2 are freed after their last reader
 *
 * Shadows live in arenas of their own, which limits and statistics don't include. Values that the user, a deferred
 * record or another queue can still reach (`observable`) are compared after the planned run; references to them are
 * held until then. Those references don't change the plan: memory of a value that has owners is never reused. */
#ifndef WICK_ENGINE_VERIFY_SHADOW_H
#define WICK_ENGINE_VERIFY_SHADOW_H

#include "engine/op_queue.h"

typedef struct wk__shadow {
    /* may be destroyed after the planned run, unless `held`; used as a key only */
    wk__value *of;
    wk__value value;    /* replaces `of` in records; `memory.block` is NULL while it has no memory */
    wk__record *writer; /* in this flush; NULL: it existed before */
    /* indices in the queue: of the writer (-1: none), of the last computed record that reads it (-1: none) */
    int64_t first, last;
    int32_t uses; /* references owned by this queue's records */
    bool observable, held;
    bool needed;               /* observable, or read to compute an observable value */
    bool valid;                /* the shadow is correct: it has the contents, or has failed */
    bool failed;               /* has no contents: a bad index, or a failed operand */
    bool rolled_back;          /* the in-place call failed, so it has the old contents of its target */
    bool partly_written;       /* some elements were never written; only those that its writer wrote are defined */
    bool may_fail, may_differ; /* for reasons other than a wrong plan: see shadow_compare.c */
    bool tolerated;            /* the planned run had no memory or no device for it */
    /* State of the value before the planned run, for a flush file. */
    bool stored, exposed, borrowed, wanted, revived, keep, replaced;
} wk__shadow;

typedef struct wk__shadow_map {
    wk_context *owner;
    wk__op_queue *queue;
    bool may_defer;     /* the planned run may defer values */
    wk__shadow *shadow; /* sorted by address of the value */
    int64_t count;
    const char *skip_reason; /* reason why the second computation was abandoned; NULL: it is complete */
    wk__fail fail;
    wk__lowering building;
} wk__shadow_map;

/* Creates shadows, without memory, for all values that the queue's records refer to; called before planning. Returns
 * NULL on allocation failure. */
wk__shadow_map *wk__shadow_map_new(wk_context *owner, bool may_defer);
void wk__shadow_map_free(wk__shadow_map *shadows);
/* Returns the shadow of a value of this flush, else NULL. */
wk__shadow *wk__shadow_of(const wk__shadow_map *shadows, const wk__value *value);

/* Allocate and free memory of a shadow, in the separate arena for its device. */
wk_code wk__shadow_alloc(wk__shadow *shadow, wk__fail *fail);
void wk__shadow_free(wk__shadow *shadow);
void wk__shadow_free_memory(wk__device *device, wk__memory *memory);

#endif
