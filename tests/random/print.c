/* Programs as C; see print.h. */
#include "print.h"
#include "machine.h"
#include "rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 24 /* numbers that are written out */ };

static const char *const c_type[] = {
    [WK_F32] = "float",  [WK_F64] = "double",  [WK_F16] = "float",   [WK_BF16] = "float",  [WK_I8] = "int8_t",
    [WK_U8] = "uint8_t", [WK_I16] = "int16_t", [WK_I32] = "int32_t", [WK_I64] = "int64_t", [WK_BOOL] = "bool"};
static const char *const c_dtype[] = {
    [WK_F32] = "WK_F32", [WK_F64] = "WK_F64", [WK_F16] = "WK_F16", [WK_BF16] = "WK_BF16", [WK_I8] = "WK_I8",
    [WK_U8] = "WK_U8",   [WK_I16] = "WK_I16", [WK_I32] = "WK_I32", [WK_I64] = "WK_I64",   [WK_BOOL] = "WK_BOOL"};

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void print_ints(FILE *out, const argument *a, const char *open, const char *close)
{
    fputs(open, out);
    for (int k = 0; k < a->count; k++) fprintf(out, "%s%lld", k ? ", " : "", (long long)a->ints[k]);
    fputs(close, out);
}

static void print_fraction(FILE *out, double x)
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

static void print_argument(FILE *out, const argument *a)
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
    case WK_VALUE_DTYPE: fputs(c_dtype[a->i], out); break;
    case WK_VALUE_DEVICE: fputs("wk_cpu()", out); break;
    default: fprintf(out, "%lld", (long long)a->i); break;
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* How an op is written in C where that is not: what the schema requires, then lists of dimensions, then options by name.
 *
 *   3    argument 3              3=x   x where it is not given      3?   only if it is given
 *   .3   the option of that name, if it is given
 *   &0   where result 0 goes     @     the array for all results */
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
    {"isin", NULL, "0 1 .3"},
    {"clamp", NULL, "0 1=WK_NONE 2=WK_NONE"},
    {"arange", "arange_from", "0 1 2=1 .3"},
    {"dropout", NULL, "0 1=0.5 2=true"},
    {"uniform_", NULL, "0 1=0.0 2=1.0"},
    {"normal_", NULL, "0 1=0.0 2=1.0"},
    {"tril", NULL, "0 1?"},
    {"triu", NULL, "0 1?"},
    {"cosine_similarity", NULL, "0 1 2=1 .3"},
    {"take_along_dim", NULL, "0 1 2=0"},
    {"layer_norm", NULL, "0 1 2=NULL 3=NULL 4=1e-5"},
    {"unique", NULL, "0"},
    {"to", NULL, "0 1"},
};

static void print_form(FILE *out, const step *s, const row *r, const char *form)
{
    const char *comma = "";
    for (const char *c = form; *c; c += *c == ' ') {
        const bool option = *c == '.', result = *c == '&';
        const bool array = *c == '@';
        c += option || result || array;
        const int k = array ? 0 : (int)strtol(c, (char **)(uintptr_t)&c, 10);
        const char *otherwise = *c == '=' ? c + 1 : NULL;
        const bool needed = !option && *c != '?';
        const size_t length = strcspn(c, " ");
        c += length;
        if (result || array) {
            fprintf(out, result ? "%s&t%d" : "%sr%d", comma, s->out + k);
        } else if (s->argument[k].kind != WK_VALUE_NONE) {
            fputs(comma, out);
            if (option) fprintf(out, ".%s = ", r->parameter[k].name);
            if (option && strcmp(r->parameter[k].name, "approximate") == 0)
                fputs(s->argument[k].text[0] == 't' ? "WK_GELU_TANH" : "WK_GELU_NONE", out);
            else
                print_argument(out, &s->argument[k]);
        } else if (needed) {
            fprintf(out, "%s%.*s", comma, otherwise ? (int)length - 1 : 4, otherwise ? otherwise : "NULL");
        } else {
            continue;
        }
        comma = ", ";
    }
}

/* The form that most ops have. */
static void usual_form(const row *r, char *form, size_t size)
{
    size_t at = 0;
    form[0] = 0;
    for (int turn = 0; turn < 3; turn++)
        for (int k = 0; k < r->parameters; k++) {
            const parameter *p = &r->parameter[k];
            const int its = !p->optional ? 0 : p->list && p->type == TYPE_INT ? 1 : 2;
            if (its != turn || p->type == TYPE_DEVICE) continue;
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

/* Over all elements: the macro takes no option without a dimension. */
static void print_position(FILE *out, const step *s)
{
    fprintf(out, "wk_%s_at(WK_HERE, t%d, NULL, -1, ", rows[s->op].op->name, s->argument[0].slot[0]);
    fprintf(out, "&(wk_reduce_options){.size = sizeof(wk_reduce_options), .keepdim = %s})",
            s->argument[2].i ? "true" : "false");
}

static void print_call(FILE *out, const step *s)
{
    const row *r = &rows[s->op];
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

/* Ops that put their results where arguments say. */
static bool fills(const step *s)
{
    const char *form = "";
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (strcmp(forms[k].op, rows[s->op].op->name) == 0) form = forms[k].form;
    if (strcmp(rows[s->op].op->name, "median") == 0) return s->argument[1].kind != WK_VALUE_NONE;
    return strpbrk(form, "&@") != NULL;
}

static void print_op(FILE *out, const step *s)
{
    const bool array = fills(s) && strcmp(rows[s->op].op->group, "sort") != 0;
    if (rows[s->op].draws) fprintf(out, "    wk_seed(%u);\n", s->seed);
    if (array) fprintf(out, "    wk_tensor *r%d[16] = {NULL};\n", s->out);
    fputs("    ", out);
    if (s->results && !fills(s)) fprintf(out, "t%d = ", s->out);
    print_call(out, s);
    fputs(";\n", out);
    for (int k = 0; array && k < s->results; k++) fprintf(out, "    t%d = r%d[%d];\n", s->out + k, s->out, k);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static void print_numbers(FILE *out, const step *s, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        fputs(k ? ", " : "", out);
        if (s->dtype <= WK_BF16)
            print_fraction(out, made_number(s, k));
        else
            fprintf(out, "%.0f", made_number(s, k));
    }
}

/* Of more numbers than one writes out, or of memory that the program lends: an array first. */
static void print_array(FILE *out, const step *s, int64_t n)
{
    fprintf(out, "    static %s m%d[%lld]", c_type[s->dtype], s->out, (long long)(n ? n : 1));
    if (n <= FEW) {
        fputs(" = {", out);
        print_numbers(out, s, n);
        fputs("};\n", out);
        return;
    }
    fprintf(out, ";\n    for (int k = 0; k < %lld; k++) m%d[k] = (%s)part_number(%uu, k, %s, %lld, %s);\n",
            (long long)n, s->out, c_type[s->dtype], s->seed, c_dtype[s->dtype],
            (long long)(s->how & MAKE_INDEX ? s->argument[1].i : 0), s->how & MAKE_POSITIVE ? "true" : "false");
}

static void print_make(FILE *out, const step *s)
{
    const argument *shape = &s->argument[0];
    const bool half = s->dtype == WK_F16 || s->dtype == WK_BF16;
    int64_t n = 1;
    for (int d = 0; d < shape->count; d++) n *= shape->ints[d];
    const bool lent = s->how & MAKE_BORROWED && !half;
    if (n > FEW || lent) print_array(out, s, n);
    fprintf(out, "    t%d = %s", s->out, half && n ? "wk_to_dtype(" : "");
    if (n == 0 && !lent) {
        fputs("wk_zeros(", out);
        print_argument(out, shape);
        fprintf(out, ", .dtype = %s)", c_dtype[s->dtype]);
    } else if (n > FEW || lent) {
        fprintf(out, "wk_%s(m%d, ", lent ? "borrow" : "from", s->out);
        print_argument(out, shape);
        fputs(lent ? ", NULL, NULL)" : ")", out);
    } else {
        fprintf(out, "wk_of(%s, ", c_type[s->dtype]);
        print_argument(out, shape);
        fputs(", ", out);
        print_numbers(out, s, n);
        fputs(")", out);
    }
    if (half && n) fprintf(out, ", %s)", c_dtype[s->dtype]);
    fputs(";\n", out);
    if (s->how & MAKE_LEAF) fprintf(out, "    wk_requires_grad_(t%d, true);\n", s->out);
}

/* ---- the other steps --------------------------------------------------------------------------------------------- */

static void print_graph_options(FILE *out, const step *s)
{
    if (s->how & GRAPH_RETAIN) fputs(", .retain_graph = true", out);
    if (s->how & GRAPH_CREATE) fputs(", .create_graph = true", out);
}

static void print_function(FILE *out, const step *s)
{
    fprintf(out, "    { wk_tensor *o[2] = {NULL}; wk_apply_n(&part_functions[%d], NULL, (t%d", s->how,
            s->argument[0].slot[0]);
    if (s->arguments > 1) fprintf(out, ", t%d", s->argument[1].slot[0]);
    fputs("), o);", out);
    for (int k = 0; k < s->results; k++) fprintf(out, " t%d = o[%d];", s->out + k, k);
    fputs(" }\n", out);
}

static void print_other(FILE *out, const step *s)
{
    static const char *const hook[HOOKS] = {"part_looks", "part_scales", "part_reads", "part_reads"};
    const int x = s->argument[0].slot[0], y = s->argument[1].slot[0];
    switch ((step_kind)s->kind) {
    case STEP_SCOPE: fprintf(out, "    wk_guard g%d = wk_scope_open(WK_HERE);\n", s->guard); break;
    case STEP_NO_GRAD: fprintf(out, "    wk_guard g%d = wk_no_grad_open(WK_HERE);\n", s->guard); break;
    case STEP_END: fprintf(out, "    wk_guard_close(&g%d);\n", s->guard); break;
    case STEP_KEEP: fprintf(out, "    wk_keep(t%d);\n", x); break;
    case STEP_CARRY: fprintf(out, "    wk_carry(&t%d, t%d);\n", x, y); break;
    case STEP_RETAIN: fprintf(out, "    t%d = wk_retain(t%d);\n", x, x); break;
    case STEP_FREE: fprintf(out, "    wk_free(t%d);\n", x); break;
    case STEP_READ: fprintf(out, "    wk_print(t%d);\n", x); break;
    case STEP_SYNC: fputs("    wk_sync();\n", out); break;
    case STEP_FLUSH: fputs("    wk_flush();\n", out); break;
    case STEP_PIN: fprintf(out, "    wk_data(t%d);\n", x); break;
    case STEP_POKE:
        fprintf(out, "    *(%s *)wk_data(t%d) = %g;\n", c_type[s->dtype ? s->dtype : WK_F32], x, s->argument[1].f);
        break;
    case STEP_REQUIRE: fprintf(out, "    wk_requires_grad_(t%d, %s);\n", x, s->argument[1].i ? "true" : "false"); break;
    case STEP_DETACH: fprintf(out, "    t%d = wk_detach(t%d);\n", s->out, x); break;
    case STEP_GRAD_OF: fprintf(out, "    t%d = wk_retain(wk_grad_of(t%d));\n", s->out, x); break;
    case STEP_BACKWARD:
        fprintf(out, "    wk_backward(t%d", x);
        if (s->arguments > 1) fprintf(out, ", .gradient = t%d", y);
        print_graph_options(out, s);
        fputs(");\n", out);
        break;
    case STEP_DIFFERENTIATE:
        fprintf(out, "    wk_grad((t%d), (t%d), &t%d, .allow_unused = true", x, y, s->out);
        print_graph_options(out, s);
        fputs(");\n", out);
        break;
    case STEP_HOOK:
        fprintf(out, "    wk_register_hook(t%d, %s, NULL%s);\n", x, hook[s->how],
                s->how == HOOK_AFTER ? ", .after = true" : "");
        break;
    default: print_function(out, s); break;
    }
}

static void declare(FILE *out, const program *p)
{
    const char *comma = "    wk_tensor *";
    for (int k = 0; k < p->steps; k++)
        for (int r = 0; r < p->step[k].results && !p->step[k].gone; r++) {
            fprintf(out, "%st%d = NULL", comma, p->step[k].out + r);
            comma = ", *";
        }
    if (comma[0] == ',') fputs(";\n", out);
}

static bool uses_parts(const program *p)
{
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        if (!s->gone && (s->kind == STEP_HOOK || s->kind == STEP_FUNCTION)) return true;
        int64_t n = 1;
        for (int d = 0; s->kind == STEP_MAKE && d < s->argument[0].count; d++) n *= s->argument[0].ints[d];
        if (!s->gone && n > FEW) return true;
    }
    return false;
}

void print_program(FILE *out, const program *p)
{
    fprintf(out, "#include <wick.h>\n%sint main(void)\n{\n    WK_SCOPE;\n",
            uses_parts(p) ? "#include \"random/parts.h\"\n" : "");
    declare(out, p);
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        if (s->gone) continue;
        if (k && s->thread != p->step[k - 1].thread) fprintf(out, "    /* thread %d goes on */\n", s->thread);
        if (s->kind == STEP_MAKE)
            print_make(out, s);
        else if (s->kind == STEP_CALL || s->kind == STEP_IN_PLACE)
            print_op(out, s);
        else
            print_other(out, s);
    }
    int order[MOST_SLOTS];
    program_order(p, order);
    for (int k = 0; k < p->slots; k++) {
        if (p->left[order[k]]) fprintf(out, "    wk_print(t%d);\n", order[k]);
        if (p->left[order[k]] == LEFT_LEAF)
            fprintf(out, "    if (wk_grad_of(t%d)) wk_print(wk_grad_of(t%d));\n", order[k], order[k]);
    }
    fputs("    return wk_report_error(stdout);\n}\n", out);
}

/* ---- signatures -------------------------------------------------------------------------------------------------- */

static const char *const kind_name[STEP_KINDS] = {
    "make",   "call",     "in_place", "scope",         "no_grad", "end",     "keep", "carry",
    "retain", "free",     "read",     "sync",          "flush",   "pin",     "poke", "require",
    "detach", "backward", "grad_of",  "differentiate", "hook",    "function"};

static const char *name_of(const step *s, char *room, size_t size)
{
    if (s->kind == STEP_CALL) return rows[s->op].op->name;
    if (s->kind != STEP_IN_PLACE) return kind_name[s->kind];
    snprintf(room, size, "%s_", rows[s->op].op->name);
    return room;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void print_signature(char *text, size_t size, const program *p)
{
    const char *names[MOST_STEPS];
    char room[MOST_STEPS][32];
    int count = 0;
    size_t at = 0;
    for (int k = 0; k < p->steps; k++)
        if (!p->step[k].gone) names[count++] = name_of(&p->step[k], room[k], sizeof room[k]);
    qsort(names, (size_t)count, sizeof *names, by_text);
    text[0] = 0;
    for (int k = 0; k < count; k++) {
        if (k && strcmp(names[k], names[k - 1]) == 0) continue;
        const int n = snprintf(text + at, size - at, "%s%s", at ? " " : "", names[k]);
        at = at + (size_t)n < size ? at + (size_t)n : size - 1;
    }
}
