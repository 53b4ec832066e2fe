/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over iteration spaces: puts operands under the programs, block by block.
 *
 * A program wants each operand contiguous. Where memory is not, the walk copies lanes into a panel before the block and
 * out of it afterwards; a program never knows. */
#ifndef WICK_BACKEND_CPU_RUN_WALK_H
#define WICK_BACKEND_CPU_RUN_WALK_H

#include "program.h"
#include "panel_copy.h"

typedef struct wk__cpu_iter_operand {
    int16_t number;             /* of the group's operand, or WK__VM_POSITION */
    int16_t size;               /* bytes of an element */
    bool contiguous;            /* contiguous over the whole space */
    int64_t step[WK__MAX_DIMS]; /* bytes, innermost dimension first */
} wk__cpu_iter_operand;

/* A space and how operands lie over it, after dimensions were merged. Innermost first; at least one dimension. */
typedef struct wk__cpu_iter {
    int ndim, noperands;
    int64_t count; /* elements of the space */
    int64_t size[WK__MAX_DIMS];
    wk__cpu_iter_operand operand[WK__VM_OPERANDS];
} wk__cpu_iter;

/* Addresses, by number of the operand. Integers, because that of WK__VM_POSITION is no pointer. */
typedef struct wk__addresses {
    intptr_t at[WK__VM_OPERANDS];
} wk__addresses;

/* A position in a walk. */
typedef struct wk__cursor {
    int64_t index[WK__MAX_DIMS];
    wk__addresses address;
} wk__cursor;

/* What a thread needs to run stages. Large, on the stack; only what is used is touched. */
typedef struct wk__worker {
    const wk__cpu_program *program;
    wk__vm_state state;
    int64_t offset[WK__VM_OPERANDS][WK__VM_MAX_LANES]; /* bytes from lane 0, for indexed and for gathered operands */
    char panel[WK__VM_OPERANDS][WK__VM_MAX_TILE] __attribute__((aligned(64)));
    char *patch[WK__VM_OPERANDS]; /* panels of patches, where an operand may need one */
    char fetched[WK__VM_MAX_TILE] __attribute__((aligned(64)));
    char inline_scratch[16384] __attribute__((aligned(64))); /* tiles and the like, unless they need more */
    char *heap_scratch;                                      /* then they are here */
    char *scratch_next;                                      /* what is left of either */
} wk__worker;

/* Plans the dimensions first..end-1 of the group with the sizes given, for the operands of the mask. With `reorder` the
 * order of the dimensions may change, so that stores run along memory. */
void wk__cpu_iter_init(wk__cpu_iter *walk, const wk__program *group, const int64_t shape[], int first, int end,
                       uint32_t operands, bool reorder);
/* Where the operands of the mask are at index `start` of the group's space (NULL: at its origin). */
void wk__cpu_iter_origin(wk__addresses *address, const wk__program *group, const int64_t start[], uint32_t operands);

void wk__cursor_seek(wk__cursor *cursor, const wk__cpu_iter *walk, const wk__addresses *origin, int64_t position);
/* Moves by `count` elements, not past the end of the innermost dimension. */
void wk__cursor_move(wk__cursor *cursor, const wk__cpu_iter *walk, int64_t count);

/* Gets a worker ready: tiles and cells. `extra` bytes can be had from wk__worker_alloc. False: no memory. */
/* `room`: memory for that, WK__CPU_WORKER_BYTES bytes, or NULL. */
bool wk__worker_init(wk__worker *worker, const wk__cpu_program *program, const wk__program *group, int64_t extra,
                     char *room);
void wk__worker_destroy(wk__worker *worker);
char *wk__worker_alloc(wk__worker *worker, int64_t bytes);

/* Runs a row stage for one row at these addresses. */
void wk__worker_run_row(wk__worker *worker, const wk__cpu_stage *stage, const wk__addresses *row);
/* Runs an element stage whose operands are all contiguous over the whole space. */
void wk__worker_run_flat(wk__worker *worker, const wk__cpu_stage *stage, const wk__program *group,
                         const wk__addresses *origin, int64_t from, int64_t to);
/* Runs an element stage for positions from..to-1. With `whole_blocks` lane l of every block is at a position that is l
 * modulo the lanes of a block, if `from` is a multiple of them: what reductions ask for. */
void wk__worker_run_elements(wk__worker *worker, const wk__cpu_stage *stage, const wk__cpu_iter *walk,
                             const wk__addresses *origin, int64_t from, int64_t to, bool whole_blocks);

/* A patch: lanes in one direction, columns in another, one column a block. Operands whose lanes do not lie side by side
 * go through panels. */
typedef struct wk__patch {
    int64_t lanes, columns;
    int64_t first;     /* number of the first column, from which blocks are counted */
    uint32_t gathered; /* operands that need a panel; worker->offset says where their lanes are from the first one */
    wk__addresses address;                /* of lane 0 in the first column */
    int64_t column_step[WK__VM_OPERANDS]; /* bytes */
} wk__patch;

void wk__worker_run_patch(wk__worker *worker, const wk__cpu_stage *stage, const wk__program *group,
                          const wk__patch *patch);

/* Is the walk one along which an operand is turned around? Then its dimension 1 becomes the columns of patches. */
bool wk__cpu_iter_transpose(wk__cpu_iter *walk);
/* How many units of patches such a walk has, and running some of them. */
int64_t wk__cpu_iter_strips(const wk__cpu_iter *walk);
void wk__worker_run_strips(wk__worker *worker, const wk__cpu_stage *stage, const wk__program *group,
                           const wk__cpu_iter *walk, const wk__addresses *origin, int64_t from, int64_t to);
/* Bytes that the panels of such a walk need, and taking them. */
int64_t wk__patch_bytes(const wk__cpu_iter *walk, int64_t lanes);
void wk__worker_alloc_patches(wk__worker *worker, const wk__cpu_iter *walk);

/* Operands of a stage. */
static inline uint32_t wk__stage_operands(const wk__cpu_stage *stage)
{
    return stage->loads | stage->stores | stage->indexed;
}

#endif
