/* SPDX-License-Identifier: Apache-2.0 */
/* wick/device.h: which devices there are, what they are called, what they hold.
 *
 * Devices are written `cpu`, `cuda`, `cuda:1`, `opencl:0`, and `gpu:i` for the i-th accelerator of any kind. Making the
 * value touches no hardware; the device is looked for when it is first used. */
#ifndef WICK_DEVICE_H
#define WICK_DEVICE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All cores and all memory of the host. */
WK_RESULT_API wk_device wk_cpu(void);
/* The i-th device of a kind, and the i-th accelerator of any kind (CUDA first, each physical card once; OpenCL devices
 * that are CPUs count only with WICK_GPU=opencl in the environment). An index below 0 or above 32767 records an error
 * and gives kind -1, with which every call fails. */
WK_RESULT_API wk_device wk_cuda_at(wk_site site, int index);
WK_RESULT_API wk_device wk_opencl_at(wk_site site, int index);
WK_RESULT_API wk_device wk_gpu_at(wk_site site, int index);

/* Reads "cpu", "cuda", "cuda:1", "opencl:0", "gpu:0", and TensorFlow's "/GPU:0",
 * "/job:worker/replica:0/task:1/device:GPU:0". A text that is none of these records an error and gives kind -1,
 * with which every call fails. */
WK_RESULT_API wk_device wk_device_parse_at(wk_site site, const char *text);
WK_RESULT_API wk_device wk_device_parse(const char *text);
/* "cpu", "cuda:0", "opencl:1". The text lives for ever; when memory is short it is the kind alone. */
WK_RESULT_API const char *wk_device_str(wk_device device);
/* "/job:localhost/replica:0/task:0/device:CPU:0". The text lives as that does. */
WK_RESULT_API const char *wk_device_full_name(wk_device device);
/* The same device? The default device equals what it stands for. */
WK_RESULT_API bool wk_device_eq(wk_device a, wk_device b);

/* How many devices of a kind (WK_CPU, WK_CUDA, WK_OPENCL, WK_GPU) there are; 0 where the kind is not usable. Counting
 * CUDA's leaves the process free to fork, as NVML does it, unless CUDA_VISIBLE_DEVICES is set or a card is cut into
 * slices (MIG); WK_OPENCL and WK_GPU make drivers begin. A child of a process whose driver has begun counts the same
 * devices, and may not use them: each call that names one fails, and says to fork before the first use.
 *
 *     for (int i = 0; i < wk_device_count(WK_CUDA); i++) ... wk_cuda(i) ... */
WK_API int wk_device_count(int kind);
/* gpu:i if there is one, else the CPU: the chapter's try_gpu. In a child of fork() that may not use the GPUs of its
 * parent it is still gpu:i, with which each call fails and says why: the CPU in its place would be a slower program
 * that nobody hears of. A child that is to compute on the CPU says wk_cpu(). */
WK_RESULT_API wk_device wk_try_gpu(int index);
/* All accelerators, at most `capacity` of them, else the CPU; returns how many were written. */
WK_API int wk_try_all_gpus(wk_device *devices, int capacity);

/* A process that computes on a device. */
typedef struct wk_device_process {
    int64_t id, memory; /* bytes of the device; 0: not known */
} wk_device_process;
enum { WK_DEVICE_PROCESSES = 16 };

/* What is known of a device; fields that are not known are 0, NaN or "", memory_free is -1. The driver of a CPU is the
 * instruction set in use. Its power and utilisation are means since the call before, NaN at the first. */
typedef struct wk_device_properties {
    size_t size; /* sizeof(wk_device_properties), set by the caller */
    char name[128], vendor[64], driver[64];
    int64_t memory_total, memory_free; /* bytes */
    int compute_units;                 /* cores or multiprocessors */
    bool is_gpu;
    double temperature, power, utilisation; /* degrees Celsius, watts, 0..1 */
    char api_version[16];                   /* what the driver offers at most: "CUDA 13.0" */
    double power_limit;                     /* watts */
    int core_clock, memory_clock;           /* MHz now */
    int processes;                          /* that compute on it, 0 if not known; the first of them */
    wk_device_process process[WK_DEVICE_PROCESSES];
} wk_device_properties;
/* WK_OK or a code, with the error recorded. */
WK_API wk_code wk_device_get_properties_at(wk_site site, wk_device device, wk_device_properties *properties);

/* Bytes of a device, and whose they are. Where the device says so (NVIDIA's do), they add up to what it shows as used:
 *
 *     used = live + cached + library + context + others
 *
 * of which others, what is left, is what other processes and libraries have, and what the driver takes as it goes: for
 * the code of kernels, and for rounding up. An example, in MiB: used 1530 = live 600 + cached 200 + library 40 +
 * context 500 + others 190; what nvidia-smi shows for a process is all but what other processes have. */
typedef struct wk_memory_stats {
    size_t size;     /* sizeof(wk_memory_stats), set by the caller */
    int64_t live;    /* in tensors */
    int64_t cached;  /* kept for the next ones */
    int64_t peak;    /* greatest live since the start or wk_memory_reset_peak */
    int64_t limit;   /* live + cached never exceed it */
    int64_t library; /* that the library took for itself: scratch, arguments of kernels, fault words */
    int64_t context; /* that the driver took when the device was opened, as far as NVML saw; 0: not known, or nothing,
                        as another library of the process had opened it before */
    int64_t used;    /* by everybody, now; 0: not known */
} wk_memory_stats;
/* WK_OK or a code. */
WK_API wk_code wk_memory_stats_of_at(wk_site site, wk_device device, wk_memory_stats *stats);
/* The largest tensors that live on a device now (of at least 64 KiB), largest first: their bytes and the calls that
 * made them, up to `capacity` of each. Returns how many; 0 with the error recorded if the device can't be used. */
WK_API int wk_memory_largest_at(wk_site site, wk_device device, int64_t *bytes, wk_site *sites, int capacity);
/* From now on peak is counted anew, from what is live. WK_OK or a code, as of the two below. */
WK_API wk_code wk_memory_reset_peak_at(wk_site site, wk_device device);
/* Sets the limit in bytes; 0 = the default (all of the device; on the CPU the smaller of cgroup and physical memory);
 * WK_ERR_ARGUMENT for a negative number. */
WK_API wk_code wk_memory_set_limit_at(wk_site site, wk_device device, int64_t bytes);
/* Gives cached memory back to the system. */
WK_API wk_code wk_memory_trim_at(wk_site site, wk_device device);

/* Why a kind can or cannot be used, in a sentence ("library not found", ...). The text lives for ever. */
WK_RESULT_API const char *wk_device_status(int kind);

/* Threads of the CPU that compute, the caller included: WICK_THREADS in the environment, else the CPUs that
 * the process may use. Setting it (1 to 1024) is for moments when nothing is computed; results do not depend
 * on it. WK_OK or a code. */
WK_RESULT_API int wk_thread_count(void);
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
/* Until the end of the enclosing block, tensors that name no device are made on this one. Nests. A
 * declaration, as WK_SCOPE. */
#define WK_DEVICE(device) WK_GUARD_(wk_device_guard_open(WK_HERE, device))
#else
#define WK_DEVICE(device)                                                                                              \
    static_assert(false, "WK_DEVICE is C only; in C++ use wk_device_guard_open(WK_HERE, device) and wk_guard_close")
#endif

#ifdef __cplusplus
}
#endif
#endif
