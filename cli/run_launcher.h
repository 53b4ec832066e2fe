/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher of wick run, in two files: run_events.c hears what agents say and decides who has failed,
 * run_launcher.c starts, waits, and talks to the user. */
#ifndef CLI_RUN_LAUNCHER_H
#define CLI_RUN_LAUNCHER_H

#include "run.h"
#include <poll.h>

/* What a rank has told of the world: nothing, then that it uses Wick, has joined, has left. */
typedef enum run_world_state { RUN_NO_WICK, RUN_NOT_JOINED, RUN_JOINED, RUN_LEFT } run_world_state;

typedef struct run_rank {
    run_output voice;
    run_world_state world;
    bool ended, exited_early; /* with 0, before ranks were ended */
    int error_rank;           /* the rank whose error it was told last, -1: none */
    char exit_text[256];      /* "exit status 3" */
    double runtime;           /* seconds */
} run_rank;

typedef struct run_launcher {
    const run_config *plan;
    run_host *hosts;
    run_rank *ranks;
    run_rank_line *lines; /* a rank's, for the board */
    run_buffer to[2];     /* for standard output and error */
    int errors;           /* which of them gets errors: the first where a board shares its terminal */
    run_progress board;
    bool output_closed; /* nobody takes what is said */
    bool mid_line;      /* what is on the terminal has no end yet, and no board goes below it */
    struct pollfd *watched;
    int signals, port, alive;
    char secret[65], here[64];
    bool forwards;       /* standard input, as long as it lasts, to rank 0 */
    size_t unread_input; /* bytes of it that rank 0 has not taken yet */
    bool started, shutting_down, given_up;
    int interrupted;                              /* by this signal */
    int cause, code;                              /* the rank that failed, or -1; the exit code */
    double began, decide_at, kill_at, give_up_at; /* 0: not */
} run_launcher;

/* One line on standard error. */
void run_log(run_launcher *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *run_host_name(const run_launcher *l, int which);
/* An order for all hosts whose text is a number. */
void run_send_all(run_launcher *l, run_kind kind, long number);
/* Ends all ranks: TERM, and after so many seconds KILL. */
void run_shutdown(run_launcher *l, long grace);
/* The run has failed, by this rank or -1. */
void run_fail(run_launcher *l, int cause, int code);
/* Reads what the agent says and acts on it. */
void run_handle_events(run_launcher *l, int which);
/* What ranks have told of the world, where that explains how the run has ended. */
void run_report_world(run_launcher *l);
/* The connection to the agent has ended, or is taken for that. */
void run_host_lost(run_launcher *l, int which, const char *why);
/* Other hosts whose agents have not answered in time: the run has failed, and all of them are named. */
void run_check_connect_timeouts(run_launcher *l);

#endif
