/* SPDX-License-Identifier: Apache-2.0 */
/* Prints calls as C, by the schemas of their ops; see print.h. */
#include "print.h"
#include "executor.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const print_dtype[] = {
    [WK_F32] = "WK_F32", [WK_F64] = "WK_F64", [WK_F16] = "WK_F16", [WK_BF16] = "WK_BF16", [WK_I8] = "WK_I8",
    [WK_U8] = "WK_U8",   [WK_I16] = "WK_I16", [WK_I32] = "WK_I32", [WK_I64] = "WK_I64",   [WK_BOOL] = "WK_BOOL"};

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void print_ints(FILE *out, const argument *a, const char *open, const char *close)
{
    fputs(open, out);
    for (int k = 0; k < a->count; k++) fprintf(out, "%s%lld", k ? ", " : "", (long long)a->ints[k]);
    fputs(close, out);
}

void print_fraction(FILE *out, double x)
{
    char text[40];
    if (isinf(x) || isnan(x)) {
        fputs(isnan(x) ? "__builtin_nan(\"\")" : x < 0 ? "-__builtin_inf()" : "__builtin_inf()", out);
        return;
    }
    snprintf(text, sizeof text, "%.17g", x);
    for (int digits = 1; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
        snprintf(text, sizeof text, "%.17g", x);
    }
    fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void print_argument(FILE *out, const argument *a)
{
    switch (a->kind) {
    case WK_VALUE_TENSOR: fprintf(out, "t%d", a->slot[0]); break;
    case WK_VALUE_TENSORS:
        for (int k = 0; k < a->count; k++) fprintf(out, "%st%d", k ? ", " : "(", a->slot[k]);
        fputs(")", out);
        break;
    case WK_VALUE_INTS: print_ints(out, a, "(", ")"); break;
    case WK_VALUE_FLOAT: print_fraction(out, a->f); break;
    case WK_VALUE_BOOL: fputs(a->i ? "true" : "false", out); break;
    case WK_VALUE_TEXT: fprintf(out, "\"%s\"", a->text); break;
    case WK_VALUE_DTYPE: fputs(print_dtype[a->i], out); break;
    case WK_VALUE_DEVICE: fputs("wk_cpu()", out); break;
    default: fprintf(out, "%lld", (long long)a->i); break;
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* C forms of ops that differ from the usual one: required arguments, then lists of dimensions, then options by name.
 *
 *     3    argument 3              3=x   x if it is not given      3?   only if it is given
 *     .3   the option of that name, if it is given
 *     ^3   argument 3, sizes that may differ by dimension       ~3   the option of that name, sizes
 *     &0   address of result 0     @     the array for all results */
static const struct {
    const char *op, *name, *form;
} forms[] = {
    {"argmax", NULL, "0 1? .2"},
    {"argmin", NULL, "0 1? .2"},
    {"sort", NULL, "0 1=-1 2=false &0 &1"},
    {"argsort", NULL, "0 1=-1 2=false"},
    {"topk", NULL, "0 1 2=-1 3=true &0 &1"},
    {"kthvalue", NULL, "0 1 2=-1 3=false &0 &1"},
    {"median", "median_dim", "0 1 2=false &0 &1"},
    {"slice", NULL, "0 1=0 2=0 3=INT64_MAX 4?"},
    {"diagonal", NULL, "0 1=0 2=0 3=1"},
    {"flatten", NULL, "0 1=0 2=-1"},
    {"cummax", NULL, "0 1 &0 &1"},
    {"cummin", NULL, "0 1 &0 &1"},
    {"cross", NULL, "0 1 2=0"},
    {"diag_embed", NULL, "0 1=0 2=-2 3=-1"},
    {"rot90", NULL, "0 1=1 2=(0,1)"},
    {"swiglu", NULL, "0 1=-1"},
    {"geglu", NULL, "0 1=-1"},
    {"cdist", NULL, "0 1 .2"},
    {"scatter_reduce", NULL, "0 1 2 3 4 .5"},
    {"meshgrid", NULL, "0 @ .1"},
    {"chunk", NULL, "0 1 2=0 @"},
    {"split", NULL, "0 1 2=0 @"},
    {"split_with_sizes", NULL, "0 1 2=0 @"},
    {"unbind", NULL, "0 1=0 @"},
    {"nonzero_numpy", NULL, "0 @"},
    {"cat", NULL, "0 1=0"},
    {"stack", NULL, "0 1=0"},
    {"repeat_interleave", NULL, "0 1 2=0"},
    {"roll", NULL, "0 1 2=()"},
    {"linear", NULL, "0 1 2=NULL"},
    {"scaled_dot_product_attention", NULL, "0 1 2 .3 .4 .5 .6 .7"},
    {"quantized_linear", NULL, "0 1 2 .3"},
    {"isin", NULL, "0 1 .3"},
    {"clamp", NULL, "0 1=WK_NONE 2=WK_NONE"},
    {"arange", "arange_from", "0 1 2=1 .3"},
    {"dropout", NULL, "0 1=0.5 2=true"},
    {"dropout1d", NULL, "0 1=0.5 2=true"},
    {"dropout2d", NULL, "0 1=0.5 2=true"},
    {"dropout3d", NULL, "0 1=0.5 2=true"},
    {"alpha_dropout", NULL, "0 1=0.5 2=true"},
    {"feature_alpha_dropout", NULL, "0 1=0.5 2=true"},
    {"uniform_", NULL, "0 1=0.0 2=1.0"},
    {"normal_", NULL, "0 1=0.0 2=1.0"},
    {"glu", NULL, "0 1?"},
    {"tril", NULL, "0 1?"},
    {"triu", NULL, "0 1?"},
    {"cosine_similarity", NULL, "0 1 2=1 .3"},
    {"take_along_dim", NULL, "0 1 2=0"},
    {"layer_norm", NULL, "0 1 2=NULL 3=NULL 4=1e-5"},
    {"unique", NULL, "0"},
    {"to", NULL, "0 1"},
    {"one_hot", NULL, "0 1=-1"},
    {"batch_norm", NULL, "0 1 2 3 4 5=false 6=0.1 7=1e-5"},
    {"instance_norm", NULL, "0 1 2 3 4 5=true 6=0.1 7=1e-5"},
    {"group_norm", NULL, "0 1 2 3 4=1e-5"},
    {"rms_norm", NULL, "0 1 2 3=-1"},
    {"local_response_norm", NULL, "0 1 2=1e-4 3=0.75 4=1"},
    {"normalize", NULL, "0 1=2 2=1 3=1e-12"},
    {"conv1d", NULL, "0 1 2 ~3 ~4 ~5 .6"},
    {"conv_transpose1d", NULL, "0 1 2 ~3 ~4 ~5 .6 ~7"},
    {"conv1d_input", NULL, "0=() 1 2 ~3 ~4 ~5 .6"},
    {"conv1d_weight", NULL, "0 1=() 2 ~3 ~4 ~5 .6"},
    {"max_pool1d", NULL, "0 ^1 ~2 ~3 ~4 .5"},
    {"adaptive_avg_pool1d", NULL, "0 ^1"},
    {"avg_pool1d", NULL, "0 ^1 ~2 ~3 .4 .5 .6"},
    {"lp_pool1d", NULL, "0 1 ^2 ~3 .4"},
    {"adaptive_max_pool1d", NULL, "0 ^1"},
    {"max_unpool1d", NULL, "0 1 ^2 ~3 ~4 ~5"},
    {"conv2d", NULL, "0 1 2 ~3 ~4 ~5 .6"},
    {"conv_transpose2d", NULL, "0 1 2 ~3 ~4 ~5 .6 ~7"},
    {"conv2d_input", NULL, "0=() 1 2 ~3 ~4 ~5 .6"},
    {"conv2d_weight", NULL, "0 1=() 2 ~3 ~4 ~5 .6"},
    {"max_pool2d", NULL, "0 ^1 ~2 ~3 ~4 .5"},
    {"adaptive_avg_pool2d", NULL, "0 ^1"},
    {"avg_pool2d", NULL, "0 ^1 ~2 ~3 .4 .5 .6"},
    {"lp_pool2d", NULL, "0 1 ^2 ~3 .4"},
    {"adaptive_max_pool2d", NULL, "0 ^1"},
    {"max_unpool2d", NULL, "0 1 ^2 ~3 ~4 ~5"},
    {"conv3d", NULL, "0 1 2 ~3 ~4 ~5 .6"},
    {"conv_transpose3d", NULL, "0 1 2 ~3 ~4 ~5 .6 ~7"},
    {"conv3d_input", NULL, "0=() 1 2 ~3 ~4 ~5 .6"},
    {"conv3d_weight", NULL, "0 1=() 2 ~3 ~4 ~5 .6"},
    {"max_pool3d", NULL, "0 ^1 ~2 ~3 ~4 .5"},
    {"adaptive_avg_pool3d", NULL, "0 ^1"},
    {"avg_pool3d", NULL, "0 ^1 ~2 ~3 .4 .5 .6"},
    {"lp_pool3d", NULL, "0 1 ^2 ~3 .4"},
    {"adaptive_max_pool3d", NULL, "0 ^1"},
    {"max_unpool3d", NULL, "0 1 ^2 ~3 ~4 ~5"},
    {"interpolate", NULL, "0 ~1 .2 .3 .4 .5 .6 .7 .8 .9"},
    {"im2col", NULL, "0 ^1 ~2 ~3 ~4"},
    {"col2im", NULL, "0 ^1 ^2 ~3 ~4 ~5"},
};

static void print_upper(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++) fputc(*c == '-' ? '_' : toupper((unsigned char)*c), out);
}

/* Prints an option that is an enumerator in C. */
static bool print_choice(FILE *out, const char *op, const char *name, const argument *a)
{
    const bool reduction = strcmp(name, "reduction") == 0, format = strcmp(name, "format") == 0;
    const bool text = strcmp(op, "embedding_bag") == 0; /* an option that is a string */
    const bool mode = !text && (strcmp(name, "mode") == 0 || strcmp(name, "padding_mode") == 0);
    if (!reduction && !format && !mode && strcmp(name, "approximate") != 0) return false;
    fputs("WK_", out);
    print_upper(out, reduction ? "reduce" : format ? "blocks" : op);
    fputs("_", out);
    print_upper(out, a->text);
    return true;
}

/* Prints an option of sizes, which may differ by dimension. */
static void print_sizes(FILE *out, const argument *a)
{
    if (a->kind == WK_VALUE_TEXT) {
        fputs("WK_", out);
        print_upper(out, a->text);
    } else if (a->kind == WK_VALUE_INTS && (a->count == 2 || a->count == 3)) {
        print_ints(out, a, a->count == 2 ? "WK_PAIR(" : "WK_TRIPLE(", ")");
    } else if (a->kind == WK_VALUE_INTS && a->count != 1) {
        print_ints(out, a, "wk_sizes_of((const int64_t[]){0, ", "} + 1, ");
        fprintf(out, "%d)", a->count);
    } else {
        print_argument(out, a);
    }
}

/* Returns true for a tensor in place of a list, which C refuses at compile time. */
static bool is_tensor_for_list(const wk_parameter *p, const argument *a)
{
    return p->kind == WK_VALUE_INTS && a->kind == WK_VALUE_TENSOR;
}

/* Prints the C name of an option, whose default is false in C, and "=". */
static void print_option_name(FILE *out, const char *op, const wk_parameter *p)
{
    const bool negated = p->default_value.kind == WK_VALUE_BOOL && p->default_value.i;
    if (strcmp(p->name, "include_self") == 0)
        fputs(".exclude_self = !", out);
    else if (strcmp(op, "interpolate") == 0 && strcmp(p->name, "size") == 0)
        fputs(".output_size = ", out);
    else
        fprintf(out, negated ? ".no_%s = !" : ".%s = ", p->name);
}

static void print_form(FILE *out, const step *s, const op_entry *r, const char *form)
{
    const char *comma = "";
    for (const char *c = form; *c; c += *c == ' ') {
        const bool option = *c == '.' || *c == '~', sizes = *c == '^' || *c == '~', result = *c == '&';
        const bool array = *c == '@';
        c += option || sizes || result || array;
        const int k = array ? 0 : (int)strtol(c, (char **)(uintptr_t)&c, 10);
        const char *otherwise = *c == '=' ? c + 1 : NULL;
        const bool needed = !option && *c != '?';
        const size_t length = strcspn(c, " ");
        c += length;
        if (result || array) {
            fprintf(out, result ? "%s&t%d" : "%sr%d", comma, s->out + k);
        } else if (s->argument[k].kind != WK_VALUE_NONE && !is_tensor_for_list(&r->parameter[k], &s->argument[k])) {
            fputs(comma, out);
            if (option) print_option_name(out, r->op->name, &r->parameter[k]);
            if (sizes)
                print_sizes(out, &s->argument[k]);
            else if (!option || !print_choice(out, r->op->name, r->parameter[k].name, &s->argument[k]))
                print_argument(out, &s->argument[k]);
        } else if (needed) {
            fprintf(out, "%s%.*s", comma, otherwise ? (int)length - 1 : 4, otherwise ? otherwise : "NULL");
        } else {
            continue;
        }
        comma = ", ";
    }
}

/* Sets the form that most ops have. */
static void usual_form(const op_entry *r, char *form, size_t size)
{
    size_t at = 0;
    form[0] = 0;
    for (int turn = 0; turn < 3; turn++)
        for (int k = 0; k < r->parameters; k++) {
            const wk_parameter *p = &r->parameter[k];
            const int its = !p->optional ? 0 : p->kind == WK_VALUE_INTS ? 1 : 2;
            if (its != turn || p->kind == WK_VALUE_DEVICE) continue;
            at += (size_t)snprintf(form + at, size - at, "%s%s%d%s", at ? " " : "", turn == 2 ? "." : "", k,
                                   turn == 1 ? "?" : "");
        }
}

static void print_strided(FILE *out, const step *s)
{
    fprintf(out, "wk_as_strided_at(WK_HERE, t%d, ", s->argument[0].slot[0]);
    print_ints(out, &s->argument[1], "(const int64_t[]){", "}, ");
    print_ints(out, &s->argument[2], "(const int64_t[]){", "}, ");
    fprintf(out, "%d, %lld)", s->argument[1].count, (long long)s->argument[3].i);
}

/* The reduction of all elements: the macro takes no options without a dimension. */
static void print_position(FILE *out, const step *s)
{
    fprintf(out, "wk_%s_at(WK_HERE, t%d, NULL, -1, ", op_entries[s->op].op->name, s->argument[0].slot[0]);
    fprintf(out, "&(wk_reduce_options){.size = sizeof(wk_reduce_options), .keepdim = %s})",
            s->argument[2].i ? "true" : "false");
}

static void print_call(FILE *out, const step *s)
{
    const op_entry *r = &op_entries[s->op];
    const char *name = r->op->name, *form = NULL;
    char usual[64];
    if (strcmp(name, "as_strided") == 0) {
        print_strided(out, s);
        return;
    }
    if (strncmp(name, "arg", 3) == 0 && s->argument[1].kind == WK_VALUE_NONE && s->argument[2].kind != WK_VALUE_NONE &&
        strcmp(name, "argsort") != 0) {
        print_position(out, s);
        return;
    }
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (strcmp(forms[k].op, name) == 0) {
            form = forms[k].form;
            if (forms[k].name) name = forms[k].name;
        }
    if (strcmp(name, "median_dim") == 0 && s->argument[1].kind == WK_VALUE_NONE) {
        name = "median";
        form = "0";
    }
    usual_form(r, usual, sizeof usual);
    fprintf(out, "wk_%s%s(", name, s->kind == STEP_IN_PLACE ? "_" : "");
    print_form(out, s, r, form ? form : usual);
    fputs(")", out);
}

/* Returns true for ops that store their results through pointers. */
static bool fills(const step *s)
{
    const char *form = "";
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (strcmp(forms[k].op, op_entries[s->op].op->name) == 0) form = forms[k].form;
    if (strcmp(op_entries[s->op].op->name, "median") == 0) return s->argument[1].kind != WK_VALUE_NONE;
    return strpbrk(form, "&@") != NULL;
}

void print_op(FILE *out, const step *s)
{
    const char *category = op_entries[s->op].op->category; /* sort, scan: a pointer per result, no array */
    const bool array = fills(s) && strcmp(category, "sort") != 0 && strcmp(category, "scan") != 0;
    if (op_entries[s->op].draws) fprintf(out, "    wk_seed(%u);\n", s->seed);
    if (array) fprintf(out, "    wk_tensor *r%d[16] = {NULL};\n", s->out);
    fputs("    ", out);
    if (s->results && !fills(s)) fprintf(out, "t%d = ", s->out);
    print_call(out, s);
    fputs(";\n", out);
    for (int k = 0; array && k < s->results; k++) fprintf(out, "    t%d = r%d[%d];\n", s->out + k, s->out, k);
}
