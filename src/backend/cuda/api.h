/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of NVIDIA's libraries: the driver, NVRTC (the CUDA C compiler) and NVML (monitoring). Declared here so
 * that building needs no CUDA headers; loaded with dlopen so that running needs none of the libraries. Names, values
 * and types are those of CUDA 11 to 13. */
#ifndef WICK_BACKEND_CUDA_API_H
#define WICK_BACKEND_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CUresult, CUdevice, CUstreamCaptureMode;
typedef uint64_t CUdeviceptr;
typedef struct CUcontext_object *CUcontext;
typedef struct CUstream_object *CUstream;
typedef struct CUevent_object *CUevent;
typedef struct CUmodule_object *CUmodule;
typedef struct CUfunction_object *CUfunction;
typedef unsigned long long CUmemGenericAllocationHandle;

/* Properties of physical memory, and access to addresses; layouts as in cuda.h. */
typedef struct CUmemLocation {
    int type, id;
} CUmemLocation;
typedef struct CUmemAllocationProp {
    int type, requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;
typedef struct CUmemAccessDesc {
    CUmemLocation location;
    int flags;
} CUmemAccessDesc;
_Static_assert(sizeof(CUmemAllocationProp) == 16 + sizeof(void *) + 8 && sizeof(CUmemAccessDesc) == 12,
               "the driver's own layout");

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
    CUDA_ERROR_CONTAINED = 226,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714, /* up to CUDA_ERROR_LAUNCH_FAILED */
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_TENSOR_MEMORY_LEAK = 721,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    CUDA_ERROR_MPS_CONNECTION_FAILED = 805,
    CUDA_ERROR_MPS_RPC_FAILURE = 806,
    CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
    CUDA_ERROR_UNKNOWN = 999,

    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,

    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_LIMIT_STACK_SIZE = 0, /* also the context's reserve of local memory per thread */

    CU_COMPUTEMODE_PROHIBITED = 2,

    CU_STREAM_NON_BLOCKING = 1,
    CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    CU_EVENT_BLOCKING_SYNC = 1,
    CU_EVENT_DISABLE_TIMING = 2,

    CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CU_MEM_LOCATION_TYPE_DEVICE = 1,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,

    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_COMPILATION = 6,

    NVML_SUCCESS = 0,
    NVML_TEMPERATURE_GPU = 0,
    NVML_MIG_ENABLED = 1,
    NVML_CLOCK_GRAPHICS = 0,
    NVML_CLOCK_MEM = 2,
};

/* V(name, parameters): the exported name is "cu" followed by the name. */
#define WK__CUDA_FUNCTIONS(V)                                                                                          \
    V(Init, (unsigned flags))                                                                                          \
    V(DriverGetVersion, (int *version))                                                                                \
    V(GetErrorName, (CUresult, const char **name))                                                                     \
    V(DeviceGetCount, (int *count))                                                                                    \
    V(DeviceGet, (CUdevice * device, int index))                                                                       \
    V(DeviceGetName, (char *name, int room, CUdevice))                                                                 \
    V(DeviceGetAttribute, (int *value, int what, CUdevice))                                                            \
    V(DeviceTotalMem_v2, (size_t * bytes, CUdevice))                                                                   \
    V(DeviceGetPCIBusId, (char *id, int room, CUdevice))                                                               \
    V(DeviceCanAccessPeer, (int *can, CUdevice, CUdevice other))                                                       \
    V(DevicePrimaryCtxRetain, (CUcontext * context, CUdevice))                                                         \
    V(DevicePrimaryCtxRelease_v2, (CUdevice))                                                                          \
    V(CtxPushCurrent_v2, (CUcontext))                                                                                  \
    V(CtxPopCurrent_v2, (CUcontext * context))                                                                         \
    V(CtxGetLimit, (size_t * value, int what))                                                                         \
    V(CtxEnablePeerAccess, (CUcontext other, unsigned flags))                                                          \
    V(CtxDisablePeerAccess, (CUcontext other))                                                                         \
    V(ThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode))                                                   \
    V(MemAlloc_v2, (CUdeviceptr * memory, size_t bytes))                                                               \
    V(MemFree_v2, (CUdeviceptr))                                                                                       \
    V(MemGetInfo_v2, (size_t * available, size_t * total))                                                             \
    V(MemHostAlloc, (void **memory, size_t bytes, unsigned flags))                                                     \
    V(MemFreeHost, (void *memory))                                                                                     \
    V(MemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream))                                  \
    V(MemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream))                                        \
    V(MemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream))                                  \
    V(MemcpyPeerAsync, (CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream))               \
    V(MemsetD8Async, (CUdeviceptr to, unsigned char value, size_t bytes, CUstream))                                    \
    V(StreamCreate, (CUstream * stream, unsigned flags))                                                               \
    V(StreamDestroy_v2, (CUstream))                                                                                    \
    V(StreamSynchronize, (CUstream))                                                                                   \
    V(StreamWaitEvent, (CUstream, CUevent, unsigned flags))                                                            \
    V(EventCreate, (CUevent * event, unsigned flags))                                                                  \
    V(EventDestroy_v2, (CUevent))                                                                                      \
    V(EventRecord, (CUevent, CUstream))                                                                                \
    V(EventQuery, (CUevent))                                                                                           \
    V(EventSynchronize, (CUevent))                                                                                     \
    V(EventElapsedTime, (float *milliseconds, CUevent from, CUevent to))                                               \
    V(ModuleLoadData, (CUmodule * module, const void *image))                                                          \
    V(ModuleUnload, (CUmodule))                                                                                        \
    V(ModuleGetFunction, (CUfunction * function, CUmodule, const char *name))                                          \
    V(FuncGetAttribute, (int *value, int what, CUfunction))                                                            \
    V(LaunchKernel, (CUfunction, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,                  \
                     unsigned block_y, unsigned block_z, unsigned shared, CUstream, void **arguments, void **extra))

/* Functions that some drivers lack; then NULL. */
#define WK__CUDA_NEWER_FUNCTIONS(V)                                                                                    \
    V(DeviceGetUuid_v2, (unsigned char uuid[16], CUdevice))                                                            \
    V(CtxGetId, (CUcontext, unsigned long long *id))                                                                   \
    V(MemGetAllocationGranularity, (size_t * bytes, const CUmemAllocationProp *, int option))                          \
    V(MemAddressReserve, (CUdeviceptr * at, size_t bytes, size_t multiple, CUdeviceptr wish, unsigned long long))      \
    V(MemAddressFree, (CUdeviceptr at, size_t bytes))                                                                  \
    V(MemCreate,                                                                                                       \
      (CUmemGenericAllocationHandle * memory, size_t bytes, const CUmemAllocationProp *, unsigned long long flags))    \
    V(MemRelease, (CUmemGenericAllocationHandle))                                                                      \
    V(MemMap, (CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle, unsigned long long flags))   \
    V(MemSetAccess, (CUdeviceptr at, size_t bytes, const CUmemAccessDesc *, size_t count))                             \
    V(MemUnmap, (CUdeviceptr at, size_t bytes))

/* The exported name is "nvrtc" followed by the name. */
typedef struct nvrtc_program *nvrtcProgram;
#define WK__NVRTC_FUNCTIONS(V)                                                                                         \
    V(Version, (int *major, int *minor))                                                                               \
    V(GetNumSupportedArchs, (int *count))                                                                              \
    V(GetSupportedArchs, (int *archs))                                                                                 \
    V(CreateProgram, (nvrtcProgram * program, const char *source, const char *name, int headers,                       \
                      const char *const *header, const char *const *header_name))                                      \
    V(CompileProgram, (nvrtcProgram, int options, const char *const *option))                                          \
    V(DestroyProgram, (nvrtcProgram * program))                                                                        \
    V(GetProgramLogSize, (nvrtcProgram, size_t * bytes))                                                               \
    V(GetProgramLog, (nvrtcProgram, char *log))                                                                        \
    V(GetCUBINSize, (nvrtcProgram, size_t * bytes))                                                                    \
    V(GetCUBIN, (nvrtcProgram, char *cubin))                                                                           \
    V(GetPTXSize, (nvrtcProgram, size_t * bytes))                                                                      \
    V(GetPTX, (nvrtcProgram, char *ptx))

/* The exported name is "nvml" followed by the name. */
typedef struct nvml_device *nvmlDevice;
typedef struct nvmlMemory {
    unsigned long long total, free, used;
} nvmlMemory;
typedef struct nvmlUtilization {
    unsigned gpu, memory; /* percent */
} nvmlUtilization;
typedef struct nvmlProcessInfo {
    unsigned pid;
    unsigned long long memory; /* all bits set: unknown */
    unsigned instance, compute_instance;
} nvmlProcessInfo;
#define WK__NVML_FUNCTIONS(V)                                                                                          \
    V(Init_v2, (void))                                                                                                 \
    V(SystemGetDriverVersion, (char *version, unsigned room))                                                          \
    V(DeviceGetHandleByUUID, (const char *uuid, nvmlDevice *device))                                                   \
    V(DeviceGetMigMode, (nvmlDevice, unsigned *now, unsigned *later))                                                  \
    V(DeviceGetHandleByPciBusId_v2, (const char *id, nvmlDevice *device))                                              \
    V(DeviceGetMemoryInfo, (nvmlDevice, nvmlMemory * memory))                                                          \
    V(DeviceGetTemperature, (nvmlDevice, int sensor, unsigned *degrees))                                               \
    V(DeviceGetPowerUsage, (nvmlDevice, unsigned *milliwatts))                                                         \
    V(DeviceGetUtilizationRates, (nvmlDevice, nvmlUtilization * rates))

/* Functions that some drivers lack; then NULL. */
#define WK__NVML_EXTRAS(V)                                                                                             \
    V(DeviceGetCount_v2, (unsigned *count))                                                                            \
    V(DeviceGetHandleByIndex_v2, (unsigned index, nvmlDevice *device))                                                 \
    V(DeviceGetEnforcedPowerLimit, (nvmlDevice, unsigned *milliwatts))                                                 \
    V(DeviceGetClockInfo, (nvmlDevice, int which, unsigned *megahertz))                                                \
    V(DeviceGetComputeRunningProcesses_v3, (nvmlDevice, unsigned *count, nvmlProcessInfo *processes))

#define WK__FIELD(name, parameters) int(*name) parameters;
typedef struct wk__cuda_functions {
    WK__CUDA_FUNCTIONS(WK__FIELD)
    WK__CUDA_NEWER_FUNCTIONS(WK__FIELD)
} wk__cuda_functions;
typedef struct wk__nvrtc_functions {
    WK__NVRTC_FUNCTIONS(WK__FIELD)
} wk__nvrtc_functions;
typedef struct wk__nvml_functions {
    WK__NVML_FUNCTIONS(WK__FIELD)
} wk__nvml_functions;
typedef struct wk__nvml_extras {
    WK__NVML_EXTRAS(WK__FIELD)
} wk__nvml_extras;
#undef WK__FIELD

/* Tables of functions, filled by the functions below. */
extern wk__cuda_functions wk__cuda;
extern wk__nvrtc_functions wk__nvrtc;
extern wk__nvml_functions wk__nvml;
extern wk__nvml_extras wk__nvml_extra; /* filled with wk__nvml */

/* Load a library and its functions: from the directories in WICK_CUDA_PATH, then by the dynamic loader's search, then
 * from the CUDA toolkit's default directory. Return NULL, or a message that says what is missing and how to install it.
 * Not thread-safe: call once. */
const char *wk__cuda_load_driver(void);
const char *wk__cuda_load_nvrtc(int driver); /* 13 for CUDA 13 */
const char *wk__cuda_load_nvml(void);
/* Returns the pip package with an NVRTC for a driver of CUDA 12 or 13; in `room`. */
const char *wk__cuda_nvrtc_package(int driver, char room[40]);

/* nvrtc.c: fills the table, and loads a library that NVRTC depends on. Returns false if a function is missing. */
bool wk__nvrtc_fill(void *library, wk__nvrtc_functions *table);

/* Returns the error's name, such as "CUDA_ERROR_LAUNCH_FAILED", or its number if the driver has no name for it. */
const char *wk__cuda_error(CUresult error, char room[32]);

#endif
