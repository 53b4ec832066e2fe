/* SPDX-License-Identifier: Apache-2.0 */
/* Transport interface: one function table per transport (TCP, MPI). Append only, as plug-ins are compiled against it.
 *
 * Calls arrive one at a time, in the same order on all ranks, from varying threads. If honors_deadline, a call returns
 * by call->deadline and runs on the thread that waits for it; otherwise it runs on the queue thread, which is abandoned
 * if the call does not return.
 *
 * A call returns WK_OK, or a code with a message in *fail that names the other rank ("rank 1 on nodeB is gone"); the
 * caller prepends its own rank and the call. After a fatal error every call fails with that first error. */
#ifndef WICK_DIST_TRANSPORT_H
#define WICK_DIST_TRANSPORT_H

#include "group.h"
#include "settings.h"

enum { WK__DIST_TRANSPORT_VERSION = 2 };

typedef struct wk__dist_error {
    wk_code code;
    bool fatal;
    char text[720];
    uint32_t failed_rank_plus_1; /* world rank whose own error this is, plus 1; 0: of no rank in particular */
} wk__dist_error;
/* Sets code and message of *fail. Returns the code. */
__attribute__((format(printf, 3, 4))) wk_code wk__dist_error_set(wk__dist_error *fail, wk_code code, const char *format,
                                                                 ...);

/* A collective that is running. */
typedef struct wk__dist_call {
    const wk__dist_request *request;
    const wk__dist_group *group;
    uint64_t sequence;         /* number among the group's collectives, from 1; 0 for send and recv */
    int64_t started, deadline; /* wk__monotonic_ns, nanoseconds */
} wk__dist_call;

/* Place of this process in the world, as the transport determined it while joining. */
typedef struct wk__dist_identity {
    int rank, size, local_rank;
} wk__dist_identity;

typedef struct wk__dist_transport {
    int version;
    const char *name;
    bool honors_deadline;
    /* The transport itself exchanges errors and compares requests; otherwise queue.c does so around each call
     * (agree.h). */
    bool checks_agreement;

    /* Joins the world. Returns when all ranks have joined. */
    wk_code (*join)(const wk__dist_settings *settings, wk__dist_identity *place, void **world, wk__dist_error *fail);
    /* Frees the world. The last call before it is WK__DIST_FINISH, which waits for the other ranks, or if its request
     * has an error sends that to them, so that they stop waiting. */
    void (*leave)(void *world);
    /* Returns the host name of a rank, "nodeA"; valid as long as the world. */
    const char *(*host_name)(void *world, int rank);
    /* Runs the collective call->request. */
    wk_code (*call)(void *world, const wk__dist_call *call, wk__dist_error *fail);
} wk__dist_transport;

extern const wk__dist_transport wk__dist_tcp;

#endif
