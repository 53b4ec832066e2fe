/* SPDX-License-Identifier: Apache-2.0 */
/* Option parsing for subcommands (cli.h). */
#include "../src/base/edit_distance.h"
#include "cli.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Writes "--name ARGUMENT". Returns its length. */
static int write_form(const cli_option *o, char out[48])
{
    return snprintf(out, 48, "%s%s%s%s", o->name[1] ? "--" : "-", o->name,
                    o->argument && o->argument[0] != '[' ? " " : "", o->argument ? o->argument : "");
}

static void help(const cli_syntax *syntax)
{
    bool any = syntax->options[0].name != NULL;
    const bool before = syntax->most_operands == CLI_PROGRAM;
    printf("usage: wick %s%s%s%s%s\n\n%s\n", syntax->command, any && before ? " [OPTIONS]" : "",
           *syntax->operands ? " " : "", syntax->operands, any && !before ? " [OPTIONS]" : "", syntax->doc);
    if (any) printf("\noptions:\n");
    int width = 18;
    char left[48];
    for (const cli_option *o = syntax->options; o->name; o++)
        if (o->doc && write_form(o, left) > width) width = (int)strlen(left);
    for (const cli_option *o = syntax->options; o->name; o++)
        if (o->doc && write_form(o, left) > 0) printf("  %-*s %s\n", width, left, o->doc);
}

const char *cli_nearer(const char *word, const char *name, const char *best)
{
    enum { MOST = 2 };
    const size_t length = strcspn(word, "=");
    const int far = length > MOST ? wk__edit_distance(word, length, name) : MOST + 1;
    return far <= (best ? wk__edit_distance(word, length, best) - 1 : MOST) ? name : best;
}

/* Reports an unknown option, and the one of a similar name. */
static int unknown_option(const cli_syntax *syntax, const char *word)
{
    const char *nearest = NULL;
    for (const cli_option *o = syntax->options; o->name; o++)
        if (o->doc) nearest = cli_nearer(word + strspn(word, "-"), o->name, nearest);
    if (!nearest) return cli_usage_error(syntax->command, "unknown option \"%s\"", word);
    return cli_usage_error(syntax->command, "unknown option \"%s\"; did you mean --%s?", word, nearest);
}

int cli_usage_error(const char *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "wick %s: ", command);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\nTry `wick %s --help`.\n", command);
    va_end(list);
    return CLI_USAGE;
}

/* Finds the option of "--name", "--name=value", "-n" or "-nvalue". *value is the value within the word, or NULL. */
static const cli_option *find(const cli_syntax *syntax, const char *word, const char **value)
{
    *value = NULL;
    for (const cli_option *o = syntax->options; o->name; o++)
        if (strcmp(o->name, word) == 0) return o;
    const bool is_long = word[1] == '-';
    word += is_long ? 2 : 1;
    size_t length = is_long ? strcspn(word, "=") : *word != 0;
    if (is_long == (length == 1)) return NULL;
    *value = word[length] ? word + length + is_long : NULL;
    for (const cli_option *o = syntax->options; o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, word, length) == 0) return o;
    return NULL;
}

/* Parses options and operands. For CLI_PROGRAM, *rest is the index of the program's command line. */
static int parse(const cli_syntax *syntax, int count, char **words, const char **operands, int *rest)
{
    int found = 0;
    for (int k = 0; k < count; k++) {
        const char *word = words[k], *value;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            help(syntax);
            return CLI_OK;
        }
        if (syntax->most_operands == CLI_PROGRAM && (word[0] != '-' || strcmp(word, "--") == 0)) {
            *rest = k + (word[0] == '-');
            return -1;
        }
        if (word[0] != '-') {
            if (found == syntax->most_operands)
                return cli_usage_error(syntax->command, "unexpected argument \"%s\"", word);
            operands[found++] = word;
            continue;
        }
        const cli_option *option = find(syntax, word, &value);
        if (!option) return unknown_option(syntax, word);
        if (!option->argument && value) return cli_usage_error(syntax->command, "%s takes no value", word);
        if (option->argument && option->argument[0] != '[' && !value) {
            if (++k == count)
                return cli_usage_error(syntax->command, "%s requires a value: %s", word, option->argument);
            value = words[k];
        }
        *option->value = value ? value : "";
    }
    return -1;
}

int cli_parse(const cli_syntax *syntax, int count, char **words, const char **operands)
{
    return parse(syntax, count, words, operands, NULL);
}

int cli_parse_before(const cli_syntax *syntax, int count, char **words, int *rest)
{
    *rest = count;
    return parse(syntax, count, words, NULL, rest);
}

bool cli_real(const char *command, const char *name, const char *text, double low, double high, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == 0 && *out > low && *out <= high) return true;
    cli_usage_error(command, "%s must be a number greater than %g, at most %g, got \"%s\"", name, low, high, text);
    return false;
}

bool cli_number(const char *command, const char *name, const char *text, long low, long high, long *out)
{
    char *end;
    *out = strtol(text, &end, 10);
    if (end != text && *end == 0 && *out >= low && *out <= high) return true;
    cli_usage_error(command, "%s must be an integer from %ld to %ld, got \"%s\"", name, low, high, text);
    return false;
}

bool cli_device(const char *command, const char *text, wk_device *out)
{
    *out = text ? wk_device_parse(text) : wk_try_gpu(0);
    if (out->kind >= 0) return true;
    cli_usage_error(command, "unknown device \"%s\"; expected cpu, cuda:0, opencl:1 or gpu:0", text);
    return false;
}
