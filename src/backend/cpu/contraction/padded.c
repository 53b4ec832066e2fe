/* SPDX-License-Identifier: Apache-2.0 */
/* Padded copies; see padded.h. */
#include "padded.h"

#include <string.h>

#include "backend/cpu/copy_chunks.h"
#include "base/integers.h"

enum {
    CHANNEL_GAP = 16, /* elements between copies of channels, which could otherwise all start in the same cache set */
    /* maximum elements of a copy, larger than any buffer: products of two such sizes fit int64 */
    MAX_ELEMENTS = 1 << 24,
    SHORT_ROW = 64, /* elements of a row up to which a loop is faster than a call of memcpy */
};

bool wk__padded_depends_on(const wk__padded *p, int i)
{
    bool counts = false;
    for (int k = p->first; k < WK__PADDED_AXES; k++)
        counts = counts || (wk__index_extent(p->kernel, i) > 1 && p->axis[k].q.coefficient[i] != 0);
    return counts;
}

void wk__padded_add(const wk__work_args *kernel, wk__padded_list *list, int index)
{
    list->index[list->count++] = (int8_t)index;
    list->places *= wk__index_extent(kernel, index);
}

int64_t wk__padded_offset(const wk__work_args *kernel, int operand, const wk__padded_list *list, int64_t number)
{
    int64_t offset = 0;
    for (int k = list->count - 1; k >= 0; k--) {
        const int64_t extent = wk__index_extent(kernel, list->index[k]);
        offset += number % extent * wk__index_stride(kernel, operand, list->index[k]);
        number /= extent;
    }
    return offset;
}

void wk__padded_offsets(const wk__work_args *kernel, int operand, const wk__padded_list *list, int64_t offset[])
{
    int64_t digit[WK__MAX_INDICES] = {0}, at = 0;
    for (int64_t number = 0; number < list->places; number++) {
        offset[number] = at;
        for (int k = list->count - 1; k >= 0; k--) {
            const int64_t stride = wk__index_stride(kernel, operand, list->index[k]);
            at += stride;
            if (++digit[k] < wk__index_extent(kernel, list->index[k])) break;
            at -= digit[k] * stride;
            digit[k] = 0;
        }
    }
}

void wk__padded_start(const wk__padded *p, const wk__padded_list *list, int64_t number, int64_t from,
                      int64_t offset[1 + WK__FACTORS])
{
    const wk__work_args *kernel = p->kernel;
    const int operand[] = {0, p->a, p->b}, d = p->axis[p->first].spatial_index;
    for (int o = 0; o <= WK__FACTORS; o++)
        offset[o] = kernel->operand[operand[o]].offset + wk__padded_offset(kernel, operand[o], list, number);
    if (d >= 0) offset[0] += from * kernel->operand[0].stride[d];
}

/* ---- roles of indices -------------------------------------------------------------------------------------------- */

int wk__padded_contiguous_index(const wk__work_args *kernel, int b, bool summed)
{
    const wk__contraction *sum = kernel->contraction;
    const int operand = summed ? WK__FACTORS + 1 - b : 0;
    const int from = summed ? kernel->ndim : 0, end = summed ? from + sum->nsummed : kernel->ndim;
    for (int i = from; i < end; i++) {
        if (wk__index_extent(kernel, i) == 1 || wk__index_stride(kernel, operand, i) != 1) continue;
        for (int k = 0; k < sum->naffine[b - 1]; k++)
            if (sum->affine[b - 1][k].coefficient[i] != 0) return i;
    }
    return -1;
}

/* Finds the position index of an axis; returns false if there are two, or if B also depends on it otherwise. */
static bool find_spatial_index(const wk__padded *p, wk__padded_axis *axis, bool summed)
{
    const wk__work_args *kernel = p->kernel;
    const int from = summed ? kernel->ndim : 0, end = summed ? from + kernel->contraction->nsummed : kernel->ndim;
    axis->spatial_index = -1;
    axis->places = axis->step = 1;
    for (int i = from; i < end; i++) {
        const int64_t step = axis->q.coefficient[i];
        if (wk__index_extent(kernel, i) == 1 || step == 0) continue;
        if (axis->spatial_index >= 0 || step < 1 || step > WK__PADDED_STEP || wk__index_moves(kernel, p->b, i))
            return false;
        for (const wk__padded_axis *other = &p->axis[p->first]; other < axis; other++)
            if (other->spatial_index == i) return false;
        axis->spatial_index = i;
        axis->places = wk__index_extent(kernel, i);
        axis->step = step;
    }
    return true;
}

static int64_t remainder_of(int64_t shift, int64_t step)
{
    return shift - wk__floor_div(shift, step) * step;
}

/* Returns the bit set of remainders in `seen`, and of those up to `steps` steps of `way` further. */
static unsigned add_remainders(unsigned seen, int64_t step, int64_t way, int64_t steps)
{
    unsigned all = seen;
    for (int64_t n = 1; n <= steps; n++)
        for (int64_t r = 0; r < step; r++)
            if (seen >> r & 1) all |= 1u << remainder_of(r + n * way, step);
    return all;
}

/* Computes the shifts of the taps along an axis. There may be hundreds of taps, so their indices are combined
 * instead. */
static void find_shifts(const wk__padded *p, wk__padded_axis *axis)
{
    const int64_t step = axis->step;
    int64_t low = axis->q.offset, high = low;
    unsigned seen = 1u << remainder_of(low, step);
    for (int k = 0; k < p->taps.count; k++) {
        const int64_t last = wk__index_extent(p->kernel, p->taps.index[k]) - 1;
        const int64_t way = axis->q.coefficient[p->taps.index[k]];
        *(way < 0 ? &low : &high) += last * way;
        seen = add_remainders(seen, step, way, wk__min_i64(last, step - 1));
    }
    axis->low = wk__floor_div(low, step);
    axis->high = wk__floor_div(high, step);
    for (int64_t r = 0; r < step; r++) {
        axis->part[r] = -1;
        if ((seen >> r & 1) == 0) continue;
        axis->remainder[axis->parts] = (int8_t)r;
        axis->part[r] = (int8_t)axis->parts++;
    }
}

bool wk__padded_init(wk__padded *p, const wk__work_args *kernel, int b, bool summed, int last, int64_t most)
{
    const wk__contraction *sum = kernel->contraction;
    const int count = sum->naffine[b - 1], a = WK__FACTORS + 1 - b;
    if (sum->naffine[a - 1] > 0) return false;
    *p = (wk__padded){.kernel = kernel, .a = a, .b = b, .first = WK__PADDED_AXES - count};
    p->taps.places = p->channels.places = 1;
    for (int k = 0; k < WK__PADDED_AXES; k++)
        p->axis[k] = k < p->first ? (wk__padded_axis){.q = {.divisor = 1, .extent = 1}}
                                  : (wk__padded_axis){.q = sum->affine[b - 1][k - p->first]};
    for (int k = p->first; k < WK__PADDED_AXES - 1; k++)
        if (p->axis[k].q.coefficient[last] != 0) { /* its positions must be contiguous */
            const wk__padded_axis axis = p->axis[k];
            p->axis[k] = p->axis[WK__PADDED_AXES - 1];
            p->axis[WK__PADDED_AXES - 1] = axis;
        }
    for (int k = 0; k < WK__PADDED_AXES; k++) {
        if (p->axis[k].q.divisor != 1 || p->axis[k].q.extent == 0) return false;
        if (!find_spatial_index(p, &p->axis[k], summed)) return false;
    }
    for (int i = 0; i < kernel->ndim + sum->nsummed; i++) {
        if ((i >= kernel->ndim) == summed || !wk__padded_depends_on(p, i)) continue;
        if (wk__index_extent(kernel, i) > most) return false;
        wk__padded_add(kernel, &p->taps, i);
        if (p->taps.places > most) return false;
    }
    for (int k = 0; k < WK__PADDED_AXES; k++) find_shifts(p, &p->axis[k]);
    return true;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

bool wk__padded_box_init(const wk__padded *p, int64_t from, int64_t end, wk__padded_box *box)
{
    box->part = 1;
    box->channel = 1;
    for (int k = 0; k < WK__PADDED_AXES; k++) {
        const wk__padded_axis *axis = &p->axis[k];
        box->place[k] = k == p->first ? from : 0;
        box->places[k] = k == p->first ? end - from : axis->places;
        if (axis->high - axis->low > MAX_ELEMENTS || box->places[k] > MAX_ELEMENTS) return false;
        box->size[k] = box->places[k] + axis->high - axis->low;
        box->part *= box->size[k];
        box->channel *= axis->parts;
        if (box->part * box->channel > MAX_ELEMENTS) return false;
    }
    box->channel = box->channel * box->part + CHANNEL_GAP;
    return true;
}

/* A tap's digits, and what it adds to each axis. */
typedef struct tap {
    int64_t digit[WK__MAX_INDICES], shift[WK__PADDED_AXES];
} tap;

static tap first_tap(const wk__padded *p)
{
    tap t = {.digit = {0}};
    for (int k = 0; k < WK__PADDED_AXES; k++) t.shift[k] = p->axis[k].q.offset;
    return t;
}

static void step_along(const wk__padded *p, tap *t, int i, int64_t steps)
{
    for (int k = p->first; k < WK__PADDED_AXES; k++) t->shift[k] += steps * p->axis[k].q.coefficient[i];
}

static void next_tap(const wk__padded *p, tap *t)
{
    for (int k = p->taps.count - 1; k >= 0; k--) {
        const int i = p->taps.index[k];
        step_along(p, t, i, 1);
        if (++t->digit[k] < wk__index_extent(p->kernel, i)) return;
        step_along(p, t, i, -t->digit[k]);
        t->digit[k] = 0;
    }
}

void wk__padded_tap_offsets(const wk__padded *p, const wk__padded_box *box, int64_t at[])
{
    tap t = first_tap(p);
    for (int64_t number = 0; number < p->taps.places; number++, next_tap(p, &t)) {
        int64_t part = 0, place = 0;
        for (int k = 0; k < WK__PADDED_AXES; k++) {
            const wk__padded_axis *axis = &p->axis[k];
            const int64_t whole = axis->step == 1 ? t.shift[k] : wk__floor_div(t.shift[k], axis->step);
            part = part * axis->parts + axis->part[t.shift[k] - whole * axis->step];
            place = place * box->size[k] + whole - axis->low;
        }
        at[number] = part * box->part + place;
    }
}

/* ---- copying ----------------------------------------------------------------------------------------------------- */

/* Coordinate values of a part along an axis: number n is first + n x step. */
typedef struct line {
    int64_t first, step, count;
    int64_t low, end; /* in-range numbers */
} line;

static line line_of(const wk__padded_axis *axis, const wk__padded_box *box, int k, int part)
{
    line l = {.step = axis->step, .count = box->size[k]};
    l.first = (box->place[k] + axis->low) * axis->step + axis->remainder[part];
    l.low = wk__min_i64(wk__max_i64(-wk__floor_div(l.first, l.step), 0), l.count);
    l.end = wk__max_i64(wk__min_i64(-wk__floor_div(l.first - axis->q.extent, l.step), l.count), l.low);
    return l;
}

static inline __attribute__((always_inline)) void copy_each(char *restrict to, const char *restrict from, int64_t count,
                                                            int64_t stride)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * WK__PADDED_SIZE, from + i * stride * WK__PADDED_SIZE, WK__PADDED_SIZE);
}

static inline void copy_short_row(char *to, const char *from, int64_t count)
{
    enum { CHUNK = 16 };
    if (count * WK__PADDED_SIZE < CHUNK)
        copy_each(to, from, count, 1);
    else
        wk__copy_chunks(to, from, count * WK__PADDED_SIZE, CHUNK);
}

/* With a constant stride the compiler vectorises the loop. */
static inline void copy_row(char *to, const char *from, int64_t count, int64_t stride)
{
    if (stride == 1 && count <= SHORT_ROW)
        copy_short_row(to, from, count);
    else if (stride == 1)
        memcpy(to, from, (size_t)(count * WK__PADDED_SIZE));
    else if (stride == 2)
        copy_each(to, from, count, 2);
    else
        copy_each(to, from, count, stride);
}

static void copy_part(const wk__padded *p, const line l[], const char *from, char *to)
{
    const int64_t size = WK__PADDED_SIZE;
    const int64_t row = l[2].count * size, stride = p->axis[2].q.stride * l[2].step;
    const int64_t before = l[2].low * size, after = (l[2].count - l[2].end) * size;
    const bool none = l[2].low == l[2].end; /* then `first` may be far out of range and would overflow */
    const int64_t start = none ? 0 : (l[2].first + l[2].low * l[2].step) * p->axis[2].q.stride;
    for (int64_t z = 0; z < l[0].count; z++)
        for (int64_t y = 0; y < l[1].count; y++, to += row) {
            if (z < l[0].low || z >= l[0].end || y < l[1].low || y >= l[1].end) {
                memset(to, 0, (size_t)row);
                continue;
            }
            const int64_t at = start + (l[0].first + z * l[0].step) * p->axis[0].q.stride +
                               (l[1].first + y * l[1].step) * p->axis[1].q.stride;
            for (int64_t k = 0; k < before; k += size) memset(to + k, 0, WK__PADDED_SIZE);
            copy_row(to + before, from + at * size, l[2].end - l[2].low, stride);
            for (int64_t k = 0; k < after; k += size) memset(to + row - after + k, 0, WK__PADDED_SIZE);
        }
}

void wk__padded_copy(const wk__padded *p, const wk__padded_box *box, int64_t element, char *to)
{
    const wk__operand *operand = &p->kernel->operand[p->b];
    const char *from = operand->memory->host + element * WK__PADDED_SIZE;
    line l[WK__PADDED_AXES];
    for (int part0 = 0; part0 < p->axis[0].parts; part0++) {
        l[0] = line_of(&p->axis[0], box, 0, part0);
        for (int part1 = 0; part1 < p->axis[1].parts; part1++) {
            l[1] = line_of(&p->axis[1], box, 1, part1);
            for (int part2 = 0; part2 < p->axis[2].parts; part2++, to += box->part * WK__PADDED_SIZE) {
                l[2] = line_of(&p->axis[2], box, 2, part2);
                copy_part(p, l, from, to);
            }
        }
    }
}
