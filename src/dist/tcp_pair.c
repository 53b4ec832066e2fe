/* SPDX-License-Identifier: Apache-2.0 */
/* From one rank to another: a frame that says what comes, and it. The receiver compares. */
#include "tcp.h"
#include <string.h>

typedef struct pair {
    const wk__dist_request *request;
    uint8_t head[WK__FRAME_BYTES];
    wk__tcp_span body;
    bool read;            /* the frame, */
    wk__dist_frame frame; /* which is this */
    const char *wrong;
    bool differs;
    wk__dist_frame wanted;
    char text[WK__FRAME_TEXT + 1];
} pair;

static wk__tcp_span part(const wk__tcp_flow *f, int k)
{
    pair *p = f->user;
    return k == 0 ? (wk__tcp_span){(char *)p->head, WK__FRAME_BYTES} : p->body;
}

static wk__agreement asked(const wk__tcp *tcp, const wk__dist_step *step, uint64_t number)
{
    wk__agreement own;
    wk__agreement_begin(&own, step, tcp->rank, step->group->id);
    own.said.root = 0;
    own.said.reduction = 0;
    own.said.sequence = number;
    own.said.collective = WK__DIST_SEND;
    return own;
}

wk_code wk__tcp_send(wk__tcp *tcp, const wk__dist_step *step, wk__dist_fail *fail)
{
    const wk__dist_request *q = step->request;
    const int to = wk__dist_world_rank(step->group, q->peer);
    wk__agreement own = asked(tcp, step, ++tcp->sent[to]);
    wk__dist_frame frame = wk__agreement_frame(&own, (uint64_t)q->count * wk_dtype_size(q->dtype));
    frame.kind = WK__FRAME_SEND;
    pair p = {.request = q, .body = {own.code == WK_OK ? (char *)(uintptr_t)q->in : own.text, (int64_t)frame.bytes}};
    wk__dist_frame_write(&frame, p.head);
    wk__tcp_flow flow = {.tcp = tcp, .step = step, .to = to, .from = -1, .gives = 2, .give = part, .user = &p};
    const wk_code code = wk__tcp_run(&flow, fail);
    return code == WK_OK ? q->code : code;
}

/* What follows the frame goes where it is to be, or, where nobody wants it, nowhere. */
static bool may_take(const wk__tcp_flow *f, int k)
{
    pair *p = f->user;
    const wk__dist_frame *came = &p->frame, *wanted = &p->wanted;
    if (k == 0 || p->read) return true;
    p->read = true;
    p->wrong = wk__dist_frame_parse(p->head, &p->frame);
    if (!p->wrong &&
        (came->kind != WK__FRAME_SEND || came->group != wanted->group || came->sequence != wanted->sequence))
        p->wrong = "it is elsewhere";
    if (p->wrong) return true;
    p->differs = p->request->code == WK_OK && came->status == WK_OK &&
                 (came->count != wanted->count || came->dtype != wanted->dtype || came->bytes != wanted->bytes);
    const bool fits = p->request->code == WK_OK && came->status == WK_OK && !p->differs;
    p->body = (wk__tcp_span){fits ? p->request->out : NULL, (int64_t)came->bytes};
    return true;
}

static wk_code drop(wk__tcp_flow *f, int k, int64_t offset, const char *piece, int64_t bytes, wk__dist_fail *fail)
{
    pair *p = f->user;
    (void)k, (void)fail;
    if (p->frame.status != WK_OK && offset + bytes <= WK__FRAME_TEXT) memcpy(p->text + offset, piece, (size_t)bytes);
    return WK_OK;
}

/* What has come is not what was to come. */
static wk_code differs(wk__tcp *tcp, const wk__dist_step *step, const pair *p, int from, wk__dist_fail *fail)
{
    char text[WK__FRAME_TEXT], sends[80], wants[80];
    const char *there = tcp->place[from].host, *here = tcp->place[tcp->rank].host;
    const bool speaks = !p->wrong || strcmp(p->wrong, "it is elsewhere") == 0;
    if (speaks)
        snprintf(text, sizeof text, "the ranks differ: rank %d on %s asks for %s, rank %d on %s receives what is a %s",
                 from, there, wk__asked(&p->frame, sends, sizeof sends), tcp->rank, here,
                 wk__asked(&p->wanted, wants, sizeof wants));
    else
        snprintf(text, sizeof text, "rank %d on %s sends what rank %d on %s cannot read: %s", from, there, tcp->rank,
                 here, p->wrong);
    return wk__tcp_give_up(tcp, step, speaks ? WK_ERR_STATE : WK_ERR_INTERNAL, text, fail);
}

wk_code wk__tcp_recv(wk__tcp *tcp, const wk__dist_step *step, wk__dist_fail *fail)
{
    const wk__dist_request *q = step->request;
    const int from = wk__dist_world_rank(step->group, q->peer);
    const wk__agreement own = asked(tcp, step, ++tcp->gotten[from]);
    pair p = {.request = q, .wanted = own.said};
    p.wanted.bytes = (uint64_t)q->count * wk_dtype_size(q->dtype);
    wk__tcp_flow flow = {.tcp = tcp,
                         .step = step,
                         .to = -1,
                         .from = from,
                         .takes = 2,
                         .take = part,
                         .may_take = may_take,
                         .work = drop,
                         .user = &p};
    const wk_code code = wk__tcp_run(&flow, fail);
    if (code != WK_OK) return code;
    if (p.wrong || p.differs) return differs(tcp, step, &p, from, fail);
    if (p.frame.status == WK_OK) return q->code;
    return wk__dist_fail_set(fail, (wk_code)p.frame.status, "rank %d on %s failed: %s", from, tcp->place[from].host,
                             p.text);
}
