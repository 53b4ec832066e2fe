/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering; see im2col.h. A block is gathered in slices into a small matrix of unconverted elements, and each slice is
 * packed like a matrix. The matrix is filled in runs of the innermost index:
 *
 *     x[2 t + k - 1], size 8, t = 0..4, k = 0        numerators  -1  1  3  5  7
 *                                                    run          0 x1 x3 x5 x7 */
#include "im2col.h"

#include <string.h>

#include "backend/cpu/copy_chunks.h"
#include "base/integers.h"

enum {
    SLICE = 24 * 1024, /* bytes of that matrix: stays in L1 */
    PACK_STEPS = 16,   /* granularity of steps in `pack`; a packed element has 1 or 2 */
    MOST_STEPS = 256,  /* maximum steps, and so runs, per slice */
};

/* ---- addresses --------------------------------------------------------------------------------------------------- */

/* Element and coordinate numerators for some indices. */
typedef struct position {
    int64_t element;
    int64_t numerator[WK__MAX_AFFINE];
} position;

/* A position in a list of indices, with its digits. */
typedef struct cursor {
    position at;
    int64_t digit[WK__MAX_DIMS];
} cursor;

static void step_along(const wk__im2col *g, position *p, const wk__im2col_index *index, int64_t count)
{
    p->element += count * index->stride;
    for (int k = 0; k < g->coordinates; k++) p->numerator[k] += count * index->coefficient[k];
}

static void seek(const wk__im2col *g, const wk__im2col_indices *list, int64_t number, cursor *c)
{
    for (int i = list->count - 1; i >= 0; i--) {
        c->digit[i] = number % list->index[i].extent;
        number /= list->index[i].extent;
        step_along(g, &c->at, &list->index[i], c->digit[i]);
    }
}

/* Advances by `count` along the innermost index, at most to its end. */
static void advance(const wk__im2col *g, const wk__im2col_indices *list, int64_t count, cursor *c)
{
    int i = list->count - 1;
    if (i < 0) return;
    c->digit[i] += count;
    step_along(g, &c->at, &list->index[i], count);
    for (; i > 0 && c->digit[i] == list->index[i].extent; i--) {
        step_along(g, &c->at, &list->index[i], -c->digit[i]);
        c->digit[i] = 0;
        c->digit[i - 1]++;
        step_along(g, &c->at, &list->index[i - 1], 1);
    }
}

static cursor cursor_at(const wk__im2col *g, int64_t batch, const wk__im2col_indices *list, int64_t number)
{
    cursor c = {.at.element = g->offset};
    for (int k = 0; k < g->coordinates; k++) c.at.numerator[k] = g->coordinate[k].offset;
    seek(g, &g->batch, batch, &c);
    seek(g, list, number, &c);
    return c;
}

const char *wk__im2col_address(const wk__im2col *g, int64_t batch, int64_t step)
{
    return g->start + cursor_at(g, batch, &g->steps, step).at.element * g->size;
}

static bool are_contiguous(const wk__im2col_index *outer, const wk__im2col_index *inner, int coordinates)
{
    bool one = outer->stride == inner->stride * inner->extent;
    for (int k = 0; k < coordinates; k++) one = one && outer->coefficient[k] == inner->coefficient[k] * inner->extent;
    return one;
}

void wk__im2col_add_index(wk__im2col_indices *list, const wk__im2col_index *index, int coordinates)
{
    wk__im2col_index *last = list->count > 0 ? &list->index[list->count - 1] : NULL;
    if (!last || !are_contiguous(last, index, coordinates)) {
        list->index[list->count++] = *index;
        return;
    }
    const int64_t extent = last->extent * index->extent;
    *last = *index;
    last->extent = extent;
}

/* ---- clipping ---------------------------------------------------------------------------------------------------- */

/* In-range steps of a run: first, first + every, .. below `end`; the element of the first, and the stride between
 * them. */
typedef struct clip {
    int64_t first, end, every;
    int64_t element, stride;
} clip;

/* Keeps the steps i where numerator + i x coefficient is a multiple of the divisor; returns false if there are none. */
static bool clip_divisible(int64_t numerator, int64_t coefficient, int64_t divisor, clip *in)
{
    const int64_t every = divisor / wk__gcd(divisor, coefficient); /* steps with the same remainder */
    for (int64_t tried = 0; tried < every; tried++, in->first += in->every) {
        if (in->first >= in->end) return false;
        if ((numerator + in->first * coefficient) % divisor != 0) continue;
        in->every = in->every / wk__gcd(in->every, every) * every;
        return true;
    }
    return false;
}

/* Keeps the steps where the numerator is in [0, limit); returns false if there are none. */
static bool clip_range(int64_t numerator, int64_t coefficient, int64_t limit, clip *in)
{
    const bool rises = coefficient > 0;
    const int64_t step = rises ? coefficient : -coefficient;
    const int64_t first = rises ? wk__ceil_div(-numerator, step) : wk__ceil_div(numerator - limit + 1, step);
    const int64_t end = rises ? wk__ceil_div(limit - numerator, step) : wk__ceil_div(numerator + 1, step);
    if (in->first < first) in->first += wk__ceil_div(first - in->first, in->every) * in->every;
    if (in->end > end) in->end = end;
    return in->first < in->end;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void copy_each(char *to, const char *from, const clip *in, size_t size)
{
    const int64_t stride = in->stride * (int64_t)size;
    for (int64_t i = in->first, k = 0; i < in->end; i += in->every, k++)
        memcpy(to + i * (int64_t)size, from + k * stride, size);
}

/* Copies every second 4-byte element, as in convolutions of stride 2; vectorises. */
static void copy_pairs(char *restrict to, const char *restrict from, int64_t count)
{
    for (int64_t i = 0; i + 1 < count; i++) memcpy(to + 4 * i, from + 8 * i, 4);
    if (count > 0) memcpy(to + 4 * (count - 1), from + 8 * (count - 1), 4); /* does not read past the last element */
}

/* Copies tens of bytes, faster than a call of memcpy. */
static inline void copy_short(char *to, const char *from, int64_t bytes)
{
    if (bytes >= 128)
        memcpy(to, from, (size_t)bytes);
    else if (bytes >= 16)
        wk__copy_chunks(to, from, bytes, 16);
    else if (bytes >= 4)
        wk__copy_chunks(to, from, bytes, 4);
    else
        for (int64_t k = 0; k < bytes; k++) to[k] = from[k];
}

/* Copies the in-range part of a run, from `element` on; the rest is already 0. */
static void copy_run(const wk__im2col *g, char *to, const clip *in, int64_t element)
{
    const char *from = g->start + element * g->size;
    if (in->every == 1 && in->stride == 1)
        copy_short(to + in->first * g->size, from, (in->end - in->first) * g->size);
    else if (g->size == 4 && in->every == 1 && in->stride == 2)
        copy_pairs(to + 4 * in->first, from, in->end - in->first);
    else if (g->size == 4)
        copy_each(to, from, in, 4);
    else if (g->size == 2)
        copy_each(to, from, in, 2);
    else if (g->size == 8)
        copy_each(to, from, in, 8);
    else
        copy_each(to, from, in, 1);
}

/* Consecutive indices along the innermost index of a list, with their position relative to the list's start. Rows of a
 * plane often form equal runs: the coordinates that vary along them clip them equally. */
typedef struct run {
    int64_t first, count;
    position from;
    bool same_shape; /* is clipped like the previous run */
    int rows, down;  /* runs from this one on that are rows of one plane; the coordinate that counts them */
} run;

static bool clip_alike(const wk__im2col *g, const wk__im2col_index *index, const run *a, const run *b)
{
    bool alike = a->count == b->count;
    for (int k = 0; k < g->coordinates; k++)
        alike = alike && (index->coefficient[k] == 0 || a->from.numerator[k] == b->from.numerator[k]);
    return alike;
}

/* Returns true if b is the row after a in a plane whose rows are adjacent in memory, as in convolutions that keep the
 * sizes: then rows are copied together. Sets a->down. */
static bool is_next_row(const wk__im2col *g, const wk__im2col_index *index, run *a, const run *b)
{
    int moves = 0;
    if (a->count != b->count || a->from.element != b->from.element) return false;
    for (int k = 0; k < g->coordinates; k++) {
        const wk__affine_index *q = &g->coordinate[k];
        if (a->from.numerator[k] == b->from.numerator[k]) continue;
        if (b->from.numerator[k] != a->from.numerator[k] + 1 || index->coefficient[k] != 0) return false;
        if (q->divisor != 1 || q->stride != a->count) return false;
        a->down = k;
        moves++;
    }
    return moves == 1;
}

/* Joins runs that are rows of one plane. */
static void find_planes(const wk__im2col *g, const wk__im2col_index *index, run runs[], int64_t count)
{
    for (run *r = runs; r < runs + count; r += r->rows) {
        run *end = r + 1;
        while (end < runs + count && is_next_row(g, index, end - 1, end) && end[-1].down == r->down) end++;
        r->rows = (int)(end - r);
    }
}

/* Divides `count` indices of a list, from `number` on, into runs; returns how many. */
static int64_t find_runs(const wk__im2col *g, const wk__im2col_indices *list, int64_t number, int64_t count, run runs[])
{
    const int last = list->count - 1;
    cursor c = {.at.element = 0};
    int64_t found = 0;
    seek(g, list, number, &c);
    for (int64_t first = 0; first < count;) {
        const int64_t rest = list->index[last].extent - c.digit[last];
        run *r = &runs[found++];
        *r = (run){.first = first, .count = wk__min_i64(rest, count - first), .from = c.at, .rows = 1};
        r->same_shape = found > 1 && clip_alike(g, &list->index[last], r - 1, r);
        advance(g, list, r->count, &c);
        first += r->count;
    }
    find_planes(g, &list->index[last], runs, found);
    return found;
}

/* Clips a run by the coordinates that vary along it; elements are relative to the contribution of the other
 * coordinates. Handles all coordinates; clip_inner() handles the common ones without division. */
static bool clip_inner_general(const wk__im2col *g, const wk__im2col_index *index, const position *row, const run *r,
                               clip *in)
{
    int64_t numerator[WK__MAX_AFFINE];
    *in = (clip){.end = r->count, .every = 1};
    for (int k = 0; k < g->coordinates; k++) {
        const wk__affine_index *q = &g->coordinate[k];
        const int64_t coefficient = index->coefficient[k];
        numerator[k] = row->numerator[k] + r->from.numerator[k];
        if (coefficient == 0) continue;
        if (q->divisor > 1 && !clip_divisible(numerator[k], coefficient, q->divisor, in)) return false;
        if (!clip_range(numerator[k], coefficient, q->extent * q->divisor, in)) return false;
    }
    const bool alone = in->first + in->every >= in->end; /* a single step: no stride */
    in->element = in->first * index->stride;
    in->stride = alone ? 0 : in->every * index->stride;
    for (int k = 0; k < g->coordinates; k++) {
        const wk__affine_index *q = &g->coordinate[k];
        const int64_t coefficient = index->coefficient[k];
        if (coefficient == 0) continue;
        in->element += (numerator[k] + in->first * coefficient) / q->divisor * q->stride;
        if (!alone) in->stride += in->every * coefficient / q->divisor * q->stride;
    }
    return true;
}

/* Fast path of clip_inner_general(). */
static bool clip_inner(const wk__im2col *g, const wk__im2col_index *index, const position *row, const run *r, clip *in)
{
    int64_t first = 0, end = r->count, element = 0, stride = index->stride;
    for (int k = 0; k < g->coordinates; k++) {
        const wk__affine_index *q = &g->coordinate[k];
        const int64_t at = row->numerator[k] + r->from.numerator[k], coefficient = index->coefficient[k],
                      last = at + (r->count - 1) * coefficient;
        if (coefficient == 0) continue;
        if (q->divisor != 1) return clip_inner_general(g, index, row, r, in);
        if (coefficient == 1) {
            if (first < -at) first = -at;
            if (end > q->extent - at) end = q->extent - at;
            if (first >= end) return false; /* far out of range: the element below would overflow */
        } else if (at < 0 || at >= q->extent || last < 0 || last >= q->extent) {
            return clip_inner_general(g, index, row, r, in);
        }
        element += at * q->stride;
        stride += coefficient * q->stride;
    }
    *in = (clip){.first = first, .end = end, .every = 1, .element = element + first * stride, .stride = stride};
    return first < end;
}

/* Adds the contribution of the coordinates that are constant along a run, except `without`, to *element; returns false
 * if one is out of range. */
static inline bool add_outer_offset(const wk__im2col *g, const wk__im2col_index *index, const position *row,
                                    const run *r, int without, int64_t *element)
{
    for (int k = 0; k < g->coordinates; k++) {
        const wk__affine_index *q = &g->coordinate[k];
        int64_t at = row->numerator[k] + r->from.numerator[k];
        if (index->coefficient[k] != 0 || k == without) continue;
        if (q->divisor != 1) {
            if (at % q->divisor != 0) return false;
            at /= q->divisor;
        }
        if (at < 0 || at >= q->extent) return false;
        *element += at * q->stride;
    }
    return true;
}

/* Copies the rows of a plane that are in range, with what lies between them in memory, and clears that again. `at`: the
 * coordinate of the first row. */
static void copy_plane(const wk__im2col *g, char *to, const run *r, const clip *in, int64_t element, int64_t at)
{
    const wk__affine_index *q = &g->coordinate[r->down];
    const int64_t low = wk__max_i64(0, -at), end = wk__min_i64(r->rows, q->extent - at);
    const int64_t row = r->count * g->size, gap = row - (in->end - in->first) * g->size;
    const uint32_t zero = 0;
    if (low >= end) return;
    to += (r->first + low * r->count + in->first) * g->size;
    copy_short(to, g->start + (element + (at + low) * q->stride) * g->size, (end - low) * row - gap);
    for (int64_t k = 1; k < end - low && gap > 0; k++) {
        if (gap == (int64_t)sizeof zero)
            memcpy(to + k * row - gap, &zero, sizeof zero); /* without a call: the most frequent case */
        else
            memset(to + k * row - gap, 0, (size_t)gap);
    }
}

/* Gathers the in-range elements of a row of the matrix. */
static void gather_row(const wk__im2col *g, const position *row, const wk__im2col_index *index, const run runs[],
                       int64_t count, char *to)
{
    clip in;
    bool some = false;
    for (const run *r = runs; r < runs + count;) {
        if (!r->same_shape) some = clip_inner(g, index, row, r, &in);
        const bool plane = some && r->rows > 1 && in.every == 1 && in.stride == 1;
        int64_t element = row->element + r->from.element;
        if (some && add_outer_offset(g, index, row, r, plane ? r->down : -1, &element)) {
            if (plane)
                copy_plane(g, to, r, &in, element + in.element, row->numerator[r->down] + r->from.numerator[r->down]);
            else
                copy_run(g, to + r->first * g->size, &in, element + in.element);
        }
        r += plane || !some ? r->rows : 1;
    }
}

/* Gathers the matrix: `rows` indices of one list from `row` on, by runs of the other. `pitch`: bytes between rows. */
static void gather_matrix(const wk__im2col *g, int64_t batch, const wk__im2col_indices *across, int64_t row,
                          int64_t rows, const wk__im2col_indices *along, const run runs[], int64_t count, int64_t pitch,
                          char *to)
{
    cursor c = cursor_at(g, batch, across, row);
    /* one call: clearing each run separately would take longer than copying it */
    memset(to, 0, (size_t)(rows * pitch));
    for (int64_t k = 0; k < rows; k++, to += pitch) {
        gather_row(g, &c.at, &along->index[along->count - 1], runs, count, to);
        advance(g, across, 1, &c);
    }
}

/* ---- panels ------------------------------------------------------------------------------------------------------ */

static int64_t innermost(const wk__im2col_indices *list)
{
    return list->index[list->count - 1].extent;
}

/* Returns true if runs of steps can be packed like matrices and are long; short ones are copied faster. */
bool wk__im2col_is_matrix(const wk__im2col *g)
{
    return g->coordinates == 0 && g->lines.count == 1 && innermost(&g->steps) >= PACK_STEPS;
}

static void pack_panel(const wk__im2col *g, wk__gemm_pack *pack, char *out, const wk__im2col_block *block, int64_t line,
                       int64_t lines)
{
    const wk__im2col_index *step = &g->steps.index[g->steps.count - 1];
    const int64_t wide = (lines + block->panel_unit - 1) / block->panel_unit * block->panel_unit;
    cursor c = cursor_at(g, block->batch, &g->steps, block->step);
    c.at.element += line * g->lines.index[0].stride;
    for (int64_t at = 0, run; at < block->steps; at += run) {
        run = wk__min_i64(step->extent - c.digit[g->steps.count - 1], block->steps - at);
        pack(out + at * wide * (int64_t)block->class->packed_size, block->width, block->panel_unit, lines, run,
             g->start + c.at.element * g->size, g->lines.index[0].stride, step->stride);
        advance(g, &g->steps, run, &c);
    }
}

/* Returns the steps of a slice from `step` on: complete runs if they fit, unless packed elements are pairs, which a run
 * may split. */
static int64_t slice_of(const wk__im2col *g, const wk__im2col_block *block, int64_t step, int64_t most)
{
    const int64_t inner = innermost(&g->steps);
    return block->class->k_per_packed > 1 || inner > most ? most : most / inner * inner - step % inner;
}

static void gather_panel(const wk__im2col *g, wk__gemm_pack *pack, char *out, const wk__im2col_block *block,
                         int64_t line, int64_t lines)
{
    _Alignas(64) char matrix[SLICE];
    run runs[MOST_STEPS];
    const int64_t wide = (lines + block->panel_unit - 1) / block->panel_unit * block->panel_unit;
    const int64_t most = wk__min_i64(SLICE / (block->width * g->size) / PACK_STEPS * PACK_STEPS, MOST_STEPS);
    const bool by_lines = wk__min_i64(innermost(&g->lines), lines) >= wk__min_i64(innermost(&g->steps), most);
    int64_t count = by_lines ? find_runs(g, &g->lines, line, lines, runs) : 0;
    if (by_lines && block->same_bits) { /* a row of the matrix is a row of the panel */
        gather_matrix(g, block->batch, &g->steps, block->step, block->steps, &g->lines, runs, count, wide * g->size,
                      out);
        return;
    }
    for (int64_t step = 0, steps; step < block->steps; step += steps) {
        steps = wk__min_i64(by_lines ? most : slice_of(g, block, block->step + step, most), block->steps - step);
        char *to = out + wk__gemm_packed_k(block->class, step) * wide * (int64_t)block->class->packed_size;
        if (by_lines) {
            gather_matrix(g, block->batch, &g->steps, block->step + step, steps, &g->lines, runs, count,
                          lines * g->size, matrix);
            pack(to, block->width, block->panel_unit, lines, steps, matrix, 1, lines);
        } else {
            count = find_runs(g, &g->steps, block->step + step, steps, runs);
            gather_matrix(g, block->batch, &g->lines, line, lines, &g->steps, runs, count, steps * g->size, matrix);
            pack(to, block->width, block->panel_unit, lines, steps, matrix, steps, 1);
        }
    }
}

void wk__im2col_pack(const wk__im2col *gather, wk__gemm_pack *pack, void *out, const wk__im2col_block *block)
{
    if (block->steps == 0) return;
    char *to = out;
    /* otherwise runs would split pairs */
    const bool as_matrix = wk__im2col_is_matrix(gather) && block->class->k_per_packed == 1;
    for (int64_t line = block->line, lines; line < block->line_end; line += lines) {
        lines = wk__min_i64(block->width, block->line_end - line);
        (as_matrix ? pack_panel : gather_panel)(gather, pack, to, block, line, lines);
        const int64_t wide = (lines + block->panel_unit - 1) / block->panel_unit * block->panel_unit;
        to += wide * wk__gemm_packed_k(block->class, block->steps) * (int64_t)block->class->packed_size + WK__GEMM_GAP;
    }
}
