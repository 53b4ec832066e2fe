/* SPDX-License-Identifier: Apache-2.0 */
/* Tests language models and their caches: decoding in steps, padding, beams, training, initial values, messages.
 * tests/io/pretrained.c compares their scores with those of transformers. */
#include "support/wick.h"

#include <math.h>

enum { VOCAB = 23, BATCH = 2, LENGTH = 9, PADDING = 3, MODELS = 3 };

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* GPT-2; Llama with grouped queries and scaled frequencies; Qwen2 with a tied head. */
static wk_module *create(int model, wk_dtype dtype)
{
    wk_seed(7);
    if (model == 0)
        return wk_nn_gpt(.vocab_size = VOCAB, .n_positions = 16, .n_embd = 12, .n_layer = 2, .n_head = 3,
                         .dtype = dtype);
    return wk_nn_llama(.vocab_size = VOCAB, .hidden_size = 12, .intermediate_size = 20, .num_hidden_layers = 2,
                       .num_attention_heads = 4, .num_key_value_heads = 2, .head_dim = 6, .max_position_embeddings = 16,
                       .rope_factor = model == 1 ? 4 : 0, .rope_original_positions = 8,
                       .tie_word_embeddings = model == 2, .attention_bias = model == 2, .dtype = dtype);
}

/* Adds noise to all parameters, so that no part of a model computes nearly nothing. */
static wk_module *with_noise(wk_module *net)
{
    WK_NO_GRAD;
    wk_tensors *list = wk_parameters(net);
    for (int k = 0; k < wk_tensors_count(list); k++) {
        wk_tensor *x = wk_tensors_get(list, k);
        wk_copy_(x, wk_add(x, wk_mul(wk_randn_like(x), 0.3)));
    }
    return net;
}

static wk_tensor *some_ids(int64_t batch, int64_t length)
{
    return wk_remainder(wk_mul(wk_reshape(wk_arange(batch * length, .dtype = WK_I64), (batch, length)), 7), VOCAB);
}

static void expect_near(wk_tensor *a, wk_tensor *b, double tolerance)
{
    assert_non_null(a);
    assert_non_null(b);
    const double difference = wk_item(wk_amax(wk_abs(wk_sub(a, b))));
    if (!(difference <= tolerance)) fail_msg("they differ by %g", difference);
}

/* Calls body(net) for each model, in f64 and evaluation mode. */
static void for_each_model(void (*body)(wk_module *net))
{
    for (int k = 0; k < MODELS; k++) {
        WK_SCOPE;
        wk_module *net = with_noise(create(k, WK_F64));
        body(wk_module_train(net, false));
        expect_ok();
    }
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

/* Several ids, several that follow, then single ones. */
static void check_steps(wk_module *net)
{
    static const int lengths[] = {3, 2, 1, 1, 2};
    wk_tensor *ids = some_ids(BATCH, LENGTH), *all = wk_forward(net, ids);
    wk_kv_cache *cache = wk_kv_cache_new(net, BATCH, LENGTH);
    EXPECT_SHAPE(all, BATCH, LENGTH, VOCAB);
    assert_int_equal(wk_kv_cache_capacity(cache), LENGTH);
    int64_t at = 0;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; at += lengths[k++]) {
        wk_tensor *scores = wk_decode(net, wk_narrow(ids, 1, at, lengths[k]), cache);
        expect_near(scores, wk_narrow(all, 1, at, lengths[k]), 1e-12);
        assert_false(wk_requires_grad(scores));
        assert_int_equal(wk_kv_cache_length(cache), at + lengths[k]);
    }
    assert_null(wk_decode(net, wk_narrow(ids, 1, 0, 1), cache));
    expect_error("decode: 1 ids exceed the 0 positions that the cache has left; create a larger one", NULL);
}

static void steps_equal_a_single_call(void **state)
{
    (void)state;
    for_each_model(check_steps);
}

static wk_tensor *mask_of(int64_t length)
{
    wk_tensor *mask = wk_ones((BATCH, length), .dtype = WK_BOOL);
    wk_fill_(wk_narrow(wk_select(mask, 0, 1), 0, 0, PADDING), 0);
    return mask;
}

/* Row 1 has padding before its tokens; its scores are those of the tokens alone. */
static void check_padding(wk_module *net)
{
    wk_tensor *ids = some_ids(BATCH, LENGTH), *plain = wk_narrow(ids, 0, 0, 1);
    wk_tensor *tokens = wk_narrow(wk_narrow(ids, 0, 1, 1), 1, PADDING, LENGTH - PADDING);
    wk_tensor *first = wk_select(wk_forward(net, plain), 0, 0), *second = wk_select(wk_forward(net, tokens), 0, 0);
    wk_kv_cache *cache = wk_kv_cache_new(net, BATCH, 16);
    wk_tensor *scores = wk_decode(net, wk_narrow(ids, 1, 0, 5), cache, .mask = mask_of(5));
    expect_near(wk_select(scores, 0, 0), wk_narrow(first, 0, 0, 5), 1e-12);
    expect_near(wk_narrow(wk_select(scores, 0, 1), 0, PADDING, 2), wk_narrow(second, 0, 0, 2), 1e-12);
    /* with the mask of all positions, and without one */
    scores = wk_decode(net, wk_narrow(ids, 1, 5, 1), cache, .mask = mask_of(6));
    expect_near(wk_select(scores, 0, 1), wk_narrow(second, 0, 2, 1), 1e-12);
    scores = wk_decode(net, wk_narrow(ids, 1, 6, 2), cache);
    expect_near(wk_select(scores, 0, 0), wk_narrow(first, 0, 6, 2), 1e-12);
    expect_near(wk_select(scores, 0, 1), wk_narrow(second, 0, 3, 2), 1e-12);
    /* rows change places with their keys and padding */
    assert_int_equal(wk_kv_cache_reorder(cache, wk_of(int64_t, (2), 1, 1)), WK_OK);
    scores = wk_decode(net, wk_expand(wk_narrow(wk_narrow(ids, 0, 1, 1), 1, 8, 1), (BATCH, 1)), cache);
    for (int row = 0; row < BATCH; row++) expect_near(wk_select(scores, 0, row), wk_narrow(second, 0, 5, 1), 1e-12);
}

/* Row 1 has padding behind its first tokens, and others after that; its scores are those of its tokens alone. */
static void check_padding_between_tokens(wk_module *net)
{
    wk_tensor *ids = some_ids(BATCH, LENGTH), *row = wk_narrow(ids, 0, 1, 1),
              *mask = wk_ones((BATCH, 5), .dtype = WK_BOOL);
    wk_fill_(wk_narrow(wk_select(mask, 0, 1), 0, 2, 3), 0);
    wk_tensor *tokens = wk_cat((wk_narrow(row, 1, 0, 2), wk_narrow(row, 1, 5, LENGTH - 5)), 1);
    wk_tensor *alone = wk_select(wk_forward(net, tokens), 0, 0);
    wk_kv_cache *cache = wk_kv_cache_new(net, BATCH, LENGTH);
    wk_tensor *scores = wk_decode(net, wk_narrow(ids, 1, 0, 5), cache, .mask = mask);
    expect_near(wk_narrow(wk_select(scores, 0, 1), 0, 0, 2), wk_narrow(alone, 0, 0, 2), 1e-12);
    scores = wk_decode(net, wk_narrow(ids, 1, 5, LENGTH - 5), cache);
    expect_near(wk_select(scores, 0, 1), wk_narrow(alone, 0, 2, LENGTH - 5), 1e-12);
}

static void padding_has_no_effect(void **state)
{
    (void)state;
    for_each_model(check_padding);
    for_each_model(check_padding_between_tokens);
}

static void check_kept(wk_module *net)
{
    wk_tensor *ids = some_ids(1, LENGTH), *all = wk_forward(net, ids);
    wk_kv_cache *cache = wk_kv_cache_new(net, 1, LENGTH);
    wk_tensor *scores = wk_decode(net, wk_narrow(ids, 1, 0, 6), cache, .logits_to_keep = 2);
    EXPECT_SHAPE(scores, 1, 2, VOCAB);
    expect_near(scores, wk_narrow(all, 1, 4, 2), 1e-12);
}

static void only_the_last_scores(void **state)
{
    (void)state;
    for_each_model(check_kept);
}

/* In training mode, too, and in another dtype of ids. */
static void decoding_has_no_dropout(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_module_train(with_noise(create(0, WK_F64)), false);
    wk_tensor *ids = some_ids(1, 4), *all = wk_forward(net, ids);
    wk_module_train(net, true);
    wk_tensor *random = wk_forward(net, ids);
    assert_true(wk_item(wk_amax(wk_abs(wk_sub(random, all)))) > 1e-3);
    wk_kv_cache *cache = wk_kv_cache_new(net, 1, 4);
    expect_near(wk_decode(net, wk_to_dtype(ids, WK_I32), cache), all, 1e-12);
    assert_true(wk_module_training(net));
    /* an explicit 0 is not the default */
    net = wk_nn_gpt(.vocab_size = VOCAB, .n_positions = 4, .n_embd = 8, .n_layer = 1, .n_head = 1, .dropout = 0);
    expect_near(wk_forward(net, ids), wk_forward(net, ids), 0);
    expect_ok();
}

/* Any module may replace an MLP. */
static void parts_can_be_replaced(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_module_train(with_noise(create(0, WK_F64)), false);
    wk_tensor *ids = some_ids(1, 4), *before = wk_forward(net, ids);
    assert_non_null(wk_module_replace(net, "transformer.h.1.mlp", wk_nn_linear(12, 12, .dtype = WK_F64)));
    wk_tensor *all = wk_forward(net, ids);
    assert_false(wk_equal(all, before));
    wk_kv_cache *cache = wk_kv_cache_new(net, 1, 4);
    expect_near(wk_decode(net, wk_narrow(ids, 1, 0, 3), cache), wk_narrow(all, 1, 0, 3), 1e-12);
    expect_near(wk_decode(net, wk_narrow(ids, 1, 3, 1), cache), wk_narrow(all, 1, 3, 1), 1e-12);
    expect_ok();
    wk_module_replace(net, "transformer.h", wk_module_slice(wk_module_child(net, "transformer.h"), 0, 1));
    cache = wk_kv_cache_new(net, 1, 4);
    assert_null(wk_decode(net, ids, cache));
    expect_error("decode: the model has 1 blocks, its cache 2 layers", NULL);
}

/* A failed call leaves the cache as it was. */
static void failed_calls_change_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_module_train(with_noise(create(1, WK_F64)), false);
    wk_tensor *ids = some_ids(1, LENGTH), *all = wk_forward(net, ids);
    wk_kv_cache *cache = wk_kv_cache_new(net, 1, LENGTH);
    expect_near(wk_decode(net, wk_narrow(ids, 1, 0, 4), cache), wk_narrow(all, 1, 0, 4), 1e-12);
    assert_null(wk_decode(net, wk_narrow(ids, 1, 4, 1), cache, .mask = wk_ones((1, 3), .dtype = WK_BOOL)));
    expect_error("decode: expected a .mask of dtype bool and shape (1, 5): batch, positions in use + T, got bool[1,3]",
                 NULL);
    assert_int_equal(wk_kv_cache_length(cache), 4);
    expect_near(wk_decode(net, wk_narrow(ids, 1, 4, 5), cache), wk_narrow(all, 1, 4, 5), 1e-12);
    expect_ok();
}

/* The mask of a failed call is not that of the next one. The call fails as its model has fewer positions. */
static void masks_of_failed_calls_are_forgotten(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_module_train(with_noise(create(1, WK_F64)), false);
    wk_module *small = wk_nn_llama(.vocab_size = VOCAB, .hidden_size = 12, .num_hidden_layers = 2,
                                   .num_attention_heads = 4, .num_key_value_heads = 2, .head_dim = 6,
                                   .intermediate_size = 20, .max_position_embeddings = 4, .dtype = WK_F64);
    wk_tensor *ids = some_ids(1, 6), *all = wk_forward(net, wk_narrow(ids, 1, 1, 5));
    wk_kv_cache *cache = wk_kv_cache_new(net, 1, 6);
    wk_tensor *mask = wk_ne(wk_reshape(wk_arange(4), (1, 4)), 0);
    expect_near(wk_narrow(wk_decode(net, wk_narrow(ids, 1, 0, 4), cache, .mask = mask), 1, 1, 3),
                wk_narrow(all, 1, 0, 3), 1e-12);
    mask = wk_cat((mask, wk_zeros((1, 2), .dtype = WK_BOOL)), 1);
    assert_null(wk_decode(small, wk_narrow(ids, 1, 4, 2), cache, .mask = mask));
    expect_error("a sequence of 6 ids exceeds the 4 positions of the model", NULL);
    expect_near(wk_decode(net, wk_narrow(ids, 1, 4, 2), cache), wk_narrow(all, 1, 3, 2), 1e-12);
    expect_ok();
}

/* A step does not copy the keys of earlier positions: it allocates less memory than they take. In mode WICK_EAGER each
 * call that writes into a view copies the tensor. */
static void a_step_copies_no_old_positions(void **state)
{
    (void)state;
    if (getenv("WICK_EAGER")) skip();
    WK_SCOPE;
    enum { CAPACITY = 512, USED = 500, FEATURES = 64 };
    const wk_device cpu = wk_device_parse("cpu");
    wk_module *net = wk_nn_gpt(.vocab_size = VOCAB, .n_positions = CAPACITY, .n_embd = FEATURES, .n_layer = 1,
                               .n_head = 1, .device = cpu);
    wk_kv_cache *cache = wk_kv_cache_new(net, 1, CAPACITY);
    wk_tensor *id = wk_zeros((1, 1), .dtype = WK_I64, .device = cpu);
    assert_non_null(wk_decode(net, wk_zeros((1, USED), .dtype = WK_I64, .device = cpu), cache));
    assert_int_equal(wk_sync(), WK_OK);
    wk_memory_stats before = {.size = sizeof before}, after = {.size = sizeof after};
    assert_int_equal(wk_memory_reset_peak(cpu), WK_OK);
    assert_int_equal(wk_memory_stats_of(cpu, &before), WK_OK);
    wk_item(wk_amax(wk_decode(net, id, cache)));
    assert_int_equal(wk_memory_stats_of(cpu, &after), WK_OK);
    assert_true(after.peak - before.live < USED * FEATURES * 4);
    expect_ok();
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static double loss_after(wk_module *net, int steps)
{
    wk_tensor *text = some_ids(BATCH, LENGTH + 1);
    wk_tensor *x = wk_narrow(text, 1, 0, LENGTH), *y = wk_flatten(wk_narrow(text, 1, 1, LENGTH), 0);
    wk_optim *adam = wk_optim_adamw(wk_parameters(net), .lr = 3e-3);
    for (int k = 0;; k++) {
        wk_tensor *loss = wk_cross_entropy(wk_flatten(wk_forward(net, x), 0, 1), y);
        if (k == steps) return wk_item(loss);
        wk_optim_zero_grad(adam);
        wk_backward(loss);
        wk_optim_step(adam);
    }
}

static void training_lowers_the_loss(void **state)
{
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        WK_SCOPE;
        wk_module *net = create(k, WK_F32);
        const double before = loss_after(net, 0), after = loss_after(net, 25);
        expect_ok();
        if (fabs(before - log(VOCAB)) > 0.2 || !(after < before - 0.3))
            fail_msg("model %d: loss %g, then %g", k, before, after);
    }
}

/* All parameters get gradients, the tied embedding also from the head: rows of ids that do not occur. */
static void check_gradients(wk_module *net)
{
    wk_tensor *ids = wk_zeros((1, 4), .dtype = WK_I64);
    assert_int_equal(wk_backward(wk_sum(wk_square(wk_forward(net, ids)))), WK_OK);
    wk_tensors *list = wk_parameters(net);
    for (int k = 0; k < wk_tensors_count(list); k++)
        if (!wk_grad_of(wk_tensors_get(list, k))) fail_msg("%s has no gradient", wk_tensors_name(list, k));
    if (wk_tensors_find(list, "lm_head.weight")) return;
    wk_tensor *grad = wk_grad_of(wk_tensors_get(list, 0));
    assert_true(wk_item(wk_amin(wk_amax(wk_abs(grad), (1)))) > 0);
}

static void all_parameters_have_gradients(void **state)
{
    (void)state;
    for_each_model(check_gradients);
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static void expect_deviation(wk_module *net, const char *path, double expected)
{
    const double got = wk_item(wk_std(wk_module_parameter(net, path)));
    if (!(fabs(got / expected - 1) < 0.05)) fail_msg("%s: deviation %g, expected %g", path, got, expected);
}

static void initial_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(1);
    wk_module *gpt =
        wk_nn_gpt(.vocab_size = 100, .n_positions = 50, .n_embd = 96, .n_layer = 2, .n_head = 3, .untied = true);
    expect_deviation(gpt, "transformer.wte.weight", 0.02);
    expect_deviation(gpt, "transformer.wpe.weight", 0.02);
    expect_deviation(gpt, "transformer.h.1.attn.c_attn.weight", 0.02);
    expect_deviation(gpt, "transformer.h.1.mlp.c_proj.weight", 0.01);
    expect_deviation(gpt, "transformer.h.0.attn.c_proj.weight", 0.01);
    expect_deviation(gpt, "lm_head.weight", 0.02);
    EXPECT_SHAPE(wk_module_parameter(gpt, "transformer.h.0.mlp.c_fc.weight"), 96, 384);
    assert_true(wk_item(wk_amax(wk_abs(wk_module_parameter(gpt, "transformer.h.0.mlp.c_fc.bias")))) == 0);
    wk_module *qwen2 = wk_nn_llama(.vocab_size = 100, .hidden_size = 96, .intermediate_size = 100,
                                   .num_hidden_layers = 1, .num_attention_heads = 4, .attention_bias = true);
    expect_deviation(qwen2, "model.embed_tokens.weight", 0.02);
    expect_deviation(qwen2, "model.layers.0.self_attn.k_proj.weight", 0.02);
    assert_true(wk_item(wk_amax(wk_abs(wk_module_parameter(qwen2, "model.layers.0.self_attn.k_proj.bias")))) == 0);
    expect_ok();
}

/* Defaults are those of GPT-2 with 124 million parameters, and of Llama with 7 billion. */
static void default_sizes(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_int_equal(wk_parameter_count(wk_nn_gpt(.device = test_null())), 124439808);
    assert_int_equal(wk_parameter_count(wk_nn_llama(.num_hidden_layers = 1, .device = test_null())),
                     262144000 + 202375168 + 3 * 4096);
    expect_ok();
}

/* The body and its layers can be called by themselves. */
static void parts_can_be_called(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_module_train(with_noise(create(1, WK_F64)), false), *body = wk_module_child(net, "model");
    wk_tensor *ids = some_ids(BATCH, 5), *x = wk_forward(wk_module_child(body, "embed_tokens"), ids);
    for (int k = 0; k < 2; k++) x = wk_forward(wk_module_child_by_index(wk_module_child(body, "layers"), k), x);
    expect_near(wk_forward(wk_module_child(body, "norm"), x), wk_forward(body, ids), 1e-12);
    x = wk_forward(wk_module_child(net, "lm_head"), wk_forward(body, ids));
    expect_near(x, wk_forward(net, ids), 1e-12);
    expect_ok();
}

static void models_as_text(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *gpt = wk_module_str(create(0, WK_F32)), *llama = wk_module_str(create(1, WK_F32));
    static const char *const of_gpt[] = {"GPT2LMHeadModel(", "(h): ModuleList(\n      (0-1): 2 x GPT2Block(",
                                         "(c_attn): Conv1D(nf=36, nx=12)", "(mlp): GPT2MLP("};
    static const char *const of_llama[] = {"LlamaForCausalLM(", "2 x LlamaDecoderLayer(",
                                           "(k_proj): Linear(in_features=12, out_features=12, bias=False)",
                                           "(mlp): LlamaMLP("};
    for (int k = 0; k < 4; k++) assert_true(strstr(gpt, of_gpt[k]) && strstr(llama, of_llama[k]));
    const wk_summary_row *const *rows = wk_summary_rows(create(0, WK_F32), (1, 4), .dtype = WK_I64);
    assert_non_null(rows);
    assert_int_equal(rows[0]->parameters, wk_parameter_count(create(0, WK_F32)));
    expect_ok();
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

#define REFUSES(call, ...)                                                                                             \
    do {                                                                                                               \
        const bool made = (call) != NULL;                                                                              \
        assert_false(made);                                                                                            \
        expect_error(__VA_ARGS__, NULL);                                                                               \
    } while (0)

static void options_are_checked(void **state)
{
    (void)state;
    WK_SCOPE;
    REFUSES(wk_nn_gpt(.n_layer = -1), "nn_gpt: .n_layer must be at least 1, got -1");
    REFUSES(wk_nn_gpt(.vocab_size = -1), "nn_gpt: .vocab_size must be at least 1, got -1");
    REFUSES(wk_nn_gpt(.n_embd = 10, .n_head = 3), "nn_gpt: .n_embd must be a multiple of .n_head, got 10 and 3");
    REFUSES(wk_nn_gpt(.dropout = 2), "nn_gpt: .dropout must be in [0, 1], got 2");
    REFUSES(wk_nn_llama(.num_attention_heads = 4, .num_key_value_heads = 3),
            "nn_llama: .num_attention_heads must be a multiple of .num_key_value_heads, got 4 and 3");
    REFUSES(wk_nn_llama(.head_dim = 5), "nn_llama: .head_dim must be even and at least 2, got 5");
    REFUSES(wk_nn_llama(.head_dim = INT64_MAX - 1), "nn_llama: .num_attention_heads times .head_dim exceeds 2^63");
    REFUSES(wk_nn_llama(.rope_theta = 0), "nn_llama: .rope_theta must be greater than 0, got 0");
    REFUSES(wk_nn_llama(.rope_factor = -1), "nn_llama: .rope_factor must be at least 0, got -1");
    REFUSES(wk_nn_llama(.rope_low_freq_factor = 4),
            "nn_llama: .rope_low_freq_factor must be below .rope_high_freq_factor, got 4 and 4");
}

static void expect_other_sizes(wk_module *net, wk_tensor *ids, wk_kv_cache *cache)
{
    REFUSES(
        wk_decode(net, ids, cache),
        "decode: the cache belongs to a model of other sizes: 7 tokens, 1 layers, 2 heads of 4 features; this model "
        "has ",
        "; create the cache of this model with wk_kv_cache_new(net, 1, 2)");
}

/* Each model differs from the first in one size that a cache depends on. */
static void a_cache_belongs_to_the_sizes_of_a_model(void **state)
{
    (void)state;
    WK_SCOPE;
    static const struct {
        int64_t vocab, layers, kv_heads, head_dim;
    } sizes[] = {{7, 1, 2, 4}, {8, 1, 2, 4}, {7, 2, 2, 4}, {7, 1, 1, 4}, {7, 1, 2, 6}};
    wk_tensor *ids = wk_zeros((1, 1), .dtype = WK_I64);
    wk_kv_cache *cache = NULL;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        wk_module *net = wk_nn_llama(.vocab_size = sizes[k].vocab, .num_hidden_layers = sizes[k].layers,
                                     .num_key_value_heads = sizes[k].kv_heads, .head_dim = sizes[k].head_dim,
                                     .num_attention_heads = 2, .hidden_size = 8, .intermediate_size = 8);
        if (cache) expect_other_sizes(net, ids, cache);
        if (!cache) cache = wk_kv_cache_new(net, 1, 2);
    }
    assert_non_null(cache);
    assert_int_equal(wk_kv_cache_length(cache), 0);
}

/* A cache has the kind and dtype of the model for which it was created. */
static void a_cache_belongs_to_a_kind_and_dtype(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *gpt = wk_nn_gpt(.vocab_size = 7, .n_positions = 8, .n_embd = 8, .n_layer = 1, .n_head = 2);
    wk_module *llama = wk_nn_llama(.vocab_size = 7, .hidden_size = 8, .intermediate_size = 8, .num_hidden_layers = 1,
                                   .num_attention_heads = 2, .max_position_embeddings = 8);
    wk_tensor *ids = wk_zeros((2, 1), .dtype = WK_I64);
    wk_kv_cache *cache = wk_kv_cache_new(gpt, 2, 4);
    REFUSES(
        wk_decode(llama, ids, cache),
        "decode: the cache belongs to a gpt2_lm_head_model, the model is a llama_for_causal_lm; create the cache of "
        "this model with wk_kv_cache_new(net, 2, 4)");
    wk_module_to_dtype(gpt, WK_BF16);
    REFUSES(wk_decode(gpt, ids, cache),
            "decode: the cache has dtype f32 on cpu, keys and values of the model are bf16 on cpu; "
            "create the cache of this model with wk_kv_cache_new(net, 2, 4)");
    assert_int_equal(wk_kv_cache_length(cache), 0);
    assert_non_null(wk_decode(gpt, ids, wk_kv_cache_new(gpt, 2, 4)));
    expect_ok();
}

static void tokens_are_checked(void **state)
{
    (void)state;
    WK_SCOPE;
    for (int k = 0; k < MODELS; k++) {
        wk_module *net = create(k, WK_F32);
        wk_kv_cache *cache = wk_kv_cache_new(net, 1, 4);
        wk_tensor *large = wk_of(int32_t, (1, 2), 1, VOCAB), *negative = wk_of(int64_t, (1, 2), 1, -1);
        REFUSES(wk_forward(net, large), "is not in the model, which has ",
                "encode texts with the vocabulary of this model");
        REFUSES(wk_forward(net, negative), "token -1 is negative; use a token of the vocabulary, for padding as well");
        REFUSES(wk_decode(net, large, cache), "decode: token ", "is not in the model, which has ");
        REFUSES(wk_decode(net, negative, cache), "decode: token -1 is negative");
        assert_int_equal(wk_kv_cache_length(cache), 0);
    }
    wk_module *net = create(0, WK_F32),
              *table = wk_nn_embedding(VOCAB + 1, wk_size(wk_module_parameter(net, "transformer.wte.weight"), 1));
    wk_module_replace(net, "transformer.wte", table); /* then the model has one more token */
    assert_non_null(wk_forward(net, wk_of(int64_t, (1, 2), 1, VOCAB)));
    expect_ok();
}

static void calls_are_checked(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = create(0, WK_F32), *other = create(1, WK_F32), *linear = wk_nn_linear(2, 2);
    REFUSES(wk_forward(net, some_ids(1, 17)), "gpt: a sequence of 17 ids exceeds the 16 positions of the model");
    REFUSES(wk_forward(other, wk_zeros((2), .dtype = WK_I64)),
            "expected ids (B, T) or features (B, T, n), got i64[2]; use wk_unsqueeze(ids, 0) for one row");
    REFUSES(wk_forward(other, wk_zeros((2, 2, 2), .dtype = WK_I64)),
            "llama: expected ids (B, T) of dtype i64 or i32, got i64[2,2,2]");
    REFUSES(wk_forward(other, wk_zeros((2, 2))),
            "llama: expected ids (B, T) of dtype i64 or i32, got f32[2,2]; convert them: wk_to_dtype(ids, WK_I64)");
    REFUSES(wk_kv_cache_new(linear, 1, 4),
            "kv_cache_new: expected a model of wk_nn_gpt, wk_nn_llama or wk_nn_pretrained, got a linear");
    REFUSES(wk_kv_cache_new(net, 0, 4), "kv_cache_new: batch must be at least 1, got 0");
    REFUSES(wk_kv_cache_new(net, 1, 17), "kv_cache_new: capacity must be in [1, 16], the positions of the model");
    wk_kv_cache *cache = wk_kv_cache_new(net, 2, 4);
    wk_tensor *ids = some_ids(2, 3);
    REFUSES(wk_decode(linear, ids, cache), "decode: expected a model of wk_nn_gpt");
    REFUSES(wk_decode(other, ids, cache), "decode: the cache belongs to a gpt2_lm_head_model");
    REFUSES(wk_decode(net, ids, cache, .mask = wk_reshape(wk_ones((2, 3)), (7))), "reshape");
    REFUSES(wk_decode(net, ids, NULL), "decode: the cache is NULL");
    REFUSES(wk_decode(net, some_ids(1, 3), cache),
            "decode: the cache is for ids of shape (2, T), got i64[1,3]; create a cache for these rows: "
            "wk_kv_cache_new(net, 1, 4)");
    REFUSES(wk_decode(net, wk_zeros((2, 0), .dtype = WK_I64), cache),
            "decode: expected ids (2, T) of dtype i64 or i32, with T at least 1, got i64[2,0]");
    REFUSES(wk_decode(net, some_ids(2, 5), cache), "decode: 5 ids exceed the 4 positions that the cache has left; "
                                                   "create a larger one: wk_kv_cache_new(net, 2, 5)");
    REFUSES(wk_decode(net, some_ids(2, 17), cache),
            "decode: 17 ids exceed the 4 positions that the cache has left; the model has 16 positions");
    REFUSES(wk_decode(net, wk_zeros((2, 3)), cache), "decode: expected ids (2, T) of dtype i64 or i32, with T at least "
                                                     "1, got f32[2,3]; convert them: wk_to_dtype(ids, WK_I64)");
    REFUSES(wk_decode(net, ids, cache, .mask = wk_ones((2, 3))),
            "decode: expected a .mask of dtype bool and shape (2, 3): batch, positions in use + T, got f32[2,3]; "
            "convert it: wk_to_dtype(mask, WK_BOOL)");
    REFUSES(wk_decode(net, ids, cache, .logits_to_keep = 4), "decode: .logits_to_keep must be in [0, 3], got 4");
    assert_int_equal(wk_kv_cache_reorder(cache, wk_zeros((3), .dtype = WK_I64)), WK_ERR_SHAPE);
    expect_error("kv_cache_reorder: expected rows of shape (2), one for each row of the cache, got i64[3]", NULL);
    assert_int_equal(wk_kv_cache_reorder(cache, wk_zeros((2))), WK_ERR_DTYPE);
    expect_error("kv_cache_reorder", NULL);
    assert_int_equal(wk_kv_cache_length(cache), 0);
    assert_int_equal(wk_kv_cache_length(NULL), 0);
    wk_free(cache);
    REFUSES(wk_decode(net, ids, cache), "decode: the cache");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_equal_a_single_call),
        cmocka_unit_test(padding_has_no_effect),
        cmocka_unit_test(only_the_last_scores),
        cmocka_unit_test(decoding_has_no_dropout),
        cmocka_unit_test(parts_can_be_replaced),
        cmocka_unit_test(failed_calls_change_nothing),
        cmocka_unit_test(masks_of_failed_calls_are_forgotten),
        cmocka_unit_test(a_step_copies_no_old_positions),
        cmocka_unit_test(training_lowers_the_loss),
        cmocka_unit_test(all_parameters_have_gradients),
        cmocka_unit_test(initial_values),
        cmocka_unit_test(default_sizes),
        cmocka_unit_test(parts_can_be_called),
        cmocka_unit_test(models_as_text),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(a_cache_belongs_to_the_sizes_of_a_model),
        cmocka_unit_test(a_cache_belongs_to_a_kind_and_dtype),
        cmocka_unit_test(tokens_are_checked),
        cmocka_unit_test(calls_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
