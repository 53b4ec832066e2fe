/* SPDX-License-Identifier: Apache-2.0 */
/* May a record join a group? One function per condition in fusion_rules.c, each with its reason; fusion.c asks for all
 * of them. */
#ifndef WICK_ENGINE_JOIN_H
#define WICK_ENGINE_JOIN_H

#include "engine/op_queue.h"

/* What is known of a group while it may still grow. */
typedef struct wk__fusion_group {
    wk__device *device;
    int64_t shape[WK__MAX_DIMS];
    uint16_t reduce_mask; /* dimensions that it reduces, 0 none yet */
    uint8_t ndim;
    bool open, has_epilogue;          /* tail: it begins with a contraction, so it reduces nothing */
    bool uses_position;               /* some op of it counts positions */
    bool outer_reduction;             /* what it reduces has neighbouring rows side by side */
    bool indirect, has_fault_message; /* some op reads at places that are computed; has its own name for a bad one */
    bool exposed;                     /* some op writes memory whose address the program knows */
    int nins, operands, imms;
} wk__fusion_group;

/* wk__program's `across` of a record that reduces: a matter of its own operand, as it is or would be stored. */
bool wk__is_outer_reduction(wk__record *r);
/* May r, which is next in program order, run in the group of that number? */
bool wk__can_fuse(const wk__fusion_group *g, int32_t number, wk__record *r);
/* r has joined: the group's limits and kind, the values that it stores or has to have stored. */
void wk__fuse_record(wk__fusion_group *g, int32_t number, wk__record *r);
/* How dimension d of the group's space maps for record r: fills stride[] over the group's dims for operand k. False if
 * the record's space does not fit the group's. Nobody steps along a dimension of size 0: the stride 1 says there that
 * what has the space's shape walks it, and so has no element, while the value of a row is read or written once. */
bool wk__map_strides(wk__record *r, int k, int ndim, const int64_t *shape, uint16_t reduce_mask, int64_t *stride);

#endif
