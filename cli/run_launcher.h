/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher of wick run, in two files: run_events.c hears what agents say and decides who has failed,
 * run_launcher.c starts, waits, and talks to the user. */
#ifndef CLI_RUN_LAUNCHER_H
#define CLI_RUN_LAUNCHER_H

#include "run.h"
#include <poll.h>

/* What a rank has told of the world: nothing, then that it uses Wick, has joined, has left. */
typedef enum run_world { RUN_NOT_WICK, RUN_APART, RUN_JOINED, RUN_LEFT } run_world;

typedef struct run_rank {
    run_voice voice;
    run_world world;
    bool ended, early; /* with 0, before ranks were ended */
    int told_by;       /* the rank whose error it was told last, -1: none */
    char how[256];     /* "exit status 3" */
    double took;       /* seconds */
} run_rank;

typedef struct run_launcher {
    const run_plan *plan;
    run_host *hosts;
    run_rank *ranks;
    run_line *lines; /* a rank's, for the board */
    run_queue to[2]; /* for standard output and error */
    int errors;      /* which of them gets errors: the first where a board shares its terminal */
    run_board board;
    bool mute;    /* nobody takes what is said */
    bool in_line; /* what is on the terminal has no end yet, and no board goes below it */
    struct pollfd *watched;
    int signals, port, living;
    char secret[65], here[64];
    bool forwards; /* standard input, as long as it lasts, to rank 0 */
    size_t ahead;  /* bytes of it that rank 0 has not taken yet */
    bool started, ending, given_up;
    int interrupted;                           /* by this signal */
    int cause, code;                           /* the rank that failed, or -1; the exit code */
    double began, settle_at, hurry_at, end_at; /* 0: not */
} run_launcher;

/* One line on standard error. */
void run_note(run_launcher *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *run_host_name(const run_launcher *l, int which);
/* An order for all hosts whose text is a number. */
void run_tell_all(run_launcher *l, run_kind kind, long number);
/* Ends all ranks: TERM, and after so many seconds KILL. */
void run_begin_to_end(run_launcher *l, long grace);
/* The run has failed, by this rank or -1. */
void run_fail(run_launcher *l, int cause, int code);
/* Reads what the agent says and acts on it. */
void run_hear(run_launcher *l, int which);
/* What ranks have told of the world, where that explains how the run has ended. */
void run_note_world(run_launcher *l);
/* The connection to the agent has ended, or is taken for that. */
void run_lose(run_launcher *l, int which, const char *why);
/* Other hosts whose agents have not answered in time: the run has failed, and all of them are named. */
void run_lose_late(run_launcher *l);

#endif
