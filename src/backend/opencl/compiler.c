/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's compiler, for the common kernel builder (gpu/cache/kernel_build.c). */
#include "backend/gpu/cache/kernel_build.h"
#include "device.h"

/* Reads the program's binary; empty if the driver provides none. */
static void read_binary(cl_program program, wk__text *binary)
{
    size_t bytes = 0;
    if (wk__cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS) return;
    wk__text_repeat(binary, '\0', (int64_t)bytes); /* allocates */
    if (bytes == 0 || binary->failed) return;
    if (wk__cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary->data, &binary->data, NULL) != CL_SUCCESS)
        wk__text_free(binary);
}

static wk_code compile(void *user, const char *source, void **out, wk__text *binary, wk__fail *fail)
{
    wk__cl_device *device = user;
    cl_device id = device->card->id;
    cl_int error;
    cl_program program = wk__cl.CreateProgramWithSource(device->context, 1, &source, NULL, &error);
    if (error != CL_SUCCESS) return wk__cl_fail_set(fail, error, "creating a program");
    error = wk__cl.BuildProgram(program, 1, &id, device->card->gpu.option[0], NULL, NULL);
    if (error == CL_SUCCESS) {
        if (binary != NULL) read_binary(program, binary);
        *out = program;
        return WK_OK;
    }
    wk_code code = wk__cl_fail_set(fail, error, "compiling a kernel");
    if (code == WK_ERR_INTERNAL) { /* otherwise the compiler ran out of memory */
        char log[8192] = "";
        wk__cl.GetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        log[sizeof log - 1] = '\0';
        code = wk__gpu_fail_compile(fail, log);
    }
    wk__cl.ReleaseProgram(program);
    return code;
}

static void *load(void *user, const char *binary, int64_t bytes)
{
    wk__cl_device *device = user;
    cl_device id = device->card->id;
    size_t size = (size_t)bytes;
    const unsigned char *data = (const unsigned char *)binary;
    cl_int state, error;
    cl_program program = wk__cl.CreateProgramWithBinary(device->context, 1, &id, &size, &data, &state, &error);
    if (error != CL_SUCCESS) return NULL;
    if (state == CL_SUCCESS &&
        wk__cl.BuildProgram(program, 1, &id, device->card->gpu.option[0], NULL, NULL) == CL_SUCCESS) {
        return program;
    }
    wk__cl.ReleaseProgram(program);
    return NULL;
}

/* The driver may have accepted a binary from which it cannot create kernels: then the module counts as not containing
 * the kernel. */
static wk_code get_function(void *user, void *module, const char *name, void **out, wk__fail *fail)
{
    (void)user;
    cl_int error;
    cl_kernel function = wk__cl.CreateKernel(module, name, &error);
    if (error == CL_SUCCESS) {
        *out = function;
        return WK_OK;
    }
    const wk_code code = wk__cl_fail_set(fail, error, "creating a kernel");
    return code == WK_ERR_INTERNAL ? WK_OK : code;
}

static void release_function(void *function)
{
    wk__cl.ReleaseKernel(function);
}

static void release_module(void *module)
{
    wk__cl.ReleaseProgram(module);
}

const wk__gpu_compiler wk__cl_compiler = {
    .magic = "wick opencl 1\n",
    .compile = compile,
    .load = load,
    .get_function = get_function,
    .release_function = release_function,
    .release_module = release_module,
};
