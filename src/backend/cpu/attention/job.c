/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, packing, products, masks and threads of attention; see job.h. */
#include "job.h"

#include <stdatomic.h>

#include "base/integers.h"
#include "base/pool.h"

void wk__attention_job_init(wk__attention_job *job, const wk__work_args *args, int mask)
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
                               .causal = args->mode & WK__ATTENTION_CAUSAL,
                               .mask = args->mode & WK__ATTENTION_MASKED ? mask : -1};
    for (int d = 0; d < args->ndim - WK__ATTENTION_DIMS; d++) job->heads *= args->shape[d];
    job->width = wk__min_i64(job->rows, job->gemm->class->columns);
}

wk__attention_matrix wk__attention_matrix_of(const wk__attention_job *job, int operand, int64_t head,
                                             wk__attention_dim rows, wk__attention_dim columns)
{
    const wk__operand *o = &job->args->operand[operand];
    const int ndim = job->args->ndim;
    int64_t at = 0;
    for (int d = ndim - WK__ATTENTION_DIMS - 1; d >= 0; d--) {
        at += head % job->args->shape[d] * o->stride[d];
        head /= job->args->shape[d];
    }
    return (wk__attention_matrix){wk__operand_data(o) + at * job->size, o->stride[ndim - (int)rows],
                                  o->stride[ndim - (int)columns]};
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
    const wk__gemm_microkernels *class = job->gemm->class;
    wk__tile tile = {.k = k, .a_row = a.row, .a_step = a.column, .b_step = b.row, .c_row = c.row, .add = add};
    /* Tiles of equal width: one of a single vector would take as long as one of two. */
    const int64_t vectors = (columns + class->lanes - 1) / class->lanes, most = class->columns / class->lanes;
    const int64_t tiles = (vectors + most - 1) / most, step = (vectors + tiles - 1) / tiles * class->lanes;
    for (int64_t j = 0; j < columns; j += step) {
        tile.columns = (int)wk__min_i64(columns - j, step);
        tile.b = b.data + j * job->size;
        wk__tile_fn *const *function =
            class->tile + ((tile.columns + class->lanes - 1) / class->lanes - 1) * class->rows - 1;
        for (int64_t i = 0; i < rows; i += class->rows) {
            tile.a = a.data + i * a.row * job->size;
            tile.c = c.data + (i * c.row + j) * job->size;
            function[wk__min_i64(rows - i, class->rows)](&tile);
        }
    }
}

int64_t wk__attention_pack(const wk__attention_job *job, const wk__attention_matrix *m, int64_t first, int64_t count,
                           int64_t columns, char *out)
{
    const int64_t width = wk__attention_width(job, count);
    job->gemm->pack(out, (int)width, job->gemm->class->lanes, count, columns, wk__attention_row(job, m, first), m->row,
                    m->column);
    return width;
}

void wk__attention_unpack(const wk__attention_job *job, const char *packed, int64_t width, int64_t count,
                          int64_t columns, char *out)
{
    job->gemm->pack(out, (int)columns, 1, columns, count, packed, width, 1);
}

/* ---- masks ------------------------------------------------------------------------------------------------------- */

int64_t wk__attention_visible(const wk__attention_job *job, int64_t first, int64_t count)
{
    return job->causal ? wk__min_i64(job->keys, first + count) : job->keys;
}

void wk__attention_mask(const wk__attention_job *job, int64_t head, int64_t first, int64_t count, int64_t key,
                        int64_t keys, int64_t width, char *scores, char *buffer)
{
    if (job->causal && key + keys - 1 > first) job->passes->hide(keys, width, scores, key - first);
    if (job->mask < 0) return;
    wk__attention_matrix mask = wk__attention_matrix_of(job, job->mask, head, WK__DIM_L, WK__DIM_S);
    mask.data += key * mask.column * job->size;
    if (mask.row == 0) {
        job->passes->add_mask(keys, width, scores, mask.data, 0, mask.column);
        return;
    }
    wk__attention_pack(job, &mask, first, count, keys, buffer);
    job->passes->add_mask(keys, width, scores, buffer, width, 0);
}
