/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the reader of PGM and PPM files: scaling of samples, and malicious files. */
#include "base/alloc.h"
#include "hostile/pnm.h"
#include "report/image_file.h"
#include "support/wick.h"

static wk_code parse(bytes file, wk__pixels *out, wk__io_error *error)
{
    return wk__pnm_read(file.data, file.count, 0, out, error);
}

static void expect_samples(const char *start, size_t length, int channels, const uint8_t *expected, int count)
{
    wk__io_error error = {0};
    wk__pixels out;
    bytes file = bytes_copy(start, (int64_t)length);
    if (parse(file, &out, &error) != WK_OK) fail_msg("%s: %s", start, error.text);
    assert_int_equal(out.channels, channels);
    assert_int_equal(wk__pixels_count(&out) * channels, count);
    assert_memory_equal(out.data, expected, (size_t)count);
    wk__free(out.data);
    free(file.data);
}

static void samples_are_scaled_to_255(void **state)
{
    (void)state;
    expect_samples(PNM("P5 3 1 255 \x00\x7f\xff"), 1, (const uint8_t[]){0, 127, 255}, 3);
    expect_samples(PNM("P5 2 1 1 \x00\x01"), 1, (const uint8_t[]){0, 255}, 2);
    expect_samples(PNM("P5 3 1 100 \x01\x32\xff"), 1, (const uint8_t[]){3, 128, 255}, 3);
    expect_samples(PNM("P5 3 1 65535 \x00\x80\x00\x81\xff\xff"), 1, (const uint8_t[]){0, 1, 255}, 3);
    expect_samples(PNM("P5 2 1 256 \x00\x80\x01\x00"), 1, (const uint8_t[]){128, 255}, 2);
    expect_samples(PNM("P6 1 2 255 abcdef"), 3, (const uint8_t *)"abcdef", 6);
    expect_samples(PNM("P6 1 1 255 abcdef"), 3, (const uint8_t *)"abc", 3);
}

static void written_by_hand(void **state)
{
    (void)state;
    for (int k = 0; k < PNM_CASES; k++) {
        bytes file = pnm_file(&pnm_cases[k]);
        wk__io_error error = {0};
        wk__pixels out;
        const wk_code code = parse(file, &out, &error);
        const char *word = pnm_cases[k].word;
        if ((code == WK_OK) != !word || (word && !strstr(error.text, word)))
            fail_msg("file %d: code %d, \"%s\" does not contain \"%s\"", k, (int)code, error.text, word ? word : "");
        if (code == WK_OK) wk__free(out.data);
        free(file.data);
    }
}

static bytes good_file(void)
{
    return bytes_copy("P6\n# two by two\n2 2\n255\n0123456789ab", 36);
}

static void every_truncation_and_bit(void **state)
{
    (void)state;
    bytes good = good_file();
    wk__io_error error;
    wk__pixels out;
    for (int64_t count = 2; count < good.count; count++) {
        bytes cut = bytes_copy(good.data, count);
        assert_int_equal(parse(cut, &out, &error), WK_ERR_FORMAT);
        if (!strstr(error.text, "truncated")) fail_msg("%d bytes: %s", (int)count, error.text);
        free(cut.data);
    }
    for (int64_t bit = 16; bit < 8 * good.count; bit++) {
        bytes bad = bytes_copy(good.data, good.count);
        bad.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (parse(bad, &out, &error) == WK_OK) wk__free(out.data);
        free(bad.data);
    }
    free(good.data);
}

static void mutations(void **state)
{
    (void)state;
    uint64_t random = 20261128;
    bytes good = good_file();
    for (int k = 0; k < 20000; k++) {
        bytes bad = mutate(good, "0123456789 \n#P56", &random);
        wk__io_error error = {0};
        wk__pixels out;
        const wk_code code = bad.count < 2 ? WK_ERR_FORMAT : parse(bad, &out, &error);
        if (code != WK_OK && code != WK_ERR_FORMAT) fail_msg("code %d: %s", (int)code, error.text);
        if (code == WK_OK) wk__free(out.data);
        free(bad.data);
    }
    free(good.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_scaled_to_255),
        cmocka_unit_test(written_by_hand),
        cmocka_unit_test(every_truncation_and_bit),
        cmocka_unit_test(mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
