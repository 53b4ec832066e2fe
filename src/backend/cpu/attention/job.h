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
    int query;                           /* operand; key, value and mask follow it */
    bool causal, masked;
} wk__attention_job;

enum { WK__ATTENTION_KEY = 1, WK__ATTENTION_VALUE = 2, WK__ATTENTION_MASK = 3 }; /* operands relative to `query` */

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

/* A block of rows of query of one head, with the scratch memory that the result and the gradient have in common. */
typedef struct wk__attention_block {
    int64_t head, first, count; /* of its rows */
    int64_t width;              /* count rounded up to lanes */
    char *query;                /* (E, width) */
    char *result;               /* (Ev, width): sums of the result, or its gradient */
    char *scores;               /* (WK__ATTENTION_KEYS, width): of a block of keys, */
    char *buffer;               /* and of the same shape, their mask or their gradients */
    char *lse;                  /* (width) */
} wk__attention_block;

/* Fills a job from work whose operand `query` is query. */
void wk__attention_job_init(wk__attention_job *job, const wk__work_args *args, int query);
/* Returns a head's matrix of operand `operand` from row `first` on, with these dimensions of the space as rows and
 * columns. */
wk__attention_matrix wk__attention_matrix_of(const wk__attention_job *job, int operand, int64_t head, int64_t first,
                                             wk__attention_dim rows, wk__attention_dim columns);
/* Returns the number of blocks of rows of a head. */
int64_t wk__attention_blocks(const wk__attention_job *job);
/* Takes an array of `rows` rows of the widest block, aligned for vectors. Returns NULL without a base. */
char *wk__attention_take(const wk__attention_job *job, wk__attention_scratch *scratch, int64_t rows);
/* Takes the arrays of a block. */
wk__attention_block wk__attention_take_block(const wk__attention_job *job, wk__attention_scratch *scratch);
/* Sets the rows of a block from row `first` of a head on, and packs their query. */
void wk__attention_begin_block(const wk__attention_job *job, wk__attention_block *b, int64_t head, int64_t first);
/* Runs body(job, task, scratch) for each task on the threads of the pool, with `bytes` of scratch memory each. */
typedef void wk__attention_body(const wk__attention_job *job, int64_t task, wk__attention_scratch scratch);
wk_code wk__attention_run(const wk__attention_job *job, int64_t tasks, int64_t bytes, wk__attention_body *body,
                          wk__fail *fail);

/* Computes the result of a job with one row of query per head. */
wk_code wk__attention_one_query(const wk__attention_job *job, wk__fail *fail);

/* C (rows, columns) = or += A (rows, k) B (k, columns): rows of B and C are contiguous. */
void wk__attention_multiply(const wk__attention_job *job, int64_t rows, int64_t columns, int64_t k,
                            wk__attention_matrix a, wk__attention_matrix b, wk__attention_matrix c, bool add);
/* Packs the block's rows of a matrix, which begins at the first, as (columns, width); elements beyond `count` are 0. */
void wk__attention_pack(const wk__attention_job *job, const wk__attention_block *b, wk__attention_matrix m,
                        int64_t columns, char *out);
/* Undoes wk__attention_pack(): stores (columns, width) to rows that are contiguous, one after the other. */
void wk__attention_unpack(const wk__attention_job *job, const wk__attention_block *b, const char *packed,
                          int64_t columns, wk__attention_matrix out);
/* Returns the number of keys that are visible to some of the block's rows. */
int64_t wk__attention_visible(const wk__attention_job *job, const wk__attention_block *b);
/* Computes the block's scores for `keys` keys from `key` on, with mask and causality; uses `buffer`. */
void wk__attention_score(const wk__attention_job *job, const wk__attention_block *b, int64_t key, int64_t keys);

#endif
