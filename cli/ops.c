/* SPDX-License-Identifier: Apache-2.0 */
/* wick ops: the public table of operations. */
#include "cli.h"
#include <fnmatch.h>
#include <string.h>

/* "f32 f64 ...", "any": the dtypes that an op takes. */
static const char *dtypes_of(const wk_op *op, char *out, size_t size)
{
    size_t used = 0;
    if (op->dtypes == 0) return "any";
    out[0] = 0;
    for (int dtype = 1; dtype < WK_DTYPE_COUNT && used < size; dtype++)
        if (op->dtypes >> dtype & 1)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "", wk_dtype_str((wk_dtype)dtype));
    return out;
}

/* A pattern of the shell against name and group; a plain word is found anywhere in the name. */
static bool wanted(const wk_op *op, const char *pattern)
{
    if (!pattern || strcmp(op->group, pattern) == 0) return true;
    return strpbrk(pattern, "*?[") ? fnmatch(pattern, op->name, 0) == 0 : strstr(op->name, pattern) != NULL;
}

static void print_json(const wk_op *op)
{
    char dtypes[128];
    printf("{\"name\": ");
    cli_json_text(stdout, op->name);
    printf(", \"group\": ");
    cli_json_text(stdout, op->group);
    printf(", \"schema\": ");
    cli_json_text(stdout, op->schema);
    printf(", \"dtypes\": ");
    cli_json_text(stdout, dtypes_of(op, dtypes, sizeof dtypes));
    printf(", \"differentiable\": %s, \"waits\": %s, \"doc\": ", op->differentiable ? "true" : "false",
           op->waits ? "true" : "false");
    cli_json_text(stdout, op->doc);
    printf("}\n");
}

static void print_row(const wk_op *op)
{
    char dtypes[128];
    printf("%s%-20s%s %-12s %s%s%s\n", cli_ink(CLI_BOLD), op->name, cli_ink(CLI_PLAIN), op->group, cli_ink(CLI_GREEN),
           op->differentiable ? "gradient" : "", cli_ink(CLI_PLAIN));
    printf("    %s\n    %s\n    %sdtypes: %s%s%s\n", op->schema, op->doc, cli_ink(CLI_DIM),
           dtypes_of(op, dtypes, sizeof dtypes), op->waits ? "; waits for the device" : "", cli_ink(CLI_PLAIN));
}

int cli_ops(int count, char **words)
{
    const char *json = NULL, *pattern = NULL;
    const cli_option options[] = {{"json", NULL, "one object per line", &json}, {0}};
    const cli_syntax syntax = {"ops", "[PATTERN]",
                               "The operations of the library: name, group, gradient, schema, what it does, dtypes.\n"
                               "PATTERN is a part of the name, a pattern of the shell ('*softmax'), or a group (view).",
                               options, 1};
    int done = cli_parse(&syntax, count, words, &pattern);
    if (done >= 0) return done;

    int shown = 0, total = wk_op_count();
    for (int k = 0; k < total; k++) {
        wk_op op = {.size = sizeof op};
        if (wk_op_info(k, &op) != WK_OK) return wk_report_error(stderr);
        if (!wanted(&op, pattern)) continue;
        shown++;
        if (json)
            print_json(&op);
        else
            print_row(&op);
    }
    if (!json) printf("%d of %d operations\n", shown, total);
    if (shown == 0)
        fprintf(stderr,
                "wick ops: nothing matches \"%s\"; README.md says what is not here yet (\"What is not here yet\")\n",
                pattern ? pattern : "");
    return shown ? CLI_OK : CLI_FAILED;
}
