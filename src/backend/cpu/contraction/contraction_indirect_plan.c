/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of indirect contractions: pieces and cost; see contraction_indirect.h. */
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
    const double work = slice * (double)p->roles.rows * (double)p->roles.steps;
    int64_t parts = wk__chunk_count(places, slice >= COLUMNS ? 1 : (int64_t)(COLUMNS / slice));
    while (parts < places && (double)(parts * p->roles.batch.places) < PIECES &&
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
    const wk_dtype dtype = (wk_dtype)kernel->operand[b].dtype;
    const wk__gemm *gemm = wk__cpu_gemm(dtype);
    *p = (wk__indirect_plan){.class = gemm->class, .pack = gemm->pack};
    if (!p->class->indirect || wk_dtype_size(dtype) != WK__PADDED_SIZE) return false;
    if (!wk__padded_roles_init(&p->roles, &p->b, kernel, b, WK__PADDED_TAPS)) return false;
    wk__padded_roles_pack_a(&p->roles, &p->b);
    p->packs_a = p->roles.a.steps.count > 1;
    p->a_row = p->roles.a.lines.index[0].stride;
    p->a_step = p->roles.a.steps.index[0].stride;
    p->k_block = wk__even_chunk(p->roles.steps, WK__PADDED_STEPS);
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
    double places = (double)p->roles.batch.places;
    for (int k = 0; k < WK__PADDED_AXES; k++) places *= (double)p->b.axis[k].places;
    return places;
}

double wk__indirect_cost(const wk__indirect_plan *p)
{
    wk__padded_box box;
    wk__padded_box_init(&p->b, 0, p->piece_places, &box);
    const double pieces = (double)p->roles.batch.places * (double)p->place_parts, steps = (double)p->roles.steps;
    const double vectors = (double)p->roles.batch.places * (double)vectors_of(p, p->b.axis[p->b.first].places);
    const double lanes = (double)p->class->lanes;
    const double rows = p->roles.rows < FEWEST_ROWS ? FEWEST_ROWS : (double)p->roles.rows;
    const double of_a = p->packs_a ? GATHER_STEP * (double)p->roles.rows * steps : 0;
    const double of_b = COPY * (double)box.channel * (double)p->b.channels.places;
    return vectors * lanes * rows * steps + pieces * (of_a + of_b + START);
}

double wk__indirect_im2col_cost(const wk__indirect_plan *p)
{
    return wk__indirect_positions(p) * (double)p->roles.steps * ((double)p->roles.rows + GATHER);
}

bool wk__indirect_is_profitable(const wk__indirect_plan *p)
{
    return p->b.taps.places > 1 && wk__indirect_cost(p) < wk__indirect_im2col_cost(p);
}

int64_t wk__indirect_ntasks(const wk__indirect_plan *p)
{
    return p->roles.batch.places * p->place_parts;
}
