/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, a clock, accuracy and curves; see run.h. */
#include "run.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_EPOCHS = 100000, REPORTS = 10 };

run read_run(int epochs, int argc, char **argv)
{
    run r = {.epochs = epochs, .seed = 1};
    r.device = argc > 1 ? wk_device_parse(argv[1]) : wk_try_gpu(0);
    const long wanted = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    if (r.device.kind < 0 || wanted < 0 || wanted > MOST_EPOCHS || argc > 5) {
        fprintf(stderr, "usage: %s [DEVICE [EPOCHS [SVG [SEED]]]], e.g. %s cpu 10 curve.svg 1\n", argv[0], argv[0]);
        exit(2);
    }
    if (wanted) r.epochs = (int)wanted;
    if (argc > 3 && strcmp(argv[3], "-") != 0) r.svg = argv[3];
    if (argc > 4) r.seed = strtoull(argv[4], NULL, 10);
    wk_seed(r.seed);
    return r;
}

double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool is_reported(int epoch, int epochs)
{
    return epoch == 1 || epoch == epochs || epoch % (epochs / REPORTS + 1) == 0;
}

wk_tensor *accuracy(wk_tensor *scores, wk_tensor *labels)
{
    WK_NO_GRAD;
    return wk_mean(wk_to_dtype(wk_eq(wk_argmax(scores, 1), labels), WK_F32));
}

void save_curve(const run *r, const char *title, const char *label, wk_history *history)
{
    if (!r->svg) return;
    wk_plot *plot = wk_plot_new(.title = title, .x_label = "epoch");
    wk_plot_history(plot, label, history, .first = 1);
    wk_plot_save(plot, r->svg);
}
