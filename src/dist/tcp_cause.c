/* SPDX-License-Identifier: Apache-2.0 */
/* First causes. Where one rank is stuck, all are soon, each waiting for its neighbour; so nobody says who is to blame
 * before rank 0 has asked all of them where they are:
 *
 *     rank 3: LATE, all_reduce 50  -->  rank 0: WHERE to all  -->  HERE from those that live
 *     who does not answer is dead or stuck; who is not in all_reduce 50 has not called it
 *     rank 0: ABORT and that cause to all                     -->  every rank fails with it
 *
 * A line that ends tells it sooner: that rank is gone. */
#include "tcp.h"
#include <string.h>
#include <unistd.h>

enum { BILLION = 1000000000, LEAST_GRACE = 2, MOST_GRACE = 20 };
enum { IS_LATE = 1 }; /* `part` of an ABORT: group, sequence and collective are of the call that was not finished */

static const wk__dist_frame none;

const char *wk__tcp_host(void *world, int rank)
{
    const wk__tcp *tcp = world;
    return rank >= 0 && rank < tcp->size ? tcp->place[rank].host : "?";
}

/* How long a first cause may take to be found: rank 0 gives the others half of it to answer. */
int64_t wk__tcp_grace(const wk__tcp *tcp)
{
    const double half = tcp->seconds / 2, grace = half < LEAST_GRACE  ? LEAST_GRACE
                                                  : half > MOST_GRACE ? MOST_GRACE
                                                                      : half;
    return (int64_t)(grace * BILLION);
}

static void tell_all(wk__tcp *tcp, wk__dist_frame frame, const char *text)
{
    for (int r = 1; r < tcp->size; r++) wk__tcp_tell(tcp, r, frame, text, strlen(text));
}

void wk__tcp_break(wk__tcp *tcp, wk_code code, wk__dist_frame of, const char *text)
{
    if (tcp->broken) return;
    tcp->broken = true;
    tcp->code = code;
    tcp->of = of;
    snprintf(tcp->cause, sizeof tcp->cause, "%.*s", WK__FRAME_TEXT, text);
    tcp->of.kind = WK__FRAME_ABORT;
    tcp->of.status = (uint32_t)code;
    if (tcp->rank == 0) tell_all(tcp, tcp->of, tcp->cause);
    wk__tcp_knock(tcp->news);
    pthread_cond_broadcast(&tcp->changed);
}

/* ---- the inquiry of rank 0 --------------------------------------------------------------------------------------- */

static bool is_member(const wk__tcp *tcp, int rank)
{
    return tcp->inquiry.member[rank / 8] >> rank % 8 & 1;
}

static bool is_in(const wk__tcp_position *p, const wk__dist_frame *late)
{
    if (late->collective == WK__DIST_FINISH) return p->at == WK__AT_END;
    const bool same = p->group == late->group && p->at != WK__AT_END;
    return same && (p->at == WK__AT_WORK ? p->sequence == late->sequence : p->sequence >= late->sequence);
}

/* What a rank does that is not where the others wait. */
static int describe(const wk__tcp *tcp, int rank, char *out, size_t size)
{
    const wk__tcp_position *p = &tcp->inquiry.at[rank];
    const char *host = tcp->place[rank].host, *name = wk__dist_names[p->collective];
    const unsigned long long number = p->sequence;
    if (!tcp->inquiry.answered[rank]) return snprintf(out, size, "rank %d on %s is dead or stuck", rank, host);
    if (p->at == WK__AT_END) return snprintf(out, size, "rank %d on %s is at wk_dist_finish", rank, host);
    if (p->at == WK__AT_WORK) return snprintf(out, size, "rank %d on %s is in %s %llu", rank, host, name, number);
    if (!number) return snprintf(out, size, "rank %d on %s has not called it", rank, host);
    return snprintf(out, size, "rank %d on %s has not called it, its last call was %s %llu", rank, host, name, number);
}

static void conclude(wk__tcp *tcp)
{
    char text[WK__FRAME_TEXT + 1] = "";
    int n = 0, more = 0;
    tcp->inquiry.open = false;
    for (int silent = 1; silent >= 0; silent--)
        for (int r = 0; r < tcp->size; r++) {
            if (!is_member(tcp, r) || tcp->inquiry.answered[r] == silent) continue;
            if (!silent && is_in(&tcp->inquiry.at[r], &tcp->inquiry.late)) continue;
            if (n > WK__FRAME_TEXT / 2)
                more++;
            else
                n += snprintf(text + n, sizeof text - (size_t)n, "%s", n ? ", " : "") +
                     describe(tcp, r, text + n + (n ? 2 : 0), sizeof text - (size_t)n - 2);
        }
    if (more) n += snprintf(text + n, sizeof text - (size_t)n, ", and so on for %d more", more);
    if (!n)
        snprintf(text, sizeof text,
                 "all its ranks are in it, so the network is slower than that, or lets nothing through");
    wk__tcp_break(tcp, WK_ERR_TIMEOUT, tcp->inquiry.late, text);
}

static void answer(wk__tcp *tcp, int rank, wk__tcp_position position)
{
    if (!tcp->inquiry.open) return;
    tcp->inquiry.answered[rank] = true;
    tcp->inquiry.at[rank] = position;
}

/* Somebody waits in vain. */
static void inquire(wk__tcp *tcp, const wk__dist_frame *late, const uint8_t member[WK__FRAME_WORLD / 8])
{
    if (tcp->broken || tcp->inquiry.open) return;
    tcp->inquiry.open = true;
    tcp->inquiry.late = *late;
    tcp->inquiry.late.part = IS_LATE;
    tcp->inquiry.until = wk__dist_now() + wk__tcp_grace(tcp) / 2;
    memcpy(tcp->inquiry.member, member, sizeof tcp->inquiry.member);
    memset(tcp->inquiry.answered, 0, (size_t)tcp->size);
    answer(tcp, 0, tcp->position);
    tell_all(tcp, (wk__dist_frame){.kind = WK__FRAME_WHERE}, "");
}

int64_t wk__tcp_due(wk__tcp *tcp)
{
    if (!tcp->inquiry.open) return INT64_MAX;
    int missing = 0;
    for (int r = 0; r < tcp->size; r++) missing += is_member(tcp, r) && !tcp->inquiry.answered[r];
    if (missing > 0 && wk__dist_now() < tcp->inquiry.until) return tcp->inquiry.until;
    conclude(tcp);
    return INT64_MAX;
}

/* ---- what comes over a line -------------------------------------------------------------------------------------- */

static void leaves(wk__tcp *tcp, int rank)
{
    if (tcp->left[rank]) return;
    tcp->left[rank] = true;
    tcp->leaving++;
    if (tcp->rank == 0) {
        tell_all(tcp, (wk__dist_frame){.kind = WK__FRAME_LEAVE, .rank = (uint32_t)rank}, "");
        if (tcp->leaving == tcp->size) {
            tcp->goes = true;
            tell_all(tcp, (wk__dist_frame){.kind = WK__FRAME_GO}, "");
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
        else if (f->bytes == WK__FRAME_WORLD / 8)
            inquire(tcp, f, in->body);
        break;
    case WK__FRAME_LEAVE:
        snprintf(text, sizeof text, "rank %d on %s failed: %.500s", rank, tcp->place[rank].host, said);
        if (f->status != WK_OK) wk__tcp_break(tcp, (wk_code)f->status, none, text);
        leaves(tcp, rank);
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
        if (f->rank < (uint32_t)tcp->size) leaves(tcp, (int)f->rank);
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

/* ---- who makes a call -------------------------------------------------------------------------------------------- */

/* What a call says that fails because of the first cause; the lock is held. */
static wk_code tell_cause(const wk__tcp *tcp, const wk__dist_step *step, wk__dist_fail *fail)
{
    const wk__dist_frame *of = &tcp->of;
    const char *after = tcp->code == WK_ERR_TIMEOUT ? "; start again from the last checkpoint" : "";
    const char *name = wk__dist_names[of->collective];
    const bool mine = of->group == step->group->id && of->sequence == step->sequence;
    fail->broken = true;
    if (of->part != IS_LATE) return wk__dist_fail_set(fail, tcp->code, "%s%s", tcp->cause, after);
    if (mine)
        return wk__dist_fail_set(fail, tcp->code, "not finished after %.3g s; %s%s",
                                 (double)(wk__dist_now() - step->begun) / BILLION, tcp->cause, after);
    return wk__dist_fail_set(fail, tcp->code, "%s %llu was not finished; %s%s", name, (unsigned long long)of->sequence,
                             tcp->cause, after);
}

/* What has come to light. */
static void report(wk__tcp *tcp, wk_code code, const char *why)
{
    wk__tcp_tell(tcp, 0, (wk__dist_frame){.kind = WK__FRAME_LATE, .status = (uint32_t)code}, why,
                 strnlen(why, WK__FRAME_TEXT));
}

static bool is_of(const wk__dist_group *group, int rank)
{
    return wk__dist_rank_in(group, rank) >= 0;
}

/* A rank of the group that is at wk_dist_finish, -1 if none. */
static int has_left(const wk__tcp *tcp, const wk__dist_group *group)
{
    for (int r = 0; tcp->leaving > 0 && r < tcp->size; r++)
        if (tcp->left[r] && is_of(group, r)) return r;
    return -1;
}

bool wk__tcp_begin(wk__tcp *tcp, const wk__dist_step *step, wk__dist_fail *fail)
{
    pthread_mutex_lock(&tcp->lock);
    const int left = has_left(tcp, step->group);
    const bool broken = tcp->broken;
    if (broken)
        tell_cause(tcp, step, fail);
    else
        tcp->position = (wk__tcp_position){WK__AT_WORK, step->group->id, step->sequence, (uint8_t)step->request->kind};
    pthread_mutex_unlock(&tcp->lock);
    if (broken || left < 0) return !broken;
    char text[120];
    snprintf(text, sizeof text, "rank %d on %s is at wk_dist_finish", left, tcp->place[left].host);
    wk__tcp_give_up(tcp, step, WK_ERR_STATE, text, fail);
    return false;
}

void wk__tcp_end(wk__tcp *tcp, wk_code code, const wk__dist_fail *fail)
{
    pthread_mutex_lock(&tcp->lock);
    tcp->position.at = WK__AT_REST;
    if (code != WK_OK && fail->broken && !tcp->broken) {
        /* Rank 0 may not know yet, and is not to take the end of this process for the cause. */
        if (tcp->rank > 0) report(tcp, code, fail->text);
        wk__tcp_break(tcp, code, none, fail->text);
    }
    pthread_mutex_unlock(&tcp->lock);
}

bool wk__tcp_news(wk__tcp *tcp, const wk__dist_step *step, bool *left)
{
    uint64_t knocks;
    if (read(tcp->news, &knocks, sizeof knocks) < 0) knocks = 0;
    pthread_mutex_lock(&tcp->lock);
    const bool broken = tcp->broken;
    *left = has_left(tcp, step->group) >= 0;
    pthread_mutex_unlock(&tcp->lock);
    return !broken;
}

/* Until the world is broken, or, at wk_dist_finish, all are there. The lock is held. */
static void await(wk__tcp *tcp, int64_t until)
{
    const struct timespec at = {.tv_sec = until / BILLION, .tv_nsec = until % BILLION};
    while (!tcp->broken && !tcp->goes && wk__dist_now() < until) pthread_cond_timedwait(&tcp->changed, &tcp->lock, &at);
}

/* Rank 0 is told, and what it makes of it is the cause; where it makes nothing it is to blame itself. */
static void find_cause(wk__tcp *tcp, const wk__dist_step *step, wk_code code, const char *why)
{
    uint8_t member[WK__FRAME_WORLD / 8] = {0};
    char own[120];
    wk__dist_frame late = {.kind = WK__FRAME_LATE,
                           .group = step->group->id,
                           .sequence = step->sequence,
                           .collective = (uint8_t)step->request->kind};
    const bool pair = late.collective == WK__DIST_SEND || late.collective == WK__DIST_RECV;
    for (int k = 0; k < step->group->size; k++) {
        const int rank = wk__dist_world_rank(step->group, k);
        if (!pair || k == step->request->peer) member[rank / 8] |= (uint8_t)(1 << rank % 8);
    }
    if (tcp->rank == 0 && why) {
        wk__tcp_break(tcp, code, none, why);
    } else if (tcp->rank == 0) {
        inquire(tcp, &late, member);
        wk__tcp_knock(tcp->wake);
    } else if (why) {
        report(tcp, code, why);
    } else {
        wk__tcp_tell(tcp, 0, late, member, sizeof member);
    }
    await(tcp, wk__dist_now() + wk__tcp_grace(tcp));
    snprintf(own, sizeof own, "rank 0 on %s is dead or stuck", tcp->place[0].host);
    late.part = IS_LATE;
    wk__tcp_break(tcp, code, why ? none : late, why ? why : own);
}

wk_code wk__tcp_give_up(wk__tcp *tcp, const wk__dist_step *step, wk_code code, const char *why, wk__dist_fail *fail)
{
    pthread_mutex_lock(&tcp->lock);
    if (!tcp->broken) find_cause(tcp, step, code, why);
    tell_cause(tcp, step, fail);
    pthread_mutex_unlock(&tcp->lock);
    return fail->code;
}

wk_code wk__tcp_finish(wk__tcp *tcp, const wk__dist_step *step, wk__dist_fail *fail)
{
    const wk__dist_request *r = step->request;
    char text[WK__FRAME_TEXT + 1];
    wk_code code = WK_OK;
    pthread_mutex_lock(&tcp->lock);
    if (tcp->broken) {
        code = tell_cause(tcp, step, fail);
    } else if (r->code != WK_OK && tcp->rank == 0) {
        snprintf(text, sizeof text, "rank 0 on %s failed: %.500s", tcp->place[0].host, r->text);
        wk__tcp_break(tcp, r->code, none, text);
    } else if (r->code != WK_OK) {
        snprintf(text, sizeof text, "%.600s", r->text);
        wk__tcp_tell(tcp, 0, (wk__dist_frame){.kind = WK__FRAME_LEAVE, .status = (uint32_t)r->code}, text,
                     strlen(text));
    } else {
        tcp->position = (wk__tcp_position){.at = WK__AT_END, .collective = WK__DIST_FINISH};
        if (tcp->rank == 0)
            leaves(tcp, 0);
        else
            wk__tcp_tell(tcp, 0, (wk__dist_frame){.kind = WK__FRAME_LEAVE}, NULL, 0);
        await(tcp, step->deadline);
        if (!tcp->broken && !tcp->goes) find_cause(tcp, step, WK_ERR_TIMEOUT, NULL);
        if (!tcp->goes) code = tell_cause(tcp, step, fail);
    }
    pthread_mutex_unlock(&tcp->lock);
    return code;
}
