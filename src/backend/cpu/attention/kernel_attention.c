/* SPDX-License-Identifier: Apache-2.0 */
/* attention: the result of a block of rows of query, summed over one block of keys after the other. The weights are
 * those relative to the greatest score so far; when it grows, the sums so far are multiplied by a factor. */
#include "job.h"

#include <string.h>

#include "base/integers.h"

enum { OUT, LSE, QUERY, VALUE = QUERY + WK__ATTENTION_VALUE };

/* The scratch memory of a task besides that of the block: vectors of queries. */
typedef struct state {
    wk__attention_block b;
    char *most, *total, *factor;
} state;

static state take_state(const wk__attention_job *job, wk__attention_scratch *scratch)
{
    state s = {.b = wk__attention_take_block(job, scratch)};
    s.most = wk__attention_take(job, scratch, 1);
    s.total = wk__attention_take(job, scratch, 1);
    s.factor = wk__attention_take(job, scratch, 1);
    return s;
}

/* Adds the values of `keys` keys from `key` on, times their weights. */
static void add_keys(const wk__attention_job *job, const state *s, int64_t key, int64_t keys)
{
    const wk__attention_block *b = &s->b;
    const wk__attention_matrix value = wk__attention_matrix_of(job, VALUE, b->head, key, WK__DIM_S, WK__DIM_EV);
    wk__attention_score(job, b, key, keys);
    const bool changed = job->passes->exponentiate(keys, b->width, b->scores, s->most, s->total, s->factor);
    if (changed && key > 0) job->passes->multiply(job->values, b->width, b->result, s->factor);
    wk__attention_multiply(
        job, job->values, b->width, keys, (wk__attention_matrix){value.data, value.column, value.row},
        (wk__attention_matrix){b->scores, b->width, 1}, (wk__attention_matrix){b->result, b->width, 1}, key > 0);
}

static void store_lse(const wk__attention_job *job, const wk__attention_block *b)
{
    const wk__attention_matrix out = wk__attention_matrix_of(job, LSE, b->head, b->first, WK__DIM_L, WK__DIM_EV);
    for (int64_t i = 0; i < b->count; i++)
        memcpy(out.data + i * out.row * job->size, b->lse + i * job->size, (size_t)job->size);
}

static void compute_block(const wk__attention_job *job, int64_t task, wk__attention_scratch scratch)
{
    const int64_t blocks = wk__attention_blocks(job);
    state s = take_state(job, &scratch);
    wk__attention_block *const b = &s.b;
    wk__attention_begin_block(job, b, task / blocks, task % blocks * job->width);
    const int64_t visible = wk__attention_visible(job, b);
    job->passes->begin(b->width, s.most, s.total);
    for (int64_t key = 0; key < visible; key += WK__ATTENTION_KEYS)
        add_keys(job, &s, key, wk__min_i64(visible - key, WK__ATTENTION_KEYS));
    job->passes->finish(b->width, s.most, s.total, s.factor, b->lse);
    job->passes->multiply(job->values, b->width, b->result, s.factor);
    wk__attention_unpack(job, b, b->result, job->values,
                         wk__attention_matrix_of(job, OUT, b->head, b->first, WK__DIM_L, WK__DIM_EV));
    store_lse(job, b);
}

wk_code wk__cpu_attention(const wk__work *work, wk__fail *fail)
{
    wk__attention_job job;
    wk__attention_scratch size = {.base = NULL};
    wk__attention_job_init(&job, work->args, QUERY);
    if (job.heads == 0 || job.rows == 0) return WK_OK;
    if (job.rows == 1) return wk__attention_one_query(&job, fail);
    take_state(&job, &size);
    return wk__attention_run(&job, job.heads * wk__attention_blocks(&job), size.used, compute_block, fail);
}
