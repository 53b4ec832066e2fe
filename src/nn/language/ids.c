/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the ids of language models: their form, and tokens that a model lacks. */
#include "language.h"
#include "ops/index/index_check.h"
#include <stdarg.h>
#include <string.h>

bool wk__ids_refuse(wk_site site, const wk_tensor *ids, unsigned dtypes, const char *format, ...)
{
    const wk__body *body = wk__body_of(ids);
    const bool converted = 1u << body->dtype & dtypes;
    const char *fix = !converted        ? "; convert them: wk_to_dtype(ids, WK_I64)"
                      : body->ndim == 1 ? "; use wk_unsqueeze(ids, 0) for one row"
                                        : "";
    wk__text expected = {0};
    va_list args;
    va_start(args, format);
    wk__text_vformat(&expected, format, args);
    va_end(args);
    wk__tensor_refuse(site, converted ? WK_ERR_SHAPE : WK_ERR_DTYPE, ids, fix, "%s",
                      expected.data ? expected.data : "");
    wk__text_free(&expected);
    return false;
}

int64_t wk__ids_bound(wk_module *embedding)
{
    const wk__module *body = wk__module_of(embedding);
    if (!body->builtin || strcmp(body->kind.name, "embedding") != 0) return INT64_MAX;
    const wk_tensor *weight = wk_module_parameter(embedding, "weight");
    return weight ? wk_size(weight, 0) : INT64_MAX;
}

bool wk__ids_check(wk_site site, const char *name, const wk_tensor *ids, int64_t bound)
{
    int64_t bad;
    if (!wk__find_index_out_of_range(ids, 0, bound, NULL, &bad)) return true;
    if (bad < 0)
        wk__error_set(site, WK_ERR_INDEX,
                      "%s: token %lld is negative; use a token of the vocabulary, for padding as well", name,
                      (long long)bad);
    else
        wk__error_set(site, WK_ERR_INDEX,
                      "%s: token %lld is not in the model, which has %lld tokens (valid: [0, %lld)); encode texts with "
                      "the vocabulary of this model",
                      name, (long long)bad, (long long)bound, (long long)bound);
    return false;
}

bool wk__ids_check_of(wk_site site, const char *op, const wk_module *net, const wk_tensor *ids)
{
    const wk__language *l = wk__language_find(net);
    return wk__ids_check(site, op, ids, l ? wk__language_bound(l) : INT64_MAX);
}
