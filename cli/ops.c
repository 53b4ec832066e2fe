/* SPDX-License-Identifier: Apache-2.0 */
/* wick ops: lists the public operations. */
#include "../src/base/edit_distance.h"
#include "cli.h"
#include <fnmatch.h>
#include <string.h>

/* Formats the dtypes that an op accepts: "f32 f64 ..." or "any". */
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

/* Names in other libraries, and of calls that are not in the op table. */
static const struct {
    const char *said, *call;
} aliases[] = {
    {"multiply", "wk_mul"},
    {"divide", "wk_div"},
    {"subtract", "wk_sub"},
    {"power", "wk_pow"},
    {"negative", "wk_neg"},
    {"absolute", "wk_abs"},
    {"clip", "wk_clamp"},
    {"greater", "wk_gt"},
    {"greater_equal", "wk_ge"},
    {"less", "wk_lt"},
    {"less_equal", "wk_le"},
    {"not_equal", "wk_ne"},
    {"view", "wk_reshape"},
    {"astype", "wk_to_dtype"},
    {"concat", "wk_cat"},
    {"concatenate", "wk_cat"},
    {"max", "wk_amax, wk_argmax, wk_maximum"},
    {"min", "wk_amin, wk_argmin, wk_minimum"},
    {"adam", "wk_optim_adam (wick/optim.h)"},
    {"adamw", "wk_optim_adamw (wick/optim.h)"},
    {"adagrad", "wk_optim_adagrad (wick/optim.h)"},
    {"rmsprop", "wk_optim_rmsprop (wick/optim.h)"},
    {"adadelta", "wk_optim_adadelta (wick/optim.h)"},
    {"nadam", "wk_optim_nadam (wick/optim.h)"},
    {"radam", "wk_optim_radam (wick/optim.h)"},
    {"adamax", "wk_optim_adamax (wick/optim.h)"},
    {"asgd", "wk_optim_asgd (wick/optim.h)"},
    {"lamb", "wk_optim_lamb (wick/optim.h)"},
    {"scheduler", "wk_schedule_... (wick/schedule.h)"},
    {"tqdm", "wk_progress_new (wick/progress.h)"},
    {"lbfgs", "wk_optim_lbfgs (wick/optim.h)"},
    {"sgd", "wk_optim_sgd (wick/optim.h)"},
    {"sequential", "wk_nn_sequential (wick/nn.h)"},
    {"dense", "wk_nn_linear (wick/nn.h)"},
    {"backward", "wk_backward (wick/autograd.h)"},
    {"grad", "wk_grad, wk_grad_of (wick/autograd.h)"},
    {"save", "wk_save (wick/io.h)"},
    {"load", "wk_load (wick/io.h)"},
    {"state_dict", "wk_save, wk_optim_save (wick/checkpoint.h)"},
    {"checkpoint", "wk_checkpoint_new (wick/checkpoint.h)"},
};

/* Removes the prefixes wk_, nn_ and optim_, so that wk_nn_linear is found as linear. */
static const char *without_prefix(const char *pattern)
{
    static const char *const prefixes[] = {"wk_", "nn_", "optim_"};
    for (size_t k = 0; pattern && k < sizeof prefixes / sizeof *prefixes; k++)
        if (strncmp(pattern, prefixes[k], strlen(prefixes[k])) == 0) pattern += strlen(prefixes[k]);
    return pattern;
}

static const char *other_name(const char *pattern)
{
    for (size_t k = 0; pattern && k < sizeof aliases / sizeof *aliases; k++)
        if (strcmp(pattern, aliases[k].said) == 0) return aliases[k].call;
    return NULL;
}

/* Matches a shell pattern against the name, or a word against the category or any part of the name. */
static bool wanted(const wk_op *op, const char *pattern)
{
    if (!pattern || strcmp(op->category, pattern) == 0) return true;
    return strpbrk(pattern, "*?[") ? fnmatch(pattern, op->name, 0) == 0 : strstr(op->name, pattern) != NULL;
}

static void print_json(const wk_op *op)
{
    char dtypes[128];
    printf("{\"name\": ");
    cli_json_text(stdout, op->name);
    printf(", \"category\": ");
    cli_json_text(stdout, op->category);
    printf(", \"schema\": ");
    cli_json_text(stdout, op->schema);
    printf(", \"dtypes\": ");
    cli_json_text(stdout, dtypes_of(op, dtypes, sizeof dtypes));
    printf(", \"differentiable\": %s, \"data_dependent_shape\": %s, \"doc\": ", op->differentiable ? "true" : "false",
           op->data_dependent_shape ? "true" : "false");
    cli_json_text(stdout, op->doc);
    printf("}\n");
}

static void print_row(const wk_op *op)
{
    char dtypes[128];
    printf("%s%-20s%s %-12s %s%s%s\n", cli_color(CLI_BOLD), op->name, cli_color(CLI_PLAIN), op->category,
           cli_color(CLI_GREEN), op->differentiable ? "gradient" : "", cli_color(CLI_PLAIN));
    printf("    %s\n    %s\n    %sdtypes: %s%s%s\n", op->schema, op->doc, cli_color(CLI_DIM),
           dtypes_of(op, dtypes, sizeof dtypes), op->data_dependent_shape ? "; synchronises with the device" : "",
           cli_color(CLI_PLAIN));
}

/* Reports that nothing matches, and suggests similar names. */
static void report_no_match(const char *pattern)
{
    const size_t length = strlen(pattern);
    const int near = length < 6 ? 1 : 2;
    const char *before = "; did you mean ";
    fprintf(stderr, "wick ops: no operation matches \"%s\"", pattern);
    for (int k = 0; k < wk_op_count(); k++) {
        wk_op op = {.size = sizeof op};
        if (wk_op_info(k, &op) != WK_OK || length < 3 || wk__edit_distance(pattern, length, op.name) > near) continue;
        fprintf(stderr, "%s%s", before, op.name);
        before = ", ";
    }
    fprintf(stderr, "%s\n", before[0] == ';' ? "; README.md lists the larger gaps (\"Limits\")" : "?");
}

int cli_ops(int count, char **words)
{
    const char *json = NULL, *pattern = NULL;
    const cli_option options[] = {{"json", NULL, "print one JSON object per line", &json}, {0}};
    const cli_syntax syntax = {
        "ops", "[PATTERN]",
        "Lists the operations of the library: name, category, gradient, schema, description, dtypes.\n"
        "PATTERN is a substring of the name, a shell pattern ('*softmax'), or a category (view).",
        options, 1};
    int done = cli_parse(&syntax, count, words, &pattern);
    if (done >= 0) return done;
    pattern = without_prefix(pattern);

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
    if (!json && shown > 0)
        printf("%d of %d operations. Schemas are those of wk_call; see wick/*.h for the defaults of C calls\n", shown,
               total);
    const char *other = other_name(pattern);
    if (other && !json) printf("\"%s\" is named %s in Wick\n", pattern, other);
    if (shown == 0 && !other) report_no_match(pattern);
    return shown || other ? CLI_OK : CLI_FAILED;
}
