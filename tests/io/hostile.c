/* SPDX-License-Identifier: Apache-2.0 */
/* Tests malicious safetensors files: each is rejected with an error that names problem and position, or is read as it
 * is; none may crash, leak or allocate memory out of proportion to its size. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

#include "hostile/check_safetensors.h"
#include "hostile/safetensors.h"

static wk_code parse(bytes file, wk__safetensors *out, wk__io_error *error)
{
    return wk__safetensors_parse(file.data, file.count, file.count, out, error);
}

/* Parses and releases a file; fails the test if the result is inconsistent. */
static wk_code try_file(bytes file, wk__io_error *error)
{
    wk__safetensors out;
    wk_code code = parse(file, &out, error);
    if (code != WK_OK) return code;
    const char *problem = check_parsed(&out, file.count);
    if (!problem) problem = check_written(&out);
    if (problem) fail_msg("%s", problem);
    wk__safetensors_end(&out);
    return WK_OK;
}

static void check_error(const wk__io_error *error, wk_code code, const char *word, const char *what)
{
    if (code != WK_ERR_FORMAT || error->code != code || !strstr(error->text, word))
        fail_msg("%s: code %d, \"%s\" does not contain \"%s\"", what, code, code ? error->text : "", word);
    if (!strstr(error->text, "byte")) fail_msg("%s: \"%s\" does not name the position", what, error->text);
}

static void written_by_hand(void **state)
{
    (void)state;
    int hostile = 0;
    for (int k = 0; k < SAFETENSORS_CASES; k++) {
        const safetensors_case *one = &safetensors_cases[k];
        bytes file = safetensors_file(one);
        wk__io_error error = {0};
        wk_code code = try_file(file, &error);
        if (one->word)
            check_error(&error, code, one->word, one->header);
        else if (code != WK_OK)
            fail_msg("%s: %s", one->header, error.text);
        hostile += one->word != NULL;
        free(file.data);
    }
    assert_true(hostile >= 60);
}

/* ---- files that are too long to write down ------------------------------------------------------------------------
 */

/* Repeats `piece`, with its number in place of %d, between `begin` and `end`. */
static bytes repeated(const char *begin, const char *piece, int64_t count, const char *end)
{
    wk__text text = {0};
    wk__text_repeat(&text, '\0', 8);
    wk__text_add(&text, begin);
    const char *number = strchr(piece, '%');
    for (int64_t k = 0; k < count; k++) {
        if (!number) {
            wk__text_add(&text, piece);
            continue;
        }
        wk__text_add_n(&text, piece, number - piece);
        wk__text_format(&text, "%lld", (long long)k);
        wk__text_add(&text, number + 1);
    }
    wk__text_add(&text, end);
    put_u64(text.data, (uint64_t)text.length - 8);
    bytes file = bytes_copy(text.data, text.length);
    wk__text_free(&text);
    return file;
}

static void long_ones(void **state)
{
    (void)state;
    const struct {
        const char *begin, *piece, *end;
        int64_t count;
        const char *word;
    } cases[] = {
        {"{\"a\":", "{\"a\":", "", 1000000, "unknown key \"a\""},
        {"{\"a\":{\"shape\":", "[", "", 1000000, "non-negative integer"},
        {"", "{", "", 1000000, "expected a string"},
        {"", "[", "", 1000000, "expected '{'"},
        {"{\"", "{", "\"}", 3000000, "longer than 4096 bytes"},
        {"{\"", "n", "\":1}", 4097, "longer than 4096 bytes"},
        {"{\"a\":{\"shape\":[", "1,", "1]}}", 100000, "more than 8 dimensions"},
        {"{\"a\":{\"shape\":[", "9", "]}}", 100000, "exceeds 9223372036854775807"},
        {"{\"a\":{\"shape\":[", "0", "]}}", 100000, "leading zero"},
        {"{\"a\":{\"dtype\":\"", "F", "\"}}", 100000, "unknown dtype \"FFF"},
        {"{\"__metadata__\":{", "\"%\":\"\",", "\"x\":\"\"}}", 65536, "more than 65536 pairs"},
        {"{\"__metadata__\":{", "\"k\":\"\",", "\"x\":\"\"}}", 60000, "duplicate key \"k\""},
        {"{", "\"n\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},",
         "\"x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 50000, "duplicate tensor \"n\""},
        {"{", "\"%\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},",
         "\"x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 1 << 20, "more than 1048576 tensors"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bytes file = repeated(cases[k].begin, cases[k].piece, cases[k].count, cases[k].end);
        wk__io_error error = {0};
        wk_code code = try_file(file, &error);
        check_error(&error, code, cases[k].word, cases[k].begin);
        free(file.data);
    }
}

static void many_tensors_are_read(void **state)
{
    (void)state;
    bytes file = repeated("{", "\"t%\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},", 99999,
                          "\"x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}     ");
    wk__io_error error = {0};
    if (try_file(file, &error) != WK_OK) fail_msg("%s", error.text);
    free(file.data);
}

/* ---- files that were good -----------------------------------------------------------------------------------------
 */

static bytes good_file(void)
{
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\",\"\\ud83d\\ude00\":\"\xc3\xa9\\n\"},"
                                 "\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                                 "\"empty\":{\"dtype\":\"I64\",\"shape\":[0,7],\"data_offsets\":[24,24]},"
                                 "\"bias \\u00e4\":{\"data_offsets\":[26,27],\"dtype\":\"BOOL\",\"shape\":[]},"
                                 "\"h\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[24,26]}}   ";
    safetensors_case good = {.header = header, .length = sizeof header - 1, .data = 27};
    return safetensors_file(&good);
}

/* Each prefix, with and without N adjusted to the rest of the header. */
static void every_truncation(void **state)
{
    (void)state;
    bytes good = good_file();
    int64_t header_bytes = good.count - 27 - 8;
    for (int64_t count = 0; count < good.count; count++) {
        bytes cut = bytes_copy(good.data, count);
        wk__io_error error = {0};
        check_error(&error, try_file(cut, &error), "truncated", "cut");
        if (count >= 8 && count < 8 + header_bytes) {
            put_u64(cut.data, (uint64_t)count - 8);
            if (try_file(cut, &error) == WK_OK) fail_msg("%lld bytes were enough", (long long)count);
        }
        free(cut.data);
    }
    free(good.data);
}

static void every_bit_flipped(void **state)
{
    (void)state;
    bytes good = good_file();
    wk__io_error error;
    assert_int_equal(try_file(good, &error), WK_OK);
    for (int64_t bit = 0; bit < 8 * (good.count - 27); bit++) {
        bytes bad = bytes_copy(good.data, good.count);
        bad.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        try_file(bad, &error);
        free(bad.data);
    }
    free(good.data);
}

static void mutations(void **state)
{
    (void)state;
    bytes good = good_file();
    uint64_t random = 20261121;
    for (int k = 0; k < 20000; k++) {
        bytes bad = mutate(good, "{}[]\",:\\u0123456789eE+-. \n", &random);
        wk__io_error error = {0};
        wk_code code = try_file(bad, &error);
        if (code != WK_OK && code != WK_ERR_FORMAT) fail_msg("code %d: %s", code, error.text);
        free(bad.data);
    }
    free(good.data);
}

static void header_in_part(void **state)
{
    (void)state;
    bytes good = good_file();
    wk__safetensors out;
    wk__io_error error;
    for (int64_t known = 0; known < good.count - 27; known++)
        assert_int_not_equal(wk__safetensors_parse(good.data, known, good.count, &out, &error), WK_OK);
    assert_int_equal(wk__safetensors_parse(good.data, good.count - 27, good.count, &out, &error), WK_OK);
    wk__safetensors_end(&out);
    free(good.data);
}

static void every_allocation_fails(void **state)
{
    (void)state;
    bytes good = good_file();
    wk__safetensors out;
    wk__io_error error;
    int64_t n = 0;
    for (wk_code code = WK_ERR_MEMORY; code != WK_OK; n++) {
        wk__alloc_fail_at(n + 1);
        code = parse(good, &out, &error);
        assert_true(code == WK_OK || code == WK_ERR_MEMORY);
        if (code == WK_ERR_MEMORY) assert_non_null(strstr(error.text, "memory"));
    }
    wk__alloc_fail_at(0);
    assert_true(n >= 4);
    wk__safetensors_end(&out);
    free(good.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_by_hand),       cmocka_unit_test(long_ones),
        cmocka_unit_test(many_tensors_are_read), cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_bit_flipped),     cmocka_unit_test(mutations),
        cmocka_unit_test(header_in_part),        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
