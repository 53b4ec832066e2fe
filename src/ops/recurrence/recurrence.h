/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrence over a sequence: one direction of one layer, all steps in one differentiable call.
 *
 * Sequences are packed: the rows of step t are those of the sequences that are longer than t, the longest first, and
 * steps follow each other.
 *
 *     lengths 3 2 1    rows  a0 b0 c0 | a1 b1 | a2      row[] = 0 3 5 6
 *
 * The products of the input with its weight, for all steps, are an operand. A step then multiplies the state by its
 * weight and continues with elementwise ops. Backward runs the steps in the opposite order; the gradient of the weight
 * is one product over the rows of all steps. The weight is arranged once per call for the products of all steps
 * (step_product.c).
 *
 *     H hidden size, G gates (RNN 1, GRU 3, LSTM 4), R rows of all steps, B rows of the first step
 *
 * Backward with create_graph computes the gates again from operands and results, and all that follows with recorded
 * calls, so that it is differentiable. */
#ifndef WICK_OPS_RECURRENCE_H
#define WICK_OPS_RECURRENCE_H

#include "ops/core/compose.h"
#include "ops/core/entries.h"

/* The rows of each step. Reference-counted: a node keeps it for backward. */
typedef struct wk__steps {
    atomic_int refs;
    bool reverse; /* step 0 is the last one */
    int64_t count;
    int64_t row[]; /* [count + 1]: rows of step t are row[t] to row[t + 1] - 1 */
} wk__steps;
/* Creates `count` steps, at least 1, with these rows, which do not grow. NULL on error. */
wk__steps *wk__steps_new(wk_site site, const int64_t *rows, int64_t count, bool reverse);
/* The same with equal rows. */
wk__steps *wk__steps_equal(wk_site site, int64_t rows, int64_t count, bool reverse);
void wk__steps_drop(wk__steps *steps);
static inline int64_t wk__steps_rows(const wk__steps *steps, int64_t t)
{
    return steps->row[t + 1] - steps->row[t];
}
/* Returns the state (B, H) after the last step of each sequence, from the states after all steps (R, H). */
wk_tensor *wk__steps_final(const wk__steps *steps, wk_tensor *states);
/* Returns the states before all steps (R, H), from the initial state and those after all steps. */
wk_tensor *wk__steps_previous(const wk__steps *steps, wk_tensor *initial, wk_tensor *states);

enum { WK__RNN_GATES = 4 };

/* A step, forward or backward. Tensors are (rows, H) unless stated otherwise; NULL after an error. */
typedef struct wk__cell_step {
    wk_tensor *x[WK__RNN_GATES];       /* product of the input, by gate */
    wk_tensor *product[WK__RNN_GATES]; /* product of the state, by gate */
    wk_tensor *bias;                   /* GRU: (H), added to product[2]; NULL: none */
    wk_tensor *h, *c;                  /* states before the step; c: LSTM only */
    wk_tensor *next_h, *next_c;        /* states after it */
    wk_tensor *kept[WK__RNN_GATES];    /* values for backward */
    /* backward */
    wk_tensor *grad_h, *grad_c;             /* in: gradients of the states after the step; grad_c may be NULL. Out: */
                                            /* those of the states before it, without the product; may be NULL */
    wk_tensor *grad_x[WK__RNN_GATES];       /* out */
    wk_tensor *grad_product[WK__RNN_GATES]; /* out; only of cells with separate_product */
} wk__cell_step;

/* A kind of cell. */
typedef struct wk__cell {
    const wk__op *op;
    int gates, kept;
    bool has_c;            /* a second state, whose values after all steps are result 1 */
    bool separate_product; /* the gradient of the product differs from that of x */
    void (*forward)(wk__cell_step *s);
    void (*backward)(wk__cell_step *s);
} wk__cell;
extern const wk__cell wk__cell_rnn_tanh, wk__cell_rnn_relu, wk__cell_gru, wk__cell_lstm;

/* Operands and results of a sequence. */
typedef struct wk__sequence {
    const wk__cell *cell;
    wk__steps *steps;
    wk_tensor *x;      /* (R, G H) */
    wk_tensor *h;      /* (B, H) */
    bool from_zero;    /* h is 0 */
    wk_tensor *weight; /* (G H, H) */
    wk_tensor *extra;  /* LSTM: c (B, H); GRU: bias (H) of the product of the last gate, or NULL */
    wk_tensor *states; /* out: h after all steps (R, H) */
    wk_tensor *cells;  /* out: c after all steps (R, H); LSTM only */
} wk__sequence;
/* Runs the steps and attaches the node. Shapes are the caller's responsibility. Returns false and records the error on
 * failure. */
bool wk__sequence_run(wk_site site, wk__sequence *s);
/* The same for an LSTM whose state is the product of that of the cell with a projection (P, H), by recorded calls: h
 * (B, P), weight (G H, P), states (R, P). */
bool wk__sequence_run_projected(wk_site site, wk__sequence *s, wk_tensor *projection);
/* Runs one step with recorded calls: splits x and product, (rows, G H), by gate and sets next_h, next_c and kept. */
void wk__cell_run(const wk__cell *cell, wk_tensor *x, wk_tensor *product, wk__cell_step *s);
/* Gradient of a sequence's node. */
void wk__sequence_gradient(wk__grad_ctx *g, const wk__cell *cell);

/* ---- used by sequence.c ------------------------------------------------------------------------------------------ */

/* A weight (K, N), arranged for many products by few rows. */
typedef struct wk__step_weight {
    wk_tensor *matrix; /* (K, N), or panels (N / width, K, width) */
    int64_t columns;   /* N */
    bool panels;
} wk__step_weight;
wk__step_weight wk__step_weight_of(wk_site site, wk_tensor *weight, int64_t rows, bool differentiable);
/* Returns x weight, (rows, N). */
wk_tensor *wk__step_product(const wk__op *op, wk_site site, wk_tensor *x, const wk__step_weight *weight);

/* A matrix that is written step by step: columns are `parts` tensors of equal width side by side. Differentiable ones
 * are joined at the end, others are written as soon as a part is there. */
typedef struct wk__step_rows {
    const wk__op *op;
    wk_site site;
    const wk__steps *steps;
    int64_t width;         /* of all parts */
    const wk_tensor *like; /* dtype and device */
    wk_tensor *matrix;     /* NULL before the first part */
    wk_tensor **piece;     /* [steps]: differentiable; owned array */
} wk__step_rows;
bool wk__step_rows_begin(wk__step_rows *m, const wk__op *op, wk_site site, const wk__steps *steps, int64_t width,
                         const wk_tensor *like, bool differentiable);
/* Writes the rows of step t. Returns them as one tensor; NULL on error. A caller that opens a scope must keep `matrix`
 * and the returned tensor. */
wk_tensor *wk__step_rows_put(wk__step_rows *m, int64_t t, wk_tensor *const part[], int parts);
/* Returns the matrix; NULL on error. Must be called after a successful begin. */
wk_tensor *wk__step_rows_end(wk__step_rows *m);

#endif
