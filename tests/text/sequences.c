/* SPDX-License-Identifier: Apache-2.0 */
/* Tests windows of a text, padding, order by length, perplexity and BLEU. */
#include "support/wick.h"

#include <math.h>

#include "support/devices.h"

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* Checks x of a sample, and that y is x one position later; the ids are 0, 1, ... */
static void expect_window(wk_tensor *x, wk_tensor *y, int row, int first, int steps)
{
    for (int k = 0; k < steps; k++) {
        assert_int_equal(wk_item_i64(wk_select(wk_select(x, 0, row), 0, k)), first + k);
        assert_int_equal(wk_item_i64(wk_select(wk_select(y, 0, row), 0, k)), first + k + 1);
    }
}

static void windows_do_not_overlap(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_dataset *data = wk_text_windows(wk_arange(11, .device = device), 3);
        assert_int_equal(wk_data_size(data), 3); /* 0 to 2, 3 to 5, 6 to 8; 9 could have no label at the end */
        int batches = 0;
        WK_EACH(batch, wk_data_loader(data, .batch_size = 2, .device = device))
        {
            assert_int_equal(wk_dtype_of(batch->x), WK_I64);
            for (int row = 0; row < wk_size(batch->x, 0); row++)
                expect_window(batch->x, batch->y, row, 3 * (2 * batches + row), 3);
            batches++;
        }
        assert_int_equal(batches, 2);
        assert_int_equal(wk_data_size(wk_text_windows(wk_arange(10), 3)), 3);
        assert_int_equal(wk_data_size(wk_text_windows(wk_arange(9), 3)), 2);
        expect_ok();
    }
}

static void windows_begin_anywhere(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_sample sample;
    wk_dataset *data = wk_text_windows(wk_to_dtype(wk_arange(10), WK_I32), 4, .stride = 1, .offset = 2);
    assert_int_equal(wk_data_size(data), 4); /* at 2, 3, 4, 5 */
    assert_int_equal(wk_data_get(data, 3, &sample), WK_OK);
    EXPECT_VALUES(sample.tensors[0], 0, 5, 6, 7, 8);
    EXPECT_VALUES(sample.tensors[1], 0, 6, 7, 8, 9);
    data = wk_text_windows(wk_arange(10), 2, .stride = 4);
    assert_int_equal(wk_data_size(data), 2);
    assert_int_equal(wk_data_get(data, 1, &sample), WK_OK);
    EXPECT_VALUES(sample.tensors[0], 0, 4, 5);
    expect_ok();
}

/* Rule 23 of the book: sequential batches continue where the last stopped. */
static void batches_continue(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { BATCH = 2, STEPS = 5 };
    wk_dataset *data = wk_text_windows(wk_arange(35), STEPS, .batch_size = BATCH, .offset = 2);
    int batches = 0;
    WK_EACH(batch, wk_data_loader(data, .batch_size = BATCH))
    {
        /* 33 ids, the last a label: two parts of 16, from 2 and from 18 */
        for (int row = 0; row < BATCH; row++)
            expect_window(batch->x, batch->y, row, 2 + 16 * row + STEPS * batches, STEPS);
        batches++;
    }
    assert_int_equal(batches, 3);
    expect_ok();
    assert_null(wk_data_loader(data, .batch_size = 3));
    assert_int_equal(wk_error_code(), WK_ERR_ARGUMENT);
    expect_error("data_loader: the dataset is a sequential partition for batches of 2 samples, got .batch_size 3; give "
                 "both the same .batch_size",
                 NULL);
    assert_null(wk_data_loader(data, .batch_size = 2, .shuffle = true));
    expect_error("data_loader: the dataset is a sequential partition", "got another order", NULL);
    assert_null(wk_data_loader(data, .batch_size = 2, .order = wk_arange(2)));
    expect_error("data_loader: the dataset is a sequential partition", NULL);
    assert_null(wk_data_loader(data, .batch_size = 2, .weights = wk_ones((6))));
    expect_error("data_loader: the dataset is a sequential partition", NULL);
}

/* ---- padding ----------------------------------------------------------------------------------------------------- */

static void sequences_are_padded(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *a = wk_to(wk_of(int64_t, (3), 5, 6, 7), device), *b = wk_to(wk_of(int32_t, (1), 8), device),
                  *c = wk_zeros((0), .dtype = WK_I64, .device = device), *lengths = NULL;
        wk_tensor *x = wk_text_pad((a, b, c), .value = 9, .lengths = &lengths);
        EXPECT_SHAPE(x, 3, 3);
        EXPECT_VALUES(x, 0, 5, 6, 7, 8, 9, 9, 9, 9, 9);
        EXPECT_VALUES(lengths, 0, 3, 1, 0);
        assert_int_equal(wk_device_of(x).kind, device.kind);
        x = wk_text_pad((a, b), .length = 2, .lengths = &lengths);
        EXPECT_SHAPE(x, 2, 2);
        EXPECT_VALUES(x, 0, 5, 6, 8, 0);
        EXPECT_VALUES(lengths, 0, 2, 1);
        wk_tensor *list[] = {b, a};
        EXPECT_VALUES(wk_text_pad(WK_ARRAY(list, 2)), 0, 8, 0, 0, 5, 6, 7);
        wk_tensor *mask = NULL;
        x = wk_text_pad((a, b, c), .value = 9, .padding_side = "left", .lengths = &lengths, .mask = &mask);
        EXPECT_VALUES(x, 0, 5, 6, 7, 9, 9, 8, 9, 9, 9);
        EXPECT_VALUES(lengths, 0, 3, 1, 0);
        EXPECT_SHAPE(mask, 3, 3);
        EXPECT_VALUES(mask, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0);
        assert_true(wk_dtype_of(mask) == WK_BOOL && wk_device_of(mask).kind == device.kind);
        x = wk_text_pad((a, b), .length = 2, .padding_side = "left", .mask = &mask); /* without the end of a */
        EXPECT_VALUES(x, 0, 5, 6, 0, 8);
        EXPECT_VALUES(mask, 0, 1, 1, 0, 1);
        wk_text_pad((a, b), .padding_side = "right", .mask = &mask);
        EXPECT_VALUES(mask, 0, 1, 1, 1, 1, 0, 0);
        expect_ok();
    }
}

/* Each row of a batch is continued as its prompt alone. */
static void padded_prompts_are_continued(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(4);
    wk_module *net = wk_nn_gpt(.vocab_size = 11, .n_positions = 16, .n_embd = 8, .n_layer = 2, .n_head = 2);
    wk_init_normal_(wk_module_parameter(net, "transformer.wpe.weight"), 0, 1);
    wk_tensor *list[] = {wk_of(int64_t, (3), 5, 6, 7), wk_of(int64_t, (1), 8)}, *mask;
    wk_tensor *prompts = wk_text_pad(WK_ARRAY(list, 2), .padding_side = "left", .mask = &mask);
    wk_tensor *out = wk_generate(net, prompts, .mask = mask, .max_new_tokens = 6);
    for (int k = 0; k < 2; k++) {
        wk_tensor *alone = wk_generate(net, wk_unsqueeze(list[k], 0), .max_new_tokens = 6);
        assert_true(wk_equal(wk_narrow(wk_narrow(out, 0, k, 1), 1, 3, 6), wk_narrow(alone, 1, wk_numel(list[k]), 6)));
    }
    expect_ok();
}

static int64_t count_sequences(void *user)
{
    (void)user;
    return 5;
}

/* Sample k has the ids 1, ..., k % 3 + 1 and the label k. */
static bool get_sequence(wk_sample *sample, int64_t index, void *user)
{
    (void)user;
    sample->tensors[0] = wk_arange(1, index % 3 + 2);
    sample->tensors[1] = wk_full((), index);
    sample->count = 2;
    return true;
}

static void loaders_pad_batches(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_dataset_kind kind = {.size = sizeof kind, .count = count_sequences, .get = get_sequence};
    wk_dataset *data = wk_data_new(&kind, NULL);
    const int64_t pad = 7;
    wk_tensor *order = wk_text_order(wk_of(int64_t, (5), 1, 2, 3, 1, 2), 2);
    EXPECT_VALUES(order, 0, 0, 3, 1, 4, 2);
    int batches = 0;
    WK_EACH(batch, wk_data_loader(data, .batch_size = 2, .order = order, .collate = wk_text_collate,
                                  .collate_user = (void *)(uintptr_t)&pad))
    {
        assert_int_equal(batch->count, 3);
        if (batches == 1) EXPECT_VALUES(batch->x, 0, 1, 2, 1, 2);
        if (batches == 1) EXPECT_VALUES(batch->y, 0, 1, 4);
        EXPECT_VALUES(wk_sum(batch->tensors[2]), 0, (const double[]){2, 4, 3}[batches]);
        batches++;
    }
    assert_int_equal(batches, 3);
    WK_EACH(batch, wk_data_loader(data, .batch_size = 3, .collate = wk_text_collate,
                                  .collate_user = (void *)(uintptr_t)&pad, .drop_last = true))
    EXPECT_VALUES(batch->x, 0, 1, 7, 7, 1, 2, 7, 1, 2, 3);
    expect_ok();
}

static void collate_refuses_samples(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_sample samples[2] = {{.count = WK_SAMPLE_TENSORS}, {.count = WK_SAMPLE_TENSORS}}, batch = {0};
    for (int n = 0; n < WK_SAMPLE_TENSORS; n++)
        for (int k = 0; k < 2; k++) samples[k].tensors[n] = n == 0 ? wk_arange(k + 1) : wk_full((), k);
    assert_false(wk_text_collate(&batch, samples, 2, NULL));
    assert_int_equal(wk_error_code(), WK_ERR_ARGUMENT);
    expect_error("text_collate: samples of sequences must have at most 7 tensors", "the lengths", "got 8", NULL);
    samples[0].count = samples[1].count = WK_SAMPLE_TENSORS - 1;
    assert_true(wk_text_collate(&batch, samples, 2, NULL));
    assert_int_equal(batch.count, WK_SAMPLE_TENSORS);
    EXPECT_VALUES(batch.tensors[WK_SAMPLE_TENSORS - 1], 0, 1, 2);
    samples[1].count = 2;
    assert_false(wk_text_collate(&batch, samples, 2, NULL));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("text_collate: sample 1 has 2 tensors, but sample 0 of the same batch has 7", NULL);
    for (int k = 0; k < 2; k++) samples[k].count = WK_SAMPLE_TENSORS, samples[k].tensors[0] = wk_zeros((2, 2));
    assert_true(wk_text_collate(&batch, samples, 2, NULL)); /* no sequence: no lengths */
    assert_int_equal(batch.count, WK_SAMPLE_TENSORS);
    expect_ok();
}

/* The ids of "abc 7" for a sample with the element 7. */
static wk_tensor *encode_number(wk_tensor *x, void *user)
{
    char string[40];
    snprintf(string, sizeof string, "abc %lld", (long long)wk_item_i64(x));
    return wk_text_encode(user, string);
}

static void threads_share_a_text(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_text *text = wk_text_bpe_train_of("abc abc 1 2 3", 260);
    wk_dataset *data = wk_data_map(wk_data_tensors(wk_arange(100, 300), NULL), encode_number, text);
    for (int64_t workers = 0; workers <= 4; workers += 4) {
        int64_t seen = 100;
        WK_EACH(batch, wk_data_loader(data, .batch_size = 8, .workers = (int)workers))
        {
            for (int64_t row = 0; row < wk_size(batch->x, 0); row++) {
                char expected[40];
                snprintf(expected, sizeof expected, "abc %lld", (long long)seen++);
                assert_string_equal(wk_text_decode(text, wk_select(batch->x, 0, row)), expected);
            }
        }
        assert_int_equal(seen, 300);
    }
    expect_ok();
}

static void batches_of_similar_length_are_shuffled(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { N = 43, BATCH = 4 };
    int64_t lengths[N], order[N], other[N], last[N / BATCH] = {0};
    bool seen[N] = {false};
    for (int k = 0; k < N; k++) lengths[k] = k * 29 % N;
    wk_tensor *given = wk_from(lengths, (N));
    wk_read(wk_text_order(given, BATCH, .shuffle = true, .seed = 3), order, sizeof order);
    wk_read(wk_text_order(given, BATCH, .shuffle = true, .seed = 4), other, sizeof other);
    assert_true(memcmp(order, other, sizeof order) != 0);
    int moved = 0;
    for (int k = 0; k < N; k++) {
        assert_false(seen[order[k]]);
        seen[order[k]] = true;
        if (k % BATCH > 0) assert_int_equal(lengths[order[k]], lengths[order[k - 1]] + 1);
        if (k % BATCH == 0 && k / BATCH < N / BATCH) last[k / BATCH] = lengths[order[k]];
    }
    for (int k = 1; k < N / BATCH; k++) moved += last[k] < last[k - 1];
    assert_true(moved > 1);
    assert_int_equal(lengths[order[N - 1]], N - 1); /* the smaller batch stays last */
    expect_ok();
}

static void lines_become_rows(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char string[] = "go .\r\ni lost .\n\nhe is calm .";
    wk_text *text = wk_text_words_of(string, .reserved_tokens = "<pad> <bos> <eos>");
    assert_int_equal(wk_text_id(text, "go"), 5); /* "." is 4 */
    wk_tensor *lengths = NULL, *x = wk_text_encode_lines(text, string, .end = "<eos>", .lengths = &lengths);
    EXPECT_SHAPE(x, 4, 5);
    EXPECT_VALUES(x, 0, 5, 4, 3, 1, 1, 6, 7, 4, 3, 1, 3, 1, 1, 1, 1, 8, 9, 10, 4, 3);
    EXPECT_VALUES(lengths, 0, 3, 4, 1, 5);
    x = wk_text_encode_lines(text, "go .\nlost", .begin = "<bos>", .end = "<eos>", .length = 3, .lengths = &lengths);
    EXPECT_VALUES(x, 0, 2, 5, 4, 2, 7, 3); /* cut as in the book, with <eos> */
    EXPECT_VALUES(lengths, 0, 3, 3);
    EXPECT_VALUES(wk_text_encode_lines(text, "go .\n", .length = 3, .pad = "<eos>"), 0, 5, 4, 3);
    wk_tensor *mask = NULL;
    x = wk_text_encode_lines(text, "go .\nlost", .padding_side = "left", .pad = "<eos>", .mask = &mask);
    EXPECT_VALUES(x, 0, 5, 4, 3, 7);
    EXPECT_VALUES(mask, 0, 1, 1, 0, 1);
    wk_text *letters = wk_text_chars_of("abc");
    EXPECT_VALUES(wk_text_encode_lines(letters, "ab\nca"), 0, 0, 1, 2, 0); /* needs no padding */
    expect_ok();
    assert_null(wk_text_encode_lines(letters, "ab\nc"));
    expect_error(
        "text_encode_lines: the token \"<pad>\" of .pad is not in the vocabulary; add it with .reserved_tokens", NULL);
    assert_null(wk_text_encode_lines(letters, "ab\nca", .length = 3));
    expect_error("text_encode_lines: the token \"<pad>\" of .pad is not in the vocabulary", NULL);
    assert_null(wk_text_encode_lines(letters, "ab\nca\nb", .length = 1));
    expect_error("text_encode_lines: the token \"<pad>\" of .pad is not in the vocabulary", NULL);
    EXPECT_SHAPE(wk_text_encode_lines(letters, "\n\n"), 2, 0);
    assert_null(wk_text_encode_lines(letters, "ab", .end = "<eos>"));
    expect_error("text_encode_lines: the token \"<eos>\" of .end is not in the vocabulary", NULL);
    assert_null(wk_text_encode_lines(letters, "ab\nxb"));
    expect_error("text_encode_lines: line 2: the character \"x\" (byte 0) is not in the vocabulary", NULL);
    assert_null(wk_text_encode_lines(letters, ""));
    expect_error("text_encode_lines: the string is empty; expected at least one line", NULL);
    assert_null(wk_text_encode_lines(letters, NULL));
    expect_error("text_encode_lines: the string is NULL", NULL);
    assert_null(wk_text_encode_lines(letters, "ab", .length = -1));
    expect_error("text_encode_lines: .length must be at least 0, got -1", NULL);
    assert_null(wk_text_encode_lines(letters, "a\xff", .lengths = &lengths, .mask = &mask));
    assert_null(lengths);
    assert_null(mask);
    expect_error("text_encode_lines: the text is not UTF-8: invalid byte 0xff (byte 1)", NULL);
}

/* ---- measures ---------------------------------------------------------------------------------------------------- */

static void measures_of_the_book(void **state)
{
    (void)state;
    assert_true(wk_text_perplexity(0) == 1);
    assert_true(fabs(wk_text_perplexity(log(28)) - 28) < 1e-12);
    static const struct {
        const char *prediction, *label;
        int64_t k;
        double score;
    } cases[] = {{"va !", "va !", 2, 1},
                 {"j'ai perdu .", "j'ai perdu .", 2, 1},
                 {"il est malade .", "il est calme .", 2, 0.6580370064762462},
                 {"il <unk> chez chez <unk> .", "il est calme .", 2, 0},
                 {"je suis chez moi moi .", "je suis chez moi .", 2, 0.8633400213704505},
                 {"a a a a", "a", 1, 0.5},
                 {"a", "a b c", 1, 0.1353352832366127},
                 {"a", "a", 4, 1},
                 {"", "a", 1, 0},
                 {"a  b", " a b ", 2, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const double score = wk_text_bleu(cases[k].prediction, cases[k].label, cases[k].k);
        if (!(fabs(score - cases[k].score) < 1e-12)) fail_msg("\"%s\": %.16g", cases[k].prediction, score);
    }
    expect_ok();
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void mistakes_are_explained(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *ids = wk_arange(10), *square = wk_zeros((2, 2), .dtype = WK_I64);
    assert_null(wk_text_windows(ids, 0));
    expect_error("text_windows: steps must be at least 1, got 0", NULL);
    assert_null(wk_text_windows(ids, 2, .stride = -1));
    expect_error("text_windows: .stride must be at least 0, got -1", NULL);
    assert_null(wk_text_windows(ids, 2, .offset = -1));
    expect_error("text_windows: .offset must be at least 0, got -1", NULL);
    assert_null(wk_text_windows(ids, 2, .batch_size = -1));
    expect_error("text_windows: .batch_size must be at least 0, got -1", NULL);
    assert_null(wk_text_windows(ids, 10));
    expect_error("text_windows: no window fits: 10 ids after .offset 0, in 1 part, are fewer than 10 and a label",
                 NULL);
    assert_null(wk_text_windows(ids, 4, .batch_size = 3, .offset = 20));
    expect_error("text_windows: no window fits: 0 ids after .offset 20, in 3 parts", NULL);
    assert_null(wk_text_windows(square, 1));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("text_windows: expected ids with one dimension, got i64[2,2]", NULL);
    assert_null(wk_text_windows(wk_ones((9)), 1));
    assert_int_equal(wk_error_code(), WK_ERR_DTYPE);
    expect_error("text_windows: expected ids of an integer dtype, got f32[9]", NULL);
    assert_null(wk_text_pad((ids, square)));
    expect_error("text_pad: expected sequences with one dimension, got at index 1 i64[2,2]", NULL);
    assert_null(wk_text_pad((ids, wk_ones((2)))));
    expect_error("text_pad: expected ids of an integer dtype, got f32[2]", NULL);
    assert_null(wk_text_pad((ids), .length = -1));
    expect_error("text_pad: .length must be at least 0, got -1", NULL);
    wk_tensor *mask = ids;
    assert_null(wk_text_pad((ids), .padding_side = "both", .mask = &mask));
    expect_error("text_pad: unknown padding_side \"both\"; expected \"right\" or \"left\"", NULL);
    assert_null(mask);
    assert_null(wk_text_encode_lines(wk_text_chars_of("a"), "a", .padding_side = "both"));
    expect_error("text_encode_lines: unknown padding_side \"both\"; expected \"right\" or \"left\"", NULL);
    assert_null(wk_text_pad_at(WK_HERE, NULL, 0, NULL));
    expect_error("text_pad: expected at least one sequence", NULL);
    assert_null(wk_text_order(square, 1));
    expect_error("text_order: expected lengths with one dimension, got i64[2,2]", NULL);
    assert_null(wk_text_order(ids, 0));
    expect_error("text_order: batch_size must be at least 1, got 0", NULL);
    assert_true(isnan(wk_text_bleu("a", "a", 0)));
    expect_error("text_bleu: k must be at least 1, got 0", NULL);
    assert_true(isnan(wk_text_bleu(NULL, "a", 1)));
    expect_error("text_bleu: the prediction is NULL", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(windows_do_not_overlap, test_clean),
        cmocka_unit_test_teardown(windows_begin_anywhere, test_clean),
        cmocka_unit_test_teardown(batches_continue, test_clean),
        cmocka_unit_test_teardown(sequences_are_padded, test_clean),
        cmocka_unit_test_teardown(padded_prompts_are_continued, test_clean),
        cmocka_unit_test_teardown(loaders_pad_batches, test_clean),
        cmocka_unit_test_teardown(collate_refuses_samples, test_clean),
        cmocka_unit_test_teardown(threads_share_a_text, test_clean),
        cmocka_unit_test_teardown(batches_of_similar_length_are_shuffled, test_clean),
        cmocka_unit_test_teardown(lines_become_rows, test_clean),
        cmocka_unit_test_teardown(measures_of_the_book, test_clean),
        cmocka_unit_test_teardown(mistakes_are_explained, test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
