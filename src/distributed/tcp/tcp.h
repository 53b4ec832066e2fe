/* SPDX-License-Identifier: Apache-2.0 */
/* TCP transport: the interface between its files.
 *
 *     tcp_join.c         connecting to rank 0, handshakes, distribution of the roster of addresses
 *     tcp_accept.c       the listening port and concurrent handshakes with peers
 *     tcp_control.c      the control thread: accepts peers and reads the control connections
 *     tcp_diagnose.c     control messages; rank 0 finds which rank holds up a call
 *     tcp_abort.c        aborting the world with the first cause, and calls that fail with it
 *     tcp_sendrecv.c     full-duplex transfer: to one rank and from another concurrently
 *     tcp_agree.c        agreement at the start of every collective; small collectives entirely
 *     tcp_collectives.c  large collectives, as rings
 *     tcp_p2p.c          send and recv
 *     tcp.c              the function table
 *
 * Connections: each rank has a control connection to rank 0, which carries errors and diagnosis, and one data
 * connection to each peer, opened on first use by the higher rank of the two.
 * Threads: the thread that makes a call moves data and nothing else. The control thread does the rest, so that a rank
 * answers while user code computes. */
#ifndef WICK_DIST_TCP_H
#define WICK_DIST_TCP_H

#include "distributed/agree.h"
#include "handshake.h"
#include "socket.h"
#include <pthread.h>
#include <stdatomic.h>

/* Address of a rank. */
typedef struct wk__tcp_rank_address {
    char host[WK__WIRE_HOST_BYTES];
    wk__address address;
} wk__tcp_rank_address;

/* ---- acceptor ---------------------------------------------------------------------------------------------------- */

enum { WK__TCP_MAX_PENDING = 64, WK__TCP_CALL_TEXT = 200 /* bytes of the description of a call */ };
enum { WK__TCP_RETRY_NS = 50000000 /* nanoseconds between attempts to connect to a rank that is not listening yet */ };
typedef struct wk__tcp_pending {
    int fd; /* -1: none */
    int64_t deadline;
    wk__address from;
    wk__handshake_server handshake;
} wk__tcp_pending;

typedef struct wk__tcp_acceptor {
    int listener;                 /* listening socket, owned */
    const char *secret;           /* WICK_SECRET */
    int64_t handshake_timeout_ns; /* deadline of each handshake */
    int64_t paused_until;         /* no connection is accepted until then: the process was out of descriptors */
    int rejected_count;           /* connections rejected so far */
    int misconfigured_rank;       /* number of the last rejected connection that seems to come from a rank of this job
                                   * with other settings, so that waiting longer is useless; -1: none */
    char last_reject_reason[200]; /* reason of that rejection; without one, of the last rejection */
    wk__tcp_pending pending[WK__TCP_MAX_PENDING];
} wk__tcp_acceptor;

void wk__tcp_acceptor_init(wk__tcp_acceptor *acceptor, int listener, const char *secret, double seconds);
void wk__tcp_acceptor_close(wk__tcp_acceptor *acceptor);
/* Fills polls with the listener and the pending connections. Returns their number, at most WK__TCP_MAX_PENDING + 1. */
int wk__tcp_acceptor_pollfds(const wk__tcp_acceptor *acceptor, struct pollfd *polls);
/* Returns the earliest deadline of a handshake or the end of a pause; INT64_MAX: none. */
int64_t wk__tcp_acceptor_deadline(const wk__tcp_acceptor *acceptor);
/* Accepts connections, advances handshakes and closes those past their deadline. on_authenticated receives each
 * authenticated connection; it returns NULL if it takes ownership, otherwise the reason to refuse it. */
typedef const char *wk__tcp_on_authenticated(void *user, const wk__hello *hello, const wk__address *from, int fd);
void wk__tcp_acceptor_run(wk__tcp_acceptor *acceptor, wk__tcp_on_authenticated *on_authenticated, void *user);
/* Connects to a listening rank and runs the client side of the handshake. Returns the connection, or -1 with the reason
 * in *fail. *again: the host was unreachable, and a later attempt may succeed; *refused: nothing listens on the
 * port. */
int wk__tcp_dial(const wk__address *to, const wk__hello *hello, const char *secret, int64_t deadline,
                 wk__dist_error *fail, bool *again, bool *refused);
void wk__tcp_random(void *out, size_t bytes);

/* ---- the world --------------------------------------------------------------------------------------------------- */

/* Progress of this rank, its reply to a status query of rank 0. */
typedef struct wk__tcp_progress {
    wk__rank_phase at;
    uint32_t group;
    uint64_t sequence;
    uint8_t collective;
} wk__tcp_progress;

typedef struct wk__tcp {
    int rank, size;
    double seconds; /* WICK_TIMEOUT */
    char *secret;
    wk__tcp_rank_address *rank_address; /* [size] */
    _Atomic int *peer;                  /* [size] connections for data; -1: none yet */
    uint64_t *sent, *received;          /* [size] messages sent to and received from each rank by send and recv */
    int *control;           /* [size] control connections: on rank 0 to each rank, else [0] to rank 0. -1: closed */
    wk__wire_parser *inbox; /* [size] parser of each control connection */
    wk__tcp_acceptor acceptor;
    pthread_t control_thread;
    bool control_running;
    struct pollfd *polls; /* [size + WK__TCP_MAX_PENDING + 2], used by the control thread */
    int *rank_of_poll;    /* [size], likewise */
    int control_wakeup;   /* eventfd: wakes the control thread to read the fields below */
    int caller_wakeup;    /* eventfd: wakes the calling thread to read them */
    char *staging;        /* [WK__TCP_STAGING_BYTES], used by the calling thread */

    pthread_mutex_t lock; /* protects all fields below */
    pthread_cond_t changed;
    wk__tcp_progress progress;
    bool stopping; /* asks the control thread to exit */
    bool aborted;  /* the world is unusable from now on; the first cause follows */
    wk_code code;
    wk__wire_header unfinished; /* the call that was not finished, if that is the cause (detail WK__WIRE_UNFINISHED) */
    char cause[WK__WIRE_TEXT_MAX + 1];
    uint64_t *leave_sequence; /* [size] sequence number of a rank's wk_dist_finish; 0: it has not called it */
    int leave_count;          /* ranks that have called it without an error */
    bool all_left;            /* all of them have: the world ends in good order */
    /* diagnosis of a late call, on rank 0 */
    struct {
        bool open;                              /* queries are sent, replies are awaited */
        int64_t until;                          /* deadline of the replies, wk__monotonic_ns */
        wk__wire_header late;                   /* the unfinished call */
        int reporter;                           /* rank that reported it */
        char call_text[WK__TCP_CALL_TEXT];      /* its description of the call */
        uint8_t member[WK__WIRE_MAX_RANKS / 8]; /* ranks the call needs, a bit each */
        bool *answered;                         /* [size] ranks that have replied */
        wk__tcp_progress *at;                   /* [size] their replies */
    } diagnosis;
} wk__tcp;

enum { WK__TCP_STAGING_BYTES = 128 << 10 }; /* WK__WIRE_INLINE_MAX at least */

/* tcp_join.c */
wk_code wk__tcp_join(const wk__dist_settings *settings, wk__tcp *tcp, wk__dist_error *fail);
/* tcp_control.c: Start and stop the control thread. send: writes a frame and its payload to a control connection
 * without ever blocking; requires the lock. broadcast: the same from rank 0 to all ranks. */
bool wk__tcp_control_start(wk__tcp *tcp);
void wk__tcp_control_stop(wk__tcp *tcp);
void wk__tcp_control_send(wk__tcp *tcp, int rank, wk__wire_header frame, const void *body, size_t bytes);
void wk__tcp_control_broadcast(wk__tcp *tcp, wk__wire_header frame, const char *text);
void wk__tcp_wake(int wakeup);

/* tcp_diagnose.c; all require the lock.
 * on_control_message, on_control_lost: handle a frame on, or the end of, a control connection.
 * diagnose: starts the diagnosis of a call reported by asker; body has a bit for each rank the call needs, followed by
 * a description. diagnosis_deadline: concludes a diagnosis that is due, and returns the time of the next one.
 * note_leave: records that a rank has called wk_dist_finish as its call number `sequence`. */
void wk__tcp_on_control_message(wk__tcp *tcp, int rank, const wk__wire_parser *in);
void wk__tcp_on_control_lost(wk__tcp *tcp, int rank, const char *why);
void wk__tcp_diagnose(wk__tcp *tcp, int asker, const wk__wire_header *late, const uint8_t *body, size_t bytes);
int64_t wk__tcp_diagnosis_deadline(wk__tcp *tcp);
void wk__tcp_note_leave(wk__tcp *tcp, int rank, uint64_t sequence);

/* tcp_abort.c. Aborts the world on all ranks; requires the lock. of: the unfinished call if that is the cause; of.rank:
 * the rank whose own error it is, or WK__WIRE_NO_RANK. Only the first abort counts. */
void wk__tcp_abort(wk__tcp *tcp, wk_code code, wk__wire_header of, const char *text);
/* Like wk__tcp_abort() for an error of `rank`: the message of every rank names it. */
void wk__tcp_abort_for(wk__tcp *tcp, int rank, wk_code code, const char *error_text);
/* Writes the message for a call that another rank, already in wk_dist_finish, will not make. */
void wk__tcp_unequal_calls_text(const wk__tcp *tcp, int asker, const char *asks, int left, char *out, size_t size);
/* Bracket a call; take the lock. call_begin returns false with *fail set if the world is aborted. call_end aborts it
 * after a fatal error, so that all ranks keep the same first cause. */
bool wk__tcp_call_begin(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail);
void wk__tcp_call_end(wk__tcp *tcp, wk_code code, const wk__dist_error *fail);
/* Handles caller_wakeup during a call. Returns false if the world is aborted. *left: a rank the call needs has called
 * wk_dist_finish and may not have made this call before. */
bool wk__tcp_on_wakeup(wk__tcp *tcp, const wk__dist_call *call, bool *left);
/* Ends a call that cannot continue: at its deadline (why NULL) or because of an error. Reports it to rank 0, waits for
 * the first cause within the grace period and fails with that. */
wk_code wk__tcp_give_up(wk__tcp *tcp, const wk__dist_call *call, wk_code code, const char *why, wk__dist_error *fail);
/* Leaves the world: waits for the other ranks, unless the request carries an error. */
wk_code wk__tcp_finish(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail);
int64_t wk__tcp_grace(const wk__tcp *tcp);
const char *wk__tcp_host(void *world, int rank);

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* A contiguous range of bytes. */
typedef struct wk__tcp_span {
    char *at;
    int64_t bytes;
} wk__tcp_span;

/* Full-duplex transfer: sends send_spans spans to rank `to` while receiving recv_spans from rank `from`, each in order.
 * Used by one thread. Spans without an address are received into tcp->staging and passed to on_chunk. The progress
 * fields are private to wk__tcp_sendrecv_run. */
typedef struct wk__tcp_sendrecv wk__tcp_sendrecv;
struct wk__tcp_sendrecv {
    wk__tcp *tcp;
    const wk__dist_call *call;
    int to, from;               /* world ranks; -1: none */
    int send_spans, recv_spans; /* numbers of spans */
    /* Return span k to send or to receive. recv_span is called only after can_receive has returned true for k. */
    wk__tcp_span (*send_span)(const wk__tcp_sendrecv *flow, int k);
    wk__tcp_span (*recv_span)(const wk__tcp_sendrecv *flow, int k);
    /* Returns how many bytes of span k can be sent now, including those already sent; NULL: all. */
    int64_t (*sendable)(const wk__tcp_sendrecv *flow, int k);
    /* Returns true if span k can be received now; NULL: always. */
    bool (*can_receive)(const wk__tcp_sendrecv *flow, int k);
    /* Processes `bytes` received bytes at piece, which are at `offset` of span k, a span without an address. */
    wk_code (*on_chunk)(wk__tcp_sendrecv *flow, int k, int64_t offset, const char *piece, int64_t bytes,
                        wk__dist_error *fail);
    void *user;
    /* progress */
    int spans_sent, spans_received;     /* complete spans */
    int64_t bytes_sent, bytes_received; /* of the current spans */
    int64_t staged;                     /* bytes in tcp->staging not yet processed */
    int64_t idle_since; /* start of the first wait without progress since then, wk__monotonic_ns; 0: progressing */
    bool peer_left;     /* a rank that the call needs has called wk_dist_finish */
};
/* Runs the transfer to completion or failure. */
wk_code wk__tcp_sendrecv_run(wk__tcp_sendrecv *flow, wk__dist_error *fail);
/* Opens the data connections to these ranks (-1: none) if they do not exist. */
wk_code wk__tcp_connect_peers(wk__tcp *tcp, const wk__dist_call *call, int to, int from, wk__dist_error *fail);

/* tcp_agree.c: Runs the agreement of all ranks of the group. data, of at most WK__WIRE_INLINE_MAX bytes, travels along:
 * it becomes the reduction over the ranks, or if reduction is NULL, the data of the rank whose has_data is true. */
struct wk__dist_reduction;
wk_code wk__tcp_agree(wk__tcp *tcp, const wk__dist_call *call, char *data, int64_t bytes, bool has_data,
                      struct wk__dist_reduction *reduction, wk__dist_error *fail);
/* tcp_collectives.c and tcp_p2p.c: one function per wk__dist_kind. */
typedef wk_code wk__tcp_collective(wk__tcp *tcp, const wk__dist_call *call, wk__dist_error *fail);
wk__tcp_collective wk__tcp_all_reduce, wk__tcp_reduce_scatter, wk__tcp_all_gather, wk__tcp_broadcast;
wk__tcp_collective wk__tcp_all_to_all, wk__tcp_send, wk__tcp_recv;

#endif
