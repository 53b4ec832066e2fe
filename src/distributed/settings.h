/* SPDX-License-Identifier: Apache-2.0 */
/* Job settings (rank, world size, address of rank 0, timeout) from the variables that launchers set. */
#ifndef WICK_DIST_SETTINGS_H
#define WICK_DIST_SETTINGS_H

#include "base/text.h"
#include <wick/core.h>

typedef enum wk__dist_transport_id { WK__DIST_SELF, WK__DIST_TCP, WK__DIST_MPI } wk__dist_transport_id;

typedef struct wk__dist_settings {
    wk__dist_transport_id transport;
    int rank, size;
    int local_rank;     /* rank within this machine; -1: unknown */
    char host[256];     /* host of rank 0 */
    int port;           /* port of rank 0; 0: that of listen_fd */
    int listen_fd;      /* listening socket inherited from the launcher (WICK_LISTEN_FD); -1: none */
    double timeout;     /* WICK_TIMEOUT, seconds */
    const char *secret; /* WICK_SECRET; owned by the environment */
    const char *source; /* static: the variables that decided, for messages: "WICK_RANK, WICK_WORLD_SIZE" */
} wk__dist_settings;

/* Type of the lookup of a variable; NULL if it is not set. Tests replace getenv. */
typedef const char *wk__dist_getenv(void *user, const char *name);
/* Reads the settings. mpi: the MPI transport is usable; if not, no_mpi is the reason. Returns WK_OK, or WK_ERR_ARGUMENT
 * with a description in *why. */
wk_code wk__dist_settings_read(wk__dist_getenv *look, void *user, bool mpi, const char *no_mpi, wk__dist_settings *out,
                               wk__text *why);
/* Returns the number of processes that the launcher started together, without validating the other variables; 1 if this
 * process is alone or WICK_COMM=self. *variable: the variable that says so, NULL: none. */
int wk__dist_launched_size(wk__dist_getenv *look, void *user, const char **variable);
/* Extracts the first host of a Slurm node list: "node[003-010,012],gpu1" gives "node003". Returns false if there is
 * none or `size` is too small. */
bool wk__dist_first_host(const char *list, char *host, size_t size);

#endif
