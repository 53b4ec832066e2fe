/* SPDX-License-Identifier: Apache-2.0 */
/* Work as commands: lowered by the calling thread, enqueued by the worker. */
#include "backend/gpu/cache/kernel_build.h"
#include "device.h"

#include <string.h>

/* Maximum work-groups per enqueue. PoCL compiles a kernel again for more than 65535, and drivers of displays stop
 * kernels that run long; longer launches are split. */
static const int64_t most_groups = 32768;

/* A launch, of the size that its kernel needs: buffers, arguments and accesses follow the struct. */
typedef struct launch_command {
    wk__cl_command base;
    wk__gpu_kernel *kernel;
    int64_t count, scratch;
    cl_mem memory[];
} launch_command;

static int64_t *arguments_of(launch_command *command)
{
    return (int64_t *)(void *)(command->memory + command->kernel->spec.nmemory);
}

/* ---- worker thread ----------------------------------------------------------------------------------------------- */

/* Scratch memory is shared by launches, which run in order. */
static wk_code ensure_scratch(wk__cl_device *device, int64_t bytes, wk__fail *fail)
{
    if (bytes <= device->scratch_bytes) return WK_OK;
    cl_int error;
    cl_mem larger = wk__cl.CreateBuffer(device->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &error);
    if (error != CL_SUCCESS) return wk__cl_fail_set(fail, error, "allocating scratch memory");
    /* the driver keeps it until enqueued work is complete */
    if (device->scratch != NULL) wk__cl.ReleaseMemObject(device->scratch);
    device->scratch = larger;
    device->scratch_bytes = bytes;
    return WK_OK;
}

static cl_int set_memory(wk__cl_device *device, launch_command *command)
{
    const wk__gpu_kernel *kernel = command->kernel;
    const int nmemory = kernel->spec.nmemory;
    if (command->scratch > 0) command->memory[nmemory - 1] = device->scratch;
    cl_int error = wk__cl.SetKernelArg(kernel->handle, 0, sizeof(cl_mem), &device->fault);
    for (int k = 0; k < kernel->memory_slots && error == CL_SUCCESS; k++) {
        cl_mem unused = device->fault; /* a merged kernel may have more parameters than this launch has buffers */
        const cl_mem *memory = k < nmemory ? &command->memory[k] : &unused;
        error = wk__cl.SetKernelArg(kernel->handle, (cl_uint)k + 1, sizeof(cl_mem), memory);
    }
    return error;
}

/* Passes arguments by value, or in memory that the driver keeps until the kernel is complete. */
static cl_int set_arguments(wk__cl_device *device, launch_command *command)
{
    const wk__gpu_kernel *kernel = command->kernel;
    cl_kernel handle = kernel->handle;
    size_t bytes = (size_t)kernel->spec.narguments * sizeof(int64_t);
    int64_t *arguments = arguments_of(command);
    cl_uint index = (cl_uint)kernel->memory_slots + 1;
    if (wk__gpu_kernel_by_value(&device->kernel_cache, kernel))
        return wk__cl.SetKernelArg(handle, index, bytes, arguments);
    cl_int error;
    cl_mem memory =
        wk__cl.CreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, arguments, &error);
    if (error != CL_SUCCESS) return error;
    error = wk__cl.SetKernelArg(handle, index, sizeof memory, &memory);
    if (error == CL_SUCCESS && kernel->case_index >= 0) {
        cl_int case_index = kernel->case_index;
        error = wk__cl.SetKernelArg(handle, index + 1, sizeof case_index, &case_index);
    }
    if (error == CL_SUCCESS) device->argument_memory = memory;
    return error;
}

static cl_int enqueue(wk__cl_device *device, launch_command *command)
{
    size_t local = (size_t)device->card->gpu.target.group_size;
    int64_t items = command->kernel->spec.per_group ? 1 : (int64_t)local; /* of the count, per work-group */
    cl_int error = CL_SUCCESS;
    for (int64_t first = 0; first < command->count && error == CL_SUCCESS; first += most_groups * items) {
        int64_t rest = command->count - first;
        int64_t groups = (rest + items - 1) / items;
        if (groups > most_groups) groups = most_groups;
        size_t global = (size_t)groups * local;
        arguments_of(command)[0] = first;
        error = set_arguments(device, command);
        if (error == CL_SUCCESS) {
            error = wk__cl.EnqueueNDRangeKernel(device->queue, command->kernel->handle, 1, NULL, &global, &local, 0,
                                                NULL, NULL);
        }
        if (device->argument_memory != NULL) wk__cl.ReleaseMemObject(device->argument_memory);
        device->argument_memory = NULL;
        if (error != CL_SUCCESS) command->base.partially_launched = first > 0 && command->base.writes;
    }
    return error;
}

static wk_code perform_launch(wk__cl_device *device, wk__cl_command *base, wk__fail *fail)
{
    launch_command *command = (launch_command *)base;
    wk_code code = wk__gpu_ensure_built(&device->kernel_cache, command->kernel, fail);
    if (code == WK_OK) code = ensure_scratch(device, command->scratch, fail);
    if (code == WK_OK) {
        cl_int error = set_memory(device, command);
        if (error == CL_SUCCESS) error = enqueue(device, command);
        if (error != CL_SUCCESS) code = wk__cl_fail_set(fail, error, "running a kernel");
    }
    return code;
}

static wk_code perform_build(wk__cl_device *device, wk__cl_command *command, wk__fail *fail)
{
    (void)command;
    return wk__gpu_build(&device->kernel_cache, !device->card->gpu.info.is_gpu, fail);
}

/* ---- any thread -------------------------------------------------------------------------------------------------- */

/* A call of the engine while it is converted to commands, which are pushed together or not at all. */
typedef struct call {
    wk__cl_device *device;
    wk__origin *origin;
    const wk__operand *operand[WK__MAX_OPERANDS + WK__WORK_OPERANDS];
    int operands;
    wk__cl_command *first, *last;
} call;

static wk_code end_call(const call *call, wk_code code, wk__fail *fail)
{
    if (code == WK_OK && call->first != NULL) return wk__cl_push(call->device, call->first, fail);
    wk__cl_commands_free(call->first);
    return code;
}

static void fill_uses(const call *call, launch_command *command, wk__cl_access *use)
{
    command->base.use = use;
    command->base.uses = call->operands;
    for (int k = 0; k < call->operands; k++) {
        const wk__operand *operand = call->operand[k];
        int how = !operand->stored ? WK__CL_READS : operand->partial ? WK__CL_READS | WK__CL_WRITES : WK__CL_WRITES;
        wk__cl_access_init(&command->base, &use[k], how, operand->memory, operand->stored ? operand->rollback : NULL);
    }
}

static void add(call *call, wk__cl_command *command)
{
    command->first = call->first == NULL;
    if (command->first)
        call->first = command;
    else
        call->last->next = command;
    call->last = command;
}

static wk_code add_launch(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    call *call = user;
    wk__cl_device *device = call->device;
    if (launch->count == 0) return WK_OK;
    size_t memory = (size_t)launch->spec.nmemory * sizeof(cl_mem);
    size_t arguments = (size_t)launch->spec.narguments * sizeof(int64_t);
    size_t uses = (size_t)call->operands * sizeof(wk__cl_access);
    for (int k = 0; k < launch->spec.nmemory - (launch->scratch > 0); k++)
        if (launch->block[k] == NULL) /* a driver would pass a null pointer to the kernel */
            return wk__fail_set(fail, WK_ERR_INTERNAL, "an operand has no memory");
    wk__gpu_kernel *kernel = wk__gpu_kernel_lookup(&device->kernel_cache, &launch->spec, fail);
    if (kernel == NULL) return fail->code;
    if (device->compile_only) return WK_OK;
    launch_command *command = wk__cl_command_new(sizeof *command + memory + arguments + uses, perform_launch, fail);
    if (command == NULL) return WK_ERR_MEMORY;
    command->kernel = kernel;
    command->count = launch->count;
    command->scratch = launch->scratch;
    command->base.origin = wk__origin_retain(call->origin);
    command->base.writes = launch->writes;
    memcpy(command->memory, launch->block, memory);
    memcpy(arguments_of(command), launch->argument, arguments);
    fill_uses(call, command, (wk__cl_access *)(void *)((char *)arguments_of(command) + arguments));
    add(call, &command->base);
    return WK_OK;
}

/* Operands without elements are not read. Their memory may be poisoned from an earlier use. */
static bool is_empty(const wk__program *group, const wk__operand *operand)
{
    int d = 0;
    while (d < group->ndim && (group->shape[d] != 0 || operand->stride[d] == 0)) d++;
    return d < group->ndim;
}

static void use_operands(call *call, const wk__program *group, int first)
{
    for (int k = first; k < group->noperands; k++)
        if (!is_empty(group, &group->operand[k])) call->operand[call->operands++] = &group->operand[k];
}

static wk_code run_group(wk__cl_device *device, const wk__program *group, wk__origin *origin, wk__fail *fail)
{
    call call = {.device = device, .origin = origin};
    use_operands(&call, group, 0);
    wk_code code = wk__gpu_lower_program(&device->card->gpu.target, group, add_launch, &call, fail);
    return end_call(&call, code, fail);
}

/* Returns true if any elements are read. */
static bool reads(const wk__work_args *kernel)
{
    if (kernel->contraction && wk__contraction_k(kernel->contraction) == 0) return false;
    int d = 0;
    while (d < kernel->ndim && kernel->shape[d] != 0) d++;
    return d == kernel->ndim;
}

/* Runs work other than programs, with its epilogue, if any. */
static wk_code run_kernel(wk__cl_device *device, const wk__work *work, wk__fail *fail)
{
    const wk__work_args *kernel = work->args;
    const bool passes = work->program != NULL && kernel->elide_result;
    call call = {.device = device, .origin = work->origin};
    for (int k = passes; k < WK__WORK_OPERANDS; k++)
        if (kernel->operand[k].memory != NULL && (kernel->operand[k].stored || reads(kernel)))
            call.operand[call.operands++] = &kernel->operand[k];
    if (work->program != NULL) use_operands(&call, work->program, 1); /* operand 0 is the result */
    wk_code code = wk__gpu_lower_work(&device->card->gpu.target, work, add_launch, &call, fail);
    return end_call(&call, code, fail);
}

bool wk__cl_supports(void *user, int family, wk_dtype dtype, wk__layout layout)
{
    const wk__cl_device *device = user;
    return wk__gpu_supports(&device->card->gpu.target, family, dtype, layout);
}

/* An epilogue that isn't fused is a separate call that reads the result. */
wk_code wk__cl_submit(void *user, const wk__work *work, wk__fail *fail)
{
    wk__cl_device *device = user;
    wk__work first = *work;
    const bool carried = wk__gpu_should_fuse_epilogue(&device->kernel_cache, work, !device->compile_only);
    if (!carried) first.program = NULL;
    wk_code code = work->args ? run_kernel(device, &first, fail) : WK_OK;
    return code == WK_OK && work->program && !carried ? run_group(user, work->program, work->origin, fail) : code;
}

wk_code wk__cl_compile_only(void *user, bool on, wk__fail *fail)
{
    wk__cl_device *device = user;
    device->compile_only = on;
    if (on) return WK_OK;
    wk__cl_command build = {.perform = perform_build};
    return wk__cl_push_and_wait(device, &build, fail);
}
