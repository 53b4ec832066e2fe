/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of wick run and their descendants (run.h). */
#include "run.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { KILL_ROUNDS = 250, ROUND_MILLISECONDS = 20 };

extern char **environ;

void run_nonblocking(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void run_close(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* ---- starting a rank --------------------------------------------------------------------------------------------- */

/* Pipes of a rank that is being started. */
typedef struct child_pipes {
    int in[2], out[2], err[2], status[2], fault[2]; /* each: [0] to read, [1] to write */
} child_pipes;

static void close_all(child_pipes *pipes)
{
    int *fds = pipes->in;
    for (size_t k = 0; k < sizeof *pipes / sizeof *fds; k++) run_close(&fds[k]);
}

static int open_all(child_pipes *pipes)
{
    int *fds = pipes->in;
    for (size_t k = 0; k < sizeof *pipes / sizeof *fds; k++) fds[k] = -1;
    for (size_t k = 0; k < sizeof *pipes / sizeof *fds; k += 2) {
        if (pipe2(fds + k, O_CLOEXEC) == 0) continue;
        const int code = errno;
        close_all(pipes);
        return code;
    }
    return 0;
}

/* Replaces the pipe by a pseudoterminal, so that the program's output is not buffered, and lost if it is killed. Bytes
 * pass unmodified, and it is not a controlling terminal. Keeps the pipe if the system has no pseudoterminals. */
static void open_terminal(int pipe[2])
{
    char name[PATH_MAX];
    struct termios how;
    int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), theirs = -1;
    if (ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0 && ptsname_r(ours, name, sizeof name) == 0)
        theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (theirs >= 0 && tcgetattr(theirs, &how) == 0) {
        cfmakeraw(&how);
        if (tcsetattr(theirs, TCSANOW, &how) == 0) {
            const int before[2] = {pipe[0], pipe[1]};
            pipe[0] = ours, pipe[1] = theirs;
            ours = before[0], theirs = before[1];
        }
    }
    run_close(&ours), run_close(&theirs);
}

/* Sets variables from lines NAME=VALUE. */
static void set_lines(const char *lines)
{
    for (const char *end; *lines; lines = *end ? end + 1 : end) {
        end = lines + strcspn(lines, "\n");
        char *text = strndup(lines, (size_t)(end - lines));
        if (text) putenv(text);
    }
}

/* Passes a descriptor to the program, with its number in a variable. */
static void pass_fd(const char *name, int fd)
{
    char number[16];
    snprintf(number, sizeof number, "%d", fd);
    fcntl(fd, F_SETFD, 0);
    setenv(name, number, 1);
}

/* Variables by which a program recognises mpirun, srun or torchrun; one of these may have started this command. */
static const char *const launcher_variables[] = {
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "MPI_LOCALRANKID",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_LOCALID",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "WICK_LISTEN_FD",
};

static struct rlimit saved_limit; /* original limit of this process, restored in its ranks */
static bool is_raised;            /* the limit was raised; an agent inherits this from the launcher */

void run_raise_fd_limit(void)
{
    if (is_raised || getrlimit(RLIMIT_NOFILE, &saved_limit) != 0) return;
    const struct rlimit most = {saved_limit.rlim_max, saved_limit.rlim_max};
    is_raised = setrlimit(RLIMIT_NOFILE, &most) == 0;
}

void run_restore_fd_limit(void)
{
    if (is_raised) setrlimit(RLIMIT_NOFILE, &saved_limit);
}

/* In the child: sets up the rank and runs the program. Returns with errno set on failure. */
static void exec_rank(const child_pipes *pipes, char **words, const char *folder, char **variables, const char *own,
                      int input, int listen, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(CLI_FAILED); /* the parent ended before PR_SET_PDEATHSIG was set */
    if (dup2(input >= 0 ? input : pipes->in[0], STDIN_FILENO) < 0 || dup2(pipes->out[1], STDOUT_FILENO) < 0 ||
        dup2(pipes->err[1], STDERR_FILENO) < 0 || (folder && chdir(folder) != 0))
        return;
    for (size_t k = 0; k < sizeof launcher_variables / sizeof *launcher_variables; k++) unsetenv(launcher_variables[k]);
    for (char **variable = variables; variable && *variable; variable++) putenv(*variable);
    pass_fd("WICK_STATUS_FD", pipes->status[1]);
    if (listen >= 0) pass_fd("WICK_LISTEN_FD", listen);
    set_lines(own);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    run_restore_fd_limit();
    execvp(words[0], words);
}

/* Returns the errno written by a child that could not run the program, or 0. */
static int read_exec_errno(int fd)
{
    int code = 0;
    ssize_t got;
    do got = read(fd, &code, sizeof code);
    while (got < 0 && errno == EINTR);
    return got == sizeof code ? code : 0;
}

int run_child_start(run_child *child, char **words, const char *folder, char **variables, const char *own, int input,
                    int listen, bool terminal)
{
    child_pipes pipes;
    *child = (run_child){.pid = -1, .in = -1, .out = -1, .err = -1, .status = -1};
    int code = open_all(&pipes);
    if (code) return code;
    if (terminal) open_terminal(pipes.out);
    run_nonblocking(pipes.status[1]); /* a rank never waits for the reader of its status */
    const pid_t parent = getpid(), process = fork();
    if (process == 0) {
        exec_rank(&pipes, words, folder, variables, own, input, listen, parent);
        code = errno;
        if (write(pipes.fault[1], &code, sizeof code) < 0) code = 0;
        _exit(127);
    }
    code = process < 0 ? errno : 0;
    run_close(&pipes.fault[1]);
    if (process > 0 && (code = read_exec_errno(pipes.fault[0])) != 0) waitpid(process, NULL, 0);
    if (!code) {
        *child = (run_child){process, input >= 0 ? -1 : pipes.in[1], pipes.out[0], pipes.err[0], pipes.status[0]};
        if (input < 0) run_nonblocking(pipes.in[1]), pipes.in[1] = -1;
        run_nonblocking(pipes.out[0]), run_nonblocking(pipes.err[0]), run_nonblocking(pipes.status[0]);
        pipes.out[0] = pipes.err[0] = pipes.status[0] = -1;
    }
    close_all(&pipes);
    return code;
}

/* ---- descendants of this process --------------------------------------------------------------------------------- */

/* A process of the machine. */
typedef struct process {
    pid_t id, parent;
    bool below; /* descends from this process */
} process;

/* Reads process id and parent from /proc/ID/stat: "12 (a name) S 3 ...". Returns false if the process has ended. */
static bool look_up(const char *id, process *found)
{
    char path[64], text[512], state;
    int parent;
    snprintf(path, sizeof path, "/proc/%.20s/stat", id);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t count = read(fd, text, sizeof text - 1);
    close(fd);
    if (count <= 0) return false;
    text[count] = 0;
    const char *name_end = strrchr(text, ')');
    if (!name_end || sscanf(name_end + 1, " %c %d", &state, &parent) != 2 || state == 'Z' || state == 'X') return false;
    *found = (process){.id = (pid_t)strtol(id, NULL, 10), .parent = parent};
    return true;
}

/* Lists all processes of the machine. NULL if none are visible. */
static process *list_all(size_t *count)
{
    process *all = NULL;
    size_t room = 0;
    *count = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        process found;
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !look_up(entry->d_name, &found)) continue;
        if (*count == room) {
            process *more = realloc(all, (room = 2 * room + 64) * sizeof *all);
            if (!more) break;
            all = more;
        }
        all[(*count)++] = found;
    }
    if (folder) closedir(folder);
    return all;
}

static process *preexisting; /* children from before run_become_subreaper */
static size_t nspared;

static bool is_below(const process *all, size_t count, const process *which)
{
    for (size_t k = 0; k < nspared; k++)
        if (preexisting[k].id == which->id) return false;
    if (which->parent == getpid()) return true;
    for (size_t k = 0; k < count; k++)
        if (all[k].id == which->parent) return all[k].below;
    return false;
}

int run_signal_descendants(int number)
{
    size_t count;
    process *all = list_all(&count);
    int found = 0;
    for (bool more = true; more;) {
        more = false;
        for (size_t k = 0; k < count; k++) {
            if (all[k].below || !is_below(all, count, &all[k])) continue;
            all[k].below = more = true;
            found++;
        }
    }
    for (size_t k = 0; k < count && number; k++)
        if (all[k].below) kill(all[k].id, number);
    free(all);
    return found;
}

void run_kill_descendants(void)
{
    /* Processes that were being started during one round are killed in a later one. */
    for (int round = 0; round < KILL_ROUNDS && run_signal_descendants(SIGKILL) > 0; round++) {
        const struct timespec pause = {0, ROUND_MILLISECONDS * 1000000L};
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
        nanosleep(&pause, NULL);
    }
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

void run_become_subreaper(void)
{
    size_t count;
    free(preexisting);
    preexisting = list_all(&count);
    nspared = 0;
    for (size_t k = 0; k < count; k++)
        if (preexisting[k].parent == getpid()) preexisting[nspared++] = preexisting[k];
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

int run_signals_open(const int *numbers, size_t count, sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t k = 0; k < count; k++) {
        struct sigaction now; /* blocked signals are delivered even if they are ignored */
        if (sigaction(numbers[k], NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&set, numbers[k]);
    }
    sigprocmask(SIG_BLOCK, &set, before);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int run_signals_read(int fd)
{
    struct signalfd_siginfo info;
    return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

const char *run_describe_signal(char out[64], int number)
{
    snprintf(out, 64, "killed by signal %d (%.32s)", number, strsignal(number));
    return out;
}
