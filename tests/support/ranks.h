/* SPDX-License-Identifier: Apache-2.0 */
/* Worlds of processes: a test starts its ranks by fork() before it uses the library, they are told apart by the
 * environment as `wick run` would do it, and none outlives the test. A rank says what is wrong in memory that the test
 * shares.
 *
 * Where WICK_TEST_MPI is set (mode mpi) they are started by mpirun instead, as this program anew, which goes to the
 * body before main. Then what a test has in variables does not reach its ranks, but for `with`: as a number, or the
 * bytes there, in which pointers mean nothing; a rank that a signal ends takes the others along; and how mpirun ends
 * says less than that all bodies came to their ends. */
#ifndef TESTS_SUPPORT_RANKS_H
#define TESTS_SUPPORT_RANKS_H

#include "wick.h"

#include <stdatomic.h>
#include <sys/types.h>

enum { RANKS_MOST = 4, RANKS_BYTES = 1024, RANKS_LIMIT = 120 /* seconds in which all have to end */ };

typedef struct rank_report {
    char failure[600]; /* the first thing that was wrong; empty: nothing */
    char error[1200];  /* what rank_save_error kept */
    wk_code code;
    double number[8]; /* the test's own */
    atomic_int flag;
    atomic_int ended; /* its body */
    pid_t process;    /* of all ranks that of mpirun */
    int status;       /* of waitpid */
} rank_report;

typedef struct ranks {
    int size;
    int timeout;        /* WICK_TIMEOUT; 0: 60 */
    const char *secret; /* NULL: "a secret" */
    void (*body)(int rank);
    /* In the child, before the body: to change the environment. */
    void (*prepare)(int rank);
    bool no_listener; /* `prepare` sets WICK_COORDINATOR */
    bool ipv6;        /* the listener is at ::1 */
    int port;         /* of the listener */
    void *user;
    size_t bytes;      /* that `with` points to; 0: it is a number, or no rank of mpirun looks at it */
    rank_report *note; /* [size], shared */
} ranks;

/* Are ranks started by mpirun? */
bool ranks_are_mpi(void);

/* In a rank: the world that it is started for, and its own note. */
extern ranks *the_ranks;
rank_report *my_note(void);
rank_report *note_of(int rank);

/* Starts all, and waits for all. Unless `any_end`, each must end with status 0 and have said nothing. */
void ranks_run(ranks *r);
void ranks_start(ranks *r);
void ranks_end(ranks *r, bool any_end);
void ranks_free(ranks *r);
/* A socket that listens at 127.0.0.1, or ::1; -1: this machine has no such address. */
int ranks_listen(bool six, int *port);
/* Waits until a rank has raised its flag that high. */
void ranks_await(const ranks *r, int rank, int flag);

/* In a rank: unless `good`, says so and ends the process. */
void rank_check(bool good, const char *what, int line);
#define RANK_CHECK(condition) rank_check(condition, #condition, __LINE__)
/* Keeps the pending error for the test, and clears it. */
void rank_save_error(void);
/* The error of a rank has all these words (NULL at the end). */
void expect_rank_error(const ranks *r, int rank, wk_code code, const char *word, ...) __attribute__((sentinel));

#endif
