/* SPDX-License-Identifier: Apache-2.0 */
/* attention: the result of a block of rows of query, summed over one block of keys after the other. The weights are
 * those relative to the greatest score so far; when it grows, the sums so far are multiplied by a factor. */
#include "job.h"

#include <string.h>

#include "base/integers.h"

enum { OUT, LSE, QUERY, KEY, VALUE, MASK };

/* The scratch memory of a task: query and sums packed, a block of scores and one of the mask, vectors of queries. */
typedef struct block {
    char *query, *sums, *scores, *mask, *most, *total, *factor, *lse;
} block;

static block take_block(const wk__attention_job *job, int64_t width, wk__attention_scratch *scratch)
{
    block b;
    b.query = wk__attention_take(job, scratch, job->columns, width);
    b.sums = wk__attention_take(job, scratch, job->values, width);
    b.scores = wk__attention_take(job, scratch, WK__ATTENTION_KEYS, width);
    b.mask = wk__attention_take(job, scratch, WK__ATTENTION_KEYS, width);
    b.most = wk__attention_take(job, scratch, 1, width);
    b.total = wk__attention_take(job, scratch, 1, width);
    b.factor = wk__attention_take(job, scratch, 1, width);
    b.lse = wk__attention_take(job, scratch, 1, width);
    return b;
}

/* Adds the values of `keys` keys from `key` on, times their weights. */
static void add_keys(const wk__attention_job *job, int64_t head, int64_t first, int64_t count, int64_t width,
                     int64_t key, int64_t keys, const block *b)
{
    const wk__attention_matrix from = wk__attention_matrix_of(job, KEY, head, WK__DIM_S, WK__DIM_E);
    const wk__attention_matrix value = wk__attention_matrix_of(job, VALUE, head, WK__DIM_S, WK__DIM_EV);
    const wk__attention_matrix scores = {b->scores, width, 1}, query = {b->query, width, 1}, sums = {b->sums, width, 1};
    wk__attention_multiply(job, keys, width, job->columns,
                           (wk__attention_matrix){wk__attention_row(job, &from, key), from.row, from.column}, query,
                           scores, false);
    wk__attention_mask(job, head, first, count, key, keys, width, b->scores, b->mask);
    const bool changed = job->passes->exponentiate(keys, width, b->scores, b->most, b->total, b->factor);
    if (changed && key > 0) job->passes->multiply(job->values, width, b->sums, b->factor);
    wk__attention_multiply(job, job->values, width, keys,
                           (wk__attention_matrix){wk__attention_row(job, &value, key), value.column, value.row}, scores,
                           sums, key > 0);
}

static void store_lse(const wk__attention_job *job, int64_t head, int64_t first, int64_t count, const char *lse)
{
    const wk__attention_matrix out = wk__attention_matrix_of(job, LSE, head, WK__DIM_L, WK__DIM_EV);
    for (int64_t i = 0; i < count; i++)
        memcpy(wk__attention_row(job, &out, first + i), lse + i * job->size, (size_t)job->size);
}

static void compute_block(const wk__attention_job *job, int64_t task, wk__attention_scratch scratch)
{
    const int64_t blocks = (job->rows + job->width - 1) / job->width;
    const int64_t head = task / blocks, first = task % blocks * job->width;
    const int64_t count = wk__min_i64(job->rows - first, job->width);
    const wk__attention_matrix query = wk__attention_matrix_of(job, QUERY, head, WK__DIM_L, WK__DIM_E);
    const wk__attention_matrix out = wk__attention_matrix_of(job, OUT, head, WK__DIM_L, WK__DIM_EV);
    const block b = take_block(job, wk__attention_width(job, count), &scratch);
    const int64_t width = wk__attention_pack(job, &query, first, count, job->columns, b.query);
    const int64_t visible = wk__attention_visible(job, first, count);
    job->passes->begin(width, b.most, b.total);
    for (int64_t key = 0; key < visible; key += WK__ATTENTION_KEYS)
        add_keys(job, head, first, count, width, key, wk__min_i64(visible - key, WK__ATTENTION_KEYS), &b);
    job->passes->finish(width, b.most, b.total, b.factor, b.lse);
    job->passes->multiply(job->values, width, b.sums, b.factor);
    wk__attention_unpack(job, b.sums, width, count, job->values, wk__attention_row(job, &out, first));
    store_lse(job, head, first, count, b.lse);
}

wk_code wk__cpu_attention(const wk__work *work, wk__fail *fail)
{
    wk__attention_job job;
    wk__attention_job_init(&job, work->args, MASK);
    if (job.heads == 0 || job.rows == 0) return WK_OK;
    wk__attention_scratch size = {.base = NULL};
    take_block(&job, wk__attention_width(&job, job.width), &size);
    return wk__attention_run(&job, job.heads * ((job.rows + job.width - 1) / job.width), size.used, compute_block,
                             fail);
}
