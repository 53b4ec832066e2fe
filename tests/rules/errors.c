/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 17, 19 and 20 of docs/contributing/invariants.md: the first error is kept, NULL propagates, calls that
 * refuse while an error is pending, error handlers. engine_scopes, io_tensors and optim_steps test the rest of these
 * rules. */
#include "support/wick.h"

#include <math.h>

#include "backend/null/null.h"

static void fail_something(void)
{
    wk_clear_error();
    wk_add(wk_ones((2)), wk_ones((3)));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
}

/* Expects that the error is still that of fail_something, and clears it. */
static void expect_the_first_error(void)
{
    expect_error("add: shapes do not broadcast: f32[2] and f32[3]", NULL);
}

static wk_tensor *far_ones(void)
{
    return wk_ones((2, 3), .device = test_null());
}

/* ---- rule 17: the first error is kept ---------------------------------------------------------------------------- */

static void the_first_error_stays(void **state)
{
    (void)state;
    WK_SCOPE;
    fail_something();
    wk_reshape(wk_ones((4)), (3));
    wk_ones((2), .device = wk_opencl(99));
    wk_item(wk_ones((2)));
    wk_load_tensors("/no/such/file");
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_the_first_error();
    assert_int_equal(wk_error_code(), WK_OK);
    wk_reshape(wk_ones((4)), (3)); /* after clearing, the next error is the first */
    expect_error("reshape", NULL);
}

/* ---- rule 19: NULL ----------------------------------------------------------------------------------------------- */

/* NULL for an optional operand means "omitted", except while an error is pending, because the operand may have
 * failed. */
static void optional_operands(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3)), *w = wk_ones((4, 3)), *p = wk_full((2, 3), 0.5),
              *labels = wk_zeros((2), .dtype = WK_I64);
    wk_tensor *leaf = wk_ones((1), .requires_grad = true);
    wk_set_grad(leaf, wk_ones((1)));
    for (int pending = 0; pending < 2; pending++) {
        wk_tensor *out[7] = {0};
        for (int k = 0; k < 7; k++) {
            if (pending) fail_something();
            out[0] = k == 0 ? wk_linear(x, w, NULL) : out[0];
            out[1] = k == 1 ? wk_layer_norm(x, (3), NULL, NULL, 0) : out[1];
            out[2] = k == 2 ? wk_cross_entropy(x, labels, .weight = NULL, .label_smoothing = 0.1) : out[2];
            out[3] = k == 3 ? wk_binary_cross_entropy(p, p, .weight = NULL, .reduction = WK_REDUCE_SUM) : out[3];
            out[4] = k == 4 ? wk_nll_loss(x, labels, .weight = NULL) : out[4];
            out[5] = k == 5 ? wk_layer_norm(x, (3), wk_ones((3)), NULL, 0) : out[5];
            if (k == 6) out[6] = wk_set_grad(leaf, NULL) == WK_OK ? leaf : NULL;
            if (pending) expect_the_first_error();
        }
        for (int k = 0; k < 7; k++)
            if ((out[k] == NULL) != (pending == 1))
                fail_msg("case %d, pending %d: %s", k, pending, out[k] ? "a result" : wk_error() ? wk_error() : "NULL");
        if (pending) assert_non_null(wk_grad_of(leaf));
        wk_clear_error();
        wk_set_grad(leaf, wk_ones((1)));
    }
}

static void null_without_an_error_is_an_error(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3)), *none = NULL;
    wk_add(none, x);
    expect_error("add: first operand is NULL", NULL);
    wk_mul(x, none);
    expect_error("mul: second operand is NULL", NULL);
    wk_exp(none);
    expect_error("exp: input is NULL", NULL);
    wk_matmul(x, none);
    expect_error("matmul", "NULL", NULL);
    wk_add_(none, 1);
    expect_error("add", "NULL", NULL);
    wk_cat((x, none), 0);
    expect_error("cat", "NULL", NULL);
    wk_where(none, x, x);
    expect_error("where", "NULL", NULL);
    assert_int_not_equal(wk_backward(none), WK_OK);
    expect_error("backward", "NULL", NULL);
    wk_print(none);
    expect_error("print", "NULL", NULL);
    assert_int_not_equal(wk_read(none, NULL, 0), WK_OK);
    expect_error("read", "NULL", NULL);
    assert_true(isnan(wk_item(none)));
    expect_error("item", "NULL", NULL);
    assert_int_equal(wk_size(none, 0) + wk_ndim(none) + wk_numel(none), 0);
    expect_ok(); /* queries accept NULL */
}

static void result_arrays_are_null_after_an_error(void **state)
{
    (void)state;
    static const wk_function_kind two = {.size = sizeof two, .name = "two", .inputs = 1, .outputs = 2};
    for (int given = 0; given < 2; given++) { /* a NULL operand; an operand that does not fit */
        WK_SCOPE;
        wk_tensor *x = given ? wk_ones((4, 2)) : NULL, *junk = wk_ones((1)),
                  *leaf = wk_ones((1), .requires_grad = true);
        wk_tensor *out[4];
        for (int k = 0; k < 8; k++) {
            for (int i = 0; i < 4; i++) out[i] = junk;
            int filled = 2;
            if (k == 0) filled = wk_chunk(x, 4, 9, out) == -1 ? 4 : 0;
            if (k == 1) wk_split(x, 2, 9, out);
            if (k == 2) filled = wk_split_with_sizes(x, (2, 1, 9), 0, out) == -1 ? 3 : 0;
            if (k == 3) assert_int_not_equal(wk_sort(x, 9, false, &out[0], &out[1]), WK_OK);
            if (k == 4) assert_int_not_equal(wk_topk(x, 99, 0, true, &out[0], &out[1]), WK_OK);
            if (k == 5) assert_int_not_equal(wk_kthvalue(x, 99, 0, false, &out[0], &out[1]), WK_OK);
            if (k == 6) assert_int_not_equal(wk_grad((x), (leaf, leaf), out), WK_OK);
            if (k == 7) assert_int_not_equal(wk_apply_n(&two, NULL, (x), out), WK_OK);
            assert_non_null(wk_error());
            if (k == 1) filled = 1; /* the number of results is unknown */
            for (int i = 0; i < filled; i++)
                if (out[i]) fail_msg("case %d, operand %s: result %d is not NULL", k, x ? "given" : "NULL", i);
            wk_clear_error();
        }
    }
}

static void null_results(void)
{
    wk_tensor *x = wk_ones((2, 2));
    assert_int_equal(wk_split(x, 1, 0, NULL), -1);
    expect_error("split: the array for the results is NULL", NULL);
    assert_int_equal(wk_split_with_sizes(x, (1, 1), 0, NULL), -1);
    expect_error("split_with_sizes: the array for the results is NULL", NULL);
    assert_int_equal(wk_nonzero_numpy(x, NULL), -1);
    expect_error("nonzero_numpy: the array for the results is NULL", NULL);
    assert_int_equal(wk_forward_n(wk_nn_linear(2, 1), (x), NULL, 1), -1);
    expect_error("forward: the array for the results is NULL", NULL);
    static const wk_function_kind kind = {.size = sizeof kind, .name = "two", .inputs = 1, .outputs = 2};
    assert_int_not_equal(wk_apply_n(&kind, NULL, (x), NULL), WK_OK);
    expect_error("apply: the array for the results is NULL", NULL);
    wk_value value = {.kind = WK_VALUE_TENSOR, .tensor = x};
    int count = 1;
    char message[200];
    assert_int_not_equal(wk_call(NULL, "exp", &value, 1, NULL, &count, NULL, message, sizeof message), WK_OK);
    assert_string_equal(message, "call: the array for the results is NULL");
    wk_value numbers[2] = {{.kind = WK_VALUE_INT, .i = 12345}, {.kind = WK_VALUE_FLOAT, .f = 2}};
    count = 1;
    assert_int_not_equal(wk_call(NULL, "exp", numbers, 1, &value, &count, NULL, message, sizeof message), WK_OK);
    assert_non_null(strstr(message, "exp: argument 0 (self) must be Tensor"));
    count = 1;
    assert_int_not_equal(wk_call(NULL, "pow", numbers, 2, &value, &count, NULL, message, sizeof message), WK_OK);
    assert_string_equal(message, "pow: at least one operand must be a tensor");
    expect_ok();
}

static void null_lists(void)
{
    static const int64_t two[2] = {2, 2};
    const wk_site here = WK_HERE;
    wk_tensor *x = wk_ones((2, 2)), *out[2];
    static const char *const messages[] = {"reshape: the shape is NULL",
                                           "expand: the shape is NULL",
                                           "sum: the list of dimensions",
                                           "permute: the list of dimensions is NULL",
                                           "var: the list of dimensions",
                                           "norm: the list of dimensions",
                                           "layer_norm: the shape is NULL",
                                           "nn_layer_norm: the shape is NULL",
                                           "roll: the list of shifts",
                                           "roll: the list of dimensions",
                                           "as_strided: the shape is NULL",
                                           "as_strided: the list of strides",
                                           "split_with_sizes: the list",
                                           "repeat: the list of repeats",
                                           "tile: the list of repeats",
                                           "flip: the list of dimensions",
                                           "squeeze: the list of dimensions",
                                           "unflatten: the list of sizes",
                                           "list: the array of tensors",
                                           "list: the array of tensors has negative length -2",
                                           "forward: the array of inputs",
                                           "argmax: the list of dimensions",
                                           "reshape: the shape has negative length",
                                           "logsumexp: the list of dimensions"};
    for (int k = 0; k < (int)(sizeof messages / sizeof *messages); k++) {
        bool made = false;
        if (k == 0) made = wk_reshape_at(here, x, NULL, 2);
        if (k == 1) made = wk_expand_at(here, x, NULL, 2);
        if (k == 2) made = wk_sum_at(here, x, NULL, 1, NULL);
        if (k == 3) made = wk_permute_at(here, x, NULL, 2);
        if (k == 4) made = wk_var_at(here, x, NULL, 1, NULL);
        if (k == 5) made = wk_norm_at(here, x, NULL, 1, NULL);
        if (k == 6) made = wk_layer_norm_at(here, x, NULL, 1, NULL, NULL, 0);
        if (k == 7) made = wk_nn_layer_norm_at(here, NULL, 1, NULL);
        if (k == 8) made = wk_roll_at(here, x, NULL, 1, two, 1);
        if (k == 9) made = wk_roll_at(here, x, two, 1, NULL, 1);
        if (k == 10) made = wk_as_strided_at(here, x, NULL, two, 2, 0);
        if (k == 11) made = wk_as_strided_at(here, x, two, NULL, 2, 0);
        if (k == 12) made = wk_split_with_sizes_at(here, x, NULL, 2, 0, out) >= 0;
        if (k == 13) made = wk_repeat_at(here, x, NULL, 2);
        if (k == 14) made = wk_tile_at(here, x, NULL, 1);
        if (k == 15) made = wk_flip_at(here, x, NULL, 1);
        if (k == 16) made = wk_squeeze_at(here, x, NULL, 1);
        if (k == 17) made = wk_unflatten_at(here, x, 0, NULL, 2);
        if (k == 18) made = wk_list_at(here, NULL, 2);
        if (k == 19) made = wk_list_at(here, NULL, -2);
        if (k == 20) made = wk_forward_n_at(here, wk_nn_linear(2, 1), NULL, 1, out, 1) >= 0;
        if (k == 21) made = wk_argmax_at(here, x, NULL, 1, NULL);
        if (k == 22) made = wk_reshape_at(here, wk_ones((1)), two, -1);
        if (k == 23) made = wk_logsumexp_at(here, x, NULL, 1, NULL);
        if (made) fail_msg("case %d: no error", k);
        expect_error(messages[k], NULL);
    }
}

static wk_tensor *function_without_a_result(wk_tensor *const *in, void *context)
{
    (void)in;
    if (context) wk_reshape(wk_ones((4)), (3));
    return context ? wk_sum(in[0]) : NULL;
}

static int no_outputs(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    (void)self, (void)in, (void)inputs, (void)out, (void)outputs;
    return 0;
}

static void null_functions(void)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "empty", .forward = no_outputs};
    wk_tensor *g = wk_ones((2), .dtype = WK_F64, .requires_grad = true);
    assert_false(wk_gradcheck(NULL, NULL, (g)));
    expect_error("gradcheck: the function is NULL", NULL);
    assert_false(wk_gradcheck_at(WK_HERE, function_without_a_result, NULL, NULL, 1));
    expect_error("gradcheck: the array of inputs is NULL", NULL);
    assert_false(wk_gradcheck(function_without_a_result, NULL, (g)));
    expect_error("gradcheck: the result of f is NULL", NULL);
    assert_false(wk_gradcheck(function_without_a_result, g, (g)));
    expect_error("reshape", NULL);
    wk_function_save(NULL, g);
    expect_error("function_save: the function is NULL", NULL);
    assert_null(wk_function_saved(NULL, 0));
    expect_error("function_saved: the function is NULL", NULL);
    assert_null(wk_function_context(NULL));
    assert_false(wk_function_needs_grad(NULL, 0));
    assert_null(wk_forward(wk_module_new(&kind), g));
    expect_error("forward: empty returned no tensor", NULL);
    assert_false(wk_batch_next(NULL));
    wk_batch_end(NULL);
    fail_something();
    assert_int_equal(wk_report_error(NULL), 1);
    expect_the_first_error();
    expect_ok();
}

/* NULL pointers that are not tensors: arrays, buffers, functions. */
static void null_arrays_are_errors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 2), .requires_grad = true), **none = NULL, *out[2];
    assert_int_equal(wk_read(x, NULL, 16), WK_ERR_ARGUMENT);
    expect_error("read: the buffer is NULL", NULL);
    assert_int_not_equal(wk_register_hook(x, NULL, NULL), WK_OK);
    expect_error("register_hook: the function is NULL", NULL);
    assert_int_equal(wk_chunk(x, 2, 0, none), -1);
    expect_error("chunk", "NULL", NULL);
    assert_int_equal(wk_unbind(x, 0, none), -1);
    expect_error("unbind", "NULL", NULL);
    assert_int_not_equal(wk_grad_at(WK_HERE, &x, 1, &x, 1, NULL, NULL), WK_OK);
    expect_error("grad", "NULL", NULL);
    assert_int_not_equal(wk_grad_at(WK_HERE, NULL, 1, &x, 1, out, NULL), WK_OK);
    expect_error("grad", "NULL", NULL);
    assert_null(wk_cat_at(WK_HERE, NULL, 3, 0));
    expect_error("cat", "NULL", NULL);
    assert_null(wk_nn_sequential_at(WK_HERE, NULL, 2));
    expect_error("sequential", "NULL", NULL);
    assert_null(wk_zeros_at(WK_HERE, NULL, 2, NULL));
    expect_error("zeros: the shape is NULL", NULL);
    assert_null(wk_zeros_at(WK_HERE, (const int64_t[]){2}, -1, NULL));
    expect_error("zeros", "-1", NULL);
    const float data[2] = {1, 2};
    assert_null(wk_from_strided_at(WK_HERE, WK_F32, data, (const int64_t[]){2}, NULL, 1, NULL));
    expect_error("from_strided: the strides are NULL", NULL);
    wk_carry_at(WK_HERE, NULL, x);
    expect_error("carry: the variable is NULL", NULL);
    wk_guard_close(NULL);
    assert_int_equal(wk_try_all_gpus(NULL, 3), 0);
    assert_int_not_equal(wk_call(NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0), WK_OK);
    null_results();
    null_lists();
    null_functions();
    assert_true(wk_item(wk_sum(wk_from(data, (2)))) == 3); /* constant arrays are accepted */
    expect_ok();
}

/* Options outside their valid range. */
static void options_out_of_range(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3)), *labels = wk_zeros((2), .dtype = WK_I64);
    static const double smoothing[] = {-0.1, 1.1, NAN};
    for (int k = 0; k < 3; k++) {
        assert_null(wk_cross_entropy(x, labels, .label_smoothing = smoothing[k]));
        expect_error("cross_entropy: .label_smoothing must be", NULL);
    }
    assert_null(wk_softshrink(x, .lambd = -1));
    expect_error("softshrink: .lambd must be at least 0, got -1", NULL);
    assert_null(wk_rrelu(x, .lower = 0.5));
    expect_error("rrelu: .lower must not exceed .upper, got 0.5 and 0.333333", NULL);
    assert_null(wk_prelu(wk_ones((2, 3)), wk_ones((2))));
    expect_error("prelu: weight f32[2] must have 1 element or, for x f32[2,3], 3: one per channel", NULL);
    assert_null(wk_prelu(wk_ones((2, 3)), wk_ones((1, 3))));
    expect_error("prelu: weight f32[1,3] must have one dimension or none", NULL);
    assert_null(wk_prelu(wk_ones((2)), wk_ones((1), .dtype = WK_F64)));
    expect_error("prelu: x f32[2] and weight f64[1] must have the same dtype; convert one with wk_to_dtype", NULL);
    assert_null(wk_glu(wk_ones((2, 3))));
    expect_error("glu: f32[2,3] cannot be halved along dimension 1: its size 3 is odd", NULL);
    assert_null(wk_glu(wk_full((), 1.0)));
    expect_error("glu: f32[] has no dimensions to halve", NULL);
    assert_null(wk_huber_loss(x, x, .delta = -1));
    expect_error("huber_loss: .delta must be greater than 0, got -1", NULL);
    assert_null(wk_huber_loss(x, x, .delta = 0));
    expect_error("huber_loss: .delta must be greater than 0, got 0", NULL);
    assert_null(wk_smooth_l1_loss(x, x, .beta = -1));
    expect_error("smooth_l1_loss: .beta must be at least 0, got -1", NULL);
    assert_non_null(wk_smooth_l1_loss(x, x, .beta = 0));
    assert_null(wk_data_loader(wk_data_tensors(x, NULL), .world = -2));
    expect_error("data_loader: .world must be at least 1, got -2", NULL);
    assert_null(wk_one_hot(wk_of(int64_t, (1), -1), 3));
    expect_error("one_hot: index -1 is out of range", "[0, 3)", NULL);
    static const int64_t wrong[] = {-2, 2}; /* checked on the device */
    for (int k = 0; k < 2; k++) {
        wk_tensor *hot = wk_one_hot(wk_add(labels, wrong[k]), 2);
        assert_true(isnan(wk_item(wk_sum(hot))));
        if (k == 0) expect_error("one_hot: index -2 is out of range for size 2", "[0, 2)", NULL);
        if (k == 1) expect_error("one_hot: index 2 is out of range for size 2", "[0, 2)", NULL);
    }
    assert_null(wk_one_hot(labels, INT64_MAX));
    expect_error("one_hot: 9223372036854775807 classes of 8 bytes for each element of i64[",
                 "exceed 2^63 bytes; pass a smaller n, or -1", NULL);
    assert_null(wk_one_hot(wk_of(int64_t, (1), INT64_MAX - 1), -1));
    expect_error("one_hot: 9223372036854775807 classes", "inferred from the largest element", NULL);
}

/* ---- rule 20: calls that refuse while an error is pending -------------------------------------------------------- */

static void good_operands_work_while_an_error_is_pending(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_ones((2), .requires_grad = true);
    wk_module *net = wk_nn_linear(2, 1);
    wk_optim *sgd = wk_optim_sgd(wk_list((w)), .lr = 1);
    wk_tensors *list = wk_list((w));
    fail_something();
    wk_tensor *y = wk_sum(wk_mul(w, 3.0)), *more = wk_exp(wk_rand((2)));
    assert_true(y && more && wk_forward(net, wk_ones((1, 2))) && wk_item(y) == 6);
    assert_int_equal(wk_backward(y), WK_OK);
    assert_non_null(wk_grad_of(w));
    assert_true(wk_module_to(net, wk_cpu()) == net);
    assert_non_null(wk_tensor_str(w));
    assert_int_equal(wk_optim_step(sgd), WK_ERR_SHAPE);
    assert_int_equal(wk_save_tensors(list, "/tmp/never-written.safetensors"), WK_ERR_SHAPE);
    assert_int_equal(wk_save(net, "/tmp/never-written.safetensors"), WK_ERR_SHAPE);
    assert_int_equal(wk_optim_zero_grad(sgd), WK_OK);
    assert_null(wk_grad_of(w));
    expect_the_first_error();
    FILE *file = fopen("/tmp/never-written.safetensors", "r");
    assert_null(file);
    EXPECT_VALUES(w, 0, 1, 1);
}

/* They omit operands that do not exist, not ones that failed. */
static void layers_without_parameters_work_while_an_error_is_pending(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(
        wk_nn_conv2d(2, 4, 3, .no_bias = true), wk_nn_conv_transpose2d(4, 4, 3, .no_bias = true),
        wk_nn_batch_norm2d(4, .no_affine = true), wk_nn_instance_norm2d(4), wk_nn_group_norm(2, 4, .no_affine = true),
        wk_nn_flatten(), wk_nn_linear(64, 8, .no_bias = true), wk_nn_layer_norm((8), .no_affine = true),
        wk_nn_rms_norm((8), .no_affine = true));
    wk_tensor *x = wk_rand((3, 2, 4, 4)), *expected = wk_forward(net, x);
    expect_ok();
    fail_something();
    wk_tensor *y = wk_forward(net, x);
    assert_non_null(y);
    expect_the_first_error();
    assert_true(wk_item(wk_sum(y)) == wk_item(wk_sum(expected)));
}

/* A device whose name could not be parsed makes each call fail that receives it. */
static void an_unparsable_device_fails_each_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_device none = wk_device_parse("tpu:0");
    expect_error("tpu:0", NULL);
    assert_int_equal(none.kind, -1);
    wk_tensor *x = wk_ones((2));
    wk_memory_stats stats = {.size = sizeof stats};
    wk_device_properties properties = {.size = sizeof properties};
    wk_dataset *data = wk_data_tensors(x, NULL);
    wk_module *net = wk_nn_linear(2, 1);
    for (int k = 0; k < 9; k++) {
        bool failed = false;
        if (k == 0) failed = !wk_ones((2), .device = none);
        if (k == 1) failed = !wk_to(x, none);
        if (k == 2) failed = !wk_module_to(net, none);
        if (k == 3) failed = !wk_data_loader(data, .device = none);
        if (k == 4) failed = !wk_nn_linear(2, 1, .device = none);
        if (k == 5) failed = wk_memory_stats_of(none, &stats) != WK_OK;
        if (k == 6) failed = wk_device_get_properties(none, &properties) != WK_OK;
        if (k == 7) failed = wk_memory_set_limit(none, 1) != WK_OK;
        if (k == 8) {
            WK_DEVICE(none);
            failed = !wk_zeros((1));
        }
        if (!failed || !wk_error()) fail_msg("case %d", k);
        expect_error("device", "invalid device", NULL);
    }
}

/* A value that is not in an enum is reported where it is used, with the valid values. */
static void values_outside_enums(void **state)
{
    (void)state;
    WK_SCOPE;
    const int numbers[] = {99, -2};
    for (int k = 0; k < 2; k++) {
        char begin[100];
        assert_int_equal(wk_set_sync_debug_mode((wk_sync_mode)numbers[k]), WK_ERR_ARGUMENT);
        snprintf(begin, sizeof begin, "set_sync_debug_mode: unknown mode %d", numbers[k]);
        expect_error("rules/errors.c", begin, "WK_SYNC_QUIET, WK_SYNC_LOG or WK_SYNC_ERROR", NULL);
        assert_null(wk_zeros((2), .dtype = (wk_dtype)numbers[k]));
        expect_error("unknown dtype", "WK_F32", "WK_BOOL", NULL);
        assert_null(wk_gelu(wk_ones((2)), .approximate = numbers[k]));
        expect_error("WK_GELU_NONE or WK_GELU_TANH", NULL);
        assert_null(wk_mse_loss(wk_ones((2)), wk_ones((2)), .reduction = (wk_reduction)numbers[k]));
        expect_error("unknown reduction", "WK_REDUCE_SUM", NULL);
    }
    const wk_device unknown = {.kind = 99};
    assert_string_equal(wk_device_str(unknown), "invalid:0");
    assert_null(wk_ones((2), .device = unknown));
    expect_error("ones: unknown device kind 99; expected WK_CPU, WK_CUDA, WK_OPENCL or WK_GPU", NULL);
    assert_null(wk_to(wk_ones((2)), unknown));
    expect_error("to: unknown device kind 99", NULL);
    assert_int_equal(wk_set_sync_debug_mode(WK_SYNC_QUIET), WK_OK);
    assert_int_equal(wk_set_sync_debug_mode(WK_SYNC_LOG), WK_OK);
    expect_ok();
}

/* The handler runs without locks: it may use the library, and errors that it causes come after the first. */
static int handler_calls;

static void handler(void *user, wk_code code, const char *text)
{
    handler_calls++;
    assert_ptr_equal(user, &handler_calls);
    assert_int_equal(code, wk_error_code());
    assert_string_equal(text, wk_error());
    WK_SCOPE;
    assert_true(wk_item(wk_sum(wk_ones((3)))) == 3);
    wk_reshape(wk_ones((4)), (3));
    wk_value x = {.kind = WK_VALUE_TENSOR, .tensor = wk_ones((2))}, out;
    int count = 1;
    char message[100];
    assert_int_equal(wk_call(NULL, "exp", &x, 1, &out, &count, NULL, message, sizeof message), WK_OK);
    wk_free(out.tensor);
    wk_set_error_handler(handler, &handler_calls);
}

static void a_handler_may_use_the_library(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_set_error_handler(handler, &handler_calls);
    handler_calls = 0;
    fail_something();
    assert_int_equal(handler_calls, 1);
    expect_the_first_error();
    wk_tensor *x = wk_retain(far_ones()); /* a deferred error */
    wk_sync();
    wk__null_fail_submit(1);
    wk_tensor *y = wk_retain(wk_exp(x));
    wk_sync();
    wk__null_clear_faults();
    assert_int_equal(handler_calls, 2);
    expect_error("exp", NULL);
    wk_value arg = {.kind = WK_VALUE_TENSOR, .tensor = x}, out; /* reported by status and message, not to the thread */
    int count = 1;
    char message[100];
    assert_int_not_equal(wk_call(NULL, "no_such_op", &arg, 1, &out, &count, NULL, message, sizeof message), WK_OK);
    assert_int_equal(handler_calls, 2);
    wk_set_error_handler(NULL, NULL);
    fail_something();
    assert_int_equal(handler_calls, 2);
    wk_clear_error();
    wk_free(x), wk_free(y);
}

/* The pointer's type states the expected dtype; byte pointers fit every dtype. */
static void memory_of_another_dtype_is_reported(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_arange(2), *half = wk_ones((2), .dtype = WK_BF16);
    double wrong[2] = {7, 7};
    int64_t right[2];
    long long as_good[2];
    unsigned char bytes[16];
    int16_t bits[2];
    void *any = wrong;
    assert_int_equal(wk_read(x, wrong, sizeof wrong), WK_ERR_DTYPE);
    expect_error("read: the buffer is for f64, but the tensor is i64[2]", "wk_to_dtype", NULL);
    assert_true(wrong[0] == 7 && wrong[1] == 7);
    assert_int_equal(wk_read(wk_to_dtype(x, WK_F64), wrong, sizeof wrong), WK_OK);
    assert_true(wrong[1] == 1);
    assert_int_equal(wk_read(x, right, sizeof right), WK_OK);
    assert_int_equal(wk_read(x, as_good, sizeof as_good), WK_OK);
    assert_int_equal(wk_read(x, bytes, sizeof bytes), WK_OK);
    assert_int_equal(wk_read(x, any, sizeof wrong), WK_OK);
    assert_memory_equal(wrong, right, sizeof right);
    assert_int_equal(wk_read(half, bits, sizeof bits), WK_OK);
    assert_int_equal(bits[0], 0x3f80);
    assert_int_equal(wk_read(wk_ones((0)), 0, 0), WK_OK); /* 0 is a null pointer like NULL */
    assert_int_equal(wk_read(wk_ones((0)), NULL, 0), WK_OK);
    expect_ok();
    for (int none = -1; none < 200; none += 67) { /* -1, 66, 133 */
        assert_int_equal(wk_read_as_at(WK_HERE, x, bytes, sizeof bytes, (wk_dtype)none), WK_ERR_ARGUMENT);
        expect_error("read: unknown dtype", NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_first_error_stays, test_clean),
        cmocka_unit_test_teardown(optional_operands, test_clean),
        cmocka_unit_test_teardown(null_without_an_error_is_an_error, test_clean),
        cmocka_unit_test_teardown(result_arrays_are_null_after_an_error, test_clean),
        cmocka_unit_test_teardown(null_arrays_are_errors, test_clean),
        cmocka_unit_test_teardown(options_out_of_range, test_clean),
        cmocka_unit_test_teardown(good_operands_work_while_an_error_is_pending, test_clean),
        cmocka_unit_test_teardown(layers_without_parameters_work_while_an_error_is_pending, test_clean),
        cmocka_unit_test_teardown(an_unparsable_device_fails_each_call, test_clean),
        cmocka_unit_test_teardown(values_outside_enums, test_clean),
        cmocka_unit_test_teardown(a_handler_may_use_the_library, test_clean),
        cmocka_unit_test(memory_of_another_dtype_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
