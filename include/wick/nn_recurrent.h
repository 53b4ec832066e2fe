/* SPDX-License-Identifier: Apache-2.0 */
/* wick/nn_recurrent.h: recurrent layers and their cells, and packed sequences.
 *
 *     wk_module *gru = wk_nn_gru(28, 256);
 *     wk_tensor *y = wk_forward(gru, x);                           // x (steps, batch, 28), state 0
 *     wk_tensor *h, *next = wk_rnn_forward(gru, x, .h0 = state, .h_n = &h);
 *
 * With L layers, D directions (2 if .bidirectional), H the hidden size and P = .proj_size, else H:
 *     input      (steps, batch, input_size); (batch, steps, input_size) with .batch_first; (steps, input_size) for one
 *                sequence
 *     h0, h_n    (L D, batch, P); (L D, P) for one sequence
 *     c0, c_n    the same with H; LSTM only
 *     output     the input's shape with D P as last size: h of the last layer after each step, forward then backward */
#ifndef WICK_NN_RECURRENT_H
#define WICK_NN_RECURRENT_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- layers ------------------------------------------------------------------------------------------------------ */

typedef enum wk_rnn_nonlinearity { WK_RNN_TANH = 0, WK_RNN_RELU = 1 } wk_rnn_nonlinearity;

typedef struct wk_nn_rnn_options {
    size_t size;
    wk_by_name by_name;
    int64_t num_layers;               /* default 1 */
    int64_t proj_size;                /* wk_nn_lstm only: size of a projection of h; default none */
    double dropout;                   /* of the outputs of all layers but the last, in training mode; default 0 */
    wk_rnn_nonlinearity nonlinearity; /* wk_nn_rnn only: WK_RNN_TANH (default) or WK_RNN_RELU */
    bool no_bias;                     /* without bias_ih and bias_hh; default false */
    bool batch_first;                 /* batch is dimension 0 of input and output; default false */
    bool bidirectional;               /* adds layers that read from the last step to the first; default false */
    char reserved;
    wk_dtype dtype;   /* default f32 */
    wk_device device; /* default WK_DEVICE, else the CPU */
    char reserved2[4];
} wk_nn_rnn_options;
/* wk_nn_rnn(input_size, hidden_size), wk_nn_gru(input_size, hidden_size), wk_nn_lstm(input_size, hidden_size): Create a
 * recurrent layer. With x the input of a step, h and c the state, and s the logistic function:
 *     rnn     h' = tanh(W x + b + U h + d)
 *     gru     r = s(W_r x + b_r + U_r h + d_r)    z = s(W_z x + b_z + U_z h + d_z)
 *             n = tanh(W_n x + b_n + r (U_n h + d_n))    h' = (1 - z) n + z h
 *     lstm    i, f, o = s(W x + b + U h + d) of each    g = tanh(W_g x + b_g + U_g h + d_g)
 *             c' = f c + i g    h' = o tanh(c'), with .proj_size W_hr o tanh(c')
 * Parameters of layer k: weight_ih_lk W (G H, input), weight_hh_lk U (G H, P), bias_ih_lk b and bias_hh_lk d (G H),
 * with the G gates in the order r z n or i f g o, and weight_hr_lk (P, H). Those of the backward direction end in
 * _reverse. All are initialised uniformly in [-1/sqrt(H), 1/sqrt(H)].
 *     wk_nn_lstm(64, 256, .num_layers = 2, .dropout = 0.5, .bidirectional = true)
 * Forward:   wk_forward returns the output for a state of 0. wk_forward_n takes (x), (x, h0) or, for an LSTM, (x, h0,
 *            c0), and returns up to three results: the output, h_n, and c_n of an LSTM. See also wk_rnn_forward.
 * Errors:    WK_ERR_ARGUMENT if an option is out of range or of another layer; forward: WK_ERR_SHAPE if the input or a
 *            state has another shape, or the input has 0 steps
 * PyTorch:   torch.nn.RNN, GRU, LSTM; .no_bias: bias=False */
WK_RESULT_API wk_module *wk_nn_rnn_at(wk_site site, int64_t input_size, int64_t hidden_size,
                                      const wk_nn_rnn_options *options);
WK_RESULT_API wk_module *wk_nn_gru_at(wk_site site, int64_t input_size, int64_t hidden_size,
                                      const wk_nn_rnn_options *options);
WK_RESULT_API wk_module *wk_nn_lstm_at(wk_site site, int64_t input_size, int64_t hidden_size,
                                       const wk_nn_rnn_options *options);

typedef struct wk_nn_rnn_cell_options {
    size_t size;
    wk_by_name by_name;
    wk_rnn_nonlinearity nonlinearity; /* wk_nn_rnn_cell only: WK_RNN_TANH (default) or WK_RNN_RELU */
    bool no_bias;                     /* without bias_ih and bias_hh; default false */
    char reserved[3];
    wk_dtype dtype;   /* default f32 */
    wk_device device; /* default WK_DEVICE, else the CPU */
    char reserved2[4];
} wk_nn_rnn_cell_options;
/* wk_nn_rnn_cell(input_size, hidden_size), wk_nn_gru_cell(input_size, hidden_size), wk_nn_lstm_cell(input_size,
 * hidden_size): Create one step of the layer of that name, with parameters weight_ih, weight_hh, bias_ih and bias_hh.
 *     wk_tensor *state[2];
 *     wk_forward_n(lstm_cell, (x, h, c), state, 2);       // h' and c'
 * Shapes:    x (batch, input_size) and states (batch, H), or (input_size) and (H); states are 0 if omitted
 * Forward:   (x), (x, h) or, for an LSTM, (x, h, c); returns h', and c' of an LSTM
 * Errors:    as wk_nn_rnn
 * PyTorch:   torch.nn.RNNCell, GRUCell, LSTMCell */
WK_RESULT_API wk_module *wk_nn_rnn_cell_at(wk_site site, int64_t input_size, int64_t hidden_size,
                                           const wk_nn_rnn_cell_options *options);
WK_RESULT_API wk_module *wk_nn_gru_cell_at(wk_site site, int64_t input_size, int64_t hidden_size,
                                           const wk_nn_rnn_cell_options *options);
WK_RESULT_API wk_module *wk_nn_lstm_cell_at(wk_site site, int64_t input_size, int64_t hidden_size,
                                            const wk_nn_rnn_cell_options *options);

typedef struct wk_rnn_forward_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *h0;      /* initial state; default 0 */
    wk_tensor *c0;      /* that of an LSTM; default 0 */
    wk_tensor *lengths; /* i64 (batch): steps of each sequence, at least 1, in any order; default all */
    wk_tensor **h_n;    /* receives the state after the last step; default NULL */
    wk_tensor **c_n;    /* that of an LSTM; default NULL */
} wk_rnn_forward_options;
/* wk_rnn_forward(layer, x): Calls a recurrent layer with any of its inputs and results. With .lengths the result is
 * that of wk_pack_padded_sequence with .unsorted, the layer, and wk_pad_packed_sequence with .total_length = the steps
 * of x: h_n is the state after the last step of each sequence, in the order of the input's sequences; the backward
 * direction begins there, and outputs beyond it are 0.
 *     wk_tensor *h_n, *c_n, *y = wk_rnn_forward(lstm, x, .lengths = lengths, .h_n = &h_n, .c_n = &c_n);
 * Returns:   the output, owned by the innermost scope, like h_n and c_n; NULL on error, with both NULL
 * Errors:    WK_ERR_ARGUMENT if the module is not a recurrent layer, c0 or c_n is given to a layer without c, or a
 *            length is out of range; those of wk_forward
 * Blocks:    to read .lengths
 * PyTorch:   output, (h_n, c_n) = layer(x, (h0, c0)) */
WK_RESULT_API wk_tensor *wk_rnn_forward_at(wk_site site, wk_module *layer, wk_tensor *x,
                                           const wk_rnn_forward_options *options);

/* ---- packed sequences: torch.nn.utils.rnn ------------------------------------------------------------------------ */

typedef struct wk_pack_padded_sequence_options {
    size_t size;
    wk_by_name by_name;
    bool batch_first; /* x is (batch, steps, ...); default (steps, batch, ...) */
    bool unsorted;    /* lengths have any order; default: descending */
    char reserved[6];
} wk_pack_padded_sequence_options;
/* wk_pack_padded_sequence(x, lengths): Packs sequences of different lengths without their padding. The list has
 *     data                the rows of step 0, of step 1, ..., each with the sequences that are long enough
 *     batch_sizes         i64 (steps): the number of rows of each step
 *     sorted_indices,     with .unsorted: i64 (batch), the order of the sequences in data, and its inverse
 *     unsorted_indices
 * Shapes:    x (steps, batch, ...), lengths i64 (batch), each in [1, steps]
 * Returns:   the list; NULL on error
 * Errors:    WK_ERR_SHAPE, WK_ERR_DTYPE; WK_ERR_ARGUMENT if a length is out of range or, without .unsorted, they are
 *            not in descending order
 * Example:   of x = {{{1}, {2}}, {{3}, {0}}} and lengths {2, 1} data is {{1}, {2}, {3}}, batch_sizes {2, 1}
 * Blocks:    to read lengths
 * PyTorch:   torch.nn.utils.rnn.pack_padded_sequence; .unsorted: enforce_sorted=False */
WK_RESULT_API wk_tensors *wk_pack_padded_sequence_at(wk_site site, wk_tensor *x, wk_tensor *lengths,
                                                     const wk_pack_padded_sequence_options *options);

typedef struct wk_pad_packed_sequence_options {
    size_t size;
    wk_by_name by_name;
    bool batch_first; /* the result is (batch, steps, ...); default (steps, batch, ...) */
    char reserved[7];
    double padding_value; /* of elements beyond a sequence; default 0 */
    int64_t total_length; /* steps of the result; default the longest length */
    wk_tensor **lengths;  /* receives the lengths, i64 (batch); default NULL */
} wk_pad_packed_sequence_options;
/* wk_pad_packed_sequence(packed): Returns the sequences of wk_pack_padded_sequence, padded to the same length.
 * Errors:    WK_ERR_ARGUMENT if packed lacks data or batch_sizes, unsorted_indices is not a permutation, or
 *            .total_length is less than the longest length; WK_ERR_INDEX if one of unsorted_indices is out of range;
 *            WK_ERR_SHAPE if data does not have 1 to 7 dimensions
 * Blocks:    to read batch_sizes
 * PyTorch:   torch.nn.utils.rnn.pad_packed_sequence */
WK_RESULT_API wk_tensor *wk_pad_packed_sequence_at(wk_site site, wk_tensors *packed,
                                                   const wk_pad_packed_sequence_options *options);

typedef struct wk_rnn_forward_packed_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *h0;   /* initial state; default 0 */
    wk_tensor *c0;   /* that of an LSTM; default 0 */
    wk_tensor **h_n; /* receives the state after the last step of each sequence; default NULL */
    wk_tensor **c_n; /* that of an LSTM; default NULL */
} wk_rnn_forward_packed_options;
/* wk_rnn_forward_packed(layer, packed): Calls a recurrent layer with packed sequences. States are in the order that the
 * sequences had before they were packed.
 *     wk_tensors *y = wk_rnn_forward_packed(lstm, wk_pack_padded_sequence(x, lengths), .h_n = &h_n);
 * Returns:   the outputs, packed in the same way; NULL on error
 * Errors:    as wk_rnn_forward and wk_pad_packed_sequence
 * Blocks:    to read batch_sizes
 * PyTorch:   output, (h_n, c_n) = layer(packed, (h0, c0)) */
WK_RESULT_API wk_tensors *wk_rnn_forward_packed_at(wk_site site, wk_module *layer, wk_tensors *packed,
                                                   const wk_rnn_forward_packed_options *options);

#ifndef __cplusplus
#define wk_nn_rnn(in, ...)                                                                                             \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_rnn, wk_nn_rnn_options, "input_size, hidden_size", in, __VA_ARGS__))
#define wk_nn_gru(in, ...)                                                                                             \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_gru, wk_nn_rnn_options, "input_size, hidden_size", in, __VA_ARGS__))
#define wk_nn_lstm(in, ...)                                                                                            \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_lstm, wk_nn_rnn_options, "input_size, hidden_size", in, __VA_ARGS__))
#define wk_nn_rnn_cell(in, ...)                                                                                        \
    WK_NEW_MODULE_(                                                                                                    \
        WK_OPT2_(wk_module *, wk_nn_rnn_cell, wk_nn_rnn_cell_options, "input_size, hidden_size", in, __VA_ARGS__))
#define wk_nn_gru_cell(in, ...)                                                                                        \
    WK_NEW_MODULE_(                                                                                                    \
        WK_OPT2_(wk_module *, wk_nn_gru_cell, wk_nn_rnn_cell_options, "input_size, hidden_size", in, __VA_ARGS__))
#define wk_nn_lstm_cell(in, ...)                                                                                       \
    WK_NEW_MODULE_(                                                                                                    \
        WK_OPT2_(wk_module *, wk_nn_lstm_cell, wk_nn_rnn_cell_options, "input_size, hidden_size", in, __VA_ARGS__))
#define wk_rnn_forward(layer, ...)                                                                                     \
    WK_NEW_TENSOR_(WK_OPT2_(wk_tensor *, wk_rnn_forward, wk_rnn_forward_options, "layer, x", layer, __VA_ARGS__))
#define wk_rnn_forward_packed(layer, ...)                                                                              \
    WK_NEW_TENSORS_(WK_OPT2_(wk_tensors *, wk_rnn_forward_packed, wk_rnn_forward_packed_options, "layer, packed",      \
                             layer, __VA_ARGS__))
#define wk_pack_padded_sequence(x, ...)                                                                                \
    WK_NEW_TENSORS_(WK_OPT2_(wk_tensors *, wk_pack_padded_sequence, wk_pack_padded_sequence_options, "x, lengths", x,  \
                             __VA_ARGS__))
#define wk_pad_packed_sequence(...)                                                                                    \
    WK_NEW_TENSOR_(WK_OPT_(wk_tensor *, wk_pad_packed_sequence, wk_pad_packed_sequence_options, __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
