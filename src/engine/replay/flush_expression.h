/* SPDX-License-Identifier: Apache-2.0 */
/* What an op's expression writes into a program, as data: a file of a flush holds it instead of the op, so that a
 * replay needs no op and does again what the flush did, whatever the op means in a later version.
 *
 * An argument that is a register, an operand or an immediate is one of the record's inputs, -1 - k for input k, or was
 * written by the expression itself: instruction k, or immediate k of imm[]. */
#ifndef WICK_ENGINE_FLUSH_CODE_H
#define WICK_ENGINE_FLUSH_CODE_H

#include "engine/op_queue.h"

typedef struct wk__captured_expression {
    int nins, nimms;
    int16_t result; /* a register */
    wk__ins ins[WK__MAX_INS];
    wk__imm imm[WK__MAX_IMMS];
} wk__captured_expression;

/* An op that stands for another one in a replay. */
typedef struct wk__flush_op {
    wk__op op; /* first: its expression finds the code behind it */
    wk__captured_expression code;
} wk__flush_op;

/* What the expression of this record (of twins, or of any values) writes, if it has one; of one that reduces: what is
 * done with an element before. False when it writes what cannot be said so. */
bool wk__flush_capture(wk__record *r, wk__lowering *b, wk__captured_expression *code);
/* The expression of a wk__flush_op. */
wk__expression wk__flush_expression;
/* Can the code be run for a record with these inputs? Says nothing of classes and dtypes, which
 * wk__program_verify does. */
bool wk__flush_expression_is_valid(const wk__captured_expression *code, const wk__ref *in, int nin);

#endif
