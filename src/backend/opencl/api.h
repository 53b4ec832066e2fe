/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of the part of OpenCL 1.2 that the backend uses. Declared here so that building needs no OpenCL headers;
 * loaded with dlopen so that running doesn't need the library. Names, values and types are those of the OpenCL
 * specification. */
#ifndef WICK_BACKEND_OPENCL_API_H
#define WICK_BACKEND_OPENCL_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cl_platform *cl_platform;
typedef struct cl_device *cl_device;
typedef struct cl_context *cl_context;
typedef struct cl_queue *cl_queue;
typedef struct cl_mem *cl_mem;
typedef struct cl_program *cl_program;
typedef struct cl_kernel *cl_kernel;
typedef struct cl_event *cl_event;
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_bits;

enum {
    CL_SUCCESS = 0,
    CL_COMPLETE = 0,
    CL_DEVICE_NOT_AVAILABLE = -2,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_INVALID_BUFFER_SIZE = -61,

    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_COPY_HOST_PTR = 1 << 5,

    CL_DEVICE_TYPE_GPU = 1 << 2,
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7,

    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_MAX_PARAMETER_SIZE = 0x1017,
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_VENDOR = 0x102C,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_DEVICE_PCI_BUS_ID_NV = 0x4008,
    CL_DEVICE_PCI_SLOT_ID_NV = 0x4009,
    CL_DEVICE_TOPOLOGY_AMD = 0x4037,
    CL_DEVICE_PCI_BUS_INFO_KHR = 0x410F,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
};
#define CL_DEVICE_TYPE_ALL ((cl_bits)0xFFFFFFFF)

/* WK__CL(result, name without cl, parameters) */
#define WK__CL_FUNCTIONS(WK__CL)                                                                                       \
    WK__CL(cl_int, GetPlatformIDs, (cl_uint room, cl_platform * platforms, cl_uint * count))                           \
    WK__CL(cl_int, GetDeviceIDs, (cl_platform, cl_bits type, cl_uint room, cl_device * devices, cl_uint * count))      \
    WK__CL(cl_int, GetDeviceInfo, (cl_device, cl_uint what, size_t room, void *value, size_t *size))                   \
    WK__CL(cl_context, CreateContext,                                                                                  \
           (const intptr_t *properties, cl_uint count, const cl_device *devices, void *notify, void *user,             \
            cl_int *error))                                                                                            \
    WK__CL(cl_int, ReleaseContext, (cl_context))                                                                       \
    WK__CL(cl_queue, CreateCommandQueue, (cl_context, cl_device, cl_bits properties, cl_int * error))                  \
    WK__CL(cl_int, ReleaseCommandQueue, (cl_queue))                                                                    \
    WK__CL(cl_mem, CreateBuffer, (cl_context, cl_bits flags, size_t size, void *host, cl_int *error))                  \
    WK__CL(cl_int, ReleaseMemObject, (cl_mem))                                                                         \
    WK__CL(cl_program, CreateProgramWithSource,                                                                        \
           (cl_context, cl_uint count, const char **texts, const size_t *lengths, cl_int *error))                      \
    WK__CL(cl_program, CreateProgramWithBinary,                                                                        \
           (cl_context, cl_uint count, const cl_device *devices, const size_t *sizes, const unsigned char **binaries,  \
            cl_int *states, cl_int *error))                                                                            \
    WK__CL(cl_int, BuildProgram,                                                                                       \
           (cl_program, cl_uint count, const cl_device *devices, const char *options, void *notify, void *user))       \
    WK__CL(cl_int, GetProgramInfo, (cl_program, cl_uint what, size_t room, void *value, size_t *size))                 \
    WK__CL(cl_int, GetProgramBuildInfo, (cl_program, cl_device, cl_uint what, size_t room, void *value, size_t *size)) \
    WK__CL(cl_int, ReleaseProgram, (cl_program))                                                                       \
    WK__CL(cl_kernel, CreateKernel, (cl_program, const char *name, cl_int *error))                                     \
    WK__CL(cl_int, ReleaseKernel, (cl_kernel))                                                                         \
    WK__CL(cl_int, SetKernelArg, (cl_kernel, cl_uint index, size_t size, const void *value))                           \
    WK__CL(cl_int, EnqueueNDRangeKernel,                                                                               \
           (cl_queue, cl_kernel, cl_uint dimensions, const size_t *offset, const size_t *global, const size_t *local,  \
            cl_uint waits, const cl_event *wait, cl_event *event))                                                     \
    WK__CL(cl_int, EnqueueReadBuffer,                                                                                  \
           (cl_queue, cl_mem, cl_uint blocking, size_t offset, size_t size, void *to, cl_uint waits,                   \
            const cl_event *wait, cl_event *event))                                                                    \
    WK__CL(cl_int, EnqueueWriteBuffer,                                                                                 \
           (cl_queue, cl_mem, cl_uint blocking, size_t offset, size_t size, const void *from, cl_uint waits,           \
            const cl_event *wait, cl_event *event))                                                                    \
    WK__CL(cl_int, EnqueueCopyBuffer,                                                                                  \
           (cl_queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size, cl_uint waits,        \
            const cl_event *wait, cl_event *event))                                                                    \
    WK__CL(cl_int, EnqueueMarkerWithWaitList, (cl_queue, cl_uint waits, const cl_event *wait, cl_event *event))        \
    WK__CL(cl_int, SetEventCallback,                                                                                   \
           (cl_event, cl_int status, void (*call)(cl_event, cl_int status, void *user), void *user))                   \
    WK__CL(cl_int, WaitForEvents, (cl_uint count, const cl_event *events))                                             \
    WK__CL(cl_int, ReleaseEvent, (cl_event))                                                                           \
    WK__CL(cl_int, Flush, (cl_queue))                                                                                  \
    WK__CL(cl_int, Finish, (cl_queue))

typedef struct wk__cl_functions {
#define WK__CL(result, name, parameters) result(*name) parameters;
    WK__CL_FUNCTIONS(WK__CL)
#undef WK__CL
} wk__cl_functions;

/* Filled by wk__cl_load(). */
extern wk__cl_functions wk__cl;

/* Loads the library and its functions. Returns NULL, or a message that says what is missing and how to install it. Not
 * thread-safe: call once. */
const char *wk__cl_load(void);
/* Returns the error's name, such as "CL_OUT_OF_RESOURCES", or its number. The string is static or in `room`. */
const char *wk__cl_error(cl_int error, char room[32]);

#endif
