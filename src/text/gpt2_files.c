/* SPDX-License-Identifier: Apache-2.0 */
/* The two files of GPT-2's tokenizer: vocab.json, {"token": id, ...}, and merges.txt, a line "#version: 0.2" and then a
 * merge of two tokens in each line. The files do not contain the rules. */
#include "base/alloc.h"
#include "base/utf8.h"
#include "bpe_parts.h"
#include "io/save_load.h"
#include <string.h>

static const char end_of_text[] = "<|endoftext|>";

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static wk_code read_vocab(wk__text *file, wk__bpe_parts *parts, wk__io_error *error)
{
    wk__json json = {file->data, file->data, file->data + file->length, 0, "file"};
    wk_code code = wk__bpe_parts_read_vocab(&json, parts, error);
    if (code == WK_OK) code = wk__json_end(&json, error);
    return code == WK_OK && parts->tokens == 0 ? wk__io_fail(error, WK_ERR_FORMAT, "the vocabulary is empty") : code;
}

static wk_code read_merges(wk__text *file, wk__bpe_parts *parts, wk__io_error *error)
{
    wk_code code = wk__text_check((wk__span){file->data, file->length}, error);
    char *line = file->data, *const end = line + file->length;
    for (int64_t number = 1; code == WK_OK && line < end; number++) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end; /* the terminator of the text */
        *stop = '\0';
        if (stop > line && stop[-1] == '\r') stop[-1] = '\0';
        const bool is_version = number == 1 && strncmp(line, "#version", 8) == 0;
        if (*line && !is_version) code = wk__bpe_parts_add_merge(parts, line, error);
        if (code == WK_ERR_FORMAT) wk__io_prefix(error, "line %lld", (long long)number);
        line = stop + 1;
    }
    return code;
}

static wk_code build(const wk__bpe_parts *parts, wk__tokenizer *t, wk__io_error *error)
{
    const wk_code code = wk__bpe_parts_build(parts, t, error);
    if (code != WK_OK) return code;
    wk__bpe_set_byte_level(t->bpe, WK_TEXT_SPLIT_GPT2);
    const int64_t id = wk__vocabulary_find(&t->vocabulary, end_of_text, sizeof end_of_text - 1);
    const bool fine = (id < 0 || wk__bpe_add_token(t, id, end_of_text, true)) && wk__bpe_finish(t->bpe);
    return fine ? WK_OK : wk__text_no_memory(error);
}

/* Reads one of the files and passes its text to `read`. */
static wk_code read_file(const char *path, wk__text *content, wk__bpe_parts *parts,
                         wk_code (*read)(wk__text *, wk__bpe_parts *, wk__io_error *), wk__io_error *error)
{
    wk_code code = wk__text_file_read(path, content, error);
    if (code != WK_OK) return code;
    code = read(content, parts, error);
    return code == WK_OK ? code : wk__io_prefix(error, "%s", wk__printable_name(path).text);
}

wk_text *wk_text_load_gpt2_at(wk_site site, const char *vocab, const char *merges)
{
    static const char op[] = "text_load_gpt2";
    if (!wk__check_path(site, op, vocab) || !wk__check_path(site, op, merges)) return NULL;
    wk__text content[2] = {{0}};
    wk__bpe_parts parts = {0};
    wk__io_error error;
    wk__tokenizer *t = wk__bpe_new();
    wk_code code = t ? WK_OK : wk__text_no_memory(&error);
    if (code == WK_OK) code = read_file(vocab, &content[0], &parts, read_vocab, &error);
    if (code == WK_OK) code = read_file(merges, &content[1], &parts, read_merges, &error);
    if (code == WK_OK) code = build(&parts, t, &error);
    wk__bpe_parts_free(&parts);
    wk__text_free(&content[0]);
    wk__text_free(&content[1]);
    return wk__tokenizer_wrap(site, op, t, code, &error);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Returns true if the vocabulary has a token for each byte, so that no character is unknown. */
static bool has_all_bytes(const wk__tokenizer *t)
{
    for (int byte = 0; byte < 256; byte++) {
        char character[4];
        const int64_t length = wk__utf8_put(character, wk__char_of_byte((unsigned char)byte)) - character;
        if (wk__vocabulary_find(&t->vocabulary, character, length) < 0) return false;
    }
    return true;
}

/* Returns true if the added tokens are those with which the files are read: <|endoftext|> if the vocabulary has it. */
static bool has_usual_added(const wk__tokenizer *t)
{
    const bool listed = wk__vocabulary_find(&t->vocabulary, end_of_text, sizeof end_of_text - 1) >= 0;
    const wk__added_token *added = t->bpe->added;
    if (t->bpe->added_count == 0) return !listed;
    return t->bpe->added_count == 1 && strcmp(added->content, end_of_text) == 0 && added->special &&
           !added->strip_left && !added->strip_right;
}

/* Returns the first property of a tokenizer that the two files cannot hold, or NULL. */
static const char *lost_in_files(const wk__tokenizer *t)
{
    const wk__bpe *b = t->bpe;
    if (!b || wk__bpe_byte_level(b) != WK_TEXT_SPLIT_GPT2)
        return "encodings other than byte-level ones with GPT-2's split";
    if (!has_usual_added(t)) return "added tokens other than a special token <|endoftext|>";
    if (b->before.count + b->after.count > 0) return "tokens around a text";
    if (b->ignore_merges) return "ignore_merges";
    return (t->unknown >= 0 || b->byte_fallback) && !has_all_bytes(t) ? "unk_token and byte_fallback" : NULL;
}

static void write_merges(const wk__tokenizer *t, wk__text *out)
{
    const wk__merges *merges = &t->bpe->merges;
    wk__text_add(out, "#version: 0.2\n");
    for (int64_t k = 0; k < merges->count; k++) {
        wk__text_add(out, wk__vocabulary_token(&t->vocabulary, merges->list[k].left));
        wk__text_add(out, " ");
        wk__text_add(out, wk__vocabulary_token(&t->vocabulary, merges->list[k].right));
        wk__text_add(out, "\n");
    }
}

wk_code wk_text_save_gpt2_at(wk_site site, wk_text *text, const char *vocab, const char *merges)
{
    static const char op[] = "text_save_gpt2";
    const wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    if (!t || wk__error_pending() || !wk__check_path(site, op, vocab) || !wk__check_path(site, op, merges))
        return wk_error_code();
    const char *lost = lost_in_files(t);
    if (lost) {
        wk__error_set(site, WK_ERR_UNSUPPORTED, "%s: vocab.json and merges.txt cannot describe %s; use wk_text_save",
                      op, lost);
        return wk_error_code();
    }
    wk__text content[2] = {{0}};
    wk__io_error error;
    wk__bpe_vocab_write(t, &content[0]);
    wk__text_add(&content[0], "\n");
    write_merges(t, &content[1]);
    wk_code code = content[0].failed || content[1].failed ? wk__text_no_memory(&error) : WK_OK;
    if (code == WK_OK) code = wk__atomic_file_save(vocab, content[0].data, content[0].length, &error);
    if (code == WK_OK) code = wk__atomic_file_save(merges, content[1].data, content[1].length, &error);
    wk__text_free(&content[0]);
    wk__text_free(&content[1]);
    if (code != WK_OK) wk__error_set(site, code, "%s: %s", op, error.text);
    return code;
}
