/* SPDX-License-Identifier: Apache-2.0 */
/* wick: the command-line program. Dispatches to the subcommand; each has its own file. */
#include "cli.h"
#include <fcntl.h>
#include <string.h>

static const struct {
    const char *name, *doc;
    int (*run)(int count, char **words);
} commands[] = {
    {"devices", "show the devices of this machine and their load", cli_devices},
    {"doctor", "check the installation and report problems", cli_doctor},
    {"tour", "run the 23 steps of the GPU tutorial on these devices", cli_tour},
    {"bench", "benchmark the library against the limits of this machine", cli_bench},
    {"train", "train a network on handwritten digits, clothes or text", cli_train},
    {"predict", "classify image files with a trained network", cli_predict},
    {"generate", "continue a text with a language model", cli_generate},
    {"ops", "list the operations", cli_ops},
    {"run", "start a program as several ranks, here or on several hosts", cli_run},
    {"replay", "re-run a failure recorded by WICK_CHECK=1", cli_replay},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *out)
{
    fprintf(out, "usage: wick COMMAND [OPTIONS]\n\ncommands:\n");
    for (int k = 0; k < COMMANDS; k++) fprintf(out, "  %-9s %s\n", commands[k].name, commands[k].doc);
    fprintf(out, "\n"
                 "Run `wick COMMAND --help` for details. Exit status: 0 success, 1 failure, 2 usage error.\n");
}

/* Flushes stdout: writing may fail only now, on a full disk or a closed pipe. */
static int finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "wick: cannot write the output\n");
    return CLI_FAILED;
}

/* Opens /dev/null on each standard stream that is closed (>&-), read-only so that output fails. Otherwise the next file
 * to be opened would get its number, and output would go there. */
static void occupy_closed_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) return;
}

/* Changes the words `wick help COMMAND ...` to `wick COMMAND ... --help`. */
static void make_help(int argc, char **argv)
{
    static char option[] = "--help";
    for (int k = 2; k < argc; k++) argv[k - 1] = argv[k];
    argv[argc - 1] = option;
}

int main(int argc, char **argv)
{
    occupy_closed_streams();
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--version") == 0) {
        printf("wick %s\n", wk_version());
        return finish(CLI_OK);
    }
    const bool asks = strcmp(name, "help") == 0;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (asks && argc == 2)) {
        help(stdout);
        return finish(CLI_OK);
    }
    if (asks) {
        make_help(argc, argv);
        name = argv[1];
    }
    const char *nearest = NULL;
    for (int k = 0; k < COMMANDS; k++) {
        if (strcmp(commands[k].name, name) == 0) return finish(commands[k].run(argc - 2, argv + 2));
        nearest = cli_nearer(name, commands[k].name, nearest);
    }
    if (*name)
        fprintf(stderr, "wick: unknown command \"%s\"%s%s%s\n", name, nearest ? "; did you mean " : "",
                nearest ? nearest : "", nearest ? "?" : "");
    help(stderr);
    return CLI_USAGE;
}
