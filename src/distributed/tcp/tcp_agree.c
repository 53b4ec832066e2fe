/* SPDX-License-Identifier: Apache-2.0 */
/* Agreement at the start of every collective: no rank moves data before all have stated the same request and none an
 * error (agree.h). The statements spread by recursive doubling, in log2(size) exchanges. Ranks beyond a power of two
 * are represented by a lower rank, their proxy:
 *
 *     0 1 2 3 4 5     4 -> 0  5 -> 1            statements to the proxies
 *                     0 <-> 1, 2 <-> 3          bit 0
 *                     0 <-> 2, 1 <-> 3          bit 1: now ranks 0 to 3 have all statements
 *                     0 -> 4  1 -> 5            result back from the proxies
 *
 * Small data travels with the statements: the sender's in a broadcast; in an all_reduce that of all ranks, which is
 * reduced at each exchange. Both sides of an exchange take the data of the lower ranks as the first operand, so all
 * ranks end with the same bits.
 *
 * Threads: the calling thread. Received data stays in tcp->staging until it is merged. */
#include "distributed/reduction.h"
#include "tcp.h"
#include <string.h>

/* One agreement, as this rank sees it. Borrows everything it points to. */
typedef struct agreement_run {
    wk__tcp *tcp;
    const wk__dist_call *call;
    wk__agreement own;             /* statements of the ranks merged so far, at first of this rank alone */
    char *data;                    /* data of these ranks */
    int64_t bytes;                 /* size of a rank's data */
    int64_t data_bytes;            /* the same; 0: none of these ranks has data */
    wk__dist_reduction *reduction; /* NULL: one rank has data, and all get a copy */
    /* the current exchange */
    uint8_t sent_header[WK__WIRE_HEADER_BYTES], received_header[WK__WIRE_HEADER_BYTES];
    wk__tcp_span send[2], receive[2]; /* a header, then the payload: data, or the text of an error */
    wk__wire_header received;         /* received_header, parsed */
    const char *header_error;         /* defect of the received header; NULL: none */
    bool desynced;                    /* the peer is in another call */
} agreement_run;

static wk__tcp_span send_span(const wk__tcp_sendrecv *flow, int k)
{
    return ((const agreement_run *)flow->user)->send[k];
}

static wk__tcp_span receive_span(const wk__tcp_sendrecv *flow, int k)
{
    return ((const agreement_run *)flow->user)->receive[k];
}

/* Before the payload, parses the header, which contains its length. An invalid one counts as having no payload. Always
 * returns true: any span can be received. */
static bool before_receiving(const wk__tcp_sendrecv *flow, int k)
{
    agreement_run *run = flow->user;
    if (k == 0 || run->receive[1].at) return true;
    run->header_error = wk__wire_header_parse(run->received_header, &run->received);
    if (!run->header_error && (run->received.kind != WK__WIRE_AGREE || run->received.group != run->own.request.group ||
                               run->received.sequence != run->own.request.sequence))
        run->desynced = true;
    const bool valid = !run->header_error && !run->desynced;
    run->receive[1] = (wk__tcp_span){flow->tcp->staging, valid ? (int64_t)run->received.bytes : 0};
    return true;
}

/* Fails the call because of the received header: it is invalid, or the peer is in another call. */
static wk_code header_failure(const agreement_run *run, int rank, wk__dist_error *fail)
{
    char text[WK__WIRE_TEXT_MAX], peer_request[80];
    const wk__wire_header *peer = &run->received;
    const char *host = run->tcp->rank_address[rank].host, *here = run->tcp->rank_address[run->tcp->rank].host;
    if (!run->header_error)
        snprintf(text, sizeof text,
                 "mismatched collectives: rank %d on %s is in %s (call %llu of group %u), rank %d on %s is in %s (call "
                 "%llu of group %u)",
                 rank, host, wk__request_text(peer, peer_request, sizeof peer_request),
                 (unsigned long long)peer->sequence, peer->group, run->tcp->rank, here,
                 wk__dist_names[run->call->request->kind], (unsigned long long)run->call->sequence,
                 run->call->group->id);
    else
        snprintf(text, sizeof text, "rank %d on %s sent a message that rank %d on %s cannot parse: %s", rank, host,
                 run->tcp->rank, here, run->header_error);
    return wk__tcp_give_up(run->tcp, run->call, !run->header_error ? WK_ERR_STATE : WK_ERR_INTERNAL, text, fail);
}

/* Sends the merged statement to one rank of the group while receiving that of another; -1: none. */
static wk_code exchange(agreement_run *run, int to, int from, wk__dist_error *fail)
{
    const wk__dist_group *group = run->call->group;
    const wk__wire_header header = wk__agreement_to_header(&run->own, (uint64_t)run->data_bytes);
    wk__wire_header_write(&header, run->sent_header);
    run->send[0] = (wk__tcp_span){(char *)run->sent_header, WK__WIRE_HEADER_BYTES};
    run->send[1] = (wk__tcp_span){run->own.code == WK_OK ? run->data : run->own.text, (int64_t)header.bytes};
    run->receive[0] = (wk__tcp_span){(char *)run->received_header, WK__WIRE_HEADER_BYTES};
    run->receive[1].at = NULL; /* unknown until the header has been parsed */
    wk__tcp_sendrecv flow = {.tcp = run->tcp,
                             .call = run->call,
                             .to = to < 0 ? -1 : wk__dist_world_rank(group, to),
                             .from = from < 0 ? -1 : wk__dist_world_rank(group, from),
                             .send_spans = to < 0 ? 0 : 2,
                             .recv_spans = from < 0 ? 0 : 2,
                             .send_span = send_span,
                             .recv_span = receive_span,
                             .can_receive = before_receiving,
                             .user = run};
    const wk_code code = wk__tcp_sendrecv_run(&flow, fail);
    if (code != WK_OK || from < 0 || (!run->header_error && !run->desynced)) return code;
    return header_failure(run, flow.from, fail);
}

static wk__agreement received_statement(const agreement_run *run)
{
    wk__agreement statement;
    char text[WK__WIRE_TEXT_MAX + 1];
    const size_t length = run->received.status == WK_OK ? 0 : (size_t)run->received.bytes;
    memcpy(text, run->tcp->staging, length);
    text[length] = '\0';
    wk__agreement_from_header(&run->received, text, &statement);
    return statement;
}

static wk_code merge_data(agreement_run *run, bool from_higher, wk__dist_error *fail)
{
    char *theirs = run->tcp->staging;
    const uint64_t bytes = run->received.bytes;
    if (bytes == 0 || (run->data_bytes && !run->reduction)) return WK_OK;
    if (bytes != (uint64_t)run->bytes)
        return wk__dist_error_set(fail, WK_ERR_INTERNAL, "received %llu bytes, expected %lld",
                                  (unsigned long long)bytes, (long long)run->bytes);
    if (run->reduction) {
        const int64_t count = run->bytes / (int64_t)wk_dtype_size((wk_dtype)run->reduction->group.operand[0].dtype);
        return from_higher ? wk__dist_reduce(run->reduction, run->data, run->data, theirs, count, fail)
                           : wk__dist_reduce(run->reduction, run->data, theirs, run->data, count, fail);
    }
    memcpy(run->data, theirs, bytes);
    run->data_bytes = run->bytes;
    return WK_OK;
}

/* Merges the received statement and data. from_higher: they are of higher ranks than those merged so far. */
static wk_code merge_received(agreement_run *run, bool from_higher, wk__dist_error *fail)
{
    const wk__agreement statement = received_statement(run);
    wk__agreement_merge(&run->own, &statement, &wk__dist_tcp, run->tcp);
    if (run->own.code == WK_OK) return merge_data(run, from_higher, fail);
    run->data_bytes = 0;
    return WK_OK;
}

/* Replaces this rank's statement and data by the result that its proxy has sent: merges it into nothing. */
static wk_code adopt_result(agreement_run *run, wk__dist_error *fail)
{
    wk__dist_reduction *const reduction = run->reduction;
    run->reduction = NULL;
    run->data_bytes = 0;
    run->own.request.rank = WK__WIRE_NO_RANK;
    run->own.code = WK_OK;
    const wk_code code = merge_received(run, true, fail);
    run->reduction = reduction;
    return code;
}

static wk_code agree_all(agreement_run *run, wk__dist_error *fail)
{
    const int rank = run->call->group->rank, size = run->call->group->size;
    int power = 1; /* the largest power of two up to size */
    while (power * 2 <= size) power *= 2;
    wk_code code = WK_OK;
    if (rank >= power) {
        code = exchange(run, rank - power, -1, fail);
        if (code == WK_OK) code = exchange(run, -1, rank - power, fail);
        return code == WK_OK ? adopt_result(run, fail) : code;
    }
    const bool is_proxy = rank + power < size;
    if (is_proxy) {
        code = exchange(run, -1, rank + power, fail);
        if (code == WK_OK) code = merge_received(run, true, fail);
    }
    for (int bit = 1; bit < power && code == WK_OK; bit *= 2) {
        code = exchange(run, rank ^ bit, rank ^ bit, fail);
        if (code == WK_OK) code = merge_received(run, !(rank & bit), fail);
    }
    return code == WK_OK && is_proxy ? exchange(run, rank + power, -1, fail) : code;
}

wk_code wk__tcp_agree(wk__tcp *tcp, const wk__dist_call *call, char *data, int64_t bytes, bool has_data,
                      wk__dist_reduction *reduction, wk__dist_error *fail)
{
    agreement_run run = {.tcp = tcp,
                         .call = call,
                         .data = data,
                         .bytes = bytes,
                         .data_bytes = has_data && call->request->code == WK_OK ? bytes : 0,
                         .reduction = reduction};
    wk__agreement_begin(&run.own, call, tcp->rank, call->group->id);
    const wk_code code = agree_all(&run, fail);
    return code == WK_OK ? wk__agreement_result(&run.own, &wk__dist_tcp, tcp, fail) : code;
}
