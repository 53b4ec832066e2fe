/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of contractions vectorised along the sum: roles of indices, pieces, blocks, and cost; see
 * contraction_k_lanes.h. */
#include "contraction_k_lanes.h"

#include "base/integers.h"
#include "backend/cpu/isa.h"
#include "matmul.h"

enum {
    SUMS_BYTES = 512 * 1024, /* of a piece's partial sums: they stay in L2 with their operands */
    COPY_BYTES = 256 * 1024, /* of its padded copies */
    PIECE_ROWS = 64,         /* of A: with a block of positions each, as many bytes as the copies */
    BLOCK = 1024,            /* positions per block, approximately: amortises loading and storing partial sums */
    PIECES = 8,              /* minimum number of pieces, for load balance, */
    PIECE_WORK = 512 * 1024, /* unless they have less work than this, in multiplications */
    /* Costs in multiplications of one lane in a product's tile; fitted as in contraction_indirect_plan.c. */
    GATHER = 20,      /* gathering an element of B, */
    GATHER_RUN = 300, /* starting a run of them, */
    PACK = 14,        /* or packing one of either factor like a matrix */
    COPY = 20,        /* copying one of B with padding */
    SUM = 4,          /* loading and storing a lane of a partial sum */
    FOLD = 600,       /* adding up the lanes of one and writing it */
};

static const double STEP = 1.15, /* cost of a lane in a tile here, whose loads cross cache lines */
    RUN = 0.4;                   /* steps that starting a run costs */

/* Each column of a piece needs a vector of partial sums, an offset in C, and an element of a row. */
enum { MOST_COLUMNS = SUMS_BYTES / WK__GEMM_VECTOR };
_Static_assert((int)MOST_COLUMNS >= (int)WK__PADDED_TAPS, "all taps of a row and a channel are in one piece");
_Static_assert((int)SUMS_BYTES <= (int)WK__GEMM_BUFFER_C, "the buffer of sums");
_Static_assert((int)COPY_BYTES <= (int)WK__GEMM_BUFFER_B, "the buffer of copies");
_Static_assert(MOST_COLUMNS * sizeof(int64_t) <= (size_t)WK__GEMM_BUFFER_A, "the buffer of places");
_Static_assert((int)MOST_COLUMNS *(int)WK__PADDED_SIZE <= (int)WK__GEMM_BUFFER_B, "the buffer of a row of C");

/* ---- roles of indices -------------------------------------------------------------------------------------------- */

/* Classifies the result indices: a row, on which only A depends, channels and taps, on which only B depends, and
 * batches. */
static bool analyze_result(wk__k_lanes_plan *p, const wk__work_args *kernel)
{
    p->row = -1;
    p->rows = p->batch.places = 1;
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->shape[i] == 1) continue;
        const bool of_a = wk__index_moves(kernel, p->b.a, i), of_b = wk__index_moves(kernel, p->b.b, i);
        if (wk__padded_depends_on(&p->b, i)) {
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

static void analyze_sum(wk__k_lanes_plan *p, const wk__work_args *kernel)
{
    p->outer.places = 1;
    for (int i = kernel->ndim; i < kernel->ndim + kernel->contraction->nsummed; i++)
        if (wk__index_extent(kernel, i) > 1 && !wk__padded_depends_on(&p->b, i)) wk__padded_add(kernel, &p->outer, i);
}

/* A block of several planes or images has at most one run per two of its BLOCK positions. */
_Static_assert((int)BLOCK <= 2 * (int)WK__K_LANES_RUNS, "the runs of a block");

/* Returns the number of runs of the smallest block. */
static int64_t rows_of_plane(const wk__k_lanes_plan *p)
{
    return p->b.first == 0 ? p->b.axis[1].places : 1;
}

static double places_of(const wk__k_lanes_plan *p)
{
    double places = 1;
    for (int k = 0; k < WK__PADDED_AXES; k++) places *= (double)p->b.axis[k].places;
    return places;
}

double wk__k_lanes_fmas(const wk__k_lanes_plan *p)
{
    return (double)p->rows * (double)p->b.channels.places * (double)p->b.taps.places * (double)p->batch.places *
           (double)p->outer.places * places_of(p);
}

static void count_parts(wk__k_lanes_plan *p)
{
    p->row_parts = wk__chunk_count(p->rows, p->piece_rows);
    p->channel_parts = wk__chunk_count(p->b.channels.places, p->piece_channels);
}

int64_t wk__k_lanes_ntasks(const wk__k_lanes_plan *p)
{
    return p->batch.places * p->row_parts * p->channel_parts;
}

/* Chooses pieces and blocks; returns false if even the smallest exceeds its buffer. */
static bool choose_sizes(wk__k_lanes_plan *p)
{
    wk__padded_box box;
    const int64_t first = p->b.axis[p->b.first].places, channels = p->b.channels.places;
    const double slice = places_of(p) / (double)first;
    p->block = wk__even_chunk(first, wk__min_i64(first, wk__max_i64((int64_t)(BLOCK / slice), 1)));
    const int64_t sums = MOST_COLUMNS / p->b.taps.places; /* rows x channels */
    if (rows_of_plane(p) > WK__K_LANES_RUNS || !wk__padded_box_init(&p->b, 0, p->block, &box)) return false;
    const int64_t images = (int64_t)(BLOCK / places_of(p));
    p->outer_block = wk__even_chunk(p->outer.places, wk__max_i64(wk__min_i64(images, p->outer.places), 1));
    int64_t copies = COPY_BYTES / (WK__PADDED_SIZE * box.channel * p->outer_block);
    if (copies < 1) {
        p->outer_block = 1;
        copies = COPY_BYTES / (WK__PADDED_SIZE * box.channel);
    }
    if (copies < 1) return false;
    p->piece_rows = wk__even_chunk(p->rows, wk__min_i64(p->rows, wk__min_i64(PIECE_ROWS, sums)));
    p->piece_channels =
        wk__even_chunk(channels, wk__min_i64(channels, wk__min_i64(copies, wk__max_i64(sums / p->piece_rows, 1))));
    count_parts(p);
    const double work = wk__k_lanes_fmas(p);
    while (wk__k_lanes_ntasks(p) < PIECES && work / (double)wk__k_lanes_ntasks(p) >= 2 * PIECE_WORK) {
        if (p->piece_channels * p->b.taps.places >= 2 * p->class->dot_columns && p->piece_channels > 1)
            p->piece_channels = wk__even_chunk(channels, wk__chunk_count(p->piece_channels, 2));
        else if (p->piece_rows >= 2 * p->class->dot_rows)
            p->piece_rows = wk__even_chunk(p->rows, wk__chunk_count(p->piece_rows, 2));
        else
            break;
        count_parts(p);
    }
    return true;
}

/* Plans with B as operand b. */
static bool plan_with_b(wk__k_lanes_plan *p, const wk__work_args *kernel, int b)
{
    const wk_dtype dtype = (wk_dtype)kernel->operand[b].dtype;
    const int last = wk__padded_contiguous_index(kernel, b, true);
    *p = (wk__k_lanes_plan){.class = wk__cpu_gemm(dtype)->class};
    if (last < 0 || !p->class->k_lanes || wk_dtype_size(dtype) != WK__PADDED_SIZE) return false;
    if (!wk__padded_init(&p->b, kernel, b, true, last, WK__PADDED_TAPS) || !analyze_result(p, kernel)) return false;
    analyze_sum(p, kernel);
    return choose_sizes(p);
}

bool wk__k_lanes_plan_init(wk__k_lanes_plan *p, const wk__work_args *kernel)
{
    const int dtype = kernel->operand[0].dtype;
    if (wk__contraction_is_empty(kernel) || kernel->operand[1].dtype != dtype || kernel->operand[2].dtype != dtype)
        return false;
    return plan_with_b(p, kernel, 2) || plan_with_b(p, kernel, 1);
}

/* ---- cost -------------------------------------------------------------------------------------------------------- */

/* Returns the steps of all tiles, in vector multiply-adds; small tiles are bound by loads. A load of B counts as two,
 * because it usually crosses a cache line. */
static double steps_of_tiles(const wk__k_lanes_plan *p)
{
    const int64_t tall = p->class->dot_rows, wide = p->class->dot_columns,
                  columns = p->b.taps.places * p->piece_channels;
    double steps = 0;
    for (int64_t i = 0; i < p->rows; i += tall) {
        const int64_t rows = wk__min_i64(tall, p->rows - i), rest = columns % wide;
        steps += (double)(columns / wide) * (double)wk__max_i64(rows * wide, rows + 2 * wide) +
                 (double)(rest > 0 ? wk__max_i64(rows * rest, rows + 2 * rest) : 0);
    }
    return steps * (double)p->channel_parts;
}

/* Returns the length of a run: without taps along the last axis, and with contiguous rows of A, all rows of a block are
 * one. */
static int64_t length_of(const wk__k_lanes_plan *p)
{
    const wk__padded_axis *row = &p->b.axis[WK__PADDED_AXES - 2], *last = row + 1;
    const bool merged = last->low == last->high && row->spatial_index >= 0 &&
                        wk__index_stride(p->b.kernel, p->b.a, row->spatial_index) == last->places;
    const int64_t rows = p->b.first == WK__PADDED_AXES - 2 ? p->block : row->places;
    return merged ? rows * last->places : last->places;
}

static double cost_of(const wk__k_lanes_plan *p)
{
    wk__padded_box box;
    wk__padded_box_init(&p->b, 0, p->block, &box);
    const int64_t first = p->b.axis[p->b.first].places, length = length_of(p);
    const double lanes = (double)p->class->lanes, outer = (double)p->outer.places;
    const double blocks = (double)wk__chunk_count(first, p->block) * outer; /* of one image each */
    const double runs = places_of(p) / (double)length * outer;
    const double results = (double)p->rows * (double)p->b.channels.places * (double)p->b.taps.places;
    const double of_runs = runs * ((double)wk__chunk_count(length, p->class->lanes) + RUN);
    const double of_tiles = STEP * of_runs * steps_of_tiles(p) * lanes;
    const double of_sums = SUM * lanes * results * blocks / (double)p->outer_block;
    const double of_b = COPY * (double)box.channel * (double)p->b.channels.places * (double)p->row_parts * blocks;
    return (double)p->batch.places * (of_tiles + of_sums + of_b + FOLD * results);
}

static int64_t innermost_of(const wk__padded *b, const wk__padded_list *list)
{
    return list->count > 0 ? wk__index_extent(b->kernel, list->index[list->count - 1]) : 1;
}

/* Returns the time as a matrix product, whose columns are B's. B is gathered in runs of positions or columns, whichever
 * are longer. */
static double im2col_cost(const wk__k_lanes_plan *p)
{
    const double columns = (double)p->b.channels.places * (double)p->b.taps.places, rows = (double)p->rows;
    const double wide = (double)wk__chunk_count((int64_t)columns, p->class->lanes) * (double)p->class->lanes;
    const double parts = columns > WK__GEMM_MACROTILE_BYTES / 4.0 ? columns / (WK__GEMM_MACROTILE_BYTES / 4.0) : 1;
    const double steps = places_of(p) * (double)p->outer.places;
    const int64_t run = wk__max_i64(p->b.axis[WK__PADDED_AXES - 1].places,
                                    wk__max_i64(innermost_of(&p->b, &p->b.taps), innermost_of(&p->b, &p->b.channels)));
    const double of_b = p->b.taps.places > 1 ? GATHER + GATHER_RUN / (double)run : PACK;
    return (double)p->batch.places * steps * (rows * (wide + PACK * parts) + of_b * columns);
}

bool wk__k_lanes_is_profitable(const wk__k_lanes_plan *p)
{
    return cost_of(p) < im2col_cost(p);
}
