/* SPDX-License-Identifier: Apache-2.0 */
/* Tests BERT against fixtures/bert, which goldens/make_bert.py writes with transformers: names, results and gradients;
 * and initial values, dropout, options and messages. */
#include "base/alloc.h"
#include "support/wick.h"
#include <math.h>

static char path[1000];

static const char *fixture(const char *name)
{
    const char *root = getenv("WICK_SOURCE");
    snprintf(path, sizeof path, "%s/tests/fixtures/bert/%s.safetensors", root ? root : ".", name);
    return path;
}

static wk_tensor *result(const char *name)
{
    return wk_load_tensor(fixture("results"), name);
}

static wk_module *tiny(double dropout)
{
    return wk_nn_bert(.vocab_size = 40, .hidden_size = 16, .num_hidden_layers = 2, .num_attention_heads = 4,
                      .intermediate_size = 24, .max_position_embeddings = 12, .dropout = dropout);
}

static wk_module *loaded(void)
{
    wk_module *m = wk_module_train(tiny(0.1), false);
    assert_int_equal(wk_load(m, fixture("model")), WK_OK); /* with exactly the names of transformers */
    return m;
}

static void expect_close(const char *name, wk_tensor *got)
{
    wk_tensor *expected = result(name);
    if (!wk_allclose(got, expected, .rtol = 1e-4, .atol = 2e-5))
        fail_msg("%s: %s differs by %g", name, wk_describe(got), wk_item(wk_amax(wk_abs(wk_sub(got, expected)))));
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void results_are_those_of_transformers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = loaded();
    wk_tensor *pooled, *ids = result("ids");
    expect_close("alone.hidden", wk_forward_bert(m, ids, .pooled = &pooled));
    expect_close("alone.pooled", pooled);
    expect_close("alone.hidden", wk_forward(m, ids));
    expect_close("alone.hidden", wk_forward_bert(m, wk_to_dtype(ids, WK_I32)));
    wk_tensor *types = result("token_type_ids"), *mask = result("attention_mask"), *out[2];
    assert_int_equal(wk_forward_n(m, (ids, types, mask), out, 2), 2);
    expect_close("masked.hidden", out[0]);
    expect_close("masked.pooled", out[1]);
    const wk_dtype dtypes[] = {WK_BOOL, WK_I64, WK_F32};
    for (int k = 0; k < 3; k++) {
        wk_tensor *as = wk_to_dtype(mask, dtypes[k]);
        expect_close("masked.hidden", wk_forward_bert(m, ids, .token_type_ids = types, .attention_mask = as));
    }
    expect_ok();
}

/* cos(k) of the index of each element, times the element; summed. */
static wk_tensor *weighted(wk_tensor *y)
{
    return wk_sum(wk_mul(wk_flatten(y, 0, -1), wk_cos(wk_arange((double)wk_numel(y)))));
}

static void gradients_are_those_of_transformers(void **state)
{
    (void)state;
    static const char *const names[] = {
        "embeddings.word_embeddings.weight",       "embeddings.token_type_embeddings.weight",
        "embeddings.position_embeddings.weight",   "encoder.layer.0.attention.self.key.weight",
        "encoder.layer.1.output.LayerNorm.weight", "pooler.dense.bias"};
    WK_SCOPE;
    wk_module *m = loaded();
    wk_tensor *pooled, *hidden = wk_forward_bert(m, result("ids"), .token_type_ids = result("token_type_ids"),
                                                 .attention_mask = result("attention_mask"), .pooled = &pooled);
    assert_int_equal(wk_backward(wk_add(weighted(hidden), weighted(pooled))), WK_OK);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char name[100];
        snprintf(name, sizeof name, "grad.%s", names[k]);
        expect_close(name, wk_grad_of(wk_module_parameter(m, names[k])));
    }
    expect_ok();
}

/* What padding contains changes nothing. */
static void padding_is_hidden(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module *m = loaded();
    wk_tensor *ids = result("ids"), *mask = result("attention_mask"), *other = wk_clone(ids);
    wk_fill_(wk_narrow(wk_select(other, 0, 1), 0, 6, 3), 17);
    wk_tensor *a = wk_forward_bert(m, ids, .attention_mask = mask);
    wk_tensor *b = wk_forward_bert(m, other, .attention_mask = mask);
    assert_true(wk_equal(wk_narrow(a, 1, 0, 6), wk_narrow(b, 1, 0, 6)));
    assert_false(wk_allclose(wk_narrow(wk_forward(m, ids), 1, 0, 6), wk_narrow(wk_forward(m, other), 1, 0, 6)));
    expect_ok();
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static void the_defaults_are_bert_base(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_bert(.device = test_null());
    assert_int_equal(wk_parameter_count(m), 109482240);
    EXPECT_SHAPE(wk_module_parameter(m, "encoder.layer.11.intermediate.dense.weight"), 3072, 768);
    EXPECT_SHAPE(wk_module_parameter(m, "embeddings.position_embeddings.weight"), 512, 768);
    const char *text = wk_module_str(m);
    assert_non_null(strstr(text, "BertModel(\n  (embeddings): BertEmbeddings(\n"));
    assert_non_null(strstr(text, "(LayerNorm): LayerNorm((768,), eps=1e-12, "));
    assert_non_null(strstr(text, "(layer): ModuleList(\n      (0-11): 12 x BertLayer(\n"));
    assert_non_null(strstr(text, "(self): BertSelfAttention(\n"));
    assert_non_null(strstr(text, "(output): BertSelfOutput(\n"));
    assert_non_null(strstr(text, "(intermediate_act_fn): GELU"));
    assert_non_null(strstr(text, "(activation): Tanh()\n"));
    expect_ok();
}

static double deviation(wk_module *m, const char *name)
{
    return wk_item(wk_std(wk_module_parameter(m, name)));
}

static void initial_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(1);
    wk_module *m = wk_nn_bert(.vocab_size = 100, .num_hidden_layers = 1);
    const char *const weights[] = {"embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight",
                                   "encoder.layer.0.attention.self.query.weight", "pooler.dense.weight"};
    for (int k = 0; k < 4; k++)
        if (!(fabs(deviation(m, weights[k]) / 0.02 - 1) < 0.03))
            fail_msg("%s: %g", weights[k], deviation(m, weights[k]));
    wk_tensor *words = wk_module_parameter(m, weights[0]);
    assert_true(wk_item(wk_norm(wk_select(words, 0, 0))) == 0 && wk_item(wk_norm(wk_select(words, 0, 1))) > 0);
    assert_true(wk_item(wk_norm(wk_module_parameter(m, "encoder.layer.0.output.dense.bias"))) == 0);
    EXPECT_VALUES(wk_amin(wk_module_parameter(m, "embeddings.LayerNorm.weight")), 0, 1);
    expect_ok();
}

/* In a network for evaluation, each of these modules alone, back in training, makes two calls differ. */
static void dropout(void **state)
{
    (void)state;
    static const char *const paths[] = {"embeddings.dropout", "encoder.layer.0.attention.self",
                                        "encoder.layer.0.attention.output.dropout", "encoder.layer.1.output.dropout"};
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module *m = tiny(0.5);
    wk_tensor *ids = result("ids");
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        wk_module_train(m, false);
        assert_true(wk_item(wk_dist(wk_forward(m, ids), wk_forward(m, ids))) == 0);
        wk_module_train(wk_module_child(m, paths[k]), true);
        if (!(wk_item(wk_dist(wk_forward(m, ids), wk_forward(m, ids))) > 0)) fail_msg("no dropout in %s", paths[k]);
    }
    m = tiny(0);
    assert_true(wk_item(wk_dist(wk_forward(m, ids), wk_forward(m, ids))) == 0);
    expect_ok();
}

/* Within another module the names begin as in files of networks around BERT. */
static void prefix(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *around = wk_nn_sequential();
    wk_module_add(around, "bert", tiny(0.1));
    assert_string_equal(wk_tensors_name(wk_parameters(around), 0), "bert.embeddings.word_embeddings.weight");
    expect_ok();
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void mistakes_of_constructors(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_nn_bert(.vocab_size = -1));
    expect_error("nn_bert: .vocab_size must be at least 1, got -1", NULL);
    assert_null(wk_nn_bert(.num_attention_heads = 7));
    expect_error("nn_bert: .hidden_size must be a multiple of .num_attention_heads, got 768 and 7", NULL);
    assert_null(tiny(2));
    expect_error("[0, 1], got 2", NULL);
    assert_null(wk_nn_bert(.vocab_size = 4, .num_hidden_layers = 1, .layer_norm_eps = -1));
    expect_error("eps", "got -1", NULL);
}

static void mistakes_of_calls(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = tiny(0.1);
    wk_tensor *ids = result("ids"), *pooled = ids, *out[3];
    assert_null(wk_forward(m, wk_select(ids, 0, 0)));
    expect_error("forward: bert_model: expected ids (N, T) of dtype i64 or i32, got i64[9]; use wk_unsqueeze(ids, 0) "
                 "for one row",
                 NULL);
    assert_null(wk_forward_bert(m, ids, .token_type_ids = wk_select(ids, 0, 0), .pooled = &pooled));
    expect_error("bert_model: token_type_ids must have the shape of ids, (2, 9), got i64[9]", NULL);
    assert_null(pooled);
    assert_null(wk_forward_bert(m, ids, .attention_mask = wk_ones((2, 8))));
    expect_error("bert_model: attention_mask must have the shape of ids, (2, 9), got f32[2,8]", NULL);
    assert_null(wk_forward(m, wk_zeros((1, 13), .dtype = WK_I64)));
    expect_error("in layer embeddings (bert_embeddings): a sequence has 13 tokens", "is 12", NULL);
    assert_null(wk_forward(m, wk_ones((1, 3))));
    expect_error(
        "bert_model: expected ids (N, T) of dtype i64 or i32, got f32[1,3]; convert them: wk_to_dtype(ids, WK_I64)",
        NULL);
    assert_null(wk_forward(m, wk_of(int64_t, (1, 2), 1, -1)));
    expect_error("in layer embeddings (bert_embeddings): token -1 is negative", NULL);
    assert_null(wk_forward(m, wk_of(int64_t, (1, 2), 1, 30522)));
    expect_error("in layer embeddings (bert_embeddings): token 30522 is not in the model, which has ", NULL);
    assert_int_equal(wk_forward_n(m, (ids, ids, ids, ids), out, 1), -1);
    expect_error("bert_model: expected 1 to 3 inputs and 1 or 2 outputs, got 4 and 1", NULL);
    assert_int_equal(wk_forward_n(m, (ids), out, 3), -1);
    expect_error("bert_model: expected 1 to 3 inputs and 1 or 2 outputs, got 1 and 3", NULL);
    assert_null(wk_forward_bert(wk_nn_linear(2, 2), ids));
    expect_error("forward_bert: expected a bert_model, got a linear", NULL);
    assert_null(wk_forward_bert(m, ids, .attention_mask = wk_ones((2, -9)))); /* an input that failed is not omitted */
    wk_clear_error();
    wk_module *output = wk_module_child(m, "encoder.layer.0.output");
    assert_null(wk_forward(output, wk_ones((1, 2, 24))));
    expect_error("bert_output: expected 2 inputs and 1 output, got 1 and 1", NULL);
}

/* Each allocation fails in turn: an error, no leak, no crash. */
static void without_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *ids = result("ids");
    int64_t failures = 0;
    for (int64_t n = 1; failures == n / 13; n += 13) {
        WK_SCOPE;
        wk__alloc_fail_at(n);
        wk_module *m = tiny(0.1);
        wk_tensor *y = m ? wk_forward(m, ids) : NULL;
        wk__alloc_fail_at(0);
        assert_true((y != NULL) == (wk_error() == NULL));
        failures += y == NULL;
        wk_clear_error();
    }
    assert_true(failures > 10);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_are_those_of_transformers),
                                       cmocka_unit_test(gradients_are_those_of_transformers),
                                       cmocka_unit_test(padding_is_hidden),
                                       cmocka_unit_test(the_defaults_are_bert_base),
                                       cmocka_unit_test(initial_values),
                                       cmocka_unit_test(dropout),
                                       cmocka_unit_test(prefix),
                                       cmocka_unit_test(mistakes_of_constructors),
                                       cmocka_unit_test(mistakes_of_calls),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
