/* SPDX-License-Identifier: Apache-2.0 */
/* The table of units without a device: a fake compiler counts its calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backend/gpu/cache/kernel_build.h"
#include "ir/build.h"

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
    .magic = "nothing", .compile = compile, .load = load, .get_function = function, .release_module = release};

/* A unit is compiled again unless everything that determines its kernel is equal: its source, and the parameters and
 * configuration of the generated kernel. */
static void kernel_parameters_are_in_the_key(void **state)
{
    (void)state;
    static const char *const text[] = {"m0[0] = (char)A(1);\n", NULL}, *const other[] = {"m0[1] = (char)A(1);\n", NULL};
    static const wk__gpu_template first = {.text = text}, same = {.text = text}, another = {.text = other},
                                  crowded = {.text = text, .min_groups_per_unit = 2},
                                  more_crowded = {.text = text, .min_groups_per_unit = 3};
    wk__gpu_device_desc card = {.target = wk__gpu_target_of(WK__GPU_CUDA, true)};
    const int by_value = card.target.max_by_value_arguments;
    const struct {
        wk__gpu_kernel_spec spec;
        int compiled; /* compilations so far */
    } cases[] = {
        {{.source_template = &first, .nmemory = 1, .narguments = 2}, 1},
        {{.source_template = &same, .nmemory = 1, .narguments = 2}, 1},
        {{.source_template = &another, .nmemory = 1, .narguments = 2}, 2},
        {{.source_template = &same, .dtype = WK_F64, .nmemory = 1, .narguments = 2}, 3},
        {{.source_template = &same, .dtype = WK_I8, .nmemory = 2, .narguments = 2}, 4},
        {{.source_template = &first, .dtype = WK_I8, .nmemory = 1, .narguments = 2}, 5},
        {{.source_template = &same, .dtype = WK_I16, .nmemory = 1, .narguments = 3}, 6},
        {{.source_template = &first, .dtype = WK_I16, .nmemory = 1, .narguments = by_value + 1}, 7},
        {{.source_template = &crowded, .nmemory = 1, .narguments = 2}, 8},
        {{.source_template = &more_crowded, .nmemory = 1, .narguments = 2}, 9},
    };
    static wk__gpu_kernel_cache units;
    wk__fail fail;
    setenv("WICK_CACHE_DIR", "off", 1);
    wk__gpu_kernel_cache_init(&units, &compiler, NULL, &card);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        wk__gpu_kernel *made = wk__gpu_kernel_lookup(&units, &cases[k].spec, &fail);
        assert_non_null(made);
        assert_int_equal(wk__gpu_ensure_built(&units, made, &fail), WK_OK);
        if (compiled != cases[k].compiled) fail_msg("case %zu: %d programs compiled", k, compiled);
    }
    wk__gpu_kernel_cache_destroy(&units);
}

/* Sums of rows before wk__program_coalesce: their source depends on whether there is one column, which is not in the
 * key. A debug build detects that; in others the first kernel would serve the second program. */
static void debug_build_compares_cached_units(void **state)
{
    (void)state;
    wk__gpu_device_desc card = {.target = wk__gpu_target_of(WK__GPU_CUDA, true)};
    static wk__gpu_kernel_cache units;
    wk__program sums[2];
    wk__gpu_kernel *made[2];
    wk__fail fail;
    wk__gpu_kernel_cache_init(&units, &compiler, NULL, &card);
    for (int k = 0; k < 2; k++) {
        ir_space(&sums[k], 2, (const int64_t[]){4, k ? 5 : 1}, 1);
        const int x = ir_operand(&sums[k], WK_F32, NULL, 0, (const int64_t[]){8, 1});
        const int y = ir_operand(&sums[k], WK_F32, NULL, 0, (const int64_t[]){1, 0});
        ir_store(&sums[k], y, ir_unary(&sums[k], WK__RSUM, ir_load(&sums[k], x)));
        const wk__gpu_kernel_spec unit = {.group = &sums[k], .nmemory = 2, .narguments = 9};
        made[k] = wk__gpu_kernel_lookup(&units, &unit, &fail);
        if (k == 0) assert_ptr_equal(wk__gpu_kernel_lookup(&units, &unit, &fail), made[0]);
    }
#ifdef WICK_CHECK_PLANS
    assert_null(made[1]);
    assert_int_equal(fail.code, WK_ERR_INTERNAL);
    assert_non_null(strstr(fail.text, "wrong plan (cache)"));
#else
    assert_ptr_equal(made[1], made[0]);
#endif
    wk__gpu_kernel_cache_destroy(&units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernel_parameters_are_in_the_key),
                                       cmocka_unit_test(debug_build_compares_cached_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
