/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: layouts, reductions, several passes over a row, per-row values. */
#include "test.h"

static void layouts(void **state)
{
    (void)state;
    gpu_run_cases(gpu_layouts);
}

static void reductions(void **state)
{
    (void)state;
    gpu_run_cases(gpu_reductions);
}

static void several_passes(void **state)
{
    (void)state;
    gpu_run_cases(gpu_several_passes);
}

static void positions_and_rows(void **state)
{
    (void)state;
    gpu_run_cases(gpu_positions_and_rows);
}

static void many_arguments(void **state)
{
    (void)state;
    gpu_run_cases(gpu_many_arguments);
}

/* Not gathered: separate kernels yield the same bits as merged ones. */
static void one_at_a_time(void **state)
{
    (void)state;
    for (int d = 0; d < gpu_devices; d++) {
        gpu_cases *cases = gpu_cases_here(gpu_softmaxes);
        for (int k = 0; k < cases->count; k++) {
            wk__fail fail;
            if (group_case_run(cases->at[k], gpu, gpu_device[d], &fail) != WK_OK) fail_msg("%s", fail.text);
            const char *wrong = group_case_check(cases->at[k], gpu, gpu_device[d]);
            if (wrong != NULL) fail_msg("%s", wrong);
        }
        gpu_cases_free(cases);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),        cmocka_unit_test(reductions),
        cmocka_unit_test(several_passes), cmocka_unit_test(positions_and_rows),
        cmocka_unit_test(many_arguments), cmocka_unit_test(one_at_a_time),
    };
    return cmocka_run_group_tests(tests, gpu_open_one, gpu_close);
}
