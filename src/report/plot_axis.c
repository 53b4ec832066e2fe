/* SPDX-License-Identifier: Apache-2.0 */
/* Scales of axes. Ticks are at multiples of 1, 2 or 5 times a power of 10, on a logarithmic scale at these numbers. */
#include "plot_axis.h"
#include <math.h>
#include <string.h>

static const double largest = 1e300, smallest = 1e-300;

bool wk__plot_axis_shows(double value, bool log)
{
    return fabs(value) <= largest && (!log || value >= smallest);
}

/* Returns digit * 10^exponent, correctly rounded for small exponents. */
static double decimal(double digit, int exponent)
{
    return exponent >= 0 ? digit * pow(10, exponent) : digit / pow(10, -exponent);
}

static int exponent_of(double value)
{
    return (int)floor(log10(value));
}

static void add_tick(wk__plot_axis *axis, double at)
{
    const double slack = 1e-9 * (axis->high - axis->low);
    if (axis->ticks < WK__MOST_TICKS && at >= axis->low - slack && at <= axis->high + slack)
        axis->tick[axis->ticks++] = at;
}

/* The multiples of the smallest step that gives at most `wanted` intervals. */
static void linear_ticks(wk__plot_axis *axis, int wanted)
{
    const double raw = (axis->high - axis->low) / wanted;
    int exponent = exponent_of(raw);
    const double mantissa = raw / decimal(1, exponent);
    double digit = mantissa <= 1 + 1e-9 ? 1 : mantissa <= 2 + 1e-9 ? 2 : mantissa <= 5 + 1e-9 ? 5 : 10;
    if (digit > 5) digit = 1, exponent++;
    axis->step = decimal(digit, exponent);
    const double first = ceil(axis->low / axis->step - 1e-9), last = floor(axis->high / axis->step + 1e-9);
    for (double k = first; k <= last; k++) add_tick(axis, k == 0 ? 0 : decimal(k * digit, exponent));
}

/* Powers of 10; over less than three decades also 2 and 5 times these, or equidistant numbers within one. */
static void log_ticks(wk__plot_axis *axis, int wanted)
{
    const int from = (int)ceil(log10(axis->low) - 1e-9), to = (int)floor(log10(axis->high) + 1e-9);
    if (to - from >= 2) {
        const int stride = (to - from) / wanted + 1;
        for (int k = from; k <= to; k++)
            if (k % stride == 0) add_tick(axis, decimal(1, k));
        return;
    }
    for (int k = from - 1; k <= to; k++)
        for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) add_tick(axis, decimal(digit, k));
    if (axis->ticks >= 3) return;
    axis->ticks = 0;
    linear_ticks(axis, wanted);
}

/* Widens a range of a single value, or one too narrow for ticks. */
static void widen(double *low, double *high, bool log)
{
    const double magnitude = fmax(fabs(*low), fabs(*high));
    if (*high - *low >= fmax(1e-12 * magnitude, 1e-290)) return;
    const double by = log ? 0.5 * *low : magnitude > 1e-280 ? 0.1 * magnitude : 1;
    *low -= by;
    *high += by;
}

wk__plot_axis wk__plot_axis_make(double low, double high, bool log, double margin, int wanted)
{
    wk__plot_axis axis = {.log = log};
    if (low > high) low = log ? 1 : 0, high = log ? 10 : 1;
    widen(&low, &high, log);
    if (log) {
        const double factor = pow(high, margin) / pow(low, margin);
        axis.low = fmax(low / factor, 1e-305), axis.high = fmin(high * factor, 1e305);
    } else {
        const double by = margin * (high - low);
        axis.low = low - by, axis.high = high + by;
    }
    wanted = wanted < 2 ? 2 : wanted > 12 ? 12 : wanted;
    if (log)
        log_ticks(&axis, wanted);
    else
        linear_ticks(&axis, wanted);
    return axis;
}

double wk__plot_axis_position(const wk__plot_axis *axis, double value)
{
    if (!axis->log) return (value - axis->low) / (axis->high - axis->low);
    const double low = log10(axis->low);
    return (log10(value) - low) / (log10(axis->high) - low);
}

/* Appends 1.5e6 for 1500000, with this number of decimals. */
static void add_scientific(wk__text *text, double value, int places)
{
    char number[64];
    wk__format_double(number, sizeof number, value, 'e', places < 0 ? 0 : places > 15 ? 15 : places);
    const char *at = strchr(number, 'e'), *digits = at + 2;
    while (*digits == '0' && digits[1]) digits++;
    wk__text_add_n(text, number, at - number);
    wk__text_add(text, at[1] == '-' ? "e-" : "e");
    wk__text_add(text, digits);
}

void wk__plot_axis_label(const wk__plot_axis *axis, int k, wk__text *text)
{
    const double value = axis->tick[k], last = fmax(fabs(axis->tick[0]), fabs(axis->tick[axis->ticks - 1]));
    const bool even = axis->step > 0;
    const int digit_at = value == 0 ? 0 : exponent_of((even ? axis->step : fabs(value)) * (1 + 1e-9)); /* of the last */
    if (value == 0 || ((even ? last : fabs(value)) < 1e6 && digit_at >= -4))
        wk__text_double(text, value, 'f', digit_at >= 0 ? 0 : -digit_at);
    else
        add_scientific(text, value, exponent_of(fabs(value) * (1 + 1e-9)) - digit_at);
}
