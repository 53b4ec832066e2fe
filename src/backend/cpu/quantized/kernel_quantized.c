/* SPDX-License-Identifier: Apache-2.0 */
/* quantized: products of x with a matrix of quantised blocks, whose rows are distributed over threads. With few rows of
 * x a thread multiplies blocks in registers (dots.h): most formats in integers, with x converted to fixed point once.
 * With more, it decodes a panel of rows, which stays in its cache, and multiplies it with blocks of rows of x by the
 * tiles of matrix products:
 *
 *              rows of x ->       x is packed as (I, rows of x) once; the products of a panel are then transposed to
 *      panel  +-----------+       the result. Panels and blocks depend on shapes and instruction set only, so results
 *             | products  |       do not depend on the number of threads.
 *             +-----------+ */
#include "backend/cpu/along_dim.h"
#include "backend/cpu/isa.h"
#include "base/alloc.h"
#include "base/integers.h"
#include "base/pool.h"

#include <math.h>
#include <stdatomic.h>

enum {
    SERIAL_MAX = 32 * 1024, /* products of a task; with fewer one thread is faster than two */
    TASKS_PER_THREAD = 4,   /* balances threads of different speed */
    DOT_ROWS = 8,           /* rows of x up to which products are computed in registers */
    PANEL = 32              /* rows of a panel */
};

typedef struct job {
    wk__quantized_run *run;
    wk__quantized_run *dots;           /* NULL: products are computed by run */
    wk__quantized_row first;           /* the first row of blocks */
    int64_t rows, row_bytes, per_task; /* of blocks; per_task: of a task, or PANEL */
    int64_t columns;                   /* elements of a row */
    int format;                        /* a wk_block_format */
} job;

static wk__quantized_row row_at(const job *j, int64_t k)
{
    wk__quantized_row row = j->first;
    row.blocks += k * j->row_bytes;
    row.out += k;
    return row;
}

/* Returns the first address from p on that is a multiple of `unit` bytes. */
static char *aligned(char *p, uintptr_t unit)
{
    return p + (unit - (uintptr_t)p % unit) % unit;
}

/* ---- few rows of x ----------------------------------------------------------------------------------------------- */

/* Computes those products by floats that are not finite, because an element is not, because a sum in the unit of x
 * overflows, or because 4 elements of x have no unit (denormal ones with Q8_0). */
static void repair(const job *j, const wk__quantized_row *row)
{
    for (int64_t r = 0; r < row->rows; r++) {
        wk__quantized_row one = *row;
        one.rows = 1;
        one.x += r * row->x_row;
        one.out += r * row->out_row;
        if (!isfinite(*one.out)) j->run(&one);
    }
}

static void run_dots(void *user, int64_t task)
{
    const job *j = user;
    const int64_t first = task * j->per_task, end = wk__min_i64(first + j->per_task, j->rows);
    wk__quantized_row row = row_at(j, first);
    for (int64_t k = first; k < end; k++, row.blocks += j->row_bytes, row.out++) {
        (j->dots ? j->dots : j->run)(&row);
        if (j->dots) repair(j, &row);
    }
}

static void multiply_rows(job *j)
{
    const int64_t tasks = (int64_t)TASKS_PER_THREAD * wk__thread_count();
    const int64_t products = wk__max_i64(j->first.rows * j->columns, 1);
    j->per_task = wk__max_i64(wk__chunk_count(j->rows, tasks), wk__chunk_count(SERIAL_MAX, products));
    wk__parallel_for(wk__chunk_count(j->rows, j->per_task), run_dots, j);
}

/* Computes the digits of x in `memory`, in one thread: it takes as long as the products with a few rows of blocks. */
static void prepare(job *j, const wk__quantized_digits *digits, char *memory)
{
    wk__quantized_row *first = &j->first;
    first->digits = memory;
    for (int64_t r = 0; r < first->rows; r++)
        digits->prepare(j->format, first->x + r * first->x_row, j->columns, memory + r * first->digits_row);
}

static wk_code multiply_few(job *j, const wk__quantized_digits *digits, wk__fail *fail)
{
    char *memory = NULL;
    if (j->dots) {
        int64_t bytes;
        j->first.digits_row = digits->bytes(j->columns);
        const bool fits = wk__mul_size(j->first.digits_row, j->first.rows, &bytes) &&
                          wk__add_size(bytes, WK__QUANTIZED_ALIGNMENT, &bytes);
        memory = fits ? wk__alloc((size_t)bytes) : NULL;
        if (!memory) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for x in fixed point");
        prepare(j, digits, aligned(memory, WK__QUANTIZED_ALIGNMENT));
    }
    multiply_rows(j);
    wk__free(memory);
    return WK_OK;
}

/* ---- many rows of x ---------------------------------------------------------------------------------------------- */

/* Memory of the panels. Block b of rows of x is packed[b width columns]. */
typedef struct panels {
    const job *j;
    const wk__gemm *gemm;
    float *packed, *scratch;
    int64_t width, blocks; /* rows of x per block, and number of blocks */
    int64_t each;          /* floats of scratch memory per share: a panel and its products with a block */
    int64_t tasks;
    atomic_int_fast64_t next;
} panels;

static int64_t rows_of_block(const panels *p, int64_t block)
{
    return wk__min_i64(p->j->first.rows - block * p->width, p->width);
}

/* Returns the rows of a block rounded up to lanes, for which its packed rows have room. */
static int64_t width_of_block(const panels *p, int64_t block)
{
    const int64_t lanes = p->gemm->class->lanes;
    return wk__chunk_count(rows_of_block(p, block), lanes) * lanes;
}

static void pack_block(void *user, int64_t block)
{
    const panels *p = user;
    const wk__quantized_row *first = &p->j->first;
    p->gemm->pack(p->packed + block * p->width * p->j->columns, (int)p->width, p->gemm->class->lanes,
                  rows_of_block(p, block), p->j->columns, first->x + block * p->width * first->x_row, first->x_row, 1);
}

/* Stores products (rows of the panel, width of the block) to the result. */
static void store_block(const panels *p, int64_t block, const wk__quantized_row *row, int64_t rows,
                        const float *product)
{
    const int64_t width = width_of_block(p, block);
    float *out = row->out + block * p->width * row->out_row;
    for (int64_t r = 0; r < rows_of_block(p, block); r++)
        for (int64_t k = 0; k < rows; k++) out[r * row->out_row + k] = product[k * width + r];
}

static void multiply_panel(const panels *p, int64_t task, float *panel)
{
    const job *j = p->j;
    const wk__quantized_row row = row_at(j, task * PANEL);
    const int64_t rows = wk__min_i64(j->rows - task * PANEL, PANEL);
    float *product = panel + PANEL * j->columns;
    for (int64_t k = 0; k < rows; k++) {
        wk__quantized_row one = row_at(j, task * PANEL + k);
        one.elements = panel + k * j->columns;
        j->run(&one);
    }
    for (int64_t b = 0; b < p->blocks; b++) {
        const int64_t width = width_of_block(p, b);
        wk__gemm_multiply(p->gemm, rows, width,
                          (wk__tile){.k = j->columns,
                                     .a = panel,
                                     .a_row = j->columns,
                                     .a_step = 1,
                                     .b = p->packed + b * p->width * j->columns,
                                     .b_step = width,
                                     .c = product,
                                     .c_row = width});
        store_block(p, b, &row, rows, product);
    }
}

static void run_share(void *user, int64_t share)
{
    panels *p = user;
    for (int64_t task; (task = atomic_fetch_add(&p->next, 1)) < p->tasks;)
        multiply_panel(p, task, p->scratch + share * p->each);
}

static wk_code multiply_many(const job *j, wk__fail *fail)
{
    panels p = {.j = j, .gemm = wk__cpu_gemm(WK_F32), .tasks = wk__chunk_count(j->rows, PANEL)};
    const int64_t lanes = p.gemm->class->lanes, shares = wk__min_i64(p.tasks, wk__thread_count());
    p.width = wk__chunk_count(wk__min_i64(j->first.rows, p.gemm->class->columns), lanes) * lanes;
    p.blocks = wk__chunk_count(j->first.rows, p.width);
    int64_t packed, floats, bytes;
    const bool fits = wk__mul_size(p.blocks * p.width, j->columns, &packed) &&
                      wk__mul_size(PANEL, j->columns + p.width, &p.each) && wk__mul_size(p.each, shares, &floats) &&
                      wk__add_size(packed, floats, &floats) && wk__mul_size(floats, sizeof(float), &bytes) &&
                      wk__add_size(bytes, WK__GEMM_VECTOR, &bytes);
    char *memory = fits ? wk__alloc((size_t)bytes) : NULL;
    if (!memory) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for panels of quantised blocks");
    p.packed = (float *)(void *)aligned(memory, WK__GEMM_VECTOR);
    p.scratch = p.packed + packed;
    wk__parallel_for(p.blocks, pack_block, &p);
    wk__parallel_for(shares, run_share, &p);
    wk__free(memory);
    return WK_OK;
}

/* ---- entry ------------------------------------------------------------------------------------------------------- */

wk_code wk__cpu_quantized(const wk__work *work, wk__fail *fail)
{
    enum { R, O, I, B };
    const wk__work_args *args = work->args;
    const wk__operand *operand = args->operand;
    const wk__block_format *format = &wk__block_formats[args->mode];
    const wk__cpu_isa *isa = wk__cpu_isa_current();
    job j = {.run = isa->quantized[args->mode],
             .dots = isa->digits ? isa->digits->dots[args->mode] : NULL,
             .first = {.format = format,
                       .blocks = (const uint8_t *)wk__operand_data(&operand[2]),
                       .count = args->shape[I] / format->elements,
                       .x = (const float *)(const void *)wk__operand_data(&operand[1]),
                       .out = (float *)(void *)wk__operand_data(&operand[0]),
                       .x_row = operand[1].stride[R],
                       .out_row = operand[0].stride[R],
                       .rows = args->shape[R]},
             .rows = args->shape[O],
             .row_bytes = operand[2].stride[O],
             .columns = args->shape[I],
             .format = args->mode};
    return j.first.rows > DOT_ROWS ? multiply_many(&j, fail) : multiply_few(&j, isa->digits, fail);
}
