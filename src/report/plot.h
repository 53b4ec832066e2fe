/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a plot, which plot.c collects and plot_svg.c draws. */
#ifndef WICK_REPORT_PLOT_H
#define WICK_REPORT_PLOT_H

#include "base/text.h"

/* A line through points. */
typedef struct wk__plot_line {
    char *label;        /* owned; NULL: not in the legend */
    double *x, *y;      /* [count], owned; x is NULL: first, first + step, ... */
    double first, step; /* if x is NULL */
    int64_t count;
} wk__plot_line;

typedef struct wk__plot {
    char *title, *x_label, *y_label; /* owned; NULL: none */
    bool log_y;
    int width, height; /* of the area between the axes, in pixels */
    wk__plot_line *line;
    int64_t lines, capacity;
} wk__plot;

static inline double wk__plot_line_x(const wk__plot_line *line, int64_t k)
{
    return line->x ? line->x[k] : line->first + line->step * (double)k;
}

/* Appends the plot as an SVG document. */
void wk__plot_svg(const wk__plot *plot, wk__text *out);

#endif
