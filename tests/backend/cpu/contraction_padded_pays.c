/* SPDX-License-Identifier: Apache-2.0 */
/* When reading a factor from padded copies is profitable, and that it is done exactly then. */
#include "ir/build.h"
#include "support/padded.h"

/* From measurements in docs/contributing; cases close to even are left out. */
static void profitable_cases(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        bool forward, of_input, of_weight;
    } cases[] = {
        {{2, 64, 1, 1, 6, {28, 28}, {5, 5}, {1, 1}, {2, 2}, {1, 1}}, true, true, true},
        {{2, 64, 1, 6, 16, {14, 14}, {5, 5}, {1, 1}, {0, 0}, {1, 1}}, true, true, true},
        {{2, 32, 1, 3, 16, {32, 32}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, true, true},
        {{2, 1, 1, 3, 64, {224, 224}, {7, 7}, {2, 2}, {3, 3}, {1, 1}}, true, false, true},
        {{2, 2, 1, 128, 128, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, false, false},
        /* the gradient for x transposes w */
        {{2, 2, 1, 256, 256, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, false, false},
        {{2, 2, 1, 512, 512, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false, false, false},  /* rows of half a vector */
        {{2, 2, 1, 64, 256, {56, 56}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, false, false, false}, /* only one tap */
        {{2, 2, 1, 64, 128, {56, 56}, {1, 1}, {2, 2}, {0, 0}, {1, 1}}, false, false, false},
        {{2, 2, 256, 1, 1, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, true, true},
        {{1, 2, 1, 1, 32, {16000}, {80}, {4}, {38}, {1}}, true, false, true},
        {{3, 2, 1, 8, 16, {16, 16, 16}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, true, true, true},
    };
    const wk__cpu_isa *before = wk__cpu_isa_current();
    for (int k = 0; wk__cpu_isa_at(k); k++)
        if (strcmp(wk__cpu_isa_at(k)->name, "avx512") == 0) wk__cpu_isa_use(wk__cpu_isa_at(k));
    for (size_t k = 0; k < sizeof cases / sizeof *cases && strcmp(wk__cpu_isa_current()->name, "avx512") == 0; k++)
        for (direction way = FORWARD; way < DIRECTIONS; way++) {
            convolution_case t;
            wk__work_args kernel;
            wk__contraction sum;
            wk__indirect_plan product;
            wk__k_lanes_plan dots;
            convolution_new(&t, &cases[k].of, WK_F32, ROWS);
            describe(&t, way, &kernel, &sum);
            const bool padded = wk__indirect_plan_init(&product, &kernel) && wk__indirect_is_profitable(&product);
            const bool summed = wk__k_lanes_plan_init(&dots, &kernel) && wk__k_lanes_is_profitable(&dots);
            const bool want = way == FORWARD      ? cases[k].forward
                              : way == GRAD_INPUT ? cases[k].of_input
                                                  : cases[k].of_weight;
            if ((way == GRAD_WEIGHT ? summed : padded) != want) fail_msg("case %d, direction %d", (int)k, (int)way);
            if (way != GRAD_WEIGHT && summed)
                fail_msg("case %d, direction %d: summed over positions", (int)k, (int)way);
            convolution_free(&t);
        }
    wk__cpu_isa_use(before);
}

/* Profitable plans are used: floating-point sums have the bits of that order of summation. */
static void expect_done(const convolution *of, direction way)
{
    wk__fail fail;
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    convolution_new(&t, of, WK_F32, ROWS);
    describe(&t, way, &kernel, &sum);
    const array *out = result_of(&t, way);
    assert_int_equal((way == FORWARD ? run_product : run_dots)(&kernel, &fail), WK_OK);
    char *want = array_copy(out);
    for (int threads = 1; threads <= 2; threads++) {
        wk__set_thread_count(threads);
        for (int64_t k = 3; k < out->bytes / 4; k++) put_random(WK_F32, out->data + 4 * k);
        assert_int_equal(wk__cpu_contraction(&(wk__work){.family = WK__CONTRACTION, .args = &kernel}, &fail), WK_OK);
        assert_memory_equal(want, out->data, (size_t)out->bytes);
    }
    wk__set_thread_count(1);
    free(want);
    convolution_free(&t);
}

static void profitable_plans_are_used(void **state)
{
    (void)state;
    const convolution of = {2, 4, 32, 1, 1, {20, 32}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    const wk__cpu_isa *before = wk__cpu_isa_current();
    for (int k = 0; wk__cpu_isa_at(k); k++) {
        wk__cpu_isa_use(wk__cpu_isa_at(k));
        for (direction way = FORWARD; way <= GRAD_WEIGHT && has_tiles(WK_F32); way += GRAD_WEIGHT)
            expect_done(&of, way);
    }
    wk__cpu_isa_use(before);
}

/* The boxes in which an epilogue runs: their number, and a hash of them in order. */
typedef struct trace {
    int64_t count;
    uint64_t number;
} trace;

static void trace_box(void *user, const wk__epilogue_box *box)
{
    trace *t = user;
    t->count++;
    t->number = (t->number ^ (uint64_t)box->first) * 31 + (uint64_t)box->rows * 7 + (uint64_t)box->columns;
}

/* Contractions for which it is not profitable gather the factor: their epilogues run in other boxes. */
static void unprofitable_cases_gather(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        bool pays;
    } cases[] = {
        {{2, 4, 1, 8, 16, {20, 32}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true},
        {{2, 2, 1, 64, 256, {56, 56}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, false}, /* only one tap */
        {{2, 4, 1, 64, 512, {14, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false},  /* rows shorter than a vector */
    };
    if (!has_tiles(WK_F32)) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        convolution_case t;
        wk__work_args kernel;
        wk__contraction sum;
        wk__program g;
        wk__indirect_plan p;
        trace copied = {0}, done = {0};
        convolution_new(&t, &cases[k].of, WK_F32, ROWS);
        describe(&t, FORWARD, &kernel, &sum);
        ir_space(&g, kernel.ndim, kernel.shape, 0);
        assert_true(wk__indirect_plan_init(&p, &kernel));
        assert_int_equal(wk__indirect_is_profitable(&p), cases[k].pays);
        wk__indirect_epilogue_boxes(&p, &g, trace_box, &copied);
        wk__cpu_contraction_boxes(&(wk__work){.family = WK__CONTRACTION, .args = &kernel, .program = &g}, trace_box,
                                  &done);
        assert_true(copied.count > 0 && done.count > 0);
        assert_int_equal(copied.count == done.count && copied.number == done.number, cases[k].pays);
        convolution_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profitable_cases),
        cmocka_unit_test(profitable_plans_are_used),
        cmocka_unit_test(unprofitable_cases_gather),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
