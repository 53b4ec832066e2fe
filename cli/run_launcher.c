/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the agents, forwards between them and the user, and reports (run_launcher.h). */
#include "run_launcher.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { FIXED = 4, PER_HOST = 2 }; /* descriptors to poll: signals, stdout, stderr, stdin; events, orders */
#define REDRAW_SECONDS 0.1
#define BOARD_SECONDS  0.5 /* runs shorter than this show no status lines */

/* ---- signals ----------------------------------------------------------------------------------------------------- */

/* First signal: forwards it to the ranks and gives them time to end. Second signal: kills them. */
static void on_interrupt(run_launcher *l, int number)
{
    if (l->interrupted || !l->started) {
        l->kill_at = cli_clock();
        if (!l->code) l->code = 128 + number;
    } else {
        l->kill_at = cli_clock() + (double)l->plan->grace;
        run_send_all(l, RUN_SIGNAL, number);
    }
    if (l->interrupted && l->shutting_down) l->given_up = true;
    l->interrupted = number;
}

/* Sends queued orders now. */
static void flush_orders(run_launcher *l)
{
    for (int k = 0; k < l->plan->hosts; k++) {
        run_host *host = &l->hosts[k];
        struct pollfd p = {host->orders, POLLOUT, 0};
        while (host->orders >= 0 && host->out.count > 0 && poll(&p, 1, 1000) > 0)
            if (!run_buffer_write(&host->out, host->orders, false)) break;
    }
}

/* Stops all ranks and then this process, so that the shell gets the terminal. */
static void stop_all(run_launcher *l)
{
    run_send_all(l, RUN_SIGNAL, SIGSTOP);
    flush_orders(l);
    run_progress_erase(&l->board, &l->to[0]);
    run_buffer_write(&l->to[0], STDOUT_FILENO, true);
    raise(SIGSTOP);
    for (int k = 0; k < l->plan->hosts; k++) l->hosts[k].last_received = cli_clock();
}

static void note_signals(run_launcher *l)
{
    for (int number; (number = run_signals_read(l->signals)) != 0;) {
        switch (number) {
        case SIGTSTP: stop_all(l); break;
        case SIGCONT:
        case SIGUSR1:
        case SIGUSR2: run_send_all(l, RUN_SIGNAL, number); break;
        case SIGWINCH: break; /* the size is read at each drawing */
        default: on_interrupt(l, number);
        }
    }
}

/* ---- input and output -------------------------------------------------------------------------------------------- */

static bool in_foreground(void)
{
    return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void forward_input(run_launcher *l)
{
    static char bytes[RUN_MOST_BYTES];
    run_host *host = &l->hosts[run_host_of(l->plan, 0)];
    const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    run_send(&host->out, RUN_INPUT, 0, bytes, got > 0 ? (size_t)got : 0);
    if (got > 0) l->unread_input += (size_t)got;
    l->forwards = got > 0;
}

/* Writes pending output as far as the reader accepts it. */
static void write_out(run_launcher *l, int stream)
{
    run_buffer *queue = &l->to[stream];
    if (run_buffer_write(queue, stream == 0 ? STDOUT_FILENO : STDERR_FILENO, true)) return;
    run_buffer_consume(queue, queue->count);
    if (stream == 1 || l->output_closed) return;
    l->output_closed = true;
    run_log(l, "cannot write the output: %s", strerror(errno));
    if (l->code == 0) l->code = CLI_FAILED;
    run_shutdown(l, l->plan->grace);
}

static void draw(run_launcher *l)
{
    bool any = false;
    for (int k = 0; k < l->plan->ranks; k++) any = any || l->lines[k].last_progress > 0;
    if (!l->board.on || l->mid_line || !l->started || l->shutting_down || l->alive == 0) return;
    if (!any || cli_clock() - l->began < BOARD_SECONDS || cli_clock() - l->board.drawn < REDRAW_SECONDS) return;
    run_progress_draw(&l->board, &l->to[0], l->lines, l->plan->ranks);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* Pings remote agents, and treats a connection without data for too long as lost, unless the launcher did not read. */
static void heartbeat(run_launcher *l, bool listening)
{
    const double now = cli_clock();
    run_check_connect_timeouts(l);
    for (int k = 0; k < l->plan->hosts; k++) {
        run_host *host = &l->hosts[k];
        if (!host->remote || !host->greeted || host->orders < 0) continue;
        if (!listening) host->last_received = now;
        if (now - host->pinged >= RUN_PING_SECONDS) {
            run_send(&host->out, RUN_PING, 0, NULL, 0);
            host->pinged = now;
        }
        if (now - host->last_received > RUN_HEARTBEAT_TIMEOUT) run_host_lost(l, k, "no heartbeat");
    }
}

static void await(run_launcher *l, bool listening)
{
    struct pollfd *p = l->watched;
    const bool input =
        l->forwards && l->started && l->unread_input < RUN_MOST_BYTES && !l->ranks[0].ended && in_foreground();
    p[0] = (struct pollfd){l->signals, POLLIN, 0};
    p[1] = (struct pollfd){l->to[0].count > 0 ? STDOUT_FILENO : -1, POLLOUT, 0};
    p[2] = (struct pollfd){l->to[1].count > 0 ? STDERR_FILENO : -1, POLLOUT, 0};
    p[3] = (struct pollfd){input ? STDIN_FILENO : -1, POLLIN, 0};
    for (int k = 0; k < l->plan->hosts; k++) {
        p[FIXED + PER_HOST * k] = (struct pollfd){listening ? l->hosts[k].events : -1, POLLIN, 0};
        p[FIXED + PER_HOST * k + 1] = (struct pollfd){l->hosts[k].out.count > 0 ? l->hosts[k].orders : -1, POLLOUT, 0};
    }
    poll(p, (nfds_t)(FIXED + PER_HOST * l->plan->hosts), 100);
}

/* Acts on expired deadlines. */
static void check_deadlines(run_launcher *l, bool listening)
{
    const double now = cli_clock();
    if (l->decide_at > 0 && now >= l->decide_at) run_shutdown(l, l->plan->grace);
    if (l->kill_at > 0 && now >= l->kill_at) run_shutdown(l, 0);
    if (l->started && l->alive == 0) run_shutdown(l, l->plan->grace);
    if (!listening && !l->given_up) l->give_up_at = now + RUN_KILL_SECONDS; /* the user's pager may be slow */
}

/* Runs one iteration. Returns false when all agents have ended, or the deadline for that has passed. */
static bool step(run_launcher *l)
{
    const bool listening = l->to[0].count + l->to[1].count < RUN_HIGH_WATER;
    await(l, listening);
    const struct pollfd *p = l->watched;
    bool any = false;
    if (p[0].revents) note_signals(l);
    for (int stream = 0; stream < 2; stream++)
        if (p[1 + stream].revents) write_out(l, stream);
    if (p[3].revents) forward_input(l);
    for (int k = 0; k < l->plan->hosts; k++) {
        run_host *host = &l->hosts[k];
        if (p[FIXED + PER_HOST * k].revents && host->events >= 0) run_handle_events(l, k);
        if (p[FIXED + PER_HOST * k + 1].revents && host->orders >= 0 &&
            !run_buffer_write(&host->out, host->orders, false))
            run_buffer_consume(&host->out, host->out.count); /* the end of its events reports the reason */
    }
    heartbeat(l, listening);
    check_deadlines(l, listening);
    draw(l);
    for (int k = 0; k < l->plan->hosts; k++) any = any || l->hosts[k].events >= 0;
    return any && !l->given_up && (!l->shutting_down || cli_clock() < l->give_up_at);
}

/* ---- start and end ----------------------------------------------------------------------------------------------- */

static bool make_secret(char out[65])
{
    uint8_t bytes[32];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return false;
    for (size_t k = 0; k < sizeof bytes; k++) snprintf(out + 2 * k, 3, "%02x", bytes[k]);
    return true;
}

static void begin(run_launcher *l)
{
    const run_config *plan = l->plan;
    bool far = false;
    for (int k = 0; k < plan->hosts; k++) {
        l->hosts[k] = (run_host){.name = plan->names[k], .orders = -1, .events = -1};
        l->hosts[k].remote =
            plan->names[k] && strcmp(plan->names[k], "localhost") != 0 && strcmp(plan->names[k], l->here) != 0;
        far = far || l->hosts[k].remote;
    }
    l->forwards = isatty(STDIN_FILENO) || l->hosts[0].remote;
    for (int k = 0; k < plan->ranks; k++) {
        const int host = run_host_of(plan, k);
        l->lines[k] = (run_rank_line){.host = run_host_name(l, host), .state = "starting"};
        l->ranks[k].error_rank = -1;
    }
    for (int k = 0; k < plan->hosts && !l->shutting_down; k++) {
        const int code = run_host_start(l->hosts, k, l->forwards ? -1 : STDIN_FILENO);
        if (!code) continue;
        run_log(l, "host %s: %s", run_host_name(l, k), strerror(code));
        run_fail(l, -1, CLI_FAILED);
    }
    if (far && !plan->cwd) {
        run_log(l, "cannot determine the current folder: %s", strerror(ENOENT));
        run_fail(l, -1, CLI_FAILED);
    }
    run_send_text(&l->hosts[0].out, RUN_LISTEN, 0, far ? "any" : "loopback");
}

static void report_cause(run_launcher *l)
{
    const run_rank *r = &l->ranks[l->cause];
    const bool silent = r->voice.length == 0;
    run_log(l, "rank %d on %s failed after %.1f s: %s%s", l->cause, l->lines[l->cause].host, r->runtime, r->exit_text,
            silent ? "" : "; last output:");
    run_output_print_tail(&r->voice, &l->to[l->errors]);
}

static void report(run_launcher *l)
{
    run_progress_erase(&l->board, &l->to[0]);
    for (int k = 0; k < l->plan->ranks; k++) run_output_finish(&l->ranks[k].voice, &l->to[0], &l->to[l->errors], k);
    for (int k = 0; k < l->plan->hosts; k++)
        if (l->hosts[k].events >= 0)
            run_log(l, "host %s did not respond; its processes stop by themselves within %d s", run_host_name(l, k),
                    RUN_HEARTBEAT_TIMEOUT + (int)l->plan->grace);
    if (l->interrupted) return;
    if (l->cause >= 0) report_cause(l);
    run_report_world(l);
}

static void finish(run_launcher *l, const sigset_t *before)
{
    for (int k = 0; k < l->plan->hosts; k++) run_host_disconnect(&l->hosts[k]);
    run_kill_descendants();
    run_close(&l->signals);
    sigprocmask(SIG_SETMASK, before, NULL); /* a launcher blocked on output can still be interrupted */
    for (int stream = 0; stream < 2; stream++) {
        const int fd = stream == 0 ? STDOUT_FILENO : STDERR_FILENO;
        struct pollfd p = {fd, POLLOUT, 0};
        while (l->to[stream].count > 0 && !l->given_up && poll(&p, 1, -1) > 0)
            if (!run_buffer_write(&l->to[stream], fd, true)) {
                if (stream == 0 && l->code == 0) l->code = CLI_FAILED; /* finish() in main.c cannot detect this */
                break;
            }
        run_buffer_free(&l->to[stream]);
    }
    for (int k = 0; k < l->plan->ranks; k++) run_output_free(&l->ranks[k].voice);
    free(l->hosts), free(l->ranks), free(l->lines), free(l->watched);
}

int run_launch(const run_config *plan)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2, SIGWINCH};
    sigset_t before;
    run_launcher l = {.plan = plan, .alive = plan->ranks, .cause = -1, .began = cli_clock()};
    l.hosts = calloc((size_t)plan->hosts, sizeof *l.hosts);
    l.ranks = calloc((size_t)plan->ranks, sizeof *l.ranks);
    l.lines = calloc((size_t)plan->ranks, sizeof *l.lines);
    l.watched = calloc((size_t)(FIXED + PER_HOST * plan->hosts), sizeof *l.watched);
    if (!l.hosts || !l.ranks || !l.lines || !l.watched || !make_secret(l.secret)) {
        fprintf(stderr, "wick run: out of memory, or no random numbers\n");
        free(l.hosts), free(l.ranks), free(l.lines), free(l.watched);
        return CLI_FAILED;
    }
    if (gethostname(l.here, sizeof l.here - 1) != 0) snprintf(l.here, sizeof l.here, "localhost");
    l.board.on = cli_is_terminal();
    l.errors = l.board.on && isatty(STDERR_FILENO) ? 0 : 1;
    run_become_subreaper();
    run_raise_fd_limit();
    l.signals = run_signals_open(numbers, sizeof numbers / sizeof *numbers, &before);
    begin(&l);
    while (step(&l)) {
    }
    report(&l);
    finish(&l, &before);
    return l.code;
}
