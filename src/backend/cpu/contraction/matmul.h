/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions on the CPU (backend/contraction.h). matmul.c runs matrix products; kernel_contraction.c reduces other
 * contractions to them. */
#ifndef WICK_CPU_MATMUL_H
#define WICK_CPU_MATMUL_H

#include "backend/backend.h"
#include "im2col.h"
#include "gemm.h"
#include "backend/cpu/vm/program.h"

wk_code wk__cpu_matmul(const wk__matmul *product, wk__fail *fail);
/* Returns true if fusing the prologue is faster: wk__backend.can_fuse_prologue. */
bool wk__cpu_can_fuse_prologue(const wk__work *work);
void wk__cpu_matmul_boxes(const wk__matmul *product, wk__epilogue_box_visit *visit, void *user);
/* wk__backend.epilogue_boxes. */
void wk__cpu_contraction_boxes(const wk__work *work, wk__epilogue_box_visit *visit, void *user);
/* Frees the buffers kept between products. */
void wk__cpu_matmul_trim(void);

/* ---- shared by the files of this folder -------------------------------------------------------------------------- */

enum {
    /* Sizes of a macrotile, in bytes if they are the same for every class. A block of BLOCK_ROWS x K_BYTES of A and one
     * panel of B (K_BYTES x a tile's columns) share L2 with C; the macrotile's B is read from L3 once per block of
     * rows. */
    WK__GEMM_K_BYTES = 2048,         /* of a row of A per block of the sum: 512 f32 */
    WK__GEMM_VECTOR_BYTES = 16384,   /* of a row of A that multiplies contiguous columns */
    WK__GEMM_BLOCK_ROWS = 96,        /* rows of A packed, and of C completed, at a time */
    WK__GEMM_MACROTILE_ROWS = 768,   /* of C in one macrotile */
    WK__GEMM_MACROTILE_BYTES = 1920, /* bytes of each of its rows: 480 f32, ten panels of 48 */
    WK__GEMM_BUFFER_A = WK__GEMM_BLOCK_ROWS * (WK__GEMM_K_BYTES + WK__GEMM_GAP), /* rows as panels of width 1 */
    WK__GEMM_BUFFER_B = WK__GEMM_MACROTILE_BYTES / 4 * WK__GEMM_K_BYTES + WK__GEMM_MACROTILE_BYTES / 32 * WK__GEMM_GAP,
    WK__GEMM_BUFFER_C = WK__GEMM_MACROTILE_ROWS * WK__GEMM_MACROTILE_BYTES,
    WK__GEMM_BUFFER_PROLOGUE = 5 << 19, /* columns of B computed by a prologue: 144 of 4096 f32; see gemm_prologue.h */
};

/* Buffers of one thread for one macrotile. */
typedef struct wk__gemm_buffers {
    struct wk__gemm_buffers *next;
    char *a, *b, *c;    /* packed A and B; C in its class, if it cannot be accumulated in place */
    char *b_computed;   /* B computed by a prologue, followed by WK__CPU_WORKER_BYTES of scratch for its program */
    void *b_allocation; /* allocation with b_computed; NULL until a prologue needs it */
} wk__gemm_buffers;

/* Acquires `count` buffer sets as a list; returns false and none on allocation failure. */
bool wk__gemm_buffers_acquire(int64_t count, wk__gemm_buffers **list);
/* Adds prologue buffers to each set of a list; returns false on allocation failure. */
bool wk__gemm_buffers_add_prologue(wk__gemm_buffers *list);
void wk__gemm_buffers_release(wk__gemm_buffers *list);

/* Tasks with buffers: body(user, k, buffers, fail) for every task k. */
enum {
    WK__GEMM_TASK_BUFFERS = 2,         /* maximum buffer sets per task */
    WK__GEMM_SERIAL_FMAS = 256 * 1024, /* multiplications below which one thread is faster than two */
};
typedef wk_code wk__gemm_task(void *user, int64_t k, wk__gemm_buffers *const buffers[], wk__fail *fail);
typedef struct wk__gemm_job {
    int64_t tasks;
    int threads;
    int nbuffers;               /* buffer sets per task */
    bool needs_prologue_buffer; /* they need prologue buffers */
    wk__gemm_task *body;
    void *user;
} wk__gemm_job;

/* Returns the number of threads for `work` multiplications. */
int wk__gemm_threads(double work);
/* Runs all tasks, even if some fail, and returns the failure of the first in order. Buffers are acquired first: if that
 * fails, nothing is computed. */
wk_code wk__gemm_tasks(const wk__gemm_job *job, wk__fail *fail);

/* Runs all tasks with a compiled epilogue in *compiled, which `user` points to, for them to run on complete boxes. An
 * epilogue that reduces runs afterwards: *compiled is then NULL, as without one. */
wk_code wk__gemm_tasks_with_epilogue(const wk__gemm_job *job, const wk__program *epilogue,
                                     const wk__cpu_program **compiled, wk__fail *fail);

/* Runs an epilogue on boxes; `first` is the code of the first failure. */
typedef struct wk__epilogue_run {
    const wk__cpu_program *program;
    wk_code first;
    wk__fail *fail;
} wk__epilogue_run;
/* A wk__epilogue_box_visit; `user` is a wk__epilogue_run. */
void wk__epilogue_run_box(void *user, const wk__epilogue_box *box);

/* Dimensions of the result treated as one, outermost first: rows of C, its columns, or its batches. */
typedef struct wk__gemm_dims {
    int count;
    int8_t dim[WK__MAX_DIMS];
} wk__gemm_dims;

/* B computed by a prologue: see gemm_prologue.h. */
typedef struct wk__gemm_b_program {
    const wk__program *group;  /* NULL: B is in memory */
    int stored, along, across; /* its operand B; dimensions of its space: steps of the sum, columns of B */
    int64_t steps, columns;    /* part of B in the buffer: whole blocks of the sum, whole tiles */
} wk__gemm_b_program;

/* Execution plan of one matrix product C[M,N] = A[M,K] B[K,N]; an index along K is called a step. If `swapped`,
 * computes C' = B'A' so that rows of C are contiguous. Batch dimensions that share B are folded into M (into N if
 * folded before the swap). Borrows all pointers. */
typedef struct wk__gemm_plan {
    int ndim, dtype;
    int c_dtype;                         /* of the result: `dtype`, or that of the accumulator */
    const int64_t *shape;                /* of the result */
    int64_t c_offset;                    /* in elements, from the start of its memory */
    const wk__program *epilogue_program; /* epilogue, or NULL */
    const wk__cpu_program *epilogue;     /* compiled epilogue while it runs on cached tiles, or NULL */
    bool swapped;                        /* A and B are exchanged */
    wk__gemm_b_program b_program;
    const struct wk__gemm_prologue *prologue; /* compiled prologue, or NULL */
    const wk__gemm_microkernels *class;
    wk__gemm_pack *pack;
    wk__gemm_unpack *unpack;
    const char *a, *b; /* NULL when only boxes are enumerated */
    char *c;
    int64_t m, n, k;
    int64_t a_row, a_step, b_step, b_column, c_row, c_column; /* strides of rows, steps and columns, in elements */
    int64_t batches;
    int64_t size, c_size;                         /* bytes per element in memory: of A and B, and of C */
    wk__gemm_dims rows, columns, batch;           /* dimensions of the result that form M, N and the batches */
    const int64_t *a_batch, *b_batch, *c_batch;   /* strides of the batch dimensions */
    const wk__im2col *a_im2col, *b_im2col;        /* how to gather an operand without such strides, or NULL */
    const wk__im2col_indices *c_rows, *c_columns; /* likewise for C: both or none */
    bool pack_a, pack_b; /* copy blocks of the operand to the buffers, in the order and dtype of the microkernels */
    bool c_buffered;     /* accumulate a macrotile in the buffers and convert or scatter it to C when it is complete */
    bool is_gemv;        /* a single row times an unpacked B */
    int64_t a_run_steps; /* steps of the sum after which rows of an unpacked A are discontiguous; 0: never */
    int64_t k_block;     /* steps per block of the sum */
    int64_t macrotile_rows, macrotile_columns, row_macrotiles, column_macrotiles; /* of C, per batch */
} wk__gemm_plan;

/* A macrotile of C: the complete sum for these rows and columns. */
typedef struct wk__gemm_macrotile {
    const char *a, *b;
    char *c; /* of the batch, at row 0 and column 0 */
    int64_t batch, row, row_end, column, column_end;
} wk__gemm_macrotile;

/* Computes C = A B, gathering operands if required, and then the epilogue. */
wk_code wk__gemm_run(wk__gemm_plan *plan, wk__fail *fail);
/* Like wk__gemm_run(), without an epilogue, in the calling thread and with its buffers: cannot fail. */
void wk__gemm_run_with_buffers(wk__gemm_plan *plan, const wk__gemm_buffers *buffers);
void wk__cpu_matmul_with_buffers(const wk__matmul *product, const wk__gemm_buffers *buffers);
/* A contraction without coordinates, whose dtypes are those of the accumulator. */
void wk__cpu_contraction_with_buffers(const wk__work_args *kernel, const wk__gemm_buffers *buffers);
/* Enumerates the boxes on which wk__gemm_run() runs the epilogue; none: it runs on all of C afterwards. */
void wk__gemm_epilogue_boxes(wk__gemm_plan *plan, wk__epilogue_box_visit *visit, void *user);

/* Chooses macrotile sizes that minimise the time on `threads` threads. */
void wk__gemm_partition(wk__gemm_plan *plan, int threads);
/* Returns the first failure of the epilogue, after computing the rest; a product without an epilogue cannot fail. A
 * prologue that fails, on allocation failure, ends the macrotile. */
wk_code wk__gemm_macrotile_run(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile,
                               const wk__gemm_buffers *buffers, wk__fail *fail);
/* Enumerates the boxes on which wk__gemm_macrotile_run() runs the epilogue, in order. */
void wk__gemm_macrotile_boxes(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile,
                              wk__epilogue_box_visit *visit, void *user);

#endif
