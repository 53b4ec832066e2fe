/* SPDX-License-Identifier: Apache-2.0 */
/* The first positions of a stable sort, without sorting everything else. Lines of n elements are cut into chunks of
 * about sqrt(n / k), and a rest that is shorter than a chunk:
 *
 *     |  chunk 0  |  chunk 1  |  chunk 2  | ... | rest |
 *          first       first       first                    the element of a chunk that a sort would put first
 *
 * The first k elements are in the rest or in the k chunks whose `first` are sorted first: those are k elements that
 * precede all elements of any other chunk, because equal elements are in the order of their positions and so are the
 * chunks. So two sorts of about sqrt(n k) elements select them. */
#include "reduction.h"

#include <math.h>
#include <string.h>

#include "base/integers.h"

enum { SHORTEST = 256, FEW = 64 /* elements of a line for each that is selected; with fewer, sorting is faster */ };

typedef struct selection {
    wk_site site;
    wk_tensor *x; /* with the dimension last */
    bool descending;
    int64_t length, k, chunk, chunks;
} selection;

bool wk__selects(const wk_tensor *x, int64_t length, int64_t k)
{
    const wk__body *body = wk__body_of(x);
    return length >= SHORTEST && k > 0 && k <= length / FEW && body->ndim < WK__MAX_DIMS;
}

/* Sets shape to (leading dimensions of x, a, b), or without b if it is 0. Returns the number of dimensions. */
static int shape_of_lines(const selection *s, int64_t a, int64_t b, int64_t shape[WK__MAX_DIMS])
{
    const wk__body *body = wk__body_of(s->x);
    const int leads = body->ndim - 1;
    memcpy(shape, body->shape, sizeof *shape * (size_t)leads);
    shape[leads] = a;
    if (b) shape[leads + 1] = b;
    return leads + 1 + (b != 0);
}

/* Reshape y, and expand y, to such a shape. */
static wk_tensor *as_lines(const selection *s, wk_tensor *y, int64_t a, int64_t b)
{
    int64_t shape[WK__MAX_DIMS];
    const int ndim = shape_of_lines(s, a, b, shape);
    return y ? wk_reshape_at(s->site, y, shape, ndim) : NULL;
}
static wk_tensor *spread(const selection *s, wk_tensor *y, int64_t a, int64_t b)
{
    int64_t shape[WK__MAX_DIMS];
    const int ndim = shape_of_lines(s, a, b, shape);
    return y ? wk_expand_at(s->site, y, shape, ndim) : NULL;
}

/* Returns the element of each chunk that a sort puts first. NaN is greater than all numbers. */
static wk_tensor *firsts_of(const selection *s, wk_tensor *chunks)
{
    if (s->descending) return wk_amax(chunks, (-1));
    if (!wk__is_float(wk__body_of(chunks)->dtype)) return wk_amin(chunks, (-1));
    wk_tensor *nan = wk_isnan(chunks);
    return wk_where(wk_all(nan, (-1)), (double)NAN, wk_amin(wk_where(nan, (double)INFINITY, chunks), (-1)));
}

/* Returns the numbers of the k chunks that are sorted first, in increasing order. */
static wk_tensor *chosen_chunks(const selection *s, wk_tensor *chunks)
{
    wk_tensor *order = NULL, *chosen = NULL;
    if (wk_sort_at(s->site, firsts_of(s, chunks), -1, s->descending, NULL, &order) != WK_OK) return NULL;
    order = wk_narrow_at(s->site, order, -1, 0, s->k);
    return wk_sort_at(s->site, order, -1, false, &chosen, NULL) == WK_OK ? chosen : NULL;
}

/* Sets the candidates and their positions in x. */
static bool candidates_of(const selection *s, wk_tensor **values, wk_tensor **positions)
{
    const int64_t in_chunks = s->chunks * s->chunk, rest = s->length - in_chunks, count = s->k * s->chunk;
    const wk_tensor_options like = {.size = sizeof like, .dtype = WK_I64, .device = wk_device_of(s->x)};
    wk_tensor *chunks = as_lines(s, wk_narrow_at(s->site, s->x, -1, 0, in_chunks), s->chunks, s->chunk);
    wk_tensor *chosen = chunks ? wk_unsqueeze_at(s->site, chosen_chunks(s, chunks), -1) : NULL;
    if (!chosen) return false;
    wk_tensor *all[2] = {as_lines(s, wk_gather_at(s->site, chunks, -2, spread(s, chosen, s->k, s->chunk)), count, 0)};
    wk_tensor *at[2] = {as_lines(
        s, wk_add(wk_mul(chosen, s->chunk), wk_arange_from_at(s->site, 0, (double)s->chunk, 1, &like)), count, 0)};
    if (rest > 0) {
        all[1] = wk_narrow_at(s->site, s->x, -1, in_chunks, rest);
        at[1] = spread(s, wk_arange_from_at(s->site, (double)in_chunks, (double)s->length, 1, &like), rest, 0);
    }
    *values = rest > 0 ? wk_cat_at(s->site, all, 2, -1) : all[0];
    *positions = rest > 0 ? wk_cat_at(s->site, at, 2, -1) : at[0];
    return *values && *positions;
}

bool wk__select(wk_site site, wk_tensor *x, int axis, int64_t k, bool descending, wk_tensor *out[2])
{
    selection s = {.site = site, .x = wk__move_dim_last(x, axis), .descending = descending, .k = k};
    wk_tensor *values, *positions, *sorted = NULL, *order = NULL;
    out[0] = out[1] = NULL;
    if (!s.x) return false;
    s.length = wk_size(s.x, -1);
    s.chunk = (int64_t)sqrt((double)s.length / (double)k);
    s.chunks = s.length / s.chunk;
    if (!candidates_of(&s, &values, &positions) || wk_sort_at(site, values, -1, descending, &sorted, &order) != WK_OK)
        return false;
    out[0] = wk_clone_at(site, wk__move_dim_back(wk_narrow_at(site, sorted, -1, 0, k), axis));
    out[1] = wk_contiguous_at(
        site, wk__move_dim_back(wk_gather_at(site, positions, -1, wk_narrow_at(site, order, -1, 0, k)), axis));
    return out[0] && out[1];
}
