/* SPDX-License-Identifier: Apache-2.0 */
/* Cases for GPU backends: every opcode in every class, on usual and on extreme values; casts between all dtypes; random
 * bits. */
#include "gpu_cases.h"

#include <stdio.h>
#include <string.h>

enum { ELEMENTS = 300 };

/* Returns the tolerance of an opcode in units in the last place of its class. OpenCL specifies wide bounds for pow and
 * similar functions; opcodes with an exact result have tolerance 0. */
static double ulps_of(int code)
{
    switch (code) {
    case WK__POW: return 16;
    case WK__TAN:
    case WK__SINH:
    case WK__COSH:
    case WK__TANH:
    case WK__ATAN2:
    case WK__ATAN:
    case WK__ACOS:
    case WK__ASIN:
    case WK__SIN:
    case WK__COS:
    case WK__EXP:
    case WK__EXPM1:
    case WK__LOG:
    case WK__LOG2:
    case WK__LOG10:
    case WK__LOG1P:
    case WK__SIGMOID: return 6;
    case WK__ERF: return 16;
    default: return 0;
    }
}

static group_case *new_case(gpu_cases *list, const char *what, int code, wk_dtype dtype, group_fill fill)
{
    char name[96];
    snprintf(name, sizeof name, "%s %s %s fill %d", what, wk__opcode_name[code], wk_dtype_str(dtype), (int)fill);
    group_case *c = group_case_new(name, 1, (int64_t[]){ELEMENTS}, 0);
    double unit = dtype == WK_F64 ? 0x1p-52 : 0x1p-23;
    c->relative = ulps_of(code) * unit;
    c->absolute =
        c->relative > 0 ? (dtype == WK_F64 ? 1e-300 : 1.2e-38) : 0; /* subnormal results may be flushed to zero */
    return gpu_cases_add(list, c);
}

/* Returns true if an opcode is tested on extreme values: those with exact results. In f32, some devices lose all
 * precision in sines and cosines of large arguments, and in POW and others near overflow. */
static bool takes_extremes(int code)
{
    return ulps_of(code) == 0 || code == WK__EXP || code == WK__LOG || code == WK__TANH || code == WK__ERF ||
           code == WK__SIGMOID || code == WK__ATAN || code == WK__EXPM1 || code == WK__LOG1P;
}

static void add_arithmetic(gpu_cases *list, int code, wk_dtype dtype, group_fill fill)
{
    group_case *c = new_case(list, "", code, dtype, fill);
    int arity = wk__opcode_arity[code], r[2] = {0, 0};
    for (int a = 0; a < arity; a++) r[a] = ir_load(&c->g, group_case_dense(c, dtype, false, fill));
    group_case_arithmetic(c, code, dtype, r[0], r[1]);
}

void gpu_usual_numbers(gpu_cases *list)
{
    static const wk_dtype classes[] = {WK_F32, WK_F64, WK_I32, WK_I64};
    for (int code = 0; code < WK__OPCODE_COUNT; code++) {
        for (int k = 0; k < 4; k++) {
            if (group_case_takes(code, classes[k])) add_arithmetic(list, code, classes[k], FILL_ONES);
            if (group_case_takes(code, classes[k]) && wk__opcode_kind[code] == 'F')
                add_arithmetic(list, code, classes[k], FILL_POSITIVE);
        }
    }
}

void gpu_extreme_numbers(gpu_cases *list)
{
    static const wk_dtype classes[] = {WK_F32, WK_F64, WK_I32, WK_I64};
    for (int code = 0; code < WK__OPCODE_COUNT; code++) {
        for (int k = 0; k < 4; k++) {
            if (group_case_takes(code, classes[k]) && takes_extremes(code))
                add_arithmetic(list, code, classes[k], FILL_WIDE);
        }
    }
}

void gpu_narrow_dtypes(gpu_cases *list)
{
    static const wk_dtype narrow[] = {WK_F16, WK_BF16, WK_I8, WK_U8, WK_I16, WK_BOOL};
    static const int codes[] = {WK__ADD, WK__MUL, WK__SUB,  WK__MAX, WK__LT,  WK__FLOORDIV,
                                WK__REM, WK__DIV, WK__SQRT, WK__AND, WK__SHL, WK__NEG};
    for (size_t c = 0; c < sizeof codes / sizeof codes[0]; c++) {
        for (int k = 0; k < 6; k++) {
            if (group_case_takes(codes[c], narrow[k])) add_arithmetic(list, codes[c], narrow[k], FILL_WIDE);
        }
    }
}

void gpu_casts(gpu_cases *list)
{
    for (int from = WK_F32; from < WK_DTYPE_COUNT; from++) {
        for (int to = WK_F32; to < WK_DTYPE_COUNT; to++) {
            char name[32];
            snprintf(name, sizeof name, "from %s", wk_dtype_str((wk_dtype)from));
            group_case *c = new_case(list, name, WK__CAST, (wk_dtype)to, FILL_WIDE);
            int r = ir_load(&c->g, group_case_dense(c, (wk_dtype)from, false, FILL_WIDE));
            r = ir_ins(&c->g, WK__CAST, (wk_dtype)to, r, 0, 0);
            ir_store(&c->g, group_case_dense(c, (wk_dtype)to, false, FILL_ONES), r);
        }
    }
}

void gpu_choices(gpu_cases *list)
{
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_I32, WK_I64, WK_F16, WK_BOOL};
    for (int k = 0; k < 6; k++) {
        group_case *c = new_case(list, "", WK__WHERE, dtypes[k], FILL_WIDE);
        int condition = ir_load(&c->g, group_case_dense(c, WK_BOOL, false, FILL_ONES));
        int a = ir_load(&c->g, group_case_dense(c, dtypes[k], false, FILL_WIDE));
        int b = ir_imm(&c->g, dtypes[k], dtypes[k] <= WK_BF16 ? (wk__imm){.f = -0.5} : (wk__imm){.i = 1});
        ir_store(&c->g, group_case_dense(c, dtypes[k], false, FILL_ONES),
                 ir_ins(&c->g, WK__WHERE, dtypes[k], condition, a, b));
    }
}

/* Without tolerance: random bits are the same on all devices. */
void gpu_random_numbers(gpu_cases *list)
{
    for (int k = 0; k < 2; k++) {
        wk_dtype dtype = k ? WK_F64 : WK_F32;
        group_case *c = new_case(list, "random", WK__NDTRI, dtype, FILL_ONES);
        int position = ir_ins(&c->g, WK__IOTA, WK_I64, 0, 0, 0);
        int first = ir_imm(&c->g, WK_I64, (wk__imm){.i = 0xfffffff0});
        int counter = ir_binary(&c->g, WK__ADD, position, first);
        c->g.imm[c->g.nimms++].i = 0x1234567890abcdef;
        int bits = ir_ins(&c->g, WK__PHILOX, WK_I64, counter, c->g.nimms - 1, k ? 64 : 32);
        int normal = ir_ins(&c->g, WK__NDTRI, dtype, bits, 0, 0);
        ir_store(&c->g, group_case_dense(c, WK_I64, false, FILL_ONES), bits);
        ir_store(&c->g, group_case_dense(c, dtype, false, FILL_ONES), normal);
        c = new_case(list, "quantile of", WK__NDTRI, dtype, FILL_BITS);
        int any = ir_load(&c->g, group_case_dense(c, WK_I64, false, FILL_BITS));
        if (k == 0) {
            any = ir_binary(&c->g, WK__AND, any, ir_imm(&c->g, WK_I64, (wk__imm){.i = 0xffffffff}));
            int few = ir_binary(&c->g, WK__SHR, any, ir_load(&c->g, group_case_dense(c, WK_I64, false, FILL_POSITIVE)));
            any = ir_binary(&c->g, WK__MAX, few, ir_imm(&c->g, WK_I64, (wk__imm){.i = 0}));
        }
        ir_store(&c->g, group_case_dense(c, dtype, false, FILL_ONES), ir_ins(&c->g, WK__NDTRI, dtype, any, 0, 0));
    }
}
