/* SPDX-License-Identifier: Apache-2.0 */
/* Depthwise convolutions, whose planes are computed separately. */
#include "ir/build.h"
#include "support/padded.h"

/* Each function for taps, with complete and partial vectors and each remainder of rows; strides, dilation. */
static const convolution small[] = {
    {2, 2, 8, 1, 1, {9, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 1, 1, {4, 33}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 1, 1, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 2, 3, 1, 1, {10, 50}, {5, 5}, {1, 1}, {2, 2}, {1, 1}},
    {2, 1, 5, 1, 1, {11, 13}, {5, 5}, {1, 1}, {0, 0}, {1, 1}},
    {2, 1, 5, 1, 1, {11, 70}, {7, 7}, {1, 1}, {3, 3}, {1, 1}},
    {2, 1, 2, 1, 1, {5, 16}, {7, 7}, {1, 1}, {3, 3}, {1, 1}},
    {2, 1, 4, 1, 1, {9, 10}, {3, 2}, {1, 1}, {1, 0}, {1, 1}},
    {2, 2, 8, 1, 1, {9, 40}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {2, 1, 4, 1, 1, {12, 19}, {3, 3}, {1, 1}, {2, 2}, {2, 2}},
    {2, 1, 1, 1, 1, {9, 9}, {9, 1}, {1, 1}, {4, 0}, {1, 1}},
    {1, 3, 4, 1, 1, {30}, {5}, {2}, {4}, {3}},
    {1, 2, 4, 1, 1, {40}, {9}, {1}, {4}, {1}},
    {3, 2, 3, 1, 1, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {3, 1, 2, 1, 1, {5, 6, 17}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
};
enum { SMALL = sizeof small / sizeof *small };

/* Planes with several parts, and tasks of several planes, the last of which has fewer. */
static const convolution large[] = {
    {2, 1, 1, 1, 1, {610, 701}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 1, 1, {150, 151}, {5, 5}, {1, 1}, {2, 2}, {1, 1}},
    {2, 2, 401, 1, 1, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {1, 1, 2, 1, 1, {300001}, {9}, {1}, {4}, {1}},
};
enum { LARGE = sizeof large / sizeof *large };

static void planes_forward(void **state)
{
    (void)state;
    for (int k = 0; k < SMALL; k++) {
        expect_convolution(&small[k], WK_F32, ROWS, FORWARD, has_planes, run_planes, true);
        expect_convolution(&small[k], WK_F32, COLUMNS, FORWARD, has_planes, run_planes, true);
        expect_convolution(&small[k], WK_F32, GAPS, FORWARD, has_planes, run_planes, true);
        assert_false(expect_convolution(&small[k], WK_F64, ROWS, FORWARD, has_planes, run_planes, false));
    }
    for (int k = 0; k < LARGE; k++) expect_convolution(&large[k], WK_F32, ROWS, FORWARD, has_planes, run_planes, true);
}

/* The taps of gradients for x are in reverse. */
static void gradients_by_the_input(void **state)
{
    (void)state;
    for (int k = 0; k < SMALL; k++)
        expect_convolution(&small[k], WK_F32, ROWS, GRAD_INPUT, has_planes, run_planes, small[k].stride[0] == 1);
    for (int k = 0; k < LARGE; k++)
        expect_convolution(&large[k], WK_F32, ROWS, GRAD_INPUT, has_planes, run_planes, true);
}

static void other_instruction_sets(void **state)
{
    (void)state;
    const wk__cpu_isa *before = wk__cpu_isa_current();
    for (int k = 0; wk__cpu_isa_at(k); k++) {
        wk__cpu_isa_use(wk__cpu_isa_at(k));
        for (int c = 0; c < SMALL; c++) {
            expect_convolution(&small[c], WK_F32, ROWS, FORWARD, has_planes, run_planes, true);
            expect_convolution(&small[c], WK_F32, ROWS, GRAD_INPUT, has_planes, run_planes, small[c].stride[0] == 1);
        }
    }
    wk__cpu_isa_use(before);
}

/* Planes whose sums have channels, or that share a plane of B, are computed otherwise. */
static void other_convolutions(void **state)
{
    (void)state;
    static const convolution others[] = {
        {2, 2, 1, 3, 5, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {2, 1, 4, 1, 2, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {2, 1, 1, 1, 1, {80, 80}, {17, 17}, {1, 1}, {0, 0}, {1, 1}}, /* too many taps */
    };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        assert_false(expect_convolution(&others[k], WK_F32, ROWS, FORWARD, has_planes, run_planes, false));
}

static void boxes_of_epilogues(void **state)
{
    (void)state;
    static const boxes_case cases[] = {
        {{2, 2, 40, 1, 1, {8, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 2, false},
        {{2, 2, 5, 1, 1, {8, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 16, true},
        {{2, 1, 1, 1, 1, {640, 701}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 4, false}, /* parts of a plane */
    };
    if (!has_tiles(WK_F32)) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) expect_boxes(&cases[k], visit_boxes_of_planes);
}

/* 2 C: the results equal those of two calls, and profitable plans are used. */
static void epilogues(void **state)
{
    (void)state;
    static const convolution of = {2, 2, 60, 1, 1, {20, 32}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    if (!has_tiles(WK_F32)) skip();
    for (int threads = 1; threads <= 3; threads++) {
        convolution_case t;
        wk__work_args kernel;
        wk__contraction sum;
        wk__program g;
        wk__planes_plan p;
        wk__fail fail;
        convolution_new(&t, &of, WK_F32, ROWS);
        describe(&t, FORWARD, &kernel, &sum);
        ir_space(&g, kernel.ndim, kernel.shape, 0);
        const int c = ir_operand(&g, WK_F32, &t.y.memory, t.y.operand.offset, t.y.operand.stride);
        ir_store(&g, c, ir_binary(&g, WK__ADD, ir_load(&g, c), ir_load(&g, c)));
        assert_null(wk__program_verify(&g));
        assert_true(wk__planes_plan_init(&p, &kernel) && wk__planes_is_profitable(&p));
        assert_int_equal(wk__planes_run(&p, NULL, &fail), WK_OK);
        assert_int_equal(wk__cpu_run(&g, &fail), WK_OK);
        char *want = array_copy(&t.y);
        wk__set_thread_count(threads);
        const wk__work work = {.family = WK__CONTRACTION, .args = &kernel, .program = &g};
        assert_int_equal(wk__cpu_contraction(&work, &fail), WK_OK);
        wk__set_thread_count(1);
        assert_memory_equal(want, t.y.data, (size_t)t.y.bytes);
        free(want);
        convolution_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_forward),         cmocka_unit_test(gradients_by_the_input),
        cmocka_unit_test(other_instruction_sets), cmocka_unit_test(other_convolutions),
        cmocka_unit_test(boxes_of_epilogues),     cmocka_unit_test(epilogues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
