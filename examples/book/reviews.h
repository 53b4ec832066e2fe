/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that classify reviews as favourable or unfavourable: reviews that a small grammar generates,
 * and predictions for sentences. */
#ifndef BOOK_REVIEWS_H
#define BOOK_REVIEWS_H

#include "classify.h"

enum { WORDS = 40 }; /* ids of a review, with padding */

/* Returns reviews of 3 or 5 sentences such as "the plot was not really boring .". The label is 1 if most of the
 * sentences are favourable, else 0. */
texts new_reviews(void);

/* Prints the predictions of a network for some sentences. Returns the exit status of the program. */
int predict_reviews(wk_module *net, const texts *reviews, const run *r);

#endif
