/* SPDX-License-Identifier: Apache-2.0 */
/* Baseline: a program that runs the same cases with another library, one round per request, so that its rounds and
 * Wick's alternate on the same machine. bench/pytorch.py is one.
 *
 *     wick bench                                   the program
 *                                  <-  PyTorch 2.15.0            its name, once
 *     fused 2 16777216             ->                            case, threads, sizes
 *                                  <-  0.0123                    seconds of one round; "-": unknown case */
#include "bench.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts the program with a pipe to its standard input and one from its output: [0] to read, [1] to write. */
static bool start(bench_baseline *peer, const char *command, const int in[2], const int out[2])
{
    peer->process = fork();
    if (peer->process == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[0]), close(in[1]), close(out[0]), close(out[1]);
        signal(SIGPIPE, SIG_DFL); /* ignored signals stay ignored after exec */
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    if (!(peer->to = fdopen(in[1], "w"))) close(in[1]); /* otherwise the program waits for requests forever */
    if (!(peer->from = fdopen(out[0], "r"))) close(out[0]);
    return peer->process > 0 && peer->to && peer->from;
}

/* Reads the next line, without its newline. Returns false if there is none. */
static bool answer(bench_baseline *peer, char *text, size_t room)
{
    if (!fgets(text, (int)room, peer->from)) return false;
    text[strcspn(text, "\n")] = 0;
    return text[0] != 0;
}

bool bench_baseline_start(bench_baseline *peer, const char *command)
{
    int in[2], out[2];
    *peer = (bench_baseline){0};
    signal(SIGPIPE, SIG_IGN); /* a program that exits early is detected by its end of output */
    if (pipe(in) != 0) return false;
    if (pipe(out) != 0) {
        close(in[0]), close(in[1]);
        return false;
    }
    if (start(peer, command, in, out) && answer(peer, peer->name, sizeof peer->name)) return true;
    bench_baseline_stop(peer);
    return false;
}

double bench_baseline_round(void *user)
{
    bench_query *question = user;
    bench_baseline *peer = question->peer;
    char text[64], *end;
    fprintf(peer->to, "%s %d %s\n", question->name, question->threads, question->sizes);
    if (fflush(peer->to) != 0 || !answer(peer, text, sizeof text)) return INFINITY;
    double seconds = strtod(text, &end);
    return end == text ? INFINITY : seconds;
}

void bench_baseline_stop(bench_baseline *peer)
{
    if (peer->to) fclose(peer->to);
    if (peer->from) fclose(peer->from);
    if (peer->process > 0) waitpid(peer->process, NULL, 0);
    *peer = (bench_baseline){0};
}
