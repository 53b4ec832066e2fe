/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher of wick run, in two files: run_events.c handles events and decides which rank failed; run_launcher.c
 * starts agents, runs the event loop and interacts with the user. */
#ifndef CLI_RUN_LAUNCHER_H
#define CLI_RUN_LAUNCHER_H

#include "run.h"
#include <poll.h>

/* Status lines of a rank about its world: none, uses Wick, joined, left. */
typedef enum run_world_state { RUN_NO_WICK, RUN_NOT_JOINED, RUN_JOINED, RUN_LEFT } run_world_state;

/* State of one rank. */
typedef struct run_rank {
    run_output voice;
    run_world_state world;
    bool ended, exited_early; /* exited_early: with 0, before ranks were ended */
    int error_rank;           /* rank whose error was reported to it last; -1: none */
    char exit_text[256];      /* "exit status 3" */
    double runtime;           /* seconds */
} run_rank;

/* State of one run. */
typedef struct run_launcher {
    const run_config *plan;
    run_host *hosts;
    run_rank *ranks;
    run_rank_line *lines; /* [ranks], status lines */
    run_buffer to[2];     /* pending for stdout and stderr */
    int errors;           /* index in `to` for messages: 0 if stderr is a terminal with status lines */
    run_progress board;
    bool output_closed; /* stdout cannot be written */
    bool mid_line;      /* the last output has no newline, so no status lines may be drawn */
    struct pollfd *watched;
    int signals, port, alive;
    char secret[65], here[64];
    bool forwards;       /* stdin is forwarded to rank 0, until its end */
    size_t unread_input; /* forwarded bytes that rank 0 has not read yet */
    bool started, shutting_down, given_up;
    int interrupted;                              /* by this signal */
    int cause, code;                              /* the rank that failed, or -1; the exit code */
    double began, decide_at, kill_at, give_up_at; /* times on cli_clock; 0: unset */
} run_launcher;

/* Prints one line to stderr. */
void run_log(run_launcher *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *run_host_name(const run_launcher *l, int which);
/* Sends an order with a number as text to all hosts. */
void run_send_all(run_launcher *l, run_kind kind, long number);
/* Ends all ranks: TERM now, KILL after `grace` seconds. */
void run_shutdown(run_launcher *l, long grace);
/* Records that the run failed because of a rank, or -1. */
void run_fail(run_launcher *l, int cause, int code);
/* Reads and handles the events of one agent. */
void run_handle_events(run_launcher *l, int which);
/* Reports the world state of ranks if it explains how the run ended. */
void run_report_world(run_launcher *l);
/* Handles the end of the connection to an agent, or its timeout. */
void run_host_lost(run_launcher *l, int which, const char *why);
/* Fails the run if agents have not answered in time, and names their hosts. */
void run_check_connect_timeouts(run_launcher *l);

#endif
