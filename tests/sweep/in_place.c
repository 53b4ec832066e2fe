/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep of in-place forms: for each row that has one, NAME_ writes the same bits as NAME into targets of any layout,
 * and does not change elements beside the target. */
#include "support/sweep/sweep.h"
#include "ir/scalar.h"

/* Refused with WK_ERR_STATE: a target with overlapping elements, and a leaf that requires grad. */
static void refuse_targets(const wk__op *op, sweep_sample *sample, wk_tensor *tensor[], const char *text)
{
    wk_tensor *good = tensor[0], *out[SWEEP_RESULTS];
    const wk_dtype dtype = wk_dtype_of(good);
    int64_t shape[WK__MAX_DIMS];
    for (int d = 0; d < wk_ndim(good); d++) shape[d] = wk_size(good, d);
    wk_tensor *one =
        wk_zeros_at(WK_HERE, NULL, 0, &(wk_tensor_options){.size = sizeof(wk_tensor_options), .dtype = dtype});
    wk_tensor *const bad[] = {wk_numel(good) > 1 ? wk_expand_at(WK_HERE, one, shape, wk_ndim(good)) : NULL,
                              wk__is_float(dtype) ? wk_requires_grad_(wk_clone(good), true) : NULL};
    for (int k = 0; k < 2; k++) {
        if (!bad[k]) continue;
        tensor[0] = bad[k];
        sweep_bind(sample, tensor);
        op->invoke_in_place(op, WK_HERE, sample->argument, out);
        if (wk_error_code() != WK_ERR_STATE)
            fail_msg("%s(%s) in place: code %d: %s", op->name, text, (int)wk_error_code(),
                     wk_error() ? wk_error() : "no error");
        wk_clear_error();
    }
    tensor[0] = good;
    sweep_bind(sample, tensor);
}

/* Runs out of place, then in place; an op whose result has another dtype or shape than its first operand cannot run in
 * place. */
static bool try_one(const wk__op *op, sweep_sample *sample, wk_dtype dtype, sweep_layout layout, const char *text)
{
    WK_SCOPE;
    sweep_input input[SWEEP_TENSORS] = {{0}};
    wk_tensor *tensor[SWEEP_TENSORS], *out[SWEEP_RESULTS];
    sweep_make_inputs(op, sample, dtype, layout, wk_cpu(), 5, input);
    for (int k = 0; k < sample->operands; k++) tensor[k] = input[k].tensor;
    sweep_bind(sample, tensor);
    assert_int_equal(sweep_call(op, sample, wk_cpu(), out), 1);
    dtype = wk_dtype_of(tensor[0]);
    bool fits = wk_dtype_of(out[0]) == dtype && wk_ndim(out[0]) == wk_ndim(tensor[0]);
    for (int d = 0; d < wk_ndim(out[0]) && fits; d++) fits = wk_size(out[0], d) == wk_size(tensor[0], d);
    if (fits) {
        size_t size = (size_t)wk_numel(out[0]) * wk_dtype_size(dtype);
        char *want = malloc(size + 1), *have = malloc(size + 1);
        assert_int_equal(wk_read(out[0], want, size), WK_OK);
        assert_int_equal(op->invoke_in_place(op, WK_HERE, sample->argument, out), 1);
        expect_ok();
        assert_ptr_equal(out[0], tensor[0]);
        if (wk_read(tensor[0], have, size) != WK_OK)
            fail_msg("%s: %s", sweep_label(op, text, dtype, layout, wk_cpu()), wk_error());
        if (memcmp(have, want, size) != 0)
            fail_msg("%s: different bits in place", sweep_label(op, text, dtype, layout, wk_cpu()));
        sweep_check_untouched(sample, input, 0);
        if (layout == SWEEP_DENSE) refuse_targets(op, sample, tensor, text);
        free(want);
        free(have);
    }
    sweep_free_inputs(sample, input);
    expect_ok();
    return fits;
}

static void in_place(void **state)
{
    int index = (int)(intptr_t)*state, tried = 0;
    const wk__op *op = wk__ops[index];
    unsigned domain = op->dtypes ? op->dtypes : WK__ANY;
    for (const char *const *text = op_reference_of(op)->samples; *text; text++) {
        sweep_sample sample;
        const char *why;
        if (!sweep_parse(*text, &sample, &why) || sample.argument[0].kind != WK_VALUE_TENSOR) continue;
        for (wk_dtype dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
            for (sweep_layout layout = 0; layout < SWEEP_LAYOUTS && domain >> dtype & 1; layout++)
                if (layout == SWEEP_DENSE || layout == SWEEP_TRANSPOSED || layout == SWEEP_OFFSET)
                    tried += try_one(op, &sample, dtype, layout, *text);
    }
    assert_true(tried > 0);
}

int main(void)
{
    struct CMUnitTest *tests = calloc((size_t)wk_op_count(), sizeof *tests);
    size_t count = 0;
    for (int k = 0; k < wk_op_count(); k++)
        if (wk__ops[k]->invoke_in_place)
            tests[count++] = (struct CMUnitTest){.name = wk__ops[k]->name,
                                                 .test_func = in_place,
                                                 .setup_func = sweep_reset,
                                                 .initial_state = (void *)(intptr_t)k};
    int failed = _cmocka_run_group_tests("sweep_in_place", tests, count, NULL, NULL);
    free(tests);
    return failed;
}
