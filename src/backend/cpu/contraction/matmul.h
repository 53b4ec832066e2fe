/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions on the CPU: ../contraction.h says what they are, matmul.c how products of matrices run,
 * kernel_contraction.c what becomes one when its operands are packed. */
#ifndef WICK_CPU_MATMUL_H
#define WICK_CPU_MATMUL_H

#include "backend/backend.h"
#include "im2col.h"
#include "gemm.h"
#include "backend/cpu/vm/program.h"

wk_code wk__cpu_matmul(const wk__matmul *product, wk__fail *fail);
/* Does it pay to compute a factor on the way? wk__backend.can_fuse_prologue. */
bool wk__cpu_can_fuse_prologue(const wk__work *work);
void wk__cpu_matmul_boxes(const wk__matmul *product, wk__epilogue_box_visit *visit, void *user);
/* The boxes of wk__backend.epilogue_boxes. */
void wk__cpu_contraction_boxes(const wk__work *work, wk__epilogue_box_visit *visit, void *user);
/* Frees the buffers that products keep between calls. */
void wk__cpu_matmul_trim(void);

/* ---- shared by the files matmul*.c ------------------------------------------------------------------------------- */

enum {
    /* Sizes of one piece of a product, in bytes where they are the same for every class. A piece of A of BLOCK_ROWS x
     * K_BYTES and one panel of B (K_BYTES x a tile's columns) share L2 with what they meet; all of a piece of B is read
     * from L3 once per block of rows. */
    WK__GEMM_K_BYTES = 2048,         /* of a row of A between two visits to C: 512 f32 */
    WK__GEMM_BLOCK_ROWS = 96,        /* rows of A that are packed, and of C that are finished, at a time */
    WK__GEMM_MACROTILE_ROWS = 768,   /* of C in one piece, ... */
    WK__GEMM_MACROTILE_BYTES = 1920, /* ... and bytes of its rows: 480 f32, ten panels of 48 */
    WK__GEMM_BUFFER_A = WK__GEMM_BLOCK_ROWS * (WK__GEMM_K_BYTES + WK__GEMM_GAP), /* rows as panels of width 1 */
    WK__GEMM_BUFFER_B = WK__GEMM_MACROTILE_BYTES / 4 * WK__GEMM_K_BYTES + WK__GEMM_MACROTILE_BYTES / 32 * WK__GEMM_GAP,
    WK__GEMM_BUFFER_C = WK__GEMM_MACROTILE_ROWS * WK__GEMM_MACROTILE_BYTES,
    WK__GEMM_BUFFER_PROLOGUE = 5 << 19, /* of columns of B that a program computes: 144 of 4096 f32; see
                                           gemm_prologue.h */
};

/* Buffers of one thread at work on one piece. */
typedef struct wk__gemm_buffers {
    struct wk__gemm_buffers *next;
    char *a, *b, *c;    /* A and B packed; C in its class where it cannot be summed in place */
    char *b_computed;   /* B as a program computed it, and behind it WK__CPU_WORKER_BYTES for that program */
    void *b_allocation; /* in which that lies; NULL until a program computes one */
} wk__gemm_buffers;

/* `count` of them as a list; false when memory is short, with nothing taken. */
bool wk__gemm_buffers_acquire(int64_t count, wk__gemm_buffers **list);
/* Gives each of a list room for B as a program computes it; false when memory is short. */
bool wk__gemm_buffers_add_prologue(wk__gemm_buffers *list);
void wk__gemm_buffers_release(wk__gemm_buffers *list);

/* Tasks that work in buffers: body(user, k, spaces, fail) for every task k. */
enum {
    WK__GEMM_TASK_BUFFERS = 2,         /* buffers of a task, at most */
    WK__GEMM_SERIAL_FMAS = 256 * 1024, /* multiplications below which one thread is faster than two */
};
typedef wk_code wk__gemm_task(void *user, int64_t k, wk__gemm_buffers *const spaces[], wk__fail *fail);
typedef struct wk__gemm_job {
    int64_t tasks;
    int threads;
    int nbuffers;               /* of each task */
    bool needs_prologue_buffer; /* those have room for B as a program computes it */
    wk__gemm_task *body;
    void *user;
} wk__gemm_job;

/* How many threads so many multiplications are worth. */
int wk__gemm_threads(double work);
/* All buffers are taken before the first task: where memory is short for them, nothing is done. Else each task is, even
 * if others fail, and the failure is that of the first in order. */
wk_code wk__gemm_tasks(const wk__gemm_job *job, wk__fail *fail);

/* The tail on boxes, one after the other: the code is that of the first that failed. */
typedef struct wk__epilogue_run {
    const wk__cpu_program *tail;
    wk_code first;
    wk__fail *fail;
} wk__epilogue_run;
/* For a wk__epilogue_box_visit: `user` is such a run. */
void wk__epilogue_run_box(void *user, const wk__epilogue_box *box);

/* Dimensions of the result that are walked as one, outermost first: the rows of C, its columns, or its batches. */
typedef struct wk__gemm_dims {
    int count;
    int8_t dim[WK__MAX_DIMS];
} wk__gemm_dims;

/* B as the result of a program: see gemm_prologue.h. */
typedef struct wk__gemm_b_program {
    const wk__program *group;  /* NULL: B is in memory */
    int stored, along, across; /* its operand that is B; dimensions of its space: steps of the sum, columns of B */
    int64_t steps, columns;    /* what the buffer holds of B: whole blocks of the sum, whole tiles */
} wk__gemm_b_program;

/* A product as it is carried out. Compared with wk__matmul, A and B may have changed places (C' = B' A'), so that rows
 * of C are neighbours in memory, and batch dimensions over which B is the same may have become rows; where that
 * happened before A and B changed places, columns. */
typedef struct wk__gemm_plan {
    int ndim, dtype;
    int c_dtype;                         /* of the result: `dtype`, or the one in which products add up */
    const int64_t *shape;                /* of the result */
    int64_t c_offset;                    /* in elements, from the start of its memory */
    const wk__program *epilogue_program; /* what is done with the result, or NULL */
    const wk__cpu_program *epilogue;     /* it, while it runs on what is in cache, or NULL */
    bool swapped;                        /* A and B have changed places */
    wk__gemm_b_program b_program;
    const struct wk__gemm_prologue *prologue; /* it, ready to run, or NULL */
    const wk__gemm_microkernels *class;
    wk__gemm_pack *pack;
    wk__gemm_unpack *unpack;
    const char *a, *b; /* NULL while pieces are only told */
    char *c;
    int64_t m, n, k;
    int64_t a_row, a_step, b_step, b_column, c_row, c_column; /* in elements */
    int64_t batches;
    int64_t size, c_size; /* bytes of an element in memory: of A and B, and of C */
    wk__gemm_dims rows, columns, batch;
    const int64_t *a_batch, *b_batch, *c_batch; /* strides of the batch's dimensions */
    const wk__im2col *a_im2col, *b_im2col; /* where the elements of an operand are that has no such steps, or NULL */
    const wk__im2col_indices *c_rows, *c_columns; /* the same of C: both or none */
    bool pack_a, pack_b, c_buffered, is_gemv;
    int64_t a_run_steps; /* steps of the sum after which rows of an A that is not packed go on elsewhere; 0: they
                            don't */
    int64_t k_block;
    int64_t macrotile_rows, piece_columns, row_macrotiles, column_pieces; /* of C, per batch */
} wk__gemm_plan;

/* A piece of C: all of the sum for these rows and columns. */
typedef struct wk__gemm_macrotile {
    const char *a, *b;
    char *c; /* of the batch, at row 0 and column 0 */
    int64_t batch, row, row_end, column, column_end;
} wk__gemm_macrotile;

/* C = A B, or what the maps make of it; then the tail. */
wk_code wk__gemm_run(wk__gemm_plan *plan, wk__fail *fail);
/* The same without a tail, by the calling thread alone and in buffers that it has: it cannot fail. */
void wk__gemm_run_with_buffers(wk__gemm_plan *plan, const wk__gemm_buffers *space);
void wk__cpu_matmul_with_buffers(const wk__matmul *product, const wk__gemm_buffers *space);
/* A contraction without coordinates, of one dtype and its sums'. */
void wk__cpu_contraction_with_buffers(const wk__work_args *kernel, const wk__gemm_buffers *space);
/* The boxes on which that would run the tail piece by piece; none: it runs on all of C afterwards. */
void wk__gemm_epilogue_boxes(wk__gemm_plan *plan, wk__epilogue_box_visit *visit, void *user);

/* Chooses sizes of pieces so that `threads` threads end soonest. */
void wk__gemm_partition(wk__gemm_plan *plan, int threads);
/* The code is that of the tail where it first failed; a product by itself cannot fail, and the rest is done all the
 * same. A prologue that fails, for want of memory, ends the piece. */
wk_code wk__gemm_macrotile_run(const wk__gemm_plan *plan, const wk__gemm_macrotile *piece,
                               const wk__gemm_buffers *space, wk__fail *fail);
/* The boxes on which that runs the tail, in order. */
void wk__gemm_macrotile_boxes(const wk__gemm_plan *plan, const wk__gemm_macrotile *piece, wk__epilogue_box_visit *visit,
                              void *user);

#endif
