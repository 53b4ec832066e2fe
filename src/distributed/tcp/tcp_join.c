/* SPDX-License-Identifier: Apache-2.0 */
/* Joining: all ranks connect to rank 0, which sends the roster of addresses once all are connected.
 *
 *     rank 0                                 rank r
 *     listens at WICK_COORDINATOR                  listens where it can, and connects to WICK_COORDINATOR
 *     the handshake                     <->  the handshake
 *     WELCOME and the roster            -->  knows the addresses of all ranks
 *
 * The connection remains open as the rank's control connection. */
#include "base/alloc.h"
#include "base/platform/clock.h"
#include "tcp.h"
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum { BILLION = 1000000000, MILLION = 1000000 };

/* ---- addresses in a roster --------------------------------------------------------------------------------------- */

static bool is_loopback(const wk__address *a)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)&a->at;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&a->at;
    if (a->at.ss_family == AF_INET) return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Converts an IPv4-mapped IPv6 address to IPv4. */
static void unmap(wk__address *a)
{
    const struct sockaddr_in6 six = *(const struct sockaddr_in6 *)&a->at;
    if (a->at.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) return;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = six.sin6_port};
    memcpy(&four.sin_addr, six.sin6_addr.s6_addr + 12, 4);
    memset(&a->at, 0, sizeof a->at);
    *(struct sockaddr_in *)&a->at = four;
    a->bytes = sizeof four;
}

static void set_port(wk__address *a, uint16_t port)
{
    if (a->at.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&a->at)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&a->at)->sin_port = htons(port);
}

static void put_entry(const wk__tcp_rank_address *place, uint8_t at[WK__WIRE_ROSTER_ENTRY_BYTES])
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)&place->address.at;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&place->address.at;
    memset(at, 0, WK__WIRE_ROSTER_ENTRY_BYTES);
    at[0] = place->address.at.ss_family == AF_INET6 ? 6 : 4;
    const uint16_t port = ntohs(at[0] == 6 ? six->sin6_port : four->sin_port);
    at[2] = (uint8_t)port;
    at[3] = (uint8_t)(port >> 8);
    if (at[0] == 6)
        memcpy(at + 4, &six->sin6_addr, 16);
    else
        memcpy(at + 4, &four->sin_addr, 4);
    wk__put_host(at + 20, place->host);
}

static uint16_t port_of(const uint8_t at[WK__WIRE_ROSTER_ENTRY_BYTES])
{
    return (uint16_t)(at[2] | at[3] << 8);
}

static void get_entry(const uint8_t at[WK__WIRE_ROSTER_ENTRY_BYTES], wk__tcp_rank_address *place)
{
    wk__address *a = &place->address;
    memset(a, 0, sizeof *a);
    a->at.ss_family = at[0] == 6 ? AF_INET6 : AF_INET;
    a->bytes = at[0] == 6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (at[0] == 6)
        memcpy(&((struct sockaddr_in6 *)&a->at)->sin6_addr, at + 4, 16);
    else
        memcpy(&((struct sockaddr_in *)&a->at)->sin_addr, at + 4, 4);
    set_port(a, port_of(at));
    wk__get_host(at + 20, place->host);
}

/* ---- rank 0 ------------------------------------------------------------------------------------------------------ */

typedef struct join_state {
    wk__tcp *tcp;
    int missing;
} join_state;

/* Returns why a HELLO does not fit this job, for the refusal; NULL: it fits. */
static const char *on_rank_joined(void *user, const wk__hello *hello, const wk__address *from, int fd)
{
    join_state *a = user;
    wk__tcp *tcp = a->tcp;
    if (hello->purpose != WK__HELLO_JOIN) return "the world is not complete yet";
    if (hello->size != tcp->size) return "its WICK_WORLD_SIZE differs from that of rank 0";
    if (hello->rank == 0) return "WICK_RANK 0 is already in use";
    if (tcp->control[hello->rank] >= 0) return "duplicate WICK_RANK";
    wk__tcp_rank_address *place = &tcp->rank_address[hello->rank];
    memcpy(place->host, hello->host, sizeof place->host);
    place->address = *from;
    unmap(&place->address);
    set_port(&place->address, hello->port);
    tcp->control[hello->rank] = fd;
    if (tcp->acceptor.misconfigured_rank == hello->rank)
        tcp->acceptor.misconfigured_rank = -1; /* it has come again,
                                                                                                   and fits */
    a->missing--;
    return NULL;
}

static wk_code missing_ranks_error(const wk__tcp *tcp, wk__dist_error *fail)
{
    char list[120] = "";
    int n = 0, known = 0;
    for (int r = 1; r < tcp->size; r++) {
        if (tcp->control[r] >= 0 || n > 90) continue;
        n += snprintf(list + n, sizeof list - (size_t)n, "%s%d", known++ ? ", " : "", r);
    }
    const wk_code code = tcp->acceptor.misconfigured_rank >= 0 ? WK_ERR_ARGUMENT : WK_ERR_TIMEOUT;
    wk__dist_error_set(fail, code, "rank %s did not join within %g s", list, tcp->seconds);
    if (tcp->acceptor.rejected_count)
        snprintf(fail->text + strlen(fail->text), sizeof fail->text - strlen(fail->text), "; last rejected: %s",
                 tcp->acceptor.last_reject_reason);
    return code;
}

/* Returns a connected rank that has disconnected; -1: none. Ranks send nothing before they have the roster, so a
 * readable connection is closed. */
static int find_lost_rank(const wk__tcp *tcp, const struct pollfd *polls, int from, int to)
{
    for (int k = from; k < to; k++) {
        if (!polls[k].revents) continue;
        for (int r = 1; r < tcp->size; r++)
            if (tcp->control[r] == polls[k].fd) return r;
    }
    return -1;
}

static wk_code send_roster(wk__tcp *tcp, int64_t deadline, wk__dist_error *fail)
{
    const size_t bytes = WK__WIRE_HEADER_BYTES + (size_t)tcp->size * WK__WIRE_ROSTER_ENTRY_BYTES;
    uint8_t *roster = wk__alloc(bytes);
    if (!roster) return wk__dist_error_set(fail, WK_ERR_MEMORY, "out of host memory");
    wk__wire_header_write(&(wk__wire_header){.kind = WK__WIRE_WELCOME,
                                             .count = (uint64_t)tcp->size,
                                             .bytes = (uint64_t)tcp->size * WK__WIRE_ROSTER_ENTRY_BYTES},
                          roster);
    for (int r = 0; r < tcp->size; r++)
        put_entry(&tcp->rank_address[r], roster + WK__WIRE_HEADER_BYTES + (size_t)r * WK__WIRE_ROSTER_ENTRY_BYTES);
    wk_code code = WK_OK;
    for (int r = 1; r < tcp->size && code == WK_OK; r++)
        if (!wk__socket_send(tcp->control[r], roster, bytes, deadline))
            code = wk__dist_error_set(fail, WK_ERR_TIMEOUT, "lost rank %d on %s: %s", r, tcp->rank_address[r].host,
                                      wk__socket_error_text(errno));
    wk__free(roster);
    return code;
}

static wk_code collect_ranks(wk__tcp *tcp, struct pollfd *polls, int64_t deadline, wk__dist_error *fail)
{
    join_state a = {tcp, tcp->size - 1};
    while (a.missing > 0) {
        const int acceptor_polls = wk__tcp_acceptor_pollfds(&tcp->acceptor, polls);
        int n = acceptor_polls;
        for (int r = 1; r < tcp->size; r++)
            if (tcp->control[r] >= 0) polls[n++] = (struct pollfd){.fd = tcp->control[r], .events = POLLIN};
        const int64_t until = wk__tcp_acceptor_deadline(&tcp->acceptor);
        poll(polls, (nfds_t)n, wk__socket_milliseconds(until < deadline ? until : deadline));
        const int gone = find_lost_rank(tcp, polls, acceptor_polls, n);
        if (gone > 0)
            return wk__dist_error_set(fail, WK_ERR_TIMEOUT, "lost rank %d on %s", gone, tcp->rank_address[gone].host);
        wk__tcp_acceptor_run(&tcp->acceptor, on_rank_joined, &a);
        if (a.missing > 0 && wk__monotonic_ns() >= deadline) return missing_ranks_error(tcp, fail);
    }
    return send_roster(tcp, deadline, fail);
}

static wk_code host_world(wk__tcp *tcp, int64_t deadline, wk__dist_error *fail)
{
    struct pollfd *polls = wk__alloc_zero((size_t)tcp->size + WK__TCP_MAX_PENDING + 1, sizeof *polls);
    if (!polls) return wk__dist_error_set(fail, WK_ERR_MEMORY, "out of host memory");
    tcp->rank_address[0].address.at.ss_family = AF_INET;
    const wk_code code = collect_ranks(tcp, polls, deadline, fail);
    wk__free(polls);
    if (code == WK_OK) return WK_OK;
    wk__reply reply;
    char text[WK__WIRE_TEXT_MAX];
    snprintf(text, sizeof text, "%.*s", (int)sizeof text - 1, fail->text);
    wk__reply_text(&reply, (wk__wire_header){.kind = WK__WIRE_REFUSED, .status = (uint32_t)code}, text);
    for (int r = 1; r < tcp->size; r++)
        if (tcp->control[r] >= 0) send(tcp->control[r], reply.at, reply.bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    return code;
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

static int refused_error(const wk__dist_settings *s, wk__dist_error *fail)
{
    const wk__dist_error last = *fail;
    wk__dist_error_set(fail, last.code, "at %s port %d: %.300s", s->host, s->port, last.text);
    return -1;
}

/* Connects to rank 0, trying each address of the host in turn until the deadline. */
static int dial_rank_0(wk__tcp *tcp, const struct addrinfo *list, const wk__dist_settings *s, const wk__hello *hello,
                       int64_t deadline, wk__dist_error *fail)
{
    for (;;) {
        for (const struct addrinfo *a = list; a; a = a->ai_next) {
            bool again, refused;
            wk__address *to = &tcp->rank_address[0].address;
            memcpy(&to->at, a->ai_addr, a->ai_addrlen);
            to->bytes = a->ai_addrlen;
            const int fd = wk__tcp_dial(to, hello, tcp->secret, deadline, fail, &again, &refused);
            if (fd >= 0) return fd;
            if (!again) return refused_error(s, fail);
        }
        if (wk__monotonic_ns() + WK__TCP_RETRY_NS >= deadline) break;
        poll(NULL, 0, WK__TCP_RETRY_NS / MILLION);
    }
    const wk__dist_error last = *fail;
    wk__dist_error_set(fail, WK_ERR_TIMEOUT, "cannot reach rank 0 at %s port %d within %g s: %.300s", s->host, s->port,
                       tcp->seconds, last.text);
    return -1;
}

/* Waits for WELCOME and the roster; fails with the reason of a refusal. */
static wk_code receive_roster(wk__tcp *tcp, int fd, int64_t deadline, wk__dist_error *fail)
{
    uint8_t head[WK__WIRE_HEADER_BYTES], *roster = wk__alloc(WK__WIRE_MAX_RANKS * WK__WIRE_ROSTER_ENTRY_BYTES);
    wk__wire_header frame = {.bytes = 0};
    const char *why = roster ? NULL : "out of host memory";
    if (!why && !wk__socket_receive(fd, head, sizeof head, deadline)) why = wk__socket_error_text(errno);
    if (!why) why = wk__wire_header_parse(head, &frame);
    if (!why && frame.kind != WK__WIRE_WELCOME && frame.kind != WK__WIRE_REFUSED) why = "unexpected message";
    if (!why && !wk__socket_receive(fd, roster, frame.bytes, deadline)) why = wk__socket_error_text(errno);
    wk_code code = WK_OK;
    if (why)
        code = wk__dist_error_set(fail, WK_ERR_TIMEOUT, "rank 0 did not complete the handshake: %s", why);
    else if (frame.kind == WK__WIRE_REFUSED)
        code = wk__dist_error_set(fail, frame.status ? (wk_code)frame.status : WK_ERR_TIMEOUT,
                                  "rejected by rank 0: %.*s", (int)frame.bytes, (const char *)roster);
    else if (frame.bytes != (uint64_t)tcp->size * WK__WIRE_ROSTER_ENTRY_BYTES)
        code = wk__dist_error_set(fail, WK_ERR_ARGUMENT, "WICK_WORLD differs from that of rank 0");
    for (int r = 0; r < tcp->size && code == WK_OK; r++) {
        const wk__address here = tcp->rank_address[0].address;
        wk__tcp_rank_address *place = &tcp->rank_address[r];
        const uint8_t *entry = roster + (size_t)r * WK__WIRE_ROSTER_ENTRY_BYTES;
        get_entry(entry, place);
        if (r == 0 || is_loopback(&place->address)) place->address = here; /* the rank is on the machine of rank 0 */
        if (r > 0) set_port(&place->address, port_of(entry));
    }
    wk__free(roster);
    return code;
}

static wk_code join_world(wk__tcp *tcp, const wk__dist_settings *s, int64_t deadline, wk__dist_error *fail)
{
    wk__hello hello = {.purpose = WK__HELLO_JOIN, .rank = tcp->rank, .size = tcp->size};
    struct addrinfo *list = wk__socket_resolve(s->host, s->port, fail);
    if (!list) return fail->code;
    const int listener = wk__socket_listen(s->host, 0, fail);
    if (listener >= 0) {
        wk__tcp_acceptor_init(&tcp->acceptor, listener, tcp->secret, tcp->seconds);
        hello.port = (uint16_t)wk__socket_port(listener);
        memcpy(hello.host, tcp->rank_address[tcp->rank].host, sizeof hello.host);
        wk__tcp_random(hello.nonce, sizeof hello.nonce);
        tcp->control[0] = dial_rank_0(tcp, list, s, &hello, deadline, fail);
    }
    freeaddrinfo(list);
    if (tcp->control[0] < 0) return fail->code;
    /* rank 0 may have started later, and only it knows which rank is missing */
    return receive_roster(tcp, tcp->control[0], deadline + wk__tcp_grace(tcp), fail);
}

wk_code wk__tcp_join(const wk__dist_settings *s, wk__tcp *tcp, wk__dist_error *fail)
{
    const int64_t deadline = wk__monotonic_ns() + (int64_t)(s->timeout * BILLION);
    char *host = tcp->rank_address[tcp->rank].host;
    if (gethostname(host, WK__WIRE_HOST_BYTES) != 0) snprintf(host, WK__WIRE_HOST_BYTES, "localhost");
    host[WK__WIRE_HOST_BYTES - 1] = '\0';
    if (tcp->rank > 0) return join_world(tcp, s, deadline, fail);
    const int listener =
        s->listen_fd >= 0 ? wk__socket_adopt(s->listen_fd, fail) : wk__socket_listen(s->host, s->port, fail);
    if (listener < 0) return fail->code;
    wk__tcp_acceptor_init(&tcp->acceptor, listener, tcp->secret, tcp->seconds);
    return host_world(tcp, deadline, fail);
}
