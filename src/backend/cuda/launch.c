/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and kernels as launches: planned, compiled where that has not been done, and enqueued by whoever submits. */
#include "../gpu/build.h"
#include "device.h"

#include "../../base/integers.h"

#include <string.h>

/* ---- what launches need besides their kernels -------------------------------------------------------------------- */

static void end_retired(wk__cuda_retired *retired)
{
    for (int k = 0; k < retired->count; k++) wk__cuda.MemFree_v2(retired->memory[k]);
    retired->count = 0;
    retired->bytes = 0;
}

/* Scratch memory is reused by one launch after the other, as they run in order, and grows by half at least. Freeing
 * memory waits for all work of the device, so what was too small is kept until somebody waits (memory.c), or until
 * memory is short. */
static wk_code provide_scratch(wk__cuda_device *device, int64_t bytes, wk__fail *fail)
{
    wk__cuda_retired *retired = &device->retired;
    if (bytes <= device->scratch_bytes) return WK_OK;
    if (retired->count == (int)(sizeof retired->memory / sizeof *retired->memory)) end_retired(retired);
    if (device->scratch != 0) {
        retired->memory[retired->count++] = device->scratch;
        retired->bytes += device->scratch_bytes;
    }
    int64_t wanted = wk__most(bytes, device->scratch_bytes + device->scratch_bytes / 2);
    device->scratch = 0;
    device->scratch_bytes = 0;
    CUresult error = wk__cuda.MemAlloc_v2(&device->scratch, (size_t)wanted);
    if (error == CUDA_ERROR_OUT_OF_MEMORY && retired->count > 0) {
        end_retired(retired);
        wanted = bytes;
        error = wk__cuda.MemAlloc_v2(&device->scratch, (size_t)wanted);
    }
    if (error != CUDA_SUCCESS) return wk__cuda_failed(device, fail, error, "taking scratch memory");
    device->scratch_bytes = wanted;
    return WK_OK;
}

/* Memory for arguments that are too many to be passed, on either side. */
static wk_code provide_arguments(wk__cuda_device *device, wk__fail *fail)
{
    CUresult error = CUDA_SUCCESS;
    if (device->arguments == 0) error = wk__cuda.MemAlloc_v2(&device->arguments, WK__CUDA_ARGUMENTS);
    if (error != CUDA_SUCCESS) return wk__cuda_failed(device, fail, error, "taking memory for arguments");
    return wk__cuda_staging_begin(device, &device->staging, fail);
}

/* Memory that a kernel's threads have of their own is the context's, for as many threads as the card holds. The driver
 * has some from the beginning, and where a kernel needs more it takes that at the kernel's first launch: so it must be
 * there before anything of the plan is launched. Registers are enough for each kernel (KERNEL,
 * gpu/prelude_dialect.c), and its code was loaded when it was looked up. */
static wk_code look_for_own_memory(wk__cuda_device *device, wk__gpu_function *function, wk__fail *fail)
{
    int own = 0;
    size_t there = 0, available = 0, total = 0;
    if (function->launchable) return WK_OK;
    CUresult error = wk__cuda.FuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function->handle);
    if (error == CUDA_SUCCESS) error = wk__cuda.CtxGetLimit(&there, CU_LIMIT_STACK_SIZE);
    const int64_t wanted = own > (int64_t)there ? own * device->card->most_items : 0;
    if (error == CUDA_SUCCESS && wanted > 0) error = wk__cuda.MemGetInfo_v2(&available, &total);
    if (error != CUDA_SUCCESS) return wk__cuda_failed(device, fail, error, "asking about a kernel");
    if ((int64_t)available < wanted)
        return wk__cuda_failed(device, fail, CUDA_ERROR_OUT_OF_MEMORY, "taking memory for the threads of a kernel");
    function->launchable = true;
    return WK_OK;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Memory that is written in the order of the launches: when the ring has come round, what was there has been read. */
static wk_code store_arguments(wk__cuda_device *device, const int64_t *argument, int count, CUdeviceptr *at,
                               wk__fail *fail)
{
    const int64_t bytes = (int64_t)sizeof *argument * count;
    void *staged = wk__cuda_staging_take(device, &device->staging, bytes, fail);
    if (staged == NULL) return fail->code;
    memcpy(staged, argument, (size_t)bytes);
    if (device->arguments_used + bytes > WK__CUDA_ARGUMENTS) device->arguments_used = 0;
    *at = device->arguments + (CUdeviceptr)device->arguments_used;
    device->arguments_used += (bytes + WK__ALIGN - 1) / WK__ALIGN * WK__ALIGN;
    const CUresult error = wk__cuda.MemcpyHtoDAsync_v2(*at, staged, (size_t)bytes, device->stream);
    return error == CUDA_SUCCESS ? WK_OK : wk__cuda_failed(device, fail, error, "copying arguments to the device");
}

/* The driver copies all parameters before it returns. */
static wk_code enqueue(wk__cuda_device *device, const wk__gpu_function *function, const wk__gpu_launch *launch,
                       const int64_t *argument, int64_t groups, wk__fail *fail)
{
    const int nmemory = function->unit.nmemory;
    CUdeviceptr memory[WK__GPU_MAX_MEMORY], stored = 0;
    void *parameter[WK__GPU_MAX_MEMORY + 2] = {&device->fault};
    int parameters = 1;
    for (int k = 0; k < nmemory; k++) {
        const bool scratch = launch->scratch > 0 && k == nmemory - 1;
        memory[k] = scratch ? device->scratch : (CUdeviceptr)(uintptr_t)launch->block[k];
        parameter[parameters++] = &memory[k];
    }
    if (wk__gpu_takes_values(&device->units, function)) {
        parameter[parameters++] = (void *)(uintptr_t)argument;
    } else {
        const wk_code code = store_arguments(device, argument, function->unit.narguments, &stored, fail);
        if (code != WK_OK) return code;
        parameter[parameters++] = &stored;
    }
    const CUresult error =
        wk__cuda.LaunchKernel(function->handle, (unsigned)groups, 1, 1, (unsigned)device->card->gpu.target.local, 1, 1,
                              0, device->stream, parameter, NULL);
    return error == CUDA_SUCCESS ? WK_OK : wk__cuda_failed(device, fail, error, "running a kernel");
}

/* In parts where there are more blocks than a grid has. */
static wk_code launch_parts(wk__cuda_device *device, const wk__gpu_function *function, const wk__gpu_launch *launch,
                            wk__fail *fail)
{
    int64_t argument[WK__GPU_MAX_ARGUMENTS];
    const int64_t items = launch->unit.by_group ? 1 : device->card->gpu.target.local; /* of the count, in one block */
    memcpy(argument, launch->argument, (size_t)launch->unit.narguments * sizeof *argument);
    const int64_t most_groups = device->card->most_groups;
    wk_code code = WK_OK;
    for (int64_t first = 0; first < launch->count && code == WK_OK; first += most_groups * items) {
        const int64_t rest = launch->count - first;
        argument[0] = first;
        code = enqueue(device, function, launch, argument, wk__least(wk__parts_of(rest, items), most_groups), fail);
    }
    return code;
}

/* A launch waits until the whole plan is there. */
static wk_code plan(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    wk__cuda_device *device = user;
    if (launch->count == 0) return WK_OK;
    for (int k = 0; k < launch->unit.nmemory - (launch->scratch > 0); k++)
        if (launch->block[k] == NULL) return wk__fail_set(fail, WK_ERR_INTERNAL, "an operand has no memory");
    wk__gpu_function *function = wk__gpu_function_of(&device->units, &launch->unit, fail);
    if (function == NULL) return WK_ERR_MEMORY;
    if (!wk__grow(&device->planned, &device->planned_room, device->nplanned + 1, sizeof *device->planned))
        return wk__fail_set(fail, WK_ERR_MEMORY, "no host memory for a launch");
    wk__cuda_planned *planned = &device->planned[device->nplanned++];
    planned->function = function;
    memcpy(&planned->launch, launch, offsetof(wk__gpu_launch, argument));
    planned->launch.unit.group = NULL; /* the planner's, which ends before the launch */
    memcpy(planned->launch.argument, launch->argument, (size_t)launch->unit.narguments * sizeof *launch->argument);
    planned->launch.count = launch->count;
    return WK_OK;
}

static wk_code order_blocks(wk__cuda_device *device, const wk__gpu_launch *launch, wk__fail *fail)
{
    CUresult error = CUDA_SUCCESS;
    for (int k = 0; k < launch->unit.nmemory - (launch->scratch > 0) && error == CUDA_SUCCESS; k++)
        error = wk__cuda_order_use(device, launch->block[k]);
    return error == CUDA_SUCCESS ? WK_OK : wk__cuda_failed(device, fail, error, "waiting for copies to the device");
}

/* First all that may be refused, so that nothing is left half done: the launches themselves fail only where the device
 * does, or where somebody else takes the memory that was there a moment ago. */
static wk_code run_plan(wk__cuda_device *device, wk__fail *fail)
{
    wk_code code = WK_OK;
    int64_t scratch = 0;
    bool stores = false;
    for (int64_t k = 0; k < device->nplanned && code == WK_OK; k++) {
        const wk__cuda_planned *planned = &device->planned[k];
        code = wk__gpu_provide(&device->units, planned->function, fail);
        if (code == WK_OK) code = look_for_own_memory(device, planned->function, fail);
        scratch = wk__most(scratch, planned->launch.scratch);
        stores = stores || !wk__gpu_takes_values(&device->units, planned->function);
    }
    if (code == WK_OK) code = provide_scratch(device, scratch, fail);
    if (code == WK_OK && stores) code = provide_arguments(device, fail);
    for (int64_t k = 0; k < device->nplanned && code == WK_OK; k++)
        code = order_blocks(device, &device->planned[k].launch, fail);
    for (int64_t k = 0; k < device->nplanned && code == WK_OK; k++)
        code = launch_parts(device, device->planned[k].function, &device->planned[k].launch, fail);
    return code;
}

bool wk__cuda_supports(void *user, int family, wk_dtype dtype, wk__layout layout)
{
    const wk__cuda_device *device = user;
    return wk__gpu_supports(&device->card->gpu.target, family, dtype, layout);
}

/* What a device that is gone was to do is left out: whoever reads is told. */
wk_code wk__cuda_submit(void *user, const wk__work *work, wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk__work first = *work;
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    if (!device->gone) {
        const wk__gpu_target *target = &device->card->gpu.target;
        const bool carried = wk__gpu_carries(&device->units, work, !device->gathering);
        device->nplanned = 0;
        if (!carried) first.group = NULL;
        if (work->kernel) code = wk__gpu_plan_kernel(target, &first, plan, device, fail);
        if (code == WK_OK && work->group && !carried)
            code = wk__gpu_plan_group(target, work->group, plan, device, fail);
        if (code == WK_OK && !device->gathering) code = run_plan(device, fail);
    }
    wk__cuda_leave(device);
    return code;
}

wk_code wk__cuda_gather(void *user, bool on, wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    device->gathering = on;
    if (!on) code = device->gone ? wk__cuda_gone(device, fail) : wk__gpu_build(&device->units, false, fail);
    wk__cuda_leave(device);
    return code;
}
