/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of rules_error_codes for text.h. */
#ifndef TESTS_RULES_PROMISED_CODES_TEXT_H
#define TESTS_RULES_PROMISED_CODES_TEXT_H

#include "promised_codes.h"

/* Writes a file with this text and returns its path. */
static const char *text_file(const char *content)
{
    put_below(scratch("."), "/given.txt", content);
    return scratch("given.txt");
}

static const char *no_text_file(void)
{
    return scratch("missing/file.txt");
}

static wk_text *letters(void)
{
    return wk_text_chars_of("abc");
}

static wk_tensor *square_ids(void)
{
    return wk_zeros((2, 2), .dtype = WK_I64);
}

static void chars_of_no_file(void)
{
    wk_text_chars(no_text_file());
}
static void chars_of_latin1(void)
{
    wk_text_chars_of("caf\xe9");
}
static void chars_with_punctuation(void)
{
    wk_text_chars_of("a", .punctuation = true);
}
static void pairs_of_no_file(void)
{
    wk_text_bpe_train(no_text_file(), 300);
}
static void pairs_of_latin1(void)
{
    wk_text_bpe_train_of("caf\xe9", 300);
}
static void too_few_pairs(void)
{
    wk_text_bpe_train_of("a", 100);
}
static void load_no_vocabulary(void)
{
    wk_text_load(no_text_file());
}
static void load_a_text(void)
{
    wk_text_load(text_file("not a vocabulary\n"));
}
static void load_another_model(void)
{
    wk_text_load(text_file("{\"model\": {\"type\": \"Unigram\"}}"));
}
static void load_no_bert(void)
{
    wk_text_load_bert(text_file("a\nb\n"));
}
static void vocabulary_into_no_folder(void)
{
    wk_text_save(letters(), no_text_file());
}
static void pairs_into_no_folder(void)
{
    wk_text_save_gpt2(wk_text_bpe_train_of("a", 256), no_text_file(), no_text_file());
}
static void save_characters_as_pairs(void)
{
    wk_text_save_gpt2(letters(), scratch("vocab.json"), scratch("merges.txt"));
}
static void ids_of_no_text(void)
{
    wk_text_ids(wk_text_bpe_train_of("a", 256));
}
static void encode_no_file(void)
{
    wk_text_encode_file(letters(), no_text_file());
}
static void encode_latin1(void)
{
    wk_text_encode(letters(), "\xe9");
}
static void encode_another_letter(void)
{
    wk_text_encode(letters(), "d");
}
static void decode_fractions(void)
{
    wk_text_decode(letters(), wk_ones((2)));
}
static void decode_another_id(void)
{
    wk_text_decode(letters(), wk_of(int64_t, (1), 3));
}
static void token_of_another_id(void)
{
    wk_text_token(letters(), 3);
}
static void frequency_of_another_id(void)
{
    wk_text_frequency(letters(), 3);
}
static void windows_of_a_square(void)
{
    wk_text_windows(square_ids(), 1);
}
static void windows_of_fractions(void)
{
    wk_text_windows(wk_ones((9)), 1);
}
static void windows_without_steps(void)
{
    wk_text_windows(wk_arange(9), 0);
}
static void pad_a_square(void)
{
    wk_text_pad((square_ids()));
}
static void pad_fractions(void)
{
    wk_text_pad((wk_ones((3))));
}
static void pad_to_negative_length(void)
{
    wk_text_pad((wk_arange(3)), .length = -1);
}
static void lines_of_latin1(void)
{
    wk_text_encode_lines(letters(), "a\xe9");
}
static void no_lines(void)
{
    wk_text_encode_lines(letters(), "");
}
static void order_of_a_square(void)
{
    wk_text_order(square_ids(), 2);
}
static void order_of_fractions(void)
{
    wk_text_order(wk_ones((3)), 2);
}
static void order_without_batches(void)
{
    wk_text_order(wk_arange(3), 0);
}
static void bleu_without_words(void)
{
    wk_text_bleu("a", "a", 0);
}

static void collate_different_counts(void)
{
    wk_sample samples[2] = {{.count = 1, .tensors = {wk_arange(1)}}, {.count = 0}}, batch;
    wk_text_collate(&batch, samples, 2, NULL);
}
static void collate_full_samples(void)
{
    wk_sample sample = {.count = WK_SAMPLE_TENSORS}, batch;
    for (int k = 0; k < WK_SAMPLE_TENSORS; k++) sample.tensors[k] = wk_arange(2);
    wk_text_collate(&batch, &sample, 1, NULL);
}

static const promised_code promised_by_text[] = {
    {"wk_text_chars", WK_ERR_IO, .provoke = chars_of_no_file},
    {"wk_text_chars", WK_ERR_FORMAT, .provoke = chars_of_latin1},
    {"wk_text_chars", WK_ERR_ARGUMENT, .provoke = chars_with_punctuation},
    {"wk_text_bpe_train", WK_ERR_IO, .provoke = pairs_of_no_file},
    {"wk_text_bpe_train", WK_ERR_FORMAT, .provoke = pairs_of_latin1},
    {"wk_text_bpe_train", WK_ERR_ARGUMENT, .provoke = too_few_pairs},
    {"wk_text_chars", WK_ERR_UNSUPPORTED, .test = "text/vocabulary.c"},
    {"wk_text_bpe_train", WK_ERR_UNSUPPORTED, .test = "text/vocabulary.c"},
    {"wk_text_load", WK_ERR_IO, .provoke = load_no_vocabulary},
    {"wk_text_load", WK_ERR_FORMAT, .provoke = load_a_text},
    {"wk_text_load", WK_ERR_UNSUPPORTED, .provoke = load_another_model},
    {"wk_text_load_bert", WK_ERR_FORMAT, .provoke = load_no_bert},
    {"wk_text_save", WK_ERR_IO, .provoke = vocabulary_into_no_folder},
    {"wk_text_save_gpt2", WK_ERR_IO, .provoke = pairs_into_no_folder},
    {"wk_text_save_gpt2", WK_ERR_UNSUPPORTED, .provoke = save_characters_as_pairs},
    {"wk_text_ids", WK_ERR_STATE, .provoke = ids_of_no_text},
    {"wk_text_encode", WK_ERR_IO, .provoke = encode_no_file},
    {"wk_text_encode", WK_ERR_FORMAT, .provoke = encode_latin1},
    {"wk_text_encode", WK_ERR_ARGUMENT, .provoke = encode_another_letter},
    {"wk_text_decode", WK_ERR_DTYPE, .provoke = decode_fractions},
    {"wk_text_decode", WK_ERR_INDEX, .provoke = decode_another_id},
    {"wk_text_token", WK_ERR_INDEX, .provoke = token_of_another_id},
    {"wk_text_frequency", WK_ERR_INDEX, .provoke = frequency_of_another_id},
    {"wk_text_windows", WK_ERR_SHAPE, .provoke = windows_of_a_square},
    {"wk_text_windows", WK_ERR_DTYPE, .provoke = windows_of_fractions},
    {"wk_text_windows", WK_ERR_ARGUMENT, .provoke = windows_without_steps},
    {"wk_text_pad", WK_ERR_SHAPE, .provoke = pad_a_square},
    {"wk_text_pad", WK_ERR_DTYPE, .provoke = pad_fractions},
    {"wk_text_pad", WK_ERR_ARGUMENT, .provoke = pad_to_negative_length},
    {"wk_text_encode_lines", WK_ERR_FORMAT, .provoke = lines_of_latin1},
    {"wk_text_encode_lines", WK_ERR_ARGUMENT, .provoke = no_lines},
    {"wk_text_collate", WK_ERR_SHAPE, .provoke = collate_different_counts},
    {"wk_text_collate", WK_ERR_ARGUMENT, .provoke = collate_full_samples},
    {"wk_text_order", WK_ERR_SHAPE, .provoke = order_of_a_square},
    {"wk_text_order", WK_ERR_DTYPE, .provoke = order_of_fractions},
    {"wk_text_order", WK_ERR_ARGUMENT, .provoke = order_without_batches},
    {"wk_text_bleu", WK_ERR_ARGUMENT, .provoke = bleu_without_words},
};

#endif
