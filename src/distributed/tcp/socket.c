/* SPDX-License-Identifier: Apache-2.0 */
/* Non-blocking sockets; see socket.h. */
#include "socket.h"
#include "base/platform/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 1024, MILLION = 1000000 };

const char *wk__socket_error_text(int number)
{
    const char *reason = number ? strerrordesc_np(number) : "connection closed";
    return reason ? reason : "unknown system error";
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

int wk__socket_milliseconds(int64_t deadline)
{
    const int64_t left = deadline - wk__monotonic_ns(), most = 1000 * 3600;
    if (left <= 0) return 0;
    return left / MILLION >= most ? (int)most : (int)(left / MILLION) + 1;
}

bool wk__socket_wait(int fd, short events, int64_t deadline)
{
    struct pollfd one = {.fd = fd, .events = events};
    while (poll(&one, 1, wk__socket_milliseconds(deadline)) <= 0)
        if (wk__monotonic_ns() >= deadline) return errno = ETIMEDOUT, false;
    return true;
}

/* Returns true if a send or recv that returned `done` should be repeated, after waiting for the socket if it was not
 * ready. */
static bool should_retry(int fd, ssize_t done, short events, int64_t deadline)
{
    if (done == 0) errno = 0;
    if (done >= 0) return false;
    return errno == EINTR || (errno == EAGAIN && wk__socket_wait(fd, events, deadline));
}

bool wk__socket_send(int fd, const void *bytes, size_t count, int64_t deadline)
{
    const char *at = bytes;
    while (count > 0) {
        const ssize_t sent = send(fd, at, count, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0)
            at += sent, count -= (size_t)sent;
        else if (!should_retry(fd, sent, POLLOUT, deadline))
            return false;
    }
    return true;
}

bool wk__socket_receive(int fd, void *bytes, size_t count, int64_t deadline)
{
    char *at = bytes;
    while (count > 0) {
        const ssize_t got = recv(fd, at, count, MSG_DONTWAIT);
        if (got > 0)
            at += got, count -= (size_t)got;
        else if (!should_retry(fd, got, POLLIN, deadline))
            return false;
    }
    return true;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int new_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static void enable_option(int fd, int level, int option)
{
    setsockopt(fd, level, option, &(int){1}, sizeof(int));
}

/* Returns the address to bind: loopback, or any address of the family. */
static wk__address listen_address(const char *host, bool six, int port)
{
    wk__address out = {.bytes = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)};
    const bool itself = strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
    if (six) {
        *(struct sockaddr_in6 *)&out.at = (struct sockaddr_in6){.sin6_family = AF_INET6,
                                                                .sin6_port = htons((uint16_t)port),
                                                                .sin6_addr = itself ? in6addr_loopback : in6addr_any};
    } else {
        const uint32_t address = itself ? INADDR_LOOPBACK : INADDR_ANY;
        *(struct sockaddr_in *)&out.at = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(address)}};
    }
    return out;
}

static int listen_at(const wk__address *place)
{
    const int fd = new_socket(place->at.ss_family);
    if (fd < 0) return -1;
    enable_option(fd, SOL_SOCKET, SO_REUSEADDR);
    if (place->at.ss_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){0}, sizeof(int));
    if (bind(fd, (const struct sockaddr *)&place->at, place->bytes) == 0 && listen(fd, BACKLOG) == 0) return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

int wk__socket_listen(const char *host, int port, wk__dist_error *fail)
{
    const bool four = strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0;
    wk__address place = listen_address(host, !four, port);
    int fd = listen_at(&place);
    if (fd < 0 && !four && strcmp(host, "::1") != 0 && errno != EADDRINUSE) { /* a system without IPv6 */
        place = listen_address(host, false, port);
        fd = listen_at(&place);
    }
    if (fd < 0 && errno == EADDRINUSE)
        wk__dist_error_set(fail, WK_ERR_IO,
                           "port %d of this machine is in use by another program; choose another port for rank 0, or "
                           "stop that program",
                           port);
    else if (fd < 0)
        wk__dist_error_set(fail, WK_ERR_IO, "cannot listen on port %d: %s", port, wk__socket_error_text(errno));
    return fd;
}

int wk__socket_adopt(int fd, wk__dist_error *fail)
{
    int listens = 0;
    socklen_t bytes = sizeof listens;
    const int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens) {
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        return fd;
    }
    wk__dist_error_set(fail, WK_ERR_ARGUMENT, "WICK_LISTEN_FD=%d is not a listening socket", fd);
    return -1;
}

int wk__socket_port(int fd)
{
    struct sockaddr_storage at;
    socklen_t bytes = sizeof at;
    if (getsockname(fd, (struct sockaddr *)&at, &bytes) != 0) return 0;
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                          : ((struct sockaddr_in *)&at)->sin_port);
}

struct addrinfo *wk__socket_resolve(const char *host, int port, wk__dist_error *fail)
{
    char text[16];
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    snprintf(text, sizeof text, "%d", port);
    const int refused = getaddrinfo(host, text, &hints, &list);
    if (refused == 0) return list;
    wk__dist_error_set(fail, WK_ERR_IO, "cannot resolve the host of rank 0, \"%s\"%s", host,
                       refused == EAI_AGAIN ? " (the name server does not respond)" : "");
    return NULL;
}

bool wk__socket_is_self_connected(int fd)
{
    struct sockaddr_storage here, there;
    socklen_t bytes = sizeof here, other = sizeof there;
    return getsockname(fd, (struct sockaddr *)&here, &bytes) == 0 &&
           getpeername(fd, (struct sockaddr *)&there, &other) == 0 && bytes == other &&
           memcmp(&here, &there, bytes) == 0;
}

int wk__socket_connect(const wk__address *to, int64_t deadline)
{
    int reason = 0;
    socklen_t bytes = sizeof reason;
    const int fd = new_socket(to->at.ss_family);
    if (fd < 0) return -1;
    if (connect(fd, (const struct sockaddr *)&to->at, to->bytes) != 0) reason = errno;
    if (reason == EINPROGRESS) {
        if (!wk__socket_wait(fd, POLLOUT, deadline))
            reason = ETIMEDOUT;
        else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &bytes) != 0)
            reason = errno;
    }
    if (reason == 0 && wk__socket_is_self_connected(fd)) reason = ECONNREFUSED;
    if (reason == 0) return fd;
    close(fd);
    errno = reason;
    return -1;
}

int wk__socket_accept(int listener, wk__address *from)
{
    from->bytes = sizeof from->at;
    return accept4(listener, (struct sockaddr *)&from->at, &from->bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void wk__socket_tune(int fd, double seconds)
{
    enum { PROBES = 3 };
    const int every = seconds < 120 ? (int)(seconds / (2 * PROBES)) + 1 : 20;
    enable_option(fd, IPPROTO_TCP, TCP_NODELAY);
    enable_option(fd, SOL_SOCKET, SO_KEEPALIVE);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &(int){PROBES}, sizeof(int));
}
