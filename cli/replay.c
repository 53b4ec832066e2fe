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
        "Runs the work that WICK_CHECK=1 wrote into FILE because it came out in two ways: call by call, as planned "
        "(with\n"
        "the program of each pass), with every op a kernel of its own, checked again, with 1, 2 and 7 threads. Each "
        "is\n"
        "compared with the first, bit for bit. WICK_CPU chooses the CPU's instructions as in any program.\n"
        "Exit code 1 when they differ.",
        options, 1};
    int done = cli_parse(&syntax, count, words, &file);
    if (done >= 0) return done;
    if (!file) return cli_usage_error("replay", "which file?");
    const wk_code code = wk_replay(file, print_line, NULL);
    if (code != WK_OK) {
        fflush(stdout);
        wk_report_error(NULL);
    }
    return code == WK_OK ? CLI_OK : CLI_FAILED;
}
