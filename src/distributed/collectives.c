/* SPDX-License-Identifier: Apache-2.0 */
/* Public collectives on tensors. Each checks its arguments, maps the data into host memory, submits a request and
 * stores the result in a tensor. An error on the way is submitted in place of the data, since the other ranks wait for
 * this one. */
#include "base/alloc.h"
#include "base/options.h"
#include "engine/host_transfer.h"
#include "ops/core/tensor_swap.h"
#include "ops/core/call.h"
#include "tensor/call_scope.h"
#include "group.h"
#include <wick/creation.h>

typedef struct call {
    wk_site site;
    const char *op;
    wk__dist_group *group;
    const wk_dist_group *handle; /* handle passed by user code; NULL: the world */
    wk_tensor *x;
    wk__dist_request request;
    wk__call_scope inside;
    wk__host_mapping host_view; /* host memory of x, if x is contiguous */
    void *packed;               /* else a packed copy of x, owned */
    wk_tensor *result;          /* new tensor for the result; NULL for calls in place */
    void *staging;              /* host buffer for a result that is not on the CPU, owned */
} call;

/* ---- beginning and ending ---------------------------------------------------------------------------------------- */

/* Initializes the call. Returns false after recording an error if this rank cannot take part at all. */
static bool begin(call *c, wk__dist_kind kind, const char *op, wk_site site, wk_tensor *x, const wk_dist_group *group)
{
    if (wk__forked) return wk__report_forked(site, op);
    *c = (call){.site = site, .op = op, .handle = group, .x = x, .request = {.kind = kind, .blocking = true}};
    c->group = wk__dist_group_of(site, op, group);
    if (!c->group || !wk__call_begin(&c->inside, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return false;
    wk_context *context = wk__context();
    wk__flush(context);
    if (context->posted_failure) wk__report_posted_failure(context);
    return true;
}

/* Reads the options of a call into the larger of the two option structs. */
static bool options_of(const void *given, bool reduces, wk_site site, const char *op, wk_dist_reduce_options *out)
{
    wk_dist_call_options plain;
    if (reduces) return wk__options(site, op, (const wk_dist_reduce_options *)given, out);
    if (!wk__options(site, op, (const wk_dist_call_options *)given, &plain)) return false;
    *out = (wk_dist_reduce_options){.group = plain.group};
    return true;
}

static wk_tensor *end(call *c, wk_tensor *out, bool moves)
{
    wk__host_unmap(&c->host_view);
    wk__free(c->packed);
    wk__free(c->staging);
    wk__call_end(&c->inside, moves ? &out : NULL, moves ? 1 : 0);
    return out;
}

static bool refuse(const call *c, wk_code code, const char *what)
{
    const wk__body *body = wk__body_of(c->x);
    wk__text text = {0};
    wk__text_format(&text, "%s: %s", c->op, wk_dtype_str((wk_dtype)body->dtype));
    wk__text_shape(&text, body->ndim, body->shape);
    wk__text_format(&text, " %s", what);
    wk__error_set_text(c->site, code, &text);
    return false;
}

/* ---- data in and out --------------------------------------------------------------------------------------------- */

/* Checks that x is a live tensor and describes it in the request. */
static bool set_input(call *c)
{
    if (!wk__check_tensor(c->x, c->site, c->op, "input")) return false;
    const wk__body *body = wk__body_of(c->x);
    c->request.dtype = (wk_dtype)body->dtype;
    c->request.count = wk__body_numel(body);
    return true;
}

static bool read_input(call *c)
{
    const wk__body *body = wk__body_of(c->x);
    const int64_t bytes = wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype);
    if (wk__body_contiguous(body) && body->dtype != WK_BOOL) {
        if (!wk__host_map(c->x, &c->host_view, c->site)) return false;
        c->request.in = c->host_view.first;
        return true;
    }
    c->packed = wk__alloc((size_t)bytes + 1);
    if (!c->packed) {
        wk__error_set(c->site, WK_ERR_MEMORY, "%s: out of host memory for %lld bytes", c->op, (long long)bytes);
        return false;
    }
    c->request.in = c->packed;
    return wk__host_download(c->x, c->packed, NULL, c->site);
}

/* Allocates the result, on the device of x. */
static bool alloc_output(call *c, int ndim, const int64_t *shape)
{
    const wk__body *body = wk__body_of(c->x);
    wk__device *device = body->storage->device;
    wk__fail fail = {.tag = -1};
    c->result = wk__tensor_pending(wk__context(), device, (wk_dtype)body->dtype, ndim, shape, c->site, c->op);
    if (!c->result) return false;
    wk__value *value = wk__body_of(c->result)->storage->value;
    wk_code code = wk__value_alloc_memory(value, value->bytes, &fail);
    if (code == WK_OK && !value->memory.host && !(c->staging = wk__alloc((size_t)value->bytes + 1)))
        code = wk__fail_set(&fail, WK_ERR_MEMORY, "out of host memory for %lld bytes", (long long)value->bytes);
    c->request.out = value->memory.host ? value->memory.host : c->staging;
    if (code != WK_OK) wk__error_set(c->site, code, "%s: %s", c->op, fail.text);
    return code == WK_OK;
}

static bool finish_output(call *c)
{
    wk__value *value = wk__body_of(c->result)->storage->value;
    wk__fail fail = {.tag = -1};
    if (c->staging && value->bytes > 0) {
        const wk__device *device = value->device;
        atomic_fetch_add(&value->device->uploads, value->bytes);
        const wk_code code = device->backend->upload(device->state, &value->memory, 0, c->staging, value->bytes, &fail);
        if (code != WK_OK) {
            wk__error_set(c->site, code, "%s: %s", c->op, fail.text);
            return wk__discard_result(c->result) != NULL;
        }
    }
    wk__value_set_state(value, WK__STORED);
    return true;
}

/* Leaks all buffers of an abandoned call, which the transport may still access. */
static void leak_buffers(call *c)
{
    if (c->host_view.first) wk__value_hold(wk__body_of(c->x)->storage->value);
    if (c->result) wk__handle_hold(&c->result->handle);
    if (c->handle) wk__handle_hold((wk__handle *)(uintptr_t)c->handle);
    c->result = NULL;
    c->packed = c->staging = NULL;
    c->host_view = (wk__host_mapping){.first = NULL};
}

/* Runs the request on all ranks, or sends them the pending error of this one. */
static bool run_call(call *c, bool ready)
{
    wk__dist_ticket ticket;
    if (!ready || (c->group->size > 1 && wk__error_pending())) {
        c->request.code = wk_error_code();
        c->request.error_text = wk_error();
    }
    wk__dist_submit(&ticket, c->group, &c->request);
    if (wk__dist_wait(&ticket, c->site, c->op) == WK_OK) return !c->result || finish_output(c);
    if (ticket.abandoned) leak_buffers(c);
    if (c->result) c->result = wk__discard_result(c->result);
    return false;
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

/* Refuses a target in which elements share memory. */
static bool check_target(const call *c)
{
    return !wk__body_overlaps(wk__body_of(c->x)) ||
           refuse(c, WK_ERR_STATE, "has elements that share memory; wk_clone it first");
}

static bool same_shape(call *c)
{
    const wk__body *body = wk__body_of(c->x);
    return alloc_output(c, body->ndim, body->shape);
}

/* Assigns the received data to x. */
static wk_tensor *store_in_place(call *c)
{
    const wk__body *body = wk__body_of(c->x);
    const bool whole = wk__body_contiguous(body) && wk__body_of(c->result)->storage->bytes == body->storage->bytes;
    return (whole ? wk__assign_one(c->x, c->result) : wk_copy__at(c->site, c->x, c->result) != NULL) ? c->x : NULL;
}

static bool check_reduction(call *c, wk_dist_op op)
{
    c->request.op = op;
    if (op < WK_DIST_SUM || op > WK_DIST_MAX) {
        wk__error_set(c->site, WK_ERR_ARGUMENT, "%s: unknown .op %d", c->op, (int)op);
        return false;
    }
    const bool fits = op != WK_DIST_AVG || wk__is_float(c->request.dtype);
    return fits || refuse(c, WK_ERR_DTYPE, "is not floating-point and has no average; use WK_DIST_SUM, or wk_to_dtype");
}

wk_tensor *wk_dist_all_reduce__at(wk_site site, wk_tensor *x, const wk_dist_reduce_options *options)
{
    static const char op[] = "dist_all_reduce_";
    call c;
    wk_dist_reduce_options o;
    if (!options_of(options, true, site, op, &o) || !begin(&c, WK__DIST_ALL_REDUCE, op, site, x, o.group)) return NULL;
    const bool fits = set_input(&c) && check_target(&c) && check_reduction(&c, o.op);
    if (c.group->size == 1) return end(&c, fits ? x : NULL, false);
    const bool ready = fits && read_input(&c) && same_shape(&c);
    return end(&c, run_call(&c, ready) ? store_in_place(&c) : NULL, false);
}

/* Sets request.peer to the group rank of a world rank. Returns false after recording an error. */
static bool peer_of(call *c, int world_rank, const char *role)
{
    c->request.peer = wk__dist_rank_in(c->group, world_rank);
    if (world_rank < 0 || world_rank >= wk_dist_size())
        wk__error_set(c->site, WK_ERR_ARGUMENT, "%s: %s is rank %d, out of range [0, %d]", c->op, role, world_rank,
                      wk_dist_size() - 1);
    else if (c->request.peer < 0)
        wk__error_set(c->site, WK_ERR_ARGUMENT, "%s: %s is rank %d, which is not in the group", c->op, role,
                      world_rank);
    else
        return true;
    return false;
}

wk_tensor *wk_dist_broadcast__at(wk_site site, wk_tensor *x, int src, const wk_dist_call_options *options)
{
    static const char op[] = "dist_broadcast_";
    call c;
    wk_dist_reduce_options o;
    if (!options_of(options, false, site, op, &o) || !begin(&c, WK__DIST_BROADCAST, op, site, x, o.group)) return NULL;
    const bool fits = set_input(&c) && check_target(&c) && peer_of(&c, src, "src");
    if (c.group->size == 1) return end(&c, fits ? x : NULL, false);
    const bool root = c.request.peer == c.group->rank;
    const bool ready = fits && (root ? read_input(&c) : same_shape(&c));
    return end(&c, run_call(&c, ready) ? (root ? x : store_in_place(&c)) : NULL, false);
}

/* ---- new tensors ------------------------------------------------------------------------------------------------- */

/* Computes the shape of x with dimension 0 multiplied by times and divided by parts. */
static bool shape_of(call *c, int times, int parts, int *ndim, int64_t *shape)
{
    const wk__body *body = wk__body_of(c->x);
    *ndim = body->ndim ? body->ndim : 1;
    shape[0] = 1;
    memcpy(shape, body->shape, sizeof *shape * (size_t)body->ndim);
    if (parts > 1 && (body->ndim == 0 || shape[0] % parts != 0)) {
        char what[96];
        snprintf(what, sizeof what, "cannot be split into %d equal parts along its first dimension", parts);
        return refuse(c, WK_ERR_SHAPE, what);
    }
    int64_t bytes;
    shape[0] /= parts;
    if (!wk__mul_size(shape[0], times, &shape[0]) || !wk__dense_bytes(*ndim, shape, (wk_dtype)body->dtype, &bytes))
        return refuse(c, WK_ERR_SHAPE, "of all ranks exceeds 2^63 bytes");
    return true;
}

/* Runs all_gather, reduce_scatter or all_to_all; dimension 0 of the result is that of x times `times` / `parts`. */
static wk_tensor *run_out_of_place(call *c, int times, int parts, bool fits)
{
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    const int cut = c->request.kind == WK__DIST_ALL_TO_ALL ? c->group->size : parts;
    fits = fits && shape_of(c, cut, cut, &ndim, shape) && shape_of(c, times, parts, &ndim, shape);
    if (fits) c->request.count /= cut;
    const bool ready = fits && read_input(c) && alloc_output(c, ndim, shape);
    return end(c, run_call(c, ready) ? c->result : NULL, true);
}

wk_tensor *wk_dist_all_gather_at(wk_site site, wk_tensor *x, const wk_dist_call_options *options)
{
    static const char op[] = "dist_all_gather";
    call c;
    wk_dist_reduce_options o;
    if (!options_of(options, false, site, op, &o) || !begin(&c, WK__DIST_ALL_GATHER, op, site, x, o.group)) return NULL;
    return run_out_of_place(&c, c.group->size, 1, set_input(&c));
}

wk_tensor *wk_dist_reduce_scatter_at(wk_site site, wk_tensor *x, const wk_dist_reduce_options *options)
{
    static const char op[] = "dist_reduce_scatter";
    call c;
    wk_dist_reduce_options o;
    if (!options_of(options, true, site, op, &o) || !begin(&c, WK__DIST_REDUCE_SCATTER, op, site, x, o.group))
        return NULL;
    return run_out_of_place(&c, 1, c.group->size, set_input(&c) && check_reduction(&c, o.op));
}

wk_tensor *wk_dist_all_to_all_at(wk_site site, wk_tensor *x, const wk_dist_call_options *options)
{
    static const char op[] = "dist_all_to_all";
    call c;
    wk_dist_reduce_options o;
    if (!options_of(options, false, site, op, &o) || !begin(&c, WK__DIST_ALL_TO_ALL, op, site, x, o.group)) return NULL;
    return run_out_of_place(&c, 1, 1, set_input(&c));
}

/* ---- send, recv, barrier ----------------------------------------------------------------------------------------- */

static bool other_rank(call *c, int world_rank, const char *role)
{
    if (!peer_of(c, world_rank, role)) return false;
    if (c->request.peer != c->group->rank) return true;
    wk__error_set(c->site, WK_ERR_ARGUMENT, "%s: %s is rank %d, the calling rank itself; copy with wk_clone", c->op,
                  role, world_rank);
    return false;
}

wk_code wk_dist_send_at(wk_site site, wk_tensor *x, int dst, const wk_dist_call_options *options)
{
    static const char op[] = "dist_send";
    call c;
    wk_dist_reduce_options o;
    if (!options_of(options, false, site, op, &o) || !begin(&c, WK__DIST_SEND, op, site, x, o.group))
        return wk_error_code();
    const bool done = other_rank(&c, dst, "dst") && run_call(&c, set_input(&c) && read_input(&c));
    end(&c, NULL, false);
    return done ? WK_OK : wk_error_code();
}

wk_tensor *wk_dist_recv__at(wk_site site, wk_tensor *x, int src, const wk_dist_call_options *options)
{
    static const char op[] = "dist_recv_";
    call c;
    wk_dist_reduce_options o;
    if (!options_of(options, false, site, op, &o) || !begin(&c, WK__DIST_RECV, op, site, x, o.group)) return NULL;
    const bool done = other_rank(&c, src, "src") && run_call(&c, set_input(&c) && check_target(&c) && same_shape(&c));
    return end(&c, done ? store_in_place(&c) : NULL, false);
}

wk_code wk_dist_barrier_at(wk_site site, const wk_dist_call_options *options)
{
    static const char op[] = "dist_barrier";
    call c;
    wk_dist_reduce_options o;
    if (!options_of(options, false, site, op, &o) || !begin(&c, WK__DIST_BARRIER, op, site, NULL, o.group))
        return wk_error_code();
    const bool done = run_call(&c, true);
    end(&c, NULL, false);
    return done ? WK_OK : wk_error_code();
}
