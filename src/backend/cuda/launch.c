/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers work to launches, compiles missing kernels, and enqueues; in the submitting thread. */
#include "backend/gpu/cache/kernel_build.h"
#include "device.h"

#include "base/integers.h"

#include <string.h>

/* ---- resources of launches --------------------------------------------------------------------------------------- */

static void free_retired(wk__cuda_retired *retired)
{
    for (int k = 0; k < retired->count; k++) wk__cuda.MemFree_v2(retired->memory[k]);
    retired->count = 0;
    retired->bytes = 0;
}

/* Scratch memory is shared by launches, which run in order; it grows by at least half. Freeing memory waits for all
 * work of the device, so replaced memory is kept until a thread waits anyway (memory.c), or until memory runs out. */
static wk_code ensure_scratch(wk__cuda_device *device, int64_t bytes, wk__fail *fail)
{
    wk__cuda_retired *retired = &device->retired;
    if (bytes <= device->scratch_bytes) return WK_OK;
    if (retired->count == (int)(sizeof retired->memory / sizeof *retired->memory)) free_retired(retired);
    if (device->scratch != 0) {
        retired->memory[retired->count++] = device->scratch;
        retired->bytes += device->scratch_bytes;
    }
    int64_t wanted = wk__max_i64(bytes, device->scratch_bytes + device->scratch_bytes / 2);
    device->scratch = 0;
    device->scratch_bytes = 0;
    CUresult error = wk__cuda.MemAlloc_v2(&device->scratch, (size_t)wanted);
    if (error == CUDA_ERROR_OUT_OF_MEMORY && retired->count > 0) {
        free_retired(retired);
        wanted = bytes;
        error = wk__cuda.MemAlloc_v2(&device->scratch, (size_t)wanted);
    }
    if (error != CUDA_SUCCESS) return wk__cuda_fail_set(device, fail, error, "allocating scratch memory");
    device->scratch_bytes = wanted;
    return WK_OK;
}

/* Allocates memory for arguments that are too many to pass by value, on the device and the host. */
static wk_code ensure_argument_ring(wk__cuda_device *device, wk__fail *fail)
{
    CUresult error = CUDA_SUCCESS;
    if (device->arguments == 0) error = wk__cuda.MemAlloc_v2(&device->arguments, WK__CUDA_ARGUMENTS);
    if (error != CUDA_SUCCESS) return wk__cuda_fail_set(device, fail, error, "allocating memory for arguments");
    return wk__cuda_staging_init(device, &device->staging, fail);
}

/* Local memory of threads is allocated per context, for as many threads as the card can run. If a kernel needs more
 * than the context has, the driver allocates it at the kernel's first launch; so its availability is checked before
 * anything is launched. Register limits are met by construction (KERNEL in gpu/codegen/prelude_dialect.c), and code was
 * loaded when the kernel was looked up. */
static wk_code check_local_memory(wk__cuda_device *device, wk__gpu_kernel *kernel, wk__fail *fail)
{
    int own = 0;
    size_t there = 0, available = 0, total = 0;
    if (kernel->checked) return WK_OK;
    CUresult error = wk__cuda.FuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel->handle);
    if (error == CUDA_SUCCESS) error = wk__cuda.CtxGetLimit(&there, CU_LIMIT_STACK_SIZE);
    const int64_t wanted = own > (int64_t)there ? own * device->card->max_resident_items : 0;
    if (error == CUDA_SUCCESS && wanted > 0) error = wk__cuda.MemGetInfo_v2(&available, &total);
    if (error != CUDA_SUCCESS) return wk__cuda_fail_set(device, fail, error, "querying a kernel");
    if ((int64_t)available < wanted)
        return wk__cuda_fail_set(device, fail, CUDA_ERROR_OUT_OF_MEMORY, "allocating the stack of a kernel");
    kernel->checked = true;
    return WK_OK;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Stores arguments in a ring buffer, written in launch order: older contents have been read when the ring wraps
 * around. */
static wk_code store_arguments(wk__cuda_device *device, const int64_t *argument, int count, CUdeviceptr *at,
                               wk__fail *fail)
{
    const int64_t bytes = (int64_t)sizeof *argument * count;
    void *staged = wk__cuda_staging_alloc(device, &device->staging, bytes, fail);
    if (staged == NULL) return fail->code;
    memcpy(staged, argument, (size_t)bytes);
    if (device->arguments_used + bytes > WK__CUDA_ARGUMENTS) device->arguments_used = 0;
    *at = device->arguments + (CUdeviceptr)device->arguments_used;
    device->arguments_used += (bytes + WK__ALIGN - 1) / WK__ALIGN * WK__ALIGN;
    const CUresult error = wk__cuda.MemcpyHtoDAsync_v2(*at, staged, (size_t)bytes, device->stream);
    return error == CUDA_SUCCESS ? WK_OK : wk__cuda_fail_set(device, fail, error, "copying arguments to the device");
}

/* The driver copies all parameters before it returns. */
static wk_code enqueue(wk__cuda_device *device, const wk__gpu_kernel *kernel, const wk__gpu_launch *launch,
                       const int64_t *argument, int64_t groups, wk__fail *fail)
{
    const int nmemory = kernel->spec.nmemory;
    CUdeviceptr memory[WK__GPU_MAX_MEMORY], stored = 0;
    void *parameter[WK__GPU_MAX_MEMORY + 2] = {&device->fault};
    int parameters = 1;
    for (int k = 0; k < nmemory; k++) {
        const bool scratch = launch->scratch > 0 && k == nmemory - 1;
        memory[k] = scratch ? device->scratch : (CUdeviceptr)(uintptr_t)launch->block[k];
        parameter[parameters++] = &memory[k];
    }
    if (wk__gpu_kernel_by_value(&device->kernel_cache, kernel)) {
        parameter[parameters++] = (void *)(uintptr_t)argument;
    } else {
        const wk_code code = store_arguments(device, argument, kernel->spec.narguments, &stored, fail);
        if (code != WK_OK) return code;
        parameter[parameters++] = &stored;
    }
    const CUresult error =
        wk__cuda.LaunchKernel(kernel->handle, (unsigned)groups, 1, 1, (unsigned)device->card->gpu.target.group_size, 1,
                              1, 0, device->stream, parameter, NULL);
    return error == CUDA_SUCCESS ? WK_OK : wk__cuda_fail_set(device, fail, error, "running a kernel");
}

/* Splits launches with more blocks than a grid can have. */
static wk_code launch_parts(wk__cuda_device *device, const wk__gpu_kernel *kernel, const wk__gpu_launch *launch,
                            wk__fail *fail)
{
    int64_t argument[WK__GPU_MAX_ARGUMENTS];
    /* of launch->count, per block */
    const int64_t items = launch->spec.per_group ? 1 : device->card->gpu.target.group_size;
    memcpy(argument, launch->argument, (size_t)launch->spec.narguments * sizeof *argument);
    const int64_t most_groups = device->card->max_groups;
    wk_code code = WK_OK;
    for (int64_t first = 0; first < launch->count && code == WK_OK; first += most_groups * items) {
        const int64_t rest = launch->count - first;
        argument[0] = first;
        code = enqueue(device, kernel, launch, argument, wk__min_i64(wk__chunk_count(rest, items), most_groups), fail);
    }
    return code;
}

/* Collects launches until the entire work has been lowered. */
static wk_code add_pending(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    wk__cuda_device *device = user;
    if (launch->count == 0) return WK_OK;
    for (int k = 0; k < launch->spec.nmemory - (launch->scratch > 0); k++)
        if (launch->block[k] == NULL) return wk__fail_set(fail, WK_ERR_INTERNAL, "an operand has no memory");
    wk__gpu_kernel *kernel = wk__gpu_kernel_lookup(&device->kernel_cache, &launch->spec, fail);
    if (kernel == NULL) return fail->code;
    if (!wk__grow(&device->pending, &device->planned_room, device->npending + 1, sizeof *device->pending))
        return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a launch");
    wk__cuda_pending_launch *planned = &device->pending[device->npending++];
    planned->kernel = kernel;
    memcpy(&planned->launch, launch, offsetof(wk__gpu_launch, argument));
    planned->launch.spec.group = NULL; /* owned by the lowering code, freed before the launch */
    memcpy(planned->launch.argument, launch->argument, (size_t)launch->spec.narguments * sizeof *launch->argument);
    planned->launch.count = launch->count;
    return WK_OK;
}

static wk_code wait_for_hazards(wk__cuda_device *device, const wk__gpu_launch *launch, wk__fail *fail)
{
    CUresult error = CUDA_SUCCESS;
    for (int k = 0; k < launch->spec.nmemory - (launch->scratch > 0) && error == CUDA_SUCCESS; k++)
        error = wk__cuda_hazard_use(device, launch->block[k]);
    return error == CUDA_SUCCESS ? WK_OK : wk__cuda_fail_set(device, fail, error, "waiting for copies to the device");
}

/* Everything that may fail is done first, so that no work is left incomplete: the launches themselves fail only if the
 * device is lost, or another process allocates the memory found available before. */
static wk_code run_pending(wk__cuda_device *device, wk__fail *fail)
{
    wk_code code = WK_OK;
    int64_t scratch = 0;
    bool stores = false;
    for (int64_t k = 0; k < device->npending && code == WK_OK; k++) {
        const wk__cuda_pending_launch *planned = &device->pending[k];
        code = wk__gpu_ensure_built(&device->kernel_cache, planned->kernel, fail);
        if (code == WK_OK) code = check_local_memory(device, planned->kernel, fail);
        scratch = wk__max_i64(scratch, planned->launch.scratch);
        stores = stores || !wk__gpu_kernel_by_value(&device->kernel_cache, planned->kernel);
    }
    if (code == WK_OK) code = ensure_scratch(device, scratch, fail);
    if (code == WK_OK && stores) code = ensure_argument_ring(device, fail);
    for (int64_t k = 0; k < device->npending && code == WK_OK; k++)
        code = wait_for_hazards(device, &device->pending[k].launch, fail);
    for (int64_t k = 0; k < device->npending && code == WK_OK; k++)
        code = launch_parts(device, device->pending[k].kernel, &device->pending[k].launch, fail);
    return code;
}

bool wk__cuda_supports(void *user, int family, wk_dtype dtype, wk__layout layout)
{
    const wk__cuda_device *device = user;
    return wk__gpu_supports(&device->card->gpu.target, family, dtype, layout);
}

/* Work for a lost device is skipped; reads report the loss. */
wk_code wk__cuda_submit(void *user, const wk__work *work, wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk__work first = *work;
    wk_code code = wk__cuda_lock(device, fail);
    if (code != WK_OK) return code;
    if (!device->lost) {
        const wk__gpu_target *target = &device->card->gpu.target;
        const bool carried = wk__gpu_should_fuse_epilogue(&device->kernel_cache, work, !device->compile_only);
        device->npending = 0;
        if (!carried) first.program = NULL;
        if (work->args) code = wk__gpu_lower_work(target, &first, add_pending, device, fail);
        if (code == WK_OK && work->program && !carried)
            code = wk__gpu_lower_program(target, work->program, add_pending, device, fail);
        if (code == WK_OK && !device->compile_only) code = run_pending(device, fail);
    }
    wk__cuda_unlock(device);
    return code;
}

wk_code wk__cuda_compile_only(void *user, bool on, wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk_code code = wk__cuda_lock(device, fail);
    if (code != WK_OK) return code;
    device->compile_only = on;
    if (!on) code = device->lost ? wk__cuda_fail_lost(device, fail) : wk__gpu_build(&device->kernel_cache, false, fail);
    wk__cuda_unlock(device);
    return code;
}
