/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the op table as the generator sees them. A new op joins the random programs by having a row. */
#ifndef TESTS_RANDOM_ROWS_H
#define TESTS_RANDOM_ROWS_H

#include "ops/core/entries.h"
#include "program.h"
#include "references/reference.h"

typedef struct op_entry {
    const wk__op *op;
    const op_reference *known; /* what it computes, and calls to try */
    int parameters, tensors;   /* and how many of them are tensors that must be given */
    const wk_parameter *parameter;
    bool pointwise; /* all its tensors broadcast against each other */
    bool draws;     /* random numbers */
    bool writes;
} op_entry;

extern op_entry *op_entries; /* in the order of wk__ops */
extern int op_entry_count;
void op_entries_load(void);
/* Calls it: arguments in the order of its parameters, results into out[room]; how many, or -1. */
int op_entry_call(const op_entry *r, wk_site site, const wk_value *args, wk_tensor **out, int room);
/* The same in place: the target, which is the first argument, or NULL. */
wk_tensor *op_entry_call_in_place(const op_entry *r, wk_site site, const wk_value *args);

#endif
