/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: layouts of elementwise groups, reductions in all walks over a row, several passes, values that belong to
 * rows. */
#include "opencl_test.h"

#include "../src/backend/opencl/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 512 };

static group_case *cases[MOST];
static int count;

static group_case *add(const char *name, int ndim, const int64_t *shape, int nreduce)
{
    group_case *c = group_case_new(name, ndim, shape, nreduce);
    assert_true(count < MOST);
    cases[count++] = c;
    return c;
}

static void run(void)
{
    int all = count;
    count = 0;
    opencl_run_all(cases, all);
}

/* out = a * b + 1 with the given strides */
static void add_layout(const char *name, int ndim, const int64_t *shape, const int64_t *a, const int64_t *b,
                       const int64_t *out)
{
    group_case *c = add(name, ndim, shape, 0);
    int x = ir_load(&c->g, group_case_operand(c, WK_F32, a, FILL_ONES, 0));
    int y = ir_load(&c->g, group_case_operand(c, WK_F32, b, FILL_ONES, 0));
    int one = ir_imm(&c->g, WK_F32, (wk__imm){.f = 1});
    int r = ir_binary(&c->g, WK__ADD, ir_binary(&c->g, WK__MUL, x, y), one);
    ir_store(&c->g, group_case_operand(c, WK_F32, out, FILL_ONES, 0), r);
}

#define L(...) ((const int64_t[]){__VA_ARGS__})

static void layouts(void **state)
{
    (void)state;
    add_layout("no dimensions", 0, L(0), L(0), L(0), L(0));
    add_layout("one element", 1, L(1), L(1), L(1), L(1));
    add_layout("flat", 2, L(7, 9), L(9, 1), L(9, 1), L(9, 1));
    add_layout("scalar", 2, L(7, 9), L(9, 1), L(0, 0), L(9, 1));
    add_layout("row", 2, L(7, 9), L(9, 1), L(0, 1), L(9, 1));
    add_layout("column", 2, L(7, 9), L(9, 1), L(1, 0), L(9, 1));
    add_layout("transposed", 2, L(7, 9), L(1, 7), L(9, 1), L(9, 1));
    add_layout("gaps", 2, L(7, 9), L(40, 2), L(9, 1), L(33, 3));
    add_layout("backwards", 2, L(7, 9), L(-9, -1), L(9, 1), L(9, 1));
    add_layout("empty", 2, L(7, 0), L(9, 1), L(9, 1), L(9, 1));
    add_layout("eight dimensions", 8, L(2, 3, 2, 1, 2, 3, 2, 2), L(1, 2, 6, 12, 12, 24, 72, 144),
               L(144, 48, 24, 24, 12, 4, 2, 1), L(144, 48, 24, 24, 12, 4, 2, 1));
    add_layout("many", 1, L(100000), L(1), L(1), L(1));
    add_layout("channels last", 4, L(2, 3, 5, 7), L(105, 1, 21, 3), L(0, 1, 0, 0), L(105, 1, 21, 3));
    run();
}

/* Reduction `code` over the last `nreduce` dimensions of a dense or permuted operand, of numbers that no order of
 * reducing changes a bit of. */
static void add_reduction(int code, wk_dtype dtype, int ndim, const int64_t *shape, int nreduce, const int64_t *stride)
{
    char name[96];
    snprintf(name, sizeof name, "%s %s of %lld x %lld, %d reduced", wk__alu_name[code], wk_dtype_str(dtype),
             (long long)shape[0], (long long)shape[ndim - 1], nreduce);
    group_case *c = add(name, ndim, shape, nreduce);
    group_fill fill = code == WK__RPROD ? FILL_PRODUCT : FILL_SUM;
    int in = stride ? group_case_operand(c, dtype, stride, fill, 0) : group_case_dense(c, dtype, false, fill);
    int x = ir_load(&c->g, in);
    wk_dtype class = wk__class_of(dtype);
    int r = ir_ins(&c->g, (wk__alu)code, class, x, 0, 0);
    if (class != dtype) r = ir_ins(&c->g, WK__CAST, dtype, r, 0, 0);
    ir_store(&c->g, group_case_dense(c, dtype, true, FILL_ONES), r);
}

static void reductions(void **state)
{
    (void)state;
    static const int codes[] = {WK__RSUM, WK__RPROD, WK__RMAX, WK__RMIN};
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_I32, WK_I64, WK_F16, WK_BF16, WK_U8, WK_BOOL};
    for (int k = 0; k < 4; k++) {
        for (int t = 0; t < 8; t++) add_reduction(codes[k], dtypes[t], 2, L(5, 33), 1, NULL);
        add_reduction(codes[k], WK_F32, 2, L(5, 700), 1, NULL); /* a work-group a row */
        add_reduction(codes[k], WK_I64, 2, L(5, 700), 1, NULL);
        add_reduction(codes[k], WK_F32, 1, L(40000), 1, NULL); /* in chunks */
    }
    add_reduction(WK__RSUM, WK_F64, 2, L(2, 20000), 1, NULL);
    add_reduction(WK__RSUM, WK_F32, 2, L(1, 1), 1, NULL);
    add_reduction(WK__RSUM, WK_F32, 2, L(6, 0), 1, NULL);
    add_reduction(WK__RMAX, WK_F32, 2, L(6, 0), 1, NULL);
    add_reduction(WK__RMIN, WK_I32, 2, L(6, 0), 1, NULL);
    add_reduction(WK__RPROD, WK_I64, 2, L(0, 6), 1, NULL);
    add_reduction(WK__RSUM, WK_F32, 3, L(4, 5, 6), 2, L(1, 24, 4)); /* two dimensions that do not merge */
    add_reduction(WK__RSUM, WK_F32, 3, L(4, 30, 40), 2, L(1, 4, 120));
    add_reduction(WK__RSUM, WK_F32, 3, L(3, 200, 300), 2, L(1, 3, 600));
    add_reduction(WK__RSUM, WK_F32, 2, L(5000, 300), 1, L(1, 5000)); /* columns of a matrix: an item each */
    run();
}

/* How many roundings a number goes through in a sum of n: its item's share, the tree of the work-group, up to 3 chunks,
 * and the reference's own. */
static double roundings(int64_t n)
{
    int local = 1 << 20;
    for (int d = 0; d < opencl_devices; d++) {
        int of_this = ((const wk__cl_device *)opencl_device[d])->card->target.local;
        if (of_this < local) local = of_this;
    }
    return fmin((double)n, ceil((double)n / local) + log2(local)) + 3 + 1;
}

static void add_softmax(int64_t rows, int64_t columns)
{
    char name[64];
    snprintf(name, sizeof name, "softmax %lld x %lld", (long long)rows, (long long)columns);
    group_case *c = add(name, 2, (const int64_t[]){rows, columns}, 1);
    /* exp, within 6 units of the last place, above and below the line; the sum; the division */
    c->relative = (12 + 12 + roundings(columns) + 2) * 0x1p-24;
    int x = ir_load(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES));
    int e = ir_unary(&c->g, WK__EXP, ir_binary(&c->g, WK__SUB, x, ir_unary(&c->g, WK__RMAX, x)));
    int y = ir_binary(&c->g, WK__DIV, e, ir_unary(&c->g, WK__RSUM, e));
    ir_store(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES), y);
}

/* y = (x - mean) / sqrt(variance + eps) * w + b, x overwritten; mean and 1 / deviation kept, the mean also added in
 * place */
static void add_layer_norm(int64_t rows, int64_t columns)
{
    char name[64];
    snprintf(name, sizeof name, "layer norm %lld x %lld", (long long)rows, (long long)columns);
    group_case *c = add(name, 2, (const int64_t[]){rows, columns}, 1);
    wk__group *g = &c->g;
    /* As for the CPU (cpu_vm_rows.c), for a deviation of 1/2 at the least. */
    double sum = roundings(columns), mean_off = 2 * sum + 12, s = 0.5;
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

static void several_passes(void **state)
{
    (void)state;
    static const int64_t columns[] = {7, 300, 20000};
    for (int k = 0; k < 3; k++) {
        add_softmax(3, columns[k]);
        add_layer_norm(3, columns[k]);
    }
    add_softmax(100, 20000); /* too many rows for chunks */
    run();
}

/* The position, a reduction of what is the same in all columns, and a row's value used in the row. */
static void positions_and_rows(void **state)
{
    (void)state;
    static const int64_t columns[] = {5, 600, 17000};
    for (int k = 0; k < 3; k++) {
        group_case *c = add("positions", 2, (const int64_t[]){4, columns[k]}, 1);
        wk__group *g = &c->g;
        int position = ir_ins(g, WK__IOTA, WK_I64, 0, 0, 0), most = ir_unary(g, WK__RMAX, position);
        int row = ir_load(g, group_case_dense(c, WK_I64, true, FILL_POSITIVE));
        int sum = ir_unary(g, WK__RSUM, ir_binary(g, WK__MUL, row, ir_imm(g, WK_I64, (wk__imm){.i = 3})));
        ir_store(g, group_case_dense(c, WK_I64, true, FILL_ONES), ir_binary(g, WK__SUB, most, sum));
        ir_store(g, group_case_dense(c, WK_I64, false, FILL_ONES), ir_binary(g, WK__SUB, position, sum));
    }
    run();
}

/* More instructions and operands than fit in a struct of arguments by value. */
static void many_arguments(void **state)
{
    (void)state;
    group_case *c = add("many arguments", 4, L(2, 3, 4, 5), 0);
    wk__group *g = &c->g;
    int sum = ir_imm(g, WK_F32, (wk__imm){.f = 0.5});
    for (int k = 0; k < WK__MAX_OPERANDS - 1; k++) {
        int x = ir_load(g, group_case_operand(c, WK_F32, L(300, 90, 20, 2), FILL_ONES, 0));
        sum = ir_binary(g, WK__ADD, sum, k < 20 ? ir_binary(g, WK__MUL, x, ir_imm(g, WK_F32, (wk__imm){.f = k})) : x);
    }
    ir_store(g, group_case_dense(c, WK_F32, false, FILL_ONES), sum);
    run();
}

/* Not gathered: kernels of their own give the bits that merged ones give. */
static void one_at_a_time(void **state)
{
    (void)state;
    static const int64_t columns[] = {7, 300, 20000};
    for (int k = 0; k < 3; k++) {
        for (int d = 0; d < opencl_devices; d++) {
            add_softmax(3, columns[k]);
            wk__fail fail;
            if (group_case_run(cases[0], opencl, opencl_device[d], &fail) != WK_OK) fail_msg("%s", fail.text);
            const char *wrong = group_case_check(cases[0], opencl, opencl_device[d]);
            group_case_free(cases[0]);
            count = 0;
            if (wrong != NULL) fail_msg("%s", wrong);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),        cmocka_unit_test(reductions),
        cmocka_unit_test(several_passes), cmocka_unit_test(positions_and_rows),
        cmocka_unit_test(many_arguments), cmocka_unit_test(one_at_a_time),
    };
    return cmocka_run_group_tests(tests, opencl_open, opencl_close);
}
