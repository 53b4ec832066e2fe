/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions with arbitrary indices that read a factor from padded copies, compared with element-by-element
 * results. */
#include "ir/build.h"
#include "support/padded.h"

/* Random coordinates. Indices of the result are b, i, p, q; summed ones o, u, v. */
static void coordinates_of_any_kind(void **state)
{
    (void)state;
    int products = 0, dots = 0;
    for (int round = 0; round < 6000; round++) {
        const wk_dtype dtype = WK_F32;
        const int64_t shape[] = {1 + random_below(3), 1 + random_below(11), 1 + random_below(9), 1 + random_below(40)};
        const int64_t summed[] = {1 + random_below(4), 1 + random_below(4), 1 + random_below(20)};
        const int64_t places[] = {1 + random_below(9), 1 + random_below(30)};
        const int64_t of_a[] = {shape[0], shape[1], summed[0], summed[1], summed[2]},
                      of_b[] = {shape[0], summed[0], places[0], places[1]};
        array a, b, c;
        array_new(&a, dtype, 5, of_a, random_below(4) ? ROWS : (layout)random_below(LAYOUTS));
        array_new(&b, dtype, 4, of_b, (layout)random_below(LAYOUTS));
        array_new(&c, dtype, 4, shape, random_below(4) ? ROWS : (layout)random_below(LAYOUTS));
        fill_small(&a), fill_small(&b);
        wk__contraction sum = {.dtype = (uint8_t)dtype, .nsummed = 3, .naffine = {0, 2}};
        wk__work_args kernel = {.ndim = 4, .contraction = &sum, .tag = -1};
        memset(&sum.affine[1][2], 1, sizeof sum.affine[1][2]); /* entries beyond the count are garbage */
        memset(&kernel.shape[4], 1, sizeof *kernel.shape), memset(&sum.extent[3], 1, sizeof *sum.extent);
        memcpy(kernel.shape, shape, sizeof shape);
        memcpy(sum.extent, summed, sizeof summed);
        take_operand(&kernel, &sum, 0, &c, 4, (const int[]){0, 1, 2, 3});
        take_operand(&kernel, &sum, 1, &a, 5, (const int[]){0, 1, 4, 5, 6});
        take_operand(&kernel, &sum, 2, &b, 4, (const int[]){0, 4, -1, -1});
        if (random_below(8) == 0) take_stride(&kernel, &sum, 1, (int)random_below(7), 0);
        for (int k = 0; k < 2; k++) {
            wk__affine_index *q = &sum.affine[1][k];
            *q = (wk__affine_index){.offset = random_below(15) - 7,
                                    .divisor = 1 + (random_below(16) == 0),
                                    .extent = places[k],
                                    .stride = b.operand.stride[2 + k]};
            q->coefficient[2 + k] = random_below(4) - (random_below(8) == 0);
            if (random_below(16) == 0) q->coefficient[3 - k] = 1;
            for (int s = 5; s < 7; s++) q->coefficient[s] = random_below(3) > 0 ? random_below(7) - 3 : 0;
        }
        assert_null(wk__contraction_check(&sum, 4, shape));
        char what[32];
        snprintf(what, sizeof what, "round %d", round);
        const bool product = has_product(&kernel), dot = has_dots(&kernel), taken = test_takes_case(4);
        if (product && taken) expect_exactly(&kernel, &c, run_product, what);
        if (dot && taken) expect_exactly(&kernel, &c, run_dots, what);
        products += product, dots += dot;
        free(a.data), free(b.data), free(c.data);
    }
    const bool some = products >= 1000 && dots >= 100, none = products == 0 && dots == 0;
    if (!(has_tiles(WK_F32) ? some : none)) fail_msg("%d products, %d dots", products, dots);
}

/* C[i, j, p, q] = sum over u, v of A[i, j, u, v] B[p + u, q + v], or of A[i, j, p, q] B[p + u, q + v] with C over u, v:
 * A has two indices that B lacks, and the coordinates come in either order. */
static void two_indices_of_rows(void **state)
{
    (void)state;
    enum { ROWS_I = 3, ROWS_J = 5, PLACES = 9, TAPS = 2 };
    const int64_t taps[] = {ROWS_I, ROWS_J, TAPS, TAPS + 1}, places[] = {ROWS_I, ROWS_J, PLACES, PLACES + 20};
    if (!has_tiles(WK_F32)) skip();
    for (int summed = 0; summed < 2; summed++)
        for (int turned = 0; turned < 2; turned++) {
            array w, x, y;
            char what[48];
            array_new(&w, WK_F32, 4, taps, ROWS);
            array_new(&x, WK_F32, 2, places + 2, ROWS);
            array_new(&y, WK_F32, 4, places, ROWS);
            fill_small(&w), fill_small(&x), fill_small(&y);
            wk__contraction sum = {.dtype = WK_F32, .nsummed = 2, .naffine = {0, 2}};
            wk__work_args kernel = {.ndim = 4, .contraction = &sum, .tag = -1};
            memcpy(kernel.shape, summed ? taps : places, sizeof taps);
            memcpy(sum.extent, (summed ? places : taps) + 2, 2 * sizeof *taps);
            take_operand(&kernel, &sum, 0, summed ? &w : &y, 4, (const int[]){0, 1, 2, 3});
            take_operand(&kernel, &sum, 1, summed ? &y : &w, 4, (const int[]){0, 1, 4, 5});
            take_operand(&kernel, &sum, 2, &x, 2, (const int[]){-1, -1});
            for (int k = 0; k < 2; k++) {
                wk__affine_index *q = &sum.affine[1][turned ? 1 - k : k];
                *q = (wk__affine_index){.divisor = 1, .extent = places[2 + k], .stride = x.operand.stride[k]};
                q->coefficient[2 + k] = q->coefficient[4 + k] = 1;
            }
            snprintf(what, sizeof what, "summed %d, turned %d", summed, turned);
            assert_true((summed ? has_dots : has_product)(&kernel));
            expect_exactly(&kernel, summed ? &w : &y, summed ? run_dots : run_product, what);
            free(w.data), free(x.data), free(y.data);
        }
}

/* Contractions with few indices: C[i, p] = sum over u of A[i, u] B[p + u], with the indices in any order, and without
 * i; C[i, u] = sum over p of A[i, p] B[p + u], with any subset. Indices are numbered from 0. */
static void few_indices(void **state)
{
    (void)state;
    enum { I, P, U, EXTENTS };
    static const int64_t extent[] = {70, 900, 3}; /* several pieces along each index */
    static const struct {
        bool summed;
        int ndim, index[2]; /* of the result */
    } cases[] = {
        {false, 2, {I, P}}, {false, 2, {P, I}}, {false, 1, {P}}, {true, 2, {I, U}},
        {true, 2, {U, I}},  {true, 1, {I}},     {true, 1, {U}},  {true, 0, {0}},
    };
    if (!has_tiles(WK_F32)) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const bool summed = cases[k].summed;
        const int ndim = cases[k].ndim, other = summed ? U : P, last = summed ? P : U;
        int at[EXTENTS] = {-1, -1, -1};
        for (int d = 0; d < ndim; d++) at[cases[k].index[d]] = d;
        at[last] = ndim;
        /* I is outermost in memory; a missing index has extent 1 */
        const int64_t rows = at[I] < 0 ? 1 : extent[I], length = extent[P] + extent[U] - 1;
        const int64_t of_a[] = {rows, extent[last]}, of_c[] = {rows, at[other] < 0 ? 1 : extent[other]};
        array a, b, c;
        char what[32];
        array_new(&a, WK_F32, 2, of_a, ROWS);
        array_new(&b, WK_F32, 1, &length, ROWS);
        array_new(&c, WK_F32, 2, of_c, ROWS);
        fill_small(&a), fill_small(&b), fill_small(&c);
        wk__contraction sum = {.dtype = WK_F32, .nsummed = 1, .extent = {extent[last]}, .naffine = {0, 1}};
        wk__work_args kernel = {.ndim = ndim, .contraction = &sum, .tag = -1};
        for (int d = 0; d < ndim; d++) kernel.shape[d] = extent[cases[k].index[d]];
        take_operand(&kernel, &sum, 0, &c, 2, (const int[]){at[I], at[other]});
        take_operand(&kernel, &sum, 1, &a, 2, (const int[]){at[I], at[last]});
        take_operand(&kernel, &sum, 2, &b, 1, (const int[]){-1});
        wk__affine_index *q = &sum.affine[1][0];
        *q = (wk__affine_index){.divisor = 1, .extent = length, .stride = 1};
        for (int i = P; i <= U; i++)
            if (at[i] >= 0) q->coefficient[at[i]] = 1;
        snprintf(what, sizeof what, "case %d", (int)k);
        assert_true((summed ? has_dots : has_product)(&kernel));
        expect_exactly(&kernel, &c, summed ? run_dots : run_product, what);
        if (!summed) {
            wk__program g;
            wk__indirect_plan p;
            boxes seen = {.kernel = &kernel};
            memset(c.data, 0, (size_t)c.bytes);
            ir_space(&g, ndim, kernel.shape, 0);
            assert_true(wk__indirect_plan_init(&p, &kernel));
            wk__indirect_epilogue_boxes(&p, &g, check_box, &seen);
            assert_int_equal(seen.elements, elements_of(&kernel));
            assert_int_equal(seen.count, 2);
        }
        free(a.data), free(b.data), free(c.data);
    }
}

/* A coordinate with two indices of the result, of which one is index 0, has no such plan. */
static void coordinates_with_two_indices(void **state)
{
    (void)state;
    const int64_t of_c[] = {4, 6}, taps = 3, length = 26;
    array a, b, c;
    array_new(&a, WK_F32, 1, &taps, ROWS);
    array_new(&b, WK_F32, 1, &length, ROWS);
    array_new(&c, WK_F32, 2, of_c, ROWS);
    wk__contraction sum = {.dtype = WK_F32, .nsummed = 1, .extent = {taps}, .naffine = {0, 1}};
    wk__work_args kernel = {.ndim = 2, .shape = {4, 6}, .contraction = &sum, .tag = -1};
    take_operand(&kernel, &sum, 0, &c, 2, (const int[]){0, 1});
    take_operand(&kernel, &sum, 1, &a, 1, (const int[]){2});
    take_operand(&kernel, &sum, 2, &b, 1, (const int[]){-1});
    sum.affine[1][0] =
        (wk__affine_index){.divisor = 1, .extent = length, .stride = 1, .coefficient = {[0] = 6, [1] = 1, [2] = 1}};
    assert_false(has_product(&kernel));
    sum.affine[1][0].coefficient[0] = 0;
    assert_int_equal(has_product(&kernel), has_tiles(WK_F32));
    free(a.data), free(b.data), free(c.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_of_any_kind),
        cmocka_unit_test(two_indices_of_rows),
        cmocka_unit_test(few_indices),
        cmocka_unit_test(coordinates_with_two_indices),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
