/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, packing, products, masks and threads of attention; see job.h. */
#include "job.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/integers.h"
#include "base/pool.h"

void wk__attention_job_init(wk__attention_job *job, const wk__work_args *args, int query)
{
    const wk_dtype dtype = (wk_dtype)args->operand[0].dtype;
    const int64_t *size = args->shape + args->ndim;
    *job = (wk__attention_job){.args = args,
                               .passes = wk__cpu_isa_current()->attention[dtype],
                               .gemm = wk__cpu_gemm(dtype),
                               .size = (int64_t)wk_dtype_size(dtype),
                               .heads = 1,
                               .rows = size[-WK__DIM_L],
                               .keys = size[-WK__DIM_S],
                               .columns = size[-WK__DIM_E],
                               .values = size[-WK__DIM_EV],
                               .query = query,
                               .causal = args->mode & WK__ATTENTION_CAUSAL,
                               .masked = args->mode & WK__ATTENTION_MASKED};
    for (int d = 0; d < args->ndim - WK__ATTENTION_DIMS; d++) job->heads *= args->shape[d];
    job->width = wk__min_i64(job->rows, job->gemm->class->columns);
}

wk__attention_matrix wk__attention_matrix_of(const wk__attention_job *job, int operand, int64_t head, int64_t first,
                                             wk__attention_dim rows, wk__attention_dim columns)
{
    const wk__operand *o = &job->args->operand[operand];
    const int ndim = job->args->ndim;
    const int64_t row = o->stride[ndim - (int)rows];
    int64_t at = first * row;
    for (int d = ndim - WK__ATTENTION_DIMS - 1; d >= 0; d--) {
        at += head % job->args->shape[d] * o->stride[d];
        head /= job->args->shape[d];
    }
    return (wk__attention_matrix){wk__operand_data(o) + at * job->size, row, o->stride[ndim - (int)columns]};
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

int64_t wk__attention_blocks(const wk__attention_job *job)
{
    return wk__chunk_count(job->rows, job->width);
}

/* Returns a number of queries rounded up to lanes. */
static int64_t whole_vectors(const wk__attention_job *job, int64_t queries)
{
    const int lanes = job->gemm->class->lanes;
    return wk__chunk_count(queries, lanes) * lanes;
}

char *wk__attention_take(const wk__attention_job *job, wk__attention_scratch *scratch, int64_t rows)
{
    char *taken = scratch->base ? scratch->base + scratch->used : NULL;
    int64_t bytes;
    const bool fits = wk__mul_size(rows, whole_vectors(job, job->width) * job->size, &bytes) &&
                      wk__add_size(bytes, WK__GEMM_VECTOR - 1, &bytes) &&
                      wk__add_size(scratch->used, bytes / WK__GEMM_VECTOR * WK__GEMM_VECTOR, &scratch->used);
    if (!fits) scratch->used = INT64_MAX;
    return taken;
}

wk__attention_block wk__attention_take_block(const wk__attention_job *job, wk__attention_scratch *scratch)
{
    wk__attention_block b = {.head = 0};
    b.query = wk__attention_take(job, scratch, job->columns);
    b.result = wk__attention_take(job, scratch, job->values);
    b.scores = wk__attention_take(job, scratch, WK__ATTENTION_KEYS);
    b.buffer = wk__attention_take(job, scratch, WK__ATTENTION_KEYS);
    b.lse = wk__attention_take(job, scratch, 1);
    return b;
}

void wk__attention_begin_block(const wk__attention_job *job, wk__attention_block *b, int64_t head, int64_t first)
{
    b->head = head;
    b->first = first;
    b->count = wk__min_i64(job->rows - first, job->width);
    b->width = whole_vectors(job, b->count);
    wk__attention_pack(job, b, wk__attention_matrix_of(job, job->query, head, first, WK__DIM_L, WK__DIM_E),
                       job->columns, b->query);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Tasks that threads take in order; share k has its own scratch memory. */
typedef struct sharing {
    const wk__attention_job *job;
    wk__attention_body *body;
    char *scratch;
    int64_t bytes, tasks;
    atomic_int_fast64_t next;
} sharing;

static void run_share(void *user, int64_t share)
{
    sharing *s = user;
    const wk__attention_scratch scratch = {.base = s->scratch + share * s->bytes};
    for (int64_t task; (task = atomic_fetch_add(&s->next, 1)) < s->tasks;) s->body(s->job, task, scratch);
}

wk_code wk__attention_run(const wk__attention_job *job, int64_t tasks, int64_t bytes, wk__attention_body *body,
                          wk__fail *fail)
{
    if (tasks == 0) return WK_OK;
    const int64_t shares = wk__min_i64(tasks, wk__thread_count());
    int64_t all;
    const bool fits = wk__mul_size(shares, bytes, &all) && wk__add_size(all, WK__GEMM_VECTOR, &all);
    char *block = fits ? wk__alloc((size_t)all) : NULL;
    if (!block) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for scratch memory of attention");
    char *start = block + (WK__GEMM_VECTOR - (uintptr_t)block % WK__GEMM_VECTOR) % WK__GEMM_VECTOR;
    sharing s = {.job = job, .body = body, .scratch = start, .bytes = bytes, .tasks = tasks};
    wk__parallel_for(shares, run_share, &s);
    wk__free(block);
    return WK_OK;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

void wk__attention_multiply(const wk__attention_job *job, int64_t rows, int64_t columns, int64_t k,
                            wk__attention_matrix a, wk__attention_matrix b, wk__attention_matrix c, bool add)
{
    wk__gemm_multiply(job->gemm, rows, columns,
                      (wk__tile){.k = k,
                                 .a = a.data,
                                 .a_row = a.row,
                                 .a_step = a.column,
                                 .b = b.data,
                                 .b_step = b.row,
                                 .c = c.data,
                                 .c_row = c.row,
                                 .add = add});
}

void wk__attention_pack(const wk__attention_job *job, const wk__attention_block *b, wk__attention_matrix m,
                        int64_t columns, char *out)
{
    job->gemm->pack(out, (int)b->width, job->gemm->class->lanes, b->count, columns, m.data, m.row, m.column);
}

void wk__attention_unpack(const wk__attention_job *job, const wk__attention_block *b, const char *packed,
                          int64_t columns, wk__attention_matrix out)
{
    job->gemm->pack(out.data, (int)columns, 1, columns, b->count, packed, b->width, 1);
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

int64_t wk__attention_visible(const wk__attention_job *job, const wk__attention_block *b)
{
    return job->causal ? wk__min_i64(job->keys, b->first + b->count) : job->keys;
}

/* Adds the mask to the scores of `keys` keys from `key` on. */
static void add_mask(const wk__attention_job *job, const wk__attention_block *b, int64_t key, int64_t keys)
{
    wk__attention_matrix mask =
        wk__attention_matrix_of(job, job->query + WK__ATTENTION_MASK, b->head, b->first, WK__DIM_L, WK__DIM_S);
    mask.data += key * mask.column * job->size;
    if (mask.row == 0) {
        job->passes->add_mask(keys, b->width, b->scores, mask.data, 0, mask.column);
        return;
    }
    wk__attention_pack(job, b, mask, keys, b->buffer);
    job->passes->add_mask(keys, b->width, b->scores, b->buffer, b->width, 0);
}

void wk__attention_score(const wk__attention_job *job, const wk__attention_block *b, int64_t key, int64_t keys)
{
    wk__attention_multiply(
        job, keys, b->width, job->columns,
        wk__attention_matrix_of(job, job->query + WK__ATTENTION_KEY, b->head, key, WK__DIM_S, WK__DIM_E),
        (wk__attention_matrix){b->query, b->width, 1}, (wk__attention_matrix){b->scores, b->width, 1}, false);
    if (job->causal && key + keys - 1 > b->first) job->passes->hide(keys, b->width, b->scores, key - b->first);
    if (job->masked) add_mask(job, b, key, keys);
}
