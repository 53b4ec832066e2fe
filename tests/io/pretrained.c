/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_nn_pretrained with folders that transformers wrote (fixtures/language/make.py), and with files that do not
 * fit, are damaged, or describe other models. */
#include "support/wick.h"

#include <errno.h>
#include <math.h>

#include "hostile/scratch.h"

static const char *const models[] = {"gpt2", "llama", "qwen2"};
enum { MODELS = sizeof models / sizeof *models, ROW_2_BEGINS = 4 };

enum { PATH = 4400 };

static const char *fixture(const char *model)
{
    return fixture_file("language", model);
}

static wk_tensor *expected(const char *model, const char *name)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/scores.safetensors", fixture(model));
    return wk_load_tensor(path, name);
}

static void expect_near(wk_tensor *a, wk_tensor *b, double tolerance)
{
    assert_non_null(a);
    const double difference = wk_item(wk_amax(wk_abs(wk_sub(wk_to_dtype(a, WK_F32), b))));
    if (!(difference <= tolerance)) fail_msg("they differ by %g", difference);
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

static void scores_are_those_of_transformers(void **state)
{
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        WK_SCOPE;
        wk_module *net = wk_nn_pretrained(fixture(models[k]));
        expect_ok();
        assert_false(wk_module_training(net));
        assert_true(wk_requires_grad(wk_tensors_get(wk_parameters(net), 0)));
        expect_near(wk_forward(net, expected(models[k], "ids")), expected(models[k], "scores"), 1e-4);
        expect_ok();
    }
}

/* Row 1 has padding instead of its first ids. */
static void decoded_scores_are_those_of_transformers(void **state)
{
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        WK_SCOPE;
        wk_module *net = wk_nn_pretrained(fixture(models[k]));
        wk_tensor *ids = expected(models[k], "ids"), *scores = expected(models[k], "scores");
        wk_tensor *mask = wk_ones((2, 7), .dtype = WK_BOOL), *got[4];
        wk_fill_(wk_narrow(wk_select(mask, 0, 1), 0, 0, ROW_2_BEGINS), 0);
        wk_kv_cache *cache = wk_kv_cache_new(net, 2, 10);
        got[0] = wk_decode(net, wk_narrow(ids, 1, 0, 7), cache, .mask = mask);
        for (int at = 7; at < 10; at++) got[at - 6] = wk_decode(net, wk_narrow(ids, 1, at, 1), cache);
        wk_tensor *all = wk_cat(WK_ARRAY(got, 4), 1);
        expect_near(wk_select(all, 0, 0), wk_select(scores, 0, 0), 1e-4);
        expect_near(wk_narrow(wk_select(all, 0, 1), 0, ROW_2_BEGINS, 10 - ROW_2_BEGINS),
                    wk_select(expected(models[k], "short"), 0, 0), 1e-4);
        expect_ok();
    }
}

static void dtypes_are_converted(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_pretrained(fixture("qwen2"), .dtype = WK_BF16);
    wk_tensor *y = wk_forward(net, expected("qwen2", "ids"));
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "model.norm.weight")), WK_BF16);
    assert_int_equal(wk_dtype_of(y), WK_BF16);
    expect_near(y, expected("qwen2", "scores"), 0.5);
    net = wk_nn_pretrained(fixture("qwen2"), .dtype = WK_F64);
    expect_near(wk_forward(net, expected("qwen2", "ids")), expected("qwen2", "scores"), 1e-4);
    expect_ok();
    assert_null(wk_nn_pretrained(fixture("qwen2"), .dtype = WK_I64));
    expect_error("nn_pretrained", "i64", NULL);
}

/* ---- files of wk_save -------------------------------------------------------------------------------------------- */

static const char *put(const char *folder, const char *name, const char *text)
{
    static char path[PATH];
    snprintf(path, sizeof path, "%s/%s", scratch(folder), name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

/* Creates a folder with this config.json. Returns its path. */
static const char *folder_with(const char *name, const char *config)
{
    if (mkdir(scratch(name), 0700) != 0) assert_int_equal(errno, EEXIST);
    put(name, "config.json", config);
    return scratch(name);
}

static const char tiny[] = "{\"model_type\": \"gpt2\", \"vocab_size\": 5, \"n_positions\": 4, \"n_embd\": 4, "
                           "\"n_layer\": 1, \"n_head\": 2, \"n_inner\": null, \"n_ctx\": 4, \"x\": [1.5e3, {}]}";

static void saved_models_are_read(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[PATH];
    wk_module *net =
        wk_module_train(wk_nn_gpt(.vocab_size = 5, .n_positions = 4, .n_embd = 4, .n_layer = 1, .n_head = 2), false);
    const char *folder = folder_with("saved", tiny);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    assert_int_equal(wk_save(net, path), WK_OK);
    wk_tensor *ids = wk_of(int64_t, (1, 3), 1, 4, 2);
    wk_module *read = wk_nn_pretrained(folder);
    expect_near(wk_forward(read, ids), wk_forward(net, ids), 0);
    expect_ok();
    /* an untied head */
    net = wk_nn_gpt(.vocab_size = 5, .n_positions = 4, .n_embd = 4, .n_layer = 1, .n_head = 2, .untied = true);
    assert_int_equal(wk_save(wk_module_train(net, false), path), WK_OK);
    char untied[400];
    snprintf(untied, sizeof untied, "{\"tie_word_embeddings\": false, %s", tiny + 1);
    read = wk_nn_pretrained(folder_with("saved", untied));
    expect_near(wk_forward(read, ids), wk_forward(net, ids), 0);
    expect_ok();
}

/* Layers become quantised ones of the formats in the file. */
static void saved_blocks_are_read(void **state)
{
    static const char config[] = "{\"model_type\": \"llama\", \"vocab_size\": 8, \"hidden_size\": 32, "
                                 "\"intermediate_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, "
                                 "\"max_position_embeddings\": 16, \"tie_word_embeddings\": false}";
    (void)state;
    WK_SCOPE;
    char path[PATH];
    wk_module *net = wk_nn_llama(.vocab_size = 8, .hidden_size = 32, .intermediate_size = 64, .num_hidden_layers = 2,
                                 .num_attention_heads = 2, .max_position_embeddings = 16);
    wk_module_train(net, false);
    wk_module_quantize(wk_module_child(net, "model.layers.1"), .format = WK_BLOCKS_Q4_1);
    wk_module_quantize(net);
    snprintf(path, sizeof path, "%s/model.safetensors", folder_with("blocks", config));
    assert_int_equal(wk_save(net, path), WK_OK);
    wk_tensor *ids = wk_of(int64_t, (1, 3), 1, 7, 2);
    for (int mapped = 0; mapped < 2; mapped++) {
        wk_module *read = wk_nn_pretrained(scratch("blocks"), .mmap = mapped);
        expect_ok();
        assert_non_null(wk_module_buffer(read, "lm_head.weight_q8_0"));
        assert_non_null(wk_module_buffer(read, "model.layers.1.mlp.up_proj.weight_q4_1"));
        expect_near(wk_forward(read, ids), wk_forward(net, ids), 0);
    }
    expect_ok();
    wk_module *wide = wk_nn_sequential(wk_nn_linear(64, 1024, .no_bias = true));
    wk_module_quantize(wide);
    wk_tensors *wrong = wk_tensors_new();
    wk_tensors_add(wrong, "lm_head.weight_q8_0", wk_module_buffer(wide, "0.weight_q8_0"));
    wk_tensors_add(wrong, "model.layers.0.mlp.up_proj.weight_q8_0", wk_module_buffer(wide, "0.weight_q8_0"));
    assert_int_equal(wk_save_tensors(wrong, path), WK_OK);
    assert_null(wk_nn_pretrained(scratch("blocks")));
    expect_error("weight_q8_0\" is U8[1024,68]; config.json needs blocks as U8 of shape ", NULL);
}

/* Names are those of transformers' own files, so that it reads those of wk_save. */
static void names_are_those_of_transformers(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[PATH];
    wk_module *net = wk_nn_pretrained(fixture("qwen2"));
    snprintf(path, sizeof path, "%s/model.safetensors", fixture("qwen2"));
    const wk_file_info *info = wk_load_info(path);
    wk_tensors *list = wk_parameters(net);
    assert_int_equal(info->count, wk_tensors_count(list));
    for (int64_t k = 0; k < info->count; k++) assert_non_null(wk_tensors_find(list, info->tensors[k]->name));
    expect_ok();
}

static void computed_tensors_are_skipped(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[PATH], config[2000] = "";
    snprintf(path, sizeof path, "%s/config.json", fixture("qwen2"));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(config, 1, sizeof config - 1, file) > 0);
    assert_int_equal(fclose(file), 0);
    snprintf(path, sizeof path, "%s/model.safetensors", fixture("qwen2"));
    wk_tensors *list = wk_load_tensors(path);
    wk_tensors_add(list, "lm_head.weight", wk_ones((2, 2)));
    wk_tensors_add(list, "model.layers.0.self_attn.rotary_emb.inv_freq", wk_ones((2)));
    const char *folder = folder_with("computed", config);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    assert_int_equal(wk_save_tensors(list, path), WK_OK);
    expect_near(wk_forward(wk_nn_pretrained(folder), expected("qwen2", "ids")), expected("qwen2", "scores"), 1e-4);
    expect_ok();
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refusal(const char *config, wk_code code, const char *why)
{
    assert_null(wk_nn_pretrained(folder_with("refused", config)));
    const wk_code got = wk_error_code();
    if (got != code) fail_msg("code %d instead of %d: %s", got, code, wk_error());
    expect_error("nn_pretrained: ", why, NULL);
}

static const char llama[] = "{\"model_type\": \"llama\", \"vocab_size\": 5, \"hidden_size\": 4, "
                            "\"intermediate_size\": 4, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "
                            "\"max_position_embeddings\": 4, %s}";

static void other_models_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const settings[][2] = {
        {"\"hidden_act\": \"gelu\"", "\"hidden_act\" is not supported; expected silu"},
        {"\"attention_bias\": true", "\"attention_bias\" is not supported; expected false"},
        {"\"mlp_bias\": true", "\"mlp_bias\" is not supported"},
        {"\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2.0}",
         "\"rope_type\" is not supported; expected default or llama3"},
        {"\"rope_parameters\": {\"rope_type\": \"yarn\", \"factor\": 2.0}", "\"rope_type\" is not supported"},
        {"\"rope_parameters\": {\"partial_rotary_factor\": 0.5}", "\"partial_rotary_factor\" is not supported"},
        {"\"use_sliding_window\": true", "\"use_sliding_window\" is not supported"},
        {"\"quantization_config\": {\"bits\": 4}", "\"quantization_config\" is not supported; expected none"},
    };
    char config[700];
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        snprintf(config, sizeof config, llama, settings[k][0]);
        expect_refusal(config, WK_ERR_UNSUPPORTED, settings[k][1]);
    }
    expect_refusal("{\"model_type\": \"mistral\"}", WK_ERR_UNSUPPORTED,
                   "unknown model_type \"mistral\"; expected gpt2, llama or qwen2");
    snprintf(config, sizeof config, "{\"activation_function\": \"relu\", %s", tiny + 1);
    expect_refusal(config, WK_ERR_UNSUPPORTED, "\"activation_function\" is not supported; expected gelu_new");
    snprintf(config, sizeof config, "{\"scale_attn_weights\": false, %s", tiny + 1);
    expect_refusal(config, WK_ERR_UNSUPPORTED, "\"scale_attn_weights\" is not supported; expected true");
}

static void damaged_configurations_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    char config[700];
    expect_refusal("", WK_ERR_FORMAT, "config.json: expected '{', found the end of the file");
    expect_refusal("[]", WK_ERR_FORMAT, "expected '{', found '['");
    expect_refusal("{}", WK_ERR_FORMAT, "missing \"model_type\"; expected gpt2, llama or qwen2");
    expect_refusal("{\"model_type\": 3}", WK_ERR_FORMAT, "expected a string, found '3'");
    expect_refusal("{\"model_type\": \"gpt2\"}", WK_ERR_FORMAT, "missing \"vocab_size\", an integer of at least 1");
    expect_refusal("{\"vocab_size\": -1}", WK_ERR_FORMAT, "expected a non-negative integer, found '-'");
    expect_refusal("{\"vocab_size\": 99999999999999999999}", WK_ERR_FORMAT, "a number exceeds");
    expect_refusal("{\"vocab_size\": 5, \"vocab_size\": 6}", WK_ERR_FORMAT, "occurs twice");
    expect_refusal("{\"rms_norm_eps\": \"1e-5\"}", WK_ERR_FORMAT, "expected a value, found '\"'");
    snprintf(config, sizeof config, "{\"rms_norm_eps\": 1%0100d}", 0);
    expect_refusal(config, WK_ERR_FORMAT, "a number is too long");
    snprintf(config, sizeof config, "%s {}", tiny);
    expect_refusal(config, WK_ERR_FORMAT, "the file ends, but more follows");
    memset(config, '[', sizeof config - 1);
    config[sizeof config - 1] = '\0';
    memcpy(config, "{\"x\":", 5);
    expect_refusal(config, WK_ERR_FORMAT, "objects and arrays nest too deeply");
    const size_t length = strlen(tiny);
    for (size_t k = 0; k < length; k++) {
        snprintf(config, sizeof config, "%.*s", (int)k, tiny);
        assert_null(wk_nn_pretrained(folder_with("refused", config)));
        assert_int_equal(wk_error_code(), WK_ERR_FORMAT);
        expect_error("nn_pretrained: ", NULL);
    }
    snprintf(config, sizeof config, "{\"layer_norm_epsilon\": -1e-5, %s", tiny + 1);
    assert_null(wk_nn_pretrained(folder_with("saved", config)));
    expect_error("nn_pretrained: ", "-1e-05", NULL);
}

/* End of the message about a missing file. */
#define FILES                                                                                                          \
    "; the folder must have config.json and model.safetensors, or its parts and model.safetensors.index.json "         \
    "(nothing is downloaded)"

static void files_of_weights_must_fit(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[PATH];
    const char *folder = folder_with("weights", tiny);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    (void)remove(path);
    assert_null(wk_nn_pretrained(folder));
    assert_int_equal(wk_error_code(), WK_ERR_IO);
    expect_error("nn_pretrained: ", "model.safetensors: cannot open: No such file or directory" FILES, NULL);
    wk_save(wk_nn_gpt(.vocab_size = 5, .n_positions = 4, .n_embd = 4, .n_layer = 2, .n_head = 2), path);
    assert_null(wk_nn_pretrained(folder));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("unexpected tensor \"transformer.h.1.", "the model of config.json has none", NULL);
    wk_save(wk_nn_gpt(.vocab_size = 6, .n_positions = 4, .n_embd = 4, .n_layer = 1, .n_head = 2), path);
    assert_null(wk_nn_pretrained(folder));
    expect_error("\"transformer.wte.weight\" is F32[6,4]; config.json needs floating numbers of shape [5,4]", NULL);
    wk_tensors *few = wk_tensors_new();
    wk_tensors_add(few, "wte.weight", wk_ones((5, 4)));
    wk_tensors_add(few, "h.0.attn.bias", wk_ones((1, 1, 16, 16)));
    wk_save_tensors(few, path);
    assert_null(wk_nn_pretrained(folder));
    expect_error("the files have no tensor \"transformer.", NULL);
    static const char narrow[] = "{\"wte.weight\":{\"dtype\":\"F8_E4M3\",\"shape\":[5,4],\"data_offsets\":[0,20]},"
                                 "\"x\":{\"dtype\":\"F8_E4M3\",\"shape\":[300],\"data_offsets\":[20,320]}}";
    const uint64_t header = sizeof narrow - 1;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int k = 0; k < 8; k++) fputc((int)(header >> 8 * k & 255), file);
    fprintf(file, "%s%320s", narrow, "");
    assert_int_equal(fclose(file), 0);
    assert_null(wk_nn_pretrained(folder));
    assert_int_equal(wk_error_code(), WK_ERR_UNSUPPORTED);
    expect_error("\"wte.weight\"", "F8_E4M3", NULL);
    put("weights", "model.safetensors", "nothing");
    assert_null(wk_nn_pretrained(folder));
    assert_int_equal(wk_error_code(), WK_ERR_FORMAT);
    expect_error("nn_pretrained: ", NULL);
    assert_null(wk_nn_pretrained("no/such/folder"));
    assert_int_equal(wk_error_code(), WK_ERR_IO);
    expect_error("nn_pretrained: no/such/folder/config.json: cannot open: No such file or directory" FILES, NULL);
    assert_null(wk_nn_pretrained(NULL));
    expect_error("nn_pretrained: the path is NULL", NULL);
}

static void indices_are_checked(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const indices[][2] = {
        {"{}", "\"weight_map\" lists no files"},
        {"{\"weight_map\": {}}", "\"weight_map\" lists no files"},
        {"{\"weight_map\": {\"a\": 3}}", "expected a string, found '3'"},
        {"{\"weight_map\": {\"a\": \"../b\"}}", "\"../b\" is not the name of a file in the folder"},
        {"{\"weight_map\": {\"a\": \"/etc/passwd\"}}", "is not the name of a file in the folder"},
        {"{\"weight_map\": {\"a\": \"b\"", "expected ',' or '}', found the end of the file"},
        {"{\"weight_map\": {\"a\": \"b\"}}", "/b: cannot open"},
    };
    const char *folder = folder_with("index", tiny);
    for (size_t k = 0; k < sizeof indices / sizeof *indices; k++) {
        put("index", "model.safetensors.index.json", indices[k][0]);
        assert_null(wk_nn_pretrained(folder));
        expect_error("nn_pretrained: ", indices[k][1], NULL);
    }
}

/* Before memory is allocated for it. */
static void models_larger_than_the_files_are_refused(void **state)
{
    (void)state;
    static const char *const sizes[][2] = {
        {"\"n_layer\": 1,", "\"n_layer\": 99999999999,"},
        {"\"n_embd\": 4,", "\"n_embd\": 1000000,"},
        {"\"vocab_size\": 5,", "\"vocab_size\": 9223372036854775807,"},
    };
    char path[PATH], config[700];
    WK_SCOPE;
    const char *folder = folder_with("large", tiny);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    wk_save(wk_nn_gpt(.vocab_size = 5, .n_positions = 4, .n_embd = 4, .n_layer = 1, .n_head = 2), path);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const char *at = strstr(tiny, sizes[k][0]);
        snprintf(config, sizeof config, "%.*s%s%s", (int)(at - tiny), tiny, sizes[k][1], at + strlen(sizes[k][0]));
        assert_null(wk_nn_pretrained(folder_with("large", config)));
        assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
        expect_error("config.json describes ", " numbers, the files have 288", NULL);
    }
    wk_tensors *one = wk_tensors_new();
    wk_tensors_add(one, "wte.weight", wk_ones((100, 100)));
    wk_save_tensors(one, path);
    snprintf(config, sizeof config,
             "{\"model_type\": \"gpt2\", \"vocab_size\": 5, \"n_positions\": 4, \"n_embd\": 4, "
             "\"n_layer\": 50, \"n_head\": 2}");
    assert_null(wk_nn_pretrained(folder_with("large", config)));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("config.json describes 50 layers, the tensors are 1", NULL);
    snprintf(config, sizeof config, llama, "\"x\": 0");
    wk_save(wk_nn_gpt(.vocab_size = 5, .n_positions = 4, .n_embd = 4, .n_layer = 1, .n_head = 2), path);
    char *layers = strstr(config, "layers\": 1");
    layers[strlen("layers\": ")] = '3';
    assert_null(wk_nn_pretrained(folder_with("large", config)));
    expect_error("config.json describes 356 numbers, the files have 288", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_of_transformers),
        cmocka_unit_test(decoded_scores_are_those_of_transformers),
        cmocka_unit_test(dtypes_are_converted),
        cmocka_unit_test(saved_models_are_read),
        cmocka_unit_test(saved_blocks_are_read),
        cmocka_unit_test(names_are_those_of_transformers),
        cmocka_unit_test(computed_tensors_are_skipped),
        cmocka_unit_test(other_models_are_refused),
        cmocka_unit_test(damaged_configurations_are_refused),
        cmocka_unit_test(files_of_weights_must_fit),
        cmocka_unit_test(models_larger_than_the_files_are_refused),
        cmocka_unit_test(indices_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
