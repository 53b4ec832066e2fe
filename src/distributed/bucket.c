/* SPDX-License-Identifier: Apache-2.0 */
/* Packing, averaging and unpacking one bucket of gradients; see bucket.h for the layout. Between submit and wait the
 * transport, possibly on the queue's thread, reads and writes host_view. */
#include "bucket.h"
#include "autograd/node.h"
#include "autograd/dispatch.h"
#include "base/alloc.h"
#include "tensor/call_scope.h"
#include <string.h>
#include <wick/autograd.h>
#include <wick/creation.h>
#include <wick/shape.h>

static wk_tensor *gradient_of(const wk_tensor *parameter)
{
    const wk__leaf *leaf = wk__body_of(parameter)->leaf;
    return leaf ? leaf->grad : NULL;
}

/* Returns the gradient of parameter k as a vector of dtype b->dtype; zeros if there is none. */
static wk_tensor *flat_gradient(const wk__bucket *b, int64_t k, wk_site site)
{
    const wk__body *body = wk__body_of(b->parameter[k]);
    wk_tensor *grad = gradient_of(b->parameter[k]);
    const int64_t elements = wk__body_numel(body);
    wk_tensor_options options = {.size = sizeof options, .dtype = b->dtype, .device = body->storage->device->id};
    if (!grad) return wk_zeros_at(site, &elements, 1, &options);
    return wk_to_dtype_at(site, wk_reshape_at(site, grad, &elements, 1), b->dtype);
}

/* Returns had[] (bucket.h) as a vector of dtype b->dtype. */
static wk_tensor *make_had(const wk__bucket *b, wk_site site)
{
    const wk_device device = wk__body_of(b->parameter[0])->storage->device->id;
    float *value = wk__alloc((size_t)b->count * sizeof *value);
    if (!value) {
        wk__error_set(site, WK_ERR_MEMORY, "backward: out of host memory");
        return NULL;
    }
    for (int64_t k = 0; k < b->count; k++) value[k] = gradient_of(b->parameter[k]) != NULL;
    wk_tensor_options options = {.size = sizeof options, .device = device};
    wk_tensor *x = wk_from_on_at(site, WK_F32, value, (size_t)b->count * sizeof *value, &b->count, 1, &options);
    wk__free(value);
    return wk_to_dtype_at(site, x, b->dtype);
}

/* Returns all gradients and had[] as one vector on the CPU; NULL on failure. */
static wk_tensor *flatten(const wk__bucket *b, wk_site site)
{
    wk_tensor **row = wk__alloc((size_t)(b->count + 1) * sizeof *row);
    if (!row) {
        wk__error_set(site, WK_ERR_MEMORY, "backward: out of host memory");
        return NULL;
    }
    bool fine = true;
    for (int64_t k = 0; k < b->count && fine; k++) fine = (row[k] = flat_gradient(b, k, site)) != NULL;
    fine = fine && (row[b->count] = make_had(b, site)) != NULL;
    wk_tensor *flat = fine ? wk_cat_at(site, row, (int)(b->count + 1), 0) : NULL;
    wk__free(row);
    return wk_to_at(site, flat, wk_cpu());
}

void wk__bucket_gather(wk__bucket *b, wk_site site)
{
    wk__call_scope c;
    if (wk__error_pending() || !wk__call_begin(&c, WK__FRAME_CALL, "backward", site, WK__GRAD_OFF)) return;
    wk_tensor *flat = flatten(b, site);
    if (flat && wk__materialize(flat, site)) {
        b->flat = flat;
        wk__handle_hold(&flat->handle);
    }
    wk__call_end(&c, NULL, 0);
}

void wk__bucket_submit(wk__bucket *b, wk__dist_group *group, int network, wk_site site)
{
    const bool ready = b->flat && !wk__error_pending() && wk__host_map(b->flat, &b->host_view, site);
    char *at = (char *)(uintptr_t)b->host_view.first; /* flat is private, so it may be written */
    wk__dist_request request = {.kind = WK__DIST_ALL_REDUCE,
                                .dtype = b->dtype,
                                .op = WK_DIST_AVG,
                                .count = b->elements + b->count,
                                .in = at,
                                .out = at,
                                .label = b->label,
                                .parent_op = "backward",
                                .ddp_id = network};
    if (!ready) {
        request.code = wk_error_code();
        request.error_text = wk_error();
    }
    wk__dist_submit(&b->ticket, group, &request);
}

bool wk__bucket_wait(wk__bucket *b, wk_site site)
{
    return wk__dist_wait(&b->ticket, site, "backward") == WK_OK;
}

static bool any_rank_has_grad(const wk__bucket *b, int64_t k)
{
    const char *at = b->host_view.first;
    const int64_t place = b->elements + k;
    return b->dtype == WK_F64 ? ((const double *)(const void *)at)[place] > 0
                              : ((const float *)(const void *)at)[place] > 0;
}

static bool set_gradient(wk_tensor *parameter, wk_tensor *mean, wk_site site)
{
    wk_tensor *grad = gradient_of(parameter);
    if (grad) return wk__dispatch_copy_(grad, mean) != NULL;
    return wk_set_grad_at(site, parameter, wk_clone_at(site, mean)) == WK_OK;
}

bool wk__bucket_scatter(const wk__bucket *b, wk_site site)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, "backward", site, WK__GRAD_OFF)) return false;
    bool fine = true;
    int64_t from = 0;
    for (int64_t k = 0; k < b->count && fine; k++) {
        const wk__body *body = wk__body_of(b->parameter[k]);
        const int64_t elements = wk__body_numel(body);
        if (any_rank_has_grad(b, k)) {
            wk_tensor *row = wk_narrow_at(site, b->flat, 0, from, elements);
            wk_tensor *mean = wk_to_dtype_at(site, wk_reshape_at(site, row, body->shape, body->ndim), body->dtype);
            mean = wk_to_at(site, mean, body->storage->device->id);
            fine = mean && set_gradient(b->parameter[k], mean, site);
        }
        from += elements;
    }
    wk__call_end(&c, NULL, 0);
    return fine;
}

void wk__bucket_end(wk__bucket *b)
{
    if (b->ticket.abandoned) b->host_view = (wk__host_mapping){.first = NULL}; /* the transport may still access it */
    wk__host_unmap(&b->host_view);
    if (b->flat && !b->ticket.abandoned) wk__handle_drop(&b->flat->handle);
    b->flat = NULL;
}
