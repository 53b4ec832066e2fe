/* SPDX-License-Identifier: Apache-2.0 */
/* Tests vocabularies in GGUF files against ids of Hugging Face's tokenizers (goldens/make_gguf.py). */
#include "support/wick.h"

#include "hostile/gguf.h"
#include "hostile/scratch.h"
#include <wick/text.h>

static const char *const rules[][2] = {
    {"gpt-2", "gpt2"}, {"llama-bpe", "llama3"}, {"qwen2", "qwen2"}, {"smollm", "smollm"}, {"llama", "llama2"}};
enum { RULES = sizeof rules / sizeof *rules };

static wk_text *load(const char *rule)
{
    char name[100];
    snprintf(name, sizeof name, "text-%s.gguf", rule);
    return wk_text_load(fixture_file("gguf", name));
}

static void ids_are_those_of_tokenizers(void **state)
{
    (void)state;
    for (int k = 0; k < RULES; k++) {
        WK_SCOPE;
        wk_tensor *ids = wk_text_encode_file(load(rules[k][0]), fixture_file("text", "sample.txt"));
        wk_tensor *expected = wk_load_tensor(fixture_file("gguf", "text.safetensors"), rules[k][1]);
        expect_ok();
        if (!wk_equal(ids, expected)) fail_msg("%s: other ids", rules[k][0]);
    }
}

static void control_tokens_are_added_tokens(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = load("llama-bpe");
    wk_tensor *ids = wk_text_encode(text, "<|endoftext|>");
    assert_int_equal(wk_numel(ids), 2); /* <|begin_of_text|> before it */
    EXPECT_VALUES(ids, 0, 0, 1);
    EXPECT_VALUES(wk_text_encode(load("gpt-2"), "<|endoftext|>"), 0, 0);
    expect_ok();
}

/* Returns true if the vocabulary is saved with this field. */
static bool saves(const char *rule, const char *field)
{
    static char content[1 << 16];
    assert_int_equal(wk_text_save(load(rule), scratch("saved.json")), WK_OK);
    FILE *file = fopen(scratch("saved.json"), "rb");
    assert_non_null(file);
    const size_t bytes = fread(content, 1, sizeof content, file);
    assert_int_equal(fclose(file), 0);
    return memmem(content, bytes, field, strlen(field)) != NULL;
}

static void rules_are_those_of_the_models(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *qwen2 = load("qwen2"), *gpt2 = load("gpt-2");
    assert_true(wk_equal(wk_text_encode(qwen2, "e\314\201"), wk_text_encode(qwen2, "\303\251")));
    assert_false(wk_equal(wk_text_encode(gpt2, "e\314\201"), wk_text_encode(gpt2, "\303\251")));
    assert_true(saves("llama-bpe", "\"ignore_merges\": true"));
    assert_false(saves("qwen2", "\"ignore_merges\": true"));
    expect_ok();
}

/* The vocabulary is saved in a format that tokenizers read. */
static void saved_vocabularies_are_equal(void **state)
{
    (void)state;
    for (int k = 0; k < RULES; k++) {
        WK_SCOPE;
        wk_text *text = load(rules[k][0]);
        assert_int_equal(wk_text_save(text, scratch("tokenizer.json")), WK_OK);
        wk_tensor *ids = wk_text_encode_file(text, fixture_file("text", "sample.txt"));
        wk_tensor *again =
            wk_text_encode_file(wk_text_load(scratch("tokenizer.json")), fixture_file("text", "sample.txt"));
        expect_ok();
        assert_true(wk_equal(ids, again));
    }
}

/* ---- small vocabularies ------------------------------------------------------------------------------------------ */

/* A vocabulary with scores in the notation of hostile/gguf.h: its first pairs, scores and types, and other keys. */
#define SMALL(pairs)                                                                                                   \
    "r:GGUF 4:3 8:0 8:" #pairs " s:tokenizer.ggml.model 4:8 s:llama s:tokenizer.ggml.add_space_prefix 4:7 1:0 "        \
    "s:tokenizer.ggml.tokens 4:9 4:8 8:8 s:<s> s:p s:q s:r s:s s:rs s:pq s:qrs "
/* rs 1, others 0 */
#define SCORES      "s:tokenizer.ggml.scores 4:9 4:6 8:8 4:0 4:0 4:0 4:0 4:0 4:1065353216 4:0 4:0 "
#define TYPES       "s:tokenizer.ggml.token_type 4:9 4:5 8:8 4:3 4:1 4:1 4:1 4:1 4:1 4:4 4:1 "
#define NAMED(name) "s:tokenizer.ggml." #name " "
#define ID(number)  "4:4 4:" #number " "
#define NO_BOS      NAMED(add_bos_token) "4:7 1:0 "

static wk_text *load_small(const char *words)
{
    bytes file = gguf_file(&(gguf_case){.file = words});
    FILE *to = fopen(scratch("small.gguf"), "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(file.data, 1, (size_t)file.count, to), file.count);
    assert_int_equal(fclose(to), 0);
    free(file.data);
    return wk_text_load(scratch("small.gguf"));
}

static void equal_scores_prefer_longer_parts(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT_VALUES(wk_text_encode(load_small(SMALL(5) SCORES NO_BOS), "pqrs"), 0, 1, 7);
    expect_ok();
}

static void keys_decide_on_the_tokens_around_a_text(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT_VALUES(wk_text_encode(load_small(SMALL(5) SCORES NAMED(bos_token_id) ID(0)), "q"), 0, 0, 2);
    EXPECT_VALUES(wk_text_encode(load_small(SMALL(6) SCORES NO_BOS NAMED(bos_token_id) ID(0)), "q"), 0, 2);
    EXPECT_VALUES(
        wk_text_encode(load_small(SMALL(7) SCORES NO_BOS NAMED(add_eos_token) "4:7 1:1 " NAMED(eos_token_id) ID(1)),
                       "q"),
        0, 2, 1);
    expect_ok();
}

static void types_decide_on_the_added_tokens(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = load_small(SMALL(6) SCORES NO_BOS TYPES);
    assert_string_equal(wk_text_decode(text, wk_of(int64_t, (3), 0, 6, 2), .skip_special_tokens = true), "pqq");
    EXPECT_VALUES(wk_text_encode(text, "<s>pqrs"), 0, 0, 6, 5);
    expect_ok();
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* Replaces a string of a fixture by one of the same length, writes the result and loads it. */
static void expect_refusal_of(const char *name, const char *before, const char *after, const char *why)
{
    static char content[1 << 14];
    FILE *file = fopen(fixture_file("gguf", name), "rb");
    assert_non_null(file);
    const size_t bytes = fread(content, 1, sizeof content, file);
    assert_int_equal(fclose(file), 0);
    char *at = memmem(content, bytes, before, strlen(before));
    assert_non_null(at);
    memcpy(at, after, strlen(before));
    file = fopen(scratch("refused.gguf"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    assert_null(wk_text_load(scratch("refused.gguf")));
    expect_error("text_load: ", "refused.gguf: ", why, NULL);
}

static void expect_refusal(const char *before, const char *after, const char *why)
{
    expect_refusal_of("text-llama-bpe.gguf", before, after, why);
}

static void other_vocabularies_are_refused(void **state)
{
    (void)state;
    expect_refusal("gpt2", "bert", "\"tokenizer.ggml.model\" of \"bert\" is not supported; expected gpt2 or llama");
    expect_refusal("ggml.model", "ggml.nodel", "missing \"tokenizer.ggml.model\"; expected gpt2");
    expect_refusal("llama-bpe", "llama-bpf",
                   "\"tokenizer.ggml.pre\" of \"llama-bpf\" is not supported; expected gpt-2, ");
    expect_refusal("ggml.tokens", "ggml.takens", "missing \"tokenizer.ggml.tokens\"");
    expect_refusal("ggml.merges", "ggml.marges", "missing \"tokenizer.ggml.merges\"");
    expect_refusal("ggml.bos_token_id", "ggml.bos_token_ie", "\"tokenizer.ggml.bos_token_id\" is missing, or not");
    expect_refusal("h e", "hxe", "tokenizer.ggml.merges: merge 0 is \"hxe\", not two tokens");
    expect_refusal_of("text-llama.gguf", "ggml.scores", "ggml.skores", "missing \"tokenizer.ggml.scores\"");
}

/* Counts and ids that do not fit the tokens. */
static void small_vocabularies_are_checked(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const cases[][2] = {
        {SMALL(5) NO_BOS NAMED(scores) "4:9 4:6 8:2 4:0 4:0", "2 scores of 8 tokens"},
        {SMALL(6) SCORES NO_BOS NAMED(token_type) "4:9 4:5 8:2 4:3 4:1", "2 types of 8 tokens"},
        {SMALL(6) SCORES NO_BOS NAMED(token_type) "4:9 4:5 8:9 4:1 4:1 4:1 4:1 4:1 4:1 4:1 4:1 4:1",
         "more types than tokens"},
        {SMALL(6) SCORES NO_BOS NAMED(unknown_token_id) ID(8), "\"tokenizer.ggml.unknown_token_id\" is not the id of"},
        {SMALL(5) SCORES NAMED(bos_token_id) ID(8), "\"tokenizer.ggml.bos_token_id\" is missing, or not the id"},
        {SMALL(4) SCORES, "\"tokenizer.ggml.bos_token_id\" is missing, or not the id"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_null(load_small(cases[k][0]));
        assert_int_equal(wk_error_code(), WK_ERR_FORMAT);
        expect_error("text_load: ", "small.gguf: ", cases[k][1], NULL);
    }
    char words[1000] = "r:GGUF 4:3 8:0 8:3 s:tokenizer.ggml.model 4:8 s:llama s:tokenizer.ggml.scores 4:9 4:6 8:1 4:0 "
                       "s:tokenizer.ggml.tokens 4:9 4:8 8:1 s:";
    const size_t length = strlen(words);
    memset(words + length, 'a', 257);
    assert_null(load_small(words));
    expect_error("has more than 256 bytes", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_those_of_tokenizers),
        cmocka_unit_test(control_tokens_are_added_tokens),
        cmocka_unit_test(rules_are_those_of_the_models),
        cmocka_unit_test(saved_vocabularies_are_equal),
        cmocka_unit_test(other_vocabularies_are_refused),
        cmocka_unit_test(equal_scores_prefer_longer_parts),
        cmocka_unit_test(keys_decide_on_the_tokens_around_a_text),
        cmocka_unit_test(types_decide_on_the_added_tokens),
        cmocka_unit_test(small_vocabularies_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
