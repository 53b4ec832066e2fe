/* SPDX-License-Identifier: Apache-2.0 */
/* Forward of the recurrent layers. Inputs are x, states, and with states also the batch sizes of a packed x:
 *
 *     x        (steps, batch, input), (batch, steps, input) or (steps, input); packed (rows, input)
 *     states   h (L D, batch, P), of an LSTM also c (L D, batch, H)
 *     sizes    i64 (steps)
 *
 * Outputs are the output and the states after the last step. Each layer and direction is one wk__sequence. */
#include "base/alloc.h"
#include "packing.h"
#include <wick/matmul.h>

/* One call of forward. */
typedef struct call {
    wk_module *module;
    const wk__rnn *rnn;
    wk_tensor *x;         /* as given */
    wk_tensor *state[2];  /* h and c, each (L D, batch, size); NULL: 0 */
    wk_tensor *sizes;     /* batch sizes of a packed x; NULL: not packed */
    bool unbatched;       /* x and states have no batch */
    int64_t count, batch; /* steps, and rows of the first */
    wk__steps *steps[2];  /* forward and reverse; owned */
    wk_tensor *rows;      /* input of a layer, (rows of all steps, size) */
    wk_tensor **final[2]; /* [layers * directions] the states after the last step, owned arrays; NULL: not wanted */
} call;

static const char *name_of(const call *c)
{
    return c->rnn->kind->name;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Returns true if x is a vector of i64, as the batch sizes of packed sequences are. */
static bool can_be_sizes(const wk_tensor *x)
{
    return x && wk__body_of(x)->ndim == 1 && wk__body_of(x)->dtype == WK_I64;
}

static bool read_inputs(call *c, wk_tensor *const *in, int inputs, int outputs)
{
    const int states = wk__rnn_states(c->rnn);
    if (outputs > 1 + states) {
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "%s: the layer has %d outputs, %d were requested", name_of(c),
                      1 + states, outputs);
        return false;
    }
    const bool packed = inputs == 2 + states && can_be_sizes(in[1 + states]);
    if (inputs != 1 && inputs != 1 + states && !packed) {
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "%s: expected x or %s, got %d inputs", name_of(c),
                      states == 2 ? "(x, h0, c0)" : "(x, h0)", inputs);
        return false;
    }
    c->x = in[0];
    for (int k = 0; k < states && inputs > 1; k++) c->state[k] = in[1 + k];
    if (packed) c->sizes = in[1 + states];
    return true;
}

static bool check_input(call *c)
{
    const wk__body *x = wk__body_of(c->x);
    const char *const layout = c->rnn->batch_first ? "(batch, steps, features)" : "(steps, batch, features)";
    if (c->sizes ? x->ndim != 2 : x->ndim != 2 && x->ndim != 3) {
        wk__call_error(name_of(c), (wk_site){0}, WK_ERR_SHAPE, &c->x,
                       c->sizes ? "the data of packed sequences must have 2 dimensions, got $a"
                                : "expected an input of 3 dimensions, %s, or of 2 for one sequence, got $a",
                       layout);
        return false;
    }
    if (x->shape[x->ndim - 1] != c->rnn->input) {
        wk__call_error(name_of(c), (wk_site){0}, WK_ERR_SHAPE, &c->x,
                       "the last size of the input must be input_size (%lld), got $a", (long long)c->rnn->input);
        return false;
    }
    return true;
}

/* Creates the steps of each direction from their batch sizes. */
static bool read_packed_steps(call *c)
{
    int64_t *size = wk__packing_read_sizes((wk_site){0}, name_of(c), c->sizes, c->x);
    if (!size) return false;
    c->count = wk__body_of(c->sizes)->shape[0];
    c->batch = size[0];
    for (int d = 0; d < c->rnn->directions; d++) c->steps[d] = wk__steps_new((wk_site){0}, size, c->count, d);
    wk__free(size);
    return c->steps[0] && (c->rnn->directions == 1 || c->steps[1]);
}

static bool find_steps(call *c)
{
    if (c->sizes) return read_packed_steps(c);
    const wk__body *x = wk__body_of(c->x);
    const bool swapped = c->rnn->batch_first && x->ndim == 3;
    c->unbatched = x->ndim == 2;
    c->count = x->shape[swapped];
    c->batch = c->unbatched ? 1 : x->shape[!swapped];
    if (c->count < 1) {
        wk__call_error(name_of(c), (wk_site){0}, WK_ERR_SHAPE, &c->x, "the input must have at least one step, got $a");
        return false;
    }
    for (int d = 0; d < c->rnn->directions; d++) c->steps[d] = wk__steps_equal((wk_site){0}, c->batch, c->count, d);
    return c->steps[0] && (c->rnn->directions == 1 || c->steps[1]);
}

/* Checks state k and inserts the batch that it lacks for one sequence. */
static bool check_state(call *c, int k)
{
    if (!c->state[k]) return true;
    const wk__rnn *rnn = c->rnn;
    const wk__body *body = wk__body_of(c->state[k]);
    const int64_t size = k ? rnn->hidden : rnn->state, shape[3] = {rnn->layers * rnn->directions, c->batch, size};
    const int64_t alone[2] = {shape[0], size};
    if (c->unbatched ? !wk__same_shape(body->ndim, body->shape, 2, alone)
                     : !wk__same_shape(body->ndim, body->shape, 3, shape)) {
        wk__text text = {0};
        wk__text_format(&text, "%s: the state %s must have shape ", name_of(c), k ? "c0" : "h0");
        wk__text_shape(&text, c->unbatched ? 2 : 3, c->unbatched ? alone : shape);
        wk__text_add(&text, ", (layers * directions, batch, size) without the batch of one sequence; got ");
        wk__text_tensor(&text, c->state[k]);
        wk__error_set_text((wk_site){0}, WK_ERR_SHAPE, &text);
        return false;
    }
    if (c->unbatched) c->state[k] = wk_unsqueeze(c->state[k], 1);
    return c->state[k] != NULL;
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* Sets rows to the input as rows of steps. */
static void find_rows(call *c)
{
    c->rows = c->x;
    if (c->sizes || c->unbatched) return;
    wk_tensor *x = c->rnn->batch_first ? wk_transpose(c->x, 0, 1) : c->x;
    c->rows = wk_reshape(x, (c->count * c->batch, c->rnn->input));
}

/* Returns state k of a layer and direction before the first step. */
static wk_tensor *initial(const call *c, int k, int64_t index)
{
    if (c->state[k]) return wk_select(c->state[k], 0, index);
    const int64_t size = k ? c->rnn->hidden : c->rnn->state;
    return wk_zeros((c->batch, size), .dtype = wk_dtype_of(c->rows), .device = wk_device_of(c->rows));
}

/* Sets the operands of a sequence that depend on biases: RNN and LSTM add both to the product of the input, a GRU adds
 * that of its last gate to the product of the state. */
static void find_products(const call *c, const wk__rnn_weights *w, wk__sequence *s)
{
    wk_tensor *bias = w->bias_ih;
    const bool separate = c->rnn->cell->separate_product;
    const int64_t hidden = c->rnn->hidden;
    if (bias && separate) {
        bias = wk_add(bias, wk_pad(wk_narrow(w->bias_hh, 0, 0, 2 * hidden), (0, hidden)));
        s->extra = wk_narrow(w->bias_hh, 0, 2 * hidden, hidden);
    } else if (bias) {
        bias = wk_add(bias, w->bias_hh);
    }
    s->x = wk_linear_at((wk_site){0}, c->rows, w->ih, bias);
}

/* Runs one layer in one direction. Returns its output for all steps. */
static wk_tensor *run_direction(call *c, int64_t layer, int64_t direction)
{
    const wk__rnn *rnn = c->rnn;
    const int64_t index = layer * rnn->directions + direction;
    const wk__rnn_weights w = wk__rnn_weights_of(c->module, layer, direction);
    wk__sequence s = {.cell = rnn->cell, .steps = c->steps[direction], .weight = w.hh, .from_zero = !c->state[0]};
    find_products(c, &w, &s);
    s.h = initial(c, 0, index);
    if (rnn->cell->has_c) s.extra = initial(c, 1, index);
    if (wk__error_pending() ||
        !(w.hr ? wk__sequence_run_projected((wk_site){0}, &s, w.hr) : wk__sequence_run((wk_site){0}, &s)))
        return NULL;
    if (c->final[0]) c->final[0][index] = wk__steps_final(s.steps, s.states);
    if (c->final[1]) c->final[1][index] = wk__steps_final(s.steps, s.cells);
    return s.states;
}

static bool run_layers(call *c)
{
    const wk__rnn *rnn = c->rnn;
    for (int64_t layer = 0; layer < rnn->layers; layer++) {
        if (layer && rnn->dropout != 0) c->rows = wk_dropout(c->rows, rnn->dropout, !wk__module_of(c->module)->eval);
        wk_tensor *out[2] = {run_direction(c, layer, 0), NULL};
        if (rnn->directions == 2) out[1] = run_direction(c, layer, 1);
        c->rows = rnn->directions == 2 ? wk_cat((out[0], out[1]), 1) : out[0];
        if (!c->rows) return false;
    }
    return true;
}

/* Returns the output in the layout of the input. */
static wk_tensor *output(const call *c)
{
    const int64_t size = c->rnn->state * c->rnn->directions;
    if (c->sizes || c->unbatched) return c->rows;
    wk_tensor *out = wk_reshape(c->rows, (c->count, c->batch, size));
    return c->rnn->batch_first ? wk_transpose(out, 0, 1) : out;
}

/* Returns state k after the last step, (L D, batch, size). */
static wk_tensor *final_state(const call *c, int k)
{
    const int count = (int)(c->rnn->layers * c->rnn->directions);
    for (int i = 0; i < count; i++)
        if (!c->final[k][i]) return NULL;
    wk_tensor *out = wk_stack(WK_ARRAY(c->final[k], count), 0);
    return c->unbatched ? wk_squeeze(out, 1) : out;
}

static int run(call *c, wk_tensor **out, int outputs)
{
    for (int k = 0; k < outputs - 1; k++) {
        c->final[k] = wk__alloc_zero((size_t)(c->rnn->layers * c->rnn->directions), sizeof *c->final[k]);
        if (c->final[k]) continue;
        wk__error_set((wk_site){0}, WK_ERR_MEMORY, "%s: out of host memory for the states", name_of(c));
        return -1;
    }
    find_rows(c);
    if (!c->rows || !run_layers(c)) return -1;
    out[0] = output(c);
    for (int k = 0; k < outputs - 1; k++) out[1 + k] = final_state(c, k);
    for (int k = 0; k < outputs; k++)
        if (!out[k]) return -1;
    return outputs;
}

int wk__rnn_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    call c = {.module = self, .rnn = wk__module_of(self)->state};
    int count = -1;
    if (outputs > 0 && read_inputs(&c, in, inputs, outputs) && check_input(&c) && find_steps(&c) &&
        check_state(&c, 0) && check_state(&c, 1))
        count = run(&c, out, outputs);
    for (int k = 0; k < 2; k++) {
        wk__steps_drop(c.steps[k]);
        wk__free(c.final[k]);
    }
    return count;
}
