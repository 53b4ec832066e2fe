/* SPDX-License-Identifier: Apache-2.0 */
/* Indexed loads and positions: LOADX and IOTA in every traversal, and indices out of range. */
#include "vm_test.h"

#include "base/pool.h"

#include <stdio.h>

/* out[.., c] = table[index[..], c] and similar: strides of the table over the space, and between indices. */
typedef struct lookup {
    int ndim;
    int64_t shape[3], index_stride[3], table_stride[3], step, bound;
} lookup;

static const lookup lookups[] = {
    {1, {300}, {1}, {0}, 1, 50}, /* take */
    {1, {300}, {-1}, {0}, 3, 50},
    {2, {20, 300}, {1, 0}, {0, 1}, 300, 37}, /* rows of an embedding */
    {2, {100, 5}, {1, 0}, {0, 1}, 5, 37},    /* short rows */
    {2, {30, 70}, {70, 1}, {9, 0}, 1, 9},    /* gather along the last dimension */
    {2, {70, 30}, {30, 1}, {0, 1}, 30, 11},  /* ... and along the first */
    {3, {5, 7, 11}, {77, 11, 1}, {130, 0, 1}, 13, 10},
    {3, {4, 1, 3}, {3, 0, 1}, {0, 1, 2}, 8, 1},
    {2, {0, 3}, {3, 1}, {0, 1}, 3, 5},
};
enum { LOOKUPS = sizeof lookups / sizeof *lookups };

static group_case *new_lookup(int n, wk_dtype dtype, int *index)
{
    const lookup *l = &lookups[n];
    char name[64];
    snprintf(name, sizeof name, "lookup %d of %s", n, wk_dtype_str(dtype));
    group_case *c = group_case_new(name, l->ndim, l->shape, 0);
    *index = group_case_operand(c, WK_I64, l->index_stride, FILL_ONES, 0);
    group_case_index(c, *index, -l->bound, l->bound);
    int table = group_case_operand(c, dtype, l->table_stride, FILL_WIDE, (l->bound - 1) * l->step);
    c->g.imm[0].i = l->bound;
    c->g.imm[1].i = l->step;
    c->g.nimms = 2;
    int r = ir_ins(&c->g, WK__LOADX, dtype, ir_load(&c->g, *index), table, 0);
    ir_store(&c->g, group_case_dense(c, dtype, false, FILL_ONES), r);
    return c;
}

static void every_lookup(void **state)
{
    (void)state;
    for (int n = 0; n < LOOKUPS; n++) {
        for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
            int index;
            vm_check(new_lookup(n, (wk_dtype)dtype, &index));
        }
    }
}

/* Indices out of range: 0 is stored, other elements are correct, and the fault has the index and its operand. */
static void out_of_range(void **state)
{
    (void)state;
    for (int n = 0; n < LOOKUPS - 1; n++) {
        for (int k = 0; k < 4; k++) {
            static const double far[] = {0, 1, 1e15, -1e15};
            int index;
            group_case *c = new_lookup(n, k % 2 ? WK_BF16 : WK_F64, &index);
            int64_t bound = lookups[n].bound;
            double bad = k < 2 ? (k ? -(double)bound - 1 : (double)bound) : far[k];
            group_case_set(c, index, 0, bad);
            wk__fail fail;
            assert_int_equal(group_case_run(c, vm_backend(), vm_device, &fail), WK_ERR_INDEX);
            assert_int_equal(fail.index, (int64_t)bad);
            assert_int_equal(fail.bound, bound);
            assert_int_equal(fail.tag, c->g.tag);
            vm_check(c);
        }
    }
}

/* With a bound of -n, negative indices are out of range, and reported unchanged. */
static void negative_indices_out_of_range(void **state)
{
    (void)state;
    for (int n = 0; n < LOOKUPS - 1; n++) {
        int index;
        group_case *c = new_lookup(n, WK_F32, &index);
        const int64_t bound = lookups[n].bound;
        c->g.imm[0].i = -bound;
        group_case_index(c, index, 0, bound);
        vm_check(c);
        c = new_lookup(n, WK_F32, &index);
        c->g.imm[0].i = -bound;
        group_case_index(c, index, 0, bound);
        group_case_set(c, index, 0, -1);
        wk__fail fail;
        assert_int_equal(group_case_run(c, vm_backend(), vm_device, &fail), WK_ERR_INDEX);
        assert_int_equal(fail.index, -1);
        assert_int_equal(fail.bound, bound);
        vm_check(c);
    }
}

/* Of many bad indices the first one is reported, with any number of threads: the last piece of work is short, and
 * finishes earlier. */
static void first_bad_index_is_reported(void **state)
{
    (void)state;
    const int64_t n = 32768 + 64;
    const int threads = wk__thread_count();
    wk__set_thread_count(4);
    for (int rows = 0; rows < 2; rows++) {
        group_case *c = group_case_new("many bad ones", 1 + rows, (const int64_t[]){rows ? n / 64 : n, 64}, rows);
        int index = group_case_dense(c, WK_I64, false, FILL_ONES);
        group_case_index(c, index, 0, 9);
        int table = group_case_operand(c, WK_F32, (const int64_t[]){0, 0}, FILL_ONES, 8);
        c->g.imm[0].i = 9;
        c->g.imm[1].i = 1;
        c->g.nimms = 2;
        int x = ir_ins(&c->g, WK__LOADX, WK_F32, ir_load(&c->g, index), table, 0);
        if (rows) x = ir_ins(&c->g, WK__RSUM, WK_F32, x, 0, 0);
        ir_store(&c->g, group_case_dense(c, WK_F32, rows, FILL_ONES), x);
        for (int64_t k = 1234; k < n; k += 7) group_case_set(c, index, k, 1000 + (double)k);
        for (int round = 0; round < 10; round++) {
            wk__fail fail;
            assert_int_equal(group_case_run(c, vm_backend(), vm_device, &fail), WK_ERR_INDEX);
            assert_int_equal(fail.index, 2234);
        }
        group_case_free(c);
    }
    wk__set_thread_count(threads);
}

/* In a sum over the columns: lanes are columns or rows. */
static void lookups_in_rows(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{3, 500}, {300, 3}, {70, 70}, {1, 5000}};
    for (int k = 0; k < 8; k++) {
        const int64_t *shape = shapes[k / 2];
        group_case *c = group_case_new("rows", 2, shape, 1);
        int64_t by_rows[] = {shape[1], 1}, by_columns[] = {1, shape[0]};
        int index = group_case_operand(c, WK_I64, k % 2 ? by_rows : by_columns, FILL_ONES, 0);
        group_case_index(c, index, -40, 40);
        int table = group_case_operand(c, WK_I64, (int64_t[]){0, 0}, FILL_ONES, 39);
        c->g.imm[0].i = 40;
        c->g.imm[1].i = 1;
        c->g.nimms = 2;
        int r = ir_ins(&c->g, WK__LOADX, WK_I64, ir_load(&c->g, index), table, 0);
        int position = ir_ins(&c->g, WK__IOTA, WK_I64, 0, 0, 0);
        int sum = ir_unary(&c->g, WK__RSUM, ir_binary(&c->g, WK__MUL, r, position));
        ir_store(&c->g, group_case_dense(c, WK_I64, true, FILL_ONES), sum);
        ir_store(&c->g, group_case_dense(c, WK_I64, false, FILL_ONES), ir_binary(&c->g, WK__SUB, position, sum));
        vm_check(c);
    }
}

static void positions(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1}, {3, 4, 5}, {2, 100, 70}, {7, 1, 300}};
    for (int k = 0; k < 8; k++) {
        const int64_t *shape = shapes[k / 2];
        group_case *c = group_case_new("positions", 3, shape, 0);
        int64_t turned[] = {1, shape[0], shape[0] * shape[1]};
        int out =
            k % 2 ? group_case_operand(c, WK_I64, turned, FILL_ONES, 0) : group_case_dense(c, WK_I64, false, FILL_ONES);
        ir_store(&c->g, out, ir_ins(&c->g, WK__IOTA, WK_I64, 0, 0, 0));
        vm_check(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_lookup),
        cmocka_unit_test(out_of_range),
        cmocka_unit_test(negative_indices_out_of_range),
        cmocka_unit_test(first_bad_index_is_reported),
        cmocka_unit_test(lookups_in_rows),
        cmocka_unit_test(positions),
    };
    return cmocka_run_group_tests(tests, vm_open, vm_close);
}
