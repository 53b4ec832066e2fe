/* SPDX-License-Identifier: Apache-2.0 */
/* wick/progress.h: progress bars, as tqdm.
 *
 *     wk_progress *bar = wk_progress_new("train", wk_loader_count(batches));
 *     WK_EACH(batch, batches) {
 *         ...
 *         wk_progress_step(bar, "loss", loss);
 *     }
 *
 *     train  42% [########------------]  59/140  12.3/s  0:07 left  loss 0.4312 */
#ifndef WICK_PROGRESS_H
#define WICK_PROGRESS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wk_progress_options {
    size_t size;
    wk_by_name by_name;
    FILE *stream;    /* the stream that the bar is written to; default stderr */
    double interval; /* seconds between two updates; default 0.1 on a terminal, 10 otherwise; 0: at each step */
    int64_t initial; /* steps that were done before a training was resumed; default 0 */
    bool disable;    /* write nothing, as on all ranks but one; default false */
    char reserved[7];
} wk_progress_options;
/* wk_progress_new(name, total): Creates a progress bar for total steps; 0 if the number is unknown. On a terminal the
 * bar is one line, redrawn; elsewhere each update is a new line. The last step ends the line; of fewer steps, the last
 * state is written when the bar is freed, for example by its scope.
 * Returns:   the bar, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if total or an option is negative, or name is NULL */
WK_RESULT_API wk_progress *wk_progress_new_at(wk_site site, const char *name, int64_t total,
                                              const wk_progress_options *options);
/* wk_progress_step(bar, label, x): Counts a step, and shows the element of x under label. It does not wait for a
 * device: the bar shows the newest value that has arrived on the host, usually that of the step before. An update that
 * finds no new value submits the recorded work, as wk_flush does; that of the last step waits for its value. If label
 * or x is NULL, the bar keeps showing the last value. While an error is pending it does nothing.
 * Lifetime:  label is copied
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_SHAPE if x does not have exactly one element */
WK_API wk_code wk_progress_step_at(wk_site site, wk_progress *bar, const char *label, wk_tensor *x);

#define wk_progress_step(bar, label, x) wk_progress_step_at(WK_HERE, bar, label, x)

#ifndef __cplusplus
#define wk_progress_new(name, ...)                                                                                     \
    WK_NEW_PROGRESS_(WK_OPT2_(wk_progress *, wk_progress_new, wk_progress_options, "name, total", name, __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
