/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the command share: the subcommands, their options, what goes to the terminal. The command is a user
 * of the library like any other: it sees <wick.h> alone. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <wick.h>

/* Exit codes. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* ---- subcommands: each gets what stands after its name ----------------------------------------------------------- */

int cli_devices(int count, char **words);
int cli_doctor(int count, char **words);
int cli_tour(int count, char **words);
int cli_bench(int count, char **words);
int cli_train(int count, char **words);
int cli_ops(int count, char **words);
int cli_replay(int count, char **words);
int cli_run(int count, char **words);

/* ---- options.c: one table serves parsing and --help -------------------------------------------------------------- */

enum { CLI_PROGRAM = -1 }; /* operands: the command line of another program */

typedef struct cli_option {
    const char *name;     /* "json", written --json; "n", written -n; "-np", written just so */
    const char *argument; /* "FILE": --svg FILE or --svg=FILE; "[=SECONDS]": only after =, or none; NULL: a switch */
    const char *doc;      /* NULL: understood, and not offered */
    const char **value;   /* gets the text, "" where there is none; left alone when the option is not given */
} cli_option;

typedef struct cli_syntax {
    const char *command;       /* "train" */
    const char *operands;      /* "mnist", for the line of usage; "" for none */
    const char *doc;           /* for --help, with newlines */
    const cli_option *options; /* the last has no name */
    int most_operands;         /* or CLI_PROGRAM */
} cli_syntax;

/* Sorts words into options and operands[0..most_operands). -1: go on; else the exit code, after --help or a mistake. */
int cli_parse(const cli_syntax *syntax, int count, char **words, const char **operands);
/* The same with CLI_PROGRAM: *rest gets the place of the program's name, which is the first word that is no option, or
 * the word behind --. From there on the words are the program's. */
int cli_parse_before(const cli_syntax *syntax, int count, char **words, int *rest);
/* "wick train: WHAT", and where help is; returns CLI_USAGE. */
int cli_usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A whole number from low to high: false, with the mistake reported, when `text` is none. `name`: "--epochs",
 * "STEP". */
bool cli_number(const char *command, const char *name, const char *text, long low, long high, long *out);

/* ---- terminal.c -------------------------------------------------------------------------------------------------- */

typedef enum cli_color_id { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_RED, CLI_GREEN, CLI_YELLOW, CLI_BLUE } cli_color_id;
/* The text that switches to a colour; "" unless stdout is a terminal (and NO_COLOR is not set). */
const char *cli_color(cli_color_id colour);
bool cli_is_terminal(void);
/* Columns of the terminal; 80 where it does not say. */
int cli_columns(void);
/* "1.2 GiB"; the text is `out`. */
const char *cli_format_bytes(char out[16], int64_t bytes);
/* Text as a JSON string, with its quotes. */
void cli_json_text(FILE *out, const char *text);
/* A number, finite; whole ones to the last digit. */
void cli_print_number(FILE *out, double value);
/* A number as JSON: null for NaN. */
void cli_json_number(FILE *out, double value);
/* Paragraph of text, folded to the terminal, each line after `indent` columns. */
void cli_print_wrapped(int indent, const char *text);

/* ---- plot.c ------------------------------------------------------------------------------------------------------ */

/* A curve of count values in the terminal: rows lines of text, labelled with its extremes. */
void cli_curve(const double *values, int64_t count, int rows, const char *title);
/* The same as a picture. False when the file could not be written. */
bool cli_curve_svg(const char *path, const double *values, int64_t count, const char *title);
/* Asked before the work whose picture it is: can --svg PATH be written at its end? Else false, and why on stderr.
 * Nothing is left behind. */
bool cli_svg_writable(const char *command, const char *path);

typedef struct cli_bar {
    char label[96];
    double value, scale; /* the bar's length is value / full */
    char note[96];
} cli_bar;
/* Bars under each other as a picture. */
bool cli_bars_svg(const char *path, const char *title, const cli_bar *bars, int count);

/* ---- peak.c: what this machine can do, as a yardstick ------------------------------------------------------------ */

/* Seconds on a clock that never goes back. */
double cli_clock(void);
typedef struct cli_triad cli_triad;
/* Three arrays of `count` floats for a = b + 3 c, on huge pages where there are any. NULL when memory is short. */
cli_triad *cli_triad_new(size_t count);
void cli_triad_free(cli_triad *triad);
/* Bytes per second of one pass with so many threads: 12 bytes for each element. */
double cli_triad_run(cli_triad *triad, int threads);
/* f32 operations per second in registers with so many threads, at the widest vectors of this CPU. */
double cli_fma_run(int threads);

#endif
