/* SPDX-License-Identifier: Apache-2.0 */
/* Tests valid safetensors files: a file of the reference implementation is read and written again byte for byte, and
 * files written by Wick are read. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hostile/check_safetensors.h"
#include "hostile/safetensors.h"
#include "hostile/scratch.h"

#define GOOD(call)                                                                                                     \
    if ((call) != WK_OK) fail_msg("%s: %s", #call, error.text)

static const char *const fixtures[] = {"empty", "metadata-only", "dtypes", "other-dtypes", "names", "layers"};

static bytes fixture(const char *name)
{
    char path[128];
    wk__io_error error;
    wk__file from;
    bytes file;
    snprintf(path, sizeof path, "tests/fixtures/safetensors/%s.safetensors", name);
    GOOD(wk__file_open(&from, source_file(path), &error));
    file = (bytes){.data = wk__alloc((size_t)from.bytes), .count = from.bytes};
    GOOD(wk__file_read_at(&from, 0, file.data, file.count, &error));
    wk__file_close(&from);
    return file;
}

/* Returns the value of a key, or NULL. */
static const char *metadata(const wk__safetensors *in, const char *key)
{
    for (int64_t k = 0; k < in->metadata_count; k++)
        if (strcmp(in->metadata[k].key, key) == 0) return in->metadata[k].value;
    return NULL;
}

/* ---- against the reference ----------------------------------------------------------------------------------------
 */

static void reads_files_of_the_reference(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof fixtures / sizeof *fixtures; k++) {
        wk__io_error error;
        wk__safetensors out;
        bytes file = fixture(fixtures[k]);
        GOOD(wk__safetensors_parse(file.data, file.count, file.count, &out, &error));
        const char *problem = check_parsed(&out, file.count);
        if (problem) fail_msg("%s: %s", fixtures[k], problem);
        for (int64_t t = 0; t < out.count; t++)
            for (int64_t at = out.tensors[t].begin; at < out.tensors[t].end; at++) {
                int64_t place = at - out.tensors[t].begin;
                int expected = (int)(out.tensors[t].dtype == WK_BOOL ? place % 2 : place % 251);
                assert_int_equal(file.data[out.data_start + at], expected);
            }
        wk__safetensors_end(&out);
        wk__free(file.data);
    }
}

static void writes_the_bytes_of_the_reference(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof fixtures / sizeof *fixtures; k++) {
        wk__io_error error;
        wk__safetensors out;
        wk__safetensors_layout layout;
        bytes file = fixture(fixtures[k]);
        GOOD(wk__safetensors_parse(file.data, file.count, file.count, &out, &error));
        if (strcmp(fixtures[k], "other-dtypes") != 0) {
            /* In the order of names: lookup must not depend on the order of the file. */
            wk__safetensors_tensor mixed[64];
            assert_true(out.count <= 64);
            for (int64_t t = 0; t < out.count; t++) {
                mixed[t] = *out.by_name[t];
                mixed[t].begin = mixed[t].end = -1;
            }
            GOOD(wk__safetensors_layout_build(mixed, out.count, out.metadata, out.metadata_count, &layout, &error));
            assert_int_equal(layout.header_text.length, out.data_start);
            assert_memory_equal(layout.header_text.data, file.data, (size_t)out.data_start);
            assert_int_equal(layout.header_text.length + layout.data_bytes, file.count);
            for (int64_t t = 0; t < out.count; t++)
                assert_string_equal(mixed[layout.order[t]].name, out.tensors[t].name);
            wk__safetensors_layout_end(&layout);
        }
        wk__safetensors_end(&out);
        wk__free(file.data);
    }
}

static void finds_tensors_and_metadata(void **state)
{
    (void)state;
    wk__io_error error;
    wk__safetensors out;
    bytes file = fixture("names");
    GOOD(wk__safetensors_parse(file.data, file.count, file.count, &out, &error));
    assert_int_equal(out.count, 9);
    const char *names[] = {"", " ", "a\"b\\c/d", "tab\tline\nreturn\rback\bfeed\f", "bell\a\x1f\x7f", "🎓.weight"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) assert_non_null(wk__safetensors_find(&out, names[k]));
    assert_null(wk__safetensors_find(&out, "a"));
    assert_null(wk__safetensors_find(&out, "zz"));
    assert_string_equal(metadata(&out, "🎓"), "é\n\"\\\x01");
    assert_null(metadata(&out, "format"));
    wk__safetensors_end(&out);
    wk__free(file.data);
}

static void names_unsupported_dtypes(void **state)
{
    (void)state;
    wk__io_error error;
    wk__safetensors out;
    bytes file = fixture("other-dtypes");
    GOOD(wk__safetensors_parse(file.data, file.count, file.count, &out, &error));
    assert_int_equal(out.count, 9);
    for (int64_t k = 0; k < out.count; k++) {
        assert_int_equal(out.tensors[k].dtype, 0);
        assert_int_equal(wk__safetensors_check_dtype(&out.tensors[k], &error), WK_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.text, out.tensors[k].dtype_name));
        assert_non_null(strstr(error.text, out.tensors[k].name));
    }
    wk__safetensors_end(&out);
    wk__free(file.data);
    file = fixture("dtypes");
    GOOD(wk__safetensors_parse(file.data, file.count, file.count, &out, &error));
    for (int64_t k = 0; k < out.count; k++) GOOD(wk__safetensors_check_dtype(&out.tensors[k], &error));
    wk__safetensors_end(&out);
    wk__free(file.data);
}

static void tensors_in_any_order_are_sorted(void **state)
{
    (void)state;
    static const char header[] = "{" BYTES("z", "0", "2,2") "," BYTES("b", "2", "2,4") "," BYTES("a", "2", "0,2") "}";
    safetensors_case odd = {.header = header, .length = sizeof header - 1, .data = 4};
    bytes file = safetensors_file(&odd);
    wk__io_error error;
    wk__safetensors out;
    GOOD(wk__safetensors_parse(file.data, file.count, file.count, &out, &error));
    assert_string_equal(out.tensors[0].name, "a");
    assert_string_equal(out.tensors[1].name, "z");
    assert_string_equal(out.tensors[2].name, "b");
    assert_int_equal(out.tensors[2].position, 8 + 1 + (int64_t)strlen(BYTES("z", "0", "2,2") ","));
    wk__safetensors_end(&out);
    free(file.data);
}

/* ---- strings ------------------------------------------------------------------------------------------------------
 */

static int put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) return to[0] = (char)code, 1;
    if (code < 0x800) return to[0] = (char)(0xc0 | code >> 6), to[1] = (char)(0x80 | (code & 63)), 2;
    if (code < 0x10000)
        return to[0] = (char)(0xe0 | code >> 12), to[1] = (char)(0x80 | (code >> 6 & 63)),
               to[2] = (char)(0x80 | (code & 63)), 3;
    return to[0] = (char)(0xf0 | code >> 18), to[1] = (char)(0x80 | (code >> 12 & 63)),
           to[2] = (char)(0x80 | (code >> 6 & 63)), to[3] = (char)(0x80 | (code & 63)), 4;
}

/* Every character as a metadata value, escaped and plain; unpaired surrogates are invalid. */
static void every_character(void **state)
{
    (void)state;
    wk__io_error error;
    for (uint32_t code = 1; code <= 0x10ffff; code += code < 0x3000 || (code > 0xd700 && code < 0xe100) ? 1 : 97) {
        char plain[5] = {0}, header[2][96];
        put_utf8(plain, code);
        bool surrogate = code >= 0xd800 && code <= 0xdfff, special = code < 0x20 || code == '"' || code == '\\';
        snprintf(header[0], sizeof header[0], "{\"__metadata__\":{\"k\":\"%s\"}}", plain);
        if (code < 0x10000)
            snprintf(header[1], sizeof header[1], "{\"__metadata__\":{\"k\":\"\\u%04X\"}}", code);
        else
            snprintf(header[1], sizeof header[1], "{\"__metadata__\":{\"k\":\"\\u%04x\\u%04X\"}}",
                     0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
        for (int escaped = 0; escaped < 2; escaped++) {
            safetensors_case one = {.header = header[escaped], .length = (int64_t)strlen(header[escaped])};
            bytes file = safetensors_file(&one);
            wk__safetensors out;
            wk_code read = wk__safetensors_parse(file.data, file.count, file.count, &out, &error);
            assert_int_equal(read, surrogate || (special && !escaped) ? WK_ERR_FORMAT : WK_OK);
            if (read == WK_OK) {
                assert_string_equal(metadata(&out, "k"), plain);
                assert_null(check_written(&out));
                wk__safetensors_end(&out);
            }
            free(file.data);
        }
    }
}

/* ---- writing ------------------------------------------------------------------------------------------------------
 */

static void invalid_lists_are_not_written(void **state)
{
    (void)state;
    static char endless[WK__SAFETENSORS_MAX_NAME + 2];
    memset(endless, 'n', sizeof endless - 1);
    const struct {
        wk__safetensors_tensor tensors[2];
        wk__metadata_entry pairs[2];
        const char *word;
    } cases[] = {
        {{{.name = "a", .dtype = WK_F32}, {.name = "a", .dtype = WK_I8}}, {{"k", "v"}, {"l", "w"}}, "two tensors"},
        {{{.name = "a", .dtype = WK_F32}, {.name = "__metadata__", .dtype = WK_I8}},
         {{"k", "v"}, {"l", "w"}},
         "reserves"},
        {{{.name = "a", .dtype = 0}, {.name = "b", .dtype = WK_I8}},
         {{"k", "v"}, {"l", "w"}},
         "dtype that safetensors does not support"},
        {{{.name = "a", .dtype = WK_C64}, {.name = "b", .dtype = WK_I8}},
         {{"k", "v"}, {"l", "w"}},
         "dtype that safetensors does not support"},
        {{{.name = "a", .dtype = WK_F32}, {.name = "b\xff", .dtype = WK_I8}}, {{"k", "v"}, {"l", "w"}}, "not UTF-8"},
        {{{.name = "a", .dtype = WK_F32}, {.name = endless, .dtype = WK_I8}}, {{"k", "v"}, {"l", "w"}}, "4096"},
        {{{.name = "a", .dtype = WK_F32, .ndim = 9}, {.name = "b", .dtype = WK_I8}}, {{"k", "v"}, {"l", "w"}}, "8 dim"},
        {{{.name = "a", .dtype = WK_F32, .ndim = 1, .shape = {-1}}, {.name = "b", .dtype = WK_I8}},
         {{"k", "v"}, {"l", "w"}},
         "negative"},
        {{{.name = "a", .dtype = WK_F32, .ndim = 1, .shape = {INT64_MAX}}, {.name = "b", .dtype = WK_I8}},
         {{"k", "v"}, {"l", "w"}},
         "too large"},
        {{{.name = "a", .dtype = WK_I8, .ndim = 1, .shape = {INT64_MAX / 8}}, {.name = "b", .dtype = WK_I8}},
         {{"k", "v"}, {"k", "w"}},
         "duplicate key"},
        {{{.name = "a", .dtype = WK_I8}, {.name = "b", .dtype = WK_I8}}, {{"k", "v"}, {"l", "\xc3"}}, "not UTF-8"},
        {{{.name = "a", .dtype = WK_I8}, {.name = "b", .dtype = WK_I8}}, {{"\x80", "v"}, {"l", "w"}}, "not UTF-8"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        wk__safetensors_tensor tensors[2] = {cases[k].tensors[0], cases[k].tensors[1]};
        wk__io_error error = {0};
        wk__safetensors_layout layout;
        assert_int_equal(wk__safetensors_layout_build(tensors, 2, cases[k].pairs, 2, &layout, &error), WK_ERR_ARGUMENT);
        if (!strstr(error.text, cases[k].word)) fail_msg("\"%s\" does not contain \"%s\"", error.text, cases[k].word);
    }
    wk__safetensors_tensor nine[9];
    for (int k = 0; k < 9; k++)
        nine[k] =
            (wk__safetensors_tensor){.name = &"abcdefghi"[k], .dtype = WK_I8, .ndim = 1, .shape = {(1ll << 60) - 1}};
    wk__safetensors_layout layout;
    wk__io_error error;
    assert_int_equal(wk__safetensors_layout_build(nine, 9, NULL, 0, &layout, &error), WK_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "total size"));
}

/* Two limits that need much data, of tensors and of bytes. */
static void lists_too_large_are_not_written(void **state)
{
    (void)state;
    wk__io_error error;
    wk__safetensors_layout layout;
    int64_t count = WK__SAFETENSORS_MAX_TENSORS + 1;
    wk__safetensors_tensor *tensors = calloc((size_t)count, sizeof *tensors);
    assert_int_equal(wk__safetensors_layout_build(tensors, count, NULL, 0, &layout, &error), WK_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "more than 1048576 tensors"));
    free(tensors);

    char *value = calloc(1, WK__SAFETENSORS_MAX_HEADER + 1);
    memset(value, 'v', WK__SAFETENSORS_MAX_HEADER);
    wk__metadata_entry pair = {"key", value};
    assert_int_equal(wk__safetensors_layout_build(NULL, 0, &pair, 1, &layout, &error), WK_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "exceeds 100000000 bytes"));
    static const char around[] = "{\"__metadata__\":{\"key\":\"\"}}";
    value[WK__SAFETENSORS_MAX_HEADER - sizeof around + 1] = '\0'; /* now it just fits */
    GOOD(wk__safetensors_layout_build(NULL, 0, &pair, 1, &layout, &error));
    assert_int_equal(layout.header_text.length, 8 + WK__SAFETENSORS_MAX_HEADER);
    wk__safetensors_layout_end(&layout);
    free(value);
}

/* Byte k of the data of tensor t. */
static unsigned char data_byte(int64_t t, int64_t k)
{
    return (unsigned char)(t * 31 + k * 7);
}

static void writes_and_reads_a_file(void **state)
{
    (void)state;
    wk__io_error error;
    wk__safetensors_tensor tensors[] = {
        {.name = "mask", .dtype = WK_BOOL, .ndim = 1, .shape = {5}},
        {.name = "weight", .dtype = WK_F32, .ndim = 2, .shape = {3, 5}},
        {.name = "step", .dtype = WK_I64},
        {.name = "none", .dtype = WK_F16, .ndim = 2, .shape = {0, 4}},
        {.name = "half", .dtype = WK_BF16, .ndim = 1, .shape = {3}},
    };
    wk__metadata_entry pairs[] = {{"step", "40"}, {"format", "wick"}};
    wk__safetensors_layout layout;
    wk__atomic_file save;
    GOOD(wk__safetensors_layout_build(tensors, 5, pairs, 2, &layout, &error));
    const char *path = scratch("round.safetensors");
    GOOD(wk__safetensors_begin(&save, path, &layout, &error));
    for (int64_t k = 0; k < 5; k++)
        for (int64_t at = 0, t = layout.order[k]; at < tensors[t].end - tensors[t].begin; at++) {
            unsigned char byte = data_byte(t, at);
            GOOD(wk__atomic_file_write(&save, &byte, 1, &error));
        }
    GOOD(wk__safetensors_commit(&save, &layout, &error));
    wk__safetensors_layout_end(&layout);

    wk__file file;
    wk__safetensors out;
    GOOD(wk__file_open(&file, path, &error));
    GOOD(wk__safetensors_read(&file, &out, &error));
    assert_int_equal(out.count, 5);
    assert_string_equal(metadata(&out, "step"), "40");
    for (int64_t t = 0; t < 5; t++) {
        unsigned char data[64];
        const wk__safetensors_tensor *found = wk__safetensors_find(&out, tensors[t].name);
        assert_non_null(found);
        assert_true(same_tensor(found, &tensors[t]));
        int64_t start = out.data_start + found->begin, count = found->end - found->begin;
        assert_int_equal(start % (int64_t)wk_dtype_size(found->dtype), 0);
        GOOD(wk__file_read_at(&file, start, data, count, &error));
        for (int64_t k = 0; k < count; k++) assert_int_equal(data[k], data_byte(t, k));
    }
    wk__safetensors_end(&out);
    wk__file_close(&file);
}

static void missing_data_is_not_committed(void **state)
{
    (void)state;
    wk__io_error error;
    wk__safetensors_tensor tensor = {.name = "a", .dtype = WK_F32};
    wk__safetensors_layout layout;
    wk__atomic_file save;
    GOOD(wk__safetensors_layout_build(&tensor, 1, NULL, 0, &layout, &error));
    const char *path = scratch("short.safetensors");
    GOOD(wk__safetensors_begin(&save, path, &layout, &error));
    GOOD(wk__atomic_file_write(&save, "abc", 3, &error));
    assert_int_equal(wk__safetensors_commit(&save, &layout, &error), WK_ERR_INTERNAL);
    assert_int_equal(access(path, F_OK), -1);
    wk__safetensors_layout_end(&layout);
}

static void a_full_disk_at_the_first_byte(void **state)
{
    (void)state;
    wk__io_error error;
    wk__safetensors_layout layout;
    wk__atomic_file save;
    struct rlimit limit, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    tight = limit;
    tight.rlim_cur = 4;
    signal(SIGXFSZ, SIG_IGN);
    GOOD(wk__safetensors_layout_build(NULL, 0, NULL, 0, &layout, &error));
    setrlimit(RLIMIT_FSIZE, &tight);
    wk_code code = wk__safetensors_begin(&save, scratch("full.safetensors"), &layout, &error);
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(code, WK_ERR_IO);
    assert_non_null(strstr(error.text, "File too large"));
    assert_int_equal(save.fd, -1);
    assert_int_equal(access(scratch("full.safetensors.wick-saving"), F_OK), -1);
    wk__safetensors_layout_end(&layout);
}

static void every_allocation_fails(void **state)
{
    (void)state;
    wk__io_error error;
    int64_t n = 0;
    for (wk_code code = WK_ERR_MEMORY; code != WK_OK; n++) {
        wk__safetensors_tensor tensors[] = {{.name = "b", .dtype = WK_F32}, {.name = "a", .dtype = WK_I8}};
        wk__metadata_entry pair = {"k", "\x01 quite a long text that makes the header grow more than once, or twice"};
        wk__safetensors_layout layout;
        wk__atomic_file save = {.fd = -1};
        wk__alloc_fail_at(n + 1);
        code = wk__safetensors_layout_build(tensors, 2, &pair, 1, &layout, &error);
        if (code == WK_OK) {
            code = wk__safetensors_begin(&save, scratch("memory.safetensors"), &layout, &error);
            wk__safetensors_layout_end(&layout);
        }
        assert_true(code == WK_OK || code == WK_ERR_MEMORY);
        wk__atomic_file_abort(&save);
    }
    wk__alloc_fail_at(0);
    assert_true(n > 5);
}

/* ---- files --------------------------------------------------------------------------------------------------------
 */

/* A sparse file of 5 GiB: only the requested part may be read. */
static void large_file_is_read_in_part(void **state)
{
    (void)state;
    const int64_t span = 5ll << 30;
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[5368709120],\"data_offsets\":[0,5368709120]},"
                                 "\"b\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[5368709120,5368709124]}}";
    safetensors_case start = {.header = header, .length = sizeof header - 1};
    bytes first = safetensors_file(&start);
    const char *path = scratch("large.safetensors");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, first.data, (size_t)first.count, 0), first.count);
    assert_int_equal(pwrite(fd, "wick", 4, first.count + span), 4);
    close(fd);

    wk__io_error error;
    wk__file file;
    wk__safetensors out;
    char data[4];
    GOOD(wk__file_open(&file, path, &error));
    GOOD(wk__safetensors_read(&file, &out, &error));
    GOOD(wk__file_read_at(&file, out.data_start + out.tensors[1].begin, data, 4, &error));
    assert_memory_equal(data, "wick", 4);
    wk__safetensors_end(&out);
    wk__file_close(&file);
    unlink(path);
    free(first.data);
}

static void errors_name_the_file(void **state)
{
    (void)state;
    const struct {
        const char *content, *word;
        int64_t count;
    } cases[] = {
        {"\1\0\0", "truncated", 3},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}", "exceeds 100000000", 10},
        {"\2\0\0\0\0\0\0\0[]", "expected '{'", 10},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *path = scratch("bad.safetensors");
        FILE *stream = fopen(path, "wb");
        fwrite(cases[k].content, 1, (size_t)cases[k].count, stream);
        fclose(stream);
        wk__io_error error;
        wk__file file;
        wk__safetensors out;
        GOOD(wk__file_open(&file, path, &error));
        assert_int_equal(wk__safetensors_read(&file, &out, &error), WK_ERR_FORMAT);
        assert_non_null(strstr(error.text, "bad.safetensors: "));
        assert_non_null(strstr(error.text, cases[k].word));
        wk__file_close(&file);
    }
}

static void file_that_shrinks_is_an_error(void **state)
{
    (void)state;
    wk__io_error error;
    wk__file file;
    wk__safetensors out;
    const char *path = scratch("shrinks.safetensors");
    const struct {
        const char *content; /* of 10 bytes */
        int left;
    } cases[] = {{"\2\0\0\0\0\0\0\0{}", 9}, {"\xff\xff\xff\xff\0\0\0\0{}", 4}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        FILE *stream = fopen(path, "wb");
        fwrite(cases[k].content, 1, 10, stream);
        fclose(stream);
        GOOD(wk__file_open(&file, path, &error));
        assert_int_equal(truncate(path, cases[k].left), 0);
        assert_int_equal(wk__safetensors_read(&file, &out, &error), WK_ERR_IO);
        assert_non_null(strstr(error.text, "shrinks.safetensors: truncated while being read: ends at byte"));
        wk__file_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_files_of_the_reference),    cmocka_unit_test(writes_the_bytes_of_the_reference),
        cmocka_unit_test(finds_tensors_and_metadata),      cmocka_unit_test(names_unsupported_dtypes),
        cmocka_unit_test(tensors_in_any_order_are_sorted), cmocka_unit_test(every_character),
        cmocka_unit_test(invalid_lists_are_not_written),   cmocka_unit_test(writes_and_reads_a_file),
        cmocka_unit_test(lists_too_large_are_not_written), cmocka_unit_test(a_full_disk_at_the_first_byte),
        cmocka_unit_test(missing_data_is_not_committed),   cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(large_file_is_read_in_part),      cmocka_unit_test(errors_name_the_file),
        cmocka_unit_test(file_that_shrinks_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
