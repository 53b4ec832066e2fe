/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of ranks, and the queue of their collectives on host memory. A collective is submitted without waiting, runs
 * in submission order, and is awaited when its result is needed. */
#ifndef WICK_DIST_GROUP_H
#define WICK_DIST_GROUP_H

#include "base/handle.h"
#include <wick/dist.h>

typedef enum wk__dist_kind {
    WK__DIST_BARRIER,
    WK__DIST_ALL_REDUCE,
    WK__DIST_BROADCAST,
    WK__DIST_ALL_GATHER,
    WK__DIST_REDUCE_SCATTER,
    WK__DIST_ALL_TO_ALL,
    WK__DIST_SEND,
    WK__DIST_RECV,
    WK__DIST_NEW_GROUP, /* request.count is a hash of the list of ranks */
    WK__DIST_FINISH,
    WK__DIST_KINDS
} wk__dist_kind;
extern const char *const wk__dist_names[WK__DIST_KINDS]; /* "all_reduce" */
/* Returns true for send and recv, which are not counted in the group's sequence numbers. */
static inline bool wk__dist_is_p2p(wk__dist_kind kind)
{
    return kind == WK__DIST_SEND || kind == WK__DIST_RECV;
}

typedef struct wk__dist_group {
    int rank, size;      /* rank of this process in the group, -1: not a member; number of members */
    int *world_rank;     /* [size] world ranks of the members, owned; NULL in the world itself */
    uint32_t id;         /* the same on all ranks; 0: the world */
    uint64_t sequence;   /* collectives submitted so far, without send and recv */
    uint64_t generation; /* generation of the world it belongs to (wk__dist_session) */
    int ddp_count;       /* wk_ddp modules made on the group so far */
} wk__dist_group;

/* Returns the group of all ranks; of this process alone before wk_dist_init and after wk_dist_finish. Never NULL. */
wk__dist_group *wk__dist_world(void);
/* Returns the group passed as an option (NULL: the world). NULL after recording an error if the handle is invalid, this
 * rank is not a member, or the process was launched as one of several and has not called wk_dist_init. */
wk__dist_group *wk__dist_group_of(wk_site site, const char *op, const wk_dist_group *group);
/* Registers the function that wk_dist_finish calls before leaving the world; checkpoints use it to wait for their
 * writes. There is one hook, and registering it again changes nothing. */
typedef wk_code (*wk__dist_finish_hook)(void);
void wk__dist_at_finish(wk__dist_finish_hook hook);
/* Converts a world rank to a rank of the group, -1 if it is not a member; and back. */
int wk__dist_rank_in(const wk__dist_group *group, int world_rank);
static inline int wk__dist_world_rank(const wk__dist_group *group, int rank)
{
    return group->world_rank ? group->world_rank[rank] : rank;
}

/* One collective as requested by this rank. Buffers are dense host memory, owned by the caller. `count` is the number
 * of elements of the shorter of in and out:
 *
 *     all_reduce, broadcast, send, recv    count elements; in: of the sender, out: of the receiver
 *     all_gather                           in: count, out: size x count
 *     reduce_scatter                       in: size x count, out: count
 *     all_to_all                           in, out: size x count
 *
 * in and out are the same memory or do not overlap; for reduce_scatter, all_gather and all_to_all they do not overlap.
 * After a failure the contents of out are unspecified. */
typedef struct wk__dist_request {
    wk__dist_kind kind;
    wk_dtype dtype;
    wk_dist_op op;         /* of reductions */
    int peer;              /* group rank: root of a broadcast, destination of a send, source of a recv */
    int64_t count;         /* elements, see above */
    const void *in;        /* broadcast: used on the root only */
    void *out;             /* broadcast: used on all ranks; may equal in on the root */
    bool blocking;         /* the caller waits immediately, so the queue thread need not be woken */
    const char *label;     /* "bucket 3", for messages; lives until the wait; NULL: none */
    const char *parent_op; /* "backward": the call it is part of, for messages; lives until the wait; NULL: none */
    /* WK_OK; otherwise this rank has failed and takes part only to report its error to the others: count, in and out
     * are ignored */
    wk_code code;
    const char *error_text; /* message of that error, lives until the wait */
    int ddp_id;             /* all_reduce of gradients: number of their wk_ddp in the group, from 1; otherwise 0 */
} wk__dist_request;

/* Formats a request as "all_reduce 50 (bucket 3, 4.0 MiB)"; 50 is the sequence number, omitted if 0. */
enum { WK__DIST_CALL_TEXT = 128 };
void wk__dist_call_text(const wk__dist_request *request, uint64_t sequence, char out[WK__DIST_CALL_TEXT]);

/* A submitted request. Owned by the caller; it must not move until wk__dist_wait has returned. */
typedef struct wk__dist_ticket {
    wk__dist_group *group;
    wk__dist_request request;
    struct wk__dist_ticket *next; /* in the queue */
    uint64_t sequence;            /* number among the group's collectives, from 1; 0 for send and recv */
    bool done;                    /* the fields below are final */
    bool abandoned; /* the transport never returned and may still access in and out: buffers above 64 KiB must leak
                     * (smaller ones were copied) */
    wk_code code;
    char text[900];              /* message if code is not WK_OK */
    uint32_t failed_rank_plus_1; /* as in wk__dist_error */
} wk__dist_ticket;

/* Appends a request to the queue without waiting. All ranks of the group submit the same requests in the same order. */
void wk__dist_submit(wk__dist_ticket *ticket, wk__dist_group *group, const wk__dist_request *request);
/* Waits until the request has completed, or has failed here and therefore fails on all ranks. Returns WK_OK, or a code
 * after recording the error under the call name op. */
wk_code wk__dist_wait(wk__dist_ticket *ticket, wk_site site, const char *op);

#endif
