/* SPDX-License-Identifier: Apache-2.0 */
/* Adds at indices given by a tensor: scatter_add, index_add. Both use the kernel scatter_add, which adds in the order
 * of the indices on every device. */
#include "ops/core/compose.h"
#include "index_check.h"
#include "engine/anomaly.h"
#include "ops/core/view_geometry.h"
#include <string.h>

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* Index space of one call: the part of the source that the index covers. An index vector has stride 0 in the other
 * dimensions. */
typedef struct scatter_add_geometry {
    int ndim, d;
    int64_t shape[WK__MAX_DIMS], index[WK__MAX_DIMS];
} scatter_add_geometry;

/* in: target, index as i64, source. The target gets a new value, which reuses the old one's memory if that is
 * unused. */
static bool record_scatter_add(const wk__op *op, wk_site site, wk_tensor *in[3], const scatter_add_geometry *way,
                               bool in_place)
{
    wk_context *context = wk__context();
    wk__device *device =
        wk__prepare_operands(context, op, site, in, 3, in_place ? WK__COLOCATE_TO_TARGET : WK__COLOCATE_IF_SOFT);
    if (!device) return false;
    const wk__body *target = wk__body_of(in[0]), *source = wk__body_of(in[2]);
    if (!wk__prepare_target(context, in[0], in, 3, site)) return false;
    wk__value *value = wk__value_new(context, device, target->storage->bytes, site);
    wk__record *r =
        value ? wk__record_begin(context, WK__SCATTER_ADD, op, device, site, way->ndim, way->shape, 1, 2) : NULL;
    if (!r) {
        if (value) wk__value_free(value);
        return false;
    }
    r->dim = (int8_t)way->d;
    r->bound = target->shape[way->d];
    wk__record_ref(r, 1, wk__body_of(in[1]), way->index);
    wk__record_ref(r, 2, source, source->stride);
    if (in_place)
        wk__record_in_place(context, r, in[0], value);
    else
        wk__record_partial_write(context, r, in[0], value);
    return true;
}

wk_tensor *wk__at_least_1d(wk_tensor *x)
{
    return x && wk__body_of(x)->ndim == 0 ? wk_reshape_at((wk_site){0}, x, (const int64_t[]){1}, 1) : x;
}

static bool begin(const wk__op *op, wk_site site, wk_tensor *const in[], int count, int64_t dim, int *d)
{
    static const char *const role[] = {"target", "index", "source"};
    if (!wk__check_input(op, site, in[0])) return false;
    for (int k = 1; k < count; k++)
        if (!wk__check_tensor(in[k], site, op->name, role[k])) return false;
    return wk__resolve_dim(op, site, in[0], dim, 0, d);
}

static bool check_dtypes(const wk__op *op, wk_site site, wk_tensor *const in[])
{
    if (wk__body_of(in[0])->dtype == wk__body_of(in[2])->dtype) return true;
    wk__op_error(op, site, WK_ERR_DTYPE, in,
                 "the target $a and the source $c must have the same dtype; convert one with wk_to_dtype");
    return false;
}

static bool check_index_vector(const wk__op *op, wk_site site, wk_tensor *const in[], int d)
{
    const wk__body *target = wk__body_of(in[0]), *index = wk__body_of(in[1]), *source = wk__body_of(in[2]);
    bool fits = index->ndim <= 1 && target->ndim == source->ndim;
    for (int k = 0; k < target->ndim && fits; k++)
        fits = source->shape[k] == (k == d ? wk__body_numel(index) : target->shape[k]);
    if (fits && (target->ndim || wk__body_numel(index) == 1)) return true;
    wk__op_error(op, site, WK_ERR_SHAPE, in,
                 index->ndim > 1 ? "the index must be a vector, got $b; use wk_scatter_add for more dimensions"
                                 : "the source $c must have the shape of the target $a, except in dimension %d, where "
                                   "it has the size of the index $b",
                 d);
    return false;
}

/* target += source at the index. Both are checked; no tensor is 0-d. */
static bool scatter_add_into(const wk__op *op, wk_site site, wk_tensor *const call[3], int d, bool by_vector,
                             bool in_place)
{
    wk_tensor *in[3] = {call[0], wk__at_least_1d(call[1]), wk__at_least_1d(call[2])};
    if (!in[1] || !in[2]) return false;
    if (wk__body_numel(wk__body_of(in[1])) == 0) return true; /* of any shape */
    const wk__body *index = wk__body_of(in[1]), *source = wk__body_of(in[2]);
    scatter_add_geometry way = {.ndim = source->ndim, .d = d};
    memcpy(way.shape, by_vector ? source->shape : index->shape, sizeof way.shape);
    if (by_vector)
        way.index[d] = index->stride[0];
    else
        memcpy(way.index, index->stride, sizeof way.index);
    return record_scatter_add(op, site, in, &way, in_place);
}

/* Returns x + source in their computation dtype, so that f16 and bf16 are rounded once. x is copied; copying a value
 * that is freed here costs nothing. */
static wk_tensor *scatter_add_copy(const wk__op *op, wk_site site, wk_tensor *x, wk_tensor *index, wk_tensor *source,
                                   int d, bool by_vector)
{
    wk_tensor *wide = wk__to_opmath(x), *terms = wk__to_opmath(source);
    wk_tensor *copy = wk__at_least_1d(wide == x ? wk_clone_at(site, x) : wide);
    if (!copy || !terms || !scatter_add_into(op, site, (wk_tensor *const[]){copy, index, terms}, d, by_vector, false))
        return NULL;
    return wk_to_dtype_at(site, wk_reshape_at(site, copy, wk__body_of(x)->shape, wk__body_of(x)->ndim),
                          wk__body_of(x)->dtype);
}

/* Checks the operands of a call; converts in[1] to i64. */
static bool check_operands(const wk__op *op, wk_site site, wk_tensor *in[3], int64_t dim, bool by_vector, int *d)
{
    if (!begin(op, site, in, 3, dim, d) || !check_dtypes(op, site, in)) return false;
    if (by_vector ? !check_index_vector(op, site, in, *d) : !wk__check_index_shape(op, site, in, 3, *d)) return false;
    const wk__body *x = wk__body_of(in[0]);
    const int64_t bound = x->ndim ? x->shape[*d] : 1;
    in[1] = by_vector ? wk__to_i64_index(op, site, in[1], bound, in)
                      : wk__to_i64_index_or_empty(op, site, in[1], bound, in);
    return in[1] != NULL;
}

static wk_tensor *scatter_add_call(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index,
                                   wk_tensor *source, bool by_vector)
{
    wk_tensor *in[3] = {x, index, source};
    int d;
    wk__compose c;
    if (!check_operands(op, site, in, dim, by_vector, &d) || !wk__compose_begin(&c, op, site, in, 3)) return NULL;
    const wk__attr attr = wk__along_attr((wk__along_attributes){.dim = d});
    return wk__compose_end(&c, scatter_add_copy(op, site, x, in[1], source, d, by_vector), &attr);
}

static bool is_half(const wk_tensor *x)
{
    return wk__body_of(x)->dtype == WK_F16 || wk__body_of(x)->dtype == WK_BF16;
}

static wk_tensor *scatter_add_in_place(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index,
                                       wk_tensor *source, bool by_vector)
{
    wk_tensor *in[3] = {x, index, source};
    int d;
    wk__compose c;
    if (!check_operands(op, site, in, dim, by_vector, &d) || !wk__in_place_allowed(op, site, in, 3)) return NULL;
    bool node = wk__needs_grad_fn(wk__context(), in, 3), fine;
    if (!wk__compose_begin(&c, op, site, in, 3)) return NULL;
    wk__savepoint before;
    wk__savepoint_take(&before, x);
    if (is_half(x)) {
        wk_tensor *sum = scatter_add_copy(op, site, x, in[1], source, d, by_vector);
        fine = sum && wk__assign(op, site, x, wk__tensor_arg(sum));
    } else {
        wk_tensor *target = wk__at_least_1d(x);
        fine = target && scatter_add_into(op, site, (wk_tensor *const[]){target, in[1], source}, d, by_vector, true);
    }
    wk__compose_end(&c, NULL, NULL);
    if (fine && wk__anomaly_on())
        wk__anomaly_check_results(wk__context(), (wk__anomaly_call){op->name, site, &before}, &x, 1, in, 3);
    const wk__attr attr = wk__along_attr((wk__along_attributes){.dim = d});
    fine = fine && (!node || wk__node_attach_in_place(op, site, x, in, 3, &attr));
    wk__savepoint_end(&before, fine);
    return fine ? x : NULL;
}

static wk_tensor *scatter_add_in_place_call(const wk__op *op, wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index,
                                            wk_tensor *source, bool by_vector)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL_IN_PLACE, op->name, site);
    wk_tensor *out = scatter_add_in_place(op, site, x, dim, index, source, by_vector);
    wk__frame_end(context, before);
    return out;
}

wk_tensor *wk_scatter_add_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source)
{
    return scatter_add_call(&wk__op_scatter_add, site, x, dim, index, source, false);
}
wk_tensor *wk_scatter_add__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source)
{
    return scatter_add_in_place_call(&wk__op_scatter_add, site, x, dim, index, source, false);
}
wk_tensor *wk_index_add_at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source)
{
    return scatter_add_call(&wk__op_index_add, site, x, dim, index, source, true);
}
wk_tensor *wk_index_add__at(wk_site site, wk_tensor *x, int64_t dim, wk_tensor *index, wk_tensor *source)
{
    return scatter_add_in_place_call(&wk__op_index_add, site, x, dim, index, source, true);
}

wk_tensor *wk__pad_source_grad(const wk__grad_ctx *g, wk_tensor *part)
{
    const wk_site here = {0};
    const wk__tensor_meta *source = &g->node->shape[2];
    if (!part) return NULL;
    const int64_t covered = wk__body_numel(wk__body_of(part));
    if (wk__numel(source->ndim, source->size) == covered) return wk_reshape_at(here, part, source->size, source->ndim);
    wk_tensor_options options = {.size = sizeof options, .dtype = wk_dtype_of(part), .device = wk_device_of(part)};
    wk_tensor *zeros = wk_zeros_at(here, source->size, source->ndim, &options), *corner = zeros;
    if (covered == 0) return zeros;
    part = wk__at_least_1d(part);
    for (int d = 0; d < source->ndim && part; d++)
        corner = wk_narrow_at(here, corner, d, 0, wk__body_of(part)->shape[d]);
    return part && wk_copy__at(here, corner, part) ? zeros : NULL;
}

static void scatter_add_gradient(wk__grad_ctx *g)
{
    if (wk__needs_input_grad(g, 0)) g->in[0] = g->out[0];
    const int64_t d = wk__along_attributes_of(g->attr).dim;
    if (wk__needs_input_grad(g, 2))
        g->in[2] = wk__pad_source_grad(g, wk_gather_at((wk_site){0}, g->out[0], d, wk__saved(g, 1)));
}

static void index_add_gradient(wk__grad_ctx *g)
{
    if (wk__needs_input_grad(g, 0)) g->in[0] = g->out[0];
    const int64_t d = wk__along_attributes_of(g->attr).dim;
    if (wk__needs_input_grad(g, 2)) g->in[2] = wk_index_select_at((wk_site){0}, g->out[0], d, wk__saved(g, 1));
}

const wk__op wk__op_scatter_add = {
    .gradient = scatter_add_gradient,
    .saves = {0, 0, WK__SAVE_1},
    WK__SIGNATURE_scatter_add,
};
const wk__op wk__op_index_add = {
    .gradient = index_add_gradient,
    .saves = {0, 0, WK__SAVE_1},
    WK__SIGNATURE_index_add,
};
