/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of ops, and of their forms in place; see generate.h. */
#include "generate.h"
#include "tensor/tensor.h"
#include "xalloc.h"
#include <stdlib.h>
#include <string.h>

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *group;
    int weight; /* of each of its rows */
} weights[] = {{"pointwise", 10}, {"view", 14},         {"reduction", 9}, {"matmul", 14},    {"joining", 9},
               {"copy", 14},      {"indexing", 6},      {"logic", 7},     {"comparison", 5}, {"sort", 5},
               {"softmax", 10},   {"scan", 10},         {"creation", 1},  {"random", 2},     {"activation", 4},
               {"loss", 2},       {"normalisation", 5}, {"autograd", 0}}; /* steps of their own */

static int weight_of(const op_entry *r)
{
    static const char *const most[] = {"add", "sub", "mul", "sum", "matmul", "narrow", "slice", "select", NULL};
    for (int k = 0; most[k]; k++)
        if (strcmp(r->op->name, most[k]) == 0) return 35;
    for (size_t k = 0; k < sizeof weights / sizeof *weights; k++)
        if (strcmp(weights[k].group, r->op->category) == 0) return weights[k].weight;
    return 4;
}

static const op_entry *pick_row(generator *g)
{
    static int *sum;
    if (!sum) {
        int *filled = xcalloc((size_t)op_entry_count, sizeof *filled);
        for (int k = 0; k < op_entry_count; k++) filled[k] = (k ? filled[k - 1] : 0) + weight_of(&op_entries[k]);
        sum = filled;
    }
    const int at = rng_below(&g->draw, sum[op_entry_count - 1]);
    int k = 0;
    while (sum[k] <= at) k++;
    return &op_entries[k];
}

/* Appends the call that *s describes; false when it is not there any more. */
static bool add_call(generator *g, step_kind kind, const op_entry *r, step *s)
{
    step *added = generate_begin(g, kind, kind == STEP_CALL && !r->writes ? MOST_RESULTS : 0);
    if (!added) return false;
    s->kind = added->kind;
    s->thread = added->thread;
    s->out = added->out;
    s->results = added->results;
    s->op = (int16_t)(r - op_entries);
    s->seed = (uint32_t)rng_bits(&g->draw) & 0xffff;
    *added = *s;
    return generate_end(g);
}

void generate_call(generator *g)
{
    const op_entry *r = pick_row(g);
    /* beside the elements of a view it has no gradient, as PyTorch's */
    if (g->program->gradcheck && strcmp(r->op->name, "as_strided") == 0) return;
    step s = {.kind = STEP_CALL};
    const bool sampled = rng_percent(&g->draw, r->tensors > 2 ? 60 : r->parameters > 2 && !r->op->view ? 15 : 4);
    if (sampled ? !generate_sample(g, r, &s) : !generate_operands(g, r, &s)) return;
    if (!sampled) generate_arguments(g, r, &s);
    add_call(g, STEP_CALL, r, &s);
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

static bool may_be_written(const wk__body *body)
{
    return !wk__body_overlaps(body) && !(body->requires_grad && !body->node);
}

static int pick_target(generator *g, unsigned dtypes)
{
    int best = -1;
    for (int tries = 0; tries < 5; tries++) {
        const int x = generate_pick(g, dtypes, 0);
        if (x < 0) return -1;
        if (!may_be_written(generate_body(g, x)) && !rng_percent(&g->draw, 4)) continue;
        best = x;
        if (generate_body(g, x)->is_view || rng_percent(&g->draw, 50)) break;
    }
    return best;
}

/* An operand of an in-place call: of the target's shape or less; now and then the target itself, or a view of it. */
static bool in_place_operand(generator *g, const op_entry *r, int k, int target, argument *a)
{
    const wk__body *body = generate_body(g, target);
    const bool condition = r->op->own_dtype_operands >> k & 1 && !r->parameter[k].accepts_scalar;
    const unsigned dtypes = condition ? WK__BOOLS : 1u << body->dtype;
    if (!condition && rng_percent(&g->draw, 15)) {
        int found = -1, seen = 0;
        for (int j = 0; j < g->program->slots; j++) {
            const slot *x = &g->machine->slot[j];
            if (!x->tensor || generate_body(g, j)->storage != body->storage || generate_body(g, j)->ndim > body->ndim)
                continue;
            if (rng_below(&g->draw, ++seen) == 0) found = j;
        }
        *a = argument_slot(found >= 0 ? found : target);
        return true;
    }
    if (r->parameter[k].accepts_scalar && rng_percent(&g->draw, 35)) {
        *a = rng_percent(&g->draw, 50) ? argument_int(rng_range(&g->draw, -1, 3)) : argument_float(0.6);
        return true;
    }
    int64_t shape[WK__MAX_DIMS];
    const int from = rng_percent(&g->draw, 70) ? 0 : rng_below(&g->draw, body->ndim + 1), ndim = body->ndim - from;
    for (int d = 0; d < ndim; d++) shape[d] = rng_percent(&g->draw, 12) ? 1 : body->shape[from + d];
    const int x = generate_operand(g, dtypes, ndim, shape);
    if (x >= 0) *a = argument_slot(x);
    return x >= 0;
}

void generate_in_place(generator *g)
{
    const op_entry *r = NULL;
    for (int tries = 0; tries < 30; tries++) {
        r = pick_row(g);
        if (r->op->invoke_in_place || r->writes) break;
    }
    if (!r->op->invoke_in_place && !r->writes) return;
    /* whether its result is near 0, where it has any slope, is known too late to take the step back */
    if (g->program->gradcheck && strcmp(r->op->name, "sqrt") == 0) return;
    const unsigned domain = r->op->dtypes ? r->op->dtypes : ANY_DTYPE;
    const int target = pick_target(g, domain);
    if (target < 0) return;
    step s = {.arguments = (uint8_t)r->parameters};
    if (r->tensors > 1 && !r->pointwise && strcmp(r->op->name, "copy_") != 0) return; /* scatter_add_ comes by the op */
    s.argument[0] = argument_slot(target);
    for (int k = 1; k < r->parameters; k++)
        if (r->parameter[k].kind == WK_VALUE_TENSOR && (!r->parameter[k].optional || rng_percent(&g->draw, 50)) &&
            !in_place_operand(g, r, k, target, &s.argument[k]))
            return;
    generate_arguments(g, r, &s);
    add_call(g, r->op->invoke_in_place ? STEP_IN_PLACE : STEP_CALL, r, &s);
}

void generate_in_place_of(generator *g, const char *op, int x, const argument *y)
{
    const op_entry *r = &op_entries[wk_op_find(op)];
    if (x < 0) return;
    step s = {.arguments = (uint8_t)r->parameters};
    s.argument[0] = argument_slot(x);
    s.argument[1] = *y;
    add_call(g, r->op->invoke_in_place ? STEP_IN_PLACE : STEP_CALL, r, &s);
}

void generate_use(generator *g, int slot)
{
    const bool fraction = wk__is_float(generate_body(g, slot)->dtype);
    const argument number = fraction ? argument_float(0.5) : argument_int(2);
    if (rng_percent(&g->draw, 40)) {
        generate_view(g, "mul", slot, 1, &number);
        return;
    }
    generate_in_place_of(g, "mul", slot, &number);
}

/* A matrix, and what a few calls make of it; its slot, or -1. */
static int computed_matrix(generator *g)
{
    static const char *const ops[] = {"neg", "abs", "square"};
    int x = -1;
    for (int tries = 0; tries < 4 && (x < 0 || generate_body(g, x)->ndim != 2); tries++)
        x = generate_pick(g, ANY_DTYPE & ~WK__BOOLS, 2);
    if (x < 0 || generate_body(g, x)->ndim != 2) return -1;
    for (int k = rng_range(&g->draw, 1, 3); k > 0 && x >= 0; k--) {
        const argument number = argument_int(2);
        x = rng_percent(&g->draw, 40) ? generate_view(g, "mul", x, 1, &number)
                                      : generate_view(g, ops[rng_below(&g->draw, 3)], x, 0, &number);
    }
    return x;
}

void generate_factor(generator *g)
{
    const int w = computed_matrix(g);
    if (w < 0) return;
    const wk__body *body = generate_body(g, w);
    const int64_t shape[] = {rng_range(&g->draw, 1, 4), body->shape[1]};
    const bool vector = rng_percent(&g->draw, 30);
    const int x = generate_operand(g, 1u << body->dtype, vector ? 1 : 2, vector ? shape + 1 : shape);
    const argument none[MOST_ARGUMENTS] = {{0}};
    const int second = x < 0 || vector ? x : generate_view(g, "t", w, 0, none);
    if (second < 0) return;
    const argument other = argument_slot(second);
    generate_view(g, "matmul", vector ? w : x, 1, &other);
}
