/* SPDX-License-Identifier: Apache-2.0 */
/* Failures while kernels are compiled, loaded and looked up: the reported error, the steps that are retried, and that
 * no driver call is made for a lost device. Each case runs in a child process with errors injected into the
 * stand-in. */
#include "backend.h"

#include <math.h>

/* ---- building ------------------------------------------------------------------------------------- */

static long compilations(void)
{
    long (*count)(const char *);
    standin_find("libnvrtc.so.13", "standin_count", &count);
    return count("nvrtcCompileProgram");
}

enum { UNITS = 4 };

static wk_code build_some(const opened *o, int first, int end)
{
    static const char *const text[UNITS][2] = {
        {"    (void)m0;\n"}, {"    (void)m0; (void)F;\n"}, {"    (void)F;\n"}, {"    (void)F; (void)m0;\n"}};
    static const char *const names[UNITS] = {"one", "two", "three", "four"};
    static wk__gpu_template fixed[UNITS]; /* waiting units refer to it */
    wk__cuda_device *device = o->device;
    wk__fail fail;
    must(o->backend->compile_only(device, true, &fail) == WK_OK);
    for (int k = first; k < end; k++) {
        const wk__gpu_kernel_spec unit = unit_of(names[k], &fixed[k], text[k]);
        must(wk__gpu_kernel_lookup(&device->kernel_cache, &unit, &fail) != NULL);
    }
    return o->backend->compile_only(device, false, &fail);
}

static wk_code build_three(const opened *o)
{
    return build_some(o, 0, 3);
}

/* Nothing is compiled for a lost device, and a compilation that fails for lack of memory is not repeated in the same
 * build. */
static void lost_while_loading(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    opened o = open_first();
    must(build_three(&o) == WK_ERR_DEVICE_LOST);
    must(compilations() == 1);
    must(build_three(&o) == WK_ERR_DEVICE_LOST);
    must(compilations() == 1);
    o.backend->close(o.device);
}

static void no_memory_to_compile(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    opened o = open_first();
    must(build_three(&o) == WK_ERR_MEMORY);
    must(compilations() == 2); /* all together, then the first one alone */
    o.backend->close(o.device);
}

/* A cached file that the driver rejects is compiled again, but not for a lost device. */
static void rejects_a_cached_file(void)
{
    opened o = open_first();
    must(build_three(&o) == WK_OK);
    o.backend->close(o.device);
    o = open_first();
    const long before = compilations();
    setenv("STANDIN_ERRORS", "cuModuleLoadData=218@1", 1);
    must(build_three(&o) == WK_OK);
    must(compilations() - before == 1);
    o.backend->close(o.device);
    o = open_first();
    setenv("STANDIN_ERRORS", "cuModuleLoadData=714@1", 1);
    must(build_three(&o) == WK_ERR_DEVICE_LOST);
    must(compilations() - before == 1);
    o.backend->close(o.device);
}

/* Numbers of compilations, loads and look-ups. */
typedef struct counts {
    long compiled, loaded, looked_up;
} counts;

static counts counts_now(void)
{
    return (counts){compilations(), driver_calls("cuModuleLoadData"), driver_calls("cuModuleGetFunction")};
}

static bool is_more_by(counts before, long compiled, long loaded, long looked_up)
{
    const counts now = counts_now();
    return now.compiled - before.compiled == compiled && now.loaded - before.loaded == loaded &&
           now.looked_up - before.looked_up == looked_up;
}

/* Looking up a kernel copies its code to the card, which can run out of memory. Loaded modules are not loaded again. */
static void no_memory_for_kernels(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    opened o = open_first();
    counts before = counts_now();
    setenv("STANDIN_ERRORS", "cuModuleGetFunction=2@2+", 1);
    must(build_three(&o) == WK_ERR_MEMORY && is_more_by(before, 1, 1, 2));
    must(build_three(&o) == WK_ERR_MEMORY && is_more_by(before, 1, 1, 3));
    unsetenv("STANDIN_ERRORS");
    must(build_three(&o) == WK_OK && is_more_by(before, 1, 1, 5));
    o.backend->close(o.device);
}

/* Uses a separate cache folder, so that other tests do not change which units share a file. */
static void use_cache_folder(const char *name)
{
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/%s", getenv("WICK_CACHE_DIR"), name);
    setenv("WICK_CACHE_DIR", folder, 1);
}

static void no_memory_for_cached_kernels(void)
{
    use_cache_folder("looked_up");
    opened o = open_first();
    must(build_three(&o) == WK_OK);
    o.backend->close(o.device);
    o = open_first();
    counts before = counts_now();
    setenv("STANDIN_ERRORS", "cuModuleGetFunction=2", 1);
    for (int k = 1; k <= 2; k++) must(build_three(&o) == WK_ERR_MEMORY && is_more_by(before, 0, 1, k));
    unsetenv("STANDIN_ERRORS");
    must(build_three(&o) == WK_OK && is_more_by(before, 0, 1, 5));
    o.backend->close(o.device);
}

/* When each unit is built alone and one fails for lack of memory, the rest stays pending, and is built together
 * afterwards. */
static void no_memory_for_a_single_kernel(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    opened o = open_first();
    counts before = counts_now();
    setenv("STANDIN_ERRORS", "nvrtcCompileProgram=6@1,cuModuleGetFunction=2@1", 1);
    must(build_three(&o) == WK_ERR_MEMORY && is_more_by(before, 2, 1, 1));
    must(build_three(&o) == WK_OK && is_more_by(before, 3, 2, 4));
    o.backend->close(o.device);
}

/* A kernel that cannot be looked up fails alone; the compiler still works. */
static void look_up_of_one_kernel_fails(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    opened o = open_first();
    counts before = counts_now();
    setenv("STANDIN_ERRORS", "cuModuleGetFunction=209@1", 1);
    must(build_three(&o) == WK_ERR_DEVICE && is_more_by(before, 1, 1, 3));
    setenv("STANDIN_ERRORS", "cuModuleGetFunction=209@1+", 1);
    must(build_some(&o, 3, 4) == WK_ERR_DEVICE && is_more_by(before, 2, 2, 5));
    unsetenv("STANDIN_ERRORS");
    must(build_three(&o) == WK_OK && is_more_by(before, 2, 2, 7));
    o.backend->close(o.device);
}

static void lost_while_looking_up(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    opened o = open_first();
    const wk__cuda_device *device = o.device;
    counts before = counts_now();
    setenv("STANDIN_ERRORS", "cuModuleGetFunction=700@1", 1);
    must(build_three(&o) == WK_ERR_DEVICE_LOST && device->lost && is_more_by(before, 1, 1, 1));
    must(build_three(&o) == WK_ERR_DEVICE_LOST && is_more_by(before, 1, 1, 1));
    o.backend->close(o.device);
}

/* The context is reset between two units of one build: no call concerns the program loaded before. */
static void reset_before_looking_up(void)
{
    use_cache_folder("reset");
    opened o = open_first();
    must(build_three(&o) == WK_OK && build_some(&o, 3, 4) == WK_OK);
    o.backend->close(o.device);
    o = open_first();
    counts before = counts_now();
    must(build_some(&o, 0, 1) == WK_OK && is_more_by(before, 0, 1, 1));
    setenv("STANDIN_ERRORS", "cuModuleLoadData=400@1", 1);
    must(build_some(&o, 1, 4) == WK_ERR_DEVICE_LOST && is_more_by(before, 0, 2, 1));
    o.backend->close(o.device);
}

static void builds(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=cuModuleLoadData=700@1", lost_while_loading);
    in_child("STANDIN_ERRORS=nvrtcCompileProgram=1", no_memory_to_compile);
    in_child("STANDIN_ERRORS=", rejects_a_cached_file);
    in_child("STANDIN_ERRORS=", no_memory_for_kernels);
    in_child("STANDIN_ERRORS=", no_memory_for_cached_kernels);
    in_child("STANDIN_ERRORS=", no_memory_for_a_single_kernel);
    in_child("STANDIN_ERRORS=", look_up_of_one_kernel_fails);
    in_child("STANDIN_ERRORS=", lost_while_looking_up);
    in_child("STANDIN_ERRORS=", reset_before_looking_up);
}

/* ---- the compiler ------------------------------------------------------------------------------------------------ */

static struct {
    wk_code code;
    const char *words;
    bool again; /* a later request for the kernel succeeds */
} wanted_error;

static void expect_compiler_error(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    WK_SCOPE;
    wk_tensor *x = wk_retain(ones_on(0)), *y = wk_retain(wk_mul(x, 3));
    wk_flush();
    must(wk_error_code() == wanted_error.code && strstr(wk_error(), wanted_error.words) != NULL);
    wk_clear_error();
    unsetenv("STANDIN_ERRORS");
    wk_tensor *z = wk_retain(wk_mul(x, 3));
    wk_flush();
    must(wanted_error.again ? wk_error() == NULL && wk_item(wk_sum(z)) == 3000 : wk_error_code() == wanted_error.code);
    wk_clear_error();
    others_go_on();
    wk_free(x), wk_free(y), wk_free(z);
}

/* The error of a compiler that rejects every kernel contains its log. */
static void expect_compiler_log(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    WK_SCOPE;
    wk_item(wk_sum(ones_on(0)));
    must(wk_error_code() == wanted_error.code && strstr(wk_error(), wanted_error.words) != NULL);
    wk_clear_error();
}

static void compiler_errors(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        wk_code code;
        const char *words;
    } cases[] = {
        {"STANDIN_ERRORS=nvrtcCompileProgram=1", WK_ERR_MEMORY, "out of host memory to compile"},
        {"STANDIN_ERRORS=nvrtcCompileProgram=5", WK_ERR_DEVICE, "NVRTC error 5"},
        {"STANDIN_ERRORS=nvrtcCompileProgram=11", WK_ERR_DEVICE, "NVRTC error 11"},
        {"STANDIN_ERRORS=nvrtcCreateProgram=3", WK_ERR_DEVICE, "NVRTC error 3"},
        {"STANDIN_ERRORS=nvrtcGetCUBINSize=4", WK_ERR_DEVICE, "NVRTC error 4"},
        {"STANDIN_ERRORS=nvrtcGetCUBIN=4", WK_ERR_DEVICE, "NVRTC error 4"},
        {"STANDIN_ERRORS=nvrtcCompileProgram=6", WK_ERR_INTERNAL, "rejected a kernel: no log"},
        {"STANDIN_ERRORS=nvrtcCompileProgram=6,nvrtcGetProgramLogSize=4", WK_ERR_INTERNAL, "no log"},
        {"STANDIN_ERRORS=cuModuleLoadData=209", WK_ERR_DEVICE, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {"STANDIN_ERRORS=cuModuleGetFunction=2", WK_ERR_MEMORY, "loading a kernel: out of memory"},
        {"STANDIN_ERRORS=cuModuleGetFunction=209", WK_ERR_DEVICE, "loading a kernel: CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {"STANDIN_ERRORS=cuModuleGetFunction=500", WK_ERR_DEVICE, "a compiled kernel is missing"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        wanted_error.code = cases[k].code;
        wanted_error.words = cases[k].words;
        wanted_error.again = cases[k].code != WK_ERR_INTERNAL; /* rejected sources are not compiled again */
        in_child(cases[k].settings, expect_compiler_error);
    }
    static const struct {
        const char *errors;
        wk_code code;
        const char *words;
    } said[] = {
        {"", WK_ERR_INTERNAL, "rejected a kernel: error: this kernel is not in the archive"},
        {"nvrtcCompileProgram=11", WK_ERR_DEVICE, "NVRTC error 11: error: this kernel is not in the archive"},
        {"nvrtcGetProgramLog=4", WK_ERR_INTERNAL, "rejected a kernel: no log"},
    };
    for (size_t k = 0; k < sizeof said / sizeof said[0]; k++) {
        char settings[200];
        wanted_error.code = said[k].code;
        wanted_error.words = said[k].words;
        snprintf(settings, sizeof settings, "STANDIN_NVRTC=/nowhere STANDIN_NVRTC_VERSION=13.0 STANDIN_ERRORS=%s",
                 said[k].errors);
        in_child(settings, expect_compiler_log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds),
        cmocka_unit_test(compiler_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
