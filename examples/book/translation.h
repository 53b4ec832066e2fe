/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that translate English into French: sentences of a small grammar, the training loop,
 * translation word by word, and its score. */
#ifndef BOOK_TRANSLATION_H
#define BOOK_TRANSLATION_H

#include "run.h"

enum { UNKNOWN, PAD, BOS, EOS };                 /* ids of the first tokens of both vocabularies */
enum { STEPS = 10, TRAINED = 600, TESTED = 60 }; /* tokens of a sentence with its end; sentences of the two parts */

/* Sentences such as "she does not want the red car ." with "elle ne veut pas la voiture rouge .", in random order. */
typedef struct sentences {
    wk_text *english, *french; /* vocabularies */
    int64_t words[2];          /* their sizes */
    wk_tensor *x, *y;          /* ids i64 (TRAINED + TESTED, STEPS): words, EOS, PAD */
} sentences;
sentences new_sentences(void);

/* How a network is trained. */
typedef struct training {
    const char *name;
    int64_t batch;
    double lr; /* of Adam; the norm of gradients is clipped at 1 */
} training;

/* Trains a network on the first TRAINED sentences, prints its loss from time to time, and translates four of the
 * others; prints BLEU for them and for all others. The network takes English ids (N, STEPS) and the first t words
 * in French, from BOS on, (N, t), and returns scores (N, t, French words) of the words after each; a second output,
 * if it is asked for, are the weights of its attention (N, t, STEPS). Returns the exit status of the program. */
int train_translation(wk_module *net, const sentences *s, const training *how, const run *r, bool show_weights);

/* Sets matrices of recurrent and linear layers to Xavier's initial values. */
void init_matrices(wk_module *net);

#endif
