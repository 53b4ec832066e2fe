/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of the result of a contraction that reads padded copies, for its epilogue. */
#include "padded.h"

/* Starts the box at lines `from` .. `end` and at the batch. */
static void start_box(const wk__padded_lines *lines, int64_t from, int64_t end, wk__epilogue_box *box)
{
    const wk__work_args *kernel = lines->b->kernel;
    int64_t number = lines->number;
    for (int d = 0; d < kernel->ndim; d++) box->size[d] = 1;
    for (int k = lines->batch->count - 1; k >= 0; k--) {
        const int d = lines->batch->index[k];
        box->start[d] = number % kernel->shape[d];
        number /= kernel->shape[d];
    }
    if (lines->line < 0) return;
    box->start[lines->line] = from;
    box->size[lines->line] = end - from;
}

void wk__padded_visit_boxes(const wk__padded_lines *lines, int64_t from, int64_t end, wk__epilogue_box_visit *visit,
                            void *user)
{
    const int64_t *step = lines->b->kernel->operand[0].stride;
    const wk__padded_axis *axis = lines->b->axis;
    const wk__padded_box *at = lines->box;
    wk__epilogue_box box = {.rows = end - from, .row_step = lines->line >= 0 ? step[lines->line] : 0, .column_step = 1};
    start_box(lines, from, end, &box);
    int64_t run = 1, rest[WK__PADDED_AXES]; /* positions per run; number of runs along each axis */
    for (int k = WK__PADDED_AXES - 1; k >= 0; k--) {
        const int d = axis[k].spatial_index;
        const bool runs = d < 0 || step[d] == run;
        rest[k] = runs ? 1 : at->places[k];
        if (d >= 0) {
            box.start[d] = at->place[k];
            box.size[d] = runs ? at->places[k] : 1;
        }
        run = runs ? run * at->places[k] : 0; /* 0: outer axes do not continue the run */
        if (run > 0) box.columns = run;
    }
    const int64_t first = lines->offset + from * box.row_step;
    for (int64_t z = 0; z < rest[0]; z++)
        for (int64_t y = 0; y < rest[1]; y++) {
            box.first = first;
            for (int k = 0; k < 2; k++) {
                const int64_t place = k == 0 ? z : y;
                if (rest[k] == 1) continue;
                box.start[axis[k].spatial_index] = at->place[k] + place;
                box.first += place * step[axis[k].spatial_index];
            }
            visit(user, &box);
        }
}
