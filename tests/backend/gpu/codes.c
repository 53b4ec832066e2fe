/* SPDX-License-Identifier: Apache-2.0 */
/* Every opcode of programs, casts, choices and random bits. */
#include "test.h"

static void usual_numbers(void **state)
{
    (void)state;
    gpu_run_cases(gpu_usual_numbers);
}

static void extreme_numbers(void **state)
{
    (void)state;
    gpu_run_cases(gpu_extreme_numbers);
}

static void narrow_dtypes(void **state)
{
    (void)state;
    gpu_run_cases(gpu_narrow_dtypes);
}

static void casts(void **state)
{
    (void)state;
    gpu_run_cases(gpu_casts);
}

static void choices(void **state)
{
    (void)state;
    gpu_run_cases(gpu_choices);
}

static void random_numbers(void **state)
{
    (void)state;
    gpu_run_cases(gpu_random_numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_numbers), cmocka_unit_test(extreme_numbers), cmocka_unit_test(narrow_dtypes),
        cmocka_unit_test(casts),         cmocka_unit_test(choices),         cmocka_unit_test(random_numbers),
    };
    return cmocka_run_group_tests(tests, gpu_open_one, gpu_close);
}
