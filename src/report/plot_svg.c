/* SPDX-License-Identifier: Apache-2.0 */
/* Plots as SVG: a title, axes with ticks, a path for each line, and the legend to the right of the axes.
 *
 *         title                          Lengths are in pixels of the document, the area between the axes is the
 *     y +---------------+  -- train      rectangle at (left, top). Of several points in one column of pixels a path has
 *       |               |  -- test       the first, the last and the extremes: a line of any length looks the same and
 *       +---------------+                gives a small file. */
#include "base/utf8.h"
#include "plot.h"
#include "plot_axis.h"
#include <math.h>
#include <string.h>

enum { LETTER = 7, WIDE_LETTER = 12, LINE_HEIGHT = 18, MARGIN = 14, TICK_X = 60, TICK_Y = 36, COLORS = 7 };

/* Colours of Okabe and Ito, which people with colour blindness can tell apart. */
static const char *const colors[COLORS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
/* The lines after the first COLORS repeat the colours in another pattern. */
static const char *const dashes[] = {"", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 2\"",
                                     " stroke-dasharray=\"8 3 2 3\""};

typedef struct drawing {
    const wk__plot *plot;
    wk__text *out;
    wk__plot_axis x, y;
    int left, top, right, bottom;
} drawing;

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Appends text with the characters of XML's syntax escaped, and U+FFFD for each byte that XML does not allow. */
static void add_escaped(wk__text *out, const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        const int bytes = wk__utf8_bytes(text, end);
        const unsigned char c = (unsigned char)*text;
        const bool noncharacter = bytes == 3 && memcmp(text, "\xef\xbf", 2) == 0 && (unsigned char)text[2] >= 0xbe;
        if (bytes == 0 || noncharacter || (c < 0x20 && c != '\n' && c != '\t'))
            wk__text_add(out, "\xef\xbf\xbd");
        else if (c == '<' || c == '>' || c == '&' || c == '"')
            wk__text_add(out, c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : "&quot;");
        else
            wk__text_add_n(out, text, bytes);
        text += bytes > 0 ? bytes : 1;
    }
}

/* Estimates the width of text in the font of the plot. */
static int width_of(const char *text)
{
    int64_t width = 0;
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 0x80 || c >= 0xc0) width += c >= 0xe0 ? WIDE_LETTER : LETTER;
    }
    return width < 10000 ? (int)width : 10000;
}

static void add_text(drawing *d, double x, double y, const char *attributes, const char *text)
{
    wk__text_format(d->out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
    add_escaped(d->out, text);
    wk__text_add(d->out, "</text>\n");
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

typedef struct range {
    double low, high;
} range;

static void extend(range *r, double value)
{
    if (value < r->low) r->low = value;
    if (value > r->high) r->high = value;
}

static bool shows(const wk__plot *plot, const wk__plot_line *line, int64_t k)
{
    return wk__plot_axis_shows(wk__plot_line_x(line, k), false) && wk__plot_axis_shows(line->y[k], plot->log_y);
}

static void make_axes(drawing *d)
{
    const wk__plot *plot = d->plot;
    range x = {INFINITY, -INFINITY}, y = x;
    for (int64_t n = 0; n < plot->lines; n++)
        for (int64_t k = 0; k < plot->line[n].count; k++) {
            if (!shows(plot, &plot->line[n], k)) continue;
            extend(&x, wk__plot_line_x(&plot->line[n], k));
            extend(&y, plot->line[n].y[k]);
        }
    d->x = wk__plot_axis_make(x.low, x.high, false, 0, plot->width / TICK_X);
    d->y = wk__plot_axis_make(y.low, y.high, plot->log_y, 0.05, plot->height / TICK_Y);
}

/* Returns the width of the widest label of the ticks of y. */
static int widest_label(const wk__plot_axis *y)
{
    int widest = 0;
    for (int k = 0; k < y->ticks; k++) {
        wk__text label = {0};
        wk__plot_axis_label(y, k, &label);
        const int width = label.data ? width_of(label.data) : 0;
        if (width > widest) widest = width;
        wk__text_free(&label);
    }
    return widest;
}

static double x_at(const drawing *d, double value)
{
    return d->left + d->plot->width * wk__plot_axis_position(&d->x, value);
}

static double y_at(const drawing *d, double value)
{
    return d->bottom - d->plot->height * wk__plot_axis_position(&d->y, value);
}

static void add_ticks(drawing *d, const wk__plot_axis *axis, bool vertical)
{
    wk__text_add(d->out, "<path stroke=\"#dddddd\" d=\"");
    for (int k = 0; k < axis->ticks; k++)
        if (vertical)
            wk__text_format(d->out, "M%d %.1fH%d", d->left, y_at(d, axis->tick[k]), d->right);
        else
            wk__text_format(d->out, "M%.1f %dV%d", x_at(d, axis->tick[k]), d->top, d->bottom);
    wk__text_add(d->out, "\"/>\n");
    for (int k = 0; k < axis->ticks; k++) {
        wk__text label = {0};
        wk__plot_axis_label(axis, k, &label);
        if (label.failed) d->out->failed = true;
        if (label.data && vertical)
            add_text(d, d->left - 6, y_at(d, axis->tick[k]) + 4, " text-anchor=\"end\"", label.data);
        else if (label.data)
            add_text(d, x_at(d, axis->tick[k]), d->bottom + LINE_HEIGHT, " text-anchor=\"middle\"", label.data);
        wk__text_free(&label);
    }
}

static void add_frame(drawing *d)
{
    const wk__plot *plot = d->plot;
    const double middle = d->left + plot->width / 2.0, half = d->top + plot->height / 2.0;
    add_ticks(d, &d->x, false);
    add_ticks(d, &d->y, true);
    wk__text_format(d->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#444444\"/>\n",
                    d->left, d->top, plot->width, plot->height);
    if (plot->title) add_text(d, middle, d->top - 12, " text-anchor=\"middle\" font-size=\"15\"", plot->title);
    if (plot->x_label) add_text(d, middle, d->bottom + 2 * LINE_HEIGHT + 2, " text-anchor=\"middle\"", plot->x_label);
    if (!plot->y_label) return;
    wk__text_format(d->out, "<g transform=\"translate(%d %.1f) rotate(-90)\">", MARGIN + 4, half);
    add_text(d, 0, 0, " text-anchor=\"middle\"", plot->y_label);
    wk__text_add(d->out, "</g>\n");
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Points of a run in one column of pixels, by index. */
typedef struct column {
    double at;
    int64_t first, low, high, last;
} column;

static void add_point(drawing *d, const wk__plot_line *line, int64_t k, bool begins)
{
    wk__text_format(d->out, "%c%.1f %.1f", begins ? 'M' : 'L', x_at(d, wk__plot_line_x(line, k)), y_at(d, line->y[k]));
}

static void add_column(drawing *d, const wk__plot_line *line, const column *c, bool begins)
{
    const int64_t early = c->low < c->high ? c->low : c->high, late = c->low < c->high ? c->high : c->low;
    add_point(d, line, c->first, begins);
    if (early > c->first) add_point(d, line, early, false);
    if (late > early && late < c->last) add_point(d, line, late, false);
    if (c->last > early) add_point(d, line, c->last, false);
}

/* Appends the path of the points from, ..., to - 1, which have no gap. */
static void add_run(drawing *d, const wk__plot_line *line, int64_t from, int64_t to)
{
    column c = {0};
    bool begins = true;
    for (int64_t k = from; k < to; k++) {
        const double at = floor(x_at(d, wk__plot_line_x(line, k)));
        if (k > from && at == c.at) {
            if (line->y[k] < line->y[c.low]) c.low = k;
            if (line->y[k] > line->y[c.high]) c.high = k;
            c.last = k;
            continue;
        }
        if (k > from) add_column(d, line, &c, begins), begins = false;
        c = (column){at, k, k, k, k};
    }
    add_column(d, line, &c, begins);
}

/* Returns true if the points from, ..., to - 1 are within one pixel, where a path would hardly be visible. */
static bool is_dot(const drawing *d, const wk__plot_line *line, int64_t from, int64_t to)
{
    const double x = x_at(d, wk__plot_line_x(line, from)), y = y_at(d, line->y[from]);
    for (int64_t k = from + 1; k < to; k++)
        if (fabs(x_at(d, wk__plot_line_x(line, k)) - x) > 0.5 || fabs(y_at(d, line->y[k]) - y) > 0.5) return false;
    return true;
}

static void add_line(drawing *d, int64_t n)
{
    const wk__plot_line *line = &d->plot->line[n];
    wk__text dots = {0};
    wk__text_format(d->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-linejoin=\"round\"%s d=\"",
                    colors[n % COLORS], dashes[n / COLORS % 4]);
    for (int64_t from = 0, to; from < line->count; from = to) {
        to = from + 1;
        if (!shows(d->plot, line, from)) continue;
        while (to < line->count && shows(d->plot, line, to)) to++;
        if (!is_dot(d, line, from, to))
            add_run(d, line, from, to);
        else
            wk__text_format(&dots, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n",
                            x_at(d, wk__plot_line_x(line, from)), y_at(d, line->y[from]), colors[n % COLORS]);
    }
    wk__text_add(d->out, "\"/>\n");
    if (dots.data) wk__text_add_n(d->out, dots.data, dots.length);
    if (dots.failed) d->out->failed = true;
    wk__text_free(&dots);
}

static void add_legend(drawing *d)
{
    int row = 0;
    for (int64_t n = 0; n < d->plot->lines; n++) {
        if (!d->plot->line[n].label) continue;
        const int y = d->top + LINE_HEIGHT * row++ + LINE_HEIGHT / 2;
        wk__text_format(d->out, "<path stroke=\"%s\" stroke-width=\"1.8\"%s d=\"M%d %dh24\"/>\n", colors[n % COLORS],
                        dashes[n / COLORS % 4], d->right + MARGIN, y);
        add_text(d, d->right + MARGIN + 30, y + 4, "", d->plot->line[n].label);
    }
}

static void legend_size(const wk__plot *plot, int *width, int *height)
{
    *width = *height = 0;
    for (int64_t n = 0; n < plot->lines; n++) {
        if (!plot->line[n].label) continue;
        const int text = MARGIN + 30 + width_of(plot->line[n].label);
        if (text > *width) *width = text;
        *height += *height < 1000000 ? LINE_HEIGHT : 0;
    }
}

void wk__plot_svg(const wk__plot *plot, wk__text *out)
{
    drawing d = {.plot = plot, .out = out};
    int legend_width, legend_height;
    make_axes(&d);
    legend_size(plot, &legend_width, &legend_height);
    d.left = MARGIN + (plot->y_label ? LINE_HEIGHT : 0) + widest_label(&d.y) + 6;
    d.top = plot->title ? 36 : MARGIN;
    d.right = d.left + plot->width;
    d.bottom = d.top + plot->height;
    const int width = d.right + legend_width + 2 * MARGIN, below = LINE_HEIGHT * (plot->x_label ? 2 : 1) + MARGIN;
    const int height = (plot->height > legend_height ? d.bottom : d.top + legend_height) + below;
    wk__text_format(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                    "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
                    width, height, width, height, width, height);
    add_frame(&d);
    for (int64_t n = 0; n < plot->lines; n++) add_line(&d, n);
    add_legend(&d);
    wk__text_add(out, "</svg>\n");
}
