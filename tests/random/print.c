/* Programs as text; see print.h. */
#include "print.h"
#include "rows.h"
#include <stdlib.h>
#include <string.h>

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

static void print_argument(FILE *out, const argument *a)
{
    switch (a->kind) {
    case WK_VALUE_TENSOR: fprintf(out, "t%d", a->slot[0]); break;
    case WK_VALUE_TENSORS:
        for (int k = 0; k < a->count; k++) fprintf(out, "%st%d", k ? ", " : "(", a->slot[k]);
        fprintf(out, ")");
        break;
    case WK_VALUE_INTS:
        fprintf(out, "(");
        for (int k = 0; k < a->count; k++) fprintf(out, "%s%lld", k ? ", " : "", (long long)a->ints[k]);
        fprintf(out, ")");
        break;
    case WK_VALUE_FLOAT: fprintf(out, "%.9g", a->f); break;
    case WK_VALUE_TEXT: fprintf(out, "\"%s\"", a->text); break;
    case WK_VALUE_DTYPE: fprintf(out, "%s", wk_dtype_str((wk_dtype)a->i)); break;
    case WK_VALUE_NONE: fprintf(out, "none"); break;
    default: fprintf(out, "%lld", (long long)a->i); break;
    }
}

void print_program(FILE *out, const program *p)
{
    char room[64];
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        if (s->gone) continue;
        fprintf(out, "    ");
        for (int r = 0; r < s->results; r++) fprintf(out, "%st%d", r ? ", " : "", s->out + r);
        fprintf(out, "%s%s(", s->results ? " = " : "", name_of(s, room, sizeof room));
        if (s->kind == STEP_MAKE) fprintf(out, "%s how %d seed %u ", wk_dtype_str(s->dtype), s->how, s->seed);
        int last = s->arguments;
        while (last > 0 && s->argument[last - 1].kind == WK_VALUE_NONE) last--;
        for (int a = 0; a < last; a++) {
            fprintf(out, "%s", a ? ", " : "");
            print_argument(out, &s->argument[a]);
        }
        fprintf(out, ")");
        if (s->kind == STEP_SCOPE || s->kind == STEP_NO_GRAD || s->kind == STEP_END) fprintf(out, " %d", s->guard);
        if (s->how && s->kind != STEP_MAKE) fprintf(out, " how %d", s->how);
        fprintf(out, "\n");
    }
    if (p->order) fprintf(out, "    read in order %u\n", p->order);
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
