/* SPDX-License-Identifier: Apache-2.0 */
/* Tests fusion: one test for each condition of src/engine/plan/fusion_rules.c, with values that are wrong without the
 * condition. */
#include "support/wick.h"

#include "engine/plan/overlap.h"
#include <math.h>

/* ---- parts of a new tensor --------------------------------------------------------------------------------------- */

/* The gradient of a slice is zeros with a part written. If the group reduces, the part could be per row and the zeros
 * per column. */
static void a_part_follows_the_values_below_it(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2), 3, 5);
    wk_requires_grad_(x, true);
    wk_backward(wk_add(wk_sum(wk_mul(x, x)), wk_mul(wk_select(x, 0, 1), 10.0)));
    EXPECT_VALUES(wk_grad_of(x), 0, 6, 20);

    wk_tensor *y = wk_ones((4), .requires_grad = true), *part = wk_slice(y, 0, 0, 3);
    wk_backward(wk_add(wk_sum(wk_mul(part, 0.5)), wk_mul(wk_select(part, 0, 2), 0.25)));
    EXPECT_VALUES(wk_grad_of(y), 0, 0.5, 0.5, 0.75, 0);

    wk_tensor *z = wk_ones((3, 2), .requires_grad = true), *rows = wk_slice(z, 0, 0, 2);
    wk_backward(wk_add(wk_sum(rows), wk_mul(wk_sum(wk_select(rows, 0, 1)), 5.0)));
    EXPECT_VALUES(wk_grad_of(z), 0, 1, 1, 6, 6, 0, 0);

    wk_tensor *h = wk_mul(wk_ones((1, 4), .requires_grad = true), 1.0), *last = wk_select(h, 1, -1);
    wk_tensor *grad[1];
    wk_grad((wk_add(wk_sum(h), wk_mul(wk_sum(last), 2.0))), (h), grad);
    EXPECT_VALUES(grad[0], 0, 1, 1, 1, 3);
}

static void parts_of_a_cat_share_a_kernel_with_its_reduction(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 3), 1, 2, 3, 4, 5, 6), *centred = wk_sub(x, wk_mean(x, (1), .keepdim = true));
    EXPECT_VALUES(wk_cat((centred, x), 1), 0, -1, 0, 1, 1, 2, 3, -1, 0, 1, 4, 5, 6);
    EXPECT_VALUES(wk_stack((centred, x), 0), 0, -1, 0, 1, -1, 0, 1, 1, 2, 3, 4, 5, 6);
}

enum { DIMS = 3, FAR = 400 };

static uint64_t seed = 1;
static int64_t draw(int64_t bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(seed >> 33) % bound;
}

/* Draws a view of a few elements whose first keeps all offsets at 0 or above. */
static void draw_view(wk__record *r, bool only_offset)
{
    int64_t low = 0, *shape = wk__record_shape(r), *stride = wk__record_stride(r, 0);
    for (int d = 0; d < DIMS; d++) {
        if (!only_offset) {
            shape[d] = draw(5);
            stride[d] = draw(32) - 8;
        }
        if (stride[d] < 0 && shape[d] > 0) low -= stride[d] * (shape[d] - 1);
    }
    r->ref[0].offset = low + draw(32);
}

static void mark_elements(wk__record *r, bool seen[FAR])
{
    const int64_t *shape = wk__record_shape(r), *stride = wk__record_stride(r, 0);
    memset(seen, 0, sizeof(bool[FAR]));
    for (int64_t a = 0; a < shape[0]; a++)
        for (int64_t b = 0; b < shape[1]; b++)
            for (int64_t c = 0; c < shape[2]; c++)
                seen[r->ref[0].offset + a * stride[0] + b * stride[1] + c * stride[2]] = true;
}

/* Overlapping views must be recognised. If only offsets differ, disjoint views usually must be, too. */
static void overlaps_are_recognised(void **state)
{
    (void)state;
    enum { ROUNDS = 20000 };
    wk__record *r[2];
    int apart = 0, unsure = 0;
    for (int k = 0; k < 2; k++) {
        r[k] = calloc(1, wk__record_bytes(WK__PROGRAM, DIMS, 1));
        assert_non_null(r[k]);
        r[k]->ndim = DIMS;
        r[k]->nout = 1;
        r[k]->ref[0].dtype = WK_F32;
    }
    for (int round = 0; round < ROUNDS; round++) {
        bool seen[2][FAR], meet = false;
        const bool alike = round % 2;
        draw_view(r[0], false);
        if (alike) memcpy(wk__record_shape(r[1]), wk__record_shape(r[0]), sizeof(int64_t[2 * DIMS]));
        draw_view(r[1], alike);
        mark_elements(r[0], seen[0]);
        mark_elements(r[1], seen[1]);
        for (int at = 0; at < FAR; at++) meet = meet || (seen[0][at] && seen[1][at]);
        const bool said = wk__refs_overlap(r[0], 0, r[1], 0);
        if (meet) assert_true(said);
        apart += alike && !meet;
        unsure += alike && !meet && said;
    }
    for (int64_t far = 1; far < 20;
         far += 2) { /* every second element, and those between: disjoint, however far apart they begin */
        for (int k = 0; k < 2; k++)
            for (int d = 0; d < DIMS; d++) {
                wk__record_shape(r[k])[d] = d ? 1 : 16;
                wk__record_stride(r[k], 0)[d] = d ? 1 : 2;
            }
        r[0]->ref[0].offset = 1;
        r[1]->ref[0].offset = 1 + far;
        assert_false(wk__refs_overlap(r[0], 0, r[1], 0) || wk__refs_overlap(r[1], 0, r[0], 0));
        r[1]->ref[0].offset = far;
        assert_true(wk__refs_overlap(r[0], 0, r[1], 0) && wk__refs_overlap(r[1], 0, r[0], 0));
    }
    assert_true(apart > ROUNDS / 8);
    assert_true(unsure < apart / 20); /* unless strides overlap in more than a few steps */
    free(r[0]);
    free(r[1]);
}

/* ---- registers, spaces, positions -------------------------------------------------------------------------------- */

static void another_element_is_not_in_the_register(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_of(float, (2), 1, 2), *b = wk_of(float, (2), 3, 4);
    EXPECT_VALUES(wk_add(wk_narrow(wk_cat((a, b), 0), 0, 1, 2), 1), 0, 3, 4);
    wk_tensor *parts[] = {wk_neg(a), wk_neg(b)}, *both = wk_stack_at(WK_HERE, parts, 2, 0);
    EXPECT_VALUES(wk_mul(wk_select(both, 0, 0), 10), 0, -10, -20); /* the first part, after the second was written */
}

/* Reduced dimensions are moved last, so an op that counts positions would count different ones. */
static void positions_count_the_complete_space(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT_VALUES(wk_sum(wk_tril(wk_ones((3, 3))), (0)), 0, 3, 2, 1);
    EXPECT_VALUES(wk_sum(wk_tril(wk_ones((3, 3))), (1)), 0, 1, 2, 3);
    EXPECT_VALUES(wk_sum(wk_triu(wk_ones((2, 3, 3))), (0, 1)), 0, 2, 4, 6);
    EXPECT_VALUES(wk_amax(wk_reshape(wk_arange_i64_at(WK_HERE, 6, NULL), (2, 3)), (0)), 0, 3, 4, 5);
    wk_tensor *x = wk_of(float, (2, 3), 1, 2, 3, 4, 5, 6);
    EXPECT_VALUES(wk_tril(wk_sub(x, wk_sum(x, (0), .keepdim = true))), 0, -4, 0, 0, -1, -2, 0);
}

static void random_values_follow_their_position(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 3), 1, 2, 3, 4, 5, 6);
    wk_seed(7);
    wk_tensor *random = wk_rand((2, 3));
    wk_sync();
    wk_tensor *apart = wk_mul(wk_sub(x, wk_sum(x, (0), .keepdim = true)), random);
    wk_sync();
    wk_seed(7);
    wk_tensor *together = wk_mul(wk_sub(x, wk_sum(x, (0), .keepdim = true)), wk_rand((2, 3)));
    assert_true(wk_item(wk_sum(wk_ne(apart, together))) == 0);
    expect_ok();
}

/* ---- empty stores ------------------------------------------------------------------------------------------------ */

static void a_view_without_elements_writes_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    float memory[8] = {0, 1, 2, 3, 4, 42, 42, 42};
    wk_tensor *x = wk_borrow(memory, (5), NULL, NULL), *end = wk_slice(x, 0, 5, 5), *begin = wk_slice(x, 0, 0, 0);
    wk_exp_(end);
    wk_tensor *sum = wk_sum(end);
    wk_fill_(begin, 255);
    wk_tensor *product = wk_prod(begin);
    wk_tensor *same = wk_as_strided_at(WK_HERE, x, (int64_t[]){0}, (int64_t[]){0}, 1, 2);
    wk_add_(same, 100);
    wk_tensor *third = wk_sum(same);
    EXPECT_VALUES(sum, 0, 0);
    EXPECT_VALUES(product, 0, 1);
    EXPECT_VALUES(third, 0, 0);
    EXPECT_VALUES(x, 0, 0, 1, 2, 3, 4);
    assert_true(memory[5] == 42);

    /* a kernel over no columns: a row value is not in a register of the columns */
    wk_tensor *z = wk_zeros((1)), *part = wk_narrow(z, 0, 1, 0), *copy = wk_clone(part);
    wk_fill_(z, 12);
    wk_tensor *none_of_it = wk_sum(copy);
    wk_copy_(part, wk_mul(copy, 2));
    EXPECT_VALUES(wk_add(wk_reshape(z, ()), none_of_it), 0, 12);

    wk_tensor *rows = wk_of(float, (2, 2), 1, 2, 3, 4), *none = wk_narrow(rows, 1, 2, 0); /* (2, 0) */
    wk_fill_(none, 9);
    EXPECT_VALUES(wk_sum(none, (1)), 0, 0, 0);
    EXPECT_VALUES(rows, 0, 1, 2, 3, 4);
    wk_tensor *empty = wk_zeros((3, 0)); /* no memory: a row value must not be read from it */
    EXPECT_VALUES(wk_sum(wk_as_strided_at(WK_HERE, empty, (int64_t[]){3, 0}, (int64_t[]){0, 0}, 2, 0), (1)), 0, 0, 0,
                  0);
}

/* Nothing is computed over a dimension of size 0: the old values that such a store leaves are not in a register, though
 * the strides do not show it. */
static void values_below_an_empty_store_are_read_from_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (3), 1, 2, 3);
    wk_requires_grad_(x, true);
    wk_tensor *part = wk_narrow(x, 0, 2, 1);
    wk_backward(wk_add(wk_sum(wk_slice(part, 0, 0, 0)), wk_sum(part)));
    EXPECT_VALUES(wk_grad_of(x), 0, 0, 0, 1);
    wk_tensor *y = wk_of(int8_t, (1, 1), 1), *none = wk_narrow(y, 0, 0, 0);
    wk_square_(none);
    wk_tensor *any = wk_any(none);
    wk_add_(y, y);
    EXPECT_VALUES(y, 0, 2);
    EXPECT_VALUES(any, 0, 0);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* The number of instructions of an expression is known when it is recorded; an expression that does not fit starts a
 * new program. */
static void expressions_too_long_start_a_program(void **state)
{
    (void)state;
    for (int more = 0; more < 4; more++) {
        WK_SCOPE;
        wk_tensor *x = wk_of(double, (1), -1.25), *y = wk_norm(x);
        for (int k = 0; k < more; k++) y = wk_add(y, 0.5);
        wk_erfc_(x);
        double number;
        assert_int_equal(wk_read(x, &number, sizeof number), WK_OK);
        assert_true(fabs(number - erfc(-1.25)) < 1e-14);
        EXPECT_VALUES(y, 1e-14, 1.25 + 0.5 * more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_follows_the_values_below_it),
        cmocka_unit_test(parts_of_a_cat_share_a_kernel_with_its_reduction),
        cmocka_unit_test(overlaps_are_recognised),
        cmocka_unit_test(another_element_is_not_in_the_register),
        cmocka_unit_test(positions_count_the_complete_space),
        cmocka_unit_test(random_values_follow_their_position),
        cmocka_unit_test(a_view_without_elements_writes_nothing),
        cmocka_unit_test(values_below_an_empty_store_are_read_from_memory),
        cmocka_unit_test(expressions_too_long_start_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
