/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the tokenizers package, as files of tests/goldens have them. Texts are hexadecimal digits; "-": empty. */
#ifndef TESTS_TEXT_GOLDENS_H
#define TESTS_TEXT_GOLDENS_H

#include "hostile/scratch.h"
#include "support/wick.h"

enum { MOST = 4096 };

/* Returns the text of hexadecimal digits; valid until the fourth call after this one. */
static inline const char *from_digits(const char *digits)
{
    static char texts[4][MOST];
    static int next;
    char *out = texts[next = (next + 1) % 4];
    size_t bytes = strcmp(digits, "-") == 0 ? 0 : strlen(digits) / 2;
    assert_true(bytes < MOST);
    for (size_t k = 0; k < bytes; k++) {
        const char pair[] = {digits[2 * k], digits[2 * k + 1], '\0'};
        out[k] = (char)strtol(pair, NULL, 16);
    }
    out[bytes] = '\0';
    return out;
}

static inline FILE *open_golden(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "tests/goldens/%s", name);
    FILE *file = fopen(source_file(path), "r");
    assert_non_null(file);
    return file;
}

static inline const char *fixture(const char *name)
{
    return fixture_file("text", name);
}

/* Appends numbers as "1,2,3" to out; "-" if there are none. */
static inline void list_numbers(const int64_t *numbers, int64_t count, char *out)
{
    strcpy(out, count == 0 ? "-" : "");
    for (int64_t k = 0; k < count; k++) out += sprintf(out, "%s%lld", k > 0 ? "," : "", (long long)numbers[k]);
}

static inline const char *ids_of(wk_tensor *ids)
{
    static char out[8 * MOST];
    static int64_t numbers[MOST];
    expect_ok();
    assert_true(wk_numel(ids) <= MOST);
    wk_read(ids, numbers, (size_t)wk_numel(ids) * sizeof *numbers);
    list_numbers(numbers, wk_numel(ids), out);
    return out;
}

/* Checks the ids and decoded texts of a file of `expected_cases` lines: the name of a tokenizer, 1 if special tokens
 * are added, a text, its ids, and the text of the ids with and without special tokens. */
static inline void expect_encodings(const char *golden, int expected_cases)
{
    WK_SCOPE;
    FILE *file = open_golden(golden);
    static char name[100], last[100], digits[2 * MOST], ids[4 * MOST], plain[2 * MOST], shorter[2 * MOST];
    wk_text *text = NULL;
    int special, cases = 0;
    while (fscanf(file, "%99s %d %8191s %16383s %8191s %8191s", name, &special, digits, ids, plain, shorter) == 6) {
        if (strcmp(name, last) != 0) {
            wk_text *given = wk_text_load(fixture(name));
            expect_ok();
            /* the cases run with the tokenizer as read, and after a round trip through a file */
            assert_int_equal(wk_text_save(given, scratch("again.json")), WK_OK);
            text = cases % 2 == 0 ? given : wk_text_load(scratch("again.json"));
            expect_ok();
            strcpy(last, name);
        }
        for (int turn = 0; turn < 2; turn++) {
            WK_SCOPE;
            wk_text *used = turn == 0 ? text : wk_text_load(scratch("again.json"));
            const char *string = from_digits(digits);
            wk_tensor *got = wk_text_encode(used, string, .add_special_tokens = special != 0);
            if (strcmp(ids_of(got), ids) != 0) fail_msg("%s, \"%s\": %s, not %s", name, string, ids_of(got), ids);
            const char *decoded = wk_text_decode(used, got), *expected = from_digits(plain);
            if (strcmp(decoded, expected) != 0) fail_msg("%s, \"%s\": \"%s\"", name, expected, decoded);
            decoded = wk_text_decode(used, got, .skip_special_tokens = true), expected = from_digits(shorter);
            if (strcmp(decoded, expected) != 0) fail_msg("%s without special tokens: \"%s\"", name, decoded);
        }
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, expected_cases);
}

#endif
