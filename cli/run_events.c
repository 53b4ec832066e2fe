/* SPDX-License-Identifier: Apache-2.0 */
/* Events from agents, and the choice of the rank that caused a failure (run_launcher.h).
 *
 * When a rank ends, its peers fail with 75 at once, and their exits may be reported first. So a rank that ends with 75
 * is blamed only if no other ends differently within half a second. An error of one rank is reported to all of its
 * world, so the first rank to exit need not be the one that failed. After the first exit all ranks have half a second
 * to report; if the rank with the original error exits in that time, it is blamed, else the first. */
#include "run_launcher.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_SECONDS 0.5

void run_log(run_launcher *l, const char *format, ...)
{
    char text[1024] = "wick run: ";
    const size_t head = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + head, sizeof text - head - 1, format, list);
    va_end(list);
    strcat(text, "\n");
    run_progress_erase(&l->board, &l->to[0]);
    run_buffer_append(&l->to[l->errors], text, strlen(text));
}

const char *run_host_name(const run_launcher *l, int which)
{
    return l->hosts[which].name ? l->hosts[which].name : l->here;
}

void run_send_all(run_launcher *l, run_kind kind, long number)
{
    for (int k = 0; k < l->plan->hosts; k++)
        if (l->hosts[k].greeted && l->hosts[k].orders >= 0) run_send_text(&l->hosts[k].out, kind, 0, "%ld", number);
}

/* ---- exits ------------------------------------------------------------------------------------------------------- */

void run_shutdown(run_launcher *l, long grace)
{
    if (l->shutting_down) return;
    l->shutting_down = true;
    l->give_up_at = cli_clock() + (double)grace + 2 * RUN_KILL_SECONDS;
    run_send_all(l, RUN_SHUTDOWN, grace);
    for (int k = 0; k < l->plan->hosts; k++)
        if (!l->hosts[k].greeted) run_host_disconnect(&l->hosts[k]);
}

/* Returns true if the error of rank `cause` reached `rank`, possibly through other ranks. */
static bool passed_on_error_of(const run_launcher *l, int rank, int cause)
{
    for (int hops = 0; hops < l->plan->ranks && rank >= 0 && rank < l->plan->ranks; hops++) {
        rank = l->ranks[rank].error_rank;
        if (rank == cause) return true;
    }
    return false;
}

/* Sets the cause to the first exit, or replaces it if this one is closer to the original error. */
static void update_cause(run_launcher *l, int cause, int code)
{
    const bool began =
        cause >= 0 && l->cause != cause && passed_on_error_of(l, l->cause, cause) && code != RUN_EXIT_RETRY;
    if (l->code != 0 && !began && (l->code != RUN_EXIT_RETRY || code == RUN_EXIT_RETRY)) return;
    l->code = code;
    l->cause = cause;
}

void run_fail(run_launcher *l, int cause, int code)
{
    if (l->shutting_down || l->interrupted) return;
    update_cause(l, cause, code);
    if (l->decide_at == 0) l->decide_at = cli_clock() + SETTLE_SECONDS;
    const bool others_may_know = cause >= 0 && l->ranks[cause].world >= RUN_JOINED;
    if (code != RUN_EXIT_RETRY && !others_may_know) run_shutdown(l, l->plan->grace);
}

static void end_rank(run_launcher *l, int number, int code, const char *how)
{
    run_rank *r = &l->ranks[number];
    if (r->ended) return;
    r->ended = true;
    r->runtime = cli_clock() - l->began;
    r->exited_early = code == 0 && !l->shutting_down;
    snprintf(r->exit_text, sizeof r->exit_text, "%s", how);
    l->lines[number].state = code ? "failed" : "done";
    l->alive--;
    run_output_finish(&r->voice, &l->to[0], &l->to[l->errors], number);
    if (code && l->interrupted) l->code = 128 + l->interrupted;
    if (code) run_fail(l, number, code);
}

/* Handles "exit 3", "signal 9", "start 127 ./prog: No such file or directory". */
static void on_exit_event(run_launcher *l, const run_message *event)
{
    char how[256], *rest;
    const char kind = event->text[0];
    const int code = (int)strtol(event->text + strcspn(event->text, " "), &rest, 10);
    if (kind == 'e')
        snprintf(how, sizeof how, "exit status %d", code);
    else if (strncmp(event->text, "signal", 6) == 0)
        run_describe_signal(how, code);
    else
        snprintf(how, sizeof how, "not started: %.200s", rest + strspn(rest, " "));
    end_rank(l, event->rank, strncmp(event->text, "signal", 6) == 0 ? 128 + code : code, how);
}

static const char *remote_shell(void)
{
    const char *rsh = getenv("WICK_RSH");
    return rsh && *rsh ? rsh : "ssh -x";
}

void run_check_connect_timeouts(run_launcher *l)
{
    bool late = false;
    for (int k = 0; k < l->plan->hosts; k++) {
        run_host *host = &l->hosts[k];
        if (!host->remote || host->greeted || host->events < 0) continue;
        if (cli_clock() - host->last_received <= (double)l->plan->connect_timeout) continue;
        run_log(l, "host %s: no answer within %ld s; check that `%s %s true` returns without a prompt", host->name,
                l->plan->connect_timeout, remote_shell(), host->name);
        run_host_disconnect(host);
        late = true;
    }
    if (late) run_fail(l, -1, CLI_FAILED);
}

void run_host_lost(run_launcher *l, int which, const char *why)
{
    run_host *host = &l->hosts[which];
    const bool greeted = host->greeted;
    if (greeted && !l->shutting_down)
        run_log(l, "host %s: %s", run_host_name(l, which), why); /* often the agent's own message */
    run_host_disconnect(host);
    if (l->shutting_down) return;
    if (greeted) {
        for (int k = 0; k < l->plan->ranks && l->started; k++)
            if (run_host_of(l->plan, k) == which) end_rank(l, k, RUN_EXIT_RETRY, "its host is unreachable");
    } else {
        run_log(l,
                "host %s: %s could not start an agent (see its output above); Wick must be installed there at the same "
                "path or in PATH",
                run_host_name(l, which), remote_shell());
    }
    run_fail(l, -1, greeted ? RUN_EXIT_RETRY : CLI_FAILED);
}

/* Reports ranks that ended with 0 before the others without leaving the world, upon which the others fail with 75. */
static void note_early(run_launcher *l)
{
    int first = -1, more = -1;
    for (int k = 0; k < l->plan->ranks; k++) {
        const run_rank *r = &l->ranks[k];
        if (!r->exited_early || r->world == RUN_LEFT) continue;
        if (first < 0 || r->runtime < l->ranks[first].runtime) first = k;
        more++;
    }
    if (first < 0) return;
    char others[64] = "";
    if (more > 0) snprintf(others, sizeof others, ", and so did %d more", more);
    run_log(l, "rank %d on %s exited with status 0 after %.1f s without calling %s%s", first, l->lines[first].host,
            l->ranks[first].runtime, l->ranks[first].world == RUN_JOINED ? "wk_dist_finish" : "wk_dist_init", others);
}

void run_report_world(run_launcher *l)
{
    bool joined = false, apart = false;
    for (int k = 0; k < l->plan->ranks; k++) {
        joined = joined || l->ranks[k].world >= RUN_JOINED;
        apart = apart || l->ranks[k].world == RUN_NOT_JOINED;
    }
    if (joined && l->cause >= 0) note_early(l);
    if (apart && !joined && !l->code && l->plan->ranks > 1)
        run_log(l, "no rank called wk_dist_init: each ran as a world of one");
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Starts the ranks as soon as all agents have answered and rank 0 has its port. */
static void start_when_ready(run_launcher *l)
{
    for (int k = 0; k < l->plan->hosts; k++)
        if (!l->hosts[k].greeted) return;
    if (l->port == 0 || l->started || l->shutting_down) return;
    l->started = true;
    l->began = cli_clock();
    for (int k = 0; k < l->plan->hosts; k++) run_host_send_setup(l->hosts, k, l->plan, l->port, l->secret);
}

static void on_output_event(run_launcher *l, int number, int stream, const run_message *event)
{
    run_progress_erase(&l->board, &l->to[0]);
    run_output_write(&l->ranks[number].voice, &l->to[stream == 0 ? 0 : l->errors], number, stream, event->text,
                     event->count, l->plan->raw);
    l->mid_line = l->plan->raw && event->count > 0 && event->text[event->count - 1] != '\n';
}

/* Parses status lines of a rank. */
static void on_status_event(run_launcher *l, int number, const run_message *event)
{
    run_world_state *world = &l->ranks[number].world;
    const char *text = event->text;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        run_rank_line_update(&l->lines[number], line);
        if (strcmp(line, "wick=open") == 0 && *world == RUN_NO_WICK) *world = RUN_NOT_JOINED;
        if (strcmp(line, "world=joined") == 0) *world = RUN_JOINED;
        if (strcmp(line, "world=left") == 0 && *world == RUN_JOINED) *world = RUN_LEFT;
        if (strncmp(line, "cause=", 6) == 0) l->ranks[number].error_rank = (int)strtol(line + 6, NULL, 10);
    }
}

/* Returns true unless an event about a rank comes from a host that does not run it. */
static bool is_from_owner(const run_launcher *l, int which, const run_message *event)
{
    const bool of_a_rank = event->kind >= RUN_STARTED && event->kind <= RUN_EXIT;
    return !of_a_rank || (event->rank < l->plan->ranks && run_host_of(l->plan, event->rank) == which);
}

static void dispatch_event(run_launcher *l, int which, const run_message *event)
{
    const int number = event->rank < l->plan->ranks ? event->rank : 0; /* for an event about the host, unused */
    run_rank_line *line = &l->lines[number];
    switch (event->kind) {
    case RUN_PORT: l->port = (int)strtol(event->text, NULL, 10); break;
    case RUN_STARTED: line->state = "running"; break;
    case RUN_STDOUT: on_output_event(l, number, 0, event); break;
    case RUN_STDERR: on_output_event(l, number, 1, event); break;
    case RUN_STATUS: on_status_event(l, number, event); break;
    case RUN_INPUT_ACK: l->unread_input -= (size_t)strtoul(event->text, NULL, 10); break;
    case RUN_STATE: line->state = event->text[0] == 's' ? "stopped" : "running"; break;
    case RUN_EXIT: on_exit_event(l, event); break;
    case RUN_HOST_ERROR:
        run_log(l, "host %s: %s", run_host_name(l, which), event->text);
        run_fail(l, -1, CLI_FAILED);
        break;
    default: break;
    }
}

void run_handle_events(run_launcher *l, int which)
{
    run_host *host = &l->hosts[which];
    run_message event;
    const ssize_t got = run_buffer_read(&host->in, host->events);
    int more = 0;
    if (got > 0 && host->greeted) host->last_received = cli_clock();
    if (!host->greeted && !run_host_skip_to_greeting(host)) more = -1;
    while (host->greeted && more >= 0 && (more = run_message_next(&host->in, &event)) > 0) {
        if (event.kind == RUN_AGENT_STOPPING) {
            run_host_lost(l, which, event.text);
            return;
        }
        if (!is_from_owner(l, which, &event)) {
            more = -1;
            break;
        }
        dispatch_event(l, which, &event);
        run_message_consume(&host->in, &event);
    }
    start_when_ready(l);
    if (got < 0 || more < 0) run_host_lost(l, which, more < 0 ? "protocol error" : "connection closed");
}
