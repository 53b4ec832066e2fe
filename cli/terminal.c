/* SPDX-License-Identifier: Apache-2.0 */
/* Terminal and text output (cli.h). The locale is never set, so numbers always have a decimal point. */
#include "cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool cli_is_terminal(void)
{
    return isatty(STDOUT_FILENO);
}

const char *cli_color(cli_color_id colour)
{
    static const char *const codes[] = {"\033[0m",  "\033[1m",  "\033[2m", "\033[31m",
                                        "\033[32m", "\033[33m", "\033[34m"};
    const char *term = getenv("TERM");
    return cli_is_terminal() && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0 ? codes[colour] : "";
}

int cli_columns(void)
{
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 40) return window.ws_col;
    return 80;
}

const char *cli_format_bytes(char out[16], int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1024 && unit < 4; unit++) value /= 1024;
    snprintf(out, 16, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return out;
}

void cli_json_text(FILE *out, const char *text)
{
    putc('"', out);
    for (const char *p = text; *p; p++) {
        if ((unsigned char)*p < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*p);
        else if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else
            putc(*p, out);
    }
    putc('"', out);
}

void cli_print_number(FILE *out, double value)
{
    bool whole = value == floor(value) && fabs(value) < 0x1p53; /* byte counts */
    fprintf(out, whole ? "%.0f" : "%.9g", value);
}

void cli_json_number(FILE *out, double value)
{
    if (isfinite(value))
        cli_print_number(out, value);
    else
        fprintf(out, "null");
}

void cli_print_wrapped(int indent, const char *text)
{
    int width = cli_columns() < 100 ? cli_columns() : 100, column = 0;
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (column > 0 && column + 1 + length > width) column = 0 * putchar('\n');
        if (column == 0)
            column = printf("%*s", indent, "");
        else
            column += printf(" ");
        column += printf("%.*s", length, text);
        text += length;
        if (*text == '\n') column = 0 * putchar('\n');
        if (*text) text++;
    }
    putchar('\n');
}
