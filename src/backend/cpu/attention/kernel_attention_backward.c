/* SPDX-License-Identifier: Apache-2.0 */
/* attention_backward: gradients of one head by a task, from blocks of rows of query and blocks of keys:
 *
 *     P = e^(score - lse)    D = gradient value^T    dS = P (D - delta)
 *     d value += P^T gradient    d key += dS^T query    d query += dS key
 *
 * d key and d value are summed in memory, d query in the scratch memory of a block of rows. */
#include "job.h"

#include <math.h>
#include <string.h>

#include "base/integers.h"

enum { D_QUERY, D_KEY, D_VALUE, QUERY, KEY, VALUE, MASK, GRADIENT, LSE, DELTA };

/* The scratch memory of a task: query, its gradient and that of the result packed, scores and their gradients. */
typedef struct block {
    char *query, *gradient, *d_query, *scores, *d_scores, *lse, *delta;
    int64_t head, first, count, width;
} block;

static block take_block(const wk__attention_job *job, int64_t width, wk__attention_scratch *scratch)
{
    block b = {.width = width};
    b.query = wk__attention_take(job, scratch, job->columns, width);
    b.d_query = wk__attention_take(job, scratch, job->columns, width);
    b.gradient = wk__attention_take(job, scratch, job->values, width);
    b.scores = wk__attention_take(job, scratch, WK__ATTENTION_KEYS, width);
    b.d_scores = wk__attention_take(job, scratch, WK__ATTENTION_KEYS, width);
    b.lse = wk__attention_take(job, scratch, 1, width);
    b.delta = wk__attention_take(job, scratch, 1, width);
    return b;
}

/* Returns rows of a head's matrix from row `first` on. */
static wk__attention_matrix rows_of(const wk__attention_job *job, int operand, const block *b, int64_t first,
                                    wk__attention_dim rows, wk__attention_dim columns)
{
    wk__attention_matrix m = wk__attention_matrix_of(job, operand, b->head, rows, columns);
    m.data = wk__attention_row(job, &m, first);
    return m;
}

static wk__attention_matrix transposed(wk__attention_matrix m)
{
    return (wk__attention_matrix){m.data, m.column, m.row};
}

static void add_keys(const wk__attention_job *job, const block *b, int64_t key, int64_t keys)
{
    const int64_t width = b->width;
    const wk__attention_matrix scores = {b->scores, width, 1}, d_scores = {b->d_scores, width, 1};
    const wk__attention_matrix from = rows_of(job, KEY, b, key, WK__DIM_S, WK__DIM_E);
    const wk__attention_matrix value = rows_of(job, VALUE, b, key, WK__DIM_S, WK__DIM_EV);
    wk__attention_multiply(job, keys, width, job->columns, from, (wk__attention_matrix){b->query, width, 1}, scores,
                           false);
    wk__attention_mask(job, b->head, b->first, b->count, key, keys, width, b->scores, b->d_scores);
    job->passes->weigh(keys, width, b->scores, b->lse);
    wk__attention_multiply(job, keys, width, job->values, value, (wk__attention_matrix){b->gradient, width, 1},
                           d_scores, false);
    job->passes->differentiate(keys, width, b->d_scores, b->scores, b->delta);
    wk__attention_multiply(job, keys, job->values, b->count, scores,
                           rows_of(job, GRADIENT, b, b->first, WK__DIM_L, WK__DIM_EV),
                           rows_of(job, D_VALUE, b, key, WK__DIM_S, WK__DIM_EV), true);
    wk__attention_multiply(job, keys, job->columns, b->count, d_scores,
                           rows_of(job, QUERY, b, b->first, WK__DIM_L, WK__DIM_E),
                           rows_of(job, D_KEY, b, key, WK__DIM_S, WK__DIM_E), true);
    wk__attention_multiply(job, job->columns, width, keys, transposed(from), d_scores,
                           (wk__attention_matrix){b->d_query, width, 1}, key > 0);
}

/* Reads an element of each query of the block; the rest of the vector is `rest`. */
static void load_vector(const wk__attention_job *job, int operand, const block *b, double rest, char *out)
{
    const wk__attention_matrix m = rows_of(job, operand, b, b->first, WK__DIM_L, WK__DIM_EV);
    const float narrow = (float)rest;
    for (int64_t q = 0; q < b->width; q++)
        memcpy(out + q * job->size,
               q < b->count     ? (const void *)wk__attention_row(job, &m, q)
               : job->size == 4 ? (const void *)&narrow
                                : (const void *)&rest,
               (size_t)job->size);
}

static void add_rows(const wk__attention_job *job, block *b)
{
    const wk__attention_matrix query = rows_of(job, QUERY, b, 0, WK__DIM_L, WK__DIM_E);
    const wk__attention_matrix gradient = rows_of(job, GRADIENT, b, 0, WK__DIM_L, WK__DIM_EV);
    const int64_t visible = wk__attention_visible(job, b->first, b->count);
    b->width = wk__attention_pack(job, &query, b->first, b->count, job->columns, b->query);
    wk__attention_pack(job, &gradient, b->first, b->count, job->values, b->gradient);
    load_vector(job, LSE, b, INFINITY, b->lse);
    load_vector(job, DELTA, b, 0, b->delta);
    for (int64_t key = 0; key < visible; key += WK__ATTENTION_KEYS)
        add_keys(job, b, key, wk__min_i64(visible - key, WK__ATTENTION_KEYS));
    wk__attention_unpack(job, b->d_query, b->width, b->count, job->columns,
                         rows_of(job, D_QUERY, b, b->first, WK__DIM_L, WK__DIM_E).data);
}

static void compute_head(const wk__attention_job *job, int64_t head, wk__attention_scratch scratch)
{
    block b = take_block(job, wk__attention_width(job, job->width), &scratch);
    b.head = head;
    memset(rows_of(job, D_KEY, &b, 0, WK__DIM_S, WK__DIM_E).data, 0, (size_t)(job->keys * job->columns * job->size));
    memset(rows_of(job, D_VALUE, &b, 0, WK__DIM_S, WK__DIM_EV).data, 0, (size_t)(job->keys * job->values * job->size));
    for (b.first = 0; b.first < job->rows; b.first += job->width) {
        b.count = wk__min_i64(job->rows - b.first, job->width);
        add_rows(job, &b);
    }
}

wk_code wk__cpu_attention_backward(const wk__work *work, wk__fail *fail)
{
    wk__attention_job job;
    wk__attention_job_init(&job, work->args, MASK);
    wk__attention_scratch size = {.base = NULL};
    take_block(&job, wk__attention_width(&job, job.width), &size);
    return wk__attention_run(&job, job.heads, size.used, compute_head, fail);
}
