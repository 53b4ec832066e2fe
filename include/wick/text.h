/* SPDX-License-Identifier: Apache-2.0 */
/* wick/text.h: vocabularies of characters, words, byte pairs and word pieces, datasets of text, and measures of
 * predicted text.
 *
 *     wk_text *text = wk_text_words("timemachine.txt", .lower = true, .letters_only = true);
 *     wk_dataset *data = wk_text_windows(wk_text_ids(text), 35);
 *     wk_loader *batches = wk_data_loader(data, .batch_size = 32, .shuffle = true);
 *     ...
 *     puts(wk_text_decode(text, ids));
 *
 * Texts are UTF-8 without the character zero. Ids are i64. Any number of threads may use a wk_text at once. */
#ifndef WICK_TEXT_H
#define WICK_TEXT_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wk_text wk_text; /* a vocabulary, and the rules that cut a text into its tokens */

/* ---- vocabularies of characters and words ------------------------------------------------------------------------ */

typedef struct wk_text_options {
    size_t size;
    wk_by_name by_name;
    const char *unknown;         /* out-of-vocabulary token; default "<unk>" for words, none for characters; "": none */
    const char *reserved_tokens; /* further tokens, separated by spaces: "<pad> <bos> <eos>"; default none */
    int64_t min_frequency;       /* occurrences that a token needs; default 1 */
    int64_t max_size;            /* the vocabulary keeps the most frequent tokens, up to this size; default no limit */
    bool lower;                  /* convert to lower case; default false */
    bool letters_only;           /* replace each run of characters other than A to Z and a to z by a space, which is
                                  * dropped at both ends of the text; default false */
    bool punctuation;            /* words: each . , ! ? is a separate word; default false */
    char reserved[5];
} wk_text_options;
/* wk_text_chars(path), wk_text_chars_of(string): Create a vocabulary of the characters (code points) of a file or a
 * string. Ids 0, 1, ... go to .unknown, .reserved_tokens, and the characters in the order of their code points.
 *
 *     wk_text *text = wk_text_chars("data/text/tinyshakespeare.txt");
 *
 * Returns:   the vocabulary with the ids of the text, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_IO if the file cannot be read; WK_ERR_FORMAT if the text is not UTF-8 or contains the character
 *            zero; WK_ERR_ARGUMENT if an option is invalid, or if options drop a character of the text and .unknown is
 *            missing; WK_ERR_UNSUPPORTED if the text has more than 2^24 different tokens
 * Source:    the vocabularies of Dive into Deep Learning */
WK_RESULT_API wk_text *wk_text_chars_at(wk_site site, const char *path, const wk_text_options *options);
WK_RESULT_API wk_text *wk_text_chars_of_at(wk_site site, const char *string, const wk_text_options *options);
/* wk_text_words(path), wk_text_words_of(string): Create a vocabulary of the words of a file or a string, which white
 * space separates. Ids 0, 1, ... go to .unknown, .reserved_tokens, and the words by falling frequency; of equally
 * frequent words the one that occurs first comes first. Decoded words are separated by spaces.
 *
 *     wk_text *text = wk_text_words("fra.txt", .min_frequency = 2, .reserved_tokens = "<pad> <bos> <eos>");
 *
 * Returns:   as wk_text_chars
 * Errors:    as wk_text_chars
 * Source:    the class Vocab of Dive into Deep Learning */
WK_RESULT_API wk_text *wk_text_words_at(wk_site site, const char *path, const wk_text_options *options);
WK_RESULT_API wk_text *wk_text_words_of_at(wk_site site, const char *string, const wk_text_options *options);

/* ---- byte-pair encodings ----------------------------------------------------------------------------------------- */

/* Rules that cut a text into pieces, before pairs are merged within each. */
typedef enum wk_text_split {
    WK_TEXT_SPLIT_GPT2,   /* words with the space before them, runs of digits, of other characters, of white space */
    WK_TEXT_SPLIT_LLAMA3, /* numbers of at most 3 digits; a character before a word joins it; also of cl100k */
    WK_TEXT_SPLIT_QWEN2,  /* as of Llama 3, with single digits */
    WK_TEXT_SPLIT_COUNT
} wk_text_split;
typedef struct wk_text_bpe_options {
    size_t size;
    wk_by_name by_name;
    const char *special_tokens; /* tokens for ids 0, 1, ..., separated by spaces: "<|endoftext|>"; default none */
    int64_t min_frequency;      /* occurrences that a pair needs; default 1 */
    wk_text_split split;        /* default WK_TEXT_SPLIT_GPT2 */
    char reserved[4];
} wk_text_bpe_options;
/* wk_text_bpe_train(path, vocabulary), wk_text_bpe_train_of(string, vocabulary): Create a byte-level vocabulary of at
 * most that size: the special tokens, the 256 bytes, and the most frequent pairs of tokens, which are merged one after
 * another. Of equally frequent pairs the one with the smaller ids is merged. Every text can be encoded, and decoding
 * restores it.
 *
 *     wk_text *text = wk_text_bpe_train("data/text/tinyshakespeare.txt", 1000);
 *     wk_text_save(text, "tokenizer.json");
 *
 * Returns:   the vocabulary, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_IO, WK_ERR_FORMAT as wk_text_chars; WK_ERR_ARGUMENT if vocabulary is below the number of bytes and
 *            special tokens or above 2^24, or an option is invalid; WK_ERR_UNSUPPORTED if the text has more than 2^24
 *            different pieces
 * Source:    tokenizers.trainers.BpeTrainer with the alphabet of ByteLevel; same tokens and ids */
WK_RESULT_API wk_text *wk_text_bpe_train_at(wk_site site, const char *path, int64_t vocabulary,
                                            const wk_text_bpe_options *options);
WK_RESULT_API wk_text *wk_text_bpe_train_of_at(wk_site site, const char *string, int64_t vocabulary,
                                               const wk_text_bpe_options *options);

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* wk_text_load(path): Reads a vocabulary: a file of wk_text_save, a tokenizer.json of Hugging Face with a BPE model
 * (GPT-2, Llama 2 and 3, Qwen2, SmolLM and the like) or a WordPiece model (BERT), that in a GGUF file of a BPE model,
 * or a vocab.txt of BERT as wk_text_load_bert without options. path names the file, not its folder.
 * Returns:   the vocabulary, without ids of a text, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_IO if the file cannot be read; WK_ERR_FORMAT if it is invalid; WK_ERR_UNSUPPORTED if a
 *            tokenizer.json or GGUF file has a model or a rule that this library does not support */
WK_RESULT_API wk_text *wk_text_load_at(wk_site site, const char *path);
/* wk_text_load_gpt2(vocab, merges): Reads the two files of GPT-2's tokenizer, vocab.json and merges.txt.
 *
 *     wk_text *gpt2 = wk_text_load_gpt2("gpt2/vocab.json", "gpt2/merges.txt");
 *
 * Returns:   as wk_text_load
 * Errors:    as wk_text_load
 * Source:    transformers.GPT2Tokenizer */
WK_RESULT_API wk_text *wk_text_load_gpt2_at(wk_site site, const char *vocab, const char *merges);
typedef struct wk_text_bert_options {
    size_t size;
    wk_by_name by_name;
    double do_lower_case;          /* true or false: convert to lower case; default true */
    double strip_accents;          /* remove accents; default as .do_lower_case */
    double tokenize_chinese_chars; /* each ideograph is a word; default true */
} wk_text_bert_options;
/* wk_text_load_bert(vocab): Reads BERT's tokens from a vocab.txt, one a line, and encodes words as word pieces: the
 * longest token that begins the word, then the longest that continues it, which begins with ##. Control characters are
 * removed; white space and punctuation end words. [CLS] and [SEP] are put around a text; [UNK] is the unknown token.
 *
 *     wk_text *cased = wk_text_load_bert("bert-base-cased/vocab.txt", .do_lower_case = false);
 *     puts(wk_text_decode(cased, wk_text_encode(cased, "A playful cat.")));       ([CLS] A playful cat. [SEP])
 *
 * Returns:   as wk_text_load
 * Errors:    as wk_text_load; WK_ERR_FORMAT if [CLS], [SEP] or [UNK] is missing
 * Source:    Devlin et al. 2018, arXiv 1810.04805; transformers.BertTokenizer */
WK_RESULT_API wk_text *wk_text_load_bert_at(wk_site site, const char *vocab, const wk_text_bert_options *options);
/* wk_text_save(text, path): Writes the vocabulary: as tokenizer.json if it has byte pairs or word pieces, else as lines
 * of text (docs/reference/file-formats.md). The file is replaced entirely or not at all, as by wk_save.
 * Returns:   WK_OK or an error code; the code of a pending error, without writing
 * Errors:    WK_ERR_IO if the system reports an error */
WK_API wk_code wk_text_save_at(wk_site site, wk_text *text, const char *path);
/* wk_text_save_gpt2(text, vocab, merges): Writes the two files that wk_text_load_gpt2 reads. They hold the tokens and
 * the merges of a byte-level encoding with WK_TEXT_SPLIT_GPT2 whose only special token, if any, is <|endoftext|>.
 * Returns:   WK_OK or an error code; the code of a pending error, without writing
 * Errors:    WK_ERR_IO if the system reports an error; WK_ERR_UNSUPPORTED if text is another encoding, has other added
 *            tokens, tokens around a text or ignore_merges, or lacks a byte for which it has unk_token or
 *            byte_fallback: use wk_text_save */
WK_API wk_code wk_text_save_gpt2_at(wk_site site, wk_text *text, const char *vocab, const char *merges);

/* ---- tokens and ids ---------------------------------------------------------------------------------------------- */

/* wk_text_vocabulary(text): Returns the number of ids: one more than the greatest. 0 for NULL. */
WK_RESULT_API int64_t wk_text_vocabulary_at(wk_site site, const wk_text *text);
/* wk_text_ids(text): Returns the ids of the text from which wk_text_chars or wk_text_words made the vocabulary: i64 (N)
 * on the default device (WK_DEVICE, else the CPU).
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_STATE if the vocabulary was loaded or trained: use wk_text_encode_file */
WK_RESULT_API wk_tensor *wk_text_ids_at(wk_site site, wk_text *text);
typedef struct wk_text_encode_options {
    size_t size;
    wk_by_name by_name;
    double add_special_tokens; /* true or false: add the tokens that the file puts before and after a text, such as <s>;
                                * default true */
} wk_text_encode_options;
/* wk_text_encode(text, string), wk_text_encode_file(text, path): Convert a string or the content of a file to ids: i64
 * (N) on the default device (WK_DEVICE, else the CPU).
 *
 *     wk_tensor *ids = wk_text_encode(text, "the time traveller");
 *
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_IO if the file cannot be read; WK_ERR_FORMAT if the text is not UTF-8 or a file contains the
 *            character zero; WK_ERR_ARGUMENT if the vocabulary lacks a character or word and has no out-of-vocabulary
 *            token
 * Source:    tokenizers.Tokenizer.encode */
WK_RESULT_API wk_tensor *wk_text_encode_at(wk_site site, wk_text *text, const char *string,
                                           const wk_text_encode_options *options);
WK_RESULT_API wk_tensor *wk_text_encode_file_at(wk_site site, wk_text *text, const char *path,
                                                const wk_text_encode_options *options);
typedef struct wk_text_decode_options {
    size_t size;
    wk_by_name by_name;
    int64_t *length;          /* if set, receives the length of the string in bytes; default NULL */
    bool skip_special_tokens; /* leave out reserved and special tokens; default false */
    char reserved[7];
} wk_text_decode_options;
/* wk_text_decode(text, ids): Converts integer ids of any shape, row by row, to a string. Waits for the device. Bytes
 * that are not UTF-8, such as half a character at the end, become U+FFFD.
 * Lifetime:  the innermost scope owns the string; without a scope it is valid as long as text
 * Returns:   the string; NULL on error
 * Errors:    WK_ERR_DTYPE if ids are not integers; WK_ERR_INDEX if the vocabulary lacks an id
 * Source:    tokenizers.Tokenizer.decode, which leaves out special tokens by default */
WK_RESULT_API const char *wk_text_decode_at(wk_site site, wk_text *text, wk_tensor *ids,
                                            const wk_text_decode_options *options);
/* wk_text_token(text, id): Returns the token of an id. Tokens of a byte-level encoding are written with one character
 * for each byte, as in vocab.json: "Ġthe" for " the".
 * Lifetime:  valid as long as text
 * Errors:    WK_ERR_INDEX if the vocabulary lacks the id */
WK_RESULT_API const char *wk_text_token_at(wk_site site, const wk_text *text, int64_t id);
/* wk_text_id(text, token): Returns the id of a token; if the vocabulary lacks it, the id of the out-of-vocabulary
 * token, or -1 without one. */
WK_RESULT_API int64_t wk_text_id_at(wk_site site, const wk_text *text, const char *token);
/* wk_text_frequency(text, id): Returns how often the token occurs in the text from which wk_text_chars or wk_text_words
 * made the vocabulary; for the out-of-vocabulary token, how many tokens of the text are not in it. 0 for the tokens of
 * other vocabularies.
 * Errors:    WK_ERR_INDEX if the vocabulary lacks the id */
WK_RESULT_API int64_t wk_text_frequency_at(wk_site site, const wk_text *text, int64_t id);

/* ---- sequences --------------------------------------------------------------------------------------------------- */

typedef struct wk_text_windows_options {
    size_t size;
    wk_by_name by_name;
    int64_t stride;     /* distance between the beginnings of two windows; default steps: they do not overlap */
    int64_t offset;     /* ids before the first window; default 0 */
    int64_t batch_size; /* batch size (sequential partition); default 0, random sampling */
} wk_text_windows_options;
/* wk_text_windows(ids, steps): Creates a dataset of windows of a text: x has `steps` successive ids, y the same one
 * position later. Windows that do not fit are left out.
 *
 *     random sampling:       wk_data_loader(wk_text_windows(ids, 35), .batch_size = 32, .shuffle = true)
 *     sequential partition:  wk_data_loader(wk_text_windows(ids, 35, .batch_size = 32), .batch_size = 32)
 *
 * With .batch_size, the text is cut into that many parts of equal length. Sample k continues sample k - batch_size, so
 * each batch has one window of each part and continues the batch before it, and a recurrent network can keep its state.
 * The loader must have the same .batch_size and keep the order, which is checked unless wk_data_map or the like is
 * between them. Draw a new .offset below steps for each epoch to vary the windows.
 * Lifetime:  the ids are copied to the host
 * Errors:    WK_ERR_SHAPE if ids do not have one dimension; WK_ERR_DTYPE if they are not integers; WK_ERR_ARGUMENT if
 *            steps or .stride is below 1, .offset or .batch_size negative, or no window fits
 * Source:    seq_data_iter_random and seq_data_iter_sequential of Dive into Deep Learning */
WK_RESULT_API wk_dataset *wk_text_windows_at(wk_site site, wk_tensor *ids, int64_t steps,
                                             const wk_text_windows_options *options);

typedef struct wk_text_pad_options {
    size_t size;
    wk_by_name by_name;
    int64_t value;            /* id that fills shorter rows; default 0 */
    int64_t length;           /* size of dimension 1; longer sequences lose their end; default that of the longest */
    wk_tensor **lengths;      /* if set, receives i64 (N): the lengths without padding; default NULL */
    const char *padding_side; /* "right" or "left": padding after or before the ids; default "right" */
    wk_tensor **mask;         /* if set, receives bool (N, T): true for ids, false for padding; default NULL */
} wk_text_pad_options;
/* wk_text_pad((sequences)): Joins sequences of ids, integer tensors with one dimension, as the rows of a tensor: i64
 * (N, T). The list may be a WK_ARRAY of wk_tensor *const * and a count.
 *
 *     wk_tensor *lengths, *x = wk_text_pad((first, second), .value = 1, .length = 10, .lengths = &lengths);
 *
 * wk_generate expects prompts padded on the left. .value may be any token of the model, because .mask excludes it:
 *
 *     wk_tensor *mask, *prompts = wk_text_pad((first, second), .padding_side = "left", .mask = &mask);
 *     wk_tensor *out = wk_generate(net, prompts, .mask = mask);
 *
 * Returns:   a new tensor on the device of the first sequence, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE if a sequence does not have one dimension; WK_ERR_DTYPE if it is not of integers;
 *            WK_ERR_ARGUMENT if the list is empty, .length is negative or .padding_side another word
 * PyTorch:   torch.nn.utils.rnn.pad_sequence with batch_first; .mask: attention_mask of transformers' tokenizers */
WK_RESULT_API wk_tensor *wk_text_pad_at(wk_site site, wk_tensor *const *sequences, int64_t count,
                                        const wk_text_pad_options *options);
typedef struct wk_text_lines_options {
    size_t size;
    wk_by_name by_name;
    const char *begin, *end;  /* tokens before and after each line; default none */
    const char *pad;          /* token that fills shorter rows; default "<pad>" */
    int64_t length;           /* size of dimension 1; longer lines lose their end; default that of the longest */
    wk_tensor **lengths;      /* if set, receives i64 (N): the lengths without padding; default NULL */
    const char *padding_side; /* as in wk_text_pad */
    wk_tensor **mask;         /* as in wk_text_pad */
} wk_text_lines_options;
/* wk_text_encode_lines(text, string): Converts each line of a string to a row of ids: i64 (N, T) on the default device
 * (WK_DEVICE, else the CPU). Lines end in a newline, or carriage return and newline.
 *
 *     wk_text *words = wk_text_words_of(french, .reserved_tokens = "<pad> <bos> <eos>");
 *     wk_tensor *y = wk_text_encode_lines(words, french, .end = "<eos>", .length = 10, .lengths = &lengths);
 *
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_FORMAT if the string is not UTF-8; WK_ERR_ARGUMENT if it is empty, .length is negative,
 *            .padding_side is another word, the vocabulary lacks .begin, .end or, for lines of different lengths, .pad,
 *            or as wk_text_encode
 * Source:    the arrays of machine translation in Dive into Deep Learning */
WK_RESULT_API wk_tensor *wk_text_encode_lines_at(wk_site site, wk_text *text, const char *string,
                                                 const wk_text_lines_options *options);
/* wk_text_collate: Makes a batch of samples, as .collate of a loader. Pads tensors with one dimension as wk_text_pad
 * does, stacks others, and appends the lengths of x if x has one dimension. user points to the id that fills shorter
 * rows, an int64_t; NULL: 0.
 *
 *     wk_loader *texts = wk_data_loader(data, .batch_size = 32, .collate = wk_text_collate, .collate_user = &pad);
 *
 * Returns:   true, or false after recording an error
 * Errors:    WK_ERR_SHAPE if samples differ in their number of tensors; WK_ERR_ARGUMENT if a sample with a sequence has
 *            WK_SAMPLE_TENSORS tensors, because the lengths need one; as wk_text_pad and wk_stack */
WK_API bool wk_text_collate(wk_sample *batch, const wk_sample *samples, int64_t count, void *user);

typedef struct wk_text_order_options {
    size_t size;
    wk_by_name by_name;
    bool shuffle; /* batches in random order; default false, from short to long */
    char reserved[7];
    uint64_t seed; /* of the random order; default 0 */
} wk_text_order_options;
/* wk_text_order(lengths, batch_size): Returns an order in which each batch has sequences of similar length: i64
 * (N), for the option .order of a loader with this .batch_size. lengths is i64 (N).
 *
 *     wk_loader *texts = wk_data_loader(data, .batch_size = 32, .order = wk_text_order(lengths, 32, .shuffle = true),
 *                                       .collate = wk_text_collate);
 *
 * Returns:   a new tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_SHAPE, WK_ERR_DTYPE if lengths has another shape or dtype; WK_ERR_ARGUMENT if batch_size is below
 *            1 */
WK_RESULT_API wk_tensor *wk_text_order_at(wk_site site, wk_tensor *lengths, int64_t batch_size,
                                          const wk_text_order_options *options);

/* ---- measures ---------------------------------------------------------------------------------------------------- */

/* wk_text_perplexity(loss): Returns exp(loss) for a mean cross-entropy per token: 1 if the network predicts each token
 * with probability 1, the size of the vocabulary if it predicts all tokens with equal probability. */
WK_RESULT_API double wk_text_perplexity(double loss);
/* wk_text_bleu(prediction, label, k): Returns how well a predicted sequence of words matches a label, from 0 to 1.
 *     exp(min(0, 1 - label words / predicted words)) * the product of p_n^(1 / 2^n), n = 1, ..., k
 * p_n is the share of the prediction's n-grams that occur in the label, each as often as there. Words are separated by
 * spaces. n stops at the length of the prediction.
 * Returns:   the score; 0 if the prediction is empty, NaN on error
 * Errors:    WK_ERR_ARGUMENT if a string is NULL or k is below 1
 * Source:    bleu of Dive into Deep Learning */
WK_RESULT_API double wk_text_bleu_at(wk_site site, const char *prediction, const char *label, int64_t k);

#define wk_text_load(path)               wk_text_load_at(WK_HERE, path)
#define wk_text_load_gpt2(vocab, merges) wk_text_load_gpt2_at(WK_HERE, vocab, merges)
#define wk_text_save(text, path)         wk_text_save_at(WK_HERE, text, path)
#define wk_text_save_gpt2(...)           wk_text_save_gpt2_at(WK_HERE, __VA_ARGS__)
#define wk_text_vocabulary(...)          wk_text_vocabulary_at(WK_HERE, __VA_ARGS__)
#define wk_text_ids(text)                WK_NEW_TENSOR_(wk_text_ids_at(WK_HERE, text))
#define wk_text_token(text, id)          wk_text_token_at(WK_HERE, text, id)
#define wk_text_id(text, token)          wk_text_id_at(WK_HERE, text, token)
#define wk_text_frequency(text, id)      wk_text_frequency_at(WK_HERE, text, id)
#define wk_text_bleu(...)                wk_text_bleu_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define wk_text_chars(...)    WK_OPT_(wk_text *, wk_text_chars, wk_text_options, __VA_ARGS__)
#define wk_text_chars_of(...) WK_OPT_(wk_text *, wk_text_chars_of, wk_text_options, __VA_ARGS__)
#define wk_text_words(...)    WK_OPT_(wk_text *, wk_text_words, wk_text_options, __VA_ARGS__)
#define wk_text_words_of(...) WK_OPT_(wk_text *, wk_text_words_of, wk_text_options, __VA_ARGS__)
#define wk_text_bpe_train(path, ...)                                                                                   \
    WK_OPT2_(wk_text *, wk_text_bpe_train, wk_text_bpe_options, "path, vocabulary", path, __VA_ARGS__)
#define wk_text_bpe_train_of(string, ...)                                                                              \
    WK_OPT2_(wk_text *, wk_text_bpe_train_of, wk_text_bpe_options, "string, vocabulary", string, __VA_ARGS__)
#define wk_text_load_bert(...) WK_OPT_(wk_text *, wk_text_load_bert, wk_text_bert_options, __VA_ARGS__)
#define wk_text_encode(text, ...)                                                                                      \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_text_encode, wk_text_encode_options, "text, string", text, __VA_ARGS__))
#define wk_text_encode_file(text, ...)                                                                                 \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_text_encode_file, wk_text_encode_options, "text, path", text, __VA_ARGS__))
#define wk_text_encode_lines(text, ...)                                                                                \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_text_encode_lines, wk_text_lines_options, "text, string", text, __VA_ARGS__))
#define wk_text_decode(text, ...)                                                                                      \
    WK_OPT2_(const char *, wk_text_decode, wk_text_decode_options, "text, ids", text, __VA_ARGS__)
#define wk_text_windows(ids, ...)                                                                                      \
    WK_NEW_DATASET_(WK_OPT2_(wk_dataset *, wk_text_windows, wk_text_windows_options, "ids, steps", ids, __VA_ARGS__))
#define wk_text_order(lengths, ...)                                                                                    \
    WK_NEW_TENSOR_(                                                                                                    \
        WK_OPT2_(wk_tensor *, wk_text_order, wk_text_order_options, "lengths, batch_size", lengths, __VA_ARGS__))

/* A list or an array of sequences. */
typedef struct wk_sequences_ {
    wk_tensor *const *at;
    int64_t count;
} wk_sequences_;
static inline wk_sequences_ wk_sequences_of_(wk_tensor *const *at, int64_t count)
{
    wk_sequences_ sequences = {at, count};
    return sequences;
}
#define wk_text_pad(...) WK_NEW_TENSOR_(WK_JOIN_(WK_TEXT_PAD_, WK_COUNT_(__VA_ARGS__))(WK_LIST_NAME_, __VA_ARGS__))
#define WK_TEXT_PAD_LISTED_(wk_l_, list, last)                                                                         \
    WK_ITEMS_(wk_tensor *, wk_tensor *, wk_sequences_, wk_l_, list,                                                    \
              "wk_text_pad: write sequences in two pairs of parentheses: wk_text_pad((a, b))", last)
#define WK_TEXT_PAD_1(wk_l_, list)                                                                                     \
    WK_TEXT_PAD_LISTED_(wk_l_, list, WK_GIVE_(wk_tensor *, wk_text_pad_at(WK_HERE, wk_l_.at, wk_l_.count, NULL)))
#define WK_TEXT_PAD_WK2_(wk_l_, list, ...)                                                                             \
    WK_TEXT_PAD_LISTED_(wk_l_, list,                                                                                   \
                        WK_GIVE_(wk_tensor *, WK_CALL_(wk_tensor *, wk_text_pad, (wk_l_.at, wk_l_.count),              \
                                                       wk_text_pad_options, __VA_ARGS__)))
#endif

#ifdef __cplusplus
}
#endif
#endif
