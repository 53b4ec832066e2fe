/* SPDX-License-Identifier: Apache-2.0 */
/* Loader of the MPI transport. MPI implementations have incompatible ABIs, so the transport is a plug-in
 * (plugins/wick_mpi.c), compiled once per implementation and loaded on demand. The library itself links to no MPI. */
#ifndef WICK_DISTRIBUTED_MPI_PLUGIN_H
#define WICK_DISTRIBUTED_MPI_PLUGIN_H

#include "transport.h"

/* Functions of the library passed to the plug-in, which cannot see its hidden symbols. */
typedef struct wk__mpi_services {
    int version; /* WK__DIST_TRANSPORT_VERSION */
    size_t (*size_of)(wk_dtype dtype);
    wk_code (*fail)(wk__dist_error *fail, wk_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
    /* Computes mine = theirs op mine for `count` elements. */
    wk_code (*reduce)(wk_dist_op op, wk_dtype dtype, const void *theirs, void *mine, int64_t count,
                      wk__dist_error *fail);
    /* Computes to = from, converted to another dtype and, unless ranks is 0, divided by ranks. */
    wk_code (*convert)(wk_dtype to_dtype, void *to, wk_dtype from_dtype, const void *from, int64_t count, int ranks,
                       wk__dist_error *fail);
} wk__mpi_services;

/* Type of the plug-in's entry point wk_mpi_transport. It returns NULL if the versions differ. */
typedef const wk__dist_transport *wk__mpi_plugin_entry(const wk__mpi_services *services);

/* Returns the transport for the MPI that started this process or that the program links to. Loads it once. NULL with
 * the reason in *why if there is none. */
const wk__dist_transport *wk__dist_mpi(const char **why);

#endif
