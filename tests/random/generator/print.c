/* SPDX-License-Identifier: Apache-2.0 */
/* Prints programs as C; see print.h. */
#include "print.h"
#include "executor.h"
#include "op_entries.h"
#include <stdlib.h>
#include <string.h>

enum { FEW = 24 /* elements that are written out */ };

static const char *const c_type[] = {
    [WK_F32] = "float",  [WK_F64] = "double",  [WK_F16] = "float",   [WK_BF16] = "float",  [WK_I8] = "int8_t",
    [WK_U8] = "uint8_t", [WK_I16] = "int16_t", [WK_I32] = "int32_t", [WK_I64] = "int64_t", [WK_BOOL] = "bool"};

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

/* Prints an array first, if there are more elements than are written out, or the memory is the program's. */
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
            (long long)n, s->out, c_type[s->dtype], s->seed, print_dtype[s->dtype],
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
        fprintf(out, ", .dtype = %s)", print_dtype[s->dtype]);
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
    if (half && n) fprintf(out, ", %s)", print_dtype[s->dtype]);
    fputs(";\n", out);
    if (s->card) fprintf(out, "    t%d = wk_to(t%d, part_card(%d));\n", s->out, s->out, s->card == CARD_SECOND);
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
    fprintf(out, "    { wk_tensor *o[2] = {NULL}; wk_apply_n(&part_functions[%d], part_context(%d), (t%d", s->how,
            s->how, s->argument[0].slot[0]);
    if (s->arguments > 1) fprintf(out, ", t%d", s->argument[1].slot[0]);
    fputs("), o);", out);
    for (int k = 0; k < s->results; k++) fprintf(out, " t%d = o[%d];", s->out + k, k);
    fputs(" }\n", out);
}

static void print_other(FILE *out, const step *s, bool apart)
{
    const char *guard = apart ? "" : "wk_guard ";
    static const char *const hook[HOOKS] = {"part_looks", "part_scales", "part_reads", "part_reads"};
    const int x = s->argument[0].slot[0], y = s->argument[1].slot[0];
    switch ((step_kind)s->kind) {
    case STEP_SCOPE: fprintf(out, "    %sg%d = wk_scope_open(WK_HERE);\n", guard, s->guard); break;
    case STEP_NO_GRAD: fprintf(out, "    %sg%d = wk_no_grad_open(WK_HERE);\n", guard, s->guard); break;
    case STEP_END: fprintf(out, "    wk_guard_close(&g%d);\n", s->guard); break;
    case STEP_KEEP: fprintf(out, "    wk_keep(t%d);\n", x); break;
    case STEP_CARRY: fprintf(out, "    wk_carry(&t%d, t%d);\n", x, y); break;
    case STEP_RETAIN: fprintf(out, "    t%d = wk_retain(t%d);\n", x, x); break;
    case STEP_FREE: fprintf(out, "    wk_free(t%d);\n", x); break;
    case STEP_READ: fprintf(out, "    wk_print(t%d);\n", x); break;
    case STEP_SYNC: fputs("    wk_sync();\n", out); break;
    case STEP_FLUSH: fputs("    wk_flush();\n", out); break;
    case STEP_TRIM: fprintf(out, "    wk_memory_trim(part_card(%d));\n", s->card == CARD_SECOND); break;
    case STEP_TAKE_ADDRESS: fprintf(out, "    wk_data(t%d);\n", x); break;
    case STEP_HOST_WRITE:
        if (s->how == POKE_DLPACK) {
            fprintf(out, "    part_poke(t%d, %g);\n", x, s->argument[1].f);
            break;
        }
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
                s->how == HOOK_AFTER ? ", .post_accumulate = true" : "");
        break;
    case STEP_OPTIMISE:
        fprintf(out, "    part_optimise(%d, (wk_tensor *const[]){", s->how);
        for (int k = 0; k < s->argument[0].count; k++) fprintf(out, "%st%d", k ? ", " : "", s->argument[0].slot[k]);
        fprintf(out, "}, %d, %lld);\n", s->argument[0].count, (long long)s->argument[1].i);
        break;
    case STEP_THREAD_RESTART: fputs("    /* this thread ends, another continues */\n", out); break;
    default: print_function(out, s); break;
    }
}

void print_step(FILE *out, const step *s, bool apart)
{
    if (s->kind == STEP_MAKE)
        print_make(out, s);
    else if (s->kind == STEP_CALL && s->card)
        fprintf(out, "    t%d = part_send(t%d, %d);\n", s->out, s->argument[0].slot[0], s->card == CARD_SECOND);
    else if (s->kind == STEP_CALL || s->kind == STEP_IN_PLACE)
        print_op(out, s);
    else
        print_other(out, s, apart);
}

static void declare(FILE *out, const program *p)
{
    const char *comma = "    wk_tensor *";
    for (int k = 0; k < p->steps; k++)
        for (int r = 0; r < p->step[k].results && !p->step[k].removed; r++) {
            fprintf(out, "%st%d = NULL", comma, p->step[k].out + r);
            comma = ", *";
        }
    if (comma[0] == ',') fputs(";\n", out);
}

static bool uses_parts(const program *p)
{
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        const bool poked = s->kind == STEP_HOST_WRITE && s->how == POKE_DLPACK;
        if (!s->removed && (s->card || s->kind == STEP_TRIM || s->kind == STEP_HOOK || s->kind == STEP_FUNCTION ||
                            s->kind == STEP_OPTIMISE || poked))
            return true;
        int64_t n = 1;
        for (int d = 0; s->kind == STEP_MAKE && d < s->argument[0].count; d++) n *= s->argument[0].ints[d];
        if (!s->removed && n > FEW) return true;
    }
    return false;
}

void print_left(FILE *out, const program *p, int k)
{
    if (p->left[k]) fprintf(out, "    wk_print(t%d);\n", k);
    if (p->left[k] == LEFT_LEAF) fprintf(out, "    if (wk_grad_of(t%d)) wk_print(wk_grad_of(t%d));\n", k, k);
}

static void print_alone(FILE *out, const program *p)
{
    fputs("int main(void)\n{\n    WK_SCOPE;\n", out);
    declare(out, p);
    for (int k = 0; k < p->steps; k++)
        if (!p->step[k].removed) print_step(out, &p->step[k], false);
    int order[MOST_SLOTS];
    program_order(p, order);
    for (int k = 0; k < p->slots; k++) print_left(out, p, order[k]);
    fputs("    return wk_report_error(stdout);\n}\n", out);
}

void print_program(FILE *out, const program *p)
{
    fputs("#include <wick.h>\n", out);
    if (uses_parts(p)) fputs("#include \"random/generator/program_lib.h\"\n", out);
    if (p->threads > 1)
        print_threads(out, p);
    else
        print_alone(out, p);
}

/* ---- signatures -------------------------------------------------------------------------------------------------- */

static const char *const kind_name[STEP_KINDS] = {
    "make",     "call",    "in_place",      "scope", "no_grad",  "end",  "keep",    "carry",   "retain",
    "free",     "read",    "sync",          "flush", "trim",     "pin",  "poke",    "require", "detach",
    "backward", "grad_of", "differentiate", "hook",  "function", "anew", "optimise"};

static const char *name_of(const step *s, char *room, size_t size)
{
    if (s->kind == STEP_CALL) return op_entries[s->op].op->name;
    if (s->kind != STEP_IN_PLACE) return kind_name[s->kind];
    snprintf(room, size, "%s_", op_entries[s->op].op->name);
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
        if (!p->step[k].removed) names[count++] = name_of(&p->step[k], room[k], sizeof room[k]);
    qsort(names, (size_t)count, sizeof *names, by_text);
    text[0] = 0;
    for (int k = 0; k < count; k++) {
        if (k && strcmp(names[k], names[k - 1]) == 0) continue;
        const int n = snprintf(text + at, size - at, "%s%s", at ? " " : "", names[k]);
        at = at + (size_t)n < size ? at + (size_t)n : size - 1;
    }
}
