/* SPDX-License-Identifier: Apache-2.0 */
/* Reading tokenizer.json of Hugging Face: the parts that byte-pair encodings and word pieces use. A part that is not
 * supported is an error that names it, so that no tokenizer gives other ids. */
#include "base/alloc.h"
#include "base/integers.h"
#include "bpe_parts.h"
#include "io/json_fields.h"
#include <string.h>

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* An added token as the file has it. */
typedef struct listed_added {
    int64_t id;
    const char *content;
    bool single_word, lstrip, rstrip, normalized, special;
} listed_added;

/* A token of a post-processor and the id that the file gives it. */
typedef struct listed_special {
    const char *token;
    int64_t id, ids; /* of the last of its ids; how many it has */
} listed_special;

enum { AROUND = 16 }; /* most special tokens around a text */

/* Contents of a file. */
typedef struct contents {
    wk__bpe_parts parts;
    wk__tokenizer *t;
    listed_added *added; /* [added_count], owned */
    int64_t added_count, added_capacity;
    const char *type, *unk_token, *continuing_subword_prefix, *end_of_word_suffix; /* of the model */
    bool byte_fallback, fuse_unk, ignore_merges;
    int64_t max_input_chars_per_word; /* -1: missing */
    const char *around[AROUND];       /* special tokens around a text: those before it and those after it */
    int before, arounds;
    bool has_text;           /* the template has the text itself */
    listed_special cls, sep; /* of a processor that puts them before and after a text; token: NULL if missing */
    listed_special *special; /* [specials] special_tokens of templates, owned */
    int64_t specials, special_capacity;
    int depth; /* sequences of processors around the current one */
} contents;

#define CONTENTS(member, kind_) WK__FIELD_OF(contents, member, WK__FIELD_##kind_)
#define READ(member_, function_)                                                                                       \
    {                                                                                                                  \
        .name = member_, .kind = WK__FIELD_READ, .read = function_                                                     \
    }
#define SKIPPED(name_)                                                                                                 \
    {                                                                                                                  \
        .name = name_, .kind = WK__FIELD_SKIPPED                                                                       \
    }
#define TABLE(fields) fields, (int)(sizeof(fields) / sizeof *(fields))

/* ---- added tokens ---- */

static wk_code read_added_token(wk__json *json, void *into, wk__io_error *error)
{
    static const wk__field fields[] = {
        WK__FIELD_OF(listed_added, id, WK__FIELD_INTEGER),       WK__FIELD_OF(listed_added, content, WK__FIELD_STRING),
        WK__FIELD_OF(listed_added, single_word, WK__FIELD_BOOL), WK__FIELD_OF(listed_added, lstrip, WK__FIELD_BOOL),
        WK__FIELD_OF(listed_added, rstrip, WK__FIELD_BOOL),      WK__FIELD_OF(listed_added, normalized, WK__FIELD_BOOL),
        WK__FIELD_OF(listed_added, special, WK__FIELD_BOOL)};
    contents *c = into;
    listed_added token = {.id = -1};
    const wk_code code = wk__json_object(json, TABLE(fields), &token, error);
    if (code != WK_OK) return code;
    if (token.id < 0 || !token.content || !*token.content)
        return wk__io_fail(error, WK_ERR_FORMAT, "added token %lld lacks an id or a content",
                           (long long)c->added_count);
    if (token.single_word)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "added token \"%s\": single_word is not supported",
                           wk__printable_name(token.content).text);
    if (!wk__grow(&c->added, &c->added_capacity, c->added_count + 1, sizeof *c->added))
        return wk__text_no_memory(error);
    c->added[c->added_count++] = token;
    return WK_OK;
}

static wk_code read_added_tokens(wk__json *json, void *into, wk__io_error *error)
{
    return wk__json_array(json, read_added_token, into, error);
}

/* Adds the tokens to the vocabulary, where they may already be, and to the encoding. */
static wk_code build_added(const contents *c, wk__io_error *error)
{
    wk__vocabulary *v = &c->t->vocabulary;
    wk__bpe *b = c->t->bpe;
    const int64_t most = wk__min_i64(v->count + c->added_count + 1024, WK__VOCABULARY_MOST);
    for (int64_t k = 0; k < c->added_count; k++) {
        const listed_added *token = &c->added[k];
        const int64_t length = (int64_t)strlen(token->content);
        const int64_t found = wk__vocabulary_find(v, token->content, length);
        const bool taken = wk__vocabulary_has(v, token->id) || token->id >= most;
        if (found >= 0 ? found != token->id : taken)
            return wk__io_fail(error, WK_ERR_FORMAT, "added token \"%s\" cannot have the id %lld, which %s",
                               wk__printable_name(token->content).text, (long long)token->id,
                               found >= 0 ? "differs from that in the vocabulary" : "is taken or too large");
        if (found >= 0 && wk__bpe_added(c->t, found))
            return wk__io_fail(error, WK_ERR_FORMAT, "added token \"%s\" occurs twice",
                               wk__printable_name(token->content).text);
        if ((found < 0 && !wk__vocabulary_put(v, token->id, token->content, length)) ||
            !wk__bpe_add_token(c->t, token->id, token->content, token->special))
            return wk__text_no_memory(error);
        wk__added_token *added = &b->added[b->added_count - 1];
        added->in_normalized = token->normalized;
        added->strip_left = token->lstrip, added->strip_right = token->rstrip;
    }
    return WK_OK;
}

/* ---- steps ---- */

static wk_code read_normalizer(wk__json *json, void *into, wk__io_error *error)
{
    return wk__bpe_steps_read(json, WK__NORMALIZER, &((contents *)into)->t->bpe->normalizer, error);
}

static wk_code read_pre_tokenizer(wk__json *json, void *into, wk__io_error *error)
{
    return wk__bpe_steps_read(json, WK__PRE_TOKENIZER, &((contents *)into)->t->bpe->pre_tokenizer, error);
}

static wk_code read_decoder(wk__json *json, void *into, wk__io_error *error)
{
    return wk__bpe_steps_read(json, WK__DECODER, &((contents *)into)->t->bpe->decoder, error);
}

/* ---- the tokens around a text ---- */

/* {"id": "<s>", "type_id": 0} */
static wk_code read_part_id(wk__json *json, const char **id, wk__io_error *error)
{
    static const wk__field fields[] = {{.name = "id", .kind = WK__FIELD_STRING, .offset = 0}, SKIPPED("type_id")};
    *id = NULL;
    const wk_code code = wk__json_object(json, TABLE(fields), id, error);
    if (code == WK_OK && !*id) return wk__io_fail(error, WK_ERR_FORMAT, "post_processor: a part of single lacks an id");
    return code;
}

static wk_code read_special_token(wk__json *json, void *into, wk__io_error *error)
{
    contents *c = into;
    if (c->arounds == AROUND)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "post_processor: more than %d special tokens", AROUND);
    const wk_code code = read_part_id(json, &c->around[c->arounds++], error);
    if (!c->has_text) c->before = c->arounds;
    return code;
}

static wk_code read_sequence(wk__json *json, void *into, wk__io_error *error)
{
    const char *id;
    contents *c = into;
    const wk_code code = read_part_id(json, &id, error);
    if (code == WK_OK && (c->has_text || strcmp(id, "A") != 0))
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "post_processor: single must have the sequence A once");
    c->has_text = true;
    return code;
}

static wk_code read_template_part(wk__json *json, void *into, wk__io_error *error)
{
    static const wk__field fields[] = {READ("SpecialToken", read_special_token), READ("Sequence", read_sequence)};
    return wk__json_object(json, TABLE(fields), into, error);
}

static wk_code read_template(wk__json *json, void *into, wk__io_error *error)
{
    contents *c = into;
    if (c->has_text || c->arounds > 0)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "post_processor: more than one template");
    return wk__json_array(json, read_template_part, into, error);
}

static wk_code read_processor(wk__json *json, void *into, wk__io_error *error);

static wk_code read_processors(wk__json *json, void *into, wk__io_error *error)
{
    return wk__json_array(json, read_processor, into, error);
}

/* The type of a post-processor. */
static wk_code read_type(wk__json *json, void *into, wk__io_error *error)
{
    static const char *const types[] = {"TemplateProcessing", "ByteLevel", "Sequence", "RobertaProcessing",
                                        "BertProcessing"};
    const char *type = NULL;
    (void)into;
    const wk_code code = wk__json_string(json, &type, error);
    if (code != WK_OK) return code;
    for (int k = 0; k < 5; k++)
        if (strcmp(type, types[k]) == 0) return WK_OK;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "post_processor: the type \"%s\" is not supported",
                       wk__printable_name(type).text);
}

/* ["<s>", 0] */
static wk_code read_token_and_id(wk__json *json, listed_special *special, wk__io_error *error)
{
    wk_code code = wk__json_expect(json, '[', error);
    if (code == WK_OK) code = wk__json_string(json, &special->token, error);
    if (code == WK_OK) code = wk__json_expect(json, ',', error);
    if (code == WK_OK) code = wk__json_integer(json, &special->id, error);
    special->ids = 1;
    return code == WK_OK ? wk__json_expect(json, ']', error) : code;
}

static wk_code read_cls(wk__json *json, void *into, wk__io_error *error)
{
    return read_token_and_id(json, &((contents *)into)->cls, error);
}

static wk_code read_sep(wk__json *json, void *into, wk__io_error *error)
{
    return read_token_and_id(json, &((contents *)into)->sep, error);
}

static wk_code read_special_id(wk__json *json, void *into, wk__io_error *error)
{
    listed_special *special = into;
    special->ids++;
    return wk__json_integer(json, &special->id, error);
}

static wk_code read_special_ids(wk__json *json, void *into, wk__io_error *error)
{
    return wk__json_array(json, read_special_id, into, error);
}

/* {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}, ...} */
static wk_code read_special_tokens(wk__json *json, void *into, wk__io_error *error)
{
    static const wk__field fields[] = {SKIPPED("id"), READ("ids", read_special_ids), SKIPPED("tokens")};
    contents *c = into;
    wk_code code = wk__json_expect(json, '{', error);
    for (bool first = true, more; code == WK_OK; first = false) {
        listed_special special = {0};
        if ((code = wk__json_item(json, '}', first, &more, error)) != WK_OK || !more) return code;
        code = wk__json_string(json, &special.token, error);
        if (code == WK_OK) code = wk__json_expect(json, ':', error);
        if (code == WK_OK) code = wk__json_object(json, TABLE(fields), &special, error);
        if (code != WK_OK) return code;
        if (!wk__grow(&c->special, &c->special_capacity, c->specials + 1, sizeof *c->special))
            return wk__text_no_memory(error);
        c->special[c->specials++] = special;
    }
    return code;
}

static wk_code read_processor(wk__json *json, void *into, wk__io_error *error)
{
    static const wk__field fields[] = {READ("type", read_type),
                                       READ("single", read_template),
                                       READ("processors", read_processors),
                                       READ("cls", read_cls),
                                       READ("sep", read_sep),
                                       SKIPPED("pair"),
                                       SKIPPED("add_prefix_space"),
                                       SKIPPED("trim_offsets"),
                                       SKIPPED("use_regex"),
                                       READ("special_tokens", read_special_tokens)};
    contents *c = into;
    if (++c->depth > 4) return wk__io_fail(error, WK_ERR_FORMAT, "post_processor: sequences nest too deeply");
    const wk_code code = wk__json_object(json, TABLE(fields), into, error);
    c->depth--;
    return code;
}

/* Checks that the file gives a token the id of the vocabulary, and no other one. */
static wk_code check_special(const listed_special *special, int64_t id, wk__io_error *error)
{
    if (special->ids != 1)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "post_processor: the token \"%s\" has %lld ids; expected one",
                           wk__printable_name(special->token).text, (long long)special->ids);
    if (special->id == id) return WK_OK;
    return wk__io_fail(error, WK_ERR_FORMAT,
                       "post_processor: the token \"%s\" has the id %lld, but %lld in the vocabulary",
                       wk__printable_name(special->token).text, (long long)special->id, (long long)id);
}

/* Adds the id of a token to those before or after a text. `special` has the id of the file, or is NULL for a token of
 * a template, whose ids are in special_tokens. */
static wk_code add_around(const contents *c, const char *token, const listed_special *special, wk__ids *ids,
                          wk__io_error *error)
{
    const int64_t id = wk__vocabulary_find(&c->t->vocabulary, token, (int64_t)strlen(token));
    if (id < 0)
        return wk__io_fail(error, WK_ERR_FORMAT, "post_processor: the token \"%s\" is not in the vocabulary",
                           wk__printable_name(token).text);
    wk_code code = special ? check_special(special, id, error) : WK_OK;
    for (int64_t k = 0; !special && k < c->specials && code == WK_OK; k++)
        if (strcmp(c->special[k].token, token) == 0) code = check_special(&c->special[k], id, error);
    if (code != WK_OK) return code;
    wk__ids_add(ids, id);
    return ids->failed ? wk__text_no_memory(error) : WK_OK;
}

static wk_code build_around(const contents *c, wk__io_error *error)
{
    wk__bpe *b = c->t->bpe;
    wk_code code = WK_OK;
    for (int k = 0; k < c->arounds && code == WK_OK; k++)
        code = add_around(c, c->around[k], NULL, k < c->before ? &b->before : &b->after, error);
    if (code == WK_OK && c->arounds > 0 && !c->has_text)
        code = wk__io_fail(error, WK_ERR_UNSUPPORTED, "post_processor: single must have the sequence A once");
    if (code == WK_OK && (c->cls.token || c->sep.token) && (!c->cls.token || !c->sep.token || c->arounds > 0))
        code = wk__io_fail(error, WK_ERR_UNSUPPORTED, "post_processor: expected cls and sep, without a template");
    if (code == WK_OK && c->cls.token) code = add_around(c, c->cls.token, &c->cls, &b->before, error);
    return code == WK_OK && c->sep.token ? add_around(c, c->sep.token, &c->sep, &b->after, error) : code;
}

/* ---- the model ---- */

static wk_code read_vocab(wk__json *json, void *into, wk__io_error *error)
{
    return wk__bpe_parts_read_vocab(json, &((contents *)into)->parts, error);
}

/* "a b" or ["a", "b"] */
static wk_code read_merge(wk__json *json, void *into, wk__io_error *error)
{
    wk__bpe_parts *parts = &((contents *)into)->parts;
    const char *left, *right;
    if (wk__json_peek(json) == '"') {
        const wk_code code = wk__json_string(json, &left, error);
        return code == WK_OK ? wk__bpe_parts_add_merge(parts, (char *)(uintptr_t)left, error) : code;
    }
    wk_code code = wk__json_expect(json, '[', error);
    if (code == WK_OK) code = wk__json_string(json, &left, error);
    if (code == WK_OK) code = wk__json_expect(json, ',', error);
    if (code == WK_OK) code = wk__json_string(json, &right, error);
    if (code == WK_OK) code = wk__json_expect(json, ']', error);
    if (code != WK_OK) return code;
    if (!wk__grow(&parts->merge, &parts->merge_capacity, parts->merges + 1, sizeof *parts->merge))
        return wk__text_no_memory(error);
    parts->merge[parts->merges++] = (wk__listed_merge){left, right};
    return WK_OK;
}

static wk_code read_merges(wk__json *json, void *into, wk__io_error *error)
{
    return wk__json_array(json, read_merge, into, error);
}

static wk_code read_dropout(wk__json *json, void *into, wk__io_error *error)
{
    (void)into;
    (void)wk__json_peek(json); /* skips blanks */
    const char *const from = json->at;
    const wk_code code = wk__json_skip(json, error);
    if (code != WK_OK || strcspn(from, "123456789") >= (size_t)(json->at - from)) return code;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "model: dropout is not supported; set it to null");
}

static bool is_word_pieces(const contents *c)
{
    return c->type && strcmp(c->type, "WordPiece") == 0;
}

static wk_code read_model(wk__json *json, void *into, wk__io_error *error)
{
    static const wk__field fields[] = {CONTENTS(type, STRING),
                                       CONTENTS(unk_token, STRING),
                                       CONTENTS(continuing_subword_prefix, STRING),
                                       CONTENTS(end_of_word_suffix, STRING),
                                       CONTENTS(byte_fallback, BOOL),
                                       CONTENTS(fuse_unk, BOOL),
                                       CONTENTS(ignore_merges, BOOL),
                                       CONTENTS(max_input_chars_per_word, INTEGER),
                                       READ("dropout", read_dropout),
                                       READ("vocab", read_vocab),
                                       READ("merges", read_merges)};
    contents *c = into;
    const char *at = json->at;
    const wk_code code = wk__json_object(json, TABLE(fields), into, error);
    if (c->type && strcmp(c->type, "BPE") != 0 && !is_word_pieces(c))
        return wk__io_fail(error, WK_ERR_UNSUPPORTED,
                           "model: the type \"%s\" is not supported; expected BPE or WordPiece (byte %lld)",
                           wk__printable_name(c->type).text, (long long)wk__json_position(json, at));
    return code;
}

static wk_code check_bpe(const contents *c, wk__io_error *error)
{
    if ((c->continuing_subword_prefix && *c->continuing_subword_prefix) ||
        (c->end_of_word_suffix && *c->end_of_word_suffix))
        return wk__io_fail(error, WK_ERR_UNSUPPORTED,
                           "model: continuing_subword_prefix and end_of_word_suffix are not supported");
    if (c->max_input_chars_per_word < 0) return WK_OK;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "model: max_input_chars_per_word is not supported for BPE");
}

static wk_code check_word_pieces(const contents *c, wk__io_error *error)
{
    if (c->parts.merges == 0 && !c->byte_fallback && !c->fuse_unk && !c->ignore_merges && !c->end_of_word_suffix)
        return WK_OK;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "model: WordPiece has none of the settings of BPE");
}

static bool set_word_pieces(const contents *c)
{
    const char *prefix = c->continuing_subword_prefix ? c->continuing_subword_prefix : "##";
    const int64_t most = c->max_input_chars_per_word < 0 ? 100 : c->max_input_chars_per_word;
    return wk__bpe_set_word_pieces(c->t, prefix, most);
}

static wk_code build_model(const contents *c, wk__io_error *error)
{
    wk__tokenizer *t = c->t;
    wk_code code = (is_word_pieces(c) ? check_word_pieces : check_bpe)(c, error);
    if (code == WK_OK) code = wk__bpe_parts_build(&c->parts, t, error);
    if (code != WK_OK) return code;
    if (is_word_pieces(c) && !set_word_pieces(c)) return wk__text_no_memory(error);
    t->bpe->byte_fallback = c->byte_fallback;
    t->bpe->fuse_unknown = c->fuse_unk;
    t->bpe->ignore_merges = c->ignore_merges;
    if (c->unk_token) t->unknown = wk__vocabulary_find(&t->vocabulary, c->unk_token, (int64_t)strlen(c->unk_token));
    if (!c->unk_token || t->unknown >= 0) return WK_OK;
    return wk__io_fail(error, WK_ERR_FORMAT, "model: the unk_token \"%s\" is not in the vocabulary",
                       wk__printable_name(c->unk_token).text);
}

/* ---- all ---- */

static wk_code read_truncation(wk__json *json, void *into, wk__io_error *error)
{
    (void)into;
    (void)json;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "truncation is not supported; set it to null");
}

static wk_code read_padding(wk__json *json, void *into, wk__io_error *error)
{
    (void)into;
    (void)json;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "padding is not supported; set it to null and use wk_text_pad");
}

static wk_code read_all(wk__json *json, contents *c, wk__io_error *error)
{
    static const wk__field fields[] = {SKIPPED("version"),
                                       READ("padding", read_padding),
                                       READ("truncation", read_truncation),
                                       READ("added_tokens", read_added_tokens),
                                       READ("normalizer", read_normalizer),
                                       READ("pre_tokenizer", read_pre_tokenizer),
                                       READ("post_processor", read_processor),
                                       READ("decoder", read_decoder),
                                       READ("model", read_model)};
    wk_code code = wk__json_object(json, TABLE(fields), c, error);
    if (code == WK_OK) code = wk__json_end(json, error);
    if (code == WK_OK && c->parts.tokens == 0)
        code = wk__io_fail(error, WK_ERR_FORMAT, "model: the vocabulary is missing or empty");
    if (code == WK_OK) code = build_model(c, error);
    if (code == WK_OK) code = build_added(c, error);
    if (code == WK_OK) code = build_around(c, error);
    return code == WK_OK && !wk__bpe_finish(c->t->bpe) ? wk__text_no_memory(error) : code;
}

wk_code wk__tokenizer_json_read(wk__text *file, wk__tokenizer **t, wk__io_error *error)
{
    wk__json json = {file->data, file->data, file->data + file->length, 0, "file"};
    contents c = {.t = *t = wk__bpe_new(), .max_input_chars_per_word = -1};
    const wk_code code = c.t ? read_all(&json, &c, error) : wk__text_no_memory(error);
    wk__bpe_parts_free(&c.parts);
    wk__free(c.added);
    wk__free(c.special);
    return code;
}
