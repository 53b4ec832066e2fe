/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of indirect contractions: roles of indices, pieces, and cost; see contraction_indirect.h. */
#include "contraction_indirect.h"

#include "base/integers.h"
#include "backend/cpu/isa.h"

enum {
    COLUMNS = 768, /* positions per piece, approximately: 16 tiles of 48. The overlap of pieces is copied twice */
    PIECES = 8,    /* minimum number of pieces, for load balance, */
    PIECE_WORK = 512 * 1024, /* unless they have less work than this, in multiplications */
    /* Costs in multiplications of one vector lane. Each algorithm's are fitted to measurements of it and of gathering,
     * so those of other algorithms differ. */
    GATHER = 48,      /* gathering an element of B, in runs */
    GATHER_STEP = 48, /* gathering one of A, if its summed strides are irregular */
    COPY = 12,        /* copying one of B with padding */
    START = 8 * 1024, /* starting a piece */
    FEWEST_ROWS = 3,  /* minimum rows of a tile: fewer are latency-bound */
};

/* ---- roles of indices -------------------------------------------------------------------------------------------- */

/* Classifies the result indices: positions, on which A must not depend, a row, and batches. */
static bool analyze_result(wk__indirect_plan *p, const wk__work_args *kernel)
{
    p->row = -1;
    p->rows = p->batch.places = 1;
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->shape[i] == 1) continue;
        const bool of_a = wk__index_moves(kernel, p->b.a, i);
        if (wk__padded_depends_on(&p->b, i)) {
            if (of_a) return false;
        } else if (of_a && !wk__index_moves(kernel, p->b.b, i) && p->row < 0) {
            p->row = i;
            p->rows = kernel->shape[i];
        } else {
            wk__padded_add(kernel, &p->batch, i);
        }
    }
    return true;
}

/* Classifies the summed indices: channels, then taps, so that a block of the sum is a range of channels. */
static bool analyze_sum(wk__indirect_plan *p, const wk__work_args *kernel)
{
    bool taps = false;
    p->steps = wk__contraction_k(kernel->contraction);
    for (int i = kernel->ndim; i < kernel->ndim + kernel->contraction->nsummed; i++) {
        if (wk__index_extent(kernel, i) == 1) continue;
        const bool tap = wk__padded_depends_on(&p->b, i);
        if (tap ? wk__index_moves(kernel, p->b.b, i) : taps) return false;
        taps = tap;
        if (!tap) wk__padded_add(kernel, &p->b.channels, i);
    }
    return true;
}

static void analyze_a(wk__indirect_plan *p, const wk__work_args *kernel)
{
    const wk__operand *a = &kernel->operand[p->b.a];
    const int64_t size = (int64_t)wk_dtype_size((wk_dtype)a->dtype);
    wk__im2col *g = &p->a;
    *g = (wk__im2col){.start = a->memory->host ? a->memory->host + a->offset * size : NULL, .size = size};
    for (int k = 0; k < p->batch.count; k++) {
        const int i = p->batch.index[k];
        wk__im2col_add_index(&g->batch, &(wk__im2col_index){kernel->shape[i], a->stride[i], {0}}, 0);
    }
    g->lines.index[g->lines.count++] = (wk__im2col_index){p->rows, p->row >= 0 ? a->stride[p->row] : 0, {0}};
    for (int i = kernel->ndim; i < kernel->ndim + kernel->contraction->nsummed; i++) {
        const int64_t extent = wk__index_extent(kernel, i);
        if (extent > 1)
            wk__im2col_add_index(&g->steps, &(wk__im2col_index){extent, wk__index_stride(kernel, p->b.a, i), {0}}, 0);
    }
    if (g->steps.count == 0) g->steps.index[g->steps.count++] = (wk__im2col_index){.extent = 1};
    p->packs_a = g->steps.count > 1;
    p->a_row = g->lines.index[0].stride;
    p->a_step = g->steps.index[0].stride;
}

/* Returns the maximum number of channels per block of the sum. */
static int64_t channels_of_block(const wk__indirect_plan *p)
{
    return wk__min_i64(p->k_block / p->b.taps.places + 2, p->b.channels.places);
}

static int64_t vectors_of(const wk__indirect_plan *p, int64_t places)
{
    int64_t vectors = places;
    for (int k = p->b.first + 1; k < WK__PADDED_AXES - 1; k++) vectors *= p->b.axis[k].places;
    const int64_t row = p->b.first == WK__PADDED_AXES - 1 ? places : p->b.axis[WK__PADDED_AXES - 1].places;
    return (p->b.first == WK__PADDED_AXES - 1 ? 1 : vectors) * wk__chunk_count(row, p->class->lanes);
}

static bool fits(const wk__indirect_plan *p, int64_t places)
{
    wk__padded_box box;
    if (!wk__padded_box_init(&p->b, 0, places, &box) || vectors_of(p, places) > WK__PADDED_VECTORS) return false;
    return (channels_of_block(p) * box.channel + p->class->lanes) * WK__PADDED_SIZE <= WK__GEMM_BUFFER_B;
}

/* Chooses the pieces; returns false if even the smallest exceeds its buffer. */
static bool choose_pieces(wk__indirect_plan *p)
{
    const int64_t places = p->b.axis[p->b.first].places;
    double slice = 1; /* positions of the other axes */
    for (int k = p->b.first + 1; k < WK__PADDED_AXES; k++) slice *= (double)p->b.axis[k].places;
    const double work = slice * (double)p->rows * (double)p->steps;
    int64_t parts = wk__chunk_count(places, slice >= COLUMNS ? 1 : (int64_t)(COLUMNS / slice));
    while (parts < places && (double)(parts * p->batch.places) < PIECES &&
           work * (double)places / (double)parts >= 2 * PIECE_WORK)
        parts++;
    while (parts < places && !fits(p, wk__chunk_count(places, parts))) parts = wk__min_i64(2 * parts, places);
    p->piece_places = wk__chunk_count(places, parts);
    p->place_parts = wk__chunk_count(places, p->piece_places);
    return fits(p, p->piece_places);
}

/* Plans with B as operand b. */
static bool plan_with_b(wk__indirect_plan *p, const wk__work_args *kernel, int b)
{
    const wk__gemm *gemm = wk__cpu_gemm((wk_dtype)kernel->operand[b].dtype);
    const int64_t size = (int64_t)wk_dtype_size((wk_dtype)kernel->operand[b].dtype);
    const int last = wk__padded_contiguous_index(kernel, b, false);
    *p = (wk__indirect_plan){.class = gemm->class, .pack = gemm->pack};
    if (last < 0 || !p->class->indirect || size != WK__PADDED_SIZE) return false;
    if (!wk__padded_init(&p->b, kernel, b, false, last, WK__PADDED_TAPS) || !analyze_result(p, kernel) ||
        !analyze_sum(p, kernel))
        return false;
    p->k_block = wk__even_chunk(p->steps, WK__PADDED_STEPS);
    analyze_a(p, kernel);
    return choose_pieces(p);
}

bool wk__indirect_plan_init(wk__indirect_plan *p, const wk__work_args *kernel)
{
    const int dtype = kernel->operand[0].dtype;
    if (wk__contraction_is_empty(kernel) || kernel->operand[1].dtype != dtype || kernel->operand[2].dtype != dtype)
        return false;
    return plan_with_b(p, kernel, 2) || plan_with_b(p, kernel, 1);
}

/* ---- cost -------------------------------------------------------------------------------------------------------- */

double wk__indirect_positions(const wk__indirect_plan *p)
{
    double places = (double)p->batch.places;
    for (int k = 0; k < WK__PADDED_AXES; k++) places *= (double)p->b.axis[k].places;
    return places;
}

double wk__indirect_cost(const wk__indirect_plan *p)
{
    wk__padded_box box;
    wk__padded_box_init(&p->b, 0, p->piece_places, &box);
    const double pieces = (double)p->batch.places * (double)p->place_parts, steps = (double)p->steps;
    const double vectors = (double)p->batch.places * (double)vectors_of(p, p->b.axis[p->b.first].places);
    const double lanes = (double)p->class->lanes;
    const double rows = p->rows < FEWEST_ROWS ? FEWEST_ROWS : (double)p->rows;
    const double of_a = p->packs_a ? GATHER_STEP * (double)p->rows * steps : 0;
    const double of_b = COPY * (double)box.channel * (double)p->b.channels.places;
    return vectors * lanes * rows * steps + pieces * (of_a + of_b + START);
}

double wk__indirect_im2col_cost(const wk__indirect_plan *p)
{
    return wk__indirect_positions(p) * (double)p->steps * ((double)p->rows + GATHER);
}

bool wk__indirect_is_profitable(const wk__indirect_plan *p)
{
    return p->b.taps.places > 1 && wk__indirect_cost(p) < wk__indirect_im2col_cost(p);
}

int64_t wk__indirect_ntasks(const wk__indirect_plan *p)
{
    return p->batch.places * p->place_parts;
}
