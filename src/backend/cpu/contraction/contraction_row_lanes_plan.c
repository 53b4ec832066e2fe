/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of contractions whose lanes are rows: roles of indices, pieces, and cost; see contraction_row_lanes.h. */
#include "contraction_row_lanes.h"

#include "base/integers.h"
#include "backend/cpu/isa.h"

enum {
    PART_BYTES = 320 * 1024, /* of a part of a panel, approximately, and */
    COPY_BYTES = 768 * 1024, /* of the copies of a piece: they share L2 */
    PLACES = 1024,           /* of a piece of several images: amortise reading a panel from L3 */
    PIECES = 4,              /* minimum number of pieces per thread, for load balance, */
    PIECE_WORK = 512 * 1024, /* unless they have less work than this, in multiplications */
    PANELS_BYTES = 1 << 28,  /* maximum of all panels */
    TAPS = 16 * 1024,        /* maximum taps of a kernel, for their table */
    /* Costs in multiplications of one vector lane, as in contraction_indirect_plan.c. */
    PACK = 32,        /* packing an element of A, in runs */
    PACK_STEP = 64,   /* or, if its summed strides are irregular */
    READ = 16,        /* reading a packed one from L3 */
    COPY = 20,        /* copying one of B with padding */
    WRITE = 10,       /* transposing and writing one of C */
    START = 8 * 1024, /* starting a piece */
    GATHER = 48,      /* gathering an element of B, in runs */
    GATHER_STEP = 96, /* gathering one of A, if its summed strides are irregular */
};

/* Time of a multiplication here, relative to those of the other algorithms: vectors do not cross cache lines. */
static const double PACE = 0.85;

_Static_assert((int)COPY_BYTES <= (int)WK__GEMM_BUFFER_B, "the buffer of copies");
/* A step of a part is a vector or two of the panel. */
_Static_assert((PART_BYTES / 64 + TAPS) * sizeof(int64_t) <= (size_t)WK__GEMM_BUFFER_A, "the tables");

/* ---- groups and images ------------------------------------------------------------------------------------------- */

/* Moves the batch indices on which A depends to the front: groups, then images. */
static void order_batch(wk__row_lanes_plan *p)
{
    const wk__padded_list all = p->roles.batch;
    p->roles.batch = (wk__padded_list){.places = 1};
    for (int of_a = 1; of_a >= 0; of_a--) {
        if (!of_a) p->groups = p->roles.batch.places;
        for (int k = 0; k < all.count; k++)
            if (wk__index_moves(p->b.kernel, p->b.a, all.index[k]) == of_a)
                wk__padded_add(p->b.kernel, &p->roles.batch, all.index[k]);
    }
    p->images = p->roles.batch.places / p->groups;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Chooses the shape of tiles: equal parts of a row, or several rows if they are contiguous in C. */
static void choose_tile(wk__row_lanes_plan *p)
{
    const wk__padded_axis *row = &p->b.axis[WK__PADDED_AXES - 2], *last = row + 1;
    const int64_t most = p->class->row_lanes_columns;
    p->length = wk__even_chunk(last->places, wk__min_i64(last->places, most));
    p->runs = 1;
    if (p->length < last->places || row->spatial_index < 0 ||
        p->b.kernel->operand[0].stride[row->spatial_index] != last->places)
        return;
    for (int64_t runs = 2; runs <= wk__min_i64(WK__ROW_LANES_RUNS, most / p->length); runs++)
        if (p->class->row_lanes[0][runs - 1][p->length - 1]) p->runs = runs;
}

int64_t wk__row_lanes_rows_of_tile(const wk__row_lanes_plan *p, int64_t rest)
{
    int64_t rows = wk__min_i64(rest, p->runs);
    while (rows > 1 && !p->class->row_lanes[0][rows - 1][p->length - 1]) rows--;
    return rows;
}

int64_t wk__row_lanes_tiles(const wk__row_lanes_plan *p, const wk__padded_box *box)
{
    int64_t tiles = box->places[1] / p->runs;
    for (int64_t y = tiles * p->runs; y < box->places[1]; y += wk__row_lanes_rows_of_tile(p, box->places[1] - y))
        tiles++;
    return box->places[0] * tiles * wk__chunk_count(box->places[2], p->length);
}

static bool choose_panels(wk__row_lanes_plan *p)
{
    const int64_t lanes = p->class->lanes;
    p->panel = WK__ROW_LANES_VECTORS * lanes;
    p->panels = wk__chunk_count(p->roles.rows, p->panel);
    const double bytes =
        (double)p->groups * (double)p->panels * (double)p->panel * (double)p->roles.steps * WK__PADDED_SIZE;
    if (bytes > PANELS_BYTES) return false;
    p->panel_bytes = p->panel * p->roles.steps * WK__PADDED_SIZE + WK__GEMM_GAP;
    p->k_block = wk__even_chunk(p->roles.steps, WK__GEMM_K_BYTES / WK__PADDED_SIZE);
    const int64_t blocks = PART_BYTES / (p->panel * p->k_block * WK__PADDED_SIZE);
    p->k_part = wk__even_chunk(wk__chunk_count(p->roles.steps, p->k_block), blocks) * p->k_block;
    p->slots = wk__min_i64(p->k_part / p->b.taps.places + 2, p->b.channels.places);
    return true;
}

int64_t wk__row_lanes_sums(const wk__row_lanes_plan *p)
{
    return p->panel * p->class->lanes * WK__PADDED_SIZE;
}

/* Returns the bytes of an image's copies, or more than fit. */
static int64_t copy_bytes(const wk__row_lanes_plan *p, int64_t places)
{
    wk__padded_box box;
    const bool fits = wk__padded_box_init(&p->b, 0, places, &box) && p->slots <= COPY_BYTES / WK__PADDED_SIZE;
    return fits ? p->slots * box.channel * WK__PADDED_SIZE : COPY_BYTES + 1;
}

/* Returns how many panels of an image have room for their sums. */
static int64_t most_panels(const wk__row_lanes_plan *p, int64_t places)
{
    wk__padded_box box;
    if (p->k_part >= p->roles.steps) return INT64_MAX / 2; /* sums are not kept */
    return wk__padded_box_init(&p->b, 0, places, &box)
               ? WK__GEMM_BUFFER_C / wk__row_lanes_sums(p) / wk__row_lanes_tiles(p, &box)
               : 0;
}

static double positions_of(const wk__row_lanes_plan *p)
{
    double places = 1;
    for (int k = 0; k < WK__PADDED_AXES; k++) places *= (double)p->b.axis[k].places;
    return places;
}

double wk__row_lanes_fmas(const wk__row_lanes_plan *p)
{
    return (double)p->roles.batch.places * positions_of(p) * (double)p->roles.rows * (double)p->roles.steps;
}

static void count_parts(wk__row_lanes_plan *p)
{
    p->place_parts = wk__chunk_count(p->b.axis[p->b.first].places, p->piece_places);
    p->image_parts = wk__chunk_count(p->images, p->piece_images);
    p->panel_parts = wk__chunk_count(p->panels, p->piece_panels);
}

int64_t wk__row_lanes_ntasks(const wk__row_lanes_plan *p)
{
    return p->groups * p->image_parts * p->panel_parts * p->place_parts;
}

/* Divides the pieces for threads, along the factor of which a piece reads more bytes: the other one is read again. */
static void divide_pieces(wk__row_lanes_plan *p)
{
    const double work = wk__row_lanes_fmas(p);
    const int threads = wk__gemm_threads(work), pieces = threads > 1 ? PIECES * threads : 1;
    while (wk__row_lanes_ntasks(p) < pieces && work / (double)wk__row_lanes_ntasks(p) >= 2 * PIECE_WORK) {
        const double of_a = (double)(p->piece_panels * p->panel_bytes),
                     of_b = (double)(p->piece_images * copy_bytes(p, p->piece_places)) / (double)p->slots *
                            (double)p->b.channels.places;
        if (p->piece_panels > 1 && (of_a >= of_b || (p->piece_images == 1 && p->piece_places == 1)))
            p->piece_panels = wk__even_chunk(p->panels, wk__chunk_count(p->piece_panels, 2));
        else if (p->piece_images > 1)
            p->piece_images = wk__even_chunk(p->images, wk__chunk_count(p->piece_images, 2));
        else if (p->piece_places > 1)
            p->piece_places = wk__even_chunk(p->b.axis[p->b.first].places, wk__chunk_count(p->piece_places, 2));
        else
            break;
        count_parts(p);
    }
}

/* Chooses the pieces; returns false if even the smallest exceeds its buffer. */
static bool choose_pieces(wk__row_lanes_plan *p)
{
    const int64_t places = p->b.axis[p->b.first].places;
    int64_t parts = 1, piece = places;
    while (parts < places && (copy_bytes(p, piece) > COPY_BYTES || most_panels(p, piece) < 1)) {
        parts = parts < 8 ? parts + 1 : wk__min_i64(2 * parts, places);
        piece = wk__chunk_count(places, parts);
    }
    const int64_t bytes = copy_bytes(p, piece), panels = most_panels(p, piece);
    if (bytes > COPY_BYTES || panels < 1) return false;
    p->piece_places = piece;
    p->piece_images = 1;
    const double of_image = positions_of(p);
    if (parts == 1 && of_image < PLACES) {
        const int64_t images = wk__min_i64(COPY_BYTES / bytes, wk__chunk_count(PLACES, (int64_t)of_image));
        p->piece_images = wk__even_chunk(p->images, wk__min_i64(wk__min_i64(images, panels), p->images));
    }
    p->piece_panels = wk__even_chunk(p->panels, wk__min_i64(panels / p->piece_images, p->panels));
    count_parts(p);
    return true;
}

/* ---- cost -------------------------------------------------------------------------------------------------------- */

/* Returns the time of a step of a tile in vector multiply-adds; small tiles are bound by loads. */
static double step_of_tile(int64_t vectors, int64_t columns)
{
    return (double)wk__max_i64(vectors * columns, wk__max_i64(vectors + columns + 1, 8));
}

static double cost_of(const wk__row_lanes_plan *p)
{
    const double lanes = (double)p->class->lanes, images = (double)p->roles.batch.places,
                 steps = (double)p->roles.steps;
    const int64_t length = p->b.axis[WK__PADDED_AXES - 1].places, rest = p->roles.rows % p->panel;
    const double tiles =
        positions_of(p) / (double)length * (double)wk__chunk_count(length, p->length) / (double)p->runs;
    const double of_panel = step_of_tile(WK__ROW_LANES_VECTORS, p->runs * p->length),
                 of_rest = rest ? step_of_tile(wk__chunk_count(rest, p->class->lanes), p->runs * p->length) : 0;
    const double of_tiles = tiles * lanes * steps * ((double)(p->roles.rows / p->panel) * of_panel + of_rest);
    const double of_copies = COPY * (double)copy_bytes(p, p->piece_places) / WK__PADDED_SIZE / (double)p->slots *
                             (double)p->b.channels.places * (double)(p->place_parts * p->panel_parts);
    const double of_c = WRITE * positions_of(p) * (double)(p->panels * p->panel);
    const double of_a =
        ((p->roles.a.steps.count > 1 ? PACK_STEP : PACK) + READ * (double)(p->image_parts * p->place_parts)) *
        (double)p->groups * (double)p->roles.rows * steps;
    return PACE * (images * (of_tiles + of_copies + of_c) + of_a + START * (double)wk__row_lanes_ntasks(p));
}

double wk__row_lanes_im2col_cost(const wk__row_lanes_plan *p)
{
    const double steps = (double)p->roles.steps, rows = (double)p->roles.rows;
    const double of_a = p->roles.a.steps.count > 1 ? GATHER_STEP * (double)p->groups * rows * steps : 0;
    return (double)p->roles.batch.places * positions_of(p) * steps * (rows + GATHER) + of_a;
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

/* Plans with B as operand b. */
static bool plan_with_b(wk__row_lanes_plan *p, const wk__work_args *kernel, int b)
{
    const wk_dtype dtype = (wk_dtype)kernel->operand[b].dtype;
    const wk__gemm *gemm = wk__cpu_gemm(dtype);
    *p = (wk__row_lanes_plan){.class = gemm->class, .pack = gemm->pack};
    if (!p->class->row_lanes || wk_dtype_size(dtype) != WK__PADDED_SIZE) return false;
    if (!wk__padded_roles_init(&p->roles, &p->b, kernel, b, TAPS) || p->roles.row < 0) return false;
    order_batch(p);
    wk__padded_roles_pack_a(&p->roles, &p->b);
    choose_tile(p);
    if (!choose_panels(p) || !choose_pieces(p)) return false;
    p->cost = cost_of(p); /* of pieces for one thread: the choice of a way must not depend on threads */
    divide_pieces(p);
    return true;
}

bool wk__row_lanes_plan_init(wk__row_lanes_plan *p, const wk__work_args *kernel)
{
    const int dtype = kernel->operand[0].dtype;
    if (wk__contraction_is_empty(kernel) || kernel->operand[1].dtype != dtype || kernel->operand[2].dtype != dtype)
        return false;
    return plan_with_b(p, kernel, 2) || plan_with_b(p, kernel, 1);
}
