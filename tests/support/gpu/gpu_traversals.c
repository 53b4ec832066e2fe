/* SPDX-License-Identifier: Apache-2.0 */
/* Cases for the traversals of GPUs, with sizes around each limit of plan.c. Except for one or two values per case,
 * results do not depend on the order of summation. */
#include "gpu_cases.h"

#include <stdio.h>
#include <string.h>

#define L(...) ((const int64_t[]){__VA_ARGS__})

static group_case *add(gpu_cases *list, const char *what, int64_t rows, int64_t columns, int ndim, const int64_t *shape,
                       int nreduce)
{
    char name[64];
    snprintf(name, sizeof name, "%s %lld x %lld", what, (long long)rows, (long long)columns);
    return gpu_cases_add(list, group_case_new(name, ndim, shape, nreduce));
}

/* ---- neighbouring rows ------------------------------------------------------------------------------------------- */

static void add_sum(gpu_cases *list, int code, wk_dtype dtype, int64_t rows, int64_t columns)
{
    group_case *c = add(list, wk__opcode_name[code], rows, columns, 2, L(rows, columns), 1);
    const wk_dtype class = wk__compute_class(dtype);
    const group_fill fill = code == WK__RPROD ? FILL_PRODUCT : FILL_SUM;
    int r =
        ir_ins(&c->g, (wk__opcode)code, class, ir_load(&c->g, group_case_operand(c, dtype, L(1, rows), fill, 0)), 0, 0);
    if (class != dtype) r = ir_ins(&c->g, WK__CAST, dtype, r, 0, 0);
    ir_store(&c->g, group_case_dense(c, dtype, true, FILL_ONES), r);
}

/* x = max(x) - x + b in place, where b has one element per row; the sum of max(x) - x is added to b, in place if
 * row_in_place. The space has three dimensions that cannot be merged. */
static void add_passes(gpu_cases *list, int64_t rows, int64_t columns, bool row_in_place)
{
    group_case *c = add(list, "passes", rows, columns, 3, L(3, rows, columns), 1);
    wk__program *g = &c->g;
    int in = group_case_operand(c, WK_F32, L((rows + 2) * columns, 1, rows), FILL_SUM, 0);
    int x = ir_load(g, in);
    int off = ir_binary(g, WK__SUB, ir_unary(g, WK__RMAX, x), x);
    int sum = ir_unary(g, WK__RSUM, off);
    int before = group_case_dense(c, WK_F32, true, FILL_SUM), old = ir_load(g, before);
    int after = row_in_place ? before : group_case_dense(c, WK_F32, true, FILL_SUM);
    ir_store(g, in, ir_binary(g, WK__ADD, off, old));
    ir_store(g, after, ir_binary(g, WK__ADD, old, sum));
}

void gpu_strips(gpu_cases *list)
{
    static const int64_t rows[] = {8, 31, 32, 33, 70};
    for (int k = 0; k < 5; k++) {
        add_sum(list, WK__RSUM, WK_F32, rows[k], 100);
        add_sum(list, WK__RSUM, WK_F32, rows[k], 2048); /* in chunks */
    }
    add_sum(list, WK__RSUM, WK_F32, 33, 2500);
    add_sum(list, WK__RSUM, WK_F32, 40, 2047);
    add_sum(list, WK__RMAX, WK_I64, 40, 100);
    add_sum(list, WK__RMIN, WK_F64, 40, 2100);
    add_sum(list, WK__RPROD, WK_BF16, 40, 100);
    add_passes(list, 40, 70, false);
    add_passes(list, 9, 70, true);
    add_passes(list, 20, 2100, false);
    add_passes(list, 20, 2100, true); /* not in chunks */
}

/* ---- rows traversed more than once ------------------------------------------------------------------------------- */

/* Sums x - max(x), scales it by a row value and stores it over x. The third pass uses values of the first two, and an
 * operand that they do not read. With table, x is increased by an indexed element and by a position, which are either
 * kept or recomputed. */
static void add_held(gpu_cases *list, wk_dtype dtype, int64_t rows, int64_t columns, bool table)
{
    group_case *c = add(list, table ? "held with a table" : "held", rows, columns, 2, L(rows, columns), 1);
    wk__program *g = &c->g;
    const wk_dtype class = wk__compute_class(dtype);
    int in = group_case_dense(c, dtype, false, FILL_SUM), x = ir_load(g, in);
    if (table) {
        int index = group_case_dense(c, WK_I64, false, FILL_ONES);
        group_case_index(c, index, 0, 5);
        int of = group_case_operand(c, dtype, L(0, 0), FILL_SUM, 5);
        g->imm[g->nimms].i = 5, g->imm[g->nimms + 1].i = 1, g->nimms += 2;
        x = ir_binary(g, WK__ADD, x, ir_ins(g, WK__LOADX, class, ir_load(g, index), of, g->nimms - 2));
        int even = ir_binary(g, WK__REM, ir_ins(g, WK__IOTA, WK_I64, 0, 0, 0), ir_imm(g, WK_I64, (wk__imm){.i = 2}));
        x = ir_binary(g, WK__ADD, x, ir_ins(g, WK__CAST, class, even, 0, 0));
    }
    int off = ir_binary(g, WK__SUB, x, ir_unary(g, WK__RMAX, x));
    int sum = ir_unary(g, WK__RSUM, off), least = ir_unary(g, WK__RMIN, ir_binary(g, WK__MUL, off, off));
    int y = ir_binary(g, WK__ADD, ir_binary(g, WK__SUB, off, least), x);
    if (!table) y = ir_binary(g, WK__ADD, y, ir_load(g, group_case_dense(c, dtype, false, FILL_SUM)));
    int out = table ? group_case_dense(c, dtype, false, FILL_ONES) : in;
    if (class != dtype) y = ir_ins(g, WK__CAST, dtype, y, 0, 0);
    ir_store(g, out, y);
    ir_store(g, group_case_dense(c, class, true, FILL_ONES), ir_binary(g, WK__ADD, sum, least));
}

/* Each item adds four runs of 128 elements. Sums within a run, and of the runs' sums, are exact; a longer run would
 * lose the last bit of each element from 256 elements on. Rows are not split. */
void gpu_long_runs(gpu_cases *list)
{
    const int64_t columns = 4 * 128 * (int64_t)list->local;
    group_case *c = add(list, "long runs", 2, columns, 2, L(2, columns), 1);
    int in = group_case_dense(c, WK_F32, false, FILL_ONES);
    for (int64_t k = 0; k < 2 * columns; k++) group_case_set(c, in, k, 1 + 0x1p-16);
    ir_store(&c->g, group_case_dense(c, WK_F32, true, FILL_ONES), ir_unary(&c->g, WK__RSUM, ir_load(&c->g, in)));
}

void gpu_held(gpu_cases *list)
{
    static const int64_t columns[] = {17, 32, 33, 64, 65, 128, 512, 513, 1024, 1025, 2048, 2049, 4096, 4097};
    for (int k = 0; k < 14; k++) add_held(list, WK_F32, 3, columns[k], false);
    add_held(list, WK_F32, 17, 100, false); /* warps of three work-groups, the last of which is partly filled */
    add_held(list, WK_F32, 0, 100, false);
    add_held(list, WK_I64, 3, 100, false);
    add_held(list, WK_F16, 3, 100, false);
    add_held(list, WK_F32, 3, 100, true);
    add_held(list, WK_F32, 3, 600, true);
    add_held(list, WK_F64, 3, 1100, true);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

/* out = x * y + position, each in a separate dtype and layout; then out = 1 - x, in place if in_place. */
static void add_vectors(gpu_cases *list, const wk_dtype dtype[3], const int64_t *shape, const int64_t *x,
                        const int64_t *y, const int64_t *out, bool in_place)
{
    group_case *c = add(list, in_place ? "vectors in place" : "vectors", shape[0], shape[1], 2, shape, 0);
    wk__program *g = &c->g;
    const wk_dtype class = wk__compute_class(dtype[2]);
    int operand = group_case_operand(c, dtype[0], x, FILL_SUM, 0), a = ir_load(g, operand);
    int b = ir_load(g, group_case_operand(c, dtype[1], y, FILL_SUM, 0));
    if (wk__compute_class(dtype[0]) != class) a = ir_ins(g, WK__CAST, class, a, 0, 0);
    if (wk__compute_class(dtype[1]) != class) b = ir_ins(g, WK__CAST, class, b, 0, 0);
    int place = ir_ins(g, WK__CAST, class, ir_ins(g, WK__IOTA, WK_I64, 0, 0, 0), 0, 0);
    int r = ir_binary(g, WK__ADD, ir_binary(g, WK__MUL, a, b), place);
    if (class != dtype[2]) r = ir_ins(g, WK__CAST, dtype[2], r, 0, 0);
    ir_store(g, group_case_operand(c, dtype[2], out, FILL_ONES, 0), r);
    if (!in_place) return;
    int less = ir_binary(g, WK__SUB, b, a);
    if (class != dtype[0]) less = ir_ins(g, WK__CAST, dtype[0], less, 0, 0);
    ir_store(g, operand, less);
}

void gpu_vectors(gpu_cases *list)
{
    static const wk_dtype f32[] = {WK_F32, WK_F32, WK_F32}, f16[] = {WK_F16, WK_F16, WK_F16},
                          f64[] = {WK_F64, WK_F32, WK_F64}, u8[] = {WK_U8, WK_U8, WK_U8},
                          mixed[] = {WK_BOOL, WK_F16, WK_F32}, wide[] = {WK_I16, WK_I8, WK_I64};
    const int64_t *dense = L(24, 1);
    const wk_dtype *const sets[] = {f32, f16, f64, u8, mixed, wide};
    for (int k = 0; k < 6; k++) {
        add_vectors(list, sets[k], L(7, 24), dense, dense, dense, true);
        add_vectors(list, sets[k], L(7, 24), L(40, 1), L(0, 1), L(32, 1), false); /* one row for all */
        add_vectors(list, sets[k], L(7, 24), dense, L(1, 0), L(1, 7), false);     /* one column for all; transposed */
    }
    /* several work-groups, the last partly filled */
    add_vectors(list, f32, L(300, 8), L(8, 1), L(16, 2), L(8, 1), true);
    add_vectors(list, f32, L(7, 24), L(24, -1), dense, dense, false);
    /* row lengths, then row starts, that are not multiples of the vector */
    add_vectors(list, f32, L(7, 22), L(22, 1), L(22, 1), L(22, 1), true);
    add_vectors(list, f32, L(2, 22), L(24, 1), L(24, 1), L(24, 1), true);
    add_vectors(list, f32, L(7, 24), L(25, 1), dense, dense, true);
    gpu_cases_add(list, gpu_plus_case(6, 8, 1, false, true));
    gpu_cases_add(list, gpu_plus_case(6, 8, 1, true, true));
}
