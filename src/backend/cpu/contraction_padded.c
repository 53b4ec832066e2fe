/* SPDX-License-Identifier: Apache-2.0 */
/* See contraction_padded.h. */
#include "contraction_padded.h"

#include <pthread.h>
#include <string.h>

#include "isa.h"
#include "matmul.h"

enum {
    COLUMNS = 768,           /* places of a piece, and ... */
    VECTORS = 512,           /* ... vectors, about and at most */
    PIECES = 8,              /* of a contraction, so that threads end together; */
    PIECE_WORK = 512 * 1024, /* but no smaller ones, in multiplications */
    STEPS = WK__GEMM_K_BYTES / 4,
    /* Times, in multiplications of a vector's lane: */
    GATHER = 48,      /* an element of B is gathered, in runs */
    GATHER_STEP = 48, /* one of A is, where few steps of the sum are neighbours */
    COPY = 12,        /* one of B is copied between zeros */
    START = 8 * 1024, /* a piece begins */
    FEWEST_ROWS = 3,  /* of a tile: fewer wait for their sums */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t parts_of(int64_t whole, int64_t part)
{
    return (whole + part - 1) / part;
}

/* ---- the description --------------------------------------------------------------------------------------------- */

/* The index along which elements of C are neighbours, and B has a coordinate. -1: there is none. */
static int neighbours(const wk__kernel *kernel, int b)
{
    const wk__sum *sum = kernel->sum;
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->shape[i] == 1 || kernel->operand[0].stride[i] != 1) continue;
        for (int k = 0; k < sum->coordinates[b - 1]; k++)
            if (sum->coordinate[b - 1][k].coefficient[i] != 0) return i;
    }
    return -1;
}

/* The indices of the result: places, which A may not depend on, a row, and batches. */
static bool see_result(wk__padded_product *p, const wk__kernel *kernel)
{
    p->row = -1;
    p->rows = p->batch.places = 1;
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->shape[i] == 1) continue;
        const bool of_a = wk__padded_walks(kernel, p->b.a, i);
        if (wk__padded_counts(&p->b, i)) {
            if (of_a) return false;
        } else if (of_a && !wk__padded_walks(kernel, p->b.b, i) && p->row < 0) {
            p->row = i;
            p->rows = kernel->shape[i];
        } else {
            wk__padded_add(kernel, &p->batch, i);
        }
    }
    return true;
}

/* What is summed: channels, then taps, so that a block of the sum has a range of channels. */
static bool see_sum(wk__padded_product *p, const wk__kernel *kernel)
{
    bool taps = false;
    p->steps = wk__sum_length(kernel->sum);
    for (int i = kernel->ndim; i < kernel->ndim + kernel->sum->indices; i++) {
        if (wk__index_extent(kernel, i) == 1) continue;
        const bool tap = wk__padded_counts(&p->b, i);
        if (tap ? wk__padded_walks(kernel, p->b.b, i) : taps) return false;
        taps = tap;
        if (!tap) wk__padded_add(kernel, &p->b.channels, i);
    }
    return true;
}

static void see_a(wk__padded_product *p, const wk__kernel *kernel)
{
    const wk__operand *a = &kernel->operand[p->b.a];
    const int64_t size = (int64_t)wk_dtype_size((wk_dtype)a->dtype);
    wk__gather *g = &p->a;
    *g = (wk__gather){.start = a->memory->host ? a->memory->host + a->offset * size : NULL, .size = size};
    for (int k = 0; k < p->batch.count; k++) {
        const int i = p->batch.index[k];
        wk__gather_add(&g->batch, &(wk__gather_index){kernel->shape[i], a->stride[i], {0}}, 0);
    }
    g->lines.index[g->lines.count++] = (wk__gather_index){p->rows, p->row >= 0 ? a->stride[p->row] : 0, {0}};
    for (int i = kernel->ndim; i < kernel->ndim + kernel->sum->indices; i++) {
        const int64_t extent = wk__index_extent(kernel, i);
        if (extent > 1)
            wk__gather_add(&g->steps, &(wk__gather_index){extent, wk__padded_stride(kernel, p->b.a, i), {0}}, 0);
    }
    if (g->steps.count == 0) g->steps.index[g->steps.count++] = (wk__gather_index){.extent = 1};
    p->packs_a = g->steps.count > 1;
    p->a_row = g->lines.index[0].stride;
    p->a_step = g->steps.index[0].stride;
}

/* Channels of a block of the sum, at most. */
static int64_t channels_of_block(const wk__padded_product *p)
{
    return least(p->k_block / p->b.taps.places + 2, p->b.channels.places);
}

static int64_t vectors_of(const wk__padded_product *p, int64_t places)
{
    int64_t vectors = places;
    for (int k = p->b.first + 1; k < WK__PADDED_AXES - 1; k++) vectors *= p->b.axis[k].places;
    const int64_t row = p->b.first == WK__PADDED_AXES - 1 ? places : p->b.axis[WK__PADDED_AXES - 1].places;
    return (p->b.first == WK__PADDED_AXES - 1 ? 1 : vectors) * parts_of(row, p->class->lanes);
}

static bool fits(const wk__padded_product *p, int64_t places)
{
    wk__padded_box box;
    if (!wk__padded_box_of(&p->b, 0, places, &box) || vectors_of(p, places) > VECTORS) return false;
    return (channels_of_block(p) * box.channel + p->class->lanes) * (int64_t)p->class->packed <= WK__GEMM_SPACE_B;
}

/* Chooses the pieces. False: not even the smallest fits its buffer. */
static bool see_pieces(wk__padded_product *p)
{
    const int64_t places = p->b.axis[p->b.first].places;
    double slice = 1; /* places of the others */
    for (int k = p->b.first + 1; k < WK__PADDED_AXES; k++) slice *= (double)p->b.axis[k].places;
    const double work = slice * (double)p->rows * (double)p->steps;
    int64_t parts = parts_of(places, slice >= COLUMNS ? 1 : (int64_t)(COLUMNS / slice));
    while (parts < places && (double)(parts * p->batch.places) < PIECES &&
           work * (double)places / (double)parts >= 2 * PIECE_WORK)
        parts++;
    while (parts < places && !fits(p, parts_of(places, parts))) parts = least(2 * parts, places);
    p->piece_places = parts_of(places, parts);
    p->place_parts = parts_of(places, p->piece_places);
    return fits(p, p->piece_places);
}

static bool has_none(const wk__kernel *kernel)
{
    bool none = false;
    for (int i = 0; i < kernel->ndim + kernel->sum->indices; i++) none = none || wk__index_extent(kernel, i) == 0;
    return none;
}

/* B is operand b. */
static bool see_product(wk__padded_product *p, const wk__kernel *kernel, int b)
{
    const wk__gemm *gemm = wk__cpu_gemm((wk_dtype)kernel->operand[b].dtype);
    const int64_t size = (int64_t)wk_dtype_size((wk_dtype)kernel->operand[b].dtype);
    const int last = neighbours(kernel, b);
    *p = (wk__padded_product){.class = gemm->class, .pack = gemm->pack};
    if (last < 0 || !p->class->apart || size != (int64_t)p->class->packed || size != (int64_t)p->class->sum)
        return false;
    if (!wk__padded_of(&p->b, kernel, b, false, last) || !see_result(p, kernel) || !see_sum(p, kernel)) return false;
    const int64_t most = WK__GEMM_K_BYTES / size, blocks = parts_of(p->steps, most);
    p->k_block = parts_of(p->steps, blocks);
    see_a(p, kernel);
    return see_pieces(p);
}

bool wk__padded_product_of(wk__padded_product *p, const wk__kernel *kernel)
{
    const int dtype = kernel->operand[0].dtype;
    if (has_none(kernel) || kernel->operand[1].dtype != dtype || kernel->operand[2].dtype != dtype) return false;
    return see_product(p, kernel, 2) || see_product(p, kernel, 1);
}

/* ---- does it pay? ------------------------------------------------------------------------------------------------ */

static double places_of(const wk__padded_product *p)
{
    double places = (double)p->batch.places;
    for (int k = 0; k < WK__PADDED_AXES; k++) places *= (double)p->b.axis[k].places;
    return places;
}

double wk__padded_product_time(const wk__padded_product *p)
{
    wk__padded_box box;
    wk__padded_box_of(&p->b, 0, p->piece_places, &box);
    const double pieces = (double)p->batch.places * (double)p->place_parts, steps = (double)p->steps;
    const double vectors = (double)p->batch.places * (double)vectors_of(p, p->b.axis[p->b.first].places);
    const double lanes = (double)p->class->lanes;
    const double rows = p->rows < FEWEST_ROWS ? FEWEST_ROWS : (double)p->rows;
    const double of_a = p->packs_a ? GATHER_STEP * (double)p->rows * steps : 0;
    const double of_b = COPY * (double)box.channel * (double)p->b.channels.places;
    return vectors * lanes * rows * steps + pieces * (of_a + of_b + START);
}

double wk__padded_product_gathering(const wk__padded_product *p)
{
    return places_of(p) * (double)p->steps * ((double)p->rows + GATHER);
}

bool wk__padded_product_pays(const wk__padded_product *p)
{
    return p->b.taps.places > 1 && wk__padded_product_time(p) < wk__padded_product_gathering(p);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Places of a row that are one vector of a tile: where they are in a channel's copy, and in C. */
typedef struct vector {
    int64_t b, c;
    int count;
} vector;

typedef struct piece {
    const wk__padded_product *plan;
    const wk__gemm_space *space;
    int64_t batch;
    int64_t offset[1 + WK__FACTORS]; /* elements of C, A and B: of the batch, of C at the piece's first place, too */
    wk__padded_box box;
    int64_t vectors;
    vector vector[VECTORS];
} piece;

static void find_vectors(piece *at)
{
    const wk__padded_axis *axis = at->plan->b.axis;
    const wk__operand *out = &at->plan->b.kernel->operand[0];
    const wk__padded_box *box = &at->box;
    int64_t step[WK__PADDED_AXES];
    for (int k = 0; k < WK__PADDED_AXES; k++) step[k] = axis[k].place >= 0 ? out->stride[axis[k].place] : 0;
    at->vectors = 0;
    for (int64_t z = 0; z < box->places[0]; z++)
        for (int64_t y = 0; y < box->places[1]; y++)
            for (int64_t x = 0; x < box->places[2]; x += at->plan->class->lanes)
                at->vector[at->vectors++] = (vector){.b = (z * box->size[1] + y) * box->size[2] + x,
                                                     .c = z * step[0] + y * step[1] + x * step[2],
                                                     .count = (int)least(box->places[2] - x, at->plan->class->lanes)};
}

static void find_piece(const wk__padded_product *p, int64_t number, piece *at)
{
    const wk__padded_axis *first = &p->b.axis[p->b.first];
    const wk__kernel *kernel = p->b.kernel;
    const int operand[] = {0, p->b.a, p->b.b};
    const int64_t from = number % p->place_parts * p->piece_places;
    at->plan = p;
    at->batch = number / p->place_parts;
    for (int o = 0; o <= WK__FACTORS; o++)
        at->offset[o] =
            kernel->operand[operand[o]].offset + wk__padded_offset(kernel, operand[o], &p->batch, at->batch);
    if (first->place >= 0) at->offset[0] += from * kernel->operand[0].stride[first->place];
    wk__padded_box_of(&p->b, from, least(from + p->piece_places, first->places), &at->box);
    find_vectors(at);
}

/* Copies the channels of a block of the sum, and finds the rows of B in them. */
static void copy_block(const piece *at, int64_t l, int64_t steps, int64_t row[])
{
    const wk__padded *b = &at->plan->b;
    const int64_t size = (int64_t)at->plan->class->packed, taps = b->taps.places;
    int64_t tap_at[WK__PADDED_TAPS], copy = 0;
    wk__padded_taps(b, &at->box, tap_at);
    for (int64_t channel = l / taps, tap = l % taps, k = 0; k < steps; channel++, tap = 0, copy += at->box.channel) {
        const int64_t element = at->offset[2] + wk__padded_offset(b->kernel, b->b, &b->channels, channel);
        wk__padded_copy(b, &at->box, element, size, at->space->b + copy * size);
        for (; tap < taps && k < steps; tap++, k++) row[k] = copy + tap_at[tap];
    }
}

/* All tiles of the rows `first` .. `end`. */
static void multiply(const piece *at, int64_t l, int64_t steps, int64_t first, int64_t end, const int64_t row[])
{
    const wk__padded_product *p = at->plan;
    const wk__kernel *kernel = p->b.kernel;
    const wk__gemm_class *class = p->class;
    const int64_t size = (int64_t) class->packed, c_row = p->row >= 0 ? kernel->operand[0].stride[p->row] : 0;
    const int most = class->columns / class->lanes;
    const char *a_start = at->space->a, *a_memory = kernel->operand[p->b.a].memory->host;
    char *const c = kernel->operand[0].memory->host + at->offset[0] * size;
    if (!p->packs_a) a_start = a_memory + (at->offset[1] + first * p->a_row + l * p->a_step) * size;
    wk__tile_apart tile = {.k = steps, .b = at->space->b, .at = row, .c_row = c_row, .add = l > 0};
    for (int64_t v = 0; v < at->vectors; v += most) {
        const int vectors = (int)least(at->vectors - v, most);
        for (int k = 0; k < vectors; k++) {
            tile.b_vector[k] = at->vector[v + k].b;
            tile.c_vector[k] = at->vector[v + k].c;
            tile.count[k] = at->vector[v + k].count;
        }
        wk__tile_apart_function *const *function = class->apart + (vectors - 1) * class->rows - 1;
        const char *a = a_start;
        for (int64_t i = first; i < end; i += class->rows) {
            const int64_t rows = least(end - i, class->rows);
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
    const wk__padded_product *p = at->plan;
    wk__gather_panels(&p->a, p->pack, at->space->a,
                      &(wk__gather_block){.batch = at->batch,
                                          .line = first,
                                          .line_end = end,
                                          .step = l,
                                          .steps = steps,
                                          .width = p->class->rows,
                                          .unit = 1,
                                          .class = p->class,
                                          .as_is = true});
}

/* ---- the tail ---------------------------------------------------------------------------------------------------- */

/* Boxes of the rows `row` .. `end` of the piece whose places are equally spaced in C. */
static void visit_boxes(const piece *at, int64_t row, int64_t end, wk__piece_visit *visit, void *user)
{
    const wk__padded_product *p = at->plan;
    const wk__kernel *kernel = p->b.kernel;
    const int64_t *step = kernel->operand[0].stride;
    const wk__padded_axis *axis = p->b.axis;
    wk__piece box = {.rows = end - row, .row_step = p->row >= 0 ? step[p->row] : 0, .column_step = 1};
    int64_t number = at->batch;
    for (int d = 0; d < kernel->ndim; d++) box.size[d] = 1;
    for (int k = p->batch.count - 1; k >= 0; k--) {
        const int d = p->batch.index[k];
        box.start[d] = number % kernel->shape[d];
        number /= kernel->shape[d];
    }
    if (p->row >= 0) {
        box.start[p->row] = row;
        box.size[p->row] = end - row;
    }
    int64_t run = 1, rest[WK__PADDED_AXES]; /* places of a run; how many runs there are along each axis */
    for (int k = WK__PADDED_AXES - 1; k >= 0; k--) {
        const int d = axis[k].place;
        const bool runs = d < 0 || step[d] == run;
        rest[k] = runs ? 1 : at->box.places[k];
        if (d >= 0) {
            box.start[d] = at->box.place[k];
            box.size[d] = runs ? at->box.places[k] : 1;
        }
        run = runs ? run * at->box.places[k] : 0; /* 0: what is further out is no part of it */
        if (run > 0) box.columns = run;
    }
    const int64_t first = at->offset[0] + row * box.row_step;
    for (int64_t z = 0; z < rest[0]; z++)
        for (int64_t y = 0; y < rest[1]; y++) {
            box.first = first;
            for (int k = 0; k < 2; k++) {
                const int64_t place = k == 0 ? z : y;
                if (rest[k] == 1) continue;
                box.start[axis[k].place] = at->box.place[k] + place;
                box.first += place * step[axis[k].place];
            }
            visit(user, &box);
        }
}

/* The tail on some boxes: the code is that of the first that failed. */
typedef struct tail_run {
    const wk__cpu_program *tail;
    wk_code first;
    wk__fail *fail;
} tail_run;

static void run_box(void *user, const wk__piece *box)
{
    tail_run *run = user;
    wk__fail other;
    const wk_code code = wk__cpu_program_box(run->tail, box->start, box->size, run->first ? &other : run->fail);
    if (!run->first) run->first = code;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

typedef struct job {
    const wk__padded_product *plan;
    const wk__cpu_program *tail;
    pthread_mutex_t lock; /* of what follows */
    int64_t failed;       /* the first piece whose tail failed, or as many as there are */
    wk__fail fail;
} job;

static wk_code run_piece(piece *at, const wk__cpu_program *tail, wk__fail *fail)
{
    const wk__padded_product *p = at->plan;
    int64_t row[STEPS];
    tail_run run = {.tail = tail, .fail = fail};
    for (int64_t l = 0, steps; l < p->steps; l += steps) {
        steps = least(p->steps - l, p->k_block);
        copy_block(at, l, steps, row);
        for (int64_t i = 0, end; i < p->rows; i = end) {
            end = least(p->rows, i + WK__GEMM_BLOCK_ROWS);
            if (p->packs_a) pack_rows(at, l, steps, i, end);
            multiply(at, l, steps, i, end, row);
            if (tail && l + steps == p->steps) visit_boxes(at, i, end, run_box, &run);
        }
    }
    return run.first;
}

static void task(void *user, int64_t number, wk__gemm_space *const spaces[])
{
    job *job = user;
    piece at;
    wk__fail fail = {0};
    find_piece(job->plan, number, &at);
    at.space = spaces[0];
    if (run_piece(&at, job->tail, &fail) == WK_OK) return;
    pthread_mutex_lock(&job->lock);
    if (number < job->failed) {
        job->failed = number;
        job->fail = fail;
    }
    pthread_mutex_unlock(&job->lock);
}

static int64_t pieces_of(const wk__padded_product *p)
{
    return p->batch.places * p->place_parts;
}

static wk_code run_pieces(const wk__padded_product *p, const wk__cpu_program *tail, wk__fail *fail)
{
    const int64_t pieces = pieces_of(p);
    job job = {.plan = p, .tail = tail, .failed = pieces};
    pthread_mutex_init(&job.lock, NULL);
    const wk_code code = wk__gemm_tasks(pieces, places_of(p) * (double)p->rows * (double)p->steps, 1, task, &job, fail);
    pthread_mutex_destroy(&job.lock);
    if (job.failed < pieces) *fail = job.fail;
    return code ? code : job.fail.code;
}

wk_code wk__padded_product_run(const wk__padded_product *p, const wk__group *tail, wk__fail *fail)
{
    if (!tail) return run_pieces(p, NULL, fail);
    if (tail->nreduce > 0) { /* a row of C is not final before all of it is */
        const wk_code code = run_pieces(p, NULL, fail);
        return code ? code : wk__cpu_run(tail, fail);
    }
    wk__cpu_program program;
    wk_code code = wk__cpu_program_prepare(&program, tail, fail);
    if (!code) code = run_pieces(p, &program, fail);
    wk__cpu_program_end(&program);
    return code;
}

void wk__padded_product_pieces(const wk__padded_product *p, const wk__group *tail, wk__piece_visit *visit, void *user)
{
    if (!tail || tail->nreduce > 0) return;
    for (int64_t k = 0; k < pieces_of(p); k++) {
        piece at;
        find_piece(p, k, &at);
        for (int64_t row = 0; row < p->rows; row += WK__GEMM_BLOCK_ROWS)
            visit_boxes(&at, row, least(p->rows, row + WK__GEMM_BLOCK_ROWS), visit, user);
    }
}
