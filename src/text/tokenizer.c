/* SPDX-License-Identifier: Apache-2.0 */
/* Tokenizers, their handles, and lists of ids; see tokenizer.h. */
#include "tokenizer.h"
#include "base/alloc.h"
#include "base/options.h"
#include "io/save_load.h"
#include "tensor/call_scope.h"
#include "unicode.h"
#include <string.h>
#include <wick/creation.h>

struct wk_text {
    wk__handle handle;
};

/* ---- lists of ids ------------------------------------------------------------------------------------------------ */

void wk__ids_add(wk__ids *ids, int64_t id)
{
    if (!ids->failed && !wk__grow(&ids->at, &ids->capacity, ids->count + 1, sizeof *ids->at)) ids->failed = true;
    if (!ids->failed) ids->at[ids->count++] = id;
}

void wk__ids_free(wk__ids *ids)
{
    wk__free(ids->at);
    *ids = (wk__ids){0};
}

wk_tensor *wk__ids_tensor(wk_site site, const int64_t *ids, int64_t count)
{
    static const int64_t none = 0;
    return wk_from_at(site, WK_I64, count > 0 ? ids : &none, (size_t)count * sizeof *ids, &count, 1);
}

int64_t *wk__ids_read(wk_site site, const char *op, wk_tensor *x, int64_t *count)
{
    const wk__body *body = wk__body_of(x);
    if (!(1u << body->dtype & WK__INTS)) {
        wk__tensor_refuse(site, WK_ERR_DTYPE, x, "; convert them: wk_to_dtype(ids, WK_I64)",
                          "%s: expected ids of an integer dtype", op);
        return NULL;
    }
    *count = wk_numel(x);
    int64_t *ids = wk__realloc(NULL, (size_t)*count + 1, sizeof *ids);
    if (!ids) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    wk_tensor *wide = ids && body->dtype != WK_I64 ? wk_to_dtype_at(site, x, WK_I64) : x;
    if (ids && wide && wk_read_at(site, wide, ids, (size_t)*count * sizeof *ids) == WK_OK) return ids;
    wk__free(ids);
    return NULL;
}

/* ---- tokenizers and their handles -------------------------------------------------------------------------------- */

wk__tokenizer *wk__tokenizer_new(const wk__tokenizer_kind *kind)
{
    wk__tokenizer *t = wk__alloc_zero(1, sizeof *t);
    if (!t) return NULL;
    t->kind = kind;
    t->unknown = -1;
    return t;
}

void wk__tokenizer_free(wk__tokenizer *t)
{
    if (!t) return;
    if (t->kind->destroy) t->kind->destroy(t);
    wk__vocabulary_free(&t->vocabulary);
    wk__ids_free(&t->ids);
    wk__attached_free(&t->strings);
    wk__free(t);
}

static void destroy(void *body)
{
    wk__tokenizer_free(body);
}

static const wk__handle_type text_type = {.name = "text", .destroy = destroy};

wk_text *wk__tokenizer_wrap(wk_site site, const char *op, wk__tokenizer *t, wk_code code, const wk__io_error *error)
{
    if (code == WK_OK) return wk__handle_wrap(site, &text_type, t, t != NULL, op);
    wk__tokenizer_free(t);
    wk__error_set(site, code, "%s: %s", op, error->text);
    return NULL;
}

wk__tokenizer *wk__tokenizer_of(const wk_text *text, wk_site site, const char *op)
{
    return wk__handle_check(text, &text_type, site, op, "the text") ? wk__handle_body(text) : NULL;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

wk_code wk__text_no_memory(wk__io_error *error)
{
    return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
}

wk_code wk__text_file_read(const char *path, wk__text *out, wk__io_error *error)
{
    wk__file file;
    wk_code code = wk__file_open(&file, path, error);
    if (code != WK_OK) return code;
    wk__text_repeat(out, ' ', file.bytes);
    code = out->failed ? wk__text_no_memory(error) : wk__file_read_at(&file, 0, out->data, file.bytes, error);
    wk__file_close(&file);
    return code;
}

wk_code wk__text_check(wk__span text, wk__io_error *error)
{
    const int64_t valid = wk__utf8_valid_bytes(text.at, text.bytes);
    const char *zero = valid > 0 ? memchr(text.at, 0, (size_t)valid) : NULL;
    if (zero)
        return wk__io_fail(error, WK_ERR_FORMAT, "the text contains the character zero (byte %lld)",
                           (long long)(zero - text.at));
    if (valid < text.bytes)
        return wk__io_fail(error, WK_ERR_FORMAT, "the text is not UTF-8: invalid byte 0x%02x (byte %lld)",
                           (unsigned)(unsigned char)text.at[valid], (long long)valid);
    return WK_OK;
}

bool wk__check_option_text(wk_site site, const char *op, const char *option, const char *string)
{
    const int64_t bytes = string ? (int64_t)strlen(string) : 0, valid = wk__utf8_valid_bytes(string, bytes);
    if (valid == bytes) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s is not UTF-8: invalid byte 0x%02x (byte %lld)", op, option,
                  (unsigned)(unsigned char)string[valid], (long long)valid);
    return false;
}

wk_code wk__vocabulary_full(const wk__vocabulary *v, int64_t bytes, const char *what, wk__io_error *error)
{
    if (v->count >= WK__VOCABULARY_MOST)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "the text has more than %d different %ss", WK__VOCABULARY_MOST,
                           what);
    if (bytes > INT32_MAX)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "a %s of the text has %lld bytes; expected at most %d", what,
                           (long long)bytes, INT32_MAX);
    return wk__text_no_memory(error);
}

bool wk__next_line(wk__span *rest, wk__span *line)
{
    if (rest->bytes == 0) return false;
    const char *const newline = memchr(rest->at, '\n', (size_t)rest->bytes);
    const int64_t bytes = newline ? newline - rest->at : rest->bytes, taken = bytes + (newline != NULL);
    *line = (wk__span){rest->at, bytes - (newline && bytes > 0 && newline[-1] == '\r')};
    *rest = (wk__span){rest->at + taken, rest->bytes - taken};
    return true;
}

bool wk__next_listed(const char **list, wk__span *token)
{
    const char *at = *list ? *list + strspn(*list, " ") : "";
    *token = (wk__span){at, (int64_t)strcspn(at, " ")};
    *list = at + token->bytes;
    return token->bytes > 0;
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

int64_t wk_text_vocabulary_at(wk_site site, const wk_text *text)
{
    const wk__tokenizer *t = text ? wk__tokenizer_of(text, site, "text_vocabulary") : NULL;
    return t ? t->vocabulary.count : 0;
}

/* Returns true if the vocabulary has the id; else records the error. */
static bool check_id(wk_site site, const char *op, const wk__tokenizer *t, int64_t id)
{
    if (wk__vocabulary_has(&t->vocabulary, id)) return true;
    wk__error_set(site, WK_ERR_INDEX, "%s: id %lld is not in the vocabulary of size %lld", op, (long long)id,
                  (long long)t->vocabulary.count);
    return false;
}

const char *wk_text_token_at(wk_site site, const wk_text *text, int64_t id)
{
    static const char op[] = "text_token";
    const wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    return t && check_id(site, op, t, id) ? wk__vocabulary_token(&t->vocabulary, id) : NULL;
}

int64_t wk_text_id_at(wk_site site, const wk_text *text, const char *token)
{
    static const char op[] = "text_id";
    const wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    if (t && !token) wk__error_set(site, WK_ERR_ARGUMENT, "%s: the token is NULL", op);
    if (!t || !token) return -1;
    const int64_t id = wk__vocabulary_find(&t->vocabulary, token, (int64_t)strlen(token));
    return id >= 0 ? id : t->unknown;
}

int64_t wk_text_frequency_at(wk_site site, const wk_text *text, int64_t id)
{
    static const char op[] = "text_frequency";
    const wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    return t && check_id(site, op, t, id) ? t->vocabulary.entry[id].frequency : 0;
}

wk_tensor *wk_text_ids_at(wk_site site, wk_text *text)
{
    static const char op[] = "text_ids";
    const wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    if (!t) return NULL;
    if (!t->has_ids) {
        wk__error_set(site, WK_ERR_STATE,
                      "%s: this vocabulary was loaded or trained and has no ids of a text; use wk_text_encode_file",
                      op);
        return NULL;
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, op, site);
    wk_tensor *ids = wk__ids_tensor(site, t->ids.at, t->ids.count);
    wk__frame_end(context, before);
    return ids;
}

/* ---- encoding and decoding --------------------------------------------------------------------------------------- */

/* Returns the ids of a text as a tensor, or NULL after recording an error. */
static wk_tensor *encode(wk_site site, const char *op, const wk__tokenizer *t, wk__span text, bool special)
{
    wk__ids ids = {0};
    wk__io_error error;
    wk_code code = wk__text_check(text, &error);
    if (code == WK_OK) code = t->kind->encode(t, text, special, &ids, &error);
    if (code == WK_OK && ids.failed) code = wk__text_no_memory(&error);
    wk_tensor *result = NULL;
    if (code == WK_OK)
        result = wk__ids_tensor(site, ids.at, ids.count);
    else
        wk__error_set(site, code, "%s: %s", op, error.text);
    wk__ids_free(&ids);
    return result;
}

wk_tensor *wk_text_encode_at(wk_site site, wk_text *text, const char *string, const wk_text_encode_options *options)
{
    static const char op[] = "text_encode";
    wk_text_encode_options o;
    const wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    if (!t || !wk__options(site, op, options, &o)) return NULL;
    if (!string) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the string is NULL", op);
        return NULL;
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, op, site);
    wk_tensor *ids =
        encode(site, op, t, (wk__span){string, (int64_t)strlen(string)}, wk__option_or(o.add_special_tokens, 1) != 0);
    wk__frame_end(context, before);
    return ids;
}

wk_tensor *wk_text_encode_file_at(wk_site site, wk_text *text, const char *path, const wk_text_encode_options *options)
{
    static const char op[] = "text_encode_file";
    wk_text_encode_options o;
    const wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    if (!t || !wk__options(site, op, options, &o) || !wk__check_path(site, op, path)) return NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, op, site);
    wk__text content = {0};
    wk__io_error error;
    wk_tensor *ids = NULL;
    const wk_code code = wk__text_file_read(path, &content, &error);
    if (code == WK_OK)
        ids =
            encode(site, op, t, (wk__span){content.data, content.length}, wk__option_or(o.add_special_tokens, 1) != 0);
    else
        wk__error_set(site, code, "%s: %s", op, error.text);
    wk__text_free(&content);
    wk__frame_end(context, before);
    return ids;
}

/* Decodes a tensor to new memory, or NULL after recording an error. */
static char *decode(wk_site site, const char *op, const wk__tokenizer *t, wk_tensor *x, bool skip, int64_t *length)
{
    int64_t count, bad = 0;
    int64_t *ids = wk__ids_read(site, op, x, &count);
    if (!ids) return NULL;
    while (bad < count && wk__vocabulary_has(&t->vocabulary, ids[bad])) bad++;
    wk__text text = {0};
    if (bad == count) {
        wk__text_add(&text, "");
        t->kind->decode(t, ids, count, skip, &text);
        if (text.failed) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    } else {
        check_id(site, op, t, ids[bad]);
    }
    wk__free(ids);
    if (text.failed) wk__text_free(&text);
    *length = text.length;
    return text.data;
}

const char *wk_text_decode_at(wk_site site, wk_text *text, wk_tensor *ids, const wk_text_decode_options *options)
{
    static const char op[] = "text_decode";
    wk_text_decode_options o;
    wk__call_scope c;
    wk__tokenizer *t = wk__tokenizer_of(text, site, op);
    if (!t || !wk__options(site, op, options, &o) || !wk__check_tensor(ids, site, op, "the ids") ||
        !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return NULL;
    int64_t length = 0;
    char *string = decode(site, op, t, ids, o.skip_special_tokens, &length);
    wk__call_end(&c, NULL, 0);
    const char *kept = string ? wk__attach(site, &t->strings, string) : NULL;
    if (string && !kept) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    if (kept && o.length) *o.length = length;
    return kept;
}
