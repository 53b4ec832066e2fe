/* SPDX-License-Identifier: Apache-2.0 */
/* Control messages, and the diagnosis by which rank 0 finds the rank that holds up a call; see tcp_abort.c.
 *
 * All functions require tcp->lock. */
#include "base/platform/clock.h"
#include "tcp.h"
#include <string.h>

static const wk__wire_header none = {.rank = WK__WIRE_NO_RANK};

/* ---- the inquiry of rank 0 --------------------------------------------------------------------------------------- */

static bool is_member(const wk__tcp *tcp, int rank)
{
    return tcp->diagnosis.member[rank / 8] >> rank % 8 & 1;
}

/* Returns true if a rank is in the late call. send and recv have no sequence number: the peer is in the call if it is
 * in the opposite operation; an earlier message would have arrived by now. */
static bool is_in_call(const wk__tcp_progress *p, const wk__wire_header *late)
{
    if (late->collective == WK__DIST_FINISH) return p->at == WK__RANK_FINISHING;
    if (p->group != late->group) return false;
    if (wk__dist_is_p2p(late->collective))
        return p->at == WK__RANK_IN_CALL && wk__dist_is_p2p(p->collective) && p->collective != late->collective;
    return p->at == WK__RANK_IN_CALL ? p->sequence == late->sequence : p->sequence >= late->sequence;
}

/* Writes "all_reduce 3", or "all_reduce 3 of group 2" if the group differs from that of the late call. */
static void name_call(const wk__tcp_progress *p, uint32_t group, char out[64])
{
    int n = snprintf(out, 64, "%s", wk__dist_names[p->collective]);
    if (p->sequence) n += snprintf(out + n, 64 - (size_t)n, " %llu", (unsigned long long)p->sequence);
    if (p->group == group) return;
    if (p->group)
        snprintf(out + n, 64 - (size_t)n, " of group %u", p->group);
    else
        snprintf(out + n, 64 - (size_t)n, " of the world");
}

/* Describes what a rank does instead of the late call. */
static void describe(const wk__tcp *tcp, int rank, char *out, size_t size)
{
    const wk__tcp_progress *p = &tcp->diagnosis.at[rank];
    char call[64];
    const int n = snprintf(out, size, "rank %d on %s ", rank, tcp->rank_address[rank].host);
    out += n;
    size -= (size_t)n;
    name_call(p, tcp->diagnosis.late.group, call);
    if (!tcp->diagnosis.answered[rank])
        snprintf(out, size, "is dead or stuck");
    else if (p->at == WK__RANK_FINISHING)
        snprintf(out, size, "called wk_dist_finish");
    else if (p->at == WK__RANK_IN_CALL)
        snprintf(out, size, "is in %s", call);
    else if (!p->sequence)
        snprintf(out, size, "has not called it");
    else
        snprintf(out, size, "has not called it; its last call was %s", call);
}

/* Returns true if the rank holds up the call: because it does not answer (silent), or because it is elsewhere. */
static bool is_culprit(const wk__tcp *tcp, int rank, bool silent)
{
    if (!is_member(tcp, rank) || tcp->diagnosis.answered[rank] == silent) return false;
    return silent || !is_in_call(&tcp->diagnosis.at[rank], &tcp->diagnosis.late);
}

static void conclude(wk__tcp *tcp)
{
    char text[WK__WIRE_TEXT_MAX + 1] = "", one[160];
    size_t n = 0;
    wk_code code = WK_ERR_STATE; /* the code if the only cause is that some ranks have called wk_dist_finish */
    int left = -1;               /* the first rank that has */
    tcp->diagnosis.open = false;
    for (int silent = 1; silent >= 0; silent--)
        for (int r = 0; r < tcp->size; r++) {
            if (!is_culprit(tcp, r, silent)) continue;
            if (silent || tcp->diagnosis.at[r].at != WK__RANK_FINISHING) code = WK_ERR_TIMEOUT;
            if (left < 0) left = r;
            describe(tcp, r, one, sizeof one);
            if (n + strlen(one) + 8 < sizeof text)
                n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", one);
            else if (n < sizeof text - 8)
                n = (size_t)snprintf(text + n, sizeof text - n, ", ...") + sizeof text;
        }
    if (n == 0) {
        code = WK_ERR_TIMEOUT;
        snprintf(text, sizeof text, "all ranks are in the call, so the network is too slow or blocked");
    }
    if (code == WK_ERR_STATE)
        wk__tcp_unequal_calls_text(tcp, tcp->diagnosis.reporter, tcp->diagnosis.call_text, left, text, sizeof text);
    wk__tcp_abort(tcp, code, code == WK_ERR_STATE ? none : tcp->diagnosis.late, text);
}

static void record_answer(wk__tcp *tcp, int rank, wk__tcp_progress position)
{
    if (!tcp->diagnosis.open) return;
    tcp->diagnosis.answered[rank] = true;
    tcp->diagnosis.at[rank] = position;
}

void wk__tcp_diagnose(wk__tcp *tcp, int asker, const wk__wire_header *late, const uint8_t *body, size_t bytes)
{
    const size_t bits = sizeof tcp->diagnosis.member;
    if (tcp->aborted || tcp->diagnosis.open) return;
    tcp->diagnosis.open = true;
    tcp->diagnosis.late = *late;
    tcp->diagnosis.until = wk__monotonic_ns() + wk__tcp_grace(tcp) / 2;
    memcpy(tcp->diagnosis.member, body, bits);
    tcp->diagnosis.reporter = asker;
    snprintf(tcp->diagnosis.call_text, sizeof tcp->diagnosis.call_text, "%.*s", (int)(bytes - bits),
             (const char *)body + bits);
    memset(tcp->diagnosis.answered, 0, (size_t)tcp->size);
    record_answer(tcp, 0, tcp->progress);
    wk__tcp_control_broadcast(tcp, (wk__wire_header){.kind = WK__WIRE_STATUS_QUERY}, "");
}

int64_t wk__tcp_diagnosis_deadline(wk__tcp *tcp)
{
    if (!tcp->diagnosis.open) return INT64_MAX;
    int missing = 0;
    for (int r = 0; r < tcp->size; r++) missing += is_member(tcp, r) && !tcp->diagnosis.answered[r];
    if (missing > 0 && wk__monotonic_ns() < tcp->diagnosis.until) return tcp->diagnosis.until;
    conclude(tcp);
    return INT64_MAX;
}

/* ---- messages of a connection ------------------------------------------------------------------------------------ */

void wk__tcp_note_leave(wk__tcp *tcp, int rank, uint64_t sequence)
{
    if (tcp->leave_sequence[rank]) return;
    tcp->leave_sequence[rank] = sequence;
    tcp->leave_count++;
    if (tcp->rank == 0) {
        wk__tcp_control_broadcast(
            tcp, (wk__wire_header){.kind = WK__WIRE_LEAVE, .rank = (uint32_t)rank, .sequence = sequence}, "");
        if (tcp->leave_count == tcp->size && !tcp->aborted) {
            tcp->all_left = true;
            wk__tcp_control_broadcast(tcp, (wk__wire_header){.kind = WK__WIRE_LEAVE_ACK}, "");
        }
    }
    wk__tcp_wake(tcp->caller_wakeup);
    pthread_cond_broadcast(&tcp->changed);
}

static void on_rank_0_message(wk__tcp *tcp, int rank, const wk__wire_parser *in)
{
    const wk__wire_header *f = &in->frame;
    char said[WK__WIRE_TEXT_MAX + 1];
    const wk__tcp_progress there = {(wk__rank_phase)(f->detail % (WK__RANK_FINISHING + 1)), f->group, f->sequence,
                                    f->collective};
    wk__wire_parser_text(in, said, sizeof said);
    switch (f->kind) {
    case WK__WIRE_STATUS_REPLY: record_answer(tcp, rank, there); break;
    case WK__WIRE_STALLED:
        if (f->status != WK_OK)
            wk__tcp_abort(tcp, (wk_code)f->status, (wk__wire_header){.rank = f->rank}, said);
        else if (f->bytes >= WK__WIRE_MAX_RANKS / 8)
            wk__tcp_diagnose(tcp, rank, f, in->body, f->bytes);
        break;
    case WK__WIRE_LEAVE:
        if (f->status != WK_OK)
            wk__tcp_abort_for(tcp, rank, (wk_code)f->status, said);
        else
            wk__tcp_note_leave(tcp, rank, f->sequence);
        break;
    default: break;
    }
}

void wk__tcp_on_control_message(wk__tcp *tcp, int rank, const wk__wire_parser *in)
{
    const wk__wire_header *f = &in->frame;
    char text[WK__WIRE_TEXT_MAX + 1];
    const wk__tcp_progress *p = &tcp->progress;
    if (tcp->rank == 0) {
        on_rank_0_message(tcp, rank, in);
        return;
    }
    switch (f->kind) {
    case WK__WIRE_ABORT:
        wk__wire_parser_text(in, text, sizeof text);
        wk__tcp_abort(tcp, f->status ? (wk_code)f->status : WK_ERR_TIMEOUT, *f, text);
        break;
    case WK__WIRE_STATUS_QUERY:
        wk__tcp_control_send(tcp, 0,
                             (wk__wire_header){.kind = WK__WIRE_STATUS_REPLY,
                                               .detail = p->at,
                                               .group = p->group,
                                               .sequence = p->sequence,
                                               .collective = p->collective},
                             NULL, 0);
        break;
    case WK__WIRE_LEAVE:
        if (f->rank < (uint32_t)tcp->size) wk__tcp_note_leave(tcp, (int)f->rank, f->sequence);
        break;
    case WK__WIRE_LEAVE_ACK:
        tcp->all_left = true;
        pthread_cond_broadcast(&tcp->changed);
        break;
    default: break;
    }
}

void wk__tcp_on_control_lost(wk__tcp *tcp, int rank, const char *why)
{
    char text[WK__WIRE_TEXT_MAX + 1];
    if (tcp->all_left || (tcp->rank == 0 && tcp->leave_sequence[rank])) return;
    snprintf(text, sizeof text, "lost rank %d on %s: %s", rank, tcp->rank_address[rank].host, why);
    wk__tcp_abort(tcp, WK_ERR_TIMEOUT, none, text);
}
