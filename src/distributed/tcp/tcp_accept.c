/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts connections and runs the server side of the handshake; also the client side, wk__tcp_dial.
 *
 * Handshakes are concurrent and non-blocking, each with a deadline. When the table of pending connections is full, the
 * oldest one is closed. */
#include "base/platform/clock.h"
#include "tcp.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { HANDSHAKE_SECONDS = 10 /* seconds that a handshake may take */, BILLION = 1000000000 };
enum { PAUSE_NS = BILLION / 10 /* nanoseconds without accepting, after the process ran out of descriptors */ };

void wk__tcp_random(void *out, size_t bytes)
{
    while (getrandom(out, bytes, 0) != (ssize_t)bytes) continue; /* interrupted; up to 256 bytes are returned at once */
}

void wk__tcp_acceptor_init(wk__tcp_acceptor *acceptor, int listener, const char *secret, double seconds)
{
    memset(acceptor, 0, sizeof *acceptor);
    acceptor->listener = listener;
    acceptor->secret = secret;
    acceptor->misconfigured_rank = -1;
    acceptor->handshake_timeout_ns =
        (int64_t)((seconds < 4 * HANDSHAKE_SECONDS ? seconds / 4 : HANDSHAKE_SECONDS) * BILLION);
    for (int k = 0; k < WK__TCP_MAX_PENDING; k++) acceptor->pending[k].fd = -1;
}

static void close_pending(wk__tcp_pending *pending)
{
    if (pending->fd >= 0) close(pending->fd);
    pending->fd = -1;
}

void wk__tcp_acceptor_close(wk__tcp_acceptor *acceptor)
{
    for (int k = 0; k < WK__TCP_MAX_PENDING; k++) close_pending(&acceptor->pending[k]);
    if (acceptor->listener >= 0) close(acceptor->listener);
    acceptor->listener = -1;
}

int wk__tcp_acceptor_pollfds(const wk__tcp_acceptor *acceptor, struct pollfd *polls)
{
    const bool paused = acceptor->paused_until > wk__monotonic_ns();
    int n = 0;
    polls[n++] = (struct pollfd){.fd = paused ? -1 : acceptor->listener, .events = POLLIN};
    for (int k = 0; k < WK__TCP_MAX_PENDING; k++)
        if (acceptor->pending[k].fd >= 0) polls[n++] = (struct pollfd){.fd = acceptor->pending[k].fd, .events = POLLIN};
    return n;
}

int64_t wk__tcp_acceptor_deadline(const wk__tcp_acceptor *acceptor)
{
    int64_t first = acceptor->paused_until > wk__monotonic_ns() ? acceptor->paused_until : INT64_MAX;
    for (int k = 0; k < WK__TCP_MAX_PENDING; k++)
        if (acceptor->pending[k].fd >= 0 && acceptor->pending[k].deadline < first)
            first = acceptor->pending[k].deadline;
    return first;
}

static void reject(wk__tcp_acceptor *acceptor, wk__tcp_pending *pending, const char *why, bool misfit)
{
    char host[64] = "?";
    getnameinfo((const struct sockaddr *)&pending->from.at, pending->from.bytes, host, sizeof host, NULL, 0,
                NI_NUMERICHOST);
    acceptor->rejected_count++;
    if (misfit) acceptor->misconfigured_rank = pending->handshake.hello.rank;
    if (misfit || acceptor->misconfigured_rank < 0)
        snprintf(acceptor->last_reject_reason, sizeof acceptor->last_reject_reason, "%s: %s", host, why);
    close_pending(pending);
}

static void accept_all(wk__tcp_acceptor *acceptor)
{
    wk__address from;
    int fd;
    while ((fd = wk__socket_accept(acceptor->listener, &from)) >= 0) {
        wk__tcp_pending *slot = &acceptor->pending[0];
        for (int k = 0; k < WK__TCP_MAX_PENDING && slot->fd >= 0; k++)
            if (acceptor->pending[k].fd < 0 || acceptor->pending[k].deadline < slot->deadline)
                slot = &acceptor->pending[k];
        if (slot->fd >= 0) reject(acceptor, slot, "too many simultaneous connections", false);
        memset(slot, 0, sizeof *slot);
        slot->fd = fd;
        slot->from = from;
        slot->deadline = wk__monotonic_ns() + acceptor->handshake_timeout_ns;
        wk__tcp_random(slot->handshake.nonce, sizeof slot->handshake.nonce);
    }
    /* A connection that cannot be accepted keeps the listener readable, so polling it would spin. */
    if (errno == EMFILE || errno == ENFILE) acceptor->paused_until = wk__monotonic_ns() + PAUSE_NS;
}

static bool send_now(int fd, const wk__reply *reply)
{
    return send(fd, reply->at, reply->bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)reply->bytes;
}

/* Hands an authenticated connection to `on_authenticated`, or sends the reason why it is refused. */
static void deliver(wk__tcp_acceptor *acceptor, wk__tcp_pending *pending, wk__tcp_on_authenticated *on_authenticated,
                    void *user, wk__reply *reply)
{
    const char *why = on_authenticated(user, &pending->handshake.hello, &pending->from, pending->fd);
    if (!why) {
        pending->fd = -1;
        return;
    }
    wk__reply_text(reply, (wk__wire_header){.kind = WK__WIRE_REFUSED, .status = WK_ERR_ARGUMENT}, why);
    send_now(pending->fd, reply);
    reject(acceptor, pending, why, true);
}

/* Reads at most the bytes that the handshake needs; data after the proof belongs to the later owner of the
 * connection. */
static void read_handshake(wk__tcp_acceptor *acceptor, wk__tcp_pending *pending,
                           wk__tcp_on_authenticated *on_authenticated, void *user)
{
    uint8_t bytes[WK__HELLO_MESSAGE_BYTES];
    char why[80];
    size_t took;
    wk__reply reply;
    const size_t wanted = pending->handshake.challenged ? WK__PROOF_MESSAGE_BYTES : WK__HELLO_MESSAGE_BYTES;
    const ssize_t got = recv(pending->fd, bytes, wanted - pending->handshake.inbox.got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        reject(acceptor, pending,
               pending->handshake.challenged ? "disconnected during authentication; its WICK_SECRET probably differs"
                                             : "disconnected before it sent its HELLO",
               pending->handshake.challenged);
        return;
    }
    switch (wk__handshake_server_feed(&pending->handshake, acceptor->secret, bytes, (size_t)got, &took, &reply)) {
    case WK__HANDSHAKE_MORE: break;
    case WK__HANDSHAKE_REPLY:
        if (!send_now(pending->fd, &reply)) reject(acceptor, pending, "does not accept data", false);
        break;
    case WK__HANDSHAKE_DONE: deliver(acceptor, pending, on_authenticated, user, &reply); break;
    case WK__HANDSHAKE_REJECTED:
        send_now(pending->fd, &reply);
        snprintf(why, sizeof why, "%.*s", (int)(reply.bytes - WK__WIRE_HEADER_BYTES),
                 (char *)reply.at + WK__WIRE_HEADER_BYTES);
        reject(acceptor, pending, why, false);
        break;
    }
}

void wk__tcp_acceptor_run(wk__tcp_acceptor *acceptor, wk__tcp_on_authenticated *on_authenticated, void *user)
{
    accept_all(acceptor);
    const int64_t now = wk__monotonic_ns();
    for (int k = 0; k < WK__TCP_MAX_PENDING; k++) {
        wk__tcp_pending *pending = &acceptor->pending[k];
        if (pending->fd >= 0) read_handshake(acceptor, pending, on_authenticated, user);
        if (pending->fd >= 0 && pending->deadline <= now) reject(acceptor, pending, "authentication timed out", false);
    }
}

/* ---- the other side ---------------------------------------------------------------------------------------------- */

/* Receives a short frame by the deadline. Returns false with the reason. */
static bool receive_frame(int fd, wk__wire_parser *in, int64_t deadline, const char **why)
{
    size_t took;
    memset(in, 0, sizeof *in);
    uint8_t head[WK__WIRE_HEADER_BYTES];
    if (!wk__socket_receive(fd, head, sizeof head, deadline)) {
        *why = wk__socket_error_text(errno);
        return false;
    }
    if (wk__wire_parser_feed(in, head, sizeof head, &took) == WK__PARSE_INVALID) {
        *why = in->error;
        return false;
    }
    if (wk__socket_receive(fd, in->body, in->frame.bytes, deadline)) return true;
    *why = wk__socket_error_text(errno);
    return false;
}

/* Sets the error for a frame received instead of CHALLENGE or WELCOME. */
static wk_code rejection_error(const wk__wire_parser *in, wk__dist_error *fail)
{
    char text[WK__WIRE_TEXT_MAX + 1];
    if (in->frame.kind != WK__WIRE_REFUSED)
        return wk__dist_error_set(fail, WK_ERR_ARGUMENT,
                                  "the process listening there does not know the secret of this job (WICK_SECRET)");
    wk__wire_parser_text(in, text, sizeof text);
    return wk__dist_error_set(fail, WK_ERR_IO, "the process listening there rejected this rank: %s", text);
}

int wk__tcp_dial(const wk__address *to, const wk__hello *hello, const char *secret, int64_t deadline,
                 wk__dist_error *fail, bool *again, bool *refused)
{
    uint8_t sent[WK__HELLO_MESSAGE_BYTES], proof[WK__PROOF_MESSAGE_BYTES];
    wk__wire_parser in = {.error = NULL};
    const char *why = NULL;
    const int64_t patience = wk__monotonic_ns() + (int64_t)HANDSHAKE_SECONDS * BILLION,
                  until = patience < deadline ? patience : deadline;
    *again = true;
    const int fd = wk__socket_connect(to, until);
    *refused = fd < 0 && errno == ECONNREFUSED;
    if (fd < 0) {
        wk__dist_error_set(fail, WK_ERR_TIMEOUT, "%s", wk__socket_error_text(errno));
        return -1;
    }
    wk__hello_write(hello, sent);
    if (!wk__socket_send(fd, sent, sizeof sent, until)) why = wk__socket_error_text(errno);
    if (!why) receive_frame(fd, &in, until, &why);
    *again = why && !in.error;
    if (why)
        wk__dist_error_set(fail, WK_ERR_IO,
                           in.error ? "the process listening there is not a rank of this job: %s" : "%s", why);
    else if (!wk__challenge_answer(secret, sent, &in, proof))
        rejection_error(&in, fail);
    else if (wk__socket_send(fd, proof, sizeof proof, until))
        return fd;
    else
        wk__dist_error_set(fail, WK_ERR_IO, "%s", wk__socket_error_text(errno));
    close(fd);
    return -1;
}
