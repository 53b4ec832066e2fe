/* SPDX-License-Identifier: Apache-2.0 */
/* Byte-pair encodings in the metadata of GGUF files: lists of tokens, their types, and merges or scores. The ids are
 * those of the tokenizer.json from which a file was made.
 *
 *     tokenizer.ggml.model     gpt2: byte-level, with merges; tokenizer.ggml.pre names the rule that cuts texts
 *                              llama: of SentencePiece, with scores; spaces become U+2581, unknown characters bytes */
#include "base/alloc.h"
#include "bpe_parts.h"
#include "io/gguf.h"
#include "io/json_fields.h"
#include <string.h>

/* A rule that tokenizer.ggml.pre names. */
typedef struct rule {
    const char *name;
    wk_text_split split;
    bool digits;        /* each digit is a piece */
    bool nfc;           /* texts are normalised */
    bool ignore_merges; /* see wk__bpe */
    bool add_bos;       /* default of tokenizer.ggml.add_bos_token */
} rule;

static const rule rules[] = {
    {"gpt-2", WK_TEXT_SPLIT_GPT2, false, false, false, false},
    {"llama-bpe", WK_TEXT_SPLIT_LLAMA3, false, false, true, true},
    {"qwen2", WK_TEXT_SPLIT_QWEN2, false, true, false, false},
    {"smollm", WK_TEXT_SPLIT_GPT2, true, false, false, false},
};

/* Values of tokenizer.ggml.token_type that have an effect. */
enum { CONTROL = 3, USER_DEFINED = 4 };

/* A call. */
typedef struct reading {
    const wk__safetensors *file;
    wk__tokenizer *t;
    wk__bpe_parts parts;
    int64_t typed; /* tokens whose type has been read */
    double *score; /* [scores], owned */
    int64_t scores, score_capacity;
} reading;

/* Returns the value of tokenizer.ggml.key; NULL if it is missing. */
static const char *value_of(const wk__safetensors *file, const char *key)
{
    return wk__metadata_find(file->metadata, file->metadata_count, "tokenizer.ggml.%s", key);
}

static wk_code unsupported(const wk__safetensors *file, const char *key, const char *expected, wk__io_error *error)
{
    const char *value = value_of(file, key);
    if (!value)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "missing \"tokenizer.ggml.%s\"; expected %s", key, expected);
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "\"tokenizer.ggml.%s\" of \"%s\" is not supported; expected %s", key,
                       wk__printable_name(value).text, expected);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* Reads the items of an array. The strings of the metadata are decoded within the memory of the header. */
static wk_code read_array(reading *r, const char *key, wk_code (*read)(wk__json *, void *, wk__io_error *),
                          wk__io_error *error)
{
    char *const value = (char *)(uintptr_t)value_of(r->file, key);
    if (!value) return wk__io_fail(error, WK_ERR_FORMAT, "missing \"tokenizer.ggml.%s\"", key);
    wk__json json = {value, value, value + strlen(value), 0, "array"};
    const wk_code code = wk__json_array(&json, read, r, error);
    return code == WK_OK ? WK_OK : wk__io_prefix(error, "tokenizer.ggml.%s", key);
}

static wk_code read_token(wk__json *json, void *into, wk__io_error *error)
{
    wk__bpe_parts *parts = &((reading *)into)->parts;
    const char *token;
    const wk_code code = wk__json_string(json, &token, error);
    return code == WK_OK ? wk__bpe_parts_add_token(parts, token, parts->tokens, error) : code;
}

static wk_code read_merge(wk__json *json, void *into, wk__io_error *error)
{
    const char *merge;
    const wk_code code = wk__json_string(json, &merge, error);
    return code == WK_OK ? wk__bpe_parts_add_merge(&((reading *)into)->parts, (char *)(uintptr_t)merge, error) : code;
}

static wk_code read_score(wk__json *json, void *into, wk__io_error *error)
{
    reading *r = into;
    if (!wk__grow(&r->score, &r->score_capacity, r->scores + 1, sizeof *r->score)) return wk__text_no_memory(error);
    return wk__json_number(json, &r->score[r->scores++], error);
}

/* Makes control tokens and those of users added tokens. */
static wk_code read_type(wk__json *json, void *into, wk__io_error *error)
{
    reading *r = into;
    const int64_t id = r->typed++;
    int64_t type;
    const wk_code code = wk__json_integer(json, &type, error);
    if (code != WK_OK) return code;
    if (id >= r->parts.tokens) return wk__io_fail(error, WK_ERR_FORMAT, "more types than tokens");
    if (type != CONTROL && type != USER_DEFINED) return WK_OK;
    return wk__bpe_add_token(r->t, id, r->parts.token[id].token, type == CONTROL) ? WK_OK : wk__text_no_memory(error);
}

static wk_code read_types(reading *r, wk__io_error *error)
{
    const wk_code code = read_array(r, "token_type", read_type, error);
    if (code != WK_OK || r->typed == r->parts.tokens) return code;
    return wk__io_fail(error, WK_ERR_FORMAT, "%lld types of %lld tokens", (long long)r->typed,
                       (long long)r->parts.tokens);
}

/* ---- the encoding ------------------------------------------------------------------------------------------------ */

static void set_rule(wk__bpe *b, const rule *rule)
{
    wk__steps *steps = &b->pre_tokenizer;
    wk__bpe_set_byte_level(b, rule->split);
    if (rule->digits) {
        steps->step[steps->count] = steps->step[steps->count - 1];
        steps->step[steps->count++ - 1] = (wk__step){.kind = WK__STEP_DIGITS, .each = true};
    }
    if (rule->nfc) b->normalizer.step[b->normalizer.count++] = (wk__step){.kind = WK__STEP_NFC};
    b->ignore_merges = rule->ignore_merges;
}

/* Adds a token around texts if the file has it there. */
static wk_code add_around(reading *r, const char *add, const char *token, bool usual, wk__ids *ids, wk__io_error *error)
{
    char key[32];
    const char *wanted = value_of(r->file, add);
    if (wanted ? strcmp(wanted, "true") != 0 : !usual) return WK_OK;
    snprintf(key, sizeof key, "tokenizer.ggml.%s", token);
    const int64_t id = wk__metadata_find_int(r->file->metadata, r->file->metadata_count, key);
    if (id < 0 || id >= r->parts.tokens)
        return wk__io_fail(error, WK_ERR_FORMAT, "\"%s\" is missing, or not the id of a token", key);
    wk__ids_add(ids, id);
    return ids->failed ? wk__text_no_memory(error) : WK_OK;
}

/* Adds a step, or a sequence of steps, which is JSON as in a tokenizer.json. */
static wk_code add_step(const char *step, wk__step_list list, wk__steps *steps, wk__io_error *error)
{
    char text[256]; /* decoded within it */
    const int length = snprintf(text, sizeof text, "%s", step);
    wk__json json = {text, text, text + length, 0, "step"};
    return wk__bpe_steps_read(&json, list, steps, error);
}

/* Sets the steps of texts whose spaces are U+2581, one of them before the text if `prefix`. */
static wk_code set_spaces(wk__bpe *b, bool prefix, wk__io_error *error)
{
    static const char prepend[] = "{\"type\":\"Prepend\",\"prepend\":\"\u2581\"}";
    static const char replace[] = "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\u2581\"}";
    static const char decoder[] =
        "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"\u2581\"},"
        "\"content\":\" \"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}]}";
    static const char strip[] = "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}";
    wk_code code = prefix ? add_step(prepend, WK__NORMALIZER, &b->normalizer, error) : WK_OK;
    if (code == WK_OK) code = add_step(replace, WK__NORMALIZER, &b->normalizer, error);
    if (code == WK_OK) code = add_step(decoder, WK__DECODER, &b->decoder, error);
    return code == WK_OK && prefix ? add_step(strip, WK__DECODER, &b->decoder, error) : code;
}

/* Completes an encoding with scores. */
static wk_code build_scored(reading *r, wk__io_error *error)
{
    wk__bpe *b = r->t->bpe;
    const char *prefix = value_of(r->file, "add_space_prefix");
    wk_code code = read_array(r, "scores", read_score, error);
    if (code == WK_OK && r->scores != r->parts.tokens)
        code = wk__io_fail(error, WK_ERR_FORMAT, "%lld scores of %lld tokens", (long long)r->scores,
                           (long long)r->parts.tokens);
    if (code == WK_OK) code = wk__bpe_add_scored_merges(r->t, r->score, r->scores, error);
    if (code == WK_OK) code = set_spaces(b, !prefix || strcmp(prefix, "true") == 0, error);
    b->byte_fallback = b->fuse_unknown = true;
    r->t->unknown =
        wk__metadata_find_int(r->file->metadata, r->file->metadata_count, "tokenizer.ggml.unknown_token_id");
    if (code == WK_OK && r->t->unknown >= r->parts.tokens)
        code = wk__io_fail(error, WK_ERR_FORMAT, "\"tokenizer.ggml.unknown_token_id\" is not the id of a token");
    return code;
}

/* rule: NULL if the tokens have scores */
static wk_code build(reading *r, const rule *rule, wk__io_error *error)
{
    wk__bpe *b = r->t->bpe;
    wk_code code = read_array(r, "tokens", read_token, error);
    if (code == WK_OK && r->parts.tokens == 0) code = wk__io_fail(error, WK_ERR_FORMAT, "the vocabulary is empty");
    if (code == WK_OK && rule) code = read_array(r, "merges", read_merge, error);
    if (code == WK_OK) code = wk__bpe_parts_build(&r->parts, r->t, error);
    if (code == WK_OK && !rule) code = build_scored(r, error);
    if (code == WK_OK && value_of(r->file, "token_type")) code = read_types(r, error);
    if (code == WK_OK) code = add_around(r, "add_bos_token", "bos_token_id", !rule || rule->add_bos, &b->before, error);
    if (code == WK_OK) code = add_around(r, "add_eos_token", "eos_token_id", false, &b->after, error);
    if (code != WK_OK) return code;
    if (rule) set_rule(b, rule);
    return wk__bpe_finish(b) ? WK_OK : wk__text_no_memory(error);
}

wk_code wk__tokenizer_gguf_read(const wk__safetensors *file, wk__tokenizer **t, wk__io_error *error)
{
    const char *model = value_of(file, "model"), *pre = value_of(file, "pre");
    const bool scored = model && strcmp(model, "llama") == 0;
    if (!scored && (!model || strcmp(model, "gpt2") != 0)) return unsupported(file, "model", "gpt2 or llama", error);
    const rule *found = NULL;
    for (size_t k = 0; pre && k < sizeof rules / sizeof *rules; k++)
        if (strcmp(rules[k].name, pre) == 0) found = &rules[k];
    if (!found && !scored) return unsupported(file, "pre", "gpt-2, llama-bpe, qwen2 or smollm", error);
    reading r = {.file = file, .t = *t = wk__bpe_new()};
    const wk_code code = r.t ? build(&r, scored ? NULL : found, error) : wk__text_no_memory(error);
    wk__bpe_parts_free(&r.parts);
    wk__free(r.score);
    return code;
}
