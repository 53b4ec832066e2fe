/* SPDX-License-Identifier: Apache-2.0 */
/* Non-blocking sockets with deadlines, in wk__monotonic_ns. */
#ifndef WICK_DIST_SOCKET_H
#define WICK_DIST_SOCKET_H

#include "distributed/transport.h"
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

typedef struct wk__address {
    struct sockaddr_storage at;
    socklen_t bytes;
} wk__address;

/* Opens a listening socket: on the loopback interface if host is a loopback name (localhost, 127.0.0.1, ::1), else on
 * all interfaces. Port 0: any free port. Returns -1 with the reason in *fail on error. */
int wk__socket_listen(const char *host, int port, wk__dist_error *fail);
/* Takes over an inherited descriptor. Returns -1 with the reason in *fail if it is not a listening socket. */
int wk__socket_adopt(int fd, wk__dist_error *fail);
int wk__socket_port(int fd);
/* Resolves a host name. The caller frees the list; NULL with the reason in *fail on error. */
struct addrinfo *wk__socket_resolve(const char *host, int port, wk__dist_error *fail);
/* Returns true if the socket is connected to itself. That can happen when the target port is ephemeral and the system
 * assigns that same port to the connecting socket. */
bool wk__socket_is_self_connected(int fd);
/* Connects by the deadline. Returns -1 with errno on error. */
int wk__socket_connect(const wk__address *to, int64_t deadline);
/* Accepts the next connection; -1: none is waiting. */
int wk__socket_accept(int listener, wk__address *from);
/* Configures an authenticated connection: no delay of small frames, and keep-alive that detects a dead host after
 * `seconds`. */
void wk__socket_tune(int fd, double seconds);

/* Send or receive all bytes by the deadline. Return false with errno on error; errno 0: the peer closed the
 * connection. */
bool wk__socket_send(int fd, const void *bytes, size_t count, int64_t deadline);
bool wk__socket_receive(int fd, void *bytes, size_t count, int64_t deadline);
/* Waits for events on a descriptor. Returns false at the deadline. */
bool wk__socket_wait(int fd, short events, int64_t deadline);
/* Returns the timeout of poll for a deadline, in milliseconds, rounded up. */
int wk__socket_milliseconds(int64_t deadline);
/* Returns the English message of an errno, "Connection refused"; for 0 that the peer closed the connection. */
const char *wk__socket_error_text(int number);

#endif
