/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions for adding a record to a group: one function per condition in fusion_rules.c, with its reason. fusion.c
 * applies all of them. Used by the thread that flushes. */
#ifndef WICK_ENGINE_PLAN_FUSION_RULES_H
#define WICK_ENGINE_PLAN_FUSION_RULES_H

#include "engine/op_queue.h"

/* State of a group that may still grow. */
typedef struct wk__fusion_group {
    wk__device *device;
    int64_t shape[WK__MAX_DIMS];
    uint16_t reduce_mask; /* dimensions that it reduces; 0: none so far */
    uint8_t ndim;
    bool open, has_epilogue;          /* has_epilogue: it begins with a contraction, so it cannot reduce */
    bool uses_position;               /* some op depends on the position in the space (IOTA) */
    bool outer_reduction;             /* adjacent rows of the reduced operand are contiguous */
    bool indirect, has_fault_message; /* some op reads at computed indices; or has its own message for a bad one */
    bool exposed;                     /* some op writes memory whose address the user has */
    int nins, imms;                   /* of its program, estimated */
    /* Operands of its program: loads, and results that would be stored if no further record joined. */
    int loads, stores;
    struct {
        const wk__value *value;
        int64_t offset;
    } load[WK__MAX_OPERANDS]; /* [loads] */
} wk__fusion_group;

/* Returns wk__program.outer_reduction for a record that reduces: depends only on its operand's strides. */
bool wk__is_outer_reduction(wk__record *r);
/* Returns true if r, which is next in program order, may join group `number`. */
bool wk__can_fuse(const wk__fusion_group *g, int32_t number, wk__record *r);
/* Adds r to the group: updates the group's state, and marks the values that must be stored. */
void wk__fuse_record(wk__fusion_group *g, int32_t number, wk__record *r);
/* Fills stride[] with the strides of operand k over the dimensions of the group's space. Returns false if the record's
 * space doesn't fit the group's. A dimension of size 0 is never stepped along; a stride of 1 there means that the
 * operand varies along it and so has no elements, whereas a row's value is read or written once. */
bool wk__map_strides(wk__record *r, int k, int ndim, const int64_t *shape, uint16_t reduce_mask, int64_t *stride);

#endif
