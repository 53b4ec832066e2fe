/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions that the CPU computes as a matrix product followed by additions (col2im), whether or not that is
 * profitable, compared with element-by-element results; which contractions have such a plan; when it is profitable; its
 * memory. */
#include "support/contraction.h"

#include "backend/cpu/contraction/contraction_col2im.h"
#include "backend/cpu/isa.h"
#include "base/alloc.h"
#include "base/pool.h"

static bool has_columns(const wk__work_args *kernel)
{
    wk__col2im_plan p;
    return wk__col2im_plan_init(&p, kernel);
}

static bool is_profitable(const wk__work_args *kernel)
{
    wk__col2im_plan p;
    return wk__col2im_plan_init(&p, kernel) && wk__col2im_is_profitable(&p);
}

static wk_code run_columns(const wk__work_args *kernel, wk__fail *fail)
{
    wk__col2im_plan p;
    assert_true(wk__col2im_plan_init(&p, kernel));
    return wk__col2im_run(&p, fail);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void expect_convolution(const convolution *of, wk_dtype dtype, layout layout, direction way)
{
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    char what[128];
    convolution_new(&t, of, dtype, layout);
    fill_small(&t.x), fill_small(&t.w), fill_small(&t.y);
    describe(&t, way, &kernel, &sum);
    snprintf(what, sizeof what, "%s, layout %d, direction %d, %d dims of %d, kernel %d, stride %d", wk_dtype_str(dtype),
             (int)layout, (int)way, of->dims, (int)of->size[0], (int)of->kernel[0], (int)of->stride[0]);
    if (!has_columns(&kernel)) fail_msg("%s has no col2im plan", what);
    expect_exactly(&kernel, result_of(&t, way), run_columns, what);
    convolution_free(&t);
}

/* Strides, dilation, padding, groups, one to three dimensions. */
static const convolution small[] = {
    {1, 2, 1, 3, 4, {9}, {3}, {1}, {1}, {1}},
    {1, 2, 2, 3, 2, {11}, {4}, {3}, {2}, {1}},
    {1, 1, 1, 1, 1, {30}, {5}, {2}, {4}, {3}},
    {1, 1, 1, 2, 2, {3}, {7}, {1}, {3}, {1}},    /* kernel larger than the input */
    {1, 1, 1, 2, 3, {2}, {3}, {5}, {2}, {1}},    /* some remainders have no positions */
    {1, 1, 1, 1, 1, {6}, {1}, {7}, {9}, {1}},    /* positions of y outside x on both sides */
    {1, 1, 1, 1, 2, {200}, {90}, {1}, {0}, {2}}, /* more taps than are clipped at a time */
    {2, 2, 1, 3, 5, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 2, 4, {9, 10}, {3, 2}, {2, 3}, {1, 0}, {1, 2}},
    {2, 2, 1, 3, 4, {9, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, /* odd and even positions are interleaved */
    {2, 2, 8, 1, 1, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* depthwise */
    {2, 2, 1, 3, 4, {8, 8}, {1, 1}, {2, 2}, {0, 0}, {1, 1}}, /* most positions stay 0 */
    {2, 1, 1, 2, 2, {1, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* one row of positions */
    {3, 2, 1, 3, 4, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {3, 1, 2, 2, 3, {5, 6, 7}, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {2, 1, 1}},
};
enum { SMALL = sizeof small / sizeof *small };

static void gradients(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I8, WK_U8, WK_I16, WK_I32, WK_I64};
    for (int k = 0; k < SMALL; k++)
        for (size_t dtype = 0; dtype < sizeof dtypes / sizeof *dtypes; dtype++)
            for (layout layout = ROWS; layout < LAYOUTS; layout++)
                expect_convolution(&small[k], dtypes[dtype], layout, GRAD_INPUT);
}

/* A convolution of stride 1 has a plan as well. */
static void convolutions_of_stride_1(void **state)
{
    (void)state;
    int seen = 0;
    for (int k = 0; k < SMALL; k++) {
        bool ones = true;
        for (int d = 0; d < small[k].dims; d++) ones = ones && small[k].stride[d] == 1;
        if (!ones) continue;
        expect_convolution(&small[k], WK_F32, GAPS, FORWARD);
        expect_convolution(&small[k], WK_F16, ROWS, FORWARD);
        seen++;
    }
    assert_true(seen >= 5);
}

/* Results of several pieces, by rows, by positions and by both, and pieces of several boxes; the last of each is
 * smaller than the others. */
static void pieces_and_boxes(void **state)
{
    (void)state;
    static const convolution large[] = {
        {2, 1, 1, 70, 20, {13, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  /* pieces of 32 channels */
        {2, 1, 1, 3, 8, {150, 151}, {7, 7}, {2, 2}, {3, 3}, {1, 1}},  /* of some rows of positions, several boxes */
        {2, 1, 1, 2, 2, {190, 1030}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* an image larger than the buffer */
        {1, 1, 1, 1, 8, {140001}, {9}, {3}, {4}, {1}},                /* the same in one dimension */
        {2, 1, 1, 200, 3, {60, 60}, {1, 1}, {2, 2}, {0, 0}, {1, 1}},  /* fewer rows than D has room for */
        {3, 1, 1, 5, 3, {20, 40, 41}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    };
    for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
        expect_convolution(&large[k], WK_F32, ROWS, GRAD_INPUT);
        if (k < 1) expect_convolution(&large[k], WK_BF16, BACKWARDS, GRAD_INPUT);
        if (k == 0) expect_convolution(&large[k], WK_F64, ROWS, FORWARD);
    }
}

/* Other lengths of added rows, and other tiles. */
static void other_instruction_sets(void **state)
{
    (void)state;
    const wk__cpu_isa *before = wk__cpu_isa_current();
    for (int k = 0; wk__cpu_isa_at(k); k++) {
        wk__cpu_isa_use(wk__cpu_isa_at(k));
        for (int c = 0; c < SMALL; c++) {
            expect_convolution(&small[c], WK_F32, ROWS, GRAD_INPUT);
            expect_convolution(&small[c], WK_I64, ROWS, GRAD_INPUT);
        }
    }
    wk__cpu_isa_use(before);
}

/* ---- contractions with a plan ------------------------------------------------------------------------------------ */

/* C[b, i, p] = sum over o, u of A[b, i, o, u] B[b, o, (p - u + 2) / 2], and variations of it. */
enum { AT_B, AT_I, AT_P, AT_O, AT_U, AT_ALL };
typedef struct general {
    array a, b, c;
    wk__work_args kernel;
    wk__contraction sum;
} general;

static void general_new(general *t)
{
    const int64_t of_a[] = {3, 4, 5, 3}, of_b[] = {3, 5, 8}, of_c[] = {3, 4, 13};
    array_new(&t->a, WK_I32, 4, of_a, ROWS);
    array_new(&t->b, WK_I32, 3, of_b, ROWS);
    array_new(&t->c, WK_I32, 3, of_c, ROWS);
    t->sum = (wk__contraction){.dtype = WK_I32, .nsummed = 2, .naffine = {0, 1}, .extent = {5, 3}};
    t->kernel = (wk__work_args){.ndim = 3, .shape = {3, 4, 13}, .contraction = &t->sum, .tag = -1};
    take_operand(&t->kernel, &t->sum, 0, &t->c, 3, (const int[]){AT_B, AT_I, AT_P});
    take_operand(&t->kernel, &t->sum, 1, &t->a, 4, (const int[]){AT_B, AT_I, AT_O, AT_U});
    take_operand(&t->kernel, &t->sum, 2, &t->b, 3, (const int[]){AT_B, AT_O, -1});
    t->sum.affine[1][0] = (wk__affine_index){
        .offset = 2, .divisor = 2, .extent = 8, .stride = 1, .coefficient = {[AT_P] = 1, [AT_U] = -1}};
}

static void general_free(general *t)
{
    free(t->a.data);
    free(t->b.data);
    free(t->c.data);
}

/* Applies variation k. Extents only shrink, so that operands stay within their memory. */
static void vary(general *t, int k)
{
    wk__affine_index *q = &t->sum.affine[1][0];
    int64_t *of_a = t->kernel.operand[1].stride, *of_b = t->kernel.operand[2].stride;
    switch (k) {
    case 1: swap_factors(&t->kernel, &t->sum); break;
    case 2: t->sum.extent[1] = 1; break;
    case 3: q->coefficient[AT_U] = 0; break;                          /* the product sums over u */
    case 4: q->coefficient[AT_O] = 1, t->sum.stride[1][0] = 0; break; /* o is a tap as well */
    case 5: q->divisor = 1; break;
    case 6: of_a[AT_B] = 0; break;
    case 7: of_b[AT_B] = 0; break;                        /* only A depends on b, as on i: one of them becomes rows */
    case 8: t->kernel.operand[1].stride[AT_I] = 0; break; /* i is a batch index on which nothing depends */
    case 9: t->kernel.shape[AT_P] = 1; break;
    case 10: q->coefficient[AT_P] = 2, t->kernel.shape[AT_P] = 1; break; /* p has one step */
    case 11: q->offset = -100; break;                                    /* no coordinate is in range */
    case 12: t->sum.nsummed = 0, q->coefficient[AT_U] = q->coefficient[AT_O] = 0; break;
    case 13: q->coefficient[AT_P] = 0; break; /* C is the same for each p, a batch index */
    case 14: q->coefficient[AT_P] = 2; break; /* C lacks some positions of p */
    case 15: q->coefficient[AT_P] = -1; break;
    case 16: q->coefficient[AT_I] = 1; break; /* two indices of the result */
    case 17: t->sum.naffine[0] = 1, t->sum.affine[0][0] = (wk__affine_index){.divisor = 1, .extent = 1}; break;
    case 18: t->sum.naffine[1] = 0; break;
    case 19: t->sum.naffine[1] = 2, t->sum.affine[1][1] = *q, t->sum.affine[1][1].stride = 0; break;
    case 20: t->sum.stride[1][1] = 1, q->extent = 6; break; /* B also has a stride along u */
    case 21: of_b[AT_P] = 1, t->kernel.shape[AT_P] = 3, q->extent = 6; break;
    case 22: of_a[AT_P] = 1, t->kernel.shape[AT_P] = 2, t->sum.extent[1] = 2; break;
    case 23: t->sum.extent[0] = 0; break;
    case 24: t->kernel.shape[AT_B] = 0; break;
    case 25: q->extent = 0; break;
    /* two indices of the result, on which nothing else depends */
    case 26: q->coefficient[AT_I] = 1, of_a[AT_I] = 0; break;
    default: break;
    }
}

static void conditions_of_a_plan(void **state)
{
    (void)state;
    enum { CHANGES = 27, WITH = 14 }; /* the first WITH variations have a plan */
    for (int k = 0; k < CHANGES; k++) {
        general t;
        char what[32];
        general_new(&t);
        vary(&t, k);
        snprintf(what, sizeof what, "change %d", k);
        assert_null(wk__contraction_check(&t.sum, t.kernel.ndim, t.kernel.shape));
        if (has_columns(&t.kernel) != (k < WITH)) fail_msg("%s has %scol2im plan", what, k < WITH ? "no " : "a ");
        if (k < WITH) expect_exactly(&t.kernel, &t.c, run_columns, what);
        if (k >= WITH) assert_false(is_profitable(&t.kernel));
        general_free(&t);
    }
}

/* Rows of positions that exceed a piece, and more taps than D has room for. */
static void sizes_beyond_buffers(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        bool has;
    } cases[] = {
        {{2, 1, 1, 1, 1, {2, 131072}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, true},
        {{2, 1, 1, 1, 1, {2, 131073}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, false},
        {{1, 1, 1, 1, 1, {98310}, {98304}, {1}, {0}, {1}}, true},
        {{1, 1, 1, 1, 1, {98310}, {98305}, {1}, {0}, {1}}, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        convolution_case t;
        wk__work_args kernel;
        wk__contraction sum;
        convolution_new(&t, &cases[k].of, WK_F32, ROWS);
        describe(&t, GRAD_INPUT, &kernel, &sum);
        assert_int_equal(has_columns(&kernel), cases[k].has);
        if (!cases[k].has) assert_false(is_profitable(&kernel));
        convolution_free(&t);
    }
}

/* Random indices and coordinates that have a plan; in i32, so the results are exact. */
static void coordinates_of_any_kind(void **state)
{
    (void)state;
    int with = 0;
    for (int round = 0; round < 3000; round++) {
        const int64_t shape[] = {1 + random_below(3), 1 + random_below(4), 1 + random_below(9), 1 + random_below(9)};
        const int64_t summed[] = {1 + random_below(4), 1 + random_below(4), 1 + random_below(3)};
        const int64_t places[] = {1 + random_below(9), 1 + random_below(9)};
        const int64_t of_a[] = {shape[0], shape[1], summed[0], summed[1], summed[2]},
                      of_b[] = {shape[0], summed[0], places[0], places[1]};
        array a, b, c;
        array_new(&a, WK_I32, 5, of_a, (layout)random_below(LAYOUTS));
        array_new(&b, WK_I32, 4, of_b, (layout)random_below(LAYOUTS));
        array_new(&c, WK_I32, 4, shape, (layout)random_below(LAYOUTS));
        wk__contraction sum = {.dtype = WK_I32, .nsummed = 3, .naffine = {0, 2}};
        wk__work_args kernel = {.ndim = 4, .contraction = &sum, .tag = -1};
        memcpy(kernel.shape, shape, sizeof shape);
        memcpy(sum.extent, summed, sizeof summed);
        take_operand(&kernel, &sum, 0, &c, 4, (const int[]){0, 1, 2, 3});
        take_operand(&kernel, &sum, 1, &a, 5, (const int[]){0, 1, 4, 5, 6});
        take_operand(&kernel, &sum, 2, &b, 4, (const int[]){0, 4, -1, -1});
        for (int k = 0; k < 2; k++) {
            wk__affine_index *q = &sum.affine[1][k];
            *q = (wk__affine_index){.offset = random_below(15) - 7,
                                    .divisor = 1 + random_below(4),
                                    .extent = places[k],
                                    .stride = b.operand.stride[2 + k]};
            q->coefficient[2 + k] = random_below(8) > 0;
            for (int s = 5; s < 7; s++) q->coefficient[s] = random_below(3) > 0 ? random_below(7) - 3 : 0;
        }
        assert_null(wk__contraction_check(&sum, 4, shape));
        if (has_columns(&kernel)) {
            char what[32];
            snprintf(what, sizeof what, "round %d", round);
            expect_exactly(&kernel, &c, run_columns, what);
            with++;
        }
        free(a.data), free(b.data), free(c.data);
    }
    assert_true(with > 1500);
}

/* ---- profitability ----------------------------------------------------------------------------------------------- */

/* From measurements in docs/contributing; cases close to even are left out. */
static void profitable_cases(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        bool forward, of_input, of_weight;
    } cases[] = {
        {{2, 64, 1, 1, 6, {28, 28}, {5, 5}, {1, 1}, {2, 2}, {1, 1}}, false, true, false},
        {{2, 64, 1, 6, 16, {14, 14}, {5, 5}, {1, 1}, {0, 0}, {1, 1}}, false, true, false},
        {{2, 1, 1, 3, 64, {224, 224}, {7, 7}, {2, 2}, {3, 3}, {1, 1}}, false, true, false},
        {{2, 2, 1, 64, 64, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, true, false},
        {{2, 2, 1, 256, 256, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false, true, false},
        {{2, 2, 1, 64, 128, {56, 56}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, false, true, false},
        {{2, 2, 1, 64, 128, {56, 56}, {1, 1}, {2, 2}, {0, 0}, {1, 1}}, false, true, false},
        {{2, 2, 1, 256, 512, {14, 14}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, false, true, false},
        {{2, 2, 1, 64, 128, {56, 56}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, false, false, false}, /* a matrix product */
        {{2, 1, 1, 32, 2, {128, 128}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, false, false},
        {{2, 2, 1, 512, 512, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false, true, false},
        {{2, 32, 1, 512, 512, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false, false, false}, /* images share columns */
        {{2, 32, 1, 256, 256, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false, false, false},
        {{2, 32, 1, 512, 512, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false, false, false},
        {{2, 1, 1, 64, 4, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, false, false},
        {{2, 1, 1, 4, 5, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false, false, false}, /* too small */
        {{2, 2, 32, 1, 1, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, true, false},
        {{1, 2, 1, 1, 16, {16384}, {25}, {4}, {12}, {1}}, false, true, false},
        {{3, 2, 1, 4, 16, {16, 16, 16}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, false, true, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (direction way = FORWARD; way < DIRECTIONS; way++) {
            convolution_case t;
            wk__work_args kernel;
            wk__contraction sum;
            convolution_new(&t, &cases[k].of, WK_F32, ROWS);
            describe(&t, way, &kernel, &sum);
            const bool want = way == FORWARD      ? cases[k].forward
                              : way == GRAD_INPUT ? cases[k].of_input
                                                  : cases[k].of_weight;
            if (is_profitable(&kernel) != want) fail_msg("case %d, direction %d", (int)k, (int)way);
            convolution_free(&t);
        }
}

/* Profitable plans are used: floating-point sums have the bits of that order of summation. */
static void profitable_plans_are_used(void **state)
{
    (void)state;
    const convolution of = {2, 4, 1, 3, 40, {20, 20}, {5, 5}, {1, 1}, {2, 2}, {1, 1}};
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    wk__fail fail;
    convolution_new(&t, &of, WK_F32, ROWS);
    describe(&t, GRAD_INPUT, &kernel, &sum);
    assert_true(is_profitable(&kernel));
    assert_int_equal(run_columns(&kernel, &fail), WK_OK);
    char *want = array_copy(&t.x);
    for (int threads = 1; threads <= 2; threads++) {
        wk__set_thread_count(threads);
        for (int64_t k = 3; k < t.x.bytes / 4; k++) put_random(WK_F32, t.x.data + 4 * k);
        assert_int_equal(wk__cpu_contraction(&(wk__work){.family = WK__CONTRACTION, .args = &kernel}, &fail), WK_OK);
        assert_memory_equal(want, t.x.data, (size_t)t.x.bytes);
    }
    wk__set_thread_count(1);
    free(want);
    convolution_free(&t);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* A failed allocation fails the contraction before anything is written to C: all buffers, two per thread, are allocated
 * before the first piece. */
static void failed_allocations(void **state)
{
    (void)state;
    const convolution of = {2, 4, 1, 30, 300, {30, 30}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    convolution_new(&t, &of, WK_F32, ROWS);
    describe(&t, GRAD_INPUT, &kernel, &sum);
    char *before = array_copy(&t.x);
    for (int threads = 1; threads <= 2; threads++) {
        wk__set_thread_count(threads);
        for (int request = 1; request <= 2 * threads + 1; request++) {
            wk__fail fail = {0};
            wk__cpu_matmul_trim();
            memcpy(t.x.data, before, (size_t)t.x.bytes);
            wk__alloc_fail_at(request);
            const wk_code code = run_columns(&kernel, &fail);
            wk__alloc_fail_at(0);
            assert_int_equal(code, request <= 2 * threads ? WK_ERR_MEMORY : WK_OK); /* no later allocations */
            assert_int_equal(fail.code, code);
            if (code != WK_OK) assert_memory_equal(before, t.x.data, (size_t)t.x.bytes);
        }
    }
    wk__set_thread_count(1);
    free(before);
    convolution_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients),
        cmocka_unit_test(convolutions_of_stride_1),
        cmocka_unit_test(pieces_and_boxes),
        cmocka_unit_test(other_instruction_sets),
        cmocka_unit_test(conditions_of_a_plan),
        cmocka_unit_test(coordinates_of_any_kind),
        cmocka_unit_test(sizes_beyond_buffers),
        cmocka_unit_test(profitable_cases),
        cmocka_unit_test(profitable_plans_are_used),
        cmocka_unit_test(failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
