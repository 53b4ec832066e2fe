/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the boxes on which a backend runs a contraction's epilogue with the elements of C that have been summed by
 * then. Boxes are affine, so elements are not enumerated: the check is exact for any size. */
#include "plan_check_pieces.h"
#include <string.h>

/* A set of addresses: `first`, plus any number of steps along each dimension. */
enum { LIST = WK__MAX_DIMS };
typedef struct address_set {
    int64_t first, count;
    int ndim;
    int64_t size[LIST], step[LIST]; /* steps are positive and ascending; contiguous dimensions are merged */
} address_set;

static void add(address_set *p, int64_t size, int64_t step)
{
    p->count *= size;
    if (size < 2) return;
    if (step < 0) {
        p->first += (size - 1) * step;
        step = -step;
    }
    int to = p->ndim++;
    for (; to > 0 && p->step[to - 1] > step; to--) {
        p->size[to] = p->size[to - 1];
        p->step[to] = p->step[to - 1];
    }
    p->size[to] = size;
    p->step[to] = step;
}

static void merge(address_set *p)
{
    int kept = 0;
    for (int d = 1; d < p->ndim; d++) {
        if (p->step[d] == p->size[kept] * p->step[kept]) {
            p->size[kept] *= p->size[d];
        } else {
            kept++;
            p->size[kept] = p->size[d];
            p->step[kept] = p->step[d];
        }
    }
    if (p->ndim) p->ndim = kept + 1;
}

static bool same_places(address_set *a, address_set *b)
{
    merge(a);
    merge(b);
    bool same = a->first == b->first && a->ndim == b->ndim;
    for (int d = 0; d < a->ndim && same; d++) same = a->size[d] == b->size[d] && a->step[d] == b->step[d];
    return same;
}

typedef struct visitor {
    wk__plan_check_state *c;
    int64_t elements; /* number of elements of all boxes so far */
    bool told;        /* at least one box was reported */
    bool fine;
} visitor;

static void visit_box(void *user, const wk__epilogue_box *piece)
{
    visitor *v = user;
    const wk__operand *out = &v->c->product->args->operand[0];
    wk__record *r = v->c->b->record[0];
    const int64_t *shape = wk__record_shape(r);
    address_set box = {.first = out->offset, .count = 1}, summed = {.first = piece->first, .count = 1};
    v->told = true;
    if (!v->fine) return;
    for (int d = 0; d < r->ndim; d++) {
        if (piece->start[d] < 0 || piece->size[d] < 0 || piece->size[d] > shape[d] - piece->start[d]) {
            v->fine = wk__plan_check_fail(v->c, "pieces",
                                          "the epilogue of %s covers indices %lld to %lld of dimension %d (size %lld)",
                                          wk__plan_check_name(r).text, (long long)piece->start[d],
                                          (long long)(piece->start[d] + piece->size[d] - 1), d, (long long)shape[d]);
            return;
        }
        box.first += piece->start[d] * out->stride[d];
        add(&box, piece->size[d], out->stride[d]);
    }
    add(&summed, piece->rows, piece->row_step);
    add(&summed, piece->columns, piece->column_step);
    v->elements += box.count;
    if (!same_places(&box, &summed))
        v->fine = wk__plan_check_fail(v->c, "pieces",
                                      "the epilogue of %s covers %lld elements of the product from element %lld, but "
                                      "%lld from element %lld were summed",
                                      wk__plan_check_name(r).text, (long long)box.count, (long long)box.first,
                                      (long long)summed.count, (long long)summed.first);
}

/* The null device has no kernels; contractions on it are divided into boxes like on the CPU. */
bool wk__plan_check_pieces(wk__plan_check_state *c)
{
    const wk__backend *backend = c->b->record[0]->device->backend;
    if (backend->kind == WK_NULL) backend = wk__backend_of(WK_CPU);
    if (!backend || !backend->epilogue_boxes) return true;
    visitor v = {.c = c, .fine = true};
    int64_t elements = 1;
    for (int d = 0; d < c->ndim; d++) elements *= c->shape[d];
    backend->epilogue_boxes(c->product, visit_box, &v);
    if (!v.fine || !v.told || v.elements == elements) return v.fine;
    return wk__plan_check_fail(c, "pieces", "the epilogue of %s covers %lld of %lld elements",
                               wk__plan_check_name(c->b->record[0]).text, (long long)v.elements, (long long)elements);
}
