/* SPDX-License-Identifier: Apache-2.0 */
/* Generates a C statement for one instruction of a program. */
#include "codegen.h"

#include <stdio.h>
#include <string.h>

const char *wk__gpu_class_type(wk_dtype dtype)
{
    switch (wk__compute_class(dtype)) {
    case WK_F32: return "float";
    case WK_F64: return "double";
    case WK_I64: return "i64";
    default: return "i32";
    }
}

const char *wk__gpu_suffix(wk_dtype dtype)
{
    switch (wk__compute_class(dtype)) {
    case WK_F32: return "f32";
    case WK_F64: return "f64";
    case WK_I64: return "i64";
    default: return "i32";
    }
}

const char *wk__gpu_storage_type(wk_dtype dtype)
{
    static const char *const types[WK_DTYPE_COUNT] = {
        [WK_F32] = "float", [WK_F64] = "double", [WK_F16] = "u16", [WK_BF16] = "u16", [WK_I8] = "i8",
        [WK_U8] = "u8",     [WK_I16] = "i16",    [WK_I32] = "i32", [WK_I64] = "i64",  [WK_BOOL] = "u8",
    };
    return types[dtype];
}

static bool is_float(wk_dtype dtype)
{
    return dtype <= WK_BF16;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Expands the text of ir/opcodes.def: registers for $0, $1, $2, and the class's suffix for prelude functions. Integer
 * sums, products and negation wrap, which C guarantees only for unsigned types. */
static void print_arithmetic(wk__gpu_codegen *p, const wk__ins *ins)
{
    wk_dtype operand = (wk_dtype)p->group->ins[ins->arg[wk__opcode_kind[ins->code] == 'S' ? 1 : 0]].dtype;
    bool wraps = !is_float(operand) &&
                 (ins->code == WK__ADD || ins->code == WK__SUB || ins->code == WK__MUL || ins->code == WK__NEG);
    if (wk__opcode_kind[ins->code] == 'C') wk__text_add(p->text, "(i32)");
    for (const char *c = wk__opcode_text[ins->code]; *c != '\0'; c++) {
        if (*c == '$') {
            c++;
            const char *unsigned_type = wk__compute_class(operand) == WK_I64 ? "(u64)" : "(u32)";
            wk__text_format(p->text, "%sr%d", wraps ? unsigned_type : "", ins->arg[*c - '0']);
        } else if (*c == '(' && c > wk__opcode_text[ins->code] && strncmp(wk__opcode_text[ins->code], "wk_", 3) == 0) {
            wk__text_format(p->text, "_%s(", wk__gpu_suffix(operand));
        } else {
            wk__text_repeat(p->text, *c, 1);
        }
    }
}

static const char *wrap_of(wk_dtype dtype)
{
    switch (dtype) {
    case WK_I8: return "(i32)(i8)";
    case WK_U8: return "(i32)(u8)";
    case WK_I16: return "(i32)(i16)";
    case WK_I64: return "(i64)";
    default: return "(i32)";
    }
}

static void print_cast(wk__gpu_codegen *p, const wk__ins *ins)
{
    wk_dtype from = (wk_dtype)p->group->ins[ins->arg[0]].dtype, to = (wk_dtype)ins->dtype;
    int r = ins->arg[0];
    if (to == WK_BOOL) {
        wk__text_format(p->text, "(i32)(r%d != 0)", r);
    } else if (to == WK_F16 || to == WK_BF16) {
        wk__text_format(p->text, "wk_round_%s((float)r%d)", wk_dtype_str(to), r);
    } else if (is_float(to)) {
        wk__text_format(p->text, "(%s)r%d", wk__gpu_class_type(to), r);
    } else if (is_float(from)) {
        wk__text_format(p->text, "%swk_truncate_%s(r%d)", wrap_of(to), wk__gpu_suffix(from), r);
    } else {
        wk__text_format(p->text, "%sr%d", wrap_of(to), r);
    }
}

static void print_immediate(wk__gpu_codegen *p, const wk__ins *ins, int k)
{
    switch (wk__compute_class((wk_dtype)ins->dtype)) {
    case WK_F32: wk__text_format(p->text, "wk_as_f32((u32)A(%d))", p->layout.value[k]); break;
    case WK_F64: wk__text_format(p->text, "wk_as_f64((u64)A(%d))", p->layout.value[k]); break;
    case WK_I64: wk__text_format(p->text, "A(%d)", p->layout.value[k]); break;
    default: wk__text_format(p->text, "(i32)A(%d)", p->layout.value[k]); break;
    }
}

/* The row's offset is in ok. For contiguous elements it is that of the first one. */
void wk__gpu_codegen_offset(wk__gpu_codegen *p, int operand, bool loop)
{
    const int ndim = p->group->ndim;
    const int64_t *stride = p->group->operand[operand].stride;
    wk__text_format(p->text, "o%d", operand);
    for (int d = p->kept; loop && d < ndim; d++) {
        if (stride[d] == 1) {
            wk__text_format(p->text, " + c%d", d);
        } else if (stride[d] != 0) {
            wk__text_format(p->text, " + c%d * (idx)A(%d)", d, p->layout.stride[operand][d]);
        }
    }
    if (p->form.vector_width <= 1) return;
    if (stride[ndim - 1] == 1) {
        wk__text_add(p->text, " + e");
    } else if (stride[ndim - 1] != 0) {
        wk__text_format(p->text, " + e * (idx)A(%d)", p->layout.stride[operand][ndim - 1]);
    }
}

/* Returns the start of the conversion from storage to class; ")" ends it. */
static const char *open_conversion(wk_dtype dtype, char room[32])
{
    if (dtype == WK_F16 || dtype == WK_BF16) {
        snprintf(room, 32, "wk_from_%s(", wk_dtype_str(dtype));
    } else {
        snprintf(room, 32, "(%s)(%s", wk__gpu_class_type(dtype), dtype == WK_BOOL ? "0 != " : "");
    }
    return room;
}

/* `k`: the instruction, whose value may have been loaded already; `extra`: offset by an index. */
static void print_load(wk__gpu_codegen *p, int k, int operand, const char *extra)
{
    char room[32];
    if (operand == 0 && p->is_epilogue) {
        wk__text_add(p->text, p->form.vector_width > 1 ? "LOAD(stored.at[e])" : "LOAD(stored)");
        return;
    }
    wk__text_add(p->text, open_conversion((wk_dtype)p->group->operand[operand].dtype, room));
    if (p->source[k] == WK__GPU_LOADED) {
        wk__text_format(p->text, "l%d.at[e])", k);
        return;
    }
    wk__text_format(p->text, "p%d[", operand);
    wk__gpu_codegen_offset(p, operand, p->schedule.in_loop[k]);
    wk__text_format(p->text, "%s])", extra);
}

/* Each LOADX has its own tag, so that faults can be attributed to one of several. */
static void print_indexed_load(wk__gpu_codegen *p, const wk__ins *ins, int k)
{
    char extra[48];
    int value = p->layout.value[k], before = 0;
    for (int j = 0; j < k; j++) before += p->group->ins[j].code == WK__LOADX;
    wk__text_format(p->text, "0;\n    const i64 x%d = wk_index(F, r%d, A(%d), A(%d) + %d, ", k, ins->arg[0], value,
                    p->layout.tag, before);
    wk__text_add(p->text, "row");
    if (p->group->nreduce > 0) wk__text_format(p->text, " * A(%d)", p->layout.columns);
    wk__text_add(p->text, p->schedule.in_loop[k] && p->group->nreduce > 0 ? " + column);\n" : ");\n");
    wk__text_format(p->text, "    if (x%d >= 0) r%d = ", k, k);
    snprintf(extra, sizeof extra, " + x%d * A(%d)", k, value + 1);
    print_load(p, k, ins->arg[1], extra);
}

static void print_position(wk__gpu_codegen *p)
{
    if (p->group->nreduce == 0) {
        wk__text_add(p->text, "row");
    } else {
        wk__text_format(p->text, "row * A(%d) + column", p->layout.columns);
    }
}

static void print_store(wk__gpu_codegen *p, const wk__ins *ins, int k)
{
    wk_dtype dtype = (wk_dtype)p->group->operand[ins->arg[0]].dtype;
    if (p->source[k] == WK__GPU_LOADED) {
        wk__text_format(p->text, "    l%d.at[e", k);
    } else {
        wk__text_format(p->text, "    p%d[", ins->arg[0]);
        wk__gpu_codegen_offset(p, ins->arg[0], p->schedule.in_loop[k]);
    }
    if (dtype == WK_F16 || dtype == WK_BF16) {
        wk__text_format(p->text, "] = wk_to_%s(r%d);\n", wk_dtype_str(dtype), ins->arg[1]);
    } else {
        wk__text_format(p->text, "] = (%s)r%d;\n", wk__gpu_storage_type(dtype), ins->arg[1]);
    }
}

void wk__gpu_codegen_instruction(wk__gpu_codegen *p, int k)
{
    const wk__ins *ins = &p->group->ins[k];
    if (ins->code == WK__STORE) {
        print_store(p, ins, k);
        return;
    }
    wk__text_format(p->text, "    %s%s r%d = ", ins->code == WK__LOADX ? "" : "const ",
                    wk__gpu_class_type((wk_dtype)ins->dtype), k);
    if (p->source[k] == WK__GPU_KEPT) {
        wk__text_format(p->text, "k%d[e];\n", k);
        return;
    }
    switch (ins->code) {
    case WK__CAST: print_cast(p, ins); break;
    case WK__IMM: print_immediate(p, ins, k); break;
    case WK__LOAD: print_load(p, k, ins->arg[0], ""); break;
    case WK__LOADX: print_indexed_load(p, ins, k); break;
    case WK__IOTA: print_position(p); break;
    case WK__PHILOX:
        wk__text_format(p->text, "wk_philox%d(r%d, A(%d))", ins->arg[2], ins->arg[0], p->layout.value[k]);
        break;
    case WK__NDTRI:
        wk__text_format(p->text, "wk_ndtri_%s(r%d)", wk__gpu_suffix((wk_dtype)ins->dtype), ins->arg[0]);
        break;
    default: print_arithmetic(p, ins); break;
    }
    wk__text_add(p->text, ";\n");
}
