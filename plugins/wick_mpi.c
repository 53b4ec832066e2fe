/* SPDX-License-Identifier: Apache-2.0 */
/* The transport over MPI as a plug-in (src/distributed/mpi_plugin.h). The mpicc of each MPI implementation compiles
 * this source, into libwick_mpi_openmpi.so and libwick_mpi_mpich.so. Requires MPI 3.0.
 *
 * One thread makes all MPI calls, and they block. MPI has no deadlines, so callers that wait for this thread apply
 * them. A rank that has exited is detected by mpirun, which ends the job, or not at all. After a failure no MPI
 * function is called any more, not even MPI_Finalize, which would block.
 *
 * Reductions use MPI's order, which depends on the number of ranks and elements (and, with some settings of MPI, on the
 * hosts of the ranks); all ranks receive the same bits. f16 and bf16 are transferred as f32. */
#include "distributed/mpi_plugin.h"
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Counts have type int: longer messages are split into pieces of this many bytes, reductions into pieces of this many
 * elements. */
#ifndef WICK_MPI_PIECE
#define WICK_MPI_PIECE (1 << 30)
#endif
enum {
    STAGING_ELEMENTS = 1 << 20, /* elements converted at a time */
    TAGS = 32768,               /* every MPI supports tags below this */
    OWN_OPS = 4
};

typedef char name[MPI_MAX_PROCESSOR_NAME];
typedef struct mpi {
    MPI_Comm comm; /* a duplicate of MPI_COMM_WORLD, so that messages of the program do not match ours */
    int rank, size;
    bool initialized_here; /* MPI_Init was called here, so MPI_Finalize must be as well */
    bool finished;         /* all ranks have reached the end */
    name *hosts;           /* [size]; owned */
    MPI_Op own[OWN_OPS];
    char *stage;              /* STAGING_ELEMENTS elements and one per rank; NULL until needed; owned */
    struct group_comm *links; /* communicators of groups; owned */
} mpi;

static wk__mpi_services services;

/* Returns false, with *fail filled, if an MPI call has failed. The state of the other ranks is then unknown. */
static bool check_mpi(int code, const char *call, wk__dist_error *fail)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (code == MPI_SUCCESS) return true;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
    fail->fatal = true;
    services.fail(fail, WK_ERR_TIMEOUT, "%s: %.*s; another rank may have exited", call, length, text);
    return false;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* The communicator of a group, created by the group's first collective call; it lives as long as the world. */
typedef struct group_comm {
    uint32_t id;
    MPI_Comm comm;
    struct group_comm *next;
} group_comm;

/* Returns the communicator for a collective call of the group; MPI_COMM_NULL, with *fail filled, if it cannot be
 * created. */
static MPI_Comm comm_of(mpi *m, const wk__dist_group *group, wk__dist_error *fail)
{
    MPI_Group all, some;
    if (!group->world_rank) return m->comm;
    for (const group_comm *l = m->links; l; l = l->next)
        if (l->id == group->id) return l->comm;
    group_comm *l = calloc(1, sizeof *l);
    if (!l) {
        services.fail(fail, WK_ERR_MEMORY, "out of host memory");
        fail->fatal = true; /* the other ranks are in the call */
        return MPI_COMM_NULL;
    }
    l->id = group->id;
    MPI_Comm_group(m->comm, &all);
    MPI_Group_incl(all, group->size, group->world_rank, &some);
    const int code = MPI_Comm_create_group(m->comm, some, (int)(group->id % TAGS), &l->comm);
    MPI_Group_free(&some), MPI_Group_free(&all);
    if (!check_mpi(code, "MPI_Comm_create_group", fail)) {
        free(l);
        return MPI_COMM_NULL;
    }
    MPI_Comm_set_errhandler(l->comm, MPI_ERRORS_RETURN);
    l->next = m->links;
    m->links = l;
    return l->comm;
}

static void free_links(mpi *m)
{
    for (group_comm *next; m->links; m->links = next) {
        next = m->links->next;
        if (m->finished) MPI_Comm_free(&m->links->comm);
        free(m->links);
    }
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

static bool is_half(wk_dtype dtype)
{
    return dtype == WK_F16 || dtype == WK_BF16;
}

static MPI_Datatype type_of(wk_dtype dtype)
{
    switch (dtype) {
    case WK_F64: return MPI_DOUBLE;
    case WK_I8: return MPI_INT8_T;
    case WK_I16: return MPI_INT16_T;
    case WK_I32: return MPI_INT32_T;
    case WK_I64: return MPI_INT64_T;
    case WK_U8:
    case WK_BOOL: return MPI_UINT8_T;
    default: return MPI_FLOAT;
    }
}

/* Wick's operations, used if MPI's differ: minima and maxima with NaN, and sums and products of 8 and 16 bits, which
 * Open MPI 4.1 saturates. */
static void combine(wk_dist_op op, void *theirs, void *mine, const int *count, const MPI_Datatype *type)
{
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_I8, WK_U8, WK_I16, WK_I32, WK_I64};
    wk__dist_error fail; /* unused: reducing host memory on the CPU cannot fail */
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
        if (type_of(dtypes[k]) == *type) services.reduce(op, dtypes[k], theirs, mine, *count, &fail);
}
static void sum(void *theirs, void *mine, int *count, MPI_Datatype *type)
{
    combine(WK_DIST_SUM, theirs, mine, count, type);
}
static void product(void *theirs, void *mine, int *count, MPI_Datatype *type)
{
    combine(WK_DIST_PRODUCT, theirs, mine, count, type);
}
static void least(void *theirs, void *mine, int *count, MPI_Datatype *type)
{
    combine(WK_DIST_MIN, theirs, mine, count, type);
}
static void most(void *theirs, void *mine, int *count, MPI_Datatype *type)
{
    combine(WK_DIST_MAX, theirs, mine, count, type);
}
static MPI_User_function *const own_ops[OWN_OPS] = {sum, product, least, most};

/* Bools are 0 and 1: their sum is "or". */
static MPI_Op op_of(const mpi *m, wk_dist_op op, wk_dtype dtype)
{
    const bool is_float = dtype == WK_F32 || dtype == WK_F64, is_small = services.size_of(dtype) < 4;
    switch (op) {
    case WK_DIST_PRODUCT: return dtype == WK_BOOL ? MPI_MIN : is_small ? m->own[1] : MPI_PROD;
    case WK_DIST_MIN: return is_float ? m->own[2] : MPI_MIN;
    case WK_DIST_MAX: return is_float ? m->own[3] : MPI_MAX;
    default: return dtype == WK_BOOL ? MPI_MAX : is_small ? m->own[0] : MPI_SUM;
    }
}

typedef struct reduction {
    mpi *m;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    wk_dtype dtype, wide; /* dtypes of the tensors and of the sums */
    int parts;            /* the number of ranks for a reduce_scatter, else 1 */
    int divide;           /* divisor of the result; 0: none */
    int64_t count;        /* elements per part */
    size_t size;          /* bytes per element of `dtype` */
    wk__dist_error *fail;
} reduction;

static reduction reduction_of(mpi *m, MPI_Comm comm, const wk__dist_call *step, wk__dist_error *fail)
{
    const wk__dist_request *q = step->request;
    const wk_dtype wide = is_half(q->dtype) ? WK_F32 : q->dtype;
    return (reduction){.m = m,
                       .comm = comm,
                       .type = type_of(wide),
                       .op = op_of(m, q->op, wide),
                       .dtype = q->dtype,
                       .wide = wide,
                       .parts = q->kind == WK__DIST_REDUCE_SCATTER ? step->group->size : 1,
                       .divide = q->op == WK_DIST_AVG ? step->group->size : 0,
                       .count = q->count,
                       .size = services.size_of(q->dtype),
                       .fail = fail};
}

static bool reduce_piece(const reduction *r, const void *in, void *out, int64_t count)
{
    const void *from = in == out ? MPI_IN_PLACE : in;
    if (r->parts == 1)
        return check_mpi(MPI_Allreduce(from, out, (int)count, r->type, r->op, r->comm), "MPI_Allreduce", r->fail);
    return check_mpi(MPI_Reduce_scatter_block(from, out, (int)count, r->type, r->op, r->comm),
                     "MPI_Reduce_scatter_block", r->fail);
}

static bool convert(const reduction *r, wk_dtype to, void *out, wk_dtype from, const void *in, int64_t count, int ranks)
{
    return services.convert(to, out, from, in, count, ranks, r->fail) == WK_OK;
}

/* Reduces elements [begin, begin + count) of each part, converted to the dtype of the sums in the staging buffer. */
static bool reduce_staged(const reduction *r, const char *in, char *out, int64_t begin, int64_t count)
{
    const int64_t wide = (int64_t)services.size_of(r->wide), size = (int64_t)r->size;
    for (int k = 0; k < r->parts; k++)
        if (!convert(r, r->wide, r->m->stage + k * count * wide, r->dtype, in + (k * r->count + begin) * size, count,
                     0))
            return false;
    return reduce_piece(r, r->m->stage, r->m->stage, count) &&
           convert(r, r->dtype, out + begin * size, r->wide, r->m->stage, count, r->divide);
}

static bool reduce(mpi *m, MPI_Comm comm, const wk__dist_call *step, wk__dist_error *fail)
{
    const reduction r = reduction_of(m, comm, step, fail);
    const char *in = step->request->in;
    char *out = step->request->out;
    const int64_t most = WICK_MPI_PIECE / (int64_t)r.size;
    const bool staged = is_half(r.dtype) || (r.parts > 1 && r.count > most);
    const int64_t room = staged ? (STAGING_ELEMENTS + r.parts - 1) / r.parts : most, piece = room < most ? room : most;
    if (staged && !m->stage) m->stage = malloc((size_t)(STAGING_ELEMENTS + m->size) * sizeof(double));
    if (staged && !m->stage) {
        services.fail(fail, WK_ERR_MEMORY, "out of host memory"); /* the other ranks are in the call */
        fail->fatal = true;
        return false;
    }
    for (int64_t begin = 0; begin < r.count; begin += piece) {
        const int64_t count = r.count - begin < piece ? r.count - begin : piece, at = begin * (int64_t)r.size;
        const bool done = staged
                              ? reduce_staged(&r, in, out, begin, count)
                              : reduce_piece(&r, in + at, out + at, count) &&
                                    (!r.divide || convert(&r, r.dtype, out + at, r.dtype, out + at, count, r.divide));
        if (!done) return false;
    }
    return true;
}

/* ---- transfers --------------------------------------------------------------------------------------------------- */

static bool broadcast(MPI_Comm comm, int root, char *bytes, int64_t count, wk__dist_error *fail)
{
    for (int64_t done = 0; done < count; done += WICK_MPI_PIECE) {
        const int piece = count - done < WICK_MPI_PIECE ? (int)(count - done) : WICK_MPI_PIECE;
        if (!check_mpi(MPI_Bcast(bytes + done, piece, MPI_BYTE, root, comm), "MPI_Bcast", fail)) return false;
    }
    return true;
}

/* Sends count bytes to one rank and receives as many from another; either rank may be -1 for none. */
static bool sendrecv(MPI_Comm comm, int tag, int to, const char *out, int from, char *in, int64_t count,
                     wk__dist_error *fail)
{
    const int receiver = to < 0 ? MPI_PROC_NULL : to, sender = from < 0 ? MPI_PROC_NULL : from;
    for (int64_t done = 0; done < count; done += WICK_MPI_PIECE) {
        const int piece = count - done < WICK_MPI_PIECE ? (int)(count - done) : WICK_MPI_PIECE;
        const int code = MPI_Sendrecv(to < 0 ? NULL : out + done, to < 0 ? 0 : piece, MPI_BYTE, receiver, tag,
                                      from < 0 ? NULL : in + done, from < 0 ? 0 : piece, MPI_BYTE, sender, tag, comm,
                                      MPI_STATUS_IGNORE);
        if (!check_mpi(code, "MPI_Sendrecv", fail)) return false;
    }
    return true;
}

static bool gather(MPI_Comm comm, int size, int rank, const char *in, char *out, int64_t count, wk__dist_error *fail)
{
    if (count <= WICK_MPI_PIECE)
        return check_mpi(MPI_Allgather(in, (int)count, MPI_BYTE, out, (int)count, MPI_BYTE, comm), "MPI_Allgather",
                         fail);
    memcpy(out + rank * count, in, (size_t)count);
    for (int root = 0; root < size; root++)
        if (!broadcast(comm, root, out + root * count, count, fail)) return false;
    return true;
}

static bool exchange(MPI_Comm comm, int size, int rank, const char *in, char *out, int64_t count, wk__dist_error *fail)
{
    if (count <= WICK_MPI_PIECE)
        return check_mpi(MPI_Alltoall(in, (int)count, MPI_BYTE, out, (int)count, MPI_BYTE, comm), "MPI_Alltoall", fail);
    for (int step = 0; step < size; step++) {
        const int to = (rank + step) % size, from = (rank - step + size) % size;
        if (!sendrecv(comm, 0, to, in + to * count, from, out + from * count, count, fail)) return false;
    }
    return true;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Broadcasts a tensor. MPI takes the root's memory as a non-const pointer, but only reads it. */
static bool broadcast_request(MPI_Comm comm, const wk__dist_group *g, const wk__dist_request *q, int64_t bytes,
                              wk__dist_error *fail)
{
    const bool root = g->rank == q->peer;
    void *memory = root ? (void *)(uintptr_t)q->in : q->out;
    if (!broadcast(comm, q->peer, memory, bytes, fail)) return false;
    if (root && q->out && q->out != q->in) memcpy(q->out, q->in, (size_t)bytes);
    return true;
}

static bool run_collective(mpi *m, const wk__dist_call *step, int64_t bytes, wk__dist_error *fail)
{
    const wk__dist_request *q = step->request;
    const wk__dist_group *g = step->group;
    const MPI_Comm comm = comm_of(m, g, fail);
    if (comm == MPI_COMM_NULL) return false;
    switch (q->kind) {
    case WK__DIST_BROADCAST: return broadcast_request(comm, g, q, bytes, fail);
    case WK__DIST_ALL_GATHER: return gather(comm, g->size, g->rank, q->in, q->out, bytes, fail);
    case WK__DIST_ALL_TO_ALL: return exchange(comm, g->size, g->rank, q->in, q->out, bytes, fail);
    default: return reduce(m, comm, step, fail);
    }
}

static bool run_call(mpi *m, const wk__dist_call *step, wk__dist_error *fail)
{
    const wk__dist_request *q = step->request;
    const int64_t bytes = q->dtype ? q->count * (int64_t)services.size_of(q->dtype) : 0;
    const int tag = (int)(step->group->id % TAGS);
    switch (q->kind) {
    /* Uses the world's communicator, because two ranks alone cannot create their group's. */
    case WK__DIST_SEND:
        return sendrecv(m->comm, tag, wk__dist_world_rank(step->group, q->peer), q->in, -1, NULL, bytes, fail);
    case WK__DIST_RECV:
        return sendrecv(m->comm, tag, -1, NULL, wk__dist_world_rank(step->group, q->peer), q->out, bytes, fail);
    case WK__DIST_FINISH: return m->finished = true;
    case WK__DIST_BARRIER:
    case WK__DIST_NEW_GROUP: return true; /* all ranks are known to have called it: see agree.h */
    default: return run_collective(m, step, bytes, fail);
    }
}

static wk_code call(void *world, const wk__dist_call *step, wk__dist_error *fail)
{
    return run_call(world, step, fail) ? WK_OK : fail->code;
}

/* ---- the world --------------------------------------------------------------------------------------------------- */

static void leave(void *world)
{
    mpi *m = world;
    /* Functions that wait for other ranks are called only if all ranks have reached the end; otherwise ranks may be
     * gone. */
    free_links(m);
    if (m->finished) {
        for (int k = 0; k < OWN_OPS; k++) MPI_Op_free(&m->own[k]);
        MPI_Comm_free(&m->comm);
        if (m->initialized_here) MPI_Finalize();
    }
    free(m->hosts), free(m->stage), free(m);
}

/* Adds MPI's symbols to the global scope: Open MPI loads components that look them up there, and symbols of a plug-in's
 * libraries are local. */
static void promote_symbols(void)
{
    int (*const function)(int *, char ***, int, int *) = MPI_Init_thread;
    const void *address;
    Dl_info library;
    memcpy(&address, &function, sizeof address);
    if (dladdr(address, &library)) dlopen(library.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

/* Initialises MPI. Returns false, with *fail filled, if it cannot be used in this process. */
static bool start(mpi *m, wk__dist_error *fail)
{
    int is_there = 0, is_over = 0, level = MPI_THREAD_SINGLE;
    MPI_Finalized(&is_over);
    MPI_Initialized(&is_there);
    if (is_over) {
        services.fail(fail, WK_ERR_STATE, "MPI was finalised in this process and cannot be initialised again");
        return false;
    }
    promote_symbols();
    if (is_there)
        MPI_Query_thread(&level);
    else if (!check_mpi(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread", fail))
        return false;
    m->initialized_here = !is_there;
    if (level >= MPI_THREAD_SERIALIZED) return true;
    services.fail(fail, WK_ERR_STATE,
                  is_there ? "the program initialised MPI without thread support; request MPI_THREAD_MULTIPLE from "
                             "MPI_Init_thread, or let wk_dist_init initialise MPI"
                           : "this MPI library has no thread support; Wick requires at least MPI_THREAD_SERIALIZED");
    return false;
}

static bool begin(mpi *m, const wk__dist_settings *told, wk__dist_identity *place, wk__dist_error *fail)
{
    MPI_Comm host;
    name here = "";
    int length;
    if (!start(m, fail) || !check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &m->comm), "MPI_Comm_dup", fail)) return false;
    MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(m->comm, &m->rank);
    MPI_Comm_size(m->comm, &m->size);
    place->rank = m->rank;
    place->size = m->size;
    if (told->size > 1 && told->size != m->size) {
        services.fail(fail, WK_ERR_ARGUMENT,
                      "expected %d ranks, but MPI has %d; start the program with the mpirun of this MPI library",
                      told->size, m->size);
        return false;
    }
    if (!check_mpi(MPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "MPI_Comm_split_type",
                   fail))
        return false;
    if (place->local_rank < 0) MPI_Comm_rank(host, &place->local_rank);
    MPI_Comm_free(&host);
    MPI_Get_processor_name(here, &length);
    m->hosts = calloc((size_t)m->size, sizeof *m->hosts);
    if (!m->hosts) return services.fail(fail, WK_ERR_MEMORY, "out of host memory"), false;
    for (int k = 0; k < OWN_OPS; k++) MPI_Op_create(own_ops[k], 1, &m->own[k]);
    return gather(m->comm, m->size, m->rank, here, m->hosts[0], sizeof here, fail);
}

static wk_code join(const wk__dist_settings *settings, wk__dist_identity *place, void **world, wk__dist_error *fail)
{
    mpi *m = calloc(1, sizeof *m);
    if (!m) return services.fail(fail, WK_ERR_MEMORY, "out of host memory");
    *place = (wk__dist_identity){.local_rank = settings->local_rank};
    if (!begin(m, settings, place, fail)) {
        leave(m);
        return fail->code;
    }
    *world = m;
    return WK_OK;
}

static const char *host(void *world, int rank)
{
    const mpi *m = world;
    return m->hosts[rank];
}

static const wk__dist_transport transport = {
    .version = WK__DIST_TRANSPORT_VERSION,
    .name = "mpi",
    .join = join,
    .leave = leave,
    .host_name = host,
    .call = call,
};

__attribute__((visibility("default"))) wk__mpi_plugin_entry wk_mpi_transport;
const wk__dist_transport *wk_mpi_transport(const wk__mpi_services *given)
{
    if (given->version != WK__DIST_TRANSPORT_VERSION) return NULL;
    services = *given;
    return &transport;
}
