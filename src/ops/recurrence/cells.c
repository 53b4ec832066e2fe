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

/* ---- calls of several instructions ------------------------------------------------------------------------------- */

/* Each of these functions is one call if no nodes are made, so that all calls of a step fit into one kernel. */

static int sum_sigmoid(wk__emit *e, const int in[])
{
    return wk__emit_unary(e, WK__SIGMOID, wk__emit_binary(e, WK__ADD, in[0], in[1]));
}
static int sum_tanh(wk__emit *e, const int in[])
{
    return wk__emit_unary(e, WK__TANH, wk__emit_binary(e, WK__ADD, in[0], in[1]));
}
static int through_sigmoid(wk__emit *e, const int in[])
{
    const int product = wk__emit_binary(e, WK__MUL, wk__emit_binary(e, WK__MUL, in[0], in[1]), in[2]);
    return wk__emit_binary(e, WK__MUL, product, wk__emit_binary(e, WK__SUB, wk__emit_constant(e, 1), in[2]));
}
static int through_tanh(wk__emit *e, const int in[])
{
    const int square = wk__emit_binary(e, WK__MUL, in[2], in[2]);
    return wk__emit_binary(e, WK__MUL, wk__emit_binary(e, WK__MUL, in[0], in[1]),
                           wk__emit_binary(e, WK__SUB, wk__emit_constant(e, 1), square));
}

static const wk__op sum_sigmoid_op = {.name = "rnn", .expression = sum_sigmoid, .arity = 2};
static const wk__op sum_tanh_op = {.name = "rnn", .expression = sum_tanh, .arity = 2};
static const wk__op through_sigmoid_op = {.name = "rnn", .expression = through_sigmoid, .arity = 3};
static const wk__op through_tanh_op = {.name = "rnn", .expression = through_tanh, .arity = 3};

static bool makes_nodes(void)
{
    const wk__frame *frame = &wk__context()->frame;
    return !frame->grad_off && frame->composing == 0;
}

static wk_tensor *call(const wk__op *op, wk_tensor *a, wk_tensor *b, wk_tensor *c)
{
    const wk__arg args[3] = {wk__tensor_arg(a), wk__tensor_arg(b), wk__tensor_arg(c)};
    return a && b && (c || op->arity == 2) ? wk__elementwise(op, (wk_site){0}, args, op->arity, NULL) : NULL;
}

/* s(x + p) of gate k */
static wk_tensor *sigmoid_gate(const wk__cell_step *s, int k)
{
    return makes_nodes() ? wk_sigmoid(wk_add(s->x[k], s->product[k]))
                         : call(&sum_sigmoid_op, s->x[k], s->product[k], NULL);
}
/* tanh(x + p) */
static wk_tensor *tanh_of_sum(wk_tensor *x, wk_tensor *p)
{
    return makes_nodes() ? wk_tanh(wk_add(x, p)) : call(&sum_tanh_op, x, p, NULL);
}
/* g a y (1 - y), the gradient through y = s(..) of which a is a factor */
static wk_tensor *by_sigmoid(wk_tensor *g, wk_tensor *a, wk_tensor *y)
{
    return makes_nodes() ? wk_mul(wk_mul(wk_mul(g, a), y), wk_sub(1, y)) : call(&through_sigmoid_op, g, a, y);
}
/* g a (1 - y^2), the gradient through y = tanh(..) of which a is a factor */
static wk_tensor *by_tanh(wk_tensor *g, wk_tensor *a, wk_tensor *y)
{
    return makes_nodes() ? wk_mul(wk_mul(g, a), wk_sub(1, wk_mul(y, y))) : call(&through_tanh_op, g, a, y);
}

/* ---- RNN --------------------------------------------------------------------------------------------------------- */

static void tanh_forward(wk__cell_step *s)
{
    s->next_h = tanh_of_sum(s->x[0], s->product[0]);
}
static void tanh_backward(wk__cell_step *s)
{
    s->grad_x[0] = wk_mul(s->grad_h, wk_sub(1, wk_mul(s->next_h, s->next_h)));
    s->grad_h = NULL;
}
static void relu_forward(wk__cell_step *s)
{
    s->next_h = wk_relu(wk_add(s->x[0], s->product[0]));
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
    wk_tensor *r = sigmoid_gate(s, 0), *z = sigmoid_gate(s, 1);
    wk_tensor *m = s->bias ? wk_add(s->product[2], s->bias) : s->product[2];
    wk_tensor *n = tanh_of_sum(s->x[2], wk_mul(r, m));
    s->next_h = wk_add(n, wk_mul(z, wk_sub(s->h, n)));
    s->kept[0] = r;
    s->kept[1] = z;
    s->kept[2] = n;
    s->kept[3] = m;
}
static void gru_backward(wk__cell_step *s)
{
    wk_tensor *r = s->kept[0], *z = s->kept[1], *n = s->kept[2], *m = s->kept[3], *g = s->grad_h;
    wk_tensor *of_n = by_tanh(g, wk_sub(1, z), n);
    s->grad_x[0] = s->grad_product[0] = by_sigmoid(of_n, m, r);
    s->grad_x[1] = s->grad_product[1] = by_sigmoid(g, wk_sub(s->h, n), z);
    s->grad_x[2] = of_n;
    s->grad_product[2] = wk_mul(of_n, r);
    s->grad_h = wk_mul(g, z);
}

/* ---- LSTM -------------------------------------------------------------------------------------------------------- */

/* kept: i, f, u, o */
static void lstm_forward(wk__cell_step *s)
{
    for (int k = 0; k < 4; k++) s->kept[k] = k == 2 ? tanh_of_sum(s->x[k], s->product[k]) : sigmoid_gate(s, k);
    s->next_c = wk_add(wk_mul(s->kept[1], s->c), wk_mul(s->kept[0], s->kept[2]));
    s->next_h = wk_mul(s->kept[3], wk_tanh(s->next_c));
}
static void lstm_backward(wk__cell_step *s)
{
    wk_tensor *i = s->kept[0], *f = s->kept[1], *u = s->kept[2], *o = s->kept[3], *g = s->grad_h;
    wk_tensor *y = wk_tanh(s->next_c), *of_c = by_tanh(g, o, y);
    if (s->grad_c) of_c = wk_add(of_c, s->grad_c);
    s->grad_x[0] = by_sigmoid(of_c, u, i);
    s->grad_x[1] = by_sigmoid(of_c, s->c, f);
    s->grad_x[2] = by_tanh(of_c, i, u);
    s->grad_x[3] = by_sigmoid(g, y, o);
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
