/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of a row (sum, product, maximum, minimum): each item has private accumulators ak and tk; items that share
 * the row combine them, and all get the result. */
#include "codegen.h"

static const char *combine_name(const wk__ins *ins)
{
    const wk_dtype class = wk__compute_class((wk_dtype)ins->dtype);
    const bool floats = class == WK_F32 || class == WK_F64;
    switch (ins->code) {
    case WK__RSUM: return "wk_plus";
    case WK__RPROD: return "wk_times";
    case WK__RMAX: return floats ? "wk_greatest" : "wk_max";
    default: return floats ? "wk_least" : "wk_min";
    }
}

static const char *first_value(const wk__ins *ins)
{
    bool greatest = ins->code == WK__RMAX;
    if (ins->code == WK__RSUM) return "0";
    if (ins->code == WK__RPROD) return "1";
    if (ins->dtype == WK_BOOL) return greatest ? "0" : "1";
    switch (wk__compute_class((wk_dtype)ins->dtype)) {
    case WK_F32:
    case WK_F64: return greatest ? "-INFINITY" : "INFINITY";
    case WK_I64: return greatest ? "WK_I64_MIN" : "WK_I64_MAX";
    default: return greatest ? "WK_I32_MIN" : "WK_I32_MAX";
    }
}

void wk__gpu_codegen_condition(wk__gpu_codegen *p, int pass, bool alone)
{
    uint8_t level[WK__MAX_INS], in_pass[WK__MAX_INS];
    wk__program_levels(p->group, level, in_pass);
    const int condition = alone ? wk__program_pass_condition(p->group, level, in_pass, pass) : -1;
    if (condition < 0) {
        wk__text_add(p->text, "    {\n");
        return;
    }
    wk__text_format(p->text, "    if (r%d", condition);
    for (int k = 0; k < p->group->nins; k++) {
        if (!wk__gpu_reduces_in(p, k, pass)) continue;
        const wk__ins *ins = &p->group->ins[k];
        wk__text_format(p->text, " || r%d != %s", p->group->ins[ins->arg[0]].arg[2], first_value(ins));
    }
    wk__text_add(p->text, ") {\n");
}

void wk__gpu_codegen_local_memory(wk__gpu_codegen *p)
{
    bool seen[WK_DTYPE_COUNT] = {false};
    if (p->form.mapping == WK__GPU_ROW_PER_ITEM || p->form.mapping == WK__GPU_ROW_PER_WARP) return;
    for (int k = 0; k < p->group->nins; k++) {
        wk_dtype class = wk__compute_class((wk_dtype)p->group->ins[k].dtype);
        if (!wk__gpu_is_reduction(p->group->ins[k].code) || seen[class]) continue;
        seen[class] = true;
        wk__text_format(p->text, "    SHARED(%s, s_%s, LOCALS);\n", wk__gpu_class_type(class), wk__gpu_suffix(class));
    }
}

/* Sums have two levels: runs of 128 elements, and sums of runs. So the error grows with the length and the number of
 * runs, not with the length of the row. tk is the sum of the complete runs. */
void wk__gpu_codegen_accumulators(wk__gpu_codegen *p, int pass)
{
    for (int k = 0; k < p->group->nins; k++) {
        if (!wk__gpu_reduces_in(p, k, pass)) continue;
        const wk__ins *ins = &p->group->ins[k];
        const char *type = wk__gpu_class_type((wk_dtype)ins->dtype), *value = first_value(ins);
        wk__text_format(p->text, "    %s a%d = %s, t%d = %s;\n", type, k, value, k, value);
    }
}

void wk__gpu_codegen_accumulate(wk__gpu_codegen *p, int pass)
{
    for (int k = 0; k < p->group->nins; k++) {
        if (!wk__gpu_reduces_in(p, k, pass)) continue;
        const wk__ins *ins = &p->group->ins[k];
        wk__text_format(p->text, "    a%d = %s_%s(a%d, r%d);\n", k, combine_name(ins),
                        wk__gpu_suffix((wk_dtype)ins->dtype), k, ins->arg[0]);
    }
}

void wk__gpu_codegen_flush_partial(wk__gpu_codegen *p, int pass)
{
    wk__text_format(p->text, "    if (((count += %d) & 127) == 0) {\n",
                    p->form.loads_ahead > 1 ? p->form.loads_ahead : 1);
    for (int k = 0; k < p->group->nins; k++) {
        if (!wk__gpu_reduces_in(p, k, pass)) continue;
        const wk__ins *ins = &p->group->ins[k];
        wk__text_format(p->text, "        t%d = %s_%s(t%d, a%d);\n        a%d = %s;\n", k, combine_name(ins),
                        wk__gpu_suffix((wk_dtype)ins->dtype), k, k, k, first_value(ins));
    }
    wk__text_add(p->text, "    }\n");
}

/* Combines one value of each item of the row; all items get the result. */
static void print_combined(wk__gpu_codegen *p, const wk__ins *ins, const char *result, int k)
{
    const char *suffix = wk__gpu_suffix((wk_dtype)ins->dtype), *type = wk__gpu_class_type((wk_dtype)ins->dtype);
    const char *combine = combine_name(ins);
    if (p->form.mapping == WK__GPU_ROW_PER_WARP) {
        wk__text_format(p->text, "    COMBINE_WARP(%s, %s_%s, a%d, all%d)\n", type, combine, suffix, k, k);
    } else {
        wk__text_format(p->text, "    %s(%s, %s_%s, %s, s_%s, a%d, all%d)\n",
                        p->form.mapping == WK__GPU_STRIP_PER_GROUP ? "COMBINE_STRIP" : "COMBINE_GROUP", type, combine,
                        suffix, first_value(ins), suffix, k, k);
    }
    wk__text_format(p->text, "    const %s %s%d = all%d;\n", type, result, k, k);
}

/* Partial results in scratch memory: [reduction][row][chunk]. */
static void print_partial(wk__gpu_codegen *p, const char *type, int slot, const char *chunk)
{
    wk__text_format(p->text, "((GM %s *)(m%d + 8 * (%d * A(1) + row) * A(%d)))[%s]", type, p->group->noperands, slot,
                    p->layout.chunks, chunk);
}

/* Appends the register of the reduction, or the store of a partial result to scratch memory. */
void wk__gpu_codegen_reduce_results(wk__gpu_codegen *p, int pass)
{
    int slot = 0;
    for (int k = 0; k < p->group->nins; k++) {
        const wk__ins *ins = &p->group->ins[k];
        if (!wk__gpu_is_reduction(ins->code)) continue;
        const char *type = wk__gpu_class_type((wk_dtype)ins->dtype), *suffix = wk__gpu_suffix((wk_dtype)ins->dtype);
        if (wk__gpu_reduces_in(p, k, pass)) {
            wk__text_format(p->text, "    a%d = %s_%s(t%d, a%d);\n", k, combine_name(ins), suffix, k, k);
            if (p->form.mapping == WK__GPU_ROW_PER_ITEM) {
                wk__text_format(p->text, "    const %s r%d = a%d;\n", type, k, k);
            } else {
                print_combined(p, ins, p->form.chunked ? "part" : "r", k);
            }
            if (p->form.chunked) {
                wk__text_format(p->text, "    if (%s == 0%s) ", wk__gpu_row_item(p),
                                p->form.mapping == WK__GPU_STRIP_PER_GROUP ? " && inside" : "");
                print_partial(p, type, slot, "chunk");
                wk__text_format(p->text, " = part%d;\n", k);
            }
        }
        slot++;
    }
}

/* Appends the registers of an earlier pass's reductions, combined from the partial results of all chunks of the row. */
void wk__gpu_codegen_combine_chunks(wk__gpu_codegen *p, int pass)
{
    int slot = 0;
    for (int k = 0; k < p->group->nins; k++) {
        const wk__ins *ins = &p->group->ins[k];
        if (!wk__gpu_is_reduction(ins->code)) continue;
        if (wk__gpu_reduces_in(p, k, pass)) {
            const char *type = wk__gpu_class_type((wk_dtype)ins->dtype), *suffix = wk__gpu_suffix((wk_dtype)ins->dtype);
            wk__text_format(p->text,
                            "    %s a%d = %s;\n    for (int j = %s; j < A(%d); j += %s)\n        a%d = %s_%s(a%d, ",
                            type, k, first_value(ins), wk__gpu_row_item(p), p->layout.chunks, wk__gpu_row_items(p), k,
                            combine_name(ins), suffix, k);
            print_partial(p, type, slot, "j");
            wk__text_add(p->text, ");\n");
            print_combined(p, ins, "r", k);
        }
        slot++;
    }
}
