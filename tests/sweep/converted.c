/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep with operands converted in the same kernel: each row, with operands of bool, i8, f16, ... that are converted to
 * its dtype just before, gives the same bits as with operands of that dtype from memory. A bool converted to i32 in a
 * register is still a bool there, so an op that took its compute dtype from the register would be wrong. */
#include "support/sweep/sweep.h"
#include "support/turns.h"

static const wk_dtype narrow[] = {WK_BOOL, WK_I8, WK_U8, WK_I16, WK_I32, WK_F16, WK_BF16};
enum { NARROW = sizeof narrow / sizeof *narrow };

/* Integers from 0 to 3, in the narrow dtype and then in the wide one. */
static void bind(sweep_sample *sample, wk_dtype from, wk_dtype to, bool stored)
{
    wk_tensor *tensor[SWEEP_TENSORS];
    for (int k = 0; k < sample->operands; k++) {
        const sweep_operand *o = &sample->operand[k];
        const double below = o->below > 0 && o->below < 4 ? (double)o->below : 4;
        wk_tensor_options options = {.size = sizeof options, .dtype = WK_F32};
        wk_seed((uint64_t)k + 3);
        tensor[k] = wk_floor(wk_mul(wk_rand_at(WK_HERE, o->shape, o->ndim, &options), below));
        tensor[k] = wk_to_dtype(tensor[k], from);
        if (wk_sync() != WK_OK) fail_msg("%s", wk_error());
        tensor[k] = wk_to_dtype(tensor[k], o->fixed ? o->fixed : to);
        if (stored && wk_sync() != WK_OK) fail_msg("%s", wk_error());
    }
    sweep_bind(sample, tensor);
}

static void compare(const char *where, wk_tensor *a, wk_tensor *b)
{
    double *x = sweep_numbers(a), *y = sweep_numbers(b);
    assert_int_equal(wk_dtype_of(a), wk_dtype_of(b));
    assert_int_equal(wk_numel(a), wk_numel(b));
    for (int64_t k = 0; k < wk_numel(a); k++)
        if (memcmp(&x[k], &y[k], sizeof *x) != 0)
            fail_msg("%s: element %lld is %.17g, with operands from memory %.17g", where, (long long)k, x[k], y[k]);
    free(x);
    free(y);
}

static void sample_of(const wk__op *op, const char *text, wk_dtype from, wk_dtype to)
{
    WK_SCOPE;
    WK_NO_GRAD;
    sweep_sample sample;
    const char *why;
    char where[200];
    wk_tensor *out[SWEEP_RESULTS], *again[SWEEP_RESULTS];
    if (!sweep_parse(text, &sample, &why)) fail_msg("%s: sample \"%s\": %s", op->name, text, why);
    snprintf(where, sizeof where, "%s(%s) of %s that became %s", op->name, text, wk_dtype_str(from), wk_dtype_str(to));
    bind(&sample, from, to, false);
    int count = sweep_call(op, &sample, wk_cpu(), out);
    bind(&sample, from, to, true);
    assert_int_equal(sweep_call(op, &sample, wk_cpu(), again), count);
    for (int k = 0; k < count; k++) compare(where, out[k], again[k]);
}

static void converted(void **state)
{
    const wk__op *op = *state;
    unsigned domain = op->dtypes ? op->dtypes : WK__ANY;
    for (const char *const *text = op_reference_of(op)->samples; *text; text++)
        for (wk_dtype to = WK_F32; to < WK_DTYPE_COUNT; to++)
            for (int k = 0; k < NARROW && domain >> to & 1; k++)
                if (test_takes_case(4)) sample_of(op, *text, narrow[k], to);
}

/* Ops that draw random numbers need probabilities. */
static bool fits(const wk__op *op)
{
    return strcmp(op->category, "random") != 0;
}

int main(void)
{
    return sweep_run("sweep_converted", &(sweep_kind){"%s", converted}, 1, fits);
}
