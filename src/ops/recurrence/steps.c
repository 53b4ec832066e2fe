/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of packed sequences (recurrence.h): their layout, and the states before and after steps. */
#include "base/alloc.h"
#include "recurrence.h"

/* rows has one number for all steps, if `equal`. */
static wk__steps *create(wk_site site, const int64_t *rows, bool equal, int64_t count, bool reverse)
{
    int64_t bytes;
    wk__steps *s = NULL;
    if (wk__mul_size(count + 1, sizeof(int64_t), &bytes)) s = wk__alloc_zero(1, sizeof *s + (size_t)bytes);
    if (!s) {
        wk__error_set(site, WK_ERR_MEMORY, "rnn: out of host memory for %lld steps", (long long)count);
        return NULL;
    }
    atomic_init(&s->refs, 1);
    s->reverse = reverse;
    s->count = count;
    for (int64_t t = 0; t < count; t++) s->row[t + 1] = s->row[t] + rows[equal ? 0 : t];
    return s;
}

wk__steps *wk__steps_new(wk_site site, const int64_t *rows, int64_t count, bool reverse)
{
    return create(site, rows, false, count, reverse);
}

wk__steps *wk__steps_equal(wk_site site, int64_t rows, int64_t count, bool reverse)
{
    return create(site, &rows, true, count, reverse);
}

void wk__steps_drop(wk__steps *steps)
{
    if (steps && atomic_fetch_sub(&steps->refs, 1) == 1) wk__free(steps);
}

/* Ranges of rows that are joined into one matrix. Adjacent ranges of one tensor become one. */
typedef struct row_ranges {
    wk_tensor **piece; /* the ranges before the last one; owned array */
    int64_t count, capacity;
    wk_tensor *of; /* the last range, which may grow */
    int64_t start, rows;
} row_ranges;

/* Makes the last range a piece. */
static bool end_range(row_ranges *r)
{
    if (!r->rows) return true;
    if (r->count == INT32_MAX || !wk__grow(&r->piece, &r->capacity, r->count + 1, sizeof *r->piece)) {
        wk__error_set((wk_site){0}, WK_ERR_MEMORY, "rnn: out of host memory for %lld parts of the states",
                      (long long)r->count + 1);
        return false;
    }
    const bool whole = r->rows == wk__body_of(r->of)->shape[0];
    wk_tensor *piece = whole ? r->of : wk_narrow(r->of, 0, r->start, r->rows);
    r->piece[r->count++] = piece;
    return piece != NULL;
}

static bool add_range(row_ranges *r, wk_tensor *of, int64_t start, int64_t rows)
{
    if (!rows) return true;
    if (of == r->of && start == r->start + r->rows) {
        r->rows += rows;
        return true;
    }
    if (!end_range(r)) return false;
    r->of = of;
    r->start = start;
    r->rows = rows;
    return true;
}

/* Returns the ranges, of which there is at least one, below each other, and frees the array. Returns NULL if adding
 * them failed, that is, if not `fine`. */
static wk_tensor *join_ranges(row_ranges *r, bool fine)
{
    wk_tensor *out = NULL;
    if (fine && end_range(r)) out = r->count == 1 ? r->piece[0] : wk_cat_at((wk_site){0}, r->piece, (int)r->count, 0);
    wk__free(r->piece);
    return out;
}

wk_tensor *wk__steps_final(const wk__steps *steps, wk_tensor *states)
{
    if (steps->reverse || !steps->row[1]) return wk_narrow(states, 0, 0, steps->row[1]);
    row_ranges r = {0};
    bool fine = true;
    int64_t done = 0; /* the longest sequences come first and end last */
    for (int64_t t = steps->count - 1; t >= 0 && fine; t--) {
        const int64_t rows = wk__steps_rows(steps, t);
        fine = add_range(&r, states, steps->row[t] + done, rows - done);
        done = rows;
    }
    return join_ranges(&r, fine);
}

wk_tensor *wk__steps_previous(const wk__steps *steps, wk_tensor *initial, wk_tensor *states)
{
    const int64_t count = steps->count;
    if (count == 1 || !steps->row[1]) return initial;
    row_ranges r = {0};
    bool fine = steps->reverse || add_range(&r, initial, 0, steps->row[1]);
    for (int64_t t = !steps->reverse; t < count && fine; t++) {
        const int64_t rows = wk__steps_rows(steps, t);
        if (!steps->reverse) {
            fine = add_range(&r, states, steps->row[t - 1], rows);
            continue;
        }
        const int64_t longer = t + 1 < count ? wk__steps_rows(steps, t + 1) : 0; /* they come from step t + 1 */
        fine = add_range(&r, states, steps->row[t + 1], longer) && add_range(&r, initial, longer, rows - longer);
    }
    return join_ranges(&r, fine);
}
