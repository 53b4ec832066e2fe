/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions for reading a factor from padded copies, limits of buffers, and values at the limits of 64-bit
 * integers. */
#include "support/padded.h"

/* C[b, i, p] = sum over o, u of A[b, i, o, u] B[b, o, 2 p + u - 1], over result positions; and, with A[b, i, p] and
 * C[b, i, o, u], over summed positions. The tests vary these. */
enum { AT_B, AT_I, AT_P, AT_O, AT_U };
typedef struct general {
    array a, b, c;
    wk__contraction sum;
    wk__work_args kernel;
    int at[5]; /* index numbers of b, i, p, o, u */
} general;

static void general_new(general *t, bool summed)
{
    static const int forward[] = {0, 1, 2, 3, 4}, by_w[] = {0, 1, 4, 2, 3};
    const int64_t extent[] = {2, 3, 9, 4, 3}, length = 18;
    memset(t, 0, sizeof *t);
    memcpy(t->at, summed ? by_w : forward, sizeof t->at);
    const int *at = t->at, ndim = summed ? 4 : 3;
    t->sum = (wk__contraction){.dtype = WK_F32, .nsummed = (int8_t)(5 - ndim), .naffine = {0, 1}};
    t->kernel = (wk__work_args){.ndim = ndim, .contraction = &t->sum, .tag = -1};
    for (int k = 0; k < 5; k++) *(at[k] < ndim ? &t->kernel.shape[at[k]] : &t->sum.extent[at[k] - ndim]) = extent[k];
    const int64_t of_w[] = {2, 3, 4, 3}, of_y[] = {2, 3, 9}, of_x[] = {2, 4, length};
    const int w[] = {at[AT_B], at[AT_I], at[AT_O], at[AT_U]}, y[] = {at[AT_B], at[AT_I], at[AT_P]},
              x[] = {at[AT_B], at[AT_O], -1};
    array_new(&t->a, WK_F32, summed ? 3 : 4, summed ? of_y : of_w, ROWS);
    array_new(&t->b, WK_F32, 3, of_x, ROWS);
    array_new(&t->c, WK_F32, summed ? 4 : 3, summed ? of_w : of_y, ROWS);
    fill_small(&t->a), fill_small(&t->b);
    take_operand(&t->kernel, &t->sum, 0, &t->c, summed ? 4 : 3, summed ? w : y);
    take_operand(&t->kernel, &t->sum, 1, &t->a, summed ? 3 : 4, summed ? y : w);
    take_operand(&t->kernel, &t->sum, 2, &t->b, 3, x);
    wk__affine_index *q = &t->sum.affine[1][0];
    *q = (wk__affine_index){.offset = -1, .divisor = 1, .extent = length, .stride = 1};
    q->coefficient[at[AT_P]] = 2;
    q->coefficient[at[AT_U]] = 1;
}

static void general_free(general *t)
{
    free(t->a.data);
    free(t->b.data);
    free(t->c.data);
}

static int64_t *extent_of(general *t, int index)
{
    const int i = t->at[index];
    return i < t->kernel.ndim ? &t->kernel.shape[i] : &t->sum.extent[i - t->kernel.ndim];
}

/* Applies variation k. Operands stay within their memory. */
static void vary(general *t, int k)
{
    wk__affine_index *q = &t->sum.affine[1][0];
    const int *at = t->at, ndim = t->kernel.ndim;
    const int64_t far = (int64_t)1 << 27;
    switch (k) {
    case 1: swap_factors(&t->kernel, &t->sum); break;
    case 2: *extent_of(t, AT_U) = 1; break;
    case 3: *extent_of(t, AT_O) = 1; break;
    case 4: *extent_of(t, AT_I) = 1; break;
    case 5: q->coefficient[at[AT_U]] = -7; break;
    case 6: q->coefficient[at[AT_P]] = 8; break;
    case 7: q->offset = -100; break; /* no coordinate is in range */
    case 8: q->offset = far; break;
    case 9: take_stride(&t->kernel, &t->sum, 1, at[AT_I], 0); break;
    case 10: take_stride(&t->kernel, &t->sum, 1, at[AT_B], 0); break;
    case 11: q->coefficient[at[AT_U]] = far; break; /* the copy would be that long */
    case 12: q->coefficient[at[AT_P]] = 9; break;
    case 13: q->coefficient[at[AT_P]] = -1; break;
    case 14: q->divisor = 2; break;
    case 15: q->extent = 0; break;
    case 16: *extent_of(t, AT_B) = 0; break;
    case 17: *extent_of(t, AT_P) = 1; break;
    case 18: t->sum.naffine[0] = 1, t->sum.affine[0][0] = (wk__affine_index){.divisor = 1, .extent = 1}; break;
    case 19: t->sum.naffine[1] = 0; break;
    case 20: q->coefficient[at[AT_P]] = 0; break;
    /* a coordinate with an index on which A depends, or with two of them */
    case 21: q->coefficient[at[AT_B]] = 1; break;
    case 22: t->kernel.operand[0].dtype = WK_F16; break;
    case 23: /* neighbouring positions are adjacent neither in C nor in A */
        *(at[AT_P] < ndim ? &t->kernel.operand[0].stride[at[AT_P]] : &t->sum.stride[0][at[AT_P] - ndim]) = 2;
        *extent_of(t, AT_P) = 5;
        break;
    case 24: take_stride(&t->kernel, &t->sum, 2, at[AT_U], 1), q->extent = 10; break; /* B also has a stride along it */
    case 25: take_stride(&t->kernel, &t->sum, 2, at[AT_P], 1), q->extent = 6; break;
    case 26: q->coefficient[at[AT_I]] = 1; break; /* A depends on it, and B only through the coordinate */
    case 27: t->kernel.operand[1].dtype = WK_F16; break;
    case 28: t->kernel.operand[2].dtype = WK_F16; break;
    default: break;
    }
}

static void conditions_of_a_plan(void **state)
{
    (void)state;
    if (!has_tiles(WK_F32)) skip();
    enum { CHANGES = 29, SO = 11 }; /* the first SO variations are computed so */
    for (int summed = 0; summed < 2; summed++)
        for (int k = 0; k < CHANGES; k++) {
            general t;
            char what[48];
            has_way *has = summed ? has_dots : has_product;
            general_new(&t, summed);
            vary(&t, k);
            snprintf(what, sizeof what, "change %d, %s", k, summed ? "summed" : "of the result");
            const char *wrong = wk__contraction_check(&t.sum, t.kernel.ndim, t.kernel.shape);
            if (wrong) fail_msg("%s: %s", what, wrong);
            if (has(&t.kernel) != (k < SO)) fail_msg("%s can%s be computed so", what, k < SO ? "not" : "");
            if (k < SO) expect_exactly(&t.kernel, &t.c, summed ? run_dots : run_product, what);
            general_free(&t);
        }
}

/* Copies and tables that exceed their buffers. */
static void sizes_beyond_buffers(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        bool forward, of_weight;
    } cases[] = {
        {{1, 1, 1, 1, 1, {4000}, {1024}, {1}, {0}, {1}}, true, true}, /* taps */
        {{1, 1, 1, 1, 1, {4000}, {1025}, {1}, {0}, {1}}, false, false},
        {{2, 1, 1, 1, 1, {8, 2000}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, true, true}, /* vectors, on any CPU */
        {{2, 1, 1, 1, 1, {8, 70000}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, false, false},
        {{1, 1, 1, 240, 1, {1100}, {2}, {1}, {0}, {1010}}, true, true}, /* channels in a block of the sum */
        {{1, 1, 1, 240, 1, {1100}, {2}, {1}, {0}, {1011}}, false, true},
        {{1, 1, 1, 268, 1, {1900}, {2}, {1}, {0}, {1797}}, true, true}, /* 136 of 268 */
        {{1, 1, 1, 268, 1, {1900}, {2}, {1}, {0}, {1798}}, false, true},
        {{3, 1, 1, 1, 1, {2, 512, 5}, {1, 1, 3}, {1, 1, 1}, {0, 0, 1}, {1, 1, 1}}, true, true}, /* rows of a plane */
        {{3, 1, 1, 1, 1, {2, 513, 5}, {1, 1, 3}, {1, 1, 1}, {0, 0, 1}, {1, 1, 1}}, false, false},
        {{2, 1, 1, 1, 1, {2, 65518}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, false, true}, /* a copy of 64 K elements */
        {{2, 1, 1, 1, 1, {2, 65519}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, false, false},
        {{1, 1, 1, 600, 1, {1024}, {1}, {1}, {0}, {1}}, true, true}, /* copies of a piece */
    };
    if (!has_tiles(WK_F32)) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int summed = 0; summed < 2; summed++) {
            convolution_case t;
            wk__work_args kernel;
            wk__contraction sum;
            char what[32];
            const direction way = summed ? GRAD_WEIGHT : FORWARD;
            convolution_new(&t, &cases[k].of, WK_F32, ROWS);
            fill_small(&t.x), fill_small(&t.w), fill_small(&t.y);
            describe(&t, way, &kernel, &sum);
            const bool has = (summed ? has_dots : has_product)(&kernel);
            snprintf(what, sizeof what, "case %d, %d", (int)k, summed);
            if (has != (summed ? cases[k].of_weight : cases[k].forward)) fail_msg("%s", what);
            if (has) expect_exactly(&kernel, result_of(&t, way), summed ? run_dots : run_product, what);
            convolution_free(&t);
        }
}

/* C[i, p, q] = sum over u of A[i, u] B[p + v u, q + w u], or C[i, u] = sum over p, q of A[i, p, q] B[..]; without
 * memory. */
static bool has_two_axes(bool summed, const int64_t extent[], int64_t v, int64_t w)
{
    enum { I, U, P, Q };
    static const int by_places[] = {0, 3, 1, 2}, by_taps[] = {0, 1, 2, 3};
    const int *at = summed ? by_taps : by_places, ndim = summed ? 2 : 3;
    wk__memory memory = {.bytes = 0};
    wk__contraction sum = {.dtype = WK_F32, .nsummed = (int8_t)(4 - ndim), .naffine = {0, 2}};
    wk__work_args kernel = {.ndim = ndim, .contraction = &sum, .tag = -1};
    for (int k = 0; k < 4; k++) *(at[k] < ndim ? &kernel.shape[at[k]] : &sum.extent[at[k] - ndim]) = extent[k];
    for (int o = 0; o < 3; o++) kernel.operand[o] = (wk__operand){.memory = &memory, .dtype = WK_F32};
    const int64_t rows = summed ? extent[U] : 1;
    take_stride(&kernel, &sum, 0, at[summed ? U : Q], 1);
    take_stride(&kernel, &sum, 0, at[I], rows);
    take_stride(&kernel, &sum, 1, at[summed ? Q : U], 1);
    for (int k = 0; k < 2; k++) {
        wk__affine_index *q = &sum.affine[1][k];
        *q = (wk__affine_index){.divisor = 1, .extent = 4, .stride = 1};
        q->coefficient[at[k ? Q : P]] = 1;
        q->coefficient[at[U]] = k ? w : v;
    }
    assert_null(wk__contraction_check(&sum, ndim, kernel.shape));
    return (summed ? has_dots : has_product)(&kernel);
}

/* Sizes whose product overflows 64 bits, possibly to a small number. */
static void copies_beyond_64_bits(void **state)
{
    (void)state;
    const int64_t two_39 = (int64_t)1 << 39, two_24 = 1 << 24, two_40 = (int64_t)1 << 40;
    if (!has_tiles(WK_F32)) skip();
    for (int summed = 0; summed < 2; summed++) {
        assert_true(has_two_axes(summed, (const int64_t[]){3, 2, 2, 2}, 1, 1));
        assert_false(has_two_axes(summed, (const int64_t[]){3, 2, 2, 2}, two_24 - 2, two_39 - 2));
        assert_false(has_two_axes(summed, (const int64_t[]){3, 2, 2, two_40 - 1}, two_24 - 2, 0));
        assert_false(has_two_axes(summed, (const int64_t[]){3, 2, two_40 - 1, 2}, 0, two_24 - 2));
    }
}

/* The number of pieces for threads: as many as are worthwhile, on any CPU. */
static void number_of_pieces(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        int64_t products, dots;
    } cases[] = {
        {{2, 1, 1, 1, 1, {9, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 1, 1},
        {{2, 3, 1, 1, 1, {9, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 3, 1},
        {{2, 1, 1, 16, 16, {20, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 1, 1},
        {{2, 1, 1, 64, 64, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 7, 10},
        {{2, 3, 2, 64, 64, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 12, 10},
        {{2, 8, 1, 64, 64, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 16, 10},
        {{2, 1, 1, 64, 64, {3, 300}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 3, 10},
        {{2, 1, 1, 3, 200, {60, 60}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 8, 8},
        {{1, 1, 1, 3, 200, {4000}, {3}, {1}, {1}, {1}}, 7, 8},
    };
    if (!has_tiles(WK_F32)) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        convolution_case t;
        wk__work_args kernel;
        wk__contraction sum;
        wk__indirect_plan p;
        wk__k_lanes_plan dots;
        convolution_new(&t, &cases[k].of, WK_F32, ROWS);
        describe(&t, FORWARD, &kernel, &sum);
        assert_true(wk__indirect_plan_init(&p, &kernel));
        const int64_t products = wk__indirect_ntasks(&p);
        describe(&t, GRAD_WEIGHT, &kernel, &sum);
        assert_true(wk__k_lanes_plan_init(&dots, &kernel));
        const int64_t of_dots = wk__k_lanes_ntasks(&dots);
        if (products != cases[k].products || of_dots != cases[k].dots)
            fail_msg("case %d: %d, %d pieces", (int)k, (int)products, (int)of_dots);
        convolution_free(&t);
    }
}

static wk_code run_chosen(const wk__work_args *kernel, wk__fail *fail)
{
    return wk__cpu_contraction(&(wk__work){.family = WK__CONTRACTION, .args = kernel}, fail);
}

/* Extents far beyond all numerators: nothing computed from both overflows. */
static void extents_beyond_all_numerators(void **state)
{
    (void)state;
    static const convolution within = {1, 2, 1, 3, 4, {10}, {3}, {2}, {1}, {1}},
                             of_one = {1, 2, 1, 3, 4, {9}, {1}, {2}, {0}, {1}};
    for (direction way = FORWARD; way < DIRECTIONS; way++)
        for (int dtype = 0; dtype < 2; dtype++) {
            convolution_case t;
            wk__work_args kernel;
            wk__contraction sum;
            convolution_new(&t, way == GRAD_INPUT ? &of_one : &within, dtype ? WK_I32 : WK_F32, ROWS);
            fill_small(&t.x), fill_small(&t.w), fill_small(&t.y);
            describe(&t, way, &kernel, &sum);
            wk__affine_index *q = &sum.affine[1][0];
            q->extent = (((int64_t)1 << 62) - 64) / q->divisor;
            assert_null(wk__contraction_check(&sum, kernel.ndim, kernel.shape));
            expect_exactly(&kernel, result_of(&t, way), run_chosen, "chosen");
            if (has_product(&kernel)) expect_exactly(&kernel, result_of(&t, way), run_product, "product");
            if (has_dots(&kernel)) expect_exactly(&kernel, result_of(&t, way), run_dots, "dots");
            convolution_free(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_of_a_plan),          cmocka_unit_test(sizes_beyond_buffers),
        cmocka_unit_test(copies_beyond_64_bits),         cmocka_unit_test(number_of_pieces),
        cmocka_unit_test(extents_beyond_all_numerators),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
