/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the body of a group's kernel. Register k is the variable rk, operand k the pointer pk, dimension d the
 * coordinate cd. By form:
 *
 *   items                        groups                           chunks, pass s
 *   --------------------------   ------------------------------   --------------------------------------------
 *   row = position of the item   row = number of the group        row, chunk = number of the group / % chunks
 *   row values                   row values                       row values; partial results of passes < s
 *   for each pass                for each pass                    (gathered from scratch memory)
 *     for all columns              for every local-th column      for every local-th column of the chunk, pass s
 *     reduction = accumulator      reduction by local memory      reduction by local memory -> scratch
 *     row values                   row values                     in the last pass: row values
 *   store row values             item 0 stores row values         item 0 of chunk 0 stores row values
 */
#include "print.h"

#include <string.h>

/* ---- where a row is ---------------------------------------------------------------------------------------------- */

/* const idx c1 = rest % n1; rest = rest / n1; const idx c0 = rest; */
void wk__gpu_print_coordinates(wk__gpu_printer *p, int first, int end, const char *position)
{
    if (end - first == 1) {
        wk__text_format(p->text, "    const idx c%d = %s;\n", first, position);
        return;
    }
    if (end > first) wk__text_format(p->text, "    idx rest%d = %s;\n", first, position);
    for (int d = end - 1; d >= first; d--) {
        int shape = p->layout.shape + d;
        if (d == first) {
            wk__text_format(p->text, "    const idx c%d = rest%d;\n", d, first);
        } else {
            wk__text_format(p->text, "    const idx c%d = rest%d %% (idx)A(%d);\n    rest%d /= (idx)A(%d);\n", d, first,
                            shape, first, shape);
        }
    }
}

void wk__gpu_print_operands(wk__gpu_printer *p)
{
    for (int k = 0; k < p->group->noperands; k++) {
        const wk__operand *operand = &p->group->operand[k];
        const char *type = wk__gpu_storage_type((wk_dtype)operand->dtype);
        if (k == 0 && p->tail && !operand->stored) continue;
        wk__text_format(p->text, "    GM %s%s *p%d = (GM %s%s *)m%d + A(%d);\n", operand->stored ? "" : "const ", type,
                        k, operand->stored ? "" : "const ", type, k + (k > 0 && p->tail ? WK__FACTORS : 0),
                        p->layout.offset[k]);
        wk__text_format(p->text, "    const idx o%d = 0", k);
        for (int d = 0; d < p->kept; d++) {
            if (operand->stride[d] == 1) {
                wk__text_format(p->text, " + c%d", d);
            } else if (operand->stride[d] != 0) {
                wk__text_format(p->text, " + c%d * (idx)A(%d)", d, p->layout.stride[k][d]);
            }
        }
        wk__text_add(p->text, ";\n");
    }
}

static void print_row(wk__gpu_printer *p)
{
    switch (p->form.walk) {
    case WK__GPU_ITEMS:
        wk__text_add(p->text, "    const i64 row = A(0) + ITEM;\n    if (row >= A(1)) return;\n");
        break;
    case WK__GPU_GROUPS: wk__text_add(p->text, "    const i64 row = A(0) + GROUP;\n"); break;
    default:
        wk__text_format(p->text,
                        "    const i64 chunk = (A(0) + GROUP) %% A(%d);\n    const i64 row = (A(0) + GROUP) / A(%d);\n",
                        p->layout.chunks, p->layout.chunks);
        break;
    }
    if (p->form.guarded) wk__text_add(p->text, "    if (F[0] != 0) return;\n");
    wk__gpu_print_coordinates(p, 0, p->kept, "(idx)row");
    wk__gpu_print_operands(p);
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

static const char *combine_name(int code)
{
    switch (code) {
    case WK__RSUM: return "wk_plus";
    case WK__RPROD: return "wk_times";
    case WK__RMAX: return "wk_max";
    default: return "wk_min";
    }
}

static const char *first_value(const wk__ins *ins)
{
    bool greatest = ins->code == WK__RMAX;
    if (ins->code == WK__RSUM) return "0";
    if (ins->code == WK__RPROD) return "1";
    if (ins->dtype == WK_BOOL) return greatest ? "0" : "1";
    switch (wk__class_of((wk_dtype)ins->dtype)) {
    case WK_F32:
    case WK_F64: return greatest ? "-INFINITY" : "INFINITY";
    case WK_I64: return greatest ? "WK_I64_MIN" : "WK_I64_MAX";
    default: return greatest ? "WK_I32_MIN" : "WK_I32_MAX";
    }
}

static bool reduces_in(const wk__gpu_printer *p, int k, int pass)
{
    return wk__gpu_is_reduction(p->group->ins[k].code) && p->schedule.pass[k] == pass + 1;
}

/* Sums are added up in runs of 128, and the runs then: the error grows with the run and the number of runs, not with
 * the row. tk holds the runs that are complete. */
static void print_accumulators(wk__gpu_printer *p, int pass)
{
    for (int k = 0; k < p->group->nins; k++) {
        if (!reduces_in(p, k, pass)) continue;
        const wk__ins *ins = &p->group->ins[k];
        const char *type = wk__gpu_class_type((wk_dtype)ins->dtype), *value = first_value(ins);
        wk__text_format(p->text, "    %s a%d = %s, t%d = %s;\n", type, k, value, k, value);
    }
}

static void print_accumulate(wk__gpu_printer *p, int pass)
{
    for (int k = 0; k < p->group->nins; k++) {
        if (!reduces_in(p, k, pass)) continue;
        const wk__ins *ins = &p->group->ins[k];
        wk__text_format(p->text, "    a%d = %s_%s(a%d, r%d);\n", k, combine_name(ins->code),
                        wk__gpu_suffix((wk_dtype)ins->dtype), k, ins->arg[0]);
    }
    wk__text_add(p->text, "    if ((++count & 127) == 0) {\n");
    for (int k = 0; k < p->group->nins; k++) {
        if (!reduces_in(p, k, pass)) continue;
        const wk__ins *ins = &p->group->ins[k];
        wk__text_format(p->text, "        t%d = %s_%s(t%d, a%d);\n        a%d = %s;\n", k, combine_name(ins->code),
                        wk__gpu_suffix((wk_dtype)ins->dtype), k, k, k, first_value(ins));
    }
    wk__text_add(p->text, "    }\n");
}

/* Combines one value of each item of the work-group and gives all items the result: sixteen sums of every sixteenth
 * value, then their sum, by all items alike. Three barriers, none in a loop or behind a condition: compilers for CPUs,
 * which turn work-groups into loops, take long over those. */
static void print_combined(wk__gpu_printer *p, const wk__ins *ins, const char *result, int k)
{
    const char *suffix = wk__gpu_suffix((wk_dtype)ins->dtype), *type = wk__gpu_class_type((wk_dtype)ins->dtype);
    const char *combine = combine_name(ins->code), *first = first_value(ins);
    wk__text_format(p->text,
                    "    BARRIER;\n    s_%s[LOCAL] = a%d;\n    BARRIER;\n    %s u%d = %s;\n"
                    "    for (int j = LOCAL %% 16; j < LOCALS; j += 16) u%d = %s_%s(u%d, s_%s[j]);\n",
                    suffix, k, type, k, first, k, combine, suffix, k, suffix);
    wk__text_format(p->text,
                    "    BARRIER;\n    s_%s[LOCAL] = u%d;\n    BARRIER;\n    u%d = %s;\n"
                    "    for (int j = 0; j < 16; j++) u%d = %s_%s(u%d, s_%s[j]);\n    const %s %s%d = u%d;\n",
                    suffix, k, k, first, k, combine, suffix, k, suffix, type, result, k, k);
}

/* What becomes of the accumulators after the loop: the reduction's register, or a partial result in scratch memory. */
static void print_results(wk__gpu_printer *p, int pass)
{
    int slot = 0;
    for (int k = 0; k < p->group->nins; k++) {
        const wk__ins *ins = &p->group->ins[k];
        if (!wk__gpu_is_reduction(ins->code)) continue;
        const char *type = wk__gpu_class_type((wk_dtype)ins->dtype), *suffix = wk__gpu_suffix((wk_dtype)ins->dtype);
        if (reduces_in(p, k, pass)) {
            wk__text_format(p->text, "    a%d = %s_%s(t%d, a%d);\n", k, combine_name(ins->code), suffix, k, k);
            if (p->form.walk == WK__GPU_ITEMS) {
                wk__text_format(p->text, "    const %s r%d = a%d;\n", type, k, k);
            } else {
                print_combined(p, ins, p->form.walk == WK__GPU_GROUPS ? "r" : "part", k);
            }
            if (p->form.walk == WK__GPU_CHUNKS) {
                wk__text_format(
                    p->text, "    if (LOCAL == 0) ((GM %s *)(m%d + 8 * (%d * A(1) + row) * A(%d)))[chunk] = part%d;\n",
                    type, p->group->noperands, slot, p->layout.chunks, k);
            }
        }
        slot++;
    }
}

/* Chunks: the registers of an earlier pass's reductions, from the partial results of all chunks of the row. */
static void print_gathered(wk__gpu_printer *p, int pass)
{
    int slot = 0;
    for (int k = 0; k < p->group->nins; k++) {
        const wk__ins *ins = &p->group->ins[k];
        if (!wk__gpu_is_reduction(ins->code)) continue;
        if (reduces_in(p, k, pass)) {
            const char *type = wk__gpu_class_type((wk_dtype)ins->dtype), *suffix = wk__gpu_suffix((wk_dtype)ins->dtype);
            wk__text_format(p->text,
                            "    %s a%d = %s;\n    for (int j = LOCAL; j < A(%d); j += LOCALS)\n"
                            "        a%d = %s_%s(a%d, ((GM %s *)(m%d + 8 * (%d * A(1) + row) * A(%d)))[j]);\n",
                            type, k, first_value(ins), p->layout.chunks, k, combine_name(ins->code), suffix, k, type,
                            p->group->noperands, slot, p->layout.chunks);
            print_combined(p, ins, "r", k);
        }
        slot++;
    }
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static void need(const wk__group *group, bool needed[], int k)
{
    needed[k] = true;
    for (int j = k; j >= 0; j--) {
        const wk__ins *ins = &group->ins[j];
        if (!needed[j]) continue;
        const int16_t *registers = ins->code == WK__STORE ? ins->arg + 1 : ins->arg;
        for (int a = 0; a < wk__alu_arity[ins->code]; a++) needed[registers[a]] = true;
    }
}

/* Marks what the loop of this pass has to compute: all that its stores, reductions and, where it only checks, its
 * indexed loads are made of. Returns whether there is anything. */
static bool plan_loop(const wk__gpu_printer *p, int pass, bool needed[])
{
    bool any = false;
    memset(needed, 0, WK__MAX_INS * sizeof needed[0]);
    for (int k = 0; k < p->group->nins; k++) {
        int code = p->group->ins[k].code;
        bool goal = reduces_in(p, k, pass);
        if (p->schedule.loop[k] && p->schedule.pass[k] == pass) goal |= code == (p->form.check ? WK__LOADX : WK__STORE);
        if (!goal) continue;
        need(p->group, needed, k);
        any = true;
    }
    return any;
}

static void print_loop_body(wk__gpu_printer *p, int pass, const bool needed[])
{
    for (int k = 0; k < p->group->nins; k++) {
        if (needed[k] && p->schedule.loop[k]) wk__gpu_print_instruction(p, k);
    }
    bool reduces = false;
    for (int k = 0; k < p->group->nins; k++) reduces |= reduces_in(p, k, pass);
    if (reduces) print_accumulate(p, pass);
}

/* The heads of the loops over the columns, and how many braces close them. */
static int print_loop_head(wk__gpu_printer *p)
{
    const wk__gpu_layout *at = &p->layout;
    int first = p->kept, end = p->group->ndim;
    if (p->form.walk == WK__GPU_ITEMS) {
        wk__text_add(p->text, "    idx column = 0;\n");
        for (int d = first; d < end; d++) {
            wk__text_format(p->text, "    for (idx c%d = 0; c%d < (idx)A(%d); c%d++%s) {\n", d, d, at->shape + d, d,
                            d == end - 1 ? ", column++" : "");
        }
        return end - first;
    }
    if (p->form.walk == WK__GPU_GROUPS) {
        wk__text_format(p->text, "    for (idx column = LOCAL; column < (idx)A(%d); column += LOCALS) {\n",
                        at->columns);
    } else {
        wk__text_format(
            p->text,
            "    const i64 length = (A(%d) + A(%d) - 1) / A(%d), end = wk_min_i64(A(%d), (chunk + 1) * length);\n"
            "    for (idx column = (idx)(chunk * length + LOCAL); column < (idx)end; column += LOCALS) {\n",
            at->columns, at->chunks, at->chunks, at->columns);
    }
    wk__gpu_print_coordinates(p, first, end, "column");
    return 1;
}

static void print_pass(wk__gpu_printer *p, int pass)
{
    bool needed[WK__MAX_INS];
    if (!plan_loop(p, pass, needed)) return;
    print_accumulators(p, pass);
    wk__text_add(p->text, "    {\n    int count = 0;\n");
    int braces = print_loop_head(p);
    print_loop_body(p, pass, needed);
    wk__text_char(p->text, '}', braces + 1);
    wk__text_add(p->text, "\n");
    print_results(p, pass);
}

/* Row values that are known once `pass` passes are over. */
static void print_row_values(wk__gpu_printer *p, int pass)
{
    for (int k = 0; k < p->group->nins; k++) {
        int code = p->group->ins[k].code;
        if (p->schedule.loop[k] || p->schedule.pass[k] != pass || code == WK__STORE || wk__gpu_is_reduction(code))
            continue;
        wk__gpu_print_instruction(p, k);
    }
}

/* One item stores what belongs to the row; what that may overwrite, all items have loaded by then. */
static void print_row_stores(wk__gpu_printer *p)
{
    static const char *const who[] = {
        [WK__GPU_ITEMS] = "    {\n",
        [WK__GPU_GROUPS] = "    if (LOCAL == 0) {\n",
        [WK__GPU_CHUNKS] = "    if (LOCAL == 0 && chunk == 0) {\n",
    };
    if (p->form.guarded && p->form.walk != WK__GPU_ITEMS) wk__text_add(p->text, "    BARRIER;\n");
    wk__text_add(p->text, who[p->form.walk]);
    for (int k = 0; k < p->group->nins; k++) {
        if (p->group->ins[k].code == WK__STORE && !p->schedule.loop[k]) wk__gpu_print_instruction(p, k);
    }
    wk__text_add(p->text, "    }\n");
}

static void print_rows(wk__gpu_printer *p)
{
    if (p->form.walk == WK__GPU_CHUNKS) {
        for (int pass = 0; pass < p->form.pass; pass++) {
            print_row_values(p, pass);
            print_gathered(p, pass);
        }
        print_row_values(p, p->form.pass);
        print_pass(p, p->form.pass);
        if (p->form.pass == wk__gpu_last_pass(p->group, &p->schedule)) print_row_stores(p);
        return;
    }
    for (int pass = 0; pass <= p->schedule.passes; pass++) {
        print_row_values(p, pass);
        print_pass(p, pass);
    }
    if (!p->form.check) print_row_stores(p);
}

static void print_local_memory(wk__gpu_printer *p)
{
    bool seen[WK_DTYPE_COUNT] = {false};
    for (int k = 0; k < p->group->nins; k++) {
        wk_dtype class = wk__class_of((wk_dtype)p->group->ins[k].dtype);
        if (!wk__gpu_is_reduction(p->group->ins[k].code) || seen[class]) continue;
        seen[class] = true;
        wk__text_format(p->text, "    SHARED(%s, s_%s, LOCALS);\n", wk__gpu_class_type(class), wk__gpu_suffix(class));
    }
}

void wk__gpu_print_group(wk__text *text, const wk__group *group, wk__gpu_form form)
{
    wk__gpu_printer printer = {.text = text, .group = group, .form = form, .kept = group->ndim - group->nreduce};
    wk__gpu_layout_of(group, WK__GPU_ROWS + 1, &printer.layout);
    wk__gpu_schedule_of(group, &printer.schedule);
    if (form.walk != WK__GPU_ITEMS) print_local_memory(&printer);
    print_row(&printer);
    if (group->nreduce > 0) {
        print_rows(&printer);
        return;
    }
    for (int k = 0; k < group->nins; k++) {
        if (!form.check || group->ins[k].code != WK__STORE) wk__gpu_print_instruction(&printer, k);
    }
}
