/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of indirect contractions; see contraction_indirect.h. */
#include "contraction_indirect.h"

#include "base/integers.h"

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Positions of a row that form one vector of a tile: offsets in a channel's copy and in C. */
typedef struct vector {
    int64_t b, c;
    int count;
} vector;

typedef struct piece {
    const wk__indirect_plan *plan;
    const wk__gemm_buffers *buffers;
    int64_t batch;
    /* elements of C, A and B: of the batch; for C also of the piece's first position */
    int64_t offset[1 + WK__FACTORS];
    wk__padded_box box;
    int64_t vectors;
    vector vector[WK__PADDED_VECTORS];
} piece;

static void find_vectors(piece *at)
{
    const wk__padded_axis *axis = at->plan->b.axis;
    const wk__operand *out = &at->plan->b.kernel->operand[0];
    const wk__padded_box *box = &at->box;
    int64_t step[WK__PADDED_AXES];
    for (int k = 0; k < WK__PADDED_AXES; k++)
        step[k] = axis[k].spatial_index >= 0 ? out->stride[axis[k].spatial_index] : 0;
    at->vectors = 0;
    for (int64_t z = 0; z < box->places[0]; z++)
        for (int64_t y = 0; y < box->places[1]; y++)
            for (int64_t x = 0; x < box->places[2]; x += at->plan->class->lanes)
                at->vector[at->vectors++] =
                    (vector){.b = (z * box->size[1] + y) * box->size[2] + x,
                             .c = z * step[0] + y * step[1] + x * step[2],
                             .count = (int)wk__min_i64(box->places[2] - x, at->plan->class->lanes)};
}

static void find_piece(const wk__indirect_plan *p, int64_t number, piece *at)
{
    const wk__padded_axis *first = &p->b.axis[p->b.first];
    const int64_t from = number % p->place_parts * p->piece_places;
    at->plan = p;
    at->batch = number / p->place_parts;
    wk__padded_start(&p->b, &p->roles.batch, at->batch, from, at->offset);
    wk__padded_box_init(&p->b, from, wk__min_i64(from + p->piece_places, first->places), &at->box);
    find_vectors(at);
}

/* Copies the channels of a block of the sum and computes the offsets of the rows of B in the copies. */
static void copy_block(const piece *at, int64_t l, int64_t steps, int64_t row[])
{
    const wk__padded *b = &at->plan->b;
    const int64_t taps = b->taps.places;
    int64_t tap_at[WK__PADDED_TAPS], copy = 0;
    wk__padded_tap_offsets(b, &at->box, tap_at);
    for (int64_t channel = l / taps, tap = l % taps, k = 0; k < steps; channel++, tap = 0, copy += at->box.channel) {
        const int64_t element = at->offset[2] + wk__padded_offset(b->kernel, b->b, &b->channels, channel);
        wk__padded_copy(b, &at->box, element, at->buffers->b + copy * WK__PADDED_SIZE);
        for (; tap < taps && k < steps; tap++, k++) row[k] = copy + tap_at[tap];
    }
}

/* Computes all tiles of rows `first` .. `end`. */
static void multiply(const piece *at, int64_t l, int64_t steps, int64_t first, int64_t end, const int64_t row[])
{
    const wk__indirect_plan *p = at->plan;
    const wk__work_args *kernel = p->b.kernel;
    const wk__gemm_microkernels *class = p->class;
    const int64_t size = WK__PADDED_SIZE, c_row = p->roles.row >= 0 ? kernel->operand[0].stride[p->roles.row] : 0;
    const int most = class->columns / class->lanes;
    const char *a_start = at->buffers->a, *a_memory = kernel->operand[p->b.a].memory->host;
    char *const c = kernel->operand[0].memory->host + at->offset[0] * size;
    if (!p->packs_a) a_start = a_memory + (at->offset[1] + first * p->a_row + l * p->a_step) * size;
    wk__indirect_tile tile = {.k = steps, .b = at->buffers->b, .at = row, .c_row = c_row, .add = l > 0};
    for (int64_t v = 0; v < at->vectors; v += most) {
        const int vectors = (int)wk__min_i64(at->vectors - v, most);
        for (int k = 0; k < vectors; k++) {
            tile.b_vector[k] = at->vector[v + k].b;
            tile.c_vector[k] = at->vector[v + k].c;
            tile.count[k] = at->vector[v + k].count;
        }
        wk__indirect_tile_fn *const *function = class->indirect + (vectors - 1) * class->rows - 1;
        const char *a = a_start;
        for (int64_t i = first; i < end; i += class->rows) {
            const int64_t rows = wk__min_i64(end - i, class->rows);
            tile.a = a;
            tile.a_row = p->packs_a ? 1 : p->a_row;
            tile.a_step = p->packs_a ? rows : p->a_step;
            tile.c = c + i * c_row * size;
            function[rows](&tile);
            a += p->packs_a ? rows * steps * size + WK__GEMM_GAP : rows * p->a_row * size;
        }
    }
}

static void pack_rows(const piece *at, int64_t l, int64_t steps, int64_t first, int64_t end)
{
    const wk__indirect_plan *p = at->plan;
    wk__im2col_pack(&p->roles.a, p->pack, at->buffers->a,
                    &(wk__im2col_block){.batch = at->batch,
                                        .line = first,
                                        .line_end = end,
                                        .step = l,
                                        .steps = steps,
                                        .width = p->class->rows,
                                        .panel_unit = 1,
                                        .class = p->class,
                                        .same_bits = true});
}

/* ---- execution --------------------------------------------------------------------------------------------------- */

typedef struct work {
    const wk__indirect_plan *plan;
    const wk__cpu_program *epilogue;
} work;

static wk__padded_lines lines_of(const piece *at)
{
    return (wk__padded_lines){.b = &at->plan->b,
                              .box = &at->box,
                              .batch = &at->plan->roles.batch,
                              .number = at->batch,
                              .line = at->plan->roles.row,
                              .offset = at->offset[0]};
}

static wk_code run_piece(piece *at, const wk__cpu_program *epilogue, wk__fail *fail)
{
    const wk__indirect_plan *p = at->plan;
    int64_t row[WK__PADDED_STEPS];
    wk__epilogue_run run = {.program = epilogue, .fail = fail};
    const wk__padded_lines lines = lines_of(at);
    for (int64_t l = 0, steps; l < p->roles.steps; l += steps) {
        steps = wk__min_i64(p->roles.steps - l, p->k_block);
        copy_block(at, l, steps, row);
        for (int64_t i = 0, end; i < p->roles.rows; i = end) {
            end = wk__min_i64(p->roles.rows, i + WK__GEMM_BLOCK_ROWS);
            if (p->packs_a) pack_rows(at, l, steps, i, end);
            multiply(at, l, steps, i, end, row);
            if (epilogue && l + steps == p->roles.steps)
                wk__padded_visit_boxes(&lines, i, end, wk__epilogue_run_box, &run);
        }
    }
    return run.first;
}

static wk_code task(void *user, int64_t number, wk__gemm_buffers *const buffers[], wk__fail *fail)
{
    const work *work = user;
    piece at;
    find_piece(work->plan, number, &at);
    at.buffers = buffers[0];
    return run_piece(&at, work->epilogue, fail);
}

wk_code wk__indirect_run(const wk__indirect_plan *p, const wk__program *epilogue, wk__fail *fail)
{
    const double products = wk__indirect_positions(p) * (double)p->roles.rows * (double)p->roles.steps;
    work work = {.plan = p};
    const wk__gemm_job job = {.tasks = wk__indirect_ntasks(p),
                              .threads = wk__gemm_threads(products),
                              .nbuffers = 1,
                              .body = task,
                              .user = &work};
    return wk__gemm_tasks_with_epilogue(&job, epilogue, &work.epilogue, fail);
}

void wk__indirect_epilogue_boxes(const wk__indirect_plan *p, const wk__program *epilogue, wk__epilogue_box_visit *visit,
                                 void *user)
{
    if (!epilogue || epilogue->nreduce > 0) return;
    for (int64_t k = 0; k < wk__indirect_ntasks(p); k++) {
        piece at;
        find_piece(p, k, &at);
        const wk__padded_lines lines = lines_of(&at);
        for (int64_t row = 0; row < p->roles.rows; row += WK__GEMM_BLOCK_ROWS)
            wk__padded_visit_boxes(&lines, row, wk__min_i64(p->roles.rows, row + WK__GEMM_BLOCK_ROWS), visit, user);
    }
}
