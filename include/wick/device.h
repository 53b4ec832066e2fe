/* SPDX-License-Identifier: Apache-2.0 */
/* wick/device.h: naming devices, their properties, memory and threads.
 *
 * Devices are written `cpu`, `cuda`, `cuda:1`, `opencl:0`, and `gpu:i` for the i-th accelerator of any kind.
 * Creating the value accesses no hardware; a device is opened when it is first used. */
#ifndef WICK_DEVICE_H
#define WICK_DEVICE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* wk_cpu(): Returns the CPU, with all cores and all memory of the host. */
WK_RESULT_API wk_device wk_cpu(void);
/* wk_cuda(index), wk_opencl(index), wk_gpu(index): Return the device with this index: of one kind, or for wk_gpu
 * among the accelerators of any kind (CUDA first, each physical card once; OpenCL devices that are CPUs count only
 * if the environment has WICK_GPU=opencl).
 * Returns:   the device; kind -1 on error
 * Errors:    WK_ERR_DEVICE if index is not in [0, 32767] */
WK_RESULT_API wk_device wk_cuda_at(wk_site site, int index);
WK_RESULT_API wk_device wk_opencl_at(wk_site site, int index);
WK_RESULT_API wk_device wk_gpu_at(wk_site site, int index);

/* wk_device_parse(text): Parses "cpu", "cuda", "cuda:1", "opencl:0", "gpu:0", and TensorFlow's "/GPU:0" and
 * "/job:worker/replica:0/task:1/device:GPU:0".
 * Returns:   the device; kind -1 on error, with which every call fails
 * Errors:    WK_ERR_DEVICE if text names no device */
WK_RESULT_API wk_device wk_device_parse_at(wk_site site, const char *text);
WK_RESULT_API wk_device wk_device_parse(const char *text);
/* wk_device_str(device): Returns the name, "cpu", "cuda:0" or "opencl:1"; the kind alone if host memory is
 * exhausted. The string is static. */
WK_RESULT_API const char *wk_device_str(wk_device device);
/* wk_device_full_name(device): Returns TensorFlow's name, "/job:localhost/replica:0/task:0/device:CPU:0". The
 * string is static. */
WK_RESULT_API const char *wk_device_full_name(wk_device device);
/* wk_device_eq(a, b): Returns true if a and b are the same device. The default device equals the device that it
 * stands for. */
WK_RESULT_API bool wk_device_eq(wk_device a, wk_device b);

/* wk_device_count(kind): Returns the number of devices of kind WK_CPU, WK_CUDA, WK_OPENCL or WK_GPU; 0 if the kind
 * is not usable.
 *
 * Counting CUDA devices leaves the process free to fork, as NVML counts them, unless CUDA_VISIBLE_DEVICES is set or
 * a card is partitioned (MIG); counting WK_OPENCL and WK_GPU starts drivers. A child of a process whose driver has
 * started counts the same devices but cannot use them: calls that name one fail and say to fork before the first
 * use.
 * Example:   for (int i = 0; i < wk_device_count(WK_CUDA); i++) use(wk_cuda(i)); */
WK_API int wk_device_count(int kind);
/* wk_try_gpu(index): Returns gpu:index if it exists, else the CPU. In a child of fork() that cannot use the GPUs of
 * its parent it still returns gpu:index, with which calls fail and say why, as computing on the CPU instead would
 * only be slow; such a child uses wk_cpu(). */
WK_RESULT_API wk_device wk_try_gpu(int index);
/* wk_try_all_gpus(devices, capacity): Writes all accelerators, at most capacity, into devices, or the CPU if there
 * are none. Returns the number written. */
WK_API int wk_try_all_gpus(wk_device *devices, int capacity);

/* A process that computes on a device. */
typedef struct wk_device_process {
    int64_t id, memory; /* memory in bytes on the device; 0 if unknown */
} wk_device_process;
enum { WK_DEVICE_PROCESSES = 16 };

/* The properties of a device. Unknown members are 0, NaN or ""; memory_free is -1. The driver of the CPU is the
 * instruction set in use; its power and utilisation are means since the previous call, NaN at the first. */
typedef struct wk_device_properties {
    size_t size; /* sizeof(wk_device_properties), set by the caller */
    char name[128], vendor[64], driver[64];
    int64_t memory_total, memory_free; /* bytes */
    int compute_units;                 /* cores or multiprocessors */
    bool is_gpu;
    double temperature, power, utilisation; /* degrees Celsius, watts, [0, 1] */
    char api_version[16];                   /* latest version that the driver supports, "CUDA 13.0" */
    double power_limit;                     /* watts */
    int core_clock, memory_clock;           /* current, in MHz */
    int processes;                          /* number that compute on it, 0 if unknown; the first of them */
    wk_device_process process[WK_DEVICE_PROCESSES];
} wk_device_properties;
/* wk_device_get_properties(device, properties): Fills *properties, whose size the caller sets.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_DEVICE if the device does not exist */
WK_API wk_code wk_device_get_properties_at(wk_site site, wk_device device, wk_device_properties *properties);

/* The memory of a device in bytes. On NVIDIA devices the parts add up to what the device reports as used:
 *
 *     used = live + cached + library + context + others
 *
 * others is the memory of other processes and libraries and what the driver allocates on demand, for kernel code
 * and rounding. Example in MiB: used 1530 = live 600 + cached 200 + library 40 + context 500 + others 190.
 * nvidia-smi shows for a process all but the memory of other processes. */
typedef struct wk_memory_stats {
    size_t size;     /* sizeof(wk_memory_stats), set by the caller */
    int64_t live;    /* in tensors */
    int64_t cached;  /* free, kept for later tensors */
    int64_t peak;    /* maximum of live since the start or wk_memory_reset_peak */
    int64_t limit;   /* upper bound of live + cached */
    int64_t library; /* of the library: scratch, arguments of kernels, fault words */
    int64_t context; /* of the driver when the device was opened, by NVML; 0 if unknown, or if another library of the
                        process had opened the device before */
    int64_t used;    /* by all processes, now; 0 if unknown */
} wk_memory_stats;
/* wk_memory_stats_of(device, stats): Fills *stats, whose size the caller sets.
 * Returns:   WK_OK or an error code */
WK_API wk_code wk_memory_stats_of_at(wk_site site, wk_device device, wk_memory_stats *stats);
/* wk_memory_largest(device, bytes, sites, capacity): Lists the largest live tensors of at least 64 KiB on device,
 * largest first: their sizes and the call sites that created them, up to capacity of each.
 * Returns:   the number listed; 0 with the error recorded if the device cannot be used
 * Errors:    WK_ERR_ARGUMENT if bytes or sites is NULL */
WK_API int wk_memory_largest_at(wk_site site, wk_device device, int64_t *bytes, wk_site *sites, int capacity);
/* wk_memory_reset_peak(device): Sets peak to the current live. Returns WK_OK or an error code. */
WK_API wk_code wk_memory_reset_peak_at(wk_site site, wk_device device);
/* wk_memory_set_limit(device, bytes): Sets the limit; 0 is the default: all memory of the device, on the CPU the
 * smaller of the cgroup's limit and physical memory.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if bytes is negative */
WK_API wk_code wk_memory_set_limit_at(wk_site site, wk_device device, int64_t bytes);
/* wk_memory_trim(device): Returns cached memory to the system. Returns WK_OK or an error code. */
WK_API wk_code wk_memory_trim_at(wk_site site, wk_device device);

/* wk_device_status(kind): Returns a sentence about whether the kind can be used, and why not ("library not found").
 * The string is static. */
WK_RESULT_API const char *wk_device_status(int kind);

/* wk_thread_count(): Returns the number of CPU threads that compute, the caller included: WICK_THREADS in the
 * environment, else the CPUs that the process may use. */
WK_RESULT_API int wk_thread_count(void);
/* wk_set_threads(count): Sets the number of CPU threads, 1 to 1024. Call it while nothing is computed; results do
 * not depend on it.
 * Returns:   WK_OK or an error code */
WK_API wk_code wk_set_threads_at(wk_site site, int count);

#define wk_device_parse(text)         wk_device_parse_at(WK_HERE, text)
#define wk_cuda(...)                  wk_cuda_at(WK_HERE, __VA_ARGS__)
#define wk_opencl(...)                wk_opencl_at(WK_HERE, __VA_ARGS__)
#define wk_gpu(...)                   wk_gpu_at(WK_HERE, __VA_ARGS__)
#define wk_device_get_properties(...) wk_device_get_properties_at(WK_HERE, __VA_ARGS__)
#define wk_memory_stats_of(...)       wk_memory_stats_of_at(WK_HERE, __VA_ARGS__)
#define wk_memory_largest(...)        wk_memory_largest_at(WK_HERE, __VA_ARGS__)
#define wk_memory_reset_peak(...)     wk_memory_reset_peak_at(WK_HERE, __VA_ARGS__)
#define wk_memory_set_limit(...)      wk_memory_set_limit_at(WK_HERE, __VA_ARGS__)
#define wk_memory_trim(...)           wk_memory_trim_at(WK_HERE, __VA_ARGS__)
#define wk_set_threads(...)           wk_set_threads_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
/* WK_DEVICE(device): Makes device the default device until the end of the enclosing block. Guards nest. Like
 * WK_SCOPE, this is a declaration. */
#define WK_DEVICE(device) WK_GUARD_(wk_device_guard_open(WK_HERE, device))
#else
#define WK_DEVICE(device)                                                                                              \
    static_assert(false, "WK_DEVICE is C only; in C++ use wk_device_guard_open(WK_HERE, device) and wk_guard_close")
#endif

#ifdef __cplusplus
}
#endif
#endif
