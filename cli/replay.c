/* SPDX-License-Identifier: Apache-2.0 */
/* wick replay: runs a flush saved by WICK_CHECK=1 again in all modes. */
#include "cli.h"

static void print_line(void *user, const char *line)
{
    (void)user;
    printf("%s\n", line);
}

int cli_replay(int count, char **words)
{
    const char *file = NULL;
    const cli_option options[] = {{0}};
    const cli_syntax syntax = {
        "replay", "FILE",
        "Re-runs the work in FILE, which WICK_CHECK=1 wrote because two executions differed: call by call, as planned\n"
        "(and prints the program of each pass), without fusion, checked again, with 1, 2 and 7 threads. Compares each\n"
        "with the first, bit for bit. WICK_CPU selects the CPU's instructions as usual.\n"
        "Exit status 1 if they differ.",
        options, 1};
    int done = cli_parse(&syntax, count, words, &file);
    if (done >= 0) return done;
    if (!file) return cli_usage_error("replay", "missing FILE");
    const wk_code code = wk_replay(file, print_line, NULL);
    if (code != WK_OK) {
        fflush(stdout);
        wk_report_error(NULL);
    }
    return code == WK_OK ? CLI_OK : CLI_FAILED;
}
