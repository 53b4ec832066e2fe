/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of products, of lists to concatenate, and of indexed ops; see generate.h. */
#include "generate.h"
#include "tensor/tensor.h"
#include <string.h>

/* ---- products ---------------------------------------------------------------------------------------------------- */

static int64_t extent(generator *g)
{
    if (g->wide) return rng_range(&g->draw, 40, 110);
    return rng_percent(&g->draw, 30) ? 1 : g->size[rng_below(&g->draw, g->sizes)];
}

static int64_t batches(generator *g)
{
    return g->wide ? rng_range(&g->draw, 1, 2) : extent(g);
}

/* Returns the second factor of a product for the first one: possibly itself or its transpose, with batches that
 * broadcast. */
static int factor(generator *g, const wk__body *a, int x, int ndim)
{
    const unsigned dtypes = 1u << a->dtype;
    const int64_t k = a->ndim ? a->shape[a->ndim - 1] : 1;
    int64_t shape[WK__MAX_DIMS];
    if (a->ndim >= 2 && ndim >= 2 && a->shape[a->ndim - 2] == k && rng_percent(&g->draw, 40)) return x;
    if (ndim == 1) return generate_operand(g, dtypes, 1, &k);
    for (int d = 0; d < ndim - 2; d++) {
        const int own = a->ndim - ndim + d;
        shape[d] = own >= 0 && own < a->ndim - 2 ? (rng_percent(&g->draw, 30) ? 1 : a->shape[own]) : batches(g);
    }
    shape[ndim - 2] = k;
    shape[ndim - 1] = extent(g);
    return generate_operand(g, dtypes, ndim, shape);
}

static bool product_operands(generator *g, const op_entry *r, step *s)
{
    const char *name = r->op->name;
    const bool added = strstr(name, "add") != NULL, batch = strstr(name, "bmm") != NULL;
    const bool any = strcmp(name, "matmul") == 0, vector = strcmp(name, "dot") == 0 || strcmp(name, "outer") == 0;
    const bool linear = strcmp(name, "linear") == 0;
    const int ndim = batch ? 3 : vector ? 1 : any || linear ? 0 : 2;
    int a = -1;
    for (int tries = 0; tries < 4 && a < 0 && !g->wide; tries++) {
        a = generate_pick(g, WK__NUMBERS, any || linear ? 1 : ndim);
        if (a >= 0 && ndim && generate_body(g, a)->ndim != ndim) a = -1;
    }
    if (a < 0) {
        const int own = ndim ? ndim : rng_range(&g->draw, g->wide ? 2 : 1, g->wide ? 3 : 4);
        int64_t shape[4];
        for (int d = 0; d < own; d++) shape[d] = d + 2 < own ? batches(g) : extent(g);
        a = generate_operand(g, 1u << (g->dtype == WK_BOOL ? WK_F32 : g->dtype), own, shape);
        if (a < 0) return false;
    }
    const wk__body *body = generate_body(g, a);
    const int other = strcmp(name, "mv") == 0 || vector ? 1
                      : any                             ? rng_range(&g->draw, g->wide ? 2 : 1, g->wide ? 3 : 4)
                      : batch                           ? 3
                                                        : 2;
    int b;
    if (linear) {
        const int64_t shape[] = {extent(g), body->shape[body->ndim - 1]};
        b = generate_operand(g, 1u << body->dtype, 2, shape);
    } else {
        b = strcmp(name, "outer") == 0 ? generate_pick(g, 1u << body->dtype, 1) : factor(g, body, a, other);
    }
    if (b < 0) return false;
    s->argument[added] = argument_slot(a);
    s->argument[added + 1] = argument_slot(b);
    if (!added && !linear) return true;
    const wk__body *right = generate_body(g, b);
    const int64_t columns = linear ? right->shape[0] : right->shape[right->ndim - 1];
    const int c = rng_percent(&g->draw, 70) || !added ? generate_operand(g, 1u << body->dtype, 1, &columns)
                                                      : generate_pick(g, 1u << body->dtype, 0);
    if (c >= 0) s->argument[linear ? 2 : 0] = argument_slot(c);
    return c >= 0;
}

bool generate_product_operands(generator *g, const op_entry *r, step *s)
{
    g->wide = rng_percent(&g->draw, g->big);
    const bool fine = product_operands(g, r, s);
    g->wide = false;
    return fine;
}

/* ---- lists and indices ------------------------------------------------------------------------------------------- */

bool generate_list_operands(generator *g, const op_entry *r, step *s)
{
    const int x = generate_pick(g, ANY_DTYPE, 1);
    if (x < 0) return false;
    const wk__body *body = generate_body(g, x);
    argument list = {.kind = WK_VALUE_TENSORS, .count = (uint8_t)rng_range(&g->draw, 1, 3)};
    const bool joined = strcmp(r->op->name, "cat") == 0;
    const int dim = rng_below(&g->draw, body->ndim + !joined);
    const unsigned dtypes = g->mixed && rng_percent(&g->draw, 20) ? ANY_DTYPE : 1u << body->dtype;
    int64_t shape[WK__MAX_DIMS];
    const int ndim = body->ndim;
    memcpy(shape, body->shape, sizeof shape);
    list.slot[0] = (int16_t)x;
    for (int k = 1; k < list.count; k++) {
        if (joined && rng_percent(&g->draw, 40)) shape[dim] = rng_below(&g->draw, 4);
        const int y = rng_percent(&g->draw, 20) ? x : generate_operand(g, dtypes, ndim, shape);
        if (y < 0) return false;
        list.slot[k] = (int16_t)y;
    }
    s->argument[0] = list;
    s->argument[1] = argument_int(rng_percent(&g->draw, 20) ? dim - ndim - !joined : dim);
    return true;
}

static int index_tensor(generator *g, int ndim, const int64_t *shape, int64_t below)
{
    const int x = generate_make(g, rng_percent(&g->draw, 80) ? WK_I64 : WK_I32, ndim, shape, MAKE_INDEX, below);
    if (x < 0 || rng_percent(&g->draw, 60)) return x;
    const argument same[] = {argument_int(1)}; /* not yet computed at the call */
    return generate_view(g, "mul", x, 1, same);
}

/* Fills in x, dim, index and, if the op has one, the source. */
bool generate_index_operands(generator *g, const op_entry *r, step *s)
{
    const char *name = r->op->name;
    const bool rows_of = strcmp(name, "embedding") == 0, taken = strcmp(name, "take") == 0;
    const bool along = strcmp(name, "take_along_dim") == 0;
    const bool whole = strcmp(name, "index_select") == 0 || strcmp(name, "index_add") == 0;
    const int x = generate_pick(g, ANY_DTYPE, rows_of ? 2 : 1);
    if (x < 0) return false;
    const wk__body *body = generate_body(g, x);
    if (rows_of && body->ndim != 2) return false;
    const int dim = rows_of ? 0 : rng_below(&g->draw, body->ndim);
    const int64_t places = taken ? wk__body_numel(body) : body->shape[dim];
    int64_t shape[WK__MAX_DIMS] = {0};
    int ndim = whole ? 1 : body->ndim;
    if (whole) {
        shape[0] = rng_below(&g->draw, 5);
    } else if (rows_of || taken) {
        generate_shape(g, &ndim, shape);
        if (ndim > 2) ndim = 2;
    } else {
        memcpy(shape, body->shape, sizeof shape);
        shape[dim] = rng_below(&g->draw, 5);
    }
    if (places == 0 || wk__numel(ndim, shape) > LARGE / 10) return false;
    const int index = index_tensor(g, ndim, shape, places);
    if (index < 0) return false;
    const int at = rows_of ? 0 : taken || along ? 1 : 2;
    s->argument[rows_of ? 1 : 0] = argument_slot(x);
    s->argument[at] = argument_slot(index);
    if (!rows_of && !taken)
        s->argument[along ? 2 : 1] = argument_int(rng_percent(&g->draw, 20) ? dim - body->ndim : dim);
    if (r->tensors < 3) return true;
    body = generate_body(g, x);
    int64_t source[WK__MAX_DIMS];
    memcpy(source, body->shape, sizeof source);
    if (whole)
        source[dim] = shape[0];
    else
        memcpy(source, shape, sizeof source);
    const int y = generate_operand(g, 1u << body->dtype, body->ndim, source);
    if (y >= 0) s->argument[3] = argument_slot(y);
    return y >= 0;
}
