/* SPDX-License-Identifier: Apache-2.0 */
/* Promises of wick/language.h and wick/nn_lora.h. */
#ifndef TESTS_RULES_PROMISED_CODES_LANGUAGE_H
#define TESTS_RULES_PROMISED_CODES_LANGUAGE_H

#include "promised_codes.h"

static wk_module *small_gpt(void)
{
    return wk_nn_gpt(.vocab_size = 5, .n_positions = 4, .n_embd = 4, .n_layer = 1, .n_head = 1);
}

static void gpt_of_no_layers(void)
{
    assert_null(wk_nn_gpt(.n_layer = -1));
}

/* ---- pretrained models ------------------------------------------------------------------------------------------- */

/* Reads a folder with this config.json. */
static void read_pretrained(const char *config)
{
    char path[4200];
    snprintf(path, sizeof path, "%s", scratch("pretrained"));
    (void)mkdir(path, 0700);
    snprintf(path, sizeof path, "%s", scratch("pretrained/config.json"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(config, file) >= 0 && fclose(file) == 0);
    assert_null(wk_nn_pretrained(scratch("pretrained")));
}
static void pretrained_in_no_folder(void)
{
    assert_null(wk_nn_pretrained(scratch("no/folder")));
}
static void pretrained_without_a_type(void)
{
    read_pretrained("{}");
}
static void pretrained_of_another_type(void)
{
    read_pretrained("{\"model_type\": \"t5\"}");
}
static void pretrained_of_other_sizes(void)
{
    (void)mkdir(scratch("pretrained"), 0700);
    assert_int_equal(wk_save(small_gpt(), scratch("pretrained/model.safetensors")), WK_OK);
    read_pretrained("{\"model_type\": \"gpt2\", \"vocab_size\": 6, \"n_positions\": 4, \"n_embd\": 4, "
                    "\"n_layer\": 1, \"n_head\": 1}");
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

static void cache_of_no_rows(void)
{
    assert_null(wk_kv_cache_new(small_gpt(), 0, 4));
}
static void reorder_too_many(void)
{
    wk_kv_cache_reorder(wk_kv_cache_new(small_gpt(), 1, 4), wk_zeros((2), .dtype = WK_I64));
}
static void reorder_by_floats(void)
{
    wk_kv_cache_reorder(wk_kv_cache_new(small_gpt(), 1, 4), wk_zeros((1)));
}

/* Calls wk_decode with ids of this shape and dtype and a cache of two rows. */
static void decode_ids(int64_t batch, int64_t count, wk_dtype dtype)
{
    wk_module *net = small_gpt();
    assert_null(wk_decode(net, wk_zeros((batch, count), .dtype = dtype), wk_kv_cache_new(net, 2, 4)));
}
static void reorder_by_no_row(void)
{
    wk_module *net = small_gpt();
    wk_kv_cache *cache = wk_kv_cache_new(net, 1, 4);
    assert_non_null(wk_decode(net, wk_zeros((1, 2), .dtype = WK_I64), cache));
    wk_kv_cache_reorder(cache, wk_full((1), 9));
    (void)wk_sync();
}
static void decode_for_another_model(void)
{
    wk_kv_cache *cache = wk_kv_cache_new(small_gpt(), 1, 4);
    wk_module *other = wk_nn_gpt(.vocab_size = 6, .n_positions = 4, .n_embd = 4, .n_layer = 1, .n_head = 1);
    assert_null(wk_decode(other, wk_zeros((1, 1), .dtype = WK_I64), cache));
}
static void decode_other_rows(void)
{
    decode_ids(1, 1, WK_I64);
}
static void decode_floats(void)
{
    decode_ids(2, 1, WK_F32);
}
static void decode_too_many(void)
{
    decode_ids(2, 5, WK_I64);
}
static void forward_of_another_token(void)
{
    assert_null(wk_forward(small_gpt(), wk_of(int64_t, (1, 2), 0, 99)));
}
static void decode_another_token(void)
{
    wk_module *net = small_gpt();
    assert_null(wk_decode(net, wk_of(int64_t, (1, 2), 0, 99), wk_kv_cache_new(net, 1, 4)));
}

/* ---- adapters ---------------------------------------------------------------------------------------------------- */

/* Returns a folder with adapters of rank 2 of a model like small_gpt(), or one with another n_embd, and with this
 * adapter_config.json; NULL: the one that belongs to it. */
static const char *adapters(int64_t features, const char *config)
{
    wk_module *net = wk_nn_gpt(.vocab_size = 5, .n_positions = 4, .n_embd = features, .n_layer = 1, .n_head = 1);
    assert_non_null(wk_nn_lora(net, .r = 2));
    assert_int_equal(wk_nn_lora_save(net, scratch("adapters")), WK_OK);
    if (config) put_below(scratch("adapters"), "/adapter_config.json", config);
    return scratch("adapters");
}
static void adapters_of_no_rank(void)
{
    assert_null(wk_nn_lora(small_gpt(), .r = -1));
}
static void adapters_twice(void)
{
    assert_null(wk_nn_lora(wk_nn_lora(small_gpt())));
}
static void merge_without_adapters(void)
{
    assert_null(wk_nn_lora_merge(small_gpt()));
}
static void merge_into_blocks(void)
{
    wk_module *net = wk_module_quantize(wk_nn_sequential(wk_nn_linear(32, 2)));
    assert_null(wk_nn_lora_merge(wk_nn_lora(net, .target_modules = "0")));
}
static void save_without_adapters(void)
{
    wk_nn_lora_save(small_gpt(), scratch("none"));
}
static void save_adapters_in_no_folder(void)
{
    wk_nn_lora_save(wk_nn_lora(small_gpt()), scratch("no/folder/adapters"));
}
static void load_adapters_of_no_folder(void)
{
    assert_null(wk_nn_lora_load(small_gpt(), scratch("no/folder")));
}
static void load_adapters_without_a_type(void)
{
    assert_null(wk_nn_lora_load(small_gpt(), adapters(4, "{}")));
}
static void load_adapters_of_another_type(void)
{
    assert_null(wk_nn_lora_load(small_gpt(), adapters(4, "{\"peft_type\": \"IA3\"}")));
}
static void load_adapters_of_another_size(void)
{
    assert_null(wk_nn_lora_load(small_gpt(), adapters(8, NULL)));
}
static void load_adapters_twice(void)
{
    assert_null(wk_nn_lora_load(wk_nn_lora(small_gpt()), adapters(4, NULL)));
}

static const promised_code promised_by_language[] = {
    {"language.h", WK_ERR_ARGUMENT, .provoke = gpt_of_no_layers},
    {"language.h", WK_ERR_INDEX, .provoke = forward_of_another_token},
    {"wk_nn_pretrained", WK_ERR_IO, .provoke = pretrained_in_no_folder},
    {"wk_nn_pretrained", WK_ERR_FORMAT, .provoke = pretrained_without_a_type},
    {"wk_nn_pretrained", WK_ERR_UNSUPPORTED, .provoke = pretrained_of_another_type},
    {"wk_nn_pretrained", WK_ERR_SHAPE, .provoke = pretrained_of_other_sizes},
    {"wk_kv_cache_new", WK_ERR_ARGUMENT, .provoke = cache_of_no_rows},
    {"wk_kv_cache_reorder", WK_ERR_SHAPE, .provoke = reorder_too_many},
    {"wk_kv_cache_reorder", WK_ERR_DTYPE, .provoke = reorder_by_floats},
    {"wk_kv_cache_reorder", WK_ERR_INDEX, .provoke = reorder_by_no_row},
    {"wk_decode", WK_ERR_ARGUMENT, .provoke = decode_for_another_model},
    {"wk_decode", WK_ERR_SHAPE, .provoke = decode_other_rows},
    {"wk_decode", WK_ERR_DTYPE, .provoke = decode_floats},
    {"wk_decode", WK_ERR_STATE, .provoke = decode_too_many},
    {"wk_decode", WK_ERR_INDEX, .provoke = decode_another_token},
    {"wk_nn_lora", WK_ERR_ARGUMENT, .provoke = adapters_of_no_rank},
    {"wk_nn_lora", WK_ERR_STATE, .provoke = adapters_twice},
    {"wk_nn_lora_merge", WK_ERR_STATE, .provoke = merge_without_adapters},
    {"wk_nn_lora_merge", WK_ERR_UNSUPPORTED, .provoke = merge_into_blocks},
    {"wk_nn_lora_save", WK_ERR_IO, .provoke = save_adapters_in_no_folder},
    {"wk_nn_lora_save", WK_ERR_STATE, .provoke = save_without_adapters},
    {"wk_nn_lora_load", WK_ERR_IO, .provoke = load_adapters_of_no_folder},
    {"wk_nn_lora_load", WK_ERR_FORMAT, .provoke = load_adapters_without_a_type},
    {"wk_nn_lora_load", WK_ERR_UNSUPPORTED, .provoke = load_adapters_of_another_type},
    {"wk_nn_lora_load", WK_ERR_SHAPE, .provoke = load_adapters_of_another_size},
    {"wk_nn_lora_load", WK_ERR_STATE, .provoke = load_adapters_twice},
};

#endif
