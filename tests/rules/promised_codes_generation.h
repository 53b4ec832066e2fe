/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of rules_error_codes for generation, in language.h. */
#ifndef TESTS_RULES_PROMISED_CODES_GENERATION_H
#define TESTS_RULES_PROMISED_CODES_GENERATION_H

#include "promised_codes.h"

/* A network of the scores that follow each of three tokens. */
static wk_module *three_tokens(void)
{
    return wk_nn_embedding(3, 3);
}

static wk_tensor *one_prompt(void)
{
    return wk_zeros((1, 2), .dtype = WK_I64);
}

static void scores_of_one_dimension(void)
{
    wk_process_logits(wk_ones((3)));
}
static void integer_scores(void)
{
    wk_process_logits(wk_ones((1, 3), .dtype = WK_I64));
}
static void scores_at_no_temperature(void)
{
    wk_process_logits(wk_ones((1, 3)), .temperature = 0);
}
static void penalty_of_another_token(void)
{
    wk_print(wk_process_logits(wk_ones((1, 3)), .ids = wk_full((1, 1), 3, .dtype = WK_I64), .repetition_penalty = 2));
}
static void generate_from_one_dimension(void)
{
    wk_generate(three_tokens(), wk_zeros((3), .dtype = WK_I64));
}
static void generate_from_fractions(void)
{
    wk_generate(three_tokens(), wk_ones((1, 2)));
}
static void generate_before_now(void)
{
    wk_generate(three_tokens(), one_prompt(), .max_new_tokens = -1);
}
static void generate_without_padding(void)
{
    wk_generate(three_tokens(), one_prompt(), .mask = wk_ones((1, 2), .dtype = WK_BOOL));
}
static void generate_from_another_token(void)
{
    wk_print(wk_generate(three_tokens(), wk_full((1, 1), 3, .dtype = WK_I64)));
}
static void generate_text_from_latin1(void)
{
    wk_generate_text(three_tokens(), wk_text_chars_of("abc"), "caf\xe9");
}
static void generate_text_from_nothing(void)
{
    wk_generate_text(three_tokens(), wk_text_chars_of("abc"), "");
}

static const promised_code promised_by_generation[] = {
    {"wk_process_logits", WK_ERR_SHAPE, .provoke = scores_of_one_dimension},
    {"wk_process_logits", WK_ERR_DTYPE, .provoke = integer_scores},
    {"wk_process_logits", WK_ERR_ARGUMENT, .provoke = scores_at_no_temperature},
    {"wk_process_logits", WK_ERR_INDEX, .provoke = penalty_of_another_token},
    {"wk_generate", WK_ERR_SHAPE, .provoke = generate_from_one_dimension},
    {"wk_generate", WK_ERR_DTYPE, .provoke = generate_from_fractions},
    {"wk_generate", WK_ERR_ARGUMENT, .provoke = generate_before_now},
    {"wk_generate", WK_ERR_UNSUPPORTED, .provoke = generate_without_padding},
    {"wk_generate", WK_ERR_INDEX, .provoke = generate_from_another_token},
    {"wk_generate_text", WK_ERR_FORMAT, .provoke = generate_text_from_latin1},
    {"wk_generate_text", WK_ERR_ARGUMENT, .provoke = generate_text_from_nothing},
};

#endif
