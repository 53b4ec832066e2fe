/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reading of GGUF files: tensors of all types, metadata, and language models, against values of the reference
 * (goldens/make_gguf.py). */
#include "support/wick.h"

#include "engine/op_queue.h"
#include "hostile/gguf.h"
#include "hostile/scratch.h"
#include "tensor/tensor.h"

static const char *fixture(const char *name)
{
    return fixture_file("gguf", name);
}

/* Checks that two tensors have one dtype, one shape and the same bits. */
static void expect_same_bits(wk_tensor *a, wk_tensor *b, const char *name)
{
    assert_non_null(a);
    if (wk_dtype_of(a) != wk_dtype_of(b) || wk_numel(a) != wk_numel(b)) fail_msg("%s differs in dtype or shape", name);
    const size_t bytes = (size_t)wk_numel(a) * wk_dtype_size(wk_dtype_of(a));
    if (memcmp(wk_data(a), wk_data(b), bytes) != 0) fail_msg("%s has other bits", name);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static void tensors_have_the_bits_of_the_reference(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_file_info *expected = wk_load_info(fixture("types.safetensors"));
    assert_int_equal(expected->count, 20);
    for (int64_t k = 0; k < expected->count; k++) {
        WK_SCOPE;
        const char *name = expected->tensors[k]->name;
        wk_tensor *x = wk_load_tensor(fixture("types.safetensors"), name);
        if (strcmp(name, "bf16") == 0) x = wk_to_dtype(x, WK_BF16);
        expect_same_bits(wk_load_tensor(fixture("types.gguf"), name), x, name);
    }
    expect_ok();
}

static void unsupported_types_are_named(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_load_tensor(fixture("types.gguf"), "IQ2_XS"));
    assert_int_equal(wk_error_code(), WK_ERR_UNSUPPORTED);
    expect_error("load_tensor: tensor \"IQ2_XS\" has unsupported type IQ2_XS; expected F32, F16,", NULL);
    assert_null(wk_load_tensor(fixture("types.gguf"), "none"));
    expect_error("unknown tensor \"none\"; the file has \"IQ2_XS\", \"IQ4_NL\", \"IQ4_XS\"", NULL);
}

static void networks_are_loaded(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_module_list(), *blocks = wk_nn_module_list(), *block = wk_nn_module_list();
    wk_module_add(block, "ffn_up", wk_nn_linear(32, 32));
    wk_module_append(blocks, block);
    wk_module_add(net, "blk", blocks);
    const char *const *missing, *const *unexpected;
    assert_int_equal(
        wk_load(net, fixture("qwen2.gguf"), .strict = false, .missing = &missing, .unexpected = &unexpected), WK_OK);
    assert_string_equal(missing[0], "blk.0.ffn_up.bias");
    assert_string_equal(unexpected[0], "blk.0.attn_k.bias");
    expect_same_bits(wk_module_parameter(net, "blk.0.ffn_up.weight"),
                     wk_load_tensor(fixture("qwen2.gguf"), "blk.0.ffn_up.weight"), "ffn_up");
    assert_int_equal(wk_load(net, fixture("qwen2.gguf")), WK_ERR_SHAPE);
    expect_error("missing tensor \"blk.0.ffn_up.bias\"",
                 "; GGUF files name tensors differently; wk_nn_pretrained creates their models", NULL);
    wk_tensors *list = wk_load_tensors(fixture("llama.gguf"));
    assert_int_equal(wk_tensors_count(list), 22);
    assert_int_equal(wk_dtype_of(wk_tensors_find(list, "blk.1.ffn_up.weight")), WK_F16);
    expect_ok();
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

static void metadata_become_texts(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_file_pair expected[] = {
        {"general.architecture", "types"},
        {"test.bool", "true"},
        {"test.f32", "1e-05"},
        {"test.f64", "0.1"},
        {"test.floats", "[0.5,1e-06,-7,999999,1e+06,-0]"},
        {"test.i16", "-32768"},
        {"test.i32", "-2147483648"},
        {"test.i64", "-9223372036854775808"},
        {"test.i8", "-128"},
        {"test.numbers", "[1,-2,3]"},
        {"test.string", "a \303\251\n"},
        {"test.strings", "[\"\",\"a\\\"b\",\"\304\240\\n\"]"},
        {"test.u16", "65535"},
        {"test.u32", "4294967295"},
        {"test.u64", "18446744073709551615"},
        {"test.u8", "255"},
    };
    const wk_file_info *info = wk_load_info(fixture("types.gguf"));
    assert_int_equal(info->pairs, sizeof expected / sizeof *expected);
    for (int64_t k = 0; k < info->pairs; k++) {
        assert_string_equal(info->metadata[k]->key, expected[k].key);
        assert_string_equal(info->metadata[k]->value, expected[k].value);
    }
}

static void tensors_are_listed(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_file_info *info = wk_load_info(fixture("types.gguf"));
    assert_int_equal(info->count, 21);
    const wk_file_tensor *last = info->tensors[20], *unsupported = info->tensors[0], *quantised = info->tensors[6];
    assert_string_equal(last->name, "int8");
    assert_string_equal(last->dtype_name, "I8");
    assert_true(last->ndim == 2 && last->shape[0] == 3 && last->shape[1] == 5 && last->bytes == 15);
    assert_string_equal(unsupported->dtype_name, "IQ2_XS");
    assert_true(unsupported->dtype == 0 && unsupported->bytes == 2 * 74);
    assert_string_equal(quantised->name, "Q4_1");
    assert_true(quantised->dtype == WK_F32 && quantised->shape[1] == 256 && quantised->bytes == 2 * 8 * 20);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static wk_tensor *expected(const char *model, const char *name)
{
    char file[100];
    snprintf(file, sizeof file, "%s.safetensors", model);
    return wk_load_tensor(fixture(file), name);
}

static void expect_model(const char *model, wk_module *net, double tolerance)
{
    WK_SCOPE;
    char file[100];
    snprintf(file, sizeof file, "%s.gguf", model);
    expect_ok();
    assert_false(wk_module_training(net));
    wk_tensor *scores = wk_to_dtype(wk_forward(net, expected(model, "ids")), WK_F32);
    const double difference = wk_item(wk_amax(wk_abs(wk_sub(scores, expected(model, "scores")))));
    if (!(difference <= tolerance)) fail_msg("%s: scores differ by %g", model, difference);
    wk_tensor *q = wk_module_parameter(net, "model.layers.0.self_attn.q_proj.weight");
    wk_tensor *k = wk_module_parameter(net, "model.layers.0.self_attn.k_proj.weight");
    expect_same_bits(wk_to_dtype(q, WK_F32), expected(model, "q_proj"), "q_proj");
    expect_same_bits(wk_to_dtype(k, WK_F32), expected(model, "k_proj"), "k_proj");
    expect_ok();
}

static void models_have_the_scores_of_transformers(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_model("llama", wk_nn_pretrained(fixture("llama.gguf"), .dtype = WK_F32), 1e-4);
    wk_module *net = wk_nn_pretrained(fixture("qwen2.gguf"));
    expect_model("qwen2", net, 1e-4);
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "model.embed_tokens.weight")), WK_F32);
    assert_null(wk_tensors_find(wk_parameters(net), "lm_head.weight"));
    net = wk_nn_pretrained(fixture("llama.gguf"));
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "lm_head.weight")), WK_F16);
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "model.norm.weight")), WK_F16);
}

/* Weights of linear layers stay as the file has them, for the same scores. */
static void blocks_stay_as_they_are(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_pretrained(fixture("qwen2.gguf"), .quantized = true), *copy;
    wk_tensor *ids = expected("qwen2", "ids"), *scores = wk_forward(net, ids);
    expect_ok();
    assert_false(wk_module_training(wk_module_child(net, "model.layers.1.mlp.up_proj")));
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(scores, expected("qwen2", "scores"))))) < 1e-4);
    wk_tensor *q = wk_module_buffer(net, "model.layers.0.self_attn.q_proj.weight_q8_0");
    expect_same_bits(wk_dequantize(q), expected("qwen2", "q_proj"), "q_proj");
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "model.embed_tokens.weight")), WK_F32);
    for (int k = 0; k < wk_tensors_count(wk_parameters(net)); k++) {
        const char *name = wk_tensors_name(wk_parameters(net), k);
        if (strstr(name, "proj.weight")) fail_msg("%s is a parameter", name);
    }
    assert_int_equal(wk_save(net, scratch("blocks.safetensors")), WK_OK);
    copy = wk_nn_pretrained(fixture("qwen2.gguf"), .quantized = true);
    wk_init_constant_(wk_module_parameter(copy, "model.norm.weight"), 9);
    assert_int_equal(wk_load(copy, scratch("blocks.safetensors")), WK_OK);
    expect_same_bits(wk_forward(copy, ids), scores, "scores");
    net = wk_nn_pretrained(fixture("llama.gguf"), .dtype = WK_F32, .quantized = true); /* the file has no blocks */
    expect_model("llama", net, 1e-4);
    expect_ok();
}

/* A model of one layer, (heads, kv heads, features of a head) = (2, 1, 16). Its v has blocks of IQ4_NL. */
static const gguf_case one_layer = {
    "r:GGUF 4:3 8:11 8:8 s:general.architecture 4:8 s:llama s:llama.block_count 4:4 4:1 s:llama.embedding_length 4:4 "
    "4:32 s:llama.attention.head_count 4:4 4:2 s:llama.attention.head_count_kv 4:4 4:1 s:llama.feed_forward_length "
    "4:4 4:32 s:llama.context_length 4:4 4:8 s:llama.attention.layer_norm_rms_epsilon 4:6 4:925353388 "
    "s:token_embd.weight 4:2 8:32 8:3 4:0 8:0 s:output_norm.weight 4:1 8:32 4:0 8:384 "
    "s:blk.0.attn_norm.weight 4:1 8:32 4:0 8:512 s:blk.0.ffn_norm.weight 4:1 8:32 4:0 8:640 "
    "s:blk.0.attn_q.weight 4:2 8:32 8:32 4:8 8:768 s:blk.0.attn_k.weight 4:2 8:32 8:16 4:8 8:1856 "
    "s:blk.0.attn_v.weight 4:2 8:32 8:16 4:20 8:2400 s:blk.0.attn_output.weight 4:2 8:32 8:32 4:8 8:2688 "
    "s:blk.0.ffn_gate.weight 4:2 8:32 8:32 4:8 8:3776 s:blk.0.ffn_up.weight 4:2 8:32 8:32 4:8 8:4864 "
    "s:blk.0.ffn_down.weight 4:2 8:32 8:32 4:8 8:5952 p:32 z:7040",
    NULL};

/* Rows of q and k in files of the architecture llama are reordered, also in blocks. Blocks of other formats become
 * floats. */
static void rows_of_blocks_are_reordered(void **state)
{
    (void)state;
    WK_SCOPE;
    bytes file = gguf_file(&one_layer);
    for (int64_t k = 0; k < 7040; k++) file.data[file.count - 7040 + k] = (unsigned char)(k * k % 59);
    FILE *out = fopen(scratch("layer.gguf"), "wb");
    assert_true(out && fwrite(file.data, 1, (size_t)file.count, out) == (size_t)file.count && fclose(out) == 0);
    free(file.data);
    wk_module *net = wk_nn_pretrained(scratch("layer.gguf"), .quantized = true);
    wk_module *floats = wk_nn_pretrained(scratch("layer.gguf"));
    expect_ok();
    static const char *const names[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.o_proj", "mlp.down_proj"};
    for (int k = 0; k < 4; k++) {
        char weight[80], blocks[90];
        snprintf(weight, sizeof weight, "model.layers.0.%s.weight", names[k]);
        snprintf(blocks, sizeof blocks, "%s_q8_0", weight);
        expect_same_bits(wk_dequantize(wk_module_buffer(net, blocks)), wk_module_parameter(floats, weight), names[k]);
    }
    static const char v[] = "model.layers.0.self_attn.v_proj.weight";
    expect_same_bits(wk_module_parameter(net, v), wk_module_parameter(floats, v), "v_proj");
    expect_ok();
}

/* Returns the greatest number of bytes in use while the model is read. */
static int64_t peak_of_reading(bool quantized)
{
    WK_SCOPE;
    wk_memory_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    wk_sync();
    wk_memory_reset_peak(wk_cpu());
    wk_memory_stats_of(wk_cpu(), &before);
    wk_module *net = wk_nn_pretrained(fixture("qwen2.gguf"), .dtype = WK_F32, .quantized = quantized);
    assert_non_null(net);
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &after);
    return after.peak - before.live;
}

/* Matrices of the layers are never in memory as floats; the embedding is. If each op runs at once, so are initial
 * values, which are not used. */
static void blocks_need_less_memory(void **state)
{
    (void)state;
    if (wk__engine_config_get()->sync) skip();
    const int64_t floats = peak_of_reading(false), blocks = peak_of_reading(true);
    if (blocks > floats / 2) fail_msg("%lld bytes, %lld as floats", (long long)blocks, (long long)floats);
    expect_ok();
}

/* Returns the number of mappings of a file that has this end of its path. */
static int mappings(const char *end)
{
    char line[4096];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) count += strstr(line, end) != NULL;
    fclose(maps);
    return count;
}

static bool is_pending(const wk_tensor *x)
{
    return wk__body_of(x)->storage->value->state == WK__PENDING;
}

/* Weights in the pages of the file need little other memory and give the same scores. Calls on them are recorded like
 * those on other weights, although the memory is not the arena's. Changing one changes no file. */
static void weights_are_mapped(void **state)
{
    (void)state;
    static const char norm[] = "model.norm.weight";
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *ids = wk_of(int64_t, (1, 4), 3, 1, 4, 1);
    wk_module *read = wk_nn_pretrained(fixture("qwen2.gguf"), .quantized = true);
    wk_memory_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &before);
    {
        WK_SCOPE;
        wk_module *net = wk_nn_pretrained(fixture("qwen2.gguf"), .quantized = true, .mmap = true);
        wk_sync();
        wk_memory_stats_of(wk_cpu(), &after);
        assert_in_range(after.live - before.live, 0, before.live / 4); /* the embedding, which becomes floats */
        assert_int_equal(mappings("qwen2.gguf"), 1);
        expect_same_bits(wk_forward(net, ids), wk_forward(read, ids), "scores");
        wk_tensor *weight = wk_module_parameter(net, norm), *sum = wk_add(weight, 0.5);
        wk_tensor *expected = wk_add(wk_module_parameter(read, norm), 0.5);
        assert_int_equal(is_pending(sum), is_pending(expected)); /* false if WICK_EAGER is set */
        float *address = wk_data(weight);                        /* the page of the file, until it is changed */
        wk_add_(weight, 1);
        wk_sync();
        address[0] += 1;
        expect_same_bits(sum, expected, "a value recorded before");
        expect_same_bits(wk_module_parameter(wk_nn_pretrained(fixture("qwen2.gguf")), norm),
                         wk_module_parameter(read, norm), "the file");
        assert_true(wk_item(wk_sum(wk_sub(weight, wk_module_parameter(read, norm)))) == 33);
    }
    assert_int_equal(mappings("qwen2.gguf"), 0);
    expect_ok();
}

/* A model saved in the other format gives the same scores. */
static void safetensors_of_the_model_are_equal(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char config[] =
        "{\"model_type\": \"llama\", \"vocab_size\": 40, \"hidden_size\": 32, \"intermediate_size\": 32, "
        "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 2, "
        "\"max_position_embeddings\": 64, \"rms_norm_eps\": 1e-5, \"rope_theta\": 500000, \"rope_scaling\": "
        "{\"rope_type\": \"llama3\", \"factor\": 8, \"original_max_position_embeddings\": 8192}}";
    char path[4200];
    wk_module *net = wk_nn_pretrained(fixture("llama.gguf"), .dtype = WK_F32);
    mkdir(scratch("model"), 0700);
    snprintf(path, sizeof path, "%s/model.safetensors", scratch("model"));
    assert_int_equal(wk_save(net, path), WK_OK);
    put_below(scratch("model"), "/config.json", config);
    wk_tensor *ids = expected("llama", "ids");
    wk_tensor *y = wk_forward(wk_nn_pretrained(scratch("model")), ids);
    expect_same_bits(y, wk_forward(net, ids), "scores");
    expect_ok();
}

/* Returns how many tokens follow row 0 of the ids. */
static int64_t tokens_after(const char *model, wk_module *net, int64_t most)
{
    wk_tensor *ids = wk_narrow(expected(model, "ids"), 0, 0, 1);
    return wk_size(wk_generate(net, ids, .max_new_tokens = most), 1) - wk_size(ids, 1);
}

static void texts_end_at_the_token_of_the_file(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_int_equal(tokens_after("llama", wk_nn_pretrained(fixture("llama.gguf"), .dtype = WK_F32), 3), 1);
    assert_int_equal(tokens_after("qwen2", wk_nn_pretrained(fixture("qwen2.gguf")), 3), 3);
    expect_ok();
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* A file of this program: strings with lengths and numbers, little-endian. */
typedef struct writer {
    unsigned char data[8192];
    size_t count;
} writer;

static void put(writer *w, uint64_t value, int bytes)
{
    for (int k = 0; k < bytes; k++) w->data[w->count++] = (unsigned char)(value >> 8 * k);
}

static void put_string(writer *w, const char *string)
{
    put(w, strlen(string), 8);
    memcpy(w->data + w->count, string, strlen(string));
    w->count += strlen(string);
}

static void put_text(writer *w, const char *key, const char *value)
{
    put_string(w, key);
    put(w, 8, 4);
    put_string(w, value);
}

static void put_f32(writer *w, const char *key, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_string(w, key);
    put(w, 6, 4);
    put(w, bits, 4);
}

static void put_u32(writer *w, const char *key, uint32_t value)
{
    put_string(w, key);
    put(w, 4, 4);
    put(w, value, 4);
}

/* A pair that is added to, or replaces one of, those of a valid model. */
typedef struct changed {
    const char *key;
    uint32_t number;
    const char *text; /* NULL: the number */
    const char *why;  /* in the error */
    wk_code code;
} changed;

static void put_pair(writer *w, uint64_t *pairs, const changed *c, const char *key, uint32_t value)
{
    if (strcmp(c->key, key) == 0) return;
    put_u32(w, key, value);
    ++*pairs;
}

/* Writes a model without layers but with this pair. */
static const char *write_changed(const changed *c)
{
    writer w = {.count = 24};
    uint64_t pairs = 2;
    put_text(&w, "general.architecture", strcmp(c->key, "general.architecture") == 0 ? c->text : "llama");
    put_f32(&w, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    put_pair(&w, &pairs, c, "llama.block_count", 1);
    put_pair(&w, &pairs, c, "llama.embedding_length", 32);
    put_pair(&w, &pairs, c, "llama.feed_forward_length", 32);
    put_pair(&w, &pairs, c, "llama.attention.head_count", 4);
    put_pair(&w, &pairs, c, "llama.context_length", 64);
    if (strcmp(c->key, "general.architecture") != 0) {
        if (c->text)
            put_text(&w, c->key, c->text);
        else
            put_u32(&w, c->key, c->number);
        pairs++;
    }
    put_string(&w, "token_embd.weight");
    put(&w, 2, 4);
    put(&w, 32, 8);
    put(&w, 5, 8);
    put(&w, 8, 4); /* Q8_0 */
    put(&w, 0, 8);
    w.count = (w.count + 31) / 32 * 32 + 5 * 34;
    memcpy(w.data, "GGUF\3\0\0\0\1\0\0\0\0\0\0\0", 16);
    for (int k = 0; k < 8; k++) w.data[16 + k] = (unsigned char)(pairs >> 8 * k);
    const char *path = scratch("changed.gguf");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(w.data, 1, w.count, file), w.count);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void other_models_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    static const changed all[] = {
        {"test", 0, NULL, "the metadata describes 7328 numbers, the files have 160", WK_ERR_SHAPE}, /* valid */
        {"llama.attention.key_length", 16, NULL, "the metadata describes 11424 numbers", WK_ERR_SHAPE},
        {"llama.attention.head_count_kv", 1, NULL, "the metadata describes 5792 numbers", WK_ERR_SHAPE},
        {"llama.block_count", 4294967295, NULL, "the metadata describes 30786325570720 numbers", WK_ERR_SHAPE},
        {"llama.embedding_length", 64, NULL, "the metadata describes ", WK_ERR_SHAPE},
        {"general.architecture", 0, "qwen3", "unknown general.architecture \"qwen3\"", WK_ERR_UNSUPPORTED},
        {"split.count", 2, NULL, "one of 2 parts of a model", WK_ERR_UNSUPPORTED},
        {"llama.block_count", 0, NULL, "\"llama.block_count\" is missing or invalid; expected an integer",
         WK_ERR_FORMAT},
        {"llama.block_count", 0, "[1,2]", "\"llama.block_count\" is missing or invalid", WK_ERR_FORMAT},
        {"llama.attention.head_count_kv", 0, "[2,2]", "\"llama.attention.head_count_kv\" is mi", WK_ERR_FORMAT},
        {"llama.context_length", 0, "1.5", "\"llama.context_length\" is missing or invalid", WK_ERR_FORMAT},
        {"llama.rope.freq_base", 0, "nan", "\"llama.rope.freq_base\" is missing or invalid", WK_ERR_FORMAT},
        {"llama.rope.dimension_count", 4, NULL, "\"llama.rope.dimension_count\" of 4", WK_ERR_UNSUPPORTED},
        {"llama.attention.value_length", 9, NULL, "\"llama.attention.value_length\" of 9", WK_ERR_UNSUPPORTED},
        {"llama.expert_count", 8, NULL, "\"llama.expert_count\" of 8 is not supported; exp", WK_ERR_UNSUPPORTED},
        {"llama.attention.sliding_window", 32, NULL, "\"llama.attention.sliding_window\"", WK_ERR_UNSUPPORTED},
        {"llama.rope.scale_linear", 2, NULL, "\"llama.rope.scale_linear\" of 2", WK_ERR_UNSUPPORTED},
        {"llama.rope.scaling.type", 0, "yarn", "\"llama.rope.scaling.type\" of yarn", WK_ERR_UNSUPPORTED},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        assert_null(wk_nn_pretrained(write_changed(&all[k])));
        if (wk_error_code() != all[k].code) fail_msg("%s: code %d: %s", all[k].key, wk_error_code(), wk_error());
        expect_error("", all[k].why, NULL);
    }
    assert_null(wk_nn_pretrained(fixture("types.safetensors")));
    expect_error("nn_pretrained: ", "types.safetensors: not a GGUF file; pass the folder of config.json", NULL);
}

/* Copies llama.gguf with `bytes` bytes at a distance from the name of rope_freqs.weight changed, or, with distance -1,
 * those that equal `before`. */
static const char *write_frequencies(const void *before, int64_t distance, const void *after, size_t bytes)
{
    static const char name[] = "rope_freqs.weight";
    static char content[1 << 16];
    FILE *file = fopen(fixture("llama.gguf"), "rb");
    assert_non_null(file);
    const size_t count = fread(content, 1, sizeof content, file);
    assert_int_equal(fclose(file), 0);
    char *at = before ? memmem(content, count, before, bytes) : memmem(content, count, name, strlen(name));
    assert_non_null(at);
    memcpy(at + (before ? 0 : distance), after, bytes);
    const char *path = scratch("frequencies.gguf");
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void other_frequencies_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { TYPE_AT = 17 + 4 + 8, I32 = 26 };
    float before[4], after[4];
    wk_tensor *quotients = wk_load_tensor(fixture("llama.gguf"), "rope_freqs.weight");
    assert_int_equal(wk_numel(quotients), 4);
    memcpy(before, wk_data(quotients), sizeof before);
    for (int k = 0; k < 4; k++) {
        memcpy(after, before, sizeof after);
        after[k] *= k == 3 ? -1.0f : 1.001f;
        assert_null(wk_nn_pretrained(write_frequencies(before, 0, after, sizeof after)));
        assert_int_equal(wk_error_code(), WK_ERR_UNSUPPORTED);
        expect_error("the frequencies of \"rope_freqs.weight\" are not supported; expected those of Llama 3.1", NULL);
    }
    assert_null(wk_nn_pretrained(write_frequencies(NULL, TYPE_AT, (char[]){I32}, 1)));
    assert_int_equal(wk_error_code(), WK_ERR_FORMAT);
    expect_error("\"rope_freqs.weight\" must be F32[4]", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_have_the_bits_of_the_reference),
        cmocka_unit_test(unsupported_types_are_named),
        cmocka_unit_test(networks_are_loaded),
        cmocka_unit_test(metadata_become_texts),
        cmocka_unit_test(tensors_are_listed),
        cmocka_unit_test(models_have_the_scores_of_transformers),
        cmocka_unit_test(blocks_stay_as_they_are),
        cmocka_unit_test(rows_of_blocks_are_reordered),
        cmocka_unit_test(blocks_need_less_memory),
        cmocka_unit_test(weights_are_mapped),
        cmocka_unit_test(safetensors_of_the_model_are_equal),
        cmocka_unit_test(texts_end_at_the_token_of_the_file),
        cmocka_unit_test(other_models_are_refused),
        cmocka_unit_test(other_frequencies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
