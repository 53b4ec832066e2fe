/* SPDX-License-Identifier: Apache-2.0 */
/* How long all_reduce takes between processes of this machine, or of those that somebody else has started.
 *
 *     collectives [RANKS [SECONDS]]     starts RANKS processes (2) itself; under mpirun, srun or wick run it is one of
 *                                       them: collectives 0
 *
 * A line for each size: the least time of a call of many rounds, the median, and the bytes of the tensor over the least
 * time. Each call is between two barriers' worth of agreement, so no rank is ahead of another. */
#include "clock.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wick.h>

enum { MOST_ROUNDS = 20000 };

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(int64_t bytes, double seconds)
{
    static double took[MOST_ROUNDS];
    WK_SCOPE;
    wk_tensor *x = wk_ones((bytes / 4)), *keep_going = wk_ones((1));
    int rounds = 0;
    wk_sync();
    const double begin = bench_seconds();
    while (wk_item(keep_going) > 0 && rounds < MOST_ROUNDS) {
        const double start = bench_seconds();
        wk_dist_all_reduce_(x, .op = WK_DIST_AVG);
        took[rounds++] = bench_seconds() - start;
        if (rounds % 8) continue;
        wk_fill_(keep_going, bench_seconds() - begin < seconds || rounds < 16); /* rank 0 says when it is enough */
        wk_dist_broadcast_(keep_going, 0);
    }
    qsort(took, (size_t)rounds, sizeof *took, by_size);
    if (wk_dist_rank() == 0)
        printf("%9lld bytes %10.4f ms %10.4f ms in the middle of %5d rounds %8.3f GB/s\n", (long long)bytes,
               took[0] * 1e3, took[rounds / 2] * 1e3, rounds, (double)bytes / took[0] * 1e-9);
}

static int rank(double seconds)
{
    static const int64_t sizes[] = {4, 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 64 << 20};
    WK_SCOPE;
    wk_dist_init();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && !wk_error(); k++) measure(sizes[k], seconds);
    wk_dist_finish();
    return wk_error() ? wk_report_error(stderr) : 0;
}

/* A port that nobody else has, and the variables by which each process knows its rank. */
static void start(int ranks, double seconds)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    char text[64];
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 16)) exit(1);
    getsockname(listener, (struct sockaddr *)&at, &size);
    snprintf(text, sizeof text, "127.0.0.1:%d", ntohs(at.sin_port));
    setenv("WICK_COORDINATOR", text, 1);
    snprintf(text, sizeof text, "%d", ranks);
    setenv("WICK_WORLD_SIZE", text, 1);
    for (int k = 0; k < ranks; k++) {
        if (fork() != 0) continue;
        snprintf(text, sizeof text, "%d", k);
        setenv("WICK_RANK", text, 1);
        snprintf(text, sizeof text, "%d", listener);
        setenv("WICK_LISTEN_FD", text, 1);
        exit(rank(seconds));
    }
}

int main(int argc, char **argv)
{
    const int ranks = argc > 1 ? atoi(argv[1]) : 2;
    const double seconds = argc > 2 ? atof(argv[2]) : 1;
    int status, worst = 0;
    if (ranks == 0) return rank(seconds);
    start(ranks, seconds);
    while (wait(&status) > 0) worst = status ? 1 : worst;
    return worst;
}
