/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the op table read; see rows.h. */
#include "rows.h"
#include <stdlib.h>
#include <string.h>

row *rows;
int row_count;

/* ---- forms in place ---------------------------------------------------------------------------------------------- */

/* Which ops have the usual ones the linker says. */
#define WK__OP(name)                                                                                                   \
    extern any_form in_place_##name __asm__("wk_" #name "__at") __attribute__((weak));                                 \
    extern any_form in_place_f_##name __asm__("wk_" #name "__tf_at") __attribute__((weak));                            \
    extern any_form in_place_i_##name __asm__("wk_" #name "__ti_at") __attribute__((weak));
#include "ops/ops.def"
#include "memory.h"
#undef WK__OP

static any_form *const forms[][3] = {
#define WK__OP(name) {in_place_##name, in_place_f_##name, in_place_i_##name},
#include "ops/ops.def"
#undef WK__OP
};

typedef wk_tensor *unary_form(wk_site site, wk_tensor *x);
typedef wk_tensor *binary_form(wk_site site, wk_tensor *x, wk_tensor *y);
typedef wk_tensor *binary_f_form(wk_site site, wk_tensor *x, double y);
typedef wk_tensor *binary_i_form(wk_site site, wk_tensor *x, int64_t y);

/* Those with a signature of their own. */
static wk_tensor *clamp(wk_site site, const wk_value *args)
{
    return wk_clamp__at(site, args[0].tensor, args[1], args[2]);
}
static wk_tensor *masked_fill(wk_site site, const wk_value *args)
{
    return wk_masked_fill__at(site, args[0].tensor, args[1].tensor, args[2]);
}
static wk_tensor *lerp(wk_site site, const wk_value *args)
{
    return wk_lerp__at(site, args[0].tensor, args[1].tensor, args[2]);
}
/* A number of an option: 0 in a struct would mean its default. */
static double option(const wk_value *value)
{
    const double x = value->kind == WK_VALUE_INT ? (double)value->i : value->f;
    return value->kind == WK_VALUE_NONE ? 0 : x == 0 ? WK_ZERO : x;
}
static wk_tensor *addcmul(wk_site site, const wk_value *args)
{
    const wk_addc_options options = {.size = sizeof options, .value = option(&args[3])};
    return wk_addcmul__at(site, args[0].tensor, args[1].tensor, args[2].tensor, &options);
}
static wk_tensor *addcdiv(wk_site site, const wk_value *args)
{
    const wk_addc_options options = {.size = sizeof options, .value = option(&args[3])};
    return wk_addcdiv__at(site, args[0].tensor, args[1].tensor, args[2].tensor, &options);
}
static wk_tensor *scatter_add(wk_site site, const wk_value *args)
{
    return wk_scatter_add__at(site, args[0].tensor, args[1].i, args[2].tensor, args[3].tensor);
}
static wk_tensor *index_add(wk_site site, const wk_value *args)
{
    return wk_index_add__at(site, args[0].tensor, args[1].i, args[2].tensor, args[3].tensor);
}
static wk_tensor *leaky_relu(wk_site site, const wk_value *args)
{
    const wk_leaky_relu_options options = {.size = sizeof options, .negative_slope = option(&args[1])};
    return wk_leaky_relu__at(site, args[0].tensor, &options);
}
static wk_tensor *elu(wk_site site, const wk_value *args)
{
    const wk_elu_options options = {.size = sizeof options, .alpha = option(&args[1])};
    return wk_elu__at(site, args[0].tensor, &options);
}
static wk_tensor *hardtanh(wk_site site, const wk_value *args)
{
    const wk_hardtanh_options options = {
        .size = sizeof options, .min_val = option(&args[1]), .max_val = option(&args[2])};
    return wk_hardtanh__at(site, args[0].tensor, &options);
}
static wk_tensor *nan_to_num(wk_site site, const wk_value *args)
{
    const wk_nan_to_num_options options = {
        .size = sizeof options, .nan = option(&args[1]), .posinf = option(&args[2]), .neginf = option(&args[3])};
    return wk_nan_to_num__at(site, args[0].tensor, &options);
}
static wk_tensor *rounded(wk_site site, const wk_value *args)
{
    const wk_round_options options = {.size = sizeof options, .decimals = args[1].kind == WK_VALUE_INT ? args[1].i : 0};
    return wk_round__at(site, args[0].tensor, &options);
}

static const struct {
    const char *name;
    in_place_form *form;
} others[] = {{"clamp", clamp},         {"masked_fill", masked_fill}, {"lerp", lerp},
              {"addcmul", addcmul},     {"addcdiv", addcdiv},         {"scatter_add", scatter_add},
              {"index_add", index_add}, {"leaky_relu", leaky_relu},   {"elu", elu},
              {"hardtanh", hardtanh},   {"nan_to_num", nan_to_num},   {"round", rounded}};

static bool schema_is(const wk__op *op, const char *arguments)
{
    const char *first = strchr(op->schema, '(');
    return first && strncmp(first, arguments, strlen(arguments)) == 0;
}

static void find_in_place(row *r, int index)
{
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (strcmp(others[k].name, r->op->name) == 0) r->in_place = others[k].form;
    if (r->in_place || !forms[index][0]) return;
    if (schema_is(r->op, "(Tensor self) -> Tensor")) r->unary = forms[index][0];
    if (!schema_is(r->op, "(Tensor self, Tensor other")) return;
    r->binary = forms[index][0];
    r->binary_f = forms[index][1];
    r->binary_i = forms[index][2];
}

/* ---- schemas ----------------------------------------------------------------------------------------------------- */

static bool read_type(const char *word, size_t n, parameter_type *type)
{
    static const char *const names[] = {"Tensor", "int", "float", "Scalar", "bool", "dtype", "Device", "str"};
    for (int k = 0; k < (int)(sizeof names / sizeof *names); k++)
        if (strlen(names[k]) == n && strncmp(names[k], word, n) == 0) {
            *type = (parameter_type)k;
            return true;
        }
    return false;
}

/* Reads the parameter at *text, moves past it; 0 at the end, -1 for what it does not know. */
static int next_parameter(const char **text, parameter *p)
{
    const char *c = *text;
    memset(p, 0, sizeof *p);
    for (; *c == ' ' || *c == ',' || *c == '*'; c++) p->keyword = p->keyword || *c == '*';
    if (*c == ')' || !*c) return 0;
    size_t n = strcspn(c, " ?[(");
    if (!read_type(c, n, &p->type)) return -1;
    c += n;
    if (*c == '(') {
        p->written = true;
        c += strcspn(c, ")") + 1;
    }
    for (; *c && *c != ' '; c++) {
        p->list = p->list || *c == '[';
        p->optional = p->optional || *c == '?';
    }
    c += strspn(c, " ");
    n = strcspn(c, "=,)");
    if (n >= sizeof p->name) return -1;
    memcpy(p->name, c, n);
    c += n;
    if (*c == '=') {
        p->optional = true;
        for (int depth = 0; *c && (depth > 0 || (*c != ',' && *c != ')')); c++) depth += (*c == '[') - (*c == ']');
    }
    *text = c;
    return 1;
}

static bool read_row(row *r, int index)
{
    const wk__op *op = r->op = wk__ops[index];
    r->known = op_reference_of(op);
    const char *text = strchr(op->schema, '(') + 1;
    bool keyword = false;
    int more;
    while ((more = r->parameters < MOST_ARGUMENTS ? next_parameter(&text, &r->parameter[r->parameters]) : 0) > 0) {
        parameter *p = &r->parameter[r->parameters];
        keyword = p->keyword = keyword || p->keyword;
        p->number = op->parameters[r->parameters].number;
        r->tensors += p->type == TYPE_TENSOR && !p->optional && !p->list;
        r->writes = r->writes || p->written;
        r->parameters++;
    }
    r->pointwise = r->known->exact != NULL;
    r->view = strcmp(op->group, "view") == 0;
    r->draws = strcmp(op->group, "random") == 0;
    find_in_place(r, index);
    return more == 0;
}

bool rows_read(void)
{
    row_count = wk__op_total;
    rows = memory_take((size_t)row_count, sizeof *rows);
    for (int k = 0; k < row_count; k++)
        if (!read_row(&rows[k], k)) {
            fprintf(stderr, "%s: its schema is not understood: %s\n", wk__ops[k]->name, wk__ops[k]->schema);
            return false;
        }
    return true;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

int row_call(const row *r, wk_site site, const wk_value *args, wk_tensor **out)
{
    return r->op->invoke(r->op, site, args, out);
}

wk_tensor *row_call_in_place(const row *r, wk_site site, const wk_value *args)
{
    if (r->in_place) return r->in_place(site, args);
    if (r->unary) return ((unary_form *)r->unary)(site, args[0].tensor);
    if (args[1].kind == WK_VALUE_TENSOR) return ((binary_form *)r->binary)(site, args[0].tensor, args[1].tensor);
    if (args[1].kind == WK_VALUE_FLOAT) return ((binary_f_form *)r->binary_f)(site, args[0].tensor, args[1].f);
    return ((binary_i_form *)r->binary_i)(site, args[0].tensor, args[1].i);
}
