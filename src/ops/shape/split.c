/* SPDX-License-Identifier: Apache-2.0 */
/* Splits one tensor into views: chunk, split, split_with_sizes, unbind. The pieces share a node, whose gradient joins
 * theirs. */
#include "autograd/backward.h"
#include "ops/core/view_geometry.h"
#include <string.h>

static int clear_results(wk_tensor **out, int64_t count)
{
    for (int64_t k = 0; k < count; k++) out[k] = NULL;
    return -1;
}

/* Releases the pieces made so far. */
static int release_results(wk_site site, wk_tensor **out, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (out[k]) wk__handle_release(&out[k]->handle, site);
    return clear_results(out, count);
}

/* Returns the length of piece k, with `left` elements remaining: the size in the attributes for all but the last, or
 * the entry in the list of sizes. */
static int64_t piece_length(const wk__attr *attr, int64_t k, int64_t left)
{
    if (attr->count) return attr->list[k];
    const int64_t size = wk__split_attributes_of(attr).size;
    return size < left ? size : left;
}

static bool make_pieces(const wk__op *op, wk_tensor *x, const wk__attr *attr, int64_t count, wk_tensor **out)
{
    wk__geometry whole;
    const int d = (int)wk__split_attributes_of(attr).dim;
    wk__geometry_of(wk__body_of(x), &whole);
    int64_t left = whole.shape[d];
    for (int64_t k = 0; k < count; k++) {
        wk__geometry piece = whole;
        piece.shape[d] = piece_length(attr, k, left);
        left -= piece.shape[d];
        whole.offset += piece.shape[d] * piece.stride[d];
        if (op == &wk__op_unbind) wk__geometry_drop(&piece, d);
        out[k] = wk__tensor_view(wk__context(), x, piece.offset, piece.ndim, piece.shape, piece.stride);
        if (!out[k]) return false;
    }
    return true;
}

/* More pieces than a node can have outputs: each is a separate view. */
static int split_without_node(const wk__op *op, wk_site site, wk_tensor *x, int d, const int64_t *sizes, int64_t size,
                              int64_t count, wk_tensor **out)
{
    int64_t at = 0, places = wk__body_of(x)->shape[d];
    for (int64_t k = 0; k < count; k++) {
        int64_t length = sizes ? sizes[k] : size < places - at ? size : places - at;
        out[k] = op == &wk__op_unbind ? wk_select_at(site, x, d, k) : wk_narrow_at(site, x, d, at, length);
        if (!out[k]) return release_results(site, out, count);
        at += length;
    }
    return (int)count;
}

static bool check_piece_count(const wk__op *op, wk_site site, wk_tensor *x, int64_t count)
{
    if (count <= INT32_MAX) return true;
    wk__op_error(op, site, WK_ERR_ARGUMENT, &x, "cannot split $a into %lld pieces: too many", (long long)count);
    return false;
}

/* Splits into `count` pieces of sizes[k], or of `size` except for the last. */
static int split_into(const wk__op *op, wk_site site, wk_tensor *x, int d, const int64_t *sizes, int64_t size,
                      int64_t count, wk_tensor **out)
{
    clear_results(out, count);
    bool node = wk__needs_grad_fn(wk__context(), &x, 1);
    if (count > (sizes ? WK__MAX_DIMS : WK__MAX_OUTPUTS))
        return split_without_node(op, site, x, d, sizes, size, count, out);
    wk__attr attr = wk__split_attr((wk__split_attributes){.dim = d, .size = size});
    attr.count = sizes ? (int)count : 0;
    if (sizes) memcpy(attr.list, sizes, sizeof *sizes * (size_t)count);
    if (!make_pieces(op, x, &attr, count, out)) return release_results(site, out, count);
    return node && count > 0 && !wk__node_attach(op, site, &x, 1, out, (int)count, &attr) ? clear_results(out, count)
                                                                                          : (int)count;
}

static bool begin(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, int *d)
{
    if (!wk__check_input(op, site, x) || !wk__resolve_dim(op, site, x, dim, 0, d)) return false;
    if (wk__body_of(x)->ndim) return true;
    wk__op_error(op, site, WK_ERR_SHAPE, &x, "$a has no dimensions to split");
    return false;
}

/* An empty dimension is one empty piece, as in PyTorch. */
static int64_t count_of(int64_t places, int64_t size)
{
    return places == 0 || size == 0 ? 1 : places / size + (places % size > 0);
}

/* Checks that there is an array for `count` pieces. */
static bool check_out_array(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor **out, int64_t count)
{
    return (out || wk__check_tensor(x, site, op->name, "input")) &&
           wk__array_check(out, count, site, op->name, "the array for the results");
}

int wk_split_at(wk_site site, wk_tensor *x, int64_t size, int64_t dim, wk_tensor **out)
{
    int d;
    if (!check_out_array(&wk__op_split, site, x, out, 1)) return -1;
    out[0] = NULL;
    if (!begin(&wk__op_split, site, x, dim, &d)) return -1;
    int64_t places = wk__body_of(x)->shape[d];
    if (size > 0 || (size == 0 && places == 0)) {
        const int64_t count = count_of(places, size);
        return check_piece_count(&wk__op_split, site, x, count)
                   ? split_into(&wk__op_split, site, x, d, NULL, size, count, out)
                   : -1;
    }
    wk__op_error(&wk__op_split, site, WK_ERR_ARGUMENT, &x, "the size of the pieces of $a must be at least 1, got %lld",
                 (long long)size);
    return -1;
}

/* Splits into n pieces, or fewer if the dimension is too short; out[] gets as many as there are. */
int wk__chunk(wk_site site, wk_tensor *x, int64_t n, int64_t dim, wk_tensor **out)
{
    int d;
    if (!begin(&wk__op_chunk, site, x, dim, &d)) return -1;
    if (n < 1) {
        wk__op_error(&wk__op_chunk, site, WK_ERR_ARGUMENT, &x, "cannot split $a into %lld pieces: expected at least 1",
                     (long long)n);
        return -1;
    }
    const int64_t places = wk__body_of(x)->shape[d], size = places / n + (places % n > 0);
    const int64_t count = places == 0 ? n : count_of(places, size);
    return check_piece_count(&wk__op_chunk, site, x, count)
               ? split_into(&wk__op_split, site, x, d, NULL, size, count, out)
               : -1;
}

int wk_chunk_at(wk_site site, wk_tensor *x, int64_t n, int64_t dim, wk_tensor **out)
{
    if (!check_out_array(&wk__op_chunk, site, x, out, 1)) return -1;
    for (int64_t k = 0; k < n; k++) out[k] = NULL;
    return wk__chunk(site, x, n, dim, out);
}

int wk_split_with_sizes_at(wk_site site, wk_tensor *x, const int64_t *sizes, int count, int64_t dim, wk_tensor **out)
{
    int d;
    bool fits = true;
    if (!check_out_array(&wk__op_split_with_sizes, site, x, out, count)) return -1;
    clear_results(out, count);
    if (!wk__array_check(sizes, count, site, "split_with_sizes", "the list of sizes")) return -1;
    if (!begin(&wk__op_split_with_sizes, site, x, dim, &d)) return -1;
    int64_t left = wk__body_of(x)->shape[d];
    for (int k = 0; k < count && fits; k++) {
        fits = sizes[k] >= 0 && sizes[k] <= left;
        left -= fits ? sizes[k] : 0;
    }
    if (fits && left == 0) return split_into(&wk__op_split_with_sizes, site, x, d, sizes, 0, count, out);
    wk__op_error(&wk__op_split_with_sizes, site, WK_ERR_SHAPE, &x,
                 "the sizes must add up to %lld, the size of dimension %d of $a", (long long)wk__body_of(x)->shape[d],
                 d);
    return -1;
}

int wk_unbind_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor **out)
{
    int d;
    if (!check_out_array(&wk__op_unbind, site, x, out, 1)) return -1;
    if (!begin(&wk__op_unbind, site, x, dim, &d)) return -1;
    const int64_t count = wk__body_of(x)->shape[d];
    return check_piece_count(&wk__op_unbind, site, x, count)
               ? split_into(&wk__op_unbind, site, x, d, NULL, 1, count, out)
               : -1;
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* Concatenates or stacks the pieces' gradients, with zeros for pieces without one. */
static void gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const wk__tensor_meta *from = &g->node->shape[0];
    const int d = (int)wk__split_attributes_of(g->attr).dim, count = g->node->outputs;
    const bool unbound = g->node->op == &wk__op_unbind;
    wk_tensor *piece[WK__MAX_OUTPUTS], *model = NULL;
    for (int k = 0; k < count && !model; k++) model = g->out[k];
    wk_tensor_options options = {.size = sizeof options, .dtype = wk_dtype_of(model), .device = wk_device_of(model)};
    wk__geometry shape = {.ndim = from->ndim};
    memcpy(shape.shape, from->size, sizeof shape.shape);
    if (unbound) wk__geometry_drop(&shape, d);
    for (int64_t k = 0, left = from->size[d]; k < count; k++) {
        if (!unbound) left -= shape.shape[d] = piece_length(g->attr, k, left);
        piece[k] = g->out[k] ? g->out[k] : wk_zeros_at(here, shape.shape, shape.ndim, &options);
    }
    g->in[0] = unbound ? wk_stack_at(here, piece, count, d) : wk_cat_at(here, piece, count, d);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

static bool unbinds(const wk__op *op)
{
    return op == &wk__op_unbind;
}

/* Calls that will fail count as one result; the op itself reports the error. */
static int count_split_results(const wk__op *op, wk_site site, const wk_value *args)
{
    wk_tensor *x = wk__value_tensor(&args[0]);
    const int64_t size = wk__value_int(&args[1], 1), dim = wk__value_int(&args[unbinds(op) ? 1 : 2], 0);
    int64_t count = 1;
    int d;
    if (!begin(op, site, x, dim, &d)) return -1;
    const int64_t places = wk__body_of(x)->shape[d];
    if (op == &wk__op_split && size > 0) count = count_of(places, size);
    if (op == &wk__op_chunk && size > 0)
        count = places == 0 ? size : count_of(places, places / size + (places % size > 0));
    if (op == &wk__op_split_with_sizes) count = args[1].count;
    if (unbinds(op)) count = places;
    return count > INT32_MAX ? 1 : (int)count;
}

const wk__op wk__op_split = {
    .gradient = gradient,
    .result_count = count_split_results,
    WK__SIGNATURE_split,
};
const wk__op wk__op_chunk = {
    .gradient = gradient,
    .result_count = count_split_results,
    WK__SIGNATURE_chunk,
};
const wk__op wk__op_split_with_sizes = {
    .gradient = gradient,
    .result_count = count_split_results,
    WK__SIGNATURE_split_with_sizes,
};
const wk__op wk__op_unbind = {
    .gradient = gradient,
    .result_count = count_split_results,
    WK__SIGNATURE_unbind,
};
