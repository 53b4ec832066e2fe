/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal backend that runs cases on the stand-in: one stream; allocations wait for all work. */
#ifndef WICK_TESTS_STANDIN_BACKEND_H
#define WICK_TESTS_STANDIN_BACKEND_H

#include "test.h"

#include "backend/gpu/cache/kernel_build.h"
#include "backend/gpu/fault.h"

/* The target for which work is planned and printed. */
static wk__gpu_device_desc standin_card = {.info.name = "stand-in", .option = {"--fmad=false"}, .compiler_id = "NVRTC"};

typedef struct standin_device {
    wk__gpu_kernel_cache kernel_cache;
    void *context, *stream;
    cu_address fault, scratch;
    int64_t scratch_bytes;
    int launches;
    bool gathering;
} standin_device;

static wk_code standin_failed(wk__fail *fail, int code, const char *what)
{
    return code == 0 ? WK_OK : wk__fail_set(fail, WK_ERR_INTERNAL, "%s: CUDA error %d", what, code);
}

/* ---- the compiler ------------------------------------------------------------------------------------------------ */

static wk_code standin_build(void *device, const char *source, void **program, wk__text *binary, wk__fail *fail)
{
    (void)device, (void)binary;
    char *out;
    if (standin_compile(source, &out) != 0) {
        wk_code code = wk__gpu_fail_compile(fail, out);
        free(out);
        return code;
    }
    wk_code code = standin_failed(fail, cu.cuModuleLoadData(program, out), "loading a module");
    free(out);
    return code;
}

static wk_code standin_function_of(void *device, void *program, const char *name, void **out, wk__fail *fail)
{
    (void)device;
    return standin_failed(fail, cu.cuModuleGetFunction(out, program, name), "looking up a kernel");
}

static void standin_release(void *program)
{
    cu.cuModuleUnload(program);
}

static const wk__gpu_compiler standin_compiler = {.magic = "wick standin\n",
                                                  .compile = standin_build,
                                                  .get_function = standin_function_of,
                                                  .release_module = standin_release};

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static cu_address standin_address(const void *block)
{
    return (cu_address)(uintptr_t)block;
}

static wk_code standin_alloc(void *device, int64_t bytes, wk__memory *block, wk__fail *fail)
{
    (void)device;
    cu_address at = 0;
    int code = cu.cuMemAlloc_v2(&at, (size_t)bytes);
    *block = (wk__memory){.block = (void *)(uintptr_t)at, .bytes = bytes};
    return standin_failed(fail, code, "taking memory");
}

static void standin_free(void *device, wk__memory *block)
{
    (void)device;
    cu.cuMemFree_v2(standin_address(block->block));
    *block = (wk__memory){0};
}

static wk_code standin_sync(void *user, wk__fail *fail)
{
    standin_device *device = user;
    wk__gpu_fault found, none = {0};
    cu.cuMemcpyDtoHAsync_v2(&found, device->fault, sizeof found, device->stream);
    int code = cu.cuStreamSynchronize(device->stream);
    if (code != 0) return standin_failed(fail, code, "waiting");
    cu.cuMemcpyHtoDAsync_v2(device->fault, &none, sizeof none, device->stream);
    code = cu.cuStreamSynchronize(device->stream);
    return code != 0 ? standin_failed(fail, code, "waiting") : wk__gpu_fault_report(&found, fail);
}

static wk_code standin_upload(void *user, const wk__memory *to, int64_t offset, const void *from, int64_t bytes,
                              wk__fail *fail)
{
    standin_device *device = user;
    cu_address at = standin_address(to->block) + (cu_address)(to->offset + offset);
    int code = cu.cuMemcpyHtoDAsync_v2(at, from, (size_t)bytes, device->stream);
    return standin_failed(fail, code != 0 ? code : cu.cuStreamSynchronize(device->stream), "copying to the device");
}

static wk_code standin_download(void *user, void *to, const wk__memory *from, int64_t offset, int64_t bytes,
                                wk__fail *fail)
{
    standin_device *device = user;
    cu_address at = standin_address(from->block) + (cu_address)(from->offset + offset);
    int code = cu.cuMemcpyDtoHAsync_v2(to, at, (size_t)bytes, device->stream);
    return code != 0 ? standin_failed(fail, code, "copying from the device") : standin_sync(device, fail);
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

static wk_code standin_scratch(standin_device *device, int64_t bytes, wk__fail *fail)
{
    if (bytes <= device->scratch_bytes) return WK_OK;
    if (device->scratch != 0) cu.cuMemFree_v2(device->scratch);
    device->scratch_bytes = bytes;
    return standin_failed(fail, cu.cuMemAlloc_v2(&device->scratch, (size_t)bytes), "allocating scratch memory");
}

/* Arguments that exceed a struct are in memory until the launch has finished. */
static wk_code standin_launch(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    standin_device *device = user;
    if (launch->count == 0) return WK_OK;
    wk__gpu_kernel *f = wk__gpu_kernel_lookup(&device->kernel_cache, &launch->spec, fail);
    if (f == NULL) return WK_ERR_MEMORY;
    if (device->gathering) return WK_OK;
    wk_code code = wk__gpu_ensure_built(&device->kernel_cache, f, fail);
    if (code == WK_OK) code = standin_scratch(device, launch->scratch, fail);
    if (code != WK_OK) return code;
    const int nmemory = launch->spec.nmemory;
    cu_address memory[WK__GPU_MAX_MEMORY] = {0}, many = 0;
    void *parameter[WK__GPU_MAX_MEMORY + 3] = {&device->fault};
    int64_t argument[WK__GPU_MAX_ARGUMENTS];
    memcpy(argument, launch->argument, sizeof argument);
    for (int k = 0; k < f->memory_slots; k++) {
        memory[k] = k < nmemory ? standin_address(launch->block[k]) : device->fault;
        parameter[k + 1] = &memory[k];
    }
    if (launch->scratch > 0) memory[nmemory - 1] = device->scratch;
    parameter[f->memory_slots + 1] = argument;
    parameter[f->memory_slots + 2] = &f->case_index;
    if (!wk__gpu_kernel_by_value(&device->kernel_cache, f)) {
        const size_t bytes = (size_t)launch->spec.narguments * sizeof argument[0];
        cu.cuMemAlloc_v2(&many, bytes);
        cu.cuMemcpyHtoDAsync_v2(many, argument, bytes, device->stream);
        parameter[f->memory_slots + 1] = &many;
    }
    const int64_t local = standin_card.target.group_size, groups = launch->spec.per_group ? 1 : local;
    device->launches++;
    int error = cu.cuLaunchKernel(f->handle, (unsigned)((launch->count + groups - 1) / groups), 1, 1, (unsigned)local,
                                  1, 1, 0, device->stream, parameter, NULL);
    if (many != 0) cu.cuMemFree_v2(many);
    return standin_failed(fail, error, "launching a kernel");
}

static wk_code standin_submit(void *user, const wk__work *work, wk__fail *fail)
{
    standin_device *device = user;
    const bool carried = wk__gpu_should_fuse_epilogue(&device->kernel_cache, work, true);
    wk__work first = *work;
    if (!carried) first.program = NULL;
    wk_code code = WK_OK;
    if (work->args != NULL) code = wk__gpu_lower_work(&standin_card.target, &first, standin_launch, device, fail);
    if (code == WK_OK && work->program != NULL && !carried)
        code = wk__gpu_lower_program(&standin_card.target, work->program, standin_launch, device, fail);
    return code;
}

static wk_code standin_gather(void *user, bool on, wk__fail *fail)
{
    standin_device *device = user;
    device->gathering = on;
    return on ? WK_OK : wk__gpu_build(&device->kernel_cache, false, fail);
}

/* ---- the device -------------------------------------------------------------------------------------------------- */

static wk_code standin_begin(int index, void **out, wk__fail *fail)
{
    wk__gpu_fault none = {0};
    standin_device *device = calloc(1, sizeof *device);
    standin_card.target = wk__gpu_target_of(WK__GPU_CUDA, true);
    standin_card.target.compute_units = 8;
    standin_card.target.fuse_epilogue_after = 0; /* fuses epilogues at once */
    wk__gpu_kernel_cache_init(&device->kernel_cache, &standin_compiler, device, &standin_card);
    int code = cu.cuInit(0);
    if (code == 0) code = cu.cuDevicePrimaryCtxRetain(&device->context, index);
    if (code == 0) code = cu.cuCtxSetCurrent(device->context);
    if (code == 0) code = cu.cuStreamCreate(&device->stream, 1);
    if (code == 0) code = cu.cuMemAlloc_v2(&device->fault, sizeof none);
    if (code == 0) code = cu.cuMemcpyHtoDAsync_v2(device->fault, &none, sizeof none, device->stream);
    if (code == 0) code = cu.cuStreamSynchronize(device->stream);
    *out = device;
    return standin_failed(fail, code, "opening a device");
}

static void standin_end(void *user)
{
    standin_device *device = user;
    wk__gpu_kernel_cache_destroy(&device->kernel_cache);
    cu.cuCtxSetCurrent(NULL);
    cu.cuDevicePrimaryCtxRelease_v2(0);
    free(device);
}

static const wk__backend standin = {.abi_version = WK__BACKEND_VERSION,
                                    .name = "stand-in",
                                    .open = standin_begin,
                                    .close = standin_end,
                                    .block_alloc = standin_alloc,
                                    .block_free = standin_free,
                                    .submit = standin_submit,
                                    .upload = standin_upload,
                                    .download = standin_download,
                                    .sync = standin_sync,
                                    .compile_only = standin_gather};

#endif
