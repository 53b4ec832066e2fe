/* SPDX-License-Identifier: Apache-2.0 */
/* Partition of a product into macrotiles of C. It never changes a result: each element of C is summed by one thread, in
 * an order that depends on k only. */
#include "matmul.h"

#include "base/integers.h"

/* Cost of packing or fetching an element, in multiplications of one vector lane. */
enum { FETCH = 16 };
/* Multiplications that justify a separate macrotile. */
enum { MACROTILE_WORK = 128 * 1024 };

/* Returns the size of `parts` equal parts in whole tiles. */
static int64_t part_size(int64_t whole, int64_t parts, int64_t tile)
{
    int64_t size = wk__chunk_count(wk__chunk_count(whole, parts), tile) * tile;
    return size < whole ? size : whole;
}

static void set_parts(wk__gemm_plan *plan, int64_t row_parts, int64_t column_parts)
{
    plan->macrotile_rows = part_size(plan->m, row_parts, plan->class->rows);
    plan->macrotile_columns = part_size(plan->n, column_parts, plan->class->columns);
    plan->row_macrotiles = wk__chunk_count(plan->m, plan->macrotile_rows);
    plan->column_macrotiles = wk__chunk_count(plan->n, plan->macrotile_columns);
}

/* Estimates the time until the last thread finishes, in multiplications. */
static double cost_of(const wk__gemm_plan *plan, int threads)
{
    const double rows = (double)plan->macrotile_rows, columns = (double)plan->macrotile_columns;
    const int64_t macrotiles = plan->batches * plan->row_macrotiles * plan->column_macrotiles;
    return (double)wk__chunk_count(macrotiles, threads) * (rows * columns + FETCH * (rows + columns));
}

void wk__gemm_partition(wk__gemm_plan *plan, int threads)
{
    /* a vector needs no packed B: its macrotile may fill the buffer of C */
    const int64_t rows = plan->is_gemv ? 1 : WK__GEMM_MACROTILE_ROWS;
    int64_t columns = (plan->is_gemv ? WK__GEMM_BUFFER_C : WK__GEMM_MACROTILE_BYTES) / (int64_t)plan->class->acc_size;
    if (plan->b_program.group && plan->b_program.columns < columns) columns = plan->b_program.columns;
    const int64_t fewest_rows = wk__chunk_count(plan->m, rows), fewest_columns = wk__chunk_count(plan->n, columns);
    set_parts(plan, fewest_rows, fewest_columns);

    const double work = (double)plan->m * (double)plan->n * (double)plan->k / MACROTILE_WORK;
    const int64_t most = work < threads ? (int64_t)work : threads;
    if (plan->batches >= 4 * (int64_t)threads || most < 2) return;

    wk__gemm_plan trial = *plan;
    double best = cost_of(plan, threads);
    const int64_t most_rows = plan->b_program.group ? 1 : most; /* each part of rows would run B's prologue again */
    for (int64_t r = 0; r < most_rows; r++)
        for (int64_t c = 0; c < most; c++) {
            set_parts(&trial, fewest_rows + r, fewest_columns + c);
            const double time = cost_of(&trial, threads);
            if (time >= best) continue;
            best = time;
            *plan = trial;
        }
}
