/* SPDX-License-Identifier: Apache-2.0 */
/* The engine over TCP: its files to each other.
 *
 *     tcp_join.c     rank 0 is found, proofs are exchanged, and everybody gets the roster of all
 *     tcp_door.c     the port where other ranks come, and strangers
 *     tcp_watch.c    the thread that stands at the door and listens to the line to rank 0
 *     tcp_inquiry.c  what comes there, and who is to blame
 *     tcp_cause.c    the first cause, and calls that fail with it
 *     tcp_flow.c     bytes to one rank and from another at once, as fast as they go
 *     tcp_agree.c    what all calls begin with, and small ones are
 *     tcp_ring.c     what large calls are: bytes that go round
 *     tcp_pair.c     send and recv
 *     tcp.c          the engine's table
 *
 * Each rank has a line to rank 0, over which first causes go, and a connection to each rank that it has had to do with,
 * made when first needed by the higher of the two. Two threads: whoever makes a call moves data and nothing else; the
 * watcher does the rest, and answers while the program computes. */
#ifndef WICK_DIST_TCP_H
#define WICK_DIST_TCP_H

#include "agree.h"
#include "handshake.h"
#include "socket.h"
#include <pthread.h>
#include <stdatomic.h>

/* Where a rank is. */
typedef struct wk__tcp_place {
    char host[WK__FRAME_HOST];
    wk__address address;
} wk__tcp_place;

/* ---- the door ---------------------------------------------------------------------------------------------------- */

enum { WK__TCP_VISITORS = 64, WK__TCP_ASKS = 200 /* bytes of what a rank asks for, in words */ };
enum { WK__TCP_PAUSE = 50000000 /* nanoseconds between two visits to a rank that is not there yet */ };
typedef struct wk__tcp_guest {
    int fd; /* -1: none */
    int64_t until;
    wk__address from;
    wk__visitor visitor;
} wk__tcp_guest;

typedef struct wk__tcp_door {
    int listener;
    const char *secret;
    int64_t patience; /* nanoseconds that a visitor may take */
    int64_t rests;    /* until then nobody is let in: the process has no descriptor left for one */
    int refused;      /* visitors so far */
    int misfit;       /* of those the number of the last one that seems to be a rank of this job, started otherwise than
                       * the others: no time mends that. -1: none */
    char last[200];   /* why that one was refused; without one, the last stranger */
    wk__tcp_guest guest[WK__TCP_VISITORS];
} wk__tcp_door;

void wk__tcp_door_begin(wk__tcp_door *door, int listener, const char *secret, double seconds);
void wk__tcp_door_end(wk__tcp_door *door);
/* What poll is to wait for; the number written: WK__TCP_VISITORS + 1 at most. */
int wk__tcp_door_polls(const wk__tcp_door *door, struct pollfd *polls);
/* The first moment at which somebody's time is over, or the door opens again; INT64_MAX: nobody is there. */
int64_t wk__tcp_door_until(const wk__tcp_door *door);
/* Lets in who has come, talks to those who have said something, turns away whose time is over. `proved` gets those that
 * know the secret, with the connection; it returns NULL when it has taken that, else why it is refused. */
typedef const char *wk__tcp_proved(void *user, const wk__hello *hello, const wk__address *from, int fd);
void wk__tcp_door_serve(wk__tcp_door *door, wk__tcp_proved *proved, void *user);
/* The other side: connects, and proves who this is. The connection, -1 with the reason in *fail; *again: the host was
 * not there, and may be later. */
int wk__tcp_visit(const wk__address *to, const wk__hello *hello, const char *secret, int64_t deadline,
                  wk__dist_fail *fail, bool *again);
void wk__tcp_random(void *out, size_t bytes);

/* ---- the world --------------------------------------------------------------------------------------------------- */

/* How far this rank is: what it answers when rank 0 asks. */
typedef struct wk__tcp_position {
    wk__whereabouts at;
    uint32_t group;
    uint64_t sequence;
    uint8_t collective;
} wk__tcp_position;

typedef struct wk__tcp {
    int rank, size;
    double seconds; /* WICK_TIMEOUT */
    char *secret;
    wk__tcp_place *place;    /* [size] */
    _Atomic int *peer;       /* [size] connections for data; -1: none yet */
    uint64_t *sent, *gotten; /* [size] by send and recv */
    int *control;            /* [size] of rank 0 the lines to the others; else [0] is the one to rank 0. -1: gone */
    wk__inbox *inbox;        /* [size] likewise */
    wk__tcp_door door;
    pthread_t watcher;
    bool watches;
    struct pollfd *polls; /* the watcher's: [size + WK__TCP_VISITORS + 2], */
    int *line_of;         /* [size] */
    int wake;             /* eventfds: the watcher has to look at what is below; */
    int news;             /* who makes a call has to */
    char *buffer;         /* of who makes calls: WK__TCP_STAGE bytes */

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    wk__tcp_position position;
    bool quits;  /* the watcher is to end */
    bool broken; /* for ever, with the first cause: */
    wk_code code;
    wk__dist_frame of; /* what was not finished, where that is the cause */
    char cause[WK__FRAME_TEXT + 1];
    uint64_t *left; /* [size] of ranks at wk_dist_finish which of the world's calls that is, else 0; */
    int leaving;    /* how many, */
    bool goes;      /* and that is all of them */
    /* rank 0: who is to blame for what is late */
    struct {
        bool open; /* all have been asked, and may answer */
        int64_t until;
        wk__dist_frame late;                 /* what is not finished, */
        int asker;                           /* who says so, */
        char asks[WK__TCP_ASKS];             /* in words, */
        uint8_t member[WK__FRAME_WORLD / 8]; /* by whom; a bit per rank */
        bool *answered;                      /* [size] */
        wk__tcp_position *at;                /* [size] */
    } inquiry;
} wk__tcp;

enum { WK__TCP_STAGE = 128 << 10 }; /* WK__FRAME_SMALL at least */

/* tcp_join.c */
wk_code wk__tcp_join(const wk__dist_settings *settings, wk__tcp *tcp, wk__dist_fail *fail);
/* tcp_watch.c: the thread; a frame over a line with what follows it, which never waits, under the lock; rank 0 to all.
 */
bool wk__tcp_watch_begin(wk__tcp *tcp);
void wk__tcp_watch_end(wk__tcp *tcp);
void wk__tcp_tell(wk__tcp *tcp, int rank, wk__dist_frame frame, const void *body, size_t bytes);
void wk__tcp_tell_all(wk__tcp *tcp, wk__dist_frame frame, const char *text);
void wk__tcp_knock(int bell);

/* tcp_inquiry.c, under the lock. A frame that has come over a line; a line that has ended. Rank 0 asks where the ranks
 * are that `asker` waits for: `body` is a bit for each of them, and behind that what it asks for, in words. It does
 * what is due, and says when more is. A rank is at wk_dist_finish, its call of that number. */
void wk__tcp_heard(wk__tcp *tcp, int rank, const wk__inbox *in);
void wk__tcp_line_ended(wk__tcp *tcp, int rank, const char *why);
void wk__tcp_inquire(wk__tcp *tcp, int asker, const wk__dist_frame *late, const uint8_t *body, size_t bytes);
int64_t wk__tcp_due(wk__tcp *tcp);
void wk__tcp_leaves(wk__tcp *tcp, int rank, uint64_t sequence);

/* tcp_cause.c. Under the lock: the world is broken, here and everywhere; `of`: what was not finished, all 0 where that
 * is not the cause. */
void wk__tcp_break(wk__tcp *tcp, wk_code code, wk__dist_frame of, const char *text);
/* What is wrong where a rank asks for what another, at wk_dist_finish, does not call any more. */
void wk__tcp_uneven(const wk__tcp *tcp, int asker, const char *asks, int left, char *out, size_t size);
/* Without the lock. A call begins (false: the world is broken), and is over; a failure that all ranks have alike may
 * break the world. */
bool wk__tcp_begin(wk__tcp *tcp, const wk__dist_step *step, wk__dist_fail *fail);
void wk__tcp_end(wk__tcp *tcp, wk_code code, const wk__dist_fail *fail);
/* tcp->news has rung: false if the world is broken; *left: a rank that it needs is at wk_dist_finish, and the call may
 * be one that it has not made. */
bool wk__tcp_news(wk__tcp *tcp, const wk__dist_step *step, bool *left);
/* A call cannot go on: at its deadline (`why` NULL), or because of what has come to light. Fails with the first cause,
 * for which it waits a while. */
wk_code wk__tcp_give_up(wk__tcp *tcp, const wk__dist_step *step, wk_code code, const char *why, wk__dist_fail *fail);
/* wk_dist_finish: waits for the others unless the request has failed. */
wk_code wk__tcp_finish(wk__tcp *tcp, const wk__dist_step *step, wk__dist_fail *fail);
int64_t wk__tcp_grace(const wk__tcp *tcp);
const char *wk__tcp_host(void *world, int rank);

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* Bytes that lie together. */
typedef struct wk__tcp_span {
    char *at;
    int64_t bytes;
} wk__tcp_span;

/* Spans that go to one rank while others come from one, in their order. */
typedef struct wk__tcp_flow wk__tcp_flow;
struct wk__tcp_flow {
    wk__tcp *tcp;
    const wk__dist_step *step;
    int to, from;     /* ranks of the world; -1: nothing goes, nothing comes */
    int gives, takes; /* spans */
    /* Span k that goes and that comes. Not asked for before `ready` says that it may be. */
    wk__tcp_span (*give)(const wk__tcp_flow *flow, int k);
    wk__tcp_span (*take)(const wk__tcp_flow *flow, int k);
    /* How many bytes of span k may go now; NULL: all. May span k come? NULL: yes. */
    int64_t (*may_give)(const wk__tcp_flow *flow, int k);
    bool (*may_take)(const wk__tcp_flow *flow, int k);
    /* A span that is to come to no place comes in pieces, which this works on: `bytes` at `piece`, which belong at
     * `offset` of span k. */
    wk_code (*work)(wk__tcp_flow *flow, int k, int64_t offset, const char *piece, int64_t bytes, wk__dist_fail *fail);
    void *user;
    /* where it is */
    int given, taken;           /* whole spans */
    int64_t gone, came, staged; /* bytes of the next ones; of those that came, in tcp->buffer and not worked on */
    int64_t idle_since;         /* 0: something moves */
    bool left;                  /* a rank that the call needs is at wk_dist_finish */
};
/* Returns when all is there and gone, or cannot be. */
wk_code wk__tcp_run(wk__tcp_flow *flow, wk__dist_fail *fail);
/* Connections to these ranks (-1: none), made where there are none. */
wk_code wk__tcp_connect(wk__tcp *tcp, const wk__dist_step *step, int to, int from, wk__dist_fail *fail);

/* tcp_agree.c: all ranks of the group agree, and `bytes` of `data` become those of all: where `reduction` is NULL those
 * of who `has` some. */
struct wk__dist_reduction;
wk_code wk__tcp_agree(wk__tcp *tcp, const wk__dist_step *step, char *data, int64_t bytes, bool has,
                      struct wk__dist_reduction *reduction, wk__dist_fail *fail);
/* tcp_ring.c and tcp_pair.c: one each for wk__dist_kind. */
typedef wk_code wk__tcp_call(wk__tcp *tcp, const wk__dist_step *step, wk__dist_fail *fail);
wk__tcp_call wk__tcp_all_reduce, wk__tcp_reduce_scatter, wk__tcp_all_gather, wk__tcp_broadcast;
wk__tcp_call wk__tcp_all_to_all, wk__tcp_send, wk__tcp_recv;

#endif
