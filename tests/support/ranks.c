/* SPDX-License-Identifier: Apache-2.0 */
/* Implements ranks.h. */
#include "ranks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
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

rank_report *my_note(void)
{
    return &the_ranks->note[this_rank];
}

rank_report *note_of(int rank)
{
    return &the_ranks->note[rank];
}

/* ---- in the rank ------------------------------------------------------------------------------------------------- */

void rank_check(bool good, const char *what, int line)
{
    if (good) return;
    const char *error = wk_error();
    snprintf(my_note()->failure, sizeof my_note()->failure, "line %d: %s%s%.400s", line, what, error ? ": " : "",
             error ? error : "");
    _exit(1);
}

void rank_save_error(void)
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

bool ranks_are_mpi(void)
{
    return getenv("WICK_TEST_MPI") != NULL;
}

static void await_end(const rank_report *note)
{
    for (int k = 0; k < 5000 && !atomic_load(&note->ended); k++) usleep(2000);
}

/* Runs the body in the rank's process and ends it. The process is also killed if the test ends or its time is over. */
static void run_body(ranks *r, int rank)
{
    the_ranks = r;
    this_rank = rank;
    set_number("WICK_TIMEOUT", r->timeout ? r->timeout : 60);
    set_number("WICK_THREADS", 1);
    alarm(RANKS_LIMIT);
    if (r->prepare) r->prepare(rank);
    r->body(rank);
    atomic_store(&my_note()->ended, 1);
    if (ranks_are_mpi()) /* mpirun ends all ranks when one leaves a failed world */
        for (int k = 0; k < r->size; k++) await_end(&r->note[k]);
    _exit(0);
}

static void run_as_rank(ranks *r, int rank, int listener)
{
    static const char *const others[] = {"WICK_COMM", "WICK_LISTEN_FD", "OMPI_COMM_WORLD_SIZE",
                                         "PMI_SIZE",  "SLURM_NTASKS",   "WORLD_SIZE"};
    char host[32];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) unsetenv(others[k]);
    set_number("WICK_RANK", rank);
    set_number("WICK_WORLD_SIZE", r->size);
    setenv("WICK_SECRET", r->secret ? r->secret : "a secret", 1);
    if (!r->no_listener) {
        snprintf(host, sizeof host, r->ipv6 ? "[::1]:%d" : "127.0.0.1:%d", r->port);
        setenv("WICK_COORDINATOR", host, 1);
        if (rank == 0)
            set_number("WICK_LISTEN_FD", listener);
        else
            close(listener);
    }
    run_body(r, rank);
}

/* ---- ranks of mpirun --------------------------------------------------------------------------------------------- */

/* Path of the file of the reports, followed by the test's bytes, shared by this program and the processes that mpirun
 * starts. */
static char notes_file[512];
enum { NOTES_BYTES = sizeof(rank_report) * RANKS_MOST + RANKS_BYTES };

static rank_report *map_notes(int fd)
{
    const int kind = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    void *notes = mmap(NULL, NOTES_BYTES, PROT_READ | PROT_WRITE, kind, fd, 0);
    return notes == MAP_FAILED ? NULL : notes;
}

/* Encodes a function as its distance from ranks_run, because address randomisation moves the program. */
static long distance(void (*function)(int rank))
{
    return function ? (long)((intptr_t)function - (intptr_t)ranks_run) : 0;
}

static void (*function_at(long distance))(int rank)
{
    return distance ? (void (*)(int))((intptr_t)ranks_run + distance) : NULL;
}

/* Runs the body of a rank if mpirun started this program. */
__attribute__((constructor)) static void run_as_mpi_rank(void)
{
    static ranks r;
    const char *arguments = getenv("WICK_TEST_RANKS"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    long body, prepare, with;
    if (!arguments || !rank) return;
    if (sscanf(arguments, "%d %d %ld %ld %ld %zu %511s", &r.size, &r.timeout, &body, &prepare, &with, &r.bytes,
               notes_file) != 7)
        _exit(2);
    const int fd = open(notes_file, O_RDWR);
    r.body = function_at(body);
    r.prepare = function_at(prepare);
    r.user = (void *)with;
    r.note = fd < 0 ? NULL : map_notes(fd);
    if (!r.note) _exit(2);
    close(fd);
    if (r.bytes > 0) {
        r.user = malloc(r.bytes); /* a private copy */
        if (!r.user) _exit(2);
        memcpy(r.user, r.note + RANKS_MOST, r.bytes);
    }
    run_body(&r, atoi(rank));
}

static int open_notes(void)
{
    const char *folder = getenv("WICK_WORK");
    snprintf(notes_file, sizeof notes_file, "%s/ranks-XXXXXX", folder ? folder : "/tmp");
    const int fd = mkstemp(notes_file);
    assert_true(fd >= 0 && ftruncate(fd, NOTES_BYTES) == 0);
    return fd;
}

static void start_mpirun(ranks *r)
{
    char arguments[700], size[16], self[512] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(size, sizeof size, "%d", r->size);
    snprintf(arguments, sizeof arguments, "%d %d %ld %ld %ld %zu %s", r->size, r->timeout, distance(r->body),
             distance(r->prepare), (long)(intptr_t)r->user, r->bytes, notes_file);
    assert_in_range(r->bytes, 0, RANKS_BYTES);
    if (r->bytes > 0) memcpy(r->note + RANKS_MOST, r->user, r->bytes);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* mpirun then ends its ranks */
        setenv("WICK_TEST_RANKS", arguments, 1);
        execlp("mpirun", "mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca",
               "mpi_yield_when_idle", "1", "-n", size, self, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    for (int k = 0; k < r->size; k++) r->note[k].process = pid;
}

/* ---- in the test ------------------------------------------------------------------------------------------------- */

int ranks_listen(bool six, int *port)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    struct sockaddr *address = six ? (struct sockaddr *)&at : (struct sockaddr *)&four;
    socklen_t bytes = six ? sizeof at : sizeof four;
    const int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, address, bytes) != 0 || listen(fd, 64) != 0 || getsockname(fd, address, &bytes) != 0) {
        if (fd >= 0) close(fd);
        return -1;
    }
    *port = ntohs(six ? at.sin6_port : four.sin_port);
    return fd;
}

void ranks_start(ranks *r)
{
    const int notes = ranks_are_mpi() ? open_notes() : -1;
    r->note = map_notes(notes);
    assert_non_null(r->note);
    assert_in_range(r->size, 1, RANKS_MOST);
    if (ranks_are_mpi()) {
        close(notes);
        start_mpirun(r);
        return;
    }
    const int listener = r->no_listener ? -1 : ranks_listen(r->ipv6, &r->port);
    assert_true(listener >= 0 || r->no_listener);
    fflush(NULL);
    for (int k = 0; k < r->size; k++) {
        const pid_t pid = fork();
        if (pid == 0) run_as_rank(r, k, listener);
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

/* Waits for the ranks; kills those that exceed RANKS_LIMIT and fails. */
void ranks_end(ranks *r, bool any_end)
{
    const double until = now() + RANKS_LIMIT;
    bool late = false;
    for (int k = 0; k < r->size; k++) {
        rank_report *note = &r->note[k];
        if (ranks_are_mpi() && k > 0) {
            note->status = r->note[0].status;
            continue;
        }
        while (waitpid(note->process, &note->status, WNOHANG) == 0) {
            if (now() < until) {
                nap();
                continue;
            }
            late = true;
            if (ranks_are_mpi()) kill(note->process, SIGTERM), sleep(5);
            kill(note->process, SIGKILL);
            kill(note->process, SIGCONT);
        }
    }
    if (late) fail_msg("ranks did not end within %d seconds", RANKS_LIMIT);
    for (int k = 0; k < r->size; k++) {
        const rank_report *note = &r->note[k];
        if (note->failure[0]) print_message("rank %d of %d: %s\n", k, r->size, note->failure);
    }
    for (int k = 0; k < r->size; k++) {
        const rank_report *note = &r->note[k];
        if (note->failure[0]) fail_msg("rank %d of %d: %s", k, r->size, note->failure);
        if (ranks_are_mpi() ? !any_end && !atomic_load(&note->ended) : !any_end && note->status != 0)
            fail_msg("rank %d of %d ended with status %#x", k, r->size, note->status);
    }
}

void ranks_free(ranks *r)
{
    if (ranks_are_mpi()) unlink(notes_file);
    munmap(r->note, NOTES_BYTES);
}

void ranks_run(ranks *r)
{
    ranks_start(r);
    ranks_end(r, false);
}

void expect_rank_error(const ranks *r, int rank, wk_code code, const char *word, ...)
{
    const rank_report *note = &r->note[rank];
    va_list words;
    va_start(words, word);
    for (; word; word = va_arg(words, const char *))
        if (!strstr(note->error, word)) fail_msg("rank %d: \"%s\" is not in: %s", rank, word, note->error);
    va_end(words);
    if (note->code != code) fail_msg("rank %d: code %d, not %d: %s", rank, note->code, code, note->error);
}
