/* SPDX-License-Identifier: Apache-2.0 */
/* Tests parameters, initial values, call forms and messages of recurrent layers, and packed sequences. */
#include "support/devices.h"
#include <math.h>

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void parameters_have_pytorchs_names(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const names[] = {
        "weight_ih_l0",         "weight_hh_l0",         "bias_ih_l0",           "bias_hh_l0",
        "weight_hr_l0",         "weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
        "bias_hh_l0_reverse",   "weight_hr_l0_reverse", "weight_ih_l1",         "weight_hh_l1",
        "bias_ih_l1",           "bias_hh_l1",           "weight_hr_l1",         "weight_ih_l1_reverse",
        "weight_hh_l1_reverse", "bias_ih_l1_reverse",   "bias_hh_l1_reverse",   "weight_hr_l1_reverse"};
    wk_module *m = wk_nn_lstm(3, 8, .num_layers = 2, .proj_size = 5, .bidirectional = true);
    wk_tensors *all = wk_parameters(m);
    assert_int_equal(wk_tensors_count(all), 20);
    for (int k = 0; k < 20; k++) assert_string_equal(wk_tensors_name(all, k), names[k]);
    EXPECT_SHAPE(wk_module_parameter(m, "weight_ih_l0_reverse"), 32, 3);
    EXPECT_SHAPE(wk_module_parameter(m, "weight_hh_l0"), 32, 5);
    EXPECT_SHAPE(wk_module_parameter(m, "weight_ih_l1"), 32, 10);
    EXPECT_SHAPE(wk_module_parameter(m, "weight_hr_l1"), 5, 8);
    assert_int_equal(wk_tensors_count(wk_parameters(wk_nn_gru_cell(3, 4, .no_bias = true))), 2);
    EXPECT_SHAPE(wk_module_parameter(wk_nn_rnn_cell(3, 4), "bias_hh"), 4);
    expect_ok();
}

static void initial_values_are_uniform(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(4);
    wk_module *m = wk_nn_gru(400, 25);
    for (int k = 0; k < 4; k++) {
        wk_tensor *x = wk_tensors_get(wk_parameters(m), k);
        const double most = wk_item(wk_amax(wk_abs(x))), mean = wk_item(wk_mean(x));
        assert_true(most <= 0.2 && most > 0.19 && fabs(mean) < 0.04);
    }
    expect_ok();
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void states_carry_over(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_lstm(3, 4, .num_layers = 2, .batch_first = true);
    wk_tensor *x = wk_rand((2, 6, 3)), *h, *c, *last;
    wk_tensor *all = wk_rnn_forward(m, x, .h_n = &last);
    wk_tensor *front = wk_rnn_forward(m, wk_narrow(x, 1, 0, 4), .h_n = &h, .c_n = &c);
    wk_tensor *end = wk_rnn_forward(m, wk_narrow(x, 1, 4, 2), .h0 = h, .c0 = c, .h_n = &h, .c_n = NULL);
    EXPECT_SHAPE(all, 2, 6, 4);
    EXPECT_SHAPE(h, 2, 2, 4);
    expect_ok();
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(all, wk_cat((front, end), 1))))) < 1e-6);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(h, last)))) < 1e-6);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(wk_select(last, 0, 1), wk_select(all, 1, -1))))) < 1e-6);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(wk_forward(m, x), all)))) == 0);
    expect_ok();
}

static void a_batch_may_be_empty(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((3, 0, 2), .requires_grad = true), *h, *c;
    wk_module *m = wk_nn_lstm(2, 4, .bidirectional = true);
    wk_tensor *y = wk_rnn_forward(m, x, .h_n = &h, .c_n = &c);
    EXPECT_SHAPE(y, 3, 0, 8);
    EXPECT_SHAPE(h, 2, 0, 4);
    EXPECT_SHAPE(c, 2, 0, 4);
    wk_backward(wk_sum(y));
    EXPECT_SHAPE(wk_grad_of(x), 3, 0, 2);
    assert_true(wk_item(wk_sum(wk_abs(wk_grad_of(wk_module_parameter(m, "weight_hh_l0"))))) == 0);
    expect_ok();
}

static void an_empty_batch_may_have_lengths(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((5, 0, 3)), *lengths = wk_zeros((0), .dtype = WK_I64), *h;
    wk_tensor *y = wk_rnn_forward(wk_nn_gru(3, 4), x, .lengths = lengths, .h0 = wk_zeros((1, 0, 4)), .h_n = &h);
    EXPECT_SHAPE(y, 5, 0, 4);
    EXPECT_SHAPE(h, 1, 0, 4);
    EXPECT_SHAPE(wk_rnn_forward(wk_nn_lstm(3, 4, .batch_first = true), wk_transpose(x, 0, 1), .lengths = lengths), 0, 5,
                 4);
    expect_ok();
    assert_null(wk_rnn_forward(wk_nn_gru(3, 4), x, .lengths = wk_zeros((1), .dtype = WK_I64)));
    expect_error("rnn_forward: the lengths must be an i64 vector", "each of 0 sequences, got i64[1]", NULL);
}

/* A call keeps no memory for a state that was not requested. */
static void only_requested_states_are_kept(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    enum { HIDDEN = 256, BATCH = 64 };
    wk_module *m = wk_nn_lstm(3, HIDDEN, .num_layers = 2);
    wk_tensor *x = wk_rand((1, BATCH, 3)), *c;
    wk_memory_stats before = {.size = sizeof before}, after = before;
    wk_forward(m, x);
    wk_sync();
    wk_memory_stats_of(wk_device_of(x), &before);
    wk_tensor *y = wk_rnn_forward(m, x, .c_n = &c);
    wk_sync();
    wk_memory_stats_of(wk_device_of(x), &after);
    expect_ok();
    const int64_t size = (int64_t)sizeof(float) * BATCH * HIDDEN;
    assert_true(after.live - before.live < 4 * size);
    EXPECT_SHAPE(y, 1, BATCH, HIDDEN);
    EXPECT_SHAPE(c, 2, BATCH, HIDDEN);
}

static void dropout_is_between_layers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_rand((3, 2, 4));
    wk_module *one = wk_nn_rnn(4, 5, .dropout = 0.9), *two = wk_nn_rnn(4, 5, .num_layers = 2, .dropout = 1);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(wk_forward(one, x), wk_forward(one, x))))) == 0);
    wk_tensor *dropped = wk_forward(two, x), *same = wk_forward(two, wk_rand((3, 2, 4)));
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(dropped, same)))) == 0); /* the second layer gets zeros */
    wk_module_train(two, false);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(wk_forward(two, x), dropped)))) > 0);
    expect_ok();
}

static void half_precision_is_computed_in_single(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_gru(3, 4), *half = wk_nn_gru(3, 4, .dtype = WK_BF16);
    for (int k = 0; k < 4; k++) {
        WK_NO_GRAD;
        wk_copy_(wk_tensors_get(wk_parameters(half), k), wk_tensors_get(wk_parameters(m), k));
    }
    wk_tensor *x = wk_rand((5, 2, 3), .requires_grad = true), *z = wk_forward(m, x);
    wk_tensor *y = wk_forward(half, wk_to_dtype(x, WK_BF16)), *weight = wk_module_parameter(half, "weight_hh_l0");
    assert_int_equal(wk_dtype_of(y), WK_BF16);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(wk_to_dtype(y, WK_F32), z)))) < 0.02);
    wk_backward(wk_sum(y));
    assert_int_equal(wk_dtype_of(wk_grad_of(weight)), WK_BF16);
    expect_ok();
}

static void devices_agree(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(3);
    wk_module *layers[] = {wk_nn_rnn(3, 4), wk_nn_gru(3, 4, .bidirectional = true), wk_nn_lstm(3, 4, .num_layers = 2)};
    wk_tensor *x = wk_rand((4, 3, 3)), *lengths = wk_of(int64_t, (3), 2, 4, 3);
    for (int k = 0; k < 3; k++) {
        wk_tensor *wanted[2] = {NULL};
        EACH_DEVICE(device)
        {
            wk_module_to(layers[k], device);
            wk_tensor *y = wk_rnn_forward(layers[k], wk_to(x, device), .lengths = lengths), *grad;
            wk_tensor *weight = wk_module_parameter(layers[k], "weight_hh_l0");
            assert_int_equal(wk_grad((wk_sum(wk_mul(y, y))), (weight), &grad), WK_OK);
            wk_tensor *const found[2] = {wk_to(y, wk_cpu()), wk_to(grad, wk_cpu())};
            expect_ok();
            for (int r = 0; r < 2; r++) {
                if (!wanted[r]) wanted[r] = found[r];
                assert_true(wk_item(wk_amax(wk_abs(wk_sub(found[r], wanted[r])))) < 1e-5);
            }
        }
        wk_module_to(layers[k], wk_cpu());
    }
    expect_ok();
}

/* ---- packed sequences -------------------------------------------------------------------------------------------- */

static void packing_removes_padding(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_reshape(wk_arange(12, .dtype = WK_F32), (3, 2, 2)), *lengths = wk_of(int64_t, (2), 2, 3), *read;
    wk_tensors *packed = wk_pack_padded_sequence(x, lengths, .unsorted = true);
    EXPECT_VALUES(wk_tensors_find(packed, "data"), 0, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11);
    EXPECT_VALUES(wk_tensors_find(packed, "batch_sizes"), 0, 2, 2, 1);
    EXPECT_VALUES(wk_tensors_find(packed, "sorted_indices"), 0, 1, 0);
    EXPECT_VALUES(wk_tensors_find(packed, "unsorted_indices"), 0, 1, 0);
    wk_tensor *padded = wk_pad_packed_sequence(packed, .padding_value = -1, .total_length = 4, .lengths = &read);
    EXPECT_SHAPE(padded, 4, 2, 2);
    EXPECT_VALUES(padded, 0, 0, 1, 2, 3, 4, 5, 6, 7, -1, -1, 10, 11, -1, -1, -1, -1);
    EXPECT_VALUES(read, 0, 2, 3);
    packed = wk_pack_padded_sequence(x, wk_of(int64_t, (3), 2, 1, 1), .batch_first = true);
    EXPECT_VALUES(wk_tensors_find(packed, "data"), 0, 0, 1, 4, 5, 8, 9, 2, 3);
    assert_null(wk_tensors_find(packed, "sorted_indices"));
    EXPECT_VALUES(wk_pad_packed_sequence(packed, .batch_first = true), 0, 0, 1, 2, 3, 4, 5, 0, 0, 8, 9, 0, 0);
    expect_ok();
}

static void packed_calls_agree_with_lengths(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_lstm(3, 4, .bidirectional = true);
    wk_tensor *x = wk_rand((4, 3, 3)), *lengths = wk_of(int64_t, (3), 2, 4, 3), *h0 = wk_rand((2, 3, 4)), *h, *c, *u,
              *v;
    wk_tensor *y = wk_rnn_forward(m, x, .lengths = lengths, .h0 = h0, .h_n = &h, .c_n = &c);
    wk_tensors *packed =
        wk_rnn_forward_packed(m, wk_pack_padded_sequence(x, lengths, .unsorted = true), .h0 = h0, .h_n = &u, .c_n = &v);
    wk_tensor *z = wk_pad_packed_sequence(packed);
    expect_ok();
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(y, z)))) == 0);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(h, u)))) == 0);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(c, v)))) == 0);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_nn_gru(3, 0);
    expect_error("nn_gru: hidden_size must be at least 1, got 0", NULL);
    wk_nn_rnn(0, 3);
    expect_error("nn_rnn: input_size must be at least 1, got 0", NULL);
    wk_nn_lstm(3, 4, .num_layers = -1);
    expect_error("nn_lstm: .num_layers must be at least 1", "got -1", NULL);
    wk_nn_lstm(3, 4, .dropout = 1.5);
    expect_error("nn_lstm: .dropout must be in [0, 1], got 1.5", NULL);
    wk_nn_lstm(3, 4, .proj_size = 4);
    expect_error("nn_lstm: .proj_size must be in [1, hidden_size - 1], got 4", NULL);
    wk_nn_gru(3, 4, .proj_size = 2);
    expect_error("nn_gru: .proj_size is an option of wk_nn_lstm only", NULL);
    wk_nn_gru_cell(3, 4, .nonlinearity = WK_RNN_RELU);
    expect_error("nn_gru_cell: .nonlinearity is an option of wk_nn_rnn and wk_nn_rnn_cell only", NULL);
    wk_nn_rnn(3, 4, .nonlinearity = 7);
    expect_error("nn_rnn: unknown .nonlinearity 7; expected WK_RNN_TANH or WK_RNN_RELU", NULL);
}

static void wrong_inputs_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *gru = wk_nn_gru(3, 4), *lstm = wk_nn_lstm(3, 4), *cell = wk_nn_lstm_cell(3, 4);
    wk_tensor *x = wk_zeros((5, 2, 3)), *out[4];
    assert_null(wk_forward(gru, wk_zeros((3))));
    expect_error("gru: expected an input of 3 dimensions, (steps, batch, features), or of 2", "f32[3]", NULL);
    assert_null(wk_forward(gru, wk_zeros((5, 2, 4))));
    expect_error("gru: the last size of the input must be input_size (3), got f32[5,2,4]", NULL);
    assert_null(wk_forward(gru, wk_zeros((0, 2, 3))));
    expect_error("gru: the input must have at least one step, got f32[0,2,3]", NULL);
    assert_int_equal(wk_forward_n(gru, (x, wk_zeros((1, 3, 4))), out, 2), -1);
    expect_error("gru: the state h0 must have shape [1,2,4]", "got f32[1,3,4]", NULL);
    assert_int_equal(wk_forward_n(gru, (wk_zeros((5, 3)), wk_zeros((1, 1, 4))), out, 1), -1);
    expect_error("gru: the state h0 must have shape [1,4]", "got f32[1,1,4]", NULL);
    wk_tensor *unsorted = wk_of(int64_t, (3), 1, 3, 2);
    assert_null(wk_rnn_forward(gru, wk_zeros((3, 3, 3)), .h0 = wk_zeros((1, 5, 4)), .lengths = unsorted));
    expect_error("rnn_forward: the state h0 must have shape [1,3,4]", "got f32[1,5,4]", NULL);
    assert_int_equal(wk_forward_n(lstm, (x, x), out, 1), -1);
    expect_error("lstm: expected x or (x, h0, c0), got 2 inputs", NULL);
    wk_tensor *h = wk_zeros((1, 2, 4));
    assert_int_equal(wk_forward_n(gru, (x, h, h), out, 2), -1);
    expect_error("gru: expected x or (x, h0), got 3 inputs", NULL);
    assert_int_equal(wk_forward_n(gru, (x), out, 3), -1);
    expect_error("gru: the layer has 2 outputs, 3 were requested", NULL);
    assert_int_equal(wk_forward_n(cell, (wk_zeros((2, 3)), wk_zeros((2, 4)), wk_zeros((3, 4))), out, 2), -1);
    expect_error("lstm_cell: a state must have the batch of the input f32[2,3] and the size 4, got f32[3,4]", NULL);
    assert_null(wk_forward(cell, wk_zeros((1, 2, 3))));
    expect_error("lstm_cell: expected an input (batch, 3), or (3) for one sequence, got f32[1,2,3]", NULL);
    assert_null(wk_rnn_forward(gru, x, .c0 = x));
    expect_error("rnn_forward: .c0 and .c_n are options of an lstm, not of a gru", NULL);
    assert_null(wk_rnn_forward(wk_nn_relu(), x));
    expect_error("rnn_forward: expected a wk_nn_rnn, wk_nn_gru or wk_nn_lstm", NULL);
}

/* Returns a list of packed sequences; without unsorted_indices if they are NULL. */
static wk_tensors *packed_of(wk_tensor *data, wk_tensor *batch_sizes, wk_tensor *unsorted_indices)
{
    wk_tensors *list = wk_tensors_new();
    wk_tensors_add(list, "data", data);
    wk_tensors_add(list, "batch_sizes", batch_sizes);
    if (unsorted_indices) wk_tensors_add(list, "unsorted_indices", unsorted_indices);
    return list;
}

static void wrong_packed_sequences_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *data = wk_zeros((3, 2)), *sizes = wk_of(int64_t, (2), 2, 1);
    assert_null(wk_pad_packed_sequence(wk_list((data))));
    expect_error("pad_packed_sequence: the list must have data and batch_sizes", NULL);
    assert_null(wk_pad_packed_sequence(packed_of(data, wk_of(int64_t, (2), 1, 2), NULL)));
    expect_error("the batch sizes must be at least 1, not grow, and add up to the rows of the data f32[3,2]", NULL);
    assert_null(wk_pad_packed_sequence(packed_of(wk_zeros((3, 1, 1, 1, 1, 1, 1, 1)), sizes, NULL)));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("pad_packed_sequence: the data must have 1 to 7 dimensions, got f32[3,1,1,1,1,1,1,1]", NULL);
    EXPECT_SHAPE(wk_pad_packed_sequence(packed_of(wk_zeros((3, 1, 1, 1, 1, 1, 1)), sizes, NULL)), 2, 2, 1, 1, 1, 1, 1,
                 1);
    assert_null(wk_pad_packed_sequence(packed_of(data, sizes, wk_of(int64_t, (2), 0, 2))));
    expect_error("pad_packed_sequence: index 2 of unsorted_indices is out of range (valid: [0, 1])", NULL);
    assert_null(wk_rnn_forward_packed(wk_nn_rnn(2, 3), packed_of(data, sizes, wk_of(int64_t, (2), 0, 0))));
    expect_error("rnn_forward_packed: unsorted_indices has index 0 twice; it must be a permutation", NULL);
}

static void wrong_lengths_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((3, 2, 2));
    assert_null(wk_pack_padded_sequence(x, wk_of(int64_t, (2), 3, 0)));
    expect_error("pack_padded_sequence: length 0 of sequence 1 is out of range (valid: [1, 3])", NULL);
    assert_null(wk_pack_padded_sequence(x, wk_of(int64_t, (2), 2, 3)));
    expect_error("pack_padded_sequence: the lengths are not in descending order; use .unsorted = true", NULL);
    assert_null(wk_pack_padded_sequence(x, wk_of(int64_t, (1), 2)));
    expect_error("one element for each of 2 sequences, got i64[1]", NULL);
    assert_null(wk_pack_padded_sequence(x, wk_of(float, (2), 2, 1)));
    expect_error("the lengths must be an i64 vector", "got f32[2]", NULL);
    wk_tensors *packed = wk_pack_padded_sequence(x, wk_of(int64_t, (2), 3, 1));
    assert_null(wk_pad_packed_sequence(packed, .total_length = 2));
    expect_error("pad_packed_sequence: .total_length must be at least the longest length 3, got 2", NULL);
    assert_null(wk_rnn_forward(wk_nn_rnn(2, 3), wk_zeros((3, 2)), .lengths = wk_of(int64_t, (1), 3)));
    expect_error("rnn_forward: .lengths needs an input of 3 dimensions, got f32[3,2]", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_have_pytorchs_names),
        cmocka_unit_test(initial_values_are_uniform),
        cmocka_unit_test(states_carry_over),
        cmocka_unit_test(a_batch_may_be_empty),
        cmocka_unit_test_teardown(an_empty_batch_may_have_lengths, test_clean),
        cmocka_unit_test(only_requested_states_are_kept),
        cmocka_unit_test(dropout_is_between_layers),
        cmocka_unit_test(half_precision_is_computed_in_single),
        cmocka_unit_test(devices_agree),
        cmocka_unit_test(packing_removes_padding),
        cmocka_unit_test(packed_calls_agree_with_lengths),
        cmocka_unit_test_teardown(wrong_arguments_are_refused, test_clean),
        cmocka_unit_test_teardown(wrong_inputs_are_refused, test_clean),
        cmocka_unit_test_teardown(wrong_packed_sequences_are_refused, test_clean),
        cmocka_unit_test_teardown(wrong_lengths_are_refused, test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
