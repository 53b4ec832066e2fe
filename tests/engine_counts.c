/* SPDX-License-Identifier: Apache-2.0 */
/* What typical programs cost: how many passes, which operands, how much memory. A planner that joins less, copies more
 * or takes memory that it need not take gives the same numbers as before, and is seen here alone. A figure that has
 * become smaller is a figure to write down anew. */
#include "support_wick.h"

#include "../src/backend/null/null.h"
#include "../src/engine/ring.h"

typedef struct costs {
    int64_t passes, products, kernels; /* what the device is told to run */
    int64_t copies;                    /* of memory, for what is written over while it is read */
    int64_t loads, stores;             /* operands of the passes, and of what follows a product */
    int64_t instructions;
    int64_t bytes; /* most that lay on the device at one time, beside what was there */
    int64_t left;  /* that lie there still */
} costs;

typedef struct inputs {
    wk_tensor *x, *y; /* [32, 64] */
    wk_tensor *w;     /* [64, 16] */
    wk_tensor *row;   /* [64] */
    wk_tensor *index; /* [32], i64 */
} inputs;

typedef struct typical {
    const char *name;
    void (*run)(const inputs *in);
    costs costs;
} typical;

static wk_tensor *stored(wk_tensor *x)
{
    assert_non_null(x);
    wk_tensor *hold = wk_keep(x);
    assert_true(wk__materialize(hold, WK_HERE));
    return hold;
}

/* Forces x alone to be computed, as reading it does. */
static void need(wk_tensor *x)
{
    assert_non_null(x);
    assert_true(wk__materialize(x, WK_HERE));
    expect_fine();
}

static wk_tensor *computed(wk_tensor *x)
{
    need(x);
    return x;
}

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

static void chain(const inputs *in)
{
    need(wk_mul(wk_exp(wk_add(in->x, 2)), in->y));
}

static void chain_that_reads_an_operand_again(const inputs *in)
{
    need(wk_sub(wk_mul(in->x, in->y), wk_mul(in->x, wk_exp(in->y))));
}

static void chain_of_which_a_part_is_kept(const inputs *in)
{
    wk_tensor *a = wk_keep(wk_mul(in->x, 2)), *b = wk_keep(wk_add(wk_exp(a), 1));
    wk_sync();
    (void)b;
}

/* Nobody but an open scope has the result, and what it is computed from nobody at all. */
static void waiting_behind_a_hidden_value(const inputs *in)
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
    need(wk_mul(a, in->y));
    need(wk_sub(a, in->y));
    need(a);
}

static void broadcast_row(const inputs *in)
{
    need(wk_mul(wk_add(in->x, in->row), in->row));
}

static void turned(const inputs *in)
{
    need(wk_add(wk_t(in->x), wk_exp(wk_t(in->x))));
}

static void one_tensor_in_two_orders(const inputs *in)
{
    wk_tensor *square = wk_narrow(in->x, 1, 0, 32);
    need(wk_add(square, wk_t(square)));
}

static void result_read_in_another_order(const inputs *in)
{
    wk_tensor *square = wk_exp(wk_narrow(in->x, 1, 0, 32));
    need(wk_add(square, wk_t(square)));
}

static void spaces_in_turns(const inputs *in)
{
    wk_tensor *all[12];
    for (int k = 0; k < 12; k++) all[k] = wk_keep(wk_mul(wk_narrow(in->x, 1, 0, 4 + k % 4), k));
    wk_sync();
    (void)all;
}

static void more_spaces_than_are_looked_back_over(const inputs *in)
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
    need(sum);
}

static void numbers_in_short_dtypes(const inputs *in)
{
    need(wk_add(wk_mul(wk_to_dtype(in->x, WK_BF16), 1.7), wk_to_dtype(in->y, WK_F16)));
}

static void where_one_is_greater(const inputs *in)
{
    need(wk_where(wk_gt(in->x, in->y), wk_mul(in->x, 2), in->y));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void sum_of_a_chain(const inputs *in)
{
    need(wk_sum(wk_mul(wk_exp(in->x), in->x), (1)));
}

static void rows_over_their_sum(const inputs *in)
{
    need(wk_div(in->x, wk_sum(in->x, (1), .keepdim = true)));
}

static void columns_over_their_sum(const inputs *in)
{
    need(wk_div(in->x, wk_sum(in->x, (0), .keepdim = true)));
}

static void row_values_of_a_sum(const inputs *in)
{
    need(wk_exp(wk_mul(wk_sum(in->x, (1)), 0.5)));
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
    need(wk_sum(wk_sum(in->x, (1))));
}

static void long_rows_over_their_sum(const inputs *in)
{
    wk_tensor *y = wk_expand(wk_reshape(in->row, (1, 64, 1)), (2, 64, 1024));
    need(wk_mul(y, wk_sum(y, (1, 2), .keepdim = true)));
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
    need(wk_mul(y, wk_sum(y, (1, 2), .keepdim = true)));
}

static void softmax(const inputs *in)
{
    need(wk_softmax(in->x, 1));
}

static void softmax_of_columns(const inputs *in)
{
    need(wk_softmax(in->x, 0));
}

static void softmax_of_columns_without_elements(const inputs *in)
{
    need(wk_log_softmax(wk_narrow(in->x, 0, 3, 0), 0));
}

static void layer_norm(const inputs *in)
{
    need(wk_layer_norm(in->x, (64), in->row, in->row));
}

static void variance(const inputs *in)
{
    need(wk_var(in->x, (1)));
}

static void argmax_beside_amax(const inputs *in)
{
    wk_tensor *a = wk_keep(wk_argmax(in->x, 1)), *b = wk_keep(wk_amax(in->x, (1)));
    wk_sync();
    (void)a, (void)b;
}

static void argmax_of_columns(const inputs *in)
{
    need(wk_argmax(wk_mul(in->x, 2), 0));
}

static void cross_entropy(const inputs *in)
{
    need(wk_cross_entropy(in->x, in->index));
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static void rows_by_index(const inputs *in)
{
    need(wk_mul(wk_index_select(in->x, 0, in->index), 2));
}

static void rows_by_two_indices(const inputs *in)
{
    need(wk_add(wk_index_select(in->x, 0, in->index), wk_index_select(in->y, 0, in->index)));
}

static void rows_by_a_computed_index(const inputs *in)
{
    need(wk_index_select(in->x, 0, wk_add(in->index, 1)));
}

static void rows_of_a_result(const inputs *in)
{
    need(wk_index_select(wk_exp(in->x), 0, in->index));
}

static void added_at_places(const inputs *in)
{
    need(wk_index_add(wk_mul(in->x, 2), 0, in->index, in->y));
}

static void sorted_and_summed(const inputs *in)
{
    wk_tensor *values, *indices;
    wk_sort(wk_mul(in->x, 2), 1, false, &values, &indices);
    need(wk_cumsum(values, 1));
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static void product(const inputs *in)
{
    need(wk_matmul(in->x, in->w));
}

static void product_with_an_epilogue(const inputs *in)
{
    need(wk_relu(wk_add(wk_matmul(in->x, in->w), wk_narrow(in->row, 0, 0, 16))));
}

static void product_that_is_kept_beside_its_epilogue(const inputs *in)
{
    wk_tensor *a = wk_keep(wk_matmul(in->x, in->w)), *b = wk_keep(wk_exp(a));
    wk_sync();
    (void)b;
}

static void product_of_results(const inputs *in)
{
    need(wk_matmul(wk_mul(in->x, 2), wk_mul(in->w, 2)));
}

static void product_and_its_sum(const inputs *in)
{
    need(wk_sum(wk_matmul(in->x, in->w), (1)));
}

static void product_with_an_epilogue_in_bf16(const inputs *in)
{
    need(wk_add(wk_matmul(wk_to_dtype(in->x, WK_BF16), wk_to_dtype(in->w, WK_BF16)), 1));
}

static void attention(const inputs *in)
{
    need(wk_matmul(wk_softmax(wk_mul(wk_matmul(in->x, wk_t(in->y)), 0.125), 1), in->y));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void in_place(const inputs *in)
{
    wk_mul_(in->x, 2);
    wk_add_(in->x, in->y);
    wk_sync();
}

static void in_place_where_the_old_numbers_are_read(const inputs *in)
{
    wk_tensor *before = wk_keep(wk_exp(in->x));
    wk_mul_(in->x, wk_t(wk_narrow(wk_t(in->x), 0, 0, 64)));
    wk_sync();
    (void)before;
}

static void in_place_on_what_is_read_in_another_order(const inputs *in)
{
    wk_tensor *square = wk_narrow(in->x, 1, 0, 32);
    wk_add_(square, wk_t(square));
    wk_sync();
}

static void a_part_of_old_numbers(const inputs *in)
{
    wk_fill_(wk_narrow(in->x, 0, 3, 5), 1);
    wk_sync();
}

static void a_part_of_numbers_that_are_read_still(const inputs *in)
{
    wk_tensor *before = wk_detach(in->x);
    wk_tensor *later = wk_keep(wk_index_select(before, 0, in->index));
    wk_fill_(wk_narrow(in->x, 0, 3, 5), 1);
    wk_sync();
    (void)later;
}

static void parts_one_after_the_other(const inputs *in)
{
    wk_tensor *all = wk_keep(wk_zeros((64, 64)));
    wk_copy_(wk_narrow(all, 0, 0, 32), wk_exp(in->x));
    wk_copy_(wk_narrow(all, 0, 32, 32), wk_exp(in->y));
    wk_sync();
}

static void parts_over_each_other(const inputs *in)
{
    wk_tensor *all = wk_keep(wk_zeros((48, 64)));
    wk_copy_(wk_narrow(all, 0, 0, 32), wk_exp(in->x));
    wk_copy_(wk_narrow(all, 0, 16, 32), wk_exp(in->y));
    wk_sync();
}

static void joined(const inputs *in)
{
    need(wk_cat((wk_add(in->x, 1), wk_mul(in->y, 3), wk_exp(in->x)), 0));
}

static void joined_and_reduced(const inputs *in)
{
    wk_tensor *y = wk_keep(wk_cat((wk_add(in->x, 1), wk_mul(in->y, 3)), 0));
    need(wk_sum(y, (1)));
}

static void a_dying_operand(const inputs *in)
{
    wk_tensor *y = in->x;
    for (int k = 0; k < 4; k++) {
        WK_SCOPE;
        y = wk_keep(stored(wk_exp(wk_add(y, k))));
    }
}

/* The operand dies with the scope that the result leaves; what lies between them nobody sees. */
static void a_dying_operand_behind_a_hidden_value(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        y = wk_keep(wk_exp(wk_add(computed(wk_exp(in->x)), 1)));
    }
    need(y);
}

static void a_dying_operand_that_is_turned(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        y = wk_keep(wk_exp(wk_t(computed(wk_exp(in->x)))));
    }
    need(y);
}

static void a_dying_operand_of_a_sum(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        wk_tensor *x = computed(wk_exp(in->x));
        y = wk_keep(wk_div(x, wk_sum(x, (1), .keepdim = true)));
    }
    need(y);
}

static void a_dying_factor(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        wk_tensor *x = computed(wk_exp(wk_narrow(in->w, 0, 0, 16)));
        y = wk_keep(wk_relu(wk_matmul(x, x)));
    }
    need(y);
}

static void a_dying_operand_of_an_epilogue(const inputs *in)
{
    wk_tensor *y;
    {
        WK_SCOPE;
        wk_tensor *x = computed(wk_exp(wk_narrow(in->y, 1, 0, 16)));
        wk_tensor *product = wk_retain(wk_matmul(in->x, in->w));
        y = wk_keep(wk_mul(product, x));
        wk_keep(product);
        wk_free(product);
    }
    need(y);
}

static void a_result_that_nobody_reads(const inputs *in)
{
    {
        WK_SCOPE;
        wk_exp(wk_mul(in->x, 2));
        wk_matmul(in->x, in->w);
    }
    wk_sync();
}

/* What nobody reads has left the queue with its bytes: the calls around it are one pass. */
static void large_results_that_nobody_reads(const inputs *in)
{
    wk_tensor *y = wk_mul(in->x, 2), *hold = wk_retain(y);
    for (int k = 0; k < 6; k++) {
        WK_SCOPE;
        wk_exp(wk_expand(in->row, (1 << 19, 64)));
    }
    need(wk_exp(y));
    wk_free(hold);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static void gradient_of_a_chain(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_sum(wk_mul(wk_exp(x), in->y))), WK_OK);
    need(wk_grad_of(x));
}

static void gradient_of_a_softmax(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_sum(wk_mul(wk_softmax(x, 1), in->y))), WK_OK);
    need(wk_grad_of(x));
}

static void gradient_of_parts(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true), *all = wk_mul(x, 2);
    wk_mul_(wk_narrow(all, 0, 3, 5), 3);
    assert_int_equal(wk_backward(wk_sum(wk_mul(all, in->y))), WK_OK);
    need(wk_grad_of(x));
}

static void gradient_of_pieces(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true), *piece[4];
    wk_chunk(x, 4, 0, piece);
    assert_int_equal(wk_backward(wk_sum(wk_add(wk_mul(piece[0], piece[1]), wk_exp(piece[3])))), WK_OK);
    need(wk_grad_of(x));
}

static void gradient_of_a_part(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_sum(wk_exp(wk_narrow(x, 0, 3, 5)))), WK_OK);
    need(wk_grad_of(x));
}

static void gradient_of_joined_parts(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_sum(wk_mul(wk_cat((wk_exp(x), wk_mul(x, 2)), 0), 3))), WK_OK);
    need(wk_grad_of(x));
}

static void gradient_of_rows_by_index(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_sum(wk_exp(wk_index_select(x, 0, in->index)))), WK_OK);
    need(wk_grad_of(x));
}

static void gradient_of_a_product(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true), *w = wk_requires_grad_(wk_detach(in->w), true);
    assert_int_equal(wk_backward(wk_sum(wk_relu(wk_matmul(x, w)))), WK_OK);
    need(wk_grad_of(x));
    need(wk_grad_of(w));
}

static void gradients_that_accumulate(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    for (int k = 0; k < 3; k++) {
        WK_SCOPE;
        assert_int_equal(wk_backward(wk_sum(wk_mul(wk_exp(x), in->y))), WK_OK);
        wk_sync();
    }
}

static void second_derivative(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true), *g[1];
    assert_int_equal(wk_grad((wk_sum(wk_mul(wk_exp(x), x))), (x), g, .create_graph = true), WK_OK);
    assert_int_equal(wk_backward(wk_sum(g[0])), WK_OK);
    need(wk_grad_of(x));
}

static void gradients_of_a_view_that_is_used_twice(const inputs *in)
{
    wk_tensor *x = wk_requires_grad_(wk_detach(in->x), true);
    assert_int_equal(wk_backward(wk_add(wk_sum(wk_mul(x, x)), wk_sum(wk_mul(wk_narrow(x, 0, 0, 4), 3)))), WK_OK);
    need(wk_grad_of(x));
}

static void steps(const inputs *in, wk_optim *(*make)(wk_tensors *))
{
    wk_module *net = wk_nn_sequential(wk_nn_linear(64, 24), wk_nn_relu(), wk_nn_linear(24, 8));
    wk_module_to(net, test_null());
    wk_optim *optim = make(wk_parameters(net));
    assert_non_null(optim);
    for (int k = 0; k < 3; k++) {
        WK_SCOPE;
        wk_optim_zero_grad(optim);
        assert_int_equal(wk_backward(wk_cross_entropy(wk_forward(net, in->x), in->index)), WK_OK);
        assert_int_equal(wk_optim_step(optim), WK_OK);
    }
    wk_sync();
}

static wk_optim *plain(wk_tensors *parameters)
{
    return wk_optim_sgd(parameters, .lr = 0.1);
}

static wk_optim *adam(wk_tensors *parameters)
{
    return wk_optim_adam(parameters, .lr = 0.1);
}

static void three_steps(const inputs *in)
{
    steps(in, plain);
}

static void three_steps_of_adam(const inputs *in)
{
    steps(in, adam);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define NAMED(name) #name, name
/*   passes, products, kernels, copies, loads, stores, instructions, bytes, left */
static const typical typicals[] = {
    {NAMED(chain), {1, 0, 0, 0, 2, 1, 7, 8192, 8192}},
    {NAMED(chain_that_reads_an_operand_again), {1, 0, 0, 0, 2, 1, 7, 8192, 8192}},
    {NAMED(chain_of_which_a_part_is_kept), {1, 0, 0, 0, 1, 2, 8, 16384, 16384}},
    {NAMED(waiting_behind_a_hidden_value), {0}},
    {NAMED(longer_than_what_waits), {1, 0, 0, 0, 1, 1, 19, 8192, 8192}},
    {NAMED(parked_and_read_twice), {2, 0, 0, 0, 4, 4, 16, 32768, 32768}},
    {NAMED(broadcast_row), {1, 0, 0, 0, 2, 1, 5, 8192, 8192}},
    {NAMED(turned), {1, 0, 0, 0, 1, 1, 4, 8192, 8192}},
    {NAMED(one_tensor_in_two_orders), {1, 0, 0, 0, 2, 1, 4, 4096, 4096}},
    {NAMED(result_read_in_another_order), {2, 0, 0, 0, 3, 2, 7, 8192, 8192}},
    {NAMED(spaces_in_turns), {4, 0, 0, 0, 4, 12, 40, 9216, 9216}},
    {NAMED(more_spaces_than_are_looked_back_over), {10, 0, 0, 0, 10, 10, 40, 8192, 8192}},
    {NAMED(more_results_than_a_program_has_operands), {4, 0, 0, 0, 4, 40, 124, 327680, 327680}},
    {NAMED(longer_than_a_program), {18, 0, 0, 0, 36, 31, 427, 253952, 253952}},
    {NAMED(numbers_in_short_dtypes), {1, 0, 0, 0, 2, 1, 9, 8192, 8192}},
    {NAMED(where_one_is_greater), {1, 0, 0, 0, 2, 1, 7, 8192, 8192}},
    {NAMED(sum_of_a_chain), {1, 0, 0, 0, 1, 1, 5, 256, 256}},
    {NAMED(rows_over_their_sum), {1, 0, 0, 0, 1, 2, 5, 8448, 8448}},
    {NAMED(columns_over_their_sum), {1, 0, 0, 0, 1, 2, 5, 8448, 8448}},
    {NAMED(row_values_of_a_sum), {1, 0, 0, 0, 1, 2, 7, 512, 512}},
    {NAMED(two_reductions_of_one_kind_of_row), {1, 0, 0, 0, 1, 2, 6, 512, 512}},
    {NAMED(two_reductions_of_two_kinds_of_row), {3, 0, 0, 0, 3, 3, 9, 768, 768}},
    {NAMED(sum_of_sums), {2, 0, 0, 0, 2, 2, 6, 512, 512}},
    {NAMED(long_rows_over_their_sum), {2, 0, 0, 0, 3, 2, 7, 524544, 524544}},
    {NAMED(two_reductions_of_long_rows), {2, 0, 0, 0, 2, 2, 6, 512, 512}},
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
    {NAMED(in_place), {1, 0, 0, 0, 2, 1, 6, 0, 0}},
    {NAMED(in_place_where_the_old_numbers_are_read), {1, 0, 0, 0, 1, 2, 5, 8192, 8192}},
    {NAMED(in_place_on_what_is_read_in_another_order), {1, 0, 0, 1, 2, 1, 4, 8192, 0}},
    {NAMED(a_part_of_old_numbers), {1, 0, 0, 0, 0, 1, 3, 0, 0}},
    {NAMED(a_part_of_numbers_that_are_read_still), {2, 0, 0, 1, 2, 2, 6, 16384, 8192}},
    {NAMED(parts_one_after_the_other), {3, 0, 0, 0, 3, 4, 10, 24576, 24576}},
    {NAMED(parts_over_each_other), {3, 0, 0, 0, 3, 4, 10, 20480, 20480}},
    {NAMED(joined), {1, 0, 0, 0, 2, 3, 10, 24576, 24576}},
    {NAMED(joined_and_reduced), {2, 0, 0, 0, 3, 3, 11, 16640, 16640}},
    {NAMED(a_dying_operand), {4, 0, 0, 0, 4, 4, 20, 32768, 32768}},
    {NAMED(a_dying_operand_behind_a_hidden_value), {2, 0, 0, 0, 2, 2, 8, 8192, 8192}},
    {NAMED(a_dying_operand_that_is_turned), {2, 0, 0, 0, 2, 2, 6, 8192, 8192}},
    {NAMED(a_dying_operand_of_a_sum), {2, 0, 0, 0, 2, 2, 7, 16384, 8192}},
    {NAMED(a_dying_factor), {1, 1, 0, 0, 2, 2, 7, 2048, 1024}},
    {NAMED(a_dying_operand_of_an_epilogue), {1, 1, 0, 0, 3, 2, 7, 4096, 4096}},
    {NAMED(a_result_that_nobody_reads), {0}},
    {NAMED(large_results_that_nobody_reads), {1, 0, 0, 0, 1, 2, 6, 16384, 16384}},
    {NAMED(gradient_of_a_chain), {1, 0, 0, 0, 2, 3, 11, 16640, 16640}},
    {NAMED(gradient_of_a_softmax), {3, 0, 0, 0, 7, 5, 26, 33024, 24832}},
    {NAMED(gradient_of_parts), {5, 0, 0, 0, 6, 6, 24, 16640, 16640}},
    {NAMED(gradient_of_pieces), {1, 0, 0, 0, 3, 6, 22, 10496, 10496}},
    {NAMED(gradient_of_a_part), {3, 0, 0, 0, 2, 5, 12, 11008, 9728}},
    {NAMED(gradient_of_joined_parts), {3, 0, 0, 0, 5, 6, 28, 49408, 33024}},
    {NAMED(gradient_of_rows_by_index), {1, 0, 1, 1, 2, 4, 15, 33024, 33024}},
    {NAMED(gradient_of_a_product), {1, 3, 0, 0, 3, 4, 15, 18688, 16640}},
    {NAMED(gradients_that_accumulate), {3, 0, 0, 0, 8, 9, 37, 24832, 8192}},
    {NAMED(second_derivative), {1, 0, 0, 0, 1, 5, 23, 25088, 25088}},
    {NAMED(gradients_of_a_view_that_is_used_twice), {3, 0, 0, 1, 6, 8, 35, 33536, 8704}},
    {NAMED(three_steps), {19, 15, 0, 0, 60, 46, 317, 84992, 14848}},
    {NAMED(three_steps_of_adam), {30, 15, 0, 0, 94, 83, 645, 140800, 29696}},
};

static int64_t on_device(bool peak)
{
    wk_memory_stats stats = {.size = sizeof stats};
    assert_int_equal(wk_memory_stats_of(test_null(), &stats), WK_OK);
    return peak ? stats.peak : stats.live;
}

static void count_program(costs *costs, const wk__group *g)
{
    costs->instructions += g->nins;
    for (int o = 0; o < g->noperands; o++) (*(g->operand[o].stored ? &costs->stores : &costs->loads))++;
}

static costs costs_of(const typical *t)
{
    WK_SCOPE;
    WK_DEVICE(test_null());
    const inputs in = {.x = stored(wk_ones((32, 64))),
                       .y = stored(wk_ones((32, 64))),
                       .w = stored(wk_ones((64, 16))),
                       .row = stored(wk_ones((64))),
                       .index = stored(wk_zeros((32), .dtype = WK_I64))};
    wk_sync();
    wk__null_clear();
    assert_int_equal(wk_memory_reset_peak(test_null()), WK_OK);
    const int64_t before = on_device(false);
    t->run(&in);
    expect_fine();
    costs found = {.passes = wk__null_plan_count(WK__NULL_RUN),
                   .products = wk__null_plan_count(WK__NULL_MATMUL),
                   .kernels = wk__null_plan_count(WK__NULL_KERNEL),
                   .copies = wk__null_plan_count(WK__NULL_COPY),
                   .bytes = on_device(true) - before,
                   .left = on_device(false) - before};
    for (int64_t k = 0; k < found.passes; k++) count_program(&found, wk__null_plan_group(k));
    for (int64_t k = 0; k < found.products; k++)
        if (wk__null_plan_matmul(k)->tail) count_program(&found, wk__null_plan_matmul(k)->tail);
    return found;
}

static void typical_programs(void **state)
{
    (void)state;
    bool as_written = true;
    for (size_t k = 0; k < sizeof typicals / sizeof *typicals; k++) {
        const costs found = costs_of(&typicals[k]);
        if (memcmp(&found, &typicals[k].costs, sizeof found) == 0) continue;
        as_written = false;
        print_message("{NAMED(%s), {%lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld}},\n", typicals[k].name,
                      (long long)found.passes, (long long)found.products, (long long)found.kernels,
                      (long long)found.copies, (long long)found.loads, (long long)found.stores,
                      (long long)found.instructions, (long long)found.bytes, (long long)found.left);
    }
    assert_true(as_written); /* what was found is printed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(typical_programs, test_usual_mode, test_mode_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
