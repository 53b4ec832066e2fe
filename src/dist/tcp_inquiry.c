/* SPDX-License-Identifier: Apache-2.0 */
/* What comes over the lines, and whom rank 0 finds to blame for what is late; see tcp_cause.c. */
#include "../base/clock.h"
#include "tcp.h"
#include <string.h>

static const wk__dist_frame none;

/* ---- the inquiry of rank 0 --------------------------------------------------------------------------------------- */

static bool is_member(const wk__tcp *tcp, int rank)
{
    return tcp->inquiry.member[rank / 8] >> rank % 8 & 1;
}

/* Calls of two ranks have no number: the other one sends where this one receives, or does not do its part. What it sent
 * before would have come by now. */
static bool is_in(const wk__tcp_position *p, const wk__dist_frame *late)
{
    if (late->collective == WK__DIST_FINISH) return p->at == WK__AT_END;
    if (p->group != late->group) return false;
    if (wk__dist_is_pair(late->collective))
        return p->at == WK__AT_WORK && wk__dist_is_pair(p->collective) && p->collective != late->collective;
    return p->at == WK__AT_WORK ? p->sequence == late->sequence : p->sequence >= late->sequence;
}

/* "all_reduce 3"; of another group than theirs "all_reduce 3 of group 2". */
static void name_call(const wk__tcp_position *p, uint32_t group, char out[64])
{
    int n = snprintf(out, 64, "%s", wk__dist_names[p->collective]);
    if (p->sequence) n += snprintf(out + n, 64 - (size_t)n, " %llu", (unsigned long long)p->sequence);
    if (p->group == group) return;
    if (p->group)
        snprintf(out + n, 64 - (size_t)n, " of group %u", p->group);
    else
        snprintf(out + n, 64 - (size_t)n, " of the world");
}

/* What a rank does that is not where the others wait. */
static void describe(const wk__tcp *tcp, int rank, char *out, size_t size)
{
    const wk__tcp_position *p = &tcp->inquiry.at[rank];
    char call[64];
    const int n = snprintf(out, size, "rank %d on %s ", rank, tcp->place[rank].host);
    out += n;
    size -= (size_t)n;
    name_call(p, tcp->inquiry.late.group, call);
    if (!tcp->inquiry.answered[rank])
        snprintf(out, size, "is dead or stuck");
    else if (p->at == WK__AT_END)
        snprintf(out, size, "is at wk_dist_finish");
    else if (p->at == WK__AT_WORK)
        snprintf(out, size, "is in %s", call);
    else if (!p->sequence)
        snprintf(out, size, "has not called it");
    else
        snprintf(out, size, "has not called it, its last call was %s", call);
}

/* Is it to blame, and how? First those that do not answer are. */
static bool to_blame(const wk__tcp *tcp, int rank, bool silent)
{
    if (!is_member(tcp, rank) || tcp->inquiry.answered[rank] == silent) return false;
    return silent || !is_in(&tcp->inquiry.at[rank], &tcp->inquiry.late);
}

static void conclude(wk__tcp *tcp)
{
    char text[WK__FRAME_TEXT + 1] = "", one[160];
    size_t n = 0;
    wk_code code = WK_ERR_STATE; /* where all that is wrong is that some have left, */
    int left = -1;               /* the first of whom is this */
    tcp->inquiry.open = false;
    for (int silent = 1; silent >= 0; silent--)
        for (int r = 0; r < tcp->size; r++) {
            if (!to_blame(tcp, r, silent)) continue;
            if (silent || tcp->inquiry.at[r].at != WK__AT_END) code = WK_ERR_TIMEOUT;
            if (left < 0) left = r;
            describe(tcp, r, one, sizeof one);
            if (n + strlen(one) + 8 < sizeof text)
                n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", one);
            else if (n < sizeof text - 8)
                n = (size_t)snprintf(text + n, sizeof text - n, ", ...") + sizeof text;
        }
    if (n == 0) {
        code = WK_ERR_TIMEOUT;
        snprintf(text, sizeof text,
                 "all its ranks are in it, so the network is slower than that, or lets nothing through");
    }
    if (code == WK_ERR_STATE) wk__tcp_uneven(tcp, tcp->inquiry.asker, tcp->inquiry.asks, left, text, sizeof text);
    wk__tcp_break(tcp, code, code == WK_ERR_STATE ? none : tcp->inquiry.late, text);
}

static void answer(wk__tcp *tcp, int rank, wk__tcp_position position)
{
    if (!tcp->inquiry.open) return;
    tcp->inquiry.answered[rank] = true;
    tcp->inquiry.at[rank] = position;
}

/* Somebody waits in vain. */
void wk__tcp_inquire(wk__tcp *tcp, int asker, const wk__dist_frame *late, const uint8_t *body, size_t bytes)
{
    const size_t bits = sizeof tcp->inquiry.member;
    if (tcp->broken || tcp->inquiry.open) return;
    tcp->inquiry.open = true;
    tcp->inquiry.late = *late;
    tcp->inquiry.until = wk__nanoseconds() + wk__tcp_grace(tcp) / 2;
    memcpy(tcp->inquiry.member, body, bits);
    tcp->inquiry.asker = asker;
    snprintf(tcp->inquiry.asks, sizeof tcp->inquiry.asks, "%.*s", (int)(bytes - bits), (const char *)body + bits);
    memset(tcp->inquiry.answered, 0, (size_t)tcp->size);
    answer(tcp, 0, tcp->position);
    wk__tcp_tell_all(tcp, (wk__dist_frame){.kind = WK__FRAME_WHERE}, "");
}

int64_t wk__tcp_due(wk__tcp *tcp)
{
    if (!tcp->inquiry.open) return INT64_MAX;
    int missing = 0;
    for (int r = 0; r < tcp->size; r++) missing += is_member(tcp, r) && !tcp->inquiry.answered[r];
    if (missing > 0 && wk__nanoseconds() < tcp->inquiry.until) return tcp->inquiry.until;
    conclude(tcp);
    return INT64_MAX;
}

/* ---- what comes over a line -------------------------------------------------------------------------------------- */

void wk__tcp_leaves(wk__tcp *tcp, int rank, uint64_t sequence)
{
    if (tcp->left[rank]) return;
    tcp->left[rank] = sequence;
    tcp->leaving++;
    if (tcp->rank == 0) {
        wk__tcp_tell_all(tcp, (wk__dist_frame){.kind = WK__FRAME_LEAVE, .rank = (uint32_t)rank, .sequence = sequence},
                         "");
        if (tcp->leaving == tcp->size) {
            tcp->goes = true;
            wk__tcp_tell_all(tcp, (wk__dist_frame){.kind = WK__FRAME_GO}, "");
        }
    }
    wk__tcp_knock(tcp->news);
    pthread_cond_broadcast(&tcp->changed);
}

static void heard_by_0(wk__tcp *tcp, int rank, const wk__inbox *in)
{
    const wk__dist_frame *f = &in->frame;
    char text[WK__FRAME_TEXT + 1], said[WK__FRAME_TEXT + 1];
    const wk__tcp_position there = {(wk__whereabouts)(f->part % (WK__AT_END + 1)), f->group, f->sequence,
                                    f->collective};
    wk__inbox_text(in, said, sizeof said);
    switch (f->kind) {
    case WK__FRAME_HERE: answer(tcp, rank, there); break;
    case WK__FRAME_LATE:
        if (f->status != WK_OK)
            wk__tcp_break(tcp, (wk_code)f->status, none, said);
        else if (f->bytes >= WK__FRAME_WORLD / 8)
            wk__tcp_inquire(tcp, rank, f, in->body, f->bytes);
        break;
    case WK__FRAME_LEAVE:
        snprintf(text, sizeof text, "rank %d on %s failed: %.500s", rank, tcp->place[rank].host, said);
        if (f->status != WK_OK) wk__tcp_break(tcp, (wk_code)f->status, none, text);
        wk__tcp_leaves(tcp, rank, f->sequence);
        break;
    default: break;
    }
}

void wk__tcp_heard(wk__tcp *tcp, int rank, const wk__inbox *in)
{
    const wk__dist_frame *f = &in->frame;
    char text[WK__FRAME_TEXT + 1];
    const wk__tcp_position *p = &tcp->position;
    if (tcp->rank == 0) {
        heard_by_0(tcp, rank, in);
        return;
    }
    switch (f->kind) {
    case WK__FRAME_ABORT:
        wk__inbox_text(in, text, sizeof text);
        wk__tcp_break(tcp, f->status ? (wk_code)f->status : WK_ERR_TIMEOUT, *f, text);
        break;
    case WK__FRAME_WHERE:
        wk__tcp_tell(tcp, 0,
                     (wk__dist_frame){.kind = WK__FRAME_HERE,
                                      .part = p->at,
                                      .group = p->group,
                                      .sequence = p->sequence,
                                      .collective = p->collective},
                     NULL, 0);
        break;
    case WK__FRAME_LEAVE:
        if (f->rank < (uint32_t)tcp->size) wk__tcp_leaves(tcp, (int)f->rank, f->sequence);
        break;
    case WK__FRAME_GO:
        tcp->goes = true;
        pthread_cond_broadcast(&tcp->changed);
        break;
    default: break;
    }
}

void wk__tcp_line_ended(wk__tcp *tcp, int rank, const char *why)
{
    char text[WK__FRAME_TEXT + 1];
    if (tcp->goes || (tcp->rank == 0 && tcp->left[rank])) return;
    snprintf(text, sizeof text, "rank %d on %s is gone: %s", rank, tcp->place[rank].host, why);
    wk__tcp_break(tcp, WK_ERR_TIMEOUT, none, text);
}
