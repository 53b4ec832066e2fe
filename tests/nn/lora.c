/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_nn_lora and wk_nn_lora_merge: the formula and its gradients, frozen parameters, training, merging, and the
 * selection of layers. */
#include "support/adapters.h"

#include "hostile/scratch.h"
#include <math.h>

static wk_module *small_llama(wk_dtype dtype)
{
    return wk_nn_llama(.vocab_size = 11, .hidden_size = 8, .intermediate_size = 12, .num_hidden_layers = 2,
                       .num_attention_heads = 2, .num_key_value_heads = 1, .max_position_embeddings = 8,
                       .attention_bias = true, .dtype = dtype);
}

/* ---- the layer --------------------------------------------------------------------------------------------------- */

static void set(wk_module *net, const char *path, wk_tensor *x)
{
    WK_NO_GRAD;
    assert_non_null(wk_copy_(wk_module_parameter(net, path), x));
}

/* Returns a network of one linear layer with an adapter. Its numbers are those of the expected values below. */
static wk_module *known_layer(bool rslora)
{
    wk_module *net = wk_nn_sequential(wk_nn_linear(3, 2));
    assert_ptr_equal(wk_nn_lora(net, .r = 2, .lora_alpha = 6, .target_modules = "0", .use_rslora = rslora), net);
    set(net, "0.base_layer.weight", wk_of(float, (2, 3), 1, 2, -1, 0, 0.5, 2));
    set(net, "0.base_layer.bias", wk_of(float, (2), 0.5, -1));
    set(net, "0.lora_A.weight", wk_of(float, (2, 3), 0.5, -1, 2, 1, 0, -0.5));
    set(net, "0.lora_B.weight", wk_of(float, (2, 2), 1, 2, -1, 0.25));
    return net;
}

static void values_and_gradients_are_those_of_pytorch(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = known_layer(false);
    wk_tensor *x = wk_of(float, (2, 3), 1, -2, 3, 0.5, 1, -1);
    wk_requires_grad_(x, true);
    wk_tensor *y = wk_forward(net, x);
    EXPECT_VALUES(y, 1e-5, 17, -21.875, 1.75, 6.5);
    wk_backward(wk_sum(wk_mul(y, y)));
    EXPECT_VALUES(wk_grad_of(wk_module_parameter(net, "0.lora_A.weight")), 1e-3, 219, -495, 728.25, 186.5625, -311.625,
                  482.8125);
    EXPECT_VALUES(wk_grad_of(wk_module_parameter(net, "0.lora_B.weight")), 1e-3, 838.125, -40.5, -1222.875, 104.625);
    EXPECT_VALUES(wk_grad_of(x), 1e-3, 321.8125, -187.125, 259.40625, 20, 42, -49.875);
    assert_null(wk_grad_of(wk_module_parameter(net, "0.base_layer.weight")));
    EXPECT_VALUES(wk_forward(known_layer(true), wk_detach(x)), 1e-4, 26.3198, -32.5928, 0.8180, 10.2279);
    assert_non_null(strstr(wk_module_str(known_layer(true)), "r=2, lora_alpha=6.0, use_rslora=True\n"));
    assert_ptr_equal(wk_nn_lora_merge(net), net);
    EXPECT_VALUES(wk_module_parameter(net, "0.weight"), 1e-6, 8.5, -1, 2, -0.75, 3.5, -4.375);
    EXPECT_VALUES(wk_forward(net, wk_detach(x)), 1e-5, 17, -21.875, 1.75, 6.5);
    expect_ok();
}

static void a_new_adapter_changes_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(16, 8), wk_nn_tanh(), wk_nn_linear(8, 2));
    wk_tensor *x = wk_rand((4, 16)), *before = wk_forward(net, x);
    wk_nn_lora(net, .r = 4, .target_modules = "0, 2");
    assert_true(difference(wk_forward(net, x), before) == 0);
    wk_tensor *a = wk_module_parameter(net, "0.lora_A.weight"), *b = wk_module_parameter(net, "2.lora_B.weight");
    EXPECT_SHAPE(a, 4, 16);
    EXPECT_SHAPE(b, 2, 4);
    assert_true(wk_item(wk_amax(wk_abs(a))) <= 0.25 && wk_item(wk_amax(wk_abs(a))) > 0.1);
    assert_string_equal(wk_module_str(net), "Sequential(\n"
                                            "  (0): LoraLinear(\n"
                                            "    r=4, lora_alpha=8.0\n"
                                            "    (base_layer): Linear(in_features=16, out_features=8, bias=True)\n"
                                            "    (lora_A): Linear(in_features=16, out_features=4, bias=False)\n"
                                            "    (lora_B): Linear(in_features=4, out_features=8, bias=False)\n"
                                            "  )\n"
                                            "  (1): Tanh()\n"
                                            "  (2): LoraLinear(\n"
                                            "    r=4, lora_alpha=8.0\n"
                                            "    (base_layer): Linear(in_features=8, out_features=2, bias=True)\n"
                                            "    (lora_A): Linear(in_features=8, out_features=4, bias=False)\n"
                                            "    (lora_B): Linear(in_features=4, out_features=2, bias=False)\n"
                                            "  )\n"
                                            ")");
    expect_ok();
}

/* Only the input of the adapter is dropped, and only in training. */
static void dropout_concerns_the_adapter(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(3);
    wk_module *net = wk_nn_sequential(wk_nn_linear(1, 1));
    wk_nn_lora(net, .r = 1, .lora_alpha = 1, .lora_dropout = 0.25, .target_modules = "0");
    set(net, "0.base_layer.weight", wk_full((1, 1), 10));
    set(net, "0.base_layer.bias", wk_zeros((1)));
    set(net, "0.lora_A.weight", wk_ones((1, 1)));
    set(net, "0.lora_B.weight", wk_full((1, 1), 3));
    wk_tensor *y = wk_forward(net, wk_ones((1000, 1)));
    const double kept = wk_item(wk_mean(wk_to_dtype(wk_gt(y, 12), WK_F64)));
    EXPECT_VALUES(wk_amax(y), 1e-6, 14);
    EXPECT_VALUES(wk_amin(y), 0, 10);
    assert_true(kept > 0.7 && kept < 0.8);
    wk_module_train(net, false);
    EXPECT_VALUES(wk_forward(net, wk_ones((1, 1))), 0, 13);
    wk_module *still = wk_module_train(wk_nn_sequential(wk_nn_linear(1, 1)), false);
    wk_nn_lora(still, .target_modules = "0", .lora_dropout = 0.5);
    assert_false(wk_module_training(wk_module_child(still, "0.lora_dropout")));
    expect_ok();
}

static void adapters_have_device_and_dtype_of_their_layer(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(3, 2, .dtype = WK_F64), wk_nn_linear(2, 2, .device = test_null()));
    assert_non_null(wk_nn_lora(net, .target_modules = "0,1"));
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "0.lora_A.weight")), WK_F64);
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "0.lora_B.weight")), WK_F64);
    assert_true(wk_device_eq(wk_device_of(wk_module_parameter(net, "0.lora_A.weight")), wk_cpu()));
    assert_true(wk_device_eq(wk_device_of(wk_module_parameter(net, "1.lora_A.weight")), test_null()));
    assert_true(wk_device_eq(wk_device_of(wk_module_parameter(net, "1.lora_B.weight")), test_null()));
    expect_ok();
}

static void options_may_be_zero(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(3, 2));
    wk_tensor *x = wk_rand((4, 3)), *before = wk_forward(net, x);
    wk_nn_lora(net, .lora_alpha = 0, .lora_dropout = 0, .target_modules = "0");
    fill_adapters(net);
    assert_true(difference(wk_forward(net, x), before) == 0);
    assert_non_null(strstr(wk_module_str(net), "lora_alpha=0.0\n"));
    assert_null(strstr(wk_module_str(net), "lora_dropout"));
    expect_ok();
}

/* ---- language models --------------------------------------------------------------------------------------------- */

/* Names of layers, and how many there are. */
typedef struct selection {
    bool llama;
    const char *names;
    int layers;
} selection;

static void expect_merged_model_to_compute_the_same(const selection *of)
{
    WK_SCOPE;
    wk_module *net = of->llama ? small_llama(WK_F32) : small_gpt();
    const int parameters = wk_tensors_count(wk_parameters(net));
    wk_tensor *before = wk_forward(net, some_ids());
    assert_non_null(wk_nn_lora(net, .r = 3, .lora_alpha = 6, .target_modules = of->names));
    assert_int_equal(wk_tensors_count(wk_parameters(net)), parameters + 2 * of->layers);
    assert_true(difference(wk_forward(net, some_ids()), before) == 0);
    fill_adapters(net);
    wk_tensor *with = wk_forward(net, some_ids());
    assert_true(difference(with, before) > 1e-3);
    wk_tensor *cached = wk_decode(net, some_ids(), wk_kv_cache_new(net, 2, 8));
    assert_true(difference(cached, with) < 1e-5);
    assert_ptr_equal(wk_nn_lora_merge(net), net);
    assert_int_equal(wk_tensors_count(wk_parameters(net)), parameters);
    assert_true(difference(wk_forward(net, some_ids()), with) < 1e-5);
    expect_ok();
}

static void merged_models_compute_the_same(void **state)
{
    (void)state;
    static const selection all[] = {
        {false, NULL, 2}, {false, "all-linear", 8}, {false, "c_attn,mlp.c_proj", 4},
        {true, NULL, 4},  {true, "all-linear", 14}, {true, "q_proj , down_proj,layers.1.mlp.up_proj", 5}};
    wk_seed(1);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) expect_merged_model_to_compute_the_same(&all[k]);
}

/* Adapters of a model in bf16 are f32, and results stay bf16. */
static void adapters_of_half_weights_are_f32(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(1);
    wk_module *net = small_llama(WK_BF16);
    wk_nn_lora(net);
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "model.layers.0.self_attn.v_proj.lora_A.weight")), WK_F32);
    fill_adapters(net);
    wk_tensor *with = wk_forward(net, some_ids());
    assert_int_equal(wk_dtype_of(with), WK_BF16);
    assert_non_null(wk_nn_lora_merge(net));
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "model.layers.0.self_attn.v_proj.weight")), WK_BF16);
    assert_true(difference(wk_forward(net, some_ids()), with) < 0.05);
    expect_ok();
}

static void bert_and_attention_have_adapters(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *bert = wk_nn_bert(.vocab_size = 11, .hidden_size = 8, .num_hidden_layers = 1, .num_attention_heads = 2,
                                 .intermediate_size = 8, .max_position_embeddings = 8, .dropout = 0);
    wk_tensor *before = wk_forward_bert(bert, some_ids());
    assert_non_null(wk_nn_lora(bert));
    fill_adapters(bert);
    assert_true(difference(wk_forward_bert(bert, some_ids()), before) > 1e-3);
    wk_module *attention = wk_nn_multihead_attention(8, 2), *net = wk_nn_module_list(attention);
    assert_non_null(wk_nn_lora(net, .target_modules = "out_proj"));
    wk_tensor *x = wk_rand((3, 1, 8)), *plain = wk_forward_attention(attention, x, x, x);
    fill_adapters(net);
    assert_true(difference(wk_forward_attention(attention, x, x, x), plain) > 1e-3);
    expect_ok();
}

static double train_step(wk_module *net, wk_optim *optim)
{
    WK_SCOPE;
    wk_tensor *scores = wk_forward(net, wk_narrow(some_ids(), 1, 0, 3));
    wk_tensor *loss = wk_cross_entropy(wk_flatten(scores, 0, 1), wk_flatten(wk_narrow(some_ids(), 1, 1, 3), 0));
    wk_optim_zero_grad(optim);
    wk_backward(loss);
    wk_optim_step(optim);
    return wk_item(loss);
}

static void training_changes_only_the_adapters(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(1);
    wk_module *net = small_gpt();
    wk_init_normal_(wk_module_parameter(net, "transformer.wte.weight"), 0, 1); /* the head, too: scores vary */
    wk_nn_lora(net, .r = 4, .lora_alpha = 16, .target_modules = "c_attn,c_fc,c_proj");
    wk_tensors *all = wk_parameters(net), *before = wk_tensors_new();
    for (int k = 0; k < wk_tensors_count(all); k++) {
        const char *name = wk_tensors_name(all, k);
        wk_tensors_add(before, name, wk_clone(wk_detach(wk_tensors_get(all, k))));
        assert_true(wk_requires_grad(wk_tensors_get(all, k)) == (strstr(name, "lora_") != NULL));
    }
    wk_optim *optim = wk_optim_adamw(all, .lr = 0.02, .weight_decay = 0.1);
    double loss = 0;
    const double first = train_step(net, optim);
    for (int k = 0; k < 60; k++) loss = train_step(net, optim);
    if (!(loss < 0.6 * first)) fail_msg("the loss went from %g to %g", first, loss);
    for (int k = 0; k < wk_tensors_count(all); k++) {
        const bool adapter = strstr(wk_tensors_name(all, k), "lora_") != NULL;
        const double change = difference(wk_tensors_get(all, k), wk_tensors_get(before, k));
        if ((change != 0) != adapter) fail_msg("%s changed by %g", wk_tensors_name(all, k), change);
    }
    expect_ok();
}

/* ---- sharing ----------------------------------------------------------------------------------------------------- */

/* A layer that two modules share gets one adapter, and is one layer again after merging. */
static void shared_layers_stay_shared(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *shared = wk_nn_linear(4, 4), *inner = wk_nn_sequential(shared);
    wk_module *net = wk_nn_sequential(shared, inner, wk_nn_lazy_linear(2));
    wk_tensor *x = wk_rand((3, 4));
    assert_non_null(wk_forward(net, x));
    wk_nn_lora(net, .target_modules = "0,2");
    assert_ptr_equal(wk_module_child(net, "0"), wk_module_child(inner, "0"));
    assert_string_equal(wk_module_kind_name(wk_module_child(net, "2")), "lora_linear");
    fill_adapters(net);
    wk_tensor *with = wk_forward(net, x);
    assert_non_null(wk_nn_lora_merge(net));
    assert_ptr_equal(wk_module_child(net, "0"), shared);
    assert_ptr_equal(wk_module_child(inner, "0"), shared);
    assert_true(difference(wk_forward(net, x), with) < 1e-5);
    assert_non_null(wk_nn_lora(net, .target_modules = "2"));
    expect_ok();
}

/* ---- quantised layers -------------------------------------------------------------------------------------------- */

/* Adapters of quantised layers compute and learn what those of layers with the same floats do. */
static void quantized_layers_have_adapters(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(32, 4)), *same = wk_nn_sequential(wk_nn_linear(32, 4));
    wk_tensor *x = wk_randn((3, 32));
    wk_module_quantize(net);
    set(same, "0.weight", wk_dequantize(wk_module_buffer(net, "0.weight_q8_0")));
    set(same, "0.bias", wk_module_parameter(net, "0.bias"));
    assert_non_null(wk_nn_lora(net, .r = 2, .target_modules = "0"));
    assert_non_null(wk_nn_lora(same, .r = 2, .target_modules = "0"));
    fill_adapters(net);
    set(same, "0.lora_A.weight", wk_module_parameter(net, "0.lora_A.weight"));
    set(same, "0.lora_B.weight", wk_module_parameter(net, "0.lora_B.weight"));
    wk_tensor *y = wk_forward(net, x), *expected = wk_forward(same, x);
    assert_true(difference(y, expected) < 1e-5);
    wk_backward(wk_sum(wk_mul(y, y)));
    wk_backward(wk_sum(wk_mul(expected, expected)));
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "0.lora_B.weight" : "0.lora_A.weight";
        wk_tensor *grad = wk_grad_of(wk_module_parameter(net, name)), *of = wk_grad_of(wk_module_parameter(same, name));
        assert_true(difference(grad, of) < 1e-4 * wk_item(wk_amax(wk_abs(of))));
    }
    assert_false(wk_requires_grad(wk_module_parameter(net, "0.base_layer.bias")));
    assert_null(wk_nn_lora_merge(net));
    expect_error("nn_lora_merge: the weight of \"0\" is quantised", "wk_nn_lora_save", NULL);
    assert_string_equal(wk_module_kind_name(wk_module_child(net, "0")), "lora_linear");
}

/* Adapters use the present blocks of their layer: those of a file, and those of a network that is quantised later. */
static void adapters_follow_the_blocks_of_their_layer(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(32, 32)), *other = wk_nn_sequential(wk_nn_linear(32, 32));
    wk_tensor *x = wk_randn((3, 32));
    wk_nn_lora(net, .r = 32, .target_modules = "0");
    fill_adapters(net);
    wk_tensor *with = wk_forward(net, x);
    assert_non_null(wk_module_quantize(net));
    assert_string_equal(wk_module_kind_name(wk_module_child(net, "0.base_layer")), "quantized_linear");
    assert_non_null(wk_module_parameter(net, "0.lora_A.weight"));
    assert_true(difference(wk_forward(net, x), with) < 0.05);
    wk_nn_lora(wk_module_quantize(other), .r = 32, .target_modules = "0");
    assert_int_equal(wk_save(net, scratch("quantized.safetensors")), WK_OK);
    assert_int_equal(wk_load(other, scratch("quantized.safetensors")), WK_OK);
    with = wk_forward(net, x);
    assert_true(difference(wk_forward(other, x), with) == 0);
    wk_module_to_dtype(other, WK_F64);
    assert_true(difference(wk_forward(other, wk_to_dtype(x, WK_F64)), with) < 1e-4);
    expect_ok();
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void bad_input_is_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = small_gpt();
    const int parameters = wk_tensors_count(wk_parameters(net));
    assert_null(wk_nn_lora(net, .target_modules = "c_attn,c_quirk"));
    assert_string_equal(strstr(wk_error(), "expected"), "expected \"c_attn\", \"c_proj\", \"c_fc\""); /* each once */
    expect_error("nn_lora: no linear layer of the gpt2_lm_head_model is named \"c_quirk\"; expected", NULL);
    assert_null(wk_nn_lora(net, .target_modules = ""));
    expect_error("nn_lora", "is named \"\"", NULL);
    assert_null(wk_nn_lora(net, .target_modules = "attn"));
    expect_error("nn_lora", "is named \"attn\"", NULL);
    assert_null(wk_nn_lora(net, .target_modules = "c_attn,"));
    expect_error("nn_lora", "is named \"\"", NULL);
    assert_null(wk_nn_lora(net, .r = -1));
    expect_error("nn_lora: .r must be at least 1, got -1", NULL);
    assert_null(wk_nn_lora(net, .lora_dropout = 1));
    expect_error("nn_lora: .lora_dropout must be in [0, 1), got 1", NULL);
    assert_null(wk_nn_lora(net, .lora_alpha = (double)INFINITY));
    expect_error("nn_lora: .lora_alpha must be finite", NULL);
    assert_null(wk_nn_lora(wk_nn_relu()));
    expect_error("nn_lora", "of the relu", "contains no linear layers", NULL);
    assert_null(wk_nn_lora(wk_nn_linear(2, 2), .target_modules = "all-linear"));
    expect_error("nn_lora", "contains no linear layers", NULL);
    assert_null(wk_nn_lora(wk_nn_sequential(wk_nn_lazy_linear(2)), .target_modules = "0"));
    expect_error("nn_lora: lazy_linear \"0\" has no parameters before its first forward", NULL);
    assert_null(wk_nn_lora(NULL));
    expect_error("nn_lora", "NULL", NULL);
    assert_null(wk_nn_lora_merge(net));
    expect_error("nn_lora_merge: the gpt2_lm_head_model has no adapters", NULL);
    assert_int_equal(wk_tensors_count(wk_parameters(net)), parameters);
    assert_true(wk_requires_grad(wk_tensors_get(wk_parameters(net), 0)));
    assert_non_null(wk_nn_lora(net));
    assert_null(wk_nn_lora(net));
    expect_error("nn_lora: the network has adapters", NULL);
    wk_module *mirrored = wk_mirrored(small_gpt(), (const wk_device[]){wk_cpu()}, 1);
    assert_null(wk_nn_lora(mirrored));
    expect_error("nn_lora: the network contains a mirrored", NULL);
}

static void long_lists_of_names_are_cut(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(2, 2));
    for (int k = 1; k < 18; k++) wk_module_append(net, wk_nn_linear(2, 2));
    assert_null(wk_nn_lora(net));
    assert_null(strstr(wk_error(), "\"17\""));
    expect_error("nn_lora: no linear layer of the sequential is named", "expected \"0\", \"1\"", "\"15\", ...", NULL);
}

static wk_tensor *pass(wk_module *self, wk_tensor *x)
{
    (void)self;
    return x;
}

/* The kinds of the library decide, not names of kinds. */
static void custom_layers_get_no_adapter(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const names[] = {"linear", "lora_linear"};
    for (int k = 0; k < 2; k++) {
        const wk_module_kind kind = {.size = sizeof kind, .name = names[k], .state = 64, .forward1 = pass};
        wk_module *net = wk_nn_sequential(wk_module_new(&kind));
        assert_null(wk_nn_lora(net, .target_modules = "0"));
        expect_error("nn_lora: no linear layer", "it contains no linear layers", NULL);
        assert_null(wk_nn_lora_merge(net));
        expect_error("nn_lora_merge: the sequential has no adapters", NULL);
    }
}

static void a_replaced_layer_is_not_merged(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = known_layer(false);
    wk_module_replace(net, "0.base_layer", wk_nn_relu());
    assert_null(wk_nn_lora_merge(net));
    expect_error("nn_lora_merge: a base_layer has been replaced by a relu", NULL);
    assert_string_equal(wk_module_kind_name(wk_module_child(net, "0")), "lora_linear");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_gradients_are_those_of_pytorch),
        cmocka_unit_test(a_new_adapter_changes_nothing),
        cmocka_unit_test(dropout_concerns_the_adapter),
        cmocka_unit_test(adapters_have_device_and_dtype_of_their_layer),
        cmocka_unit_test(options_may_be_zero),
        cmocka_unit_test(merged_models_compute_the_same),
        cmocka_unit_test(adapters_of_half_weights_are_f32),
        cmocka_unit_test(bert_and_attention_have_adapters),
        cmocka_unit_test(training_changes_only_the_adapters),
        cmocka_unit_test(shared_layers_stay_shared),
        cmocka_unit_test_teardown(quantized_layers_have_adapters, test_clean),
        cmocka_unit_test(adapters_follow_the_blocks_of_their_layer),
        cmocka_unit_test_teardown(bad_input_is_refused, test_clean),
        cmocka_unit_test_teardown(long_lists_of_names_are_cut, test_clean),
        cmocka_unit_test_teardown(custom_layers_get_no_adapter, test_clean),
        cmocka_unit_test_teardown(a_replaced_layer_is_not_merged, test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
