/* SPDX-License-Identifier: Apache-2.0 */
/* Status lines, one per rank, at the bottom of a terminal (run.h). */
#include "run.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { STALL_SECONDS = 10 }; /* a rank without progress for this long is shown as late */

/* Reads the number after NAME= in the line. Returns false if there is none. */
static bool number_of(const char *line, const char *name, double *out)
{
    const size_t length = strlen(name);
    for (const char *word = line; *word; word += strcspn(word, " "), word += strspn(word, " "))
        if (strncmp(word, name, length) == 0 && word[length] == '=') {
            *out = strtod(word + length + 1, NULL);
            return true;
        }
    return false;
}

void run_rank_line_update(run_rank_line *line, const char *text)
{
    double step, rate;
    if (!number_of(text, "step", &step)) return;
    line->last_progress = cli_clock();
    if (number_of(text, "rate", &rate))
        snprintf(line->progress, sizeof line->progress, "step %.0f  %.*f steps/s", step, rate < 10 ? 2 : 1, rate);
    else
        snprintf(line->progress, sizeof line->progress, "step %.0f", step);
}

void run_progress_erase(run_progress *board, run_buffer *to)
{
    char text[32];
    if (board->shown == 0) return;
    run_buffer_append(to, text, (size_t)snprintf(text, sizeof text, "\r\033[%dA\033[J", board->shown));
    board->shown = 0;
}

static int rows_of_terminal(void)
{
    struct winsize window;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 0 ? window.ws_row : 24;
}

static void draw_line(run_buffer *to, const run_rank_line *line, int rank)
{
    char text[512], late[32] = "";
    const double quiet = cli_clock() - line->last_progress;
    const bool failed = strcmp(line->state, "failed") == 0, running = strcmp(line->state, "running") == 0;
    if (running && line->last_progress > 0 && quiet >= STALL_SECONDS)
        snprintf(late, sizeof late, ", no step for %.0f s", quiet);
    snprintf(text, sizeof text, "[%d] %-12s %-8s %s%s", rank, line->host, line->state, line->progress, late);
    const int columns = cli_columns() - 1, length = (int)strlen(text) < columns ? (int)strlen(text) : columns;
    const char *ink = cli_color(failed ? CLI_RED : *late ? CLI_YELLOW : CLI_DIM), *plain = cli_color(CLI_PLAIN);
    run_buffer_append(to, ink, strlen(ink));
    run_buffer_append(to, text, (size_t)length);
    run_buffer_append(to, plain, strlen(plain));
    run_buffer_append(to, "\n", 1);
}

void run_progress_draw(run_progress *board, run_buffer *to, const run_rank_line *lines, int count)
{
    char text[64];
    const int rows = rows_of_terminal() - 2, shown = count <= rows ? count : rows > 1 ? rows - 1 : 0;
    run_progress_erase(board, to);
    for (int k = 0; k < shown; k++) draw_line(to, &lines[k], k);
    if (shown < count)
        run_buffer_append(to, text, (size_t)snprintf(text, sizeof text, "... and %d more\n", count - shown));
    board->shown = shown + (shown < count);
    board->drawn = cli_clock();
}
