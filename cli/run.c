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
        cli_usage_error("run", "--hosts takes names with commas between them");
        return false;
    }
    if (!ranks_text && !hosts) {
        cli_usage_error("run", "how many ranks: -n N");
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
        {"n", "N", "how many ranks; with --hosts default one on each", &ranks},
        {"-np", "N", NULL, &ranks}, /* as for mpirun */
        {"hosts", "A,B,...", "where: the first N/hosts ranks on A, and so on; default here", &hosts},
        {"timeout", "S", "seconds that a collective may take (WICK_TIMEOUT), and a host to answer", &timeout},
        {"grace", "S", "seconds from TERM to KILL when ranks are ended, default 10", &grace_text},
        {"env", "NAMES", "variables that other hosts get, beside WICK_...: A,B", &env},
        {"raw", NULL, "output as it comes, without [rank]", &raw},
        {"pipe", NULL, "a pipe, and no terminal, as standard output of the ranks", &pipe},
        {"serve", NULL, "what it starts on other hosts: takes its orders from there", &serve},
        {0}};
    const cli_syntax syntax = {
        "run", "[--] PROG [ARGS]",
        "Starts a program as N ranks of one world, on this machine or on several, which it reaches by ssh (or by\n"
        "what WICK_RSH names). When a rank fails, the others are ended, and its last words are repeated; the exit\n"
        "code is that of this rank, 128 and the number for a signal. 75: starting again may help.",
        options, CLI_PROGRAM};
    int done = cli_parse_before(&syntax, count, words, &rest);
    if (done >= 0) return done;
    if (serve) return run_agent(STDIN_FILENO, STDOUT_FILENO, -1, true);

    long grace, answer = RUN_HEARTBEAT_TIMEOUT;
    run_config plan = {.argv = words + rest, .raw = raw != NULL, .pipe = pipe != NULL, .timeout = timeout, .env = env};
    if (rest == count) return cli_usage_error("run", "which program?");
    if (!cli_number("run", "--grace", grace_text, 0, 3600, &grace)) return CLI_USAGE;
    if (timeout && !cli_number("run", "--timeout", timeout, 1, 1000000, &answer)) return CLI_USAGE;
    plan.grace = grace;
    plan.connect_timeout = answer;
    return run(&plan, hosts, ranks);
}
