/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the plug-in for MPI; see mpi_plugin.h. */
#include "mpi_plugin.h"
#include "base/environment.h"
#include "base/platform/dynlib.h"
#include "reduction.h"
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const wk__dist_transport *transport;
static char load_error[1024];

/* ---- services ---------------------------------------------------------------------------------------------------- */

static wk_code reduce(wk_dist_op op, wk_dtype dtype, const void *theirs, void *mine, int64_t count,
                      wk__dist_error *fail)
{
    wk__dist_reduction r;
    wk__dist_reduction_make(&r, op, dtype, dtype, dtype, 0);
    return wk__dist_reduce(&r, mine, theirs, mine, count, fail);
}

static wk_code convert(wk_dtype to_dtype, void *to, wk_dtype from_dtype, const void *from, int64_t count, int ranks,
                       wk__dist_error *fail)
{
    wk__dist_reduction r;
    wk__dist_conversion_make(&r, to_dtype, from_dtype, ranks);
    return wk__dist_reduce(&r, to, NULL, from, count, fail);
}

static const wk__mpi_services services = {
    WK__DIST_TRANSPORT_VERSION, wk_dtype_size, wk__dist_error_set, reduce, convert,
};

/* ---- identifying the MPI ----------------------------------------------------------------------------------------- */

/* Identifies the MPI by the variables of its mpirun, else by the library linked to the program; NULL: unknown. */
static const char *detect_mpi(void)
{
    char text[8192] = ""; /* MPI_MAX_LIBRARY_VERSION_STRING of any MPI */
    int length = 0, (*describe)(char *, int *) = NULL;
    if (getenv("OMPI_COMM_WORLD_RANK")) return "openmpi";
    if (getenv("PMI_RANK")) return "mpich";
    void *function = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    memcpy(&describe, &function, sizeof function);
    if (describe && describe(text, &length) == 0) return strstr(text, "Open MPI") ? "openmpi" : "mpich";
    return NULL;
}

/* Loads the plug-in from the folder of this library (or of the program it is linked into), else by the search path. */
static void *load(const char *file)
{
    char path[PATH_MAX] = "";
    Dl_info own;
    void *found = NULL;
    if (dladdr(&services, &own) && strchr(own.dli_fname, '/')) {
        const int folder = (int)(strrchr(own.dli_fname, '/') - own.dli_fname);
        if (snprintf(path, sizeof path, "%.*s/%s", folder, own.dli_fname, file) < (int)sizeof path)
            found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (found || access(path, F_OK) == 0) return found;
    }
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static void find(void)
{
    const char *named = wk__setting_text(WK__SETTING_MPI_PLUGIN), *mpi = detect_mpi(), *none = wk__why_no_dynlib();
    char file[64];
    snprintf(file, sizeof file, "libwick_mpi_%s.so", mpi ? mpi : "openmpi");
    if (none) {
        snprintf(load_error, sizeof load_error, "%s", none);
        return;
    }
    void *library = named && *named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : load(file);
    if (!library && !named && !mpi) library = load("libwick_mpi_mpich.so");
    if (!library) {
        snprintf(load_error, sizeof load_error,
                 "cannot load the MPI plug-in %s (%s); build Wick with `mpicc` installed (scripts/setup many), set "
                 "WICK_MPI_PLUGIN, or start the program with `wick run`",
                 named && *named ? named : file, dlerror());
        return;
    }
    wk__mpi_plugin_entry *entry = NULL;
    void *function = dlsym(library, "wk_mpi_transport");
    memcpy(&entry, &function, sizeof function);
    transport = entry ? entry(&services) : NULL;
    if (transport && transport->version != WK__DIST_TRANSPORT_VERSION) transport = NULL;
    if (!transport)
        snprintf(load_error, sizeof load_error, "%s was built for another version of Wick",
                 named && *named ? named : file);
}

const wk__dist_transport *wk__dist_mpi(const char **why)
{
    pthread_once(&once, find);
    *why = load_error;
    return transport;
}
