/* SPDX-License-Identifier: Apache-2.0 */
/* Ops whose result shape depends on data: masked_select, nonzero, nonzero_numpy. The host reads the condition, which
 * waits for the device; the data itself is then selected on the device. */
#include "ops/core/compose.h"
#include "engine/host_transfer.h"
#include "base/alloc.h"
#include "ir/scalar.h"
#include "index_check.h"
#include "nonzero.h"
#include "ops/core/view_geometry.h"
#include <string.h>

bool wk__find_nonzero(wk_site site, const wk__op *op, wk_tensor *x, int64_t **out, int64_t *count)
{
    const wk__body *body = wk__body_of(x);
    int64_t n = wk__body_numel(body), size = (int64_t)wk_dtype_size(body->dtype);
    char *data = wk__alloc((size_t)(n * size) + 1);
    *out = wk__alloc(((size_t)n + 1) * sizeof **out);
    *count = 0;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, op->name, site);
    bool read = data && *out && wk__host_download(x, data, NULL, site);
    wk__frame_end(context, before);
    if (!data || !*out)
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for %lld elements", op->name, (long long)n);
    for (int64_t k = 0; k < n && read; k++)
        if (wk__scalar_to_double(data + k * size, body->dtype) != 0) (*out)[(*count)++] = k;
    wk__free(data);
    if (!read) wk__free(*out);
    return read;
}

wk_tensor *wk__i64_on_device_of(wk_site site, const wk_tensor *x, const int64_t *data, const int64_t *shape, int ndim)
{
    wk_tensor_options options = {.size = sizeof options, .device = wk_device_of(x)};
    return wk_from_on_at(site, WK_I64, data, (size_t)wk__numel(ndim, shape) * sizeof *data, shape, ndim, &options);
}

/* ---- masked_select ----------------------------------------------------------------------------------------------- */

/* Selects the elements of in[0] where in[1], of the same shape, is set. Also returns their positions. */
static wk_tensor *select_by_mask(wk_site site, wk_tensor *const in[2], wk_tensor **places)
{
    int64_t *data, count;
    if (!in[0] || !in[1] || !wk__find_nonzero(site, &wk__op_masked_select, in[1], &data, &count)) return NULL;
    *places = wk__i64_on_device_of(site, in[0], data, &count, 1);
    wk__free(data);
    return wk_take_at(site, in[0], *places);
}

wk_tensor *wk_masked_select_at(wk_site site, wk_tensor *x, wk_tensor *mask)
{
    const wk__op *op = &wk__op_masked_select;
    wk_tensor *in[2] = {x, mask}, *places = NULL;
    if (!wk__prepare_operands(wk__context(), op, site, in, 2, WK__COLOCATE_IF_SOFT)) return NULL;
    int64_t shape[WK__MAX_DIMS];
    int ndim;
    if (!wk__broadcast_mask(op, site, in, &ndim, shape)) return NULL;
    wk__compose c;
    if (!wk__compose_begin(&c, op, site, in, 2)) return NULL;
    wk_tensor *out = select_by_mask(
        site, (wk_tensor *const[]){wk_expand_at(site, in[0], shape, ndim), wk_expand_at(site, in[1], shape, ndim)},
        &places);
    if (places) wk__handle_keep(&places->handle, site);
    wk__attr attr = {.count = ndim};
    memcpy(attr.list, shape, sizeof *shape * (size_t)ndim);
    c.inputs = 0; /* the node's second operand is created here: the positions */
    out = wk__compose_end(&c, out, NULL);
    wk_tensor *of_node[2] = {in[0], places};
    if (out && wk__needs_grad_fn(wk__context(), of_node, 2) && !wk__node_attach(op, site, of_node, 2, &out, 1, &attr))
        out = NULL;
    if (places) wk__handle_release(&places->handle, site);
    return out;
}

/* Writes the gradient to the selected positions of the broadcast shape; the engine sums it to the operand's. */
static void masked_select_gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const wk__attr *a = g->attr;
    wk_tensor_options options = {
        .size = sizeof options, .dtype = wk_dtype_of(g->out[0]), .device = wk_device_of(g->out[0])};
    wk_tensor *zeros = wk_zeros_at(here, (const int64_t[]){wk__numel(a->count, a->list)}, 1, &options);
    g->in[0] = wk_reshape_at(here, wk_index_add_at(here, zeros, 0, wk__saved(g, 1), g->out[0]), a->list, a->count);
}

const wk__op wk__op_masked_select = {
    .gradient = masked_select_gradient,
    .saves = {WK__SAVE_1},
    WK__SIGNATURE_masked_select,
};

/* ---- nonzero, nonzero_numpy: indices as rows of one tensor, or one tensor per dimension -------------------------- */

/* Indices of the nonzero elements. */
typedef struct nonzero_coords {
    int64_t count, *place; /* [dimension][count], or [count][dimension] */
} nonzero_coords;

static bool find_nonzero_coords(nonzero_coords *f, const wk__op *op, wk_site site, wk_tensor *x, bool by_dimension)
{
    int64_t *places;
    if (!wk__check_input(op, site, x) || !wk__find_nonzero(site, op, x, &places, &f->count)) return false;
    const wk__body *body = wk__body_of(x);
    const int64_t n = f->count, ndim = body->ndim;
    f->place = wk__alloc(((size_t)(n * ndim) + 1) * sizeof *f->place);
    if (!f->place)
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for %lld indices", op->name, (long long)n);
    for (int64_t k = 0; k < n && f->place; k++)
        for (int64_t d = ndim, rest = places[k]; d-- > 0; rest /= body->shape[d])
            f->place[by_dimension ? d * n + k : k * ndim + d] = rest % body->shape[d];
    wk__free(places);
    return f->place != NULL;
}

wk_tensor *wk_nonzero_at(wk_site site, wk_tensor *x)
{
    nonzero_coords f;
    wk_tensor *out = NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    if (find_nonzero_coords(&f, &wk__op_nonzero, site, x, false)) {
        out = wk__i64_on_device_of(site, x, f.place, (const int64_t[]){f.count, wk__body_of(x)->ndim}, 2);
        wk__free(f.place);
    }
    wk__frame_end(context, before);
    return out;
}

static int nonzero_per_dim(wk_site site, wk_tensor *x, wk_tensor **out)
{
    nonzero_coords f;
    if (wk__is_tensor(x) && !wk__array_check(out, 1, site, "nonzero_numpy", "the array for the results")) return -1;
    if (wk__check_input(&wk__op_nonzero_numpy, site, x) && wk__body_of(x)->ndim == 0) { /* one element or none */
        wk_tensor *row = wk_reshape_at(site, x, (const int64_t[]){1}, 1);
        int count = nonzero_per_dim(site, row, out);
        if (wk__context()->scope < 0 && row) wk__handle_release(&row->handle, site);
        return count;
    }
    const int ndim = wk__is_tensor(x) ? wk__body_of(x)->ndim : 0;
    for (int d = 0; d < ndim; d++) out[d] = NULL;
    if (!find_nonzero_coords(&f, &wk__op_nonzero_numpy, site, x, true)) return -1;
    bool whole = true;
    for (int d = 0; d < ndim && whole; d++)
        whole = (out[d] = wk__i64_on_device_of(site, x, f.place + d * f.count, &f.count, 1)) != NULL;
    wk__free(f.place);
    for (int d = 0; d < ndim && !whole; d++) {
        if (out[d]) wk__handle_release(&out[d]->handle, site);
        out[d] = NULL;
    }
    return whole ? ndim : -1;
}

int wk_nonzero_numpy_at(wk_site site, wk_tensor *x, wk_tensor **out)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const int count = nonzero_per_dim(site, x, out);
    wk__frame_end(context, before);
    return count;
}

static int numpy_results(const wk__op *op, wk_site site, const wk_value *args)
{
    wk_tensor *x = wk__value_tensor(&args[0]);
    if (!wk__check_input(op, site, x)) return -1;
    return wk__body_of(x)->ndim ? wk__body_of(x)->ndim : 1;
}

const wk__op wk__op_nonzero = {
    WK__SIGNATURE_nonzero,
};
const wk__op wk__op_nonzero_numpy = {
    .result_count = numpy_results,
    WK__SIGNATURE_nonzero_numpy,
};
