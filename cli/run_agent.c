/* SPDX-License-Identifier: Apache-2.0 */
/* The agent of a host: starts and ends its ranks (run.h). */
#include "run.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PER_RANK = 4,          /* descriptors to poll: output, error, status, input */
    MOST_IN_PIPE = 1 << 20 /* default maximum size of a pipe in bytes, unless root raises it */
};

/* A rank of this host. */
typedef struct rank {
    int number;
    run_child child;
    run_buffer input;
    bool running, input_ends;
    int at[PER_RANK]; /* indices in agent.watched; 0: not polled */
} rank;

/* State of the agent. */
typedef struct agent {
    int orders, events, signals, input, listen;
    bool far;
    run_buffer in, out;
    char *folder, **words, **variables; /* lists, NULL-terminated */
    size_t nwords, nvariables;
    rank *ranks;
    int count, room;        /* started; to be started */
    struct pollfd *watched; /* orders, events, signals, then open descriptors of ranks; poll() accepts no more than a
                             * process may open */
    int watching;
    long grace;
    bool pipe, ending, stopped;
    double heard, end_at;
} agent;

/* ---- lists of strings -------------------------------------------------------------------------------------------- */

static void append(char ***list, size_t *count, const char *text)
{
    char **more = realloc(*list, (*count + 2) * sizeof *more), *copy = strdup(text);
    if (!more || !copy) _exit(CLI_FAILED); /* out of memory (run_messages.c) */
    more[(*count)++] = copy;
    more[*count] = NULL;
    *list = more;
}

static void free_list(char **list)
{
    for (char **text = list; text && *text; text++) free(*text);
    free(list);
}

/* ---- ending ranks ------------------------------------------------------------------------------------------------ */

/* Sends TERM to all processes; a stopped one gets it when it continues. */
static void begin_shutdown(agent *a)
{
    if (a->ending) return;
    a->ending = true;
    a->end_at = cli_clock() + (double)a->grace;
    run_signal_descendants(SIGTERM);
    run_signal_descendants(SIGCONT);
}

static void shutdown_with_reason(agent *a, const char *why)
{
    if (!a->ending) run_send_text(&a->out, RUN_AGENT_STOPPING, 0, "%s", why);
    begin_shutdown(a);
}

/* Forwards available output to the launcher as one message. Returns the number of bytes. A terminal whose other end is
 * closed ends with EIO. */
static size_t forward_output(agent *a, const rank *r, int *fd, run_kind kind)
{
    static char bytes[RUN_MOST_BYTES];
    ssize_t got;
    do got = read(*fd, bytes, sizeof bytes);
    while (got < 0 && errno == EINTR);
    if (got > 0) run_send(&a->out, kind, r->number, bytes, (size_t)got);
    if (got == 0 || (got < 0 && errno != EAGAIN)) run_close(fd);
    return got > 0 ? (size_t)got : 0;
}

/* Forwards all available output, but not more than a pipe can contain: a process that the rank started may write on. */
static void drain_fd(agent *a, const rank *r, int *fd, run_kind kind)
{
    size_t got = 1;
    for (size_t sum = 0; *fd >= 0 && got > 0 && sum < MOST_IN_PIPE; sum += got) got = forward_output(a, r, fd, kind);
}

/* Forwards all output of a rank before its exit is reported. */
static void drain_rank(agent *a, rank *r)
{
    drain_fd(a, r, &r->child.out, RUN_STDOUT);
    drain_fd(a, r, &r->child.err, RUN_STDERR);
    drain_fd(a, r, &r->child.status, RUN_STATUS);
}

static void handle_child_status(agent *a, pid_t process, int status)
{
    rank *r = NULL;
    for (int k = 0; k < a->count && !r; k++)
        if (a->ranks[k].running && a->ranks[k].child.pid == process) r = &a->ranks[k];
    if (!r) return;
    if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
        run_send_text(&a->out, RUN_STATE, r->number, WIFSTOPPED(status) ? "stopped" : "running");
        return;
    }
    r->running = false;
    run_close(&r->child.in);
    drain_rank(a, r);
    if (WIFSIGNALED(status))
        run_send_text(&a->out, RUN_EXIT, r->number, "signal %d", WTERMSIG(status));
    else
        run_send_text(&a->out, RUN_EXIT, r->number, "exit %d", WEXITSTATUS(status));
}

static void reap_children(agent *a)
{
    int status;
    for (pid_t process; (process = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0;)
        handle_child_status(a, process, status);
}

static void handle_signals(agent *a)
{
    for (int number; (number = run_signals_read(a->signals)) != 0;)
        if (number == SIGCHLD)
            reap_children(a);
        else
            shutdown_with_reason(a, "its agent was terminated");
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

static int listen_on(int family, bool loopback)
{
    const struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    const struct sockaddr_in four = {.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY)};
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), both = 0;
    if (fd < 0) return -1;
    if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
    const void *address = family == AF_INET6 ? (const void *)&six : (const void *)&four;
    if (bind(fd, address, family == AF_INET6 ? sizeof six : sizeof four) == 0 && listen(fd, RUN_MOST_RANKS) == 0)
        return fd;
    const int code = errno;
    close(fd);
    errno = code;
    return -1;
}

/* Opens a socket on a port that the system chooses, for rank 0 to inherit, so no other process can take the port. */
static void open_port(agent *a, bool loopback)
{
    struct sockaddr_in6 is; /* the port has the same offset in both families */
    socklen_t size = sizeof is;
    a->listen = loopback ? -1 : listen_on(AF_INET6, false);
    if (a->listen < 0) a->listen = listen_on(AF_INET, loopback);
    if (a->listen >= 0 && getsockname(a->listen, (struct sockaddr *)&is, &size) == 0)
        run_send_text(&a->out, RUN_PORT, 0, "%d", ntohs(is.sin6_port));
    else
        run_send_text(&a->out, RUN_HOST_ERROR, 0, "cannot listen on a port: %s", strerror(errno));
}

static void make_room(agent *a, int ranks)
{
    free(a->ranks);
    free(a->watched);
    a->room = ranks;
    a->ranks = calloc((size_t)ranks + 1, sizeof *a->ranks);
    a->watched = calloc((size_t)(3 + PER_RANK * ranks), sizeof *a->watched);
    if (!a->ranks || !a->watched) _exit(CLI_FAILED);
}

/* Divides the host's processors among its ranks, unless the number of threads is specified. */
static void set_rank_count(agent *a, int ranks)
{
    char text[32];
    bool told = getenv("WICK_THREADS") != NULL;
    for (size_t k = 0; k < a->nvariables; k++) told = told || strncmp(a->variables[k], "WICK_THREADS=", 13) == 0;
    if (a->count == 0) make_room(a, ranks);
    if (ranks < 2 || told) return;
    snprintf(text, sizeof text, "WICK_THREADS=%d", wk_thread_count() > ranks ? wk_thread_count() / ranks : 1);
    append(&a->variables, &a->nvariables, text);
}

/* Reports why the program could not be started. Suggests ./PROG if it is in the working directory but not in PATH. */
static void report_start_error(agent *a, int rank, int code)
{
    struct stat file;
    const char *word = a->words[0];
    const bool no_folder = a->folder && access(a->folder, X_OK) != 0;
    const int folder = open(a->folder ? a->folder : ".", O_PATH | O_CLOEXEC);
    const bool lies_here = !strchr(word, '/') && fstatat(folder, word, &file, 0) == 0 && S_ISREG(file.st_mode) &&
                           faccessat(folder, word, X_OK, 0) == 0;
    run_send_text(&a->out, RUN_EXIT, rank, "start %d %s: %s%s%s%s", code == ENOENT ? 127 : 126,
                  no_folder ? a->folder : word, strerror(code), lies_here ? "; did you mean ./" : "",
                  lies_here ? word : "", lies_here ? "?" : "");
    if (folder >= 0) close(folder);
}

static void start(agent *a, const run_message *order)
{
    if (a->count == a->room || a->ending) return;
    rank *r = &a->ranks[a->count];
    *r = (rank){.number = order->rank};
    const bool first = order->rank == 0;
    const int nothing = first ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC), input = first ? a->input : nothing;
    const int code = run_child_start(&r->child, a->words, a->folder, a->variables, order->text, input,
                                     first ? a->listen : -1, !a->pipe);
    if (nothing >= 0) close(nothing);
    if (first) run_close(&a->listen);
    if (code) {
        report_start_error(a, r->number, code);
        return;
    }
    r->running = true;
    a->count++;
    run_send_text(&a->out, RUN_STARTED, r->number, "%d", (int)r->child.pid);
}

static void give_input(agent *a, const run_message *order)
{
    for (int k = 0; k < a->count; k++) {
        rank *r = &a->ranks[k];
        if (r->number != order->rank || r->child.in < 0) continue;
        run_buffer_append(&r->input, order->text, order->count);
        r->input_ends = r->input_ends || order->count == 0;
        if (r->input_ends && r->input.count == 0) run_close(&r->child.in);
    }
}

static void signal_ranks(agent *a, int number)
{
    a->stopped = number == SIGSTOP;
    for (int k = 0; k < a->count; k++)
        if (a->ranks[k].running) kill(-a->ranks[k].child.pid, number);
}

static void handle_order(agent *a, const run_message *order)
{
    switch (order->kind) {
    case RUN_LISTEN: open_port(a, strcmp(order->text, "loopback") == 0); break;
    case RUN_CWD:
        free(a->folder);
        a->folder = strdup(order->text);
        break;
    case RUN_RANK_COUNT: set_rank_count(a, (int)strtol(order->text, NULL, 10)); break;
    case RUN_ENV: append(&a->variables, &a->nvariables, order->text); break;
    case RUN_PIPE: a->pipe = true; break;
    case RUN_ARG: append(&a->words, &a->nwords, order->text); break;
    case RUN_START: start(a, order); break;
    case RUN_INPUT: give_input(a, order); break;
    case RUN_SIGNAL: signal_ranks(a, (int)strtol(order->text, NULL, 10)); break;
    case RUN_SHUTDOWN:
        a->grace = strtol(order->text, NULL, 10);
        begin_shutdown(a);
        break;
    case RUN_PING: run_send(&a->out, RUN_PONG, 0, NULL, 0); break;
    default: break;
    }
}

static void read_orders(agent *a)
{
    run_message order;
    const ssize_t got = run_buffer_read(&a->in, a->orders);
    int more = 0;
    while ((more = run_message_next(&a->in, &order)) > 0) {
        handle_order(a, &order);
        run_message_consume(&a->in, &order);
    }
    if (got > 0) a->heard = cli_clock();
    if (got >= 0 && more == 0) return;
    run_close(&a->orders); /* the launcher has ended, or sent invalid data */
    begin_shutdown(a);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static void write_input(agent *a, rank *r)
{
    const size_t before = r->input.count;
    if (!run_buffer_write(&r->input, r->child.in, false)) {
        run_buffer_consume(&r->input, r->input.count); /* it does not read any more */
        run_close(&r->child.in);
    }
    run_send_text(&a->out, RUN_INPUT_ACK, r->number, "%zu", before - r->input.count);
    if (r->input_ends && r->input.count == 0) run_close(&r->child.in);
}

static int watch(agent *a, int fd, short events)
{
    if (fd < 0) return 0;
    a->watched[a->watching] = (struct pollfd){fd, events, 0};
    return a->watching++;
}

static bool is_ready(const agent *a, const rank *r, int which)
{
    return r->at[which] && a->watched[r->at[which]].revents;
}

/* Waits until a descriptor is ready or a deadline is due. */
static void await(agent *a)
{
    struct pollfd *p = a->watched;
    const bool full = a->out.count > RUN_HIGH_WATER;
    p[0] = (struct pollfd){a->orders, POLLIN, 0};
    p[1] = (struct pollfd){a->out.count > 0 ? a->events : -1, POLLOUT, 0};
    p[2] = (struct pollfd){a->signals, POLLIN, 0};
    a->watching = 3;
    for (int k = 0; k < a->count; k++) {
        rank *r = &a->ranks[k];
        r->at[0] = watch(a, full ? -1 : r->child.out, POLLIN);
        r->at[1] = watch(a, full ? -1 : r->child.err, POLLIN);
        r->at[2] = watch(a, full ? -1 : r->child.status, POLLIN);
        r->at[3] = watch(a, r->input.count > 0 ? r->child.in : -1, POLLOUT);
    }
    poll(p, (nfds_t)a->watching, a->ending ? 50 : 1000);
}

static void serve_ranks(agent *a)
{
    for (int k = 0; k < a->count; k++) {
        rank *r = &a->ranks[k];
        if (is_ready(a, r, 0)) forward_output(a, r, &r->child.out, RUN_STDOUT);
        if (is_ready(a, r, 1)) forward_output(a, r, &r->child.err, RUN_STDERR);
        if (is_ready(a, r, 2)) forward_output(a, r, &r->child.status, RUN_STATUS);
        if (is_ready(a, r, 3)) write_input(a, r);
    }
}

/* Runs one iteration. Returns false when all processes have ended and the launcher was informed or has ended. */
static bool step(agent *a)
{
    await(a);
    const struct pollfd *p = a->watched;
    const bool orders = p[0].revents, events = p[1].revents, signals = p[2].revents;
    serve_ranks(a);
    if (signals) handle_signals(a);
    if (orders) read_orders(a);
    if (events && !run_buffer_write(&a->out, a->events, false)) {
        run_close(&a->events); /* the launcher has ended */
        begin_shutdown(a);
    }
    if (a->events < 0) run_buffer_consume(&a->out, a->out.count);
    if (a->far && !a->stopped && cli_clock() - a->heard > RUN_HEARTBEAT_TIMEOUT)
        shutdown_with_reason(a, "lost contact with the launcher");
    if (!a->ending) return true;
    const double late = cli_clock() - a->end_at;
    const bool lives = run_signal_descendants(late >= 0 ? SIGKILL : 0) > 0;
    reap_children(a); /* after counting, so that output of the last process is forwarded too */
    return (lives && late < RUN_KILL_SECONDS) || a->out.count > 0;
}

int run_agent(int orders, int events, int input, bool far)
{
    agent a = {.orders = orders, .events = events, .input = input, .listen = -1, .far = far, .heard = cli_clock()};
    static const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* this process may be a fork of the launcher, which blocks signals */
    run_become_subreaper();
    run_raise_fd_limit();
    a.signals = run_signals_open(numbers, sizeof numbers / sizeof *numbers, &none);
    a.grace = RUN_GRACE_SECONDS;
    run_nonblocking(orders);
    run_nonblocking(events);
    make_room(&a, 0);
    run_buffer_append(&a.out, RUN_GREETING, strlen(RUN_GREETING));
    while (step(&a)) {
    }

    for (int k = 0; k < a.count; k++) {
        rank *r = &a.ranks[k];
        run_close(&r->child.in), run_close(&r->child.out), run_close(&r->child.err), run_close(&r->child.status);
        run_buffer_free(&r->input);
    }
    run_close(&a.orders), run_close(&a.events), run_close(&a.signals), run_close(&a.listen);
    run_buffer_free(&a.in), run_buffer_free(&a.out);
    free(a.ranks), free(a.watched), free(a.folder);
    free_list(a.words), free_list(a.variables);
    return CLI_OK;
}
