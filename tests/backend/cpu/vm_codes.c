/* SPDX-License-Identifier: Apache-2.0 */
/* Every opcode of programs in every class and form of operands, on usual and on extreme values; casts between all
 * dtypes; random bits. vm_math.c tests the accuracy of elementary functions; here only their identity is tested. */
#include "vm_test.h"

#include <stdio.h>

enum { ELEMENTS = 300 };

static bool is_function(int code)
{
    return (code >= WK__EXP && code <= WK__ERF) || code == WK__POW || code == WK__ATAN2;
}

static group_case *new_case(const char *what, int code, wk_dtype dtype, int fill)
{
    char name[96];
    snprintf(name, sizeof name, "%s %s %s fill %d", what, wk__opcode_name[code], wk_dtype_str(dtype), fill);
    group_case *c = group_case_new(name, 1, (int64_t[]){ELEMENTS}, 0);
    if (is_function(code) && dtype <= WK_BF16) {
        c->relative = dtype == WK_F64 ? 0x1p-51 : 0x1p-21;
        c->absolute = dtype == WK_F64 ? 1e-320 : 1e-44;
    }
    return c;
}

/* Source of an operand, as the VM distinguishes them. */
typedef enum source { MEMORY, NUMBER, COMPUTED, SOURCES } source;

static int operand_from(group_case *c, source from, wk_dtype dtype, group_fill fill)
{
    if (from == NUMBER) return ir_imm(&c->g, dtype, dtype <= WK_BF16 ? (wk__imm){.f = -1.25} : (wk__imm){.i = 3});
    int r = ir_load(&c->g, group_case_dense(c, dtype, false, fill));
    return from == MEMORY ? r : ir_unary(&c->g, WK__NEG, r);
}

static void arithmetic(int code, wk_dtype dtype, group_fill fill, source first, source second)
{
    char what[32];
    snprintf(what, sizeof what, "%d,%d", (int)first, (int)second);
    group_case *c = new_case(what, code, dtype, (int)fill);
    int r = operand_from(c, first, dtype, fill), s = 0;
    if (wk__opcode_arity[code] == 2) s = operand_from(c, second, dtype, fill);
    group_case_arithmetic(c, code, dtype, r, s);
    vm_check(c);
}

static void all_codes(group_fill fill, bool functions)
{
    static const wk_dtype classes[] = {WK_F32, WK_F64, WK_I32, WK_I64};
    for (int code = 0; code < WK__OPCODE_COUNT; code++) {
        for (int k = 0; k < 4; k++) {
            if (!group_case_takes(code, classes[k]) || (is_function(code) && !functions)) continue;
            for (int first = 0; first < SOURCES; first++) {
                for (int second = 0; second < SOURCES; second++) {
                    if (wk__opcode_arity[code] == 1 && second > 0) continue;
                    arithmetic(code, classes[k], fill, (source)first, (source)second);
                }
            }
        }
    }
}

static void usual_numbers(void **state)
{
    (void)state;
    all_codes(FILL_ONES, true);
    all_codes(FILL_POSITIVE, true);
}

static void extreme_numbers(void **state)
{
    (void)state;
    all_codes(FILL_WIDE, true);
}

static void narrow_dtypes(void **state)
{
    (void)state;
    static const wk_dtype narrow[] = {WK_F16, WK_BF16, WK_I8, WK_U8, WK_I16, WK_BOOL};
    for (int code = 0; code < WK__OPCODE_COUNT; code++) {
        for (int k = 0; k < 6; k++) {
            if (group_case_takes(code, narrow[k]) && !is_function(code))
                arithmetic(code, narrow[k], FILL_WIDE, MEMORY, MEMORY);
        }
    }
}

static void casts(void **state)
{
    (void)state;
    for (int from = WK_F32; from < WK_DTYPE_COUNT; from++) {
        for (int to = WK_F32; to < WK_DTYPE_COUNT; to++) {
            char name[32];
            snprintf(name, sizeof name, "from %s", wk_dtype_str((wk_dtype)from));
            group_case *c = new_case(name, WK__CAST, (wk_dtype)to, FILL_WIDE);
            int r = ir_load(&c->g, group_case_dense(c, (wk_dtype)from, false, FILL_WIDE));
            r = ir_ins(&c->g, WK__CAST, (wk_dtype)to, r, 0, 0);
            ir_store(&c->g, group_case_dense(c, (wk_dtype)to, false, FILL_ONES), r);
            vm_check(c);
        }
    }
}

/* Each of the 65,536 values of a 16-bit float is unchanged by a round trip and becomes the correct f32. */
static void all_halves(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        wk_dtype dtype = k ? WK_BF16 : WK_F16;
        group_case *c = group_case_new("all halves", 1, (int64_t[]){65536}, 0);
        int in = group_case_dense(c, dtype, false, FILL_ONES);
        uint16_t *bits = (uint16_t *)(void *)c->data[in] + group_case_origin(c, in);
        for (int64_t e = 0; e < 65536; e++) bits[e] = (uint16_t)e;
        int r = ir_load(&c->g, in);
        ir_store(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES), ir_ins(&c->g, WK__CAST, WK_F32, r, 0, 0));
        ir_store(&c->g, group_case_dense(c, dtype, false, FILL_ONES), r);
        vm_check(c);
    }
}

/* f32 at, just below and just above the midpoints between neighbouring 16-bit floats. */
static void ties_of_halves(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        wk_dtype dtype = k ? WK_BF16 : WK_F16;
        group_case *c = group_case_new("ties of halves", 1, (int64_t[]){3 * 65536}, 0);
        int in = group_case_dense(c, WK_F32, false, FILL_ONES);
        float *x = (float *)(void *)c->data[in] + group_case_origin(c, in);
        for (int64_t e = 0; e < 65536; e++) {
            uint16_t pair[2] = {(uint16_t)e, (uint16_t)(e + 1)};
            double middle = 0.5 * (group_reference_get(dtype, pair, 0) + group_reference_get(dtype, pair, 1));
            uint32_t bits;
            x[3 * e] = (float)middle;
            memcpy(&bits, &x[3 * e], sizeof bits);
            for (uint32_t n = 1; n < 3; n++) {
                uint32_t near = n == 1 ? bits - 1 : bits + 1;
                memcpy(&x[3 * e + n], &near, sizeof near);
            }
        }
        int r = ir_ins(&c->g, WK__CAST, dtype, ir_load(&c->g, in), 0, 0);
        ir_store(&c->g, group_case_dense(c, dtype, false, FILL_ONES), r);
        vm_check(c);
    }
}

static void choices(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_I32, WK_I64, WK_F16, WK_BOOL};
    for (int k = 0; k < 6; k++) {
        for (int form = 0; form < SOURCES * SOURCES; form++) {
            group_case *c = new_case("", WK__WHERE, dtypes[k], form);
            int condition = ir_load(&c->g, group_case_dense(c, WK_BOOL, false, FILL_ONES));
            int a = operand_from(c, (source)(form / SOURCES), dtypes[k], FILL_WIDE);
            int b = operand_from(c, (source)(form % SOURCES), dtypes[k], FILL_WIDE);
            if (dtypes[k] == WK_BOOL && form / SOURCES + form % SOURCES > 0) {
                group_case_free(c); /* bool has neither 3 nor negative values */
                continue;
            }
            int r = ir_ins(&c->g, WK__WHERE, dtypes[k], condition, a, b);
            ir_store(&c->g, group_case_dense(c, dtypes[k], false, FILL_ONES), r);
            vm_check(c);
        }
    }
}

/* Without tolerance: random bits are the same on all devices. */
static void random_numbers(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        wk_dtype dtype = k ? WK_F64 : WK_F32;
        group_case *c = group_case_new("random", 1, (int64_t[]){5000}, 0);
        int position = ir_ins(&c->g, WK__IOTA, WK_I64, 0, 0, 0);
        int first = ir_imm(&c->g, WK_I64, (wk__imm){.i = 0xfffffff0});
        int counter = ir_binary(&c->g, WK__ADD, position, first);
        c->g.imm[c->g.nimms++].i = 0x1234567890abcdef;
        int bits = ir_ins(&c->g, WK__PHILOX, WK_I64, counter, c->g.nimms - 1, k ? 64 : 32);
        int normal = ir_ins(&c->g, WK__NDTRI, dtype, bits, 0, 0);
        ir_store(&c->g, group_case_dense(c, WK_I64, false, FILL_ONES), bits);
        ir_store(&c->g, group_case_dense(c, dtype, false, FILL_ONES), normal);
        vm_check(c);
        c = group_case_new("quantiles", 1, (int64_t[]){5000}, 0);
        int any = ir_load(&c->g, group_case_dense(c, WK_I64, false, FILL_BITS));
        if (k == 0) any = ir_binary(&c->g, WK__AND, any, ir_imm(&c->g, WK_I64, (wk__imm){.i = 0xffffffff}));
        ir_store(&c->g, group_case_dense(c, dtype, false, FILL_ONES), ir_ins(&c->g, WK__NDTRI, dtype, any, 0, 0));
        vm_check(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_numbers), cmocka_unit_test(extreme_numbers), cmocka_unit_test(narrow_dtypes),
        cmocka_unit_test(casts),         cmocka_unit_test(all_halves),      cmocka_unit_test(ties_of_halves),
        cmocka_unit_test(choices),       cmocka_unit_test(random_numbers),
    };
    return cmocka_run_group_tests(tests, vm_open, vm_close);
}
