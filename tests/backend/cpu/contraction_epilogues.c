/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions on the CPU in parts and in pieces, and their epilogues: the results equal those of separate calls. */
#include "ir/build.h"
#include "support/padded.h"

#include "backend/cpu/contraction/contraction_col2im.h"
#include "backend/cpu/contraction/contraction_reference.h"
#include "backend/contraction_stride_split.h"
#include "base/pool.h"

/* ---- parts and pieces -------------------------------------------------------------------------------------------- */

typedef struct counted {
    int parts;
    int64_t elements, products;
} counted;

static wk_code count_part(void *user, const wk__work_args *part, wk__fail *fail)
{
    (void)fail;
    counted *c = user;
    c->parts++;
    c->elements += elements_of(part);
    c->products += elements_of(part) * wk__contraction_k(part->contraction);
    assert_false(wk__contraction_has_divisor(part));
    return WK_OK;
}

/* The gradient for the input with stride s is a contraction per remainder, which multiplies no zeros in between. */
static void separate_remainders(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        int parts;
        int64_t products; /* for one channel: products of kernel positions with positions of the input */
    } cases[] = {
        {{2, 1, 1, 1, 1, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 1, 64 * 9},
        {{2, 1, 1, 1, 1, {8, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, 4, 16 * (1 + 2 + 2 + 4)},
        {{2, 1, 1, 1, 1, {8, 8}, {2, 2}, {2, 2}, {0, 0}, {1, 1}}, 4, 64},
        {{2, 1, 1, 1, 1, {9, 8}, {1, 1}, {3, 2}, {0, 0}, {1, 1}}, 6, 3 * 4},  /* most remainders have no positions */
        {{2, 1, 1, 1, 1, {9, 9}, {3, 3}, {2, 2}, {2, 2}, {2, 2}}, 4, 25 * 9}, /* odd positions have no products */
        {{1, 1, 1, 1, 1, {2}, {3}, {5}, {2}, {1}}, 2, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        convolution_case t;
        wk__work_args kernel;
        wk__contraction sum;
        wk__fail fail;
        counted c = {0};
        convolution_new(&t, &cases[k].of, WK_F32, ROWS);
        describe(&t, GRAD_INPUT, &kernel, &sum);
        assert_true(wk__contraction_can_split(&kernel));
        assert_int_equal(wk__contraction_has_divisor(&kernel), cases[k].of.stride[0] > 1);
        assert_int_equal(wk__contraction_split_strides(&kernel, count_part, &c, &fail), WK_OK);
        assert_int_equal(c.parts, cases[k].parts);
        assert_int_equal(c.elements, t.of.size[0] * (t.of.dims > 1 ? t.of.size[1] : 1));
        if (c.products != cases[k].products) fail_msg("case %d: %lld products", (int)k, (long long)c.products);
        convolution_free(&t);
    }
}

typedef struct pieces {
    const wk__work_args *kernel;
    int64_t count, elements;
} pieces;

/* Checks that a box starts at its first summed element and has as many elements as were summed. */
static void check_piece(void *user, const wk__epilogue_box *piece)
{
    pieces *seen = user;
    const wk__work_args *kernel = seen->kernel;
    int64_t first = kernel->operand[0].offset, elements = 1;
    for (int d = 0; d < kernel->ndim; d++) {
        first += piece->start[d] * kernel->operand[0].stride[d];
        elements *= piece->size[d];
        assert_true(piece->start[d] >= 0 && piece->start[d] + piece->size[d] <= kernel->shape[d]);
    }
    assert_int_equal(piece->first, first);
    assert_int_equal(piece->rows * piece->columns, elements);
    seen->count++;
    seen->elements += elements;
}

/* Epilogues run in pieces, except that they run afterwards with several parts, with col2im, and with sums over
 * positions, which CPUs with short vectors use for small results. */
static void pieces_of_contractions(void **state)
{
    (void)state;
    int padded = 0, with_columns = 0;
    for (int k = 0; k < 2 * CONVOLUTIONS; k++) {
        const convolution *of = &convolutions[k / 2];
        const direction way = k % 2 ? GRAD_INPUT : FORWARD;
        convolution_case t;
        wk__work_args kernel;
        wk__contraction sum;
        wk__program g;
        convolution_new(&t, of, WK_F32, ROWS);
        describe(&t, way, &kernel, &sum);
        ir_space(&g, kernel.ndim, kernel.shape, 0);
        pieces seen = {.kernel = &kernel};
        wk__cpu_contraction_boxes(&(wk__work){.family = WK__CONTRACTION, .args = &kernel, .program = &g}, check_piece,
                                  &seen);
        wk__indirect_plan product;
        wk__col2im_plan plan;
        wk__k_lanes_plan dots;
        const bool summed = wk__k_lanes_plan_init(&dots, &kernel) && wk__k_lanes_is_profitable(&dots);
        bool copied = !summed && wk__indirect_plan_init(&product, &kernel) && wk__indirect_is_profitable(&product);
        const bool columns = !summed && wk__col2im_plan_init(&plan, &kernel) && wk__col2im_is_profitable(&plan) &&
                             !(copied && wk__col2im_cost(&plan) >= wk__indirect_cost(&product));
        copied = copied && !columns;
        const bool in_parts = summed || columns || (!copied && wk__contraction_has_divisor(&kernel));
        assert_int_equal(seen.elements, in_parts ? 0 : elements_of(&kernel));
        with_columns += columns;
        padded += copied;
        convolution_free(&t);
    }
    assert_int_equal(padded > 0, has_tiles(WK_F32));
    assert_true(with_columns > 0);
}

/* ---- epilogues --------------------------------------------------------------------------------------------------- */

/* relu(y + channel bias), piece by piece or afterwards: the same bits. */
static void epilogues(void **state)
{
    (void)state;
    for (int k = 0; k < CONVOLUTIONS; k++)
        for (int threads = 1; threads <= 4; threads += 3) {
            convolution_case t;
            wk__work_args kernel;
            wk__contraction sum;
            wk__fail fail;
            wk__program g;
            wk__set_thread_count(threads);
            convolution_new(&t, &convolutions[k], WK_F32, ROWS);
            describe(&t, FORWARD, &kernel, &sum);
            array bias;
            const int64_t channels[] = {1, convolutions[k].groups, convolutions[k].out, 1, 1, 1},
                          none[WK__MAX_DIMS] = {0};
            array_new(&bias, WK_F32, kernel.ndim, channels, ROWS);
            int64_t stride[WK__MAX_DIMS];
            memcpy(stride, bias.operand.stride, sizeof stride);
            for (int d = 0; d < kernel.ndim; d++)
                if (d != 1 && d != 2) stride[d] = none[d];
            ir_space(&g, kernel.ndim, kernel.shape, 0);
            const int out = ir_operand(&g, WK_F32, &t.y.memory, t.y.operand.offset, t.y.operand.stride);
            const int in = ir_operand(&g, WK_F32, &bias.memory, bias.operand.offset, stride);
            const int sums = ir_binary(&g, WK__ADD, ir_load(&g, out), ir_load(&g, in));
            ir_store(&g, out, ir_binary(&g, WK__MAX, sums, ir_imm(&g, WK_F32, (wk__imm){.f = 0})));
            assert_null(wk__program_verify(&g));
            const wk__work apart = {.family = WK__CONTRACTION, .args = &kernel};
            const wk__work together = {.family = WK__CONTRACTION, .args = &kernel, .program = &g};
            assert_int_equal(wk__cpu_contraction(&apart, &fail), WK_OK);
            if (wk__program_rows(&g) && wk__program_columns(&g)) assert_int_equal(wk__cpu_run(&g, &fail), WK_OK);
            char *want = array_copy(&t.y);
            assert_int_equal(wk__cpu_contraction(&together, &fail), WK_OK);
            assert_memory_equal(want, t.y.data, (size_t)t.y.bytes);
            free(want);
            free(bias.data);
            convolution_free(&t);
        }
    wk__set_thread_count(1);
}

/* Rows of C that cannot be merged, with an epilogue whose result equals that of two calls. */
static void rows_with_gaps(void **state)
{
    (void)state;
    const int64_t room[] = {3, 6, 8}, of_a[] = {3, 5, 9}, of_b[] = {9, 7};
    array a, b, c;
    wk__fail fail;
    wk__program g;
    array_new(&a, WK_F32, 3, of_a, ROWS);
    array_new(&b, WK_F32, 2, of_b, ROWS);
    array_new(&c, WK_F32, 3, room, ROWS);
    wk__contraction sum = {.dtype = WK_F32, .nsummed = 1, .extent = {9}};
    wk__work_args kernel = {.ndim = 3, .shape = {3, 5, 7}, .contraction = &sum};
    take_operand(&kernel, &sum, 0, &c, 3, (const int[]){0, 1, 2});
    take_operand(&kernel, &sum, 1, &a, 3, (const int[]){0, 1, 3});
    take_operand(&kernel, &sum, 2, &b, 2, (const int[]){3, 2});
    ir_space(&g, 3, kernel.shape, 0);
    const int out = ir_operand(&g, WK_F32, &c.memory, c.operand.offset, c.operand.stride);
    ir_store(&g, out, ir_binary(&g, WK__MUL, ir_load(&g, out), ir_imm(&g, WK_F32, (wk__imm){.f = 2})));
    const wk__work apart = {.family = WK__CONTRACTION, .args = &kernel};
    const wk__work together = {.family = WK__CONTRACTION, .args = &kernel, .program = &g};
    assert_int_equal(wk__cpu_contraction_reference(&apart, &fail), WK_OK);
    assert_int_equal(wk__cpu_run(&g, &fail), WK_OK);
    char *want = array_copy(&c);
    assert_int_equal(wk__cpu_contraction(&together, &fail), WK_OK);
    for (int64_t k = 0; k < c.bytes / 4; k++)
        assert_true(fabs(get_real(WK_F32, c.data + 4 * k) - get_real(WK_F32, want + 4 * k)) < 1e-3);
    free(want), free(a.data), free(b.data), free(c.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_with_gaps),
        cmocka_unit_test(separate_remainders),
        cmocka_unit_test(pieces_of_contractions),
        cmocka_unit_test(epilogues),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
