/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that attention and its gradient share. The work is a set of heads; of each, a block of rows of query is
 * multiplied with one block of keys after the other:
 *
 *              queries ->            Matrices of a block have queries side by side, like the scores (passes.h), so
 *     keys    +--------+             query is packed as (E, queries); rows of key and value are read without a copy,
 *      |      | scores |             by the tiles of matrix products (gemm.h). Only scratch memory of a thread is
 *      v      +--------+             written besides the results.
 *
 * Blocks depend on shapes and instruction set only, so results do not depend on the number of threads. */
#ifndef WICK_BACKEND_CPU_ATTENTION_JOB_H
#define WICK_BACKEND_CPU_ATTENTION_JOB_H

#include "base/alloc.h"

#include "backend/cpu/along_dim.h"
#include "backend/cpu/isa.h"

enum { WK__ATTENTION_KEYS = 128 /* keys per block */ };

typedef struct wk__attention_job {
    const wk__work_args *args;
    const wk__attention_passes *passes;
    const wk__gemm *gemm;
    int64_t size;                        /* bytes of an element */
    int64_t heads;                       /* product of the leading dimensions */
    int64_t rows, keys, columns, values; /* L, S, E, Ev */
    int64_t width;                       /* queries per block; its arrays have room for the next multiple of lanes */
    bool causal;
    int mask; /* operand; -1: none */
} wk__attention_job;

/* A matrix of one head: element (i, j) is data[i * row + j * column], in elements. */
typedef struct wk__attention_matrix {
    char *data;
    int64_t row, column;
} wk__attention_matrix;

/* Dimensions of the space, from its end. */
typedef enum wk__attention_dim { WK__DIM_L = 4, WK__DIM_S = 3, WK__DIM_E = 2, WK__DIM_EV = 1 } wk__attention_dim;

/* Scratch memory of one thread, from which arrays are taken. Without a base only their bytes are counted. */
typedef struct wk__attention_scratch {
    char *base;
    int64_t used; /* bytes; INT64_MAX if they exceed it */
} wk__attention_scratch;

/* Fills a job from work whose operand `mask` is the mask. */
void wk__attention_job_init(wk__attention_job *job, const wk__work_args *args, int mask);
/* Returns a head's matrix of operand `operand`, with these dimensions of the space as rows and columns. */
wk__attention_matrix wk__attention_matrix_of(const wk__attention_job *job, int operand, int64_t head,
                                             wk__attention_dim rows, wk__attention_dim columns);
/* Returns the address of row i. */
static inline char *wk__attention_row(const wk__attention_job *job, const wk__attention_matrix *m, int64_t i)
{
    return m->data + i * m->row * job->size;
}
/* Returns a number of queries rounded up to lanes. */
static inline int64_t wk__attention_width(const wk__attention_job *job, int64_t queries)
{
    const int lanes = job->gemm->class->lanes;
    return (queries + lanes - 1) / lanes * lanes;
}
/* Takes an array of `rows` x `width` elements, aligned for vectors. Returns NULL without a base. */
static inline char *wk__attention_take(const wk__attention_job *job, wk__attention_scratch *scratch, int64_t rows,
                                       int64_t width)
{
    char *taken = scratch->base ? scratch->base + scratch->used : NULL;
    int64_t bytes;
    const bool fits = wk__mul_size(rows, width, &bytes) && wk__mul_size(bytes, job->size, &bytes) &&
                      wk__add_size(bytes, WK__GEMM_VECTOR - 1, &bytes) &&
                      wk__add_size(scratch->used, bytes / WK__GEMM_VECTOR * WK__GEMM_VECTOR, &scratch->used);
    if (!fits) scratch->used = INT64_MAX;
    return taken;
}
/* Runs body(job, task, scratch) for each task on the threads of the pool, with `bytes` of scratch memory each. */
typedef void wk__attention_body(const wk__attention_job *job, int64_t task, wk__attention_scratch scratch);
wk_code wk__attention_run(const wk__attention_job *job, int64_t tasks, int64_t bytes, wk__attention_body *body,
                          wk__fail *fail);

/* C (rows, columns) = or += A (rows, k) B (k, columns): rows of B and C are contiguous. */
void wk__attention_multiply(const wk__attention_job *job, int64_t rows, int64_t columns, int64_t k,
                            wk__attention_matrix a, wk__attention_matrix b, wk__attention_matrix c, bool add);
/* Packs rows `first` to `first` + count of a matrix with `columns` columns as (columns, width), and returns `width`:
 * count rounded up to lanes; the rest is 0. */
int64_t wk__attention_pack(const wk__attention_job *job, const wk__attention_matrix *m, int64_t first, int64_t count,
                           int64_t columns, char *out);
/* Undoes wk__attention_pack(): stores (columns, width) to `count` rows of a matrix with contiguous rows. */
void wk__attention_unpack(const wk__attention_job *job, const char *packed, int64_t width, int64_t count,
                          int64_t columns, char *out);
/* Returns the number of keys that are visible to some of `count` rows from `first` on. */
int64_t wk__attention_visible(const wk__attention_job *job, int64_t first, int64_t count);
/* Applies mask and causality to the scores of `keys` keys from `key` on for `count` queries from `first` on; `buffer`
 * has room for as many scores. */
void wk__attention_mask(const wk__attention_job *job, int64_t head, int64_t first, int64_t count, int64_t key,
                        int64_t keys, int64_t width, char *scores, char *buffer);

#endif
