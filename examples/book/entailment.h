/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that compare two sentences: pairs of a small grammar. */
#ifndef BOOK_ENTAILMENT_H
#define BOOK_ENTAILMENT_H

#include "classify.h"

enum { WORDS = 12 }; /* of a sentence, with padding */
enum { ENTAILMENT, CONTRADICTION, NEUTRAL, RELATIONS };

/* Pairs such as "a small dog is sleeping in the park ." and "a creature is sleeping .", with the relation of the
 * second, the hypothesis, to the first, the premise. x is (samples, 2, WORDS). */
texts new_pairs(void);
enum { CLS = 2, SEP, MASK }; /* further ids of the vocabulary, for BERT */

/* Prints the relation that the network sees in some pairs. Returns the exit status of the program. */
int compare(wk_module *net, const texts *pairs, const run *r);

#endif
