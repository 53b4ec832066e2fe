/* SPDX-License-Identifier: Apache-2.0 */
/* Curves in the terminal, and bars in SVG files. */
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_COLUMNS = 160, MOST_ROWS = 32 };

/* Returns the mean of the values in part k of `parts`, to reduce a curve to few points. */
static double part_mean(const double *values, int64_t count, int k, int parts)
{
    int64_t from = count * k / parts, to = count * (k + 1) / parts;
    if (to <= from) to = from + 1;
    double sum = 0;
    for (int64_t i = from; i < to; i++) sum += values[i];
    return sum / (double)(to - from);
}

static void extremes(const double *points, int count, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int k = 0; k < count; k++) {
        if (points[k] < *low) *low = points[k];
        if (points[k] > *high) *high = points[k];
    }
    if (!(*high > *low)) *high = *low + 1;
}

/* ---- in the terminal --------------------------------------------------------------------------------------------- */

static bool is_utf8(void)
{
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int k = 0; k < 3; k++) {
        const char *text = getenv(names[k]);
        if (text && *text) return strcasestr(text, "utf-8") || strcasestr(text, "utf8");
    }
    return false;
}

/* A Braille character shows 2 x 4 dots:   0 3
 *                                         1 4
 *                                         2 5
 *                                         6 7    dot d is bit d of U+2800 + bits */
static void put_cell(unsigned bits, bool braille)
{
    if (bits == 0)
        putchar(' ');
    else if (braille)
        printf("\xe2%c%c", (char)(0xa0 | bits >> 6), (char)(0x80 | (bits & 63)));
    else
        putchar('*');
}

void cli_curve(const double *values, int64_t count, int rows, const char *title)
{
    static const unsigned char dot[4][2] = {{0, 3}, {1, 4}, {2, 5}, {6, 7}};
    unsigned cell[MOST_ROWS][MOST_COLUMNS] = {{0}};
    double points[2 * MOST_COLUMNS], low, high;
    int columns = cli_columns() - 12;
    if (columns > MOST_COLUMNS) columns = MOST_COLUMNS;
    if (rows > MOST_ROWS) rows = MOST_ROWS;
    if (count < 1 || rows < 1) return;
    for (int x = 0; x < 2 * columns; x++) points[x] = part_mean(values, count, x, 2 * columns);
    extremes(points, 2 * columns, &low, &high);
    int before = -1;
    for (int x = 0; x < 2 * columns; x++) {
        int y = (int)lround((high - points[x]) / (high - low) * (4 * rows - 1)); /* from the top */
        if (!(y >= 0 && y < 4 * rows)) continue;                                 /* NaN */
        int step = before < y ? 1 : -1;
        for (int at = before < 0 ? y : before + (before == y ? 0 : step); at != y + step; at += step) {
            cell[at / 4][x / 2] |= 1u << dot[at % 4][x % 2];
            if (at == y) break;
        }
        before = y;
    }
    printf("%s\n", title);
    for (int row = 0; row < rows; row++) {
        if (row == 0)
            printf("%9.4f ", high);
        else if (row == rows - 1)
            printf("%9.4f ", low);
        else
            printf("%10s", "");
        printf("|%s", cli_color(CLI_BLUE));
        for (int column = 0; column < columns; column++) put_cell(cell[row][column], is_utf8());
        printf("%s\n", cli_color(CLI_PLAIN));
    }
}

/* ---- SVG files --------------------------------------------------------------------------------------------------- */

/* Checks that a file can be created or overwritten, without changing an existing one. Returns 0 or an errno. */
static int check_writable(const char *path)
{
    struct stat is;
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST && access(path, W_OK) == 0)
        return stat(path, &is) == 0 && S_ISDIR(is.st_mode) ? EISDIR : 0;
    if (file < 0 && errno == ENOENT && lstat(path, &is) == 0) return 0; /* a dangling link: created at the end */
    if (file < 0) return errno;
    close(file);
    unlink(path);
    return 0;
}

bool cli_svg_writable(const char *command, const char *path)
{
    const int why = check_writable(path);
    if (why) fprintf(stderr, "wick %s: cannot write --svg %s: %s\n", command, path, strerror(why));
    return why == 0;
}

static void put_escaped(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '<' || *p == '&')
            fprintf(out, *p == '<' ? "&lt;" : "&amp;");
        else
            putc(*p, out);
    }
}

static FILE *begin_svg(const char *path, int width, int height, const char *title)
{
    FILE *out = fopen(path, "we");
    if (!out) return NULL;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n<text x=\"16\" y=\"24\" font-size=\"16\">",
        width, height, width, height);
    put_escaped(out, title);
    fprintf(out, "</text>\n");
    return out;
}

static bool end_svg(FILE *out)
{
    fprintf(out, "</svg>\n");
    bool good = !ferror(out);
    return fclose(out) == 0 && good;
}

bool cli_bars_svg(const char *path, const char *title, const cli_bar *bars, int count)
{
    enum { TOP = 44, WIDTH = 300, ROW = 24, LETTER = 8, GAP = 8 /* LETTER: a wide letter's width at this font size */ };
    size_t label = 0, note = 0;
    for (int k = 0; k < count; k++) {
        if (strlen(bars[k].label) > label) label = strlen(bars[k].label);
        if (strlen(bars[k].note) > note) note = strlen(bars[k].note);
    }
    const int left = LETTER * (int)label + 2 * GAP;
    FILE *out = begin_svg(path, left + WIDTH + LETTER * (int)note + 2 * GAP, TOP + ROW * count + 20, title);
    if (!out) return false;
    for (int k = 0; k < count; k++) {
        const double share = bars[k].scale > 0 ? bars[k].value / bars[k].scale : 0;
        const double width = WIDTH * (share > 1 ? 1 : share > 0 ? share : 0);
        const int y = TOP + ROW * k;
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", left - GAP, y + 14);
        put_escaped(out, bars[k].label);
        fprintf(out, "</text>\n<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#1f5fbf\"/>\n", left, y + 3,
                width, ROW - 8);
        fprintf(out, "<text x=\"%.1f\" y=\"%d\">", left + GAP + width, y + 14);
        put_escaped(out, bars[k].note);
        fprintf(out, "</text>\n");
    }
    return end_svg(out);
}
