/* SPDX-License-Identifier: Apache-2.0 */
/* Tests group programs: levels and passes, collapsing of dimensions against an element-wise traversal, structure keys,
 * text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "build.h"

/* ---- tables -------------------------------------------------------------------------------------------------- */

static void tables(void **state)
{
    (void)state;
    assert_string_equal(wk__opcode_name[WK__ADD], "ADD");
    assert_string_equal(wk__opcode_text[WK__MUL], "($0 * $1)");
    assert_null(wk__opcode_text[WK__CAST]);
    assert_int_equal(wk__opcode_kind[WK__EXP], 'F');
    assert_int_equal(wk__opcode_arity[WK__WHERE], 3);
    assert_int_equal(wk__compute_class(WK_BF16), WK_F32);
    assert_int_equal(wk__compute_class(WK_F16), WK_F32);
    assert_int_equal(wk__compute_class(WK_F32), WK_F32);
    assert_int_equal(wk__compute_class(WK_F64), WK_F64);
    assert_int_equal(wk__compute_class(WK_BOOL), WK_I32);
    assert_int_equal(wk__compute_class(WK_U8), WK_I32);
    assert_int_equal(wk__compute_class(WK_I32), WK_I32);
    assert_int_equal(wk__compute_class(WK_I64), WK_I64);
}

/* ---- levels -------------------------------------------------------------------------------------------------- */

static void expect_levels(const wk__program *g, const char *levels, const char *passes)
{
    uint8_t level[WK__MAX_INS], pass[WK__MAX_INS];
    char seen[2][WK__MAX_INS + 1];
    wk__program_levels(g, level, pass);
    for (int k = 0; k < g->nins; k++) {
        seen[0][k] = level[k] ? 'e' : 'r';
        seen[1][k] = (char)('0' + pass[k]);
    }
    seen[0][g->nins] = seen[1][g->nins] = '\0';
    assert_string_equal(seen[0], levels);
    assert_string_equal(seen[1], passes);
}

static void levels_of_softmax(void **state)
{
    (void)state;
    wk__program g;
    ir_softmax(&g, 4, 8);
    /* LOAD RMAX SUB EXP RSUM DIV STORE */
    expect_levels(&g, "ereeree", "0111222");
}

/* (x - mean) / n scaled by a factor per row: arithmetic on row values has row level. */
static void levels_of_rows(void **state)
{
    (void)state;
    wk__program g;
    ir_space(&g, 2, (const int64_t[]){4, 8}, 1);
    int in = ir_dense(&g, WK_F32, false), scale = ir_dense(&g, WK_F32, true), out = ir_dense(&g, WK_F32, true);
    int x = ir_load(&g, in), s = ir_load(&g, scale);
    int n = ir_imm(&g, WK_F32, (wk__imm){.f = 8});
    int early = ir_binary(&g, WK__MUL, s, n);                             /* before any pass */
    int mean = ir_binary(&g, WK__DIV, ir_unary(&g, WK__RSUM, x), n);      /* after the first */
    int spread = ir_unary(&g, WK__RMAX, ir_binary(&g, WK__SUB, x, mean)); /* after the second */
    ir_store(&g, out, ir_binary(&g, WK__MUL, spread, early));
    /*                x s n * RSUM / SUB RMAX * STORE */
    expect_levels(&g, "errrrrerrr", "0000111222");
    assert_null(wk__program_verify(&g));
}

static void levels_without_reduction(void **state)
{
    (void)state;
    wk__program g;
    ir_space(&g, 2, (const int64_t[]){4, 8}, 0);
    int64_t nowhere[] = {0, 0}, along[] = {0, 1};
    int scalar = ir_operand(&g, WK_F32, NULL, 0, nowhere), vector = ir_operand(&g, WK_F32, NULL, 0, along);
    int out = ir_dense(&g, WK_F32, false);
    int s = ir_load(&g, scalar), v = ir_load(&g, vector);
    int twice = ir_binary(&g, WK__ADD, s, s);
    int where = ir_ins(&g, WK__IOTA, WK_I64, 0, 0, 0);
    ir_store(&g, out, ir_binary(&g, WK__ADD, twice, v));
    ir_store(&g, out, s);
    (void)where;
    expect_levels(&g, "rereeee", "0000000");
}

static void strides_of_size_1_do_not_matter(void **state)
{
    (void)state;
    wk__program g;
    ir_space(&g, 3, (const int64_t[]){4, 1, 8}, 2);
    int64_t stride[] = {1, 7, 0};
    ir_load(&g, ir_operand(&g, WK_F32, NULL, 0, stride));
    expect_levels(&g, "r", "0");
    g.shape[1] = 2;
    expect_levels(&g, "e", "0");
}

/* y = x * 2 is stored over x, and a later pass reads x * 2 again: the store is moved to the last pass. */
static void in_place_stores_are_deferred(void **state)
{
    (void)state;
    wk__program g;
    ir_space(&g, 2, (const int64_t[]){4, 8}, 1);
    int x = ir_dense(&g, WK_F32, false), y = ir_dense(&g, WK_F32, false), z = ir_dense(&g, WK_F32, false);
    int twice = ir_binary(&g, WK__ADD, ir_load(&g, x), 0);
    ir_store(&g, x, twice);
    ir_store(&g, y, twice);
    ir_store(&g, z, ir_binary(&g, WK__DIV, twice, ir_unary(&g, WK__RSUM, twice)));
    expect_levels(&g, "eeeeree", "0010111");
    assert_int_equal(wk__program_overwritten(&g), 1 << x);

    wk__memory *memory = (wk__memory *)&g, *other = (wk__memory *)&g.ins; /* two operands with one memory */
    g.ins[2].arg[0] = (int16_t)y;
    g.ins[3].arg[0] = (int16_t)z;
    g.operand[x].memory = g.operand[y].memory = memory;
    expect_levels(&g, "eeeeree", "0010111");
    assert_int_equal(wk__program_overwritten(&g), 1 << y);
    g.operand[y].memory = other;
    expect_levels(&g, "eeeeree", "0000111");
    assert_int_equal(wk__program_overwritten(&g), 0);
}

static void levels_of_gather_and_random(void **state)
{
    (void)state;
    wk__program g;
    ir_space(&g, 2, (const int64_t[]){4, 8}, 1);
    int64_t row[] = {1, 0}, table[] = {0, 1};
    int index = ir_operand(&g, WK_I64, NULL, 0, row), weight = ir_operand(&g, WK_F32, NULL, 0, table);
    int out = ir_dense(&g, WK_F32, true);
    g.imm[0].i = 100, g.imm[1].i = 8, g.imm[2].i = 77, g.nimms = 3;
    int i = ir_load(&g, index);
    int w = ir_ins(&g, WK__LOADX, WK_F32, i, weight, 0); /* an index per row, a traversal along the columns */
    int bits = ir_ins(&g, WK__PHILOX, WK_I64, i, 2, 32);
    int normal = ir_ins(&g, WK__NDTRI, WK_F32, bits, 0, 0);
    int sum = ir_unary(&g, WK__RSUM, ir_binary(&g, WK__MUL, w, normal));
    ir_store(&g, out, sum);
    expect_levels(&g, "rerrerr", "0000011");
    assert_null(wk__program_verify(&g));
}

/* ---- collapse ------------------------------------------------------------------------------------------------ */

enum { MOST_PLACES = 4096 };

/* Lists an operand's offsets in order of the traversal. Returns the number of steps. */
static int64_t list_offsets(const wk__program *g, int operand, int64_t *places)
{
    int64_t total = wk__program_rows(g) * wk__program_columns(g);
    for (int64_t n = 0; n < total; n++) {
        int64_t rest = n, place = g->operand[operand].offset;
        for (int d = g->ndim - 1; d >= 0; d--) {
            place += rest % g->shape[d] * g->operand[operand].stride[d];
            rest /= g->shape[d];
        }
        places[n] = place;
    }
    return total;
}

static void random_strides(wk__program *g, int64_t stride[])
{
    int kind = rand() % 4;
    int64_t next = 1;
    for (int n = 0; n < g->ndim; n++) {
        int d = kind == 1 ? n : g->ndim - 1 - n; /* 1: reversed */
        stride[d] = next;
        next *= g->shape[d];
        if (kind == 2 && rand() % 2) stride[d] = 0;
        if (kind == 3) stride[d] = rand() % 7 - 3;
    }
}

static void collapsing_keeps_the_traversal(void **state)
{
    (void)state;
    static int64_t before[3][MOST_PLACES], after[MOST_PLACES];
    int flatter = 0;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        int64_t shape[WK__MAX_DIMS], stride[WK__MAX_DIMS];
        int ndim = rand() % (WK__MAX_DIMS - 1);
        for (int d = 0; d < ndim; d++) shape[d] = rand() % 40 ? 1 + rand() % 3 : 0;
        wk__program g;
        ir_space(&g, ndim, shape, ndim > 0 ? rand() % (ndim + 1) : 0);
        int operands = rand() % 4;
        for (int k = 0; k < operands; k++) {
            random_strides(&g, stride);
            ir_operand(&g, WK_F32, NULL, rand() % 100, stride);
        }
        int64_t rows = wk__program_rows(&g), columns = wk__program_columns(&g);
        int reduced = g.nreduce;
        for (int k = 0; k < operands; k++) list_offsets(&g, k, before[k]);

        wk__program_coalesce(&g);
        assert_int_equal(wk__program_rows(&g), rows);
        assert_int_equal(wk__program_columns(&g), columns);
        assert_true(g.ndim <= ndim && g.nreduce <= reduced);
        assert_int_equal(g.nreduce > 0, reduced > 0);
        for (int k = 0; k < operands; k++) {
            int64_t total = list_offsets(&g, k, after);
            assert_memory_equal(after, before[k], (size_t)total * sizeof after[0]);
        }
        flatter += g.ndim < ndim;

        wk__program again = g;
        wk__program_coalesce(&again);
        assert_int_equal(again.ndim, g.ndim);
    }
    assert_true(flatter > 10000);
}

/* With more dimensions to the right the first ones collapse as they do alone, and the others as before. */
static void collapsing_outer_dimensions(void **state)
{
    (void)state;
    wk__program g;
    ir_space(&g, 5, (const int64_t[]){3, 1, 4, 1, 6}, 0);
    ir_dense(&g, WK_F32, false);
    ir_operand(&g, WK_F32, NULL, 0, (const int64_t[]){0, 0, 0, 7, 1});
    wk__program_coalesce_outer(&g, 3);
    assert_true(g.ndim == 3 && g.shape[0] == 12 && g.shape[1] == 1 && g.shape[2] == 6);
    assert_true(g.operand[0].stride[0] == 6 && g.operand[0].stride[2] == 1);
    assert_true(g.operand[1].stride[0] == 0 && g.operand[1].stride[1] == 7 && g.operand[1].stride[2] == 1);

    ir_space(&g, 3, (const int64_t[]){1, 2, 3}, 0);
    ir_dense(&g, WK_F32, false);
    wk__program_coalesce_outer(&g, 1);
    assert_true(g.ndim == 2 && g.shape[0] == 2 && g.shape[1] == 3);
    wk__program_coalesce_outer(&g, 0);
    assert_true(g.ndim == 2 && g.operand[0].stride[0] == 3 && g.operand[0].stride[1] == 1);
}

static void collapsing_is_complete(void **state)
{
    (void)state;
    wk__program g;
    ir_space(&g, 6, (const int64_t[]){8, 1, 4, 16, 1, 32}, 2);
    ir_dense(&g, WK_F32, false);
    wk__program_coalesce(&g);
    assert_int_equal(g.ndim, 2);
    assert_int_equal(g.nreduce, 1);
    assert_int_equal(g.shape[0], 512);
    assert_int_equal(g.shape[1], 32);

    ir_space(&g, 2, (const int64_t[]){1, 1}, 0);
    ir_dense(&g, WK_F32, false);
    wk__program_coalesce(&g);
    assert_int_equal(g.ndim, 0);

    ir_space(&g, 2, (const int64_t[]){5, 1}, 1);
    ir_dense(&g, WK_F32, false);
    wk__program_coalesce(&g);
    assert_int_equal(g.ndim, 2); /* one column, but still a reduction */
    assert_int_equal(g.shape[1], 1);
    assert_int_equal(g.operand[0].stride[1], 0);

    ir_space(&g, 3, (const int64_t[]){INT64_MAX / 2, 0, INT64_MAX / 2}, 0); /* empty: sizes must not overflow */
    ir_operand(&g, WK_F32, NULL, 0, (const int64_t[]){INT64_MAX, 0, 1});
    wk__program_coalesce(&g);
    assert_int_equal(wk__program_rows(&g), 0);
}

/* ---- structure ----------------------------------------------------------------------------------------------- */

static void expect_same(const wk__program *a, const wk__program *b, bool same)
{
    assert_int_equal(wk__program_same_structure(a, b), same);
    assert_int_equal(wk__program_hash(a) == wk__program_hash(b), same);
}

static void arguments_are_not_structure(void **state)
{
    (void)state;
    wk__program a, b;
    wk__memory *somewhere = (wk__memory *)&a;
    ir_softmax(&a, 4, 8);
    ir_softmax(&b, 64, 1000);
    ir_imm(&a, WK_F32, (wk__imm){.f = 1});
    ir_imm(&b, WK_F32, (wk__imm){.f = 2});
    b.operand[0].memory = somewhere;
    b.operand[1].offset = 99;
    b.tag = 5;
    b.ins[1].arg[1] = 7; /* RMAX has one argument */
    b.ins[0].arg[2] = -1;
    expect_same(&a, &b, true);
}

static void structural_differences_change_the_key(void **state)
{
    (void)state;
    wk__program a, b;
    ir_softmax(&a, 4, 8);
#define CHANGED(change)                                                                                                \
    b = a;                                                                                                             \
    change;                                                                                                            \
    expect_same(&a, &b, false)
    CHANGED(b.ins[1].code = WK__RMIN);
    CHANGED(b.ins[1].dtype = WK_F64);
    CHANGED(b.ins[5].arg[0] = 2);
    CHANGED(b.ins[5].arg[1] = 2);
    CHANGED(b.ins[6].arg[1] = 3);
    CHANGED(b.nins--);
    CHANGED(b.nreduce = 0);
    CHANGED(b.ndim = 3);
    CHANGED(b.nimms = 1);
    CHANGED(b.operand[0].stride[1] = 0);
    CHANGED(b.operand[0].stride[1] = 2);
    CHANGED(b.operand[0].stride[0] = 1);
    CHANGED(b.operand[1].dtype = WK_BF16);
    CHANGED(b.operand[1].stored = false);
    CHANGED(b.noperands++);
#undef CHANGED
}

/* Keys of many similar programs: x (op) x, with three kinds of strides in eight positions. */
static void keys_differ(void **state)
{
    (void)state;
    enum { COUNT = 6561 };
    static uint64_t keys[COUNT];
    for (int n = 0; n < COUNT; n++) {
        wk__program g;
        int64_t shape[8] = {2, 2, 2, 2, 2, 2, 2, 2}, stride[8];
        int rest = n;
        ir_space(&g, 8, shape, 0);
        for (int d = 0; d < 8; d++) {
            stride[d] = rest % 3;
            rest /= 3;
        }
        int x = ir_load(&g, ir_operand(&g, WK_F32, NULL, 0, stride));
        ir_binary(&g, WK__ADD, x, x);
        keys[n] = wk__program_hash(&g);
        for (int k = 0; k < n; k++) assert_true(keys[k] != keys[n]);
    }
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

static void expect_text(const wk__program *g, const char *expected)
{
    char *text = wk__program_dump(g);
    assert_non_null(text);
    assert_string_equal(text, expected);
    wk__free(text);
}

static void text_of_groups(void **state)
{
    (void)state;
    wk__program g;
    ir_softmax(&g, 4, 8);
    expect_text(&g, "space 4 x 8, last 1 reduced\n"
                    "%0 f32 in, offset 0, strides 8 1\n"
                    "%1 f32 out, offset 0, strides 8 1\n"
                    "r0 f32 LOAD %0\n"
                    "r1 f32 RMAX r0\n"
                    "r2 f32 SUB r0 r1\n"
                    "r3 f32 EXP r2\n"
                    "r4 f32 RSUM r3\n"
                    "r5 f32 DIV r3 r4\n"
                    "STORE %1 r5\n");

    ir_space(&g, 0, NULL, 0);
    int table = ir_dense(&g, WK_BF16, false), out = ir_dense(&g, WK_BOOL, false);
    int half = ir_imm(&g, WK_F32, (wk__imm){.f = 0.1});
    int index = ir_imm(&g, WK_I64, (wk__imm){.i = -3});
    g.imm[2].i = 10, g.imm[3].i = 2, g.imm[4].i = 0xbeef, g.nimms = 5;
    int x = ir_ins(&g, WK__LOADX, WK_BF16, index, table, 2);
    ir_ins(&g, WK__PHILOX, WK_I64, index, 4, 64);
    ir_store(&g, out, ir_ins(&g, WK__LT, WK_BOOL, x, half, 0));
    expect_text(&g, "space of one element\n"
                    "%0 bf16 in, offset 0\n"
                    "%1 bool out, offset 0\n"
                    "r0 f32 IMM 0.1\n"
                    "r1 i64 IMM -3\n"
                    "r2 bf16 LOADX r1 of %0, bound 10, stride 2\n"
                    "r3 i64 PHILOX r1, key 0xbeef, 64 bits\n"
                    "r4 bool LT r2 r0\n"
                    "STORE %1 r4\n");
}

static void text_without_memory(void **state)
{
    (void)state;
    wk__program g;
    ir_softmax(&g, 4, 8);
    wk__alloc_fail_at(1);
    assert_null(wk__program_dump(&g));
    wk__alloc_fail_at(2);
    assert_null(wk__program_dump(&g));
    wk__alloc_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(levels_of_softmax),
        cmocka_unit_test(levels_of_rows),
        cmocka_unit_test(levels_without_reduction),
        cmocka_unit_test(strides_of_size_1_do_not_matter),
        cmocka_unit_test(in_place_stores_are_deferred),
        cmocka_unit_test(levels_of_gather_and_random),
        cmocka_unit_test(collapsing_keeps_the_traversal),
        cmocka_unit_test(collapsing_outer_dimensions),
        cmocka_unit_test(collapsing_is_complete),
        cmocka_unit_test(arguments_are_not_structure),
        cmocka_unit_test(structural_differences_change_the_key),
        cmocka_unit_test(keys_differ),
        cmocka_unit_test(text_of_groups),
        cmocka_unit_test(text_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
