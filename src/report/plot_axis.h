/* SPDX-License-Identifier: Apache-2.0 */
/* The scale of an axis: its range, and its ticks with their labels. */
#ifndef WICK_REPORT_PLOT_AXIS_H
#define WICK_REPORT_PLOT_AXIS_H

#include "base/text.h"

enum { WK__MOST_TICKS = 32 };

typedef struct wk__plot_axis {
    double low, high; /* values at the ends; low < high, and 0 < low on a logarithmic scale */
    bool log;
    int ticks;
    double tick[WK__MOST_TICKS]; /* in ascending order, in [low, high] */
    double step;                 /* between two ticks; 0 if they are not equidistant */
} wk__plot_axis;

/* Returns true if an axis can show the value: a number of magnitude at most 1e300, on a logarithmic scale at least
 * 1e-300. */
bool wk__plot_axis_shows(double value, bool log);
/* Makes an axis for values in [low, high], with a margin of `margin` times the range at both ends and at most about
 * `wanted` ticks, 2 to 12. low > high: there are no values. */
wk__plot_axis wk__plot_axis_make(double low, double high, bool log, double margin, int wanted);
/* Returns the position of a value between 0 at low and 1 at high. */
double wk__plot_axis_position(const wk__plot_axis *axis, double value);
/* Appends the label of tick k. */
void wk__plot_axis_label(const wk__plot_axis *axis, int k, wk__text *text);

#endif
