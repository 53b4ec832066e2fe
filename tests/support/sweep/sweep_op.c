/* SPDX-License-Identifier: Apache-2.0 */
/* Tests one op on one device: every sample, dtype and layout against the reference; see sweep.h. */
#include "support/sweep/sweep.h"
#include "base/alloc.h"
#include <math.h>

typedef struct walk_case {
    sweep_op *row;
    const char *text;
    sweep_sample sample;
    wk_dtype dtype;
    sweep_layout layout;
} walk_case;

static const char *where(const walk_case *c)
{
    return sweep_label(c->row->op, c->text, c->dtype, c->layout, c->row->device);
}

static void hash_bits(sweep_op *row, wk_tensor *x)
{
    size_t size = (size_t)wk_numel(x) * wk_dtype_size(wk_dtype_of(x));
    unsigned char *bytes = malloc(size + 1);
    if (wk_read(x, bytes, size) != WK_OK) fail_msg("%s", wk_error());
    for (size_t k = 0; k < size; k++) row->bits = (row->bits ^ bytes[k]) * 0x100000001b3u;
    free(bytes);
}

/* Checks the dtype of an elementwise op's result if all operands have the same dtype. */
static void check_dtype(const walk_case *c, const wk_tensor *result)
{
    const wk__op *op = c->row->op;
    if (!op_reference_of(op)->scalar || op->own_dtype_operands || !sweep_takes_dtype(&c->sample)) return;
    wk_dtype expected = c->dtype;
    for (int k = 0; k < c->sample.operands; k++)
        if (c->sample.operand[k].fixed) return;
    for (int k = 0; k < c->sample.arguments; k++) {
        if (c->sample.argument[k].kind == WK_VALUE_FLOAT && !wk__is_float(expected)) expected = WK_F32;
        if (c->sample.argument[k].kind == WK_VALUE_INT && expected == WK_BOOL) expected = WK_I64;
    }
    if (op->result == WK__RESULT_FLOAT && !wk__is_float(expected)) expected = WK_F32;
    if (op->result == WK__RESULT_BOOL) expected = WK_BOOL;
    if (wk_dtype_of(result) != expected)
        fail_msg("%s: the result is %s, not %s", where(c), wk_dtype_str(wk_dtype_of(result)), wk_dtype_str(expected));
}

static void compare(const walk_case *c, int k, wk_tensor *result, const reference_array *expected)
{
    bool same_shape = wk_ndim(result) == expected->ndim;
    for (int d = 0; d < expected->ndim && same_shape; d++) same_shape = wk_size(result, d) == expected->shape[d];
    if (!same_shape) fail_msg("%s: result %d is %s, which is not the shape expected", where(c), k, wk_describe(result));
    double *have = sweep_numbers(result), scale = 1;
    int64_t n = reference_numel(expected);
    for (int64_t e = 0; e < n; e++)
        if (isfinite(expected->data[e])) scale = fmax(scale, fabs(expected->data[e]));
    for (int64_t e = 0; e < n; e++)
        if (!sweep_agrees(c->row->op, wk_dtype_of(result), have[e], expected->data[e], scale))
            fail_msg("%s: element %lld of result %d (%s) is %.17g, not %.17g", where(c), (long long)e, k,
                     wk_dtype_str(wk_dtype_of(result)), have[e], expected->data[e]);
    free(have);
}

enum { GUARD = 67 }; /* elements; more than a vector of the narrowest dtype */

/* Computes the result again, possibly by another kernel, into the middle of a larger storage, and checks that the
 * elements around it do not change. */
static void write_between_guards(const walk_case *c, wk_tensor *result, wk_tensor *again)
{
    WK_SCOPE;
    wk_dtype dtype = wk_dtype_of(result);
    size_t size = wk_dtype_size(dtype);
    int ndim = wk_ndim(result);
    int64_t numel = wk_numel(result), room = numel + 2 * GUARD, shape[WK__MAX_DIMS], stride[WK__MAX_DIMS], step = 1;
    for (int d = ndim; d-- > 0; step *= shape[d]) {
        shape[d] = wk_size(result, d);
        stride[d] = step;
    }
    wk_tensor_options options = {.size = sizeof options, .dtype = dtype, .device = c->row->device};
    wk_tensor *all = wk_full_f64_at(WK_HERE, &room, 1, 1, &options);
    char *have = malloc((size_t)room * size), *want = malloc((size_t)numel * size + 1),
         *guard = have + (size_t)(GUARD + numel) * size;
    wk_copy_(wk_as_strided_at(WK_HERE, all, shape, stride, ndim, GUARD), again);
    if (wk_read(all, have, (size_t)room * size) != WK_OK || wk_read(result, want, (size_t)numel * size) != WK_OK)
        fail_msg("%s: %s", where(c), wk_error());
    bool same = memcmp(have + GUARD * size, want, (size_t)numel * size) == 0,
         kept = memcmp(have, guard, GUARD * size) == 0;
    for (size_t k = 1; k < GUARD; k++) kept = kept && memcmp(have, have + k * size, size) == 0;
    free(have);
    free(want);
    if (!kept && !c->row->plan) fail_msg("%s: memory beside the result was written", where(c));
    if (!same && !c->row->plan) fail_msg("%s: other bits when computed a second time into a larger storage", where(c));
}

static void walk_one(walk_case *c, uint64_t seed)
{
    WK_SCOPE;
    sweep_op *row = c->row;
    sweep_input input[SWEEP_TENSORS] = {{0}};
    wk_tensor *tensor[SWEEP_TENSORS], *out[SWEEP_RESULTS], *again[SWEEP_RESULTS];
    reference_array expected[SWEEP_RESULTS] = {{0}};
    sweep_make_inputs(row->op, &c->sample, c->dtype, c->layout, row->device, seed, input);
    for (int k = 0; k < c->sample.operands; k++) tensor[k] = input[k].tensor;
    sweep_bind(&c->sample, tensor);
    char message[400];
    int count = sweep_try_call(row->op, &c->sample, row->device, out, message);
    if (count < 0 && row->plan) { /* the call read uncomputed values; its kernels are not gathered */
        sweep_free_inputs(&c->sample, input);
        return;
    }
    if (count < 0) fail_msg("%s", message);
    int wanted = sweep_expected(row->op, &c->sample, input, expected, out[0]);
    if (wanted != count) fail_msg("%s: %d results, the reference has %d", where(c), count, wanted);
    check_dtype(c, out[0]);
    for (int k = 0; k < count; k++) {
        if (!row->plan) compare(c, k, out[k], &expected[k]);
        hash_bits(row, out[k]);
        wk__free(expected[k].data);
    }
    sweep_check_untouched(&c->sample, input, sweep_writes(row->op) ? 0 : -1);
    /* the shape depends on uncomputed values and differs each time */
    bool unknown = row->plan && row->op->data_dependent_shape;
    if (!unknown && !sweep_writes(row->op) && sweep_call(row->op, &c->sample, row->device, again) == count)
        for (int k = 0; k < count; k++) write_between_guards(c, out[k], again[k]);
    sweep_free_inputs(&c->sample, input);
    if (wk_error()) fail_msg("%s: %s", where(c), wk_error());
}

/* Returns false if the result is rounding error only: layer_norm of equal elements divides by their deviation, 0. */
static bool has_answer(const wk__op *op, sweep_layout layout)
{
    return layout != SWEEP_INNER || strcmp(op->name, "layer_norm") != 0;
}

void sweep_values(sweep_op *row)
{
    const wk__op *op = row->op;
    const op_reference *known = op_reference_of(op);
    if (!known->samples || !known->samples[0]) fail_msg("%s has no samples", op->name);
    row->bits = 0xcbf29ce484222325u;
    unsigned domain = op->dtypes ? op->dtypes : WK__ANY;
    for (int s = 0; known->samples[s]; s++) {
        walk_case c = {.row = row, .text = known->samples[s]};
        const char *why;
        if (!sweep_parse(c.text, &c.sample, &why)) fail_msg("%s: sample \"%s\": %s", op->name, c.text, why);
        bool generic = sweep_takes_dtype(&c.sample);
        int layouts = known->dense || !c.sample.operands ? 1 : SWEEP_LAYOUTS;
        for (wk_dtype dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
            if (generic ? !(domain >> dtype & 1) || !(row->dtypes >> dtype & 1) : dtype != WK_F32) continue;
            c.dtype = dtype;
            for (c.layout = 0; c.layout < (sweep_layout)layouts; c.layout++)
                if (row->layouts >> c.layout & 1 && has_answer(op, c.layout)) walk_one(&c, (uint64_t)s * 101 + dtype);
        }
    }
}
