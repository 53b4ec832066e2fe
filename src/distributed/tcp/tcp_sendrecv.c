/* SPDX-License-Identifier: Apache-2.0 */
/* Full-duplex transfer, and opening the data connections that it uses. Sending and receiving progress independently, so
 * that ranks in a ring do not deadlock.
 *
 * Everything here runs on the thread that makes the call. While it waits, it also polls caller_wakeup, by which the
 * control thread reports that the world was aborted, that a connection was accepted (tcp->peer) or that a rank called
 * wk_dist_finish. The data connections belong to tcp->peer, and stay open until the world is left. */
#include "base/platform/clock.h"
#include "tcp.h"
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { SPINS = 30 }; /* attempts without progress before the thread sleeps in poll() */

/* ---- connections ------------------------------------------------------------------------------------------------- */

static wk_code unreachable_error(wk__tcp *tcp, const wk__dist_call *call, int rank, const char *why,
                                 wk__dist_error *fail)
{
    char text[WK__WIRE_TEXT_MAX];
    snprintf(text, sizeof text, "cannot reach rank %d on %s: %.400s", rank, tcp->rank_address[rank].host, why);
    return wk__tcp_give_up(tcp, call, WK_ERR_TIMEOUT, text, fail);
}

/* Connects to a rank, retrying until the deadline. Returns the connection, or -1 with the reason in *fail; or with
 * *aborted set, if the world was aborted before the connection was made. */
static int dial_peer(wk__tcp *tcp, const wk__dist_call *call, int rank, bool *aborted, wk__dist_error *fail)
{
    wk__hello hello = {.purpose = WK__HELLO_PEER, .rank = tcp->rank, .size = tcp->size};
    bool again, refused, left = false; /* refused: the rank does not listen any more */
    *aborted = false;
    wk__tcp_random(hello.nonce, sizeof hello.nonce);
    for (;;) {
        const int fd =
            wk__tcp_dial(&tcp->rank_address[rank].address, &hello, tcp->secret, call->deadline, fail, &again, &refused);
        const int64_t now = wk__monotonic_ns();
        if (fd >= 0 || !again || refused || now >= call->deadline) return fd;
        if (wk__socket_wait(tcp->caller_wakeup, POLLIN, now + WK__TCP_RETRY_NS) &&
            !wk__tcp_on_wakeup(tcp, call, &left)) {
            *aborted = true;
            return -1;
        }
    }
}

/* Waits until the peer accepts the connection, the deadline passes, or the world is aborted (*aborted), because a peer
 * that is stopped never answers. Returns NULL, or the reason why the connection was not accepted. */
static const char *await_welcome(wk__tcp *tcp, const wk__dist_call *call, int fd, bool *aborted)
{
    struct pollfd polls[2] = {{.fd = fd, .events = POLLIN}, {.fd = tcp->caller_wakeup, .events = POLLIN}};
    uint8_t head[WK__WIRE_HEADER_BYTES];
    wk__wire_header frame;
    bool left = false;
    do {
        poll(polls, 2, wk__socket_milliseconds(call->deadline));
        if (polls[1].revents && !wk__tcp_on_wakeup(tcp, call, &left)) *aborted = true;
    } while (!*aborted && !polls[0].revents && wk__monotonic_ns() < call->deadline);
    if (*aborted) return "an earlier call failed";
    if (!wk__socket_receive(fd, head, sizeof head, call->deadline)) return wk__socket_error_text(errno);
    const char *why = wk__wire_header_parse(head, &frame);
    return !why && frame.kind != WK__WIRE_WELCOME ? "connection rejected" : why;
}

/* Opens the data connection to a lower rank. */
static wk_code connect_to(wk__tcp *tcp, const wk__dist_call *call, int rank, wk__dist_error *fail)
{
    bool aborted;
    const int fd = dial_peer(tcp, call, rank, &aborted, fail);
    const char *why = fd >= 0 ? await_welcome(tcp, call, fd, &aborted) : fail->text;
    if (!why) {
        wk__socket_tune(fd, tcp->seconds);
        atomic_store(&tcp->peer[rank], fd);
        return WK_OK;
    }
    if (fd >= 0) close(fd);
    if (aborted) return wk__tcp_give_up(tcp, call, WK_ERR_TIMEOUT, NULL, fail); /* fails with the cause of the abort */
    return unreachable_error(tcp, call, rank, why, fail);
}

/* Returns the time at which a transfer without progress since idle_since fails. If a peer has called wk_dist_finish
 * (left), only data in transit may still arrive, and the grace period suffices. */
static int64_t idle_deadline(const wk__tcp *tcp, const wk__dist_call *call, bool left, int64_t idle_since)
{
    const int64_t soon = idle_since + wk__tcp_grace(tcp);
    return left && soon < call->deadline ? soon : call->deadline;
}

/* Waits for the data connection of a higher rank, which the control thread accepts. */
static wk_code await_peer(wk__tcp *tcp, const wk__dist_call *call, int rank, wk__dist_error *fail)
{
    const int64_t started = wk__monotonic_ns();
    bool left = false;
    while (atomic_load(&tcp->peer[rank]) < 0)
        if (!wk__socket_wait(tcp->caller_wakeup, POLLIN, idle_deadline(tcp, call, left, started)) ||
            !wk__tcp_on_wakeup(tcp, call, &left))
            return wk__tcp_give_up(tcp, call, WK_ERR_TIMEOUT, NULL, fail);
    return WK_OK;
}

wk_code wk__tcp_connect_peers(wk__tcp *tcp, const wk__dist_call *call, int to, int from, wk__dist_error *fail)
{
    const int rank[2] = {to, from};
    for (int k = 0; k < 2; k++) {
        if (rank[k] < 0 || atomic_load(&tcp->peer[rank[k]]) >= 0) continue;
        const wk_code code =
            tcp->rank > rank[k] ? connect_to(tcp, call, rank[k], fail) : await_peer(tcp, call, rank[k], fail);
        if (code != WK_OK) return code;
    }
    return WK_OK;
}

/* ---- transfer ---------------------------------------------------------------------------------------------------- */

/* Result of one attempt to send or receive. */
typedef enum io_result {
    IO_NONE,     /* nothing to do, at least until the other direction has progressed */
    IO_BLOCKED,  /* the socket is not ready */
    IO_PROGRESS, /* bytes were moved or a span was completed */
    IO_LOST,     /* the connection is broken, reason in errno; 0: the peer closed it */
    IO_FAILED    /* on_chunk failed */
} io_result;

static io_result send_some(wk__tcp_sendrecv *flow, int fd)
{
    if (flow->spans_sent == flow->send_spans) return IO_NONE;
    const wk__tcp_span span = flow->send_span(flow, flow->spans_sent);
    const int64_t sendable = flow->sendable ? flow->sendable(flow, flow->spans_sent) : span.bytes;
    if (sendable > flow->bytes_sent) {
        const ssize_t sent =
            send(fd, span.at + flow->bytes_sent, (size_t)(sendable - flow->bytes_sent), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN || errno == EINTR ? IO_BLOCKED : IO_LOST;
        flow->bytes_sent += sent;
    } else if (flow->bytes_sent < span.bytes) {
        return IO_NONE;
    }
    if (flow->bytes_sent == span.bytes) {
        flow->spans_sent++;
        flow->bytes_sent = 0;
    }
    return IO_PROGRESS;
}

/* Passes staged bytes to on_chunk if staging is full or the span is complete. Returns false if on_chunk fails. */
static bool process_staged(wk__tcp_sendrecv *flow, wk__tcp_span span, wk__dist_error *fail)
{
    if (flow->staged < WK__TCP_STAGING_BYTES && flow->bytes_received < span.bytes) return true;
    const int64_t bytes = flow->staged;
    flow->staged = 0;
    return flow->on_chunk(flow, flow->spans_received, flow->bytes_received - bytes, flow->tcp->staging, bytes, fail) ==
           WK_OK;
}

static io_result recv_some(wk__tcp_sendrecv *flow, int fd, wk__dist_error *fail)
{
    if (flow->spans_received == flow->recv_spans ||
        (flow->can_receive && !flow->can_receive(flow, flow->spans_received)))
        return IO_NONE;
    const wk__tcp_span span = flow->recv_span(flow, flow->spans_received);
    const bool staging = !span.at;
    const int64_t left = span.bytes - flow->bytes_received, room = WK__TCP_STAGING_BYTES - flow->staged;
    if (left > 0) {
        char *to = staging ? flow->tcp->staging + flow->staged : span.at + flow->bytes_received;
        const ssize_t got = recv(fd, to, (size_t)(staging && room < left ? room : left), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return IO_BLOCKED;
        if (got == 0) errno = 0;
        if (got <= 0) return IO_LOST;
        flow->bytes_received += got;
        if (staging) flow->staged += got;
        if (staging && !process_staged(flow, span, fail)) return IO_FAILED;
    }
    if (flow->bytes_received == span.bytes) {
        flow->spans_received++;
        flow->bytes_received = 0;
    }
    return IO_PROGRESS;
}

/* Fails the call on all ranks because of the error of this rank in *fail. */
static wk_code local_error(const wk__tcp_sendrecv *flow, wk__dist_error *fail)
{
    char text[WK__WIRE_TEXT_MAX];
    snprintf(text, sizeof text, "rank %d on %s failed: %.400s", flow->tcp->rank,
             flow->tcp->rank_address[flow->tcp->rank].host, fail->text);
    fail->failed_rank_plus_1 = (uint32_t)flow->tcp->rank + 1;
    return wk__tcp_give_up(flow->tcp, flow->call, fail->code, text, fail);
}

/* Fails the call because the connection to a rank broke. The reason is in errno. */
static wk_code peer_lost_error(const wk__tcp_sendrecv *flow, int rank, wk__dist_error *fail)
{
    char text[WK__WIRE_TEXT_MAX];
    snprintf(text, sizeof text, "lost rank %d on %s: %s", rank, flow->tcp->rank_address[rank].host,
             wk__socket_error_text(errno));
    return wk__tcp_give_up(flow->tcp, flow->call, WK_ERR_TIMEOUT, text, fail);
}

/* Waits until a blocked direction can progress or caller_wakeup is signalled. Returns WK_OK, or the error with which
 * the call fails. */
static wk_code wait_for_io(wk__tcp_sendrecv *flow, io_result out, int to, io_result in, int from, wk__dist_error *fail)
{
    struct pollfd polls[3] = {{.fd = flow->tcp->caller_wakeup, .events = POLLIN}};
    int n = 1;
    if (in == IO_BLOCKED) polls[n++] = (struct pollfd){.fd = from, .events = POLLIN};
    if (out == IO_BLOCKED) polls[n++] = (struct pollfd){.fd = to, .events = POLLOUT};
    if (flow->idle_since == 0) flow->idle_since = wk__monotonic_ns();
    const int64_t until = idle_deadline(flow->tcp, flow->call, flow->peer_left, flow->idle_since);
    const int ready = poll(polls, (nfds_t)n, wk__socket_milliseconds(until));
    const bool late = ready == 0 && wk__monotonic_ns() >= until;
    if (late || (ready > 0 && polls[0].revents && !wk__tcp_on_wakeup(flow->tcp, flow->call, &flow->peer_left)))
        return wk__tcp_give_up(flow->tcp, flow->call, WK_ERR_TIMEOUT, NULL, fail);
    return WK_OK;
}

wk_code wk__tcp_sendrecv_run(wk__tcp_sendrecv *flow, wk__dist_error *fail)
{
    wk_code code = wk__tcp_connect_peers(flow->tcp, flow->call, flow->to, flow->from, fail);
    if (code != WK_OK) return code;
    const int to = flow->to < 0 ? -1 : atomic_load(&flow->tcp->peer[flow->to]);
    const int from = flow->from < 0 ? -1 : atomic_load(&flow->tcp->peer[flow->from]);
    for (int idle = 0; flow->spans_sent < flow->send_spans || flow->spans_received < flow->recv_spans;) {
        const io_result in = recv_some(flow, from, fail);
        if (in == IO_FAILED) return local_error(flow, fail);
        if (in == IO_LOST) return peer_lost_error(flow, flow->from, fail);
        const io_result out = send_some(flow, to);
        if (out == IO_LOST) return peer_lost_error(flow, flow->to, fail);
        if (in == IO_PROGRESS || out == IO_PROGRESS) {
            idle = 0;
            flow->idle_since = 0;
        } else if (idle++ < SPINS) {
            sched_yield();
        } else if ((code = wait_for_io(flow, out, to, in, from, fail)) != WK_OK) {
            return code;
        }
    }
    return WK_OK;
}
