/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the costs of typical programs that write in place or whose operands are freed, and the memory that their
 * results reuse. */
#include "support/costs.h"

static void in_place(const inputs *in)
{
    wk_mul_(in->x, 2);
    wk_add_(in->x, in->y);
    wk_sync();
}

static void in_place_with_old_values_read_later(const inputs *in)
{
    wk_tensor *before = wk_keep(wk_exp(in->x));
    wk_mul_(in->x, wk_t(wk_narrow(wk_t(in->x), 0, 0, 64)));
    wk_sync();
    (void)before;
}

static void in_place_on_an_operand_read_transposed(const inputs *in)
{
    wk_tensor *square = wk_narrow(in->x, 1, 0, 32);
    wk_add_(square, wk_t(square));
    wk_sync();
}

/* The target of the in-place call and its old values are freed unread. */
static void in_place_on_a_freed_target(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        y = wk_keep(wk_exp(wk_add_(test_computed(wk_exp(in->x)), 1)));
    }
    test_force(y);
}

static void write_to_a_part(const inputs *in)
{
    wk_fill_(wk_narrow(in->x, 0, 3, 5), 1);
    wk_sync();
}

static void write_to_a_part_while_old_values_are_needed(const inputs *in)
{
    wk_tensor *before = wk_detach(in->x);
    wk_tensor *later = wk_keep(wk_index_select(before, 0, in->index));
    wk_fill_(wk_narrow(in->x, 0, 3, 5), 1);
    wk_sync();
    (void)later;
}

static void adjacent_parts(const inputs *in)
{
    wk_tensor *all = wk_keep(wk_zeros((64, 64)));
    wk_copy_(wk_narrow(all, 0, 0, 32), wk_exp(in->x));
    wk_copy_(wk_narrow(all, 0, 32, 32), wk_exp(in->y));
    wk_sync();
}

static void overlapping_parts(const inputs *in)
{
    wk_tensor *all = wk_keep(wk_zeros((48, 64)));
    wk_copy_(wk_narrow(all, 0, 0, 32), wk_exp(in->x));
    wk_copy_(wk_narrow(all, 0, 16, 32), wk_exp(in->y));
    wk_sync();
}

static void concatenated(const inputs *in)
{
    test_force(wk_cat((wk_add(in->x, 1), wk_mul(in->y, 3), wk_exp(in->x)), 0));
}

static void concatenated_and_reduced(const inputs *in)
{
    wk_tensor *y = wk_keep(wk_cat((wk_add(in->x, 1), wk_mul(in->y, 3)), 0));
    test_force(wk_sum(y, (1)));
}

static void a_freed_operand(const inputs *in)
{
    wk_tensor *y = in->x;
    for (int k = 0; k < 4; k++) {
        WK_SCOPE;
        y = wk_keep(test_materialized(wk_exp(wk_add(y, k))));
    }
}

/* The operand is freed with the scope that the result leaves; values between them are unreferenced. */
static void a_freed_operand_behind_an_unreferenced_value(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        y = wk_keep(wk_exp(wk_add(test_computed(wk_exp(in->x)), 1)));
    }
    test_force(y);
}

static void a_freed_operand_read_transposed(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        y = wk_keep(wk_exp(wk_t(test_computed(wk_exp(in->x)))));
    }
    test_force(y);
}

static void a_freed_operand_of_a_sum(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        wk_tensor *x = test_computed(wk_exp(in->x));
        y = wk_keep(wk_div(x, wk_sum(x, (1), .keepdim = true)));
    }
    test_force(y);
}

static void a_freed_factor(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        wk_tensor *x = test_computed(wk_exp(wk_narrow(in->w, 0, 0, 16)));
        y = wk_keep(wk_relu(wk_matmul(x, x)));
    }
    test_force(y);
}

static void a_freed_operand_of_an_epilogue(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        wk_tensor *x = test_computed(wk_exp(wk_narrow(in->y, 1, 0, 16)));
        wk_tensor *product = wk_retain(wk_matmul(in->x, in->w));
        y = wk_keep(wk_mul(product, x));
        wk_keep(product);
        wk_free(product);
    }
    test_force(y);
}

static void an_unused_result(const inputs *in)
{
    {
        WK_SCOPE;
        wk_exp(wk_mul(in->x, 2));
        wk_matmul(in->x, in->w);
    }
    wk_sync();
}

/* Unused results leave the queue with their bytes: the calls around them are one pass. */
static void large_unused_results(const inputs *in)
{
    wk_tensor *y = wk_mul(in->x, 2), *hold = wk_retain(y);
    for (int k = 0; k < 6; k++) {
        WK_SCOPE;
        wk_exp(wk_expand(in->row, (1 << 19, 64)));
    }
    test_force(wk_exp(y));
    wk_free(hold);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/*   passes, products, kernels, copies, loads, stores, instructions, bytes, left */
static const cost_case typicals[] = {
    {NAMED(in_place), {1, 0, 0, 0, 2, 1, 6, 0, 0}},
    {NAMED(in_place_with_old_values_read_later), {1, 0, 0, 0, 1, 2, 5, 8192, 8192}},
    {NAMED(in_place_on_an_operand_read_transposed), {1, 0, 0, 1, 2, 1, 4, 8192, 0}},
    {NAMED(in_place_on_a_freed_target), {2, 0, 0, 0, 2, 2, 8, 8192, 8192}},
    {NAMED(write_to_a_part), {1, 0, 0, 0, 0, 1, 3, 0, 0}},
    {NAMED(write_to_a_part_while_old_values_are_needed), {2, 0, 0, 1, 2, 2, 6, 16384, 8192}},
    {NAMED(adjacent_parts), {3, 0, 0, 0, 3, 4, 10, 24576, 24576}},
    {NAMED(overlapping_parts), {3, 0, 0, 0, 3, 4, 10, 20480, 20480}},
    {NAMED(concatenated), {1, 0, 0, 0, 2, 3, 10, 24576, 24576}},
    {NAMED(concatenated_and_reduced), {2, 0, 0, 0, 3, 3, 11, 16640, 16640}},
    {NAMED(a_freed_operand), {4, 0, 0, 0, 4, 4, 20, 32768, 32768}},
    {NAMED(a_freed_operand_behind_an_unreferenced_value), {2, 0, 0, 0, 2, 2, 8, 8192, 8192}},
    {NAMED(a_freed_operand_read_transposed), {2, 0, 0, 0, 2, 2, 6, 8192, 8192}},
    {NAMED(a_freed_operand_of_a_sum), {2, 0, 0, 0, 2, 2, 7, 16384, 8192}},
    {NAMED(a_freed_factor), {1, 1, 0, 0, 2, 2, 7, 2048, 1024}},
    {NAMED(a_freed_operand_of_an_epilogue), {1, 1, 0, 0, 3, 2, 7, 4096, 4096}},
    {NAMED(an_unused_result), {0}},
    {NAMED(large_unused_results), {1, 0, 0, 0, 1, 2, 6, 16384, 16384}},
};

static void memory_of_results(void **state)
{
    (void)state;
    expect_costs(typicals, sizeof typicals / sizeof *typicals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_of_results, test_default_mode, test_restore_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
