/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the body of a program's kernel. Register k is variable rk, operand k pointer pk, and ck the coordinate of
 * dimension k. Without reductions, an item processes one element, or config.vector_width contiguous ones:
 *
 *    one                          several
 *    --------------------------   ---------------------------------------------
 *    row = position of the item   first = position of the item * width
 *    all instructions             contiguous vectors are loaded: lk
 *                                 for each e: row = first + e, all instructions
 *                                 vectors are stored
 *
 * Programs with reductions: codegen_rows.c. */
#include "codegen.h"

#include <stdio.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* const idx c1 = rest % n1; rest = rest / n1; const idx c0 = rest; */
void wk__gpu_codegen_coordinates(wk__gpu_codegen *p, int first, int end, const char *position)
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

void wk__gpu_codegen_operands(wk__gpu_codegen *p)
{
    for (int k = 0; k < p->group->noperands; k++) {
        const wk__operand *operand = &p->group->operand[k];
        const char *type = wk__gpu_storage_type((wk_dtype)operand->dtype);
        if (k == 0 && p->is_epilogue && !operand->stored) continue;
        wk__text_format(p->text, "    GM %s%s *p%d = (GM %s%s *)m%d + A(%d);\n", operand->stored ? "" : "const ", type,
                        k, operand->stored ? "" : "const ", type, k + (k > 0 && p->is_epilogue ? WK__FACTORS : 0),
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

static void print_row(wk__gpu_codegen *p)
{
    const char *chunk = "    const i64 chunk = (A(0) + GROUP) %% A(%d);\n";
    wk__text *text = p->text;
    char place[48];
    if (p->form.chunked) wk__text_format(text, chunk, p->layout.chunks);
    snprintf(place, sizeof place, p->form.chunked ? "(A(0) + GROUP) / A(%d)" : "A(0) + GROUP", p->layout.chunks);
    switch (p->form.mapping) {
    case WK__GPU_ROW_PER_ITEM:
        if (p->form.vector_width > 1) {
            wk__text_format(text, "    const i64 first = (A(0) + ITEM) * %d;\n    if (first >= A(1)) return;\n",
                            p->form.vector_width);
        } else {
            wk__text_add(text, "    const i64 row = A(0) + ITEM;\n    if (row >= A(1)) return;\n");
        }
        break;
    case WK__GPU_ROW_PER_WARP:
        wk__text_add(text, "    const i64 row = (A(0) + ITEM) / WARP;\n    if (row >= A(1)) return;\n");
        break;
    case WK__GPU_STRIP_PER_GROUP: /* an item without a row has no columns, and stores nothing */
        wk__text_format(text,
                        "    const i64 own = (%s) * STRIP + LOCAL %% STRIP;\n    const int inside = own < A(1);\n"
                        "    const i64 row = inside ? own : A(1) - 1;\n",
                        place);
        break;
    default: wk__text_format(text, "    const i64 row = %s;\n", place); break;
    }
    if (p->form.skip_on_fault) wk__text_add(text, "    if (F[0] != 0) return;\n");
    wk__gpu_codegen_coordinates(p, 0, p->kept, p->form.vector_width > 1 ? "(idx)first" : "(idx)row");
    wk__gpu_codegen_operands(p);
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

bool wk__gpu_is_vector(const wk__gpu_codegen *p, int k)
{
    const wk__ins *ins = &p->group->ins[k];
    if (p->form.vector_width <= 1 || (ins->code != WK__LOAD && ins->code != WK__STORE)) return false;
    return p->group->operand[ins->arg[0]].stride[p->group->ndim - 1] == 1;
}

/* All loads precede all stores, so that compilers may load early. */
static void print_vectors(wk__gpu_codegen *p)
{
    const int width = p->form.vector_width;
    for (int k = 0; k < p->group->nins; k++) {
        if (!wk__gpu_is_vector(p, k)) continue;
        const wk__ins *ins = &p->group->ins[k];
        const char *type = wk__gpu_storage_type((wk_dtype)p->group->operand[ins->arg[0]].dtype);
        p->source[k] = WK__GPU_LOADED;
        wk__text_format(p->text, "    VECTOR(%s, %d) l%d;\n", type, width, k);
        if (ins->code == WK__LOAD)
            wk__text_format(p->text, "    l%d.all = ((GM const VECTOR(%s, %d) *)(p%d + o%d))->all;\n", k, type, width,
                            ins->arg[0], ins->arg[0]);
    }
    wk__text_format(p->text, "    UNROLL for (int e = 0; e < %d; e++) {\n    const i64 row = first + e;\n", width);
    for (int k = 0; k < p->group->nins; k++) wk__gpu_codegen_instruction(p, k);
    wk__text_add(p->text, "    }\n");
    for (int k = 0; k < p->group->nins; k++) {
        if (p->group->ins[k].code != WK__STORE || !wk__gpu_is_vector(p, k)) continue;
        const int to = p->group->ins[k].arg[0];
        const char *type = wk__gpu_storage_type((wk_dtype)p->group->operand[to].dtype);
        wk__text_format(p->text, "    ((GM VECTOR(%s, %d) *)(p%d + o%d))->all = l%d.all;\n", type, width, to, to, k);
    }
}

void wk__gpu_codegen_program(wk__text *text, const wk__program *group, wk__gpu_kernel_config form)
{
    wk__gpu_codegen printer = {.text = text, .group = group, .form = form, .kept = group->ndim - group->nreduce};
    wk__gpu_layout_of(group, WK__GPU_ROWS + 1, &printer.layout);
    wk__gpu_schedule_of(group, &printer.schedule);
    wk__gpu_codegen_local_memory(&printer);
    print_row(&printer);
    if (group->nreduce > 0) {
        wk__gpu_codegen_rows(&printer);
    } else if (form.vector_width > 1) {
        print_vectors(&printer);
    } else {
        for (int k = 0; k < group->nins; k++)
            if (!form.check_only || group->ins[k].code != WK__STORE) wk__gpu_codegen_instruction(&printer, k);
    }
}
