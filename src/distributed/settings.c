/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the job from the environment; see settings.h. */
#include "settings.h"
#include "distributed/tcp/wire.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_SECONDS = 100000000, USUAL_TIMEOUT = 600, TORCH_PORT = 29500, SLURM_FIRST = 15000, SLURM_PORTS = 15000 };

/* Launchers, in the order in which they are tried. */
typedef enum launcher { OPEN_MPI, MPICH, SLURM, WICK, TORCHRUN, STARTERS } launcher;
static const struct {
    const char *rank, *size, *local;
    bool mpi;
    bool both;          /* the first two variables must be set together */
    const char *marker; /* set for processes it starts, but not for the batch script that calls it */
} table[STARTERS] = {
    [OPEN_MPI] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", .mpi = true},
    [MPICH] = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", .mpi = true},
    [SLURM] = {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", .marker = "SLURM_STEP_NODELIST"},
    [WICK] = {"WICK_RANK", "WICK_WORLD_SIZE", "WICK_LOCAL_RANK", .both = true},
    [TORCHRUN] = {"RANK", "WORLD_SIZE", "LOCAL_RANK", .mpi = false},
};

typedef struct choice {
    wk__dist_getenv *look;
    void *user;
    wk__dist_settings *out;
    wk__text *why;
} choice;

static const char *variable(const choice *c, const char *name)
{
    const char *text = c->look(c->user, name);
    return text && *text ? text : NULL;
}

static bool set_error(const choice *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool set_error(const choice *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    wk__text_vformat(c->why, format, args);
    va_end(args);
    return false;
}

/* Reads a variable as an integer in [least, most]; `otherwise` if it is not set. Returns false if it is invalid. */
static bool read_int(const choice *c, const char *name, long least, long most, long otherwise, int *out)
{
    const char *text = variable(c, name);
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : otherwise;
    *out = (int)value;
    if (!text || (*end == '\0' && value >= least && value <= most)) return true;
    return set_error(c, "%s is \"%s\"; expected an integer from %ld to %ld", name, text, least, most);
}

/* ---- address of rank 0 ------------------------------------------------------------------------------------------- */

static bool copy_host(const choice *c, const char *host, size_t length)
{
    if (length == 0 || length >= sizeof c->out->host) return false;
    memcpy(c->out->host, host, length);
    c->out->host[length] = '\0';
    return true;
}

/* Parses "host:port", "10.0.0.1:port" or "[::1]:port" up to a comma. */
static bool host_and_port(const choice *c, const char *name, const char *text)
{
    const size_t length = strcspn(text, ",");
    const char *colon = memrchr(text, ':', length), *host = text;
    size_t n = colon ? (size_t)(colon - text) : 0;
    char *end = NULL;
    const long port = colon ? strtol(colon + 1, &end, 10) : 0;
    if (n >= 2 && host[0] == '[' && host[n - 1] == ']')
        host++, n -= 2;
    else if (memchr(host, ':', n))
        n = 0;
    c->out->port = (int)port;
    if (port >= 1 && port <= UINT16_MAX && end == text + length && copy_host(c, host, n)) return true;
    return set_error(c, "%s is \"%s\"; expected host:port with a port from 1 to 65535", name, text);
}

bool wk__dist_first_host(const char *list, char *host, size_t size)
{
    const size_t prefix = strcspn(list, ",[");
    const size_t digits = list[prefix] == '[' ? strspn(list + prefix + 1, "0123456789") : 0;
    if (prefix + digits == 0 || prefix + digits >= size || (list[prefix] == '[' && digits == 0)) return false;
    memcpy(host, list, prefix);
    memcpy(host + prefix, list + prefix + 1, digits);
    host[prefix + digits] = '\0';
    return true;
}

/* Finds the host of task 0, the first node of the step. In a batch job srun was called on that node. */
static bool slurm_host(const choice *c)
{
    static const char *const lists[] = {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"};
    const char *address = variable(c, "SLURM_LAUNCH_NODE_IPADDR");
    int job;
    if (!read_int(c, "SLURM_JOB_ID", 0, INT32_MAX, 0, &job)) return false;
    c->out->port = SLURM_FIRST + job % SLURM_PORTS;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const char *list = variable(c, lists[k]);
        if (list && wk__dist_first_host(list, c->out->host, sizeof c->out->host)) return true;
    }
    if (address && copy_host(c, address, strlen(address))) return true;
    return set_error(c,
                     "neither SLURM_JOB_NODELIST nor SLURM_LAUNCH_NODE_IPADDR is set; set WICK_COORDINATOR=host:port");
}

/* Uses the port after MASTER_PORT under torchrun, whose agent occupies that port. */
static bool torchrun_host(const choice *c)
{
    const char *address = variable(c, "MASTER_ADDR"), *agent = variable(c, "TORCHELASTIC_USE_AGENT_STORE");
    if (!read_int(c, "MASTER_PORT", 1, UINT16_MAX - 1, TORCH_PORT, &c->out->port)) return false;
    if (agent && strcmp(agent, "True") == 0) c->out->port++;
    if (address && copy_host(c, address, strlen(address))) return true;
    return set_error(c, "RANK and WORLD_SIZE are set, but MASTER_ADDR (the host of rank 0) is not");
}

static bool find_rank_0(const choice *c, launcher by)
{
    const char *hosts = variable(c, "WICK_COORDINATOR");
    const bool listens = c->out->rank == 0 && variable(c, "WICK_LISTEN_FD");
    if (listens && !read_int(c, "WICK_LISTEN_FD", 0, INT32_MAX, -1, &c->out->listen_fd)) return false;
    if (hosts) return host_and_port(c, "WICK_COORDINATOR", hosts);
    if (listens) return true;
    if (by == SLURM || (table[by].mpi && variable(c, "SLURM_JOB_ID"))) return slurm_host(c);
    if (by == TORCHRUN) return torchrun_host(c);
    return set_error(c, "%s and %s are set, but WICK_COORDINATOR (host:port of rank 0) is not", table[by].rank,
                     table[by].size);
}

/* ---- rank and size ----------------------------------------------------------------------------------------------- */

static bool is_set(const choice *c, launcher by)
{
    return variable(c, table[by].rank) && variable(c, table[by].size) &&
           (!table[by].marker || variable(c, table[by].marker));
}

static bool ranks(const choice *c, launcher by)
{
    wk__dist_settings *out = c->out;
    out->source = table[by].rank;
    return read_int(c, table[by].size, 1, WK__WIRE_MAX_RANKS, 1, &out->size) &&
           read_int(c, table[by].rank, 0, out->size - 1, 0, &out->rank) &&
           read_int(c, table[by].local, 0, WK__WIRE_MAX_RANKS - 1, -1, &out->local_rank);
}

/* Values of WICK_COMM; the default is unset. */
typedef enum transport_choice { ANY, SELF, TCP, MPI } transport_choice;

static bool wanted_of(const choice *c, transport_choice *out)
{
    static const char *const words[] = {[SELF] = "self", [TCP] = "tcp", [MPI] = "mpi"};
    const char *text = variable(c, "WICK_COMM");
    *out = ANY;
    for (int k = SELF; text && k <= MPI; k++)
        if (strcmp(text, words[k]) == 0) *out = (transport_choice)k;
    return !text || *out != ANY || set_error(c, "WICK_COMM is \"%s\"; expected self, tcp or mpi", text);
}

/* Returns the index of the first launcher whose variables are set and that fits the transport; STARTERS: none. */
static launcher detect_launcher(const choice *c, transport_choice wanted, bool mpi)
{
    const bool srun = is_set(c, SLURM);
    for (int by = 0; by < STARTERS; by++) {
        const bool usable = !table[by].mpi || wanted != ANY || mpi || !srun;
        if (usable && is_set(c, (launcher)by)) return (launcher)by;
    }
    return STARTERS;
}

static bool choose(const choice *c, bool mpi, const char *no_mpi)
{
    wk__dist_settings *out = c->out;
    transport_choice wanted;
    int seconds;
    if (!wanted_of(c, &wanted) || !read_int(c, "WICK_TIMEOUT", 1, MOST_SECONDS, USUAL_TIMEOUT, &seconds)) return false;
    out->timeout = seconds;
    const char *secret = variable(c, "WICK_SECRET");
    out->secret = secret ? secret : "";
    if (wanted == SELF) return true;
    for (int by = 0; by < STARTERS; by++) {
        const bool has_rank = variable(c, table[by].rank), has_size = variable(c, table[by].size);
        if (table[by].both && has_rank != has_size)
            return set_error(c, "%s is set but %s is not; set both or neither",
                             has_rank ? table[by].rank : table[by].size, has_rank ? table[by].size : table[by].rank);
    }
    const launcher by = detect_launcher(c, wanted, mpi);
    if (by < STARTERS && !ranks(c, by)) return false;
    if (wanted == MPI || (by < STARTERS && out->size > 1 && wanted == ANY && table[by].mpi)) {
        out->transport = WK__DIST_MPI;
        return mpi || set_error(c, "%s", no_mpi);
    }
    if (wanted == TCP && by == STARTERS)
        return set_error(c, "WICK_COMM=tcp requires WICK_RANK, WICK_WORLD_SIZE and WICK_COORDINATOR");
    if (by == STARTERS || out->size == 1) return true;
    out->transport = WK__DIST_TCP;
    return find_rank_0(c, by);
}

wk_code wk__dist_settings_read(wk__dist_getenv *look, void *user, bool mpi, const char *no_mpi, wk__dist_settings *out,
                               wk__text *why)
{
    const choice c = {look, user, out, why};
    *out = (wk__dist_settings){
        .transport = WK__DIST_SELF, .size = 1, .local_rank = -1, .listen_fd = -1, .source = "nothing"};
    return choose(&c, mpi, no_mpi) ? WK_OK : WK_ERR_ARGUMENT;
}

int wk__dist_launched_size(wk__dist_getenv *look, void *user, const char **variable)
{
    wk__text why = {0}; /* wk_dist_init reports errors */
    const choice c = {look, user, NULL, &why};
    transport_choice wanted;
    int size = 1;
    wanted_of(&c, &wanted);
    const launcher by = wanted == SELF ? STARTERS : detect_launcher(&c, wanted, true);
    *variable = by < STARTERS ? table[by].size : NULL;
    if (by < STARTERS) read_int(&c, *variable, 1, WK__WIRE_MAX_RANKS, 1, &size);
    wk__text_free(&why);
    return size;
}
