/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep of gradients: each differentiable row's gradient against central differences in f64, and the gradient of that
 * gradient, with the seed as an additional input.
 *
 * Differences need two calls per element, and calls take longer the more elements there are. Large operands are
 * therefore moved in some random directions instead of along each axis: operand + directions x amounts, with the
 * amounts as leaf. */
#include "support/sweep/sweep.h"
#include "base/alloc.h"

enum { LARGE = 200, DIRECTIONS = 16 };

typedef struct trial {
    const wk__op *op;
    sweep_sample sample;
    sweep_input input[SWEEP_TENSORS];
    wk_tensor *directions[SWEEP_TENSORS]; /* (elements, DIRECTIONS) of a large operand */
    int leaf[SWEEP_TENSORS], leaves;      /* the differentiated operands */
    int result;                           /* index of the result in use */
} trial;

static wk_tensor *moved(wk_tensor *x, wk_tensor *directions, wk_tensor *amounts)
{
    return wk_add(x, wk_view_as(wk_matmul(directions, amounts), x));
}

/* Calls the op with `in` for the leaves; the others are constants. A leaf must not be written in place: a copy is
 * written. */
static wk_tensor *forward(wk_tensor *const *in, void *user)
{
    trial *t = user;
    wk_tensor *tensor[SWEEP_TENSORS], *out[SWEEP_RESULTS] = {0};
    sweep_sample sample = t->sample;
    for (int k = 0; k < sample.operands; k++) tensor[k] = t->input[k].tensor;
    for (int k = 0; k < t->leaves; k++) {
        const int n = t->leaf[k];
        tensor[n] = t->directions[n] ? moved(t->input[n].tensor, t->directions[n], in[k]) : in[k];
    }
    if (sweep_writes(t->op)) tensor[0] = wk_clone(tensor[0]);
    sweep_bind(&sample, tensor);
    int count = sweep_call(t->op, &sample, wk_cpu(), out);
    return t->result < count ? out[t->result] : NULL;
}

/* Returns the gradients of all leaves, for the seed that is the last input, summed to one number with different
 * weights, plus a small share of all inputs, so that the result always depends on them. */
static wk_tensor *backward(wk_tensor *const *in, void *user)
{
    WK_ENABLE_GRAD;
    trial *t = user;
    for (int k = 0; k <= t->leaves; k++)
        wk_requires_grad_(in[k], true); /* operands for finite differences do not require grad yet */
    wk_tensor *out = forward(in, user), *grads[SWEEP_TENSORS] = {0}, *seed = in[t->leaves], *total = NULL;
    wk_grad_options options = {
        .size = sizeof options, .grad_outputs = &seed, .create_graph = true, .allow_unused = true};
    if (!out || wk_grad_at(WK_HERE, &out, 1, in, t->leaves, grads, &options) != WK_OK) return NULL;
    for (int k = 0; k <= t->leaves; k++) {
        wk_tensor *unused = wk_mul(wk_sum(in[k]), 0.0);
        total = total ? wk_add(total, unused) : unused;
        if (k == t->leaves || !grads[k]) continue;
        wk_tensor *weights = wk_linspace(0.5, 2 + k, wk_numel(grads[k]), .dtype = WK_F64);
        total = wk_add(total, wk_sum(wk_mul(grads[k], wk_reshape_at(WK_HERE, weights, t->input[t->leaf[k]].array.shape,
                                                                    wk_ndim(in[k])))));
    }
    return total;
}

static void begin(trial *t, const wk__op *op, const char *text, wk_tensor *leaves[])
{
    const char *why;
    *t = (trial){.op = op};
    if (!sweep_parse(text, &t->sample, &why)) fail_msg("%s: sample \"%s\": %s", op->name, text, why);
    sweep_make_inputs(op, &t->sample, WK_F64, SWEEP_DENSE, wk_cpu(), 17, t->input);
    for (int k = 0; k < t->sample.operands; k++) {
        if (wk_dtype_of(t->input[k].tensor) != WK_F64 || t->sample.operand[k].below) continue;
        const int64_t elements = wk_numel(t->input[k].tensor);
        wk_tensor *leaf = t->input[k].tensor;
        if (elements > LARGE) {
            t->directions[k] = wk_randn((elements, DIRECTIONS), .dtype = WK_F64);
            leaf = wk_zeros((DIRECTIONS), .dtype = WK_F64);
        }
        leaves[t->leaves] = wk_requires_grad_(leaf, true);
        t->leaf[t->leaves++] = k;
    }
}

/* Returns true if finite differences can check the result. After a conversion to i64 or f32 they cannot. */
static bool can_check(const trial *t, wk_tensor *const out[])
{
    return wk_dtype_of(out[t->result]) == WK_F64 && wk_requires_grad(out[t->result]);
}

static int results_of(trial *t, wk_tensor *const leaves[], wk_tensor *out[])
{
    for (t->result = 0; t->result < SWEEP_RESULTS && (out[t->result] = forward(leaves, t)); t->result++)
        ;
    return t->result;
}

static void first_gradient(void **state)
{
    const wk__op *op = *state;
    for (const char *const *text = op_reference_of(op)->samples; *text; text++) {
        WK_SCOPE;
        trial t;
        wk_tensor *leaves[SWEEP_TENSORS], *out[SWEEP_RESULTS];
        begin(&t, op, *text, leaves);
        int results = t.leaves ? results_of(&t, leaves, out) : 0;
        for (t.result = 0; t.result < results; t.result++)
            if (can_check(&t, out) && !wk_gradcheck_at(WK_HERE, forward, &t, leaves, t.leaves))
                fail_msg("%s(%s), result %d: %s", op->name, *text, t.result, wk_error());
        sweep_free_inputs(&t.sample, t.input);
        expect_ok();
    }
}

enum { MOST = 64 }; /* elements of a sample: the work grows with their square */

static void second_gradient(void **state)
{
    const wk__op *op = *state;
    for (const char *const *text = op_reference_of(op)->samples; *text; text++) {
        WK_SCOPE;
        trial t;
        wk_tensor *leaves[SWEEP_TENSORS + 1], *out[SWEEP_RESULTS];
        begin(&t, op, *text, leaves);
        int results = t.leaves ? results_of(&t, leaves, out) : 0;
        for (int k = 0; k < t.leaves; k++)
            if (wk_numel(t.input[t.leaf[k]].tensor) > MOST) results = 0;
        for (t.result = 0; t.result < results; t.result++) {
            if (!can_check(&t, out)) continue;
            wk_tensor *seed = wk_requires_grad_(wk_add(wk_zeros_like(wk_detach(out[t.result])), 0.75), true);
            leaves[t.leaves] = seed;
            if (!wk_gradcheck_at(WK_HERE, backward, &t, leaves, t.leaves + 1))
                fail_msg("%s(%s), gradient of the gradient of result %d: %s", op->name, *text, t.result, wk_error());
        }
        sweep_free_inputs(&t.sample, t.input);
        expect_ok();
    }
}

static bool has_gradient(const wk__op *op)
{
    return op->grad_fn_name != NULL;
}

int main(void)
{
    static const sweep_kind kinds[] = {{"%s gradient", first_gradient}, {"%s second gradient", second_gradient}};
    return sweep_run("sweep_gradients", kinds, 2, has_gradient);
}
