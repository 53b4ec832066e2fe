/* SPDX-License-Identifier: Apache-2.0 */
/* Worlds of processes for tests. A test forks its ranks before it uses the library; environment variables identify
 * them, as with `wick run`. No rank outlives the test. Ranks report failures in shared memory.
 *
 * With WICK_TEST_MPI (mode mpi), mpirun starts this program as the ranks instead, which run the body before main. Then
 * the ranks do not see the test's variables except `with`: a number, or the bytes it points to, which must not contain
 * pointers. A rank that a signal ends takes the others with it, and mpirun's exit status does not show whether all
 * bodies finished. */
#ifndef TESTS_SUPPORT_RANKS_H
#define TESTS_SUPPORT_RANKS_H

#include "wick.h"

#include <stdatomic.h>
#include <sys/types.h>

enum { RANKS_MOST = 4, RANKS_BYTES = 1024, RANKS_LIMIT = 120 /* seconds for all ranks to end */ };

typedef struct rank_report {
    char failure[600]; /* the first failed check; empty: none */
    char error[1200];  /* copied by rank_save_error */
    wk_code code;
    double number[8]; /* for the test's use */
    atomic_int flag;
    atomic_int ended; /* the body has ended */
    pid_t process;    /* its process; with MPI, mpirun's */
    int status;       /* from waitpid */
} rank_report;

typedef struct ranks {
    int size;
    int timeout;        /* value of WICK_TIMEOUT; 0: 60 */
    const char *secret; /* NULL: "a secret" */
    void (*body)(int rank);
    /* Runs in the child before the body, to change the environment. May be NULL. */
    void (*prepare)(int rank);
    bool no_listener; /* `prepare` sets WICK_COORDINATOR */
    bool ipv6;        /* the listener's address is ::1 */
    int port;         /* the listener's */
    void *user;
    size_t bytes;      /* size of the data that `with` points to; 0: `with` is a number, or unused by ranks of mpirun */
    rank_report *note; /* [size], shared */
} ranks;

/* Returns true if mpirun starts the ranks. */
bool ranks_are_mpi(void);

/* Valid in a rank: its world. */
extern ranks *the_ranks;
rank_report *my_note(void);
rank_report *note_of(int rank);

/* Starts all ranks and waits for them. Unless any_end, fails if one exits with another status than 0 or reports a
 * failure. */
void ranks_run(ranks *r);
void ranks_start(ranks *r);
void ranks_end(ranks *r, bool any_end);
void ranks_free(ranks *r);
/* Returns a socket that listens at 127.0.0.1, or ::1 if six; -1 if the machine lacks that address. */
int ranks_listen(bool six, int *port);
/* Waits until a rank's flag is at least flag. */
void ranks_await(const ranks *r, int rank, int flag);

/* In a rank: unless good, reports the failure and ends the process. */
void rank_check(bool good, const char *what, int line);
#define RANK_CHECK(condition) rank_check(condition, #condition, __LINE__)
/* Saves the pending error for the test, and clears it. */
void rank_save_error(void);
/* Checks that the error that a rank saved has this code and all these words (terminated by NULL). */
void expect_rank_error(const ranks *r, int rank, wk_code code, const char *word, ...) __attribute__((sentinel));

#endif
