/* SPDX-License-Identifier: Apache-2.0 */
/* Tests vocabularies of characters and words: ids, tokens, frequencies, options, files, and messages. */
#include "support/wick.h"

#include "hostile/scratch.h"
#include "text/tokenizer.h"

/* Writes a file of this content and returns its path. */
static const char *file_of(const char *name, const char *content, size_t bytes)
{
    const char *path = scratch(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* ---- characters -------------------------------------------------------------------------------------------------- */

static void characters_are_sorted_by_code(void **state)
{
    (void)state;
    WK_SCOPE;
    /* U+10348, U+FB01, U+00E9, 'a', newline: the order of the codes, which is not that of UTF-16 */
    wk_text *text = wk_text_chars_of("\xf0\x90\x8d\x88\xef\xac\x81\xc3\xa9"
                                     "aa\n");
    assert_int_equal(wk_text_vocabulary(text), 5);
    static const char *const tokens[] = {"\n", "a", "\xc3\xa9", "\xef\xac\x81", "\xf0\x90\x8d\x88"};
    for (int id = 0; id < 5; id++) {
        assert_string_equal(wk_text_token(text, id), tokens[id]);
        assert_int_equal(wk_text_id(text, tokens[id]), id);
        assert_int_equal(wk_text_frequency(text, id), id == 1 ? 2 : 1);
    }
    wk_tensor *ids = wk_text_ids(text);
    EXPECT_SHAPE(ids, 6);
    EXPECT_VALUES(ids, 0, 4, 3, 2, 1, 1, 0);
    assert_int_equal(wk_dtype_of(ids), WK_I64);
    assert_string_equal(wk_text_decode(text, ids), "\xf0\x90\x8d\x88\xef\xac\x81\xc3\xa9"
                                                   "aa\n");
    assert_int_equal(wk_text_id(text, "b"), -1);
    expect_ok();
}

static void ids_of_any_shape_are_decoded(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_chars_of("abc");
    wk_tensor *ids = wk_of(int64_t, (1, 4), 2, 1, 0, 0);
    assert_string_equal(wk_text_decode(text, ids), "cbaa");
    assert_string_equal(wk_text_decode(text, wk_transpose(wk_of(int32_t, (2, 2), 0, 1, 2, 2), 0, 1)), "acbc");
    assert_string_equal(wk_text_decode(text, wk_of(uint8_t, (2, 2, 1), 0, 1, 2, 2)), "abcc");
    assert_string_equal(wk_text_decode(text, wk_select(wk_of(int64_t, (2, 2), 0, 1, 2, 2), 1, 0)), "ac");
    assert_string_equal(wk_text_decode(text, wk_full((), 2)), "c");
    int64_t length = -1;
    assert_string_equal(wk_text_decode(text, wk_zeros((0), .dtype = WK_I64), .length = &length), "");
    assert_int_equal(length, 0);
    assert_string_equal(wk_text_decode(text, ids, .length = &length), "cbaa");
    assert_int_equal(length, 4);
    expect_ok();
}

static void a_file_is_read_whole(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = file_of("chars.txt", "to be\nor not", 12);
    wk_text *text = wk_text_chars(path);
    assert_string_equal(wk_text_decode(text, wk_text_ids(text)), "to be\nor not");
    assert_int_equal(wk_text_vocabulary(text), 8);
    assert_string_equal(wk_text_decode(text, wk_text_encode_file(text, path)), "to be\nor not");
    wk_text *none = wk_text_chars(file_of("empty.txt", "", 0));
    assert_int_equal(wk_text_vocabulary(none), 0);
    EXPECT_SHAPE(wk_text_ids(none), 0);
    expect_ok();
}

static void strings_outlive_what_they_are_made_of(void **state)
{
    (void)state;
    wk_text *text = wk_text_chars_of("abc"); /* no scope: the caller owns the objects, text the strings */
    wk_tensor *ids = wk_text_ids(text);
    const char *first = wk_text_decode(text, ids), *second = wk_text_decode(text, ids);
    wk_free(ids);
    assert_string_equal(first, "abc");
    assert_string_equal(second, "abc");
    wk_free(text);
    expect_ok();
}

static void unknown_characters(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_chars_of("ab"), *open = wk_text_chars_of("ab", .unknown = "?");
    assert_null(wk_text_encode(text, "ab\xc3\xa9"));
    expect_error("text_encode: the character \"\xc3\xa9\" (byte 2) is not in the vocabulary", ".unknown", NULL);
    EXPECT_VALUES(wk_text_encode(open, "bca"), 0, 2, 0, 1);
    assert_string_equal(wk_text_decode(open, wk_text_encode(open, "bca")), "b?a");
    assert_int_equal(wk_text_id(open, "x"), 0);
    wk_text *few = wk_text_chars_of("aaabbc", .unknown = "?", .min_frequency = 2);
    assert_int_equal(wk_text_vocabulary(few), 3);
    assert_int_equal(wk_text_frequency(few, 0), 1);
    EXPECT_VALUES(wk_text_ids(few), 0, 1, 1, 1, 2, 2, 0);
    expect_ok();
    assert_null(wk_text_encode(wk_text_chars_of("ab"), "a\x01"));
    expect_error("text_encode: the character \"?\" (byte 1) is not in the vocabulary", NULL);
    wk_text *lower = wk_text_chars_of("ab", .lower = true), *letters = wk_text_chars_of("ab", .letters_only = true);
    assert_null(wk_text_encode(lower, "\xc4\xb0"));
    expect_error("the character \"i\" (byte 0 after .lower) is not in the vocabulary", NULL);
    assert_null(wk_text_encode(letters, " -ac"));
    expect_error("the character \"c\" (byte 1 after .letters_only) is not in the vocabulary", NULL);
    wk_text *both = wk_text_words_of("a", .unknown = "", .letters_only = true, .lower = true);
    assert_null(wk_text_encode(both, " A B"));
    expect_error("the word \"b\" (byte 2 after .letters_only and .lower) is not in the vocabulary", NULL);
    assert_null(wk_text_chars_of("aab", .min_frequency = 2));
    expect_error("text_chars_of: the character \"b\" (byte 2) is not in the vocabulary", NULL);
}

static void letters_of_the_book(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text =
        wk_text_chars_of("  The Time Machine, by H. G. Wells [1898]\n", .lower = true, .letters_only = true);
    assert_string_equal(wk_text_decode(text, wk_text_ids(text)), "the time machine by h g wells");
    assert_string_equal(wk_text_decode(text, wk_text_encode(text, "ME!")), "me");
    text = wk_text_chars_of("\xc3\x84\xce\xa3\xd0\x96\xc4\xb0",
                            .lower = true); /* A with diaeresis, Sigma, Zhe, I with dot */
    assert_string_equal(wk_text_decode(text, wk_text_ids(text)), "\xc3\xa4\xcf\x83\xd0\xb6i\xcc\x87");
    expect_ok();
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void words_are_sorted_by_frequency(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_words_of("b a c a\tb\xc2\xa0"
                                     "a\n d",
                                     .reserved_tokens = "<pad> <bos>");
    static const char *const tokens[] = {"<unk>", "<pad>", "<bos>", "a", "b", "c", "d"};
    static const int64_t frequency[] = {0, 0, 0, 3, 2, 1, 1};
    assert_int_equal(wk_text_vocabulary(text), 7);
    for (int id = 0; id < 7; id++) {
        assert_string_equal(wk_text_token(text, id), tokens[id]);
        assert_int_equal(wk_text_frequency(text, id), frequency[id]);
    }
    EXPECT_VALUES(wk_text_ids(text), 0, 4, 3, 5, 3, 4, 3, 6);
    assert_string_equal(wk_text_decode(text, wk_text_ids(text)), "b a c a b a d");
    wk_tensor *ids = wk_of(int64_t, (4), 2, 3, 0, 1);
    assert_string_equal(wk_text_decode(text, ids), "<bos> a <unk> <pad>");
    assert_string_equal(wk_text_decode(text, ids, .skip_special_tokens = true), "a <unk>");
    assert_int_equal(wk_text_id(text, "zebra"), 0);
    expect_ok();
}

static void words_are_dropped(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *string = "a a a b b c d d";
    wk_text *text = wk_text_words_of(string, .min_frequency = 2);
    assert_int_equal(wk_text_vocabulary(text), 4);
    assert_int_equal(wk_text_frequency(text, 0), 1);
    EXPECT_VALUES(wk_text_ids(text), 0, 1, 1, 1, 2, 2, 0, 3, 3);
    text = wk_text_words_of(string, .max_size = 3, .reserved_tokens = "d");
    assert_int_equal(wk_text_vocabulary(text), 3);
    assert_string_equal(wk_text_token(text, 2), "a");
    assert_int_equal(wk_text_frequency(text, 0), 3);
    assert_int_equal(wk_text_frequency(text, 1), 2);
    assert_null(wk_text_words_of(string, .max_size = 2, .unknown = ""));
    expect_error("the word \"c\" (byte 10) is not in the vocabulary", NULL);
}

static void punctuation_is_a_word(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_words_of("Go, go now!! it's 3.5", .punctuation = true, .lower = true);
    assert_string_equal(wk_text_decode(text, wk_text_ids(text)), "go , go now ! ! it's 3 . 5");
    text = wk_text_words_of("Go, go now", .lower = true, .letters_only = true);
    assert_string_equal(wk_text_decode(text, wk_text_ids(text)), "go go now");
    expect_ok();
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void vocabularies_are_saved(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *made[] = {wk_text_chars_of("a\\\n\r\t b\xc3\xa9", .unknown = "<u>"), wk_text_chars_of("ab"),
                       wk_text_words_of("A b B, c", .lower = true, .punctuation = true, .reserved_tokens = "<pad> \\n"),
                       wk_text_words_of("", .unknown = ""), wk_text_words_of("x-y", .letters_only = true)};
    static const char *const trial[] = {"\n\\b\r\t x", "ba", "A C. \\n", "", "y x"};
    for (int k = 0; k < 5; k++) {
        const char *path = scratch("saved.vocab");
        assert_int_equal(wk_text_save(made[k], path), WK_OK);
        char before[4096];
        strcpy(before, file_text(path));
        wk_text *again = wk_text_load(path);
        expect_ok();
        assert_int_equal(wk_text_vocabulary(again), wk_text_vocabulary(made[k]));
        for (int64_t id = 0; id < wk_text_vocabulary(again); id++) {
            assert_string_equal(wk_text_token(again, id), wk_text_token(made[k], id));
            assert_int_equal(wk_text_frequency(again, id), wk_text_frequency(made[k], id));
        }
        assert_int_equal(wk_text_id(again, "\x01"), wk_text_id(made[k], "\x01"));
        wk_tensor *ids = wk_text_encode(again, trial[k]), *expected = wk_text_encode(made[k], trial[k]);
        assert_int_equal(wk_numel(ids), wk_numel(expected));
        assert_true(wk_item(wk_all(wk_eq(ids, expected))) != 0);
        assert_string_equal(wk_text_decode(again, ids, .skip_special_tokens = true),
                            wk_text_decode(made[k], ids, .skip_special_tokens = true));
        assert_int_equal(wk_text_save(again, path), WK_OK);
        assert_string_equal(file_text(path), before);
        assert_null(wk_text_ids(again));
        expect_error("text_ids: this vocabulary was loaded or trained", "wk_text_encode_file", NULL);
    }
}

static void the_format_of_files(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = scratch("format.vocab");
    wk_text_save(wk_text_chars_of("a\\\nba"), path);
    assert_string_equal(file_text(path),
                        "wick vocabulary 1\ntokens characters\nlower 0\nletters_only 0\npunctuation 0\n"
                        "unknown -1\nreserved 0\ncount 4\n1 \\n\n1 \\\\\n2 a\n1 b\n");
    expect_ok();
}

#define HEAD "wick vocabulary 1\ntokens words\nlower 0\nletters_only 0\npunctuation 0\n"

static void malformed_files_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const cases[][2] = {
        {"", "truncated (line 1)"},
        {"wick vocabulary 1", "does not end (line 1)"},
        {"wick vocabulary 2\n", "expected \"wick vocabulary 1\" (line 1)"},
        {"wick vocabulary 1\r\n", "expected \"wick vocabulary 1\" (line 1)"},
        {"wick vocabulary 1\n", "truncated (line 2)"},
        {"wick vocabulary 1\ntokens bytes\n", "expected \"tokens words\" or \"tokens characters\" (line 2)"},
        {"wick vocabulary 1\ntokens words\nlower 2\n", "expected \"lower\" and a number in [0, 1] (line 3)"},
        {"wick vocabulary 1\ntokens words\nlower\n", "(line 3)"},
        {"wick vocabulary 1\ntokens words\nupper 1\n", "(line 3)"},
        {"wick vocabulary 1\ntokens words\nlower 01\n", "(line 3)"},
        {HEAD "unknown -2\n", "(line 6)"},
        {HEAD "unknown -0\n", "(line 6)"},
        {HEAD "unknown 0\nreserved 0\ncount 0\n", "unknown must be below reserved"},
        {HEAD "unknown -1\nreserved 1\ncount 0\n", "unknown must be below reserved"},
        {HEAD "unknown -1\nreserved 0\ncount 99999999\n", "(line 8)"},
        {HEAD "unknown -1\nreserved 0\ncount 99999999999999999999\n", "(line 8)"},
        {HEAD "unknown -1\nreserved 0\ncount 1000000\n1 a\n", "truncated (line 10)"},
        {HEAD "unknown -1\nreserved 0\ncount 1\na\n", "expected a frequency, a space and a token (line 9)"},
        {HEAD "unknown -1\nreserved 0\ncount 1\n1 \n", "expected a frequency"},
        {HEAD "unknown -1\nreserved 0\ncount 1\n-1 a\n", "expected a frequency"},
        {HEAD "unknown -1\nreserved 0\ncount 1\n1 \\x\n", "unknown escape"},
        {HEAD "unknown -1\nreserved 0\ncount 1\n1 a\\\n", "unknown escape"},
        {HEAD "unknown -1\nreserved 0\ncount 1\n1 a\r\n", "carriage return"},
        {HEAD "unknown -1\nreserved 0\ncount 2\n1 a\n2 a\n", "the token occurs twice (line 10)"},
        {HEAD "unknown -1\nreserved 0\ncount 1\n1 a\n2 b\n", "text follows the last token"},
        {HEAD "unknown -1\nreserved 0\ncount 1\n1 \xff\n", "not UTF-8: invalid byte 0xff"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_null(wk_text_load(file_of("bad.vocab", cases[k][0], strlen(cases[k][0]))));
        assert_int_equal(wk_error_code(), WK_ERR_FORMAT);
        expect_error("text_load: ", "bad.vocab: ", cases[k][1], NULL);
    }
}

/* Checks the message of wk_text_chars and wk_text_bpe_train for texts that are too large for a test. */
static void limits_are_explained(void **state)
{
    (void)state;
    const wk__vocabulary full = {.count = WK__VOCABULARY_MOST}, empty = {0};
    wk__io_error error;
    assert_int_equal(wk__vocabulary_full(&full, 1, "word", &error), WK_ERR_UNSUPPORTED);
    assert_string_equal(error.text, "the text has more than 16777216 different words");
    assert_int_equal(wk__vocabulary_full(&empty, (int64_t)INT32_MAX + 1, "piece", &error), WK_ERR_UNSUPPORTED);
    assert_string_equal(error.text, "a piece of the text has 2147483648 bytes; expected at most 2147483647");
    assert_int_equal(wk__vocabulary_full(&empty, INT32_MAX, "piece", &error), WK_ERR_MEMORY);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void bad_texts_name_the_byte(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_text_chars(file_of("latin.txt", "caf\xe9 ", 5)));
    assert_int_equal(wk_error_code(), WK_ERR_FORMAT);
    expect_error("text_chars: ", "latin.txt: the text is not UTF-8: invalid byte 0xe9 (byte 3)", NULL);
    assert_null(wk_text_words(file_of("zero.txt", "ab\0c", 4)));
    expect_error("text_words: ", "zero.txt: the text contains the character zero (byte 2)", NULL);
    assert_null(wk_text_chars_of("ab\xed\xa0\x80")); /* a surrogate */
    expect_error("text_chars_of: the text is not UTF-8: invalid byte 0xed (byte 2)", NULL);
    wk_text *text = wk_text_chars_of("ab");
    assert_null(wk_text_encode(text, "a\xc0\x80"));
    expect_error("text_encode: the text is not UTF-8: invalid byte 0xc0 (byte 1)", NULL);
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_chars_of("ab");
    assert_null(wk_text_chars("no/such/file.txt"));
    assert_int_equal(wk_error_code(), WK_ERR_IO);
    expect_error("text_chars: no/such/file.txt: cannot open", NULL);
    assert_null(wk_text_load(source_file("tests/fixtures/text")));
    assert_int_equal(wk_error_code(), WK_ERR_IO);
    expect_error("text_load: ", "text is a folder; pass a file: tokenizer.json, a GGUF file, or one of wk_text_save",
                 NULL);
    put_below(scratch(""), "halves/vocab.json", "{}");
    wk_text_load(scratch("halves"));
    expect_error("halves is a folder; pass its vocab.json and merges.txt to wk_text_load_gpt2", NULL);
    put_below(scratch(""), "pieces/vocab.txt", "[UNK]\n");
    wk_text_load(scratch("pieces"));
    expect_error("pieces is a folder; pass its vocab.txt", NULL);
    put_below(scratch(""), "folder/tokenizer.json", "{}");
    wk_text_load(scratch("folder"));
    expect_error("folder is a folder; pass its tokenizer.json", NULL);
    assert_null(wk_text_chars(NULL));
    expect_error("text_chars: the path is NULL", NULL);
    assert_null(wk_text_words_of(NULL));
    expect_error("text_words_of: the string is NULL", NULL);
    assert_null(wk_text_chars_of("a", .punctuation = true));
    expect_error("text_chars_of: .punctuation is an option of words", NULL);
    assert_null(wk_text_words_of("a", .punctuation = true, .letters_only = true));
    expect_error("text_words_of: .letters_only leaves no .punctuation; choose one", NULL);
    assert_null(wk_text_words_of("a", .min_frequency = -1));
    expect_error("text_words_of: .min_frequency must be at least 0", NULL);
    assert_null(wk_text_words_of("a", .unknown = "not known"));
    expect_error("text_words_of: .unknown must be one token, without spaces", NULL);
    assert_null(wk_text_words("no/such/file.txt", .reserved_tokens = "<pad> \xff"));
    assert_int_equal(wk_error_code(), WK_ERR_ARGUMENT);
    expect_error("text_words: .reserved_tokens is not UTF-8: invalid byte 0xff (byte 6)", NULL);
    assert_null(wk_text_chars("no/such/file.txt", .unknown = "\xc3"));
    assert_int_equal(wk_error_code(), WK_ERR_ARGUMENT);
    expect_error("text_chars: .unknown is not UTF-8: invalid byte 0xc3 (byte 0)", NULL);
    assert_null(wk_text_decode(text, wk_of(int64_t, (2), 1, 2)));
    assert_int_equal(wk_error_code(), WK_ERR_INDEX);
    expect_error("text_decode: id 2 is not in the vocabulary of size 2", NULL);
    assert_null(wk_text_decode(text, wk_of(int64_t, (1), -1)));
    expect_error("text_decode: id -1 is not in the vocabulary of size 2", NULL);
    assert_null(wk_text_decode(text, wk_ones((2))));
    assert_int_equal(wk_error_code(), WK_ERR_DTYPE);
    expect_error("text_decode: expected ids of an integer dtype, got f32[2]", NULL);
    assert_null(wk_text_token(text, 2));
    expect_error("text_token: id 2 is not in the vocabulary of size 2", NULL);
    assert_int_equal(wk_text_frequency(text, -1), 0);
    expect_error("text_frequency: id -1 is not in the vocabulary", NULL);
    assert_null(wk_text_encode(text, NULL));
    expect_error("text_encode: the string is NULL", NULL);
    assert_int_equal(wk_text_vocabulary(NULL), 0);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(characters_are_sorted_by_code, test_clean),
        cmocka_unit_test_teardown(ids_of_any_shape_are_decoded, test_clean),
        cmocka_unit_test_teardown(a_file_is_read_whole, test_clean),
        cmocka_unit_test_teardown(strings_outlive_what_they_are_made_of, test_clean),
        cmocka_unit_test_teardown(unknown_characters, test_clean),
        cmocka_unit_test_teardown(letters_of_the_book, test_clean),
        cmocka_unit_test_teardown(words_are_sorted_by_frequency, test_clean),
        cmocka_unit_test_teardown(words_are_dropped, test_clean),
        cmocka_unit_test_teardown(punctuation_is_a_word, test_clean),
        cmocka_unit_test_teardown(vocabularies_are_saved, test_clean),
        cmocka_unit_test_teardown(the_format_of_files, test_clean),
        cmocka_unit_test_teardown(malformed_files_are_refused, test_clean),
        cmocka_unit_test_teardown(limits_are_explained, test_clean),
        cmocka_unit_test_teardown(bad_texts_name_the_byte, test_clean),
        cmocka_unit_test_teardown(mistakes_are_explained, test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
