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

void wk__tcp_acceptor_init(wk__tcp_acceptor *door, int listener, const char *secret, double seconds)
{
    memset(door, 0, sizeof *door);
    door->listener = listener;
    door->secret = secret;
    door->misconfigured_rank = -1;
    door->handshake_timeout_ns =
        (int64_t)((seconds < 4 * HANDSHAKE_SECONDS ? seconds / 4 : HANDSHAKE_SECONDS) * BILLION);
    for (int k = 0; k < WK__TCP_MAX_PENDING; k++) door->pending[k].fd = -1;
}

static void close_pending(wk__tcp_pending *guest)
{
    if (guest->fd >= 0) close(guest->fd);
    guest->fd = -1;
}

void wk__tcp_acceptor_close(wk__tcp_acceptor *door)
{
    for (int k = 0; k < WK__TCP_MAX_PENDING; k++) close_pending(&door->pending[k]);
    if (door->listener >= 0) close(door->listener);
    door->listener = -1;
}

int wk__tcp_acceptor_pollfds(const wk__tcp_acceptor *door, struct pollfd *polls)
{
    const bool rests = door->paused_until > wk__monotonic_ns();
    int n = 0;
    polls[n++] = (struct pollfd){.fd = rests ? -1 : door->listener, .events = POLLIN};
    for (int k = 0; k < WK__TCP_MAX_PENDING; k++)
        if (door->pending[k].fd >= 0) polls[n++] = (struct pollfd){.fd = door->pending[k].fd, .events = POLLIN};
    return n;
}

int64_t wk__tcp_acceptor_deadline(const wk__tcp_acceptor *door)
{
    int64_t first = door->paused_until > wk__monotonic_ns() ? door->paused_until : INT64_MAX;
    for (int k = 0; k < WK__TCP_MAX_PENDING; k++)
        if (door->pending[k].fd >= 0 && door->pending[k].deadline < first) first = door->pending[k].deadline;
    return first;
}

static void reject(wk__tcp_acceptor *door, wk__tcp_pending *guest, const char *why, bool misfit)
{
    char host[64] = "?";
    getnameinfo((const struct sockaddr *)&guest->from.at, guest->from.bytes, host, sizeof host, NULL, 0,
                NI_NUMERICHOST);
    door->rejected_count++;
    if (misfit) door->misconfigured_rank = guest->visitor.hello.rank;
    if (misfit || door->misconfigured_rank < 0)
        snprintf(door->last_reject_reason, sizeof door->last_reject_reason, "%s: %s", host, why);
    close_pending(guest);
}

static void accept_all(wk__tcp_acceptor *door)
{
    wk__address from;
    int fd;
    while ((fd = wk__socket_accept(door->listener, &from)) >= 0) {
        wk__tcp_pending *place = &door->pending[0];
        for (int k = 0; k < WK__TCP_MAX_PENDING && place->fd >= 0; k++)
            if (door->pending[k].fd < 0 || door->pending[k].deadline < place->deadline) place = &door->pending[k];
        if (place->fd >= 0) reject(door, place, "too many simultaneous connections", false);
        memset(place, 0, sizeof *place);
        place->fd = fd;
        place->from = from;
        place->deadline = wk__monotonic_ns() + door->handshake_timeout_ns;
        wk__tcp_random(place->visitor.nonce, sizeof place->visitor.nonce);
    }
    /* A connection that cannot be accepted keeps the listener readable, so polling it would spin. */
    if (errno == EMFILE || errno == ENFILE) door->paused_until = wk__monotonic_ns() + PAUSE_NS;
}

static bool send_now(int fd, const wk__reply *reply)
{
    return send(fd, reply->at, reply->bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)reply->bytes;
}

/* Hands an authenticated connection to `proved`, or sends the reason why it is refused. */
static void deliver(wk__tcp_acceptor *door, wk__tcp_pending *guest, wk__tcp_on_authenticated *proved, void *user,
                    wk__reply *reply)
{
    const char *why = proved(user, &guest->visitor.hello, &guest->from, guest->fd);
    if (!why) {
        guest->fd = -1;
        return;
    }
    wk__reply_text(reply, (wk__wire_header){.kind = WK__WIRE_REFUSED, .status = WK_ERR_ARGUMENT}, why);
    send_now(guest->fd, reply);
    reject(door, guest, why, true);
}

/* Reads at most the bytes that the handshake needs; data after the proof belongs to the later owner of the
 * connection. */
static void read_handshake(wk__tcp_acceptor *door, wk__tcp_pending *guest, wk__tcp_on_authenticated *proved, void *user)
{
    uint8_t bytes[WK__HELLO_MESSAGE_BYTES];
    char why[80];
    size_t took;
    wk__reply reply;
    const size_t wanted = guest->visitor.challenged ? WK__PROOF_MESSAGE_BYTES : WK__HELLO_MESSAGE_BYTES;
    const ssize_t got = recv(guest->fd, bytes, wanted - guest->visitor.inbox.got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        reject(door, guest,
               guest->visitor.challenged ? "disconnected during authentication; its WICK_SECRET probably differs"
                                         : "disconnected before it sent its HELLO",
               guest->visitor.challenged);
        return;
    }
    switch (wk__handshake_server_feed(&guest->visitor, door->secret, bytes, (size_t)got, &took, &reply)) {
    case WK__HANDSHAKE_MORE: break;
    case WK__HANDSHAKE_REPLY:
        if (!send_now(guest->fd, &reply)) reject(door, guest, "does not accept data", false);
        break;
    case WK__HANDSHAKE_DONE: deliver(door, guest, proved, user, &reply); break;
    case WK__HANDSHAKE_REJECTED:
        send_now(guest->fd, &reply);
        snprintf(why, sizeof why, "%.*s", (int)(reply.bytes - WK__WIRE_HEADER_BYTES),
                 (char *)reply.at + WK__WIRE_HEADER_BYTES);
        reject(door, guest, why, false);
        break;
    }
}

void wk__tcp_acceptor_run(wk__tcp_acceptor *door, wk__tcp_on_authenticated *proved, void *user)
{
    accept_all(door);
    const int64_t now = wk__monotonic_ns();
    for (int k = 0; k < WK__TCP_MAX_PENDING; k++) {
        wk__tcp_pending *guest = &door->pending[k];
        if (guest->fd >= 0) read_handshake(door, guest, proved, user);
        if (guest->fd >= 0 && guest->deadline <= now) reject(door, guest, "authentication timed out", false);
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
