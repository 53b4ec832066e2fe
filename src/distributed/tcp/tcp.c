/* SPDX-License-Identifier: Apache-2.0 */
/* TCP transport: joining, leaving, dispatch of calls, function table; see tcp.h. */
#include "tcp.h"
#include "base/alloc.h"
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The world of this process. A child of fork(), which is not a rank, closes its connections: otherwise they would
 * outlive the parent. */
static wk__tcp *current;

static void leave(void *world)
{
    wk__tcp *tcp = world;
    wk__tcp_control_stop(tcp);
    current = NULL;
    for (int r = 0; tcp->peer && r < tcp->size; r++)
        if (tcp->peer[r] >= 0) close(tcp->peer[r]);
    for (int r = 0; tcp->control && r < tcp->size; r++)
        if (tcp->control[r] >= 0) close(tcp->control[r]);
    wk__tcp_acceptor_close(&tcp->acceptor);
    if (tcp->control_wakeup >= 0) close(tcp->control_wakeup);
    if (tcp->caller_wakeup >= 0) close(tcp->caller_wakeup);
    void *const owned[] = {tcp->secret,       tcp->rank_address, tcp->peer,           tcp->sent,
                           tcp->received,     tcp->control,      tcp->inbox,          tcp->polls,
                           tcp->rank_of_poll, tcp->staging,      tcp->leave_sequence, tcp->diagnosis.answered,
                           tcp->diagnosis.at};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) wk__free(owned[k]);
    pthread_cond_destroy(&tcp->changed);
    pthread_mutex_destroy(&tcp->lock);
    wk__free(tcp);
}

static void in_child(void)
{
    wk__tcp *tcp = current;
    for (int r = 0; tcp && r < tcp->size; r++) {
        if (tcp->peer[r] >= 0) close(tcp->peer[r]);
        if (tcp->control[r] >= 0) close(tcp->control[r]);
    }
    if (tcp) wk__tcp_acceptor_close(&tcp->acceptor);
    current = NULL;
}

static void register_atfork(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

static void begin_lock(wk__tcp *tcp)
{
    pthread_condattr_t clock;
    pthread_mutex_init(&tcp->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&tcp->changed, &clock);
    pthread_condattr_destroy(&clock);
}

/* Allocates the world, in a state that leave can free at any point of joining. NULL on allocation failure. */
static wk__tcp *new_tcp(const wk__dist_settings *s)
{
    wk__tcp *tcp = wk__alloc_zero(1, sizeof *tcp);
    if (!tcp) return NULL;
    const size_t n = (size_t)s->size;
    tcp->rank = s->rank;
    tcp->size = s->size;
    tcp->seconds = s->timeout;
    begin_lock(tcp);
    wk__tcp_acceptor_init(&tcp->acceptor, -1, "", 0);
    tcp->control_wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    tcp->caller_wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    tcp->secret = wk__strdup(s->secret);
    tcp->rank_address = wk__alloc_zero(n, sizeof *tcp->rank_address);
    tcp->peer = wk__alloc_zero(n, sizeof *tcp->peer);
    tcp->sent = wk__alloc_zero(n, sizeof *tcp->sent);
    tcp->received = wk__alloc_zero(n, sizeof *tcp->received);
    tcp->control = wk__alloc_zero(n, sizeof *tcp->control);
    tcp->inbox = wk__alloc_zero(n, sizeof *tcp->inbox);
    tcp->polls = wk__alloc_zero(n + WK__TCP_MAX_PENDING + 2, sizeof *tcp->polls);
    tcp->rank_of_poll = wk__alloc_zero(n, sizeof *tcp->rank_of_poll);
    tcp->staging = wk__alloc(WK__TCP_STAGING_BYTES);
    tcp->leave_sequence = wk__alloc_zero(n, sizeof *tcp->leave_sequence);
    tcp->diagnosis.answered = wk__alloc_zero(n, sizeof *tcp->diagnosis.answered);
    tcp->diagnosis.at = wk__alloc_zero(n, sizeof *tcp->diagnosis.at);
    for (size_t r = 0; tcp->peer && r < n; r++) tcp->peer[r] = -1;
    for (size_t r = 0; tcp->control && r < n; r++) tcp->control[r] = -1;
    const bool whole = tcp->secret && tcp->rank_address && tcp->peer && tcp->sent && tcp->received && tcp->control &&
                       tcp->inbox && tcp->polls && tcp->rank_of_poll && tcp->staging && tcp->leave_sequence &&
                       tcp->diagnosis.answered && tcp->diagnosis.at && tcp->control_wakeup >= 0 &&
                       tcp->caller_wakeup >= 0;
    if (whole) return tcp;
    leave(tcp);
    return NULL;
}

/* Returns the rank within this machine: the number of lower ranks with the same host name. */
static int compute_local_rank(const wk__tcp *tcp)
{
    int before = 0;
    for (int r = 0; r < tcp->rank; r++)
        before += strcmp(tcp->rank_address[r].host, tcp->rank_address[tcp->rank].host) == 0;
    return before;
}

static wk_code join(const wk__dist_settings *s, wk__dist_identity *place, void **world, wk__dist_error *fail)
{
    wk__tcp *tcp = new_tcp(s);
    if (!tcp) return wk__dist_error_set(fail, WK_ERR_MEMORY, "out of host memory or file descriptors");
    wk_code code = wk__tcp_join(s, tcp, fail);
    if (code == WK_OK && !wk__tcp_control_start(tcp))
        code = wk__dist_error_set(fail, WK_ERR_MEMORY, "cannot create a thread");
    if (code != WK_OK) {
        leave(tcp);
        return code;
    }
    *place = (wk__dist_identity){s->rank, s->size, s->local_rank >= 0 ? s->local_rank : compute_local_rank(tcp)};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_atfork);
    *world = current = tcp;
    return WK_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static wk_code agree_only(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail)
{
    return wk__tcp_agree(tcp, call, NULL, 0, false, NULL, fail);
}

static wk__tcp_collective *const collectives[WK__DIST_KINDS] = {
    [WK__DIST_BARRIER] = agree_only,
    [WK__DIST_ALL_REDUCE] = wk__tcp_all_reduce,
    [WK__DIST_BROADCAST] = wk__tcp_broadcast,
    [WK__DIST_ALL_GATHER] = wk__tcp_all_gather,
    [WK__DIST_REDUCE_SCATTER] = wk__tcp_reduce_scatter,
    [WK__DIST_ALL_TO_ALL] = wk__tcp_all_to_all,
    [WK__DIST_SEND] = wk__tcp_send,
    [WK__DIST_RECV] = wk__tcp_recv,
    [WK__DIST_NEW_GROUP] = agree_only,
};

static wk_code tcp_call(void *world, const wk__dist_call *call, wk__dist_error *fail)
{
    wk__tcp *tcp = world;
    const wk__dist_kind kind = call->request->kind;
    if (kind == WK__DIST_FINISH) return wk__tcp_finish(tcp, call, fail);
    if (!wk__tcp_call_begin(tcp, call, fail)) return fail->code;
    const bool moves = call->request->code == WK_OK || kind == WK__DIST_SEND || kind == WK__DIST_RECV;
    const wk_code code = (moves ? collectives[kind] : agree_only)(tcp, call, fail);
    wk__tcp_call_end(tcp, code, fail);
    return code;
}

const wk__dist_transport wk__dist_tcp = {
    .version = WK__DIST_TRANSPORT_VERSION,
    .name = "tcp",
    .honors_deadline = true,
    .checks_agreement = true,
    .join = join,
    .leave = leave,
    .host_name = wk__tcp_host,
    .call = tcp_call,
};
