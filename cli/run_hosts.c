/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's side of an agent: starting it, and its orders (run.h). */
#include "run.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MOST_RSH_WORDS = 32, MOST_BEFORE_GREETING = 65536 };

extern char **environ;

/* ---- starting ---------------------------------------------------------------------------------------------------- */

/* Quotes text as one word of a POSIX shell: 'it'\''s'. Returns false if there is no room. */
static bool quote(char *to, size_t room, const char *text)
{
    size_t n = 0;
    if (room < 3) return false;
    to[n++] = '\'';
    for (; *text && n + 6 < room; text++) {
        if (*text == '\'') {
            memcpy(to + n, "'\\''", 4);
            n += 4;
        } else {
            to[n++] = *text;
        }
    }
    to[n++] = '\'';
    to[n] = 0;
    return !*text;
}

/* Formats the command for another host's shell: the path of this program if it exists there, else `wick` in PATH. */
static bool serve_command(char *to, size_t room)
{
    char own[PATH_MAX], quoted[2 * PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0) return false;
    own[length] = 0;
    if (!quote(quoted, sizeof quoted, own)) return false;
    return snprintf(to, room, "test -x %s && exec %s run --serve; exec wick run --serve", quoted, quoted) < (int)room;
}

/* In the child: becomes the remote shell, WICK_RSH's words, host, command. Returns on failure. */
static void become_remote_shell(const char *host, const int orders[2], const int events[2], pid_t parent)
{
    char command[5 * PATH_MAX], *words[MOST_RSH_WORDS + 3], *rest = NULL;
    const char *rsh = getenv("WICK_RSH");
    char *text = strdup(rsh && *rsh ? rsh : "ssh -x");
    int count = 0;
    for (char *word = text ? strtok_r(text, " \t", &rest) : NULL; word && count < MOST_RSH_WORDS;
         word = strtok_r(NULL, " \t", &rest))
        words[count++] = word;
    if (count == 0 || !serve_command(command, sizeof command)) return;
    words[count] = strdup(host);
    words[count + 1] = command;
    words[count + 2] = NULL;
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* it may still be connecting, and not read its input */
    if (getppid() != parent || dup2(orders[0], STDIN_FILENO) < 0 || dup2(events[1], STDOUT_FILENO) < 0) return;
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    run_restore_fd_limit();
    execvp(words[0], words);
    fprintf(stderr, "wick run: %s: %s\n", words[0], strerror(errno));
}

int run_host_start(run_host *hosts, int which, int input)
{
    run_host *host = &hosts[which];
    int orders[2], events[2];
    host->orders = host->events = -1;
    if (pipe2(orders, O_CLOEXEC) != 0) return errno;
    if (pipe2(events, O_CLOEXEC) != 0) {
        const int code = errno;
        close(orders[0]), close(orders[1]);
        return code;
    }
    const pid_t parent = getpid();
    host->process = fork();
    if (host->process == 0) {
        setsid(); /* signals from the terminal go to the launcher only, which informs the agents */
        if (host->remote) {
            become_remote_shell(host->name, orders, events, parent);
            _exit(127);
        }
        /* An agent that keeps another's pipes open would prevent their end of file. */
        for (int k = 0; k < which; k++) run_close(&hosts[k].orders), run_close(&hosts[k].events);
        close(orders[1]), close(events[0]);
        exit(run_agent(orders[0], events[1], input, false));
    }
    const int code = host->process < 0 ? errno : 0;
    close(orders[0]), close(events[1]);
    host->orders = orders[1];
    host->events = events[0];
    run_nonblocking(host->orders), run_nonblocking(host->events);
    host->last_received = host->pinged = cli_clock();
    return code;
}

bool run_host_skip_to_greeting(run_host *host)
{
    const size_t length = strlen(RUN_GREETING);
    const uint8_t *found = memmem(host->in.bytes + host->in.first, host->in.count, RUN_GREETING, length);
    if (!found) return host->in.count < MOST_BEFORE_GREETING;
    run_buffer_consume(&host->in, (size_t)(found - (host->in.bytes + host->in.first)) + length);
    host->greeted = true;
    host->last_received = cli_clock();
    return true;
}

void run_host_disconnect(run_host *host)
{
    run_close(&host->orders), run_close(&host->events);
    run_buffer_free(&host->out), run_buffer_free(&host->in);
}

/* ---- configuration of the ranks ---------------------------------------------------------------------------------- */

/* Returns true if the variable is in a comma-separated list. */
static bool is_listed(const char *list, const char *variable)
{
    const size_t length = strcspn(variable, "=");
    for (; list && *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && memcmp(list, variable, length) == 0) return true;
    return false;
}

/* Sends variables to another host: WICK_... and the requested ones. Ranks on this host inherit all. */
static void send_variables(run_host *host, const run_config *plan)
{
    for (char **variable = environ; host->remote && *variable; variable++)
        if (strncmp(*variable, "WICK_", 5) == 0 || is_listed(plan->env, *variable))
            run_send(&host->out, RUN_ENV, 0, *variable, strlen(*variable));
    if (plan->timeout) run_send_text(&host->out, RUN_ENV, 0, "WICK_TIMEOUT=%s", plan->timeout);
    if (!getenv("WICK_COMM")) run_send_text(&host->out, RUN_ENV, 0, "WICK_COMM=tcp");
}

/* Returns the name at which ranks reach the first host: its host name if others know it only as localhost. */
static void first_name(const run_host *hosts, const run_config *plan, char out[256])
{
    bool others = false;
    for (int k = 0; k < plan->hosts; k++) others = others || hosts[k].remote;
    if (!others)
        snprintf(out, 256, "127.0.0.1");
    else if (hosts[0].remote)
        snprintf(out, 256, "%s", strrchr(hosts[0].name, '@') ? strrchr(hosts[0].name, '@') + 1 : hosts[0].name);
    else if (gethostname(out, 256) != 0)
        snprintf(out, 256, "localhost");
}

void run_host_send_setup(run_host *hosts, int which, const run_config *plan, int port, const char *secret)
{
    run_host *host = &hosts[which];
    char first[256];
    int here = 0;
    first_name(hosts, plan, first);
    const bool six = strchr(first, ':') != NULL;
    if (host->remote && plan->cwd) run_send(&host->out, RUN_CWD, 0, plan->cwd, strlen(plan->cwd));
    send_variables(host, plan);
    for (int k = 0; k < plan->ranks; k++) here += run_host_of(plan, k) == which;
    run_send_text(&host->out, RUN_RANK_COUNT, 0, "%d", here);
    if (plan->pipe) run_send(&host->out, RUN_PIPE, 0, NULL, 0);
    for (char **word = plan->argv; *word; word++) run_send(&host->out, RUN_ARG, 0, *word, strlen(*word));
    for (int k = 0, local = 0; k < plan->ranks; k++)
        if (run_host_of(plan, k) == which)
            run_send_text(&host->out, RUN_START, k,
                          "WICK_RANK=%d\nWICK_WORLD_SIZE=%d\nWICK_LOCAL_RANK=%d\nWICK_COORDINATOR=%s%s%s:%d\n"
                          "WICK_SECRET=%s",
                          k, plan->ranks, local++, six ? "[" : "", first, six ? "]" : "", port, secret);
}
