/* SPDX-License-Identifier: Apache-2.0 */
/* Runs CUDA kernels on the stand-in for NVIDIA's libraries (tests/standin): loads its functions as a program loads the
 * driver. */
#ifndef WICK_TESTS_STANDIN_TEST_H
#define WICK_TESTS_STANDIN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t cu_address;
enum { CU_READY = 0, CU_NOT_READY = 600, CU_FAILED = 719 };

static struct {
    int (*cuInit)(unsigned flags);
    int (*cuDevicePrimaryCtxRetain)(void **context, int device);
    int (*cuDevicePrimaryCtxRelease_v2)(int device);
    int (*cuCtxSetCurrent)(void *context);
    int (*cuCtxSynchronize)(void);
    int (*cuCtxEnablePeerAccess)(void *peer, unsigned flags);
    int (*cuCtxDisablePeerAccess)(void *peer);
    int (*cuMemGetInfo_v2)(size_t *available, size_t *total);
    int (*cuMemAlloc_v2)(cu_address *out, size_t bytes);
    int (*cuMemFree_v2)(cu_address at);
    int (*cuMemcpyHtoDAsync_v2)(cu_address to, const void *from, size_t bytes, void *stream);
    int (*cuMemcpyDtoHAsync_v2)(void *to, cu_address from, size_t bytes, void *stream);
    int (*cuMemcpyDtoDAsync_v2)(cu_address to, cu_address from, size_t bytes, void *stream);
    int (*cuMemcpyPeerAsync)(cu_address to, void *to_context, cu_address from, void *from_context, size_t bytes,
                             void *stream);
    int (*cuMemsetD8Async)(cu_address to, unsigned char value, size_t count, void *stream);
    int (*cuMemsetD32Async)(cu_address to, unsigned value, size_t count, void *stream);
    int (*cuStreamCreate)(void **stream, unsigned flags);
    int (*cuStreamDestroy_v2)(void *stream);
    int (*cuStreamSynchronize)(void *stream);
    int (*cuStreamQuery)(void *stream);
    int (*cuStreamWaitEvent)(void *stream, void *event, unsigned flags);
    int (*cuEventCreate)(void **event, unsigned flags);
    int (*cuEventDestroy_v2)(void *event);
    int (*cuEventRecord)(void *event, void *stream);
    int (*cuEventQuery)(void *event);
    int (*cuEventSynchronize)(void *event);
    int (*cuEventElapsedTime)(float *milliseconds, void *from, void *to);
    int (*cuModuleLoadData)(void **module, const void *image);
    int (*cuModuleUnload)(void *module);
    int (*cuModuleGetFunction)(void **function, void *module, const char *name);
    int (*cuFuncGetAttribute)(int *value, int attribute, void *function);
    int (*cuFuncSetAttribute)(void *function, int attribute, int value);
    int (*cuLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **argument, void **extra);
    int (*cuMemAddressReserve)(cu_address *out, size_t bytes, size_t multiple, cu_address at, unsigned long long flags);
    int (*cuMemAddressFree)(cu_address at, size_t bytes);
    int (*cuMemCreate)(void **memory, size_t bytes, const void *properties, unsigned long long flags);
    int (*cuMemRelease)(void *memory);
    int (*cuMemMap)(cu_address at, size_t bytes, size_t offset, void *memory, unsigned long long flags);
    int (*cuMemUnmap)(cu_address at, size_t bytes);
    int (*cuMemSetAccess)(cu_address at, size_t bytes, const void *access, size_t count);
} cu;

static struct {
    int (*nvrtcVersion)(int *major, int *minor);
    int (*nvrtcCreateProgram)(void **program, const char *text, const char *name, int headers,
                              const char *const *header, const char *const *header_name);
    int (*nvrtcDestroyProgram)(void **program);
    int (*nvrtcCompileProgram)(void *program, int options, const char *const *option);
    int (*nvrtcGetProgramLogSize)(void *program, size_t *bytes);
    int (*nvrtcGetProgramLog)(void *program, char *log);
    int (*nvrtcGetCUBINSize)(void *program, size_t *bytes);
    int (*nvrtcGetCUBIN)(void *program, char *cubin);
} rtc;

/* Reason why kernels cannot run; NULL: they can. */
static const char *standin_missing = "not looked up yet";

static void *standin_library(const char *name)
{
    char path[1024];
    const char *build = getenv("WICK_BUILD");
    snprintf(path, sizeof path, "%s/standin/%s", build != NULL ? build : "build/debug", name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *standin_function(void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (function == NULL) fail_msg("the stand-in has no %s", name);
    return function;
}

static void standin_functions(void *cuda, void *nvrtc)
{
    void *function;
#define CU(name)  function = standin_function(cuda, #name), memcpy(&cu.name, &function, sizeof function)
#define RTC(name) function = standin_function(nvrtc, #name), memcpy(&rtc.name, &function, sizeof function)
    CU(cuInit), CU(cuDevicePrimaryCtxRetain), CU(cuDevicePrimaryCtxRelease_v2), CU(cuCtxSetCurrent);
    CU(cuCtxSynchronize), CU(cuCtxEnablePeerAccess), CU(cuCtxDisablePeerAccess);
    CU(cuMemGetInfo_v2), CU(cuMemAlloc_v2), CU(cuMemFree_v2);
    CU(cuMemcpyHtoDAsync_v2), CU(cuMemcpyDtoHAsync_v2), CU(cuMemcpyDtoDAsync_v2), CU(cuMemcpyPeerAsync);
    CU(cuMemsetD8Async), CU(cuMemsetD32Async), CU(cuStreamCreate), CU(cuStreamDestroy_v2), CU(cuStreamSynchronize);
    CU(cuStreamQuery), CU(cuStreamWaitEvent), CU(cuEventCreate), CU(cuEventDestroy_v2), CU(cuEventRecord);
    CU(cuEventQuery), CU(cuEventSynchronize), CU(cuEventElapsedTime), CU(cuModuleLoadData), CU(cuModuleUnload);
    CU(cuModuleGetFunction), CU(cuFuncGetAttribute), CU(cuFuncSetAttribute), CU(cuLaunchKernel);
    CU(cuMemAddressReserve), CU(cuMemAddressFree), CU(cuMemCreate), CU(cuMemRelease), CU(cuMemMap), CU(cuMemUnmap);
    CU(cuMemSetAccess);
    RTC(nvrtcVersion), RTC(nvrtcCreateProgram), RTC(nvrtcDestroyProgram), RTC(nvrtcCompileProgram);
    RTC(nvrtcGetProgramLogSize), RTC(nvrtcGetProgramLog), RTC(nvrtcGetCUBINSize), RTC(nvrtcGetCUBIN);
#undef CU
#undef RTC
}

/* Group setup. */
static int standin_open(void **state)
{
    (void)state;
    int major, minor;
    void *cuda = standin_library("libcuda.so.1"), *nvrtc = standin_library("libnvrtc.so.13");
    standin_missing = NULL;
    if (cuda == NULL || nvrtc == NULL) {
        standin_missing = "the stand-in is not built for this machine";
    } else {
        standin_functions(cuda, nvrtc);
        if (rtc.nvrtcVersion(&major, &minor) != 0) standin_missing = "NVRTC is missing";
        if (system("${STANDIN_CXX:-g++} --version >/dev/null 2>&1") != 0) standin_missing = "g++ is missing";
    }
    if (standin_missing != NULL) print_message("skipped: %s\n", standin_missing);
    return setenv("WICK_CACHE_DIR", "off", 1);
}

static inline void standin_needed(void)
{
    if (standin_missing != NULL) skip();
}

/* Returns the compiler's code; if it is 0, the caller frees the cubin, else the log. */
static inline int standin_compile(const char *text, char **cubin_or_log)
{
    static const char *const options[] = {"--gpu-architecture=sm_90", "--fmad=false"};
    void *program;
    size_t bytes = 0;
    assert_int_equal(rtc.nvrtcCreateProgram(&program, text, "wick.cu", 0, NULL, NULL), 0);
    const int code = rtc.nvrtcCompileProgram(program, 2, options);
    assert_int_equal(code == 0 ? rtc.nvrtcGetCUBINSize(program, &bytes) : rtc.nvrtcGetProgramLogSize(program, &bytes),
                     0);
    char *out = calloc(bytes + 1, 1);
    assert_int_equal(code == 0 ? rtc.nvrtcGetCUBIN(program, out) : rtc.nvrtcGetProgramLog(program, out), 0);
    rtc.nvrtcDestroyProgram(&program);
    *cubin_or_log = out;
    return code;
}

#endif
