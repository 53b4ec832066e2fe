/* SPDX-License-Identifier: Apache-2.0 */
/* Backends accept exactly the work for which `supports` returns true: the CPU, the null device, and the planner for
 * GPUs. */
#include "support/families.h"

#include "backend/gpu/kernel.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/contraction/matmul.h"
#include "backend/null/null.h"

static void expect_agreement(const wk__backend *backend, family_supported *wanted)
{
    void *device;
    wk__fail fail;
    assert_int_equal(backend->open(0, &device, &fail), WK_OK);
    families_agree(backend, device, wanted);
    backend->close(device);
}

/* Returns true except for transfers to another device, which have a separate function in the backend's table. */
static bool all_but_transfers(int family, wk_dtype dtype, wk__layout layout)
{
    (void)dtype, (void)layout;
    return wk__is_work_family(family) && family != WK__TRANSFER;
}

static void null_agrees(void **state)
{
    (void)state;
    expect_agreement(&wk__null_backend, all_but_transfers);
    wk__null_log_clear();
}

/* Returns true for families in f32 and f64. */
static bool is_floating(int family)
{
    return family == WK__ATTENTION || family == WK__ATTENTION_BACKWARD || family == WK__NORM_BACKWARD;
}

static bool wanted_of_cpu(int family, wk_dtype dtype, wk__layout layout)
{
    if (family == WK__QUANTIZED) return dtype == WK_F32;
    return all_but_transfers(family, dtype, layout) && (!is_floating(family) || dtype == WK_F32 || dtype == WK_F64);
}

static void cpu_agrees(void **state)
{
    (void)state;
    expect_agreement(&wk__cpu_backend, wanted_of_cpu);
    wk__cpu_matmul_trim();
}

/* ---- plans for GPUs ---------------------------------------------------------------------------------------------- */

static wk_code count_launch(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    (void)launch, (void)fail;
    ++*(int *)user;
    return WK_OK;
}

/* Targets with and without f64: work is supported if and only if it has launches. */
static void gpu_plans_agree(void **state)
{
    (void)state;
    wk__gpu_target target = wk__gpu_target_of(WK__GPU_OPENCL, false);
    target.exact_divide = true;
    target.max_by_value_arguments = 90;
    wk__memory memory[WK__WORK_OPERANDS];
    for (int o = 0; o < WK__WORK_OPERANDS; o++) memory[o] = (wk__memory){.block = &memory[o]};
    for (int f64 = 0; f64 < 2; f64++)
        for (int family = -1; family <= WK__WORK_FAMILIES; family++)
            for (wk_dtype dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
                for (wk__layout layout = WK__LAYOUT_STRIDES; layout <= WK__LAYOUT_CONTRACTION; layout++) {
                    family_work w;
                    wk__fail fail;
                    int launches = 0;
                    target.has_f64 = f64 > 0;
                    const bool exists = family_work_of(&w, family, dtype, layout, memory);
                    const bool supported = wk__gpu_supports(&target, family, dtype, layout);
                    assert_int_equal(supported,
                                     exists && all_but_transfers(family, dtype, layout) && !is_floating(family) &&
                                         (family != WK__QUANTIZED || dtype == WK_F32) && (dtype != WK_F64 || f64) &&
                                         (dtype != WK_BOOL || layout != WK__LAYOUT_CONTRACTION));
                    if (!exists) continue;
                    const wk_code code =
                        w.work.args ? wk__gpu_lower_work(&target, &w.work, count_launch, &launches, &fail)
                                    : wk__gpu_lower_program(&target, w.work.program, count_launch, &launches, &fail);
                    assert_int_equal(launches > 0, supported);
                    if (!supported) family_expect_refused(code, &fail, family, dtype);
                    if (supported) assert_int_equal(code, WK_OK);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_agrees),
        cmocka_unit_test(cpu_agrees),
        cmocka_unit_test(gpu_plans_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
