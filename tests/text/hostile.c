/* SPDX-License-Identifier: Apache-2.0 */
/* Tests malformed files of tokenizers: each is refused with a message, none is read beyond its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "hostile/tokenizers.h"
#include "support/wick.h"

#include "hostile/scratch.h"

static void malformed_files_are_refused(void **state)
{
    (void)state;
    for (int k = 0; k < TOKENIZER_CASES; k++) {
        const tokenizer_case *c = &tokenizer_cases[k];
        bytes file = tokenizer_file(c);
        wk__tokenizer *t;
        wk__io_error error;
        const wk_code code = tokenizer_read(file, &t, &error);
        if (code == WK_OK && c->word) fail_msg("accepted: %s", c->file);
        if (code != WK_OK && !c->word) fail_msg("%s: %s", error.text, c->file);
        if (c->word && code != WK_ERR_FORMAT && code != WK_ERR_UNSUPPORTED) fail_msg("code %d: %s", code, c->file);
        if (c->word && !strstr(error.text, c->word)) fail_msg("%s: %s", error.text, c->file);
        if (code == WK_OK) tokenizer_use(t);
        wk__tokenizer_free(t);
        free(file.data);
    }
}

static void every_beginning_is_refused(void **state)
{
    (void)state;
    for (int k = 0; k < TOKENIZER_CASES; k++) {
        if (tokenizer_cases[k].word) continue;
        bytes file = tokenizer_file(&tokenizer_cases[k]);
        for (int64_t length = 0; length < file.count; length++) {
            bytes begin = bytes_copy(file.data, length);
            wk__tokenizer *t;
            wk__io_error error;
            if (tokenizer_read(begin, &t, &error) == WK_OK) fail_msg("accepted: %.*s", (int)length, begin.data);
            wk__tokenizer_free(t);
            free(begin.data);
        }
        free(file.data);
    }
}

/* Reads 100,000 files with changed bytes. */
static void mutated_files_do_no_harm(void **state)
{
    (void)state;
    uint64_t random = 5;
    int valid = 0, accepted = 0;
    for (int k = 0; k < TOKENIZER_CASES; k++) valid += !tokenizer_cases[k].word;
    for (int k = 0; k < TOKENIZER_CASES; k++) {
        if (tokenizer_cases[k].word) continue;
        bytes good = tokenizer_file(&tokenizer_cases[k]);
        for (int n = 0; n < 100000 / valid; n++) {
            bytes bad = mutate(good, "{}[]\",:\\0123456789 abt\n", &random);
            wk__tokenizer *t;
            wk__io_error error;
            const wk_code code = tokenizer_read(bad, &t, &error);
            if (code != WK_OK && code != WK_ERR_FORMAT && code != WK_ERR_UNSUPPORTED)
                fail_msg("code %d: %s", code, error.text);
            if (code != WK_OK && strlen(error.text) < 10) fail_msg("no message");
            if (code == WK_OK) tokenizer_use(t);
            accepted += code == WK_OK;
            wk__tokenizer_free(t);
            free(bad.data);
        }
        free(good.data);
    }
    assert_true(accepted > 1000);
}

/* Reads a tokenizer, then encodes, decodes and writes with it, while allocation n fails; 0: none. Fails the test unless
 * the ids equal *expected, which the call with n = 0 stores. Returns true if no allocation failed. */
static bool without_memory(bytes file, int64_t n, wk__ids *expected)
{
    static const char string[] = "A b  ab<b> 12 _a\xcc\x81\xcc\xa3\nB";
    wk__tokenizer *t;
    wk__ids ids = {0};
    wk__text text = {0};
    wk__io_error error;
    const int64_t before = wk__alloc_count();
    wk__alloc_fail_at(n);
    wk_code code = tokenizer_read(file, &t, &error);
    if (code == WK_OK) {
        code = t->kind->encode(t, (wk__span){string, sizeof string - 1}, true, &ids, &error);
        if (code == WK_OK && !ids.failed) t->kind->decode(t, ids.at, ids.count, true, &text);
        t->kind->write(t, &text);
    }
    wk__alloc_fail_at(0);
    const bool failed = n > 0 && wk__alloc_count() - before >= n;
    if (n == 0) *expected = ids;
    const bool whole = code == WK_OK && !ids.failed;
    if (whole && (ids.count != expected->count ||
                  (ids.count > 0 && memcmp(ids.at, expected->at, (size_t)ids.count * sizeof *ids.at) != 0)))
        fail_msg("other ids after request %lld failed", (long long)n);
    if (code != WK_OK && code != WK_ERR_MEMORY && code != WK_ERR_ARGUMENT) fail_msg("%s", error.text);
    if (!failed && (code == WK_ERR_MEMORY || ids.failed || text.failed)) fail_msg("no request failed");
    wk__tokenizer_free(t);
    if (n > 0) wk__ids_free(&ids);
    wk__text_free(&text);
    return !failed;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int k = 0; k < TOKENIZER_CASES; k++) {
        if (tokenizer_cases[k].word) continue;
        bytes file = tokenizer_file(&tokenizer_cases[k]);
        wk__ids expected = {0};
        int64_t n = 1;
        without_memory(file, 0, &expected);
        while (!without_memory(file, n, &expected)) n++;
        wk__ids_free(&expected);
        assert_true(n > 5);
        free(file.data);
    }
}

static void merges_files(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const cases[][3] = {
        {"{\"a\": 0, \"b\": 1, \"ab\": 2}", "#version: 0.2\na b\n", NULL},
        {"{\"a\": 0, \"b\": 1, \"ab\": 2}", "a b\r\n\r\n", NULL},
        {"{\"a\": 0, \"b\": 1, \"ab\": 2}", "a b", NULL},
        {"{\"a\": 0}", "", NULL},
        {"{}", "", "vocab.json: the vocabulary is empty"},
        {"{\"a\": 0} ,", "", "vocab.json: the file ends, but more follows (byte 9)"},
        {"[\"a\"]", "", "vocab.json: expected '{', found '[' (byte 0)"},
        {"{\"a\": 0}", "a b c\n", "merges.txt: line 1: merge 0 is \"a b c\""},
        {"{\"a\": 0}", "#version: 0.2\n\nab\n", "merges.txt: line 3: merge 0 is \"ab\""},
        {"{\"a\": 0}", "a \xff\n", "merges.txt: the text is not UTF-8: invalid byte 0xff (byte 2)"},
        {"{\"a\": 0}", "a b\n", "merge 0: the token \"b\" is not in the vocabulary"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        put_below(scratch("."), "/vocab.json", cases[k][0]);
        put_below(scratch("."), "/merges.txt", cases[k][1]);
        char vocab[4096];
        snprintf(vocab, sizeof vocab, "%s", scratch("vocab.json"));
        wk_text *text = wk_text_load_gpt2(vocab, scratch("merges.txt"));
        if (cases[k][2])
            expect_error("text_load_gpt2: ", cases[k][2], NULL);
        else
            assert_non_null(text);
        expect_ok();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(malformed_files_are_refused, test_clean),
        cmocka_unit_test_teardown(every_beginning_is_refused, test_clean),
        cmocka_unit_test_teardown(mutated_files_do_no_harm, test_clean),
        cmocka_unit_test_teardown(every_allocation_may_fail, test_clean),
        cmocka_unit_test_teardown(merges_files, test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
