/* SPDX-License-Identifier: Apache-2.0 */
/* wick run: starts a program as the ranks of one world (run.h). Parses the command line. */
#include "run.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int run_host_of(const run_config *plan, int rank)
{
    const int each = plan->ranks / plan->slots, more = plan->ranks % plan->slots;
    const int place = rank < more * (each + 1) ? rank / (each + 1) : more + (rank - more * (each + 1)) / each;
    return plan->slot_host[place];
}

/* Splits `text`, the value of --hosts, in place. Returns false for an invalid host name. */
static bool parse_hosts(run_config *plan, char *text)
{
    char *rest = text;
    for (char *word; (word = strsep(&rest, ","));) {
        int which = 0;
        if (!*word || *word == '-') return false; /* the remote shell would parse it as an option */
        while (which < plan->hosts && strcmp(plan->names[which], word) != 0) which++;
        if (which == plan->hosts) plan->names[plan->hosts++] = word;
        plan->slot_host[plan->slots++] = which;
    }
    return true;
}

/* Determines slots and the number of ranks. Returns false after reporting a mistake. */
static bool assign_slots(run_config *plan, char *hosts, const char *ranks_text)
{
    long ranks;
    if (!hosts) {
        plan->names[0] = NULL;
        plan->hosts = plan->slots = 1;
    } else if (!parse_hosts(plan, hosts)) {
        cli_usage_error("run", "--hosts expects a comma-separated list of names");
        return false;
    }
    if (!ranks_text && !hosts) {
        cli_usage_error("run", "missing -n N (number of ranks)");
        return false;
    }
    if (!ranks_text) ranks = plan->slots;
    if (ranks_text && !cli_number("run", "-n", ranks_text, 1, RUN_MOST_RANKS, &ranks)) return false;
    plan->ranks = (int)ranks;
    plan->raw = plan->raw || ranks == 1;
    if (plan->slots > plan->ranks) plan->slots = plan->ranks;
    plan->hosts = 1; /* hosts that get a rank; these are the first */
    for (int k = 0; k < plan->slots; k++)
        if (plan->slot_host[k] >= plan->hosts) plan->hosts = plan->slot_host[k] + 1;
    return true;
}

static int run(run_config *plan, const char *hosts, const char *ranks_text)
{
    char *text = hosts ? strdup(hosts) : NULL, *folder = getcwd(NULL, 0);
    size_t most = 1;
    for (const char *p = hosts; p && *p; p++) most += *p == ',';
    const char **names = calloc(most, sizeof *names);
    plan->names = names;
    plan->cwd = folder;
    plan->slot_host = calloc(most, sizeof *plan->slot_host);
    int code = CLI_FAILED;
    if ((hosts && !text) || !names || !plan->slot_host)
        fprintf(stderr, "wick run: out of memory\n");
    else
        code = assign_slots(plan, text, ranks_text) ? run_launch(plan) : CLI_USAGE;
    free(plan->slot_host), free(names), free(text), free(folder);
    return code;
}

int cli_run(int count, char **words)
{
    const char *ranks = NULL, *hosts = NULL, *timeout = NULL, *grace_text = "10", *raw = NULL, *pipe = NULL,
               *env = NULL, *serve = NULL;
    int rest;
    const cli_option options[] = {
        {"n", "N", "number of ranks; with --hosts default one per host", &ranks},
        {"-np", "N", NULL, &ranks}, /* as to mpirun */
        {"hosts", "A,B,...", "hosts to run on, filled in order; default this machine", &hosts},
        {"timeout", "S", "timeout in seconds of collectives (WICK_TIMEOUT) and of hosts at start", &timeout},
        {"grace", "S", "seconds from SIGTERM to SIGKILL when ranks are stopped, default 10", &grace_text},
        {"env", "NAMES", "comma-separated variables to pass to other hosts besides WICK_*", &env},
        {"raw", NULL, "do not prefix output lines with [rank]", &raw},
        {"pipe", NULL, "give ranks a pipe instead of a terminal as standard output", &pipe},
        {"serve", NULL, NULL, &serve}, /* internal: the agent on another host */
        {0}};
    const cli_syntax syntax = {
        "run", "[--] PROG [ARGS]",
        "Starts PROG as N ranks of one world, on this machine or on several over ssh (or the command in WICK_RSH).\n"
        "If a rank fails, the others are stopped and its last output is shown; the exit status is that of the failed\n"
        "rank, or 128 plus the signal number. 75 means that a restart may help.",
        options, CLI_PROGRAM};
    int done = cli_parse_before(&syntax, count, words, &rest);
    if (done >= 0) return done;
    if (serve) return run_agent(STDIN_FILENO, STDOUT_FILENO, -1, true);

    long grace, answer = RUN_HEARTBEAT_TIMEOUT;
    run_config plan = {.argv = words + rest, .raw = raw != NULL, .pipe = pipe != NULL, .timeout = timeout, .env = env};
    if (rest == count) return cli_usage_error("run", "missing PROG");
    if (!cli_number("run", "--grace", grace_text, 0, 3600, &grace)) return CLI_USAGE;
    if (timeout && !cli_number("run", "--timeout", timeout, 1, 1000000, &answer)) return CLI_USAGE;
    plan.grace = grace;
    plan.connect_timeout = answer;
    return run(&plan, hosts, ranks);
}
