/* SPDX-License-Identifier: Apache-2.0 */
/* Cases for GPU backends: layouts of elementwise programs, reductions in all traversals of a row, several passes,
 * per-row values. */
#include "gpu_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static group_case *add(gpu_cases *list, const char *name, int ndim, const int64_t *shape, int nreduce)
{
    return gpu_cases_add(list, group_case_new(name, ndim, shape, nreduce));
}

/* out = a * b + 1 with the given strides. */
static void add_layout(gpu_cases *list, const char *name, int ndim, const int64_t *shape, const int64_t *a,
                       const int64_t *b, const int64_t *out)
{
    group_case *c = add(list, name, ndim, shape, 0);
    int x = ir_load(&c->g, group_case_operand(c, WK_F32, a, FILL_ONES, 0));
    int y = ir_load(&c->g, group_case_operand(c, WK_F32, b, FILL_ONES, 0));
    int one = ir_imm(&c->g, WK_F32, (wk__imm){.f = 1});
    int r = ir_binary(&c->g, WK__ADD, ir_binary(&c->g, WK__MUL, x, y), one);
    ir_store(&c->g, group_case_operand(c, WK_F32, out, FILL_ONES, 0), r);
}

group_case *gpu_plus_case(int64_t rows, int64_t columns, double number, bool in_place, bool indexed)
{
    group_case *c = group_case_new("add", 2, (int64_t[]){rows, columns}, 0);
    int from = group_case_dense(c, WK_F32, false, FILL_ONES),
        to = in_place ? from : group_case_dense(c, WK_F32, false, FILL_ONES);
    int r = ir_binary(&c->g, WK__ADD, ir_load(&c->g, from), ir_imm(&c->g, WK_F32, (wk__imm){.f = number}));
    if (indexed) {
        int places = group_case_dense(c, WK_I64, false, FILL_INDEX), index = ir_load(&c->g, places);
        group_case_index(c, places, 0, 5);
        int table = group_case_operand(c, WK_F32, (int64_t[]){0, 0}, FILL_ONES, 5);
        c->g.imm[c->g.nimms].i = 5, c->g.imm[c->g.nimms + 1].i = 1, c->g.nimms += 2;
        r = ir_binary(&c->g, WK__ADD, r, ir_ins(&c->g, WK__LOADX, WK_F32, index, table, c->g.nimms - 2));
    }
    ir_store(&c->g, to, r);
    return c;
}

#define L(...) ((const int64_t[]){__VA_ARGS__})

void gpu_layouts(gpu_cases *list)
{
    add_layout(list, "no dimensions", 0, L(0), L(0), L(0), L(0));
    add_layout(list, "one element", 1, L(1), L(1), L(1), L(1));
    add_layout(list, "flat", 2, L(7, 9), L(9, 1), L(9, 1), L(9, 1));
    add_layout(list, "scalar", 2, L(7, 9), L(9, 1), L(0, 0), L(9, 1));
    add_layout(list, "row", 2, L(7, 9), L(9, 1), L(0, 1), L(9, 1));
    add_layout(list, "column", 2, L(7, 9), L(9, 1), L(1, 0), L(9, 1));
    add_layout(list, "transposed", 2, L(7, 9), L(1, 7), L(9, 1), L(9, 1));
    add_layout(list, "gaps", 2, L(7, 9), L(40, 2), L(9, 1), L(33, 3));
    add_layout(list, "backwards", 2, L(7, 9), L(-9, -1), L(9, 1), L(9, 1));
    add_layout(list, "empty", 2, L(7, 0), L(9, 1), L(9, 1), L(9, 1));
    add_layout(list, "eight dimensions", 8, L(2, 3, 2, 1, 2, 3, 2, 2), L(1, 2, 6, 12, 12, 24, 72, 144),
               L(144, 48, 24, 24, 12, 4, 2, 1), L(144, 48, 24, 24, 12, 4, 2, 1));
    add_layout(list, "many", 1, L(100000), L(1), L(1), L(1));
    add_layout(list, "channels last", 4, L(2, 3, 5, 7), L(105, 1, 21, 3), L(0, 1, 0, 0), L(105, 1, 21, 3));
}

/* Reduces the last nreduce dimensions of a dense or permuted operand with `code`. The result does not depend on the
 * order of reduction. */
static void add_reduction(gpu_cases *list, int code, wk_dtype dtype, int ndim, const int64_t *shape, int nreduce,
                          const int64_t *stride)
{
    char name[96];
    snprintf(name, sizeof name, "%s %s of %lld x %lld, %d reduced", wk__opcode_name[code], wk_dtype_str(dtype),
             (long long)shape[0], (long long)shape[ndim - 1], nreduce);
    group_case *c = add(list, name, ndim, shape, nreduce);
    group_fill fill = code == WK__RPROD ? FILL_PRODUCT : FILL_SUM;
    int in = stride ? group_case_operand(c, dtype, stride, fill, 0) : group_case_dense(c, dtype, false, fill);
    int x = ir_load(&c->g, in);
    wk_dtype class = wk__compute_class(dtype);
    int r = ir_ins(&c->g, (wk__opcode)code, class, x, 0, 0);
    if (class != dtype) r = ir_ins(&c->g, WK__CAST, dtype, r, 0, 0);
    ir_store(&c->g, group_case_dense(c, dtype, true, FILL_ONES), r);
}

/* Makes the reduction instruction number `place`: names generated from that number must not collide with a type name in
 * the source. */
static void add_reduction_at(gpu_cases *list, int place)
{
    char name[96];
    snprintf(name, sizeof name, "a reduction as instruction %d", place);
    group_case *c = add(list, name, 2, L(5, 700), 1);
    const int in = group_case_dense(c, WK_U8, false, FILL_SUM);
    int x = ir_load(&c->g, in);
    while (c->g.nins < place) x = ir_load(&c->g, in);
    const int most = ir_ins(&c->g, WK__RMAX, wk__compute_class(WK_U8), x, 0, 0);
    ir_store(&c->g, group_case_dense(c, WK_U8, true, FILL_ONES), ir_ins(&c->g, WK__CAST, WK_U8, most, 0, 0));
}

void gpu_reductions(gpu_cases *list)
{
    for (int bits = 8; bits <= 64; bits *= 2) add_reduction_at(list, bits);
    static const int codes[] = {WK__RSUM, WK__RPROD, WK__RMAX, WK__RMIN};
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_I32, WK_I64, WK_F16, WK_BF16, WK_U8, WK_BOOL};
    for (int k = 0; k < 4; k++) {
        for (int t = 0; t < 8; t++) add_reduction(list, codes[k], dtypes[t], 2, L(5, 33), 1, NULL);
        add_reduction(list, codes[k], WK_F32, 2, L(5, 700), 1, NULL); /* one work-group per row */
        add_reduction(list, codes[k], WK_I64, 2, L(5, 700), 1, NULL);
        add_reduction(list, codes[k], WK_F32, 1, L(40000), 1, NULL); /* in chunks */
    }
    add_reduction(list, WK__RSUM, WK_F64, 2, L(2, 20000), 1, NULL);
    add_reduction(list, WK__RSUM, WK_F32, 2, L(1, 1), 1, NULL);
    add_reduction(list, WK__RSUM, WK_F32, 2, L(6, 0), 1, NULL);
    add_reduction(list, WK__RMAX, WK_F32, 2, L(6, 0), 1, NULL);
    add_reduction(list, WK__RMIN, WK_I32, 2, L(6, 0), 1, NULL);
    add_reduction(list, WK__RPROD, WK_I64, 2, L(0, 6), 1, NULL);
    add_reduction(list, WK__RSUM, WK_F32, 3, L(4, 5, 6), 2, L(1, 24, 4)); /* two dimensions that do not merge */
    add_reduction(list, WK__RSUM, WK_F32, 3, L(4, 30, 40), 2, L(1, 4, 120));
    add_reduction(list, WK__RSUM, WK_F32, 3, L(3, 200, 300), 2, L(1, 3, 600));
    add_reduction(list, WK__RSUM, WK_F32, 2, L(5000, 300), 1, L(1, 5000)); /* columns of a matrix: one item each */
}

/* Returns the number of roundings of an element in a sum of n: those of its item's share, of the tree over the items of
 * the row, of up to 3 chunks, and of the reference. At least a warp shares a row of up to 1024 columns, on devices with
 * warps. */
static double roundings(const gpu_cases *list, int64_t n)
{
    const double sharers = n <= 1024 ? 32 : list->local;
    return fmin((double)n, ceil((double)n / sharers) + log2(sharers)) + 3 + 1;
}

static void add_softmax(gpu_cases *list, int64_t rows, int64_t columns)
{
    char name[64];
    snprintf(name, sizeof name, "softmax %lld x %lld", (long long)rows, (long long)columns);
    group_case *c = add(list, name, 2, (const int64_t[]){rows, columns}, 1);
    /* exp within 6 units in the last place, in numerator and denominator; the sum; the division */
    c->relative = (12 + 12 + roundings(list, columns) + 2) * 0x1p-24;
    int x = ir_load(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES));
    int e = ir_unary(&c->g, WK__EXP, ir_binary(&c->g, WK__SUB, x, ir_unary(&c->g, WK__RMAX, x)));
    int y = ir_binary(&c->g, WK__DIV, e, ir_unary(&c->g, WK__RSUM, e));
    ir_store(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES), y);
}

/* y = (x - mean) / sqrt(variance + eps) * w + b, overwriting x; also stores mean and 1 / deviation, and adds the mean
 * to another operand in place. */
static void add_layer_norm(gpu_cases *list, int64_t rows, int64_t columns)
{
    char name[64];
    snprintf(name, sizeof name, "layer norm %lld x %lld", (long long)rows, (long long)columns);
    group_case *c = add(list, name, 2, (const int64_t[]){rows, columns}, 1);
    wk__program *g = &c->g;
    /* As for the CPU (tests/backend/cpu/vm_rows.c), for a deviation of at least 1/2. */
    double sum = roundings(list, columns), mean_off = 2 * sum + 12, s = 0.5;
    c->relative = (mean_off / s + sum / 2 + 10) * 0x1p-24;
    c->absolute = 2 * mean_off / s * 0x1p-24;
    int in_place = group_case_dense(c, WK_F32, false, FILL_ONES), kept = group_case_dense(c, WK_F32, true, FILL_ONES);
    int x = ir_load(g, in_place), before = ir_load(g, kept);
    int weight = ir_load(g, group_case_operand(c, WK_F32, L(0, 1), FILL_ONES, 0));
    int n = ir_imm(g, WK_F32, (wk__imm){.f = (double)columns}), eps = ir_imm(g, WK_F32, (wk__imm){.f = 1e-5});
    int mean = ir_binary(g, WK__DIV, ir_unary(g, WK__RSUM, x), n);
    int off = ir_binary(g, WK__SUB, x, mean);
    int variance = ir_binary(g, WK__DIV, ir_unary(g, WK__RSUM, ir_binary(g, WK__MUL, off, off)), n);
    int scale = ir_unary(g, WK__RSQRT, ir_binary(g, WK__ADD, variance, eps));
    ir_store(g, in_place, ir_binary(g, WK__MUL, ir_binary(g, WK__MUL, off, scale), weight));
    ir_store(g, kept, ir_binary(g, WK__ADD, before, mean));
    ir_store(g, group_case_dense(c, WK_F32, true, FILL_ONES), scale);
}

static const int64_t row_lengths[] = {7, 300, 20000}; /* one item per row, one work-group per row, chunks */

void gpu_softmaxes(gpu_cases *list)
{
    for (int k = 0; k < 3; k++) add_softmax(list, 3, row_lengths[k]);
}

void gpu_several_passes(gpu_cases *list)
{
    gpu_softmaxes(list);
    for (int k = 0; k < 3; k++) add_layer_norm(list, 3, row_lengths[k]);
    add_softmax(list, 100, 20000); /* too many rows for chunks */
}

/* Position (IOTA), a reduction of a value that is constant in the row, and a row's value used in the row. */
void gpu_positions_and_rows(gpu_cases *list)
{
    static const int64_t columns[] = {5, 600, 17000};
    for (int k = 0; k < 3; k++) {
        group_case *c = add(list, "positions", 2, (const int64_t[]){4, columns[k]}, 1);
        wk__program *g = &c->g;
        int position = ir_ins(g, WK__IOTA, WK_I64, 0, 0, 0), most = ir_unary(g, WK__RMAX, position);
        int row = ir_load(g, group_case_dense(c, WK_I64, true, FILL_POSITIVE));
        int sum = ir_unary(g, WK__RSUM, ir_binary(g, WK__MUL, row, ir_imm(g, WK_I64, (wk__imm){.i = 3})));
        ir_store(g, group_case_dense(c, WK_I64, true, FILL_ONES), ir_binary(g, WK__SUB, most, sum));
        ir_store(g, group_case_dense(c, WK_I64, false, FILL_ONES), ir_binary(g, WK__SUB, position, sum));
    }
}

/* More instructions and operands than fit into an argument struct passed by value. */
void gpu_many_arguments(gpu_cases *list)
{
    group_case *c = add(list, "many arguments", 4, L(2, 3, 4, 5), 0);
    wk__program *g = &c->g;
    int sum = ir_imm(g, WK_F32, (wk__imm){.f = 0.5});
    for (int k = 0; k < WK__MAX_OPERANDS - 1; k++) {
        int x = ir_load(g, group_case_operand(c, WK_F32, L(300, 90, 20, 2), FILL_ONES, 0));
        sum = ir_binary(g, WK__ADD, sum, k < 20 ? ir_binary(g, WK__MUL, x, ir_imm(g, WK_F32, (wk__imm){.f = k})) : x);
    }
    ir_store(g, group_case_dense(c, WK_F32, false, FILL_ONES), sum);
}
