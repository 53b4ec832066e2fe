/* SPDX-License-Identifier: Apache-2.0 */
/* Agreements; see agree.h. */
#include "agree.h"
#include "base/alloc.h"
#include <string.h>

static const char *const op_names[] = {"sum", "avg", "product", "min", "max"};

const char *wk__request_text(const wk__wire_header *f, char *out, size_t size)
{
    int n = snprintf(out, size, "%s", wk__dist_names[f->collective]);
    if (f->dtype)
        n += snprintf(out + n, size - (size_t)n, " of %llu %s", (unsigned long long)f->count, wk_dtype_str(f->dtype));
    if (f->collective == WK__DIST_ALL_REDUCE || f->collective == WK__DIST_REDUCE_SCATTER)
        n += snprintf(out + n, size - (size_t)n, ", %s", op_names[f->reduction]);
    if (f->collective == WK__DIST_ALL_REDUCE && f->root) snprintf(out + n, size - (size_t)n, " for wk_ddp %u", f->root);
    if (f->collective == WK__DIST_BROADCAST) snprintf(out + n, size - (size_t)n, " from rank %u", f->root);
    return out;
}

void wk__agreement_begin(wk__agreement *own, const wk__dist_call *call, int world_rank, uint32_t group)
{
    const wk__dist_request *r = call->request;
    *own = (wk__agreement){
        .request = {.kind = WK__WIRE_AGREE, .collective = (uint8_t)r->kind, .group = group, .sequence = call->sequence},
        .code = r->code,
        .failed_rank = r->code == WK_OK ? WK__WIRE_NO_RANK : (uint32_t)world_rank};
    own->request.rank = r->code == WK_OK ? (uint32_t)world_rank : WK__WIRE_NO_RANK;
    if (r->code != WK_OK) {
        snprintf(own->text, sizeof own->text, "%s", r->error_text ? r->error_text : "out of host memory");
        return;
    }
    own->request.dtype = (uint8_t)r->dtype;
    own->request.reduction = (uint8_t)r->op;
    own->request.root = (uint32_t)(r->kind == WK__DIST_ALL_REDUCE ? r->ddp_id : r->peer);
    own->request.count = (uint64_t)r->count;
}

static bool same(const wk__wire_header *a, const wk__wire_header *b)
{
    return a->collective == b->collective && a->dtype == b->dtype && a->reduction == b->reduction &&
           a->root == b->root && a->count == b->count;
}

static void differ(wk__agreement *own, const wk__wire_header *a, const wk__wire_header *b,
                   const wk__dist_transport *transport, void *world)
{
    char first[80], second[80];
    own->code = WK_ERR_STATE;
    own->failed_rank = WK__WIRE_NO_RANK;
    const bool lists = a->collective == WK__DIST_NEW_GROUP && b->collective == WK__DIST_NEW_GROUP;
    snprintf(own->text, sizeof own->text, "mismatched collectives: rank %u on %s called %s, rank %u on %s called %s%s",
             a->rank, transport->host_name(world, (int)a->rank), wk__request_text(a, first, sizeof first), b->rank,
             transport->host_name(world, (int)b->rank), wk__request_text(b, second, sizeof second),
             lists ? " with another list of ranks" : "");
}

/* Returns true if the failure of a outranks that of b. */
static bool takes_precedence(const wk__agreement *a, const wk__agreement *b)
{
    return a->code != WK_OK && (b->code == WK_OK || a->failed_rank < b->failed_rank);
}

void wk__agreement_merge(wk__agreement *own, const wk__agreement *other, const wk__dist_transport *transport,
                         void *world)
{
    const wk__wire_header mine = own->request, *theirs = &other->request;
    if (takes_precedence(other, own)) {
        own->code = other->code;
        own->failed_rank = other->failed_rank;
        memcpy(own->text, other->text, sizeof own->text);
    }
    if (theirs->rank == WK__WIRE_NO_RANK) return;
    if (mine.rank == WK__WIRE_NO_RANK || theirs->rank < mine.rank) own->request = *theirs;
    if (mine.rank == WK__WIRE_NO_RANK || own->code != WK_OK || same(&mine, theirs)) return;
    if (mine.rank < theirs->rank)
        differ(own, &mine, theirs, transport, world);
    else
        differ(own, theirs, &mine, transport, world);
}

wk__wire_header wk__agreement_to_header(const wk__agreement *own, uint64_t bytes)
{
    wk__wire_header frame = own->request;
    frame.kind = WK__WIRE_AGREE;
    frame.status = (uint32_t)own->code;
    frame.detail = own->failed_rank;
    frame.bytes = own->code == WK_OK ? bytes : strlen(own->text);
    return frame;
}

void wk__agreement_from_header(const wk__wire_header *frame, const char *text, wk__agreement *out)
{
    *out = (wk__agreement){.request = *frame, .code = (wk_code)frame->status, .failed_rank = frame->detail};
    if (out->code == WK_OK) out->failed_rank = WK__WIRE_NO_RANK;
    snprintf(out->text, sizeof out->text, "%s", text);
}

wk_code wk__agreement_result(const wk__agreement *all, const wk__dist_transport *transport, void *world,
                             wk__dist_error *fail)
{
    if (all->code == WK_OK) return WK_OK;
    if (all->failed_rank == WK__WIRE_NO_RANK) {
        wk__dist_error_set(fail, all->code, "%s", all->text);
        fail->fatal = true;
        return all->code;
    }
    fail->failed_rank_plus_1 = all->failed_rank + 1;
    return wk__dist_error_set(fail, all->code, "rank %u on %s failed: %s", all->failed_rank,
                              transport->host_name(world, (int)all->failed_rank), all->text);
}

/* ---- agreement around transports without checks_agreement -------------------------------------------------------- */

enum { RECORD_BYTES = WK__WIRE_HEADER_BYTES + WK__WIRE_TEXT_MAX };

static void write_said(const wk__agreement *own, uint8_t said[RECORD_BYTES])
{
    const wk__wire_header frame = wk__agreement_to_header(own, 0);
    memset(said, 0, RECORD_BYTES);
    wk__wire_header_write(&frame, said);
    memcpy(said + WK__WIRE_HEADER_BYTES, own->text, own->code == WK_OK ? 0 : frame.bytes);
}

static bool read_said(const uint8_t said[RECORD_BYTES], wk__agreement *out)
{
    wk__wire_header frame;
    char text[WK__WIRE_TEXT_MAX + 1];
    if (wk__wire_header_parse(said, &frame) || frame.bytes > WK__WIRE_TEXT_MAX) return false;
    memcpy(text, said + WK__WIRE_HEADER_BYTES, frame.bytes);
    text[frame.bytes] = '\0';
    wk__agreement_from_header(&frame, text, out);
    return true;
}

static wk_code unreadable(wk__dist_error *fail)
{
    fail->fatal = true;
    return wk__dist_error_set(fail, WK_ERR_INTERNAL, "malformed message from another rank");
}

wk_code wk__agree_all_gather(const wk__dist_transport *transport, void *world, const wk__dist_call *call,
                             wk__dist_error *fail)
{
    const int size = call->group->size;
    const int rank = wk__dist_world_rank(call->group, call->group->rank);
    uint8_t own_said[RECORD_BYTES], *all = wk__alloc((size_t)size * RECORD_BYTES);
    wk__agreement own, other;
    if (!all) {
        fail->fatal = true; /* the others are in it, and would take this rank's next call for this one */
        return wk__dist_error_set(fail, WK_ERR_MEMORY, "out of host memory");
    }
    wk__agreement_begin(&own, call, rank, call->group->id);
    write_said(&own, own_said);
    const wk__dist_request gather = {
        .kind = WK__DIST_ALL_GATHER, .dtype = WK_U8, .count = RECORD_BYTES, .in = own_said, .out = all};
    wk__dist_call by = *call;
    by.request = &gather;
    wk_code code = transport->call(world, &by, fail);
    bool leaves = false; /* somebody has failed and makes no call any more */
    for (int k = 0; k < size && code == WK_OK; k++) {
        if (!read_said(all + (size_t)k * RECORD_BYTES, &other)) code = unreadable(fail);
        if (code != WK_OK) break;
        leaves = leaves || (other.request.collective == WK__DIST_FINISH && other.code != WK_OK);
        wk__agreement_merge(&own, &other, transport, world);
    }
    wk__free(all);
    if (code != WK_OK) return code;
    wk__agreement_result(&own, transport, world, fail);
    fail->fatal = fail->fatal || leaves;
    return own.code;
}

wk_code wk__agree_p2p(const wk__dist_transport *transport, void *world, const wk__dist_call *call, wk__dist_error *fail)
{
    const wk__dist_request *q = call->request;
    const bool sends = q->kind == WK__DIST_SEND;
    uint8_t said[RECORD_BYTES];
    wk__agreement own, other;
    wk__agreement_begin(&own, call, wk__dist_world_rank(call->group, call->group->rank), call->group->id);
    own.request.collective = WK__DIST_SEND;
    own.request.root = own.request.reduction = 0;
    if (sends) write_said(&own, said);
    const wk__dist_request frame = {
        .kind = q->kind, .dtype = WK_U8, .peer = q->peer, .count = RECORD_BYTES, .in = said, .out = said};
    wk__dist_call by = *call;
    by.request = &frame;
    const wk_code code = transport->call(world, &by, fail);
    if (code != WK_OK || sends) return code == WK_OK ? q->code : code;
    if (!read_said(said, &other)) return unreadable(fail);
    const bool misses = own.code != WK_OK && other.code == WK_OK; /* the message that arrives is not consumed */
    wk__agreement_merge(&own, &other, transport, world);
    wk__agreement_result(&own, transport, world, fail);
    fail->fatal = fail->fatal || misses;
    return own.code;
}
