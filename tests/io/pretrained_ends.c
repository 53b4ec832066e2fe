/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that pretrained models know the tokens that end a text, from generation_config.json or config.json, and that
 * wk_generate ends at them. */
#include "support/wick.h"

#include <errno.h>

#include "hostile/scratch.h"

enum { VOCABULARY = 5, NEW = 3 };

static void put(const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", scratch("ends"), name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Writes a model whose greedy continuation of any token is token 2, with these texts in its files; NULL: no file.
 * Returns the folder. */
static const char *model(const char *ends, const char *generation)
{
    char path[400], config[400];
    if (mkdir(scratch("ends"), 0700) != 0) assert_int_equal(errno, EEXIST);
    snprintf(config, sizeof config,
             "{\"model_type\": \"gpt2\", \"vocab_size\": 5, \"n_positions\": 8, \"n_embd\": 2, \"n_layer\": 1, "
             "\"n_head\": 1, \"tie_word_embeddings\": false%s}",
             ends);
    put("config.json", config);
    snprintf(path, sizeof path, "%s/generation_config.json", scratch("ends"));
    if (remove(path) != 0) assert_int_equal(errno, ENOENT);
    if (generation) put("generation_config.json", generation);
    wk_module *net =
        wk_nn_gpt(.vocab_size = VOCABULARY, .n_positions = 8, .n_embd = 2, .n_layer = 1, .n_head = 1, .untied = true);
    {
        WK_NO_GRAD;
        wk_init_constant_(wk_module_parameter(net, "transformer.ln_f.bias"), 1);
        wk_init_zeros_(wk_module_parameter(net, "transformer.ln_f.weight"));
        wk_copy_(wk_module_parameter(net, "lm_head.weight"),
                 wk_of(float, (VOCABULARY, 2), 0, 0, 0, 0, 1, 1, 0, 0, 0, 0));
    }
    snprintf(path, sizeof path, "%s/model.safetensors", scratch("ends"));
    assert_int_equal(wk_save(net, path), WK_OK);
    return scratch("ends");
}

/* Returns the number of new tokens before the end. */
static int64_t length(const char *folder)
{
    wk_tensor *out = wk_generate(wk_nn_pretrained(folder), wk_of(int64_t, (1, 1), 1), .max_new_tokens = NEW);
    expect_ok();
    return wk_size(out, 1) - 1;
}

static void texts_end_at_the_tokens_of_the_files(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_int_equal(length(model("", NULL)), NEW);
    assert_int_equal(length(model(", \"eos_token_id\": null", NULL)), NEW);
    assert_int_equal(length(model(", \"eos_token_id\": 3", NULL)), NEW);
    assert_int_equal(length(model(", \"eos_token_id\": 2", NULL)), 1);
    assert_int_equal(length(model(", \"eos_token_id\": [0, 2]", NULL)), 1);
    assert_int_equal(length(model(", \"eos_token_id\": 5", NULL)), NEW); /* not in the vocabulary */
    assert_int_equal(length(model(", \"eos_token_id\": [5, 2]", NULL)), 1);
    assert_int_equal(length(model(", \"eos_token_id\": 0", "{\"eos_token_id\": [4, 2], \"top_k\": 1}")), 1);
    assert_int_equal(length(model(", \"eos_token_id\": 2", "{\"eos_token_id\": 4}")), NEW);
    assert_int_equal(length(model(", \"eos_token_id\": 2", "{\"do_sample\": true}")), 1);
}

static void options_replace_the_tokens_of_the_files(void **state)
{
    (void)state;
    WK_SCOPE;
    static const int64_t other[] = {3};
    wk_module *net = wk_nn_pretrained(model(", \"eos_token_id\": 2", NULL));
    wk_tensor *x = wk_of(int64_t, (1, 1), 1);
    EXPECT_SHAPE(wk_generate(net, x, .max_new_tokens = NEW), 1, 2);
    EXPECT_SHAPE(wk_generate(net, x, .max_new_tokens = NEW, .eos_token_id = -1), 1, 1 + NEW);
    EXPECT_SHAPE(wk_generate(net, x, .max_new_tokens = NEW, .eos_token_id = 0), 1, 1 + NEW);
    EXPECT_SHAPE(wk_generate(net, x, .max_new_tokens = NEW, .eos_token_ids = other, .eos_count = 1), 1, 1 + NEW);
    expect_ok();
}

static void bad_tokens_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_nn_pretrained(model(", \"eos_token_id\": [\"x\"]", NULL));
    expect_error("nn_pretrained: ", "config.json", NULL);
    wk_nn_pretrained(model("", "{\"eos_token_id\": [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]}"));
    expect_error("nn_pretrained: ", "\"eos_token_id\" has more than 16 tokens", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_end_at_the_tokens_of_the_files),
        cmocka_unit_test(options_replace_the_tokens_of_the_files),
        cmocka_unit_test(bad_tokens_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
