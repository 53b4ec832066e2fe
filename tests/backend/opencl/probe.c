/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that ends the process when it is queried ends only a child, not the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/opencl/probe.h"

static void answers(void)
{
}
static void gives_up(void)
{
    fprintf(stderr, "the last words of a driver\n");
    abort();
}
static void leaves(void)
{
    _exit(0);
}
static void hangs(void)
{
    for (;;) pause();
}

static void drivers_that_end_the_process(void **state)
{
    (void)state;
    assert_true(wk__cl_probe_survives(answers, 60000));
    assert_false(wk__cl_probe_survives(gives_up, 60000));
    assert_false(wk__cl_probe_survives(leaves, 60000));
    assert_false(wk__cl_probe_survives(hangs, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drivers_that_end_the_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
