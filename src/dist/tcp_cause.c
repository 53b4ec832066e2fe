/* SPDX-License-Identifier: Apache-2.0 */
/* First causes. Where one rank is stuck, all are soon, each waiting for its neighbour; so nobody says who is to blame
 * before rank 0 has asked all of them where they are:
 *
 *     rank 3: LATE, all_reduce 50  -->  rank 0: WHERE to all  -->  HERE from those that live
 *     who does not answer is dead or stuck; who is not in all_reduce 50 has not called it
 *     rank 0: ABORT and that cause to all                     -->  every rank fails with it
 *
 * A line that ends tells it sooner: that rank is gone. */
#include "../base/clock.h"
#include "tcp.h"
#include <string.h>
#include <unistd.h>

enum { BILLION = 1000000000, LEAST_GRACE = 2, MOST_GRACE = 20 };
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

void wk__tcp_break(wk__tcp *tcp, wk_code code, wk__dist_frame of, const char *text)
{
    if (tcp->broken) return;
    tcp->broken = true;
    tcp->code = code;
    tcp->of = of;
    snprintf(tcp->cause, sizeof tcp->cause, "%.*s", WK__FRAME_TEXT, text);
    tcp->of.kind = WK__FRAME_ABORT;
    tcp->of.status = (uint32_t)code;
    if (tcp->rank == 0) wk__tcp_tell_all(tcp, tcp->of, tcp->cause);
    wk__tcp_knock(tcp->news);
    pthread_cond_broadcast(&tcp->changed);
}

/* What a call says that fails because of the first cause. `waited`: false where the world was broken before the call
 * began. The lock is held. */
static wk_code tell_cause(const wk__tcp *tcp, const wk__dist_step *step, bool waited, wk__dist_fail *fail)
{
    const wk__dist_frame *of = &tcp->of;
    const char *after = tcp->code == WK_ERR_TIMEOUT ? "; start again from the last checkpoint" : "";
    const char *name = wk__dist_names[of->collective];
    /* The number alone does not tell: send and recv have none, and this rank's call of that number may be another. */
    const bool mine = waited && of->group == step->group->id && of->sequence == step->sequence &&
                      of->collective == step->request->kind;
    fail->broken = true;
    if (of->part != WK__FRAME_IS_LATE) return wk__dist_fail_set(fail, tcp->code, "%s%s", tcp->cause, after);
    if (mine)
        return wk__dist_fail_set(fail, tcp->code, "not finished after %.3g s; %s%s",
                                 (double)(wk__nanoseconds() - step->begun) / BILLION, tcp->cause, after);
    char number[24] = "", group[32] = "";
    if (of->sequence > 0) snprintf(number, sizeof number, " %llu", (unsigned long long)of->sequence);
    if (of->group > 0) snprintf(group, sizeof group, " of group %u", of->group);
    return wk__dist_fail_set(fail, tcp->code, "%s%s%s was not finished; %s%s", name, number, group, tcp->cause, after);
}

/* What has come to light. */
static void report(wk__tcp *tcp, wk_code code, const char *why)
{
    wk__tcp_tell(tcp, 0, (wk__dist_frame){.kind = WK__FRAME_LATE, .status = (uint32_t)code}, why,
                 strnlen(why, WK__FRAME_TEXT));
}

/* "all_reduce 3 (bucket 0, 4.0 MiB) of its backward": what this rank asks for. */
static void asks_for(const wk__dist_step *step, char out[WK__TCP_ASKS])
{
    char call[WK__DIST_CALL_TEXT], group[32] = "";
    const char *by = step->request->by;
    wk__dist_call_text(step->request, step->sequence, call);
    if (step->group->id) snprintf(group, sizeof group, " in group %u", step->group->id);
    snprintf(out, WK__TCP_ASKS, "%s%s%s%.20s", call, group, by ? " of its " : "", by ? by : "");
}

void wk__tcp_uneven(const wk__tcp *tcp, int asker, const char *asks, int left, char *out, size_t size)
{
    snprintf(out, size,
             "rank %d on %s asks for %s, rank %d on %s is at wk_dist_finish: the ranks made different numbers of steps "
             "or of collective calls",
             asker, tcp->place[asker].host, asks, left, tcp->place[left].host);
}

/* Does the call need what the group's rank `place` does? Of two ranks that pass something on, the other one's. */
static bool needs(const wk__dist_step *step, int place)
{
    const wk__dist_request *q = step->request;
    return place >= 0 && (!wk__dist_is_pair(q->kind) || place == q->peer);
}

/* A rank that the call needs and that is at wk_dist_finish, -1 if none. *never: it will not make this call; else it may
 * have made it before: of a group's calls only that group's ranks know the number, and what was sent may be on its
 * way. */
static int has_left(const wk__tcp *tcp, const wk__dist_step *step, bool *never)
{
    *never = false;
    for (int r = 0; tcp->leaving > 0 && r < tcp->size; r++) {
        if (!tcp->left[r] || !needs(step, wk__dist_rank_in(step->group, r))) continue;
        *never = step->group->id == 0 && step->sequence >= tcp->left[r];
        return r;
    }
    return -1;
}

/* Until the world is broken, or, at wk_dist_finish, all are there. The lock is held. */
static void await(wk__tcp *tcp, int64_t until)
{
    const struct timespec at = {.tv_sec = until / BILLION, .tv_nsec = until % BILLION};
    while (!tcp->broken && !tcp->goes && wk__nanoseconds() < until)
        pthread_cond_timedwait(&tcp->changed, &tcp->lock, &at);
}

/* Rank 0 is told, and what it makes of it is the cause; where it makes nothing it is to blame itself. */
static void find_cause(wk__tcp *tcp, const wk__dist_step *step, wk_code code, const char *why)
{
    uint8_t body[WK__FRAME_WORLD / 8 + WK__TCP_ASKS] = {0}; /* whom it waits for, and what it asks for */
    char own[120], *asks = (char *)body + WK__FRAME_WORLD / 8;
    wk__dist_frame late = {.kind = WK__FRAME_LATE,
                           .group = step->group->id,
                           .sequence = step->sequence,
                           .collective = (uint8_t)step->request->kind,
                           .part = WK__FRAME_IS_LATE};
    for (int k = 0; k < step->group->size; k++) {
        const int rank = wk__dist_world_rank(step->group, k);
        if (needs(step, k)) body[rank / 8] |= (uint8_t)(1 << rank % 8);
    }
    asks_for(step, asks);
    const size_t bytes = WK__FRAME_WORLD / 8 + strlen(asks);
    if (tcp->rank == 0 && why) {
        wk__tcp_break(tcp, code, none, why);
    } else if (tcp->rank == 0) {
        wk__tcp_inquire(tcp, 0, &late, body, bytes);
        wk__tcp_knock(tcp->wake);
    } else if (why) {
        report(tcp, code, why);
    } else {
        wk__tcp_tell(tcp, 0, late, body, bytes);
    }
    await(tcp, wk__nanoseconds() + wk__tcp_grace(tcp));
    snprintf(own, sizeof own, "rank 0 on %s is dead or stuck", tcp->place[0].host);
    wk__tcp_break(tcp, code, why ? none : late, why ? why : own);
}

/* False: the world is broken, or is so by now, as the call can never be finished. The lock is held. */
static bool may_go_on(wk__tcp *tcp, const wk__dist_step *step, bool begins, bool *left)
{
    bool never;
    char asks[WK__TCP_ASKS], text[WK__FRAME_TEXT + 1];
    const int who = has_left(tcp, step, &never);
    *left = who >= 0;
    /* Who has left before a call of a group begins has not made it, unless it was a send. */
    never = never || (begins && *left && step->request->kind != WK__DIST_RECV);
    if (!never || tcp->broken) return !tcp->broken;
    asks_for(step, asks);
    wk__tcp_uneven(tcp, tcp->rank, asks, who, text, sizeof text);
    find_cause(tcp, step, WK_ERR_STATE, text);
    return false;
}

bool wk__tcp_begin(wk__tcp *tcp, const wk__dist_step *step, wk__dist_fail *fail)
{
    bool left;
    pthread_mutex_lock(&tcp->lock);
    const bool goes_on = may_go_on(tcp, step, true, &left);
    if (goes_on)
        tcp->position = (wk__tcp_position){WK__AT_WORK, step->group->id, step->sequence, (uint8_t)step->request->kind};
    else
        tell_cause(tcp, step, false, fail);
    pthread_mutex_unlock(&tcp->lock);
    return goes_on;
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
    const bool goes_on = may_go_on(tcp, step, false, left);
    pthread_mutex_unlock(&tcp->lock);
    return goes_on;
}

wk_code wk__tcp_give_up(wk__tcp *tcp, const wk__dist_step *step, wk_code code, const char *why, wk__dist_fail *fail)
{
    pthread_mutex_lock(&tcp->lock);
    if (!tcp->broken) find_cause(tcp, step, code, why);
    tell_cause(tcp, step, true, fail);
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
        code = tell_cause(tcp, step, false, fail);
    } else if (r->code != WK_OK && tcp->rank == 0) {
        snprintf(text, sizeof text, "rank 0 on %s failed: %.500s", tcp->place[0].host, r->text);
        wk__tcp_break(tcp, r->code, none, text);
    } else if (r->code != WK_OK) {
        snprintf(text, sizeof text, "%.600s", r->text);
        wk__tcp_tell(tcp, 0, (wk__dist_frame){.kind = WK__FRAME_LEAVE, .status = (uint32_t)r->code}, text,
                     strlen(text));
        await(tcp, wk__nanoseconds() + wk__tcp_grace(tcp)); /* rank 0 has heard it when it says so to all */
    } else {
        tcp->position.at = WK__AT_END;
        if (tcp->rank == 0)
            wk__tcp_leaves(tcp, 0, step->sequence);
        else
            wk__tcp_tell(tcp, 0, (wk__dist_frame){.kind = WK__FRAME_LEAVE, .sequence = step->sequence}, NULL, 0);
        await(tcp, step->deadline);
        if (!tcp->broken && !tcp->goes) find_cause(tcp, step, WK_ERR_TIMEOUT, NULL);
        if (!tcp->goes) code = tell_cause(tcp, step, true, fail);
    }
    pthread_mutex_unlock(&tcp->lock);
    return code;
}
