/* SPDX-License-Identifier: Apache-2.0 */
/* Files of tokenizers that must be rejected, and unusual ones that must be accepted. */
#ifndef WICK_TESTS_HOSTILE_TOKENIZERS_H
#define WICK_TESTS_HOSTILE_TOKENIZERS_H

#include "file.h"
#include "text/bpe.h"

/* The text of a file. */
typedef struct tokenizer_case {
    const char *file;
    const char *word; /* in the error; NULL: must be accepted */
} tokenizer_case;

#define MODEL(fields) "{\"model\":{" fields "}}"
#define VOCAB         "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2}"
#define WORDS         "\"type\":\"WordPiece\",\"vocab\":{\"a\":0,\"##b\":1,\"b\":2,\"?\":3,\"\xc3\xa9\":4}"
#define WITH(fields)  "{" fields ",\"model\":{" VOCAB ",\"merges\":[\"a b\"]}}"

#define AROUND_A "\"single\":[{\"SpecialToken\":{\"id\":\"a\"}},{\"Sequence\":{\"id\":\"A\"}}]"

static const tokenizer_case tokenizer_cases[] = {
    /* ---- JSON ---- */
    {"{", "expected a string, found the end of the file (byte 1)"},
    {"{}", "the vocabulary is missing or empty"},
    {"{} {}", "the file ends, but more follows (byte 3)"},
    {"{\"model\"}", "expected ':', found '}' (byte 8)"},
    {"{\"model\":1}", "expected '{', found '1'"},
    {"{\"model\":nul}", "expected null, found 'n' (byte 9)"},
    {"{\"model\":null,\"model\":null}", "the field \"model\" occurs twice (byte 15)"},
    {"{\"version\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nest too deeply"},
    {"{\"version\":01}", "expected ',' or '}', found '1'"},
    {"{\"version\":-}", "expected a value, found '}'"},
    {"{\"version\":1.}", "expected a value, found '}'"},
    {"{\"version\":1e}", "expected a value, found '}'"},
    {"{\"version\":+1}", "expected a value, found '+'"},
    {"{\"version\":[1,]}", "expected a value, found ']'"},
    {"{\"version\":\"\\ud800\"}", "an unpaired surrogate"},
    {"{\"version\":\"\\udc00\\ud800\"}", "an unpaired surrogate"},
    {"{\"version\":\"\\u00\"}", "\\u without four hexadecimal digits"},
    {"{\"version\":\"\\x\"}", "an unknown escape"},
    {"{\"version\":\"a\nb\"}", "an unescaped control character"},
    {"{\"version\":\"\\u0000\"}", "a zero character"},
    {"{\"version\":\"\xff\"}", "invalid UTF-8"},
    {"{\"extra\":1}", "unknown field \"extra\" (byte 2)"},

    /* ---- the model ---- */
    {MODEL("\"type\":\"Unigram\""), "model: the type \"Unigram\" is not supported; expected BPE or WordPiece"},
    {MODEL("\"vocab\":[]"), "expected '{', found '['"},
    {MODEL("\"vocab\":{}"), "the vocabulary is missing or empty"},
    {MODEL("\"vocab\":{\"a\":-1}"), "expected a non-negative integer"},
    {MODEL("\"vocab\":{\"a\":1.5}"), "expected a non-negative integer"},
    {MODEL("\"vocab\":{\"a\":99999999999999999999}"), "a number exceeds"},
    {MODEL("\"vocab\":{\"a\":5000}"), "id 5000 is too large: \"a\""},
    {MODEL("\"vocab\":{\"a\":0,\"b\":0}"), "id 0 belongs to two tokens: \"b\""},
    {MODEL("\"vocab\":{\"a\":0,\"a\":1}"), "id 1 has a token that occurs twice: \"a\""},
    {MODEL("\"vocab\":{\"\":0}"), "id 0 has an empty token"},
    {MODEL(VOCAB ",\"merges\":[\"ab\"]"), "merge 0 is \"ab\", not two tokens with a space between them"},
    {MODEL(VOCAB ",\"merges\":[\"a b c\"]"), "not two tokens"},
    {MODEL(VOCAB ",\"merges\":[\" b\"]"), "not two tokens"},
    {MODEL(VOCAB ",\"merges\":[\"a \"]"), "not two tokens"},
    {MODEL(VOCAB ",\"merges\":[[\"a\"]]"), "expected ',', found ']'"},
    {MODEL(VOCAB ",\"merges\":[[\"a\",\"b\",\"c\"]]"), "expected ']', found ','"},
    {MODEL(VOCAB ",\"merges\":[\"a c\"]"), "merge 0: the token \"c\" is not in the vocabulary"},
    {MODEL(VOCAB ",\"merges\":[\"b a\"]"), "merge 0: the token \"ba\" is not in the vocabulary"},
    {MODEL(VOCAB ",\"merges\":[\"a b\",[\"a\",\"b\"]]"), "merge 1 occurs twice: \"a\" and \"b\""},
    {MODEL(VOCAB ",\"unk_token\":\"?\""), "model: the unk_token \"?\" is not in the vocabulary"},
    {MODEL(VOCAB ",\"dropout\":0.1"), "model: dropout is not supported; set it to null"},
    {MODEL(VOCAB ",\"end_of_word_suffix\":\"</w>\""), "end_of_word_suffix are not supported"},
    {MODEL(VOCAB ",\"byte_fallback\":1"), "expected true or false, found '1'"},
    {MODEL(VOCAB ",\"max_input_chars_per_word\":9"), "max_input_chars_per_word is not supported for BPE"},
    {MODEL(WORDS ",\"max_input_chars_per_word\":-1"), "expected a non-negative integer"},
    {MODEL(WORDS ",\"merges\":[\"a ##b\"]"), "model: WordPiece has none of the settings of BPE"},
    {MODEL(WORDS ",\"byte_fallback\":true"), "model: WordPiece has none of the settings of BPE"},
    {MODEL(WORDS ",\"fuse_unk\":true"), "model: WordPiece has none of the settings of BPE"},
    {MODEL(WORDS ",\"ignore_merges\":true"), "model: WordPiece has none of the settings of BPE"},
    {MODEL(WORDS ",\"end_of_word_suffix\":\"</w>\""), "model: WordPiece has none of the settings of BPE"},
    {MODEL("\"unk_token\":\"[UNK]\"," WORDS), "the unk_token \"[UNK]\" is not in the vocabulary"},

    /* ---- steps ---- */
    {WITH("\"truncation\":{\"max_length\":8}"), "truncation is not supported; set it to null"},
    {WITH("\"padding\":{\"length\":8}"), "padding is not supported; set it to null"},
    {WITH("\"normalizer\":{}"), "normalizer: the type \"\" is not supported"},
    {WITH("\"normalizer\":{\"type\":\"NFKC\"}"), "normalizer: the type \"NFKC\" is not supported"},
    {WITH("\"normalizer\":{\"type\":\"ByteLevel\"}"), "normalizer: the type \"ByteLevel\" is not supported"},
    {WITH("\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" +\"},\"content\":\"\"}"),
     "normalizer: the pattern of Replace is not supported"},
    {WITH("\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\"x\"}"), "the pattern"},
    {WITH("\"normalizer\":{\"type\":\"Lowercase\",\"normalizers\":[{\"type\":\"Lowercase\"}]}"),
     "a sequence of Lowercase is not supported"},
    {WITH("\"normalizer\":{\"normalizers\":[{\"normalizers\":[{\"normalizers\":[{\"normalizers\":[{\"normalizers\":["
          "{\"type\":\"Lowercase\"}]}]}]}]}]}"),
     "normalizer: sequences nest too deeply"},
    {WITH(
         "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"Fuse\"},{\"type\":\"Fuse\"},"
         "{\"type\":\"Fuse\"},{\"type\":\"Fuse\"},{\"type\":\"Fuse\"},{\"type\":\"Fuse\"},{\"type\":\"Fuse\"},"
         "{\"type\":\"Fuse\"}]}"),
     "decoder: more than 8 steps"},
    {WITH("\"decoder\":{\"type\":\"CTC\"}"), "decoder: the type \"CTC\" is not supported"},
    {WITH("\"decoder\":{\"type\":\"WordPiece\",\"prefix\":2}"), "expected a string, found '2'"},
    {WITH("\"normalizer\":{\"type\":\"BertPreTokenizer\"}"), "normalizer: the type \"BertPreTokenizer\" is not"},
    {WITH("\"normalizer\":{\"type\":\"BertNormalizer\",\"strip_accents\":2}"), "expected true or false, found '2'"},
    {WITH("\"decoder\":{\"type\":\"Strip\",\"start\":1,\"stop\":0}"), "decoder: the content of Strip"},
    {WITH("\"pre_tokenizer\":{\"type\":\"Whitespace\"}"), "pre_tokenizer: the type \"Whitespace\" is not supported"},
    {WITH("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\s\"},\"behavior\":\"Isolated\"}"),
     "pre_tokenizer: the pattern \"\\s\" of Split is not supported; expected a string, or the expression of GPT-2"},
    {WITH("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"Contiguous\"}"),
     "pre_tokenizer: the behavior of Split is not supported"},
    {WITH("\"pre_tokenizer\":{\"type\":\"Metaspace\"}"), "pre_tokenizer: the replacement of Metaspace"},
    {WITH("\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"last\"}"),
     "pre_tokenizer: the prepend_scheme of Metaspace"},

    /* ---- added tokens, and tokens around a text ---- */
    {WITH("\"added_tokens\":[{\"id\":3}]"), "added token 0 lacks an id or a content"},
    {WITH("\"added_tokens\":[{\"content\":\"x\"}]"), "added token 0 lacks an id or a content"},
    {WITH("\"added_tokens\":[{\"id\":3,\"content\":\"\"}]"), "added token 0 lacks an id or a content"},
    {WITH("\"added_tokens\":[{\"id\":3,\"content\":\"x\",\"single_word\":true}]"), "single_word is not supported"},
    {WITH("\"added_tokens\":[{\"id\":1,\"content\":\"a\"}]"), "cannot have the id 1, which differs"},
    {WITH("\"added_tokens\":[{\"id\":1,\"content\":\"x\"}]"), "cannot have the id 1, which is taken or too large"},
    {WITH("\"added_tokens\":[{\"id\":9999999999,\"content\":\"x\"}]"), "is taken or too large"},
    {WITH("\"added_tokens\":[{\"id\":3,\"content\":\"x\"},{\"id\":3,\"content\":\"x\"}]"), "\"x\" occurs twice"},
    {WITH("\"post_processor\":{\"type\":\"Other\"}"), "post_processor: the type \"Other\" is not supported"},
    {WITH("\"post_processor\":{\"cls\":[\"a\",0]}"), "post_processor: expected cls and sep, without a template"},
    {WITH("\"post_processor\":{\"cls\":[\"a\",0],\"sep\":[\"c\",1]}"), "the token \"c\" is not in the vocabulary"},
    {WITH("\"post_processor\":{\"cls\":[\"a\",1],\"sep\":[\"b\",1]}"),
     "post_processor: the token \"a\" has the id 1, but 0 in the vocabulary"},
    {WITH("\"post_processor\":{\"cls\":[\"a\",0],\"sep\":[\"b\",0]}"),
     "post_processor: the token \"b\" has the id 0, but 1 in the vocabulary"},
    {WITH("\"post_processor\":{" AROUND_A ",\"special_tokens\":{\"b\":{},\"a\":{\"ids\":[7]}}}"),
     "post_processor: the token \"a\" has the id 7, but 0 in the vocabulary"},
    {WITH("\"post_processor\":{\"special_tokens\":{\"a\":{\"id\":\"a\",\"ids\":[0,1],\"tokens\":[\"a\",\"b\"]}}"
          "," AROUND_A "}"),
     "post_processor: the token \"a\" has 2 ids; expected one"},
    {WITH("\"post_processor\":{" AROUND_A ",\"special_tokens\":{\"a\":{}}}"),
     "the token \"a\" has 0 ids; expected one"},
    {WITH("\"post_processor\":{" AROUND_A ",\"special_tokens\":{\"a\":{\"ids\":[-1]}}}"),
     "expected a non-negative integer"},
    {WITH("\"post_processor\":{" AROUND_A ",\"special_tokens\":[]}"), "expected '{', found '['"},
    {WITH("\"post_processor\":{\"cls\":\"a\"}"), "expected '[', found '\"'"},
    {WITH("\"post_processor\":{\"single\":[{\"SpecialToken\":{\"id\":\"a\"}}]}"), "must have the sequence A once"},
    {WITH("\"post_processor\":{\"single\":[{\"SpecialToken\":{\"id\":\"x\"}}]}"),
     "the token \"x\" is not in the vocab"},
    {WITH("\"post_processor\":{\"single\":[{\"SpecialToken\":{}}]}"), "post_processor: a part of single lacks an id"},
    {WITH("\"post_processor\":{\"single\":[{\"Sequence\":{\"id\":\"B\"}}]}"), "single must have the sequence A once"},

    /* ---- unusual valid files ---- */
    {MODEL("\"vocab\":{\"a\":0,\"b\":7}"), NULL},
    {MODEL("\"unk_token\":\"a\",\"merges\":[[\"a\",\"b\"]],\"dropout\":0.0,\"other\":null," VOCAB), NULL},
    {WITH("\"version\":[{\"a\":[1,-0.5e+3,\"\\ud83d\\ude00\",true,null]}],\"padding\":null,\"normalizer\":null"), NULL},
    {WITH("\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[]}"), NULL},
    {WITH("\"post_processor\":{" AROUND_A ",\"special_tokens\":{\"b\":{\"ids\":[1,2]},\"a\":{\"ids\":[0]}}}"), NULL},
    {WITH("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"MergedWithPrevious\"},"
          "\"post_processor\":{\"type\":\"RobertaProcessing\",\"cls\":[\"a\",0],\"sep\":[\"b\",1]}"),
     NULL},
    {WITH(
         "\"normalizer\":{\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"_\"},{\"content\":\"_\",\"pattern\":{"
         "\"String\":\" "
         "\"},\"type\":\"Replace\"},{\"type\":\"Lowercase\"},{\"type\":\"NFC\"}],\"type\":\"Sequence\"},\"decoder\":{"
         "\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"_\"},\"content\":\" \"},{"
         "\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" "
         "\",\"start\":1,\"stop\":2}]}"),
     NULL},
    {WITH(
         "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true},"
         "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true}]},\"decoder\":{\"type\":"
         "\"ByteLevel\"}"),
     NULL},
    {WITH(
         "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\",\"split\":true},"
         "\"decoder\":{\"type\":\"Metaspace\",\"replacement\":\"_\",\"add_prefix_space\":true},\"added_tokens\":[{"
         "\"id\":3,"
         "\"content\":\"<b>\",\"lstrip\":true,\"rstrip\":true,\"special\":true},{\"id\":4,\"content\":\"B\","
         "\"normalized\":"
         "true}],\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<b>\","
         "\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"SpecialToken\":{\"id\":\"a\"}}],\"pair\":[],"
         "\"special_tokens\":{}}"),
     NULL},
    {"{\"normalizer\":{\"type\":\"BertNormalizer\",\"strip_accents\":null},\"pre_tokenizer\":{\"type\":"
     "\"BertPreTokenizer\"},\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},\"model\":{"
     "\"unk_token\":\"?\",\"max_input_chars_per_word\":3," WORDS "}}",
     NULL},
    {"{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":false,\"lowercase\":false},\"model\":{"
     "\"continuing_subword_prefix\":\"\"," WORDS "}}",
     NULL},
    {"wick vocabulary 1\ntokens words\nlower 1\nletters_only 0\npunctuation 1\nunknown 0\nreserved 1\ncount 3\n5 "
     "<unk>\n"
     "3 a\\\\b\\n\n2 b\n",
     NULL},
    {"wick vocabulary 1\ntokens characters\nlower 0\nletters_only 1\npunctuation 0\nunknown -1\nreserved 0\ncount 0\n",
     NULL},
};

enum { TOKENIZER_CASES = sizeof tokenizer_cases / sizeof *tokenizer_cases };

static inline bytes tokenizer_file(const tokenizer_case *from)
{
    return bytes_copy(from->file, (int64_t)strlen(from->file));
}

/* Reads a file of either format, as wk_text_load does. */
static inline wk_code tokenizer_read(bytes file, wk__tokenizer **t, wk__io_error *error)
{
    wk__text text = {0};
    wk__text_add_n(&text, (const char *)file.data, file.count);
    const bool is_json = file.count > 0 && file.data[0] == '{';
    *t = NULL;
    if (text.failed) return wk__text_no_memory(error);
    const wk_code code = is_json ? wk__tokenizer_json_read(&text, t, error)
                                 : wk__token_file_read((wk__span){text.data, text.length}, t, error);
    wk__text_free(&text);
    return code;
}

/* Encodes, decodes and writes with a tokenizer, and reads the written file. Aborts unless both tokenizers give the same
 * ids. */
static inline void tokenizer_use(wk__tokenizer *t)
{
    static const char string[] = "A b  ab<b> 12 _a\xc3\xa9\nB";
    wk__ids ids[2] = {{0}};
    wk__text file = {0}, decoded = {0};
    wk__tokenizer *again = NULL;
    wk__io_error error;
    const wk__span text = {string, sizeof string - 1};
    const wk_code code = t->kind->encode(t, text, true, &ids[0], &error);
    t->kind->write(t, &file);
    if (tokenizer_read((bytes){(unsigned char *)file.data, file.length}, &again, &error) != WK_OK) abort();
    if (again->kind->encode(again, text, true, &ids[1], &error) != code || ids[0].count != ids[1].count) abort();
    if (ids[0].count > 0 && memcmp(ids[0].at, ids[1].at, (size_t)ids[0].count * sizeof *ids[0].at) != 0) abort();
    if (code == WK_OK) t->kind->decode(t, ids[0].at, ids[0].count, false, &decoded);
    wk__tokenizer_free(again);
    wk__text_free(&file);
    wk__text_free(&decoded);
    wk__ids_free(&ids[0]);
    wk__ids_free(&ids[1]);
}

#endif
