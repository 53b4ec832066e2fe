/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that reduce: kinds, classes and layouts; several passes; the order of sums, which depends only on the number
 * of columns. */
#include "vm_test.h"

#include <math.h>
#include <stdio.h>

#include "backend/cpu/vm/program_cache.h"
#include "backend/cpu/vm/reduce.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "support/work.h"

static const wk__opcode kinds[] = {WK__RSUM, WK__RPROD, WK__RMAX, WK__RMIN};
static const wk_dtype classes[] = {WK_F32, WK_F64, WK_I32, WK_I64};

/* A space with `kept` and `reduced` dimensions (0: none), and the strides of the reduced operand over it. */
typedef struct layout {
    int ndim, nreduce;
    int64_t shape[4], stride[4];
} layout;

static const layout layouts[] = {
    {1, 1, {1}, {1}},
    {1, 1, {7}, {1}},
    {1, 1, {1000}, {1}},
    {1, 1, {1000}, {-2}},
    {1, 1, {100003}, {1}},    /* more than a segment */
    {2, 1, {5, 0}, {0, 1}},   /* no columns */
    {2, 1, {0, 5}, {5, 1}},   /* no rows */
    {2, 1, {3, 64}, {64, 1}}, /* inner */
    {2, 1, {100, 3}, {3, 1}}, /* short rows */
    {2, 1, {65, 130}, {130, 1}},
    {2, 1, {7, 5000}, {5000, 1}}, /* more than a chunk */
    {2, 1, {100, 50}, {1, 100}},  /* outer: neighbouring rows */
    {2, 1, {300, 2500}, {1, 300}},
    {2, 1, {3, 70000}, {1, 3}},
    {2, 1, {130, 33}, {1, 0}},          /* the same column repeated */
    {3, 1, {4, 6, 50}, {300, 1, 6}},    /* middle */
    {3, 2, {40, 5, 30}, {30, 1200, 1}}, /* first and last */
    {3, 2, {3, 70, 9}, {1, 27, 3}},
    {3, 3, {5, 6, 7}, {42, 7, 1}}, /* all */
    {3, 2, {2, 100, 700}, {1, 1400, 2}},
    {4, 2, {3, 17, 5, 9}, {9, 135, 27, 1}},
    {3, 1, {9, 11, 1}, {11, 1, 0}},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* Returns a fill for which the result does not depend on the order. */
static group_fill exact(wk__opcode kind)
{
    return kind == WK__RPROD ? FILL_PRODUCT : FILL_SUM;
}

/* Returns the unit roundoff. */
static double unit(wk_dtype dtype)
{
    return dtype == WK_F64 ? 0x1p-53 : 0x1p-24;
}

/* Returns the number of roundings of an element in a sum of n, as in reduce.h for 64 lanes, and one for the reference.
 * The error of the sum is at most that many unit roundoffs times the sum of magnitudes. */
static double roundings(int64_t n)
{
    double chunk = n < WK__SUM_CHUNK ? ceil((double)n / 64) : WK__SUM_CHUNK / 64;
    return chunk + fmin(ceil((double)n / WK__SUM_CHUNK), 16) + 6 + 1;
}

static group_case *new_rows(const char *what, const layout *l, int k)
{
    char name[64];
    snprintf(name, sizeof name, "%s, layout %d, %d", what, (int)(l - layouts), k);
    return group_case_new(name, l->ndim, l->shape, l->nreduce);
}

static void every_kind(void **state)
{
    (void)state;
    for (int n = 0; n < LAYOUTS; n++) {
        for (int k = 0; k < 16; k++) {
            wk_dtype dtype = classes[k / 4];
            wk__opcode kind = kinds[k % 4];
            group_case *c = new_rows("kind", &layouts[n], k);
            int in = group_case_operand(c, dtype, layouts[n].stride, exact(kind), 0);
            ir_store(&c->g, group_case_dense(c, dtype, true, FILL_ONES), ir_unary(&c->g, kind, ir_load(&c->g, in)));
            vm_check(c);
        }
    }
}

/* A NaN makes a maximum, minimum or sum NaN, at any position. */
static void not_a_number(void **state)
{
    (void)state;
    for (int n = 0; n < LAYOUTS; n++) {
        for (int k = 0; k < 4; k++) {
            group_case *c = new_rows("NaN", &layouts[n], k);
            int in = group_case_operand(c, WK_F32, layouts[n].stride, exact(kinds[k]), 0);
            for (int64_t e = 0; e < c->elements[in]; e += 701) group_reference_put(WK_F32, c->data[in], e, (double)NAN);
            ir_store(&c->g, group_case_dense(c, WK_F32, true, FILL_ONES),
                     ir_unary(&c->g, kinds[k], ir_load(&c->g, in)));
            vm_check(c);
        }
    }
}

/* ---- programs with several passes -------------------------------------------------------------------------------- */

static int cast(group_case *c, int r, wk_dtype dtype)
{
    return c->g.ins[r].dtype == dtype ? r : ir_ins(&c->g, WK__CAST, dtype, r, 0, 0);
}

/* softmax(x), written to an operand with the layout of x. */
static void add_softmax(group_case *c, const layout *l, wk_dtype dtype)
{
    int x = ir_load(&c->g, group_case_operand(c, dtype, l->stride, FILL_ONES, 0));
    x = cast(c, x, wk__compute_class(dtype));
    int most = ir_unary(&c->g, WK__RMAX, x);
    int e = ir_unary(&c->g, WK__EXP, ir_binary(&c->g, WK__SUB, x, most));
    int y = ir_binary(&c->g, WK__DIV, e, ir_unary(&c->g, WK__RSUM, e));
    ir_store(&c->g, group_case_dense(c, dtype, false, FILL_ONES), cast(c, y, dtype));
}

/* Layer norm with a weight along the columns and the values for backward: mean and 1 / deviation per row. */
static void add_layer_norm(group_case *c, const layout *l, wk_dtype dtype)
{
    int64_t columns = wk__program_columns(&c->g), weight_stride[WK__MAX_DIMS] = {0}, step = 1;
    for (int d = l->ndim - 1; d >= l->ndim - l->nreduce; d--) {
        weight_stride[d] = step;
        step *= l->shape[d];
    }
    int x = ir_load(&c->g, group_case_operand(c, dtype, l->stride, FILL_ONES, 0));
    int part = ir_imm(&c->g, dtype, (wk__imm){.f = 1 / (double)(columns ? columns : 1)});
    int mean = ir_binary(&c->g, WK__MUL, ir_unary(&c->g, WK__RSUM, x), part);
    int d = ir_binary(&c->g, WK__SUB, x, mean);
    int variance = ir_binary(&c->g, WK__MUL, ir_unary(&c->g, WK__RSUM, ir_binary(&c->g, WK__MUL, d, d)), part);
    int deviation =
        ir_unary(&c->g, WK__RSQRT, ir_binary(&c->g, WK__ADD, variance, ir_imm(&c->g, dtype, (wk__imm){.f = 1e-5})));
    int w = ir_load(&c->g, group_case_operand(c, dtype, weight_stride, FILL_ONES, 0));
    int y = ir_binary(&c->g, WK__MUL, ir_binary(&c->g, WK__MUL, d, deviation), w);
    ir_store(&c->g, group_case_dense(c, dtype, false, FILL_ONES), y);
    ir_store(&c->g, group_case_dense(c, dtype, true, FILL_ONES), mean);
    ir_store(&c->g, group_case_dense(c, dtype, true, FILL_ONES), deviation);
}

/* Softmax: exp is within 3 units in the last place, that is 6 roundings, in numerator and denominator; then the sum of
 * positive values and the division, whose results may be rounded in opposite directions. A result in bf16 may be off by
 * one. */
static void bound_softmax(group_case *c, wk_dtype dtype)
{
    c->relative = (6 + 6 + roundings(wk__program_columns(&c->g)) + 2) * unit(dtype) + (dtype == WK_BF16 ? 0x1p-7 : 0);
}

/* Layer norm of values up to 2: the mean is off by `mean`, and so is x - mean; the weight of 2 and the deviation s turn
 * this into 2 mean / s. The variance is off by 2 mean / s and its sum, the root by half of that. s is at least 1.15,
 * for rows of three 1/16. */
static void bound_layer_norm(group_case *c, wk_dtype dtype)
{
    double sum = roundings(wk__program_columns(&c->g)), mean = 2 * sum + 12,
           s = wk__program_columns(&c->g) < 33 ? 0x1p-4 : 1;
    c->relative = (mean / s + sum / 2 + 10) * unit(dtype);
    c->absolute = 2 * mean / s * unit(dtype);
}

static void passes(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_BF16};
    for (int n = 0; n < LAYOUTS; n++) {
        for (int k = 0; k < 5; k++) {
            group_case *c = new_rows("passes", &layouts[n], k);
            if (layouts[n].stride[1] == 0 || (k > 2 && wk__program_columns(&c->g) < 3)) {
                group_case_free(c); /* equal columns, or a variance that is only rounding error */
                continue;
            }
            wk_dtype dtype = dtypes[k % 3];
            if (k < 3) {
                bound_softmax(c, dtype);
                add_softmax(c, &layouts[n], dtype);
            } else {
                bound_layer_norm(c, dtype);
                add_layer_norm(c, &layouts[n], dtype);
            }
            vm_check(c);
        }
    }
}

/* x is overwritten in the pass that could still load it again, and a value of each row is added to all elements of the
 * row. Integers: the order of summation does not affect the result. */
static void in_place(void **state)
{
    (void)state;
    for (int n = 0; n < LAYOUTS; n++) {
        group_case *c = new_rows("in place", &layouts[n], 0);
        if (layouts[n].stride[1] == 0) {
            group_case_free(c);
            continue;
        }
        int x = group_case_operand(c, WK_F32, layouts[n].stride, FILL_SUM, 0);
        int old = ir_load(&c->g, x);
        int twice = ir_binary(&c->g, WK__MUL, old, ir_imm(&c->g, WK_F32, (wk__imm){.f = 2}));
        ir_store(&c->g, x, twice);
        int sum = ir_unary(&c->g, WK__RSUM, twice);
        int row = ir_load(&c->g, group_case_dense(c, WK_F32, true, FILL_SUM));
        int y = ir_binary(&c->g, WK__ADD, ir_binary(&c->g, WK__SUB, old, sum), row);
        ir_store(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES), y);
        vm_check(c);
    }
}

/* ---- cache of prepared programs ---------------------------------------------------------------------------------- */

/* y = 2 x and z = x - sum(x); with over, y is stored over x, which z must load before that. */
static wk__program *doubled_rows(wk__program *g, int64_t columns, wk__memory memory[3], bool over)
{
    ir_space(g, 2, (const int64_t[]){4, columns}, 1);
    const int x = ir_dense(g, WK_F32, false), y = ir_dense(g, WK_F32, false), z = ir_dense(g, WK_F32, false);
    const int old = ir_load(g, x), sum = ir_unary(g, WK__RSUM, old);
    const int twice = ir_binary(g, WK__ADD, old, old), rest = ir_binary(g, WK__SUB, old, sum);
    ir_store(g, y, twice);
    ir_store(g, z, rest);
    for (int o = 0; o < 3; o++) g->operand[o].memory = &memory[over && o == y ? x : o];
    return g;
}

/* The instructions are the same, but not the point at which y is stored. */
static void cache_key_has_shared_memory(void **state)
{
    (void)state;
    enum { LENGTH = 300 };
    wk__program g;
    wk__memory memory[3];
    wk__fail fail;
    static float x[4 * LENGTH], got[4 * LENGTH];
    for (int k = 0; k < 4 * LENGTH; k++) x[k] = 1;
    for (int o = 0; o < 3; o++)
        assert_int_equal(vm_backend()->block_alloc(vm_device, sizeof x, &memory[o], &fail), WK_OK);
    for (int over = 0; over < 2; over++) {
        assert_int_equal(vm_backend()->upload(vm_device, &memory[0], 0, x, sizeof x, &fail), WK_OK);
        doubled_rows(&g, LENGTH, memory, over);
        if (submit_program(vm_backend(), vm_device, &g, &fail) != WK_OK) fail_msg("%s", fail.text);
        assert_int_equal(vm_backend()->download(vm_device, got, &memory[2], 0, sizeof got, &fail), WK_OK);
        for (int k = 0; k < 4 * LENGTH; k++) assert_true(got[k] == 1 - LENGTH);
        assert_int_equal(vm_backend()->download(vm_device, got, &memory[over ? 0 : 1], 0, sizeof got, &fail), WK_OK);
        for (int k = 0; k < 4 * LENGTH; k++) assert_true(got[k] == 2);
    }
    for (int o = 0; o < 3; o++) vm_backend()->block_free(vm_device, &memory[o]);
}

/* A debug build detects dependence on anything outside the cache key: here on which operands are constant in a row, for
 * which the layout of another program is passed. */
static void debug_build_compares_cached_programs(void **state)
{
    (void)state;
    wk__program g;
    wk__cpu_program own;
    wk__cpu_layout layout;
    wk__memory memory[3] = {{.block = &memory[0]}, {.block = &memory[1]}, {.block = &memory[2]}};
    const wk__cpu_style style = {0};
    wk__fail fail;
    wk__cpu_layout_init(&layout, doubled_rows(&g, 7, memory, false));
    const wk__cpu_program *first = wk__cpu_program_acquire(&own, &g, &layout, &style, &fail);
    assert_true(first && first != &own);
    assert_ptr_equal(wk__cpu_program_acquire(&own, &g, &layout, &style, &fail), first);
    g.operand[0].stride[1] = 0;
    const wk__cpu_program *second = wk__cpu_program_acquire(&own, &g, &layout, &style, &fail);
#ifdef WICK_CHECK_PLANS
    assert_null(second);
    assert_int_equal(fail.code, WK_ERR_INTERNAL);
    assert_non_null(strstr(fail.text, "wrong plan (cache)"));
#else
    assert_ptr_equal(second, first);
#endif
}

/* ---- bits -------------------------------------------------------------------------------------------------------- */

enum { ROWS = 70, COLUMNS = 5003 };

/* Runs sum and softmax of a matrix stored by rows or by columns, with or without padding; *out receives the results by
 * rows. */
static void run_layout(const float *x, int64_t row, int64_t column, int64_t columns, bool fused, float *out,
                       float *sums)
{
    group_case *c = group_case_new("bits", 2, (int64_t[]){ROWS, columns}, 1);
    int in = group_case_operand(c, WK_F32, (int64_t[]){row, column}, FILL_ONES, 0);
    for (int64_t k = 0; k < ROWS * columns; k++) {
        group_case_set(c, in, k / columns * row + k % columns * column, (double)x[k]);
    }
    int r = ir_load(&c->g, in);
    if (fused) r = ir_binary(&c->g, WK__MUL, r, ir_imm(&c->g, WK_F32, (wk__imm){.f = 1}));
    int most = ir_unary(&c->g, WK__RMAX, r);
    int e = ir_unary(&c->g, WK__EXP, ir_binary(&c->g, WK__SUB, r, most));
    int sum = ir_unary(&c->g, WK__RSUM, e);
    int to = group_case_dense(c, WK_F32, false, FILL_ONES), rows = group_case_dense(c, WK_F32, true, FILL_ONES);
    ir_store(&c->g, to, ir_binary(&c->g, WK__DIV, e, sum));
    ir_store(&c->g, rows, ir_binary(&c->g, WK__ADD, sum, ir_unary(&c->g, WK__RSUM, r)));
    wk__fail fail;
    assert_int_equal(group_case_run(c, vm_backend(), vm_device, &fail), WK_OK);
    memcpy(out, c->memory[to].host + group_case_origin(c, to) * 4, (size_t)(ROWS * columns) * 4);
    memcpy(sums, c->memory[rows].host + group_case_origin(c, rows) * 4, ROWS * 4);
    for (int k = 0; k < c->g.noperands; k++) vm_backend()->block_free(vm_device, &c->memory[k]);
    group_case_free(c);
}

static void same_bits(void **state)
{
    (void)state;
    static float x[ROWS * COLUMNS], want[ROWS * COLUMNS], got[ROWS * COLUMNS], want_sums[ROWS], got_sums[ROWS];
    const wk__cpu_isa *isa, *before = wk__cpu_isa_current();
    int threads = wk__thread_count();
    static const int64_t columns[] = {1, 2, 3, 15, 16, 17, 63, 64, 65, 100, 130, 2047, 2048, 2049, COLUMNS};
    for (int64_t k = 0; k < ROWS * COLUMNS; k++) x[k] = (float)((double)(group_case_random() >> 11) * 0x1p-53 * 4 - 2);
    for (int k = 0; (isa = vm_isa_at(k)) != NULL; k++) {
        wk__cpu_isa_use(isa);
        for (size_t n = 0; n < sizeof columns / sizeof *columns; n++) {
            int64_t m = columns[n];
            wk__set_thread_count(1);
            run_layout(x, m, 1, m, false, want, want_sums);
            for (int way = 0; way < 8; way++) {
                static const int64_t padding[] = {0, 0, 5, 5};
                bool by_columns = way & 1;
                int64_t pad = padding[way / 2];
                wk__set_thread_count(way & 2 ? 4 : 1);
                run_layout(x, by_columns ? 1 : m + pad, by_columns ? ROWS + pad : 1, m, way >= 4, got, got_sums);
                assert_memory_equal(got, want, (size_t)(ROWS * m) * 4);
                assert_memory_equal(got_sums, want_sums, sizeof want_sums);
            }
        }
    }
    wk__cpu_isa_use(before);
    wk__set_thread_count(threads);
}

/* A long row, by one thread, or in segments by several. */
static void same_bits_split(void **state)
{
    (void)state;
    enum { N = 300007 };
    const wk__cpu_isa *isa, *before = wk__cpu_isa_current();
    int threads = wk__thread_count();
    for (int k = 0; (isa = vm_isa_at(k)) != NULL; k++) {
        wk__cpu_isa_use(isa);
        for (int rows = 1; rows <= 3; rows += 2) {
            float want[2][3];
            for (int t = 0; t < 2; t++) {
                wk__fail fail;
                group_case_seed(5);
                group_case *c = group_case_new("split", 2, (int64_t[]){rows, N}, 1);
                int r = ir_load(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES));
                int sum = ir_unary(&c->g, WK__RSUM, r);
                int mean = ir_binary(&c->g, WK__MUL, sum, ir_imm(&c->g, WK_F32, (wk__imm){.f = 1.0 / N}));
                int d = ir_binary(&c->g, WK__SUB, r, mean);
                int variance = ir_unary(&c->g, WK__RSUM, ir_binary(&c->g, WK__MUL, d, d));
                int out = group_case_dense(c, WK_F32, true, FILL_ONES);
                ir_store(&c->g, out, ir_binary(&c->g, WK__ADD, variance, sum));
                wk__set_thread_count(t ? 4 : 1);
                assert_int_equal(group_case_run(c, vm_backend(), vm_device, &fail), WK_OK);
                memcpy(want[t], c->memory[out].host + group_case_origin(c, out) * 4, (size_t)rows * 4);
                /* the squares are positive, each rounded twice on both sides; the sum of the values has magnitudes of
                 * 3/4 of the squares'. An error of the mean counts only in its square, twice. */
                c->relative = (roundings(N) + 4 + 0.75 * roundings(N)) * 0x1p-24;
                assert_null(group_case_check(c, vm_backend(), vm_device));
                group_case_free(c);
            }
            assert_memory_equal(want[0], want[1], (size_t)rows * 4);
        }
    }
    wk__cpu_isa_use(before);
    wk__set_thread_count(threads);
}

/* The sum of 2^24 ones is 2^24, the limit of a running sum in f32; a running sum of 10^7 times 0.1 is off by 9 %. */
static void accuracy(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        int64_t n = k ? 10000000 : 16777216;
        group_case *c = group_case_new("accuracy", 1, &n, 1);
        int in = group_case_operand(c, WK_F32, (int64_t[]){0}, FILL_ONES, 0);
        group_case_set(c, in, 0, k ? (double)0.1f : 1);
        ir_store(&c->g, group_case_dense(c, WK_F32, true, FILL_ONES), ir_unary(&c->g, WK__RSUM, ir_load(&c->g, in)));
        c->relative = k ? roundings(n) * 0x1p-24 : 0;
        vm_check(c);
    }
}

/* Each allocation fails in turn: an error, no crash, and the next run is correct. */
static void failed_allocations(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{3, 5000}, {1, 100000}, {100, 70}, {300, 3}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        group_case *c = group_case_new("memory", 2, shapes[k], 1);
        c->absolute = (14 + roundings(shapes[k][1]) + 90 * 2 * 5) * 0x1p-24; /* softmax, then 90 sums of at most 5 */
        int r = ir_load(&c->g, group_case_dense(c, WK_F32, false, FILL_POSITIVE));
        int most = ir_unary(&c->g, WK__RMAX, r), e = ir_unary(&c->g, WK__EXP, ir_binary(&c->g, WK__SUB, r, most));
        int y = ir_binary(&c->g, WK__DIV, e, ir_unary(&c->g, WK__RSUM, e));
        while (c->g.nins < 90) y = ir_binary(&c->g, c->g.nins % 2 ? WK__ADD : WK__SUB, y, r); /* a long program */
        ir_store(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES), y);
        wk__fail fail;
        assert_int_equal(group_case_run(c, vm_backend(), vm_device, &fail), WK_OK);
        wk_code code = WK_ERR_MEMORY;
        for (int64_t n = 1; code != WK_OK || n < 8; n++) {
            wk__alloc_fail_at(n);
            code = submit_program(vm_backend(), vm_device, &c->g, &fail);
            wk__alloc_fail_at(0);
            assert_true(code == WK_OK || code == WK_ERR_MEMORY);
        }
        assert_null(group_case_check(c, vm_backend(), vm_device));
        group_case_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* first, while the cache has free slots */
        cmocka_unit_test(cache_key_has_shared_memory),
        cmocka_unit_test(debug_build_compares_cached_programs),
        cmocka_unit_test(every_kind),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(passes),
        cmocka_unit_test(in_place),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(same_bits_split),
        cmocka_unit_test(accuracy),
        cmocka_unit_test(failed_allocations),
    };
    vm_one_in = 4;
    return cmocka_run_group_tests(tests, vm_open, vm_close);
}
