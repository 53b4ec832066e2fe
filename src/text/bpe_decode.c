/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding of byte pairs: the tokens as strings, which each step of the decoder changes, and which are joined at the
 * end. */
#include "base/alloc.h"
#include "bpe.h"
#include "unicode.h"
#include "word_pieces.h"
#include <string.h>

/* A list of strings in one block of memory. */
typedef struct strings {
    wk__text bytes;
    wk__ids ends; /* of each string in bytes */
} strings;

static wk__span string_at(const strings *s, int64_t k)
{
    const int64_t from = k > 0 ? s->ends.at[k - 1] : 0;
    return (wk__span){s->bytes.data + from, s->ends.at[k] - from};
}

/* Ends the string that was appended to bytes. */
static void end_string(strings *s)
{
    wk__ids_add(&s->ends, s->bytes.length);
}

static void free_strings(strings *s)
{
    wk__text_free(&s->bytes);
    wk__ids_free(&s->ends);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Appends the bytes of the characters of a token; the token itself if one has no byte. */
static void add_bytes(wk__span token, wk__text *out)
{
    const int64_t before = out->length;
    int bytes;
    for (int64_t at = 0; at < token.bytes && !out->failed; at += bytes) {
        const int byte = wk__byte_of_char(wk__utf8_code(token.at + at, &bytes));
        if (byte < 0) {
            out->length = before;
            wk__text_add_n(out, token.at, token.bytes);
            return;
        }
        wk__text_add_n(out, (const char[]){(char)byte}, 1);
    }
}

static void from_bytes(const wk__step *step, const strings *in, strings *out)
{
    wk__text all = {0};
    (void)step;
    for (int64_t k = 0; k < in->ends.count; k++) add_bytes(string_at(in, k), &all);
    wk__text_add_lossy(&out->bytes, all.data, all.length);
    out->bytes.failed |= all.failed;
    wk__text_free(&all);
    end_string(out);
}

static void replace(const wk__step *step, const strings *in, strings *out)
{
    for (int64_t k = 0; k < in->ends.count; k++) {
        wk__replace(string_at(in, k), step->pattern, step->content, &out->bytes);
        end_string(out);
    }
}

/* Replaces the character for spaces by a space; removes it from the first token if the encoder prepends it. */
static void from_spaces(const wk__step *step, const strings *in, strings *out)
{
    for (int64_t k = 0; k < in->ends.count; k++) {
        const bool drop = k == 0 && step->prepend != WK__PREPEND_NEVER;
        wk__replace(string_at(in, k), step->content, drop ? "" : " ", &out->bytes);
        end_string(out);
    }
}

/* Returns the byte of a token <0x0A>; -1 if it has another form. */
static int byte_of_token(wk__span token)
{
    if (token.bytes != 6 || memcmp(token.at, "<0x", 3) != 0 || token.at[5] != '>') return -1;
    const int high = wk__hex_digit(token.at[3]), low = wk__hex_digit(token.at[4]);
    return high >= 0 && low >= 0 ? 16 * high + low : -1;
}

/* Appends the bytes of successive byte tokens; if they are not UTF-8, U+FFFD for each. */
static void end_bytes(wk__text *bytes, strings *out)
{
    if (bytes->length == 0) return;
    if (wk__utf8_valid_bytes(bytes->data, bytes->length) == bytes->length) {
        wk__text_add_n(&out->bytes, bytes->data, bytes->length);
        end_string(out);
    } else {
        for (int64_t k = 0; k < bytes->length; k++) {
            wk__text_add(&out->bytes, "\xef\xbf\xbd");
            end_string(out);
        }
    }
    bytes->length = 0;
}

static void from_byte_tokens(const wk__step *step, const strings *in, strings *out)
{
    wk__text bytes = {0};
    (void)step;
    for (int64_t k = 0; k < in->ends.count; k++) {
        const wk__span token = string_at(in, k);
        const int byte = byte_of_token(token);
        if (byte >= 0) {
            wk__text_add_n(&bytes, (const char[]){(char)byte}, 1);
            continue;
        }
        end_bytes(&bytes, out);
        wk__text_add_n(&out->bytes, token.at, token.bytes);
        end_string(out);
    }
    end_bytes(&bytes, out);
    out->bytes.failed |= bytes.failed;
    wk__text_free(&bytes);
}

static void fuse(const wk__step *step, const strings *in, strings *out)
{
    (void)step;
    wk__text_add_n(&out->bytes, in->bytes.data, in->bytes.length);
    end_string(out);
}

static void strip(const wk__step *step, const strings *in, strings *out)
{
    const int64_t length = (int64_t)strlen(step->content);
    for (int64_t k = 0; k < in->ends.count; k++) {
        wk__span s = string_at(in, k);
        for (int64_t n = 0; n < step->start && s.bytes >= length; n++) {
            if (memcmp(s.at, step->content, (size_t)length) != 0) break;
            s = (wk__span){s.at + length, s.bytes - length};
        }
        for (int64_t n = 0; n < step->stop && s.bytes >= length; n++) {
            if (memcmp(s.at + s.bytes - length, step->content, (size_t)length) != 0) break;
            s.bytes -= length;
        }
        wk__text_add_n(&out->bytes, s.at, s.bytes);
        end_string(out);
    }
}

static void join_word_pieces(const wk__step *step, const strings *in, strings *out)
{
    for (int64_t k = 0; k < in->ends.count; k++) {
        wk__word_piece_decode(string_at(in, k), step->content, k == 0, step->each, &out->bytes);
        end_string(out);
    }
}

static void (*const step_of[])(const wk__step *, const strings *,
                               strings *) = {[WK__STEP_REPLACE] = replace,
                                             [WK__STEP_BYTES] = from_bytes,
                                             [WK__STEP_SPACES] = from_spaces,
                                             [WK__STEP_BYTE_TOKENS] = from_byte_tokens,
                                             [WK__STEP_FUSE] = fuse,
                                             [WK__STEP_STRIP] = strip,
                                             [WK__STEP_WORD_PIECES] = join_word_pieces};

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

static void take_tokens(const wk__tokenizer *t, const int64_t *ids, int64_t count, bool skip, strings *out)
{
    const bool spaced = t->bpe->decoder.count == 0; /* without a decoder tokens are separated by spaces */
    wk__text_add(&out->bytes, "");
    for (int64_t k = 0; k < count; k++) {
        const wk__added_token *added = wk__bpe_added(t, ids[k]);
        if (skip && added && added->special) continue;
        if (spaced && out->ends.count > 0) wk__text_add(&out->bytes, " ");
        const char *token = wk__vocabulary_token(&t->vocabulary, ids[k]);
        /* an added token that is searched in normalised text is decoded as such */
        wk__text_add(&out->bytes, added && added->normalized ? added->normalized : token);
        end_string(out);
    }
}

void wk__bpe_decode(const wk__tokenizer *t, const int64_t *ids, int64_t count, bool skip, wk__text *out)
{
    const wk__steps *decoder = &t->bpe->decoder;
    strings now = {0};
    take_tokens(t, ids, count, skip, &now);
    bool fine = !now.bytes.failed && !now.ends.failed;
    for (int k = 0; k < decoder->count && fine; k++) {
        strings next = {0};
        wk__text_add(&next.bytes, "");
        step_of[decoder->step[k].kind](&decoder->step[k], &now, &next);
        free_strings(&now);
        now = next;
        fine = !now.bytes.failed && !now.ends.failed;
    }
    if (fine) wk__text_add_n(out, now.bytes.data, now.bytes.length);
    if (!fine) out->failed = true;
    free_strings(&now);
}
