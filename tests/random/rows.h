/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the op table as the generator sees them. A new op joins the random programs by having a row. */
#ifndef TESTS_RANDOM_ROWS_H
#define TESTS_RANDOM_ROWS_H

#include "ops/forms.h"
#include "program.h"
#include "references/reference.h"

typedef struct row {
    const wk__op *op;
    const op_reference *known; /* what it computes, and calls to try */
    int parameters, tensors;   /* and how many of them are tensors that must be given */
    const wk_parameter *parameter;
    bool pointwise; /* all its tensors broadcast against each other */
    bool draws;     /* random numbers */
    bool writes;
} row;

extern row *rows; /* in the order of wk__ops */
extern int row_count;
void rows_read(void);
/* Calls it: arguments in the order of its parameters, results into out[room]; how many, or -1. */
int row_call(const row *r, wk_site site, const wk_value *args, wk_tensor **out, int room);
/* The same in place: the target, which is the first argument, or NULL. */
wk_tensor *row_call_in_place(const row *r, wk_site site, const wk_value *args);

#endif
