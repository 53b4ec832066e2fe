/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers and their cells: declarations for constructors (rnn.c) and forward (rnn_forward.c, rnn_cell.c). */
#ifndef WICK_NN_RNN_H
#define WICK_NN_RNN_H

#include "module.h"
#include "ops/recurrence/recurrence.h"
#include <wick/nn_recurrent.h>

/* A kind of recurrent layer. */
typedef struct wk__rnn_kind {
    const char *name, *constructor; /* "gru", "nn_gru" */
    const wk__cell *cell;           /* for rnn, the tanh cell */
    bool is_rnn;                    /* .nonlinearity is an option */
    bool is_cell;                   /* one step, without layers and directions */
} wk__rnn_kind;

/* State of a layer or a cell (layers = directions = 1). Its parameters are the first items of the module: for each
 * layer and direction weight_ih, weight_hh, bias_ih, bias_hh, weight_hr, as far as there are. */
typedef struct wk__rnn {
    const wk__rnn_kind *kind;
    const wk__cell *cell;
    int64_t input, hidden; /* sizes */
    int64_t state;         /* size of h: hidden, or .proj_size */
    int64_t layers, directions;
    bool no_bias, batch_first;
    double dropout;
} wk__rnn;

/* The parameters of one layer and direction; NULL for those that it does not have. */
typedef struct wk__rnn_weights {
    wk_tensor *ih, *hh, *bias_ih, *bias_hh, *hr;
} wk__rnn_weights;
wk__rnn_weights wk__rnn_weights_of(wk_module *m, int64_t layer, int64_t direction);
/* Returns the number of tensors of a state: 2 for an LSTM, else 1. */
static inline int wk__rnn_states(const wk__rnn *rnn)
{
    return rnn->cell->has_c ? 2 : 1;
}

/* Implement forward of the modules. */
int wk__rnn_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs);
int wk__rnn_cell_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs);

#endif
