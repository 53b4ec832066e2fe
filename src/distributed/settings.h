/* SPDX-License-Identifier: Apache-2.0 */
/* Which job this process belongs to: what the environment says, by whoever has started it. */
#ifndef WICK_DIST_SETTINGS_H
#define WICK_DIST_SETTINGS_H

#include "base/text.h"
#include <wick/core.h>

typedef enum wk__dist_transport_id { WK__DIST_SELF, WK__DIST_TCP, WK__DIST_MPI } wk__dist_transport_id;

typedef struct wk__dist_settings {
    wk__dist_transport_id engine;
    int rank, size;
    int local_rank; /* -1: not known */
    char host[256]; /* of rank 0 */
    int port;       /* of rank 0; 0: WICK_LISTEN_FD has it */
    int listen_fd;  /* -1: none */
    double timeout; /* seconds */
    const char *secret,
        *source; /* the environment's; which variables chose, for messages: "WICK_RANK, WICK_WORLD_SIZE" */
} wk__dist_settings;

/* Looks up a variable, NULL if it is not set. */
typedef const char *wk__dist_getenv(void *user, const char *name);
/* WK_OK, or WK_ERR_ARGUMENT with what is wrong in `why`. `mpi`: can that engine be used? If not, `no_mpi` says why. */
wk_code wk__dist_settings_read(wk__dist_getenv *look, void *user, bool mpi, const char *no_mpi, wk__dist_settings *out,
                               wk__text *why);
/* How many processes were started together by what the environment says: 1 where this one is alone, or is to be. All
 * else may be wrong. *variable: what says so; NULL: nothing does. */
int wk__dist_launched_size(wk__dist_getenv *look, void *user, const char **variable);
/* The first host in Slurm's spelling, "node[003-010,012],gpu1" -> "node003". False if there is none, or no room. */
bool wk__dist_first_host(const char *list, char *host, size_t size);

#endif
