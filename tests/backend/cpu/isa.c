/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction set in use: the best one, or the one in WICK_CPU. */
#include "vm_test.h"

#include "base/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes the name of the set in use to name. Runs in a child process, because the choice is made once per process. */
static void choose(const char *wanted, char name[16])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char answer[16] = {0};
        wk__cpu_isa_use(NULL);
        if (wanted) setenv("WICK_CPU", wanted, 1);
        if (!wanted) unsetenv("WICK_CPU");
        snprintf(answer, sizeof answer, "%s", wk__cpu_isa_current()->name);
        _exit(write(ends[1], answer, sizeof answer) != sizeof answer);
    }
    assert_int_equal(read(ends[0], name, 16), 16);
    close(ends[0]);
    close(ends[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void best_set_is_the_default(void **state)
{
    (void)state;
    char name[16];
    choose(NULL, name);
    assert_string_equal(name, wk__cpu_isa_at(0)->name);
}

static void variable_selects_each_set(void **state)
{
    (void)state;
    char name[16];
    const char *unknown;
    int length;
    const wk__cpu_isa *isa;
    for (int k = 0; (isa = wk__cpu_isa_at(k)) != NULL; k++) {
        choose(isa->name, name);
        assert_string_equal(name, isa->name);
        wk__setting_parse_flags(WK__SETTING_CPU, isa->name, &unknown, &length);
        assert_null(unknown); /* otherwise wick doctor reports the setting as invalid */
    }
    choose("portable", name);
    assert_string_equal(name, "portable");
}

static void unknown_names_are_rejected(void **state)
{
    (void)state;
    char name[16];
    choose("mmx", name);
    assert_string_equal(name, wk__cpu_isa_at(0)->name);
    choose("", name);
    assert_string_equal(name, wk__cpu_isa_at(0)->name);
}

/* Products use kernels of the set in use, or, for dtypes without one, of the next set below it. */
static void kernels_are_of_the_set_in_use(void **state)
{
    (void)state;
    const wk__gemm *below[WK_DTYPE_COUNT] = {0};
    const wk__cpu_isa *before = wk__cpu_isa_current();
    int kinds = 0;
    while (wk__cpu_isa_at(kinds)) kinds++;
    for (int k = kinds - 1; k >= 0; k--) {
        const wk__cpu_isa *isa = wk__cpu_isa_at(k);
        wk__cpu_isa_use(isa);
        for (const wk__gemm *gemm = isa->gemm; gemm->dtype; gemm++) below[gemm->dtype] = gemm;
        for (wk_dtype dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
            assert_non_null(below[dtype]);
            assert_ptr_equal(wk__cpu_gemm(dtype), below[dtype]);
        }
    }
    wk__cpu_isa_use(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_set_is_the_default),
        cmocka_unit_test(variable_selects_each_set),
        cmocka_unit_test(unknown_names_are_rejected),
        cmocka_unit_test(kernels_are_of_the_set_in_use),
    };
    return cmocka_run_group_tests(tests, vm_open, vm_close);
}
