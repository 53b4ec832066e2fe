/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that classify the relation of two sentences: pairs that a small grammar generates, and
 * predictions for pairs. */
#ifndef BOOK_ENTAILMENT_H
#define BOOK_ENTAILMENT_H

#include "classify.h"

enum { WORDS = 12 };         /* ids of a sentence, with padding */
enum { CLS = 2, SEP, MASK }; /* ids of the special tokens of BERT */
enum { ENTAILMENT, CONTRADICTION, NEUTRAL, RELATIONS };

/* Returns pairs of a premise and a hypothesis, such as "a small dog is sleeping in the park ." and "a creature is
 * sleeping .", with their relations as labels. x has the shape (samples, 2, WORDS). */
texts new_pairs(void);

/* Prints the relations that a network predicts for some pairs. Returns the exit status of the program. */
int predict_relations(wk_module *net, const texts *pairs, const run *r);

#endif
