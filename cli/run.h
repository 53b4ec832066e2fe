/* SPDX-License-Identifier: Apache-2.0 */
/* wick run: the ranks of one program, on this machine and on others.
 *
 *     launcher      --orders-->    agent of this host    --fork-->   ranks         a process of its own, forked
 *     (wick run)    <--events--
 *                   --orders-->    agent of another      --fork-->   ranks         ssh HOST wick run --serve
 *                   <--events--
 *
 * The launcher talks to the user and decides; it starts no rank. An agent starts the ranks of its host, each in a
 * process group of its own, passes on what they write and how they end, and ends whatever it has started when it is
 * told to or when its orders end, so that neither a killed launcher nor a lost connection leaves a process behind.
 * Ranks end with their agent (PR_SET_PDEATHSIG); what they have started then falls to the launcher, which ends it. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli.h"
#include <signal.h>
#include <sys/types.h>

enum {
    RUN_MOST_RANKS = 1024,
    RUN_MOST_BYTES = 65536,   /* in one frame */
    RUN_HIGH_WATER = 1 << 18, /* bytes that wait to be written: no more are read until some have gone */
    RUN_PING_SECONDS = 5,
    RUN_HEARTBEAT_TIMEOUT = 30, /* a connection on which nothing came for so long is lost */
    RUN_GRACE_SECONDS = 10,     /* from TERM to KILL, where nothing else is asked for */
    RUN_KILL_SECONDS = 5,       /* what has not gone so long after KILL waits for a disk or a driver, and is left */
    RUN_EXIT_RETRY = 75         /* EX_TEMPFAIL: a peer or the network failed, and starting again may help */
};
#define RUN_GREETING "wick run agent 2\n" /* an agent's first words; what a login script prints comes before */

/* ---- run.c: what is asked for ------------------------------------------------------------------------------------ */

typedef struct run_config {
    char **argv;     /* the program and its arguments, then NULL */
    const char *cwd; /* where; NULL: a folder that is gone */
    int ranks, hosts;
    const char **names;          /* of hosts[], each once; NULL: this machine */
    int slots;                   /* words of --hosts */
    int *slot_host;              /* which host each of them is */
    bool raw;                    /* output as it comes */
    bool pipe;                   /* standard output of a rank is a pipe, and no terminal */
    const char *timeout;         /* WICK_TIMEOUT; NULL: as it is */
    const char *env;             /* names of variables that other hosts get as well, or NULL */
    long grace, connect_timeout; /* seconds from TERM to KILL; that an agent may take to answer */
} run_config;

/* Ranks fill the places in order; the first have one more where they cannot all have the same number. */
int run_host_of(const run_config *plan, int rank);

/* ---- run_messages.c: bytes that wait, and the messages in them --------------------------------------------------- */

typedef struct run_buffer {
    uint8_t *bytes;
    size_t first, count, room; /* bytes[first..first + count) wait */
} run_buffer;

void run_buffer_append(run_buffer *queue, const void *bytes, size_t count);
void run_buffer_consume(run_buffer *queue, size_t count); /* the first so many */
void run_buffer_free(run_buffer *queue);
/* Writes what goes without waiting, at most PIPE_BUF bytes where `gently`: what poll() has promised for a descriptor
 * that blocks. False when the other end has gone. */
bool run_buffer_write(run_buffer *queue, int fd, bool gently);
/* Appends what is there to read, RUN_MOST_BYTES at most. Bytes read; 0: nothing now; -1: the end. */
ssize_t run_buffer_read(run_buffer *queue, int fd);

typedef enum run_kind {
    RUN_LISTEN = 1, /* orders: text "loopback" or "any": open a listening socket */
    RUN_CWD,        /* the ranks' working folder */
    RUN_ENV,        /* NAME=VALUE for all ranks of the host */
    RUN_RANK_COUNT, /* text: how many ranks the host gets */
    RUN_PIPE,       /* standard output is a pipe, and no terminal */
    RUN_ARG,        /* one more word of the command line */
    RUN_START,      /* start this rank; text: NAME=VALUE lines that are its own */
    RUN_INPUT,      /* bytes for its standard input; none: the end */
    RUN_SIGNAL,     /* text: the number of a signal for all ranks */
    RUN_SHUTDOWN,   /* text: seconds of grace; end what is there, then yourself */
    RUN_PING,
    RUN_PORT,           /* events: text: the port of the listening socket */
    RUN_STARTED,        /* text: its process */
    RUN_STDOUT,         /* bytes from standard output */
    RUN_STDERR,         /* and from standard error */
    RUN_STATUS,         /* lines from WICK_STATUS_FD, see src/base/launcher_status.h */
    RUN_INPUT_ACK,      /* text: how many bytes of standard input the rank has taken */
    RUN_STATE,          /* text: "stopped" or "running" */
    RUN_EXIT,           /* text: "exit 3", "signal 9", or "start 127 No such file or directory" */
    RUN_HOST_ERROR,     /* text: why the host cannot do its part */
    RUN_AGENT_STOPPING, /* text: why it ends all ranks without having been told to */
    RUN_PONG,
    RUN_KINDS
} run_kind;

typedef struct run_message {
    run_kind kind;
    int rank; /* or 0 */
    size_t count;
    const char *text; /* text[count] is 0; in the queue, until run_message_consume */
} run_message;

void run_send(run_buffer *queue, run_kind kind, int rank, const void *bytes, size_t count);
void run_send_text(run_buffer *queue, run_kind kind, int rank, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The next whole message in the queue: 1; 0: it is not all there; -1: this is none. */
int run_message_next(run_buffer *queue, run_message *frame);
void run_message_consume(run_buffer *queue, const run_message *frame);

/* ---- run_process.c: processes and what is below them ------------------------------------------------------------- */

typedef struct run_child {
    pid_t pid;
    int in, out, err, status; /* our ends, non-blocking; -1: closed */
} run_child;

/* Starts a rank. `input`: -1: a pipe, else the descriptor that it gets as standard input. `listen`: the descriptor it
 * gets as WICK_LISTEN_FD, or -1. `variables`: NAME=VALUE each, then NULL, or none; `own`: NAME=VALUE lines. `terminal`:
 * standard output is a terminal, where there are any. 0, or errno. */
int run_child_start(run_child *child, char **words, const char *folder, char **variables, const char *own, int input,
                    int listen, bool terminal);
/* Sends a signal to every process that descends from this one; 0 sends none. How many there are. */
int run_signal_descendants(int number);
/* Ends every process that descends from this one, at once; what has not gone after some seconds is left. */
void run_kill_descendants(void);
/* Orphans below this process become its children from now on, so that run_signal_descendants finds them. Children that
 * it has already are none of its business: a shell that became `wick run` by exec may have some. */
void run_become_subreaper(void);
/* An agent has three descriptors for each rank, a launcher two for each host: they may have as many as the system lets
 * them. */
void run_raise_fd_limit(void);
/* In a child, before it becomes a rank or a remote shell: it may have as many as this process had at first. */
void run_restore_fd_limit(void);
/* Blocks the signals for run_signals_read, and ignores SIGPIPE; *before gets the mask. What was ignored when the
 * command began, as by nohup, stays ignored. A descriptor, or -1. */
int run_signals_open(const int *numbers, size_t count, sigset_t *before);
/* The next of them that has come; 0: none. */
int run_signals_read(int fd);
/* "killed by signal 9 (Killed)" */
const char *run_describe_signal(char out[64], int number);
void run_nonblocking(int fd);
void run_close(int *fd);

/* ---- run_agent.c ------------------------------------------------------------------------------------------------- */

/* The agent of a host: reads orders, writes events, until everything that it started has ended. `input`: a descriptor
 * that rank 0 gets as it is, or -1. `far`: silence means that the connection is lost. Returns an exit code. */
int run_agent(int orders, int events, int input, bool far);

/* ---- run_output.c: what ranks say -------------------------------------------------------------------------------- */

typedef struct run_output {
    run_buffer lines[2]; /* what has no end yet, of standard output and error */
    char tail[8192];     /* the newest bytes of both, half of it at least where there are so many */
    size_t length;
} run_output;

/* Passes on what a rank said on stream 0 (output) or 1 (error): whole lines behind "[rank] ", or as it is. */
void run_output_write(run_output *voice, run_buffer *to, int rank, int stream, const char *bytes, size_t count,
                      bool raw);
/* The lines that have no end get one. */
void run_output_finish(run_output *voice, run_buffer *out, run_buffer *err, int rank);
/* The last lines, indented, fit for a terminal. */
void run_output_print_tail(const run_output *voice, run_buffer *to);
void run_output_free(run_output *voice);

/* ---- run_progress.c: one line per rank at the bottom of a terminal ----------------------------------------------- */

typedef struct run_rank_line {
    const char *host, *state; /* "starting", "running", "stopped", "done", "failed" */
    char progress[96];        /* "step 120  12.5 steps/s" */
    double last_progress;     /* of its last sign of progress, on cli_clock; 0: none yet */
} run_rank_line;

typedef struct run_progress {
    bool on;      /* there is a terminal */
    int shown;    /* lines on it now */
    double drawn; /* when */
} run_progress;

/* A line from WICK_STATUS_FD: "step=120 rate=12.5". What it does not know it leaves out. */
void run_rank_line_update(run_rank_line *line, const char *text);
void run_progress_erase(run_progress *board, run_buffer *to);
void run_progress_draw(run_progress *board, run_buffer *to, const run_rank_line *lines, int count);

/* ---- run_hosts.c: the launcher's side of an agent ---------------------------------------------------------------- */

typedef struct run_host {
    const char *name;
    bool remote;        /* through the remote shell */
    pid_t process;      /* the agent, or the remote shell */
    int orders, events; /* -1: closed */
    run_buffer out, in;
    bool greeted;
    double last_received, pinged; /* when, on cli_clock; before the greeting: when it was started */
} run_host;

/* Starts the agent of hosts[which]; those before it have theirs. `input`: what rank 0 gets as standard input, or -1: it
 * gets what RUN_INPUT brings. 0, or errno. */
int run_host_start(run_host *hosts, int which, int input);
/* Skips what comes before the greeting. False: too much came that is none. */
bool run_host_skip_to_greeting(run_host *host);
/* Orders: what the ranks of hosts[which] have in common, and each of them; port: where rank 0 listens. */
void run_host_send_setup(run_host *hosts, int which, const run_config *plan, int port, const char *secret);
/* Ends the connection: an agent that is there ends its ranks. */
void run_host_disconnect(run_host *host);

/* ---- run_launcher.c ---------------------------------------------------------------------------------------------- */

/* Runs the program once on all ranks. The exit code: 0, or that of the rank that failed first. */
int run_launch(const run_config *plan);

#endif
