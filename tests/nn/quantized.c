/* SPDX-License-Identifier: Apache-2.0 */
/* Tests quantised linear layers: results, text, saving and loading, and networks whose layers become such layers. */
#include "support/wick.h"

#include "hostile/scratch.h"
#include "ir/blocks.h"

static wk_module *network(void)
{
    wk_module *shared = wk_nn_linear(64, 64);
    return wk_nn_sequential(wk_nn_linear(64, 64, .no_bias = true), shared, wk_nn_relu(), shared,
                            wk_nn_sequential(wk_nn_linear(64, 40), wk_nn_linear(40, 3)));
}

static void expect_same_bits(wk_tensor *a, wk_tensor *b)
{
    assert_int_equal(wk_numel(a), wk_numel(b));
    assert_memory_equal(wk_data(a), wk_data(b), (size_t)wk_numel(a) * wk_dtype_size(wk_dtype_of(a)));
}

static void layers_multiply_by_their_blocks(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_quantized_linear(32, 2, .format = WK_BLOCKS_Q4_0);
    EXPECT_VALUES(wk_forward(m, wk_ones((1, 32))), 0, 0, 0);
    wk_tensor *blocks = wk_quantize(wk_full((2, 32), -8.0), .format = WK_BLOCKS_Q4_0);
    assert_non_null(wk_module_set_buffer(m, "weight_q4_0", blocks));
    wk_init_constant_(wk_module_parameter(m, "bias"), 1);
    EXPECT_VALUES(wk_forward(m, wk_ones((1, 32))), 0, -255, -255);
    assert_int_equal(wk_parameter_count(m), 2);
    assert_int_equal(wk_dtype_of(wk_module_parameter(wk_nn_quantized_linear(32, 2, .dtype = WK_BF16), "bias")),
                     WK_BF16);
    expect_ok();
    expect_failure(wk_nn_quantized_linear(33, 2) != NULL,
                   "nn_quantized_linear: in must be a multiple of 32, the elements of a block of q8_0, and out at "
                   "least 0, got 33 and 2");
    expect_failure(wk_nn_quantized_linear(32, 2, .format = (wk_block_format)10) != NULL,
                   "nn_quantized_linear: .format must be a format from WK_BLOCKS_Q8_0 (0) to WK_BLOCKS_Q6_K (9), got "
                   "10");
}

static void networks_are_quantised_in_place(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = network();
    wk_tensor *x = wk_randn((5, 64)), *before = wk_forward(net, x);
    wk_tensor *weight = wk_quantize(wk_module_parameter(net, "0.weight"));
    assert_ptr_equal(wk_module_quantize(net), net);
    assert_string_equal(wk_module_str(net),
                        "Sequential(\n"
                        "  (0): QuantizedLinear(in_features=64, out_features=64, bias=False, format='q8_0')\n"
                        "  (1): QuantizedLinear(in_features=64, out_features=64, bias=True, format='q8_0')\n"
                        "  (2): ReLU()\n"
                        "  (3): QuantizedLinear(in_features=64, out_features=64, bias=True, format='q8_0')\n"
                        "  (4): Sequential(\n"
                        "    (0): QuantizedLinear(in_features=64, out_features=40, bias=True, format='q8_0')\n"
                        "    (1): Linear(in_features=40, out_features=3, bias=True)\n"
                        "  )\n"
                        ")");
    assert_ptr_equal(wk_module_child(net, "1"), wk_module_child(net, "3"));
    expect_same_bits(wk_module_buffer(net, "0.weight_q8_0"), weight);
    const double difference = wk_item(wk_amax(wk_abs(wk_sub(wk_forward(net, x), before))));
    if (!(difference > 0 && difference < 0.05)) fail_msg("the results differ by %g", difference);
    assert_ptr_equal(wk_module_quantize(net), net); /* no layer is left to be quantised */
    expect_ok();
}

/* Layers that other modules call by their own pointers. */
static void layers_of_other_modules_are_replaced(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_transformer_encoder_layer(64, 4, .dim_feedforward = 96, .dropout = WK_EXPLICIT_ZERO);
    wk_module_train(net, false);
    wk_tensor *x = wk_randn((7, 2, 64)), *before = wk_forward(net, x);
    wk_module_quantize(net);
    assert_string_equal(wk_module_kind_name(wk_module_child(net, "linear1")), "quantized_linear");
    assert_false(wk_module_training(wk_module_child(net, "linear1")));
    const double difference = wk_item(wk_amax(wk_abs(wk_sub(wk_forward(net, x), before))));
    if (!(difference > 0 && difference < 0.1)) fail_msg("the results differ by %g", difference);
    expect_ok();
}

static void files_keep_blocks_and_format(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = network(), *same = network(), *other = network();
    wk_tensor *x = wk_randn((5, 64));
    wk_module_quantize(net, .format = WK_BLOCKS_Q4_0);
    assert_int_equal(wk_save(net, scratch("blocks.safetensors")), WK_OK);
    wk_module_quantize(same, .format = WK_BLOCKS_Q4_0);
    assert_int_equal(wk_load(same, scratch("blocks.safetensors")), WK_OK);
    expect_same_bits(wk_forward(same, x), wk_forward(net, x));
    expect_ok();
    wk_module_quantize(other);
    assert_int_equal(wk_load(other, scratch("blocks.safetensors")), WK_ERR_SHAPE);
    expect_error("missing tensor \"0.weight_q8_0\"",
                 "load it into a network of floats after wk_module_quantize(net, .format = WK_BLOCKS_Q4_0)", NULL);
    assert_int_equal(wk_load(network(), scratch("blocks.safetensors")), WK_ERR_SHAPE);
    expect_error("missing tensor \"0.weight\"",
                 "the file has blocks: load it into a network of floats after wk_module_quantize(", NULL);
    assert_int_equal(wk_save(network(), scratch("floats.safetensors")), WK_OK);
    assert_int_equal(wk_load(same, scratch("floats.safetensors")), WK_ERR_SHAPE);
    expect_error("missing tensor \"0.weight_q4_0\"", "has floating numbers: load it before wk_module_quantize", NULL);
}

/* Layers are replaced if their rows consist of blocks of the format, and files keep the blocks. */
static void networks_have_each_format(void **state)
{
    (void)state;
    for (int k = 0; k < WK__BLOCK_OP_FORMATS; k++) {
        WK_SCOPE;
        const wk_block_format format = (wk_block_format)k;
        const bool long_blocks = wk__block_formats[k].elements == 256;
        char name[32];
        snprintf(name, sizeof name, "0.weight_%s", wk__block_formats[k].name);
        wk_module *net = wk_nn_sequential(wk_nn_linear(256, 96), wk_nn_linear(96, 3)), *same = NULL;
        wk_tensor *x = wk_randn((5, 256)), *weight = wk_module_parameter(net, "0.weight");
        wk_tensor *hidden = wk_linear(x, wk_dequantize(wk_quantize(weight, .format = format), .format = format),
                                      wk_module_parameter(net, "0.bias"));
        assert_ptr_equal(wk_module_quantize(net, .format = format), net);
        assert_non_null(wk_module_buffer(net, name));
        assert_string_equal(wk_module_kind_name(wk_module_child(net, "1")),
                            long_blocks ? "linear" : "quantized_linear");
        wk_tensor *error = wk_sub(wk_forward(wk_module_child(net, "0"), x), hidden);
        assert_true(wk_item(wk_amax(wk_abs(error))) < 1e-5);
        assert_int_equal(wk_save(net, scratch("blocks.safetensors")), WK_OK);
        same = wk_nn_sequential(wk_nn_linear(256, 96), wk_nn_linear(96, 3));
        assert_int_equal(wk_load(wk_module_quantize(same, .format = format), scratch("blocks.safetensors")), WK_OK);
        expect_same_bits(wk_forward(same, x), wk_forward(net, x));
        expect_ok();
    }
}

static void summaries_count_products(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_module_quantize(wk_nn_sequential(wk_nn_linear(64, 40), wk_nn_relu()));
    const wk_summary_row *const *rows = wk_summary_rows(net, (3, 64));
    expect_ok();
    assert_int_equal(rows[1]->multiply_adds, 3 * 64 * 40);
    assert_int_equal(rows[1]->parameters, 40);
    assert_int_equal(rows[1]->activation_bytes, 4 * 3 * 40);
}

static void refusals(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_failure(wk_module_quantize(wk_nn_linear(32, 2)) != NULL,
                   "module_quantize: a linear layer cannot replace itself; pass a module that contains it");
    expect_failure(wk_module_quantize(network(), .format = (wk_block_format)10) != NULL,
                   "module_quantize: .format must be a format from WK_BLOCKS_Q8_0 (0) to WK_BLOCKS_Q6_K (9), got 10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_multiply_by_their_blocks),
        cmocka_unit_test(networks_are_quantised_in_place),
        cmocka_unit_test(layers_of_other_modules_are_replaced),
        cmocka_unit_test(files_keep_blocks_and_format),
        cmocka_unit_test(networks_have_each_format),
        cmocka_unit_test(summaries_count_products),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
