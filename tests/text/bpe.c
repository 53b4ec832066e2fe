/* SPDX-License-Identifier: Apache-2.0 */
/* Tests byte-pair encodings against the results of the tokenizers package (tests/goldens/make_text.py): splitters,
 * encoding, decoding, training, and the files of both. */
#include "support/wick.h"

#include "goldens.h"
#include "text/split.h"
#include "text/unicode.h"

/* ---- splitters --------------------------------------------------------------------------------------------------- */

static void splitters_cut_as_the_expressions_do(void **state)
{
    (void)state;
    FILE *file = open_golden("text_splits.txt");
    static char digits[2 * MOST], expected[4 * MOST], got[4 * MOST];
    int rule, cases = 0;
    while (fscanf(file, "%d %8191s %16383s", &rule, digits, expected) == 3) {
        const char *text = from_digits(digits), *end = text + strlen(text);
        static int64_t lengths[MOST];
        int64_t count = 0;
        for (const char *at = text; at < end; at += lengths[count++])
            lengths[count] = wk__split_piece((wk_text_split)rule, at, end);
        list_numbers(lengths, count, got);
        if (strcmp(got, expected) != 0) fail_msg("rule %d, \"%s\": %s, not %s", rule, text, got, expected);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 3 * 320);
}

static void classes_of_characters(void **state)
{
    (void)state;
    static const struct {
        uint32_t code;
        wk__char_class class;
    } cases[] = {
        {'a', WK__CHAR_LETTER},     {'Z', WK__CHAR_LETTER},    {'0', WK__CHAR_NUMBER},    {'_', WK__CHAR_OTHER},
        {'\n', WK__CHAR_SPACE},     {0x1c, WK__CHAR_OTHER},    {0x85, WK__CHAR_SPACE},    {0xaa, WK__CHAR_LETTER},
        {0xbd, WK__CHAR_NUMBER},    {0xd7, WK__CHAR_OTHER},    {0x300, WK__CHAR_OTHER},   {0x2167, WK__CHAR_NUMBER},
        {0x200b, WK__CHAR_OTHER},   {0x3000, WK__CHAR_SPACE},  {0x4eca, WK__CHAR_LETTER}, {0x1d518, WK__CHAR_LETTER},
        {0x323af, WK__CHAR_LETTER}, {0x323b0, WK__CHAR_OTHER}, {0x10ffff, WK__CHAR_OTHER}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (wk__char_class_of(cases[k].code) != cases[k].class) fail_msg("U+%04X", cases[k].code);
}

static void broken_characters_are_replaced(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"a\xff"
                                            "b",
                                            "a?b"},
                                           {"\xe2\x82", "?"},
                                           {"\xe2\x82\xe2\x82\xac", "?\xe2\x82\xac"},
                                           {"\xc0\x80", "??"},
                                           {"\xed\xa0\x80", "???"},
                                           {"\xf0\x9f\x98", "?"},
                                           {"\xf4\x90\x80\x80", "????"},
                                           {"\xc3"
                                            "a",
                                            "?a"},
                                           {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        wk__text text = {0};
        wk__text_add_lossy(&text, cases[k][0], (int64_t)strlen(cases[k][0]));
        char shown[100] = "", *to = shown;
        for (const char *at = text.data; *at; at++) {
            const bool replaced = strncmp(at, "\xef\xbf\xbd", 3) == 0;
            *to++ = replaced ? '?' : *at;
            at += replaced ? 2 : 0;
        }
        *to = '\0';
        assert_string_equal(shown, cases[k][1]);
        wk__text_free(&text);
    }
}

static void normalisation_form_c(void **state)
{
    (void)state;
    FILE *file = open_golden("text_nfc.txt");
    static char digits[2 * MOST], expected[2 * MOST];
    int cases = 0;
    while (fscanf(file, "%8191s %8191s", digits, expected) == 2) {
        wk__text text = {0};
        const char *given = from_digits(digits), *normal = from_digits(expected);
        wk__text_add_nfc(&text, given, (int64_t)strlen(given));
        if (strcmp(text.data, normal) != 0) fail_msg("\"%s\": \"%s\", not \"%s\"", given, text.data, normal);
        wk__text_free(&text);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 600);
}

/* Checks that many combining characters in the wrong order are sorted in linear time. */
static void long_runs_of_marks(void **state)
{
    (void)state;
    enum { PAIRS = 200000 };
    wk__text given = {0}, text = {0};
    wk__text_add(&given, "a");
    for (int k = 0; k < PAIRS; k++) wk__text_add(&given, "\xcc\x81\xcc\xa3"); /* acute above, dot below */
    wk__text_add_nfc(&text, given.data, given.length);
    assert_int_equal(text.length, 3 + 2 * (2 * PAIRS - 1)); /* a with dot below, the other dots, the acutes */
    assert_memory_equal(text.data, "\xe1\xba\xa1\xcc\xa3", 5);
    assert_string_equal(text.data + text.length - 4, "\xcc\x81\xcc\x81");
    wk__text_free(&given);
    wk__text_free(&text);
}

/* ---- encoding and decoding --------------------------------------------------------------------------------------- */

static void encodings_agree(void **state)
{
    (void)state;
    expect_encodings("text.txt", 13 * 41);
}

static void gpt2_files(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *pair = wk_text_load_gpt2(fixture("gpt2-vocab.json"), fixture("gpt2-merges.txt"));
    wk_text *json = wk_text_load(fixture("gpt2.json"));
    expect_ok();
    assert_int_equal(wk_text_vocabulary(pair), 420);
    for (int id = 0; id < 420; id++) assert_string_equal(wk_text_token(pair, id), wk_text_token(json, id));
    wk_tensor *a = wk_text_encode_file(pair, fixture("sample.txt")),
              *b = wk_text_encode_file(json, fixture("sample.txt"));
    assert_int_equal(wk_numel(a), wk_numel(b));
    assert_true(wk_item(wk_all(wk_eq(a, b))) != 0);
    assert_int_equal(wk_text_id(pair, "<|endoftext|>"), 0);
    EXPECT_VALUES(wk_text_encode(pair, "<|endoftext|>"), 0, 0);
    expect_ok();
}

/* A byte-level encoding of "a", "b" and "ab" with further tokens and rules. */
#define BYTE_LEVEL(tokens, model)                                                                                      \
    "{" tokens                                                                                                         \
    "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"decoder\":{\"type\":\"ByteLevel\"},"      \
    "\"model\":{\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"<|endoftext|>\":3}," model "\"merges\":[\"a b\"]}}"
#define ADDED(fields) "\"added_tokens\":[" fields "],"
#define END           "{\"id\":3,\"content\":\"<|endoftext|>\",\"special\":true,\"normalized\":true}"

static void gpt2_files_hold_all_or_nothing(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {BYTE_LEVEL(ADDED(END), ""), NULL},
        {BYTE_LEVEL("", ""), "added tokens other than a special token <|endoftext|>"},
        {BYTE_LEVEL(ADDED("{\"id\":0,\"content\":\"a\",\"special\":true}"), ""), "added tokens other than"},
        {BYTE_LEVEL(ADDED(END ",{\"id\":4,\"content\":\"<s>\",\"special\":true}"), ""), "added tokens other than"},
        {BYTE_LEVEL(ADDED("{\"id\":3,\"content\":\"<|endoftext|>\"}"), ""), "added tokens other than"},
        {BYTE_LEVEL(ADDED("{\"id\":3,\"content\":\"<|endoftext|>\",\"special\":true,\"lstrip\":true}"), ""),
         "added tokens other than"},
        {BYTE_LEVEL(ADDED("{\"id\":3,\"content\":\"<|endoftext|>\",\"special\":true,\"rstrip\":true}"), ""),
         "added tokens other than"},
        {BYTE_LEVEL(ADDED(END) "\"post_processor\":{\"single\":[{\"SpecialToken\":{\"id\":\"<|endoftext|>\"}},"
                               "{\"Sequence\":{\"id\":\"A\"}}]},",
                    ""),
         "tokens around a text"},
        {BYTE_LEVEL(ADDED(END), "\"ignore_merges\":true,"), "ignore_merges"},
        {BYTE_LEVEL(ADDED(END), "\"unk_token\":\"a\","), "unk_token and byte_fallback"},
        {BYTE_LEVEL(ADDED(END), "\"byte_fallback\":true,"), "unk_token and byte_fallback"},
        {"{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"model\":{\"vocab\":{\"a\":0}}}",
         "encodings other"}, /* without a decoder */
        {"{\"pre_tokenizer\":{\"type\":\"ByteLevel\"},\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"vocab\":{\"a\":"
         "0}}}",
         "encodings other"}, /* add_prefix_space */
        {"{\"model\":{\"vocab\":{\"a\":0}}}", "encodings other"},
        {"{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"decoder\":{\"type\":\"ByteLevel\"},"
         "\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":0}}}",
         "encodings other"},
    };
    char vocab[4096];
    snprintf(vocab, sizeof vocab, "%s", scratch("held-vocab.json"));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        WK_SCOPE;
        put_below(scratch("."), "/held.json", cases[k][0]);
        wk_text *text = wk_text_load(scratch("held.json"));
        expect_ok();
        const wk_code code = wk_text_save_gpt2(text, vocab, scratch("held-merges.txt"));
        assert_int_equal(code, cases[k][1] ? WK_ERR_UNSUPPORTED : WK_OK);
        if (cases[k][1])
            expect_error("text_save_gpt2: vocab.json and merges.txt cannot describe ", cases[k][1], NULL);
        else
            assert_int_equal(wk_text_vocabulary(wk_text_load_gpt2(vocab, scratch("held-merges.txt"))), 4);
        expect_ok();
    }
    WK_SCOPE;
    wk_text_save(wk_text_bpe_train_of("ab", 256), scratch("held.json"));
    char file[1 << 14], *unknown;
    strcpy(file, file_text(scratch("held.json")));
    assert_non_null(unknown = strstr(file, "\"unk_token\": null"));
    memcpy(unknown, "\"unk_token\": \"a\" ", strlen("\"unk_token\": null"));
    put_below(scratch("."), "/held.json", file);
    wk_text *all = wk_text_load(scratch("held.json")); /* has all bytes, so that no character is unknown */
    assert_int_equal(wk_text_id(all, "none"), wk_text_id(all, "a"));
    assert_int_equal(wk_text_save_gpt2(all, vocab, scratch("held-merges.txt")), WK_OK);
    expect_ok();
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static void training_agrees(void **state)
{
    (void)state;
    WK_SCOPE;
    static const struct {
        const char *name;
        int64_t vocabulary;
        const char *special;
        wk_text_split split;
    } cases[] = {{"gpt2.json", 420, "<|endoftext|>", WK_TEXT_SPLIT_GPT2},
                 {"llama3.json", 500, "<|begin_of_text|> <|endoftext|>", WK_TEXT_SPLIT_LLAMA3},
                 {"qwen2.json", 420, "<|endoftext|>", WK_TEXT_SPLIT_QWEN2}};
    for (int k = 0; k < 3; k++) {
        wk_text *made = wk_text_bpe_train(fixture("sample.txt"), cases[k].vocabulary,
                                          .special_tokens = cases[k].special, .split = cases[k].split);
        wk_text *expected = wk_text_load(fixture(cases[k].name));
        expect_ok();
        assert_int_equal(wk_text_vocabulary(made), cases[k].vocabulary);
        for (int64_t id = 0; id < cases[k].vocabulary; id++)
            assert_string_equal(wk_text_token(made, id), wk_text_token(expected, id));
        wk_tensor *ids = wk_text_encode_file(made, fixture("sample.txt"));
        wk_tensor *other = wk_text_encode_file(expected, fixture("sample.txt"), .add_special_tokens = false);
        assert_int_equal(wk_numel(ids), wk_numel(other));
        assert_true(wk_item(wk_all(wk_eq(ids, other))) != 0);
        assert_string_equal(wk_text_decode(made, ids), file_text(fixture("sample.txt")));
    }
    wk_text *made = wk_text_bpe_train(fixture("sample.txt"), 420, .special_tokens = "<|endoftext|>");
    char vocab[4096];
    snprintf(vocab, sizeof vocab, "%s", scratch("vocab.json"));
    assert_int_equal(wk_text_save_gpt2(made, vocab, scratch("merges.txt")), WK_OK);
    assert_string_equal(file_text(scratch("merges.txt")), file_text(fixture("gpt2-merges.txt")));
    wk_text *again = wk_text_load_gpt2(vocab, scratch("merges.txt"));
    for (int id = 0; id < 420; id++) assert_string_equal(wk_text_token(again, id), wk_text_token(made, id));
    expect_ok();
}

static void training_ends(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *none = wk_text_bpe_train_of("", 300);
    assert_int_equal(wk_text_vocabulary(none), 256);
    EXPECT_SHAPE(wk_text_encode(none, "abc"), 3);
    assert_string_equal(wk_text_decode(none, wk_text_encode(none, "a\xc3\xa9\n")), "a\xc3\xa9\n");
    wk_text *all = wk_text_bpe_train_of("aaaa aaaa", 1000); /* a, aa, aaaa, and with a space */
    assert_int_equal(wk_text_vocabulary(all), 259);
    EXPECT_VALUES(wk_text_encode(all, "aaaa aaaa"), 0, 257, 258);
    wk_text *often = wk_text_bpe_train_of("aaaa aaaa", 1000, .min_frequency = 3);
    assert_int_equal(wk_text_vocabulary(often), 257);
    assert_int_equal(wk_text_frequency(all, 256), 0);
    expect_ok();
}

/* Checks the first merges of the words tall (5 times), taller (4), fast (4) and faster (3). Of equally frequent pairs
 * the one with the smaller ids is merged. */
static void merges_of_the_book(void **state)
{
    (void)state;
    WK_SCOPE;
    char words[400] = "";
    static const char *const word[] = {"fast", "faster", "tall", "taller"};
    static const int times[] = {4, 3, 5, 4};
    for (int k = 0; k < 4; k++)
        for (int n = 0; n < times[k]; n++) strcat(strcat(words, word[k]), "\n");
    wk_text *text = wk_text_bpe_train_of(words, 263);
    static const char *const merged[] = {"al", "tal", "tall", "as", "er", "fas", "fast"};
    for (int k = 0; k < 7; k++) assert_string_equal(wk_text_token(text, 256 + k), merged[k]);
    wk_tensor *ids = wk_text_encode(text, "tallest fatter");
    char tokens[200] = "";
    for (int64_t k = 0; k < wk_size(ids, 0); k++)
        strcat(strcat(tokens, k > 0 ? " " : ""), wk_text_token(text, wk_item_i64(wk_select(ids, 0, k))));
    assert_string_equal(tokens, "tall e s t \xc4\xa0 f a t t er");
    expect_ok();
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void mistakes_are_explained(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_text_bpe_train_of("abc", 255));
    expect_error("text_bpe_train_of: vocabulary must be in [256, 16777216], got 255", NULL);
    assert_null(wk_text_bpe_train_of("abc", 256, .special_tokens = "<s> </s>"));
    expect_error("text_bpe_train_of: a vocabulary of 256 is too small for 256 bytes and 2 special tokens", NULL);
    assert_null(wk_text_bpe_train_of("abc", 300, .min_frequency = -2));
    expect_error("text_bpe_train_of: .min_frequency must be at least 0, got -2", NULL);
    assert_null(wk_text_bpe_train("no/such/file", 300, .special_tokens = "<s> a\xff"));
    assert_int_equal(wk_error_code(), WK_ERR_ARGUMENT);
    expect_error("text_bpe_train: .special_tokens is not UTF-8: invalid byte 0xff (byte 5)", NULL);
    assert_null(wk_text_bpe_train_of("abc", 300, .split = WK_TEXT_SPLIT_COUNT));
    expect_error("text_bpe_train_of: .split must be one of wk_text_split, got 3", NULL);
    assert_null(wk_text_bpe_train_of("a\xff", 300));
    expect_error("text_bpe_train_of: the text is not UTF-8: invalid byte 0xff (byte 1)", NULL);
    assert_null(wk_text_bpe_train("no/such/file", 300));
    expect_error("text_bpe_train: no/such/file: cannot open", NULL);
    assert_null(wk_text_load_gpt2("no/such/vocab.json", "merges.txt"));
    expect_error("text_load_gpt2: no/such/vocab.json: cannot open", NULL);
    wk_text *words = wk_text_words_of("a b");
    wk_text_save_gpt2(words, scratch("v.json"), scratch("m.txt"));
    assert_int_equal(wk_error_code(), WK_ERR_UNSUPPORTED);
    expect_error("text_save_gpt2: vocab.json and merges.txt cannot describe encodings other than byte-level ones with "
                 "GPT-2's split; use wk_text_save",
                 NULL);
    wk_text_save_gpt2(wk_text_bpe_train_of("a", 256, .split = WK_TEXT_SPLIT_QWEN2), scratch("v.json"),
                      scratch("m.txt"));
    expect_error("text_save_gpt2: vocab.json and merges.txt cannot describe encodings other", NULL);
    wk_text *few = wk_text_load(fixture("metaspace.json"));
    assert_string_equal(wk_text_decode(few, wk_text_encode(few, "\xe4\xbb\x8a")), "<unk>");
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(splitters_cut_as_the_expressions_do, test_clean),
        cmocka_unit_test_teardown(classes_of_characters, test_clean),
        cmocka_unit_test_teardown(broken_characters_are_replaced, test_clean),
        cmocka_unit_test_teardown(normalisation_form_c, test_clean),
        cmocka_unit_test_teardown(long_runs_of_marks, test_clean),
        cmocka_unit_test_teardown(encodings_agree, test_clean),
        cmocka_unit_test_teardown(gpt2_files, test_clean),
        cmocka_unit_test_teardown(gpt2_files_hold_all_or_nothing, test_clean),
        cmocka_unit_test_teardown(training_agrees, test_clean),
        cmocka_unit_test_teardown(training_ends, test_clean),
        cmocka_unit_test_teardown(merges_of_the_book, test_clean),
        cmocka_unit_test_teardown(mistakes_are_explained, test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
