/* SPDX-License-Identifier: Apache-2.0 */
/* A rank of a world for tests of launchers: world [STEPS [RANK DOES]]. In each step all ranks add 64 Ki numbers. In the
 * middle of it all, RANK does something: "kill" itself, "stop", "exit3", "exit0", "fail" with an error, give wk_ddp
 * an input of the wrong width ("ddp", in which all call it); or it is
 * "absent" from the beginning, as all are with "apart", who then do nothing together. Rank 0 tells how it was. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wick.h>

static void misbehave(const char *how)
{
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "stop") == 0) raise(SIGSTOP);
    if (strcmp(how, "exit3") == 0) exit(3);
    if (strcmp(how, "exit0") == 0) exit(0);
    if (strcmp(how, "fail") == 0) (void)wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
}

static void train(bool wrongly)
{
    wk_module *ddp = wk_ddp(wk_nn_linear(4, 3));
    wk_backward(wk_sum(wk_forward(ddp, wk_ones((1, wrongly ? 5 : 4)))));
}

int main(int count, char **words)
{
    enum { NUMBERS = 1 << 16 };
    WK_SCOPE;
    const int steps = count > 1 ? atoi(words[1]) : 3, culprit = count > 3 ? atoi(words[2]) : -1;
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    const char *does = count > 3 ? words[3] : "", *number = getenv("WICK_RANK");
    if (strcmp(does, "absent") == 0 && number && atoi(number) == culprit) return 0;
    const bool apart = strcmp(does, "apart") == 0;
    if (!apart) wk_dist_init();
    const int rank = wk_dist_rank(), world = wk_dist_size(), local = wk_dist_local_rank();
    int right = 0;
    for (int step = 0; step < steps && !wk_error(); step++) {
        WK_SCOPE;
        if (rank == culprit && step == steps / 2) misbehave(does);
        if (strcmp(does, "ddp") == 0) train(rank == culprit && step == steps / 2);
        if (wk_error()) break;
        wk_tensor *x = wk_full((NUMBERS), rank + step);
        if (!apart) wk_dist_all_reduce_(x);
        right += wk_item(wk_amin(x)) == world * step + world * (world - 1) / 2;
    }
    wk_dist_finish();
    if (!wk_error()) printf("rank %d of %d, %d on %s: %d of %d steps\n", rank, world, local, host, right, steps);
    return wk_error() ? wk_report_error(stderr) : right != steps;
}
