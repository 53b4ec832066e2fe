/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the checker of group programs: each rule violated once, and valid programs that look suspicious. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "build.h"

static void expect_wrong(const wk__program *g, const char *wrong)
{
    const char *found = wk__program_verify(g);
    assert_non_null(found);
    assert_string_equal(found, wrong);
}

static void expect_right(const wk__program *g)
{
    const char *found = wk__program_verify(g);
    if (found) fail_msg("%s", found);
}

#define BROKEN(group, change, wrong)                                                                                   \
    do {                                                                                                               \
        wk__program broken = group;                                                                                    \
        wk__program *g = &broken;                                                                                      \
        change;                                                                                                        \
        expect_wrong(g, wrong);                                                                                        \
    } while (0)

static void space(void **state)
{
    (void)state;
    wk__program right;
    ir_softmax(&right, 4, 8);
    expect_right(&right);
    BROKEN(right, g->nins = WK__MAX_INS + 1, "count of instructions");
    BROKEN(right, g->noperands = -1, "count of operands");
    BROKEN(right, g->nimms = WK__MAX_IMMS + 1, "count of immediates");
    BROKEN(right, g->ndim = 9, "count of dimensions");
    BROKEN(right, g->nreduce = 3, "count of reduced dimensions");
    BROKEN(right, g->shape[0] = -1, "a dimension of negative size");
    BROKEN(right, g->shape[0] = INT64_MAX, "a space of more than 2^63 elements");
    BROKEN(right, g->operand[0].dtype = 0, "an operand with an invalid dtype");
    BROKEN(right, g->operand[1].dtype = WK_C64, "an operand with an invalid dtype");
    right.shape[0] = 0;
    expect_right(&right);
}

static void instructions(void **state)
{
    (void)state;
    wk__program right;
    ir_softmax(&right, 4, 8);
    BROKEN(right, g->ins[2].code = WK__OPCODE_COUNT, "an unknown instruction");
    BROKEN(right, g->ins[2].dtype = 0, "a register with an invalid dtype");
    BROKEN(right, g->ins[2].arg[1] = 2, "a register used before its definition");
    BROKEN(right, g->ins[2].arg[0] = -1, "a register used before its definition");
    BROKEN(right, g->ins[6].arg[1] = 6, "a register used before its definition");
    BROKEN(right, ir_unary(g, WK__EXP, 6), "a STORE used as a register");
    BROKEN(right, g->ins[0].arg[0] = 2, "a LOAD from an operand out of range");
    BROKEN(right, g->ins[0].dtype = WK_F16, "a LOAD with a dtype other than the operand's");
    BROKEN(right, g->ins[1].dtype = WK_F64, "a reduction with a class other than its operand's");
    BROKEN(right, g->ins[6].arg[0] = 2, "a STORE to an operand out of range");
    BROKEN(right, g->operand[1].stored = false, "a STORE to an operand not marked as stored");
    BROKEN(right, g->operand[1].dtype = WK_I32, "a STORE of another class");
    BROKEN(right, g->operand[0].stored = true, "an operand marked as stored without a STORE");
    BROKEN(right, g->ins[6].arg[1] = 4, "a STORE of a row value to an operand with a stride along the row");
    BROKEN(right, ir_ins(g, WK__IMM, WK_F32, 0, 0, 0), "IMM without a value");
    BROKEN(right, ir_ins(g, WK__IOTA, WK_I32, 0, 0, 0), "IOTA with a dtype other than i64");
}

static void classes(void **state)
{
    (void)state;
    wk__program right;
    ir_space(&right, 1, (const int64_t[]){16}, 0);
    int f = ir_imm(&right, WK_F32, (wk__imm){.f = 1}), d = ir_imm(&right, WK_F64, (wk__imm){.f = 1});
    int i = ir_imm(&right, WK_I32, (wk__imm){.i = 1}), l = ir_imm(&right, WK_I64, (wk__imm){.i = 1});
    int b = ir_imm(&right, WK_BOOL, (wk__imm){.i = 1}), h = ir_imm(&right, WK_BF16, (wk__imm){.f = 1});
    int c = ir_ins(&right, WK__LT, WK_BOOL, f, h, 0);
    ir_ins(&right, WK__ADD, WK_F32, f, h, 0);
    ir_ins(&right, WK__AND, WK_BOOL, b, c, 0);
    ir_ins(&right, WK__XOR, WK_I32, b, i, 0);
    ir_ins(&right, WK__WHERE, WK_I64, c, l, l);
    ir_ins(&right, WK__CAST, WK_U8, d, 0, 0);
    ir_ins(&right, WK__PHILOX, WK_I64, l, 3, 64);
    ir_ins(&right, WK__NDTRI, WK_F64, l, 0, 0);
    expect_right(&right);
    const char *other = "an operand class that differs from the operation's";
    BROKEN(right, ir_ins(g, WK__ADD, WK_F32, f, d, 0), other);
    BROKEN(right, ir_ins(g, WK__ADD, WK_I32, f, f, 0), other);
    BROKEN(right, ir_ins(g, WK__EQ, WK_BOOL, i, l, 0), other);
    BROKEN(right, ir_ins(g, WK__EQ, WK_I32, i, i, 0), "a comparison with a dtype other than bool");
    BROKEN(right, ir_ins(g, WK__EXP, WK_I64, l, 0, 0), "a floating-point operation on integers");
    BROKEN(right, ir_ins(g, WK__OR, WK_F64, d, d, 0), "an integer operation on floats");
    BROKEN(right, ir_ins(g, WK__NOT, WK_BOOL, b, 0, 0), "NOT of bool; use EQ with 0");
    BROKEN(right, ir_ins(g, WK__WHERE, WK_F32, i, f, f), "WHERE with a condition other than bool");
    BROKEN(right, ir_ins(g, WK__WHERE, WK_F32, c, f, d), "WHERE with a value of another class");
    BROKEN(right, ir_ins(g, WK__PHILOX, WK_I64, i, 3, 64), "PHILOX or NDTRI of a register other than i64");
    BROKEN(right, ir_ins(g, WK__PHILOX, WK_I32, l, 3, 64), "PHILOX with a dtype other than i64");
    BROKEN(right, ir_ins(g, WK__PHILOX, WK_I64, l, 99, 64), "PHILOX without a key");
    BROKEN(right, ir_ins(g, WK__PHILOX, WK_I64, l, 3, 16), "PHILOX with a width other than 32 and 64 bits");
    BROKEN(right, ir_ins(g, WK__NDTRI, WK_F16, l, 0, 0), "NDTRI with a dtype other than f32 and f64");
}

static void gathers(void **state)
{
    (void)state;
    wk__program right;
    ir_space(&right, 1, (const int64_t[]){16}, 0);
    int table = ir_operand(&right, WK_F32, NULL, 0, (const int64_t[]){0});
    right.imm[0].i = 100, right.imm[1].i = 1, right.nimms = 2;
    int index = ir_ins(&right, WK__IOTA, WK_I64, 0, 0, 0);
    int x = ir_ins(&right, WK__LOADX, WK_F32, index, table, 0);
    expect_right(&right);
    BROKEN(right, g->ins[x].arg[2] = 1, "LOADX without bound and stride");
    BROKEN(right, ir_ins(g, WK__LOADX, WK_F32, x, table, 0), "LOADX with an index other than i64");
    BROKEN(right, g->ins[x].arg[1] = 1, "a LOAD from an operand out of range");
    BROKEN(right, g->operand[table].stride[0] = 1; ir_store(g, table, x), "LOADX from an operand that is stored to");
}

/* y[stride] = 1 over a space of `ndim` dimensions. */
static wk__program fill(int ndim, const int64_t *shape, const int64_t *stride)
{
    wk__program g;
    ir_space(&g, ndim, shape, 0);
    ir_store(&g, ir_operand(&g, WK_F32, NULL, 0, stride), ir_imm(&g, WK_F32, (wk__imm){.f = 1}));
    return g;
}

static void elements_of_a_store(void **state)
{
    (void)state;
    const char *twice = "a stored operand with two elements at the same address";
    const int64_t shape[] = {3, 4};
    wk__program g = fill(2, shape, (const int64_t[]){4, 1});
    expect_right(&g);
    BROKEN(g, g->operand[0].stride[0] = 0, twice);
    BROKEN(g, g->operand[0].stride[0] = 1, twice);  /* an unfold */
    BROKEN(g, g->operand[0].stride[0] = -1, twice); /* and with a negative stride */
    BROKEN(g, g->operand[0].stride[0] = 3, twice);
    g = fill(2, shape, (const int64_t[]){1, 3});
    expect_right(&g);
    g = fill(2, (const int64_t[]){2, 2}, (const int64_t[]){3, 2}); /* 0 2 3 5: not nested, but disjoint */
    expect_right(&g);
    g = fill(2, (const int64_t[]){1, 4}, (const int64_t[]){0, 1});
    expect_right(&g);
    g = fill(2, (const int64_t[]){0, 4}, (const int64_t[]){0, 0});
    expect_right(&g);
    g = fill(2, shape, (const int64_t[]){4, 1});
    BROKEN(g, ir_store(g, 0, 0), "two STOREs to one operand");
}

/* y = -x, both in the same memory. */
static wk__program negate(int64_t rows, int64_t columns, const int64_t *in, int64_t at, const int64_t *out, int64_t to)
{
    static char memory;
    wk__program g;
    ir_space(&g, 2, (const int64_t[]){rows, columns}, 0);
    int x = ir_operand(&g, WK_F32, (wk__memory *)&memory, at, in);
    int y = ir_operand(&g, WK_F32, (wk__memory *)&memory, to, out);
    ir_store(&g, y, ir_unary(&g, WK__NEG, ir_load(&g, x)));
    return g;
}

static void disjoint_memory(void **state)
{
    (void)state;
    const char *overlap = "an operand that overlaps one that is stored to";
    const int64_t dense[] = {4, 1}, turned[] = {1, 4}, wide[] = {8, 1}, even[] = {8, 2};
    wk__program g = negate(4, 4, dense, 0, dense, 0); /* in place */
    expect_right(&g);
    g = negate(1, 4, wide, 0, dense, 0); /* a stride of a dimension of size 1 */
    expect_right(&g);
    g = negate(4, 1, wide, 0, even, 0);
    expect_right(&g);
    g = negate(4, 4, dense, 0, dense, 16); /* side by side */
    expect_right(&g);
    g = negate(4, 4, wide, 0, wide, 4); /* left half to right half */
    expect_right(&g);
    g = negate(4, 4, even, 0, even, 1); /* even elements to odd ones */
    expect_right(&g);
    g = negate(4, 4, turned, 0, dense, 0);
    expect_wrong(&g, overlap);
    g = negate(4, 4, dense, 1, dense, 0);
    expect_wrong(&g, overlap);
    g = negate(4, 4, wide, 12, dense, 0);
    expect_wrong(&g, overlap);
    g = negate(4, 4, (const int64_t[]){-4, -1}, 15, dense, 0);
    expect_wrong(&g, overlap);
    g = negate(0, 4, dense, 1, dense, 0);
    expect_right(&g);

    g = negate(4, 4, dense, 0, dense, 16);
    g.operand[0].stored = true;
    ir_ins(&g, WK__STORE, WK_F32, 0, 0, 0);
    expect_right(&g);
    BROKEN(g, g->operand[1].offset = 0, "two stored operands at the same address");
}

static void loads_come_first(void **state)
{
    (void)state;
    const char *late = "a LOAD after the STORE to the same address";
    const int64_t dense[] = {4, 1};
    wk__program g = negate(4, 4, dense, 0, dense, 0);
    BROKEN(g, ir_load(g, 1), late);
    BROKEN(g, ir_load(g, 0), late);
    g = negate(4, 4, dense, 0, dense, 16);
    ir_load(&g, 0);
    expect_right(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(space),
        cmocka_unit_test(instructions),
        cmocka_unit_test(classes),
        cmocka_unit_test(gathers),
        cmocka_unit_test(elements_of_a_store),
        cmocka_unit_test(disjoint_memory),
        cmocka_unit_test(loads_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
