/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of predicted text: perplexity and BLEU. */
#include "base/alloc.h"
#include "tokenizer.h"
#include <math.h>
#include <string.h>

double wk_text_perplexity(double loss)
{
    return exp(loss);
}

/* The words of a string, as ids that both strings share. */
static bool take_words(const char *string, wk__vocabulary *words, wk__ids *ids)
{
    for (wk__span word; wk__next_listed(&string, &word);) {
        const int64_t id = wk__vocabulary_add(words, word.at, word.bytes);
        if (id < 0) return false;
        wk__ids_add(ids, id);
    }
    return !ids->failed;
}

/* Returns how many of the prediction's n-grams occur in the label; taken[i]: the one at i of the label is
 * matched already. */
static int64_t matches(const wk__ids *prediction, const wk__ids *label, int64_t n, bool *taken)
{
    int64_t found = 0;
    memset(taken, 0, (size_t)label->count);
    for (int64_t i = 0; i + n <= prediction->count; i++)
        for (int64_t j = 0; j + n <= label->count; j++) {
            if (taken[j] || memcmp(&prediction->at[i], &label->at[j], (size_t)n * sizeof *label->at) != 0) continue;
            taken[j] = true;
            found++;
            break;
        }
    return found;
}

static double score(const wk__ids *prediction, const wk__ids *label, int64_t k, bool *taken)
{
    if (prediction->count == 0) return 0;
    double result = exp(fmin(0, 1 - (double)label->count / (double)prediction->count));
    for (int64_t n = 1; n <= k && n <= prediction->count; n++) {
        const double share = (double)matches(prediction, label, n, taken) / (double)(prediction->count - n + 1);
        result *= pow(share, pow(0.5, (double)n));
    }
    return result;
}

double wk_text_bleu_at(wk_site site, const char *prediction, const char *label, int64_t k)
{
    static const char op[] = "text_bleu";
    if (!prediction || !label || k < 1) {
        if (prediction && label)
            wk__error_set(site, WK_ERR_ARGUMENT, "%s: k must be at least 1, got %lld", op, (long long)k);
        else
            wk__error_set(site, WK_ERR_ARGUMENT, "%s: the %s is NULL", op, prediction ? "label" : "prediction");
        return (double)NAN;
    }
    wk__vocabulary words = {0};
    wk__ids ids[2] = {{0}};
    bool fine = take_words(prediction, &words, &ids[0]) && take_words(label, &words, &ids[1]);
    bool *taken = fine ? wk__alloc_zero((size_t)ids[1].count + 1, sizeof *taken) : NULL;
    const double result = taken ? score(&ids[0], &ids[1], k, taken) : (double)NAN;
    fine = taken != NULL;
    wk__free(taken);
    wk__ids_free(&ids[0]);
    wk__ids_free(&ids[1]);
    wk__vocabulary_free(&words);
    if (!fine) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    return result;
}
