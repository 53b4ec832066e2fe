/* SPDX-License-Identifier: Apache-2.0 */
/* Options of subcommands; see cli.h. */
#include "cli.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void help(const cli_syntax *syntax)
{
    bool any = syntax->options[0].name != NULL;
    printf("usage: wick %s%s%s%s\n\n%s\n", syntax->command, *syntax->operands ? " " : "", syntax->operands,
           any ? " [OPTIONS]" : "", syntax->doc);
    if (any) printf("\noptions:\n");
    for (const cli_option *o = syntax->options; o->name; o++) {
        char left[48];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->argument && o->argument[0] != '[' ? " " : "",
                 o->argument ? o->argument : "");
        printf("  %-18s %s\n", left, o->doc);
    }
}

int cli_misuse(const char *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "wick %s: ", command);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n`wick %s --help` says what there is.\n", command);
    va_end(list);
    return CLI_MISUSED;
}

/* The option that "--name" or "--name=value" means; *value is what stands after the =, or NULL. */
static const cli_option *find(const cli_syntax *syntax, const char *word, const char **value)
{
    size_t length = strcspn(word, "=");
    *value = word[length] ? word + length + 1 : NULL;
    for (const cli_option *o = syntax->options; o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, word, length) == 0) return o;
    return NULL;
}

int cli_parse(const cli_syntax *syntax, int count, char **words, const char **operands)
{
    int found = 0;
    for (int k = 0; k < count; k++) {
        const char *word = words[k], *value;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            help(syntax);
            return CLI_OK;
        }
        if (word[0] != '-') {
            if (found == syntax->most_operands) return cli_misuse(syntax->command, "\"%s\" is one word too many", word);
            operands[found++] = word;
            continue;
        }
        const cli_option *option = word[1] == '-' ? find(syntax, word + 2, &value) : NULL;
        if (!option) return cli_misuse(syntax->command, "there is no option \"%s\"", word);
        if (!option->argument && value) return cli_misuse(syntax->command, "--%s takes no value", option->name);
        if (option->argument && option->argument[0] != '[' && !value) {
            if (++k == count)
                return cli_misuse(syntax->command, "--%s needs a value: %s", option->name, option->argument);
            value = words[k];
        }
        *option->value = value ? value : "";
    }
    return -1;
}

bool cli_number(const char *command, const char *name, const char *text, long low, long high, long *out)
{
    char *end;
    *out = strtol(text, &end, 10);
    if (end != text && *end == 0 && *out >= low && *out <= high) return true;
    cli_misuse(command, "%s must be a whole number from %ld to %ld, not \"%s\"", name, low, high, text);
    return false;
}
