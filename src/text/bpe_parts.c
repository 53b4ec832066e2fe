/* SPDX-License-Identifier: Apache-2.0 */
/* Vocabularies and merges of files; see bpe_parts.h. */
#include "bpe_parts.h"
#include "base/alloc.h"
#include <string.h>

void wk__bpe_parts_free(wk__bpe_parts *parts)
{
    wk__free(parts->token);
    wk__free(parts->merge);
    *parts = (wk__bpe_parts){0};
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

wk_code wk__bpe_parts_add_token(wk__bpe_parts *parts, const char *token, int64_t id, wk__io_error *error)
{
    if (!wk__grow(&parts->token, &parts->token_capacity, parts->tokens + 1, sizeof *parts->token))
        return wk__text_no_memory(error);
    parts->token[parts->tokens++] = (wk__listed_token){token, id};
    return WK_OK;
}

wk_code wk__bpe_parts_read_vocab(wk__json *json, void *into, wk__io_error *error)
{
    wk__bpe_parts *parts = into;
    wk_code code = wk__json_expect(json, '{', error);
    for (bool first = true, more; code == WK_OK; first = false) {
        wk__listed_token item;
        if ((code = wk__json_item(json, '}', first, &more, error)) != WK_OK || !more) return code;
        code = wk__json_string(json, &item.token, error);
        if (code == WK_OK) code = wk__json_expect(json, ':', error);
        if (code == WK_OK) code = wk__json_integer(json, &item.id, error);
        if (code == WK_OK) code = wk__bpe_parts_add_token(parts, item.token, item.id, error);
    }
    return code;
}

wk_code wk__bpe_parts_add_merge(wk__bpe_parts *parts, char *merge, wk__io_error *error)
{
    char *space = strchr(merge, ' ');
    if (!space || space == merge || !space[1] || strchr(space + 1, ' '))
        return wk__io_fail(error, WK_ERR_FORMAT, "merge %lld is \"%s\", not two tokens with a space between them",
                           (long long)parts->merges, wk__printable_name(merge).text);
    if (!wk__grow(&parts->merge, &parts->merge_capacity, parts->merges + 1, sizeof *parts->merge))
        return wk__text_no_memory(error);
    *space = '\0';
    parts->merge[parts->merges++] = (wk__listed_merge){merge, space + 1};
    return WK_OK;
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

static wk_code build_vocabulary(const wk__bpe_parts *parts, wk__vocabulary *v, wk__io_error *error)
{
    /* Gaps between ids take memory too; the limit keeps it in proportion to the file. */
    const int64_t limit = 2 * parts->tokens + 1024;
    for (int64_t k = 0; k < parts->tokens; k++) {
        const wk__listed_token *item = &parts->token[k];
        const int64_t length = (int64_t)strlen(item->token);
        const char *problem = item->id >= limit || item->id >= WK__VOCABULARY_MOST ? "is too large"
                              : wk__vocabulary_has(v, item->id)                    ? "belongs to two tokens"
                              : length == 0                                        ? "has an empty token"
                              : wk__vocabulary_find(v, item->token, length) >= 0   ? "has a token that occurs twice"
                                                                                   : NULL;
        if (problem)
            return wk__io_fail(error, WK_ERR_FORMAT, "id %lld %s: \"%s\"", (long long)item->id, problem,
                               wk__printable_name(item->token).text);
        if (!wk__vocabulary_put(v, item->id, item->token, length)) return wk__text_no_memory(error);
    }
    return WK_OK;
}

static int64_t find(const wk__vocabulary *v, const char *token)
{
    return wk__vocabulary_find(v, token, (int64_t)strlen(token));
}

/* Adds merge k; `joined` is memory for its token. */
static wk_code build_merge(const wk__listed_merge *merge, int64_t k, wk__tokenizer *t, wk__text *joined,
                           wk__io_error *error)
{
    bool known = false;
    joined->length = 0;
    wk__text_add(joined, merge->left);
    wk__text_add(joined, merge->right);
    if (joined->failed) return wk__text_no_memory(error);
    const int64_t left = find(&t->vocabulary, merge->left), right = find(&t->vocabulary, merge->right);
    const int64_t to = wk__vocabulary_find(&t->vocabulary, joined->data, joined->length);
    const char *missing = left < 0 ? merge->left : right < 0 ? merge->right : to < 0 ? joined->data : NULL;
    if (missing)
        return wk__io_fail(error, WK_ERR_FORMAT, "merge %lld: the token \"%s\" is not in the vocabulary", (long long)k,
                           wk__printable_name(missing).text);
    if (wk__merges_add(&t->bpe->merges, (wk__merge){(int32_t)left, (int32_t)right, (int32_t)to}, &known)) return WK_OK;
    return known ? wk__io_fail(error, WK_ERR_FORMAT, "merge %lld occurs twice: \"%s\" and \"%s\"", (long long)k,
                               wk__printable_name(merge->left).text, wk__printable_name(merge->right).text)
                 : wk__text_no_memory(error);
}

wk_code wk__bpe_parts_build(const wk__bpe_parts *parts, wk__tokenizer *t, wk__io_error *error)
{
    wk__text joined = {0};
    wk_code code = build_vocabulary(parts, &t->vocabulary, error);
    for (int64_t k = 0; k < parts->merges && code == WK_OK; k++)
        code = build_merge(&parts->merge[k], k, t, &joined, error);
    wk__text_free(&joined);
    return code;
}
