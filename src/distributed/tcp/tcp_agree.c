/* SPDX-License-Identifier: Apache-2.0 */
/* Agreement at the start of every collective, by recursive doubling in log2(size) exchanges. Ranks beyond a power of
 * two are represented by a lower rank, their proxy:
 *
 *     0 1 2 3 4 5     4 -> 0  5 -> 1            statements to the proxies
 *                     0 <-> 1, 2 <-> 3          bit 0
 *                     0 <-> 2, 1 <-> 3          bit 1: now ranks 0 to 3 have all statements
 *                     0 -> 4  1 -> 5            result back from the proxies
 *
 * Small data travels along and is reduced on the way. Both sides of an exchange take the data of the lower ranks as the
 * first operand, so all ranks end with the same bits. */
#include "distributed/reduction.h"
#include "tcp.h"
#include <string.h>

typedef struct agree_run {
    wk__tcp *tcp;
    const wk__dist_call *step;
    wk__agreement own;
    char *data; /* data of the ranks merged so far; `has` is bytes, or 0 if they have none */
    int64_t bytes, has;
    wk__dist_reduction *reduction;
    /* the current exchange */
    uint8_t out[WK__WIRE_HEADER_BYTES], in[WK__WIRE_HEADER_BYTES];
    wk__tcp_span give[2], take[2];
    wk__wire_header frame; /* received header */
    const char *wrong;     /* defect of the header; NULL: none */
    bool desynced;         /* the peer is in another call */
} agree_run;

static wk__tcp_span give(const wk__tcp_sendrecv *f, int k)
{
    return ((const agree_run *)f->user)->give[k];
}

/* Returns span k to receive: the header, then a payload whose length the header gives. */
static wk__tcp_span take(const wk__tcp_sendrecv *f, int k)
{
    return ((const agree_run *)f->user)->take[k];
}

static bool may_take(const wk__tcp_sendrecv *f, int k)
{
    agree_run *t = f->user;
    if (k == 0 || t->take[1].at) return true;
    t->wrong = wk__wire_header_parse(t->in, &t->frame);
    if (!t->wrong && (t->frame.kind != WK__WIRE_AGREE || t->frame.group != t->own.request.group ||
                      t->frame.sequence != t->own.request.sequence))
        t->desynced = true;
    t->take[1] = (wk__tcp_span){f->tcp->staging, t->wrong || t->desynced ? 0 : (int64_t)t->frame.bytes};
    return true;
}

/* Fails a call whose peer is in another one, or sends an invalid header. */
static wk_code desync_error(const agree_run *t, int rank, wk__dist_error *fail)
{
    char text[WK__WIRE_TEXT_MAX], asked[80];
    const wk__wire_header *f = &t->frame;
    const char *host = t->tcp->rank_address[rank].host, *here = t->tcp->rank_address[t->tcp->rank].host;
    if (!t->wrong)
        snprintf(text, sizeof text,
                 "mismatched collectives: rank %d on %s is in %s (call %llu of group %u), rank %d on %s is in %s (call "
                 "%llu of group %u)",
                 rank, host, wk__request_text(f, asked, sizeof asked), (unsigned long long)f->sequence, f->group,
                 t->tcp->rank, here, wk__dist_names[t->step->request->kind], (unsigned long long)t->step->sequence,
                 t->step->group->id);
    else
        snprintf(text, sizeof text, "rank %d on %s sent a message that rank %d on %s cannot parse: %s", rank, host,
                 t->tcp->rank, here, t->wrong);
    return wk__tcp_give_up(t->tcp, t->step, !t->wrong ? WK_ERR_STATE : WK_ERR_INTERNAL, text, fail);
}

/* Exchanges statements with ranks of the group; to or from may be -1, none. */
static wk_code exchange(agree_run *t, int to, int from, wk__dist_error *fail)
{
    const wk__dist_group *group = t->step->group;
    const wk__wire_header frame = wk__agreement_to_header(&t->own, (uint64_t)t->has);
    wk__wire_header_write(&frame, t->out);
    t->give[0] = (wk__tcp_span){(char *)t->out, WK__WIRE_HEADER_BYTES};
    t->give[1] = (wk__tcp_span){t->own.code == WK_OK ? t->data : t->own.text, (int64_t)frame.bytes};
    t->take[0] = (wk__tcp_span){(char *)t->in, WK__WIRE_HEADER_BYTES};
    t->take[1].at = NULL;
    wk__tcp_sendrecv flow = {.tcp = t->tcp,
                             .step = t->step,
                             .to = to < 0 ? -1 : wk__dist_world_rank(group, to),
                             .from = from < 0 ? -1 : wk__dist_world_rank(group, from),
                             .send_spans = to < 0 ? 0 : 2,
                             .recv_spans = from < 0 ? 0 : 2,
                             .send_span = give,
                             .recv_span = take,
                             .can_receive = may_take,
                             .user = t};
    const wk_code code = wk__tcp_sendrecv_run(&flow, fail);
    return code == WK_OK && from >= 0 && (t->wrong || t->desynced) ? desync_error(t, flow.from, fail) : code;
}

/* Merges the received statement and data. after: they are of higher ranks. */
static wk_code merge_received(agree_run *t, bool after, wk__dist_error *fail)
{
    wk__agreement other;
    char *theirs = t->tcp->staging;
    const bool tells = t->frame.status != WK_OK;
    char text[WK__WIRE_TEXT_MAX + 1];
    memcpy(text, theirs, tells ? t->frame.bytes : 0);
    text[tells ? t->frame.bytes : 0] = '\0';
    wk__agreement_from_header(&t->frame, text, &other);
    wk__agreement_merge(&t->own, &other, &wk__dist_tcp, t->tcp);
    if (t->own.code != WK_OK) t->has = 0;
    if (t->own.code != WK_OK || t->frame.bytes == 0 || (t->has && !t->reduction)) return WK_OK;
    if (t->frame.bytes != (uint64_t)t->bytes)
        return wk__dist_error_set(fail, WK_ERR_INTERNAL, "received %llu bytes, expected %lld",
                                  (unsigned long long)t->frame.bytes, (long long)t->bytes);
    if (t->reduction) {
        const int64_t count = t->bytes / (int64_t)wk_dtype_size((wk_dtype)t->reduction->group.operand[0].dtype);
        return after ? wk__dist_reduce(t->reduction, t->data, t->data, theirs, count, fail)
                     : wk__dist_reduce(t->reduction, t->data, theirs, t->data, count, fail);
    }
    memcpy(t->data, theirs, t->frame.bytes);
    t->has = t->bytes;
    return WK_OK;
}

/* Replaces the own statement by the received result of all ranks. */
static wk_code adopt_result(agree_run *t, wk__dist_error *fail)
{
    wk__dist_reduction *const reduction = t->reduction;
    t->reduction = NULL;
    t->has = 0;
    t->own.request.rank = WK__WIRE_NO_RANK;
    t->own.code = WK_OK;
    const wk_code code = merge_received(t, true, fail);
    t->reduction = reduction;
    return code;
}

static wk_code agree_all(agree_run *t, wk__dist_error *fail)
{
    const int rank = t->step->group->rank, size = t->step->group->size;
    int power = 1;
    while (power * 2 <= size) power *= 2;
    wk_code code = WK_OK;
    if (rank >= power) {
        code = exchange(t, rank - power, -1, fail);
        if (code == WK_OK) code = exchange(t, -1, rank - power, fail);
        return code == WK_OK ? adopt_result(t, fail) : code;
    }
    const bool is_proxy = rank + power < size;
    if (is_proxy) {
        code = exchange(t, -1, rank + power, fail);
        if (code == WK_OK) code = merge_received(t, true, fail);
    }
    for (int bit = 1; bit < power && code == WK_OK; bit *= 2) {
        code = exchange(t, rank ^ bit, rank ^ bit, fail);
        if (code == WK_OK) code = merge_received(t, !(rank & bit), fail);
    }
    return code == WK_OK && is_proxy ? exchange(t, rank + power, -1, fail) : code;
}

wk_code wk__tcp_agree(wk__tcp *tcp, const wk__dist_call *step, char *data, int64_t bytes, bool has,
                      wk__dist_reduction *reduction, wk__dist_error *fail)
{
    agree_run t = {.tcp = tcp,
                   .step = step,
                   .data = data,
                   .bytes = bytes,
                   .has = has && step->request->code == WK_OK ? bytes : 0,
                   .reduction = reduction};
    wk__agreement_begin(&t.own, step, tcp->rank, step->group->id);
    const wk_code code = agree_all(&t, fail);
    return code == WK_OK ? wk__agreement_result(&t.own, &wk__dist_tcp, tcp, fail) : code;
}
