/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions that an op's expression emits, as data: flush files contain them instead of the op, so that a replay
 * needs no ops and repeats the computation even if a later version changes the op.
 *
 * Arguments that are registers, operands or immediates refer either to input k of the record, as -1 - k, or to
 * something that the expression itself emits: instruction k, or immediate k of imm[]. */
#ifndef WICK_ENGINE_REPLAY_FLUSH_EXPRESSION_H
#define WICK_ENGINE_REPLAY_FLUSH_EXPRESSION_H

#include "engine/op_queue.h"

typedef struct wk__captured_expression {
    int nins, nimms;
    int16_t result; /* a register */
    wk__ins ins[WK__MAX_INS];
    wk__imm imm[WK__MAX_IMMS];
} wk__captured_expression;

/* An op that replaces the original one in a replay. */
typedef struct wk__flush_op {
    wk__op op; /* first member: the expression converts its address to a wk__flush_op */
    wk__captured_expression code;
} wk__flush_op;

/* Captures the instructions that the expression of this record emits, if it has one; for a reducing record, those
 * before the reduction. The record's values may be shadows or any others. Returns false if they cannot be
 * represented. */
bool wk__flush_capture(wk__record *r, wk__lowering *b, wk__captured_expression *code);
/* Expression of a wk__flush_op. */
wk__expression wk__flush_expression;
/* Returns true if the code can be emitted for a record with these inputs. wk__program_verify() checks classes and
 * dtypes. */
bool wk__flush_expression_is_valid(const wk__captured_expression *code, const wk__ref *in, int nin);

#endif
