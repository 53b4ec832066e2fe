/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of contractions vectorised along the sum; see contraction_k_lanes.h. */
#include "contraction_k_lanes.h"

#include <string.h>

#include "base/integers.h"
#include "matmul.h"

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

typedef struct piece {
    const wk__k_lanes_plan *plan;
    const wk__gemm_buffers *buffers;
    int64_t offset[1 + WK__FACTORS]; /* elements of C, A and B: of the batch, at the piece's first row */
    int64_t rows, channel, channels;
    wk__padded_box box;
    int64_t a_first; /* A's element at which the block begins */
    /* length and number of its runs; their offsets in A, from a_first, and in B's copy */
    int64_t length, runs, a_run[WK__K_LANES_RUNS], b_run[WK__K_LANES_RUNS];
} piece;

static void find_piece(const wk__k_lanes_plan *p, int64_t number, piece *at)
{
    const wk__work_args *kernel = p->b.kernel;
    const int operand[] = {0, p->b.a, p->b.b};
    at->plan = p;
    at->channel = number % p->channel_parts * p->piece_channels;
    at->channels = wk__min_i64(p->piece_channels, p->b.channels.places - at->channel);
    number /= p->channel_parts;
    const int64_t row = number % p->row_parts * p->piece_rows;
    at->rows = wk__min_i64(p->piece_rows, p->rows - row);
    number /= p->row_parts;
    for (int o = 0; o <= WK__FACTORS; o++) {
        at->offset[o] = kernel->operand[operand[o]].offset + wk__padded_offset(kernel, operand[o], &p->batch, number);
        if (p->row >= 0) at->offset[o] += row * kernel->operand[operand[o]].stride[p->row];
    }
}

/* Copies the channels of the block's box for outer index n to the buffer, from element `copy` on, and appends its runs
 * in A and in the first channel's copy. */
static void copy_block(piece *at, int64_t n, int64_t copy)
{
    const wk__padded *b = &at->plan->b;
    const wk__padded_box *box = &at->box;
    const int64_t of_a = at->offset[1] + wk__padded_offset(b->kernel, b->a, &at->plan->outer, n);
    const int64_t of_b = at->offset[2] + wk__padded_offset(b->kernel, b->b, &at->plan->outer, n);
    int64_t step[WK__PADDED_AXES], rows = box->places[1];
    for (int k = 0; k < WK__PADDED_AXES; k++)
        step[k] = b->axis[k].spatial_index >= 0 ? wk__index_stride(b->kernel, b->a, b->axis[k].spatial_index) : 0;
    at->length = box->places[2];
    if (step[1] == at->length && box->size[2] == at->length) { /* no taps along the last axis: one run */
        at->length *= rows;
        rows = 1;
    }
    for (int64_t z = 0; z < box->places[0]; z++)
        for (int64_t y = 0; y < rows; y++) {
            const int64_t element =
                of_a + (box->place[0] + z) * step[0] + (box->place[1] + y) * step[1] + box->place[2];
            if (at->runs == 0) at->a_first = element;
            at->a_run[at->runs] = element - at->a_first;
            at->b_run[at->runs++] = copy + (z * box->size[1] + y) * box->size[2];
        }
    for (int64_t c = 0; c < at->channels; c++)
        wk__padded_copy(b, box, of_b + wk__padded_offset(b->kernel, b->b, &b->channels, at->channel + c),
                        at->buffers->b + (copy + c * box->channel) * WK__PADDED_SIZE);
}

/* Adds the block's products to the partial sums: sums[(row, channel, tap)] are vectors. */
static void add_block(const piece *at)
{
    const wk__k_lanes_plan *p = at->plan;
    const wk__work_args *kernel = p->b.kernel;
    const wk__gemm_microkernels *class = p->class;
    const int64_t size = WK__PADDED_SIZE, taps = p->b.taps.places, columns = at->channels * taps;
    int64_t tap_at[WK__PADDED_TAPS], column[WK__GEMM_K_LANES_COLUMNS];
    wk__padded_tap_offsets(&p->b, &at->box, tap_at);
    wk__k_lanes_tile dots = {.runs = at->runs,
                             .length = at->length,
                             .b = at->buffers->b,
                             .a_row = p->row >= 0 ? kernel->operand[p->b.a].stride[p->row] : 0,
                             .sum_row = columns,
                             .a_run = at->a_run,
                             .b_run = at->b_run,
                             .b_column = column};
    const char *const start = kernel->operand[p->b.a].memory->host;
    for (int64_t j = 0; j < columns; j += class->dot_columns) {
        const int wide = (int)wk__min_i64(columns - j, class->dot_columns);
        for (int k = 0; k < wide; k++) column[k] = (j + k) / taps * at->box.channel + tap_at[(j + k) % taps];
        for (int64_t i = 0; i < at->rows; i += class->dot_rows) {
            const int tall = (int)wk__min_i64(at->rows - i, class->dot_rows);
            dots.a = start + (at->a_first + i * dots.a_row) * size;
            dots.sums = at->buffers->c + (i * columns + j) * class->lanes * size;
            class->k_lanes[(tall - 1) * class->dot_columns + wide - 1](&dots);
        }
    }
}

static void add_all(piece *at)
{
    const wk__k_lanes_plan *p = at->plan;
    const wk__padded *b = &p->b;
    const int64_t first = b->axis[b->first].places, outer = p->outer.places;
    for (int64_t n = 0, count; n < outer; n += count) {
        count = wk__min_i64(p->outer_block, outer - n);
        for (int64_t place = 0; place < first; place += p->block) {
            wk__padded_box_init(b, place, wk__min_i64(place + p->block, first), &at->box);
            at->runs = 0;
            for (int64_t k = 0; k < count; k++) copy_block(at, n + k, k * at->channels * at->box.channel);
            add_block(at);
        }
    }
}

/* Adds up the lanes and writes C. */
static void write_piece(const piece *at)
{
    const wk__k_lanes_plan *p = at->plan;
    const wk__work_args *kernel = p->b.kernel;
    const wk__gemm_microkernels *class = p->class;
    const int64_t size = WK__PADDED_SIZE, taps = p->b.taps.places, columns = at->channels * taps;
    const int64_t c_row = p->row >= 0 ? kernel->operand[0].stride[p->row] : 0;
    int64_t *const to = (int64_t *)(void *)at->buffers->a; /* offset of each column in a row of C */
    char *const line = at->buffers->b;
    int64_t of_tap[WK__PADDED_TAPS];
    wk__padded_offsets(kernel, 0, &p->b.taps, of_tap);
    for (int64_t c = 0; c < at->channels; c++) {
        const int64_t of_channel = wk__padded_offset(kernel, 0, &p->b.channels, at->channel + c);
        for (int64_t tap = 0; tap < taps; tap++) to[c * taps + tap] = of_channel + of_tap[tap];
    }
    for (int64_t i = 0; i < at->rows; i++) {
        char *const c = kernel->operand[0].memory->host + (at->offset[0] + i * c_row) * size;
        class->fold(columns, at->buffers->c + i * columns * class->lanes * size, line);
        for (int64_t j = 0; j < columns; j++) memcpy(c + to[j] * size, line + j * size, (size_t)size);
    }
}

static wk_code task(void *user, int64_t number, wk__gemm_buffers *const buffers[], wk__fail *fail)
{
    (void)fail;
    const wk__k_lanes_plan *p = user;
    piece at;
    find_piece(p, number, &at);
    at.buffers = buffers[0];
    const int64_t sums = at.rows * at.channels * p->b.taps.places;
    memset(at.buffers->c, 0, (size_t)(sums * p->class->lanes) * WK__PADDED_SIZE);
    add_all(&at);
    write_piece(&at);
    return WK_OK;
}

wk_code wk__k_lanes_run(const wk__k_lanes_plan *p, wk__fail *fail)
{
    wk__k_lanes_plan plan = *p;
    return wk__gemm_tasks(&(wk__gemm_job){.tasks = wk__k_lanes_ntasks(p),
                                          .threads = wk__gemm_threads(wk__k_lanes_fmas(p)),
                                          .nbuffers = 1,
                                          .body = task,
                                          .user = &plan},
                          fail);
}
