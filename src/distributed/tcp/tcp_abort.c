/* SPDX-License-Identifier: Apache-2.0 */
/* Aborting the world with one first cause. When a rank is stuck, soon all are, each waiting for its neighbour. So
 * before any rank is named as the cause, rank 0 queries the progress of all:
 *
 *     rank 3: STALLED, all_reduce 50  -->  rank 0: STATUS_QUERY to all  -->  STATUS_REPLY from live ranks
 *     a rank that does not reply is dead or stuck; one that is not in all_reduce 50 has not called it
 *     rank 0: ABORT with that cause to all                             -->  every rank fails with it
 *
 * The end of a control connection is reported immediately: that rank is gone. */
#include "base/platform/clock.h"
#include "tcp.h"
#include <string.h>
#include <unistd.h>

enum { BILLION = 1000000000, LEAST_GRACE = 2, MOST_GRACE = 20 };

const char *wk__tcp_host(void *world, int rank)
{
    const wk__tcp *tcp = world;
    return rank >= 0 && rank < tcp->size ? tcp->rank_address[rank].host : "?";
}

/* Returns the time allowed for finding the first cause, in nanoseconds; replies are due after half of it. */
int64_t wk__tcp_grace(const wk__tcp *tcp)
{
    const double half = tcp->seconds / 2, grace = half < LEAST_GRACE  ? LEAST_GRACE
                                                  : half > MOST_GRACE ? MOST_GRACE
                                                                      : half;
    return (int64_t)(grace * BILLION);
}

void wk__tcp_abort(wk__tcp *tcp, wk_code code, wk__wire_header of, const char *text)
{
    if (tcp->aborted) return;
    tcp->aborted = true;
    tcp->code = code;
    tcp->unfinished = of;
    snprintf(tcp->cause, sizeof tcp->cause, "%.*s", WK__WIRE_TEXT_MAX, text);
    tcp->unfinished.kind = WK__WIRE_ABORT;
    tcp->unfinished.status = (uint32_t)code;
    if (tcp->rank == 0) wk__tcp_control_broadcast(tcp, tcp->unfinished, tcp->cause);
    wk__tcp_wake(tcp->caller_wakeup);
    pthread_cond_broadcast(&tcp->changed);
}

void wk__tcp_abort_for(wk__tcp *tcp, int rank, wk_code code, const char *error_text)
{
    char text[WK__WIRE_TEXT_MAX + 1];
    snprintf(text, sizeof text, "rank %d on %s failed: %.500s", rank, tcp->rank_address[rank].host, error_text);
    wk__tcp_abort(tcp, code, (wk__wire_header){.rank = (uint32_t)rank}, text);
}

/* Sets *fail for a call that fails because of the abort. waited: the call was running when the world was aborted.
 * Requires the lock. */
static wk_code set_cause_error(const wk__tcp *tcp, const wk__dist_call *call, bool waited, wk__dist_error *fail)
{
    const wk__wire_header *of = &tcp->unfinished;
    const char *after = tcp->code == WK_ERR_TIMEOUT ? "; restart from the last checkpoint" : "";
    const char *name = wk__dist_names[of->collective];
    /* The sequence number alone is ambiguous: send and recv have none, and this rank's call may be another
     * collective. */
    const bool mine = waited && of->group == call->group->id && of->sequence == call->sequence &&
                      of->collective == call->request->kind;
    fail->fatal = true;
    fail->failed_rank_plus_1 = of->rank == WK__WIRE_NO_RANK ? 0 : of->rank + 1;
    if (of->detail != WK__WIRE_UNFINISHED) return wk__dist_error_set(fail, tcp->code, "%s%s", tcp->cause, after);
    if (mine)
        return wk__dist_error_set(fail, tcp->code, "timed out after %.3g s: %s%s",
                                  (double)(wk__monotonic_ns() - call->started) / BILLION, tcp->cause, after);
    char number[24] = "", group[32] = "";
    if (of->sequence > 0) snprintf(number, sizeof number, " %llu", (unsigned long long)of->sequence);
    if (of->group > 0) snprintf(group, sizeof group, " of group %u", of->group);
    return wk__dist_error_set(fail, tcp->code, "%s%s%s timed out: %s%s", name, number, group, tcp->cause, after);
}

/* Reports an error to rank 0. rank: the rank whose own error it is, or WK__WIRE_NO_RANK. */
static void report_to_rank_0(wk__tcp *tcp, uint32_t rank, wk_code code, const char *why)
{
    wk__tcp_control_send(tcp, 0, (wk__wire_header){.kind = WK__WIRE_STALLED, .status = (uint32_t)code, .rank = rank},
                         why, strnlen(why, WK__WIRE_TEXT_MAX));
}

/* Writes a description of the call: "all_reduce 3 (bucket 0, 4.0 MiB) of its backward". */
static void describe_call(const wk__dist_call *call, char out[WK__TCP_CALL_TEXT])
{
    char text[WK__DIST_CALL_TEXT], group[32] = "";
    const char *by = call->request->parent_op;
    wk__dist_call_text(call->request, call->sequence, text);
    if (call->group->id) snprintf(group, sizeof group, " in group %u", call->group->id);
    snprintf(out, WK__TCP_CALL_TEXT, "%s%s%s%.20s", text, group, by ? " of its " : "", by ? by : "");
}

void wk__tcp_unequal_calls_text(const wk__tcp *tcp, int asker, const char *asks, int left, char *out, size_t size)
{
    snprintf(out, size,
             "rank %d on %s called %s, but rank %d on %s called wk_dist_finish; all ranks must make the same number of "
             "collective calls",
             asker, tcp->rank_address[asker].host, asks, left, tcp->rank_address[left].host);
}

/* Returns true if the call depends on the group rank `place`: on all ranks, or for send and recv on the peer. */
static bool depends_on(const wk__dist_call *call, int place)
{
    const wk__dist_request *q = call->request;
    return place >= 0 && (!wk__dist_is_p2p(q->kind) || place == q->peer);
}

/* Returns a rank that the call needs and that has called wk_dist_finish; -1 if none. *never: it will certainly not make
 * this call. Otherwise it may have made it before leaving: sequence numbers of groups are known only to their members,
 * and sent data may be in transit. */
static int find_left_rank(const wk__tcp *tcp, const wk__dist_call *call, bool *never)
{
    *never = false;
    for (int r = 0; tcp->leave_count > 0 && r < tcp->size; r++) {
        if (!tcp->leave_sequence[r] || !depends_on(call, wk__dist_rank_in(call->group, r))) continue;
        *never = call->group->id == 0 && call->sequence >= tcp->leave_sequence[r];
        return r;
    }
    return -1;
}

/* Waits until the world is aborted, all ranks have left, or the deadline. Requires the lock. */
static void await(wk__tcp *tcp, int64_t until)
{
    const struct timespec at = {.tv_sec = until / BILLION, .tv_nsec = until % BILLION};
    while (!tcp->aborted && !tcp->all_left && wk__monotonic_ns() < until)
        pthread_cond_timedwait(&tcp->changed, &tcp->lock, &at);
}

/* Reports the problem to rank 0 and waits for its verdict, with which the world is aborted. If rank 0 does not answer,
 * it is the cause itself. */
static void find_cause(wk__tcp *tcp, const wk__dist_call *call, uint32_t failed_rank, wk_code code, const char *why)
{
    uint8_t body[WK__WIRE_MAX_RANKS / 8 + WK__TCP_CALL_TEXT] = {0}; /* needed ranks, then the description */
    char own[120], *asks = (char *)body + WK__WIRE_MAX_RANKS / 8;
    wk__wire_header late = {.kind = WK__WIRE_STALLED,
                            .group = call->group->id,
                            .sequence = call->sequence,
                            .collective = (uint8_t)call->request->kind,
                            .detail = WK__WIRE_UNFINISHED,
                            .rank = WK__WIRE_NO_RANK};
    for (int k = 0; k < call->group->size; k++) {
        const int rank = wk__dist_world_rank(call->group, k);
        if (depends_on(call, k)) body[rank / 8] |= (uint8_t)(1 << rank % 8);
    }
    describe_call(call, asks);
    const size_t bytes = WK__WIRE_MAX_RANKS / 8 + strlen(asks);
    const wk__wire_header of = {.rank = failed_rank};
    if (tcp->rank == 0 && why) {
        wk__tcp_abort(tcp, code, of, why);
    } else if (tcp->rank == 0) {
        wk__tcp_diagnose(tcp, 0, &late, body, bytes);
        wk__tcp_wake(tcp->control_wakeup);
    } else if (why) {
        report_to_rank_0(tcp, failed_rank, code, why);
    } else {
        wk__tcp_control_send(tcp, 0, late, body, bytes);
    }
    await(tcp, wk__monotonic_ns() + wk__tcp_grace(tcp));
    snprintf(own, sizeof own, "rank 0 on %s is dead or stuck", tcp->rank_address[0].host);
    wk__tcp_abort(tcp, code, why ? of : late, why ? why : own);
}

/* Returns false if the world is aborted, or has been here because the call can never complete. Requires the lock. */
static bool can_continue(wk__tcp *tcp, const wk__dist_call *call, bool begins, bool *left)
{
    bool never;
    char asks[WK__TCP_CALL_TEXT], text[WK__WIRE_TEXT_MAX + 1];
    const int who = find_left_rank(tcp, call, &never);
    *left = who >= 0;
    /* A rank that left before a call of a group began has not made it, unless it was a send. */
    never = never || (begins && *left && call->request->kind != WK__DIST_RECV);
    if (!never || tcp->aborted) return !tcp->aborted;
    describe_call(call, asks);
    wk__tcp_unequal_calls_text(tcp, tcp->rank, asks, who, text, sizeof text);
    find_cause(tcp, call, WK__WIRE_NO_RANK, WK_ERR_STATE, text);
    return false;
}

bool wk__tcp_call_begin(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail)
{
    bool left;
    pthread_mutex_lock(&tcp->lock);
    const bool continues = can_continue(tcp, call, true, &left);
    if (continues)
        tcp->progress =
            (wk__tcp_progress){WK__RANK_IN_CALL, call->group->id, call->sequence, (uint8_t)call->request->kind};
    else
        set_cause_error(tcp, call, false, fail);
    pthread_mutex_unlock(&tcp->lock);
    return continues;
}

static uint32_t rank_of(const wk__dist_error *fail)
{
    return fail->failed_rank_plus_1 ? fail->failed_rank_plus_1 - 1 : WK__WIRE_NO_RANK;
}

void wk__tcp_call_end(wk__tcp *tcp, wk_code code, const wk__dist_error *fail)
{
    pthread_mutex_lock(&tcp->lock);
    tcp->progress.at = WK__RANK_IDLE;
    if (code != WK_OK && fail->fatal && !tcp->aborted) {
        /* Rank 0 may not know yet, and must not take the exit of this process for the cause. */
        if (tcp->rank > 0) report_to_rank_0(tcp, rank_of(fail), code, fail->text);
        wk__tcp_abort(tcp, code, (wk__wire_header){.rank = rank_of(fail)}, fail->text);
    }
    pthread_mutex_unlock(&tcp->lock);
}

bool wk__tcp_on_wakeup(wk__tcp *tcp, const wk__dist_call *call, bool *left)
{
    uint64_t count;
    if (read(tcp->caller_wakeup, &count, sizeof count) < 0) count = 0;
    pthread_mutex_lock(&tcp->lock);
    const bool continues = can_continue(tcp, call, false, left);
    pthread_mutex_unlock(&tcp->lock);
    return continues;
}

wk_code wk__tcp_give_up(wk__tcp *tcp, const wk__dist_call *call, wk_code code, const char *why, wk__dist_error *fail)
{
    pthread_mutex_lock(&tcp->lock);
    if (!tcp->aborted) find_cause(tcp, call, rank_of(fail), code, why);
    set_cause_error(tcp, call, true, fail);
    pthread_mutex_unlock(&tcp->lock);
    return fail->code;
}

wk_code wk__tcp_finish(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail)
{
    const wk__dist_request *r = call->request;
    char text[WK__WIRE_TEXT_MAX + 1];
    wk_code code = WK_OK;
    pthread_mutex_lock(&tcp->lock);
    if (tcp->aborted) {
        code = set_cause_error(tcp, call, false, fail);
    } else if (r->code != WK_OK && tcp->rank == 0) {
        wk__tcp_abort_for(tcp, 0, r->code, r->error_text);
    } else if (r->code != WK_OK) {
        snprintf(text, sizeof text, "%.600s", r->error_text);
        wk__tcp_control_send(tcp, 0, (wk__wire_header){.kind = WK__WIRE_LEAVE, .status = (uint32_t)r->code}, text,
                             strlen(text));
        await(tcp, wk__monotonic_ns() +
                       wk__tcp_grace(tcp)); /* the ABORT of rank 0 confirms that it has received the error */
    } else {
        tcp->progress.at = WK__RANK_FINISHING;
        if (tcp->rank == 0)
            wk__tcp_note_leave(tcp, 0, call->sequence);
        else
            wk__tcp_control_send(tcp, 0, (wk__wire_header){.kind = WK__WIRE_LEAVE, .sequence = call->sequence}, NULL,
                                 0);
        await(tcp, call->deadline);
        if (!tcp->aborted && !tcp->all_left) find_cause(tcp, call, WK__WIRE_NO_RANK, WK_ERR_TIMEOUT, NULL);
        if (!tcp->all_left) code = set_cause_error(tcp, call, true, fail);
    }
    pthread_mutex_unlock(&tcp->lock);
    return code;
}
