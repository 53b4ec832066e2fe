/* SPDX-License-Identifier: Apache-2.0 */
/* The cells: one step forward and its gradient, by recorded calls. x and p are the products of input and state by gate,
 * s the logistic function, g the gradient of the next state.
 *
 *     RNN    h' = tanh(x + p), or relu
 *     GRU    r = s(x0 + p0)    z = s(x1 + p1)    m = p2 + bias    n = tanh(x2 + r m)    h' = n + z (h - n)
 *     LSTM   i = s(x0 + p0)    f = s(x1 + p1)    u = tanh(x2 + p2)    o = s(x3 + p3)
 *            c' = f c + i u    h' = o tanh(c')
 *
 * Sources: torch.nn.RNN, GRU, LSTM. */
#include "recurrence.h"
#include <wick/activation.h>

/* g (1 - y^2), the gradient through y = tanh */
static wk_tensor *through_tanh(wk_tensor *g, wk_tensor *y)
{
    return wk_mul(g, wk_sub(1, wk_mul(y, y)));
}
/* g y (1 - y), the gradient through y = s(x) */
static wk_tensor *through_sigmoid(wk_tensor *g, wk_tensor *y)
{
    return wk_mul(wk_mul(g, y), wk_sub(1, y));
}

static wk_tensor *gate_sum(const wk__cell_step *s, int k)
{
    return wk_add(s->x[k], s->product[k]);
}

/* ---- RNN --------------------------------------------------------------------------------------------------------- */

static void tanh_forward(wk__cell_step *s)
{
    s->next_h = wk_tanh(gate_sum(s, 0));
}
static void tanh_backward(wk__cell_step *s)
{
    s->grad_x[0] = through_tanh(s->grad_h, s->next_h);
    s->grad_h = NULL;
}
static void relu_forward(wk__cell_step *s)
{
    s->next_h = wk_relu(gate_sum(s, 0));
}
static void relu_backward(wk__cell_step *s)
{
    s->grad_x[0] = wk_where(wk_gt(s->next_h, 0), s->grad_h, 0.0);
    s->grad_h = NULL;
}

/* ---- GRU --------------------------------------------------------------------------------------------------------- */

/* kept: r, z, n, m */
static void gru_forward(wk__cell_step *s)
{
    wk_tensor *r = wk_sigmoid(gate_sum(s, 0)), *z = wk_sigmoid(gate_sum(s, 1));
    wk_tensor *m = s->bias ? wk_add(s->product[2], s->bias) : s->product[2];
    wk_tensor *n = wk_tanh(wk_add(s->x[2], wk_mul(r, m)));
    s->next_h = wk_add(n, wk_mul(z, wk_sub(s->h, n)));
    s->kept[0] = r;
    s->kept[1] = z;
    s->kept[2] = n;
    s->kept[3] = m;
}
static void gru_backward(wk__cell_step *s)
{
    wk_tensor *r = s->kept[0], *z = s->kept[1], *n = s->kept[2], *m = s->kept[3], *g = s->grad_h;
    wk_tensor *of_n = through_tanh(wk_mul(g, wk_sub(1, z)), n);
    s->grad_x[0] = s->grad_product[0] = through_sigmoid(wk_mul(of_n, m), r);
    s->grad_x[1] = s->grad_product[1] = through_sigmoid(wk_mul(g, wk_sub(s->h, n)), z);
    s->grad_x[2] = of_n;
    s->grad_product[2] = wk_mul(of_n, r);
    s->grad_h = wk_mul(g, z);
}

/* ---- LSTM -------------------------------------------------------------------------------------------------------- */

/* kept: i, f, u, o */
static void lstm_forward(wk__cell_step *s)
{
    for (int k = 0; k < 4; k++) s->kept[k] = k == 2 ? wk_tanh(gate_sum(s, k)) : wk_sigmoid(gate_sum(s, k));
    s->next_c = wk_add(wk_mul(s->kept[1], s->c), wk_mul(s->kept[0], s->kept[2]));
    s->next_h = wk_mul(s->kept[3], wk_tanh(s->next_c));
}
static void lstm_backward(wk__cell_step *s)
{
    wk_tensor *i = s->kept[0], *f = s->kept[1], *u = s->kept[2], *o = s->kept[3], *g = s->grad_h;
    wk_tensor *y = wk_tanh(s->next_c), *of_c = through_tanh(wk_mul(g, o), y);
    if (s->grad_c) of_c = wk_add(of_c, s->grad_c);
    s->grad_x[0] = through_sigmoid(wk_mul(of_c, u), i);
    s->grad_x[1] = through_sigmoid(wk_mul(of_c, s->c), f);
    s->grad_x[2] = through_tanh(wk_mul(of_c, i), u);
    s->grad_x[3] = through_sigmoid(wk_mul(g, y), o);
    s->grad_c = wk_mul(of_c, f);
    s->grad_h = NULL;
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

static int identity(wk__emit *e, const int in[])
{
    (void)e;
    return in[0];
}

#define SAVES(mask)                                                                                                    \
    {                                                                                                                  \
        mask, mask, mask, mask                                                                                         \
    }
enum { OPERANDS = WK__SAVE_0 | WK__SAVE_1 | WK__SAVE_2 };

static void tanh_gradient(wk__grad_ctx *g)
{
    wk__sequence_gradient(g, &wk__cell_rnn_tanh);
}
static void relu_gradient(wk__grad_ctx *g)
{
    wk__sequence_gradient(g, &wk__cell_rnn_relu);
}
static void gru_gradient(wk__grad_ctx *g)
{
    wk__sequence_gradient(g, &wk__cell_gru);
}
static void lstm_gradient(wk__grad_ctx *g)
{
    wk__sequence_gradient(g, &wk__cell_lstm);
}

static const wk__op tanh_op = {.name = "rnn",
                               .grad_fn_name = "RnnBackward0",
                               .expression = identity,
                               .gradient = tanh_gradient,
                               .saves = SAVES(OPERANDS | WK__SAVE_OUT)};
static const wk__op relu_op = {.name = "rnn",
                               .grad_fn_name = "RnnBackward0",
                               .expression = identity,
                               .gradient = relu_gradient,
                               .saves = SAVES(OPERANDS | WK__SAVE_OUT)};
static const wk__op gru_op = {.name = "gru",
                              .grad_fn_name = "GruBackward0",
                              .expression = identity,
                              .gradient = gru_gradient,
                              .saves = SAVES(OPERANDS | WK__SAVE_3 | WK__SAVE_OUT | WK__SAVE_OUT_1)};
static const wk__op lstm_op = {.name = "lstm",
                               .grad_fn_name = "LstmBackward0",
                               .expression = identity,
                               .gradient = lstm_gradient,
                               .saves = SAVES(OPERANDS | WK__SAVE_3 | WK__SAVE_OUT | WK__SAVE_OUT_1 | WK__SAVE_OUT_2)};

const wk__cell wk__cell_rnn_tanh = {.op = &tanh_op, .gates = 1, .forward = tanh_forward, .backward = tanh_backward};
const wk__cell wk__cell_rnn_relu = {.op = &relu_op, .gates = 1, .forward = relu_forward, .backward = relu_backward};
const wk__cell wk__cell_gru = {
    .op = &gru_op, .gates = 3, .kept = 4, .separate_product = true, .forward = gru_forward, .backward = gru_backward};
const wk__cell wk__cell_lstm = {
    .op = &lstm_op, .gates = 4, .kept = 4, .has_c = true, .forward = lstm_forward, .backward = lstm_backward};
