/* SPDX-License-Identifier: Apache-2.0 */
/* Tests text buffers: growth, allocation failures, numbers in every locale, escapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"

static void texts_are_appended(void **state)
{
    (void)state;
    wk__text t = {0};
    wk__text_add(&t, "");
    assert_string_equal(t.data, "");
    wk__text_add(&t, "tensor(");
    wk__text_add_n(&t, "1234", 2);
    wk__text_repeat(&t, ' ', 3);
    wk__text_repeat(&t, 'x', 0);
    wk__text_repeat(&t, 'x', -1);
    wk__text_format(&t, "%s=%d,%lld%c", "dim", -1, 1LL << 40, ')');
    wk__text_format(&t, "%s", "");
    assert_string_equal(t.data, "tensor(12   dim=-1,1099511627776)");
    assert_int_equal(t.length, strlen(t.data));
    assert_false(t.failed);
    wk__text_free(&t);
    assert_null(t.data);
    assert_int_equal(t.capacity, 0);
}

static void long_formats(void **state)
{
    (void)state;
    char line[5000];
    wk__text t = {0};
    for (int length = 0; length < 4999; length += 7) {
        memset(line, 'a' + length % 26, (size_t)length);
        line[length] = '\0';
        int64_t before = t.length;
        wk__text_format(&t, "%s", line);
        assert_int_equal(t.length, before + length);
        assert_string_equal(t.data + before, line);
    }
    wk__text_free(&t);
}

/* With every allocation failing in turn the text is a terminated prefix of the complete text, and marked as failed. */
static void allocation_failures(void **state)
{
    (void)state;
    char whole[2048] = "";
    for (int n = 1;; n++) {
        wk__text t = {0};
        if (n > 1) wk__alloc_fail_at(n - 1);
        for (int k = 0; k < 40; k++) {
            wk__text_format(&t, "%d of forty;", k);
            wk__text_repeat(&t, '-', 20);
        }
        wk__alloc_fail_at(0);
        if (n == 1) {
            assert_false(t.failed);
            strcpy(whole, t.data);
        } else if (!t.failed) {
            assert_true(n > 4);
            assert_string_equal(t.data, whole);
            wk__text_free(&t);
            return;
        } else if (t.data) {
            assert_true(t.length < (int64_t)strlen(whole));
            assert_int_equal(t.length, strlen(t.data));
            assert_memory_equal(t.data, whole, (size_t)t.length);
        }
        wk__text_free(&t);
    }
}

static void expect_number(double value, char style, int precision, const char *expected)
{
    char digits[400];
    int length = wk__format_double(digits, sizeof digits, value, style, precision);
    assert_string_equal(digits, expected);
    assert_int_equal(length, strlen(expected));
    wk__text t = {0};
    wk__text_double(&t, value, style, precision);
    assert_string_equal(t.data, expected);
    wk__text_free(&t);
}

static void expect_numbers(void)
{
    expect_number(3.14159265, 'f', 4, "3.1416");
    expect_number(-1234567.5, 'f', 1, "-1234567.5");
    expect_number(1e-5, 'e', 2, "1.00e-05");
    expect_number(0.1, 'g', 17, "0.10000000000000001");
    expect_number(100000, 'g', 6, "100000");
    expect_number(-0.0, 'f', 1, "-0.0");
    expect_number(2.5, 'f', 0, "2");
    expect_number(NAN, 'f', 3, "nan");
    expect_number(-NAN, 'g', 3, "nan");
    expect_number(INFINITY, 'e', 3, "inf");
    expect_number(-INFINITY, 'f', 3, "-inf");
}

static void numbers_in_the_c_locale(void **state)
{
    (void)state;
    expect_numbers();
}

static void long_numbers_fit(void **state)
{
    (void)state;
    char digits[400];
    int length = wk__format_double(digits, sizeof digits, -1.7976931348623157e308, 'f', 1000);
    assert_int_equal(length, strlen(digits));
    assert_int_equal(length, 1 + 309 + 1 + 64);
    assert_true(strtod(digits, NULL) == -1.7976931348623157e308);
    assert_int_equal(wk__format_double(digits, 5, 1.25, 'f', 8), 4); /* too small a buffer: truncated, terminated */
    assert_string_equal(digits, "1.25");
}

/* Creates a German locale in a folder of this test, which needs no rights and does not change the system. */
static bool german_locale(const char *folder)
{
    char command[256];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    bool made = system(command) == 0;
    if (made) setenv("LOCPATH", folder, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void numbers_in_a_german_locale(void **state)
{
    (void)state;
    char folder[] = "/tmp/wick-locale-XXXXXX", command[256], proof[16];
    assert_non_null(mkdtemp(folder));
    bool german = german_locale(folder);
    if (german) {
        snprintf(proof, sizeof proof, "%.1f", 1.5);
        expect_numbers();
        locale_t mine = duplocale(LC_GLOBAL_LOCALE); /* newlocale with LOCPATH leaks in glibc 2.36 */
        setlocale(LC_ALL, "C");
        assert_string_equal(proof, "1,5"); /* printf itself did change */

        /* the same if only this thread has the German locale, which must be unchanged afterwards */
        uselocale(mine);
        expect_numbers();
        snprintf(proof, sizeof proof, "%.1f", 1.5);
        uselocale(LC_GLOBAL_LOCALE);
        freelocale(mine);
        assert_string_equal(proof, "1,5");
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!german) {
        fputs("SKIPPED: no de_DE.UTF-8 and no localedef to make one (package locales)\n", stderr);
        skip();
    }
}

static void expect_escaped(const char *bytes, int64_t from, const char *want)
{
    wk__text t = {0};
    wk__text_add(&t, bytes);
    wk__text_escape(&t, from);
    assert_string_equal(t.data, want);
    assert_int_equal(t.length, strlen(want));
    wk__text_free(&t);
}

/* Any bytes become text: invalid, truncated or overlong UTF-8, and control characters. */
static void bytes_are_escaped(void **state)
{
    (void)state;
    expect_escaped("", 0, "");
    expect_escaped("plain \"text\"\n\tof lines", 0, "plain \"text\"\n\tof lines");
    expect_escaped("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\x93", 0, "h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\x93");
    expect_escaped("a\xff\x62\xc3", 0, "a\\xffb\\xc3");
    expect_escaped("\x01\x1b[31m\x7f\r", 0, "\\x01\\x1b[31m\\x7f\\x0d");
    expect_escaped("\xc0\x80 \xed\xa0\x80", 0, "\\xc0\\x80 \\xed\\xa0\\x80");
    expect_escaped("\xff.c:3: \xff", 6, "\xff.c:3: \\xff");
}

/* Without memory for a longer text each byte that cannot be shown becomes a question mark. */
static void escapes_need_no_memory(void **state)
{
    (void)state;
    wk__text t = {0};
    wk__text_add(&t, "\xc3\xa9\xff");
    wk__alloc_fail_at(1);
    wk__text_escape(&t, 0);
    wk__alloc_fail_at(0);
    assert_string_equal(t.data, "\xc3\xa9?");
    wk__text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_appended),  cmocka_unit_test(long_formats),
        cmocka_unit_test(allocation_failures), cmocka_unit_test(numbers_in_the_c_locale),
        cmocka_unit_test(long_numbers_fit),    cmocka_unit_test(numbers_in_a_german_locale),
        cmocka_unit_test(bytes_are_escaped),   cmocka_unit_test(escapes_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
