/* SPDX-License-Identifier: Apache-2.0 */
/* The table of units without a device: the compiler makes nothing, and counts what it is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../src/backend/gpu/build.h"

static int compiled;

static wk_code compile(void *device, const char *source, void **program, wk__text *binary, wk__fail *fail)
{
    (void)device, (void)source, (void)binary, (void)fail;
    *program = &compiled;
    compiled++;
    return WK_OK;
}

static void *load(void *device, const char *binary, int64_t bytes)
{
    (void)device, (void)binary, (void)bytes;
    return NULL;
}

static wk_code function(void *device, void *program, const char *name, void **out, wk__fail *fail)
{
    (void)device, (void)name, (void)fail;
    *out = program;
    return WK_OK;
}

static void release(void *program)
{
    (void)program;
}

static const wk__gpu_compiler compiler = {
    .magic = "nothing", .compile = compile, .load = load, .function = function, .release_program = release};

/* A unit is compiled again unless all is the same that decides what becomes of it: its text, and what the kernel around
 * that takes and is told. */
static void what_decides_is_in_the_key(void **state)
{
    (void)state;
    static const char *const text[] = {"m0[0] = (char)A(1);\n", NULL}, *const other[] = {"m0[1] = (char)A(1);\n", NULL};
    static const wk__gpu_fixed first = {.text = text}, same = {.text = text}, another = {.text = other},
                               crowded = {.text = text, .at_once = 2}, more_crowded = {.text = text, .at_once = 3};
    wk__gpu_card card = {.target = wk__gpu_target_of(WK__GPU_CUDA, true)};
    const int by_value = card.target.struct_arguments;
    const struct {
        wk__gpu_unit unit;
        int compiled; /* so far */
    } cases[] = {
        {{.fixed = &first, .nmemory = 1, .narguments = 2}, 1},
        {{.fixed = &same, .nmemory = 1, .narguments = 2}, 1},
        {{.fixed = &another, .nmemory = 1, .narguments = 2}, 2},
        {{.fixed = &same, .dtype = WK_F64, .nmemory = 1, .narguments = 2}, 3},
        {{.fixed = &same, .dtype = WK_I8, .nmemory = 2, .narguments = 2}, 4},
        {{.fixed = &first, .dtype = WK_I8, .nmemory = 1, .narguments = 2}, 5},
        {{.fixed = &same, .dtype = WK_I16, .nmemory = 1, .narguments = 3}, 6},
        {{.fixed = &first, .dtype = WK_I16, .nmemory = 1, .narguments = by_value + 1}, 7},
        {{.fixed = &crowded, .nmemory = 1, .narguments = 2}, 8},
        {{.fixed = &more_crowded, .nmemory = 1, .narguments = 2}, 9},
    };
    static wk__gpu_units units;
    wk__fail fail;
    setenv("WICK_CACHE_DIR", "off", 1);
    wk__gpu_units_begin(&units, &compiler, NULL, &card);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        wk__gpu_function *made = wk__gpu_function_of(&units, &cases[k].unit, &fail);
        assert_non_null(made);
        assert_int_equal(wk__gpu_provide(&units, made, &fail), WK_OK);
        if (compiled != cases[k].compiled) fail_msg("case %zu: %d programs compiled", k, compiled);
    }
    wk__gpu_units_end(&units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_decides_is_in_the_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
