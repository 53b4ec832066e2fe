/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of one query per head, as in the generation of text: two products of a vector and a matrix, which read each
 * row of key and value once. Scores of all keys lie side by side, so a vector holds several keys of the query. */
#include "job.h"

#include "base/integers.h"

enum { OUT, LSE, QUERY, KEY = QUERY + WK__ATTENTION_KEY, VALUE = QUERY + WK__ATTENTION_VALUE };

/* The scratch memory of a task: an element for each key. */
typedef struct row {
    char *scores, *mask;
} row;

static row take_row(const wk__attention_job *job, wk__attention_scratch *scratch)
{
    const int64_t vectors = wk__chunk_count(job->keys, job->gemm->class->lanes);
    row r = {.scores = wk__attention_take(job, scratch, vectors)};
    r.mask = wk__attention_take(job, scratch, job->masked ? vectors : 0);
    return r;
}

static void compute_row(const wk__attention_job *job, int64_t head, wk__attention_scratch scratch)
{
    const wk__gemm_microkernels *class = job->gemm->class;
    const row r = take_row(job, &scratch);
    const int64_t keys = job->causal ? wk__min_i64(job->keys, 1) : job->keys;
    const wk__attention_matrix query = wk__attention_matrix_of(job, QUERY, head, 0, WK__DIM_L, WK__DIM_E);
    const wk__attention_matrix key = wk__attention_matrix_of(job, KEY, head, 0, WK__DIM_S, WK__DIM_E);
    const wk__attention_matrix value = wk__attention_matrix_of(job, VALUE, head, 0, WK__DIM_S, WK__DIM_EV);
    class->gemv_columns(keys, job->columns, query.data, key.data, key.row, r.scores, false);
    if (job->masked) {
        const wk__attention_matrix mask =
            wk__attention_matrix_of(job, QUERY + WK__ATTENTION_MASK, head, 0, WK__DIM_L, WK__DIM_S);
        job->gemm->pack(r.mask, 1, 1, 1, keys, mask.data, 0, mask.column);
        class->add(1, keys, r.mask, 0, r.scores, 0);
    }
    job->passes->softmax(keys, r.scores, wk__attention_matrix_of(job, LSE, head, 0, WK__DIM_L, WK__DIM_EV).data);
    class->gemv_rows(job->values, keys, r.scores, value.data, value.row,
                     wk__attention_matrix_of(job, OUT, head, 0, WK__DIM_L, WK__DIM_EV).data, false);
}

wk_code wk__attention_one_query(const wk__attention_job *job, wk__fail *fail)
{
    wk__attention_scratch size = {.base = NULL};
    take_row(job, &size);
    return wk__attention_run(job, job->heads, size.used, compute_row, fail);
}
