/* SPDX-License-Identifier: Apache-2.0 */
/* What carries numbers between the ranks of a world: one table of functions per engine. Append only.
 *
 * Calls come one at a time, in the order in which the ranks have asked; which thread makes them differs. An engine
 * whose calls return by the step's deadline is `prompt`: then whoever waits for a step may make the call itself. The
 * calls of another are made by a thread of their own, which is left behind where one does not come back in time.
 *
 * A call returns WK_OK or a code with the text in *fail, which names the other ranks and what they did ("rank 1 on
 * nodeB is gone"); the caller puts in front of it who says so, and of which call. `broken`: the world is of no use any
 * more, every later call fails with that first cause, which the engine tells itself. */
#ifndef WICK_DIST_ENGINE_H
#define WICK_DIST_ENGINE_H

#include "group.h"
#include "settings.h"

enum { WK__DIST_TRANSPORT_VERSION = 2 };

typedef struct wk__dist_error {
    wk_code code;
    bool fatal;
    char text[720];
    uint32_t failed_rank_plus_1; /* the rank of the world whose own error this is; 0: of no rank in particular */
} wk__dist_error;
/* Fills *fail and returns the code. */
__attribute__((format(printf, 3, 4))) wk_code wk__dist_error_set(wk__dist_error *fail, wk_code code, const char *format,
                                                                 ...);

/* One collective as it is under way. */
typedef struct wk__dist_call {
    const wk__dist_request *request;
    const wk__dist_group *group;
    uint64_t sequence;         /* of the group's calls, from 1 on; send and recv, which two of them make, have 0 */
    int64_t started, deadline; /* by wk__monotonic_ns */
} wk__dist_call;

/* What an engine says of the world when it has joined it. */
typedef struct wk__dist_identity {
    int rank, size, local_rank;
} wk__dist_identity;

typedef struct wk__dist_transport {
    int version;
    const char *name;
    bool honors_deadline;
    /* Does it carry statuses and compare what is asked for? Else that is done around it (agree.h). */
    bool checks_agreement;

    /* Returns when all ranks are there, who may then make calls. */
    wk_code (*join)(const wk__dist_settings *settings, wk__dist_identity *place, void **world, wk__dist_error *fail);
    /* Frees all. The last call was WK__DIST_FINISH, which waits for the others; with a request that has failed it tells
     * them that they are not to wait any more, and why. */
    void (*leave)(void *world);
    /* "nodeA": where a rank runs. Lives as long as the world. */
    const char *(*host_name)(void *world, int rank);
    /* Makes the call that step->request is. */
    wk_code (*call)(void *world, const wk__dist_call *step, wk__dist_error *fail);
} wk__dist_transport;

extern const wk__dist_transport wk__dist_tcp;

#endif
