/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the costs of typical programs without in-place writes: element-wise calls, rows, indexing, products. Plans of
 * the null device are counted and compared with a table. */
#include "support/costs.h"

/* ---- element-wise ------------------------------------------------------------------------------------------------ */

static void chain(const inputs *in)
{
    test_force(wk_mul(wk_exp(wk_add(in->x, 2)), in->y));
}

static void chain_that_reads_an_operand_again(const inputs *in)
{
    test_force(wk_sub(wk_mul(in->x, in->y), wk_mul(in->x, wk_exp(in->y))));
}

static void chain_of_which_a_part_is_kept(const inputs *in)
{
    wk_tensor *a = wk_keep(wk_mul(in->x, 2)), *b = wk_keep(wk_add(wk_exp(a), 1));
    wk_sync();
    (void)b;
}

/* The result belongs only to an open scope, and its operands are unreferenced. */
static void parked_behind_an_unreferenced_value(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        y = wk_keep(wk_exp(wk_add(wk_mul(in->x, 2), in->y)));
    }
    wk_sync();
    (void)y;
}

static void longer_than_what_waits(const inputs *in)
{
    wk_tensor *y = in->x;
    for (int k = 0; k < 20; k++) y = wk_exp(y);
    wk_sync();
}

static void parked_and_read_twice(const inputs *in)
{
    wk_tensor *a = wk_add(wk_exp(in->x), 1);
    test_force(wk_mul(a, in->y));
    test_force(wk_sub(a, in->y));
    test_force(a);
}

static void broadcast_row(const inputs *in)
{
    test_force(wk_mul(wk_add(in->x, in->row), in->row));
}

static void turned(const inputs *in)
{
    test_force(wk_add(wk_t(in->x), wk_exp(wk_t(in->x))));
}

static void one_tensor_in_two_orders(const inputs *in)
{
    wk_tensor *square = wk_narrow(in->x, 1, 0, 32);
    test_force(wk_add(square, wk_t(square)));
}

static void result_read_in_another_order(const inputs *in)
{
    wk_tensor *square = wk_exp(wk_narrow(in->x, 1, 0, 32));
    test_force(wk_add(square, wk_t(square)));
}

static void spaces_in_turns(const inputs *in)
{
    wk_tensor *all[12];
    for (int k = 0; k < 12; k++) all[k] = wk_keep(wk_mul(wk_narrow(in->x, 1, 0, 4 + k % 4), k));
    wk_sync();
    (void)all;
}

static void more_spaces_than_the_planner_searches(const inputs *in)
{
    wk_tensor *all[10];
    for (int k = 0; k < 10; k++) all[k] = wk_keep(wk_mul(wk_narrow(in->x, 1, 0, 4 + k % 5), k));
    wk_sync();
    (void)all;
}

static void more_results_than_a_program_has_operands(const inputs *in)
{
    wk_tensor *all[40];
    for (int k = 0; k < 40; k++) all[k] = wk_keep(wk_mul(in->x, k));
    wk_sync();
    (void)all;
}

static void longer_than_a_program(const inputs *in)
{
    wk_tensor *sum = in->x;
    for (int k = 0; k < 120; k++) sum = wk_add(wk_mul(sum, k), in->y);
    test_force(sum);
}

static void numbers_in_short_dtypes(const inputs *in)
{
    test_force(wk_add(wk_mul(wk_to_dtype(in->x, WK_BF16), 1.7), wk_to_dtype(in->y, WK_F16)));
}

/* The space has no dimensions, so one pass computes everything. */
static void a_number_in_another_dtype(const inputs *in)
{
    test_force(wk_mul(wk_to_dtype(wk_select(in->row, 0, 3), WK_F64), 2));
}

static void where_one_is_greater(const inputs *in)
{
    test_force(wk_where(wk_gt(in->x, in->y), wk_mul(in->x, 2), in->y));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void sum_of_a_chain(const inputs *in)
{
    test_force(wk_sum(wk_mul(wk_exp(in->x), in->x), (1)));
}

static void rows_over_their_sum(const inputs *in)
{
    test_force(wk_div(in->x, wk_sum(in->x, (1), .keepdim = true)));
}

static void columns_over_their_sum(const inputs *in)
{
    test_force(wk_div(in->x, wk_sum(in->x, (0), .keepdim = true)));
}

static void row_values_of_a_sum(const inputs *in)
{
    test_force(wk_exp(wk_mul(wk_sum(in->x, (1)), 0.5)));
}

static void two_reductions_of_one_kind_of_row(const inputs *in)
{
    wk_tensor *a = wk_keep(wk_amax(in->x, (1))), *b = wk_keep(wk_sum(wk_mul(in->x, in->x), (1)));
    wk_sync();
    (void)a, (void)b;
}

static void two_reductions_of_two_kinds_of_row(const inputs *in)
{
    wk_tensor *a = wk_keep(wk_sum(in->x, (0))), *b = wk_keep(wk_sum(in->x, (1))), *c = wk_keep(wk_sum(in->x));
    wk_sync();
    (void)a, (void)b, (void)c;
}

static void sum_of_sums(const inputs *in)
{
    test_force(wk_sum(wk_sum(in->x, (1))));
}

static void long_rows_over_their_sum(const inputs *in)
{
    wk_tensor *y = wk_expand(wk_reshape(in->row, (1, 64, 1)), (2, 64, 1024));
    test_force(wk_mul(y, wk_sum(y, (1, 2), .keepdim = true)));
}

static void two_reductions_of_long_rows(const inputs *in)
{
    wk_tensor *y = wk_expand(wk_reshape(in->row, (1, 64, 1)), (2, 64, 1024));
    wk_tensor *a = wk_keep(wk_amax(y, (1, 2))), *b = wk_keep(wk_sum(y, (1, 2)));
    wk_sync();
    (void)a, (void)b;
}

static void rows_of_the_greatest_length(const inputs *in)
{
    wk_tensor *y = wk_expand(wk_reshape(in->row, (1, 64, 1)), (2, 64, 512));
    test_force(wk_mul(y, wk_sum(y, (1, 2), .keepdim = true)));
}

static void softmax(const inputs *in)
{
    test_force(wk_softmax(in->x, 1));
}

static void softmax_of_columns(const inputs *in)
{
    test_force(wk_softmax(in->x, 0));
}

static void softmax_of_columns_without_elements(const inputs *in)
{
    test_force(wk_log_softmax(wk_narrow(in->x, 0, 3, 0), 0));
}

static void layer_norm(const inputs *in)
{
    test_force(wk_layer_norm(in->x, (64), in->row, in->row));
}

static void variance(const inputs *in)
{
    test_force(wk_var(in->x, (1)));
}

static void argmax_beside_amax(const inputs *in)
{
    wk_tensor *a = wk_keep(wk_argmax(in->x, 1)), *b = wk_keep(wk_amax(in->x, (1)));
    wk_sync();
    (void)a, (void)b;
}

static void argmax_of_columns(const inputs *in)
{
    test_force(wk_argmax(wk_mul(in->x, 2), 0));
}

static void cross_entropy(const inputs *in)
{
    test_force(wk_cross_entropy(in->x, in->index));
}

/* ---- indexing ---------------------------------------------------------------------------------------------------- */

static void rows_by_index(const inputs *in)
{
    test_force(wk_mul(wk_index_select(in->x, 0, in->index), 2));
}

static void rows_by_two_indices(const inputs *in)
{
    test_force(wk_add(wk_index_select(in->x, 0, in->index), wk_index_select(in->y, 0, in->index)));
}

static void rows_by_a_computed_index(const inputs *in)
{
    test_force(wk_index_select(in->x, 0, wk_add(in->index, 1)));
}

static void rows_of_a_result(const inputs *in)
{
    test_force(wk_index_select(wk_exp(in->x), 0, in->index));
}

static void added_at_places(const inputs *in)
{
    test_force(wk_index_add(wk_mul(in->x, 2), 0, in->index, in->y));
}

static void sorted_and_summed(const inputs *in)
{
    wk_tensor *values, *indices;
    wk_sort(wk_mul(in->x, 2), 1, false, &values, &indices);
    test_force(wk_cumsum(values, 1));
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static void product(const inputs *in)
{
    test_force(wk_matmul(in->x, in->w));
}

static void product_with_an_epilogue(const inputs *in)
{
    test_force(wk_relu(wk_add(wk_matmul(in->x, in->w), wk_narrow(in->row, 0, 0, 16))));
}

static void product_that_is_kept_beside_its_epilogue(const inputs *in)
{
    wk_tensor *a = wk_keep(wk_matmul(in->x, in->w)), *b = wk_keep(wk_exp(a));
    wk_sync();
    (void)b;
}

static void product_of_results(const inputs *in)
{
    test_force(wk_matmul(wk_mul(in->x, 2), wk_mul(in->w, 2)));
}

static void product_and_its_sum(const inputs *in)
{
    test_force(wk_sum(wk_matmul(in->x, in->w), (1)));
}

static void product_with_an_epilogue_in_bf16(const inputs *in)
{
    test_force(wk_add(wk_matmul(wk_to_dtype(in->x, WK_BF16), wk_to_dtype(in->w, WK_BF16)), 1));
}

static void attention(const inputs *in)
{
    test_force(wk_matmul(wk_softmax(wk_mul(wk_matmul(in->x, wk_t(in->y)), 0.125), 1), in->y));
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/*   passes, products, kernels, copies, loads, stores, instructions, bytes, left */
static const cost_case typicals[] = {
    {NAMED(chain), {1, 0, 0, 0, 2, 1, 7, 8192, 8192}},
    {NAMED(chain_that_reads_an_operand_again), {1, 0, 0, 0, 2, 1, 7, 8192, 8192}},
    {NAMED(chain_of_which_a_part_is_kept), {1, 0, 0, 0, 1, 2, 8, 16384, 16384}},
    {NAMED(parked_behind_an_unreferenced_value), {0}},
    {NAMED(longer_than_what_waits), {1, 0, 0, 0, 1, 1, 19, 8192, 8192}},
    {NAMED(parked_and_read_twice), {2, 0, 0, 0, 4, 4, 16, 32768, 32768}},
    {NAMED(broadcast_row), {1, 0, 0, 0, 2, 1, 5, 8192, 8192}},
    {NAMED(turned), {1, 0, 0, 0, 1, 1, 4, 8192, 8192}},
    {NAMED(one_tensor_in_two_orders), {1, 0, 0, 0, 2, 1, 4, 4096, 4096}},
    {NAMED(result_read_in_another_order), {2, 0, 0, 0, 3, 2, 7, 8192, 8192}},
    {NAMED(spaces_in_turns), {4, 0, 0, 0, 4, 12, 40, 9216, 9216}},
    {NAMED(more_spaces_than_the_planner_searches), {10, 0, 0, 0, 10, 10, 40, 8192, 8192}},
    {NAMED(more_results_than_a_program_has_operands), {4, 0, 0, 0, 4, 40, 124, 327680, 327680}},
    {NAMED(longer_than_a_program), {11, 0, 0, 0, 22, 25, 407, 204800, 204800}},
    {NAMED(numbers_in_short_dtypes), {1, 0, 0, 0, 2, 1, 9, 8192, 8192}},
    {NAMED(a_number_in_another_dtype), {1, 0, 0, 0, 1, 1, 5, 256, 256}},
    {NAMED(where_one_is_greater), {1, 0, 0, 0, 2, 1, 7, 8192, 8192}},
    {NAMED(sum_of_a_chain), {1, 0, 0, 0, 1, 1, 5, 256, 256}},
    {NAMED(rows_over_their_sum), {1, 0, 0, 0, 1, 2, 5, 8448, 8448}},
    {NAMED(columns_over_their_sum), {1, 0, 0, 0, 1, 2, 5, 8448, 8448}},
    {NAMED(row_values_of_a_sum), {1, 0, 0, 0, 1, 2, 7, 512, 512}},
    {NAMED(two_reductions_of_one_kind_of_row), {1, 0, 0, 0, 1, 2, 6, 512, 512}},
    {NAMED(two_reductions_of_two_kinds_of_row), {3, 0, 0, 0, 3, 3, 9, 768, 768}},
    {NAMED(sum_of_sums), {2, 0, 0, 0, 2, 2, 6, 512, 512}},
    {NAMED(long_rows_over_their_sum), {2, 0, 0, 0, 3, 2, 7, 524544, 524544}},
    {NAMED(two_reductions_of_long_rows), {1, 0, 0, 0, 1, 2, 5, 512, 512}},
    {NAMED(rows_of_the_greatest_length), {1, 0, 0, 0, 1, 2, 5, 262400, 262400}},
    {NAMED(softmax), {1, 0, 0, 0, 1, 1, 8, 8192, 8192}},
    {NAMED(softmax_of_columns), {1, 0, 0, 0, 1, 1, 8, 8192, 8192}},
    {NAMED(softmax_of_columns_without_elements), {3, 0, 0, 0, 6, 3, 16, 768, 256}},
    {NAMED(layer_norm), {1, 0, 0, 0, 2, 1, 17, 8192, 8192}},
    {NAMED(variance), {1, 0, 0, 0, 1, 1, 10, 256, 256}},
    {NAMED(argmax_beside_amax), {1, 0, 0, 0, 1, 2, 14, 512, 512}},
    {NAMED(argmax_of_columns), {2, 0, 0, 0, 2, 2, 16, 8704, 8704}},
    {NAMED(cross_entropy), {2, 0, 0, 0, 4, 3, 40, 768, 768}},
    {NAMED(rows_by_index), {1, 0, 0, 0, 2, 1, 5, 8192, 8192}},
    {NAMED(rows_by_two_indices), {1, 0, 0, 0, 3, 1, 5, 8192, 8192}},
    {NAMED(rows_by_a_computed_index), {2, 0, 0, 0, 3, 2, 7, 8448, 8448}},
    {NAMED(rows_of_a_result), {2, 0, 0, 0, 3, 2, 6, 16384, 16384}},
    {NAMED(added_at_places), {1, 0, 1, 0, 1, 1, 4, 8192, 8192}},
    {NAMED(sorted_and_summed), {1, 0, 2, 0, 1, 1, 4, 40960, 40960}},
    {NAMED(product), {0, 1, 0, 0, 0, 0, 0, 2048, 2048}},
    {NAMED(product_with_an_epilogue), {0, 1, 0, 0, 2, 1, 6, 4096, 4096}},
    {NAMED(product_that_is_kept_beside_its_epilogue), {0, 1, 0, 0, 1, 1, 3, 4096, 4096}},
    {NAMED(product_of_results), {2, 1, 0, 0, 2, 2, 8, 14336, 14336}},
    {NAMED(product_and_its_sum), {1, 1, 0, 0, 1, 1, 3, 2304, 2304}},
    {NAMED(product_with_an_epilogue_in_bf16), {2, 1, 0, 0, 3, 3, 11, 8192, 8192}},
    {NAMED(attention), {1, 2, 0, 0, 2, 2, 12, 20480, 20480}},
};

static void typical_programs(void **state)
{
    (void)state;
    expect_costs(typicals, sizeof typicals / sizeof *typicals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(typical_programs, test_default_mode, test_restore_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
