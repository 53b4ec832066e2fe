/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the arguments of a call other than tensors, by their names in the schemas; see generate.h. The library rejects
 * unsuitable values and the step is dropped, so a rule only needs to be right most of the time. */
#include "generate.h"
#include "tensor/tensor.h"
#include <string.h>

static bool is(const char *name, const char *other)
{
    return strcmp(name, other) == 0;
}

/* Returns true if name is one of names, which are separated by blanks. */
static bool among(const char *name, const char *names)
{
    const size_t n = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at++)
        if ((at == names || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

static int64_t drawn_dim(generator *g, const wk__body *x, int more)
{
    const int ndim = (x ? x->ndim : 0) + more, n = ndim ? ndim : 1;
    g->dim = rng_below(&g->draw, n);
    return rng_percent(&g->draw, 25) ? g->dim - n : g->dim;
}

/* Returns the size of the dimension that was drawn last. */
static int64_t places(const generator *g, const wk__body *x)
{
    return x && g->dim < x->ndim ? x->shape[g->dim] : 1;
}

/* Returns the indexed tensor, if it is not the first argument. */
static const wk__body *subject_of(const generator *g, const op_entry *r, const step *s)
{
    const int k = is(r->op->name, "embedding") ? 1 : 0;
    if (s->argument[k].kind != WK_VALUE_TENSOR && s->argument[k].kind != WK_VALUE_TENSORS) return NULL;
    return generate_body(g, s->argument[k].slot[0]);
}

static int64_t drawn_int(generator *g, const op_entry *r, const char *name, const wk__body *x, const step *s)
{
    rng *d = &g->draw;
    const int64_t n = places(g, x);
    if (among(name, "dim dim0 dim1 dim2 axis0 axis1 source destination dimension start_dim end_dim"))
        return drawn_dim(g, x, among(r->op->name, "unsqueeze stack"));
    if (is(name, "start")) return rng_percent(d, 12) ? n : rng_below(d, (int)n + 1);
    if (is(name, "end")) return rng_percent(d, 20) ? rng_range(d, -2, 0) : rng_below(d, (int)n + 2);
    if (is(name, "length")) {
        const int64_t left = n - s->argument[2].i;
        return rng_percent(d, 10) ? 0 : rng_range(d, left > 0 ? 1 : 0, (int)left);
    }
    if (is(name, "index")) return rng_percent(d, 25) ? -1 : rng_below(d, (int)n);
    if (among(name, "offset diagonal")) return rng_range(d, -2, 2);
    if (among(name, "k num_samples")) return n ? rng_range(d, 1, (int)n) : 1;
    if (among(name, "size split_size") && n > 0) /* unfold repeats an element as often as a window is long */
        return rng_range(d, 1, is(r->op->name, "unfold") && n > 16 ? 4 : (int)n);
    if (is(name, "repeats")) return rng_percent(d, 5) ? 0 : rng_range(d, 1, 3);
    if (among(name, "n steps")) return rng_below(d, 6);
    if (is(name, "low")) return -3;
    if (is(name, "high")) return rng_range(d, -2, 5);
    if (is(name, "num_classes")) return rng_range(d, 5, 7);
    return rng_range(d, 1, 3);
}

static int bounded_list(generator *g, const wk__body *x, int64_t *ints)
{
    const int ndim = x ? x->ndim : 0;
    int count = 0;
    for (int k = 0; k < ndim; k++)
        if (rng_percent(&g->draw, 45)) ints[count++] = rng_percent(&g->draw, 20) ? k - ndim : k;
    return count;
}

static int permutation(generator *g, const wk__body *x, int64_t *ints)
{
    const int ndim = x ? x->ndim : 0;
    for (int k = 0; k < ndim; k++) {
        const int at = rng_below(&g->draw, k + 1);
        ints[k] = ints[at];
        ints[at] = k;
    }
    return ndim;
}

/* Factors n into up to four factors. */
static int factors(generator *g, int64_t n, int64_t *ints)
{
    int count = 0;
    const int most = rng_range(&g->draw, n == 1 ? 0 : 1, 3);
    while (count + 1 < most) {
        int64_t f = rng_range(&g->draw, 1, 4);
        while (n % f) f--;
        ints[count++] = n ? f : rng_below(&g->draw, 4);
        if (n) n /= f;
    }
    if (most) ints[count++] = n;
    if (n && count && rng_percent(&g->draw, 30)) ints[rng_below(&g->draw, count)] = -1;
    return count;
}

/* Expands dimensions of size 1 of x's shape, and may prepend new ones. */
static int expansion(generator *g, const wk__body *x, int64_t *ints)
{
    const int front = rng_percent(&g->draw, 30) && x->ndim < 4;
    for (int k = 0; k < x->ndim; k++)
        ints[front + k] = x->shape[k] == 1 ? g->size[rng_below(&g->draw, g->sizes)] : x->shape[k];
    if (front) ints[0] = g->size[rng_below(&g->draw, g->sizes)];
    return front + x->ndim;
}

/* Splits the last dimension that was drawn. */
static int parts(generator *g, int64_t n, int64_t *ints)
{
    int count = 0;
    while (count < 4 && n > 0) {
        ints[count] = rng_range(&g->draw, 0, (int)n);
        n -= ints[count++];
    }
    if (n) ints[count++] = n;
    return count;
}

static int strided(generator *g, int64_t *ints, bool strides)
{
    const int count = rng_range(&g->draw, 1, 2);
    for (int k = 0; k < count; k++) ints[k] = strides ? rng_below(&g->draw, 4) : rng_range(&g->draw, 1, 3);
    return count;
}

static void drawn_ints(generator *g, const op_entry *r, const char *name, const wk__body *x, const step *s, argument *a)
{
    const char *op = r->op->name;
    int count = 0, ndim = 0;
    int64_t *ints = a->ints;
    a->kind = WK_VALUE_INTS;
    if (is(op, "permute")) {
        count = permutation(g, x, ints);
    } else if (is(op, "as_strided")) {
        count = strided(g, ints, is(name, "stride"));
        if (is(name, "stride")) count = s->argument[1].count;
    } else if (among(op, "expand") && x) {
        count = expansion(g, x, ints);
    } else if (among(op, "reshape")) {
        count = factors(g, x ? wk__body_numel(x) : 1, ints);
    } else if (is(op, "unflatten")) {
        count = factors(g, places(g, x), ints);
    } else if (is(op, "split_with_sizes")) {
        count = parts(g, places(g, x), ints);
    } else if (among(op, "repeat tile")) {
        count = (x ? x->ndim : 0) + rng_percent(&g->draw, 20);
        for (int k = 0; k < count; k++) ints[k] = rng_percent(&g->draw, 4) ? 0 : rng_range(&g->draw, 1, 2);
    } else if (is(name, "shifts") || (is(op, "roll") && is(name, "dims"))) {
        count = is(name, "shifts") ? rng_range(&g->draw, 1, 2) : s->argument[1].count == 2 ? 2 : rng_below(&g->draw, 2);
        for (int k = 0; k < count; k++)
            ints[k] = is(name, "dims") ? k % (x && x->ndim ? x->ndim : 1) : rng_range(&g->draw, -3, 3);
    } else if (is(name, "normalized_shape") && x) {
        count = rng_range(&g->draw, 1, x->ndim > 1 ? 2 : 1);
        for (int k = 0; k < count && x->ndim >= count; k++) ints[k] = x->shape[x->ndim - count + k];
    } else if (among(name, "dim dims")) {
        count = bounded_list(g, x, ints);
    } else {
        generate_shape(g, &ndim, ints);
        count = ndim;
    }
    a->count = (uint8_t)count;
    if (is(op, "squeeze") && !count) a->kind = WK_VALUE_NONE;
}

/* ---- other arguments --------------------------------------------------------------------------------------------- */

static argument drawn_scalar(generator *g, const char *name)
{
    static const double fractions[] = {0.5, 1.5, 0.3, -0.75, 2.0, 1.1};
    if (among(name, "min_val max_val")) return argument_float(is(name, "min_val") ? -0.75 : 1.5);
    if (is(name, "eps")) return argument_float(1e-6);
    if (is(name, "p")) return argument_float(rng_percent(&g->draw, 50) ? 0.5 : 2);
    if (is(name, "exponent"))
        return rng_percent(&g->draw, 70) ? argument_int(rng_range(&g->draw, 1, 3)) : argument_float(0.5);
    if (is(name, "end")) return argument_int(rng_below(&g->draw, 7));
    if (is(name, "step")) return argument_int(1);
    if (rng_percent(&g->draw, 40)) return argument_int(rng_range(&g->draw, -2, 3));
    return argument_float(fractions[rng_below(&g->draw, 6)]);
}

static wk_dtype drawn_dtype(generator *g)
{
    if (g->program->gradcheck) return rng_percent(&g->draw, 90) ? WK_F64 : WK_I64;
    if (rng_percent(&g->draw, 35)) return g->dtype;
    return (wk_dtype)rng_range(&g->draw, WK_F32, WK_DTYPE_COUNT - 1);
}

static argument drawn_text(generator *g, const wk_parameter *p)
{
    argument a = {.kind = WK_VALUE_TEXT};
    int count = 0;
    while (p->choices[count]) count++;
    snprintf(a.text, sizeof a.text, "%s", p->choices[rng_below(&g->draw, count)]);
    return a;
}

/* Returns true for options of embeddings that programs cannot judge: .max_norm writes to the operand weight, and with
 * the others gradients are by definition not the derivatives. tests/ops/indexing.c has them. */
static bool is_left_out(const op_entry *r, const wk_parameter *p)
{
    if (is(r->op->name, "embedding")) return among(p->name, "padding_idx max_norm scale_grad_by_freq");
    return is(r->op->name, "embedding_bag") && among(p->name, "max_norm scale_grad_by_freq");
}

/* Returns true for arguments that are usually given. */
static bool is_given(generator *g, const op_entry *r, const wk_parameter *p)
{
    if (!p->optional) return true;
    if (r->op->view || is(r->op->name, "arange")) return true;
    /* otherwise the largest element determines the size, which may be 2^31 */
    if (is(p->name, "num_classes")) return true;
    return rng_percent(&g->draw,
                       among(p->name, "dim keepdim start end k descending largest diagonal offset") ? 65 : 25);
}

void generate_arguments(generator *g, const op_entry *r, step *s)
{
    const wk__body *x = subject_of(g, r, s);
    for (int k = 0; k < r->parameters; k++) {
        const wk_parameter *p = &r->parameter[k];
        argument *a = &s->argument[k];
        if (p->kind == WK_VALUE_TENSOR || p->kind == WK_VALUE_TENSORS || a->kind != WK_VALUE_NONE) continue;
        if (is_left_out(r, p) || !is_given(g, r, p)) continue;
        if (p->kind == WK_VALUE_INTS)
            drawn_ints(g, r, p->name, x, s, a);
        else if (p->kind == WK_VALUE_INT)
            *a = argument_int(drawn_int(g, r, p->name, x, s));
        else if (p->kind == WK_VALUE_FLOAT)
            *a = drawn_scalar(g, p->name);
        else if (p->kind == WK_VALUE_BOOL)
            *a = (argument){.kind = WK_VALUE_BOOL, .i = rng_below(&g->draw, 2)};
        else if (p->kind == WK_VALUE_DTYPE)
            *a = (argument){.kind = WK_VALUE_DTYPE, .i = drawn_dtype(g)};
        else if (p->kind == WK_VALUE_TEXT)
            *a = drawn_text(g, p);
    }
    if (is(r->op->name, "to")) s->argument[1].kind = WK_VALUE_DEVICE;
}
