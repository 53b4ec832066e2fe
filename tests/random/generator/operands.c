/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of a call: existing slots, views of them that fit, or new tensors; see generate.h. */
#include "generate.h"
#include "tensor/tensor.h"
#include <stdlib.h>
#include <string.h>

/* ---- slots ------------------------------------------------------------------------------------------------------- */

static bool fits(const generator *g, int k, unsigned dtypes, int min_ndim)
{
    const slot *x = &g->machine->slot[k];
    if (!x->tensor || (x->thread != g->thread && !x->retains)) return false;
    const wk__body *body = wk__body_of(x->tensor);
    return dtypes >> body->dtype & 1 && body->ndim >= min_ndim;
}

int generate_pick(generator *g, unsigned dtypes, int min_ndim)
{
    int found[MOST_SLOTS], count = 0;
    for (int k = 0; k < g->program->slots; k++)
        if (fits(g, k, dtypes, min_ndim)) found[count++] = k;
    if (!count) return -1;
    /* half of the time one of the newest, so that calls build on each other */
    if (count > 3 && rng_percent(&g->draw, 50)) return found[count - 1 - rng_below(&g->draw, 3)];
    return found[rng_below(&g->draw, count)];
}

void generate_shape(generator *g, int *ndim, int64_t *shape)
{
    rng *d = &g->draw;
    *ndim = rng_percent(d, 8) ? 0 : rng_percent(d, 70) ? rng_range(d, 1, 2) : rng_range(d, 3, 4);
    for (int k = 0; k < *ndim; k++) shape[k] = rng_percent(d, 12) ? 1 : g->size[rng_below(d, g->sizes)];
    if (*ndim && rng_percent(d, 3)) shape[rng_below(d, *ndim)] = 0;
    if (*ndim && *ndim < 3 && rng_percent(d, g->big))
        shape[rng_below(d, *ndim)] = rng_range(d, 30, 4200 / (int)(shape[0] * (*ndim > 1 ? shape[1] : 1) + 1) + 30);
}

int generate_make(generator *g, wk_dtype dtype, int ndim, const int64_t *shape, int how, int64_t below)
{
    const bool may_be_leaf = wk__is_float(dtype) && (dtype == WK_F64 || !g->program->gradcheck) && !(how & MAKE_INDEX);
    if (g->grads && may_be_leaf && rng_percent(&g->draw, g->program->gradcheck ? 80 : 50)) how |= MAKE_LEAF;
    if (!g->program->gradcheck && !g->program->concurrent && !(how & MAKE_LEAF) && wk__numel(ndim, shape) > 0 &&
        rng_percent(&g->draw, 8))
        how |= MAKE_BORROWED;
    step *s = generate_begin(g, STEP_MAKE, 1);
    if (!s) return -1;
    s->dtype = (uint8_t)dtype;
    s->how = (uint8_t)how;
    s->card = (uint8_t)g->card;
    s->seed = (uint32_t)rng_bits(&g->draw);
    if (g->program->gradcheck) s->seed &= ~1u; /* eighths are equal too often, and functions have no slope at ties */
    s->arguments = 2;
    s->argument[0] = argument_ints(ndim, shape);
    s->argument[1] = argument_int(below);
    const int slot = s->out;
    return generate_end(g) ? slot : -1;
}

int generate_view(generator *g, const char *op, int x, int count, const argument *arguments)
{
    const int index = wk_op_find(op);
    step *s = generate_begin(g, STEP_CALL, 1);
    if (!s) return -1;
    s->op = (int16_t)index;
    s->arguments = (uint8_t)op_entries[index].parameters;
    s->argument[0] = argument_slot(x);
    memcpy(s->argument + 1, arguments, sizeof *arguments * (size_t)count);
    const int out = s->out;
    if (!generate_end(g)) return -1;
    return g->machine->slot[out].tensor ? out : x; /* was already of that form */
}

/* ---- tensors of a given shape ------------------------------------------------------------------------------------ */

static bool has_shape(const wk__body *body, int ndim, const int64_t *shape)
{
    return wk__same_shape(body->ndim, body->shape, ndim, shape);
}

static int same_shape(generator *g, unsigned dtypes, int ndim, const int64_t *shape)
{
    int found = -1, seen = 0;
    for (int k = 0; k < g->program->slots; k++)
        if (fits(g, k, dtypes, ndim) && has_shape(generate_body(g, k), ndim, shape) && rng_below(&g->draw, ++seen) == 0)
            found = k;
    return found;
}

/* Cuts a tensor out of x, which has at least as many elements: flattened, narrowed, reshaped. */
static int cut(generator *g, int x, int ndim, const int64_t *shape)
{
    const int64_t have = wk__body_numel(generate_body(g, x)), want = wk__numel(ndim, shape);
    const argument flat[] = {argument_ints(1, (const int64_t[]){-1})};
    if (have < want || have == 0) return -1;
    x = generate_view(g, "reshape", x, 1, flat);
    if (x >= 0 && have > want) {
        const argument part[] = {argument_int(0), argument_int(rng_below(&g->draw, (int)(have - want) + 1)),
                                 argument_int(want)};
        x = generate_view(g, "narrow", x, 3, part);
    }
    const argument folded[] = {argument_ints(ndim, shape)};
    return x >= 0 ? generate_view(g, "reshape", x, 1, folded) : -1;
}

/* Permutes dimensions, if that yields the shape. */
static int turned(generator *g, unsigned dtypes, int ndim, const int64_t *shape)
{
    if (ndim != 2) return -1;
    const int64_t other[] = {shape[1], shape[0]};
    const int x = same_shape(g, dtypes, 2, other);
    const argument dims[] = {argument_int(0), argument_int(1)};
    return x < 0 ? -1 : generate_view(g, "transpose", x, 2, dims);
}

int generate_operand(generator *g, unsigned dtypes, int ndim, const int64_t *shape)
{
    int x = rng_percent(&g->draw, 75) ? same_shape(g, dtypes, ndim, shape) : -1;
    if (x < 0 && rng_percent(&g->draw, 50)) x = turned(g, dtypes, ndim, shape);
    if (x < 0 && rng_percent(&g->draw, 50)) {
        const int from = generate_pick(g, dtypes, 0);
        if (from >= 0) x = cut(g, from, ndim, shape);
    }
    if (x >= 0) return x;
    wk_dtype dtype = g->dtype;
    for (int tries = 0; !(dtypes >> dtype & 1) && tries < 40; tries++)
        dtype = (wk_dtype)rng_range(&g->draw, WK_F32, WK_DTYPE_COUNT - 1);
    return dtypes >> dtype & 1 ? generate_make(g, dtype, ndim, shape, 0, 0) : -1;
}

/* ---- broadcasting ------------------------------------------------------------------------------------------------ */

static bool broadcasts(const wk__body *a, const wk__body *b)
{
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    return a->ndim <= 5 && b->ndim <= 5 && wk__broadcast(a->ndim, a->shape, b->ndim, b->shape, &ndim, shape) &&
           wk__numel(ndim, shape) <= LARGE;
}

static int broadcasting(generator *g, unsigned dtypes, int x)
{
    int found = -1, seen = 0;
    for (int k = 0; k < g->program->slots; k++) /* newer ones are more likely */
        if (fits(g, k, dtypes, 0) && broadcasts(generate_body(g, x), generate_body(g, k)) &&
            (seen++ == 0 || rng_below(&g->draw, 2 * seen) < seen + 1))
            found = k;
    return found;
}

/* Returns a tensor of x's shape, of some of its dimensions, or with size 1 in some. */
static int smaller(generator *g, unsigned dtypes, int x)
{
    const wk__body *body = generate_body(g, x);
    int64_t shape[WK__MAX_DIMS];
    const int from = body->ndim ? rng_below(&g->draw, body->ndim + 1) : 0, ndim = body->ndim - from;
    for (int k = 0; k < ndim; k++) shape[k] = rng_percent(&g->draw, 25) ? 1 : body->shape[from + k];
    return generate_operand(g, dtypes, ndim, shape);
}

static bool pointwise_operand(generator *g, const op_entry *r, int k, int first, argument *a)
{
    const unsigned domain = r->op->dtypes ? r->op->dtypes : ANY_DTYPE;
    const bool condition = r->op->own_dtype_operands >> k & 1 && r->parameter[k].kind == WK_VALUE_TENSOR &&
                           !r->parameter[k].accepts_scalar;
    const unsigned dtypes = condition ? WK__BOOLS : g->mixed ? domain : domain & (1u << generate_body(g, first)->dtype);
    if (r->parameter[k].accepts_scalar && rng_percent(&g->draw, 20)) {
        *a = rng_percent(&g->draw, 50) ? argument_int(rng_range(&g->draw, -2, 3))
                                       : argument_float(rng_percent(&g->draw, 50) ? 0.5 : 1.7);
        return true;
    }
    if (!condition && rng_percent(&g->draw, 12)) {
        *a = argument_slot(first);
        return true;
    }
    int x = rng_percent(&g->draw, 70) ? broadcasting(g, dtypes ? dtypes : domain, first) : -1;
    if (x < 0) x = smaller(g, dtypes ? dtypes : domain, first);
    if (x >= 0) *a = argument_slot(x);
    return x >= 0;
}

/* If both limits are equal, neither receives a gradient, as in PyTorch, but differences are 1. */
static bool is_second_limit(const generator *g, const op_entry *r, const step *s, int k)
{
    return g->program->gradcheck && k == 2 && strcmp(r->op->name, "clamp") == 0 && s->argument[1].kind != WK_VALUE_NONE;
}

static bool pointwise_operands(generator *g, const op_entry *r, step *s)
{
    const unsigned domain = r->op->dtypes ? r->op->dtypes : ANY_DTYPE;
    const int at =
        /* where: the condition comes first */
        r->op->own_dtype_operands & 1 && r->parameters > 1 && r->tensors > 1 ? 1 : 0;
    const int first = generate_pick(g, at ? ANY_DTYPE : domain, 0);
    if (first < 0) return false;
    for (int k = 0; k < r->parameters; k++) {
        const wk_parameter *p = &r->parameter[k];
        if (p->kind != WK_VALUE_TENSOR) continue;
        if (k == at) {
            s->argument[k] = argument_slot(first);
        } else if ((!p->optional || rng_percent(&g->draw, 60)) && !is_second_limit(g, r, s, k)) {
            if (!pointwise_operand(g, r, k, first, &s->argument[k])) return false;
        }
    }
    return true;
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static bool named(const op_entry *r, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(r->op->name, *names) == 0) return true;
    return false;
}

bool generate_operands(generator *g, const op_entry *r, step *s)
{
    static const char *const looked_up[] = {"index_select", "gather",  "take_along_dim", "take", "embedding",
                                            "scatter_add",  "scatter", "index_add",      NULL};
    s->arguments = (uint8_t)r->parameters;
    if (r->parameters && r->parameter[0].kind == WK_VALUE_TENSORS) return generate_list_operands(g, r, s);
    if (strcmp(r->op->category, "matmul") == 0) return generate_product_operands(g, r, s);
    if (named(r, looked_up)) return generate_index_operands(g, r, s);
    if (r->pointwise || strcmp(r->op->name, "copy_") == 0) return pointwise_operands(g, r, s);
    if (r->tensors == 0) return true;
    const int x = generate_pick(g, r->op->dtypes ? r->op->dtypes : ANY_DTYPE, 0);
    if (x < 0) return false;
    s->argument[0] = argument_slot(x);
    if (r->tensors == 1) return true;
    if (r->tensors > 2) return false; /* by a sample */
    const int y = rng_percent(&g->draw, 50) ? broadcasting(g, 1u << generate_body(g, x)->dtype, x)
                                            : smaller(g, 1u << generate_body(g, x)->dtype, x);
    if (y >= 0) s->argument[1] = argument_slot(y);
    return y >= 0;
}
