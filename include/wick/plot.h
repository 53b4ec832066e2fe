/* SPDX-License-Identifier: Apache-2.0 */
/* wick/plot.h: curves in SVG files, which browsers, documents and web pages show.
 *
 *     wk_plot *plot = wk_plot_new(.title = "LeNet", .x_label = "epoch", .log_y = true);
 *     wk_plot_line(plot, "train", NULL, train_loss, epochs);
 *     wk_plot_line(plot, "test", NULL, test_loss, epochs);
 *     wk_plot_save(plot, "curves.svg"); */
#ifndef WICK_PLOT_H
#define WICK_PLOT_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wk_plot wk_plot; /* curves with common axes */

typedef struct wk_plot_options {
    size_t size;
    wk_by_name by_name;
    const char *title;             /* above the axes; default none */
    const char *x_label, *y_label; /* at the axes; default none */
    bool log_y;                    /* logarithmic scale of y; default false */
    char reserved[7];
    int64_t width, height; /* of the area between the axes, in pixels, in [50, 10000]; default 480 and 300 */
} wk_plot_options;
/* wk_plot_new(): Creates a plot without lines. The axes cover all lines, and their ticks are at 1, 2 or 5 times a power
 * of 10. Texts are UTF-8.
 * Lifetime:  texts are copied
 * Returns:   the plot, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if .width or .height is out of range */
WK_RESULT_API wk_plot *wk_plot_new_at(wk_site site, const wk_plot_options *options);

/* wk_plot_line(plot, label, x, y, count): Adds a line through the points (x[k], y[k]). If x is NULL, x[k] is k. The
 * legend has an entry for each line; none if label is NULL.
 * Gaps:      the line is interrupted at a point with a NaN, an infinity or a magnitude above 1e300, and with .log_y at
 *            a y below 1e-300. A point between two gaps is drawn as a dot
 * Lifetime:  label and the points are copied
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if count is negative, or y is NULL and count is not 0
 * Source:    matplotlib.pyplot.plot */
WK_API wk_code wk_plot_line_at(wk_site site, wk_plot *plot, const char *label, const double *x, const double *y,
                               int64_t count);
/* wk_plot_tensor(plot, label, x, y): Adds a line as wk_plot_line, from tensors on any device. x may be NULL. Waits for
 * the device.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_SHAPE if x or y does not have one dimension, or their sizes differ */
WK_API wk_code wk_plot_tensor_at(wk_site site, wk_plot *plot, const char *label, wk_tensor *x, wk_tensor *y);

typedef struct wk_plot_history_options {
    size_t size;
    wk_by_name by_name;
    double first; /* x of the first value; default 0 */
    double step;  /* difference of x between two values; default 1 */
} wk_plot_history_options;
/* wk_plot_history(plot, label, history): Adds a line of the values of a history. Waits for the device.
 *
 *     wk_plot_history(plot, "loss", losses, .step = 1.0 / wk_loader_count(batches));
 *
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if .first or .step is not finite */
WK_API wk_code wk_plot_history_at(wk_site site, wk_plot *plot, const char *label, wk_history *history,
                                  const wk_plot_history_options *options);

/* wk_plot_save(plot, path): Writes the plot as an SVG file. The file is replaced entirely or not at all, as by wk_save.
 * Returns:   WK_OK or an error code; the code of a pending error, without writing
 * Errors:    WK_ERR_IO if the system reports an error */
WK_API wk_code wk_plot_save_at(wk_site site, wk_plot *plot, const char *path);

#define wk_plot_line(...)   wk_plot_line_at(WK_HERE, __VA_ARGS__)
#define wk_plot_tensor(...) wk_plot_tensor_at(WK_HERE, __VA_ARGS__)
#define wk_plot_save(...)   wk_plot_save_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define wk_plot_new(...) WK_OPT0_(wk_plot *, wk_plot_new, wk_plot_options, __VA_ARGS__)
#define wk_plot_history(plot, label, ...)                                                                              \
    WK_OPT3_(wk_code, wk_plot_history, wk_plot_history_options, "plot, label, history", plot, label, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
