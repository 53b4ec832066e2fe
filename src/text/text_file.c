/* SPDX-License-Identifier: Apache-2.0 */
/* wk_text_load, wk_text_save: files of tokenizers of every kind. */
#include "base/alloc.h"
#include "bpe.h"
#include "io/gguf.h"
#include "io/pretrained_config.h"
#include "io/save_load.h"
#include "word_pieces.h"
#include <string.h>

/* Reads lines of text, which it may modify: a vocab.txt of BERT, or a vocabulary of characters or words. */
static wk_code read_lines(wk__text *content, wk__tokenizer **t, wk__io_error *error)
{
    static const wk__bert_rules usual = {.clean = true, .ideographs = true, .strip_accents = true, .lower = true};
    const wk__span text = {content->data, content->length};
    return wk__is_bert_file(text) ? wk__bert_file_read(content, &usual, t, error) : wk__token_file_read(text, t, error);
}

/* Reads a file of text: JSON or lines. */
static wk_code read_text(const char *path, wk__tokenizer **t, wk__io_error *error)
{
    wk__text content = {0};
    wk_code code = wk__text_file_read(path, &content, error);
    if (code == WK_OK) {
        const bool is_json = content.length > 0 && content.data[strspn(content.data, " \t\r\n")] == '{';
        code = (is_json ? wk__tokenizer_json_read : read_lines)(&content, t, error);
        if (code != WK_OK) wk__io_prefix(error, "%s", wk__printable_name(path).text);
    }
    wk__text_free(&content);
    return code;
}

/* Fails because the path is that of a folder: names the file of it that has a vocabulary. */
static wk_code refuse_folder(const char *path, wk__io_error *error)
{
    static const struct {
        const char *file, *fix;
    } known[] = {{"tokenizer.json", "pass its tokenizer.json"},
                 {"vocab.txt", "pass its vocab.txt"},
                 {"vocab.json", "pass its vocab.json and merges.txt to wk_text_load_gpt2"}};
    const char *fix = "pass a file: tokenizer.json, a GGUF file, or one of wk_text_save";
    for (size_t k = sizeof known / sizeof *known; k-- > 0;) {
        wk__text file = wk__pretrained_path(path, known[k].file);
        if (!file.failed && wk__pretrained_is_file(file.data)) fix = known[k].fix;
        wk__text_free(&file);
    }
    return wk__io_fail(error, WK_ERR_IO, "%s is a folder; %s", wk__printable_name(path).text, fix);
}

wk_text *wk_text_load_at(wk_site site, const char *path)
{
    static const char op[] = "text_load";
    if (!wk__check_path(site, op, path)) return NULL;
    wk__safetensors header;
    wk__io_error error;
    wk__tokenizer *t = NULL;
    bool is_gguf;
    wk_code code =
        wk__is_folder(path) ? refuse_folder(path, &error) : wk__gguf_read_path(path, &header, &is_gguf, &error);
    if (code == WK_OK && is_gguf) {
        code = wk__tokenizer_gguf_read(&header, &t, &error);
        if (code != WK_OK) wk__io_prefix(&error, "%s", wk__printable_name(path).text);
        wk__safetensors_end(&header);
    } else if (code == WK_OK) {
        code = read_text(path, &t, &error);
    }
    return wk__tokenizer_wrap(site, op, t, code, &error);
}

wk_code wk_text_save_at(wk_site site, wk_text *text, const char *path)
{
    static const char op[] = "text_save";
    const wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    if (!t || wk__error_pending() || !wk__check_path(site, op, path)) return wk_error_code();
    wk__text content = {0};
    wk__io_error error;
    t->kind->write(t, &content);
    const wk_code code =
        content.failed ? wk__text_no_memory(&error) : wk__atomic_file_save(path, content.data, content.length, &error);
    wk__text_free(&content);
    if (code != WK_OK) wk__error_set(site, code, "%s: %s", op, error.text);
    return code;
}
