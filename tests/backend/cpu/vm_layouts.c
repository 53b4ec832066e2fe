/* SPDX-License-Identifier: Apache-2.0 */
/* Spaces of every shape and operands of every layout must not change a program's results. The programs use exact
 * arithmetic, so every bit is compared, and the memory around operands as well. */
#include "vm_test.h"

#include <stdio.h>

#include "backend/cpu/vm/program.h"
#include "base/pool.h"

static int64_t below(int64_t n)
{
    return (int64_t)(group_case_random() % (uint64_t)n);
}

/* Draws the strides of a random layout: dimensions in any order, gaps, some reversed; with may_repeat, some of them
 * 0. */
static void random_strides(const int64_t shape[], int ndim, bool may_repeat, int64_t stride[])
{
    int order[WK__MAX_DIMS];
    bool shuffled = below(2), gaps = below(3) == 0, backwards = below(4) == 0, repeats = may_repeat && below(2);
    int64_t step = 1;
    for (int d = 0; d < ndim; d++) order[d] = d;
    for (int d = ndim - 1; d > 0 && shuffled; d--) {
        int64_t other = below(d + 1);
        int swap = order[d];
        order[d] = order[other];
        order[other] = swap;
    }
    for (int k = ndim - 1; k >= 0; k--) {
        int d = order[k];
        stride[d] = backwards && below(2) ? -step : step;
        step *= shape[d] > 0 ? shape[d] : 1;
        if (gaps) step += below(3);
        if (repeats && below(3) == 0) stride[d] = 0;
    }
}

static int random_operand(group_case *c, wk_dtype dtype, bool stored)
{
    int64_t stride[WK__MAX_DIMS];
    random_strides(c->g.shape, c->g.ndim, !stored, stride);
    return group_case_operand(c, dtype, stride, stored ? FILL_ONES : FILL_WIDE, 0);
}

/* As many values as possible live at once, of several classes, used repeatedly. */
static void add_program(group_case *c)
{
    static const wk_dtype dtypes[] = {WK_F32, WK_F32, WK_F32, WK_F64, WK_I64, WK_I32, WK_F16, WK_BF16, WK_U8, WK_BOOL};
    int value[12], loads = 1 + (int)below(4), n = 0;
    for (int k = 0; k < loads; k++) {
        int r = ir_load(&c->g, random_operand(c, dtypes[below(10)], false));
        value[n++] = ir_ins(&c->g, WK__CAST, WK_F32, r, 0, 0);
    }
    if (below(3) == 0) {
        value[n++] = ir_ins(&c->g, WK__CAST, WK_F32, ir_ins(&c->g, WK__IOTA, WK_I64, 0, 0, 0), 0, 0);
    }
    if (below(2)) value[n++] = ir_imm(&c->g, WK_F32, (wk__imm){.f = 1.5});
    for (int steps = (int)below(8); steps > 0 && n < 12; steps--) {
        static const wk__opcode codes[] = {WK__ADD, WK__SUB, WK__MUL, WK__DIV, WK__MAX, WK__MIN};
        value[n] = ir_binary(&c->g, codes[below(6)], value[below(n)], value[below(n)]);
        n++;
    }
    for (int stores = 1 + (int)below(2); stores > 0; stores--) {
        wk_dtype dtype = below(3) ? WK_F32 : dtypes[below(10)];
        int r = value[n - 1 - below(n < 3 ? n : 3)];
        if (dtype != WK_F32) r = ir_ins(&c->g, WK__CAST, dtype, r, 0, 0);
        ir_store(&c->g, random_operand(c, dtype, true), r);
    }
}

static void random_layouts(void **state)
{
    (void)state;
    for (int round = 0; round < 1500; round++) {
        static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 33, 64, 65, 100};
        int64_t shape[WK__MAX_DIMS], count = 1;
        int ndim = (int)below(5);
        char name[32];
        for (int d = 0; d < ndim; d++) {
            shape[d] = below(60) == 0 ? 0 : sizes[below(14)];
            while (count * shape[d] > 30000) shape[d] = 1 + shape[d] / 3;
            count *= shape[d] ? shape[d] : 1;
        }
        snprintf(name, sizeof name, "random layout %d", round);
        group_case_seed((uint64_t)round + 1000);
        group_case *c = group_case_new(name, ndim, shape, 0);
        add_program(c);
        vm_check(c);
        group_case_seed((uint64_t)round + 77);
    }
}

/* Ends of operands at every distance from the end of a block, in every dtype. */
static void partial_blocks(void **state)
{
    (void)state;
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
        for (int64_t n = 0; n <= 130; n++) {
            group_case *c = group_case_new("tail", 1, (int64_t[]){n}, 0);
            int r = ir_load(&c->g, group_case_dense(c, (wk_dtype)dtype, false, FILL_WIDE));
            ir_store(&c->g, group_case_dense(c, (wk_dtype)dtype, false, FILL_ONES), r);
            vm_check(c);
        }
    }
}

/* Transposing copies of every element size. */
static void transposing_copies(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{1, 200},  {3, 100},  {16, 16},   {64, 64},
                                        {65, 130}, {200, 33}, {129, 257}, {512, 96}};
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_I8};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (int k = 0; k < 8; k++) {
            group_case *c = group_case_new("transposed", 2, shapes[s], 0);
            int64_t turned[] = {1, shapes[s][0] + 3};
            int in = k & 1 ? group_case_dense(c, dtypes[k / 2], false, FILL_WIDE)
                           : group_case_operand(c, dtypes[k / 2], turned, FILL_WIDE, 0);
            int out = k & 1 ? group_case_operand(c, dtypes[k / 2], turned, FILL_ONES, 0)
                            : group_case_dense(c, dtypes[k / 2], false, FILL_ONES);
            ir_store(&c->g, out, ir_load(&c->g, in));
            vm_check(c);
        }
    }
}

/* The stored operand is loaded first, and loaded values are used after the store. */
static void in_place(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 3000; n = n * 3 + 1) {
        for (int k = 0; k < 2; k++) {
            wk_dtype dtype = k ? WK_BF16 : WK_F32;
            group_case *c = group_case_new("in place", 1, &n, 0);
            int x = group_case_dense(c, dtype, false, FILL_ONES), y = group_case_dense(c, WK_F32, false, FILL_ONES);
            int old = ir_load(&c->g, x), add = ir_load(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES));
            int sum = ir_ins(&c->g, WK__ADD, WK_F32, old, add, 0);
            ir_store(&c->g, x, k ? ir_ins(&c->g, WK__CAST, dtype, sum, 0, 0) : sum);
            ir_store(&c->g, y, ir_ins(&c->g, WK__MUL, WK_F32, old, sum, 0));
            vm_check(c);
        }
    }
}

/* Large enough for several threads and for non-temporal stores; the end is a partial block. */
static void large(void **state)
{
    (void)state;
    int threads = wk__thread_count();
    for (int t = 1; t <= 4; t += 3) {
        wk__set_thread_count(t);
        group_case *c = group_case_new("large", 2, (int64_t[]){1001, 4001}, 0);
        int64_t row[] = {0, 1}, column[] = {1, 0};
        int r = ir_load(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES));
        r = ir_binary(&c->g, WK__ADD, r, ir_load(&c->g, group_case_operand(c, WK_F32, row, FILL_ONES, 0)));
        r = ir_binary(&c->g, WK__MUL, r, ir_load(&c->g, group_case_operand(c, WK_F32, column, FILL_ONES, 0)));
        ir_store(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES), r);
        vm_check(c);
    }
    wk__set_thread_count(threads);
}

/* Running all boxes of a partition of the space equals running the space at once. */
static void boxes(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        int64_t shape[] = {1 + below(4), 1 + below(70), 1 + below(200)};
        group_case *c = group_case_new("boxes", 3, shape, 0);
        group_case_seed((uint64_t)round + 5);
        add_program(c);
        const wk__cpu_isa *isa, *before = wk__cpu_isa_current();
        for (int k = 0; (isa = vm_isa_at(k)) != NULL; k++) {
            wk__fail fail;
            wk__cpu_program program;
            wk__program nothing = c->g;
            wk__cpu_isa_use(isa);
            nothing.shape[0] = 0; /* allocates and fills the memory, and runs nothing */
            c->g = nothing;
            assert_int_equal(group_case_run(c, vm_backend(), vm_device, &fail), WK_OK);
            c->g.shape[0] = shape[0];
            assert_int_equal(wk__cpu_program_prepare(&program, &c->g, &fail), WK_OK);
            int64_t start[3], size[3], step[] = {1, 1 + below(40), 1 + below(150)};
            for (start[0] = 0; start[0] < shape[0]; start[0] += step[0]) {
                for (start[1] = 0; start[1] < shape[1]; start[1] += step[1]) {
                    for (start[2] = 0; start[2] < shape[2]; start[2] += step[2]) {
                        for (int d = 0; d < 3; d++) {
                            size[d] = shape[d] - start[d] < step[d] ? shape[d] - start[d] : step[d];
                        }
                        assert_int_equal(wk__cpu_program_box(&program, start, size, &fail), WK_OK);
                    }
                }
            }
            wk__cpu_program_destroy(&program);
            const char *wrong = group_case_check(c, vm_backend(), vm_device);
            if (wrong) fail_msg("boxes, %s: %s", isa->name, wrong);
        }
        wk__cpu_isa_use(before);
        group_case_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_layouts), cmocka_unit_test(partial_blocks), cmocka_unit_test(transposing_copies),
        cmocka_unit_test(in_place),       cmocka_unit_test(large),          cmocka_unit_test(boxes),
    };
    vm_one_in = 4;
    return cmocka_run_group_tests(tests, vm_open, vm_close);
}
