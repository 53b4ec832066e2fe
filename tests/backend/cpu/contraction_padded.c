/* SPDX-License-Identifier: Apache-2.0 */
/* Results of contractions that read a factor from padded copies, compared with element-by-element results. */
#include "support/padded.h"

/* Strides, dilation, padding, groups, one to three dimensions. */
static const convolution small[] = {
    {1, 2, 1, 3, 4, {9}, {3}, {1}, {1}, {1}},
    {1, 2, 2, 3, 2, {11}, {4}, {3}, {2}, {1}},
    {1, 1, 1, 1, 1, {30}, {5}, {2}, {4}, {3}},
    {1, 1, 1, 2, 2, {3}, {7}, {1}, {3}, {1}},  /* kernel larger than the input */
    {1, 2, 1, 2, 3, {40}, {3}, {8}, {2}, {1}}, /* some remainders belong to no tap */
    {1, 1, 1, 1, 1, {6}, {2}, {1}, {9}, {5}},  /* positions outside the input on both sides */
    {1, 1, 1, 1, 2, {200}, {90}, {1}, {0}, {2}},
    {2, 2, 1, 3, 5, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 2, 4, {9, 10}, {3, 2}, {2, 3}, {1, 0}, {1, 2}},
    {2, 2, 8, 1, 1, {9, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* depthwise */
    {2, 2, 8, 1, 1, {9, 40}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {2, 2, 1, 5, 9, {8, 34}, {1, 1}, {2, 2}, {0, 0}, {1, 1}},   /* one of four parts is copied */
    {2, 1, 1, 2, 2, {1, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},    /* one row of positions */
    {2, 1, 1, 60, 11, {6, 21}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* several blocks of the sum */
    {3, 2, 1, 3, 4, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {3, 1, 2, 2, 3, {5, 6, 7}, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {2, 1, 1}},
};
enum { SMALL = sizeof small / sizeof *small };

static void convolutions_forward(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_I32, WK_I64};
    for (int k = 0; k < SMALL; k++)
        for (int dtype = 0; dtype < 4; dtype++) {
            expect_convolution(&small[k], dtypes[dtype], ROWS, FORWARD, has_product, run_product, true);
            expect_convolution(&small[k], dtypes[dtype], COLUMNS, FORWARD, has_product, run_product, true);
            expect_convolution(&small[k], dtypes[dtype], GAPS, FORWARD, has_product, run_product, true);
            expect_convolution(&small[k], dtypes[dtype], BACKWARDS, FORWARD, has_product, run_product, false);
        }
}

/* Gradients for x of stride 1 are convolutions whose kernel is traversed backwards. */
static void gradients_by_the_input(void **state)
{
    (void)state;
    int seen = 0;
    for (int k = 0; k < SMALL; k++) {
        bool ones = true;
        for (int d = 0; d < small[k].dims; d++) ones = ones && small[k].stride[d] == 1;
        seen += expect_convolution(&small[k], WK_F32, ROWS, GRAD_INPUT, has_product, run_product, ones) && !ones;
    }
    assert_int_equal(seen, 0);
}

static void gradients_by_the_kernel(void **state)
{
    (void)state;
    for (int k = 0; k < SMALL; k++)
        for (int dtype = 0; dtype < 2; dtype++) {
            const wk_dtype of = dtype ? WK_F64 : WK_F32;
            expect_convolution(&small[k], of, ROWS, GRAD_WEIGHT, has_dots, run_dots, true);
            expect_convolution(&small[k], of, COLUMNS, GRAD_WEIGHT, has_dots, run_dots, true);
            expect_convolution(&small[k], of, GAPS, GRAD_WEIGHT, has_dots, run_dots, true);
            assert_false(expect_convolution(&small[k], of, BACKWARDS, GRAD_WEIGHT, has_dots, run_dots, false));
        }
}

/* Several pieces by rows, channels and positions, and several blocks of the sum; the last of each is smaller. */
static const convolution large[] = {
    {2, 2, 1, 23, 131, {21, 37}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 1, 3, 5, {90, 211}, {5, 5}, {2, 2}, {2, 2}, {1, 1}},
    {2, 1, 1, 2, 2, {190, 1030}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {1, 1, 1, 2, 70, {5003}, {9}, {3}, {4}, {1}},
    {2, 1, 1, 211, 67, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {3, 1, 1, 5, 9, {9, 40, 41}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {2, 7, 3, 2, 70, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* groups of several pieces; several images per block */
    {1, 600, 1, 100, 3, {4}, {3}, {1}, {1}, {1}},               /* as many runs as a block holds, and more */
    {2, 1, 1, 80, 70, {2, 2}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  /* many results with few positions */
};
enum { LARGE = sizeof large / sizeof *large };

static void pieces_of_products(void **state)
{
    (void)state;
    for (int k = 0; k < LARGE; k++)
        expect_convolution(&large[k], WK_F32, ROWS, FORWARD, has_product, run_product, true);
}

static void pieces_of_dots(void **state)
{
    (void)state;
    for (int k = 0; k < LARGE; k++) expect_convolution(&large[k], WK_F32, ROWS, GRAD_WEIGHT, has_dots, run_dots, true);
}

static void other_instruction_sets(void **state)
{
    (void)state;
    const wk__cpu_isa *before = wk__cpu_isa_current();
    for (int k = 0; wk__cpu_isa_at(k); k++) {
        wk__cpu_isa_use(wk__cpu_isa_at(k));
        for (int c = 0; c < SMALL; c++) {
            expect_convolution(&small[c], WK_F32, ROWS, FORWARD, has_product, run_product, true);
            expect_convolution(&small[c], WK_I64, ROWS, FORWARD, has_product, run_product, true);
            expect_convolution(&small[c], WK_F32, ROWS, GRAD_WEIGHT, has_dots, run_dots, true);
            expect_convolution(&small[c], WK_F64, ROWS, GRAD_WEIGHT, has_dots, run_dots, true);
        }
    }
    wk__cpu_isa_use(before);
}

/* Vectors read beyond rows and copies, where an earlier contraction may have left infinities, which must not be
 * multiplied. */
static void unused_lanes_are_not_multiplied(void **state)
{
    (void)state;
    const convolution of = {2, 1, 1, 2, 3, {7, 21}, {3, 3}, {2, 2}, {0, 0}, {1, 1}};
    if (!has_tiles(WK_F32)) skip();
    for (direction way = FORWARD; way <= GRAD_WEIGHT; way += GRAD_WEIGHT)
        for (int round = 0; round < 2; round++) {
            convolution_case t;
            wk__work_args kernel;
            wk__contraction sum;
            wk__fail fail;
            convolution_new(&t, &of, WK_F32, ROWS);
            describe(&t, way, &kernel, &sum);
            const array *in[] = {&t.x, &t.w, &t.y}, *out = result_of(&t, way);
            for (int k = 0; k < 3; k++)
                for (int64_t at = 0; at < in[k]->bytes / 4; at++)
                    put_rounded(WK_F32, in[k]->data + 4 * at, round == 0 ? INFINITY : 1, 0);
            assert_int_equal((way == FORWARD ? run_product : run_dots)(&kernel, &fail), WK_OK);
            for (int64_t k = 3; k < out->bytes / 4 && round == 1; k++)
                assert_true(isfinite(get_real(WK_F32, out->data + 4 * k)));
            convolution_free(&t);
        }
}

/* The last position of each row is left out, of C or of the sum, so that rows of A and C are not contiguous. */
static void rows_with_gaps(void **state)
{
    (void)state;
    static const convolution of[] = {
        {2, 2, 1, 3, 5, {8, 20}, {3, 1}, {1, 1}, {1, 0}, {1, 1}},
        {2, 2, 1, 3, 5, {8, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {3, 1, 1, 3, 5, {3, 8, 20}, {1, 3, 1}, {1, 1, 1}, {0, 1, 0}, {1, 1, 1}},
    };
    if (!has_tiles(WK_F32)) skip();
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int summed = 0; summed < 2; summed++) {
            convolution_case t;
            wk__work_args kernel;
            wk__contraction sum;
            const direction way = summed ? GRAD_WEIGHT : FORWARD;
            convolution_new(&t, &of[k], WK_F32, ROWS);
            fill_small(&t.x), fill_small(&t.w), fill_small(&t.y);
            describe(&t, way, &kernel, &sum);
            --*(summed ? &sum.extent[sum.nsummed - 1] : &kernel.shape[kernel.ndim - 1]);
            assert_true((summed ? has_dots : has_product)(&kernel));
            expect_exactly(&kernel, result_of(&t, way), summed ? run_dots : run_product, summed ? "dots" : "product");
            convolution_free(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_forward),
        cmocka_unit_test(gradients_by_the_input),
        cmocka_unit_test(gradients_by_the_kernel),
        cmocka_unit_test(pieces_of_products),
        cmocka_unit_test(pieces_of_dots),
        cmocka_unit_test(other_instruction_sets),
        cmocka_unit_test(unused_lanes_are_not_multiplied),
        cmocka_unit_test(rows_with_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
