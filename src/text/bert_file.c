/* SPDX-License-Identifier: Apache-2.0 */
/* vocab.txt of BERT: a token in each line, whose number from 0 on is its id. The file does not contain the rules. */
#include "base/alloc.h"
#include "base/options.h"
#include "bpe_parts.h"
#include "io/save_load.h"
#include "word_pieces.h"
#include <string.h>

static const char unknown[] = "[UNK]", cls[] = "[CLS]", sep[] = "[SEP]";

static int64_t find(const wk__tokenizer *t, const char *token)
{
    return wk__vocabulary_find(&t->vocabulary, token, (int64_t)strlen(token));
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static bool has_line(wk__span text, const char *wanted)
{
    wk__span line;
    const size_t length = strlen(wanted);
    while (wk__next_line(&text, &line))
        if ((size_t)line.bytes == length && memcmp(line.at, wanted, length) == 0) return true;
    return false;
}

bool wk__is_bert_file(wk__span text)
{
    return has_line(text, unknown) && has_line(text, cls) && has_line(text, sep);
}

/* Lists the tokens of a file, whose lines it terminates. Empty lines have no token. */
static wk_code list_tokens(wk__text *file, wk__bpe_parts *parts, wk__io_error *error)
{
    wk__span rest = {file->data, file->length}, line = {0};
    wk_code code = wk__text_check(rest, error);
    for (int64_t id = 0; code == WK_OK && wk__next_line(&rest, &line); id++) {
        file->data[line.at - file->data + line.bytes] = '\0'; /* a line end, or the terminator of the text */
        if (line.bytes > 0) code = wk__bpe_parts_add_token(parts, line.at, id, error);
    }
    return code;
}

/* ---- the tokenizer ----------------------------------------------------------------------------------------------- */

/* Sets special tokens and steps. */
static wk_code set_rules(wk__tokenizer *t, const wk__bert_rules *rules, wk__io_error *error)
{
    static const char *const special[] = {"[PAD]", unknown, cls, sep, "[MASK]"};
    wk__bpe *b = t->bpe;
    for (int k = 1; k < 4; k++)
        if (find(t, special[k]) < 0)
            return wk__io_fail(error, WK_ERR_FORMAT, "the token \"%s\" is missing; expected the vocab.txt of BERT",
                               special[k]);
    b->normalizer = (wk__steps){.step = {{.kind = WK__STEP_BERT, .bert = *rules}}, .count = 1};
    b->pre_tokenizer = (wk__steps){.step = {{.kind = WK__STEP_WORDS}}, .count = 1};
    b->decoder = (wk__steps){.step = {{.kind = WK__STEP_WORD_PIECES, .each = true}}, .count = 1};
    b->decoder.step[0].content = wk__strdup("##");
    bool fine = b->decoder.step[0].content && wk__bpe_set_word_pieces(t, "##", 100);
    for (int k = 0; k < 5 && fine; k++) {
        const int64_t id = find(t, special[k]);
        fine = id < 0 || wk__bpe_add_token(t, id, special[k], true);
    }
    t->unknown = find(t, unknown);
    wk__ids_add(&b->before, find(t, cls));
    wk__ids_add(&b->after, find(t, sep));
    fine = fine && !b->before.failed && !b->after.failed && wk__bpe_finish(b);
    return fine ? WK_OK : wk__text_no_memory(error);
}

wk_code wk__bert_file_read(wk__text *file, const wk__bert_rules *rules, wk__tokenizer **t, wk__io_error *error)
{
    wk__bpe_parts parts = {0};
    *t = wk__bpe_new();
    wk_code code = *t ? list_tokens(file, &parts, error) : wk__text_no_memory(error);
    if (code == WK_OK) code = wk__bpe_parts_build(&parts, *t, error);
    if (code == WK_OK) code = set_rules(*t, rules, error);
    wk__bpe_parts_free(&parts);
    return code;
}

wk_text *wk_text_load_bert_at(wk_site site, const char *vocab, const wk_text_bert_options *options)
{
    static const char op[] = "text_load_bert";
    wk_text_bert_options o;
    if (!wk__options(site, op, options, &o) || !wk__check_path(site, op, vocab)) return NULL;
    const bool lower = wk__option_or(o.do_lower_case, 1) != 0;
    const wk__bert_rules rules = {.clean = true,
                                  .ideographs = wk__option_or(o.tokenize_chinese_chars, 1) != 0,
                                  .strip_accents = wk__option_or(o.strip_accents, lower) != 0,
                                  .lower = lower};
    wk__text content = {0};
    wk__io_error error;
    wk__tokenizer *t = NULL;
    wk_code code = wk__text_file_read(vocab, &content, &error);
    if (code == WK_OK) {
        code = wk__bert_file_read(&content, &rules, &t, &error);
        if (code != WK_OK) wk__io_prefix(&error, "%s", wk__printable_name(vocab).text);
    }
    wk__text_free(&content);
    return wk__tokenizer_wrap(site, op, t, code, &error);
}
