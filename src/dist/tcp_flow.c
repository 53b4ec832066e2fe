/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to one rank and from another at once, as fast as both go: so nobody waits for who waits for him. */
#include "../base/clock.h"
#include "tcp.h"
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { SPINS = 30 };

/* ---- connections ------------------------------------------------------------------------------------------------- */

static wk_code unreachable(wk__tcp *tcp, const wk__dist_step *step, int rank, const char *why, wk__dist_fail *fail)
{
    char text[WK__FRAME_TEXT];
    snprintf(text, sizeof text, "rank %d on %s cannot be reached: %.400s", rank, tcp->place[rank].host, why);
    return wk__tcp_give_up(tcp, step, WK_ERR_TIMEOUT, text, fail);
}

/* Tries until somebody is there. Between two tries it hears whether the world is broken: then that is the cause, and
 * *broken is set. */
static int visit(wk__tcp *tcp, const wk__dist_step *step, int rank, bool *broken, wk__dist_fail *fail)
{
    wk__hello hello = {.errand = WK__ERRAND_PEER, .rank = tcp->rank, .size = tcp->size};
    bool again, left = false;
    *broken = false;
    wk__tcp_random(hello.nonce, sizeof hello.nonce);
    for (;;) {
        const int fd = wk__tcp_visit(&tcp->place[rank].address, &hello, tcp->secret, step->deadline, fail, &again);
        const bool refused = errno == ECONNREFUSED; /* nobody listens there any more */
        const int64_t now = wk__nanoseconds();
        if (fd >= 0 || !again || refused || now >= step->deadline) return fd;
        if (wk__socket_wait(tcp->news, POLLIN, now + WK__TCP_PAUSE) && !wk__tcp_news(tcp, step, &left)) {
            *broken = true;
            return -1;
        }
    }
}

/* The other rank takes the connection: NULL, or why it does not. It may be stopped at just that moment, so this hears
 * meanwhile whether the world is broken. */
static const char *welcome(wk__tcp *tcp, const wk__dist_step *step, int fd, bool *broken)
{
    struct pollfd polls[2] = {{.fd = fd, .events = POLLIN}, {.fd = tcp->news, .events = POLLIN}};
    uint8_t head[WK__FRAME_BYTES];
    wk__dist_frame frame;
    bool left = false;
    do {
        poll(polls, 2, wk__socket_milliseconds(step->deadline));
        if (polls[1].revents && !wk__tcp_news(tcp, step, &left)) *broken = true;
    } while (!*broken && !polls[0].revents && wk__nanoseconds() < step->deadline);
    if (*broken) return "the world is broken";
    if (!wk__socket_receive(fd, head, sizeof head, step->deadline)) return wk__socket_reason(errno);
    const char *why = wk__dist_frame_parse(head, &frame);
    return !why && frame.kind != WK__FRAME_WELCOME ? "it refuses" : why;
}

/* This rank goes there. */
static wk_code go_to(wk__tcp *tcp, const wk__dist_step *step, int rank, wk__dist_fail *fail)
{
    bool broken;
    const int fd = visit(tcp, step, rank, &broken, fail);
    const char *why = fd >= 0 ? welcome(tcp, step, fd, &broken) : fail->text;
    if (!why) {
        wk__socket_settle(fd, tcp->seconds);
        atomic_store(&tcp->peer[rank], fd);
        return WK_OK;
    }
    if (fd >= 0) close(fd);
    return broken ? wk__tcp_give_up(tcp, step, WK_ERR_TIMEOUT, NULL, fail) : unreachable(tcp, step, rank, why, fail);
}

/* Until when nothing may happen: who has left does nothing any more, but what it has sent may be on its way. */
static int64_t patience(const wk__tcp *tcp, const wk__dist_step *step, bool left, int64_t idle_since)
{
    const int64_t soon = idle_since + wk__tcp_grace(tcp);
    return left && soon < step->deadline ? soon : step->deadline;
}

/* It comes here, to the watcher. */
static wk_code wait_for(wk__tcp *tcp, const wk__dist_step *step, int rank, wk__dist_fail *fail)
{
    const int64_t begun = wk__nanoseconds();
    bool left = false;
    while (atomic_load(&tcp->peer[rank]) < 0)
        if (!wk__socket_wait(tcp->news, POLLIN, patience(tcp, step, left, begun)) || !wk__tcp_news(tcp, step, &left))
            return wk__tcp_give_up(tcp, step, WK_ERR_TIMEOUT, NULL, fail);
    return WK_OK;
}

wk_code wk__tcp_connect(wk__tcp *tcp, const wk__dist_step *step, int to, int from, wk__dist_fail *fail)
{
    const int rank[2] = {to, from};
    for (int k = 0; k < 2; k++) {
        if (rank[k] < 0 || atomic_load(&tcp->peer[rank[k]]) >= 0) continue;
        const wk_code code = tcp->rank > rank[k] ? go_to(tcp, step, rank[k], fail) : wait_for(tcp, step, rank[k], fail);
        if (code != WK_OK) return code;
    }
    return WK_OK;
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

/* What one try came to. */
typedef enum moved { NOTHING_TO_DO, BLOCKED, MOVED, LOST, FAILED } moved;

static moved push(wk__tcp_flow *f, int fd)
{
    if (f->given == f->gives) return NOTHING_TO_DO;
    const wk__tcp_span span = f->give(f, f->given);
    const int64_t may = f->may_give ? f->may_give(f, f->given) : span.bytes;
    if (may > f->gone) {
        const ssize_t sent = send(fd, span.at + f->gone, (size_t)(may - f->gone), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN || errno == EINTR ? BLOCKED : LOST;
        f->gone += sent;
    } else if (f->gone < span.bytes) {
        return NOTHING_TO_DO;
    }
    if (f->gone == span.bytes) f->given++, f->gone = 0;
    return MOVED;
}

/* Of a span that is worked on, what has been staged is when the stage is full, or nothing more comes. */
static bool work(wk__tcp_flow *f, wk__tcp_span span, wk__dist_fail *fail)
{
    if (f->staged < WK__TCP_STAGE && f->came < span.bytes) return true;
    const int64_t bytes = f->staged;
    f->staged = 0;
    return f->work(f, f->taken, f->came - bytes, f->tcp->buffer, bytes, fail) == WK_OK;
}

static moved pull(wk__tcp_flow *f, int fd, wk__dist_fail *fail)
{
    if (f->taken == f->takes || (f->may_take && !f->may_take(f, f->taken))) return NOTHING_TO_DO;
    const wk__tcp_span span = f->take(f, f->taken);
    const bool worked = !span.at;
    const int64_t left = span.bytes - f->came, room = WK__TCP_STAGE - f->staged;
    if (left > 0) {
        char *at = worked ? f->tcp->buffer + f->staged : span.at + f->came;
        const ssize_t got = recv(fd, at, (size_t)(worked && room < left ? room : left), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return BLOCKED;
        if (got == 0) errno = 0;
        if (got <= 0) return LOST;
        f->came += got;
        if (worked) f->staged += got;
        if (worked && !work(f, span, fail)) return FAILED;
    }
    if (f->came == span.bytes) f->taken++, f->came = 0;
    return MOVED;
}

/* Here something is wrong, in the midst of what others wait for. */
static wk_code failed(const wk__tcp_flow *f, wk__dist_fail *fail)
{
    char text[WK__FRAME_TEXT];
    snprintf(text, sizeof text, "rank %d on %s failed: %.400s", f->tcp->rank, f->tcp->place[f->tcp->rank].host,
             fail->text);
    return wk__tcp_give_up(f->tcp, f->step, fail->code, text, fail);
}

static wk_code lost(const wk__tcp_flow *f, int rank, wk__dist_fail *fail)
{
    char text[WK__FRAME_TEXT];
    snprintf(text, sizeof text, "rank %d on %s is gone: %s", rank, f->tcp->place[rank].host, wk__socket_reason(errno));
    return wk__tcp_give_up(f->tcp, f->step, WK_ERR_TIMEOUT, text, fail);
}

/* Waits until something can move; WK_OK, or the call is to be given up. */
static wk_code wait(wk__tcp_flow *f, moved out, int to, moved in, int from, wk__dist_fail *fail)
{
    struct pollfd polls[3] = {{.fd = f->tcp->news, .events = POLLIN}};
    int n = 1;
    if (in == BLOCKED) polls[n++] = (struct pollfd){.fd = from, .events = POLLIN};
    if (out == BLOCKED) polls[n++] = (struct pollfd){.fd = to, .events = POLLOUT};
    if (f->idle_since == 0) f->idle_since = wk__nanoseconds();
    const int64_t until = patience(f->tcp, f->step, f->left, f->idle_since);
    const int ready = poll(polls, (nfds_t)n, wk__socket_milliseconds(until));
    const bool late = ready == 0 && wk__nanoseconds() >= until;
    if (late || (ready > 0 && polls[0].revents && !wk__tcp_news(f->tcp, f->step, &f->left)))
        return wk__tcp_give_up(f->tcp, f->step, WK_ERR_TIMEOUT, NULL, fail);
    return WK_OK;
}

wk_code wk__tcp_run(wk__tcp_flow *f, wk__dist_fail *fail)
{
    wk_code code = wk__tcp_connect(f->tcp, f->step, f->to, f->from, fail);
    if (code != WK_OK) return code;
    const int to = f->to < 0 ? -1 : atomic_load(&f->tcp->peer[f->to]);
    const int from = f->from < 0 ? -1 : atomic_load(&f->tcp->peer[f->from]);
    for (int idle = 0; f->given < f->gives || f->taken < f->takes;) {
        const moved in = pull(f, from, fail);
        if (in == FAILED) return failed(f, fail);
        if (in == LOST) return lost(f, f->from, fail);
        const moved out = push(f, to);
        if (out == LOST) return lost(f, f->to, fail);
        if (in == MOVED || out == MOVED)
            idle = 0, f->idle_since = 0;
        else if (idle++ < SPINS)
            sched_yield();
        else if ((code = wait(f, out, to, in, from, fail)) != WK_OK)
            return code;
    }
    return WK_OK;
}
