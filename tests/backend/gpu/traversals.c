/* SPDX-License-Identifier: Apache-2.0 */
/* The traversals of GPUs: warps, strips, chunks of strips, rows held in registers, vectors. */
#include "test.h"

static void strips(void **state)
{
    (void)state;
    gpu_run_cases(gpu_strips);
}

static void held(void **state)
{
    (void)state;
    gpu_run_cases(gpu_held);
}

static void vectors(void **state)
{
    (void)state;
    gpu_run_cases(gpu_vectors);
}

static void long_runs(void **state)
{
    (void)state;
    int few_rows[8];
    for (int d = 0; d < gpu_devices; d++) {
        few_rows[d] = gpu_target(d)->chunk_rows_max;
        gpu_target(d)->chunk_rows_max = 0;
    }
    gpu_run_cases(gpu_long_runs);
    for (int d = 0; d < gpu_devices; d++) gpu_target(d)->chunk_rows_max = few_rows[d];
}

/* OpenCL's devices are CPUs here; with a GPU's target they use the traversals of GPUs. */
static int as_gpus(void **state)
{
    gpu_open_one(state);
    for (int d = 0; d < gpu_devices && gpu->kind == WK_OPENCL; d++) {
        const wk__gpu_target cpu = *gpu_target(d);
        *gpu_target(d) = wk__gpu_target_of(WK__GPU_OPENCL, true);
        gpu_target(d)->has_f64 = cpu.has_f64;
        gpu_target(d)->exact_divide = cpu.exact_divide;
        gpu_target(d)->max_by_value_arguments = cpu.max_by_value_arguments;
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strips),
        cmocka_unit_test(held),
        cmocka_unit_test(vectors),
        cmocka_unit_test(long_runs),
    };
    return cmocka_run_group_tests(tests, as_gpus, gpu_close);
}
