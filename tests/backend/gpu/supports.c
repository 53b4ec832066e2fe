/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs accept exactly the work that they claim to support, and their compilers accept its kernels. */
#include "test.h"
#include "support/families.h"

/* Both devices of the tests have f64. Only matrix products sum bools. */
static bool wanted(int family, wk_dtype dtype, wk__layout layout)
{
    const bool has_code = family == WK__PROGRAM || family == WK__CONTRACTION || family == WK__SCATTER_ADD ||
                          family == WK__SCAN || family == WK__SORT || (family == WK__QUANTIZED && dtype == WK_F32);
    return has_code && (dtype != WK_BOOL || layout != WK__LAYOUT_CONTRACTION);
}

/* Gathered first, so that a device's compiler is called once, then run. */
static void support_matches_execution(void **state)
{
    (void)state;
    wk__fail fail;
    for (int d = 0; d < gpu_devices; d++) {
        assert_int_equal(gpu->compile_only(gpu_device[d], true, &fail), WK_OK);
        families_agree(gpu, gpu_device[d], wanted);
        if (gpu->compile_only(gpu_device[d], false, &fail) != WK_OK) fail_msg("%s", fail.text);
        families_agree(gpu, gpu_device[d], wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(support_matches_execution)};
    return cmocka_run_group_tests(tests, gpu_open_one, gpu_close);
}
