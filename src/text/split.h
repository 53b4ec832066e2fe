/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that split a text into pieces for byte-pair encodings. Files contain them as regular expressions. */
#ifndef WICK_TEXT_SPLIT_H
#define WICK_TEXT_SPLIT_H

#include <stdint.h>
#include <wick/text.h>

/* Returns the length in bytes of the first piece of a text, which is valid UTF-8 and not empty. */
int64_t wk__split_piece(wk_text_split rule, const char *at, const char *end);
/* Returns the rule of a regular expression; WK_TEXT_SPLIT_COUNT if no rule has it. */
wk_text_split wk__split_of_pattern(const char *pattern);
/* Returns the regular expression of a rule. */
const char *wk__split_pattern(wk_text_split rule);

#endif
