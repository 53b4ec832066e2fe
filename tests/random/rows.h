/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the op table as the generator sees them: the parameters that a schema names, and the form in place. A new
 * op joins the random programs by having a row. */
#ifndef TESTS_RANDOM_ROWS_H
#define TESTS_RANDOM_ROWS_H

#include "ops/forms.h"
#include "program.h"
#include "references/reference.h"

typedef enum parameter_type {
    TYPE_TENSOR,
    TYPE_INT,
    TYPE_FLOAT,
    TYPE_SCALAR,
    TYPE_BOOL,
    TYPE_DTYPE,
    TYPE_DEVICE,
    TYPE_TEXT
} parameter_type;

/* "int[]? dim=None" */
typedef struct parameter {
    char name[24];
    parameter_type type;
    bool list, optional, keyword;
    bool written; /* "Tensor(a!) self" */
    bool number;  /* a tensor that may be a plain number */
} parameter;

typedef void any_form(void);
/* The form in place of an op: args as the op's own, args[0] is the target. */
typedef wk_tensor *in_place_form(wk_site site, const wk_value *args);

typedef struct row {
    const wk__op *op;
    const op_reference *known; /* what it computes, and calls to try */
    int parameters, tensors;   /* and how many of them are tensors that must be given */
    parameter parameter[MOST_ARGUMENTS];
    bool pointwise; /* all its tensors broadcast against each other */
    bool view;
    bool draws; /* random numbers */
    bool writes;
    any_form *unary, *binary, *binary_f, *binary_i; /* wk_NAME__at of one or two operands, if there is one */
    in_place_form *in_place;                        /* of other signatures */
} row;

extern row *rows; /* in the order of wk__ops */
extern int row_count;
/* Reads the table; false, with what is wrong on stderr, when a schema is not understood. */
bool rows_read(void);
/* Has it a form in place? */
static inline bool row_in_place(const row *r)
{
    return r->unary || r->binary || r->in_place;
}
/* Calls it: arguments in the order of the schema, results into out[]; how many, or -1. */
int row_call(const row *r, wk_site site, const wk_value *args, wk_tensor **out);
wk_tensor *row_call_in_place(const row *r, wk_site site, const wk_value *args);

#endif
