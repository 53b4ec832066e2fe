/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a wk_sizes: one number for all dimensions, or a number for each. */
#ifndef WICK_BASE_SIZES_H
#define WICK_BASE_SIZES_H

#include <wick/core.h>

enum { WK__MAX_SIZES = 3 };

/* A description of an argument of sizes, for wk__sizes_read(). */
typedef struct wk__sizes_rule {
    const char *name; /* "stride" */
    int64_t usual;    /* value that replaces 0, an omitted size */
    int64_t least;    /* the least valid number */
    bool is_kernel;   /* an argument by position, written (5, 3); else an option, WK_PAIR(5, 3) */
    bool pads;        /* WK_SAME and WK_VALID are valid; the caller checks for them first */
} wk__sizes_rule;

/* The rules of windows: a stride and a dilation are 1 if omitted, a padding is 0. */
extern const wk__sizes_rule wk__kernel_rule, wk__stride_rule, wk__padding_rule, wk__dilation_rule;

/* Stores the numbers of count dimensions, 1 to 3, in size[]. Returns false and records the error if the number of
 * sizes is another, or one of them is less than rule->least. */
bool wk__sizes_read(wk_site site, const char *op, const wk__sizes_rule *rule, wk_sizes given, int count,
                    int64_t size[]);
/* Returns how many numbers a valid value has: 1, one for all dimensions, to 3. */
int wk__sizes_count(wk_sizes given);

/* Returns the end of a message about an input of `ndim` dimensions where `least` are needed: a proposal if one is
 * missing, else "". */
const char *wk__unsqueeze_hint(int ndim, int least);

#endif
