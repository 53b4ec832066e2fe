/* SPDX-License-Identifier: Apache-2.0 */
/* Computes one macrotile of C from packed or unpacked operands.
 *
 *                      column .. column_end
 *                     +------+------+------+            for each block of k:
 *                     |panel |panel |panel |  B           pack the panels of B
 *                     +------+------+------+              for each block of rows:
 *         +-----+     +------+------+------+                pack its tiles' rows of A
 *   row   |tile |     | tile |      |      |                for each panel, for each tile: multiply
 *   ..    +-----+     +------+      |      |                in the last block of k C is complete: narrow it, run
 *         |tile |     |      |      |      |                the epilogue while it is in cache
 * row_end +-----+     +------+------+------+
 *            A                  C */
#include "gemm_prologue.h"

#include <string.h>

#include "base/integers.h"

/* Addresses and strides of a block, in elements. */
typedef struct block_cursor {
    int64_t l, k; /* block l .. l + k of the sum */
    const wk__gemm_buffers *buffers;
    const char *a; /* of the block, at row 0; NULL if A is gathered and packed */
    const char *b; /* of the block, at column `column` of the macrotile; NULL if B is gathered */
    char *c;       /* at row `row`, column `column` of the macrotile */
    int64_t c_row;
} block_cursor;

static void pack_panels(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, const block_cursor *at)
{
    if (plan->b_im2col) {
        wk__im2col_pack(plan->b_im2col, plan->pack, at->buffers->b,
                        &(wk__im2col_block){.batch = macrotile->batch,
                                            .line = macrotile->column,
                                            .line_end = macrotile->column_end,
                                            .step = at->l,
                                            .steps = at->k,
                                            .width = plan->class->columns,
                                            .panel_unit = plan->class->lanes,
                                            .class = plan->class,
                                            .same_bits = plan->size == (int64_t)plan->class->packed_size});
        return;
    }
    plan->pack(at->buffers->b, plan->class->columns, plan->class->lanes, macrotile->column_end - macrotile->column,
               at->k, at->b, plan->b_column, plan->b_step);
}

/* Packs rows of A: contiguous rows stay rows (panels of width 1), others are packed for the tiles. */
static void pack_rows(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, const block_cursor *at,
                      int64_t row, int64_t end)
{
    if (plan->a_im2col) {
        wk__im2col_pack(plan->a_im2col, plan->pack, at->buffers->a,
                        &(wk__im2col_block){.batch = macrotile->batch,
                                            .line = row,
                                            .line_end = end,
                                            .step = at->l,
                                            .steps = at->k,
                                            .width = plan->a_step == 1 ? 1 : plan->class->rows,
                                            .panel_unit = 1,
                                            .class = plan->class,
                                            .same_bits = plan->size == (int64_t)plan->class->packed_size});
        return;
    }
    plan->pack(at->buffers->a, plan->a_step == 1 ? 1 : plan->class->rows, 1, end - row, at->k,
               at->a + row * plan->a_row * plan->size, plan->a_row, plan->a_step);
}

/* Computes all tiles of rows `row` .. `end`. */
static void multiply(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, const block_cursor *at,
                     int64_t row, int64_t end)
{
    const wk__gemm_microkernels *class = plan->class;
    const int64_t size = (int64_t) class->packed_size, of_c = (int64_t) class->acc_size,
                  k = wk__gemm_packed_k(class, at->k);
    wk__tile tile = {.k = k, .c_row = at->c_row, .add = at->l > 0};
    const char *b = plan->pack_b ? at->buffers->b : at->b;
    for (int64_t j = macrotile->column; j < macrotile->column_end; j += class->columns) {
        tile.columns = (int)wk__min_i64(macrotile->column_end - j, class->columns);
        const int vectors = (tile.columns + class->lanes - 1) / class->lanes;
        wk__tile_fn *const *function = class->tile + (vectors - 1) * class->rows - 1;
        tile.b = b;
        tile.b_step = plan->pack_b ? vectors * class->lanes : plan->b_step;
        b += plan->pack_b ? vectors * class->lanes * k * size + WK__GEMM_GAP : class->columns * size;

        char *c = at->c + ((row - macrotile->row) * at->c_row + j - macrotile->column) * of_c;
        const char *a = plan->pack_a ? at->buffers->a : at->a + row * plan->a_row * size;
        for (int64_t i = row; i < end; i += class->rows) {
            const int64_t rows = wk__min_i64(end - i, class->rows);
            tile.a = a;
            if (!plan->pack_a) {
                tile.a_row = plan->a_row;
                tile.a_step = plan->a_step;
            } else {
                tile.a_row = plan->a_step == 1 ? k + WK__GEMM_GAP / size : 1;
                tile.a_step = plan->a_step == 1 ? 1 : rows;
            }
            tile.c = c;
            function[rows](&tile);
            a += tile.a_row == 1 && plan->pack_a ? rows * k * size + WK__GEMM_GAP : rows * tile.a_row * size;
            c += rows * at->c_row * of_c;
        }
    }
}

/* Returns the offset in C of a row or column, in elements. */
static int64_t offset_of(const wk__im2col_indices *list, int64_t number)
{
    int64_t at = 0;
    for (int i = list->count - 1; i >= 0; i--) {
        at += number % list->index[i].extent * list->index[i].stride;
        number /= list->index[i].extent;
    }
    return at;
}

/* Returns how many of `left` indices are equally spaced from `number` on. */
static int64_t run_of(const wk__im2col_indices *list, int64_t number, int64_t left)
{
    const int64_t inner = list->index[list->count - 1].extent;
    return wk__min_i64(inner - number % inner, left);
}

/* Stores a row of the macrotile; `to` and `from` point to its first column. */
static void store_c_runs(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, char *to, const char *from)
{
    const wk__im2col_indices *columns = plan->c_columns;
    const int64_t step = columns->index[columns->count - 1].stride;
    for (int64_t j = macrotile->column, run; j < macrotile->column_end; j += run) {
        run = run_of(columns, j, macrotile->column_end - j);
        plan->unpack(to + offset_of(columns, j) * plan->c_size, step, run,
                     from + (j - macrotile->column) * (int64_t)plan->class->acc_size);
    }
}

static void store_c(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, const block_cursor *at, int64_t row,
                    int64_t end)
{
    for (int64_t i = row; i < end; i++) {
        const char *from = at->c + (i - macrotile->row) * at->c_row * (int64_t)plan->class->acc_size;
        if (plan->c_rows)
            store_c_runs(plan, macrotile, macrotile->c + offset_of(plan->c_rows, i) * plan->c_size, from);
        else
            plan->unpack(macrotile->c + (i * plan->c_row + macrotile->column * plan->c_column) * plan->c_size,
                         plan->c_column, macrotile->column_end - macrotile->column, from);
    }
}

/* Finds the largest box of a side's dimensions that starts at index `at` and has at most `left` elements; returns its
 * number of elements.
 *
 *     indices of dimensions (3, 4)          0 1 2 3 | 4 5 6 7 | 8 9 10 11
 *     from 2 on, 9 left                         2 3 | 4 5 6 7 | 8 9 10           three boxes: [0][2..3],
 *                                                                                [1][0..3], [2][0..2]
 *     from 4 on, 8 left                               4 5 6 7 | 8 9 10 11        one: [1..2][0..3] */
static int64_t next_box(const wk__gemm_dims *side, const int64_t shape[], int64_t at, int64_t left, int64_t start[],
                        int64_t size[])
{
    int64_t places = 1; /* of the box so far */
    bool whole = true;  /* all inner dimensions are complete, so this one may extend */
    for (int k = side->count - 1; k >= 0; k--) {
        const int d = side->dim[k];
        start[d] = at % shape[d];
        size[d] = whole ? wk__min_i64(shape[d] - start[d], left / places) : 1;
        whole = whole && size[d] == shape[d];
        places *= size[d];
        at /= shape[d];
    }
    return places;
}

/* Enumerates rows `row` .. `end` of the macrotile in boxes of the product's dimensions. */
static void visit_boxes(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, int64_t row, int64_t end,
                        wk__epilogue_box_visit *visit, void *user)
{
    const int64_t *shape = plan->shape;
    wk__epilogue_box box = {.row_step = plan->c_row, .column_step = plan->c_column};
    int64_t batch = macrotile->batch, c = plan->c_offset;
    for (int d = 0; d < plan->ndim; d++) box.size[d] = 1; /* dimensions that next_box() does not set */
    for (int k = plan->batch.count - 1; k >= 0; k--) {
        const int d = plan->batch.dim[k];
        box.start[d] = batch % shape[d];
        c += box.start[d] * plan->c_batch[k];
        batch /= shape[d];
    }
    const wk__im2col_indices *rows = plan->c_rows, *columns = plan->c_columns;
    for (; row < end; row += box.rows) {
        const int64_t left = rows ? run_of(rows, row, end - row) : end - row;
        const int64_t at = c + (rows ? offset_of(rows, row) : row * plan->c_row);
        box.rows = next_box(&plan->rows, shape, row, left, box.start, box.size);
        for (int64_t column = macrotile->column; column < macrotile->column_end; column += box.columns) {
            const int64_t rest = macrotile->column_end - column, run = columns ? run_of(columns, column, rest) : rest;
            box.columns = next_box(&plan->columns, shape, column, run, box.start, box.size);
            box.first = at + (columns ? offset_of(columns, column) : column * plan->c_column);
            visit(user, &box);
        }
    }
}

void wk__gemm_macrotile_boxes(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile,
                              wk__epilogue_box_visit *visit, void *user)
{
    for (int64_t row = macrotile->row; row < macrotile->row_end; row += WK__GEMM_BLOCK_ROWS)
        visit_boxes(plan, macrotile, row, wk__min_i64(macrotile->row_end, row + WK__GEMM_BLOCK_ROWS), visit, user);
}

/* Computes a row vector times B. The vector is packed so that it is contiguous. */
static void multiply_vector(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, const block_cursor *at)
{
    const wk__gemm_microkernels *class = plan->class;
    _Alignas(64) char a[WK__GEMM_VECTOR_BYTES];
    plan->pack(a, 1, 1, 1, at->k, at->a, plan->a_row, plan->a_step);
    const bool down = plan->b_column == 1;
    (down ? class->gemv_rows : class->gemv_columns)(macrotile->column_end - macrotile->column, at->k, a, at->b,
                                                    down ? plan->b_step : plan->b_column, at->c, at->l > 0);
}

/* Finds the block of A from step at->l on. */
static void find_a(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, block_cursor *at)
{
    at->k = wk__min_i64(plan->k - at->l, plan->k_block);
    if (plan->a_run_steps) {
        at->k = wk__min_i64(at->k, plan->a_run_steps - at->l % plan->a_run_steps);
        at->a = wk__im2col_address(plan->a_im2col, macrotile->batch, at->l);
    } else {
        at->a = plan->a_im2col ? NULL : macrotile->a + at->l * plan->a_step * plan->size;
    }
}

/* Finds the block of B from step at->l on, running the prologue if the buffer does not have it yet. */
static wk_code find_b(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile, block_cursor *at, wk__fail *fail)
{
    if (!plan->b_program.group) {
        at->b = plan->b_im2col
                    ? NULL
                    : macrotile->b + (at->l * plan->b_step + macrotile->column * plan->b_column) * plan->size;
        return WK_OK;
    }
    const int64_t step = at->l % plan->b_program.steps;
    at->b = at->buffers->b_computed + step * plan->size;
    return step == 0 ? wk__gemm_prologue_run(plan, macrotile, at->l, at->buffers->b_computed, fail) : WK_OK;
}

wk_code wk__gemm_macrotile_run(const wk__gemm_plan *plan, const wk__gemm_macrotile *macrotile,
                               const wk__gemm_buffers *buffers, wk__fail *fail)
{
    block_cursor at = {.buffers = buffers, .c_row = plan->c_row};
    wk__epilogue_run run = {.program = plan->epilogue, .fail = fail};
    at.c = macrotile->c + (macrotile->row * plan->c_row + macrotile->column) * plan->c_size;
    if (plan->c_buffered) {
        at.c = buffers->c;
        at.c_row = macrotile->column_end - macrotile->column;
    }
    do {
        find_a(plan, macrotile, &at);
        const bool last = at.l + at.k == plan->k;
        const wk_code code = find_b(plan, macrotile, &at, fail);
        if (code != WK_OK) return code;
        if (plan->pack_b) pack_panels(plan, macrotile, &at);
        for (int64_t row = macrotile->row, end; row < macrotile->row_end; row = end) {
            end = wk__min_i64(macrotile->row_end, row + WK__GEMM_BLOCK_ROWS);
            if (plan->pack_a) pack_rows(plan, macrotile, &at, row, end);
            if (plan->is_gemv)
                multiply_vector(plan, macrotile, &at);
            else
                multiply(plan, macrotile, &at, row, end);
            if (!last) continue;
            if (plan->c_buffered) store_c(plan, macrotile, &at, row, end);
            if (plan->epilogue) visit_boxes(plan, macrotile, row, end, wk__epilogue_run_box, &run);
        }
        at.l += at.k;
    } while (at.l < plan->k);
    return run.first;
}
