/* SPDX-License-Identifier: Apache-2.0 */
/* Translation from English into French: the sentences, training, and BLEU of translations. */
#include "translation.h"
#include <string.h>

enum { SUBJECTS = 6, VERBS = 4, NOUNS = 6, ADJECTIVES = 5, ALL = SUBJECTS * VERBS * NOUNS * ADJECTIVES * 2 };
enum { SHUFFLE = 611 }; /* coprime to ALL, so that k * SHUFFLE % ALL is a permutation */
enum { LONGEST = 80, SHOWN = 4, NGRAM = 2 };

/* ---- the grammar ------------------------------------------------------------------------------------------------- */

typedef struct noun {
    const char *english, *article, *french;
    int feminine;
} noun;

static const char *const subjects[SUBJECTS][2] = {{"i", "je"},     {"you", "tu"},  {"he", "il"},
                                                  {"she", "elle"}, {"we", "nous"}, {"they", "ils"}};
static const char *const verbs[VERBS] = {"see", "want", "sell", "take"};
static const char *const conjugated[VERBS][SUBJECTS] = {
    {"vois", "vois", "voit", "voit", "voyons", "voient"},
    {"veux", "veux", "veut", "veut", "voulons", "veulent"},
    {"vends", "vends", "vend", "vend", "vendons", "vendent"},
    {"prends", "prends", "prend", "prend", "prenons", "prennent"},
};
static const noun nouns[NOUNS] = {{"car", "la", "voiture", 1}, {"house", "la", "maison", 1},
                                  {"table", "la", "table", 1}, {"book", "le", "livre", 0},
                                  {"dog", "le", "chien", 0},   {"bag", "le", "sac", 0}};
static const char *const adjectives[ADJECTIVES][3] = {{"red", "rouge", "rouge"},
                                                      {"green", "vert", "verte"},
                                                      {"white", "blanc", "blanche"},
                                                      {"black", "noir", "noire"},
                                                      {"grey", "gris", "grise"}};

/* Writes sentence number k in both languages. */
static void write_sentence(int k, char english[LONGEST], char french[LONGEST])
{
    const int negative = k % 2, who = k / 2 % SUBJECTS, what = k / (2 * SUBJECTS) % VERBS;
    const noun *thing = &nouns[k / (2 * SUBJECTS * VERBS) % NOUNS];
    const char *const *colour = adjectives[k / (2 * SUBJECTS * VERBS * NOUNS)];
    const bool third = who == 2 || who == 3;
    snprintf(english, LONGEST, "%s %s%s%s the %s %s .", subjects[who][0],
             negative ? third ? "does not " : "do not " : "", verbs[what], third && !negative ? "s" : "", colour[0],
             thing->english);
    snprintf(french, LONGEST, "%s %s%s %s%s %s %s .", subjects[who][1], negative ? "ne " : "", conjugated[what][who],
             negative ? "pas " : "", thing->article, thing->french, colour[1 + thing->feminine]);
}

sentences new_sentences(void)
{
    static char english[(TRAINED + TESTED) * LONGEST], french[(TRAINED + TESTED) * LONGEST];
    char *at[2] = {english, french};
    for (int k = 0; k < TRAINED + TESTED; k++) {
        char line[2][LONGEST];
        write_sentence(k * SHUFFLE % ALL, line[0], line[1]);
        for (int l = 0; l < 2; l++) at[l] += snprintf(at[l], LONGEST, k ? "\n%s" : "%s", line[l]);
    }
    sentences s = {.english = wk_text_words_of(english, .reserved_tokens = "<pad> <bos> <eos>"),
                   .french = wk_text_words_of(french, .reserved_tokens = "<pad> <bos> <eos>")};
    s.words[0] = wk_text_vocabulary(s.english);
    s.words[1] = wk_text_vocabulary(s.french);
    s.x = wk_text_encode_lines(s.english, english, .end = "<eos>", .length = STEPS);
    s.y = wk_text_encode_lines(s.french, french, .end = "<eos>", .length = STEPS);
    return s;
}

void init_matrices(wk_module *net)
{
    WK_NO_GRAD;
    wk_tensors *parameters = wk_parameters(net);
    for (int k = 0; k < wk_tensors_count(parameters); k++)
        if (wk_ndim(wk_tensors_get(parameters, k)) == 2 && !strstr(wk_tensors_name(parameters, k), "embedding"))
            wk_init_xavier_uniform_(wk_tensors_get(parameters, k));
}

/* ---- translation ------------------------------------------------------------------------------------------------- */

/* Translates English ids (N, STEPS) by greedy decoding: appends the most likely word, STEPS times. Returns French ids
 * (N, STEPS). Sets *weights to the attention weights (N, STEPS, STEPS) unless weights is NULL. */
static wk_tensor *translate(wk_module *net, wk_tensor *x, wk_tensor **weights)
{
    wk_tensor *y = wk_full((wk_size(x, 0), 1), BOS, .device = wk_device_of(x));
    for (int t = 0; t < STEPS; t++) {
        wk_tensor *out[2] = {NULL};
        wk_forward_n(net, (x, y), out, weights ? 2 : 1);
        y = wk_cat((y, wk_argmax(wk_narrow(out[0], 1, -1, 1), 2)), 1);
        if (weights) *weights = out[1];
    }
    return wk_narrow(y, 1, 1, STEPS);
}

/* Returns the text of a row of ids, up to EOS. */
static const char *words(wk_text *text, wk_tensor *row)
{
    int64_t ids[STEPS] = {0}, count = 0;
    wk_read(row, ids, sizeof ids);
    while (count < STEPS && ids[count] != EOS) count++;
    return wk_text_decode(text, wk_narrow(row, 0, 0, count));
}

/* Prints a translation and, unless weights (STEPS, STEPS) is NULL, a table of the attention weights in per cent. */
static void show(const sentences *s, wk_tensor *x, wk_tensor *y, wk_tensor *weights, double bleu)
{
    printf("%s => %s, bleu %.3f\n", words(s->english, x), words(s->french, y), bleu);
    if (!weights) return;
    float w[STEPS][STEPS] = {{0}};
    int64_t from[STEPS] = {0}, to[STEPS] = {0};
    wk_read(weights, w, sizeof w);
    wk_read(x, from, sizeof from);
    wk_read(y, to, sizeof to);
    printf("%10s", "");
    for (int k = 0; k < STEPS && from[k] != PAD; k++) printf("%6s", wk_text_token(s->english, from[k]));
    for (int t = 0; t < STEPS && to[t] != EOS; t++) {
        printf("\n%10s", wk_text_token(s->french, to[t]));
        for (int k = 0; k < STEPS && from[k] != PAD; k++) printf("%5.0f%%", 100 * (double)w[t][k]);
    }
    printf("\n");
}

/* Translates the test sentences and prints the first SHOWN of them. Sets *of_shown and *of_all to the mean BLEU of
 * those and of all. */
static void test(wk_module *net, const sentences *s, const run *r, bool show_weights, double *of_shown, double *of_all)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module_train(net, false);
    wk_tensor *x = wk_narrow(s->x, 0, TRAINED, TESTED), *label = wk_narrow(s->y, 0, TRAINED, TESTED), *weights = NULL;
    wk_tensor *y = wk_to(translate(net, wk_to(x, r->device), show_weights ? &weights : NULL), wk_cpu());
    *of_shown = *of_all = 0;
    for (int k = 0; k < TESTED && !wk_error(); k++) {
        wk_tensor *row = wk_select(y, 0, k);
        const double bleu = wk_text_bleu(words(s->french, row), words(s->french, wk_select(label, 0, k)), NGRAM);
        *of_all += bleu / TESTED;
        if (k >= SHOWN) continue;
        *of_shown += bleu / SHOWN;
        show(s, wk_select(x, 0, k), row, weights && !k ? wk_select(weights, 0, k) : NULL, bleu);
    }
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* Takes a training step. Returns the mean loss per token, without padding. The network predicts each word from the
 * correct words before it (teacher forcing). */
static wk_tensor *step(wk_module *net, wk_optim *adam, const wk_batch *batch, int64_t count)
{
    wk_tensor *begin = wk_full((wk_size(batch->y, 0), 1), BOS, .device = wk_device_of(batch->y));
    wk_tensor *before = wk_cat((begin, wk_narrow(batch->y, 1, 0, STEPS - 1)), 1), *scores;
    wk_forward_n(net, (batch->x, before), &scores, 1);
    wk_tensor *loss =
        wk_cross_entropy(wk_reshape(scores, (-1, count)), wk_reshape(batch->y, (-1)), .ignore_index = PAD);
    wk_optim_zero_grad(adam);
    wk_backward(loss);
    wk_clip_grad_norm_(wk_parameters(net), 1.0);
    wk_optim_step(adam);
    return loss;
}

int train_translation(wk_module *net, const sentences *s, const training *how, const run *r, bool show_weights)
{
    WK_SCOPE;
    wk_module_to(net, r->device);
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = how->lr);
    wk_dataset *train_set = wk_data_slice(wk_data_tensors(s->x, s->y), 0, TRAINED);
    wk_loader *batches =
        wk_data_loader(train_set, .batch_size = how->batch, .shuffle = true, .seed = r->seed, .device = r->device);
    wk_history *curve = wk_history_new();
    printf("%s: %lld parameters, %d sentences, batches of %lld, learning rate %g\n", how->name,
           (long long)wk_parameter_count(net), TRAINED, (long long)how->batch, how->lr);
    double spent = 0, last = 0;
    for (int epoch = 1; epoch <= r->epochs && !wk_error(); epoch++) {
        WK_SCOPE;
        wk_history *losses = wk_history_new();
        const double begin = seconds();
        WK_EACH(batch, batches) wk_history_add(losses, step(net, adam, batch, s->words[1]));
        last = wk_history_mean(losses);
        spent += seconds() - begin;
        wk_history_add(curve, wk_full((), last));
        if (is_reported(epoch, r->epochs)) printf("epoch %d  loss %.4f\n", epoch, last);
    }
    save_curve(r, how->name, "loss", curve);
    double of_shown = 0, of_all = 0;
    test(net, s, r, show_weights, &of_shown, &of_all);
    if (wk_error()) return wk_report_error(stderr);
    const int64_t tokens = wk_item_i64(wk_sum(wk_to_dtype(wk_ne(wk_narrow(s->y, 0, 0, TRAINED), PAD), WK_I64)));
    printf("%.1f tokens/sec on %s\n", (double)(tokens * r->epochs) / spent, wk_device_str(r->device));
    printf("result: loss %.4f, BLEU %.3f on %d sentences, %.3f on %d\n", last, of_shown, SHOWN, of_all, TESTED);
    return wk_report_error(stderr);
}
