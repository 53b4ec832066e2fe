/* SPDX-License-Identifier: Apache-2.0 */
/* The port where other ranks come, and strangers. Nobody who stands there holds up anybody else: visits go on side by
 * side, each has its time, and where there are too many the one that has been there longest goes. */
#include "../base/clock.h"
#include "tcp.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { PATIENCE = 10 /* seconds that a handshake may take */, BILLION = 1000000000 };
enum { REST = BILLION / 10 /* nanoseconds without looking who has come, where no descriptor is left */ };

void wk__tcp_random(void *out, size_t bytes)
{
    while (getrandom(out, bytes, 0) != (ssize_t)bytes) continue; /* a signal came: up to 256 bytes come at once */
}

void wk__tcp_door_begin(wk__tcp_door *door, int listener, const char *secret, double seconds)
{
    memset(door, 0, sizeof *door);
    door->listener = listener;
    door->secret = secret;
    door->misfit = -1;
    door->patience = (int64_t)((seconds < 4 * PATIENCE ? seconds / 4 : PATIENCE) * BILLION);
    for (int k = 0; k < WK__TCP_VISITORS; k++) door->guest[k].fd = -1;
}

static void goes(wk__tcp_guest *guest)
{
    if (guest->fd >= 0) close(guest->fd);
    guest->fd = -1;
}

void wk__tcp_door_end(wk__tcp_door *door)
{
    for (int k = 0; k < WK__TCP_VISITORS; k++) goes(&door->guest[k]);
    if (door->listener >= 0) close(door->listener);
    door->listener = -1;
}

int wk__tcp_door_polls(const wk__tcp_door *door, struct pollfd *polls)
{
    const bool rests = door->rests > wk__nanoseconds();
    int n = 0;
    polls[n++] = (struct pollfd){.fd = rests ? -1 : door->listener, .events = POLLIN};
    for (int k = 0; k < WK__TCP_VISITORS; k++)
        if (door->guest[k].fd >= 0) polls[n++] = (struct pollfd){.fd = door->guest[k].fd, .events = POLLIN};
    return n;
}

int64_t wk__tcp_door_until(const wk__tcp_door *door)
{
    int64_t first = door->rests > wk__nanoseconds() ? door->rests : INT64_MAX;
    for (int k = 0; k < WK__TCP_VISITORS; k++)
        if (door->guest[k].fd >= 0 && door->guest[k].until < first) first = door->guest[k].until;
    return first;
}

static void refuse(wk__tcp_door *door, wk__tcp_guest *guest, const char *why, bool misfit)
{
    char host[64] = "?";
    getnameinfo((const struct sockaddr *)&guest->from.at, guest->from.bytes, host, sizeof host, NULL, 0,
                NI_NUMERICHOST);
    door->refused++;
    if (misfit) door->misfit = guest->visitor.hello.rank;
    if (misfit || door->misfit < 0) snprintf(door->last, sizeof door->last, "%s: %s", host, why);
    goes(guest);
}

static void let_in(wk__tcp_door *door)
{
    wk__address from;
    int fd;
    while ((fd = wk__socket_accept(door->listener, &from)) >= 0) {
        wk__tcp_guest *place = &door->guest[0];
        for (int k = 0; k < WK__TCP_VISITORS && place->fd >= 0; k++)
            if (door->guest[k].fd < 0 || door->guest[k].until < place->until) place = &door->guest[k];
        if (place->fd >= 0) refuse(door, place, "too many came at once", false);
        memset(place, 0, sizeof *place);
        place->fd = fd;
        place->from = from;
        place->until = wk__nanoseconds() + door->patience;
        wk__tcp_random(place->visitor.nonce, sizeof place->visitor.nonce);
    }
    /* Who waits outside makes the listener ready all the time. */
    if (errno == EMFILE || errno == ENFILE) door->rests = wk__nanoseconds() + REST;
}

static bool send_now(int fd, const wk__reply *reply)
{
    return send(fd, reply->at, reply->bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)reply->bytes;
}

/* One that knows the secret: it is handed on, or hears why not. */
static void admit(wk__tcp_door *door, wk__tcp_guest *guest, wk__tcp_proved *proved, void *user, wk__reply *reply)
{
    const char *why = proved(user, &guest->visitor.hello, &guest->from, guest->fd);
    if (!why) {
        guest->fd = -1;
        return;
    }
    wk__reply_text(reply, (wk__dist_frame){.kind = WK__FRAME_REFUSED, .status = WK_ERR_ARGUMENT}, why);
    send_now(guest->fd, reply);
    refuse(door, guest, why, true);
}

/* Byte after byte up to what the visit has room for: what a rank sends after its proof is read by whoever takes it. */
static void talk(wk__tcp_door *door, wk__tcp_guest *guest, wk__tcp_proved *proved, void *user)
{
    uint8_t bytes[WK__HELLO_SENT];
    char why[80];
    size_t took;
    wk__reply reply;
    const size_t wanted = guest->visitor.challenged ? WK__PROOF_SENT : WK__HELLO_SENT;
    const ssize_t got = recv(guest->fd, bytes, wanted - guest->visitor.inbox.got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        refuse(door, guest,
               guest->visitor.challenged
                   ? "it went before it had proved who it is; most likely its WICK_SECRET is another one"
                   : "it went before it had said who it is",
               guest->visitor.challenged);
        return;
    }
    switch (wk__visitor_take(&guest->visitor, door->secret, bytes, (size_t)got, &took, &reply)) {
    case WK__VISIT_WAITS: break;
    case WK__VISIT_REPLY:
        if (!send_now(guest->fd, &reply)) refuse(door, guest, "it does not read", false);
        break;
    case WK__VISIT_PROVED: admit(door, guest, proved, user, &reply); break;
    case WK__VISIT_OVER:
        send_now(guest->fd, &reply);
        snprintf(why, sizeof why, "%.*s", (int)(reply.bytes - WK__FRAME_BYTES), (char *)reply.at + WK__FRAME_BYTES);
        refuse(door, guest, why, false);
        break;
    }
}

void wk__tcp_door_serve(wk__tcp_door *door, wk__tcp_proved *proved, void *user)
{
    let_in(door);
    const int64_t now = wk__nanoseconds();
    for (int k = 0; k < WK__TCP_VISITORS; k++) {
        wk__tcp_guest *guest = &door->guest[k];
        if (guest->fd >= 0) talk(door, guest, proved, user);
        if (guest->fd >= 0 && guest->until <= now) refuse(door, guest, "it took too long to prove who it is", false);
    }
}

/* ---- the other side ---------------------------------------------------------------------------------------------- */

/* The next frame, a short one. False with the reason. */
static bool receive_frame(int fd, wk__inbox *in, int64_t deadline, const char **why)
{
    size_t took;
    memset(in, 0, sizeof *in);
    uint8_t head[WK__FRAME_BYTES];
    if (!wk__socket_receive(fd, head, sizeof head, deadline)) {
        *why = wk__socket_reason(errno);
        return false;
    }
    if (wk__inbox_take(in, head, sizeof head, &took) == WK__GARBAGE) {
        *why = in->wrong;
        return false;
    }
    if (wk__socket_receive(fd, in->body, in->frame.bytes, deadline)) return true;
    *why = wk__socket_reason(errno);
    return false;
}

/* What has come instead of a challenge or a welcome. */
static wk_code refused(const wk__inbox *in, wk__dist_fail *fail)
{
    char text[WK__FRAME_TEXT + 1];
    if (in->frame.kind != WK__FRAME_REFUSED)
        return wk__dist_fail_set(fail, WK_ERR_ARGUMENT,
                                 "who listens there does not know the secret of this job (WICK_SECRET)");
    wk__inbox_text(in, text, sizeof text);
    return wk__dist_fail_set(fail, WK_ERR_IO, "who listens there refuses this rank: %s", text);
}

int wk__tcp_visit(const wk__address *to, const wk__hello *hello, const char *secret, int64_t deadline,
                  wk__dist_fail *fail, bool *again)
{
    uint8_t sent[WK__HELLO_SENT], proof[WK__PROOF_SENT];
    wk__inbox in = {.wrong = NULL};
    const char *why = NULL;
    const int64_t patience = wk__nanoseconds() + (int64_t)PATIENCE * BILLION,
                  until = patience < deadline ? patience : deadline;
    *again = true;
    const int fd = wk__socket_connect(to, until);
    if (fd < 0) {
        wk__dist_fail_set(fail, WK_ERR_TIMEOUT, "%s", wk__socket_reason(errno));
        return -1;
    }
    wk__hello_write(hello, sent);
    if (!wk__socket_send(fd, sent, sizeof sent, until)) why = wk__socket_reason(errno);
    if (!why) receive_frame(fd, &in, until, &why);
    *again = why && !in.wrong;
    if (why)
        wk__dist_fail_set(fail, WK_ERR_IO, in.wrong ? "what listens there is no rank of this job: %s" : "%s", why);
    else if (!wk__challenge_answer(secret, sent, &in, proof))
        refused(&in, fail);
    else if (wk__socket_send(fd, proof, sizeof proof, until))
        return fd;
    else
        wk__dist_fail_set(fail, WK_ERR_IO, "%s", wk__socket_reason(errno));
    close(fd);
    return -1;
}
