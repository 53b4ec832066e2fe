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

enum {
    D_QUERY,
    D_KEY,
    D_VALUE,
    QUERY,
    KEY = QUERY + WK__ATTENTION_KEY,
    VALUE = QUERY + WK__ATTENTION_VALUE,
    GRADIENT = QUERY + WK__ATTENTION_MASK + 1,
    LSE,
    DELTA
};

/* The scratch memory of a task besides that of the block. */
typedef struct state {
    wk__attention_block b;
    char *d_query; /* (E, width) */
    char *delta;   /* (width) */
} state;

static state take_state(const wk__attention_job *job, wk__attention_scratch *scratch)
{
    state s = {.b = wk__attention_take_block(job, scratch)};
    s.d_query = wk__attention_take(job, scratch, job->columns);
    s.delta = wk__attention_take(job, scratch, 1);
    return s;
}

static wk__attention_matrix transposed(wk__attention_matrix m)
{
    return (wk__attention_matrix){m.data, m.column, m.row};
}

static void add_keys(const wk__attention_job *job, const state *s, int64_t key, int64_t keys)
{
    const wk__attention_block *b = &s->b;
    const int64_t width = b->width, head = b->head;
    const wk__attention_matrix weights = {b->scores, width, 1}, d_scores = {b->buffer, width, 1};
    wk__attention_score(job, b, key, keys);
    job->passes->weigh(keys, width, b->scores, b->lse);
    wk__attention_multiply(job, keys, width, job->values,
                           wk__attention_matrix_of(job, VALUE, head, key, WK__DIM_S, WK__DIM_EV),
                           (wk__attention_matrix){b->result, width, 1}, d_scores, false);
    job->passes->differentiate(keys, width, b->buffer, b->scores, s->delta);
    wk__attention_multiply(job, keys, job->values, b->count, weights,
                           wk__attention_matrix_of(job, GRADIENT, head, b->first, WK__DIM_L, WK__DIM_EV),
                           wk__attention_matrix_of(job, D_VALUE, head, key, WK__DIM_S, WK__DIM_EV), true);
    wk__attention_multiply(job, keys, job->columns, b->count, d_scores,
                           wk__attention_matrix_of(job, QUERY, head, b->first, WK__DIM_L, WK__DIM_E),
                           wk__attention_matrix_of(job, D_KEY, head, key, WK__DIM_S, WK__DIM_E), true);
    wk__attention_multiply(job, job->columns, width, keys,
                           transposed(wk__attention_matrix_of(job, KEY, head, key, WK__DIM_S, WK__DIM_E)), d_scores,
                           (wk__attention_matrix){s->d_query, width, 1}, key > 0);
}

/* Reads an element of each query of the block; the rest of the vector is `rest`. */
static void load_vector(const wk__attention_job *job, int operand, const wk__attention_block *b, double rest, char *out)
{
    const wk__attention_matrix m = wk__attention_matrix_of(job, operand, b->head, b->first, WK__DIM_L, WK__DIM_EV);
    const float narrow = (float)rest;
    const char *const beyond = job->size == 4 ? (const char *)&narrow : (const char *)&rest;
    for (int64_t q = 0; q < b->width; q++)
        memcpy(out + q * job->size, q < b->count ? m.data + q * m.row * job->size : beyond, (size_t)job->size);
}

static void add_rows(const wk__attention_job *job, const state *s)
{
    const wk__attention_block *b = &s->b;
    const int64_t visible = wk__attention_visible(job, b);
    wk__attention_pack(job, b, wk__attention_matrix_of(job, GRADIENT, b->head, b->first, WK__DIM_L, WK__DIM_EV),
                       job->values, b->result);
    load_vector(job, LSE, b, INFINITY, b->lse);
    load_vector(job, DELTA, b, 0, s->delta);
    for (int64_t key = 0; key < visible; key += WK__ATTENTION_KEYS)
        add_keys(job, s, key, wk__min_i64(visible - key, WK__ATTENTION_KEYS));
    wk__attention_unpack(job, b, s->d_query, job->columns,
                         wk__attention_matrix_of(job, D_QUERY, b->head, b->first, WK__DIM_L, WK__DIM_E));
}

static void clear(const wk__attention_job *job, int operand, int64_t head, int64_t columns)
{
    memset(wk__attention_matrix_of(job, operand, head, 0, WK__DIM_S, WK__DIM_E).data, 0,
           (size_t)(job->keys * columns * job->size));
}

static void compute_head(const wk__attention_job *job, int64_t head, wk__attention_scratch scratch)
{
    state s = take_state(job, &scratch);
    clear(job, D_KEY, head, job->columns);
    clear(job, D_VALUE, head, job->values);
    for (int64_t first = 0; first < job->rows; first += job->width) {
        wk__attention_begin_block(job, &s.b, head, first);
        add_rows(job, &s);
    }
}

wk_code wk__cpu_attention_backward(const wk__work *work, wk__fail *fail)
{
    wk__attention_job job;
    wk__attention_scratch size = {.base = NULL};
    wk__attention_job_init(&job, work->args, QUERY);
    take_state(&job, &size);
    return wk__attention_run(&job, job.heads, size.used, compute_head, fail);
}
