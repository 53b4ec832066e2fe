/* SPDX-License-Identifier: Apache-2.0 */
/* The op table as the generator uses it. New ops take part in random programs without further changes. */
#ifndef TESTS_RANDOM_OP_ENTRIES_H
#define TESTS_RANDOM_OP_ENTRIES_H

#include "ops/core/entries.h"
#include "program.h"
#include "references/reference.h"

typedef struct op_entry {
    const wk__op *op;
    const op_reference *known; /* reference and samples */
    int parameters, tensors;   /* tensors: those that must be given */
    const wk_parameter *parameter;
    bool pointwise; /* all its tensors broadcast with each other */
    bool draws;     /* draws random values */
    bool writes;
} op_entry;

extern op_entry *op_entries; /* in the order of wk__ops */
extern int op_entry_count;
void op_entries_load(void);
/* Calls the op: arguments in the order of its parameters, results in out[room]. Returns their number, or -1. */
int op_entry_call(const op_entry *r, wk_site site, const wk_value *args, wk_tensor **out, int room);
/* Calls it in place; returns the target, which is the first argument, or NULL. */
wk_tensor *op_entry_call_in_place(const op_entry *r, wk_site site, const wk_value *args);

#endif
