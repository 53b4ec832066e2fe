/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_generate_text with networks that continue each token with one that the test chooses: pieces of complete
 * characters, stop texts, callbacks and messages. */
#include "hostile/scratch.h"
#include "support/wick.h"

enum { MOST_TOKENS = 512, MOST_PIECES = 64, PIECE = 64 };

/* ---- networks and callbacks -------------------------------------------------------------------------------------- */

/* Returns a network that continues tokens[k] with tokens[k + 1], and the last one with the first. */
static wk_module *circle(int64_t vocabulary, const int64_t *tokens, int count)
{
    WK_NO_GRAD;
    static float scores[MOST_TOKENS * MOST_TOKENS];
    assert_true(vocabulary <= MOST_TOKENS);
    memset(scores, 0, sizeof scores);
    for (int k = 0; k < count; k++) scores[tokens[k] * vocabulary + tokens[(k + 1) % count]] = 1;
    wk_module *net = wk_nn_embedding(vocabulary, vocabulary);
    wk_copy_(wk_module_parameter(net, "weight"), wk_from(scores, (vocabulary, vocabulary)));
    return net;
}

/* Returns a network that repeats a text, whose tokens must differ. */
static wk_module *repeat(wk_text *text, const char *string)
{
    int64_t tokens[64];
    wk_tensor *ids = wk_text_encode(text, string);
    assert_true(wk_numel(ids) <= 64);
    assert_int_equal(wk_read(ids, tokens, (size_t)wk_numel(ids) * sizeof *tokens), WK_OK);
    return circle(wk_text_vocabulary(text), tokens, (int)wk_numel(ids));
}

/* Pieces and tokens that callbacks have received. */
typedef struct received {
    char piece[MOST_PIECES][PIECE];
    int pieces, most, tokens; /* most: pieces after which .on_text ends the generation; 0: never */
} received;

static bool take_piece(const char *piece, void *user)
{
    received *r = user;
    assert_true(r->pieces < MOST_PIECES && strlen(piece) < PIECE && *piece);
    strcpy(r->piece[r->pieces++], piece);
    return r->pieces != r->most;
}

static bool count_token(const int64_t *tokens, int64_t rows, void *user)
{
    assert_true(tokens[0] >= 0 && rows == 1);
    ((received *)user)->tokens++;
    return true;
}

static void expect_pieces(const received *r, const char *joined)
{
    char all[MOST_PIECES * PIECE] = "";
    for (int k = 0; k < r->pieces; k++) {
        if (k > 0) strcat(all, "|");
        strcat(all, r->piece[k]);
    }
    assert_string_equal(all, joined);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static void characters_are_passed_one_by_one(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_chars_of("abcd");
    received r = {.pieces = 0};
    const char *more = wk_generate_text(repeat(text, "abcd"), text, "ab", .max_new_tokens = 5, .on_text = take_piece,
                                        .on_token = count_token, .user = &r);
    assert_string_equal(more, "cdabc");
    expect_pieces(&r, "c|d|a|b|c");
    assert_int_equal(r.tokens, 5);
    assert_string_equal(wk_generate_text(repeat(text, "abcd"), text, "d"), "abcdabcdabcdabcdabcd");
    expect_ok();
}

static void words_begin_with_their_space(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_words_of("the time machine", .reserved_tokens = "<eos>");
    received r = {.pieces = 0};
    const char *more = wk_generate_text(repeat(text, "the time machine"), text, "the", .max_new_tokens = 4,
                                        .on_text = take_piece, .user = &r);
    assert_string_equal(more, " time machine the time");
    expect_pieces(&r, " time| machine| the| time");
    expect_ok();
}

/* The bytes of characters outside ASCII are tokens of their own. */
static void pieces_are_complete_characters(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_bpe_train_of("a", 256);
    received r = {.pieces = 0}, cut = {.pieces = 0};
    wk_module *net = repeat(text, "a\xc3\xa9\xe2\x82\xac"); /* a, e with acute accent, euro sign */
    const char *more = wk_generate_text(net, text, "a", .max_new_tokens = 12, .on_text = take_piece, .user = &r);
    assert_string_equal(more, "\xc3\xa9\xe2\x82\xac"
                              "a\xc3\xa9\xe2\x82\xac"
                              "a");
    expect_pieces(&r, "\xc3\xa9|\xe2\x82\xac|a|\xc3\xa9|\xe2\x82\xac|a");
    more = wk_generate_text(net, text, "a", .max_new_tokens = 4, .on_text = take_piece, .user = &cut);
    assert_string_equal(more, "\xc3\xa9\xef\xbf\xbd"); /* ends within the euro sign */
    expect_pieces(&cut, "\xc3\xa9|\xef\xbf\xbd");
    expect_ok();
}

static void the_character_zero_is_replaced(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_bpe_train_of("a", 256);
    const int64_t tokens[] = {wk_text_id(text, "a"), wk_text_id(text, "\u0100"), wk_text_id(text, "b")};
    received r = {.pieces = 0};
    const char *more =
        wk_generate_text(circle(256, tokens, 3), text, "a", .max_new_tokens = 5, .on_text = take_piece, .user = &r);
    assert_string_equal(more, "\ufffdba\ufffdb");
    expect_pieces(&r, "\ufffd|b|a|\ufffd|b");
}

static void special_and_unknown_tokens_have_no_text(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_bpe_train_of("ab", 300, .special_tokens = "<|end|>");
    const int64_t a = wk_text_id(text, "a"), b = wk_text_id(text, "b"), end = wk_text_id(text, "<|end|>");
    const int64_t vocabulary = wk_text_vocabulary(text), tokens[] = {a, vocabulary + 3, b, end};
    wk_module *net = circle(vocabulary + 8, tokens, 4);
    assert_string_equal(wk_generate_text(net, text, "a", .max_new_tokens = 7), "bab");
    received r = {.pieces = 0};
    const char *more = wk_generate_text(net, text, "a", .max_new_tokens = 7, .eos_token_id = (double)end,
                                        .on_text = take_piece, .user = &r);
    assert_string_equal(more, "b");
    expect_pieces(&r, "b");
    expect_ok();
}

/* ---- tokenizers of transformers ---------------------------------------------------------------------------------- */

/* The ids that a network writes one after another. */
static wk_tensor *script;
static int64_t script_vocabulary;

static wk_tensor *follow_script(wk_module *self, wk_tensor *x)
{
    (void)self;
    wk_tensor *next = wk_narrow(script, 0, wk_size(x, 1), 1);
    return wk_unsqueeze(wk_to_dtype(wk_one_hot(next, script_vocabulary), WK_F32), 0);
}

/* Writes to prompt the shortest beginning of a text whose tokens begin those of the text, and makes the script: the
 * tokens of the prompt as wk_generate_text encodes it, and the others of the text. Returns the number of the former. */
static int64_t make_script(wk_text *text, const char *all, char *prompt)
{
    wk_tensor *plain = wk_text_encode(text, all, .add_special_tokens = false);
    for (size_t bytes = 1; all[bytes]; bytes++) {
        snprintf(prompt, bytes + 1, "%s", all);
        if ((all[bytes] & 0xc0) == 0x80) continue; /* within a character */
        wk_tensor *ids = wk_text_encode(text, prompt, .add_special_tokens = false);
        const int64_t count = wk_numel(ids), left = wk_numel(plain) - count;
        if (left < 1 || !wk_equal(wk_narrow(plain, 0, 0, count), ids)) continue;
        wk_tensor *begun = wk_text_encode(text, prompt);
        script = wk_cat((begun, wk_narrow(plain, 0, count, left)), 0);
        return wk_numel(begun);
    }
    fail_msg("the text is one token");
    return 0;
}

/* Decoding token by token gives the same text as decoding all tokens. */
static void pieces_are_the_text_of_all_tokens(void **state)
{
    (void)state;
    static const char *const names[] = {"gpt2",   "llama2",    "llama3",     "qwen2",  "gemma",
                                        "smollm", "metaspace", "metaspace2", "roberta"};
    static const wk_module_kind kind = {.size = sizeof kind, .name = "script", .forward1 = follow_script};
    static const char all[] = "The time was, by na\xc3\xafve \xe2\x82\xac"
                              "100 ways;\n\n  12 \xf0\x9f\x98\x80!";
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        WK_SCOPE;
        char path[200], prompt[sizeof all], both[200], joined[400] = "";
        snprintf(path, sizeof path, "tests/fixtures/text/%s.json", names[k]);
        wk_text *text = wk_text_load(source_file(path));
        const int64_t begun = make_script(text, all, prompt);
        script_vocabulary = wk_text_vocabulary(text);
        received r = {.pieces = 0};
        const char *more =
            wk_generate_text(wk_module_new(&kind), text, prompt, .max_new_tokens = wk_numel(script) - begun,
                             .on_text = take_piece, .user = &r);
        expect_ok();
        for (int i = 0; i < r.pieces; i++) strcat(joined, r.piece[i]);
        assert_string_equal(joined, more);
        snprintf(both, sizeof both, "%s%s",
                 wk_text_decode(text, wk_narrow(script, 0, 0, begun), .skip_special_tokens = true), more);
        assert_string_equal(both, wk_text_decode(text, script, .skip_special_tokens = true));
        assert_true(r.pieces > 8);
        expect_ok();
    }
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static void stop_texts_end_the_text(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const one[] = {"fab"}, *const two[] = {"ef", "cdx"}, *const none[] = {"xyz", "dd"};
    wk_text *text = wk_text_chars_of("abcdefxyz");
    wk_module *net = repeat(text, "abcdef");
    received r = {.pieces = 0}, s = {.pieces = 0}, t = {.pieces = 0};
    const char *more = wk_generate_text(net, text, "a", .stop = one, .stop_count = 1, .on_text = take_piece,
                                        .on_token = count_token, .user = &r);
    assert_string_equal(more, "bcde");
    expect_pieces(&r, "b|c|d|e");
    assert_int_equal(r.tokens, 7);
    more = wk_generate_text(net, text, "a", .stop = two, .stop_count = 2, .on_text = take_piece, .user = &s);
    assert_string_equal(more, "bcd");
    expect_pieces(&s, "b|cd"); /* c waits: it may begin cdx */
    more = wk_generate_text(net, text, "a", .max_new_tokens = 3, .stop = none, .stop_count = 2, .on_text = take_piece,
                            .user = &t);
    assert_string_equal(more, "bcd");
    expect_pieces(&t, "b|c|d");
    expect_ok();
}

static void the_callback_may_stop(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_chars_of("abcd");
    received r = {.most = 3};
    const char *more = wk_generate_text(repeat(text, "abcd"), text, "a", .on_text = take_piece, .user = &r);
    assert_string_equal(more, "bcd");
    expect_pieces(&r, "b|c|d");
    expect_ok();
}

static void beam_search_returns_the_text(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const stop[] = {"da"};
    wk_text *text = wk_text_chars_of("abcd");
    wk_module *net = repeat(text, "abcd");
    assert_string_equal(wk_generate_text(net, text, "a", .max_new_tokens = 5, .num_beams = 2), "bcdab");
    assert_string_equal(
        wk_generate_text(net, text, "a", .max_new_tokens = 5, .num_beams = 2, .stop = stop, .stop_count = 1), "bc");
    expect_ok();
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static bool take_and_fail(const char *piece, void *user)
{
    (void)piece;
    (void)user;
    wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
    return true;
}

static void bad_input_is_reported(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const empty[] = {"a", ""};
    wk_text *text = wk_text_chars_of("abcd");
    wk_module *net = repeat(text, "abcd");
    wk_generate_text(net, text, "");
    expect_error("generate_text: the prompt has no tokens; begin with at least one character", NULL);
    wk_generate_text(net, text, "xyz");
    expect_error("generate_text: the character \"x\"", "is not in the vocabulary", NULL);
    wk_generate_text(net, text, "a", .stop = empty, .stop_count = 2);
    expect_error("generate_text: a text of .stop is empty or NULL", NULL);
    wk_generate_text(net, text, "a", .stop = empty);
    expect_error("generate_text: .stop_count must be the number of texts in .stop, got 0", NULL);
    wk_generate_text(net, text, "a", .mask = wk_ones((1, 1), .dtype = WK_BOOL));
    expect_error("generate_text: .mask is for wk_generate; a prompt has no padding", NULL);
    wk_generate_text(net, text, "a", .num_beams = 2, .on_text = take_piece);
    expect_error("generate_text: .on_text cannot be used with .num_beams", NULL);
    wk_generate_text(net, text, "a", .top_k = 2);
    expect_error("generate_text: .top_k = 2 needs .do_sample = true", NULL);
    wk_module *small = wk_nn_gpt(.vocab_size = 2, .n_positions = 32, .n_embd = 8, .n_layer = 1, .n_head = 2);
    wk_generate_text(small, text, "abc");
    expect_error(
        "generate_text: token 2 is not in the model, which has 2 tokens (valid: [0, 2)); encode texts with the "
        "vocabulary of this model",
        NULL);
    assert_null(wk_generate_text(net, text, "a", .on_text = take_and_fail));
    expect_error("matmul", ".on_text of generate_text", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_passed_one_by_one),
        cmocka_unit_test(words_begin_with_their_space),
        cmocka_unit_test(pieces_are_complete_characters),
        cmocka_unit_test(the_character_zero_is_replaced),
        cmocka_unit_test(special_and_unknown_tokens_have_no_text),
        cmocka_unit_test(pieces_are_the_text_of_all_tokens),
        cmocka_unit_test(stop_texts_end_the_text),
        cmocka_unit_test(the_callback_may_stop),
        cmocka_unit_test(beam_search_returns_the_text),
        cmocka_unit_test(bad_input_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
