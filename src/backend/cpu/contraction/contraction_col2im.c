/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of col2im contractions; see contraction_col2im.h. */
#include "contraction_col2im.h"

#include <string.h>

#include "base/integers.h"
#include "matmul.h"

enum {
    CLIPS = 64,      /* taps per table of clips on the stack */
    LINE = 2048,     /* bytes of an interleaved line */
    BUFFER_SETS = 2, /* buffer sets per task: D and the piece; the product that computes D */
};

_Static_assert((int)BUFFER_SETS <= (int)WK__GEMM_TASK_BUFFERS, "the buffers of a task");

static int64_t volume(const int64_t size[])
{
    return size[0] * size[1] * size[2];
}

/* ---- D ----------------------------------------------------------------------------------------------------------- */

typedef struct piece {
    const wk__col2im_plan *plan;
    int64_t rows;                    /* of the piece */
    int64_t offset[1 + WK__FACTORS]; /* elements: of C, A, B at its first row, position 0 and q 0 */
    int64_t place[WK__COL2IM_AXES], places[WK__COL2IM_AXES]; /* its box of positions */
    int64_t start[WK__COL2IM_AXES], size[WK__COL2IM_AXES];   /* current box of q */
    char *c, *d;
    const wk__gemm_buffers *product; /* buffers of the product that computes D */
} piece;

/* Computes D of the box, row-major: rows of the piece and taps in the plan's order, q. */
static void multiply(const piece *at)
{
    const wk__col2im_plan *p = at->plan;
    const wk__work_args *whole = p->kernel;
    wk__memory memory = {.block = at->d, .host = at->d, .bytes = WK__GEMM_BUFFER_B};
    wk__contraction sum = {.dtype = whole->contraction->dtype, .nsummed = 1, .extent = {1}};
    wk__work_args product = {.operand = {{.memory = &memory, .dtype = sum.dtype, .stored = true},
                                         whole->operand[p->a],
                                         whole->operand[p->b]},
                             .contraction = &sum,
                             .tag = -1};
    product.operand[1].offset = at->offset[1];
    product.operand[2].offset = at->offset[2];
    wk__col2im_add_rows(p, &product, at->rows);
    for (int k = 0; k < WK__COL2IM_AXES; k++) {
        wk__col2im_add_dim(&product, at->size[k], 0, p->axis[k].q.stride);
        product.operand[2].offset += at->start[k] * p->axis[k].q.stride;
    }
    for (int k = 0; k < p->steps; k++) {
        sum.extent[k] = wk__index_extent(whole, p->step[k]);
        for (int f = 0; f < WK__FACTORS; f++)
            sum.stride[f][k] = wk__index_stride(whole, f == 0 ? p->a : p->b, p->step[k]);
        sum.nsummed = (int8_t)(k + 1);
    }
    int64_t step = 1;
    for (int d = product.ndim - 1; d >= 0; step *= product.shape[d--]) product.operand[0].stride[d] = step;
    wk__cpu_contraction_with_buffers(&product, at->product);
}

/* ---- C ----------------------------------------------------------------------------------------------------------- */

/* The in-range part of a tap's box of q: start in a row of D, start in a row of the piece, in elements, and extents. */
typedef struct clip {
    int64_t from, to;
    int64_t count[WK__COL2IM_AXES];
} clip;

/* The piece's buffer is row-major, but its last axis is grouped by remainder, so that positions of consecutive q are
 * contiguous. For 7 positions, divisor 2:
 *
 *     0 2 4 6 | 1 3 5
 *
 * Returns the start of a remainder's group. */
static int64_t start_of(int64_t places, int64_t divisor, int64_t remainder)
{
    return remainder * (places / divisor) + wk__min_i64(remainder, places % divisor);
}

/* Clips a tap's box; `first` is p - divisor q relative to the piece. Returns false if nothing is in range. */
static bool clip_axes(const piece *at, const int64_t first[], clip *clip)
{
    int64_t to[WK__COL2IM_AXES];
    clip->from = 0;
    for (int k = 0; k < WK__COL2IM_AXES; k++) {
        const int64_t divisor = at->plan->axis[k].q.divisor;
        const int64_t low = wk__max_i64(at->start[k], -wk__floor_div(first[k], divisor));
        const int64_t end = wk__min_i64(at->start[k] + at->size[k], -wk__floor_div(first[k] - at->places[k], divisor));
        if (low >= end) return false;
        clip->count[k] = end - low;
        clip->from = clip->from * at->size[k] + low - at->start[k];
        to[k] = divisor * low + first[k];
    }
    const int64_t divisor = at->plan->axis[WK__COL2IM_AXES - 1].q.divisor, places = at->places[WK__COL2IM_AXES - 1];
    to[WK__COL2IM_AXES - 1] =
        start_of(places, divisor, to[WK__COL2IM_AXES - 1] % divisor) + to[WK__COL2IM_AXES - 1] / divisor;
    clip->to = (to[0] * at->places[1] + to[1]) * places + to[2];
    return true;
}

/* Computes the clips of `count` taps from index `tap` on; count[] is 0 if nothing is in range. */
static void find_clips(const piece *at, int64_t tap, int64_t count, clip clips[])
{
    const wk__col2im_plan *p = at->plan;
    for (int64_t t = 0; t < count; t++) {
        int64_t number = tap + t, first[WK__COL2IM_AXES];
        for (int k = 0; k < WK__COL2IM_AXES; k++) first[k] = -p->axis[k].q.offset - at->place[k];
        for (int j = p->taps - 1; j >= 0; j--) {
            const int64_t extent = wk__index_extent(p->kernel, p->tap[j]), digit = number % extent;
            number /= extent;
            for (int k = 0; k < WK__COL2IM_AXES; k++) first[k] -= digit * p->axis[k].q.coefficient[p->tap[j]];
        }
        if (!clip_axes(at, first, &clips[t])) clips[t] = (clip){.from = 0};
    }
}

/* Adds D to the piece. */
static void add_box(const piece *at)
{
    const wk__col2im_plan *p = at->plan;
    const int64_t size = (int64_t)p->class->acc_size;
    const int64_t d_row = volume(at->size) * size, c_row = volume(at->places) * size;
    const int64_t d_plane = at->size[1] * at->size[2] * size;
    const int64_t c_plane = p->axis[0].q.divisor * at->places[1] * at->places[2] * size;
    clip clips[CLIPS];
    for (int64_t tap = 0, count; tap < p->tap_count; tap += count) {
        count = wk__min_i64(CLIPS, p->tap_count - tap);
        find_clips(at, tap, count, clips);
        for (int64_t row = 0; row < at->rows; row++)
            for (int64_t t = 0; t < count; t++) {
                const clip *clip = &clips[t];
                const int64_t of_d = p->taps_first ? (tap + t) * at->rows + row : row * p->tap_count + tap + t;
                const char *from = at->d + of_d * d_row + clip->from * size;
                char *to = at->c + row * c_row + clip->to * size;
                for (int64_t z = 0; z < clip->count[0]; z++, from += d_plane, to += c_plane)
                    p->class->add(clip->count[1], clip->count[2], from, at->size[2], to,
                                  p->axis[1].q.divisor * at->places[2]);
            }
    }
}

/* Writes positions of two remainders that are adjacent in C. */
static void write_interleaved(const wk__col2im_plan *p, char *to, const char *from, int64_t places)
{
    const int64_t sum = (int64_t)p->class->acc_size, size = p->size;
    const char *odd = from + start_of(places, 2, 1) * sum;
    _Alignas(64) char line[LINE];
    const int64_t room = LINE / (2 * sum);
    const bool same = size == sum; /* the class's own dtype: no narrowing */
    if (same) p->class->interleave(places / 2, from, odd, to);
    for (int64_t i = 0, pairs; i < places / 2 && !same; i += pairs) {
        pairs = wk__min_i64(places / 2 - i, room);
        p->class->interleave(pairs, from + i * sum, odd + i * sum, line);
        p->unpack(to + 2 * i * size, 1, 2 * pairs, line);
    }
    if (places % 2) p->unpack(to + (places - 1) * size, 1, 1, from + places / 2 * sum);
}

/* Writes a row of the buffer to C along the last axis. */
static void write_line(const piece *at, char *to, const char *from, int64_t places)
{
    const wk__col2im_plan *p = at->plan;
    const int64_t divisor = p->axis[WK__COL2IM_AXES - 1].q.divisor, step = p->axis[WK__COL2IM_AXES - 1].step;
    const int64_t size = p->size;
    if (divisor == 2 && step == 1) {
        write_interleaved(p, to, from, places);
        return;
    }
    for (int64_t r = 0; r < divisor && r < places; r++)
        p->unpack(to + r * step * size, step * divisor, (places - r - 1) / divisor + 1,
                  from + start_of(places, divisor, r) * (int64_t)p->class->acc_size);
}

static void write_piece(const piece *at)
{
    const wk__col2im_plan *p = at->plan;
    const wk__operand *out = &p->kernel->operand[0];
    const wk__col2im_axis *axis = p->axis;
    const int64_t size = p->size;
    int64_t lines = at->places[1], line = at->places[2];
    /* a plane is contiguous: write it as one line */
    if (axis[2].q.divisor == 1 && axis[1].step == line * axis[2].step) {
        line *= lines;
        lines = 1;
    }
    const char *from = at->c;
    for (int64_t row = 0; row < at->rows; row++)
        for (int64_t z = 0; z < at->places[0]; z++)
            for (int64_t y = 0; y < lines; y++, from += line * (int64_t)p->class->acc_size) {
                const int64_t place =
                    (at->place[0] + z) * axis[0].step + (at->place[1] + y) * axis[1].step + at->place[2] * axis[2].step;
                const int64_t of_row = p->row >= 0 ? row * out->stride[p->row] : 0;
                write_line(at, out->memory->host + (at->offset[0] + of_row + place) * size, from, line);
            }
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static void find_piece(const wk__col2im_plan *p, int64_t number, piece *at)
{
    const wk__work_args *kernel = p->kernel;
    *at = (piece){.plan = p};
    for (int o = 0; o <= WK__FACTORS; o++) at->offset[o] = kernel->operand[o == 0 ? 0 : o == 1 ? p->a : p->b].offset;
    for (int k = 0; k < WK__COL2IM_AXES; k++) at->places[k] = p->axis[k].places;
    const int64_t place = number % p->place_parts * p->piece_places;
    number /= p->place_parts;
    at->place[p->first] = place;
    at->places[p->first] = wk__min_i64(p->piece_places, p->axis[p->first].places - place);
    const int64_t row = number % p->row_parts * p->piece_rows;
    number /= p->row_parts;
    at->rows = wk__min_i64(p->piece_rows, p->rows - row);
    if (p->row >= 0) {
        at->offset[0] += row * kernel->operand[0].stride[p->row];
        at->offset[1] += row * kernel->operand[p->a].stride[p->row];
    }
    for (int k = p->batches - 1; k >= 0; k--) {
        const int i = p->batch[k];
        const int64_t digit = number % kernel->shape[i];
        number /= kernel->shape[i];
        at->offset[0] += digit * kernel->operand[0].stride[i];
        at->offset[1] += digit * kernel->operand[p->a].stride[i];
        at->offset[2] += digit * kernel->operand[p->b].stride[i];
    }
}

/* Computes the range of q that contribute to the piece along axis k: low .. end. */
static void find_input_range(const piece *at, int k, int64_t *low, int64_t *end)
{
    const wk__col2im_axis *axis = &at->plan->axis[k];
    const int64_t divisor = axis->q.divisor, last = at->place[k] + at->places[k] - 1;
    *low = wk__max_i64(0, -wk__floor_div(axis->after - at->place[k], divisor));
    *end = wk__min_i64(axis->q.extent, wk__floor_div(last - axis->before, divisor) + 1);
}

static void run_boxes(piece *at)
{
    const int64_t *box = at->plan->box;
    int64_t low[WK__COL2IM_AXES], end[WK__COL2IM_AXES];
    for (int k = 0; k < WK__COL2IM_AXES; k++) find_input_range(at, k, &low[k], &end[k]);
    for (at->start[0] = low[0]; at->start[0] < end[0]; at->start[0] += box[0])
        for (at->start[1] = low[1]; at->start[1] < end[1]; at->start[1] += box[1])
            for (at->start[2] = low[2]; at->start[2] < end[2]; at->start[2] += box[2]) {
                for (int k = 0; k < WK__COL2IM_AXES; k++) at->size[k] = wk__min_i64(box[k], end[k] - at->start[k]);
                multiply(at);
                add_box(at);
            }
}

static wk_code task(void *user, int64_t number, wk__gemm_buffers *const buffers[], wk__fail *fail)
{
    (void)fail;
    piece at;
    find_piece(user, number, &at);
    at.d = buffers[0]->b;
    at.c = buffers[0]->c;
    at.product = buffers[1];
    memset(at.c, 0, (size_t)(at.rows * volume(at.places)) * at.plan->class->acc_size);
    run_boxes(&at);
    write_piece(&at);
    return WK_OK;
}

wk_code wk__col2im_run(const wk__col2im_plan *p, wk__fail *fail)
{
    wk__col2im_plan plan = *p;
    return wk__gemm_tasks(&(wk__gemm_job){.tasks = wk__col2im_ntasks(p),
                                          .threads = wk__gemm_threads(wk__col2im_fmas(p)),
                                          .nbuffers = BUFFER_SETS,
                                          .body = task,
                                          .user = &plan},
                          fail);
}
