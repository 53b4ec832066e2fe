/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the steps of a sequence (recurrence.h) and attaches their node. */
#include "recurrence.h"

void wk__cell_run(const wk__cell *cell, wk_tensor *x, wk_tensor *product, wk__cell_step *s)
{
    if (!x || !product) return;
    const int64_t hidden = wk__body_of(x)->shape[1] / cell->gates;
    for (int k = 0; k < cell->gates; k++) {
        s->x[k] = cell->gates == 1 ? x : wk_narrow(x, 1, k * hidden, hidden);
        s->product[k] = cell->gates == 1 ? product : wk_narrow(product, 1, k * hidden, hidden);
    }
    cell->forward(s);
}

/* A pass over the steps. All tensors are in the computation dtype. */
typedef struct forward_pass {
    const wk__cell *cell;
    const wk__steps *steps;
    wk_site site;
    wk_tensor *x, *bias, *first_h, *first_c;
    wk_tensor *projection; /* (P, H): the state is its product with that of the cell; NULL: none */
    wk_tensor *h, *c;      /* the states after the step that has run last */
    wk__step_weight weight;
    wk__step_rows states, kept, cells;
    bool keeps; /* values for backward */
} forward_pass;

/* Returns the state of the sequences that have a step: those of the last step, and in the reverse direction further
 * ones, which begin. */
static wk_tensor *state_for(wk_tensor *state, wk_tensor *first, int64_t rows)
{
    if (!state) return NULL;
    const int64_t have = wk__body_of(state)->shape[0];
    if (have > rows) return wk_narrow(state, 0, 0, rows);
    return have == rows ? state : wk_cat((state, wk_narrow(first, 0, have, rows - have)), 0);
}

static bool run_step(forward_pass *p, int64_t t)
{
    const int64_t rows = wk__steps_rows(p->steps, t);
    wk__call_scope scope;
    if (!wk__call_begin(&scope, WK__FRAME_CALL, NULL, p->site, WK__GRAD_KEPT)) return false;
    wk__cell_step s = {.bias = p->bias};
    s.h = state_for(p->h ? p->h : wk_narrow(p->first_h, 0, 0, rows), p->first_h, rows);
    if (p->cell->has_c) s.c = state_for(p->c ? p->c : wk_narrow(p->first_c, 0, 0, rows), p->first_c, rows);
    wk_tensor *product = wk__step_product(p->cell->op, p->site, s.h, &p->weight);
    wk__cell_run(p->cell, wk_narrow(p->x, 0, p->steps->row[t], rows), product, &s);
    if (p->projection && s.next_h) s.next_h = wk_matmul(s.next_h, p->projection);
    bool fine = s.next_h && wk__step_rows_put(&p->states, t, &s.next_h, 1);
    if (fine && p->cell->has_c) fine = wk__step_rows_put(&p->cells, t, &s.next_c, 1);
    if (fine && p->keeps) fine = wk__step_rows_put(&p->kept, t, s.kept, p->cell->kept);
    p->h = s.next_h;
    p->c = s.next_c;
    wk__call_end(&scope, (wk_tensor *[]){p->h, p->c, p->states.matrix, p->cells.matrix, p->kept.matrix}, 5);
    return fine;
}

static bool run_steps(forward_pass *p)
{
    const int64_t count = p->steps->count;
    bool fine = true;
    for (int64_t k = 0; k < count && fine; k++) fine = run_step(p, p->steps->reverse ? count - 1 - k : k);
    return fine;
}

/* Runs all steps without nodes. out[] receives states, kept values and cells, as far as the cell has them. Returns
 * their number, or -1. */
static int run_without_nodes(forward_pass *p, wk_tensor *weight, wk_dtype dtype, wk_tensor *out[3])
{
    const wk__cell *cell = p->cell;
    const int64_t hidden = wk__body_of(p->first_h)->shape[1];
    p->weight = wk__step_weight_of(p->site, wk_transpose(weight, 0, 1), wk__steps_rows(p->steps, 0), false);
    if (!wk__step_rows_begin(&p->states, cell->op, p->site, p->steps, hidden, p->x, false) ||
        !wk__step_rows_begin(&p->cells, cell->op, p->site, p->steps, hidden, p->x, false) ||
        !wk__step_rows_begin(&p->kept, cell->op, p->site, p->steps, cell->kept * hidden, p->x, false) || !run_steps(p))
        return -1;
    int results = 0;
    out[results++] = wk_to_dtype(p->states.matrix, dtype);
    if (p->keeps) out[results++] = p->kept.matrix;
    if (cell->has_c) out[results++] = wk_to_dtype(p->cells.matrix, dtype);
    return results;
}

static void drop_steps(void *steps)
{
    wk__steps_drop(steps);
}

bool wk__sequence_run(wk_site site, wk__sequence *s)
{
    const wk__cell *cell = s->cell;
    wk_tensor *in[4] = {s->x, s->h, s->weight, s->extra}, *out[3] = {NULL};
    const int inputs = s->extra ? 4 : 3;
    forward_pass p = {.cell = cell, .steps = s->steps, .site = site};
    const bool needs_node = wk__needs_grad_fn(wk__context(), in, inputs);
    p.keeps = needs_node && cell->kept;
    wk__compose c;
    if (!wk__compose_begin(&c, cell->op, site, in, inputs)) return false;
    wk_tensor *extra = s->extra ? wk__to_opmath(s->extra) : NULL, *weight = wk__to_opmath(s->weight);
    p.x = wk__to_opmath(s->x);
    p.first_h = wk__to_opmath(s->h);
    *(cell->has_c ? &p.first_c : &p.bias) = extra;
    const bool given = p.x && p.first_h && weight && (extra || !s->extra);
    const int results = given ? run_without_nodes(&p, weight, wk_dtype_of(s->x), out) : -1;
    const wk__attr attr = {.i = {s->from_zero}};
    if (!wk__compose_end_n(&c, out, results > 0 ? results : 1, &attr)) return false;
    s->states = out[0];
    s->cells = cell->has_c ? out[results - 1] : NULL;
    wk__node *node = needs_node ? wk__body_of(out[0])->node : NULL;
    if (node) {
        atomic_fetch_add(&s->steps->refs, 1);
        node->payload = s->steps;
        node->own_destroy = drop_steps;
    }
    if (p.keeps) wk__handle_release(&out[1]->handle, site); /* the node references it */
    return true;
}

bool wk__sequence_run_projected(wk_site site, wk__sequence *s, wk_tensor *projection)
{
    const wk__cell *cell = s->cell;
    forward_pass p = {.cell = cell, .steps = s->steps, .site = site, .x = s->x, .first_h = s->h, .first_c = s->extra};
    p.projection = wk_transpose(projection, 0, 1);
    p.weight = wk__step_weight_of(site, wk_transpose(s->weight, 0, 1), 0, true);
    if (!p.projection || !p.weight.matrix) return false;
    const int64_t projected = wk__body_of(s->h)->shape[1], hidden = wk__body_of(s->extra)->shape[1];
    bool fine = wk__step_rows_begin(&p.states, cell->op, site, s->steps, projected, s->x, true) &&
                wk__step_rows_begin(&p.cells, cell->op, site, s->steps, hidden, s->x, true) && run_steps(&p);
    s->states = wk__step_rows_end(&p.states);
    s->cells = wk__step_rows_end(&p.cells);
    return fine && s->states && s->cells;
}
