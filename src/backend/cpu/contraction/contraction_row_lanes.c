/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of contractions whose lanes are rows; see contraction_row_lanes.h. */
#include "contraction_row_lanes.h"

#include "base/alloc.h"
#include "base/integers.h"

typedef struct work {
    const wk__row_lanes_plan *plan;
    char *panels; /* packed A */
    const wk__cpu_program *epilogue;
} work;

/* ---- packing ----------------------------------------------------------------------------------------------------- */

static wk_code pack_panel(void *user, int64_t number, wk__gemm_buffers *const buffers[], wk__fail *fail)
{
    (void)buffers, (void)fail;
    const work *work = user;
    const wk__row_lanes_plan *p = work->plan;
    const int64_t line = number % p->panels * p->panel;
    wk__im2col_pack(&p->roles.a, p->pack, work->panels + number * p->panel_bytes,
                    &(wk__im2col_block){.batch = number / p->panels * p->images,
                                        .line = line,
                                        .line_end = wk__min_i64(line + p->panel, p->roles.rows),
                                        .steps = p->roles.steps,
                                        .width = (int)p->panel,
                                        .panel_unit = p->class->lanes,
                                        .class = p->class,
                                        .same_bits = true});
    return WK_OK;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

typedef struct piece {
    const work *work;
    int64_t batch, images; /* number of the first image, and how many */
    int64_t place, panel, panel_end;
    wk__padded_box box;
    char *copies, *sums;
    int64_t copied;       /* channels copied so far, each to slot channel % slots of its image */
    int64_t *at, *tap_at; /* offsets in an image's copies: of each step's row in a part, of each tap's in a slot */
    wk__epilogue_run run;
    int64_t failed; /* image of run.first */
} piece;

static void find_piece(const work *work, int64_t number, piece *at)
{
    const wk__row_lanes_plan *p = work->plan;
    *at = (piece){.work = work, .place = number % p->place_parts * p->piece_places};
    number /= p->place_parts;
    at->panel = number % p->panel_parts * p->piece_panels;
    at->panel_end = wk__min_i64(at->panel + p->piece_panels, p->panels);
    number /= p->panel_parts;
    const int64_t image = number % p->image_parts * p->piece_images;
    at->batch = number / p->image_parts * p->images + image;
    at->images = wk__min_i64(p->piece_images, p->images - image);
    const int64_t places = p->b.axis[p->b.first].places;
    wk__padded_box_init(&p->b, at->place, wk__min_i64(at->place + p->piece_places, places), &at->box);
}

/* Copies the channels up to `end` that have not been copied yet. */
static void copy_channels(piece *at, int64_t end)
{
    const wk__row_lanes_plan *p = at->work->plan;
    for (int64_t k = 0; k < at->images; k++) {
        int64_t offset[1 + WK__FACTORS];
        wk__padded_start(&p->b, &p->roles.batch, at->batch + k, at->place, offset);
        for (int64_t c = at->copied; c < end; c++)
            wk__padded_copy(&p->b, &at->box, offset[2] + wk__padded_offset(p->b.kernel, p->b.b, &p->b.channels, c),
                            at->copies + (k * p->slots + c % p->slots) * at->box.channel * WK__PADDED_SIZE);
    }
    at->copied = end;
}

/* Copies the channels of a part of the sum and computes its table of steps. */
static void prepare_part(piece *at, int64_t l, int64_t steps)
{
    const wk__row_lanes_plan *p = at->work->plan;
    const int64_t taps = p->b.taps.places;
    copy_channels(at, (l + steps - 1) / taps + 1);
    for (int64_t channel = l / taps, tap = l % taps, k = 0; k < steps; channel++, tap = 0) {
        const int64_t slot = channel % p->slots * at->box.channel, count = wk__min_i64(taps - tap, steps - k);
        for (int64_t i = 0; i < count; i++) at->at[k + i] = slot + at->tap_at[tap + i];
        k += count;
    }
}

/* Strides of C along the axes; 0 along an unused one. */
static void find_steps(const wk__padded *b, int64_t step[WK__PADDED_AXES])
{
    for (int k = 0; k < WK__PADDED_AXES; k++)
        step[k] = b->axis[k].spatial_index >= 0 ? b->kernel->operand[0].stride[b->axis[k].spatial_index] : 0;
}

/* Computes `rows` complete rows of positions, or one in parts. Sums need not be kept if there is one part. */
static void multiply_rows(const piece *at, wk__row_lanes_tile *tile, int vectors, int64_t rows, const char *b, char *c)
{
    const wk__row_lanes_plan *p = at->work->plan;
    wk__row_lanes_fn *const *function = p->class->row_lanes[vectors - 1][rows - 1] - 1;
    for (int64_t x = 0, length; x < at->box.places[2]; x += length) {
        length = wk__min_i64(at->box.places[2] - x, p->length);
        tile->b = b + x * WK__PADDED_SIZE;
        tile->c = c + x * WK__PADDED_SIZE;
        function[length](tile);
        if (!tile->first || !tile->last) tile->sums = (char *)tile->sums + wk__row_lanes_sums(p);
    }
}

/* Computes all tiles of a part of the sum for an image; `b`: its copies. */
static void multiply(const piece *at, wk__row_lanes_tile *tile, const char *b, char *c)
{
    const wk__row_lanes_plan *p = at->work->plan;
    const wk__padded_box *box = &at->box;
    const int vectors = (int)wk__chunk_count(tile->rows, p->class->lanes);
    int64_t step[WK__PADDED_AXES];
    find_steps(&p->b, step);
    tile->b_run = box->size[2];
    for (int64_t z = 0; z < box->places[0]; z++)
        for (int64_t y = 0, rows; y < box->places[1]; y += rows) {
            rows = wk__row_lanes_rows_of_tile(p, box->places[1] - y);
            multiply_rows(at, tile, vectors, rows, b + (z * box->size[1] + y) * box->size[2] * WK__PADDED_SIZE,
                          c + (z * step[0] + y * step[1]) * WK__PADDED_SIZE);
        }
}

/* ---- epilogues --------------------------------------------------------------------------------------------------- */

/* Visits the boxes of a panel for image k. */
static void visit_panel(const piece *at, int64_t k, int64_t panel, wk__epilogue_box_visit *visit, void *user)
{
    const wk__row_lanes_plan *p = at->work->plan;
    int64_t offset[1 + WK__FACTORS];
    wk__padded_start(&p->b, &p->roles.batch, at->batch + k, at->place, offset);
    const wk__padded_lines lines = {.b = &p->b,
                                    .box = &at->box,
                                    .batch = &p->roles.batch,
                                    .number = at->batch + k,
                                    .line = p->roles.row,
                                    .offset = offset[0]};
    wk__padded_visit_boxes(&lines, panel * p->panel, wk__min_i64((panel + 1) * p->panel, p->roles.rows), visit, user);
}

/* Runs the epilogue. Of several failures that of the first image is kept, of which that of the first rows, independent
 * of the order of panels and images. */
static void run_epilogue(piece *at, int64_t k, int64_t panel, wk__fail *fail)
{
    wk__fail own;
    wk__epilogue_run run = {.program = at->work->epilogue, .fail = &own};
    visit_panel(at, k, panel, wk__epilogue_run_box, &run);
    if (!run.first || (at->run.first && at->failed <= k)) return;
    at->run.first = run.first;
    at->failed = k;
    *fail = own;
}

/* ---- execution --------------------------------------------------------------------------------------------------- */

/* Computes steps `l` .. `l + steps` of a panel for all images. */
static void run_panel(piece *at, int64_t panel, int64_t l, int64_t steps, wk__fail *fail)
{
    const wk__row_lanes_plan *p = at->work->plan;
    const wk__operand *out = &p->b.kernel->operand[0];
    const int64_t group = at->batch / p->images, of_image = wk__row_lanes_tiles(p, &at->box) * wk__row_lanes_sums(p);
    wk__row_lanes_tile tile = {.k = steps,
                               .k_block = p->k_block,
                               .at = at->at,
                               .c_row = out->stride[p->roles.row],
                               .rows = (int)wk__min_i64(p->roles.rows - panel * p->panel, p->panel),
                               .first = l == 0,
                               .last = l + steps == p->roles.steps};
    const int64_t wide = wk__chunk_count(tile.rows, p->class->lanes) * p->class->lanes;
    tile.a = at->work->panels + (group * p->panels + panel) * p->panel_bytes + l * wide * WK__PADDED_SIZE;
    for (int64_t k = 0; k < at->images; k++) {
        int64_t offset[1 + WK__FACTORS];
        wk__padded_start(&p->b, &p->roles.batch, at->batch + k, at->place, offset);
        tile.sums = at->sums;
        if (steps < p->roles.steps) tile.sums = at->sums + ((panel - at->panel) * at->images + k) * of_image;
        multiply(at, &tile, at->copies + k * p->slots * at->box.channel * WK__PADDED_SIZE,
                 out->memory->host + (offset[0] + panel * p->panel * tile.c_row) * WK__PADDED_SIZE);
        if (at->work->epilogue && tile.last) run_epilogue(at, k, panel, fail);
    }
}

static wk_code run_piece(void *user, int64_t number, wk__gemm_buffers *const buffers[], wk__fail *fail)
{
    const work *work = user;
    const wk__row_lanes_plan *p = work->plan;
    piece at;
    find_piece(work, number, &at);
    at.copies = buffers[0]->b;
    at.sums = buffers[0]->c;
    at.at = (int64_t *)(void *)buffers[0]->a;
    at.tap_at = at.at + p->k_part;
    wk__padded_tap_offsets(&p->b, &at.box, at.tap_at);
    for (int64_t l = 0, steps; l < p->roles.steps; l += steps) {
        steps = wk__min_i64(p->roles.steps - l, p->k_part);
        prepare_part(&at, l, steps);
        for (int64_t panel = at.panel; panel < at.panel_end; panel++) run_panel(&at, panel, l, steps, fail);
    }
    return at.run.first;
}

wk_code wk__row_lanes_run(const wk__row_lanes_plan *p, const wk__program *epilogue, wk__fail *fail)
{
    enum { LINE = 64 };
    const int64_t count = p->groups * p->panels;
    const double elements = (double)p->groups * (double)p->roles.rows * (double)p->roles.steps;
    char *memory = wk__alloc((size_t)(count * p->panel_bytes) + LINE);
    if (!memory) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for the packed factor of a contraction");
    work work = {.plan = p, .panels = memory + (LINE - (uintptr_t)memory % LINE) % LINE};
    const wk__gemm_job pack = {
        .tasks = count, .threads = wk__gemm_threads(elements), .body = pack_panel, .user = &work};
    const wk__gemm_job job = {.tasks = wk__row_lanes_ntasks(p),
                              .threads = wk__gemm_threads(wk__row_lanes_fmas(p)),
                              .nbuffers = 1,
                              .body = run_piece,
                              .user = &work};
    wk_code code = wk__gemm_tasks(&pack, fail);
    if (!code) code = wk__gemm_tasks_with_epilogue(&job, epilogue, &work.epilogue, fail);
    wk__free(memory);
    return code;
}

void wk__row_lanes_epilogue_boxes(const wk__row_lanes_plan *p, const wk__program *epilogue,
                                  wk__epilogue_box_visit *visit, void *user)
{
    const work work = {.plan = p};
    if (!epilogue || epilogue->nreduce > 0) return;
    for (int64_t number = 0; number < wk__row_lanes_ntasks(p); number++) {
        piece at;
        find_piece(&work, number, &at);
        for (int64_t panel = at.panel; panel < at.panel_end; panel++)
            for (int64_t k = 0; k < at.images; k++) visit_panel(&at, k, panel, visit, user);
    }
}
