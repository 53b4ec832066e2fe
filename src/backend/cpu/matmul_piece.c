/* One piece of C from packed or unpacked operands.
 *
 *                      column .. column_end
 *                     +------+------+------+            for each block of k:
 *                     |panel |panel |panel |  B           pack the panels of B
 *                     +------+------+------+              for each block of rows:
 *         +-----+     +------+------+------+                pack its tiles' rows of A
 *   row   |tile |     | tile |      |      |                for each panel, for each tile: multiply
 *   ..    +-----+     +------+      |      |                in the last block of k, C is final here: narrow it, run the
 *         |tile |     |      |      |      |                tail while it is in cache
 * row_end +-----+     +------+------+------+
 *            A                  C
 */
#include "matmul.h"

#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Where a block's operands are and how to step through them, in elements. */
typedef struct walk {
    int64_t l, k; /* the block: l .. l + k of the sum */
    const wk__gemm_space *space;
    char *c; /* at row `row`, column `column` of the piece */
    int64_t c_row;
} walk;

static void pack_panels(const wk__gemm_plan *plan, const wk__gemm_piece *piece, const walk *at)
{
    const char *in = piece->b + (at->l * plan->b_step + piece->column * plan->b_column) * plan->size;
    plan->pack(at->space->b, plan->class->columns, plan->class->lanes, piece->column_end - piece->column, at->k, in,
               plan->b_column, plan->b_step);
}

/* Rows that are contiguous stay rows (panels of width 1); others are packed as the tiles want them. */
static void pack_rows(const wk__gemm_plan *plan, const wk__gemm_piece *piece, const walk *at, int64_t row, int64_t end)
{
    const char *in = piece->a + (at->l * plan->a_step + row * plan->a_row) * plan->size;
    plan->pack(at->space->a, plan->a_step == 1 ? 1 : plan->class->rows, 1, end - row, at->k, in, plan->a_row,
               plan->a_step);
}

/* All tiles of the rows `row` .. `end`. */
static void multiply(const wk__gemm_plan *plan, const wk__gemm_piece *piece, const walk *at, int64_t row, int64_t end)
{
    const wk__gemm_class *class = plan->class;
    const int64_t size = (int64_t) class->size;
    wk__tile tile = {.k = at->k, .c_row = at->c_row, .add = at->l > 0};
    const char *b =
        plan->pack_b ? at->space->b : piece->b + (at->l * plan->b_step + piece->column * plan->b_column) * size;
    for (int64_t j = piece->column; j < piece->column_end; j += class->columns) {
        tile.columns = (int)least(piece->column_end - j, class->columns);
        const int vectors = (tile.columns + class->lanes - 1) / class->lanes;
        wk__tile_function *const *function = class->tile + (vectors - 1) * class->rows - 1;
        tile.b = b;
        tile.b_step = plan->pack_b ? vectors * class->lanes : plan->b_step;
        b += plan->pack_b ? vectors * class->lanes * at->k * size + WK__GEMM_GAP : class->columns * size;

        char *c = at->c + ((row - piece->row) * at->c_row + j - piece->column) * size;
        const char *a = plan->pack_a ? at->space->a : piece->a + (at->l * plan->a_step + row * plan->a_row) * size;
        for (int64_t i = row; i < end; i += class->rows) {
            const int64_t rows = least(end - i, class->rows);
            tile.a = a;
            if (!plan->pack_a) {
                tile.a_row = plan->a_row;
                tile.a_step = plan->a_step;
            } else {
                tile.a_row = plan->a_step == 1 ? at->k + WK__GEMM_GAP / size : 1;
                tile.a_step = plan->a_step == 1 ? 1 : rows;
            }
            tile.c = c;
            function[rows](&tile);
            a += tile.a_row == 1 && plan->pack_a ? rows * at->k * size + WK__GEMM_GAP : rows * tile.a_row * size;
            c += rows * at->c_row * size;
        }
    }
}

static void narrow(const wk__gemm_plan *plan, const wk__gemm_piece *piece, const walk *at, int64_t row, int64_t end)
{
    for (int64_t i = row; i < end; i++)
        plan->unpack(piece->c + (i * plan->c_row + piece->column * plan->c_column) * plan->size, plan->c_column,
                     piece->column_end - piece->column,
                     at->c + (i - piece->row) * at->c_row * (int64_t)plan->class->size);
}

/* The first box of the tail on rows `row` .. `end` of the plan, which are told apart where batches have become rows:
 *
 *     plan rows    | batch 3: .. m - 1 | batch 4: 0 .. m - 1 | batch 5: 0 .. |        boxes of three batches
 */
static void first_box(const wk__gemm_plan *plan, const wk__gemm_piece *piece, int64_t row, int64_t end, wk__piece *box)
{
    const wk__matmul *product = plan->product;
    const int high = product->nbatch + plan->turned, wide = product->nbatch + !plan->turned;
    const int64_t height = plan->turned ? product->n : product->m;
    box->start[wide] = piece->column;
    box->size[wide] = piece->column_end - piece->column;
    box->start[high] = row % height;
    box->size[high] = least(end - row, height - box->start[high]);
    int64_t merged = row / height, batch = piece->batch;
    for (int d = product->nbatch - 1; d >= 0; d--) {
        int64_t *index = d >= plan->nbatch ? &merged : &batch;
        box->start[d] = *index % product->batch[d];
        box->size[d] = 1;
        *index /= product->batch[d];
    }
    box->rows = box->size[high];
    box->columns = box->size[wide];
}

static wk_code run_tail(const wk__gemm_plan *plan, const wk__gemm_piece *piece, int64_t row, int64_t end,
                        wk__fail *fail)
{
    wk_code first = WK_OK;
    for (wk__piece box; row < end; row += box.rows) {
        wk__fail other;
        first_box(plan, piece, row, end, &box);
        const wk_code code = wk__cpu_program_box(plan->tail, box.start, box.size, first ? &other : fail);
        if (!first) first = code;
    }
    return first;
}

void wk__gemm_piece_boxes(const wk__gemm_plan *plan, const wk__gemm_piece *piece, wk__piece_visit *visit, void *user)
{
    int64_t c = plan->product->c.offset, batch = piece->batch;
    for (int d = plan->nbatch - 1; d >= 0; d--) {
        c += batch % plan->product->batch[d] * plan->c_batch[d];
        batch /= plan->product->batch[d];
    }
    for (int64_t row = piece->row, end; row < piece->row_end; row = end) {
        end = least(piece->row_end, row + WK__GEMM_BLOCK_ROWS);
        for (wk__piece box; row < end; row += box.rows) {
            first_box(plan, piece, row, end, &box);
            box.first = c + row * plan->c_row + piece->column * plan->c_column;
            box.row_step = plan->c_row;
            box.column_step = plan->c_column;
            visit(user, &box);
        }
    }
}

/* The vector a is copied together: what `down` and `along` read of it is contiguous. */
static void multiply_vector(const wk__gemm_plan *plan, const wk__gemm_piece *piece, const walk *at)
{
    const wk__gemm_class *class = plan->class;
    _Alignas(64) char a[WK__GEMM_K_BYTES];
    plan->pack(a, 1, 1, 1, at->k, piece->a + at->l * plan->a_step * plan->size, plan->a_row, plan->a_step);
    const bool down = plan->b_column == 1;
    const char *b = piece->b + (at->l * plan->b_step + piece->column * plan->b_column) * plan->size;
    (down ? class->down : class->along)(piece->column_end - piece->column, at->k, a, b,
                                        down ? plan->b_step : plan->b_column, at->c, at->l > 0);
}

wk_code wk__gemm_piece_run(const wk__gemm_plan *plan, const wk__gemm_piece *piece, const wk__gemm_space *space,
                           wk__fail *fail)
{
    walk at = {.space = space, .c_row = plan->c_row};
    wk_code first = WK_OK;
    at.c = piece->c + (piece->row * plan->c_row + piece->column) * plan->size;
    if (plan->sum_apart) {
        at.c = space->c;
        at.c_row = piece->column_end - piece->column;
    }
    do {
        at.k = least(plan->k - at.l, plan->k_block);
        const bool last = at.l + at.k == plan->k;
        if (plan->pack_b) pack_panels(plan, piece, &at);
        for (int64_t row = piece->row, end; row < piece->row_end; row = end) {
            end = least(piece->row_end, row + WK__GEMM_BLOCK_ROWS);
            if (plan->pack_a) pack_rows(plan, piece, &at, row, end);
            if (plan->vector)
                multiply_vector(plan, piece, &at);
            else
                multiply(plan, piece, &at, row, end);
            if (!last) continue;
            if (plan->sum_apart) narrow(plan, piece, &at, row, end);
            if (plan->tail) {
                wk__fail other;
                const wk_code code = run_tail(plan, piece, row, end, first ? &other : fail);
                if (!first) first = code;
            }
        }
        at.l += at.k;
    } while (at.l < plan->k);
    return first;
}
