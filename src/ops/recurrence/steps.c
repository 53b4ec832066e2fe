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

/* Returns x and y, one below the other. NULL for x: only y. */
static wk_tensor *above(wk_tensor *x, wk_tensor *y)
{
    return x ? wk_cat((x, y), 0) : y;
}

wk_tensor *wk__steps_final(const wk__steps *steps, wk_tensor *states)
{
    if (steps->reverse || !steps->row[1]) return wk_narrow(states, 0, 0, steps->row[1]);
    wk_tensor *out = NULL;
    int64_t done = 0; /* the longest sequences come first and end last */
    for (int64_t t = steps->count - 1; t >= 0 && !wk__error_pending(); t--) {
        const int64_t rows = wk__steps_rows(steps, t);
        if (rows > done) out = above(out, wk_narrow(states, 0, steps->row[t] + done, rows - done));
        done = rows;
    }
    return out;
}

wk_tensor *wk__steps_previous(const wk__steps *steps, wk_tensor *initial, wk_tensor *states)
{
    const int64_t count = steps->count, first = wk__steps_rows(steps, 0), total = steps->row[count];
    if (count == 1) return initial;
    const bool equal = total == count * first;
    if (equal && !steps->reverse) return wk_cat((initial, wk_narrow(states, 0, 0, total - first)), 0);
    if (equal) return wk_cat((wk_narrow(states, 0, first, total - first), initial), 0);
    wk_tensor *out = steps->reverse ? NULL : initial;
    for (int64_t t = !steps->reverse; t < count && !wk__error_pending(); t++) {
        const int64_t rows = wk__steps_rows(steps, t);
        if (!steps->reverse) {
            out = above(out, wk_narrow(states, 0, steps->row[t - 1], rows));
            continue;
        }
        const int64_t longer = t + 1 < count ? wk__steps_rows(steps, t + 1) : 0; /* they come from step t + 1 */
        if (longer) out = above(out, wk_narrow(states, 0, steps->row[t + 1], longer));
        if (longer < rows) out = above(out, wk_narrow(initial, 0, longer, rows - longer));
    }
    return out;
}
