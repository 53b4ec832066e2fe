/* SPDX-License-Identifier: Apache-2.0 */
/* Planning and execution of depthwise convolutions; see contraction_planes.h. */
#include "contraction_planes.h"

#include <math.h>

#include "base/integers.h"
#include "backend/cpu/isa.h"
#include "matmul.h"

enum {
    TAPS = 256,               /* maximum taps: tables of them are on the stack */
    PIECES = 8,               /* minimum number of tasks, for load balance, */
    PIECE_WORK = 512 * 1024,  /* unless they have less work than this, in multiplications */
    PIECE_BYTES = 128 * 1024, /* of C, if a task has several planes: the epilogue finds them in L2 */
    COPY_BYTES = 16 * 1024,   /* of the copies of several planes: they stay in L1 */
    /* Costs in multiplications of one vector lane, as in contraction_indirect_plan.c. */
    GATHER = 48,
    COPY = 12,
    START = 512, /* starting a plane */
};

/* ---- planning ---------------------------------------------------------------------------------------------------- */

/* Classifies the result indices: positions, on which A must not depend, and planes. */
static bool analyze_result(wk__planes_plan *p, const wk__work_args *kernel)
{
    p->line = -1;
    p->lines = p->batch.places = 1;
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->shape[i] == 1) continue;
        if (wk__padded_depends_on(&p->b, i)) {
            if (wk__index_moves(kernel, p->b.a, i)) return false;
            continue;
        }
        if (!wk__index_moves(kernel, p->b.b, i)) return false; /* planes that share B: tiles with several rows */
        if (p->line >= 0) wk__padded_add(kernel, &p->batch, p->line);
        p->line = i;
        p->lines = kernel->shape[i];
    }
    return true;
}

/* Returns true if all summed indices are taps of B, and tables have room for them. */
static bool sums_taps_only(const wk__planes_plan *p, const wk__work_args *kernel)
{
    for (int i = kernel->ndim; i < kernel->ndim + kernel->contraction->nsummed; i++)
        if (wk__index_extent(kernel, i) > 1 && (!wk__padded_depends_on(&p->b, i) || wk__index_moves(kernel, p->b.b, i)))
            return false;
    return p->b.taps.places <= TAPS;
}

static double positions_of(const wk__planes_plan *p)
{
    double places = 1;
    for (int k = 0; k < WK__PADDED_AXES; k++) places *= (double)p->b.axis[k].places;
    return places;
}

static double planes_of(const wk__planes_plan *p)
{
    return (double)p->batch.places * (double)p->lines;
}

static bool fits(const wk__planes_plan *p, int64_t places)
{
    wk__padded_box box;
    return wk__padded_box_init(&p->b, 0, places, &box) &&
           (box.channel + p->class->lanes) * WK__PADDED_SIZE <= WK__GEMM_BUFFER_B;
}

/* Divides a plane if it exceeds the buffer or if there are few; returns false if even the smallest part exceeds it. */
static bool choose_pieces(wk__planes_plan *p)
{
    const int64_t places = p->b.axis[p->b.first].places;
    const double work = positions_of(p) * (double)p->b.taps.places;
    int64_t parts = 1;
    while (parts < places && planes_of(p) * (double)parts < PIECES && work / (double)parts >= 2 * PIECE_WORK) parts++;
    while (parts < places && !fits(p, wk__chunk_count(places, parts))) parts = wk__min_i64(2 * parts, places);
    p->piece_places = wk__chunk_count(places, parts);
    p->place_parts = wk__chunk_count(places, p->piece_places);
    const double lines =
        p->place_parts > 1 ? 1 : fmin(PIECE_WORK / work, PIECE_BYTES / (positions_of(p) * WK__PADDED_SIZE));
    p->piece_lines = lines < 1 ? 1 : wk__even_chunk(p->lines, (int64_t)fmin(lines, (double)p->lines));
    p->line_parts = wk__chunk_count(p->lines, p->piece_lines);
    return fits(p, p->piece_places);
}

/* Plans with B as operand b. */
static bool plan_with_b(wk__planes_plan *p, const wk__work_args *kernel, int b)
{
    const int last = wk__padded_contiguous_index(kernel, b, false);
    *p = (wk__planes_plan){.class = wk__cpu_gemm((wk_dtype)kernel->operand[b].dtype)->class};
    if (last < 0 || !p->class->plane || wk_dtype_size((wk_dtype)kernel->operand[b].dtype) != WK__PADDED_SIZE)
        return false;
    return wk__padded_init(&p->b, kernel, b, false, last, WK__PADDED_TAPS) && analyze_result(p, kernel) &&
           sums_taps_only(p, kernel) && choose_pieces(p);
}

bool wk__planes_plan_init(wk__planes_plan *p, const wk__work_args *kernel)
{
    const int dtype = kernel->operand[0].dtype;
    if (wk__contraction_is_empty(kernel) || kernel->operand[1].dtype != dtype || kernel->operand[2].dtype != dtype)
        return false;
    return plan_with_b(p, kernel, 2) || plan_with_b(p, kernel, 1);
}

bool wk__planes_is_profitable(const wk__planes_plan *p)
{
    wk__padded_box box;
    const double lanes = (double)p->class->lanes, taps = (double)p->b.taps.places,
                 columns = (double)p->b.axis[2].places;
    const double vectors = positions_of(p) / columns * (double)wk__chunk_count(p->b.axis[2].places, (int64_t)lanes);
    wk__padded_box_init(&p->b, 0, p->piece_places, &box);
    const double copies = (double)box.channel * (double)p->place_parts;
    return taps > 1 && vectors * lanes * taps + COPY * copies + START < positions_of(p) * taps * (1 + GATHER);
}

/* ---- execution --------------------------------------------------------------------------------------------------- */

typedef struct piece {
    const wk__planes_plan *plan;
    int64_t batch, line, line_end;
    int64_t offset[1 + WK__FACTORS]; /* elements of C, A and B: of the batch; for C also of the first position */
    wk__padded_box box;
} piece;

static void find_piece(const wk__planes_plan *p, int64_t number, piece *at)
{
    const int64_t from = number % p->place_parts * p->piece_places;
    number /= p->place_parts;
    at->plan = p;
    at->line = number % p->line_parts * p->piece_lines;
    at->line_end = wk__min_i64(at->line + p->piece_lines, p->lines);
    at->batch = number / p->line_parts;
    wk__padded_start(&p->b, &p->batch, at->batch, from, at->offset);
    const int64_t end = wk__min_i64(from + p->piece_places, p->b.axis[p->b.first].places);
    wk__padded_box_init(&p->b, from, end, &at->box);
}

static wk__padded_lines lines_of(const piece *at)
{
    return (wk__padded_lines){.b = &at->plan->b,
                              .box = &at->box,
                              .batch = &at->plan->batch,
                              .number = at->batch,
                              .line = at->plan->line,
                              .offset = at->offset[0]};
}

/* Taps in the order in which they are summed: offsets of their factors in A and of their rows in a copy of B. */
typedef struct taps {
    int64_t count, a[TAPS], b[TAPS];
    wk__plane_fn *function;
} taps;

/* Returns true if the taps are a grid of n x n; see WK__PLANE_GRIDS. */
static bool is_grid(const taps *t, int64_t n, int64_t row)
{
    bool grid = t->count == n * n;
    for (int64_t l = 0; l < t->count && grid; l++) grid = t->b[l] == t->b[0] + l / n * row + l % n;
    return grid;
}

/* Taps of a flipped kernel are taken in reverse, so that they form a grid too. */
static void find_taps(const wk__planes_plan *p, const wk__padded_box *box, taps *t)
{
    int64_t at[TAPS], of_a[TAPS];
    wk__padded_tap_offsets(&p->b, box, at);
    wk__padded_offsets(p->b.kernel, p->b.a, &p->b.taps, of_a);
    t->count = p->b.taps.places;
    const bool flipped = at[0] > at[t->count - 1];
    for (int64_t l = 0; l < t->count; l++) {
        const int64_t from = flipped ? t->count - 1 - l : l;
        t->a[l] = of_a[from];
        t->b[l] = at[from];
    }
    t->function = p->class->plane[0];
    for (int k = 1; k < WK__PLANE_GRIDS; k++)
        if (is_grid(t, 2 * k + 1, box->size[2])) t->function = p->class->plane[k];
}

/* Returns the offset of plane `line` of the piece in operand o: 0 for C, then A and B. */
static int64_t plane_offset(const piece *at, int o, int64_t line)
{
    const wk__planes_plan *p = at->plan;
    const int operand[] = {0, p->b.a, p->b.b};
    return at->offset[o] + (p->line >= 0 ? line * p->b.kernel->operand[operand[o]].stride[p->line] : 0);
}

/* Computes plane `line` of the piece from its copy. */
static void run_plane(const piece *at, int64_t line, const taps *t, const char *copy)
{
    const wk__padded *b = &at->plan->b;
    const wk__work_args *kernel = b->kernel;
    const wk__padded_box *box = &at->box;
    int64_t step[WK__PADDED_AXES];
    float factor[TAPS];
    for (int k = 0; k < WK__PADDED_AXES; k++)
        step[k] = b->axis[k].spatial_index >= 0 ? kernel->operand[0].stride[b->axis[k].spatial_index] : 0;
    const float *a = (const float *)(const void *)kernel->operand[b->a].memory->host + plane_offset(at, 1, line);
    for (int64_t l = 0; l < t->count; l++) factor[l] = a[t->a[l]];
    wk__plane plane = {.taps = t->count,
                       .rows = box->places[1],
                       .columns = box->places[2],
                       .a = factor,
                       .at = t->b,
                       .b_row = box->size[2],
                       .c_row = step[1]};
    for (int64_t z = 0; z < box->places[0]; z++) {
        plane.b = copy + z * box->size[1] * box->size[2] * WK__PADDED_SIZE;
        plane.c = kernel->operand[0].memory->host + (plane_offset(at, 0, line) + z * step[0]) * WK__PADDED_SIZE;
        t->function(&plane);
    }
}

/* Copies some planes, then computes them: loads of a vector wait for recent stores of parts of it. */
static void run_planes(const piece *at, const taps *t, char *buffer)
{
    const int64_t bytes = at->box.channel * WK__PADDED_SIZE, most = wk__max_i64(COPY_BYTES / bytes, 1);
    for (int64_t line = at->line, end; line < at->line_end; line = end) {
        end = wk__min_i64(line + most, at->line_end);
        for (int64_t k = line; k < end; k++)
            wk__padded_copy(&at->plan->b, &at->box, plane_offset(at, 2, k), buffer + (k - line) * bytes);
        for (int64_t k = line; k < end; k++) run_plane(at, k, t, buffer + (k - line) * bytes);
    }
}

typedef struct work {
    const wk__planes_plan *plan;
    const wk__cpu_program *epilogue;
} work;

static wk_code task(void *user, int64_t number, wk__gemm_buffers *const buffers[], wk__fail *fail)
{
    const work *work = user;
    wk__epilogue_run run = {.program = work->epilogue, .fail = fail};
    taps t;
    piece at;
    find_piece(work->plan, number, &at);
    find_taps(work->plan, &at.box, &t);
    run_planes(&at, &t, buffers[0]->b);
    const wk__padded_lines lines = lines_of(&at);
    if (work->epilogue) wk__padded_visit_boxes(&lines, at.line, at.line_end, wk__epilogue_run_box, &run);
    return run.first;
}

static int64_t ntasks(const wk__planes_plan *p)
{
    return p->batch.places * p->line_parts * p->place_parts;
}

wk_code wk__planes_run(const wk__planes_plan *p, const wk__program *epilogue, wk__fail *fail)
{
    const double products = planes_of(p) * positions_of(p) * (double)p->b.taps.places;
    work work = {.plan = p};
    const wk__gemm_job job = {
        .tasks = ntasks(p), .threads = wk__gemm_threads(products), .nbuffers = 1, .body = task, .user = &work};
    return wk__gemm_tasks_with_epilogue(&job, epilogue, &work.epilogue, fail);
}

void wk__planes_epilogue_boxes(const wk__planes_plan *p, const wk__program *epilogue, wk__epilogue_box_visit *visit,
                               void *user)
{
    if (!epilogue || epilogue->nreduce > 0) return;
    for (int64_t k = 0; k < ntasks(p); k++) {
        piece at;
        find_piece(p, k, &at);
        const wk__padded_lines lines = lines_of(&at);
        wk__padded_visit_boxes(&lines, at.line, at.line_end, visit, user);
    }
}
