/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions with computed coordinates on GPUs, compared with the CPU element by element. */
#include "test.h"
#include "support/convolution.h"

#include "backend/cpu/contraction/contraction_reference.h"
#include "backend/gpu/kernels/contraction_axes.h"
#include "backend/gpu/lower.h"

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fail_msg("%s", fail->text);
}

static void expect_same(const array *a, const char *want)
{
    const wk_dtype dtype = (wk_dtype)a->operand.dtype;
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    for (int64_t k = 0; k < a->bytes / size; k++) {
        const char *got = a->data + k * size;
        const bool same = is_float(dtype) ? fabs(get_real(dtype, got) - get_real(dtype, want + k * size)) <=
                                                2e-3 * (1 + fabs(get_real(dtype, want + k * size)))
                                          : memcmp(got, want + k * size, (size_t)size) == 0;
        if (!same && memcmp(got, want + k * size, (size_t)size) != 0) fail_msg("element %lld differs", (long long)k);
    }
}

/* Runs the same work on the CPU and on the device, and compares all of the result's memory. */
static void compare(void *device, const wk__work_args *kernel, array *const operand[])
{
    wk__memory memory[WK__SUM_OPERANDS];
    wk__work_args there = *kernel;
    wk__fail fail;
    for (int o = 0; o < WK__SUM_OPERANDS; o++) {
        good(gpu->block_alloc(device, operand[o]->bytes, &memory[o], &fail), &fail);
        good(gpu->upload(device, &memory[o], 0, operand[o]->data, operand[o]->bytes, &fail), &fail);
        there.operand[o].memory = &memory[o];
    }
    const wk__work work = {.family = WK__CONTRACTION, .args = &there},
                   here = {.family = WK__CONTRACTION, .args = kernel};
    assert_true(gpu->supports(device, WK__CONTRACTION, (wk_dtype)kernel->operand[0].dtype, WK__LAYOUT_CONTRACTION));
    good(gpu->submit(device, &work, &fail), &fail);
    good(wk__cpu_contraction_reference(&here, &fail), &fail);
    char *want = array_copy(operand[0]);
    good(gpu->download(device, operand[0]->data, &memory[0], 0, operand[0]->bytes, &fail), &fail);
    expect_same(operand[0], want);
    free(want);
    for (int o = 0; o < WK__SUM_OPERANDS; o++) gpu->block_free(device, &memory[o]);
}

static void convolutions(void **state)
{
    (void)state;
    static const convolution shapes[] = {
        {1, 2, 2, 3, 2, {11}, {4}, {3}, {2}, {1}},
        {2, 2, 1, 3, 5, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {2, 1, 3, 2, 4, {9, 10}, {3, 2}, {2, 3}, {1, 0}, {1, 2}},
        {3, 1, 2, 2, 3, {5, 6, 7}, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {2, 1, 1}},
        {1, 0, 1, 2, 2, {5}, {3}, {1}, {1}, {1}},
        {1, 2, 1, 0, 2, {5}, {3}, {1}, {1}, {1}},
    };
    static const wk_dtype dtypes[] = {WK_F32, WK_F16, WK_I8, WK_I32, WK_I64};
    for (int d = 0; d < gpu_devices; d++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
            for (size_t dtype = 0; dtype < sizeof dtypes / sizeof *dtypes; dtype++)
                for (direction way = FORWARD; way < DIRECTIONS; way++) {
                    convolution_case t;
                    wk__work_args kernel;
                    wk__contraction sum;
                    convolution_new(&t, &shapes[k], dtypes[dtype], (layout)(k % LAYOUTS));
                    describe(&t, way, &kernel, &sum);
                    array *const operand[] = {way == FORWARD      ? &t.y
                                              : way == GRAD_INPUT ? &t.x
                                                                  : &t.w,
                                              way == GRAD_WEIGHT ? &t.y : &t.w, way == GRAD_INPUT ? &t.y : &t.x};
                    compare(gpu_device[d], &kernel, operand);
                    convolution_free(&t);
                }
}

/* Sums in another dtype than the factors' are rejected with a message. */
static void sums_of_other_dtypes(void **state)
{
    (void)state;
    const convolution plain = {1, 1, 1, 1, 1, {5}, {3}, {1}, {1}, {1}};
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    wk__fail fail;
    convolution_new(&t, &plain, WK_F32, ROWS);
    describe(&t, FORWARD, &kernel, &sum);
    sum.dtype = WK_F64;
    assert_int_equal(gpu->submit(gpu_device[0], &(wk__work){.family = WK__CONTRACTION, .args = &kernel}, &fail),
                     WK_ERR_UNSUPPORTED);
    assert_non_null(strstr(fail.text, "mixed dtypes"));
    convolution_free(&t);
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

static wk_code note(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    (void)fail;
    memcpy(user, launch, sizeof *launch);
    return WK_OK;
}

/* A few long sums are computed by a work-group each. */
static void long_sums(void **state)
{
    (void)state;
    static const struct {
        int64_t count, length;
        bool by_group;
    } cases[] = {{16384, 1024, true}, {16385, 1024, false}, {16384, 1023, false}};
    const convolution plain = {1, 1, 1, 1, 1, {5}, {3}, {1}, {1}, {1}};
    wk__gpu_target target = wk__gpu_target_of(WK__GPU_CUDA, true);
    target.group_size = 128; /* too small for tiles */
    for (int k = 0; k < 3; k++) {
        convolution_case t;
        wk__work_args kernel;
        wk__contraction sum;
        wk__fail fail;
        wk__gpu_launch launch;
        convolution_new(&t, &plain, WK_F32, ROWS);
        describe(&t, FORWARD, &kernel, &sum);
        kernel.shape[0] = kernel.shape[3] = 1;
        kernel.shape[2] = cases[k].count; /* sizes that are never allocated */
        sum.extent[0] = cases[k].length;
        sum.extent[1] = 1;
        good(wk__gpu_lower_contraction(&target, &(wk__work){.family = WK__CONTRACTION, .args = &kernel}, note, &launch,
                                       &fail),
             &fail);
        assert_int_equal(launch.count, cases[k].count);
        assert_int_equal(launch.spec.per_group, cases[k].by_group);
        convolution_free(&t);
    }
}

/* Elements at computed positions reach as far as the coordinate's extent, others as far as the axes. Strips are loaded
 * along contiguous indices: the sum for w (o, c, k), the positions for x (c, t). */
static void reach(void **state)
{
    (void)state;
    const convolution plain = {1, 2, 1, 32, 32, {64}, {5}, {1}, {2}, {1}};
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    wk__gpu_launch launch;
    convolution_new(&t, &plain, WK_F32, ROWS);
    describe(&t, FORWARD, &kernel, &sum);
    assert_true(wk__gpu_fill_contraction(&kernel, &launch));
    assert_true(launch.argument[WK__GPU_SUM_ALONG] == 1 && launch.argument[WK__GPU_SUM_ALONG + 1] == 0);
    sum.affine[1][0].extent = (int64_t)1 << 29;
    sum.affine[1][0].stride = 4;
    assert_true(wk__gpu_fill_contraction(&kernel, &launch));
    sum.affine[1][0].divisor = 2;
    assert_false(wk__gpu_fill_contraction(&kernel, &launch));
    convolution_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(sums_of_other_dtypes),
        cmocka_unit_test(long_sums),
        cmocka_unit_test(reach),
    };
    return cmocka_run_group_tests(tests, gpu_open, gpu_close);
}
