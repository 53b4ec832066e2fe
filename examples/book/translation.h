/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that translate English into French: sentences that a small grammar generates, the training
 * loop, greedy decoding, and BLEU of the translations. */
#ifndef BOOK_TRANSLATION_H
#define BOOK_TRANSLATION_H

#include "run.h"

enum { UNKNOWN, PAD, BOS, EOS };                 /* ids of the first tokens of both vocabularies */
enum { STEPS = 10, TRAINED = 600, TESTED = 60 }; /* ids of a sentence, with EOS; sentences to train and to test */

/* Sentences such as "she does not want the red car ." and their translations, "elle ne veut pas la voiture rouge .", in
 * random order. */
typedef struct sentences {
    wk_text *english, *french; /* vocabularies */
    int64_t words[2];          /* their sizes */
    wk_tensor *x, *y;          /* ids i64 (TRAINED + TESTED, STEPS): words, EOS, PAD */
} sentences;
sentences new_sentences(void);

/* Settings of the training. */
typedef struct training {
    const char *name;
    int64_t batch;
    double lr; /* of Adam; the norm of the gradients is clipped to 1 */
} training;

/* Trains a network on the first TRAINED sentences and prints its loss after some epochs; then translates the others,
 * and prints four of the translations and BLEU of these and of all. show_weights: also prints the attention weights of
 * the first. Returns the exit status of the program.
 *
 * The network takes English ids (N, STEPS) and French ids (N, t), which begin with BOS. It returns scores (N, t, French
 * words) of the word after each and, if a second output is requested, attention weights (N, t, STEPS). */
int train_translation(wk_module *net, const sentences *s, const training *how, const run *r, bool show_weights);

/* Initialises the matrices of recurrent and linear layers by wk_init_xavier_uniform_. */
void init_matrices(wk_module *net);

#endif
