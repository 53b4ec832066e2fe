/* SPDX-License-Identifier: Apache-2.0 */
/* Implements driver_faults.h: replaces functions in the tables of the OpenCL and CUDA drivers. */
#include "driver_faults.h"

#include <stdatomic.h>

#include <wick/core.h>
#include "backend/cuda/api.h"
#include "backend/opencl/api.h"

const char *const driver_names[] = {"build", "kernel", "argument", "launch", "buffer",
                                    "write", "read",   "copy",     "marker"};

static atomic_int countdown[DRIVER_CALLS], error_now, met, launches;

/* Returns true if this call must fail, with error_now. */
static bool should_fail(driver_call which)
{
    int left = atomic_load(&countdown[which]);
    if (left == 0 || (left > 0 && atomic_fetch_sub(&countdown[which], 1) != 1)) return false;
    atomic_store(&met, 1);
    return true;
}

/* ---- OpenCL ------------------------------------------------------------------------------------------------------ */

static wk__cl_functions driver; /* the real functions */

static cl_int due(driver_call which)
{
    enum { CL_BUILD_PROGRAM_FAILURE = -11, CL_INVALID_VALUE = -30 };
    static const cl_int codes[DRIVER_ERRORS] = {CL_OUT_OF_HOST_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE,
                                                CL_INVALID_VALUE, CL_OUT_OF_RESOURCES};
    if (!should_fail(which)) return CL_SUCCESS;
    const int error = atomic_load(&error_now);
    return which == DRIVER_BUILD && error == DRIVER_INVALID_VALUE ? CL_BUILD_PROGRAM_FAILURE : codes[error];
}

static cl_int build(cl_program program, cl_uint count, const cl_device *devices, const char *options, void *notify,
                    void *user)
{
    cl_int error = due(DRIVER_BUILD);
    return error ? error : driver.BuildProgram(program, count, devices, options, notify, user);
}

static cl_kernel kernel(cl_program program, const char *name, cl_int *error)
{
    *error = due(DRIVER_KERNEL);
    return *error ? NULL : driver.CreateKernel(program, name, error);
}

static cl_int argument(cl_kernel of, cl_uint index, size_t size, const void *value)
{
    cl_int error = due(DRIVER_ARGUMENT);
    return error ? error : driver.SetKernelArg(of, index, size, value);
}

static cl_int launch(cl_queue queue, cl_kernel of, cl_uint dimensions, const size_t *offset, const size_t *global,
                     const size_t *local, cl_uint waits, const cl_event *wait, cl_event *event)
{
    cl_int error = due(DRIVER_LAUNCH);
    atomic_fetch_add(&launches, 1);
    return error ? error
                 : driver.EnqueueNDRangeKernel(queue, of, dimensions, offset, global, local, waits, wait, event);
}

static cl_mem buffer(cl_context context, cl_bits flags, size_t size, void *host, cl_int *error)
{
    *error = due(DRIVER_BUFFER);
    return *error ? NULL : driver.CreateBuffer(context, flags, size, host, error);
}

static cl_int write_buffer(cl_queue queue, cl_mem to, cl_uint blocking, size_t offset, size_t size, const void *from,
                           cl_uint waits, const cl_event *wait, cl_event *event)
{
    cl_int error = due(DRIVER_WRITE);
    return error ? error : driver.EnqueueWriteBuffer(queue, to, blocking, offset, size, from, waits, wait, event);
}

/* Passes reads of the fault word (4 bytes) through: it is read whenever the library waits for the device, and failures
 * of that are tested separately. */
static cl_int read_buffer(cl_queue queue, cl_mem from, cl_uint blocking, size_t offset, size_t size, void *to,
                          cl_uint waits, const cl_event *wait, cl_event *event)
{
    cl_int error = size == 4 ? CL_SUCCESS : due(DRIVER_READ);
    return error ? error : driver.EnqueueReadBuffer(queue, from, blocking, offset, size, to, waits, wait, event);
}

static cl_int copy_buffer(cl_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size,
                          cl_uint waits, const cl_event *wait, cl_event *event)
{
    cl_int error = due(DRIVER_COPY);
    return error ? error : driver.EnqueueCopyBuffer(queue, from, to, from_offset, to_offset, size, waits, wait, event);
}

static cl_int marker(cl_queue queue, cl_uint waits, const cl_event *wait, cl_event *event)
{
    cl_int error = due(DRIVER_MARKER);
    return error ? error : driver.EnqueueMarkerWithWaitList(queue, waits, wait, event);
}

static void take_over_opencl(void)
{
    driver = wk__cl;
    wk__cl.BuildProgram = build;
    wk__cl.CreateKernel = kernel;
    wk__cl.SetKernelArg = argument;
    wk__cl.EnqueueNDRangeKernel = launch;
    wk__cl.CreateBuffer = buffer;
    wk__cl.EnqueueWriteBuffer = write_buffer;
    wk__cl.EnqueueReadBuffer = read_buffer;
    wk__cl.EnqueueCopyBuffer = copy_buffer;
    wk__cl.EnqueueMarkerWithWaitList = marker;
}

/* ---- CUDA -------------------------------------------------------------------------------------------------------- */

static wk__cuda_functions cuda; /* the real functions */
static wk__nvrtc_functions nvrtc;

static CUresult cuda_due(driver_call which)
{
    enum { CUDA_ERROR_INVALID_VALUE = 1 };
    static const CUresult codes[DRIVER_ERRORS] = {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY,
                                                  CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_FAILED};
    return should_fail(which) ? codes[atomic_load(&error_now)] : CUDA_SUCCESS;
}

static int cuda_build(nvrtcProgram program, int options, const char *const *option)
{
    if (!should_fail(DRIVER_BUILD)) return nvrtc.CompileProgram(program, options, option);
    return atomic_load(&error_now) == DRIVER_INVALID_VALUE ? NVRTC_ERROR_COMPILATION : NVRTC_ERROR_OUT_OF_MEMORY;
}

static CUresult cuda_kernel(CUfunction *function, CUmodule module, const char *name)
{
    const CUresult error = cuda_due(DRIVER_KERNEL);
    return error ? error : cuda.ModuleGetFunction(function, module, name);
}

static CUresult cuda_launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **arguments,
                            void **extra)
{
    CUresult error = cuda_due(DRIVER_ARGUMENT);
    if (!error) error = cuda_due(DRIVER_LAUNCH);
    atomic_fetch_add(&launches, 1);
    return error ? error
                 : cuda.LaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream,
                                     arguments, extra);
}

static CUresult cuda_buffer(CUdeviceptr *memory, size_t bytes)
{
    const CUresult error = cuda_due(DRIVER_BUFFER);
    return error ? error : cuda.MemAlloc_v2(memory, bytes);
}

static CUresult cuda_write(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    const CUresult error = cuda_due(DRIVER_WRITE);
    return error ? error : cuda.MemcpyHtoDAsync_v2(to, from, bytes, stream);
}

/* Passes reads of the fault word through, as read_buffer does. */
static CUresult cuda_read(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const CUresult error = bytes == 4 ? CUDA_SUCCESS : cuda_due(DRIVER_READ);
    return error ? error : cuda.MemcpyDtoHAsync_v2(to, from, bytes, stream);
}

static CUresult cuda_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const CUresult error = cuda_due(DRIVER_COPY);
    return error ? error : cuda.MemcpyDtoDAsync_v2(to, from, bytes, stream);
}

static CUresult cuda_copy_between(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, size_t bytes,
                                  CUstream stream)
{
    const CUresult error = cuda_due(DRIVER_COPY);
    return error ? error : cuda.MemcpyPeerAsync(to, there, from, here, bytes, stream);
}

static CUresult cuda_marker(CUevent event, CUstream stream)
{
    const CUresult error = cuda_due(DRIVER_MARKER);
    return error ? error : cuda.EventRecord(event, stream);
}

static void take_over_cuda(void)
{
    cuda = wk__cuda;
    nvrtc = wk__nvrtc;
    wk__nvrtc.CompileProgram = cuda_build;
    wk__cuda.ModuleGetFunction = cuda_kernel;
    wk__cuda.LaunchKernel = cuda_launch;
    wk__cuda.MemAlloc_v2 = cuda_buffer;
    wk__cuda.MemcpyHtoDAsync_v2 = cuda_write;
    wk__cuda.MemcpyDtoHAsync_v2 = cuda_read;
    wk__cuda.MemcpyDtoDAsync_v2 = cuda_copy;
    wk__cuda.MemcpyPeerAsync = cuda_copy_between;
    wk__cuda.EventRecord = cuda_marker;
}

/* ---- both backends ----------------------------------------------------------------------------------------------- */

void driver_install_hooks(int kind)
{
    if (kind == WK_CUDA)
        take_over_cuda();
    else
        take_over_opencl();
}

void driver_inject(driver_call which, int n, driver_error error)
{
    driver_clear();
    atomic_store(&error_now, (int)error);
    atomic_store(&countdown[which], n);
}

void driver_clear(void)
{
    for (int k = 0; k < DRIVER_CALLS; k++) atomic_store(&countdown[k], 0);
    atomic_store(&met, 0);
}

bool driver_fault_fired(void)
{
    return atomic_load(&met) != 0;
}

const char *driver_error_text(driver_error error)
{
    static const char *const opencl_words[DRIVER_ERRORS] = {"OUT_OF_HOST_MEMORY", "MEM_OBJECT_ALLOCATION_FAILURE",
                                                            "-30", "OUT_OF_RESOURCES"};
    static const char *const cuda_words[DRIVER_ERRORS] = {"OUT_OF_MEMORY", "OUT_OF_MEMORY", "INVALID_VALUE",
                                                          "LAUNCH_FAILED"};
    return cuda.LaunchKernel != NULL ? cuda_words[error] : opencl_words[error];
}

int driver_launches(void)
{
    return atomic_load(&launches);
}
