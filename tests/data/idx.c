/* SPDX-License-Identifier: Apache-2.0 */
/* Tests IDX files: the digits of the repository, every dtype, plain and compressed, and malicious files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <unistd.h>

#include "data/idx.h"
#include "hostile/idx.h"
#include "hostile/scratch.h"

#define GOOD(call)                                                                                                     \
    if ((call) != WK_OK) fail_msg("%s: %s", #call, error.text)

static wk_code parse(bytes file, wk__idx *out, wk__io_error *error)
{
    return wk__idx_parse(file.data, file.count, out, error);
}

/* ---- what is well -------------------------------------------------------------------------------------------------
 */

static void digits(void **state)
{
    (void)state;
    wk__io_error error;
    wk__idx images, labels;
    GOOD(wk__idx_read(source_file("data/mnist/t10k-images-idx3-ubyte.gz"), &images, &error));
    GOOD(wk__idx_read(source_file("data/mnist/t10k-labels-idx1-ubyte.gz"), &labels, &error));
    assert_int_equal(images.dtype, WK_U8);
    assert_int_equal(images.ndim, 3);
    assert_int_equal(images.shape[0], 10000);
    assert_int_equal(images.shape[1], 28);
    assert_int_equal(images.shape[2], 28);
    assert_int_equal(images.bytes, 7840000);
    assert_int_equal(labels.dtype, WK_U8);
    assert_int_equal(labels.ndim, 1);
    assert_int_equal(labels.shape[0], 10000);
    const unsigned char *label = labels.data, *pixel = images.data;
    const unsigned char first[] = {7, 2, 1, 0, 4, 1, 4, 9, 5, 9}; /* the known first labels of the set */
    assert_memory_equal(label, first, sizeof first);
    const int64_t of_each[] = {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
    int64_t counts[10] = {0}, border = 0, ink = 0;
    for (int k = 0; k < 10000; k++) counts[label[k]]++;
    assert_memory_equal(counts, of_each, sizeof counts);
    for (int64_t k = 0; k < images.bytes; k++) {
        ink += pixel[k];
        border += k / 28 % 28 == 0 ? pixel[k] : 0; /* the top row of each image is blank */
    }
    assert_int_equal(border, 0);
    assert_int_equal(ink / 7840000, 33); /* mean 0.1325 of 255 */
    wk__free(images.data);
    wk__free(labels.data);
}

/* Three elements of each dtype, as bytes of the file and as values. */
static void every_dtype(void **state)
{
    (void)state;
    const struct {
        idx_case file;
        wk_dtype dtype;
        union {
            uint8_t u8[3];
            int8_t i8[3];
            int16_t i16[3];
            int32_t i32[3];
            float f32[3];
            double f64[3];
        } values;
    } cases[] = {
        {{START("\0\0\x08\1\0\0\0\3\0\x7f\xff"), 0, NULL}, WK_U8, {.u8 = {0, 127, 255}}},
        {{START("\0\0\x09\1\0\0\0\3\0\x7f\xff"), 0, NULL}, WK_I8, {.i8 = {0, 127, -1}}},
        {{START("\0\0\x0b\1\0\0\0\3\1\2\xff\xfe\x80\0"), 0, NULL}, WK_I16, {.i16 = {258, -2, -32768}}},
        {{START("\0\0\x0c\1\0\0\0\3\1\2\3\4\xff\xff\xff\xfe\0\0\0\1"), 0, NULL}, WK_I32, {.i32 = {16909060, -2, 1}}},
        {{START("\0\0\x0d\1\0\0\0\3\x3f\x80\0\0\xc0\x49\x0f\xdb\0\0\0\1"), 0, NULL},
         WK_F32,
         {.f32 = {1, -0x1.921fb6p1f, 0x1p-149f}}},
        {{START("\0\0\x0e\1\0\0\0\3\x3f\xf0\0\0\0\0\0\0\xc0\x09\x21\xfb\x54\x44\x2d\x18\0\0\0\0\0\0\0\1"), 0, NULL},
         WK_F64,
         {.f64 = {1, -0x1.921fb54442d18p1, 0x1p-1074}}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bytes plain = idx_file(&cases[k].file), packed = gzip(plain);
        for (int compressed = 0; compressed < 2; compressed++) {
            wk__io_error error;
            wk__idx out;
            GOOD(parse(compressed ? packed : plain, &out, &error));
            assert_int_equal(out.dtype, cases[k].dtype);
            assert_int_equal(out.ndim, 1);
            assert_int_equal(out.shape[0], 3);
            assert_memory_equal(out.data, &cases[k].values, (size_t)out.bytes);
            wk__free(out.data);
        }
        free(plain.data);
        free(packed.data);
    }
}

/* [3, 40000] of u8, not constant: more than one window of compressed bytes. */
static bytes long_file(void)
{
    const idx_case start = {START("\0\0\x08\2\0\0\0\3\0\0\x9c\x40"), 120000, NULL};
    bytes file = idx_file(&start);
    uint64_t random = 11;
    for (int64_t k = 12; k < file.count; k++) file.data[k] = (unsigned char)next_random(&random);
    return file;
}

static bytes joined(bytes a, bytes b)
{
    bytes both = bytes_new(a.count + b.count);
    memcpy(both.data, a.data, (size_t)a.count);
    memcpy(both.data + a.count, b.data, (size_t)b.count);
    return both;
}

static void several_gzip_members(void **state)
{
    (void)state;
    bytes plain = long_file(), none = bytes_new(0);
    for (int64_t cut = 0; cut <= plain.count; cut += cut < 16 ? 1 : 17777) {
        bytes first = gzip((bytes){plain.data, cut}), second = gzip((bytes){plain.data + cut, plain.count - cut});
        bytes empty = gzip(none), both = joined(first, second), all = joined(both, empty);
        wk__io_error error;
        wk__idx out;
        GOOD(parse(all, &out, &error));
        assert_int_equal(out.bytes, 120000);
        assert_memory_equal(out.data, plain.data + 12, 120000);
        wk__free(out.data);
        bytes *used[] = {&first, &second, &empty, &both, &all};
        for (int k = 0; k < 5; k++) free(used[k]->data);
    }
    free(plain.data);
    free(none.data);
}

static void files_of_any_name(void **state)
{
    (void)state;
    bytes plain = long_file(), packed = gzip(plain);
    for (int compressed = 0; compressed < 2; compressed++) {
        const char *path = scratch(compressed ? "digits" : "digits.gz"); /* the content determines the format */
        bytes file = compressed ? packed : plain;
        FILE *stream = fopen(path, "wb");
        assert_int_equal(fwrite(file.data, 1, (size_t)file.count, stream), file.count);
        fclose(stream);
        wk__io_error error;
        wk__idx out;
        GOOD(wk__idx_read(path, &out, &error));
        assert_memory_equal(out.data, plain.data + 12, 120000);
        wk__free(out.data);
        assert_int_equal(truncate(path, file.count - 1), 0);
        assert_int_equal(wk__idx_read(path, &out, &error), WK_ERR_FORMAT);
        assert_non_null(strstr(error.text, "digits"));
        assert_non_null(strstr(error.text, "truncated"));
    }
    wk__io_error error;
    wk__idx out;
    assert_int_equal(wk__idx_read("no/such/file", &out, &error), WK_ERR_IO);
    assert_string_equal(error.text, "no/such/file: cannot open: No such file or directory");
    free(plain.data);
    free(packed.data);
}

/* ---- what is not --------------------------------------------------------------------------------------------------
 */

static void check_error(wk_code code, const wk__io_error *error, const char *word, int number)
{
    if (code != WK_ERR_FORMAT || !strstr(error->text, word))
        fail_msg("file %d: code %d, \"%s\" does not contain \"%s\"", number, code, code ? error->text : "", word);
}

static bool is_gzip(const idx_case *one)
{
    return one->length >= 2 && memcmp(one->start, "\x1f\x8b", 2) == 0;
}

static void written_by_hand(void **state)
{
    (void)state;
    int hostile = 0;
    for (int k = 0; k < IDX_CASES; k++) {
        bytes plain = idx_file(&idx_cases[k]), packed = gzip(plain);
        for (int compressed = 0; compressed < (is_gzip(&idx_cases[k]) ? 1 : 2); compressed++) {
            wk__io_error error = {0};
            wk__idx out;
            wk_code code = parse(compressed ? packed : plain, &out, &error);
            if (idx_cases[k].word)
                check_error(code, &error, idx_cases[k].word, k);
            else if (code != WK_OK)
                fail_msg("file %d: %s", k, error.text);
            if (code == WK_OK) wk__free(out.data);
            hostile += code != WK_OK;
        }
        free(plain.data);
        free(packed.data);
    }
    assert_true(hostile >= 60);
}

static int64_t requested;

/* Records the largest allocation. */
static void *record_largest(void *user, void *block, size_t size)
{
    (void)user;
    if ((int64_t)size > requested) requested = (int64_t)size;
    if (size > 0) return realloc(block, size);
    free(block);
    return NULL;
}

/* A few bytes may neither request memory that they cannot fill nor unpack to more than they declare. */
static void decompression_bombs(void **state)
{
    (void)state;
    const struct {
        idx_case file;
        const char *word;
        int64_t most;
    } cases[] = {
        {{START("\0\0\x08\1\xff\xff\xff\xff"), 0, NULL}, "truncated", 100000}, /* declares 4 GiB, has none */
        {{START("\0\0\x08\2\x7f\xff\xff\xff\x7f\xff\xff\xff"), 0, NULL}, "truncated", 100000},
        {{START("\0\0\x08\1\0\0\0\1"), 30000000, NULL}, "too long", 100000},    /* declares 1 byte, has 30 MB */
        {{START("\0\0\x08\1\2\0\0\0"), 30000000, NULL}, "truncated", 33554432}, /* the limit of deflate */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bytes plain = idx_file(&cases[k].file), packed = gzip(plain);
        wk__io_error error = {0};
        wk__idx out;
        requested = 0;
        check_error(parse(packed, &out, &error), &error, cases[k].word, (int)k);
        assert_in_range(requested, 1, cases[k].most);
        free(plain.data);
        free(packed.data);
    }
}

/* Valid files: [2, 3] of f32, plain and compressed. */
static bytes good_file(bool compressed)
{
    static const idx_case good = {START("\0\0\x0d\2\0\0\0\2\0\0\0\3\x3f\x80\0\0\xc0\x49\x0f\xdb"), 16, NULL};
    bytes plain = idx_file(&good);
    if (!compressed) return plain;
    bytes packed = gzip(plain);
    free(plain.data);
    return packed;
}

static void every_truncation_and_bit(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        bytes good = good_file(compressed);
        wk__io_error error;
        wk__idx out;
        for (int64_t count = 0; count < good.count; count++) {
            bytes cut = bytes_copy(good.data, count);
            check_error(parse(cut, &out, &error), &error, "truncated", (int)count);
            free(cut.data);
        }
        for (int64_t bit = 0; bit < 8 * good.count; bit++) {
            bytes bad = bytes_copy(good.data, good.count);
            bad.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            if (parse(bad, &out, &error) == WK_OK) wk__free(out.data);
            free(bad.data);
        }
        free(good.data);
    }
}

/* No flipped bit of compressed data changes an element unnoticed. (Deflate does not use some bits of its last byte.) */
static void checksum_is_compared(void **state)
{
    (void)state;
    bytes good = good_file(true), plain = good_file(false);
    enum { GZIP_HEADER = 10, IDX_HEADER = 12 };
    int seen = 0;
    for (int64_t bit = 8 * GZIP_HEADER; bit < 8 * good.count; bit++) {
        wk__io_error error;
        wk__idx out;
        bytes bad = bytes_copy(good.data, good.count);
        bad.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (parse(bad, &out, &error) == WK_OK) {
            assert_int_equal(out.bytes, 24);
            for (int k = 0; k < 24; k++)
                assert_int_equal(((unsigned char *)out.data)[k], plain.data[IDX_HEADER + (k ^ 3)]);
            wk__free(out.data);
        } else {
            seen++;
        }
        free(bad.data);
    }
    assert_true(seen > 8 * (good.count - GZIP_HEADER) - 8);
    free(good.data);
    free(plain.data);
}

static void mutations(void **state)
{
    (void)state;
    uint64_t random = 20261121;
    for (int compressed = 0; compressed < 2; compressed++) {
        bytes good = good_file(compressed);
        for (int k = 0; k < 10000; k++) {
            bytes bad = mutate(good, "\x08\x09\x0b\x0c\x0d\x0e\x01\x02\x03\xff\x80\x1f\x8b", &random);
            wk__io_error error = {0};
            wk__idx out;
            wk_code code = parse(bad, &out, &error);
            if (code != WK_OK && code != WK_ERR_FORMAT) fail_msg("code %d: %s", code, error.text);
            if (code == WK_OK) wk__free(out.data);
            free(bad.data);
        }
        free(good.data);
    }
}

static void every_allocation_fails(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        bytes good = good_file(compressed);
        wk__io_error error;
        wk__idx out;
        int64_t n = 0;
        for (wk_code code = WK_ERR_MEMORY; code != WK_OK; n++) {
            wk__alloc_fail_at(n + 1);
            code = parse(good, &out, &error);
            assert_true(code == WK_OK || code == WK_ERR_MEMORY);
            if (code == WK_ERR_MEMORY) assert_non_null(strstr(error.text, "memory"));
        }
        wk__alloc_fail_at(0);
        assert_true(n >= (compressed ? 4 : 3));
        wk__free(out.data);
        free(good.data);
    }
}

int main(void)
{
    if (wk_set_allocator(record_largest, NULL) != WK_OK) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits),
        cmocka_unit_test(every_dtype),
        cmocka_unit_test(several_gzip_members),
        cmocka_unit_test(files_of_any_name),
        cmocka_unit_test(written_by_hand),
        cmocka_unit_test(decompression_bombs),
        cmocka_unit_test(every_truncation_and_bit),
        cmocka_unit_test(checksum_is_compared),
        cmocka_unit_test(mutations),
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
