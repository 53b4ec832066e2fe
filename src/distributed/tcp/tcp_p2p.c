/* SPDX-License-Identifier: Apache-2.0 */
/* send and recv: a header that describes the data, then the data. The receiver compares it with its own request. */
#include "tcp.h"
#include <string.h>

typedef struct p2p_call {
    const wk__dist_request *request;
    uint8_t head[WK__WIRE_HEADER_BYTES];
    wk__tcp_span body;
    bool read;                /* the header has been parsed */
    wk__wire_header frame;    /* received header */
    const char *header_error; /* defect of the header; NULL: none */
    bool desynced;            /* the header is of another message */
    bool differs;
    wk__wire_header wanted;
    char text[WK__WIRE_TEXT_MAX + 1];
} p2p_call;

static wk__tcp_span message_span(const wk__tcp_sendrecv *flow, int k)
{
    p2p_call *p = flow->user;
    return k == 0 ? (wk__tcp_span){(char *)p->head, WK__WIRE_HEADER_BYTES} : p->body;
}

static wk__agreement expected_header(const wk__tcp *tcp, const wk__dist_call *call, uint64_t number)
{
    wk__agreement own;
    wk__agreement_begin(&own, call, tcp->rank, call->group->id);
    own.request.root = 0;
    own.request.reduction = 0;
    own.request.sequence = number;
    own.request.collective = WK__DIST_SEND;
    return own;
}

wk_code wk__tcp_send(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail)
{
    const wk__dist_request *q = call->request;
    const int to = wk__dist_world_rank(call->group, q->peer);
    wk__agreement own = expected_header(tcp, call, ++tcp->sent[to]);
    wk__wire_header frame = wk__agreement_to_header(&own, (uint64_t)q->count * wk_dtype_size(q->dtype));
    frame.kind = WK__WIRE_SEND;
    p2p_call p = {.request = q,
                  .body = {own.code == WK_OK ? (char *)(uintptr_t)q->in : own.text, (int64_t)frame.bytes}};
    wk__wire_header_write(&frame, p.head);
    wk__tcp_sendrecv flow = {
        .tcp = tcp, .call = call, .to = to, .from = -1, .send_spans = 2, .send_span = message_span, .user = &p};
    const wk_code code = wk__tcp_sendrecv_run(&flow, fail);
    return code == WK_OK ? q->code : code;
}

/* Before the payload, parses the header and decides where the payload goes: into the target if it fits, else it is
 * discarded. Always returns true: any span can be received. */
static bool before_receiving(const wk__tcp_sendrecv *flow, int k)
{
    p2p_call *p = flow->user;
    const wk__wire_header *came = &p->frame, *wanted = &p->wanted;
    if (k == 0 || p->read) return true;
    p->read = true;
    p->header_error = wk__wire_header_parse(p->head, &p->frame);
    if (!p->header_error &&
        (came->kind != WK__WIRE_SEND || came->group != wanted->group || came->sequence != wanted->sequence))
        p->desynced = true;
    if (p->header_error || p->desynced) return true;
    p->differs = p->request->code == WK_OK && came->status == WK_OK &&
                 (came->count != wanted->count || came->dtype != wanted->dtype || came->bytes != wanted->bytes);
    const bool fits = p->request->code == WK_OK && came->status == WK_OK && !p->differs;
    p->body = (wk__tcp_span){fits ? p->request->out : NULL, (int64_t)came->bytes};
    return true;
}

static wk_code discard(wk__tcp_sendrecv *flow, int k, int64_t offset, const char *piece, int64_t bytes,
                       wk__dist_error *fail)
{
    p2p_call *p = flow->user;
    (void)k, (void)fail;
    if (p->frame.status != WK_OK && offset + bytes <= WK__WIRE_TEXT_MAX) memcpy(p->text + offset, piece, (size_t)bytes);
    return WK_OK;
}

/* Fails a recv whose message differs from the request. */
static wk_code mismatch_error(wk__tcp *tcp, const wk__dist_call *call, const p2p_call *p, int from,
                              wk__dist_error *fail)
{
    char text[WK__WIRE_TEXT_MAX], sends[80], wants[80];
    const char *there = tcp->rank_address[from].host, *here = tcp->rank_address[tcp->rank].host;
    if (!p->header_error)
        snprintf(text, sizeof text, "mismatched calls: rank %d on %s called %s, rank %d on %s expected %s", from, there,
                 wk__request_text(&p->frame, sends, sizeof sends), tcp->rank, here,
                 wk__request_text(&p->wanted, wants, sizeof wants));
    else
        snprintf(text, sizeof text, "rank %d on %s sent a message that rank %d on %s cannot parse: %s", from, there,
                 tcp->rank, here, p->header_error);
    return wk__tcp_give_up(tcp, call, !p->header_error ? WK_ERR_STATE : WK_ERR_INTERNAL, text, fail);
}

wk_code wk__tcp_recv(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail)
{
    const wk__dist_request *q = call->request;
    const int from = wk__dist_world_rank(call->group, q->peer);
    const wk__agreement own = expected_header(tcp, call, ++tcp->received[from]);
    p2p_call p = {.request = q, .wanted = own.request};
    p.wanted.bytes = (uint64_t)q->count * wk_dtype_size(q->dtype);
    wk__tcp_sendrecv flow = {.tcp = tcp,
                             .call = call,
                             .to = -1,
                             .from = from,
                             .recv_spans = 2,
                             .recv_span = message_span,
                             .can_receive = before_receiving,
                             .on_chunk = discard,
                             .user = &p};
    const wk_code code = wk__tcp_sendrecv_run(&flow, fail);
    if (code != WK_OK) return code;
    if (p.header_error || p.desynced || p.differs) return mismatch_error(tcp, call, &p, from, fail);
    if (p.frame.status == WK_OK) return q->code;
    fail->failed_rank_plus_1 = (uint32_t)from + 1;
    return wk__dist_error_set(fail, (wk_code)p.frame.status, "rank %d on %s failed: %s", from,
                              tcp->rank_address[from].host, p.text);
}
