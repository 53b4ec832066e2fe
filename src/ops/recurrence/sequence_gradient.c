/* SPDX-License-Identifier: Apache-2.0 */
/* Backward of a sequence (recurrence.h): the steps in the opposite order, then the gradient of the weight as one
 * product over the rows of all steps. */
#include "recurrence.h"

/* Gradient of a state. `carry` is that of the state before the step that has run last. In the reverse direction a
 * sequence begins at its last element, so backward leaves it at that step: `done` are the gradients of the initial
 * states of the sequences that it has left, the last ones. */
typedef struct state_gradient {
    wk_tensor *given; /* gradient of the states after all steps, (R, H), or NULL */
    wk_tensor *carry, *done;
} state_gradient;

typedef struct backward_pass {
    wk__grad_ctx *g;
    const wk__cell *cell;
    const wk__steps *steps;
    wk_site site;
    bool differentiable;
    bool from_zero; /* the initial state is 0 */
    int64_t hidden;
    wk_tensor *states, *first_h; /* after all steps, (R, H), and before the first, (B, H) */
    wk_tensor *cells, *first_c;  /* LSTM */
    /* The states before all steps, (R, H). NULL if all steps have the same rows and calls are not recorded: the states
     * before a step are then rows of those after all steps. */
    wk_tensor *before_h, *before_c;
    wk_tensor *kept[WK__RNN_GATES];
    state_gradient h, c;
    wk__step_weight weight;
    wk__step_rows x, product; /* gradients of the operand and of the products of the states */
} backward_pass;

static wk_tensor *saved(const backward_pass *p, int k)
{
    return wk__to_opmath(wk__saved(p->g, k));
}

/* Sets the values of all steps that forward kept. With create_graph they are computed again, by recorded calls. */
static void find_kept(backward_pass *p)
{
    const wk__cell *cell = p->cell;
    if (!cell->kept) return;
    if (p->differentiable) {
        wk__cell_step s = {.h = p->before_h, .c = p->before_c};
        if (!cell->has_c && p->g->node->inputs > 3) s.bias = saved(p, 3);
        wk_tensor *weight = saved(p, 2);
        wk__cell_run(cell, saved(p, 0), weight ? wk_matmul(p->before_h, wk_transpose(weight, 0, 1)) : NULL, &s);
        for (int k = 0; k < cell->kept; k++) p->kept[k] = s.kept[k];
        return;
    }
    wk_tensor *kept = wk__saved(p->g, WK__SAVED_OUT + 1);
    for (int k = 0; k < cell->kept && kept; k++) p->kept[k] = wk_narrow(kept, 1, k * p->hidden, p->hidden);
}

static void begin_state(backward_pass *p, state_gradient *state, int output)
{
    if (p->g->out[output]) state->given = wk__to_opmath(p->g->out[output]);
}

/* Returns the gradient of the state after step t, or NULL. */
static wk_tensor *gradient_after(backward_pass *p, state_gradient *state, int64_t t)
{
    const int64_t rows = wk__steps_rows(p->steps, t);
    wk_tensor *given = state->given ? wk_narrow(state->given, 0, p->steps->row[t], rows) : NULL, *carry = state->carry;
    if (!carry) return given;
    const int64_t have = wk__body_of(carry)->shape[0];
    if (have > rows) { /* the others begin with the step that has run last */
        wk_tensor *done = wk_narrow(carry, 0, rows, have - rows);
        state->done = state->done ? wk_cat((done, state->done), 0) : done;
        carry = wk_narrow(carry, 0, 0, rows);
    }
    if (have >= rows) return given ? wk_add(given, carry) : carry;
    wk_tensor *rest = given ? wk_narrow(given, 0, have, rows - have) : NULL; /* they end with this step */
    if (!rest) rest = wk_zeros((rows - have, p->hidden), .dtype = wk_dtype_of(carry), .device = wk_device_of(carry));
    return wk_cat((given ? wk_add(wk_narrow(given, 0, 0, have), carry) : carry, rest), 0);
}

/* Returns the step that runs before step t; out of range for the first. */
static int64_t step_before(const backward_pass *p, int64_t t)
{
    return p->steps->reverse ? t + 1 : t - 1;
}

/* Returns the states before step t. */
static wk_tensor *states_before(const backward_pass *p, wk_tensor *before, wk_tensor *first, wk_tensor *after,
                                int64_t t)
{
    const int64_t rows = wk__steps_rows(p->steps, t), last = step_before(p, t);
    if (before) return wk_narrow(before, 0, p->steps->row[t], rows);
    return last < 0 || last >= p->steps->count ? first : wk_narrow(after, 0, p->steps->row[last], rows);
}

/* Returns the gradient of the weight from that of the products, (R, G H). */
static wk_tensor *gradient_of_weight(const backward_pass *p, wk_tensor *of_product)
{
    if (p->before_h) return wk_mm(wk_transpose(of_product, 0, 1), p->before_h);
    const int64_t total = p->steps->row[p->steps->count], rows = p->steps->row[1], rest = total - rows;
    const int64_t first = p->steps->reverse ? rest : 0, from = p->steps->reverse ? 0 : rows;
    wk_tensor *of_first = NULL, *of_rest = NULL;
    if (!p->from_zero || !rest) of_first = wk_mm(wk_transpose(wk_narrow(of_product, 0, first, rows), 0, 1), p->first_h);
    if (rest)
        of_rest =
            wk_mm(wk_transpose(wk_narrow(of_product, 0, from, rest), 0, 1), wk_narrow(p->states, 0, rows - from, rest));
    return of_first && of_rest ? wk_add(of_first, of_rest) : rest ? of_rest : of_first;
}

/* Returns the gradient of the initial state, when all steps have run. */
static wk_tensor *gradient_of_initial(const state_gradient *state)
{
    return state->done ? wk_cat((state->carry, state->done), 0) : state->carry;
}

/* Returns the gradient of a step's product, which is also rows of the matrix of all steps, `rows`. A plain product
 * shares its kernel with the ops that follow, which write further rows of that matrix, so it must not read it. */
static wk_tensor *factor_of(const backward_pass *p, const wk__cell_step *s, wk_tensor *rows)
{
    wk_tensor *const *part = p->cell->separate_product ? s->grad_product : s->grad_x;
    if (!rows || p->weight.panels || p->differentiable) return rows;
    return p->cell->gates == 1 ? part[0] : wk_cat(WK_ARRAY(part, p->cell->gates), 1);
}

static bool run_step(backward_pass *p, int64_t t)
{
    const wk__cell *cell = p->cell;
    const int64_t row = p->steps->row[t], rows = wk__steps_rows(p->steps, t);
    wk__call_scope scope;
    if (!wk__call_begin(&scope, WK__FRAME_CALL, NULL, p->site, WK__GRAD_KEPT)) return false;
    wk__cell_step s = {.h = states_before(p, p->before_h, p->first_h, p->states, t),
                       .next_h = wk_narrow(p->states, 0, row, rows)};
    if (cell->has_c) {
        s.c = states_before(p, p->before_c, p->first_c, p->cells, t);
        s.next_c = wk_narrow(p->cells, 0, row, rows);
        s.grad_c = gradient_after(p, &p->c, t);
    }
    for (int k = 0; k < cell->kept; k++) s.kept[k] = wk_narrow(p->kept[k], 0, row, rows);
    s.grad_h = gradient_after(p, &p->h, t);
    if (!s.grad_h) s.grad_h = wk_zeros_like(s.next_h);
    cell->backward(&s);
    wk_tensor *of_x = wk__step_rows_put(&p->x, t, s.grad_x, cell->gates), *of_product = of_x;
    if (cell->separate_product) of_product = wk__step_rows_put(&p->product, t, s.grad_product, cell->gates);
    p->h.carry = wk__step_product(cell->op, p->site, factor_of(p, &s, of_product), &p->weight);
    if (s.grad_h && p->h.carry) p->h.carry = wk_add(p->h.carry, s.grad_h);
    p->c.carry = s.grad_c;
    wk_tensor *keep[] = {p->h.carry, p->h.done,  p->c.carry,  p->c.done,
                         of_x,       of_product, p->x.matrix, p->product.matrix};
    wk__call_end(&scope, keep, (int)(sizeof keep / sizeof *keep));
    return of_x && p->h.carry;
}

/* Sets the gradients of the operands. */
static void deliver(backward_pass *p, wk_tensor *of_x, wk_tensor *of_product)
{
    wk__grad_ctx *g = p->g;
    if (wk__needs_input_grad(g, 0)) g->in[0] = wk__cast_to_operand(g, of_x, 0);
    if (wk__needs_input_grad(g, 1)) g->in[1] = wk__cast_to_operand(g, gradient_of_initial(&p->h), 1);
    if (wk__needs_input_grad(g, 2)) g->in[2] = wk__cast_to_operand(g, gradient_of_weight(p, of_product), 2);
    if (!wk__needs_input_grad(g, 3)) return;
    const int last = p->cell->gates - 1;
    g->in[3] = wk__cast_to_operand(g,
                                   p->cell->has_c ? gradient_of_initial(&p->c)
                                                  : wk_sum(wk_narrow(of_product, 1, last * p->hidden, p->hidden), (0)),
                                   3);
}

static bool run_steps(backward_pass *p)
{
    const int64_t count = p->steps->count;
    bool fine = wk__step_rows_begin(&p->x, p->cell->op, p->site, p->steps, p->cell->gates * p->hidden, p->states,
                                    p->differentiable);
    if (!fine) return false;
    fine = !p->cell->separate_product || wk__step_rows_begin(&p->product, p->cell->op, p->site, p->steps,
                                                             p->cell->gates * p->hidden, p->states, p->differentiable);
    for (int64_t k = 0; k < count && fine; k++) fine = run_step(p, p->steps->reverse ? k : count - 1 - k);
    wk_tensor *of_x = wk__step_rows_end(&p->x), *of_product = of_x;
    if (p->cell->separate_product) of_product = wk__step_rows_end(&p->product);
    if (fine && of_x && of_product) deliver(p, of_x, of_product);
    return fine;
}

void wk__sequence_gradient(wk__grad_ctx *g, const wk__cell *cell)
{
    backward_pass p = {.g = g, .cell = cell, .steps = g->node->payload, .site = g->node->site};
    p.differentiable = wk_is_grad_enabled();
    p.from_zero = g->attr->i[0];
    p.hidden = g->node->shape[1].size[1];
    p.states = saved(&p, WK__SAVED_OUT);
    p.first_h = saved(&p, 1);
    wk_tensor *weight = saved(&p, 2);
    if (!p.states || !p.first_h || !weight) return;
    const bool unequal = p.steps->row[p.steps->count] != p.steps->count * p.steps->row[1];
    if (unequal || p.differentiable) p.before_h = wk__steps_previous(p.steps, p.first_h, p.states);
    if (cell->has_c) {
        p.first_c = saved(&p, 3);
        p.cells = saved(&p, WK__SAVED_OUT + 2);
        if (!p.first_c || !p.cells) return;
        if (unequal || p.differentiable) p.before_c = wk__steps_previous(p.steps, p.first_c, p.cells);
        begin_state(&p, &p.c, 2);
    }
    if (wk__error_pending()) return;
    begin_state(&p, &p.h, 0);
    find_kept(&p);
    p.weight = wk__step_weight_of(p.site, weight, p.steps->row[1], p.differentiable);
    run_steps(&p);
}
