/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_nn_lora_save and wk_nn_lora_load: round trips, the files that peft writes and reads, and files that are
 * damaged, do not fit, or describe other adapters. */
#include "support/adapters.h"

#include "hostile/scratch.h"

enum { PATH = 4400 };

/* Returns a network with the parameters of another one. */
static wk_module *copy_of(wk_module *net)
{
    wk_module *other = small_gpt();
    const char *path = scratch("base.safetensors");
    assert_int_equal(wk_save(net, path), WK_OK);
    assert_int_equal(wk_load(other, path), WK_OK);
    return other;
}

/* Returns the path of a file in a folder of the test. */
static const char *within(const char *folder, const char *name)
{
    static char path[PATH];
    snprintf(path, sizeof path, "%s/%s", scratch(folder), name);
    return path;
}

/* Writes adapter_config.json, creating the folder. */
static void put_config(const char *folder, const char *text)
{
    put_below("", within(folder, "adapter_config.json"), text);
}

static const char *config_of(const char *folder)
{
    return file_text(within(folder, "adapter_config.json"));
}

/* ---- round trips ------------------------------------------------------------------------------------------------- */

static void adapters_are_saved_and_loaded(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(1);
    wk_module *net = small_gpt(), *other = copy_of(net), *third = copy_of(net);
    wk_nn_lora(net, .r = 2, .lora_alpha = 5, .lora_dropout = 0.1, .target_modules = "c_attn,h.1.mlp.c_fc",
               .use_rslora = true);
    fill_adapters(net);
    assert_int_equal(wk_nn_lora_save(net, scratch("adapter")), WK_OK);
    assert_int_equal(wk_nn_lora_save(net, scratch("adapter")), WK_OK); /* the folder exists */
    wk_module_train(net, false);
    wk_tensor *expected = wk_forward(net, some_ids());
    assert_ptr_equal(wk_nn_lora_load(wk_module_train(other, false), scratch("adapter")), other);
    assert_true(difference(wk_forward(other, some_ids()), expected) == 0);
    assert_true(wk_requires_grad(wk_module_parameter(other, "transformer.h.0.attn.c_attn.lora_A.weight")));
    assert_false(wk_requires_grad(wk_module_parameter(other, "transformer.wte.weight")));
    assert_non_null(wk_module_child(other, "transformer.h.1.mlp.c_fc.lora_dropout"));
    assert_non_null(wk_nn_lora_merge(other));
    assert_true(difference(wk_forward(other, some_ids()), expected) < 1e-5);
    assert_int_equal(wk_tensors_count(wk_parameters(other)), wk_tensors_count(wk_parameters(third)));
    expect_ok();
}

static void names_are_those_of_peft(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = small_gpt();
    wk_nn_lora(net, .r = 2, .lora_alpha = 0.5);
    assert_int_equal(wk_nn_lora_save(net, scratch("names")), WK_OK);
    const wk_file_info *info = wk_load_info(within("names", "adapter_model.safetensors"));
    assert_int_equal(info->count, 4);
    assert_string_equal(info->tensors[0]->name, "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight");
    assert_string_equal(info->tensors[3]->name, "base_model.model.transformer.h.1.attn.c_attn.lora_B.weight");
    assert_true(info->tensors[3]->shape[0] == 24 && info->tensors[3]->shape[1] == 2);
    assert_string_equal(info->metadata[0]->value, "pt");
    assert_string_equal(config_of("names"), "{\n"
                                            "  \"base_model_name_or_path\": null,\n"
                                            "  \"bias\": \"none\",\n"
                                            "  \"fan_in_fan_out\": true,\n"
                                            "  \"inference_mode\": true,\n"
                                            "  \"init_lora_weights\": true,\n"
                                            "  \"lora_alpha\": 0.5,\n"
                                            "  \"lora_dropout\": 0,\n"
                                            "  \"peft_type\": \"LORA\",\n"
                                            "  \"r\": 2,\n"
                                            "  \"target_modules\": [\n"
                                            "    \"c_attn\"\n"
                                            "  ],\n"
                                            "  \"task_type\": null,\n"
                                            "  \"use_rslora\": false\n"
                                            "}\n");
    expect_ok();
}

/* A name that is also that of a layer without adapter is written as a path. */
static void ambiguous_names_are_paths(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = small_gpt();
    wk_nn_lora(net, .target_modules = "c_fc,h.1.mlp.c_proj");
    assert_int_equal(wk_nn_lora_save(net, scratch("paths")), WK_OK);
    assert_non_null(strstr(config_of("paths"), "\"target_modules\": [\n"
                                               "    \"c_fc\",\n"
                                               "    \"transformer.h.1.mlp.c_proj\"\n"
                                               "  ]"));
    expect_ok();
}

/* The fields that peft writes; target_modules may also be an expression. */
static const char from_peft[] =
    "{\"alpha_pattern\": {}, \"auto_mapping\": null, \"base_model_name_or_path\": \"gpt2\", \"bias\": \"none\", "
    "\"corda_config\": null, \"eva_config\": null, \"exclude_modules\": null, \"fan_in_fan_out\": true, "
    "\"inference_mode\": true, \"init_lora_weights\": true, \"layer_replication\": null, \"layers_pattern\": null, "
    "\"layers_to_transform\": null, \"loftq_config\": {}, \"lora_alpha\": 16, \"lora_bias\": false, "
    "\"lora_dropout\": 0.05, \"megatron_config\": null, \"megatron_core\": \"megatron.core\", "
    "\"modules_to_save\": null, \"peft_type\": \"LORA\", \"qalora_group_size\": 16, \"r\": 2, \"rank_pattern\": {}, "
    "\"revision\": null, \"target_modules\": \".*c_attn\", \"target_parameters\": null, \"task_type\": \"CAUSAL_LM\", "
    "\"trainable_token_indices\": null, \"use_dora\": false, \"use_qalora\": false, \"use_rslora\": false}";

/* Writes a folder with these tensors, lora_A (2, columns) and lora_B (24, 2) of the layers 0 to layers - 1. */
static const char *folder_of(const char *name, int layers, int64_t columns, const char *extra)
{
    wk_tensors *list = wk_tensors_new();
    char path[PATH];
    put_config(name, from_peft);
    for (int k = 0; k < layers; k++) {
        snprintf(path, sizeof path, "base_model.model.transformer.h.%d.attn.c_attn.lora_A.weight", k);
        wk_tensors_add(list, path, wk_full((2, columns), 0.5, .dtype = WK_BF16));
        snprintf(path, sizeof path, "base_model.model.transformer.h.%d.attn.c_attn.lora_B.weight", k);
        wk_tensors_add(list, path, wk_full((24, 2), 0.25, .dtype = WK_BF16));
    }
    if (extra) wk_tensors_add(list, extra, wk_ones((2)));
    assert_int_equal(wk_save_tensors(list, within(name, "adapter_model.safetensors")), WK_OK);
    return scratch(name);
}

static void folders_of_peft_are_read(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = small_gpt();
    wk_tensor *weight = wk_clone(wk_detach(wk_module_parameter(net, "transformer.h.0.attn.c_attn.weight")));
    assert_non_null(wk_nn_lora_load(net, folder_of("peft", 2, 8, NULL)));
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "transformer.h.1.attn.c_attn.lora_B.weight")), WK_F32);
    assert_non_null(wk_nn_lora_merge(net));
    /* every element of B A is 0.25, times 16 / 2 */
    wk_tensor *now = wk_module_parameter(net, "transformer.h.0.attn.c_attn.weight");
    assert_true(difference(now, wk_add(weight, 2)) < 1e-6);
    /* adapters of some of the layers */
    assert_non_null(wk_nn_lora_load(net, folder_of("peft", 1, 8, NULL)));
    assert_string_equal(wk_module_kind_name(wk_module_child(net, "transformer.h.1.attn.c_attn")), "conv1D");
    expect_ok();
}

/* Loading draws no initial weights from the random stream. */
static void loading_leaves_random_numbers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = small_gpt();
    const char *folder = folder_of("random", 2, 8, NULL);
    wk_seed(5);
    wk_tensor *expected = wk_rand((4));
    wk_seed(5);
    assert_non_null(wk_nn_lora_load(net, folder));
    assert_true(difference(wk_rand((4)), expected) == 0);
    expect_ok();
}

static wk_module *quantized(void)
{
    return wk_module_quantize(wk_nn_sequential(wk_nn_linear(32, 4)));
}

static void adapters_of_quantised_layers_are_saved_and_loaded(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = quantized(), *other = quantized();
    wk_tensor *x = wk_randn((3, 32));
    assert_int_equal(wk_save(net, scratch("blocks.safetensors")), WK_OK);
    assert_int_equal(wk_load(other, scratch("blocks.safetensors")), WK_OK);
    wk_nn_lora(net, .r = 2, .target_modules = "0");
    fill_adapters(net);
    assert_int_equal(wk_nn_lora_save(net, scratch("of blocks")), WK_OK);
    assert_non_null(strstr(config_of("of blocks"), "\"fan_in_fan_out\": false"));
    const wk_file_info *info = wk_load_info(within("of blocks", "adapter_model.safetensors"));
    assert_int_equal(info->count, 2);
    assert_string_equal(info->tensors[1]->name, "base_model.model.0.lora_B.weight");
    assert_ptr_equal(wk_nn_lora_load(other, scratch("of blocks")), other);
    assert_true(difference(wk_forward(other, x), wk_forward(net, x)) == 0);
    expect_ok();
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void expect_refused(const char *folder, wk_code code, const char *words)
{
    wk_module *net = small_gpt();
    const int parameters = wk_tensors_count(wk_parameters(net));
    assert_null(wk_nn_lora_load(net, folder));
    assert_int_equal(wk_error_code(), code);
    expect_error("nn_lora_load: ", words, NULL);
    assert_int_equal(wk_tensors_count(wk_parameters(net)), parameters);
    assert_true(wk_requires_grad(wk_tensors_get(wk_parameters(net), 0)));
}

static void tensors_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_refused(folder_of("wide", 2, 9, NULL), WK_ERR_SHAPE, "lora_A.weight\" is f32[2,8] in the network");
    expect_refused(folder_of("deep", 3, 8, NULL), WK_ERR_SHAPE,
                   "no linear layer of the gpt2_lm_head_model is named \"transformer.h.2.attn.c_attn\"");
    expect_refused(folder_of("more", 2, 8, "base_model.model.transformer.h.0.attn.c_attn.lora_magnitude_vector"),
                   WK_ERR_SHAPE, "unexpected tensor");
    expect_refused(folder_of("commas", 2, 8, "base_model.model.a,b.lora_A.weight"), WK_ERR_SHAPE, "has shape [2]");
    expect_refused(folder_of("no path", 2, 8, "base_model.model.lora_A.weight"), WK_ERR_SHAPE, "unexpected tensor");
    expect_refused(folder_of("none", 0, 8, "x"), WK_ERR_SHAPE, "no tensor is named \"base_model.model.PATH.lora_A");
    /* names are complete paths, not their last parts */
    wk_tensors *list = wk_tensors_new();
    wk_tensors_add(list, "base_model.model.c_attn.lora_A.weight", wk_ones((2, 8)));
    wk_tensors_add(list, "base_model.model.c_attn.lora_B.weight", wk_ones((24, 2)));
    put_config("parts", from_peft);
    assert_int_equal(wk_save_tensors(list, within("parts", "adapter_model.safetensors")), WK_OK);
    expect_refused(scratch("parts"), WK_ERR_SHAPE, "no linear layer of the gpt2_lm_head_model is named \"c_attn\"");
    folder_of("rank", 2, 8, NULL);
    put_config("rank", "{\"peft_type\": \"LORA\", \"r\": 4}");
    expect_refused(scratch("rank"), WK_ERR_SHAPE, "expected (r, in) with \"r\" 4");
    put_config("rank", "{\"peft_type\": \"LORA\"}");
    expect_refused(scratch("rank"), WK_ERR_SHAPE, "expected (r, in) with \"r\" 8");
}

static void other_configurations_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    static const struct {
        const char *config, *words;
        wk_code code;
    } bad[] = {
        {"{\"r\": 2}", "adapter_config.json: \"peft_type\" is missing", WK_ERR_FORMAT},
        {"{\"peft_type\": \"IA3\"}", "\"peft_type\" is \"IA3\"; expected \"LORA\"", WK_ERR_UNSUPPORTED},
        {"{\"peft_type\": \"LORA\", \"r\": 0}", "\"r\" must be at least 1, got 0", WK_ERR_FORMAT},
        {"{\"peft_type\": \"LORA\", \"r\": 2.5}", "adapter_config.json: ", WK_ERR_FORMAT},
        {"{\"peft_type\": \"LORA\", \"r\": -2}", "adapter_config.json: ", WK_ERR_FORMAT},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"use_dora\": true}", "\"use_dora\" is true", WK_ERR_UNSUPPORTED},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"use_qalora\": true}", "\"use_qalora\" is true", WK_ERR_UNSUPPORTED},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_dropout\": 1}", "\"lora_dropout\" must be", WK_ERR_FORMAT},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_dropout\": -0.5}", "\"lora_dropout\" must be", WK_ERR_FORMAT},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"lora_alpha\": 1e999}", "adapter_config.json: ", WK_ERR_FORMAT},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"init_lora_weights\": \"pissa\"}", "\"pissa\"", WK_ERR_UNSUPPORTED},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"rank_pattern\": {\"a\": 3}}", "not supported", WK_ERR_UNSUPPORTED},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"alpha_pattern\": {\"a\": 3}}", "not supported", WK_ERR_UNSUPPORTED},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"modules_to_save\": [\"a\"]}", "not supported", WK_ERR_UNSUPPORTED},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"layer_replication\": 7}", "not supported", WK_ERR_UNSUPPORTED},
        {"{\"peft_type\": \"LORA\", \"r\": 2, \"alora_invocation_tokens\": [1]}", "not supported", WK_ERR_UNSUPPORTED},
        {"{\"peft_type\": \"LORA\", \"r\": 2", "adapter_config.json: ", WK_ERR_FORMAT},
        {"[]", "adapter_config.json: ", WK_ERR_FORMAT},
        {"", "adapter_config.json: ", WK_ERR_FORMAT},
    };
    folder_of("configurations", 2, 8, NULL);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        put_config("configurations", bad[k].config);
        expect_refused(scratch("configurations"), bad[k].code, bad[k].words);
    }
    static const char *const initialisations[] = {"gaussian", "orthogonal", "eva"};
    for (int k = 0; k < 3; k++) {
        char config[200];
        snprintf(config, sizeof config,
                 "{\"peft_type\": \"LORA\", \"r\": 2, \"modules_to_save\": [], \"init_lora_weights\": \"%s\"}",
                 initialisations[k]);
        put_config("configurations", config);
        wk_module *net = wk_nn_lora_load(small_gpt(), scratch("configurations"));
        assert_non_null(strstr(wk_module_str(net), "r=2, lora_alpha=8.0\n"));
    }
    expect_ok();
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = small_gpt();
    expect_refused(scratch("no/folder"), WK_ERR_IO, "adapter_config.json");
    (void)rmdir(scratch("never"));
    assert_int_equal(wk_nn_lora_save(net, scratch("never")), WK_ERR_STATE);
    expect_error("nn_lora_save: the gpt2_lm_head_model has no adapters", NULL);
    assert_int_equal(access(scratch("never"), F_OK), -1);
    wk_nn_lora(net);
    assert_null(wk_nn_lora(net));
    assert_int_equal(wk_nn_lora_save(net, scratch("never")), WK_ERR_STATE); /* the pending error */
    expect_error("nn_lora: the network has adapters", NULL);
    assert_int_equal(access(scratch("never"), F_OK), -1);
    assert_int_equal(wk_nn_lora_save(net, scratch("no/folder")), WK_ERR_IO);
    expect_error("nn_lora_save", "no/folder: cannot create the folder", NULL);
    assert_int_equal(wk_nn_lora_save(net, ""), WK_ERR_ARGUMENT);
    expect_error("nn_lora_save: the path is empty", NULL);
    wk_module *named = wk_nn_sequential();
    wk_module_add(named, "a\xff", wk_nn_linear(2, 2));
    wk_nn_lora(named, .target_modules = "a\xff");
    assert_int_not_equal(wk_nn_lora_save(named, scratch("named")), WK_OK);
    expect_error("nn_lora_save: ", "its name is not UTF-8", NULL);
    assert_null(wk_nn_lora_load(net, folder_of("again", 2, 8, NULL)));
    expect_error("nn_lora_load: the network has adapters", NULL);
    assert_null(wk_nn_lora_load(NULL, "x"));
    expect_error("nn_lora_load", "NULL", NULL);
    assert_null(wk_nn_lora_load(small_gpt(), NULL));
    expect_error("nn_lora_load: the path is NULL", NULL);
    put_below("", within("again", "adapter_model.safetensors"), "torn");
    expect_refused(scratch("again"), WK_ERR_FORMAT, "adapter_model.safetensors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adapters_are_saved_and_loaded),
        cmocka_unit_test(names_are_those_of_peft),
        cmocka_unit_test(ambiguous_names_are_paths),
        cmocka_unit_test(folders_of_peft_are_read),
        cmocka_unit_test(loading_leaves_random_numbers),
        cmocka_unit_test(adapters_of_quantised_layers_are_saved_and_loaded),
        cmocka_unit_test_teardown(tensors_that_do_not_fit_are_refused, test_clean),
        cmocka_unit_test_teardown(other_configurations_are_refused, test_clean),
        cmocka_unit_test_teardown(bad_input_is_refused, test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
