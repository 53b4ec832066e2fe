/* SPDX-License-Identifier: Apache-2.0 */
/* The engine over TCP: its files to each other.
 *
 *     tcp_join.c     rank 0 is found, proofs are exchanged, and everybody gets the roster of all
 *     tcp_accept.c   the port where other ranks come, and strangers
 *     tcp_control.c  the thread that stands at the door and listens to the line to rank 0
 *     tcp_diagnose.c  what comes there, and who is to blame
 *     tcp_abort.c    the first cause, and calls that fail with it
 *     tcp_sendrecv.c  bytes to one rank and from another at once, as fast as they go
 *     tcp_agree.c    what all calls begin with, and small ones are
 *     tcp_collectives.c  what large calls are: bytes that go round
 *     tcp_p2p.c      send and recv
 *     tcp.c          the engine's table
 *
 * Each rank has a line to rank 0, over which first causes go, and a connection to each rank that it has had to do with,
 * made when first needed by the higher of the two. Two threads: whoever makes a call moves data and nothing else; the
 * watcher does the rest, and answers while the program computes. */
#ifndef WICK_DIST_TCP_H
#define WICK_DIST_TCP_H

#include "distributed/agree.h"
#include "handshake.h"
#include "socket.h"
#include <pthread.h>
#include <stdatomic.h>

/* Where a rank is. */
typedef struct wk__tcp_rank_address {
    char host[WK__WIRE_HOST_BYTES];
    wk__address address;
} wk__tcp_rank_address;

/* ---- the door ---------------------------------------------------------------------------------------------------- */

enum { WK__TCP_MAX_PENDING = 64, WK__TCP_CALL_TEXT = 200 /* bytes of what a rank asks for, in words */ };
enum { WK__TCP_RETRY_NS = 50000000 /* nanoseconds between two visits to a rank that is not there yet */ };
typedef struct wk__tcp_pending {
    int fd; /* -1: none */
    int64_t deadline;
    wk__address from;
    wk__handshake_server visitor;
} wk__tcp_pending;

typedef struct wk__tcp_acceptor {
    int listener;
    const char *secret;
    int64_t handshake_timeout_ns; /* nanoseconds that a visitor may take */
    int64_t paused_until;         /* until then nobody is let in: the process has no descriptor left for one */
    int rejected_count;           /* visitors so far */
    int misconfigured_rank;       /* of those the number of the last one that seems to be a rank of this job, started
                                     otherwise than
                                   * the others: no time mends that. -1: none */
    char last_reject_reason[200]; /* why that one was refused; without one, the last stranger */
    wk__tcp_pending pending[WK__TCP_MAX_PENDING];
} wk__tcp_acceptor;

void wk__tcp_acceptor_init(wk__tcp_acceptor *door, int listener, const char *secret, double seconds);
void wk__tcp_acceptor_close(wk__tcp_acceptor *door);
/* What poll is to wait for; the number written: WK__TCP_MAX_PENDING + 1 at most. */
int wk__tcp_acceptor_pollfds(const wk__tcp_acceptor *door, struct pollfd *polls);
/* The first moment at which somebody's time is over, or the door opens again; INT64_MAX: nobody is there. */
int64_t wk__tcp_acceptor_deadline(const wk__tcp_acceptor *door);
/* Lets in who has come, talks to those who have said something, turns away whose time is over. `proved` gets those that
 * know the secret, with the connection; it returns NULL when it has taken that, else why it is refused. */
typedef const char *wk__tcp_on_authenticated(void *user, const wk__hello *hello, const wk__address *from, int fd);
void wk__tcp_acceptor_run(wk__tcp_acceptor *door, wk__tcp_on_authenticated *proved, void *user);
/* The other side: connects, and proves who this is. The connection, -1 with the reason in *fail; *again: the host was
 * not there, and may be later; *refused: it is there and nobody listens. */
int wk__tcp_dial(const wk__address *to, const wk__hello *hello, const char *secret, int64_t deadline,
                 wk__dist_error *fail, bool *again, bool *refused);
void wk__tcp_random(void *out, size_t bytes);

/* ---- the world --------------------------------------------------------------------------------------------------- */

/* How far this rank is: what it answers when rank 0 asks. */
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
    uint64_t *sent, *received;          /* [size] by send and recv */
    int *control;           /* [size] of rank 0 the lines to the others; else [0] is the one to rank 0. -1: gone */
    wk__wire_parser *inbox; /* [size] likewise */
    wk__tcp_acceptor acceptor;
    pthread_t control_thread;
    bool control_running;
    struct pollfd *polls; /* the watcher's: [size + WK__TCP_MAX_PENDING + 2], */
    int *rank_of_poll;    /* [size] */
    int control_wakeup;   /* eventfds: the watcher has to look at what is below; */
    int caller_wakeup;    /* who makes a call has to */
    char *staging;        /* of who makes calls: WK__TCP_STAGING_BYTES bytes */

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    wk__tcp_progress progress;
    bool stopping; /* the watcher is to end */
    bool aborted;  /* for ever, with the first cause: */
    wk_code code;
    wk__wire_header unfinished; /* what was not finished, where that is the cause */
    char cause[WK__WIRE_TEXT_MAX + 1];
    uint64_t *leave_sequence; /* [size] of ranks at wk_dist_finish which of the world's calls that is, else 0; */
    int leave_count;          /* how many, */
    bool all_left;            /* and that is all of them */
    /* rank 0: who is to blame for what is late */
    struct {
        bool open; /* all have been asked, and may answer */
        int64_t until;
        wk__wire_header late;                   /* what is not finished, */
        int reporter;                           /* who says so, */
        char call_text[WK__TCP_CALL_TEXT];      /* in words, */
        uint8_t member[WK__WIRE_MAX_RANKS / 8]; /* by whom; a bit per rank */
        bool *answered;                         /* [size] */
        wk__tcp_progress *at;                   /* [size] */
    } diagnosis;
} wk__tcp;

enum { WK__TCP_STAGING_BYTES = 128 << 10 }; /* WK__WIRE_INLINE_MAX at least */

/* tcp_join.c */
wk_code wk__tcp_join(const wk__dist_settings *settings, wk__tcp *tcp, wk__dist_error *fail);
/* tcp_control.c: the thread; a frame over a line with what follows it, which never waits, under the lock; rank 0 to
 * all.
 */
bool wk__tcp_control_start(wk__tcp *tcp);
void wk__tcp_control_stop(wk__tcp *tcp);
void wk__tcp_control_send(wk__tcp *tcp, int rank, wk__wire_header frame, const void *body, size_t bytes);
void wk__tcp_control_broadcast(wk__tcp *tcp, wk__wire_header frame, const char *text);
void wk__tcp_wake(int bell);

/* tcp_diagnose.c, under the lock. A frame that has come over a line; a line that has ended. Rank 0 asks where the ranks
 * are that `asker` waits for: `body` is a bit for each of them, and behind that what it asks for, in words. It does
 * what is due, and says when more is. A rank is at wk_dist_finish, its call of that number. */
void wk__tcp_on_control_message(wk__tcp *tcp, int rank, const wk__wire_parser *in);
void wk__tcp_on_control_lost(wk__tcp *tcp, int rank, const char *why);
void wk__tcp_diagnose(wk__tcp *tcp, int asker, const wk__wire_header *late, const uint8_t *body, size_t bytes);
int64_t wk__tcp_diagnosis_deadline(wk__tcp *tcp);
void wk__tcp_note_leave(wk__tcp *tcp, int rank, uint64_t sequence);

/* tcp_abort.c. Under the lock: the world is broken, here and everywhere; `of`: what was not finished, all 0 where that
 * is not the cause. */
void wk__tcp_abort(wk__tcp *tcp, wk_code code, wk__wire_header of, const char *text);
/* The same for the own error of `rank`, which every rank's error then names. */
void wk__tcp_abort_for(wk__tcp *tcp, int rank, wk_code code, const char *error_text);
/* What is wrong where a rank asks for what another, at wk_dist_finish, does not call any more. */
void wk__tcp_unequal_calls_text(const wk__tcp *tcp, int asker, const char *asks, int left, char *out, size_t size);
/* Without the lock. A call begins (false: the world is broken), and is over; a failure that all ranks have alike may
 * break the world. */
bool wk__tcp_call_begin(wk__tcp *tcp, const wk__dist_call *step, wk__dist_error *fail);
void wk__tcp_call_end(wk__tcp *tcp, wk_code code, const wk__dist_error *fail);
/* tcp->news has rung: false if the world is broken; *left: a rank that it needs is at wk_dist_finish, and the call may
 * be one that it has not made. */
bool wk__tcp_on_wakeup(wk__tcp *tcp, const wk__dist_call *step, bool *left);
/* A call cannot go on: at its deadline (`why` NULL), or because of what has come to light. Fails with the first cause,
 * for which it waits a while. */
wk_code wk__tcp_give_up(wk__tcp *tcp, const wk__dist_call *step, wk_code code, const char *why, wk__dist_error *fail);
/* wk_dist_finish: waits for the others unless the request has failed. */
wk_code wk__tcp_finish(wk__tcp *tcp, const wk__dist_call *step, wk__dist_error *fail);
int64_t wk__tcp_grace(const wk__tcp *tcp);
const char *wk__tcp_host(void *world, int rank);

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* Bytes that lie together. */
typedef struct wk__tcp_span {
    char *at;
    int64_t bytes;
} wk__tcp_span;

/* Spans that go to one rank while others come from one, in their order. */
typedef struct wk__tcp_sendrecv wk__tcp_sendrecv;
struct wk__tcp_sendrecv {
    wk__tcp *tcp;
    const wk__dist_call *step;
    int to, from;               /* ranks of the world; -1: nothing goes, nothing comes */
    int send_spans, recv_spans; /* spans */
    /* Span k that goes and that comes. Not asked for before `ready` says that it may be. */
    wk__tcp_span (*send_span)(const wk__tcp_sendrecv *flow, int k);
    wk__tcp_span (*recv_span)(const wk__tcp_sendrecv *flow, int k);
    /* How many bytes of span k may go now; NULL: all. May span k come? NULL: yes. */
    int64_t (*sendable)(const wk__tcp_sendrecv *flow, int k);
    bool (*can_receive)(const wk__tcp_sendrecv *flow, int k);
    /* A span that is to come to no place comes in pieces, which this works on: `bytes` at `piece`, which belong at
     * `offset` of span k. */
    wk_code (*on_chunk)(wk__tcp_sendrecv *flow, int k, int64_t offset, const char *piece, int64_t bytes,
                        wk__dist_error *fail);
    void *user;
    /* where it is */
    int spans_sent, spans_received;             /* whole spans */
    int64_t bytes_sent, bytes_received, staged; /* bytes of the next ones; of those that came, in tcp->buffer and not
                                                   worked on */
    int64_t idle_since;                         /* 0: something moves */
    bool peer_left;                             /* a rank that the call needs is at wk_dist_finish */
};
/* Returns when all is there and gone, or cannot be. */
wk_code wk__tcp_sendrecv_run(wk__tcp_sendrecv *flow, wk__dist_error *fail);
/* Connections to these ranks (-1: none), made where there are none. */
wk_code wk__tcp_connect_peers(wk__tcp *tcp, const wk__dist_call *step, int to, int from, wk__dist_error *fail);

/* tcp_agree.c: all ranks of the group agree, and `bytes` of `data` become those of all: where `reduction` is NULL those
 * of who `has` some. */
struct wk__dist_reduction;
wk_code wk__tcp_agree(wk__tcp *tcp, const wk__dist_call *step, char *data, int64_t bytes, bool has,
                      struct wk__dist_reduction *reduction, wk__dist_error *fail);
/* tcp_collectives.c and tcp_p2p.c: one each for wk__dist_kind. */
typedef wk_code wk__tcp_collective(wk__tcp *tcp, const wk__dist_call *step, wk__dist_error *fail);
wk__tcp_collective wk__tcp_all_reduce, wk__tcp_reduce_scatter, wk__tcp_all_gather, wk__tcp_broadcast;
wk__tcp_collective wk__tcp_all_to_all, wk__tcp_send, wk__tcp_recv;

#endif
