/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a few random programs (tests/random/generator) on the first GPU, from WICK_TEST_SEED: default mode = op by op,
 * with concurrent threads, with bad indices, and with failing driver calls. Each is run in several sizes, which use the
 * same kernels; others have tensors larger than 2 MB. `random_programs --opencl` or `--cuda` runs more. */
#include "random/generator/oracles.h"
#include "random/generator/print.h"
#include "support/devices.h"
#include <stdlib.h>

enum { PROGRAMS = 2, SIZES = 10, LARGE_PROGRAMS = 5 };

static uint64_t first_seed(void)
{
    assert_true(wk_device_count(test_gpu_kind()) > 0);
    print_message("seed %llu\n", (unsigned long long)test_seed());
    return test_seed() << 32;
}

static void try_program(uint64_t seed, int variant)
{
    static program p;
    verdict v;
    char name[16] = "large";
    oracles_try_gpu(&p, seed, variant, test_gpu_kind(), &v);
    if (v.oracle == ORACLE_NOTHING) return;
    if (variant != VARIANT_LARGE) snprintf(name, sizeof name, "%d", variant);
    print_program(stdout, &p);
    fail_msg("%s: %s; random_programs --%s --only %llu:%s", oracle_name[v.oracle], v.text,
             test_gpu_kind() == WK_CUDA ? "cuda" : "opencl", (unsigned long long)seed, name);
}

static void random_programs(void **state)
{
    (void)state;
    const uint64_t first = first_seed();
    for (uint64_t seed = first; seed < first + PROGRAMS; seed++)
        for (int size = 0; size < SIZES; size++) try_program(seed, size);
}

static void random_large_programs(void **state)
{
    (void)state;
    const uint64_t first = first_seed();
    for (uint64_t seed = first; seed < first + LARGE_PROGRAMS; seed++) try_program(seed, VARIANT_LARGE);
}

int main(void)
{
    op_entries_load();
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs), cmocka_unit_test(random_large_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
