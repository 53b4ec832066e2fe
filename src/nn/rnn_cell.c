/* SPDX-License-Identifier: Apache-2.0 */
/* Forward of the recurrent cells: one step, by recorded calls. Inputs are x and states; outputs the next states. */
#include "rnn.h"
#include <wick/matmul.h>

static bool check_counts(const wk__rnn *rnn, int inputs, int outputs)
{
    const int states = wk__rnn_states(rnn);
    if (inputs != 1 && inputs != 1 + states)
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "%s: expected x or %s, got %d inputs", rnn->kind->name,
                      states == 2 ? "(x, h, c)" : "(x, h)", inputs);
    else if (outputs < 1 || outputs > states)
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "%s: the number of outputs is at least 1 and at most %d, got %d",
                      rnn->kind->name, states, outputs);
    else
        return true;
    return false;
}

static bool check_shapes(const wk__rnn *rnn, wk_tensor *const *in, int inputs)
{
    const wk__body *x = wk__body_of(in[0]);
    if ((x->ndim != 1 && x->ndim != 2) || x->shape[x->ndim - 1] != rnn->input) {
        wk__call_error(rnn->kind->name, (wk_site){0}, WK_ERR_SHAPE, in,
                       "expected an input (batch, %lld), or (%lld) for one sequence, got $a", (long long)rnn->input,
                       (long long)rnn->input);
        return false;
    }
    for (int k = 1; k < inputs; k++) {
        const wk__body *state = wk__body_of(in[k]);
        const int64_t shape[2] = {x->shape[0], rnn->hidden};
        if (wk__same_shape(state->ndim, state->shape, x->ndim, shape + (x->ndim == 1))) continue;
        wk_tensor *const named[] = {in[0], in[k]};
        wk__call_error(rnn->kind->name, (wk_site){0}, WK_ERR_SHAPE, named,
                       "a state must have the batch of the input $a and the size %lld, got $b", (long long)rnn->hidden);
        return false;
    }
    return true;
}

/* Returns state k of the inputs as (batch, hidden). */
static wk_tensor *state_of(const wk__rnn *rnn, wk_tensor *const *in, int inputs, int k)
{
    const wk__body *x = wk__body_of(in[0]);
    if (inputs > 1) return x->ndim == 1 ? wk_unsqueeze(in[1 + k], 0) : in[1 + k];
    return wk_zeros((x->ndim == 1 ? 1 : x->shape[0], rnn->hidden), .dtype = x->dtype, .device = wk_device_of(in[0]));
}

int wk__rnn_cell_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    const wk__rnn *rnn = wk__module_of(self)->state;
    if (!check_counts(rnn, inputs, outputs) || !check_shapes(rnn, in, inputs)) return -1;
    const bool alone = wk__body_of(in[0])->ndim == 1;
    const wk__rnn_weights w = wk__rnn_weights_of(self, 0, 0);
    wk__cell_step s = {.h = state_of(rnn, in, inputs, 0)};
    if (rnn->cell->has_c) s.c = state_of(rnn, in, inputs, 1);
    wk_tensor *x = alone ? wk_unsqueeze(in[0], 0) : in[0];
    wk__cell_run(rnn->cell, wk_linear_at((wk_site){0}, x, w.ih, w.bias_ih),
                 wk_linear_at((wk_site){0}, s.h, w.hh, w.bias_hh), &s);
    wk_tensor *const next[2] = {s.next_h, s.next_c};
    for (int k = 0; k < outputs; k++) {
        out[k] = alone && next[k] ? wk_squeeze(next[k], 0) : next[k];
        if (!out[k]) return -1;
    }
    return outputs;
}
