/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of ranks, and what they do together on host memory: asked for now, done in the order in which it was asked
 * for, waited for when it is needed. */
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
    WK__DIST_NEW_GROUP, /* count: a hash of its ranks */
    WK__DIST_FINISH,
    WK__DIST_KINDS
} wk__dist_kind;
extern const char *const wk__dist_names[WK__DIST_KINDS]; /* "all_reduce" */
/* A call of two ranks, which has no number among those of the group. */
static inline bool wk__dist_is_p2p(wk__dist_kind kind)
{
    return kind == WK__DIST_SEND || kind == WK__DIST_RECV;
}

typedef struct wk__dist_group {
    int rank, size;      /* this process among its ranks, -1: it is not in it; how many they are */
    int *world_rank;     /* [size] the ranks' numbers in the world; NULL in that itself */
    uint32_t id;         /* the same in all ranks; 0: the world */
    uint64_t sequence;   /* of its calls so far, but for send and recv */
    uint64_t generation; /* the world's number among those of this process */
    int ddp_count;       /* wk_ddp's among its ranks so far */
} wk__dist_group;

/* All ranks. Before wk_dist_init and after wk_dist_finish that is this process alone. Never NULL. */
wk__dist_group *wk__dist_world(void);
/* The group of an option (NULL: the world). NULL with the error recorded if it is none, or one that this rank is not
 * in, or if this process was started as one of several that it has not joined. */
wk__dist_group *wk__dist_group_of(wk_site site, const char *op, const wk_dist_group *group);
/* Registers what wk_dist_finish calls before it leaves the world: checkpoints wait for their writes. There is one hook;
 * registering it again changes nothing. */
typedef wk_code (*wk__dist_finish_hook)(void);
void wk__dist_at_finish(wk__dist_finish_hook hook);
/* A rank of the world as one of the group, -1 if it is not in it; and back. */
int wk__dist_rank_in(const wk__dist_group *group, int world_rank);
static inline int wk__dist_world_rank(const wk__dist_group *group, int rank)
{
    return group->world_rank ? group->world_rank[rank] : rank;
}

/* What a rank asks for. Elements are dense. `count` is that of the shorter of in and out:
 *
 *     all_reduce, broadcast, send, recv    count elements; in of who gives, out of who gets
 *     all_gather                           in: count, out: size x count
 *     reduce_scatter                       in: size x count, out: count
 *     all_to_all                           in, out: size x count
 *
 * In and out are one piece of memory or have no byte in common; of reduce_scatter, all_gather and all_to_all, which
 * have not one length or read in disorder, they have none in common. Where the request fails, out holds anything. */
typedef struct wk__dist_request {
    wk__dist_kind kind;
    wk_dtype dtype;
    wk_dist_op op;         /* of what reduces */
    int peer;              /* broadcast: from whom; send, recv: to and from whom; a rank of the group */
    int64_t count;         /* elements */
    const void *in;        /* of a broadcast the root's */
    void *out;             /* of a broadcast everybody's; the root's may be its `in` */
    bool blocking;         /* it is waited for at once: no thread need wake up for it */
    const char *label;     /* "bucket 3", for messages, lives until the wait; NULL: nothing */
    const char *parent_op; /* "backward": of what it is part, for messages; lives as long; NULL: it is a call of its
                                own */
    wk_code code; /* WK_OK; else this rank has failed and takes part so that the others hear of it: count, in and
                       * out are of no matter */
    const char *error_text; /* why, lives until the wait */
    int ddp_id;             /* all_reduce: of which wk_ddp of the group the gradients are, from 1 on; 0: of none */
} wk__dist_request;

/* "all_reduce 50 (bucket 3, 4.0 MiB)": request number `sequence`, 0: it has none. */
enum { WK__DIST_CALL_TEXT = 128 };
void wk__dist_call_text(const wk__dist_request *request, uint64_t sequence, char out[WK__DIST_CALL_TEXT]);

/* A request under way. The caller's memory, which stays where it is until the wait. */
typedef struct wk__dist_ticket {
    wk__dist_group *group;
    wk__dist_request request;
    struct wk__dist_ticket *next; /* in the queue */
    uint64_t sequence;
    bool done;
    bool abandoned; /* the engine has not come back from it, and may still read `in` and write `out`: where these have
                     * more than 64 KiB they are not freed any more */
    wk_code code;
    char text[900];
    uint32_t failed_rank_plus_1; /* as in wk__dist_error */
} wk__dist_ticket;

/* Asks, without waiting for anybody. All ranks of the group ask for the same in the same order. */
void wk__dist_submit(wk__dist_ticket *ticket, wk__dist_group *group, const wk__dist_request *request);
/* Returns when it is done, or has failed here and will fail in the other ranks: WK_OK, or the code with the error of
 * the call `op` recorded. */
wk_code wk__dist_wait(wk__dist_ticket *ticket, wk_site site, const char *op);

#endif
