/* SPDX-License-Identifier: Apache-2.0 */
/* Iteration over index spaces: binds operands to the VM program, block by block.
 *
 * A program requires contiguous operands. If memory is not contiguous, the iterator copies lanes into a panel before
 * the block and out of it afterwards; the program is the same. All state is per thread. */
#ifndef WICK_BACKEND_CPU_VM_ITER_H
#define WICK_BACKEND_CPU_VM_ITER_H

#include "program.h"
#include "panel_copy.h"

typedef struct wk__cpu_iter_operand {
    int16_t number;             /* index of the program's operand, or WK__VM_POSITION */
    int16_t size;               /* bytes per element */
    bool contiguous;            /* contiguous over the entire space */
    int64_t step[WK__MAX_DIMS]; /* stride in bytes, innermost dimension first */
} wk__cpu_iter_operand;

/* An index space and the strides of operands over it, after merging dimensions. Innermost first; at least one
 * dimension. */
typedef struct wk__cpu_iter {
    int ndim, noperands;
    int64_t count; /* elements of the space */
    int64_t size[WK__MAX_DIMS];
    wk__cpu_iter_operand operand[WK__VM_OPERANDS];
} wk__cpu_iter;

/* Addresses by operand. Integers, because that of WK__VM_POSITION is a position, not a pointer. */
typedef struct wk__addresses {
    intptr_t at[WK__VM_OPERANDS];
} wk__addresses;

/* A position in the space and the operands' addresses there. */
typedef struct wk__cursor {
    int64_t index[WK__MAX_DIMS];
    wk__addresses address;
} wk__cursor;

/* State of one thread that runs stages. Large and on the stack; untouched parts cost nothing. */
typedef struct wk__worker {
    const wk__cpu_program *program;
    wk__vm_state state;
    int64_t offset[WK__VM_OPERANDS][WK__VM_MAX_LANES]; /* bytes relative to lane 0, for indexed and gathered operands */
    char panel[WK__VM_OPERANDS][WK__VM_MAX_TILE] __attribute__((aligned(64)));
    char *patch[WK__VM_OPERANDS]; /* panels of patches, for operands that may need one */
    char fetched[WK__VM_MAX_TILE] __attribute__((aligned(64)));
    char inline_scratch[16384] __attribute__((aligned(64))); /* tiles and other scratch, if they fit */
    char *heap_scratch;                                      /* scratch that does not fit; owned, or NULL */
    char *scratch_next;                                      /* start of the unused scratch */
} wk__worker;

/* Plans dimensions first..end-1 of the program with the given sizes, for the operands in the mask. `reorder` permits
 * reordering dimensions so that stores are contiguous. */
void wk__cpu_iter_init(wk__cpu_iter *walk, const wk__program *group, const int64_t shape[], int first, int end,
                       uint32_t operands, bool reorder);
/* Computes the addresses of the operands in the mask at index `start` of the program's space (NULL: the origin). */
void wk__cpu_iter_origin(wk__addresses *address, const wk__program *group, const int64_t start[], uint32_t operands);

void wk__cursor_seek(wk__cursor *cursor, const wk__cpu_iter *walk, const wk__addresses *origin, int64_t position);
/* Advances by `count` elements, at most to the end of the innermost dimension. */
void wk__cursor_move(wk__cursor *cursor, const wk__cpu_iter *walk, int64_t count);

/* Initialises a worker: tiles and scalars, and `extra` bytes for wk__worker_alloc(). `room` is WK__CPU_WORKER_BYTES
 * bytes of scratch to use instead of allocating, or NULL. Returns false on allocation failure. */
bool wk__worker_init(wk__worker *worker, const wk__cpu_program *program, const wk__program *group, int64_t extra,
                     char *room);
void wk__worker_destroy(wk__worker *worker);
char *wk__worker_alloc(wk__worker *worker, int64_t bytes);

/* Runs a row stage for one row at these addresses. */
void wk__worker_run_row(wk__worker *worker, const wk__cpu_stage *stage, const wk__addresses *row);
/* Runs an element stage whose operands are all contiguous over the entire space. */
void wk__worker_run_flat(wk__worker *worker, const wk__cpu_stage *stage, const wk__program *group,
                         const wk__addresses *origin, int64_t from, int64_t to);
/* Runs an element stage for positions from..to-1. If `whole_blocks` and `from` is a multiple of the lanes of a block,
 * lane l always processes positions congruent to l modulo the lanes, as reductions require. */
void wk__worker_run_elements(wk__worker *worker, const wk__cpu_stage *stage, const wk__cpu_iter *walk,
                             const wk__addresses *origin, int64_t from, int64_t to, bool whole_blocks);

/* A patch: lanes in one direction, columns in the other, one column per block. Operands with non-contiguous lanes are
 * copied through panels. */
typedef struct wk__patch {
    int64_t lanes, columns;
    int64_t first;         /* index of the first column, from which blocks are numbered */
    uint32_t gathered;     /* operands that need a panel; worker->offset has the offsets of their lanes */
    wk__addresses address; /* of lane 0 in the first column */
    int64_t column_step[WK__VM_OPERANDS]; /* bytes */
} wk__patch;

void wk__worker_run_patch(wk__worker *worker, const wk__cpu_stage *stage, const wk__program *group,
                          const wk__patch *patch);

/* If an operand is contiguous along another dimension than dimension 0 (a transposition), makes that one dimension 1,
 * for iteration in strips of patches, and returns true. */
bool wk__cpu_iter_transpose(wk__cpu_iter *walk);
/* Return the number of strips of a transposed iterator, and run strips from..to-1. */
int64_t wk__cpu_iter_strips(const wk__cpu_iter *walk);
void wk__worker_run_strips(wk__worker *worker, const wk__cpu_stage *stage, const wk__program *group,
                           const wk__cpu_iter *walk, const wk__addresses *origin, int64_t from, int64_t to);
/* Return the bytes of the panels that an iterator's patches need, and allocate them. */
int64_t wk__patch_bytes(const wk__cpu_iter *walk, int64_t lanes);
void wk__worker_alloc_patches(wk__worker *worker, const wk__cpu_iter *walk);

/* Returns the operands of a stage. */
static inline uint32_t wk__stage_operands(const wk__cpu_stage *stage)
{
    return stage->loads | stage->stores | stage->indexed;
}

#endif
