/* SPDX-License-Identifier: Apache-2.0 */
/* See support_ranks.h. */
#include "support_ranks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

ranks *the_ranks;
static int this_rank;

rank_note *my_note(void)
{
    return &the_ranks->note[this_rank];
}

rank_note *note_of(int rank)
{
    return &the_ranks->note[rank];
}

/* ---- in a rank --------------------------------------------------------------------------------------------------- */

void rank_check(bool good, const char *what, int line)
{
    if (good) return;
    const char *error = wk_error();
    snprintf(my_note()->said, sizeof my_note()->said, "line %d: %s%s%.400s", line, what, error ? ": " : "",
             error ? error : "");
    _exit(1);
}

void rank_keeps_error(void)
{
    const char *error = wk_error();
    snprintf(my_note()->error, sizeof my_note()->error, "%s", error ? error : "");
    my_note()->code = wk_error_code();
    wk_clear_error();
}

static void set_number(const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    setenv(name, text, 1);
}

static void be_rank(ranks *r, int rank, int listener, int port)
{
    static const char *const others[] = {"WICK_COMM", "WICK_LISTEN_FD", "OMPI_COMM_WORLD_SIZE",
                                         "PMI_SIZE",  "SLURM_NTASKS",   "WORLD_SIZE"};
    char host[32];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    the_ranks = r;
    this_rank = rank;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) unsetenv(others[k]);
    set_number("WICK_RANK", rank);
    set_number("WICK_WORLD", r->size);
    set_number("WICK_TIMEOUT", r->timeout ? r->timeout : 60);
    set_number("WICK_THREADS", 1);
    setenv("WICK_SECRET", r->secret ? r->secret : "a secret", 1);
    if (!r->no_listener) {
        snprintf(host, sizeof host, "127.0.0.1:%d", port);
        setenv("WICK_HOSTS", host, 1);
        if (rank == 0)
            set_number("WICK_LISTEN_FD", listener);
        else
            close(listener);
    }
    alarm(RANKS_LIMIT);
    if (r->prepare) r->prepare(rank);
    r->body(rank);
    _exit(0);
}

/* ---- in the test ------------------------------------------------------------------------------------------------- */

static int listen_somewhere(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 64) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

void ranks_start(ranks *r)
{
    int port = 0;
    const int listener = r->no_listener ? -1 : listen_somewhere(&port);
    r->note = mmap(NULL, sizeof(rank_note) * RANKS_MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(r->note != MAP_FAILED);
    assert_in_range(r->size, 1, RANKS_MOST);
    fflush(NULL);
    for (int k = 0; k < r->size; k++) {
        const pid_t pid = fork();
        if (pid == 0) be_rank(r, k, listener, port);
        assert_true(pid > 0);
        r->note[k].process = pid;
    }
    if (listener >= 0) close(listener);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void nap(void)
{
    poll(NULL, 0, 2);
}

void ranks_await(const ranks *r, int rank, int flag)
{
    const double until = now() + RANKS_LIMIT;
    while (atomic_load(&r->note[rank].flag) < flag && now() < until) nap();
    assert_true(atomic_load(&r->note[rank].flag) >= flag);
}

/* Those that have not ended by then are killed, and have failed. */
void ranks_end(ranks *r, bool any_end)
{
    const double until = now() + RANKS_LIMIT;
    bool late = false;
    for (int k = 0; k < r->size; k++) {
        rank_note *note = &r->note[k];
        while (waitpid(note->process, &note->status, WNOHANG) == 0) {
            if (now() < until) {
                nap();
                continue;
            }
            late = true;
            kill(note->process, SIGKILL);
            kill(note->process, SIGCONT);
        }
    }
    if (late) fail_msg("ranks did not end within %d seconds", RANKS_LIMIT);
    for (int k = 0; k < r->size; k++) {
        const rank_note *note = &r->note[k];
        if (note->said[0]) print_message("rank %d of %d: %s\n", k, r->size, note->said);
    }
    for (int k = 0; k < r->size; k++) {
        const rank_note *note = &r->note[k];
        if (note->said[0]) fail_msg("rank %d of %d: %s", k, r->size, note->said);
        if (!any_end && note->status != 0) fail_msg("rank %d of %d ended with status %#x", k, r->size, note->status);
    }
}

void ranks_free(ranks *r)
{
    munmap(r->note, sizeof(rank_note) * RANKS_MOST);
}

void ranks_run(ranks *r)
{
    ranks_start(r);
    ranks_end(r, false);
}

void expect_rank_error(const ranks *r, int rank, wk_code code, const char *word, ...)
{
    const rank_note *note = &r->note[rank];
    va_list words;
    va_start(words, word);
    for (; word; word = va_arg(words, const char *))
        if (!strstr(note->error, word)) fail_msg("rank %d: \"%s\" is not in: %s", rank, word, note->error);
    va_end(words);
    if (note->code != code) fail_msg("rank %d: code %d, not %d: %s", rank, note->code, code, note->error);
}
