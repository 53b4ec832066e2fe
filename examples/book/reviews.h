/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that tell good from bad reviews: reviews of a small grammar, and the label of a sentence. */
#ifndef BOOK_REVIEWS_H
#define BOOK_REVIEWS_H

#include "classify.h"

enum { WORDS = 40 }; /* of a review, with padding */

/* Reviews of 3 to 7 sentences such as "the plot was not really boring .". Label 1 if most are favourable, else 0. */
texts new_reviews(void);

/* Prints what the network says of some sentences. Returns the exit status of the program. */
int judge(wk_module *net, const texts *reviews, const run *r);

#endif
