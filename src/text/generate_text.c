/* SPDX-License-Identifier: Apache-2.0 */
/* wk_generate_text: generation of a text, piece by piece.
 *
 * A token may be a part of a character, and its text may depend on the token before it (spaces). So the stream decodes
 * a few tokens together, and takes what follows the text of those that are decoded already:
 *
 *     ids    .. | context | new ..          decode(context + new) = decode(context) + the new text
 *
 * It waits while the new text ends in U+FFFD, which stands for bytes that are no character yet. Text that may be the
 * beginning of a stop text waits, too:
 *
 *     text   [passed to .on_text | may begin a stop text] */
#include "base/alloc.h"
#include "base/options.h"
#include "nn/language/language.h"
#include "tensor/call_scope.h"
#include "tokenizer.h"
#include <string.h>
#include <wick/shape.h>

static const char op[] = "generate_text";

enum { CONTEXT = 5 }; /* tokens of the prompt that are decoded with the first new ones */

/* A text that is being generated. A guard frees it, as an error handler may leave the call by longjmp. */
typedef struct stream {
    wk_site site;
    const wk__tokenizer *tokenizer;
    wk_generate_options options; /* of the program */
    wk__ids ids;                 /* last tokens of the prompt, and the new ones */
    int64_t context, decoded;    /* ids[context, decoded) are decoded, ids[decoded, count) are not */
    wk__text text;               /* new text */
    int64_t passed;              /* bytes of it that .on_text has received */
    bool stopped;                /* by a stop text or .on_text */
} stream;

static void free_stream(void *address)
{
    stream *s = address;
    wk__ids_free(&s->ids);
    wk__text_free(&s->text);
    wk__free(s);
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static bool ends_in_replacement(const wk__text *text, int64_t from)
{
    const int64_t bytes = sizeof replacement - 1;
    return text->length - from >= bytes && memcmp(text->data + text->length - bytes, replacement, (size_t)bytes) == 0;
}

/* Appends decoded text. The character zero would end the string: it becomes U+FFFD. */
static void append(wk__text *out, const char *text, int64_t bytes)
{
    for (const char *zero; (zero = memchr(text, 0, (size_t)bytes)); text = zero + 1) {
        wk__text_add_n(out, text, zero - text);
        wk__text_add(out, replacement);
        bytes -= zero + 1 - text;
    }
    wk__text_add_n(out, text, bytes);
}

/* Appends the text of the ids that are not decoded, unless it ends within a character; at the end of the generation in
 * any case. */
static void decode_ids(stream *s, bool end)
{
    wk__text before = {0}, all = {0};
    const int64_t *ids = s->ids.at + s->context;
    wk__text_add(&before, "");
    wk__text_add(&all, "");
    s->tokenizer->kind->decode(s->tokenizer, ids, s->decoded - s->context, true, &before);
    s->tokenizer->kind->decode(s->tokenizer, ids, s->ids.count - s->context, true, &all);
    s->text.failed |= before.failed || all.failed;
    if (!s->text.failed && all.length > before.length && (end || !ends_in_replacement(&all, before.length))) {
        append(&s->text, all.data + before.length, all.length - before.length);
        s->context = s->decoded;
        s->decoded = s->ids.count;
    }
    wk__text_free(&before);
    wk__text_free(&all);
}

/* ---- stop texts -------------------------------------------------------------------------------------------------- */

/* Cuts the new text before the first stop text, which may begin in the last bytes before `from`. */
static void find_stop(stream *s, int64_t from)
{
    const char *first = NULL;
    for (int64_t k = 0; k < s->options.stop_count; k++) {
        const int64_t bytes = (int64_t)strlen(s->options.stop[k]);
        const int64_t start = from >= bytes ? from - bytes + 1 : 0;
        const char *found = strstr(s->text.data + start, s->options.stop[k]);
        if (found && (!first || found < first)) first = found;
    }
    if (!first) return;
    s->text.length = first - s->text.data;
    s->text.data[s->text.length] = 0;
    s->stopped = true;
}

/* Returns the number of bytes at the end of the text that may begin a stop text. */
static int64_t held_bytes(const stream *s)
{
    int64_t most = 0;
    for (int64_t k = 0; k < s->options.stop_count; k++) {
        int64_t bytes = (int64_t)strlen(s->options.stop[k]) - 1;
        if (bytes > s->text.length) bytes = s->text.length;
        while (bytes > most && memcmp(s->text.data + s->text.length - bytes, s->options.stop[k], (size_t)bytes) != 0)
            bytes--;
        if (bytes > most) most = bytes;
    }
    return most;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* Passes the text up to `end` to .on_text. Returns false on error. */
static bool pass_piece(stream *s, int64_t end)
{
    wk__call_scope c;
    wk__text piece = {0};
    if (end <= s->passed || !s->options.on_text) return true;
    wk__text_add_n(&piece, s->text.data + s->passed, end - s->passed);
    if (piece.failed || !wk__callback_begin(&c, ".on_text of generate_text", s->site)) {
        s->text.failed |= piece.failed;
        wk__text_free(&piece);
        return false;
    }
    if (!s->options.on_text(piece.data, s->options.user)) s->stopped = true;
    wk__call_end(&c, NULL, 0);
    wk__text_free(&piece);
    s->passed = end;
    return !wk__error_pending();
}

/* Adds the text of the tokens so far. Returns false on error. */
static bool add_text(stream *s, bool end)
{
    const int64_t before = s->text.length;
    decode_ids(s, end);
    if (s->text.length > before) find_stop(s, before);
    if (s->ids.failed) s->text.failed = true;
    if (!s->text.failed && pass_piece(s, end || s->stopped ? s->text.length : s->text.length - held_bytes(s)))
        return true;
    if (s->text.failed) wk__error_set(s->site, WK_ERR_MEMORY, "%s: out of host memory", op);
    return false;
}

/* Adds a token. A model may have more tokens than the vocabulary; they have no text. */
static void add_id(stream *s, int64_t id)
{
    if (wk__vocabulary_has(&s->tokenizer->vocabulary, id)) wk__ids_add(&s->ids, id);
}

/* Receives a token from wk_generate. */
static bool take_token(const int64_t *tokens, int64_t rows, void *user)
{
    stream *s = user;
    wk_on_token *const next = s->options.on_token;
    add_id(s, tokens[0]);
    if (!add_text(s, false)) return false;
    if (next && !next(tokens, rows, s->options.user)) return false;
    return !s->stopped;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static bool check_options(wk_site site, const wk_generate_options *o)
{
    const char *problem = NULL;
    if (o->stop_count < 0 || (o->stop_count > 0) != (o->stop != NULL)) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .stop_count must be the number of texts in .stop, got %lld", op,
                      (long long)o->stop_count);
        return false;
    }
    if (o->mask)
        problem = ".mask is for wk_generate; a prompt has no padding";
    else if (o->num_beams > 1 && o->on_text)
        problem = ".on_text cannot be used with .num_beams, which chooses tokens late";
    for (int64_t k = 0; !problem && k < o->stop_count; k++)
        if (!o->stop[k] || !o->stop[k][0]) problem = "a text of .stop is empty or NULL";
    if (problem) wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s", op, problem);
    return !problem;
}

/* Returns the tokens of the prompt on the device of the network, (1, T). NULL on error. */
static wk_tensor *encode_prompt(wk_site site, wk_module *net, wk_text *text, const char *prompt)
{
    wk_tensor *ids = wk_text_encode(text, prompt);
    wk_tensors *parameters = ids ? wk_parameters(net) : NULL;
    if (!parameters) return NULL;
    if (wk_numel(ids) == 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the prompt has no tokens; begin with at least one character", op);
        return NULL;
    }
    if (!wk__ids_check_of(site, op, net, ids)) return NULL;
    if (wk_tensors_count(parameters) > 0) ids = wk_to(ids, wk_device_of(wk_tensors_get(parameters, 0)));
    return ids ? wk_unsqueeze(ids, 0) : NULL;
}

/* Begins the stream with the last tokens of the prompt. Returns false on error. */
static bool begin_stream(stream *s, wk_tensor *ids)
{
    int64_t count, *at = wk__ids_read(s->site, op, ids, &count);
    for (int64_t k = count > CONTEXT ? count - CONTEXT : 0; at && k < count; k++) wk__ids_add(&s->ids, at[k]);
    s->decoded = s->ids.count;
    wk__text_add(&s->text, "");
    wk__free(at);
    return at != NULL;
}

/* Generates the text. Returns false on error. */
static bool generate(stream *s, wk_module *net, wk_tensor *ids)
{
    wk_generate_options o = s->options;
    const bool beams = o.num_beams > 1;
    o.on_text = NULL;
    o.stop = NULL;
    o.stop_count = 0;
    o.user = s;
    if (!beams) o.on_token = take_token;
    wk_tensor *out = begin_stream(s, ids) ? wk_generate_at(s->site, net, ids, &o) : NULL;
    if (out && beams) {
        int64_t count, *at = wk__ids_read(s->site, op, out, &count);
        for (int64_t k = wk_size(ids, 1); at && k < count; k++) add_id(s, at[k]);
        wk__free(at);
    }
    return out && (s->stopped || add_text(s, true));
}

/* Returns the new text, which the caller frees; NULL on error. */
static char *generate_string(wk_site site, wk_module *net, wk_text *text, const wk__tokenizer *t, const char *prompt,
                             const wk_generate_options *o)
{
    wk_tensor *ids = encode_prompt(site, net, text, prompt);
    stream *s = ids ? wk__alloc_zero(1, sizeof *s) : NULL;
    if (!ids) return NULL;
    if (!s || !wk__guard_push_cleanup(s, free_stream)) {
        wk__free(s);
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
        return NULL;
    }
    s->site = site;
    s->tokenizer = t;
    s->options = *o;
    if (!generate(s, net, ids)) return NULL;
    char *string = s->text.data;
    s->text = (wk__text){0};
    return string;
}

const char *wk_generate_text_at(wk_site site, wk_module *net, wk_text *text, const char *prompt,
                                const wk_generate_options *options)
{
    wk_generate_options o;
    wk__call_scope c;
    wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    if (!t || !wk__options(site, op, options, &o) || !check_options(site, &o) ||
        !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return NULL;
    char *string = generate_string(site, net, text, t, prompt, &o);
    wk__call_end(&c, NULL, 0);
    const char *kept = string ? wk__attach(site, &t->strings, string) : NULL;
    if (string && !kept) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    return kept;
}
