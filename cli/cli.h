/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the `wick` command: subcommands, options, terminal output. The command uses the library
 * through <wick.h> only, like any other program. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <wick.h>

/* Exit codes. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* ---- subcommands: each gets the words after its name ------------------------------------------------------------- */

int cli_devices(int count, char **words);
int cli_doctor(int count, char **words);
int cli_tour(int count, char **words);
int cli_bench(int count, char **words);
int cli_train(int count, char **words);
int cli_predict(int count, char **words);
int cli_generate(int count, char **words);
int cli_ops(int count, char **words);
int cli_replay(int count, char **words);
int cli_run(int count, char **words);

/* ---- options.c: one table defines parsing and --help ------------------------------------------------------------- */

enum { CLI_PROGRAM = -1 }; /* operands: the command line of another program */

/* One option of a subcommand. */
typedef struct cli_option {
    const char *name;     /* "json": --json; "n": -n; "-np": exactly that */
    const char *argument; /* "FILE": --svg FILE or --svg=FILE; "[=SECONDS]": optional, only after =; NULL: a switch */
    const char *doc;      /* NULL: accepted but hidden */
    const char **value;   /* set to the text, "" if there is none; unchanged if the option is absent */
} cli_option;

/* Syntax of one subcommand. */
typedef struct cli_syntax {
    const char *command;       /* "train" */
    const char *operands;      /* "mnist", for the usage line; "" for none */
    const char *doc;           /* for --help, with newlines */
    const cli_option *options; /* terminated by an option without a name */
    int most_operands;         /* or CLI_PROGRAM */
} cli_syntax;

/* Splits words into options and operands[0..most_operands). Returns -1 to continue, else the exit code after --help or
 * a usage error. */
int cli_parse(const cli_syntax *syntax, int count, char **words, const char **operands);
/* Like cli_parse(), but for CLI_PROGRAM: *rest is the index of the program's name, the first word that is not an
 * option, or the word after --. All words from there on belong to the program. */
int cli_parse_before(const cli_syntax *syntax, int count, char **words, int *rest);
/* Returns `name` if it is nearer to a misspelt word than `best`, which may be NULL, and near enough; else `best`. */
const char *cli_nearer(const char *word, const char *name, const char *best);
/* Prints "wick train: MESSAGE" and a hint to --help; returns CLI_USAGE. */
int cli_usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Parses an integer in [low, high]. Returns false after reporting an invalid one. name: "--epochs", "STEP". */
bool cli_number(const char *command, const char *name, const char *text, long low, long high, long *out);
/* Parses a number greater than low and at most high. Returns false after reporting an invalid one. */
bool cli_real(const char *command, const char *name, const char *text, double low, double high, double *out);
/* Parses a device; NULL: the first GPU, else the CPU. Returns false after reporting an unknown one. */
bool cli_device(const char *command, const char *text, wk_device *out);

/* ---- terminal.c -------------------------------------------------------------------------------------------------- */

typedef enum cli_color_id { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_RED, CLI_GREEN, CLI_YELLOW, CLI_BLUE } cli_color_id;
/* Returns the escape sequence for a colour; "" unless stdout is a terminal and NO_COLOR is unset. */
const char *cli_color(cli_color_id colour);
bool cli_is_terminal(void);
/* Returns the columns of the terminal; 80 if unknown. */
int cli_columns(void);
/* Formats "1.2 GiB" into `out` and returns it. */
const char *cli_format_bytes(char out[16], int64_t bytes);
/* Prints text as a JSON string, with quotes. */
void cli_json_text(FILE *out, const char *text);
/* Prints a finite number; integers with all digits. */
void cli_print_number(FILE *out, double value);
/* Prints a number as JSON; NaN as null. */
void cli_json_number(FILE *out, double value);
/* Prints a paragraph wrapped to the terminal, each line indented by `indent` columns. */
void cli_print_wrapped(int indent, const char *text);

/* ---- plot.c ------------------------------------------------------------------------------------------------------ */

/* Draws a curve of `count` values in the terminal, `rows` lines high, labelled with its extremes. */
void cli_curve(const double *values, int64_t count, int rows, const char *title);
/* Checks, before the work starts, that --svg PATH can be written at its end. Returns false after printing the reason to
 * stderr. Leaves no file behind. */
bool cli_svg_writable(const char *command, const char *path);

/* One bar of cli_bars_svg. */
typedef struct cli_bar {
    char label[96];
    double value, scale; /* length of the bar: value / scale of the full width */
    char note[96];
} cli_bar;
/* Writes bars, one below the other, as an SVG file. */
bool cli_bars_svg(const char *path, const char *title, const cli_bar *bars, int count);

/* ---- peak.c: measured limits of this machine --------------------------------------------------------------------- */

/* Returns seconds of a monotonic clock. */
double cli_clock(void);
typedef struct cli_triad cli_triad;
/* Allocates three arrays of `count` floats for a = b + 3 c, on huge pages if available. NULL on allocation failure. */
cli_triad *cli_triad_new(size_t count);
void cli_triad_free(cli_triad *triad);
/* Returns bytes per second of one pass with this many threads; an element counts as 12 bytes. */
double cli_triad_run(cli_triad *triad, int threads);
/* Reads one of the arrays with this many threads. Returns bytes per second. */
double cli_read_run(const cli_triad *triad, int threads);
/* Returns f32 operations per second in registers with this many threads, with the widest vectors of this CPU. */
double cli_fma_run(int threads);

#endif
