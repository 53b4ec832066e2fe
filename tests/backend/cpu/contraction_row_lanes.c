/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions whose lanes are rows: results, epilogues, allocation failures, and when they are chosen. */
#include "ir/build.h"
#include "support/padded.h"

#include "base/alloc.h"
#include "backend/cpu/contraction/contraction_row_lanes.h"

static bool has_row_tiles(void)
{
    return wk__cpu_gemm(WK_F32)->class->row_lanes != NULL;
}

/* Checks that the buffers of the plan are large enough for the copies and the table of a block. */
static bool has_row_lanes(const wk__work_args *kernel)
{
    wk__row_lanes_plan p;
    wk__padded_box box;
    if (!wk__row_lanes_plan_init(&p, kernel)) return false;
    assert_true(wk__padded_box_init(&p.b, 0, p.piece_places, &box));
    assert_true(p.piece_images * p.slots * box.channel * WK__PADDED_SIZE <= WK__GEMM_BUFFER_B);
    assert_true((p.k_part + p.b.taps.places) * (int64_t)sizeof(int64_t) <= WK__GEMM_BUFFER_A);
    const int64_t tiles =
        p.k_part < p.roles.steps ? p.piece_panels * p.piece_images * wk__row_lanes_tiles(&p, &box) : 1;
    assert_true(tiles * wk__row_lanes_sums(&p) <= WK__GEMM_BUFFER_C);
    return true;
}

static wk_code run_row_lanes(const wk__work_args *kernel, wk__fail *fail)
{
    wk__row_lanes_plan p;
    assert_true(wk__row_lanes_plan_init(&p, kernel));
    return wk__row_lanes_run(&p, NULL, fail);
}

static void expect(const convolution *of, layout layout, direction way, bool must)
{
    expect_convolution(of, WK_F32, layout, way, has_row_lanes, run_row_lanes, must && has_row_tiles());
}

/* Strides, dilation, padding, groups, one to three dimensions. */
static const convolution small[] = {
    {1, 2, 1, 3, 4, {9}, {3}, {1}, {1}, {1}},
    {1, 2, 2, 3, 2, {11}, {4}, {3}, {2}, {1}},
    {1, 1, 1, 2, 2, {3}, {7}, {1}, {3}, {1}},  /* kernel larger than the input */
    {1, 2, 1, 2, 3, {40}, {3}, {8}, {2}, {1}}, /* some remainders belong to no tap */
    {1, 1, 1, 2, 2, {6}, {2}, {1}, {9}, {5}},  /* positions outside the input on both sides */
    {1, 1, 1, 2, 2, {200}, {90}, {1}, {0}, {2}},
    {2, 2, 1, 3, 5, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 3, 1, 4, 70, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* several panels, the last of few rows */
    {2, 1, 3, 2, 40, {9, 10}, {3, 2}, {2, 3}, {1, 0}, {1, 2}},
    {2, 2, 1, 5, 9, {8, 34}, {1, 1}, {2, 2}, {0, 0}, {1, 1}}, /* one of four parts is copied */
    {2, 1, 1, 2, 2, {1, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  /* one row of positions */
    {3, 2, 1, 3, 4, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {3, 1, 2, 2, 3, {5, 6, 7}, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {2, 1, 1}},
};
enum { SMALL = sizeof small / sizeof *small };

static void convolutions_forward(void **state)
{
    (void)state;
    static const wk_dtype others[] = {WK_F64, WK_I32, WK_I64};
    for (int k = 0; k < SMALL; k++) {
        expect(&small[k], ROWS, FORWARD, true);
        expect(&small[k], COLUMNS, FORWARD, true);
        expect(&small[k], GAPS, FORWARD, true);
        expect(&small[k], BACKWARDS, FORWARD, false);
        for (int dtype = 0; dtype < 3; dtype++)
            assert_false(
                expect_convolution(&small[k], others[dtype], ROWS, FORWARD, has_row_lanes, run_row_lanes, false));
    }
}

static void gradients_by_the_input(void **state)
{
    (void)state;
    for (int k = 0; k < SMALL; k++) {
        bool ones = true;
        for (int d = 0; d < small[k].dims; d++) ones = ones && small[k].stride[d] == 1;
        expect(&small[k], ROWS, GRAD_INPUT, ones);
    }
}

static void gradients_by_the_kernel(void **state)
{
    (void)state;
    static const convolution long_sums[] = {
        {2, 3, 1, 3, 20, {70, 41}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  /* more taps than steps in a part */
        {2, 50, 1, 5, 40, {13, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* parts end inside a channel */
        {2, 40, 2, 3, 7, {9, 12}, {5, 4}, {2, 1}, {2, 1}, {1, 1}},
        {2, 9, 1, 40, 90, {30, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    };
    for (int k = 0; k < SMALL; k++) expect(&small[k], ROWS, GRAD_WEIGHT, false);
    for (size_t k = 0; k < sizeof long_sums / sizeof *long_sums; k++) expect(&long_sums[k], ROWS, GRAD_WEIGHT, k != 2);
}

/* Rows of 1 to 30 positions, alone and several per tile, with one vector of rows and two. */
static void tiles_of_every_shape(void **state)
{
    (void)state;
    const wk__cpu_isa *before = wk__cpu_isa_current();
    for (int k = 0; wk__cpu_isa_at(k); k++) {
        wk__cpu_isa_use(wk__cpu_isa_at(k));
        for (int places = 1; places <= 30; places++)
            for (int high = 1; high <= 7; high += 3)
                for (int rows = 7; rows <= 27; rows += 20) {
                    const convolution of = {2, 1, 1, 2, rows, {high, places}, {1, 3}, {1, 1}, {0, 1}, {1, 1}};
                    expect(&of, ROWS, FORWARD, places > 1 || high > 1);
                }
    }
    wk__cpu_isa_use(before);
}

/* Several pieces by images, panels and positions, and several blocks of the sum; the last of each is smaller. */
static const convolution large[] = {
    {2, 2, 1, 23, 131, {21, 37}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 1, 3, 5, {90, 211}, {5, 5}, {2, 2}, {2, 2}, {1, 1}},
    {2, 1, 1, 2, 2, {190, 1030}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {1, 1, 1, 2, 70, {50003}, {9}, {3}, {4}, {1}},
    {2, 1, 1, 300, 67, {9, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 7, 1, 70, 40, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 19, 3, 2, 70, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {3, 1, 1, 5, 9, {9, 40, 41}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}},
};

static void pieces_and_blocks(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
        expect(&large[k], ROWS, FORWARD, true);
        expect(&large[k], ROWS, GRAD_INPUT, large[k].stride[0] == 1);
    }
}

/* ---- epilogues --------------------------------------------------------------------------------------------------- */

static void visit_boxes_of_row_lanes(const wk__work_args *kernel, const wk__program *epilogue, boxes *seen)
{
    wk__row_lanes_plan p;
    assert_true(wk__row_lanes_plan_init(&p, kernel));
    wk__row_lanes_epilogue_boxes(&p, epilogue, check_box, seen);
}

/* A box per image and panel, which has as many rows as two vectors. */
static void boxes_of_epilogues(void **state)
{
    (void)state;
    if (!has_row_tiles()) skip();
    const int lanes = wk__cpu_gemm(WK_F32)->class->lanes;
    const boxes_case cases[] = {
        {{2, 2, 1, 3, 5, {8, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 2, false},
        {{2, 2, 1, 3, 5, {8, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 16, true},
        {{2, 3, 1, 3, 2 * lanes + 1, {8, 20}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, 6, false},
        {{3, 1, 2, 3, 5, {3, 4, 20}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}}, 2, false},
        {{3, 1, 1, 3, 5, {3, 4, 20}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}}, 12, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) expect_boxes(&cases[k], visit_boxes_of_row_lanes);
}

typedef struct with_epilogue {
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    wk__program g;
    int c; /* operand of the epilogue that is the result */
} with_epilogue;

static void with_epilogue_new(with_epilogue *x, const convolution *of)
{
    convolution_new(&x->t, of, WK_F32, ROWS);
    describe(&x->t, FORWARD, &x->kernel, &x->sum);
    ir_space(&x->g, x->kernel.ndim, x->kernel.shape, 0);
    x->c = ir_operand(&x->g, WK_F32, &x->t.y.memory, x->t.y.operand.offset, x->t.y.operand.stride);
}

/* 2 C: the results equal those of two calls, and the way is chosen: sums of floating-point numbers have its bits. */
static void epilogues_and_choice(void **state)
{
    (void)state;
    static const convolution cases[] = {
        {2, 2, 1, 64, 64, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {2, 20, 1, 300, 96, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* several images per piece, blocks of the sum */
    };
    if (!has_row_tiles()) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        with_epilogue x;
        wk__fail fail;
        with_epilogue_new(&x, &cases[k]);
        ir_store(&x.g, x.c, ir_binary(&x.g, WK__ADD, ir_load(&x.g, x.c), ir_load(&x.g, x.c)));
        assert_null(wk__program_verify(&x.g));
        assert_int_equal(run_row_lanes(&x.kernel, &fail), WK_OK);
        assert_int_equal(wk__cpu_run(&x.g, &fail), WK_OK);
        char *want = array_copy(&x.t.y);
        for (int threads = 1; threads <= 3; threads++) {
            wk__set_thread_count(threads);
            const wk__work work = {.family = WK__CONTRACTION, .args = &x.kernel, .program = &x.g};
            assert_int_equal(wk__cpu_contraction(&work, &fail), WK_OK);
            assert_memory_equal(want, x.t.y.data, (size_t)x.t.y.bytes);
        }
        wk__set_thread_count(1);
        free(want);
        convolution_free(&x.t);
    }
}

/* C + table[index of n and o]: of several indices out of range, the first in row-major order is reported, although
 * panels of several images are computed in turn. */
static void epilogues_with_bad_indices(void **state)
{
    (void)state;
    static const convolution of = {2, 16, 1, 30, 100, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    if (!has_row_tiles()) skip();
    for (int threads = 1; threads <= 3; threads++) {
        with_epilogue x;
        array index, table;
        wk__row_lanes_plan p;
        wk__fail fail = {0};
        with_epilogue_new(&x, &of);
        const int64_t of_index[] = {of.n, of.out}, seven = 7;
        array_new(&index, WK_I64, 2, of_index, ROWS);
        array_new(&table, WK_F32, 1, &seven, ROWS);
        fill_small(&table);
        memset(index.data, 0, (size_t)index.bytes);
        int64_t *const places = (int64_t *)(void *)index.data + index.operand.offset;
        places[98] = 9, places[100 + 1] = 10, places[200] = 11;
        const int64_t stride[WK__MAX_DIMS] = {index.operand.stride[0], 0, index.operand.stride[1]};
        add_from_table(&x.g, x.c, &index, stride, &table, seven);
        assert_true(wk__row_lanes_plan_init(&p, &x.kernel));
        assert_true(p.piece_images >= 2);
        wk__set_thread_count(threads);
        assert_int_equal(wk__row_lanes_run(&p, &x.g, &fail), WK_ERR_INDEX);
        wk__set_thread_count(1);
        assert_int_equal(fail.index, 9);
        assert_int_equal(fail.tag, 5);
        free(index.data), free(table.data);
        convolution_free(&x.t);
    }
}

/* A failed allocation, of the panels or of a buffer, fails the contraction before anything is written to C. */
static void failed_allocations(void **state)
{
    (void)state;
    const convolution of = {2, 4, 1, 30, 100, {30, 30}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    if (!has_row_tiles()) skip();
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    convolution_new(&t, &of, WK_F32, ROWS);
    describe(&t, FORWARD, &kernel, &sum);
    char *before = array_copy(&t.y);
    for (int threads = 1; threads <= 2; threads++) {
        wk__set_thread_count(threads);
        for (int request = 1; request <= 1 + threads; request++) {
            wk__fail fail = {0};
            wk__cpu_matmul_trim();
            wk__alloc_fail_at(request);
            const wk_code code = run_row_lanes(&kernel, &fail);
            wk__alloc_fail_at(0);
            assert_int_equal(code, WK_ERR_MEMORY);
            assert_int_equal(fail.code, code);
            assert_memory_equal(before, t.y.data, (size_t)t.y.bytes);
        }
    }
    wk__set_thread_count(1);
    free(before);
    convolution_free(&t);
}

/* Few rows, and few positions per packed element, are computed otherwise. */
static void other_ways_are_faster(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        bool chosen;
    } cases[] = {
        {{2, 16, 1, 64, 64, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true},
        {{2, 16, 1, 512, 512, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true},
        {{2, 16, 1, 6, 16, {14, 14}, {5, 5}, {1, 1}, {0, 0}, {1, 1}}, true},
        {{2, 1, 1, 512, 512, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false},
        {{2, 2, 1, 64, 4, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false},
        {{2, 2, 1, 64, 64, {56, 56}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, false}, /* a matrix product */
    };
    const wk__cpu_isa *before = wk__cpu_isa_current();
    for (int k = 0; wk__cpu_isa_at(k); k++)
        if (strcmp(wk__cpu_isa_at(k)->name, "avx512") == 0) wk__cpu_isa_use(wk__cpu_isa_at(k));
    for (size_t k = 0; k < sizeof cases / sizeof *cases && strcmp(wk__cpu_isa_current()->name, "avx512") == 0; k++) {
        with_epilogue x;
        wk__row_lanes_plan p;
        boxes seen = {.kernel = &x.kernel}, own = seen;
        with_epilogue_new(&x, &cases[k].of);
        memset(x.t.y.data, 0, (size_t)x.t.y.bytes);
        wk__cpu_contraction_boxes(&(wk__work){.family = WK__CONTRACTION, .args = &x.kernel, .program = &x.g}, check_box,
                                  &seen);
        memset(x.t.y.data, 0, (size_t)x.t.y.bytes);
        assert_true(wk__row_lanes_plan_init(&p, &x.kernel));
        wk__row_lanes_epilogue_boxes(&p, &x.g, check_box, &own);
        if ((seen.count == own.count) != cases[k].chosen)
            fail_msg("case %d: %lld boxes, not %lld", (int)k, (long long)seen.count, (long long)own.count);
        convolution_free(&x.t);
    }
    wk__cpu_isa_use(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_forward),    cmocka_unit_test(gradients_by_the_input),
        cmocka_unit_test(gradients_by_the_kernel), cmocka_unit_test(tiles_of_every_shape),
        cmocka_unit_test(pieces_and_blocks),       cmocka_unit_test(boxes_of_epilogues),
        cmocka_unit_test(epilogues_and_choice),    cmocka_unit_test(epilogues_with_bad_indices),
        cmocka_unit_test(failed_allocations),      cmocka_unit_test(other_ways_are_faster),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
