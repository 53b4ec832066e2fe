/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets that never block, and waiting for them up to a deadline. */
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

/* Opens a port for those who come to `host`: of this machine alone if that is a name of it for itself (localhost,
 * 127.0.0.1, ::1), else to whichever of its addresses. Port 0: one that is free. -1 with the reason in *fail. */
int wk__socket_listen(const char *host, int port, wk__dist_error *fail);
/* Takes over a socket that somebody else has opened: -1 when it listens to nobody. */
int wk__socket_adopt(int fd, wk__dist_error *fail);
int wk__socket_port(int fd);
/* A name's addresses, which the caller frees; NULL with the reason in *fail. */
struct addrinfo *wk__socket_resolve(const char *host, int port, wk__dist_error *fail);
/* Is it a connection to itself? Who asks for a port of those that the system gives to connections may be given that
 * very port, and then finds itself there. */
bool wk__socket_is_self_connected(int fd);
/* A connection to somebody else, made by the deadline; -1 with errno. */
int wk__socket_connect(const wk__address *to, int64_t deadline);
/* The next who has come to a listening socket; -1: nobody. */
int wk__socket_accept(int listener, wk__address *from);
/* For connections of which somebody has proved who it is: no delay of small frames, and a host that has gone is noticed
 * after `seconds`. */
void wk__socket_tune(int fd, double seconds);

/* All bytes within the deadline. False with errno; 0: the other side has closed. */
bool wk__socket_send(int fd, const void *bytes, size_t count, int64_t deadline);
bool wk__socket_receive(int fd, void *bytes, size_t count, int64_t deadline);
/* Waits for events of one descriptor: false at the deadline. */
bool wk__socket_wait(int fd, short events, int64_t deadline);
/* How long poll may wait until then, in milliseconds, rounded up. */
int wk__socket_milliseconds(int64_t deadline);
/* "Connection refused", in English: of an errno; of 0 that the other side has closed the connection. */
const char *wk__socket_error_text(int number);

#endif
