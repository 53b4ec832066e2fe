/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a tokenizer.json: objects of normaliser, pre-tokenizer and decoder. A type or a setting that is not
 * supported is an error that names it. */
#include "base/alloc.h"
#include "bpe_parts.h"
#include "io/json_fields.h"
#include "split.h"
#include <string.h>

static const char *const list_names[] = {"normalizer", "pre_tokenizer", "decoder"};

/* An object that describes a step, and the list for its steps. */
typedef struct component {
    const char *type, *content, *prepend, *string, *regex, *behavior, *replacement, *prepend_scheme, *prefix;
    bool invert, add_prefix_space, use_regex, split, individual_digits;
    bool clean_text, handle_chinese_chars, lowercase, cleanup;
    int strip_accents; /* -1: as lowercase */
    int64_t start, stop;
    wk__step_list list;
    int depth; /* sequences around it */
    wk__steps *steps;
} component;

static wk_code read_component(wk__json *json, component *c, wk__io_error *error);

static wk_code read_child(wk__json *json, void *into, wk__io_error *error)
{
    const component *parent = into;
    component child = {.list = parent->list, .depth = parent->depth + 1, .steps = parent->steps};
    if (child.depth > 4)
        return wk__io_fail(error, WK_ERR_FORMAT, "%s: sequences nest too deeply (byte %lld)", list_names[child.list],
                           (long long)wk__json_position(json, json->at));
    return read_component(json, &child, error);
}

static wk_code read_children(wk__json *json, void *into, wk__io_error *error)
{
    return wk__json_array(json, read_child, into, error);
}

/* {"String": " "} or {"Regex": " +"} */
static wk_code read_pattern(wk__json *json, void *into, wk__io_error *error)
{
    static const wk__field fields[] = {
        {.name = "String", .kind = WK__FIELD_STRING, .offset = offsetof(component, string)},
        {.name = "Regex", .kind = WK__FIELD_STRING, .offset = offsetof(component, regex)}};
    return wk__json_object(json, fields, 2, into, error);
}

static wk_code read_strip_accents(wk__json *json, void *into, wk__io_error *error)
{
    bool value = false;
    const wk_code code = wk__json_bool(json, &value, error);
    ((component *)into)->strip_accents = value;
    return code;
}

static wk_code unsupported(const component *c, const char *what, wk__io_error *error)
{
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "%s: %s of %s is not supported", list_names[c->list], what,
                       c->type ? wk__printable_name(c->type).text : "an object without type");
}

static wk_code copy(char **to, const char *from, wk__io_error *error)
{
    *to = wk__strdup(from ? from : "");
    return *to ? WK_OK : wk__text_no_memory(error);
}

/* The functions below fill a step from an object of their type. */

static wk_code take_prepend(const component *c, wk__step *step, wk__io_error *error)
{
    return copy(&step->content, c->prepend, error);
}

static wk_code take_nothing(const component *c, wk__step *step, wk__io_error *error)
{
    (void)c;
    (void)step;
    (void)error;
    return WK_OK;
}

static wk_code take_replace(const component *c, wk__step *step, wk__io_error *error)
{
    if (!c->string || !*c->string) return unsupported(c, "the pattern", error);
    const wk_code code = copy(&step->pattern, c->string, error);
    return code == WK_OK ? copy(&step->content, c->content, error) : code;
}

static wk_code take_split(const component *c, wk__step *step, wk__io_error *error)
{
    int separators = 0;
    while (separators < WK__SEPARATORS_COUNT && c->behavior &&
           strcmp(c->behavior, wk__separators_name((wk__separators)separators)) != 0)
        separators++;
    if (c->invert || !c->behavior || separators == WK__SEPARATORS_COUNT) return unsupported(c, "the behavior", error);
    if (c->string && *c->string) {
        step->kind = WK__STEP_CUT;
        step->separators = (wk__separators)separators;
        return copy(&step->pattern, c->string, error);
    }
    step->split = c->regex ? wk__split_of_pattern(c->regex) : WK_TEXT_SPLIT_COUNT;
    if (step->split != WK_TEXT_SPLIT_COUNT && separators == WK__SEPARATORS_ISOLATED) return WK_OK;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED,
                       "pre_tokenizer: the pattern \"%s\" of Split is not supported; expected a string, or the "
                       "expression of GPT-2, Llama 3 or Qwen2, isolated",
                       c->regex ? wk__printable_name(c->regex).text : "");
}

static wk_code take_digits(const component *c, wk__step *step, wk__io_error *error)
{
    (void)error;
    step->each = c->individual_digits;
    return WK_OK;
}

static wk_code take_bytes(const component *c, wk__step *step, wk__io_error *error)
{
    (void)error;
    step->add_prefix_space = c->add_prefix_space;
    step->use_regex = c->use_regex;
    return WK_OK;
}

static wk_code take_spaces(const component *c, wk__step *step, wk__io_error *error)
{
    const char *scheme = c->prepend_scheme ? c->prepend_scheme : c->add_prefix_space ? "always" : "never";
    if (!c->replacement || !*c->replacement) return unsupported(c, "the replacement", error);
    if (strcmp(scheme, "always") != 0 && strcmp(scheme, "first") != 0 && strcmp(scheme, "never") != 0)
        return unsupported(c, "the prepend_scheme", error);
    step->prepend = *scheme == 'a' ? WK__PREPEND_ALWAYS : *scheme == 'f' ? WK__PREPEND_FIRST : WK__PREPEND_NEVER;
    step->each = c->split;
    return copy(&step->content, c->replacement, error);
}

static wk_code take_strip(const component *c, wk__step *step, wk__io_error *error)
{
    if (!c->content || !*c->content) return unsupported(c, "the content", error);
    step->start = c->start;
    step->stop = c->stop;
    return copy(&step->content, c->content, error);
}

static wk_code take_bert(const component *c, wk__step *step, wk__io_error *error)
{
    (void)error;
    step->bert = (wk__bert_rules){.clean = c->clean_text,
                                  .ideographs = c->handle_chinese_chars,
                                  .strip_accents = c->strip_accents < 0 ? c->lowercase : c->strip_accents != 0,
                                  .lower = c->lowercase};
    return WK_OK;
}

static wk_code take_word_pieces(const component *c, wk__step *step, wk__io_error *error)
{
    step->each = c->cleanup;
    return copy(&step->content, c->prefix ? c->prefix : "##", error);
}

/* The types of objects. */
static const struct {
    const char *type;
    unsigned lists; /* bits of the lists in which it occurs */
    wk__step_kind kind;
    wk_code (*take)(const component *, wk__step *, wk__io_error *);
} types[] = {
    {"Prepend", 1 << WK__NORMALIZER, WK__STEP_PREPEND, take_prepend},
    {"Lowercase", 1 << WK__NORMALIZER, WK__STEP_LOWERCASE, take_nothing},
    {"NFC", 1 << WK__NORMALIZER, WK__STEP_NFC, take_nothing},
    {"BertNormalizer", 1 << WK__NORMALIZER, WK__STEP_BERT, take_bert},
    {"Replace", 1 << WK__NORMALIZER | 1 << WK__DECODER, WK__STEP_REPLACE, take_replace},
    {"Split", 1 << WK__PRE_TOKENIZER, WK__STEP_SPLIT, take_split},
    {"Digits", 1 << WK__PRE_TOKENIZER, WK__STEP_DIGITS, take_digits},
    {"BertPreTokenizer", 1 << WK__PRE_TOKENIZER, WK__STEP_WORDS, take_nothing},
    {"ByteLevel", 1 << WK__PRE_TOKENIZER | 1 << WK__DECODER, WK__STEP_BYTES, take_bytes},
    {"Metaspace", 1 << WK__PRE_TOKENIZER | 1 << WK__DECODER, WK__STEP_SPACES, take_spaces},
    {"ByteFallback", 1 << WK__DECODER, WK__STEP_BYTE_TOKENS, take_nothing},
    {"Fuse", 1 << WK__DECODER, WK__STEP_FUSE, take_nothing},
    {"Strip", 1 << WK__DECODER, WK__STEP_STRIP, take_strip},
    {"WordPiece", 1 << WK__DECODER, WK__STEP_WORD_PIECES, take_word_pieces},
};

enum { TYPES = sizeof types / sizeof *types };

/* Appends the step of an object. */
static wk_code add_step(const component *c, wk__io_error *error)
{
    int k = 0;
    while (k < TYPES && !(c->type && strcmp(types[k].type, c->type) == 0 && types[k].lists >> c->list & 1)) k++;
    if (k == TYPES)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "%s: the type \"%s\" is not supported", list_names[c->list],
                           c->type ? wk__printable_name(c->type).text : "");
    if (c->steps->count == WK__STEPS)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "%s: more than %d steps", list_names[c->list], WK__STEPS);
    wk__step *step = &c->steps->step[c->steps->count++];
    *step = (wk__step){.kind = types[k].kind};
    return types[k].take(c, step, error);
}

#define FIELD(member, kind_) WK__FIELD_OF(component, member, WK__FIELD_##kind_)
#define READ(member_, function_)                                                                                       \
    {                                                                                                                  \
        .name = member_, .kind = WK__FIELD_READ, .read = function_                                                     \
    }

static const wk__field component_fields[] = {FIELD(type, STRING),
                                             FIELD(content, STRING),
                                             FIELD(prepend, STRING),
                                             FIELD(behavior, STRING),
                                             FIELD(replacement, STRING),
                                             FIELD(prepend_scheme, STRING),
                                             FIELD(invert, BOOL),
                                             FIELD(add_prefix_space, BOOL),
                                             {.name = "trim_offsets", .kind = WK__FIELD_SKIPPED},
                                             FIELD(use_regex, BOOL),
                                             FIELD(split, BOOL),
                                             FIELD(individual_digits, BOOL),
                                             FIELD(start, INTEGER),
                                             FIELD(stop, INTEGER),
                                             FIELD(prefix, STRING),
                                             FIELD(cleanup, BOOL),
                                             FIELD(clean_text, BOOL),
                                             FIELD(handle_chinese_chars, BOOL),
                                             FIELD(lowercase, BOOL),
                                             READ("strip_accents", read_strip_accents),
                                             READ("pattern", read_pattern),
                                             READ("normalizers", read_children),
                                             READ("pretokenizers", read_children),
                                             READ("decoders", read_children)};

static wk_code read_component(wk__json *json, component *c, wk__io_error *error)
{
    const int before = c->steps->count;
    c->use_regex = c->split = c->add_prefix_space = true; /* defaults of a file */
    c->clean_text = c->handle_chinese_chars = c->lowercase = c->cleanup = true;
    c->strip_accents = -1;
    const wk_code code =
        wk__json_object(json, component_fields, sizeof component_fields / sizeof *component_fields, c, error);
    if (code != WK_OK) return code;
    if (c->type && strcmp(c->type, "Sequence") == 0) return WK_OK;
    return c->steps->count > before ? unsupported(c, "a sequence", error) : add_step(c, error);
}

wk_code wk__bpe_steps_read(wk__json *json, wk__step_list list, wk__steps *steps, wk__io_error *error)
{
    component c = {.list = list, .steps = steps};
    return read_component(json, &c, error);
}
