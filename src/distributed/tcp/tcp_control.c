/* SPDX-License-Identifier: Apache-2.0 */
/* Control thread: accepts peers and reads the control connections, independently of user code. It holds the lock while
 * it works, never while it waits. */
#include "base/alloc.h"
#include "base/pool.h"
#include "tcp.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

void wk__tcp_wake(int wakeup)
{
    const uint64_t one = 1;
    while (write(wakeup, &one, sizeof one) < 0 && errno == EINTR) continue;
}

void wk__tcp_control_send(wk__tcp *tcp, int rank, wk__wire_header frame, const void *body, size_t bytes)
{
    const int line = tcp->control[rank];
    uint8_t sent[WK__WIRE_HEADER_BYTES + WK__WIRE_TEXT_MAX];
    frame.bytes = bytes;
    wk__wire_header_write(&frame, sent);
    if (bytes > 0) memcpy(sent + WK__WIRE_HEADER_BYTES, body, bytes);
    if (line < 0) return;
    const ssize_t all = (ssize_t)(WK__WIRE_HEADER_BYTES + bytes);
    /* A rank whose receive buffer is full counts as lost: part of a frame would corrupt the stream. */
    if (send(line, sent, (size_t)all, MSG_DONTWAIT | MSG_NOSIGNAL) != all) shutdown(line, SHUT_RDWR);
}

void wk__tcp_control_broadcast(wk__tcp *tcp, wk__wire_header frame, const char *text)
{
    for (int r = 1; r < tcp->size; r++) wk__tcp_control_send(tcp, r, frame, text, strlen(text));
}

/* ---- connections of other ranks ---------------------------------------------------------------------------------- */

/* Takes an authenticated connection: the data connection of a higher rank. */
static const char *on_peer_connected(void *user, const wk__hello *hello, const wk__address *from, int fd)
{
    wk__tcp *tcp = user;
    uint8_t welcome[WK__WIRE_HEADER_BYTES];
    (void)from;
    if (hello->purpose != WK__HELLO_PEER)
        return "the world is already complete: WICK_RANK is duplicated, or WICK_COORDINATOR names another job";
    if (hello->size != tcp->size || hello->rank <= tcp->rank) return "unexpected rank or WICK_WORLD";
    if (atomic_load(&tcp->peer[hello->rank]) >= 0) return "duplicate WICK_RANK";
    wk__wire_header_write(&(wk__wire_header){.kind = WK__WIRE_WELCOME}, welcome);
    if (send(fd, welcome, sizeof welcome, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof welcome) return "does not accept data";
    wk__socket_tune(fd, tcp->seconds);
    atomic_store(&tcp->peer[hello->rank], fd);
    wk__tcp_wake(tcp->caller_wakeup);
    return NULL;
}

/* ---- control connections ----------------------------------------------------------------------------------------- */

static void read_control(wk__tcp *tcp, int rank)
{
    uint8_t bytes[2048];
    const ssize_t got = recv(tcp->control[rank], bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    const char *ended = got <= 0 ? wk__socket_error_text(got == 0 ? 0 : errno) : NULL;
    wk__wire_parser *in = &tcp->inbox[rank];
    for (size_t at = 0, took; !ended && at < (size_t)got; at += took) {
        const wk__parse_status coming = wk__wire_parser_feed(in, bytes + at, (size_t)got - at, &took);
        if (coming == WK__PARSE_INVALID) ended = in->error;
        if (coming != WK__PARSE_DONE) continue;
        wk__tcp_on_control_message(tcp, rank, in);
        wk__wire_parser_reset(in);
    }
    if (!ended) return;
    close(tcp->control[rank]);
    tcp->control[rank] = -1;
    wk__tcp_on_control_lost(tcp, rank, ended);
}

/* Fills polls; polls[k] is the control connection of rank line_of[k]. */
static int add_control_pollfds(const wk__tcp *tcp, struct pollfd *polls, int *line_of)
{
    const int most = tcp->rank == 0 ? tcp->size : 1;
    int n = 0;
    for (int r = 0; r < most; r++) {
        if (tcp->control[r] < 0) continue;
        line_of[n] = r;
        polls[n++] = (struct pollfd){.fd = tcp->control[r], .events = POLLIN};
    }
    return n;
}

/* Returns the timeout of poll, capped because user code may have closed all descriptors, the eventfd included. */
static int milliseconds(int64_t until)
{
    enum { MOST = 1000 };
    const int left = wk__socket_milliseconds(until);
    return left < MOST ? left : MOST;
}

/* Aborts the world after user code has closed all descriptors. The numbers may be reused, so none is closed here. */
static void drop_connections(wk__tcp *tcp)
{
    const int most = tcp->rank == 0 ? tcp->size : 1;
    for (int r = 0; r < most; r++) tcp->control[r] = -1;
    wk__tcp_abort(tcp, WK_ERR_IO, (wk__wire_header){.rank = WK__WIRE_NO_RANK},
                  "the program closed file descriptors of the library");
}

static void *control_loop(void *user)
{
    wk__tcp *tcp = user;
    struct pollfd *polls = tcp->polls;
    int *line_of = tcp->rank_of_poll;
    pthread_mutex_lock(&tcp->lock);
    while (!tcp->stopping) {
        const int64_t due = wk__tcp_diagnosis_deadline(tcp), until = wk__tcp_acceptor_deadline(&tcp->acceptor);
        polls[0] = (struct pollfd){.fd = tcp->control_wakeup, .events = POLLIN};
        const int first = 1 + wk__tcp_acceptor_pollfds(&tcp->acceptor, polls + 1),
                  n = add_control_pollfds(tcp, polls + first, line_of);
        pthread_mutex_unlock(&tcp->lock);
        uint64_t count;
        poll(polls, (nfds_t)(first + n), milliseconds(due < until ? due : until));
        const bool gone = polls[0].revents & POLLNVAL;
        if (polls[0].revents && read(tcp->control_wakeup, &count, sizeof count) < 0) count = 0;
        pthread_mutex_lock(&tcp->lock);
        if (gone) {
            drop_connections(tcp);
            break;
        }
        for (int k = 0; k < n; k++)
            if (polls[first + k].revents) read_control(tcp, line_of[k]);
        wk__tcp_acceptor_run(&tcp->acceptor, on_peer_connected, tcp);
    }
    pthread_mutex_unlock(&tcp->lock);
    return NULL;
}

bool wk__tcp_control_start(wk__tcp *tcp)
{
    const int most = tcp->rank == 0 ? tcp->size : 1;
    for (int r = 0; r < most; r++)
        if (tcp->control[r] >= 0) wk__socket_tune(tcp->control[r], tcp->seconds);
    tcp->control_running = wk__thread_start(&tcp->control_thread, control_loop, tcp);
    return tcp->control_running;
}

void wk__tcp_control_stop(wk__tcp *tcp)
{
    if (!tcp->control_running) return;
    pthread_mutex_lock(&tcp->lock);
    tcp->stopping = true;
    pthread_mutex_unlock(&tcp->lock);
    wk__tcp_wake(tcp->control_wakeup);
    pthread_join(tcp->control_thread, NULL);
    tcp->control_running = false;
}
