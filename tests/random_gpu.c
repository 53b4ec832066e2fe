/* SPDX-License-Identifier: Apache-2.0 */
/* Some random programs (tests/random) on the first GPU, from the seed of the day: as usual = op by op there, and where
 * a call of the driver fails. Each is tried in several sizes, for which the same kernels do. `random_programs --opencl`
 * or `--cuda` tries more. */
#include "oracles.h"
#include "print.h"
#include "support_devices.h"
#include <stdlib.h>

enum { PROGRAMS = 2, SIZES = 10 };

static void programs_on_a_gpu(void **state)
{
    (void)state;
    static program p;
    const wk_device gpu = test_gpu(0);
    const uint64_t first = test_seed() << 32;
    assert_true(wk_device_count(gpu.kind) > 0);
    print_message("seed %llu\n", (unsigned long long)(first >> 32));
    for (uint64_t seed = first; seed < first + PROGRAMS; seed++)
        for (int size = 0; size < SIZES; size++) {
            verdict v;
            oracles_try_gpu(&p, seed, size, gpu.kind, &v);
            if (v.oracle == ORACLE_NOTHING) continue;
            print_program(stdout, &p);
            fail_msg("%s: %s; random_programs --%s --only %llu:%d", oracle_name[v.oracle], v.text,
                     gpu.kind == WK_CUDA ? "cuda" : "opencl", (unsigned long long)seed, size);
        }
}

int main(void)
{
    rows_read();
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_on_a_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
