/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC, for the common kernel builder (gpu/cache/kernel_build.c). */
#include "backend/gpu/cache/kernel_build.h"
#include "nvrtc_exit.h"
#include "device.h"

#include <stdio.h>
#include <string.h>

/* ---- compiling --------------------------------------------------------------------------------------------------- */

/* Reads the compiler's log; "" if empty. */
static void read_log(nvrtcProgram program, wk__text *log)
{
    size_t bytes = 0;
    if (wk__nvrtc.GetProgramLogSize(program, &bytes) == NVRTC_SUCCESS && bytes > 1) {
        wk__text_repeat(log, '\0', (int64_t)bytes); /* allocates */
        if (!log->failed && wk__nvrtc.GetProgramLog(program, log->data) != NVRTC_SUCCESS) wk__text_free(log);
    }
}

/* WK_ERR_INTERNAL only if the compiler rejects the source, which is permanent; after other errors the kernel is built
 * again on next use (gpu/cache/kernel_build.c). */
static wk_code compiler_failed(nvrtcProgram program, int error, wk__fail *fail)
{
    wk__text log = {0};
    if (program != NULL) read_log(program, &log);
    const bool said = log.data != NULL && !log.failed;
    if (error == NVRTC_ERROR_OUT_OF_MEMORY)
        wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory to compile a kernel");
    else if (error == NVRTC_ERROR_COMPILATION)
        wk__gpu_fail_compile(fail, said ? log.data : "no log");
    else
        wk__fail_set(fail, WK_ERR_DEVICE, "compiling a kernel: NVRTC error %d%s%.*s", error, said ? ": " : "",
                     said ? (int)strcspn(log.data, "\n") : 0, said ? log.data : "");
    wk__text_free(&log);
    return fail->code;
}

/* Reads the code for the card (CUBIN), or PTX, which its driver compiles. */
static int read_code(bool as_ptx, nvrtcProgram program, wk__text *binary)
{
    size_t bytes = 0;
    int error = as_ptx ? wk__nvrtc.GetPTXSize(program, &bytes) : wk__nvrtc.GetCUBINSize(program, &bytes);
    if (error != NVRTC_SUCCESS) return error;
    wk__text_repeat(binary, '\0', (int64_t)bytes); /* allocates */
    if (bytes == 0 || binary->failed) return NVRTC_ERROR_OUT_OF_MEMORY;
    return as_ptx ? wk__nvrtc.GetPTX(program, binary->data) : wk__nvrtc.GetCUBIN(program, binary->data);
}

/* Compiles source; *binary is empty on failure. */
static wk_code nvrtc_compile(const wk__cuda_device_desc *card, bool as_ptx, const char *source, wk__text *binary,
                             wk__fail *fail)
{
    const char *option[WK__GPU_OPTIONS];
    char for_text[sizeof card->gpu.option[0]];
    nvrtcProgram program = NULL;
    wk_code code = WK_OK;
    for (int k = 0; k < WK__GPU_OPTIONS; k++) option[k] = card->gpu.option[k];
    snprintf(for_text, sizeof for_text, "--gpu-architecture=compute_%d", card->compiled_for);
    if (as_ptx) option[0] = for_text;
    if (!wk__nvrtc_enter()) return wk__fail_set(fail, WK_ERR_STATE, "cannot compile a kernel while the process exits");
    int error = wk__nvrtc.CreateProgram(&program, source, "wick.cu", 0, NULL, NULL);
    if (error == NVRTC_SUCCESS) error = wk__nvrtc.CompileProgram(program, WK__GPU_OPTIONS, option);
    if (error == NVRTC_SUCCESS) error = read_code(as_ptx, program, binary);
    if (error != NVRTC_SUCCESS) code = compiler_failed(program, error, fail);
    if (program != NULL) wk__nvrtc.DestroyProgram(&program);
    wk__nvrtc_leave();
    if (code != WK_OK) wk__text_free(binary);
    return code;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* Converts WK_ERR_INTERNAL, because the source was not rejected. */
static wk_code as_device_error(wk_code code, wk__fail *fail)
{
    return code == WK_ERR_INTERNAL ? (fail->code = WK_ERR_DEVICE) : code;
}

/* Compiles and loads; *loaded is the driver's result. */
static wk_code compile_and_load(wk__cuda_device *device, const char *source, wk__text *binary, CUresult *loaded,
                                CUmodule *module, wk__fail *fail)
{
    const wk_code code = nvrtc_compile(device->card, device->needs_ptx, source, binary, fail);
    if (code == WK_OK) *loaded = wk__cuda.ModuleLoadData(module, binary->data);
    return code;
}

/* The device's lock is held. Drivers of some cards (Tegra) reject code for an older architecture of the same
 * generation; from then on they get PTX. Files with PTX work for all cards that could use the code. */
static wk_code compile(void *user, const char *source, void **out, wk__text *binary, wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk__text here = {0};
    CUmodule module = NULL;
    CUresult error = CUDA_SUCCESS;
    wk_code code = device->lost ? wk__cuda_fail_lost(device, fail)
                                : compile_and_load(device, source, &here, &error, &module, fail);
    if (code == WK_OK && error == CUDA_ERROR_NO_BINARY_FOR_GPU && !device->needs_ptx) {
        device->needs_ptx = true;
        wk__text_free(&here);
        code = compile_and_load(device, source, &here, &error, &module, fail);
    }
    if (code != WK_OK) return code;
    if (error != CUDA_SUCCESS) code = as_device_error(wk__cuda_fail_set(device, fail, error, "loading a kernel"), fail);
    *out = module;
    if (code == WK_OK && binary != NULL)
        *binary = here;
    else
        wk__text_free(&here);
    return code;
}

/* The device's lock is held. A file that the driver rejects is compiled again, unless the device is lost. */
static void *load(void *user, const char *binary, int64_t bytes)
{
    (void)bytes;
    CUmodule module = NULL;
    wk__fail fail;
    const CUresult error = wk__cuda.ModuleLoadData(&module, binary);
    if (error != CUDA_SUCCESS) wk__cuda_fail_set(user, &fail, error, "loading a kernel");
    return error == CUDA_SUCCESS ? module : NULL;
}

/* The device's lock is held. The driver loads a kernel's code when it is looked up. */
static wk_code get_function(void *user, void *module, const char *name, void **out, wk__fail *fail)
{
    wk__cuda_device *device = user;
    CUfunction function = NULL;
    if (device->lost) return wk__cuda_fail_lost(device, fail);
    const CUresult error = wk__cuda.ModuleGetFunction(&function, module, name);
    if (error == CUDA_SUCCESS) *out = function;
    if (error == CUDA_SUCCESS || error == CUDA_ERROR_NOT_FOUND) return WK_OK;
    return as_device_error(wk__cuda_fail_set(device, fail, error, "loading a kernel"), fail);
}

static void release_module(void *module)
{
    wk__cuda.ModuleUnload(module);
}

const wk__gpu_compiler wk__cuda_compiler = {
    .magic = "wick cuda 1\n",
    .compile = compile,
    .load = load,
    .get_function = get_function,
    .release_module = release_module,
};
