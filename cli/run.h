/* SPDX-License-Identifier: Apache-2.0 */
/* wick run: starts the ranks of one program, on this machine and on others.
 *
 *     launcher      --orders-->    agent of this host    --fork-->   ranks         a separate process, forked
 *     (wick run)    <--events--
 *                   --orders-->    agent of another      --fork-->   ranks         ssh HOST wick run --serve
 *                   <--events--
 *
 * The launcher interacts with the user and decides; it starts no ranks itself. An agent starts the ranks of its host,
 * each in a separate process group, forwards their output and exit status, and ends everything that it started when it
 * is told to or when its orders end. So neither a killed launcher nor a lost connection leaves a process behind. Ranks
 * end with their agent (PR_SET_PDEATHSIG); their descendants are then reparented to the launcher, which ends them.
 * Launcher and agents are event loops around poll(). */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli.h"
#include <signal.h>
#include <sys/types.h>

enum {
    RUN_MOST_RANKS = 1024,
    RUN_MOST_BYTES = 65536,   /* per message */
    RUN_HIGH_WATER = 1 << 18, /* pending output bytes above which reading stops */
    RUN_PING_SECONDS = 5,
    RUN_HEARTBEAT_TIMEOUT = 30, /* seconds without data after which a connection is lost */
    RUN_GRACE_SECONDS = 10,     /* from TERM to KILL, default of --grace */
    RUN_KILL_SECONDS = 5,       /* processes that survive KILL this long wait for a disk or driver, and are left */
    RUN_EXIT_RETRY = 75         /* EX_TEMPFAIL: a peer or the network failed, so a restart may help */
};
#define RUN_GREETING "wick run agent 2\n" /* first output of an agent; a login script may print text before it */

/* ---- run.c: configuration ---------------------------------------------------------------------------------------- */

/* The parsed command line. */
typedef struct run_config {
    char **argv;     /* the program and its arguments, NULL-terminated */
    const char *cwd; /* working directory; NULL if it was deleted */
    int ranks, hosts;
    const char **names;          /* [hosts], each once; NULL: this machine */
    int slots;                   /* number of words in --hosts */
    int *slot_host;              /* [slots]: host index of each */
    bool raw;                    /* forward output unmodified */
    bool pipe;                   /* stdout of a rank is a pipe, not a terminal */
    const char *timeout;         /* WICK_TIMEOUT; NULL: unchanged */
    const char *env;             /* names of variables to send to other hosts, or NULL */
    long grace, connect_timeout; /* seconds from TERM to KILL; seconds for an agent to answer */
} run_config;

/* Returns the host of a rank. Ranks fill the slots in order; if they cannot be divided evenly, the first slots have one
 * more. */
int run_host_of(const run_config *plan, int rank);

/* ---- run_messages.c: buffers and messages ------------------------------------------------------------------------ */

/* A queue of bytes; owns its memory. */
typedef struct run_buffer {
    uint8_t *bytes;
    size_t first, count, room; /* bytes[first..first + count) are pending */
} run_buffer;

void run_buffer_append(run_buffer *queue, const void *bytes, size_t count);
void run_buffer_consume(run_buffer *queue, size_t count); /* drops the first `count` bytes */
void run_buffer_free(run_buffer *queue);
/* Writes without blocking; if `gently`, at most PIPE_BUF bytes, which poll() guarantees for a blocking descriptor.
 * Returns false if the other end is closed. */
bool run_buffer_write(run_buffer *queue, int fd, bool gently);
/* Appends available bytes, at most RUN_MOST_BYTES. Returns the number of bytes; 0: none at present; -1: end of file. */
ssize_t run_buffer_read(run_buffer *queue, int fd);

typedef enum run_kind {
    RUN_LISTEN = 1, /* orders: text "loopback" or "any": open a listening socket */
    RUN_CWD,        /* working directory of the ranks */
    RUN_ENV,        /* NAME=VALUE for all ranks of the host */
    RUN_RANK_COUNT, /* text: number of ranks on this host */
    RUN_PIPE,       /* stdout is a pipe, not a terminal */
    RUN_ARG,        /* one more word of the command line */
    RUN_START,      /* start this rank; text: its own NAME=VALUE lines */
    RUN_INPUT,      /* bytes for its standard input; empty: end of file */
    RUN_SIGNAL,     /* text: number of a signal for all ranks */
    RUN_SHUTDOWN,   /* text: seconds of grace; end all ranks, then exit */
    RUN_PING,
    RUN_PORT,           /* events: text: port of the listening socket */
    RUN_STARTED,        /* text: process id */
    RUN_STDOUT,         /* bytes from stdout */
    RUN_STDERR,         /* bytes from stderr */
    RUN_STATUS,         /* lines from WICK_STATUS_FD, see src/base/launcher_status.h */
    RUN_INPUT_ACK,      /* text: bytes of standard input that the rank has read */
    RUN_STATE,          /* text: "stopped" or "running" */
    RUN_EXIT,           /* text: "exit 3", "signal 9", or "start 127 No such file or directory" */
    RUN_HOST_ERROR,     /* text: why the host cannot run its ranks */
    RUN_AGENT_STOPPING, /* text: why it ends all ranks without an order */
    RUN_PONG,
    RUN_KINDS
} run_kind;

/* One message; points into the queue. */
typedef struct run_message {
    run_kind kind;
    int rank; /* 0 if it concerns none */
    size_t count;
    const char *text; /* zero-terminated; valid until run_message_consume */
} run_message;

void run_send(run_buffer *queue, run_kind kind, int rank, const void *bytes, size_t count);
void run_send_text(run_buffer *queue, run_kind kind, int rank, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reads the next message in the queue. Returns 1; 0 if it is incomplete; -1 if it is malformed. */
int run_message_next(run_buffer *queue, run_message *frame);
void run_message_consume(run_buffer *queue, const run_message *frame);

/* ---- run_process.c: processes and their descendants -------------------------------------------------------------- */

/* A started rank. */
typedef struct run_child {
    pid_t pid;
    int in, out, err, status; /* this end of its pipes, non-blocking; -1: closed */
} run_child;

/* Starts a rank. Returns 0 or an errno.
 * input:     descriptor for standard input; -1: a pipe
 * listen:    descriptor passed as WICK_LISTEN_FD, or -1
 * variables: NAME=VALUE each, NULL-terminated, or NULL
 * own:       NAME=VALUE lines for this rank
 * terminal:  make stdout a pseudoterminal if possible */
int run_child_start(run_child *child, char **words, const char *folder, char **variables, const char *own, int input,
                    int listen, bool terminal);
/* Sends a signal to all descendants of this process; 0 sends none. Returns their number. */
int run_signal_descendants(int number);
/* Kills all descendants at once. Gives up on those that survive several seconds. */
void run_kill_descendants(void);
/* Makes this process the parent of orphaned descendants, so that run_signal_descendants finds them. Excludes the
 * children that exist already: a shell that became `wick run` by exec may have some. */
void run_become_subreaper(void);
/* Raises the limit of open descriptors to the system's maximum: an agent has three per rank, a launcher two per
 * host. */
void run_raise_fd_limit(void);
/* Restores, in a child before exec, the limit that this process started with. */
void run_restore_fd_limit(void);
/* Blocks the signals for run_signals_read and ignores SIGPIPE; returns the old mask in *before. Signals that were
 * ignored at the start, as by nohup, stay ignored. Returns a descriptor, or -1. */
int run_signals_open(const int *numbers, size_t count, sigset_t *before);
/* Returns the next received signal; 0: none. */
int run_signals_read(int fd);
/* Formats "killed by signal 9 (Killed)" into `out` and returns it. */
const char *run_describe_signal(char out[64], int number);
void run_nonblocking(int fd);
void run_close(int *fd);

/* ---- run_agent.c ------------------------------------------------------------------------------------------------- */

/* Runs the agent of a host: reads orders and writes events until all its processes have ended. input: descriptor that
 * rank 0 gets as standard input, or -1. far: a silent connection counts as lost. Returns an exit code. */
int run_agent(int orders, int events, int input, bool far);

/* ---- run_output.c: output of ranks ------------------------------------------------------------------------------- */

/* Output state of one rank. */
typedef struct run_output {
    run_buffer lines[2]; /* unfinished lines of stdout and stderr */
    char tail[8192];     /* newest bytes of both; at least half full once that many were written */
    size_t length;
} run_output;

/* Forwards output on stream 0 (stdout) or 1 (stderr): whole lines with the prefix "[rank] ", or unmodified if raw. */
void run_output_write(run_output *voice, run_buffer *to, int rank, int stream, const char *bytes, size_t count,
                      bool raw);
/* Terminates and forwards unfinished lines. */
void run_output_finish(run_output *voice, run_buffer *out, run_buffer *err, int rank);
/* Prints the last lines, indented and shortened for a terminal. */
void run_output_print_tail(const run_output *voice, run_buffer *to);
void run_output_free(run_output *voice);

/* ---- run_progress.c: one line per rank at the bottom of a terminal ----------------------------------------------- */

/* Status line of one rank. */
typedef struct run_rank_line {
    const char *host, *state; /* "starting", "running", "stopped", "done", "failed" */
    char progress[96];        /* "step 120  12.5 steps/s" */
    double last_progress;     /* time of its last progress, on cli_clock; 0: none yet */
} run_rank_line;

/* The status lines on the terminal. */
typedef struct run_progress {
    bool on;      /* stdout is a terminal */
    int shown;    /* lines on the terminal at present */
    double drawn; /* time of the last drawing, on cli_clock */
} run_progress;

/* Parses a line from WICK_STATUS_FD, "step=120 rate=12.5". Ignores unknown fields. */
void run_rank_line_update(run_rank_line *line, const char *text);
void run_progress_erase(run_progress *board, run_buffer *to);
void run_progress_draw(run_progress *board, run_buffer *to, const run_rank_line *lines, int count);

/* ---- run_hosts.c: the launcher's side of an agent ---------------------------------------------------------------- */

/* One host, as the launcher sees it. */
typedef struct run_host {
    const char *name;
    bool remote;        /* reached through the remote shell */
    pid_t process;      /* the agent, or the remote shell */
    int orders, events; /* -1: closed */
    run_buffer out, in;
    bool greeted;
    double last_received, pinged; /* times on cli_clock; before the greeting: the start time */
} run_host;

/* Starts the agent of hosts[which], after those of hosts[0..which). input: standard input of rank 0, or -1 for
 * RUN_INPUT messages. Returns 0 or an errno. */
int run_host_start(run_host *hosts, int which, int input);
/* Skips output before the greeting. Returns false if there is too much of it. */
bool run_host_skip_to_greeting(run_host *host);
/* Queues the orders for hosts[which]: the common configuration and each rank. port: where rank 0 listens. */
void run_host_send_setup(run_host *hosts, int which, const run_config *plan, int port, const char *secret);
/* Closes the connection, upon which a live agent ends its ranks. */
void run_host_disconnect(run_host *host);

/* ---- run_launcher.c ---------------------------------------------------------------------------------------------- */

/* Runs the program once on all ranks. Returns the exit code: 0, or that of the rank that failed first. */
int run_launch(const run_config *plan);

#endif
