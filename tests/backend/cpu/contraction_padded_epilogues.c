/* SPDX-License-Identifier: Apache-2.0 */
/* Epilogues of contractions that read a factor from padded copies, and allocation failures. */
#include "ir/build.h"
#include "support/padded.h"

#include "base/alloc.h"

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static void boxes_of_epilogues(void **state)
{
    (void)state;
    static const boxes_case cases[] = {
        {{2, 2, 1, 3, 5, {8, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 2, false},
        {{2, 2, 1, 3, 5, {8, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 16, true},
        {{2, 1, 1, 3, 97, {8, 20}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, 2, false}, /* blocks of 96 rows */
        {{3, 1, 2, 3, 5, {3, 4, 20}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}}, 2, false},
        {{3, 1, 1, 3, 5, {3, 4, 20}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}}, 12, true},
    };
    if (!has_tiles(WK_F32)) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) expect_boxes(&cases[k], visit_boxes_of_product);
}

/* ---- epilogues --------------------------------------------------------------------------------------------------- */

/* A convolution over result positions, or its gradient for w over summed positions, with an epilogue. */
typedef struct with_epilogue {
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    wk__program g;
    bool summed;
    const array *out;
    int c; /* operand of the epilogue that is the result */
} with_epilogue;

static void with_epilogue_new(with_epilogue *x, const convolution *of, bool summed, int nreduce)
{
    const direction way = summed ? GRAD_WEIGHT : FORWARD;
    x->summed = summed;
    convolution_new(&x->t, of, WK_F32, ROWS);
    describe(&x->t, way, &x->kernel, &x->sum);
    x->out = result_of(&x->t, way);
    ir_space(&x->g, x->kernel.ndim, x->kernel.shape, nreduce);
    x->c = ir_operand(&x->g, WK_F32, (wk__memory *)(uintptr_t)&x->out->memory, x->out->operand.offset,
                      x->out->operand.stride);
}

/* Runs over result positions whether or not that is profitable; over summed positions if it is, with a separate
 * epilogue. */
static wk_code with_epilogue_run(const with_epilogue *x, const wk__program *tail, wk__fail *fail)
{
    const wk__work work = {.family = WK__CONTRACTION, .args = &x->kernel, .program = tail};
    wk__indirect_plan p;
    wk__k_lanes_plan dots;
    if (x->summed) {
        assert_true(wk__k_lanes_plan_init(&dots, &x->kernel) && wk__k_lanes_is_profitable(&dots));
        return wk__cpu_contraction(&work, fail);
    }
    assert_true(wk__indirect_plan_init(&p, &x->kernel));
    return wk__indirect_run(&p, tail, fail);
}

/* Several pieces and blocks: of rows, and of sums over positions, which are profitable with fewer rows. */
static const convolution piecewise[] = {
    {2, 3, 1, 8, 100, {20, 32}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 3, 1, 8, 24, {40, 64}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
};

/* 2 C, in pieces or afterwards: the results equal those of two calls. */
static void epilogues(void **state)
{
    (void)state;
    if (!has_tiles(WK_F32)) skip();
    for (int summed = 0; summed < 2; summed++)
        for (int threads = 1; threads <= 3; threads++) {
            with_epilogue x;
            wk__fail fail;
            with_epilogue_new(&x, &piecewise[summed], summed, 0);
            ir_store(&x.g, x.c, ir_binary(&x.g, WK__ADD, ir_load(&x.g, x.c), ir_load(&x.g, x.c)));
            assert_null(wk__program_verify(&x.g));
            assert_int_equal(with_epilogue_run(&x, NULL, &fail), WK_OK);
            assert_int_equal(wk__cpu_run(&x.g, &fail), WK_OK);
            char *want = array_copy(x.out);
            wk__set_thread_count(threads);
            assert_int_equal(with_epilogue_run(&x, &x.g, &fail), WK_OK);
            wk__set_thread_count(1);
            assert_memory_equal(want, x.out->data, (size_t)x.out->bytes);
            free(want);
            convolution_free(&x.t);
        }
}

/* An epilogue that reduces rows or channels runs when all of C has been computed. */
static void epilogues_that_reduce(void **state)
{
    (void)state;
    if (!has_tiles(WK_F32)) skip();
    for (int k = 0; k < 4; k++) {
        const bool summed = k / 2;
        const int nreduce = 1 + k % 2;
        with_epilogue x;
        wk__fail fail = {0};
        array sums;
        with_epilogue_new(&x, &piecewise[summed], summed, nreduce);
        array_new(&sums, WK_F32, 5 - nreduce, x.kernel.shape, ROWS);
        int64_t stride[WK__MAX_DIMS] = {0};
        memcpy(stride, sums.operand.stride, sizeof *stride * (size_t)(5 - nreduce));
        const int out = ir_operand(&x.g, WK_F32, &sums.memory, sums.operand.offset, stride);
        ir_store(&x.g, out, ir_unary(&x.g, WK__RSUM, ir_load(&x.g, x.c)));
        assert_null(wk__program_verify(&x.g));
        assert_int_equal(with_epilogue_run(&x, NULL, &fail), WK_OK);
        char *product = array_copy(x.out);
        assert_int_equal(wk__cpu_run(&x.g, &fail), WK_OK);
        char *want = array_copy(&sums);
        memset(x.out->data, 0, (size_t)x.out->bytes);
        for (int64_t k = 3; k < sums.bytes / 4; k++) put_random(WK_F32, sums.data + 4 * k);
        assert_int_equal(with_epilogue_run(&x, &x.g, &fail), WK_OK);
        assert_memory_equal(product + 12, x.out->data + 12, (size_t)x.out->bytes - 12);
        assert_memory_equal(want, sums.data, (size_t)sums.bytes);
        wk__indirect_plan p; /* no pieces with such an epilogue */
        boxes seen = {.kernel = &x.kernel};
        if (!summed && wk__indirect_plan_init(&p, &x.kernel)) wk__indirect_epilogue_boxes(&p, &x.g, check_box, &seen);
        assert_int_equal(seen.count, 0);
        free(product), free(want), free(sums.data);
        convolution_free(&x.t);
    }
}

/* C + table[index of n and o, or of o and c]: of several indices out of range, the first in row-major order is
 * reported, independently of the threads' timing, and the rest of C is completed. */
static void epilogues_with_bad_indices(void **state)
{
    (void)state;
    if (!has_tiles(WK_F32)) skip();
    for (int summed = 0; summed < 2; summed++)
        for (int threads = 1; threads <= 4; threads++) {
            with_epilogue x;
            array index, table;
            wk__fail fail = {0};
            with_epilogue_new(&x, &piecewise[summed], summed, 0);
            const int64_t *shape = x.kernel.shape, of_index[] = {shape[0], 1, summed ? shape[1] : shape[2]}, seven = 7;
            array_new(&index, WK_I64, 3, of_index, ROWS);
            array_new(&table, WK_F32, 1, &seven, ROWS);
            fill_small(&table);
            memset(index.data, 0, (size_t)index.bytes);
            int64_t *const places = (int64_t *)(void *)index.data + index.operand.offset;
            if (summed)
                places[10] = 9, places[22] = 11;
            else
                places[100 + 3] = 9, places[100 + 98] = 10, places[200 + 1] = 11;
            const int64_t of_n = index.operand.stride[0], of_o = index.operand.stride[2];
            const int64_t stride[WK__MAX_DIMS] = {of_n, summed ? of_o : 0, summed ? 0 : of_o};
            add_from_table(&x.g, x.c, &index, stride, &table, seven);
            assert_int_equal(with_epilogue_run(&x, NULL, &fail), WK_OK);
            char *plain = array_copy(x.out);
            wk__set_thread_count(threads);
            assert_int_equal(with_epilogue_run(&x, &x.g, &fail), WK_ERR_INDEX);
            wk__set_thread_count(1);
            assert_int_equal(fail.tag, 5);
            assert_int_equal(fail.index, 9);
            assert_int_equal(fail.bound, 7);
            const float first = (float)get_real(WK_F32, table.data + 4 * table.operand.offset);
            int64_t at[WK__MAX_DIMS] = {0};
            do {
                const int64_t row = at[0] * of_n + (summed ? at[1] : at[2]) * of_o;
                const char *here = array_at(x.out, x.kernel.ndim, at);
                const float before = (float)get_real(WK_F32, plain + (here - x.out->data));
                assert_true((float)get_real(WK_F32, here) == before + (places[row] ? 0 : first));
            } while (advance(x.kernel.ndim, shape, at));
            free(plain), free(index.data), free(table.data);
            convolution_free(&x.t);
        }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* A failed allocation fails the contraction before anything is written to C. */
static void failed_allocations(void **state)
{
    (void)state;
    const convolution of = {2, 4, 1, 30, 100, {30, 30}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    if (!has_tiles(WK_F32)) skip();
    for (direction way = FORWARD; way <= GRAD_WEIGHT; way += GRAD_WEIGHT) {
        convolution_case t;
        wk__work_args kernel;
        wk__contraction sum;
        convolution_new(&t, &of, WK_F32, ROWS);
        describe(&t, way, &kernel, &sum);
        char *before = array_copy(result_of(&t, way));
        for (int threads = 1; threads <= 2; threads++) {
            wk__set_thread_count(threads);
            for (int request = 1; request <= threads; request++) {
                wk__fail fail = {0};
                wk__cpu_matmul_trim();
                wk__alloc_fail_at(request);
                const wk_code code = (way == FORWARD ? run_product : run_dots)(&kernel, &fail);
                wk__alloc_fail_at(0);
                assert_int_equal(code, WK_ERR_MEMORY);
                assert_int_equal(fail.code, code);
                assert_memory_equal(before, result_of(&t, way)->data, (size_t)result_of(&t, way)->bytes);
            }
        }
        wk__set_thread_count(1);
        free(before);
        convolution_free(&t);
    }
}

/* The epilogue does not run either. */
static void failed_allocations_skip_the_epilogue(void **state)
{
    (void)state;
    if (!has_tiles(WK_F32)) skip();
    for (int summed = 0; summed < 2; summed++)
        for (int nreduce = 0; nreduce <= 2; nreduce += 2) {
            with_epilogue x;
            array to;
            wk__fail fail = {0};
            with_epilogue_new(&x, &piecewise[summed], summed, nreduce);
            array_new(&to, WK_F32, nreduce ? 3 : 5, x.kernel.shape, ROWS);
            int64_t stride[WK__MAX_DIMS] = {0};
            memcpy(stride, to.operand.stride, sizeof *stride * (size_t)(5 - nreduce));
            const int out = ir_operand(&x.g, WK_F32, &to.memory, to.operand.offset, stride), c = ir_load(&x.g, x.c);
            ir_store(&x.g, out, nreduce ? ir_unary(&x.g, WK__RSUM, c) : c);
            assert_null(wk__program_verify(&x.g));
            char *before = array_copy(&to);
            wk__cpu_matmul_trim();
            wk__alloc_fail_at(1);
            const wk_code code = with_epilogue_run(&x, &x.g, &fail);
            wk__alloc_fail_at(0);
            assert_int_equal(code, WK_ERR_MEMORY);
            assert_memory_equal(before, to.data, (size_t)to.bytes);
            free(before), free(to.data);
            convolution_free(&x.t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_of_epilogues),    cmocka_unit_test(epilogues),
        cmocka_unit_test(epilogues_that_reduce), cmocka_unit_test(epilogues_with_bad_indices),
        cmocka_unit_test(failed_allocations),    cmocka_unit_test(failed_allocations_skip_the_epilogue),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
