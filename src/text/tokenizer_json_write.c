/* SPDX-License-Identifier: Apache-2.0 */
/* Writing tokenizer.json of Hugging Face. A single step is written as its object, several as a Sequence. */
#include "bpe.h"
#include "io/json.h"
#include "split.h"

static void add_bool(wk__text *out, const char *name, bool value)
{
    wk__text_format(out, ", \"%s\": %s", name, value ? "true" : "false");
}

/* Appends a comma and a field. */
static void add_string(wk__text *out, const char *name, const char *value)
{
    wk__text_format(out, ", \"%s\": ", name);
    wk__json_add_string(out, value);
}

/* Begins the object of a step. */
static void begin(wk__text *out, const char *type)
{
    wk__text_format(out, "{\"type\": \"%s\"", type);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void write_prepend(const wk__step *step, wk__text *out)
{
    begin(out, "Prepend");
    add_string(out, "prepend", step->content);
}

static void write_lowercase(const wk__step *step, wk__text *out)
{
    (void)step;
    begin(out, "Lowercase");
}

static void write_nfc(const wk__step *step, wk__text *out)
{
    (void)step;
    begin(out, "NFC");
}

static void write_bert(const wk__step *step, wk__text *out)
{
    begin(out, "BertNormalizer");
    add_bool(out, "clean_text", step->bert.clean);
    add_bool(out, "handle_chinese_chars", step->bert.ideographs);
    add_bool(out, "strip_accents", step->bert.strip_accents);
    add_bool(out, "lowercase", step->bert.lower);
}

static void write_words(const wk__step *step, wk__text *out)
{
    (void)step;
    begin(out, "BertPreTokenizer");
}

static void write_replace(const wk__step *step, wk__text *out)
{
    begin(out, "Replace");
    wk__text_add(out, ", \"pattern\": {\"String\": ");
    wk__json_add_string(out, step->pattern);
    wk__text_add(out, "}");
    add_string(out, "content", step->content);
}

static void write_split(const wk__step *step, wk__text *out)
{
    begin(out, "Split");
    wk__text_add(out, ", \"pattern\": {\"Regex\": ");
    wk__json_add_string(out, wk__split_pattern(step->split));
    wk__text_add(out, "}, \"behavior\": \"Isolated\", \"invert\": false");
}

const char *wk__separators_name(wk__separators separators)
{
    static const char *const names[] = {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext"};
    return names[separators];
}

static void write_cut(const wk__step *step, wk__text *out)
{
    begin(out, "Split");
    wk__text_add(out, ", \"pattern\": {\"String\": ");
    wk__json_add_string(out, step->pattern);
    wk__text_add(out, "}");
    add_string(out, "behavior", wk__separators_name(step->separators));
    add_bool(out, "invert", false);
}

static void write_digits(const wk__step *step, wk__text *out)
{
    begin(out, "Digits");
    add_bool(out, "individual_digits", step->each);
}

static void write_bytes(const wk__step *step, wk__text *out)
{
    begin(out, "ByteLevel");
    add_bool(out, "add_prefix_space", step->add_prefix_space);
    add_bool(out, "trim_offsets", true);
    add_bool(out, "use_regex", step->use_regex);
}

static void write_spaces(const wk__step *step, wk__text *out)
{
    static const char *const schemes[] = {"always", "first", "never"};
    begin(out, "Metaspace");
    add_string(out, "replacement", step->content);
    add_string(out, "prepend_scheme", schemes[step->prepend]);
    add_bool(out, "split", step->each);
}

static void write_byte_tokens(const wk__step *step, wk__text *out)
{
    (void)step;
    begin(out, "ByteFallback");
}

static void write_fuse(const wk__step *step, wk__text *out)
{
    (void)step;
    begin(out, "Fuse");
}

static void write_strip(const wk__step *step, wk__text *out)
{
    begin(out, "Strip");
    add_string(out, "content", step->content);
    wk__text_format(out, ", \"start\": %lld, \"stop\": %lld", (long long)step->start, (long long)step->stop);
}

static void write_word_pieces(const wk__step *step, wk__text *out)
{
    begin(out, "WordPiece");
    add_string(out, "prefix", step->content);
    add_bool(out, "cleanup", step->each);
}

static void (*const write_step[])(const wk__step *, wk__text *) = {[WK__STEP_PREPEND] = write_prepend,
                                                                   [WK__STEP_LOWERCASE] = write_lowercase,
                                                                   [WK__STEP_NFC] = write_nfc,
                                                                   [WK__STEP_REPLACE] = write_replace,
                                                                   [WK__STEP_SPLIT] = write_split,
                                                                   [WK__STEP_CUT] = write_cut,
                                                                   [WK__STEP_DIGITS] = write_digits,
                                                                   [WK__STEP_BYTES] = write_bytes,
                                                                   [WK__STEP_SPACES] = write_spaces,
                                                                   [WK__STEP_BYTE_TOKENS] = write_byte_tokens,
                                                                   [WK__STEP_FUSE] = write_fuse,
                                                                   [WK__STEP_STRIP] = write_strip,
                                                                   [WK__STEP_BERT] = write_bert,
                                                                   [WK__STEP_WORDS] = write_words,
                                                                   [WK__STEP_WORD_PIECES] = write_word_pieces};

static void write_steps(const char *name, const char *children, const wk__steps *steps, wk__text *out)
{
    wk__text_format(out, "  \"%s\": ", name);
    if (steps->count == 0) wk__text_add(out, "null");
    if (steps->count > 1) wk__text_format(out, "{\"type\": \"Sequence\", \"%s\": [\n    ", children);
    for (int k = 0; k < steps->count; k++) {
        if (k > 0) wk__text_add(out, ",\n    ");
        write_step[steps->step[k].kind](&steps->step[k], out);
        wk__text_add(out, "}");
    }
    wk__text_add(out, steps->count > 1 ? "]},\n" : ",\n");
}

/* ---- the tokens around a text ------------------------------------------------------------------------------------ */

/* Appends the parts of a template for special tokens; `type` is the type of the sequence of BERT to which they
 * belong. */
static void write_special(const wk__tokenizer *t, const wk__ids *ids, int type, wk__text *out)
{
    for (int64_t k = 0; k < ids->count; k++) {
        wk__text_add(out, ids == &t->bpe->after ? ", " : "");
        wk__text_add(out, "{\"SpecialToken\": {\"id\": ");
        wk__json_add_string(out, wk__vocabulary_token(&t->vocabulary, ids->at[k]));
        wk__text_format(out, ", \"type_id\": %d}}", type);
        wk__text_add(out, ids == &t->bpe->before ? ", " : "");
    }
}

/* Appends the entry of a token in special_tokens. */
static void write_entry(const wk__tokenizer *t, int64_t id, bool first, wk__text *out)
{
    const char *token = wk__vocabulary_token(&t->vocabulary, id);
    wk__text_add(out, first ? "" : ", ");
    wk__json_add_string(out, token);
    wk__text_add(out, ": {\"id\": ");
    wk__json_add_string(out, token);
    wk__text_format(out, ", \"ids\": [%lld], \"tokens\": [", (long long)id);
    wk__json_add_string(out, token);
    wk__text_add(out, "]}");
}

static int64_t around_at(const wk__bpe *b, int64_t k)
{
    return k < b->before.count ? b->before.at[k] : b->after.at[k - b->before.count];
}

static void write_processor(const wk__tokenizer *t, wk__text *out)
{
    const wk__bpe *b = t->bpe;
    const int64_t count = b->before.count + b->after.count;
    const bool is_bert = b->words.prefix != NULL;
    if (count == 0) {
        wk__text_add(out, "  \"post_processor\": null,\n");
        return;
    }
    for (int pair = 0; pair < 2; pair++) {
        wk__text_add(out, pair ? ",\n    \"pair\": ["
                               : "  \"post_processor\": {\"type\": \"TemplateProcessing\",\n"
                                 "    \"single\": [");
        for (int n = 0; n <= pair; n++) {
            wk__text_add(out, n > 0 ? ", " : "");
            if (n == 0 || !is_bert) write_special(t, &b->before, 0, out); /* BERT has [CLS] A [SEP] B [SEP] */
            wk__text_format(out, "{\"Sequence\": {\"id\": \"%c\", \"type_id\": %d}}", 'A' + n, n);
            write_special(t, &b->after, is_bert ? n : 0, out);
        }
        wk__text_add(out, "]");
    }
    wk__text_add(out, ",\n    \"special_tokens\": {");
    for (int64_t k = 0; k < count; k++) {
        bool known = false;
        for (int64_t n = 0; n < k; n++) known |= around_at(b, n) == around_at(b, k);
        if (!known) write_entry(t, around_at(b, k), k == 0, out);
    }
    wk__text_add(out, "}},\n");
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void write_added(const wk__bpe *b, wk__text *out)
{
    wk__text_add(out, "  \"added_tokens\": [");
    for (int64_t k = 0; k < b->added_count; k++) {
        const wk__added_token *token = &b->added[k];
        wk__text_format(out, "%s\n    {\"id\": %lld", k > 0 ? "," : "", (long long)token->id);
        add_string(out, "content", token->content);
        add_bool(out, "single_word", false);
        add_bool(out, "lstrip", token->strip_left);
        add_bool(out, "rstrip", token->strip_right);
        add_bool(out, "normalized", token->in_normalized);
        add_bool(out, "special", token->special);
        wk__text_add(out, "}");
    }
    wk__text_add(out, "],\n");
}

static void write_unknown(const wk__tokenizer *t, wk__text *out)
{
    wk__text_add(out, ", \"unk_token\": ");
    if (t->unknown >= 0)
        wk__json_add_string(out, wk__vocabulary_token(&t->vocabulary, t->unknown));
    else
        wk__text_add(out, "null");
}

static void write_word_model(const wk__tokenizer *t, wk__text *out)
{
    const wk__word_rules *rules = &t->bpe->words;
    wk__text_add(out, "  \"model\": {\"type\": \"WordPiece\"");
    write_unknown(t, out);
    add_string(out, "continuing_subword_prefix", rules->prefix);
    wk__text_format(out, ", \"max_input_chars_per_word\": %lld,\n    \"vocab\": ", (long long)rules->max_characters);
    wk__bpe_vocab_write(t, out);
    wk__text_add(out, "}\n");
}

static void write_model(const wk__tokenizer *t, wk__text *out)
{
    const wk__vocabulary *v = &t->vocabulary;
    const wk__bpe *b = t->bpe;
    wk__text_add(out, "  \"model\": {\"type\": \"BPE\", \"dropout\": null");
    write_unknown(t, out);
    wk__text_add(out, ", \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null");
    add_bool(out, "fuse_unk", b->fuse_unknown);
    add_bool(out, "byte_fallback", b->byte_fallback);
    add_bool(out, "ignore_merges", b->ignore_merges);
    wk__text_add(out, ",\n    \"vocab\": ");
    wk__bpe_vocab_write(t, out);
    wk__text_add(out, ",\n    \"merges\": [");
    for (int64_t k = 0; k < b->merges.count; k++) {
        wk__text_add(out, k > 0 ? ",\n      [" : "\n      [");
        wk__json_add_string(out, wk__vocabulary_token(v, b->merges.list[k].left));
        wk__text_add(out, ", ");
        wk__json_add_string(out, wk__vocabulary_token(v, b->merges.list[k].right));
        wk__text_add(out, "]");
    }
    wk__text_add(out, "]}\n");
}

void wk__bpe_vocab_write(const wk__tokenizer *t, wk__text *out)
{
    const wk__vocabulary *v = &t->vocabulary;
    bool first = true;
    wk__text_add(out, "{");
    for (int64_t id = 0; id < v->count; id++) {
        if (!wk__vocabulary_has(v, id)) continue;
        wk__text_add(out, first ? "\n      " : ",\n      ");
        wk__json_add_string(out, wk__vocabulary_token(v, id));
        wk__text_format(out, ": %lld", (long long)id);
        first = false;
    }
    wk__text_add(out, "}");
}

void wk__tokenizer_json_write(const wk__tokenizer *t, wk__text *out)
{
    wk__text_add(out, "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n");
    write_added(t->bpe, out);
    write_steps("normalizer", "normalizers", &t->bpe->normalizer, out);
    write_steps("pre_tokenizer", "pretokenizers", &t->bpe->pre_tokenizer, out);
    write_processor(t, out);
    write_steps("decoder", "decoders", &t->bpe->decoder, out);
    (t->bpe->words.prefix ? write_word_model : write_model)(t, out);
    wk__text_add(out, "}\n");
}
