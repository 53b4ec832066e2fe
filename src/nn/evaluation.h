/* SPDX-License-Identifier: Apache-2.0 */
/* Calling a network in evaluation mode in the middle of its training. */
#ifndef WICK_NN_EVALUATION_H
#define WICK_NN_EVALUATION_H

#include "module.h"

/* Sets m and all modules below it to evaluation. Returns the token of a guard that restores their modes when it is
 * closed, also if an error handler leaves the code in between by longjmp; 0 after recording an error of `op`. */
uint64_t wk__evaluation_open(wk_site site, const char *op, wk_module *m);

#endif
