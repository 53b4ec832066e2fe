/* SPDX-License-Identifier: Apache-2.0 */
/* Tests word pieces against the results of the tokenizers package (tests/goldens/make_word_pieces.py): the normaliser,
 * words, encoding and decoding, and the files of BERT. */
#include "goldens.h"

#include "text/unicode.h"
#include "text/word_pieces.h"

/* ---- normaliser and words ---------------------------------------------------------------------------------------- */

static wk__bert_rules rules_of(int bits)
{
    return (wk__bert_rules){.clean = bits & 1, .ideographs = bits & 2, .strip_accents = bits & 4, .lower = bits & 8};
}

/* Adds a text and a byte 0xff to a hash, FNV-1a. */
static void hash_text(uint64_t *hash, const char *bytes, int64_t count)
{
    for (int64_t k = 0; k <= count; k++)
        *hash = (*hash ^ (k < count ? (unsigned char)bytes[k] : 0xff)) * UINT64_C(0x100000001b3);
}

static void hash_words(uint64_t *hash, const char *at, const char *end)
{
    for (wk__span word; (word = wk__bert_next_word(at, end)).bytes > 0; at = word.at + word.bytes)
        hash_text(hash, word.at, word.bytes);
}

/* Returns the hash of the results for all characters: normalised, or without rules the words of "aCb". */
static uint64_t hash_of_all(int bits)
{
    const wk__bert_rules rules = rules_of(bits);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t code = 1; code < 0x110000; code++) {
        wk__text given = {0}, out = {0};
        if (code >= 0xd800 && code <= 0xdfff) continue;
        if (bits == 0) wk__text_add(&given, "a");
        wk__text_add_code(&given, code);
        if (bits == 0) wk__text_add(&given, "b");
        wk__text_add(&out, "");
        if (bits != 0) wk__bert_normalize(&rules, (wk__span){given.data, given.length}, &out);
        if (bits == 0)
            hash_words(&hash, given.data, given.data + given.length);
        else
            hash_text(&hash, out.data, out.length);
        wk__text_free(&given);
        wk__text_free(&out);
    }
    return hash;
}

/* Checks the words of a text against their digits between commas. */
static void expect_words(const char *text, char *expected)
{
    const char *at = text, *const end = text + strlen(text);
    for (char *one = strcmp(expected, "-") == 0 ? NULL : strtok(expected, ","); one; one = strtok(NULL, ",")) {
        const wk__span word = wk__bert_next_word(at, end);
        const char *wanted = from_digits(one);
        if (word.bytes != (int64_t)strlen(wanted) || memcmp(word.at, wanted, (size_t)word.bytes) != 0)
            fail_msg("\"%s\": \"%.*s\", not \"%s\"", text, (int)word.bytes, word.at, wanted);
        at = word.at + word.bytes;
    }
    assert_int_equal(wk__bert_next_word(at, end).bytes, 0);
}

static void normaliser_and_words(void **state)
{
    (void)state;
    static char kind[10], digits[2 * MOST], expected[2 * MOST], words[4 * MOST];
    FILE *file = open_golden("word_pieces_normal.txt");
    int bits, cases = 0;
    for (; fscanf(file, "%9s %d %8191s", kind, &bits, digits) == 3; cases++) {
        if (strcmp(kind, "all") == 0) {
            const uint64_t hash = hash_of_all(bits);
            if (hash != strtoull(digits, NULL, 16)) fail_msg("rules %d: %llx", bits, (unsigned long long)hash);
            continue;
        }
        assert_int_equal(fscanf(file, "%8191s %16383s", expected, words), 2);
        const wk__bert_rules rules = rules_of(bits);
        static char text[MOST];
        strcpy(text, from_digits(digits));
        const char *normal = from_digits(expected);
        wk__text out = {0};
        wk__text_add(&out, "");
        wk__bert_normalize(&rules, (wk__span){text, (int64_t)strlen(text)}, &out);
        if (strcmp(out.data, normal) != 0) fail_msg("rules %d, %s: \"%s\", not \"%s\"", bits, digits, out.data, normal);
        wk__text_free(&out);
        expect_words(text, words);
    }
    fclose(file);
    assert_int_equal(cases, 425);
}

/* ---- encoding and decoding --------------------------------------------------------------------------------------- */

static void encodings_agree(void **state)
{
    (void)state;
    expect_encodings("word_pieces.txt", 2 * 62);
}

/* Encoding takes time linear in the text, also for words of which no piece is known and for very long ones. */
static void long_words(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    WK_SCOPE;
    wk_text *text = wk_text_load(fixture("bert.json"));
    char *string = malloc(BYTES + 1);
    assert_non_null(string);
    memset(string, 'e', BYTES);
    string[BYTES] = '\0';
    EXPECT_VALUES(wk_text_encode(text, string), 0, 2, 1, 3);
    for (int k = 0; k < BYTES; k += 90) string[k] = ' ';
    wk_tensor *ids = wk_text_encode(text, string, .add_special_tokens = false);
    assert_true(wk_numel(ids) > BYTES / 90);
    free(string);
    expect_ok();
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void expect_same_ids(wk_text *a, wk_text *b)
{
    static const char string[] = "The Ship's\1 café, 今天 [MASK] unplayable 😀";
    wk_tensor *x = wk_text_encode(a, string), *y = wk_text_encode(b, string);
    expect_ok();
    assert_true(wk_equal(x, y));
    const char *plain = wk_text_decode(a, x, .skip_special_tokens = true);
    assert_null(strstr(plain, "[CLS]"));
    assert_string_equal(plain, wk_text_decode(b, y, .skip_special_tokens = true));
}

static void vocabulary_files(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *json = wk_text_load(fixture("bert.json")), *lines = wk_text_load(fixture("bert_vocab.txt"));
    wk_text *bert = wk_text_load_bert(fixture("bert_vocab.txt"));
    expect_ok();
    assert_int_equal(wk_text_vocabulary(bert), wk_text_vocabulary(json));
    for (int id = 0; id < wk_text_vocabulary(json); id++)
        assert_string_equal(wk_text_token(bert, id), wk_text_token(json, id));
    expect_same_ids(json, lines);
    expect_same_ids(json, bert);
    assert_int_equal(wk_text_save(bert, scratch("bert.json")), WK_OK);
    expect_same_ids(json, wk_text_load(scratch("bert.json")));
    assert_non_null(strstr(file_text(scratch("bert.json")),
                           "\"pair\": [{\"SpecialToken\": {\"id\": \"[CLS]\", \"type_id\": 0}}, "
                           "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, "
                           "{\"SpecialToken\": {\"id\": \"[SEP]\", \"type_id\": 0}}, "
                           "{\"Sequence\": {\"id\": \"B\", \"type_id\": 1}}, "
                           "{\"SpecialToken\": {\"id\": \"[SEP]\", \"type_id\": 1}}]"));
    assert_int_equal(wk_text_id(bert, "no such token"), 1);
    char word[102];
    memset(word, 'e', 101);
    word[101] = '\0';
    EXPECT_VALUES(wk_text_encode(bert, word), 0, 2, 1, 3); /* more than 100 characters */
    assert_true(wk_numel(wk_text_encode(bert, word + 1)) > 3);
    assert_int_equal(wk_text_save_gpt2(bert, scratch("v.json"), scratch("m.txt")), WK_ERR_UNSUPPORTED);
    expect_error("text_save_gpt2", NULL);
}

static wk_text *vocabulary(const char *lines, double lower, double accents, double ideographs)
{
    put_below(scratch("."), "/vocab.txt", lines);
    return wk_text_load_bert(scratch("vocab.txt"), .do_lower_case = lower, .strip_accents = accents,
                             .tokenize_chinese_chars = ideographs);
}

static void options_of_bert(void **state)
{
    (void)state;
    WK_SCOPE;
    /* ids: [UNK] 0, [CLS] 1, [SEP] 2, none 3, É 4, é 5, e 6, E 7, 今 8, ##今 9 */
    static const char lines[] = "[UNK]\n[CLS]\r\n[SEP]\n\nÉ\né\ne\nE\n今\n##今";
    EXPECT_VALUES(wk_text_encode(vocabulary(lines, true, true, true), "É E e 今今"), 0, 1, 6, 6, 6, 8, 8, 2);
    EXPECT_VALUES(wk_text_encode(vocabulary(lines, true, false, true), "É E e"), 0, 1, 5, 6, 6, 2);
    EXPECT_VALUES(wk_text_encode(vocabulary(lines, false, false, true), "É E e"), 0, 1, 4, 7, 6, 2);
    EXPECT_VALUES(wk_text_encode(vocabulary(lines, false, true, false), "É E 今今"), 0, 1, 7, 7, 8, 9, 2);
    /* defaults: lower case, and accents as .do_lower_case */
    EXPECT_VALUES(wk_text_encode(wk_text_load_bert(scratch("vocab.txt")), "É"), 0, 1, 6, 2);
    EXPECT_VALUES(wk_text_encode(wk_text_load_bert(scratch("vocab.txt"), .do_lower_case = false), "É"), 0, 1, 4, 2);
    EXPECT_VALUES(wk_text_encode(wk_text_load_bert(scratch("vocab.txt")), "今 x", .add_special_tokens = false), 0, 8,
                  0);
    expect_ok();
}

/* Results of decoders.WordPiece of the tokenizers package. */
static void decoding_removes_spaces(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const after_a[][2] = {{"n't", "an't"},
                                             {"'m", "a'm"},
                                             {"' x", "a'x"},
                                             {"do not", "a don't"},
                                             {"'s", "a's"},
                                             {"'ve", "a've"},
                                             {"'re", "a're"},
                                             {".", "a."},
                                             {"?", "a?"},
                                             {"!", "a!"},
                                             {",", "a,"},
                                             {"##ing", "aing"},
                                             {"do not.", "a don't."},
                                             {"ing", "a ing"}};
    enum { COUNT = sizeof after_a / sizeof *after_a };
    char lines[400] = "[UNK]\n[CLS]\n[SEP]\na\n";
    for (int k = 0; k < COUNT; k++) strcat(strcat(lines, after_a[k][0]), "\n");
    wk_text *text = vocabulary(lines, true, true, true);
    for (int64_t k = 0; k < COUNT; k++)
        assert_string_equal(wk_text_decode(text, wk_of(int64_t, (2), 3, 4 + k)), after_a[k][1]);
    assert_string_equal(wk_text_decode(text, wk_of(int64_t, (1), wk_text_id(text, "##ing"))), "##ing");
    assert_string_equal(wk_text_decode(text, wk_of(int64_t, (1), wk_text_id(text, "do not"))), "do not");
    expect_ok();
}

/* A tokenizer.json with further settings of its normaliser, decoder and model. */
#define SETTINGS(normalizer, decoder, model)                                                                           \
    "{\"normalizer\":{\"type\":\"BertNormalizer\"" normalizer "},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"   \
    "\"decoder\":{\"type\":\"WordPiece\"" decoder "},\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"?\"" model      \
    ",\"vocab\":{\"?\":0,\"a\":1,\"##b\":2,\"@b\":3,\"A\":4,\"\u00e9\":5,\"e\":6,\".\":7,\"\u4eca\":8,\"##\u4eca\":9," \
    "\"\u00c9\":10,\"E\":11}}}"

/* Each setting and each default changes ids or text, also after a round trip through a file. */
static void settings_of_tokenizer_json(void **state)
{
    (void)state;
    static const struct {
        const char *file, *string, *ids, *text;
    } cases[] = {
        {SETTINGS("", "", ""), "A É ab. 今今 a\1b", "1,6,1,2,7,8,8,1,2", "a e ab. 今 今 ab"},
        {SETTINGS(",\"lowercase\":false", "", ""), "A É", "4,10", "A É"},
        {SETTINGS(",\"lowercase\":false,\"strip_accents\":true", "", ""), "A É", "4,11", "A E"},
        {SETTINGS(",\"strip_accents\":false", "", ""), "A É", "1,5", "a é"},
        {SETTINGS(",\"handle_chinese_chars\":false", "", ""), "今今", "8,9", "今今"},
        {SETTINGS(",\"clean_text\":false", "", ""), "a\1b", "0", "?"},
        {SETTINGS("", ",\"cleanup\":false", ""), "ab.", "1,2,7", "ab ."},
        {SETTINGS("", "", ",\"continuing_subword_prefix\":\"@\""), "ab", "1,3", "a @b"},
        {SETTINGS("", ",\"prefix\":\"@\"", ",\"continuing_subword_prefix\":\"@\""), "ab", "1,3", "ab"},
        {SETTINGS("", "", ",\"max_input_chars_per_word\":1"), "ab a", "0,1", "? a"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        WK_SCOPE;
        put_below(scratch("."), "/settings.json", cases[k].file);
        for (int turn = 0; turn < 2; turn++) {
            wk_text *text = wk_text_load(scratch("settings.json"));
            wk_tensor *ids = wk_text_encode(text, cases[k].string);
            assert_string_equal(ids_of(ids), cases[k].ids);
            assert_string_equal(wk_text_decode(text, ids), cases[k].text);
            assert_int_equal(wk_text_save(text, scratch("settings.json")), WK_OK);
        }
    }
    WK_SCOPE;
    char word[102];
    put_below(scratch("."), "/settings.json", SETTINGS("", "", ""));
    memset(word, 'b', 101);
    word[0] = 'a', word[100] = word[101] = '\0';
    wk_text *text = wk_text_load(scratch("settings.json"));
    assert_int_equal(wk_numel(wk_text_encode(text, word)), 100); /* 100 characters at most by default */
    word[100] = 'b';
    assert_string_equal(ids_of(wk_text_encode(text, word)), "0");
}

static void malformed_vocabularies_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const cases[][2] = {
        {"", "vocab.txt: the token \"[UNK]\" is missing; expected the vocab.txt of BERT"},
        {"[UNK]\n[CLS]\n", "the token \"[SEP]\" is missing"},
        {"[UNK]\n[SEP]\n [CLS]\n", "the token \"[CLS]\" is missing"},
        {"[UNK]\n[CLS]\n[SEP]\na\na\n", "id 4 has a token that occurs twice: \"a\""},
        {"[UNK]\n[CLS]\n[SEP]\n\xff\n", "the text is not UTF-8: invalid byte 0xff (byte 18)"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_null(vocabulary(cases[k][0], true, true, true));
        assert_int_equal(wk_error_code(), WK_ERR_FORMAT);
        expect_error("text_load_bert: ", cases[k][1], NULL);
    }
    assert_null(wk_text_load_bert(scratch("missing.txt")));
    assert_int_equal(wk_error_code(), WK_ERR_IO);
    expect_error("text_load_bert", "missing.txt", NULL);
    assert_null(wk_text_load_bert(NULL));
    expect_error("text_load_bert: the path is NULL", NULL);
    /* wk_text_load takes only files with all three tokens as those of BERT */
    static const char *const others[] = {"[CLS]\n[SEP]\nword\n", "[UNK]\n[SEP]\nword\n", "[UNK]\n[CLS]\nword\n",
                                         "[UNK]x\n[CLS]\n[SEP]\n"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        put_below(scratch("."), "/vocab.txt", others[k]);
        assert_null(wk_text_load(scratch("vocab.txt")));
        expect_error("text_load", "expected \"wick vocabulary 1\"", NULL);
    }
}

/* Reads 10,000 files with changed bytes, and encodes, decodes and writes with those that are accepted. */
static void mutated_vocabularies_do_no_harm(void **state)
{
    (void)state;
    static const char good[] = "[UNK]\n[CLS]\n[SEP]\na\n##b\r\n\n##ab\n\xc3\xa9\n";
    static const char letters[] = "\n\r#[]abUNK \xc3\xa9\xff";
    const wk__bert_rules rules = rules_of(15);
    uint32_t random = 7;
    int accepted = 0;
    for (int n = 0; n < 10000; n++) {
        wk__text file = {0}, out = {0};
        wk__tokenizer *t;
        wk__io_error error;
        wk__ids ids = {0};
        wk__text_add(&file, good);
        for (int k = 0; k < 2; k++) {
            random = random * 1664525u + 1013904223u;
            file.data[(random >> 8) % (sizeof good - 1)] = letters[(random >> 24) % (sizeof letters - 1)];
        }
        const wk_code code = wk__bert_file_read(&file, &rules, &t, &error);
        if (code != WK_OK && code != WK_ERR_FORMAT) fail_msg("code %d: %s", code, error.text);
        if (code == WK_OK) {
            assert_int_equal(t->kind->encode(t, (wk__span){"ab \xc3\xa9 abab", 10}, true, &ids, &error), WK_OK);
            t->kind->decode(t, ids.at, ids.count, false, &out);
            t->kind->write(t, &out);
        }
        accepted += code == WK_OK;
        wk__tokenizer_free(t);
        wk__ids_free(&ids);
        wk__text_free(&file);
        wk__text_free(&out);
    }
    assert_true(accepted > 1000 && accepted < 9000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normaliser_and_words),
        cmocka_unit_test(encodings_agree),
        cmocka_unit_test(long_words),
        cmocka_unit_test(vocabulary_files),
        cmocka_unit_test(options_of_bert),
        cmocka_unit_test(decoding_removes_spaces),
        cmocka_unit_test(settings_of_tokenizer_json),
        cmocka_unit_test_teardown(malformed_vocabularies_are_refused, test_clean),
        cmocka_unit_test(mutated_vocabularies_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
