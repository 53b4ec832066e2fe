/* SPDX-License-Identifier: Apache-2.0 */
/* The engine over MPI. Implementations of MPI do not agree on what is in mpi_plugin.h, so the engine is a library of
 * its own (plugins/wick_mpi.c), compiled against each of them and loaded when it is wanted; this one is linked to
 * none. */
#ifndef WICK_DIST_MPI_H
#define WICK_DIST_MPI_H

#include "transport.h"

/* What the plug-in gets from this library, whose symbols it does not see. */
typedef struct wk__mpi_services {
    int version; /* WK__DIST_TRANSPORT_VERSION */
    size_t (*size_of)(wk_dtype dtype);
    wk_code (*fail)(wk__dist_error *fail, wk_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
    /* mine = theirs op mine */
    wk_code (*reduce)(wk_dist_op op, wk_dtype dtype, const void *theirs, void *mine, int64_t count,
                      wk__dist_error *fail);
    /* to = from, in another dtype, divided by `ranks` unless that is 0 */
    wk_code (*convert)(wk_dtype to_dtype, void *to, wk_dtype from_dtype, const void *from, int64_t count, int ranks,
                       wk__dist_error *fail);
} wk__mpi_services;

/* What it is found by: wk_mpi_transport, which returns NULL where versions differ. */
typedef const wk__dist_transport *wk__mpi_plugin_entry(const wk__mpi_services *services);

/* The engine for the MPI that has started this process, or that this program is linked with; NULL, and why. Loads it
 * once. */
const wk__dist_transport *wk__dist_mpi(const char **why);

#endif
