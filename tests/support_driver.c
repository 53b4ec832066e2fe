/* SPDX-License-Identifier: Apache-2.0 */
/* See support_driver.h. */
#include "support_driver.h"

#include <stdatomic.h>

#include "../src/backend/opencl/api.h"

const char *const driver_names[] = {"build", "kernel", "argument", "launch", "buffer",
                                    "write", "read",   "copy",     "marker"};

static wk__cl_functions driver; /* as it is */
static atomic_int countdown[DRIVER_CALLS], error_code, met;

static cl_int due(driver_call which)
{
    int left = atomic_load(&countdown[which]);
    if (left == 0 || (left > 0 && atomic_fetch_sub(&countdown[which], 1) != 1)) return CL_SUCCESS;
    atomic_store(&met, 1);
    return atomic_load(&error_code);
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

/* The fault word, 4 bytes, is read whenever the device is waited for: that it can't be is another matter. */
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

void driver_take_over(void)
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

void driver_order(driver_call which, int n, int error)
{
    atomic_store(&met, 0);
    atomic_store(&error_code, error);
    for (int k = 0; k < DRIVER_CALLS; k++) atomic_store(&countdown[k], 0);
    atomic_store(&countdown[which], n);
}

bool driver_met(void)
{
    return atomic_load(&met) != 0;
}
