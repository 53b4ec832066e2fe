/* SPDX-License-Identifier: Apache-2.0 */
/* See contraction_dots.h. */
#include "contraction_dots.h"

#include <string.h>

#include "isa.h"
#include "matmul.h"

enum {
    SUMS_BYTES = 512 * 1024, /* of the vectors of a piece: they stay in L2 with what they meet */
    COPY_BYTES = 256 * 1024, /* of the copies of its channels */
    PIECE_ROWS = 64,
    BLOCK = 1024,            /* places, about: vectors of sums are loaded and stored once for so many */
    RUNS = 512,              /* and runs of them, at most */
    PIECES = 8,              /* of a contraction, so that threads end together; */
    PIECE_WORK = 512 * 1024, /* but no smaller ones, in multiplications */
    LANES = 64,              /* bytes of the largest vector */
    /* Times, in multiplications of a vector's lane, but for RUN, in steps of a tile: */
    GATHER = 30, /* an element of B is gathered, ... */
    PACK = 12,   /* ... or one of either factor is packed as that of a matrix */
    COPY = 12,   /* one of B is copied between zeros */
    SUM = 4,     /* a lane of a sum is loaded and stored */
    FOLD = 300,  /* the lanes of one are added up */
};

static const double RUN = 0.2; /* a run begins */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t parts_of(int64_t whole, int64_t part)
{
    return (whole + part - 1) / part;
}

/* The size of parts that are about equal, and no larger than `part`. */
static int64_t even(int64_t whole, int64_t part)
{
    return parts_of(whole, parts_of(whole, part));
}

/* ---- the description --------------------------------------------------------------------------------------------- */

/* The summed index along which A's elements are neighbours, and B has a coordinate. -1: there is none. */
static int neighbours(const wk__kernel *kernel, int b)
{
    const wk__sum *sum = kernel->sum;
    for (int s = 0; s < sum->indices; s++) {
        if (sum->extent[s] == 1 || sum->stride[WK__FACTORS - b][s] != 1) continue;
        for (int k = 0; k < sum->coordinates[b - 1]; k++)
            if (sum->coordinate[b - 1][k].coefficient[kernel->ndim + s] != 0) return kernel->ndim + s;
    }
    return -1;
}

/* The indices of the result: a row, on which only A depends, channels and taps, which are B's, and batches. */
static bool see_result(wk__dots_plan *p, const wk__kernel *kernel)
{
    p->row = -1;
    p->rows = p->batch.places = 1;
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->shape[i] == 1) continue;
        const bool of_a = wk__padded_walks(kernel, p->b.a, i), of_b = wk__padded_walks(kernel, p->b.b, i);
        if (wk__padded_counts(&p->b, i)) {
            if (of_a || of_b) return false;
        } else if (of_b && !of_a) {
            wk__padded_add(kernel, &p->b.channels, i);
        } else if (of_a && !of_b && p->row < 0) {
            p->row = i;
            p->rows = kernel->shape[i];
        } else {
            wk__padded_add(kernel, &p->batch, i);
        }
    }
    return true;
}

static void see_sum(wk__dots_plan *p, const wk__kernel *kernel)
{
    p->outer.places = 1;
    for (int i = kernel->ndim; i < kernel->ndim + kernel->sum->indices; i++)
        if (wk__index_extent(kernel, i) > 1 && !wk__padded_counts(&p->b, i)) wk__padded_add(kernel, &p->outer, i);
}

/* Runs of neighbouring places in a block of so many places of the first axis. */
static int64_t runs_of(const wk__dots_plan *p, int64_t block)
{
    const int last = WK__PADDED_AXES - 1;
    int64_t runs = p->b.first == last ? 1 : block;
    for (int k = p->b.first + 1; k < last && runs <= RUNS; k++) runs *= p->b.axis[k].places;
    return runs;
}

static double places_of(const wk__dots_plan *p)
{
    double places = 1;
    for (int k = 0; k < WK__PADDED_AXES; k++) places *= (double)p->b.axis[k].places;
    return places;
}

static double work_of(const wk__dots_plan *p)
{
    return (double)p->rows * (double)p->b.channels.places * (double)p->b.taps.places * (double)p->batch.places *
           (double)p->outer.places * places_of(p);
}

static void see_parts(wk__dots_plan *p)
{
    p->row_parts = parts_of(p->rows, p->piece_rows);
    p->channel_parts = parts_of(p->b.channels.places, p->piece_channels);
}

static int64_t pieces_of(const wk__dots_plan *p)
{
    return p->batch.places * p->row_parts * p->channel_parts;
}

/* Chooses the pieces and blocks. False: not even the smallest fits its buffer. */
static bool see_sizes(wk__dots_plan *p)
{
    wk__padded_box box;
    const int64_t first = p->b.axis[p->b.first].places, channels = p->b.channels.places;
    const double slice = places_of(p) / (double)first;
    p->block = even(first, least(first, most((int64_t)(BLOCK / slice), 1)));
    while (p->block > 1 && runs_of(p, p->block) > RUNS) p->block = parts_of(p->block, 2);
    const int64_t sums = SUMS_BYTES / LANES / p->b.taps.places; /* rows x channels */
    if (runs_of(p, p->block) > RUNS || !wk__padded_box_of(&p->b, 0, p->block, &box) || sums < 1) return false;
    const int64_t images = p->block < first ? 1 : least(BLOCK / (int64_t)places_of(p), RUNS / runs_of(p, first));
    p->outer_block = even(p->outer.places, most(least(images, p->outer.places), 1));
    int64_t copies = COPY_BYTES / ((int64_t)p->class->packed * box.channel * p->outer_block);
    if (copies < 1) {
        p->outer_block = 1;
        copies = COPY_BYTES / ((int64_t)p->class->packed * box.channel);
    }
    if (copies < 1) return false;
    p->piece_rows = even(p->rows, least(p->rows, least(PIECE_ROWS, sums)));
    p->piece_channels = even(channels, least(channels, least(copies, most(sums / p->piece_rows, 1))));
    see_parts(p);
    const double work = work_of(p);
    while (pieces_of(p) < PIECES && work / (double)pieces_of(p) >= 2 * PIECE_WORK) {
        if (p->piece_channels * p->b.taps.places >= 2 * p->class->dot_columns && p->piece_channels > 1)
            p->piece_channels = even(channels, parts_of(p->piece_channels, 2));
        else if (p->piece_rows >= 2 * p->class->dot_rows)
            p->piece_rows = even(p->rows, parts_of(p->piece_rows, 2));
        else
            break;
        see_parts(p);
    }
    return true;
}

static bool has_none(const wk__kernel *kernel)
{
    bool none = false;
    for (int i = 0; i < kernel->ndim + kernel->sum->indices; i++) none = none || wk__index_extent(kernel, i) == 0;
    return none;
}

/* B is operand b. */
static bool see_plan(wk__dots_plan *p, const wk__kernel *kernel, int b)
{
    const int last = neighbours(kernel, b);
    *p = (wk__dots_plan){.class = wk__cpu_gemm((wk_dtype)kernel->operand[b].dtype)->class};
    if (last < 0 || !p->class->dots || wk_dtype_size((wk_dtype)kernel->operand[b].dtype) != p->class->packed)
        return false;
    if (!wk__padded_of(&p->b, kernel, b, true, last) || !see_result(p, kernel)) return false;
    see_sum(p, kernel);
    return see_sizes(p);
}

bool wk__dots_plan_of(wk__dots_plan *p, const wk__kernel *kernel)
{
    const int dtype = kernel->operand[0].dtype;
    if (has_none(kernel) || kernel->operand[1].dtype != dtype || kernel->operand[2].dtype != dtype) return false;
    return see_plan(p, kernel, 2) || see_plan(p, kernel, 1);
}

/* ---- does it pay? ------------------------------------------------------------------------------------------------ */

/* Steps of tiles, in multiply-adds of a vector: small tiles wait for what they load. A load of B takes two, since it
 * mostly crosses a line of the cache. */
static double steps_of_tiles(const wk__dots_plan *p)
{
    const int64_t tall = p->class->dot_rows, wide = p->class->dot_columns,
                  columns = p->b.taps.places * p->piece_channels;
    double steps = 0;
    for (int64_t i = 0; i < p->rows; i += tall) {
        const int64_t rows = least(tall, p->rows - i), rest = columns % wide;
        steps += (double)(columns / wide) * (double)most(rows * wide, rows + 2 * wide) +
                 (double)(rest > 0 ? most(rows * rest, rows + 2 * rest) : 0);
    }
    return steps * (double)p->channel_parts;
}

/* Of a run: where taps are none side by side, and A's rows of places neither, all rows of a block are one. */
static int64_t length_of(const wk__dots_plan *p)
{
    const wk__padded_axis *row = &p->b.axis[WK__PADDED_AXES - 2], *last = row + 1;
    const bool merged = last->low == last->high && row->place >= 0 &&
                        wk__padded_stride(p->b.kernel, p->b.a, row->place) == last->places;
    const int64_t rows = p->b.first == WK__PADDED_AXES - 2 ? p->block : row->places;
    return merged ? rows * last->places : last->places;
}

static double time_of(const wk__dots_plan *p)
{
    wk__padded_box box;
    wk__padded_box_of(&p->b, 0, p->block, &box);
    const int64_t first = p->b.axis[p->b.first].places, length = length_of(p);
    const double lanes = (double)p->class->lanes, outer = (double)p->outer.places;
    const double blocks = (double)parts_of(first, p->block) * outer; /* of one image each */
    const double runs = places_of(p) / (double)length * outer;
    const double results = (double)p->rows * (double)p->b.channels.places * (double)p->b.taps.places;
    const double of_tiles = runs * ((double)parts_of(length, p->class->lanes) + RUN) * steps_of_tiles(p) * lanes;
    const double of_sums = SUM * lanes * results * blocks / (double)p->outer_block;
    const double of_b = COPY * (double)box.channel * (double)p->b.channels.places * (double)p->row_parts * blocks;
    return (double)p->batch.places * (of_tiles + of_sums + of_b + FOLD * results);
}

/* As a product, whose columns are B's. */
static double time_of_gathering(const wk__dots_plan *p)
{
    const double columns = (double)p->b.channels.places * (double)p->b.taps.places, rows = (double)p->rows;
    const double wide = (double)parts_of((int64_t)columns, p->class->lanes) * (double)p->class->lanes;
    const double parts = columns > WK__GEMM_PIECE_BYTES / 4.0 ? columns / (WK__GEMM_PIECE_BYTES / 4.0) : 1;
    const double steps = places_of(p) * (double)p->outer.places;
    const double of_b = (p->b.taps.places > 1 ? GATHER : PACK) * columns;
    return (double)p->batch.places * steps * (rows * wide + of_b + PACK * rows * parts);
}

bool wk__dots_pay(const wk__dots_plan *p)
{
    return time_of(p) < time_of_gathering(p);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

typedef struct piece {
    const wk__dots_plan *plan;
    const wk__gemm_space *space;
    int64_t
        offset[1 + WK__FACTORS]; /* elements of C, A and B: of the batch, of C and A at the piece's first row, too */
    int64_t rows, channel, channels;
    wk__padded_box box;
    int64_t length, runs, a_run[RUNS], b_run[RUNS]; /* of the block */
} piece;

static void find_piece(const wk__dots_plan *p, int64_t number, piece *at)
{
    const wk__kernel *kernel = p->b.kernel;
    const int operand[] = {0, p->b.a, p->b.b};
    at->plan = p;
    at->channel = number % p->channel_parts * p->piece_channels;
    at->channels = least(p->piece_channels, p->b.channels.places - at->channel);
    number /= p->channel_parts;
    const int64_t row = number % p->row_parts * p->piece_rows;
    at->rows = least(p->piece_rows, p->rows - row);
    number /= p->row_parts;
    for (int o = 0; o <= WK__FACTORS; o++) {
        at->offset[o] = kernel->operand[operand[o]].offset + wk__padded_offset(kernel, operand[o], &p->batch, number);
        if (o < 2 && p->row >= 0) at->offset[o] += row * kernel->operand[operand[o]].stride[p->row];
    }
}

/* Copies the channels of the block's box at number n of the outer sums, from the buffer's element `copy` on, and notes
 * where its runs are, in A and in the first channel's copy. */
static void copy_block(piece *at, int64_t n, int64_t copy)
{
    const wk__padded *b = &at->plan->b;
    const wk__padded_box *box = &at->box;
    const int64_t size = (int64_t)at->plan->class->packed;
    const int64_t of_a = at->offset[1] + wk__padded_offset(b->kernel, b->a, &at->plan->outer, n);
    const int64_t of_b = at->offset[2] + wk__padded_offset(b->kernel, b->b, &at->plan->outer, n);
    int64_t step[WK__PADDED_AXES], rows = box->places[1];
    for (int k = 0; k < WK__PADDED_AXES; k++)
        step[k] = b->axis[k].place >= 0 ? wk__padded_stride(b->kernel, b->a, b->axis[k].place) : 0;
    at->length = box->places[2];
    if (rows > 1 && step[1] == at->length && box->size[2] == at->length) { /* no tap is beside another: one run */
        at->length *= rows;
        rows = 1;
    }
    for (int64_t z = 0; z < box->places[0]; z++)
        for (int64_t y = 0; y < rows; y++) {
            at->a_run[at->runs] = of_a + (box->place[0] + z) * step[0] + (box->place[1] + y) * step[1] + box->place[2];
            at->b_run[at->runs++] = copy + (z * box->size[1] + y) * box->size[2];
        }
    for (int64_t c = 0; c < at->channels; c++)
        wk__padded_copy(b, box, of_b + wk__padded_offset(b->kernel, b->b, &b->channels, at->channel + c), size,
                        at->space->b + (copy + c * box->channel) * size);
}

/* The block's products are added to the sums: sums[(row, channel, tap)] are vectors. */
static void add_block(const piece *at)
{
    const wk__dots_plan *p = at->plan;
    const wk__kernel *kernel = p->b.kernel;
    const wk__gemm_class *class = p->class;
    const int64_t size = (int64_t) class->packed, taps = p->b.taps.places, columns = at->channels * taps;
    int64_t tap_at[WK__PADDED_TAPS], column[8];
    wk__padded_taps(&p->b, &at->box, tap_at);
    wk__dots dots = {.runs = at->runs,
                     .length = at->length,
                     .b = at->space->b,
                     .a_row = p->row >= 0 ? kernel->operand[p->b.a].stride[p->row] : 0,
                     .sum_row = columns,
                     .a_run = at->a_run,
                     .b_run = at->b_run,
                     .b_column = column};
    const char *const start = kernel->operand[p->b.a].memory->host;
    for (int64_t j = 0; j < columns; j += class->dot_columns) {
        const int wide = (int)least(columns - j, class->dot_columns);
        for (int k = 0; k < wide; k++) column[k] = (j + k) / taps * at->box.channel + tap_at[(j + k) % taps];
        for (int64_t i = 0; i < at->rows; i += class->dot_rows) {
            const int tall = (int)least(at->rows - i, class->dot_rows);
            dots.a = start + i * dots.a_row * size;
            dots.sums = at->space->c + (i * columns + j) * class->lanes * size;
            class->dots[(tall - 1) * class->dot_columns + wide - 1](&dots);
        }
    }
}

static void add_all(piece *at)
{
    const wk__dots_plan *p = at->plan;
    const wk__padded *b = &p->b;
    const int64_t first = b->axis[b->first].places, outer = p->outer.places;
    for (int64_t n = 0, count; n < outer; n += count) {
        count = least(p->outer_block, outer - n);
        for (int64_t place = 0; place < first; place += p->block) {
            wk__padded_box_of(b, place, least(place + p->block, first), &at->box);
            at->runs = 0;
            for (int64_t k = 0; k < count; k++) copy_block(at, n + k, k * at->channels * at->box.channel);
            add_block(at);
        }
    }
}

/* Adds up lanes, and writes C. */
static void write_piece(const piece *at)
{
    const wk__dots_plan *p = at->plan;
    const wk__kernel *kernel = p->b.kernel;
    const wk__gemm_class *class = p->class;
    const int64_t size = (int64_t) class->packed, taps = p->b.taps.places, columns = at->channels * taps;
    const int64_t c_row = p->row >= 0 ? kernel->operand[0].stride[p->row] : 0;
    int64_t *const to = (int64_t *)(void *)at->space->a; /* where a column is in a row of C */
    char *const line = at->space->b;
    for (int64_t j = 0; j < columns; j++)
        to[j] = wk__padded_offset(kernel, 0, &p->b.channels, at->channel + j / taps) +
                wk__padded_offset(kernel, 0, &p->b.taps, j % taps);
    for (int64_t i = 0; i < at->rows; i++) {
        char *const c = kernel->operand[0].memory->host + (at->offset[0] + i * c_row) * size;
        class->fold(columns, at->space->c + i * columns * class->lanes * size, line);
        for (int64_t j = 0; j < columns; j++) memcpy(c + to[j] * size, line + j * size, (size_t)size);
    }
}

_Static_assert(SUMS_BYTES / LANES * sizeof(int64_t) <= (size_t)WK__GEMM_SPACE_A, "the places of all columns");

static void task(void *user, int64_t number, wk__gemm_space *const spaces[])
{
    const wk__dots_plan *p = user;
    piece at;
    find_piece(p, number, &at);
    at.space = spaces[0];
    const int64_t sums = at.rows * at.channels * p->b.taps.places;
    memset(at.space->c, 0, (size_t)(sums * p->class->lanes) * p->class->packed);
    add_all(&at);
    write_piece(&at);
}

wk_code wk__dots_run(const wk__dots_plan *p, wk__fail *fail)
{
    wk__dots_plan plan = *p;
    return wk__gemm_tasks(pieces_of(p), work_of(p), 1, task, &plan, fail);
}
