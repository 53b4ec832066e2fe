/* SPDX-License-Identifier: Apache-2.0 */
/* Cache of a device's kernels, so that each is compiled once. Independent of the dialect: compiler and driver are
 * called through a table of functions.
 *
 *    spec       identifies a kernel (gpu/kernel.h); the key of a hash table
 *    kernel     an entry of the table. It is pending from its first lookup until it is built: bound to a function
 *    function   compiled code that the driver can launch. A merged one contains several kernels and selects one by its
 *               case index
 *    module     one or more functions: the result of one compilation, or a file of the disk cache
 *    digest     hash of a kernel's source and of everything that determines its code: identifies the kernel in modules
 *               and files
 *
 * Ownership: the cache owns kernels and modules until it is destroyed; a module owns its functions.
 * Threads: any thread may look up a kernel: `lock` protects the table and the list of pending kernels. Only the
 * building thread (kernel_build.h) accesses modules, and the fields of a kernel that building sets. */
#ifndef WICK_BACKEND_GPU_KERNEL_CACHE_H
#define WICK_BACKEND_GPU_KERNEL_CACHE_H

#include "disk_cache.h"
#include "backend/gpu/kernel.h"

#include <pthread.h>

/* Maximum kernels in one merged function: compile time grows faster than the length of a function. */
enum { WK__GPU_SWITCH_CASES = 64 };

/* Compiler and driver of a dialect. Modules and functions are opaque pointers to objects of the driver. */
typedef struct wk__gpu_compiler {
    char magic[16]; /* first bytes of cache files: identifies the dialect and the format */
    /* Compiles source to a module. Fails with WK_ERR_INTERNAL if the compiler rejects it (wk__gpu_fail_compile()).
     * `binary`, if not NULL, receives the input for load(); it stays empty if the driver doesn't provide it. */
    wk_code (*compile)(void *device, const char *source, void **module, wk__text *binary, wk__fail *fail);
    /* Loads a binary; returns NULL if the driver rejects it. */
    void *(*load)(void *device, const char *binary, int64_t bytes);
    /* Returns WK_OK and NULL in *out if the module has no such function. Some drivers load the code only now, so this
     * may run out of memory, or return earlier asynchronous failures. */
    wk_code (*get_function)(void *device, void *module, const char *name, void **out, wk__fail *fail);
    void (*release_function)(void *function); /* optional: functions may be freed with their module */
    void (*release_module)(void *module);
} wk__gpu_compiler;

enum { WK__GPU_OPTIONS = 2 };

/* Properties of a device that are common to all dialects; constant. */
typedef struct wk__gpu_device_desc {
    wk__device_info info;
    wk__gpu_target target;
    char option[WK__GPU_OPTIONS][256]; /* for the compiler; "": none */
    char compiler_id[260]; /* version of the compiler, or driver and device: part of the digest of compiled code */
    bool has_driver_cache; /* the driver has its own disk cache */
} wk__gpu_device_desc;

/* A kernel in the cache: created by its first launch, compiled by the thread that submits work. */
typedef struct wk__gpu_kernel {
    struct wk__gpu_kernel *next;         /* next in the same bucket */
    struct wk__gpu_kernel *pending_next; /* next kernel that is not built yet */
    uint64_t key;
    wk__gpu_kernel_spec spec; /* `group` is a copy, allocated with the kernel */
    void *handle;             /* function of the driver; NULL until built; owned by the module */
    bool rejected;            /* the compiler rejected it */
    char reject_text[200];    /* reason */
    int memory_slots;         /* number of buffer parameters of that function */
    int case_index;           /* index in a merged function; -1: not merged */
    bool checked;             /* used by the backend: the driver's limits for this kernel have been checked */
} wk__gpu_kernel;

/* A kernel in a module; also the format in cache files. */
typedef struct wk__gpu_module_entry {
    wk__gpu_digest digest;
    int32_t function;                 /* index of the function that contains it, which is named wk_<function> */
    int32_t case_index, memory_slots; /* as in wk__gpu_kernel */
    int32_t unused;
} wk__gpu_module_entry;

typedef struct wk__gpu_module {
    struct wk__gpu_module *next;
    void *handle; /* module of the driver */
    int64_t entries, functions;
    wk__gpu_module_entry *entry;
    void **function; /* functions of the driver, by index; NULL until first used */
} wk__gpu_module;

enum { WK__GPU_BUCKETS = 1024, WK__GPU_FUSE_COUNTERS = 4096 };

/* One per device. */
typedef struct wk__gpu_kernel_cache {
    const wk__gpu_compiler *compiler;
    void *device; /* argument of the compiler's functions */
    const wk__gpu_device_desc *desc;
    bool context_lost; /* set on destruction: the device is lost, so driver objects are not released */

    /* number of uses of each epilogue so far, by hash: epilogues with the same hash share a counter */
    _Atomic uint8_t fuse_count[WK__GPU_FUSE_COUNTERS];

    wk__gpu_module *modules; /* accessed only by the building thread */

    pthread_mutex_t lock; /* for the table and the list of pending kernels */
    wk__gpu_kernel *bucket[WK__GPU_BUCKETS];
    wk__gpu_kernel *pending;
} wk__gpu_kernel_cache;

/* Initialises a zeroed cache. */
void wk__gpu_kernel_cache_init(wk__gpu_kernel_cache *cache, const wk__gpu_compiler *compiler, void *device,
                               const wk__gpu_device_desc *desc);
/* Frees all kernels and modules. The device must be idle. */
void wk__gpu_kernel_cache_destroy(wk__gpu_kernel_cache *cache);

/* Returns the kernel for a spec, creating it if necessary; NULL and *fail on allocation failure. Any thread. Debug
 * builds generate the source of a kernel found in the table again, and fail with WK_ERR_INTERNAL if it differs. */
wk__gpu_kernel *wk__gpu_kernel_lookup(wk__gpu_kernel_cache *cache, const wk__gpu_kernel_spec *spec, wk__fail *fail);
/* Returns true if the work's epilogue should be fused into its kernel. A contraction takes longer to compile than an
 * epilogue, and shares its kernel with contractions that have other epilogues or none; so they are separate until the
 * epilogue has been used often enough. Results are identical either way. `counts`: counts this use. Any thread. */
bool wk__gpu_should_fuse_epilogue(wk__gpu_kernel_cache *cache, const wk__work *work, bool counts);
/* Returns true if the built kernel takes its arguments as a struct by value. Otherwise they are in memory, and a merged
 * function (case_index >= 0) gets the case index as an additional parameter. */
static inline bool wk__gpu_kernel_by_value(const wk__gpu_kernel_cache *cache, const wk__gpu_kernel *kernel)
{
    return kernel->case_index < 0 && wk__gpu_arguments_by_value(&cache->desc->target, &kernel->spec);
}

/* Adds a module of the driver with a copy of its entries, at least one. Takes ownership of `handle`, also if it returns
 * NULL on allocation failure. Building thread only, like wk__gpu_bind(). */
wk__gpu_module *wk__gpu_add_module(wk__gpu_kernel_cache *cache, void *handle, const wk__gpu_module_entry *entry,
                                   int64_t entries);
/* If the module contains a kernel with this digest, binds `kernel` to its function: sets handle, case_index and
 * memory_slots. Otherwise returns WK_OK and leaves `kernel` as it is. Fails if the driver cannot return the function
 * now. */
wk_code wk__gpu_bind(const wk__gpu_kernel_cache *cache, wk__gpu_module *module, wk__gpu_kernel *kernel,
                     const wk__gpu_digest *digest, wk__fail *fail);

#endif
