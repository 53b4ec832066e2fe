/* SPDX-License-Identifier: Apache-2.0 */
/* Tests malicious GGUF files: each is rejected with an error that names problem and position, or is read as it is; none
 * may crash, leak or allocate memory out of proportion to its size. */
#include "support/wick.h"

#include "hostile/gguf.h"
#include "hostile/scratch.h"
#include <wick/text.h>

/* Parses and releases a file; fails the test if the result is inconsistent. */
static wk_code try_file(bytes file, wk__io_error *error)
{
    wk__safetensors out;
    const wk_code code = wk__gguf_parse(file.data, file.count, &out, error);
    if (code != WK_OK) {
        if (code != WK_ERR_FORMAT && code != WK_ERR_UNSUPPORTED) fail_msg("code %d: %s", code, error->text);
        if (!strstr(error->text, "byte")) fail_msg("\"%s\" does not name the position", error->text);
        return code;
    }
    const char *problem = gguf_check(&out, file);
    if (problem) fail_msg("%s", problem);
    wk__safetensors_end(&out);
    return WK_OK;
}

static void written_by_hand(void **state)
{
    (void)state;
    for (int k = 0; k < GGUF_CASES; k++) {
        const gguf_case *one = &gguf_cases[k];
        bytes file = gguf_file(one);
        wk__io_error error = {0};
        const wk_code code = try_file(file, &error);
        if (one->word && code == WK_OK) fail_msg("accepted: %s", one->file);
        if (one->word && !strstr(error.text, one->word)) fail_msg("%s: %s", one->file, error.text);
        if (!one->word && code != WK_OK) fail_msg("%s: %s", one->file, error.text);
        free(file.data);
    }
}

/* Each beginning of a valid file that lacks a part of a tensor or pair. */
static void every_truncation(void **state)
{
    (void)state;
    for (int k = 0; k < GGUF_CASES; k++) {
        if (gguf_cases[k].word) continue;
        bytes good = gguf_file(&gguf_cases[k]);
        wk__safetensors whole;
        wk__io_error error;
        assert_int_equal(wk__gguf_parse(good.data, good.count, &whole, &error), WK_OK);
        const int64_t least = whole.count ? whole.data_start + whole.tensors[whole.count - 1].end : 0;
        for (int64_t count = 0; count < least; count++) {
            bytes cut = bytes_copy(good.data, count);
            if (try_file(cut, &error) == WK_OK) fail_msg("%lld bytes were enough", (long long)count);
            if (!strstr(error.text, "truncated")) fail_msg("%s", error.text);
            free(cut.data);
        }
        wk__safetensors_end(&whole);
        free(good.data);
    }
}

static void mutations(void **state)
{
    (void)state;
    uint64_t random = 20261128;
    int accepted = 0;
    for (int k = 0; k < GGUF_CASES; k++) {
        if (gguf_cases[k].word) continue;
        bytes good = gguf_file(&gguf_cases[k]);
        for (int n = 0; n < 2000; n++) {
            bytes bad = mutate(good, "\1\2\3\4\6\b\t\f\x10\x20\x7f\xff", &random);
            wk__io_error error;
            accepted += try_file(bad, &error) == WK_OK;
            free(bad.data);
        }
        free(good.data);
    }
    assert_true(accepted > 100);
}

static void every_allocation_fails(void **state)
{
    (void)state;
    for (int k = 0; k < GGUF_CASES; k++) {
        if (gguf_cases[k].word) continue;
        bytes good = gguf_file(&gguf_cases[k]);
        wk__safetensors out;
        wk__io_error error;
        int64_t n = 0;
        for (wk_code code = WK_ERR_MEMORY; code != WK_OK; n++) {
            wk__alloc_fail_at(n + 1);
            code = wk__gguf_parse(good.data, good.count, &out, &error);
            if (code != WK_OK && code != WK_ERR_MEMORY) fail_msg("code %d: %s", code, error.text);
            if (code == WK_ERR_MEMORY) assert_non_null(strstr(error.text, "memory"));
        }
        wk__alloc_fail_at(0);
        wk__safetensors_end(&out);
        free(good.data);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const char *write_file(bytes content)
{
    const char *path = scratch("mutated.gguf");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content.data, 1, (size_t)content.count, file), content.count);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Headers larger than the window of the reader, whose strings cross its ends. */
static void long_headers(void **state)
{
    (void)state;
    enum { PAIRS = 40 };
    bytes file = bytes_new(PAIRS * 20000);
    file.count = 0;
    gguf_put(&file, 0x46554747, 4), gguf_put(&file, 3, 4), gguf_put(&file, 0, 8), gguf_put(&file, PAIRS, 8);
    for (int64_t k = 0; k < PAIRS; k++) {
        const int64_t length = k == 20 ? 200000 : 9000 + 7 * k;
        gguf_put(&file, 1, 8), gguf_put(&file, (uint64_t)('0' + k), 1), gguf_put(&file, 8, 4);
        gguf_put(&file, (uint64_t)length, 8);
        memset(file.data + file.count, (int)('0' + k), (size_t)length);
        file.count += length;
    }
    WK_SCOPE;
    const wk_file_info *info = wk_load_info(write_file(file));
    expect_ok();
    assert_int_equal(info->pairs, PAIRS);
    for (int64_t k = 0; k < PAIRS; k++) {
        const char *value = info->metadata[k]->value;
        const char digit[2] = {(char)('0' + k), 0};
        assert_string_equal(info->metadata[k]->key, digit);
        assert_int_equal(strlen(value), k == 20 ? 200000 : 9000 + 7 * k);
        assert_int_equal(strspn(value, digit), strlen(value));
    }
    free(file.data);
}

static bytes fixture(const char *name)
{
    FILE *file = fopen(fixture_file("gguf", name), "rb");
    assert_non_null(file);
    bytes content = bytes_new(1 << 16);
    content.count = (int64_t)fread(content.data, 1, 1 << 16, file);
    assert_int_equal(fclose(file), 0);
    return content;
}

/* Calls that read fixtures, and return true on success. */
static bool read_a_tensor(void)
{
    return wk_load_tensor(fixture_file("gguf", "types.gguf"), "Q4_K") != NULL;
}

static bool read_contents(void)
{
    return wk_load_info(fixture_file("gguf", "types.gguf")) != NULL;
}

static bool read_a_model(void)
{
    return wk_nn_pretrained(fixture_file("gguf", "llama.gguf")) != NULL;
}

static bool read_blocks_of_a_model(void)
{
    return wk_nn_pretrained(fixture_file("gguf", "qwen2.gguf"), .quantized = true, .mmap = true) != NULL;
}

static bool read_scored_tokens(void)
{
    return wk_text_load(fixture_file("gguf", "text-llama.gguf")) != NULL;
}

static bool read_a_vocabulary(void)
{
    return wk_text_load(fixture_file("gguf", "text-llama-bpe.gguf")) != NULL;
}

/* Each call fails with a message if one of its allocations does, and succeeds after that. For models, of which the most
 * are for its modules, one in 7 fails. */
static void calls_without_memory(void **state)
{
    (void)state;
    static bool (*const calls[])(void) = {read_a_tensor,      read_contents, read_a_vocabulary,
                                          read_scored_tokens, read_a_model,  read_blocks_of_a_model};
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        const int64_t step = calls[k] == read_a_model || calls[k] == read_blocks_of_a_model ? 7 : 1;
        bool fine = false;
        for (int64_t n = 1; !fine; n += step) {
            WK_SCOPE;
            const int64_t before = wk__alloc_count();
            wk__alloc_fail_at(n);
            fine = calls[k]();
            wk__alloc_fail_at(0);
            if (!fine && wk_error_code() != WK_ERR_MEMORY)
                fail_msg("call %zu, request %lld: %s", k, (long long)n, wk_error());
            if (fine) fine = wk__alloc_count() - before < n; /* some requests are optional */
            wk_clear_error();
        }
    }
}

/* Models and vocabularies with mutated headers are loaded and used, or refused. */
static void mutated_models(void **state)
{
    (void)state;
    static const char *const names[] = {"llama.gguf", "qwen2.gguf", "types.gguf", "text-llama-bpe.gguf",
                                        "text-llama.gguf"};
    enum { FILES = 300 };
    uint64_t random = 7;
    int accepted = 0;
    for (int k = 0; k < FILES; k++) {
        WK_SCOPE;
        bytes good = fixture(names[k % 5]);
        const bytes header = {good.data, 2500 < good.count ? 2500 : good.count};
        bytes bad = mutate(header, "\1\2\3\4\6\b\t\f\x10\x20\x7f\xff", &random);
        if (bad.count == header.count) {
            memcpy(good.data, bad.data, (size_t)bad.count);
            free(bad.data);
            bad = bytes_copy(good.data, good.count);
        }
        free(good.data);
        const char *path = write_file(bad);
        wk_module *net = wk_nn_pretrained(path, .quantized = k % 2 == 0, .mmap = k % 3 == 0);
        wk_tensor *y = net ? wk_forward(net, wk_of(int64_t, (1, 3), 1, 4, 2)) : NULL;
        if (y) wk_item(wk_sum(wk_to_dtype(y, WK_F32)));
        accepted += net != NULL;
        if (wk_error() && strlen(wk_error()) < 10) fail_msg("no message");
        wk_clear_error();
        wk_tensors *list = wk_load_tensors(path);
        (void)list;
        wk_clear_error();
        wk_text *text = wk_text_load(path);
        if (text) wk_text_encode(text, "a text of 12 words");
        wk_clear_error();
        free(bad.data);
    }
    assert_true(accepted > FILES / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_by_hand),        cmocka_unit_test(every_truncation), cmocka_unit_test(mutations),
        cmocka_unit_test(every_allocation_fails), cmocka_unit_test(long_headers),     cmocka_unit_test(mutated_models),
        cmocka_unit_test(calls_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
